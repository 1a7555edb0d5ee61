#!/usr/bin/env python3
"""Runs hazards of the arena on Linux' own mac80211 and in our simulator, over the same simulated air, and prints both.

The kernel is user-mode Linux (see uml.py): hostapd, stations and a wired server run in it, and `sluice emulate` is the medium of
the radios of access point and stations. In the simulator the access point has `queues = "mac80211"`. Linux' figures are means
over `--seeds` seeds, those of the model, which is quick, over ten.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import uml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DURATION, WARMUP = 14, 4
MODEL_SEEDS = 10
# Bounds that were set before anything was measured.
P99, GOODPUT = 0.10, 0.03

AIR = """
title = "A cell of the arena"
duration = "{duration} s"
warmup = "{warmup} s"

[radio]
standard = "802.11n"
basic_rate = "6 Mb/s"
propagation = "free-space"
tx_power = "0 dBm"
receive_threshold = "-95 dBm"

[radio.errors]
model = "nist"

[mac]
access = "edca"

[mac.aggregation]
ampdu = "65535 B"

[mac.edca.best_effort]
txop_limit = "0 s"
"""
NODE = """
[[node]]
name = "{name}"
position = ["{x} m", "{y} m"]
{more}
"""
SERVER = """
[[node]]
name = "server"
role = "wired"

[[wired]]
between = ["server", "ap"]
rate = "1 Gb/s"
delay = "5 ms"
"""
TCP = 'transport = "tcp"\ntraffic = { kind = "greedy" }\ntcp = { congestion = "cubic", segment = "1448 B", friendly_growth = "constant" }\n'

# A station under Linux has mac80211, too: its flows wait in FQ-CoDel.
STATION = 'queue = { discipline = "fq-codel", limit = 8192, fq_codel = { target = "20 ms", interval = "100 ms" } }\n'

# What the agent's knobs set (grade 1).
KNOBS = 'mac80211 = { aql_low = "2500 us", aql_high = "5 ms", aql_threshold = "12 ms" }'

# Stations that download, that upload, and what else there is.
HAZARDS = {
    "1 download": {"down": 1},
    "10 downloads": {"down": 10},
    "40 downloads": {"down": 40},
    "ping to one of 10 that download": {"down": 10, "pinged": 1},
    "10 uploads, 4 downloads": {"down": 4, "up": 10},
    "1 upload, 3 downloads": {"down": 3, "up": 1},
    "UDP to 1 station, 1.7 times capacity": {"udp": 1, "rate": 98e6},
    "UDP to 9 stations, 1.7 times capacity": {"udp": 9, "rate": 11e6},
    "10 downloads, grade 1": {"down": 10, "attach": ["--backend", "knobs"], "model": KNOBS},
    "40 downloads, grade 1": {"down": 40, "attach": ["--backend", "knobs"], "model": KNOBS},
}


def stations(hazard):
    return hazard.get("down", 0) + hazard.get("up", 0) + hazard.get("udp", 0)


def nodes(hazard, driver):
    """The nodes of the air: the access point, the busy stations, and an idle one, which is pinged."""
    real = 'real = true\nqueues = "driver"\n' if driver else ""
    of_ap = real or f'queues = "mac80211"\n{hazard.get("model", "")}'
    text = NODE.format(name="ap", x=0, y=0, more='role = "access-point"\n' + of_ap)
    for station in range(1, stations(hazard) + 1):
        text += NODE.format(name=f"s{station}", x=10, y=0, more='access_point = "ap"\n' + (real or STATION))
    return text + NODE.format(name="idle", x=0, y=10, more='access_point = "ap"\n' + real)


def simulated(hazard):
    down, up, udp = (hazard.get(kind, 0) for kind in ("down", "up", "udp"))
    text = AIR.format(duration=DURATION, warmup=WARMUP) + nodes(hazard, False) + SERVER
    flow = '\n[[flow]]\nname = "{name}"\nfrom = "{source}"\nto = "{to}"\n'
    for station in range(1, stations(hazard) + 1):
        name = f"s{station}"
        if station <= down:
            text += flow.format(name=f"f{station}", source="server", to=name) + TCP
        elif station <= down + up:
            text += flow.format(name=f"f{station}", source=name, to="server") + TCP
        else:
            rate = f'traffic = {{ kind = "cbr", rate = "{hazard["rate"] / 1e6} Mb/s", packet = "1400 B" }}\n'
            text += flow.format(name=f"f{station}", source="server", to=name) + rate
    pinged = hazard.get("pinged")
    text += flow.format(name="ping", source="server", to=f"s{pinged}" if pinged else "idle")
    return text + 'traffic = { kind = "ping", packet = "64 B", every = "50 ms" }\n'


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")


def jain(values):
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / len(values) / squares if squares else float("nan")


def model(sluice, folder, hazard, seed):
    path = folder / "simulated.toml"
    path.write_text(simulated(hazard))
    done = subprocess.run([sluice, "run", path, "--seed", str(seed), "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the simulator: {done.stderr}")
    run = json.loads(done.stdout)
    (folder / "simulated.json").write_text(done.stdout)
    run = run.get("outcome", run)
    flows = {flow["name"]: flow for flow in run["flows"]}
    ping = flows["ping"]
    bulk = [flow["goodput_bps"] for name, flow in flows.items() if name != "ping"]
    node = {node["name"]: node for node in run["nodes"]}
    names = [f"s{station}" for station in range(1, stations(hazard) + 1)]
    to = {one: {hop["name"]: hop["airtime_s"] for hop in node[one]["hops"]} for one in ["ap", *names]}
    airtime = [to["ap"].get(name, 0) + to[name].get("ap", 0) for name in names]
    return {"p50": ping["rtt_s"]["p50"], "p99": ping["rtt_s"]["p99"], "goodput": sum(bulk), "jain": jain(airtime)}


def kernel(place, sluice, folder, hazard, seed, kept):
    down, up, udp = (hazard.get(kind, 0) for kind in ("down", "up", "udp"))
    air = folder / "air.toml"
    air.write_text(AIR.format(duration=600, warmup=0) + nodes(hazard, True))
    busy = list(range(1, stations(hazard) + 1))
    flows = [
        {"kind": "tcp", "stations": busy[:down]},
        {"kind": "tcp", "up": True, "stations": busy[down : down + up]},
        {"kind": "udp", "stations": busy[down + up :], "rate": hazard.get("rate"), "size": 1400},
    ]
    plan = {
        "modules": [str(place / name) for name in uml.MODULES], "sluice": str(sluice), "air": str(air), "seed": seed,
        "stations": len(busy) + 1, "flows": flows, "pinged": hazard.get("pinged") or len(busy) + 1, "every": 0.05,
        "ping_size": 64, "duration": DURATION, "warmup": WARMUP, "wire": "5ms", "bitrates": hazard.get("bitrates", "ht-mcs-2.4 7"),
        "attach": hazard.get("attach"),
    }  # fmt: skip
    path = folder / f"plan-{seed}.json"
    result = path.with_suffix(".result")
    begin = time.monotonic()
    if not (kept and result.exists() and json.loads(path.read_text()) == plan):
        path.write_text(json.dumps(plan))
        result.unlink(missing_ok=True)
        console = uml.run(place, HERE / "kernel_cell.py", {"PLAN": path}, path.with_suffix(".console"))
        if not result.exists():
            sys.exit(f"user-mode Linux ended without a result: {console}")
    got = json.loads(result.read_text())
    if "trips" not in got:
        sys.exit(f"in the kernel: {got}")
    got["wall"] = time.monotonic() - begin
    trips = got["trips"]
    busy_airtime = [got["airtime"][station - 1] for station in busy]
    return {"p50": percentile(trips, 0.5), "p99": percentile(trips, 0.99), "goodput": sum(got["goodput"]),
            "jain": jain(busy_airtime), "lost": got["lost"], "wall": got["wall"], "ended": got["ended"], "pings": len(trips)}  # fmt: skip


def mean(values):
    return sum(values) / len(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hazard", action="append", choices=HAZARDS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sluice", type=pathlib.Path, default=ROOT / "target/debug/sluice")
    parser.add_argument("--kept", action="store_true", help="take results of Linux that are there already")
    parser.add_argument("--show", action="store_true", help="each run")
    args = parser.parse_args()
    place = uml.build()
    folder = ROOT / "target/uml-runs"
    print("| hazard | p50, ms: Linux, model | p99, ms: Linux, model | Mb/s: Linux, model | Jain of airtime: Linux, model |")
    print("|---|--:|--:|--:|--:|")
    outside = []
    for name in args.hazard or HAZARDS:
        hazard = HAZARDS[name]
        own = folder / name.replace(" ", "-").replace(",", "")
        own.mkdir(parents=True, exist_ok=True)
        linux = [kernel(place, args.sluice.resolve(), own, hazard, seed, args.kept) for seed in range(101, 101 + args.seeds)]
        ours = [model(args.sluice, own, hazard, seed) for seed in range(101, 101 + MODEL_SEEDS)]
        if args.show:
            print(*linux, *ours, sep="\n", file=sys.stderr, flush=True)
        both = {key: [mean([run[key] for run in runs]) for runs in (linux, ours)] for key in ("p50", "p99", "goodput", "jain")}
        row = [name]
        for key, scale, digits in (("p50", 1e3, 1), ("p99", 1e3, 1), ("goodput", 1e-6, 2), ("jain", 1, 3)):
            row.append(", ".join(f"{value * scale:.{digits}f}" for value in both[key]))
        print("| " + " | ".join(row) + " |", flush=True)
        for key, bound in (("p99", P99), ("goodput", GOODPUT)):
            linux, ours = both[key]
            if abs(ours - linux) > bound * linux:
                outside.append(f"{name}: {key} of the model is {100 * (ours / linux - 1):+.1f} %")
    print(*outside, sep="\n")


if __name__ == "__main__":
    main()
