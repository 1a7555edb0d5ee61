#!/usr/bin/env python3
"""From which MAC delay on is a packet late? What docs/controllers/swan.md says of `mac_delay`: late.py

Real-time senders alone on a channel (scenarios/reference/real-time-alone.toml, five seeds) must not count as congested: the
threshold is the smallest of THRESHOLDS_MS above which no packet's MAC delay lies in 99 % of all (sender, second) pairs. Without a
controller a recording has an interval for each second. Needs target/release/sluice.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = ROOT / "target/release/sluice"
SCENARIO = ROOT / "scenarios/reference/real-time-alone.toml"
SENDERS = [f"n{index}" for index in range(8)]
SEEDS = range(1, 6)
ACCESS = {"basic access": "off", "RTS/CTS": "0 B"}
THRESHOLDS_MS = (1, 2, 5, 10, 20, 50)
UNITS_MS = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}


def longest(threshold, seed, sender, folder):
    """The longest MAC delay of each second, in ms."""
    file = pathlib.Path(folder) / "intervals.jsonl"
    command = [SLUICE, "run", SCENARIO, "--json", "--seed", str(seed), "--set", f"mac.rts_threshold={threshold}"]
    subprocess.run([*command, "--record-intervals", file, "--node", sender], stdout=subprocess.DEVNULL, check=True)
    for line in file.read_text().splitlines():
        value, unit = json.loads(line)["seen"]["service"]["max"].split()
        yield float(value) * UNITS_MS[unit]


def main():
    if not SLUICE.exists():
        sys.exit(f"{SLUICE} is missing: cargo build --release")
    print("longest MAC delay of a second at most", *(f"{ms} ms" for ms in THRESHOLDS_MS), sep="\t")
    for access, threshold in ACCESS.items():
        with tempfile.TemporaryDirectory() as folder:
            delays = [ms for seed in SEEDS for sender in SENDERS for ms in longest(threshold, seed, sender, folder)]
        shares = (sum(delay <= ms for delay in delays) / len(delays) for ms in THRESHOLDS_MS)
        print(access, *(f"{share:.2%}" for share in shares), sep="\t")


if __name__ == "__main__":
    main()
