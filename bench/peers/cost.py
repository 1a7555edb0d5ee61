#!/usr/bin/env python3
"""What the compared networks cost in Sluice, ns-3 and ns-2: CPU time and memory, with the outcomes of the same runs.

CPU is the process's user and system time, start-up included, per simulated second, warm-up included: the median over
the seeds. Memory is the largest peak of resident memory. Runs go one after the other, the simulators by turns, so that
a slow spell of the machine meets all; leave the machine alone meanwhile. ns-2 runs without its trace.

Debian's ns-3 has logging compiled in (switched off here): the same source built without it gave the same outcomes in
0.74 to 0.90 of the CPU time, so divide its ratios by up to 1.35 for a comparison with such a build.
"""

import argparse
import json
import pathlib
import statistics
import sys

import networks
import simulators
import statistic

GRID = simulators.SCENARIOS / "grid-2500.toml"


def measure(toolbox, case, seeds):
    """{simulator: {"cpu": [...], "peak": [...], "goodput": [...]}} of one network."""
    found = {}
    for seed in range(1, seeds + 1):
        for simulator in ("sluice", *case.peers()):
            command = toolbox.command(case, simulator, seed, peer="ns-3", traced=False)
            outcome, cpu, peak = simulators.run(command)
            runs = found.setdefault(simulator, {"cpu": [], "peak": [], "goodput": []})
            runs["cpu"].append(cpu / case.simulated)
            runs["peak"].append(peak)
            runs["goodput"].append(sum(flow["goodput_bps"] for flow in outcome["flows"]) / 1e6)
    return found


def summarise(case, found):
    """A row a simulator, with the ratios to Sluice."""
    figures = {simulator: (statistics.median(runs["cpu"]), max(runs["peak"])) for simulator, runs in found.items()}
    cpu, peak = figures["sluice"]
    return [{"network": case.name, "simulator": simulator, "cpu_s_per_simulated_s": its_cpu, "peak_mib": its_peak,
             "cpu_ratio": its_cpu / cpu, "peak_ratio": its_peak / peak,
             "goodput_mbps": statistic.interval(found[simulator]["goodput"])}
            for simulator, (its_cpu, its_peak) in figures.items()]


def print_rows(rows):
    """One network's rows."""
    for row in rows:
        ratios = "" if row["simulator"] == "sluice" else f"{row['cpu_ratio']:10.1f} {row['peak_ratio']:10.1f}"
        print(f"{row['network']:<14} {row['simulator']:<8} {1e3 * row['cpu_s_per_simulated_s']:12.3f} "
              f"{row['peak_mib']:9.1f} {statistic.show(row['goodput_mbps']):>20} {ratios}", flush=True)


def grid(toolbox, seeds):
    """The grid of 2500 nodes: events a CPU second, CPU a simulated second, memory; None where there is no such file."""
    if not GRID.exists():
        return None
    rates, cpus, peaks = [], [], []
    for seed in range(1, seeds + 1):
        outcome, cpu, peak = simulators.run([str(toolbox.sluice), "run", str(GRID), "--seed", str(seed), "--json"])
        rates.append(outcome["events"] / cpu)
        cpus.append(cpu)
        peaks.append(peak)
    return {"events_per_cpu_s": statistics.median(rates), "cpu_s": statistics.median(cpus), "peak_mib": max(peaks)}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, metavar="K", help="runs of each simulator (default 3)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="keep the figures in this file too")
    parser.add_argument("--out", type=pathlib.Path, default=simulators.ROOT / "target/peers", metavar="DIR",
                        help="programs go here (default target/peers)")
    parser.add_argument("--sluice", type=pathlib.Path, default=simulators.ROOT / "target/release/sluice",
                        metavar="FILE", help="default target/release/sluice")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error("--seeds: at least 1")
    toolbox = simulators.Toolbox(options.out.resolve(), options.sluice.resolve())
    toolbox.prepare(simulators.PEERS)
    print(f"{'network':<14} {'':<8} {'CPU, ms/sim s':>12} {'peak, MiB':>9} {'goodput, Mb/s':>20} {'CPU ratio':>10} "
          f"{'peak ratio':>10}   ({options.seeds} seeds)")
    rows = []
    try:
        for case in (case for case in networks.CASES if case.cost):
            rows += summarise(case, measure(toolbox, case, options.seeds))
            print_rows(rows[-1 - len(case.peers()):])
        large = grid(toolbox, options.seeds)
    except RuntimeError as failure:
        sys.exit(str(failure))
    if large:
        print(f"grid-2500      sluice   {large['events_per_cpu_s'] / 1e6:.1f} million events a CPU second, "
              f"{large['cpu_s']:.1f} s of CPU, {large['peak_mib']:.0f} MiB")
    if options.json:
        options.json.write_text(json.dumps({"networks": rows, "grid": large}, indent=1) + "\n")


if __name__ == "__main__":
    main()
