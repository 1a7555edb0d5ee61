#!/usr/bin/env python3
"""From which MAC delay on is a packet late? What docs/controllers/swan.md says of `mac_delay`: late.py

Real-time senders alone on a channel (scenarios/reference/real-time-alone.toml, five seeds) must not count as congested: the
threshold is the smallest of THRESHOLDS_MS above which no packet's MAC delay lies in 99 % of all (sender, second) pairs. SWAN's
rate control at the empty queue of best effort, with its period of a second, counts the late packets of its node. Needs
target/release/sluice.
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
CHANNELS = {
    "ns-2.1b8": ["conventions=ns-2.1b8", "radio.basic_rate=11 Mb/s"],
    "RTS/CTS": ["mac.rts_threshold=0 B"],
    "basic access": ["mac.rts_threshold=off"],
}
THRESHOLDS_MS = (1, 2, 5, 10, 20, 50)


def keeps(channel, threshold, folder):
    """Of all pairs of a sender and a second, whether no packet was late."""
    file = pathlib.Path(folder) / "intervals.jsonl"
    sets = [*channel, "class_queue.best_effort.controller=swan_rate"]
    sets.append(f"class_queue.best_effort.swan_rate.mac_delay={threshold} ms")
    for seed in SEEDS:
        for sender in SENDERS:
            command = [SLUICE, "run", SCENARIO, "--json", "--seed", str(seed), *(f"--set={key}" for key in sets)]
            command += ["--record-intervals", file, "--node", sender, "--queue", "be"]
            subprocess.run(command, capture_output=True, check=True)
            yield from (json.loads(line)["radio"]["late"] == 0 for line in file.read_text().splitlines())


def main():
    if not SLUICE.exists():
        sys.exit(f"{SLUICE} is missing: cargo build --release")
    print("longest MAC delay of a second at most", *(f"{ms} ms" for ms in THRESHOLDS_MS), sep="\t")
    for name, channel in CHANNELS.items():
        with tempfile.TemporaryDirectory() as folder:
            kept = [list(keeps(channel, threshold, folder)) for threshold in THRESHOLDS_MS]
        print(name, *(f"{sum(pairs) / len(pairs):.2%}" for pairs in kept), sep="\t", flush=True)


if __name__ == "__main__":
    main()
