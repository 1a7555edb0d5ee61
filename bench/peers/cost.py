#!/usr/bin/env python3
"""What the compared networks cost in Sluice, ns-3 and ns-2: CPU time and memory, for equal outcomes.

CPU is the process's user and system time, start-up included, per simulated second, warm-up included. Each peer is set
against Sluice under that peer's conventions, run right before and after it: a slow spell of the machine meets both. Every
run has another seed. The ratio is that of the peer's CPU over the mean of Sluice's two, its median over the runs with the
quartiles. Memory is the largest peak of resident memory. ns-2 runs without its trace.

Unequal work is divided out: `a frame` is the ratio of CPU times a frame on the air that contends for the medium (data
frames, an aggregate being one, RTS and routing packets). Where both outcomes are alike it is the ratio a second. Outcomes
are alike when mean goodput and frames differ by no more than TOLERANCE; a difference that is larger must be explained in
docs/validation.md (known-differences.toml), else the exit status is 1. ns-2's outcomes come from runs with its trace, those of
compare.py.

With --instructions executed instructions stand in the place of CPU time, which do not depend on what else the machine does:
those of a run of seed 1 under Valgrind, less those of a shorter one, so that the start is out. Outcomes are those of whole runs
of OUTCOMES seeds, as one short run tells little of them. Counts are kept in target/peers by program and arguments.

Debian's ns-3 has logging compiled in (switched off here). With --optimised the same source is built without it and
without assertions, with -O3 for this processor, some forty minutes of CPU once, and measured beside the package.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys

import compare
import copies
import networks
import simulators
import statistic

GRID = simulators.SCENARIOS / "grid-2500.toml"
GRID_SEEDS = 3

# Largest relative difference of mean goodput, and of mean frames per second, at which two simulators did the same work.
TOLERANCE = 0.05

# Seeds whose outcomes are compared when instructions are counted.
OUTCOMES = 5


def goodput(outcome):
    """Of all flows, Mb/s."""
    return sum(flow["goodput_bps"] for flow in outcome["flows"]) / 1e6


def frames(outcome):
    """Frames a second that contended for the medium."""
    of_nodes = sum(node["mac"]["attempts"] + node["mac"].get("rts_attempts", 0) for node in outcome["nodes"])
    return (of_nodes + outcome.get("totals", {}).get("routing_packets", 0)) / outcome["simulated_s"]


def timed(toolbox, case, *job):
    """A run's figures, its cost in CPU seconds per simulated second."""
    case = case.lasting(case.cost)
    outcome, cpu, peak = simulators.run(toolbox.command(case, *job, traced=False))
    outcome = complete(toolbox, case, job, outcome)
    return figures(outcome, peak, cpu / case.cost, frames(outcome))


def complete(toolbox, case, job, outcome):
    """A run's outcome, of ns-2 that of the same run with its trace."""
    return compare.outcome(toolbox, (case, *job)) if job[0] == "ns-2" else outcome


def counted(toolbox, case, simulator, seed, conventions):
    """A run's figures, its cost in instructions per simulated second of seed 1."""
    found = timed(toolbox, case, simulator, seed, conventions)
    job, (first, last) = (simulator, 1, conventions), case.counted
    (before, sent_before), (after, sent) = (kept_count(toolbox, case.lasting(end), job) for end in (first, last))
    return found | {"cost": (after - before) / (last - first), "work": (sent - sent_before) / (last - first)}


def kept_count(toolbox, case, job):
    """A run's executed instructions, kept or fresh, and the frames that it sent."""
    command = toolbox.command(case, *job, traced=False)
    kept = toolbox.out / "counts" / f"{toolbox.identity(command)}.json"
    if not kept.exists():
        outcome, instructions = simulators.count(command)
        kept.parent.mkdir(exist_ok=True)
        unfinished = kept.with_suffix(".part")
        unfinished.write_text(json.dumps({"outcome": outcome, "instructions": instructions}))
        unfinished.rename(kept)
    found = json.loads(kept.read_text())
    outcome = complete(toolbox, case, job, found["outcome"])
    return found["instructions"], frames(outcome) * outcome["simulated_s"]


def measure(toolbox, run, case, peer, seed, ns3):
    """One seed's figures of a peer and of Sluice as the peer: {simulator: {"cost", "peak", "goodput", "frames"}}."""
    peers = {peer: None} | ({"ns-3 -O3": ns3} if peer == "ns-3" and ns3 else {})
    found, own = {}, []
    for name, folder in peers.items():
        own.append(run(toolbox, case, "sluice", seed, peer))
        standard = toolbox.ns3
        toolbox.ns3 = folder or standard
        found[name] = run(toolbox, case, peer, seed, peer)
        toolbox.ns3 = standard
        own.append(run(toolbox, case, "sluice", seed, peer))
    found["sluice"] = own[0] | {"cost": statistics.mean(its["cost"] for its in own), "peak": max(its["peak"] for its in own)}
    return found


def figures(outcome, peak, cost, work):
    """One run's figures: `work` is the frames a second while the cost was measured, `peak` the most memory in MiB."""
    return {"cost": cost, "work": work, "peak": peak, "goodput": goodput(outcome), "frames": frames(outcome)}


def summarise(case, peer, runs, explained):
    """A row for each simulator of one network and peer."""
    own = [run["sluice"] for run in runs]
    rows = []
    for name in runs[0]:
        theirs = [run[name] for run in runs]
        means = {key: (statistics.mean(its[key] for its in own), statistics.mean(its[key] for its in theirs))
                 for key in ("goodput", "frames")}
        rows.append({
            "network": case.name, "beside": peer, "simulator": name,
            "cost_per_simulated_s": statistics.median(its["cost"] for its in theirs),
            "peak_mib": max(its["peak"] for its in theirs),
            "goodput_mbps": statistic.interval([its["goodput"] for its in theirs]),
            "frames_per_s": statistic.interval([its["frames"] for its in theirs]),
            "ratio": quartiles([a["cost"] / b["cost"] for a, b in zip(theirs, own, strict=True)]),
            "ratio_per_frame": quartiles(
                [a["cost"] / a["work"] / (b["cost"] / b["work"]) for a, b in zip(theirs, own, strict=True)]),
            "alike": {key: abs(a - b) <= TOLERANCE * max(a, b) for key, (a, b) in means.items()},
        })
        rows[-1]["why"] = None if all(rows[-1]["alike"].values()) else reason(case, peer, rows[-1]["alike"], explained)
    return rows


def quartiles(values):
    """The lower quartile, the median and the upper quartile."""
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


def reason(case, peer, alike, explained):
    """The section that explains why outcomes are not alike, or None."""
    words = ([] if alike["goodput"] else ["Mb/s", "delivered"]) + ([] if alike["frames"] else ["frames", "packets"])
    sections = [compare.covering(case.name, label, peer, explained)
                for label in case.measures if any(word in label for word in words)]
    return next((section for section in sections if section), None)


def print_rows(rows, unit):
    """One network's rows beside one peer; costs in `unit`."""
    for row in rows:
        note = ""
        if row["simulator"] != "sluice":
            unlike = " and ".join(key for key, alike in row["alike"].items() if not alike)
            note = f"{show_ratio(row['ratio']):>18} {show_ratio(row['ratio_per_frame']):>18}"
            note += f"  {unlike} not alike: {row['why'] or 'UNEXPLAINED'}" if unlike else ""
        print(f"{row['network']:<23} {row['simulator']:<9} {row['cost_per_simulated_s'] / unit:10.3f} {row['peak_mib']:7.1f} "
              f"{statistic.show(row['goodput_mbps']):>18} {statistic.show(row['frames_per_s']):>18} {note}", flush=True)


def show_ratio(ratio):
    """A ratio with its quartiles."""
    low, middle, high = ratio
    return f"{middle:.1f} ({low:.1f}-{high:.1f})"


def grid(toolbox, seeds):
    """The grid of 2500 nodes: events a CPU second, CPU a simulated second, memory."""
    rates, cpus, peaks = [], [], []
    for seed in range(1, seeds + 1):
        outcome, cpu, peak = simulators.run([str(toolbox.sluice), "run", str(GRID), "--seed", str(seed), "--json"])
        rates.append(outcome["events"] / cpu)
        cpus.append(cpu)
        peaks.append(peak)
    return {"events_per_cpu_s": statistics.median(rates), "cpu_s": statistics.median(cpus), "peak_mib": max(peaks)}


def main():
    """Measure and print; exit status 1 where outcomes are not alike and nothing explains it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="NETWORK",
                        help="a letter or a name, as for compare.py (repeatable; default: all that cost is measured of)")
    parser.add_argument("--seeds", type=int, default=15, metavar="K", help="runs, with seeds 1 to K (default 15)")
    parser.add_argument("--instructions", action="store_true",
                        help=f"count instructions, of seed 1, in the place of CPU time; outcomes of seeds 1 to {OUTCOMES}")
    parser.add_argument("--optimised", action="store_true", help="beside Debian's ns-3 one built from its source")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="keep the figures in this file too")
    parser.add_argument("--out", type=pathlib.Path, default=simulators.ROOT / "target/peers", metavar="DIR",
                        help="programs go here (default target/peers)")
    parser.add_argument("--sluice", type=pathlib.Path, default=simulators.ROOT / "target/release/sluice",
                        metavar="FILE", help="default target/release/sluice")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error("--seeds: at least 1")
    toolbox = simulators.Toolbox(options.out.resolve(), options.sluice.resolve())
    cases = [case for case in networks.CASES if case.cost and compare.wanted(case, options.only)]
    toolbox.prepare(simulators.PEERS, cases)
    ns3 = toolbox.link_ns3(copies.ns3(toolbox.out)) if options.optimised else None
    explained = compare.load_known_differences()
    load = os.getloadavg()[0]
    run, what, unit, seeds = (timed, "ms/sim s", 1e-3, options.seeds) if not options.instructions else (
        counted, "10^6/sim s", 1e6, OUTCOMES)
    print(f"{'network':<23} {'':<9} {what:>10} {'MiB':>7} {'goodput, Mb/s':>18} {'frames a second':>18} "
          f"{'ratio':>18} {'a frame':>18}   ({seeds} seeds, load at the start {load:.1f})")
    rows = []
    try:
        for case in cases:
            # ns-3.44 exists only as a wheel.
            own = None if case.ns3 and case.ns3[0] in simulators.WIDE else ns3
            for peer in case.peers():
                runs = [measure(toolbox, run, case, peer, seed, own) for seed in range(1, seeds + 1)]
                rows += summarise(case, peer, runs, explained)
                print_rows([row for row in rows if (row["network"], row["beside"]) == (case.name, peer)], unit)
        large = None if options.only or options.instructions else grid(toolbox, min(options.seeds, GRID_SEEDS))
    except RuntimeError as failure:
        sys.exit(str(failure))
    if large:
        print(f"grid-2500               sluice   {large['events_per_cpu_s'] / 1e6:.1f} million events a CPU second, "
              f"{large['cpu_s']:.1f} s of CPU, {large['peak_mib']:.0f} MiB")
    if options.json:
        options.json.write_text(json.dumps({"networks": rows, "cost": what, "grid": large, "load": load}, indent=1) + "\n")
    return any(row["simulator"] != "sluice" and not all(row["alike"].values()) and not row["why"] for row in rows)


if __name__ == "__main__":
    sys.exit(main())
