#!/usr/bin/env python3
"""Holds what a few networks cost, in executed instructions, to those on record: instructions.py [--write]

Valgrind's callgrind counts them, so that neither the machine nor its load shows. A count may differ by TOLERANCE from the one
in tests/instructions.csv; one that is cheaper by more asks to be written down. Counts hold for one compiler: under another
they are shown and held to nothing.
"""

import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SLUICE = ROOT / "target/release/sluice"
RECORD = ROOT / "tests/instructions.csv"
# Half of what a change may add: the allocator and the C library add some tenths of a percent from machine to machine.
TOLERANCE = 0.01

# The networks of `make bench`, shorter, and three besides: a scenario of scenarios/reference, how long, with which settings.
NETWORKS = {
    "cell-b-10": ("cell-b-10", "3 s", {}),
    "cell-b-50": ("cell-b-50", "3 s", {}),
    "chain-fifo": ("chain-fifo", "30 s", {}),
    "peer-chain-aodv": ("peer-chain-aodv", "30 s", {}),
    "peer-ampdu": ("peer-ampdu", "3 s", {}),
    "ampdu-10": ("peer-ampdu", "3 s", {"nodes.count": 11, "radio.mcs": 15}),
    "peer-mobile": ("peer-mobile", "20 s", {}),
    "mac80211": ("mac80211", "8 s", {}),
    "tcp-download": ("tcp-download", "25 s", {}),
    "peer-tcp": ("peer-tcp", "25 s", {}),
    "peer-tcp-uploads": ("peer-tcp-uploads", "22 s", {}),
    "tcp-aodv-1": ("peer-tcp-chain-aodv", "20 s", {"nodes.count": 2, "flow.down.to": "n1"}),
    "tcp-aodv-10": ("peer-tcp-chain-aodv", "20 s", {"nodes.count": 11, "flow.down.to": "n10"}),
    "tcp-1mbps": ("peer-tcp-chain-1mbps", "30 s", {"routing.protocol": "static"}),
    "tcp-1mbps-aodv": ("peer-tcp-chain-1mbps", "30 s", {}),
    "tcp-1mbps-sack": ("peer-tcp-chain-1mbps", "30 s", {"routing.protocol": "static", "tcp.recovery": "sack"}),
}


def main():
    compiler = subprocess.run(["rustc", "--version"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    counted = {name: instructions(SLUICE, network) for name, network in NETWORKS.items()}
    if "--write" in sys.argv:
        with RECORD.open("w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["network", "duration", "instructions", "compiler"])
            rows.writerows([name, NETWORKS[name][1], count, compiler] for name, count in counted.items())
        return
    with RECORD.open() as file:
        record = {row["network"]: row for row in csv.DictReader(file)}
    wrong = []
    for name, count in counted.items():
        before = int(record[name]["instructions"])
        change = count / before - 1
        print(f"{name:<18}{NETWORKS[name][1]:>6}{count / 1e6:>10.1f} million{change:>+9.2%}")
        if record[name]["compiler"] == compiler and abs(change) > TOLERANCE:
            wrong.append(f"{name}: {count} instructions, {change:+.2%} beside the record")
    if wrong:
        sys.exit("\n".join([*wrong, "where that is meant: python3 tests/instructions.py --write, and say why"]))
    print(f"instructions: {len(counted)} networks within {TOLERANCE:.0%} of the record")


def run(network):
    """The arguments of one run."""
    scenario, duration, settings = network
    words = ["run", ROOT / f"scenarios/reference/{scenario}.toml", "--json"]
    for key, value in {"duration": duration, **settings}.items():
        words += ["--set", f"{key}={value}"]
    return words


def instructions(binary, network):
    """Those of one run of this binary, start and results included."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", binary, *run(network)]
        # The environment is on the stack and is read, so it is the same everywhere.
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": "/"}
        done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode not in (0, 1) or not counted:
        sys.exit(f"{network[0]}: {done.stderr}")
    return int(counted.group(1))


if __name__ == "__main__":
    main()
