#!/usr/bin/env python3
"""Measures Sluice's discipline, fq_codel and cake in the guest, and prints tables of delay, goodput and instructions.

Each run is a guest of its own, in virtual time, in which chance (when a flow begins, how stations back off) follows from
the run's number. Results are kept in target/measured, separately for each build of the tests, so that an interrupted
command can be repeated to continue.
"""

import argparse
import concurrent.futures
import hashlib
import itertools
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile

import check_live
import guest
import image

KEPT = image.ROOT / "target/measured"
SECONDS = 7_200
# Of crate linux's tests/guest/tables.rs.
PARTS = ["udp_of_8_into_5", "a_download_with_a_ping", "the_mesh"]
SHOWN = {
    "mean_s": ("mean", 1e3, "ms"),
    "p99_s": ("p99", 1e3, "ms"),
    "ping_mean_s": ("ping, mean", 1e3, "ms"),
    "ping_p99_s": ("ping, p99", 1e3, "ms"),
    "tcp_rtt_s": ("TCP's round trip", 1e3, "ms"),
    "goodput_ratio": ("goodput", 1e2, "%"),
    "goodput_bps": ("goodput", 1e-3, "kb/s"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--guests", type=int, default=os.cpu_count(), help="how many at once")
    args = parser.parse_args()
    with Guests(args.guests) as guests:
        wanted = [("tables::" + part, run, "virtual") for run in range(1, args.runs + 1) for part in PARTS]
        wanted.append(("instructions::", 0, "instructions"))
        outputs = guests.all(wanted)
    rows = [json.loads(line.removeprefix("FIGURES ")) for line in outputs if line.startswith("FIGURES ")]
    tables = {name: table([row for row in rows if row["table"] == name]) for name in ("udp", "download", "mesh")}
    tables["cpu"] = costs(outputs)
    for name, text in tables.items():
        print(f"\n{name}, mean ± standard deviation\n\n{text}")


class Guests:
    """Guests with the tests; their output is kept."""

    def __init__(self, at_once):
        try:
            image.debian.have("bpf")
            image.build()
        except image.debian.Impossible as why:
            sys.exit(f"No guest: {why}")
        self.at_once = at_once

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="live-", dir=image.PLACE)
        self.share = pathlib.Path(self.folder.name)
        check_live.binaries(self.share)
        build = hashlib.sha256((self.share / "tests").read_bytes()).hexdigest()[:16]
        self.kept = KEPT / build
        self.kept.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def all(self, wanted):
        """The lines that the tests with the `wanted` (name, run, clock) print."""
        with concurrent.futures.ThreadPoolExecutor(self.at_once) as pool:
            texts = list(pool.map(lambda one: self.one(*one), wanted))
        return [line for text in texts for line in text.splitlines()]

    def one(self, name, run, clock, before="true", label=""):
        """The output of a test; `before` is a command that prepares it, and `label` distinguishes it from others."""
        kept = self.kept / f"{name.replace('::', '-')}-{label}{run}.txt"
        if kept.exists():
            return kept.read_text()
        command = f"{check_live.COPY}; echo {run} > run; {before}; ./tests --ignored --nocapture --test-threads=1 {name}"
        with tempfile.TemporaryFile("w+") as out:
            status = guest.run(command, self.share, clock, SECONDS, out=out)
            out.seek(0)
            text = out.read()
        if status:
            sys.exit(f"{name}{label}, run {run}, ends with status {status}:\n{text}")
        print(f"measured: {name}{label}, run {run}", file=sys.stderr, flush=True)
        kept.write_text(text)
        return text


def table(rows):
    """Rows of one table, of all runs, as Markdown: the mean of each figure and its standard deviation."""
    keys = list(rows[0]["figures"])
    heads = [f"{SHOWN[key][0]} ({SHOWN[key][2]})" for key in keys]
    runs = max(sum(row["row"] == other["row"] for other in rows) for row in rows)
    lines = [f"Runs: {runs}.", "", "| | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(keys)]
    for name in dict.fromkeys(row["row"] for row in rows):
        cells = [cell([row["figures"][key] * SHOWN[key][1] for row in rows if row["row"] == name]) for key in keys]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cell(values):
    """`46.4 ± 0.2`, with digits to suit the mean; one run has no standard deviation."""
    mean = statistics.fmean(values)
    digits = 0 if mean >= 1_000 else 1
    if len(values) == 1:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ± {statistics.stdev(values):.1f}"


def costs(lines):
    """The output of instructions.rs, as Markdown."""
    # The heading is in the line of the test's name.
    (begin,) = (at for at, line in enumerate(lines) if line.endswith("instructions per send, empty queue"))
    # How far an aim is missed stands below them.
    rest = itertools.takewhile(lambda line: not line.startswith(("ok", "by credit the aim")), lines[begin + 1 :])
    found = [re.fullmatch(r"(\S.*?)\s+(\d+)", line) for line in rest]
    costs = {match[1]: int(match[2]) for match in found if match}
    rows = [f"| {name} | {cost} | {cost - costs['pfifo']:+} |" for name, cost in costs.items()]
    return "\n".join(["| | instructions | over pfifo |", "|---|---:|---:|", *rows])


if __name__ == "__main__":
    main()
