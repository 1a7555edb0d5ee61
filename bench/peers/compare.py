#!/usr/bin/env python3
"""Compare sluice with ns-3: the same networks, their outcomes and their cost, in one run on one machine.

Outcomes are means over seeds with 95 % t-intervals; 'agree' means that the two intervals overlap. Cost is the process's
CPU time (user and system, start-up included) per simulated second, warm-up included, as the median over the seeds, and
the largest peak of resident memory. Runs go one after the other, the two simulators by turns, so that a slow spell of
the machine meets both. Needs Python 3.11, g++, make and Debian's libns3-dev.

Debian's library has ns-3's logging compiled in (switched off here): ns-3 built from the same source without it gave
the same outcomes in 0.7 to 0.9 of the CPU time, so divide the ratio of CPU times by up to 1.4 for a fair one.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = ROOT / "target/release/sluice"

# Conventions of ns-3's MAC that the standard leaves open or that ns-3 reads in its own way (docs/mac-conventions.md).
SLUICE_AS_NS3 = {
    "mac.timeout_deferral": "difs",
    "mac.eifs": "bad-frame",
}

# name: ns-3 program and arguments, simulated seconds with warm-up. In the chain a neighbour's frame is 6 dB above one
# from two hops away: ns-3's own 4 dB would capture some of them, sluice's 10 dB none, so ns-3 gets 10 dB too.
SCENARIOS = {
    "cell-b-10": (["ns3-cell", "--stations=10"], 11),
    "cell-b-50": (["ns3-cell", "--stations=50"], 11),
    "chain-fifo": (["ns3-chain", "--capture=10"], 100),
}

# Student's t, two-sided 95 %, by degrees of freedom.
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
       2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


def build_ns3(out):
    """Build the ns-3 programs into `out`, with the library installed first where we may; leave with a hint elsewhere."""
    if not pathlib.Path("/usr/include/ns3/wifi-module.h").exists():
        install = ["apt-get", "install", "-y", "--no-install-recommends", "libns3-dev"]
        if os.geteuid() != 0 or not shutil.which("apt-get"):
            sys.exit(f"ns-3 is missing. Install it with: sudo {' '.join(install)}")
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(install, check=True)
    subprocess.run(["make", "-s", "-C", ROOT / "bench/peers/ns3", f"OUT={out}"], check=True)


def run(command):
    """Run to the end; return the JSON outcome, CPU seconds and peak MiB, or leave with the program's own message."""
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
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: exit status {process.returncode}\n{stderr.read().decode()}")
        return json.load(stdout), usage.ru_utime + usage.ru_stime, peak or usage.ru_maxrss / 1024


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


def measures(name, outcome):
    """The figures to compare, by label."""
    seconds = outcome["simulated_s"]
    macs = [node["mac"] for node in outcome["nodes"]]
    flows = outcome["flows"]
    found = {
        "data frames sent, 1/s": sum(mac["attempts"] for mac in macs) / seconds,
        "of these not acknowledged, 1/s": sum(mac["collisions"] for mac in macs) / seconds,
        "frames delivered, 1/s": sum(mac["delivered"] for mac in macs) / seconds,
        "goodput, Mb/s": sum(flow["goodput_bps"] for flow in flows) / 1e6,
    }
    if name.startswith("chain"):
        for label, flow in zip(("forward", "backward"), flows, strict=True):
            found[f"{label}: goodput, Mb/s"] = flow["goodput_bps"] / 1e6
            found[f"{label}: loss"] = flow["loss_ratio"]
            found[f"{label}: mean delay, s"] = flow["delay_s"]["mean"]
            found[f"{label}: largest delay, s"] = flow["delay_s"]["max"]
    return found


def interval(values):
    """Mean and half-width of its 95 % interval; the half-width of a single value is not known (nan)."""
    if len(values) < 2:
        return values[0], math.nan
    t = T95[min(len(values) - 1, len(T95)) - 1]
    return statistics.mean(values), t * statistics.stdev(values) / math.sqrt(len(values))


def verdict(a, b):
    """Whether two (mean, half-width) pairs overlap."""
    gap = abs(a[0] - b[0])
    return "unknown" if math.isnan(a[1] + b[1]) else "agree" if gap <= a[1] + b[1] else "differ"


def collect(name, seeds, bin_dir):
    """All runs of one scenario: {simulator: {"outcomes": [...], "cpu": [...], "peak": [...]}}."""
    arguments, _ = SCENARIOS[name]
    scenario = ROOT / f"scenarios/reference/{name}.toml"
    commands = {"ns-3": [bin_dir / arguments[0], *arguments[1:], "--seed={seed}"]}
    if SLUICE.exists() and scenario.exists():
        settings = [word for pair in SLUICE_AS_NS3.items() for word in ("--set", "=".join(pair))]
        commands["sluice"] = [SLUICE, "run", scenario, "--seed", "{seed}", "--json", *settings]
    else:
        print(f"{name}: no {SLUICE if not SLUICE.exists() else scenario}: ns-3 alone", file=sys.stderr)
    runs = {simulator: {"outcomes": [], "cpu": [], "peak": []} for simulator in commands}
    for seed in range(1, seeds + 1):
        for simulator, command in commands.items():
            outcome, cpu, peak = run([str(word).replace("{seed}", str(seed)) for word in command])
            runs[simulator]["outcomes"].append(measures(name, outcome))
            runs[simulator]["cpu"].append(cpu)
            runs[simulator]["peak"].append(peak)
    return runs


def summarise(name, runs):
    """Rows of outcomes and cost, ready for JSON and for the table."""
    _, simulated = SCENARIOS[name]
    outcomes, both = [], "sluice" in runs
    for label in runs["ns-3"]["outcomes"][0]:
        row = {"measure": label}
        for simulator, found in runs.items():
            mean, half = interval([outcome[label] for outcome in found["outcomes"]])
            row[simulator] = {"mean": mean, "half_width": None if math.isnan(half) else half}
        if both:
            row["verdict"] = verdict(*(interval([o[label] for o in runs[s]["outcomes"]]) for s in ("ns-3", "sluice")))
        outcomes.append(row)
    cost = {}
    for simulator, found in runs.items():
        cost[simulator] = {"cpu_s_per_simulated_s": statistics.median(found["cpu"]) / simulated,
                           "peak_mib": max(found["peak"])}
    if both:
        cost["ratio"] = {key: cost["ns-3"][key] / cost["sluice"][key] for key in cost["ns-3"]}
    return {"scenario": name, "seeds": len(runs["ns-3"]["cpu"]), "outcomes": outcomes, "cost": cost}


def show(summary):
    """Print one scenario's table."""
    simulators = [s for s in ("ns-3", "sluice") if s in summary["cost"]]
    print(f"\n{summary['scenario']} ({summary['seeds']} seeds)")
    print(f"  {'':34}" + "".join(f"{s:>26}" for s in simulators))
    for row in summary["outcomes"]:
        cells = ""
        for simulator in simulators:
            mean, half = row[simulator]["mean"], row[simulator]["half_width"]
            cells += f"{f'{mean:.4f}' + ('' if half is None else f' ± {half:.4f}'):>26}"
        print(f"  {row['measure']:34}{cells}  {row.get('verdict', '')}")
    for key, label, scale in (("cpu_s_per_simulated_s", "CPU, ms a simulated second", 1e3),
                              ("peak_mib", "peak memory, MiB", 1)):
        cells = "".join(f"{summary['cost'][s][key] * scale:26.2f}" for s in simulators)
        ratio = f"  ns-3/sluice {summary['cost']['ratio'][key]:.1f}" if "ratio" in summary["cost"] else ""
        print(f"  {label:34}{cells}{ratio}")


def main():
    """Run what was asked for; exit status 1 where an outcome differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", nargs="*", help=f"of {', '.join(SCENARIOS)} (default: all)")
    parser.add_argument("--seeds", type=int, default=5, metavar="K", help="runs of each simulator (default 5)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target/bench", metavar="DIR",
                        help="programs and compare.json go here (default target/bench)")
    options = parser.parse_args()
    if unknown := set(options.scenario) - set(SCENARIOS):
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    if options.seeds < 1:
        parser.error("--seeds: at least 1")
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    build_ns3(out)
    summaries = []
    for name in options.scenario or SCENARIOS:
        summaries.append(summarise(name, collect(name, options.seeds, out)))
        show(summaries[-1])
    (out / "compare.json").write_text(json.dumps(summaries, indent=1) + "\n")
    return any(row.get("verdict") == "differ" for summary in summaries for row in summary["outcomes"])


if __name__ == "__main__":
    sys.exit(main())
