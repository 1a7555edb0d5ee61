#!/usr/bin/env python3
"""Runs hazards of the arena with Linux' own mac80211 and in the simulator, over the same simulated air, and prints both
results.

The kernel is user-mode Linux (see uml.py): hostapd, stations and a wired server run in it, and `sluice emulate` is the medium of
the radios of access point and stations. In the simulator the access point has `queues = "mac80211"`. Prints means with
95 % intervals: of Linux over `--seeds` seeds, of the model, which is faster, over ten.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import uml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DURATION, WARMUP = 14, 4
MODEL_SEEDS = 10
# Bounds that were set before anything was measured.
BOUNDS = {"p99": 0.10, "goodput": 0.03}

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
rate = "100 Gb/s"
delay = "5 ms"
"""
TCP = """transport = "tcp"
traffic = { kind = "greedy" }
tcp = { congestion = "cubic", segment = "1448 B", friendly_growth = "constant", ack_burst = "10 us", small_queue = "8 ms" }
"""

# Under Linux 12 ms of a station's packets pass to its hardware, and its TCP hands over 8 ms. So CoDel sees none of them.
STATION = "queue = { limit = 2000 }\n"

# What the agent's knobs set (grade 1).
KNOBS = 'mac80211 = { aql_low = "2500 us", aql_high = "5 ms", aql_threshold = "12 ms" }'

# Positions and MCS of the last station that downloads.
FAR = {"x": 130, "mcs": 0}
LEAVES = {"leg": [(7, 10000, 10000)]}
WALKS = {"leg": [(7, 130, 140), (15, 10, 140)]}
ASLEEP = {"down": 10, "sleeps": True, "every": 0.25, "duration": 54, "hostapd": "beacon_int=100\n"}

# Number of stations that download, number that upload, and other settings.
HAZARDS = {
    "1 download": {"down": 1},
    "10 downloads": {"down": 10},
    "40 downloads": {"down": 40},
    "ping to one of 10 that download": {"down": 10, "pinged": 1},
    "UDP to 1 station, 1.7 times capacity": {"udp": 1, "rate": 98e6},
    "UDP to 9 stations, 1.7 times capacity": {"udp": 9, "rate": 11e6},
    "1 upload, 3 downloads": {"down": 3, "up": 1},
    "10 uploads, 4 downloads": {"down": 4, "up": 10},
    "1 of 5 at MCS 0": {"down": 5, "last": FAR},
    "1 of 3 walks from MCS 7 to 0, no stream": {"down": 3, "last": WALKS, "minstrel": True, "duration": 22},
    "1 of 5 leaves and never answers": {"down": 5, "last": LEAVES},
    "ping to one that sleeps, 10 downloads": ASLEEP,
    "10 downloads, grade 1": {"down": 10, "attach": ["--backend", "knobs"], "model": KNOBS},
    "40 downloads, grade 1": {"down": 40, "attach": ["--backend", "knobs"], "model": KNOBS},
}


def stations(hazard):
    return hazard.get("down", 0) + hazard.get("up", 0) + hazard.get("udp", 0)


def duration(hazard):
    return hazard.get("duration", DURATION)


def nodes(hazard, begin):
    """The nodes of the air: the access point, the busy stations, and an idle one, which is pinged. `begin`: when a kernel
    begins to measure; none for the simulator's own nodes."""
    real = "" if begin is None else 'real = true\nqueues = "driver"\n'
    of_ap = real or f'queues = "mac80211"\n{hazard.get("model", "")}'
    text = NODE.format(name="ap", x=0, y=0, more='role = "access-point"\n' + of_ap)
    for station in range(1, stations(hazard) + 1):
        last = hazard.get("last", {}) if station == hazard.get("down") else {}
        more = 'access_point = "ap"\n' + (real or STATION)
        if "mcs" in last and not real:
            more += "mcs = {mcs}\ndownlink_mcs = {mcs}\n".format(**last)
        legs = ['{{ time = "{} s", position = ["{} m", "0 m"], speed = "{} m/s" }}'.format(time + (begin or 0), x, speed)
                for time, x, speed in last.get("leg", [])]  # fmt: skip
        more += f"waypoints = [{', '.join(legs)}]\n" if legs else ""
        text += NODE.format(name=f"s{station}", x=last.get("x", 10), y=0, more=more)
    sleeps = 'power_save = { idle_timeout = "100 ms" }\n' if hazard.get("sleeps") and not real else ""
    return text + NODE.format(name="idle", x=0, y=10, more='access_point = "ap"\n' + real + sleeps)


def simulated(hazard):
    down, up, udp = (hazard.get(kind, 0) for kind in ("down", "up", "udp"))
    text = AIR.format(duration=duration(hazard), warmup=WARMUP) + nodes(hazard, None) + SERVER
    if hazard.get("minstrel"):
        text += '\n[mac.rate_control]\nalgorithm = "minstrel-ht"\n'
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
    return text + f'traffic = {{ kind = "ping", packet = "64 B", every = "{every(hazard) * 1e3:.0f} ms" }}\n'


def every(hazard):
    return hazard.get("every", 0.05)


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
    trips = ping["rtt_s"]
    return {"p50": trips["p50"], "p99": trips["p99"], "longest": trips["max"], "goodput": sum(bulk), "jain": jain(airtime)}


def rates(hazard):
    """The MCS of each station in both directions, as a mask in hexadecimal digits; `None` if all have MCS 7."""
    count = stations(hazard) + 1
    if hazard.get("minstrel"):
        return ["ff"] * count
    last = hazard.get("last", {}).get("mcs")
    return None if last is None else [f"{1 << (last if station == hazard['down'] else 7):02x}" for station in range(1, count + 1)]


def kernel(place, sluice, folder, hazard, seed, kept):
    down, up, udp = (hazard.get(kind, 0) for kind in ("down", "up", "udp"))
    air = folder / "air.toml"
    # Stations need time to join.
    begin = 20 + 2 * stations(hazard) if "leg" in hazard.get("last", {}) else None
    air.write_text(AIR.format(duration=600, warmup=0) + nodes(hazard, begin or 0))
    busy = list(range(1, stations(hazard) + 1))
    flows = [
        {"kind": "tcp", "stations": busy[:down]},
        {"kind": "tcp", "up": True, "stations": busy[down : down + up]},
        {"kind": "udp", "stations": busy[down + up :], "rate": hazard.get("rate"), "size": 1400},
    ]
    plan = {
        "modules": [str(place / name) for name in uml.MODULES], "sluice": str(sluice), "air": str(air), "seed": seed,
        "stations": len(busy) + 1, "flows": flows, "pinged": hazard.get("pinged") or len(busy) + 1, "every": every(hazard),
        "ping_size": 64, "duration": duration(hazard), "warmup": WARMUP, "wire": "5ms", "attach": hazard.get("attach"),
        "mcs": rates(hazard), "begin": begin, "sleeps": hazard.get("sleeps", False), "hostapd": hazard.get("hostapd", ""),
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
    return {"p50": percentile(trips, 0.5), "p99": percentile(trips, 0.99), "longest": max(trips, default=float("nan")),
            "goodput": sum(got["goodput"]), "jain": jain(busy_airtime), "lost": got["lost"], "wall": got["wall"],
            "ended": got["ended"], "pings": len(trips)}  # fmt: skip


# 97.5 % quantile of Student's t by degrees of freedom.
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]


def interval(values):
    """Mean of the values, and half the width of its 95 % interval."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, float("nan")
    return mean, STUDENT[min(len(values) - 2, 8)] * statistics.stdev(values) / len(values) ** 0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hazard", action="append", choices=HAZARDS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sluice", type=pathlib.Path, default=ROOT / "target/debug/sluice")
    parser.add_argument("--kept", action="store_true", help="use stored results of Linux")
    parser.add_argument("--show", action="store_true", help="each run")
    args = parser.parse_args()
    place = uml.build()
    folder = ROOT / "target/uml-runs"
    print("| hazard, each: Linux, model | p50, ms | p99, ms | longest, ms | Mb/s | Jain of airtime |")
    print("|---|--:|--:|--:|--:|--:|")
    outside = []
    for name in args.hazard or HAZARDS:
        hazard = HAZARDS[name]
        own = folder / name.replace(" ", "-").replace(",", "")
        own.mkdir(parents=True, exist_ok=True)
        linux = [kernel(place, args.sluice.resolve(), own, hazard, seed, args.kept) for seed in range(101, 101 + args.seeds)]
        ours = [model(args.sluice, own, hazard, seed) for seed in range(101, 101 + MODEL_SEEDS)]
        if args.show:
            print(*linux, *ours, sep="\n", file=sys.stderr, flush=True)
        row = [name]
        for key, scale, digits in (("p50", 1e3, 1), ("p99", 1e3, 1), ("longest", 1e3, 0), ("goodput", 1e-6, 2), ("jain", 1, 3)):
            both = [interval([run[key] for run in runs]) for runs in (linux, ours)]
            row.append(", ".join(f"{mean * scale:.{digits}f} ± {half * scale:.{digits}f}" for mean, half in both))
            (theirs, _), (own_mean, _) = both
            bound = BOUNDS.get(key)
            if bound and abs(own_mean - theirs) > bound * theirs:
                row[-1] = f"**{row[-1]}**"
                outside.append(f"{name}: {key} of the model is {100 * (own_mean / theirs - 1):+.1f} %")
        print("| " + " | ".join(row) + " |", flush=True)
    print(*outside, sep="\n")


if __name__ == "__main__":
    main()
