#!/usr/bin/env python3
"""The simulated TCP beside this kernel's, Reno and CUBIC, over a path that loses packets at random.

Linux's TCP runs in a network namespace of its own (`unshare -rn`, no privilege needed) over a TUN interface. A packet that
leaves it comes back after half a round trip with its addresses exchanged, so that both ends are this kernel; all but those of
the handshake are lost with a given probability. The simulator has the same path (`scenarios/reference/kernel-tcp.toml`), and
its links lose in both directions. Each acknowledgement is sent at once in both. Compared are mean goodputs of sixteen connections of a minute, the kernel's corrected for the time by
which packets came back late. Exits with 1 if one differs by more than TOLERANCE, and with 0 where no namespace can be had.
"""

import argparse
import fcntl
import heapq
import itertools
import json
import os
import pathlib
import random
import select
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCENARIO = ROOT / "scenarios/reference/kernel-tcp.toml"
LOSSES = (0.05, 0.01)
CONNECTIONS = 16
WARM_UP = 10.0
SECONDS = 60.0
ROUND_TRIP = 0.1
PORT = 5001
SYN = 2
# Chosen after first runs of both: two means of sixteen, each within 4 % of its expectation, and a window in whole segments.
TOLERANCE = 0.12
# Behaviour of Linux that differs from the RFCs (docs/tcp.md).
LINUX = {"reno": {"tcp.recovery_end": "news"},
         "cubic": {"tcp.recovery_end": "news", "tcp.friendly_growth": "constant"}}


class Path(threading.Thread):
    """The interface, and what happens to packets that leave it."""

    def __init__(self, loss):
        super().__init__(daemon=True)
        self.loss = loss
        self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        name = struct.pack("16sH22x", b"t0", 0x1001)  # IFF_TUN, IFF_NO_PI
        fcntl.ioctl(self.tun, 0x400454CA, name)  # TUNSETIFF
        for line in ("addr add 10.9.0.1/24 dev t0", "link set t0 mtu 1500 up",
                     "route replace 10.9.0.0/24 dev t0 src 10.9.0.1 quickack 1"):
            subprocess.run(["ip", *line.split()], check=True)
        self.luck = {}
        self.way = []
        self.late = []

    def run(self):
        numbers = itertools.count()
        while True:
            now = time.monotonic()
            while self.way and self.way[0][0] <= now:
                due, _, packet = heapq.heappop(self.way)
                self.late.append(now - due)
                os.write(self.tun, packet)
            wait = max(0.0, self.way[0][0] - now) if self.way else 0.05
            if not select.select([self.tun], [], [], min(wait, 0.05))[0]:
                continue
            packet = bytearray(os.read(self.tun, 2000))
            if self.passes(packet):
                packet[12:16], packet[16:20] = packet[16:20], packet[12:16]
                heapq.heappush(self.way, (time.monotonic() + ROUND_TRIP / 2, next(numbers), bytes(packet)))

    def passes(self, packet):
        """Whether a packet is of TCP over IPv4 and is not lost."""
        if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
            return False
        ip = (packet[0] & 15) * 4
        source, destination = struct.unpack_from("!HH", packet, ip)
        if packet[ip + 13] & SYN:
            return True
        luck = self.luck.setdefault((source, destination), random.Random(len(self.luck)))
        return luck.random() >= self.loss


def of_kernel(congestion, loss):
    """Goodput of each connection through this kernel, in Mb/s."""
    path = Path(loss)
    path.start()
    server = socket.create_server(("10.9.0.1", PORT), backlog=CONNECTIONS)
    senders, came = [], {}
    for _ in range(CONNECTIONS):
        sender = socket.socket()
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        sender.connect(("10.9.0.2", PORT))
        receiver, _ = server.accept()
        for end in (sender, receiver):
            end.setblocking(False)
        senders.append(sender)
        came[receiver] = 0
    data = bytes(1 << 16)

    def carry(until):
        while time.monotonic() < until:
            readable, writable, _ = select.select(list(came), senders, [], 0.01)
            for receiver in readable:
                came[receiver] += len(receiver.recv(1 << 20))
            for sender in writable:
                sender.send(data)

    begin = time.monotonic() + WARM_UP
    carry(begin)
    before = dict(came)
    path.late.clear()
    began = time.monotonic()
    carry(began + SECONDS)
    took = time.monotonic() - began
    late = 1 + 2 * statistics.mean(path.late) / ROUND_TRIP
    return [late * 8e-6 * (came[receiver] - before[receiver]) / took for receiver in came]


def of_simulator(program, congestion, loss, rules):
    """The same of the simulator."""
    settings = {"tcp.congestion": congestion, "wired.0.loss": loss, **rules}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    goodputs = []
    for seed in range(1, CONNECTIONS + 1):
        command = [program, "run", SCENARIO, "--seed", str(seed), "--json", *words]
        outcome = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        goodputs.append(outcome["flows"][0]["goodput_bps"] / 1e6)
    return goodputs


def within(values):
    """Mean with the half-width of its 95 % interval."""
    return f"{statistics.mean(values):.3f} ± {2.131 * statistics.stdev(values) / len(values) ** 0.5:.3f}"


def main():
    """Compares, or with `--kernel` prints the kernel's goodputs from within a namespace."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "target/release/sluice", help="the command to compare with")
    parser.add_argument("--kernel", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.kernel:
        congestion, loss = arguments.kernel
        print(json.dumps(of_kernel(congestion, float(loss))), flush=True)
        os._exit(0)
    if subprocess.run(["unshare", "-rn", "test", "-w", "/dev/net/tun"], check=False).returncode != 0:
        print("skipped: no namespace with a TUN interface can be had here")
        return 0
    print("| | Linux | Sluice as Linux | by the RFCs |\n|---|---:|---:|---:|")
    worst = 0.0
    for loss, congestion in itertools.product(LOSSES, ("reno", "cubic")):
        command = ["unshare", "-rn", sys.executable, __file__, "--kernel", congestion, str(loss)]
        kernel = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        ours = of_simulator(arguments.program, congestion, loss, LINUX[congestion])
        rfc = of_simulator(arguments.program, congestion, loss, {})
        print(f"| {congestion}, {100 * loss:g} % | {within(kernel)} | {within(ours)} | {within(rfc)} |", flush=True)
        worst = max(worst, abs(statistics.mean(ours) / statistics.mean(kernel) - 1))
    print(f"largest difference {100 * worst:.1f} %, allowed {100 * TOLERANCE:.0f} %")
    return int(worst > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
