#!/usr/bin/env python3
"""Runs the tests of crate linux that need a kernel with queue disciplines in BPF, in the guest.

With names, or parts of names, runs only tests that have one of them. Where no guest is possible it says why and
succeeds.
"""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import guest
import image

# What the build needs besides the guest's tools; Debian's names.
PACKAGES = {"clang-19": "clang-19", "/usr/include/libelf.h": "libelf-dev", "/usr/include/zlib.h": "zlib1g-dev"}
CARGO = ["--locked", "--features", "bpf"]
# A limit for a guest that hangs: on a busy machine all tests take longer than on an idle one.
SECONDS = 3_600


@dataclasses.dataclass
class Part:
    """Tests that run in one guest: those whose names have one of these parts, or none of them."""

    names: list
    clock: str
    kernel: str
    skip: bool = False

    def run(self, share):
        """Runs them and prints what they say; the exit status."""
        which = " ".join(f"--skip {name}" for name in self.names) if self.skip else " ".join(self.names)
        command = f"{COPY}; ./tests --ignored --nocapture --test-threads=1 {which}"
        with tempfile.TemporaryFile("w+") as out:
            status = guest.run(command, share, self.clock, SECONDS, self.kernel, out)
            out.seek(0)
            print(f"Linux {self.kernel}, clock: {self.clock}, tests: {which}\n{out.read()}", flush=True)
        return status


# The guest's clock runs away while it reads files of the host: what tests run is copied into its memory.
COPY = "cp /host/tests /host/sluice /tmp; cd /tmp"

# Measurements, which take long: measure.py and testbed.py.
MEASURED = ["tables::", "testbed::"]
# The longest first. `instructions` counts on a clock of its own; `queues` shows that the oldest kernel takes the
# discipline, too.
PARTS = [
    Part(["downloads::", "rivals::"], "virtual", image.KERNEL),
    Part(["kills::", "leaving::"], "virtual", image.KERNEL),
    Part([*("downloads::", "rivals::", "kills::", "leaving::", "instructions::"), *MEASURED], "virtual", image.KERNEL, skip=True),
    Part(["queues::"], "virtual", image.OLDEST),
    Part(["instructions::"], "instructions", image.KERNEL),
]


def main():
    names = sys.argv[1:]
    try:
        image.have(image.HOST | PACKAGES)
        image.build()
    except image.Impossible as why:
        print(f"SKIPPED, all live tests on a real kernel: {why}")
        return
    with tempfile.TemporaryDirectory(prefix="live-", dir=image.PLACE) as share:
        share = pathlib.Path(share)
        binaries(share)
        parts = [Part(names, "virtual", image.KERNEL)] if names else PARTS
        # A guest uses one processor, and how many others there are does not change its results.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as guests:
            statuses = list(guests.map(lambda part: part.run(share), parts))
    if any(statuses):
        sys.exit(f"Live tests failed in the guest; its exit statuses: {statuses}.")


def binaries(share):
    """Builds and runs the tests that need no guest; leaves those for the guest, and the program itself, in `share`."""
    tests = ["test", "-p", "linux"]
    subprocess.run(["cargo", *tests, *CARGO, "--lib"], check=True, cwd=image.ROOT)
    for name, build in {"guest": [*tests, "--test", "guest", "--no-run"], "sluice": ["build", "-p", "cli"]}.items():
        command = ["cargo", *build, *CARGO, "--message-format=json-render-diagnostics"]
        messages = subprocess.run(command, check=True, cwd=image.ROOT, stdout=subprocess.PIPE, text=True).stdout
        artifacts = [message for message in map(json.loads, messages.splitlines()) if message.get("executable")]
        (built,) = (one["executable"] for one in artifacts if one["target"]["name"] == name)
        # What debuggers need is most of it.
        subprocess.run(["strip", "-o", share / ("tests" if name == "guest" else name), built], check=True)


if __name__ == "__main__":
    main()
