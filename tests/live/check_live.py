#!/usr/bin/env python3
"""Runs the tests of crate linux that need a kernel with queue disciplines in BPF, in the guest.

With names, or parts of names, runs only tests that have one of them; with --quick those of `make test`: the tests of queues,
with twenty kills, and eight rounds of agents that begin and end together. If no guest can be made, it says why and
succeeds. Settings of tests are in the environment: STRESS_SECONDS, STRESS_SEED, KILLS, ROUNDS, STATIONS. Two more show
whether results depend on the host: LIVE_REPEAT is the number of times that everything runs, with a count of how each
test ended; LIVE_LOAD is the number of processors that are kept busy meanwhile.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import guest
import image

# With the workspace's features, as in `make compile`, so that nothing is compiled twice.
BUILD = ["cargo", "build", "--workspace", "--bin", "sluice", "--test", "guest", "--locked", "--features", "bpf"]
# Time limit for a guest that hangs; on a busy machine all tests take longer than on an idle one.
SECONDS = 3_600


@dataclasses.dataclass
class Part:
    """Tests that run in one guest: those whose names have one of these parts, or none of them."""

    names: list
    clock: str
    kernel: str
    skip: bool = False
    line: str = ""
    # Not tests of the crate: this command.
    command: str = ""
    settings: dict = dataclasses.field(default_factory=dict)

    def run(self, share):
        """Runs them and prints their output. Returns the exit status, and how each test ended."""
        which = " ".join(f"--skip {name}" for name in self.names) if self.skip else " ".join(self.names)
        command = self.command or f"./tests --ignored --nocapture --test-threads=1 {which}"
        command = f"{COPY}; {self.environment()} {command}"
        with tempfile.TemporaryFile("w+") as out:
            status = guest.run(command, share, self.clock, self.longest(), self.kernel, out, self.line)
            out.seek(0)
            said = out.read()
            print(f"Linux {self.kernel}, clock: {self.clock}, tests: {which}\n{said}", flush=True)
        return status, outcomes(said, self)

    def longest(self):
        """The time limit on the host's clock: twice the time of a stress test, which also boots, and starts and stops
        agents."""
        return max(SECONDS, 2 * int(os.environ.get("STRESS_SECONDS") or 0))

    def environment(self):
        """The tests' settings, for the guest's shell; the environment has precedence over the settings here."""
        given = {name: os.environ.get(name) for name in ("STRESS_SECONDS", "STRESS_SEED", "KILLS", "ROUNDS", "STATIONS")}
        given = self.settings | {name: value for name, value in given.items() if value}
        return " ".join(f"{name}={int(value)}" for name, value in given.items())


def outcomes(said, part):
    """How each test ended, by its name and its guest. The output of a test is between its name and its result."""
    _, _, failed = said.rpartition("\nfailures:\n")
    failed = re.findall(r"^    (\S+)$", failed, re.MULTILINE)
    whole = "\ntest result: " in said
    for name in re.findall(r"^test (\S+) \.\.\. ", said, re.MULTILINE):
        ended = "failed" if name in failed else "passed" if whole else "unknown"
        yield f"{name} ({part.kernel}, {part.clock})", ended


@contextlib.contextmanager
def load(processors):
    """Keeps this number of processors busy."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processors)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()


# The guest's clock runs ahead while it reads files of the host, so files that tests run are copied into its memory.
COPY = "cp -r /host/tests /host/sluice /host/attacker /host/router /tmp; chmod 755 /tmp; cd /tmp"
# OpenWrt's init script with stand-ins for OpenWrt.
ROUTER = "sh router/test.sh"

# Measurements that take long: measure.py, testbed.py and swan.py.
MEASURED = ["tables::", "testbed::", "swan::runs"]
# The longest first. `instructions` counts on a clock of its own; `queues` shows that the oldest kernel takes the
# discipline, too.
PARTS = [
    Part(["downloads::", "rivals::"], "virtual", image.KERNEL),
    Part(["kills::", "leaving::"], "virtual", image.KERNEL),
    Part(["knobs::"], "virtual", image.KERNEL),
    Part(
        [
            *("downloads::", "rivals::", "kills::", "knobs::", "leaving::", "instructions::", "stress::", "parallel::"),
            *MEASURED,
        ],
        "virtual",
        image.KERNEL,
        skip=True,
    ),
    Part(["stress::"], "two", image.KERNEL, line=guest.CHECKS),
    Part(["queues::"], "virtual", image.OLDEST),
    Part(["parallel::"], "host", image.KERNEL),
    Part(["instructions::"], "instructions", image.KERNEL),
    Part(["router::"], "virtual", image.KERNEL, command=ROUTER),
]
QUICK = [
    Part(
        ["queues::", "kills::"],
        "virtual",
        image.KERNEL,
        settings={"KILLS": 20, "ROUNDS": 8},
    )
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clock", choices=guest.CLOCKS, default="virtual", help="of the guest, with names")
    parser.add_argument("--checks", action="store_true", help="with the kernel's own checks of memory, with names")
    parser.add_argument("--quick", action="store_true", help="the queue tests and twenty kills")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    line = guest.CHECKS if args.checks else ""
    command = ROUTER if args.names == ["router::"] else ""
    named = [Part(args.names, args.clock, image.KERNEL, line=line, command=command)]
    parts = named if args.names else QUICK if args.quick else PARTS
    try:
        image.debian.have("bpf")
        image.build({part.kernel for part in parts}, aql=parts is not QUICK)
    except image.debian.Impossible as why:
        print(f"SKIPPED, all live tests on a real kernel: {why}")
        return
    with tempfile.TemporaryDirectory(prefix="live-", dir=image.PLACE) as share:
        share = pathlib.Path(share)
        binaries(share)
        repeat = int(os.environ.get("LIVE_REPEAT", "1"))
        # A guest uses one processor; the number of others does not change its results.
        with load(int(os.environ.get("LIVE_LOAD", "0"))), concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as guests:
            ended = list(guests.map(lambda part: part.run(share), parts * repeat))
    statuses = [status for status, _ in ended]
    if repeat > 1:
        counts = collections.defaultdict(collections.Counter)
        for name, outcome in (pair for _, pairs in ended for pair in pairs):
            counts[name][outcome] += 1
        for name, outcome in sorted(counts.items()):
            print(", ".join(f"{count} {how}" for how, count in outcome.items()), name, sep="  ")
    if any(statuses):
        sys.exit(f"Live tests failed in the guest; its exit statuses: {statuses}.")


def binaries(share):
    """Builds the tests for the guest, Sluice itself, and an attacking program, into `share`."""
    attacker = image.HERE / "attacker.c"
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-static", attacker, "-o", share / "attacker"], check=True)
    shutil.copytree(image.HERE / "router", share / "router")
    for file in ("sluice.init", "sluice.config"):
        shutil.copy(image.ROOT / "packaging/openwrt/sluice/files" / file, share / "router")
    command = [*BUILD, "--message-format=json-render-diagnostics"]
    messages = subprocess.run(command, check=True, cwd=image.ROOT, stdout=subprocess.PIPE, text=True).stdout
    artifacts = [message for message in map(json.loads, messages.splitlines()) if message.get("executable")]
    for name, test in {"guest": True, "sluice": False}.items():
        built = [one for one in artifacts if (one["target"]["name"], one["profile"]["test"]) == (name, test)]
        # Debug information is most of it.
        file = share / ("tests" if test else name)
        subprocess.run(["strip", "-o", file, built[0]["executable"]], check=True)


if __name__ == "__main__":
    main()
