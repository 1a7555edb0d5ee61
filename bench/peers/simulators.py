"""How the three simulators are found, installed, built and run."""

import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCENARIOS = ROOT / "scenarios/reference"
PEERS = {"ns-3": ("libns3-dev", "/usr/include/ns3/wifi-module.h"), "ns-2": ("ns2", "/usr/bin/ns")}


class Toolbox:
    """The simulators' programs, built into `out`."""

    def __init__(self, out, sluice):
        self.out, self.sluice = out, sluice
        self.movement = SCENARIOS / "peer-mobile.ns_movements"  # which all three read

    def prepare(self, peers):
        """Install and build what is missing."""
        self.out.mkdir(parents=True, exist_ok=True)
        if not self.sluice.exists():
            sys.exit(f"{self.sluice} is missing: run `make build`")
        install([PEERS[peer] for peer in peers])
        if "ns-3" in peers:
            subprocess.run(["make", "-s", "-C", HERE / "ns3", f"OUT={self.out}"], check=True)

    def command(self, case, simulator, seed, peer, traced=True):
        """The command of one run; Sluice follows the conventions of `peer`."""
        if simulator == "sluice":
            settings = case.settings_as(peer)
            words = [self.sluice, "run", scenario(case), "--seed", seed, "--json"]
            words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        elif simulator == "ns-3":
            words = [self.out / case.ns3[0], *case.ns3[1:], f"--seed={seed}"]
        else:
            words = ["/usr/bin/ns", HERE / "ns2" / case.ns2[0], *case.ns2[1:], "seed", seed]
            words += [] if traced else ["trace", "none"]
        return [str(word).replace("{movement}", str(self.movement)) for word in words]

    def identity(self, command):
        """What an outcome depends on: the command and the content of every file that it names or that goes with it."""
        digest = hashlib.sha256(json.dumps(command).encode())
        files = [pathlib.Path(word) for word in command if word.startswith("/")]
        if any(file.suffix == ".tcl" for file in files):
            files += sorted((HERE / "ns2").glob("*.tcl"))
        if self.sluice in files:
            files.append(self.movement)
        for file in files:
            digest.update(content(file))
        return digest.hexdigest()[:32]


@functools.cache
def content(file):
    """Digest of a file that does not change while this runs."""
    return hashlib.sha256(file.read_bytes()).digest()


def scenario(case):
    """The scenario's file."""
    return SCENARIOS / f"{case.scenario}.toml"


def install(packages):
    """Install Debian's packages whose file is missing, where we may; leave with a hint elsewhere."""
    missing = [package for package, file in packages if not pathlib.Path(file).exists()]
    if not missing:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(f"Debian's {' and '.join(missing)} are missing. Install them with: sudo {' '.join(command)}")
    subprocess.run(["apt-get", "update", "-qq"], check=True, stdout=sys.stderr)
    subprocess.run(command, check=True, stdout=sys.stderr)


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
        # ns-2 says other things too.
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
