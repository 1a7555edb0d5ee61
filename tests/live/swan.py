#!/usr/bin/env python3
"""Runs SWAN's testbed in the guest and compares the measurements with the document's statements (Figs. 20 to 23).

First the MAC delay above which a packet is late is chosen, by rule 5.1.3: the smallest of six times that hardly any
packet of the UDP flow exceeds while no other flow sends. Then each seed runs without rate control and with it, also
with twice and half that time, and with the simulator's time. Runs are kept in target/measured, as by measure.py.
"""

import argparse
import concurrent.futures
import json
import math
import os
import re
import statistics

import image
import measure

PAGE = image.ROOT / "docs/reproductions/swan.md"
# Times from which the rule chooses, in microseconds, and the share of seconds without a longer delay that it requires.
GRID = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000]
SHARE = 0.99
# Of the simulated experiments with basic access, by the same rule.
SIMULATED = 10_000
PER_SECOND = 50
# The document's means are 2.3 and 3.3 ms, its bounds 2 and 4 ms: relative to the mean without rate control.
LOW, HIGH = 2 / 3.3, 4 / 3.3
# A packet of TCP with its headers.
PACKET = 1_500 * 8


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--guests", type=int, default=os.cpu_count(), help="how many at once")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--write", action="store_true", help="also update the tables in the page")
    args = parser.parse_args()
    with measure.Guests(args.guests) as guests:
        alone = runs(guests, args, ["alone"])
        late_after, shares = chosen(alone)
        others = sorted({late_after // 2, late_after * 2, SIMULATED} - {late_after})
        found = runs(guests, args, ["original", str(late_after), *map(str, others)])
    texts = {"late": rule(shares, late_after, alone), "claims": claims(found, late_after), "neighbours": table(found)}
    for name, text in texts.items():
        print(f"\n{name}\n\n{text}")
    if args.write:
        page = PAGE.read_text()
        for name, text in texts.items():
            mark = f"<!-- {name} -->"
            page = re.sub(f"{mark}.*?{mark}", lambda _, text=text, mark=mark: f"{mark}\n{text}\n{mark}", page, flags=re.DOTALL)
        PAGE.write_text(page)


def runs(guests, args, cases):
    """Measurements by case and seed."""

    def one(seed):
        label = f"{args.seconds}s-{'-'.join(cases)}-"
        text = guests.one("swan::runs_of_a_seed", seed, "virtual", f"echo {args.seconds} {' '.join(cases)} > cases", label)
        lines = [line.removeprefix("FIGURES ") for line in text.splitlines() if line.startswith("FIGURES ")]
        return seed, {run["case"]: run for run in map(json.loads, lines)}

    with concurrent.futures.ThreadPoolExecutor(guests.at_once) as pool:
        found = dict(pool.map(one, range(1, args.seeds + 1)))
    return {case: [found[seed][case] for seed in sorted(found)] for case in cases}


def chosen(alone):
    """The time of the rule, and the share of seconds without a longer delay for each of the grid."""
    seconds = []
    for run in alone["alone"]:
        delays = run["delays_us"]
        seconds += [max(delays[begin : begin + PER_SECOND]) for begin in range(0, len(delays) - PER_SECOND + 1, PER_SECOND)]
    shares = {time: sum(second <= time for second in seconds) / len(seconds) for time in GRID}
    return next(time for time in GRID if shares[time] >= SHARE), shares


def rule(shares, late_after, alone):
    """The rule as Markdown."""
    mean = statistics.fmean(delay for run in alone["alone"] for delay in run["delays_us"])
    cells = [f"**{share:.1%}**" if time == late_after else f"{share:.1%}" for time, share in shares.items()]
    return "\n".join(
        [
            f"The UDP flow alone has a mean MAC delay of {mean / 1e3:.2f} ms.",
            "",
            "| longest MAC delay within a second, at most | " + " | ".join(f"{time // 1_000} ms" for time in shares) + " |",
            "|---|" + "---:|" * len(shares),
            "| share of seconds | " + " | ".join(cells) + " |",
        ]
    )


def below(run, bound):
    return sum(delay < bound for delay in run["delays_us"]) / len(run["delays_us"])


def above(run, bound):
    return sum(delay > bound for delay in run["delays_us"]) / len(run["delays_us"])


def percentile(run, share):
    delays = sorted(run["delays_us"])
    return delays[min(len(delays) - 1, int(len(delays) * share))]


def mean_delay(run):
    return statistics.fmean(run["delays_us"])


def departures(run):
    """Mean difference between actual rate and shaping rate, relative to the latter, over all stations and shaped
    seconds."""
    pairs = [(s, a) for station in run["rates_bps"] for s, a in station if s]
    return statistics.fmean(abs(a - s) / s for s, a in pairs)


def excess(run):
    """The largest excess over the rate in a second, in packets."""
    return max((a - s) / PACKET for station in run["rates_bps"] for s, a in station if s)


def claims(found, late_after):
    """The values for the document's statements over the seeds: mean and half of the 95 % interval. The record has none
    of them."""
    pairs = list(zip(found["original"], found[str(late_after)], strict=True))
    means = [(mean_delay(o), mean_delay(c)) for o, c in pairs]
    low = [(below(o, LOW * m), below(c, LOW * m)) for (o, c), (m, _) in zip(pairs, means, strict=True)]
    high = [(above(o, HIGH * m), above(c, HIGH * m)) for (o, c), (m, _) in zip(pairs, means, strict=True)]
    rows = [
        ("fig20.1", "the actual TCP rate is well controlled: mean of abs(a - s) / s", "-", [departures(c) for _, c in pairs], "%"),
        ("fig20.1", "in no second more than a packet above the rate: most", "-", [excess(c) for _, c in pairs], ""),
        ("fig21.1", "rate control lowers the delay: mean with - without", "2.3 - 3.3 ms", [(c - o) / 1e3 for o, c in means], "ms"),
        ("fig21.2", "by how much: ratio of the means", "0.70", [c / o for o, c in means], ""),
        ("fig21.3", "below a bound most of the time: 1.21 times the mean without", "not given", [1 - c for _, c in high], "%"),
        ("fig22.1", "much higher peaks without: 99.9th percentile, without - with", "higher", [(percentile(o, 0.999) - percentile(c, 0.999)) / 1e3 for o, c in pairs], "ms"),
        ("fig22.1", "much higher peaks without: maximum, without - with", "higher", [(max(o["delays_us"]) - max(c["delays_us"])) / 1e3 for o, c in pairs], "ms"),
        ("fig23.1", "more packets below 0.61 times the mean without: with - without", "14 points", [c - o for o, c in low], "%"),
        ("fig23.2", "fewer above 1.21 times it: with / without", "0.46", [c / o for o, c in high], ""),
        ("fig23.3", "share below, with", "66 %", [c for _, c in low], "%"),
        ("fig23.3", "share below, without", "52 %", [o for o, _ in low], "%"),
        ("fig23.4", "share above, with", "11 %", [c for _, c in high], "%"),
        ("fig23.4", "share above, without", "24 %", [o for o, _ in high], "%"),
    ]  # fmt: skip
    lines = ["| statement | document | measured | 95 % |", "|---|---:|---:|---:|"]
    for name, says, document, values, unit in rows:
        mean, within = statistics.fmean(values), interval(values)
        lines.append(f"| {name}: {says} | {document} | {shown(mean, unit)} | ± {shown(within, unit)} |")
    return "\n".join(lines)


# Of Student's t, two-sided 95 %, by the number of seeds.
STUDENT = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}


def interval(values):
    """Half the width of the 95 % interval of a mean."""
    if len(values) < 2:
        return math.nan
    return STUDENT[len(values)] * statistics.stdev(values) / math.sqrt(len(values))


def shown(value, unit):
    return f"{value * 100:.1f} %" if unit == "%" else f"{value:.2f} {unit}".rstrip()


def table(found):
    """Each case: what it costs TCP, and the delays of UDP."""
    lines = ["| rate control, packets late after | mean | 99 % | 99.9 % | largest | TCP in all | late packets per second |", "|---|---:|---:|---:|---:|---:|---:|"]
    for case, of_seeds in found.items():
        name = "none" if case == "original" else f"{int(case) / 1_000:g} ms"
        ms = [statistics.fmean(figure(run) for run in of_seeds) / 1e3 for figure in
              (mean_delay, lambda run: percentile(run, 0.99), lambda run: percentile(run, 0.999), lambda run: max(run["delays_us"]))]
        # Best effort as it left the stations, headers and answers included.
        left = statistics.fmean(sum(a for station in run["rates_bps"] for _, a in station) / run["seconds"] / 1e6 for run in of_seeds)
        late = statistics.fmean(run["late"] / (run["seconds"] + 10) for run in of_seeds)
        cells = [f"{value:.2f} ms" for value in ms] + [f"{left:.2f} Mb/s", "-" if case == "original" else f"{late:.0f}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
