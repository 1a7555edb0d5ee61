#!/usr/bin/env python3
"""Real programs over simulated air beside what the simulator measures there, and how late packets were delivered.

`lateness`: a ping every two milliseconds beside forty stations of 802.11n that download a hundred Mb/s in all, the emulation
on one core. On the same core, with --fifo at a higher priority, a bare timer notes when the machine itself was late: the second
share is of packets in steps of 0.1 s without that (a step has 3000 values: shorter ones would hold up the emulation).
`pings`: round trips of real pings, of simulated ones in the same run, and of those without real ones. `downloads`: a download
by the kernel's TCP and by the simulated one, alone and beside forty others. `acknowledged`: alone, with an acknowledgement for
every packet in both, while the kernel acknowledges nine at once elsewhere. `floor`: the round trip of a network without delay,
which is what two TUN devices, four system calls and the pacing cost.

Means over seeds with 95 % intervals of Student's t. Needs no root where users may make namespaces; wall-clock time."""

import argparse
import csv
import gc
import json
import os
import pathlib
import random
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SLUICE = os.environ.get("SLUICE", ROOT / "target/release/sluice")
HOME = (ROOT / "scenarios/emulate/home.toml").read_text()
# 150 Mb/s on the air; about a hundred of goodput.
WIDE = ["--set", "radio.channel_width=40 MHz", "--set", "radio.mcs=7", "--set", "radio.guard_interval=short"]
# The neighbours begin after the measurement.
ALONE = HOME.replace('name = "download"\n', 'name = "download"\nstart = "59 s"\n').replace('phase_jitter = "1 s"\n', "")
T95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}
SECONDS = 20
WARMUP = 2
FIFO = []
PORT = 9000
# The exit status after this signal.
INTERRUPTED = 130
# An echo request and its reply, with IPv4's header.
PING = 84
DOWNLOAD = """
[[flow]]
name = "twin"
from = "server"
to = "laptop"
transport = "tcp"
start = "2 s"
tcp = { congestion = "cubic", timestamps = true, segment = "1448 B" }
traffic.kind = "greedy"
"""
FLOOR = """
title = "Two nodes on a wire without delay"
duration = "60 s"
[[node]]
name = "laptop"
role = "wired"
real = true
[[node]]
name = "server"
role = "wired"
real = true
[[wired]]
between = ["server", "laptop"]
rate = "10 Gb/s"
"""


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def ping(to, seconds, every):
    """Print the round trips of echo requests, as JSON in seconds; runs in a node. Their gaps are exponential with the mean
    `every`, as in the scenario, and they begin when its warm-up is over."""
    own, sent, trips, gap = os.getpid() & 0xFFFF, {}, [], random.Random(1)
    time.sleep(WARMUP)
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    begun = due = time.monotonic()
    while time.monotonic() < begun + seconds:
        number = len(sent)
        due += gap.expovariate(1 / every)
        plain = struct.pack("!BBHHH", 8, 0, 0, own, number) + bytes(56)
        request = struct.pack("!BBHHH", 8, 0, checksum(plain), own, number) + bytes(56)
        sent[number] = time.monotonic()
        raw.sendto(request, (to, 0))
        while (left := due - time.monotonic()) > 0:
            raw.settimeout(left)
            try:
                packet = raw.recv(2000)[20:]
            except TimeoutError:
                break
            kind, _, _, whose, number = struct.unpack("!BBHHH", packet[:8])
            if (kind, whose) == (0, own):
                trips.append(time.monotonic() - sent[number])
    print(json.dumps({"sent": len(sent), "trips": trips}))


def serve():
    """Send to whoever connects, until it closes; runs in a node."""
    with socket.create_server(("", PORT)) as server:
        # A machine may have another default.
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        server.settimeout(SECONDS)
        peer, _ = server.accept()
        try:
            while True:
                peer.sendall(bytes(1 << 16))
        except OSError:
            pass


def fetch(to, seconds, each=""):
    """Print the goodput of a download; runs in a node. `each`: every packet is acknowledged."""
    if each:
        subprocess.run(["ip", "route", "change", "10.0.0.0/8", "dev", "air0", "quickack", "1"], check=True)
    for _ in range(100):
        try:
            peer = socket.create_connection((to, PORT), timeout=5)
            break
        except OSError:
            time.sleep(0.05)
    begun, got = time.monotonic(), 0
    while time.monotonic() < begun + seconds:
        got += len(peer.recv(1 << 20))
    print(json.dumps({"bps": 8 * got / (time.monotonic() - begun)}))


def emulate(text, seed, inside, more=(), core=None, within=None):
    """Run `inside` in the laptop (`within` in the server) over a scenario. Return its output, the results, and the time on the
    monotonic clock at which the emulation began."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "home.toml")
        path.write_text(text)
        pinned = ["taskset", "-c", str(core)] if core is not None else []
        more = [*more, *FIFO]
        command = [*pinned, SLUICE, "emulate", path, "--seed", str(seed), *more, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as emulation:
            addresses = dict(emulation.stderr.readline().split(": ") for _ in range(2))
            begun = time.monotonic()
            server = addresses["server"].split()[0]

            def enter(node, words):
                words = [server if word == "SERVER" else str(word) for word in words]
                command = [SLUICE, "enter", node, "--", sys.executable, __file__, *words]
                return subprocess.Popen(command, stdout=subprocess.PIPE)

            other = within and enter("server", within)
            told = enter("laptop", inside).communicate()[0]
            if other:
                other.communicate()
            emulation.terminate()
            results, errors = emulation.communicate()
            if emulation.returncode != INTERRUPTED:
                sys.exit(f"the emulation ended with {emulation.returncode}: {errors}")
    return json.loads(told), json.loads(results), begun


def simulate(text, seed, more=()):
    """Run a scenario in virtual time; give its flows by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "home.toml")
        path.write_text(text)
        command = [SLUICE, "run", path, "--seed", str(seed), *more, "--json"]
        told = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {flow["name"]: flow for flow in json.loads(told)["flows"]}


def interval(values):
    mean = statistics.fmean(values)
    if len(values) < 2:
        return f"{mean:.2f}"
    half = T95.get(len(values), 2.0) * statistics.stdev(values) / len(values) ** 0.5
    return f"{mean:.2f} ± {half:.2f}"


def watch(core):
    """Start a bare timer on a core, with a higher priority than the emulation's; give a function that ends it and tells
    when it woke more than a millisecond late: from when to when on the monotonic clock."""
    answer, tell = os.pipe()
    parent, pid = os.getpid(), os.fork()
    if not pid:
        stopped, gaps = [], []
        signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
        gc.disable()
        os.sched_setaffinity(0, [core])
        if FIFO:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(11))
        woke = time.monotonic()
        while not stopped and os.getppid() == parent:
            due = woke + 0.0002
            time.sleep(max(0, due - time.monotonic()))
            if (woke := time.monotonic()) > due + 0.001:
                gaps.append((due, woke))
        os.write(tell, json.dumps(gaps).encode())
        os._exit(0)
    os.close(tell)

    def end():
        os.kill(pid, signal.SIGTERM)
        with open(answer) as told:
            gaps = json.load(told)
        os.waitpid(pid, 0)
        return gaps

    return end


def lateness(seeds):
    if FIFO:
        # The time at which the emulation begins must be exact. Processes that this one starts keep the normal priority.
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(11))
    step = 0.1
    for seed in seeds:
        end = watch(core=0)
        with tempfile.TemporaryDirectory() as folder:
            more = [*WIDE, "--out", folder, "--set", f"record.series={step} s"]
            told, results, begun = emulate(HOME, seed, ["ping", "SERVER", SECONDS, 0.002], more, core=0)
            with open(next(pathlib.Path(folder, "series").iterdir()), newline="") as series:
                rows = list(csv.DictReader(series))
        away = [(int((due - begun) / step), int((woke - begun) / step)) for due, woke in end()]
        away = {number for first, last in away for number in range(first, last + 1)}
        packets = late = 0
        for number, row in enumerate(rows):
            if number not in away:
                bits = sum(float(row[f"flows.{way}.goodput_bps"] or 0) for way in ("laptop-server", "server-laptop"))
                packets += round(bits * step / 8 / PING)
                late += int(row["emulation.late_packets"])
        found, flows = results["emulation"], results["flows"]
        total = sum(flow["goodput_bps"] for flow in flows) / 1e6
        share, most = 100 * found["in_time_ratio"], 1e3 * found["lateness_max_s"]
        cpu = 100 * results["cpu_s"] / results["wall_s"]
        print(
            f"seed {seed}: {share:.3f} % of {found['packets']} packets within 1 ms, the latest {most:.3f} ms late; "
            f"while the machine was in time, {100 - 100 * late / packets:.3f} % of {packets}; "
            f"{total:.0f} Mb/s in all, {cpu:.0f} % of a core, {len(told['trips'])} of {told['sent']} pings",
            flush=True,
        )


def pings(seeds):
    real, beside, alone = [], [], []
    for seed in seeds:
        told, results, _ = emulate(HOME, seed, ["ping", "SERVER", SECONDS, 0.2])
        real.append(1e3 * statistics.fmean(told["trips"]))
        beside.append(1e3 * next(flow for flow in results["flows"] if flow["name"] == "ping")["rtt_s"]["mean"])
        flows = simulate(HOME, seed, ["--set", f"duration={SECONDS + WARMUP} s"])
        alone.append(1e3 * flows["ping"]["rtt_s"]["mean"])
        print(f"seed {seed}: real {real[-1]:.2f} ms, simulated beside them {beside[-1]:.2f} ms, alone {alone[-1]:.2f} ms")
    print(f"round trip, ms: real {interval(real)}, simulated beside them {interval(beside)}, alone {interval(alone)}")


def downloads(seeds):
    download("alone", ALONE, seeds)
    download("beside forty", HOME, seeds)


def acknowledged(seeds):
    download("alone, each packet acknowledged", ALONE, seeds, each=["each"])


def download(name, text, seeds, each=()):
    twin = DOWNLOAD.replace("tcp = {", 'tcp = { delayed_ack = "0 s",') if each else DOWNLOAD
    covered = SECONDS if text == HOME else 58
    real, simulated = [], []
    for seed in seeds:
        told, results, _ = emulate(text, seed, ["fetch", "SERVER", SECONDS, *each], within=["serve"])
        real.append(told["bps"] / 1e6)
        data, acks = (
            next(flow["received_packets"] for flow in results["flows"] if flow["name"] == way)
            for way in ("server-laptop", "laptop-server")
        )
        flows = simulate(text + twin, seed, ["--set", f"duration={SECONDS + WARMUP} s"] if text == HOME else [])
        simulated.append(flows["twin"]["goodput_bps"] / 1e6)
        print(
            f"{name}, seed {seed}: kernel {real[-1]:.2f} Mb/s with an acknowledgement for {data / acks:.2f} packets, "
            f"simulated {simulated[-1]:.2f} Mb/s ({covered} s)"
        )
    print(f"{name}, goodput in Mb/s: kernel {interval(real)}, simulated {interval(simulated)}")


def floor(seeds):
    trips = [trip for seed in seeds for trip in emulate(FLOOR, seed, ["ping", "SERVER", 5, 0.01])[0]["trips"]]
    trips = sorted(1e3 * trip for trip in trips)
    median, tail = trips[len(trips) // 2], trips[len(trips) * 99 // 100]
    print(f"floor of {len(trips)} round trips, ms: median {median:.3f}, 99 % {tail:.3f}")


def main():
    inside = {"ping": lambda to, seconds, every: ping(to, float(seconds), float(every)), "serve": serve}
    inside["fetch"] = lambda to, seconds, *each: fetch(to, float(seconds), *each)
    if sys.argv[1:2] and sys.argv[1] in inside and not sys.argv[-1].startswith("--"):
        return inside[sys.argv[1]](*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    outside = {"lateness": lateness, "pings": pings, "downloads": downloads, "acknowledged": acknowledged, "floor": floor}
    parser.add_argument("what", nargs="*", choices=[[], *outside], help="default: all")
    parser.add_argument("--fifo", action="store_true", help="with real-time priority: on a machine that others use")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    FIFO.extend(["--fifo"] * arguments.fifo)
    for what in arguments.what or outside:
        outside[what](range(1, arguments.seeds + 1))
    return None


if __name__ == "__main__":
    sys.exit(main())
