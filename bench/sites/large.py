#!/usr/bin/env python3
"""What sites of many access points cost: large.py [--write], or large.py site CELLS [SECONDS] for the scenario alone.

Each access point has 23 stations 3.6 m away and mac80211's queues, 15 m from the next one; channels of 20 MHz from 36 to 64 and
100 to 140 in turn, so that up to 19 cells never meet. A station has a TCP download, 500 kb/s down and 50 kb/s up. CPU is that of
the process, start-up included, per simulated second; memory the peak of what is resident. The exit status is 1 if 2, 4 or 8 cells
differ by more than TOLERANCE from as many times the events of one. `--write` records the rows in large.csv.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SLUICE = ROOT / "target/release/sluice"
RECORD = pathlib.Path(__file__).with_name("large.csv")
CHANNELS = [*range(36, 65, 4), *range(100, 141, 4)]
STATIONS = 23
TOLERANCE = 0.1
# Number of cells, and simulated seconds.
ROWS = [(1, 3), (2, 3), (4, 3), (8, 3), (130, 3)]

HEAD = """title = "a site of {cells} access points"
duration = "{seconds} s"
warmup = "1 s"
[radio]
standard = "802.11ac"
mcs = 7
propagation = "log-distance"
path_loss_exponent = 3.5
"""
CELL = """[[node]]
name = "ap{cell}x"
role = "access-point"
position = ["{x} m", "{y} m"]
channel = {channel}
queues = "mac80211"
[[node]]
name = "u{cell}x"
count = {stations}
position = ["{x3} m", "{y2} m"]
access_point = "ap{cell}x"
"""
TRAFFIC = """[[node]]
name = "server"
role = "wired"
[[wired]]
between = ["server", "ap*"]
rate = "1 Gb/s"
delay = "5 ms"
[[flow]]
name = "down"
from = "server"
to = "u*"
traffic = { kind = "poisson", packet = "1200 B", rate = "500 kb/s" }
[[flow]]
name = "up"
from = "u*"
to = "server"
traffic = { kind = "poisson", packet = "300 B", rate = "50 kb/s" }
[[flow]]
name = "tcp"
from = "server"
to = "u*"
transport = "tcp"
traffic = { kind = "greedy" }
"""


def site(cells, seconds):
    """The scenario of a site."""
    places = [(cell, cell % 13 * 15, cell // 13 * 15) for cell in range(cells)]
    nodes = [CELL.format(cell=cell, x=x, y=y, x3=x + 3, y2=y + 2, stations=STATIONS, channel=CHANNELS[cell % len(CHANNELS)])
             for cell, x, y in places]
    return HEAD.format(cells=cells, seconds=seconds) + "".join(nodes) + TRAFFIC


def measured(cells, seconds):
    """A row of the record."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = pathlib.Path(folder) / "site.toml"
        scenario.write_text(site(cells, seconds))
        with subprocess.Popen([SLUICE, "run", scenario, "--json"], stdout=subprocess.PIPE) as process:
            found = json.load(process.stdout)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "access_points": cells,
        "stations": cells * STATIONS,
        "simulated_s": seconds,
        "events": found["events"],
        "cpu_s_per_simulated_s": f"{(used.ru_utime + used.ru_stime) / seconds:.3g}",
        "peak_mb": used.ru_maxrss * 1024 // 1_000_000,
    }


def main():
    if sys.argv[1:2] == ["site"]:
        print(site(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 3), end="")
        return
    rows = []
    for cells, seconds in ROWS:
        rows.append(measured(cells, seconds))
        print(*(f"{key} {value}" for key, value in rows[-1].items()), sep=", ", flush=True)
    if "--write" in sys.argv:
        with RECORD.open("w", newline="") as file:
            table = csv.DictWriter(file, rows[0], lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
    one = rows[0]["events"]
    bent = [row["access_points"] for row in rows[1:4] if abs(row["events"] / one / row["access_points"] - 1) > TOLERANCE]
    if bent:
        sys.exit(f"events are not linear in cells: {bent}")


if __name__ == "__main__":
    main()
