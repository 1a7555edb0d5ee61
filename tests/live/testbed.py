#!/usr/bin/env python3
"""Runs ADTH's testbed in the guest and compares its verdicts with those of simulations.

For each experiment: the scenario's cases (some of them, and for a shorter time) become a plan, its runs use hwsim's
radios and the real kernel. The same claims are judged on the measurements and on simulations of the same cases, with
the same duration, rate and number of seeds. Runs are kept in target/measured, as by measure.py.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import re
import shlex
import subprocess
import sys

import check_live
import image
import measure

PAGE = image.ROOT / "docs/reproductions/adth.md"
OUT = image.ROOT / "target/testbed-live"
EXAMPLE = ["cargo", "run", "--quiet", "--locked", "-p", "sluice-lab", "--example", "testbed", "--"]


@dataclasses.dataclass
class Experiment:
    """Which cases of a scenario are run, how often and for how long."""

    name: str
    seeds: int
    seconds: int
    chosen: dict = dataclasses.field(default_factory=dict)

    def file(self):
        return f"scenarios/adth/{self.name}.toml"

    def plan(self):
        """The runs, a line of JSON each."""
        words = [f"{axis}={'|'.join(labels)}" for axis, labels in self.chosen.items()]
        command = [*EXAMPLE, "plan", self.file(), str(self.seeds), str(self.seconds), *words]
        return subprocess.run(command, check=True, cwd=image.ROOT, stdout=subprocess.PIPE, text=True).stdout.splitlines()


EXPERIMENTS = [
    Experiment("e1", 1, 15, {"size": ["128 B", "1518 B"], "load": ["0.2 Mb/s", "1.0 Mb/s", "1.8 Mb/s"], "scheme": ["pfifo", "ADTH, D/4"]}),
    Experiment("e3", 1, 40, {"target": ["100 ms", "400 ms"]}),
    Experiment("e4", 1, 10),
    Experiment("e6", 1, 30),
]
# Maximum number of runs in one guest.
AT_ONCE = 12


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--guests", type=int, default=os.cpu_count(), help="how many at once")
    parser.add_argument("--write", action="store_true", help="write into the page which verdicts are alike")
    parser.add_argument("--try", action="store_true", dest="sample", help="one short run of each experiment")
    parser.add_argument("experiment", nargs="*", help="some of them: e1, e3, e4, e6")
    args = parser.parse_args()
    wanted = [one for one in EXPERIMENTS if not args.experiment or one.name in args.experiment]
    with measure.Guests(args.guests) as guests:
        if args.sample:
            wanted = [dataclasses.replace(one, seeds=1, seconds=10) for one in wanted]
        rows = [row for one in wanted for row in verdicts(one, guests, args.sample)]
    if args.sample:
        return
    print(table(rows), summary(rows), sep="\n\n")
    if args.write:
        text = f"<!-- live -->\n{summary(rows)}\n<!-- live -->"
        PAGE.write_text(re.sub("<!-- live -->.*?<!-- live -->", lambda _: text, PAGE.read_text(), flags=re.DOTALL))


def verdicts(experiment, guests, sample):
    """A pair of verdicts for each claim: on the measurements, and on the simulations."""
    plan = experiment.plan()
    if sample:
        plan = plan[:: max(1, len(plan) // 2)][:2]
    parts = [plan[begin : begin + AT_ONCE] for begin in range(0, len(plan), AT_ONCE)]

    def run(part):
        number, lines = part
        name = f"testbed-{experiment.name}-{experiment.seconds}-{number}.jsonl"
        (guests.share / name).write_text("\n".join(lines) + "\n")
        before = f"cp /host/{shlex.quote(name)} plan.jsonl"
        label = f"{experiment.name}-{experiment.seconds}s-{'try-' if sample else ''}"
        return guests.one("testbed::", number, "virtual", before, label)

    with concurrent.futures.ThreadPoolExecutor(guests.at_once) as pool:
        texts = list(pool.map(run, enumerate(parts)))
    lines = [line.removeprefix("FIGURES ") for text in texts for line in text.splitlines() if line.startswith("FIGURES ")]
    if sample:
        print(*lines, sep="\n")
        return []
    OUT.mkdir(parents=True, exist_ok=True)
    measured = OUT / f"{experiment.name}.jsonl"
    measured.write_text("\n".join(lines) + "\n")
    folder = OUT / f"adth-{experiment.name}"
    simulate = [
        guests.share / "sluice", "reproduce", experiment.file(), "--seeds", str(experiment.seeds),
        "--set", f"duration={experiment.seconds} s", "--set", "mac.rate_control.algorithm=fixed", "--out", folder,
    ]  # fmt: skip
    ended = subprocess.run(simulate, check=False, cwd=image.ROOT, stdout=subprocess.DEVNULL).returncode
    if ended not in (0, 1):
        sys.exit(f"simulating {experiment.name} ends with status {ended}")
    judge = [*EXAMPLE, "judge", experiment.file(), measured, folder / "results.jsonl"]
    judged = subprocess.run(judge, check=True, cwd=image.ROOT, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in judged.splitlines()]


def table(rows):
    """The claims as Markdown."""
    words = {"holds": "holds", "differs": "**differs**", "not-confirmed": "*not confirmed*"}
    lines = ["| claim | document | measured | | simulated | | holds if |", "|---|---:|---:|---|---:|---|---|"]
    for row in rows:
        measured, simulated = row["measured"], row["simulated"]
        reported = measured["reported"]
        cells = [
            f"{measured['id']}: {measured['says']}",
            value(reported, measured["unit"]) if isinstance(reported, float | int) else reported or "",
            value(measured["measured"], measured["unit"]),
            words.get(measured["verdict"], measured["verdict"]),
            value(simulated["measured"], simulated["unit"]),
            words.get(simulated["verdict"], simulated["verdict"]),
            measured["holds"],
        ]
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def summary(rows):
    """How many verdicts are alike, and which are not."""
    others = [row["measured"]["id"] for row in rows if row["measured"]["verdict"] != row["simulated"]["verdict"]]
    but = f", all but {', '.join(others)}" if others else ""
    return f"{len(rows) - len(others)} of {len(rows)} verdicts are alike{but}."


def value(number, unit):
    """The number with three digits, in a suitable unit."""
    scales = {"s": [(1, "s"), (1e-3, "ms")], "bit/s": [(1e6, "Mb/s"), (1e3, "kb/s")], "share": [(1e-2, "%")]}
    if not math.isfinite(number):
        return "-"
    for scale, name in scales.get(unit, []):
        if abs(number) >= scale or (scale, name) == scales[unit][-1]:
            return f"{number / scale:.3g} {name}"
    return f"{number:.3g}"


if __name__ == "__main__":
    main()
