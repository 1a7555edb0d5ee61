"""How the three simulators are found, installed, built and run."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import copies
import packages

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCENARIOS = ROOT / "scenarios/reference"
# The programs that need a newer ns-3 than Debian's.
WIDE = {"ns3-wide", "ns3-ofdma", "ns3-overlap", "ns3-mixed", "ns3-bbr"}
PEERS = {"ns-3": ("libns3-dev", "/usr/include/ns3/wifi-module.h"), "ns-2": ("ns2", "/usr/bin/ns")}


@dataclasses.dataclass(frozen=True)
class Changed:
    """What an experiment changes: rules of the copy of ns-2, options of a peer's program, settings of Sluice's scenario."""

    rules: tuple = ()
    options: tuple = ()
    settings: tuple = ()  # pairs


class Toolbox:
    """The simulators' programs, built into `out`."""

    def __init__(self, out, sluice):
        self.out, self.sluice = out, sluice
        self.ns3 = out  # the folder of ns-3's programs
        self.movement = SCENARIOS / "peer-mobile.ns_movements"  # which all three read

    def prepare(self, peers, cases=None):
        """Install and build what is missing: of ns-3 the programs of these cases, or all that need Debian's package."""
        programs = {case.ns3[0] for case in cases or () if case.ns3}
        self.out.mkdir(parents=True, exist_ok=True)
        if not self.sluice.exists():
            sys.exit(f"{self.sluice} is missing: run `make build`")
        wide = [self.out / program for program in sorted(programs & WIDE)]
        if "ns-3" in peers and wide:
            wheel = packages.wheel("ns3==3.44.post0", self.out / "ns3-wheel")
            subprocess.run(["make", "-s", "-C", HERE / "ns3", f"OUT={self.out}", f"WHEEL={wheel}", *wide], check=True)
        if programs and programs <= WIDE:
            peers = [peer for peer in peers if peer != "ns-3"]
        packages.install([PEERS[peer] for peer in peers])
        if "ns-3" in peers:
            subprocess.run(["make", "-s", "-C", HERE / "ns3", f"OUT={self.out}"], check=True)

    def link_ns3(self, build):
        """ns-3's programs with an own build of its libraries; returns their folder."""
        folder = self.out / "ns3-optimised"
        subprocess.run(["make", "-s", "-C", HERE / "ns3", f"OUT={folder}", f"NS3={build}"], check=True)
        return folder

    def command(self, case, simulator, seed, peer, traced=True, changed=Changed()):
        """The command of one run; Sluice follows the conventions of `peer`, or the standard's where that is None."""
        if simulator == "sluice":
            settings = case.settings_as(peer) | dict(changed.settings)
            words = [self.sluice, "run", scenario(case), "--seed", seed, "--json"]
            words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        elif simulator == "ns-3":
            words = [self.ns3 / case.ns3[0], *case.ns3[1:], *changed.options, f"--seed={seed}"]
        else:
            rules = (*case.rules, *changed.rules)
            program = ["env", f"NS2_RULES={','.join(rules)}", copies.ns2(self.out)] if rules else ["/usr/bin/ns"]
            words = [*program, HERE / "ns2" / case.ns2[0], *case.ns2[1:], *changed.options, "seed", seed]
            words += [] if traced else ["trace", "none"]
        return [str(word).replace("{movement}", str(self.movement)) for word in words]

    def identity(self, command):
        """What an outcome depends on: the command and the content of every file that it names or that goes with it."""
        files = [pathlib.Path(word) for word in command if word.startswith("/")]
        if any(file.suffix == ".tcl" for file in files):
            files += sorted((HERE / "ns2").glob("*.tcl"))
        if self.sluice in files:
            files.append(self.movement)
        return packages.digest(files, json.dumps(command))


def scenario(case):
    """The scenario's file."""
    return SCENARIOS / f"{case.scenario}.toml"


def count(command):
    """Run to the end under Valgrind; return the JSON outcome and the executed instructions."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", f"--log-file={log}",
                    "--trace-children=yes"]
        found, _, _ = run([*valgrind, *command])
        # `env` before a program prints its own lines before the program's.
        return found, int(re.findall(r"Collected : (\d+)", log.read_text())[-1])


def run(command):
    """Run to the end; return the JSON outcome, CPU seconds and peak MiB, or fail with the program's own message."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr, cwd=ROOT)
        peak = 0.0
        while True:
            peak = peak_memory(process.pid) or peak
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        stdout.seek(0)
        stderr.seek(0)
        # ns-2 also prints other lines.
        answer = next((line for line in stdout.read().decode().splitlines() if line.startswith("{")), None)
        if process.returncode != 0 or answer is None:
            words = " ".join(command)
            raise RuntimeError(f"{words}: exit status {process.returncode}\n{stderr.read().decode()[-2000:]}")
        return json.loads(answer), usage.ru_utime + usage.ru_stime, peak or usage.ru_maxrss / 1024


def peak_memory(pid):
    """Peak resident MiB of a running process so far, or None once it is gone.

    Not ru_maxrss alone: a child starts with its parent's, so nothing could look smaller than this interpreter.
    """
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return None
