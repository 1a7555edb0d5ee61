#!/usr/bin/env python3
"""The first process of a user-mode Linux in which one hazard of `judge.py` runs over Sluice's air.

It has an access point (hostapd) and stations, each a radio of mac80211_hwsim in its own network namespace, and a server
behind a wire of 5 ms each way, which sends downloads and pings. Environment: PLAN, the JSON file that describes the
run; the result is written beside it. Instructions take no time here (`time-travel=inf-cpu`), so that Python measures
exactly.
"""

import ctypes
import json
import os
import pathlib
import select
import signal
import socket
import struct
import subprocess
import sys
import time

# A run that finds bytecode is another than one that writes it.
sys.dont_write_bytecode, sys.pycache_prefix = True, "/nowhere"

import radios
from radios import LIBC, sh

CLONE_NEWNET = 0x40000000
MCS_7 = "set bitrates ht-mcs-2.4 7"
# A station that uses only these MCS in both directions.
SUPPLICANT = """network={{
ssid="sluice"
key_mgmt=NONE
scan_freq=2412
ht_mcs="{mcs} 00 00 00 00 00 00 00 00 00"
}}
"""
BULK = 5001


def inside(space):
    """Moves this thread to a network namespace."""
    with open(f"/run/netns/{space}") as of:
        if LIBC.setns(of.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {space}")


def home():
    """Moves this thread back to the network namespace of the access point."""
    if LIBC.setns(HOME[0], CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


HOME = []


def prepare():
    radios.mount("-t tmpfs t /tmp")
    HOME.append(os.open("/proc/self/ns/net", os.O_RDONLY))
    for setting in ["rmem_max", "wmem_max", "rmem_default", "wmem_default"]:
        pathlib.Path(f"/proc/sys/net/core/{setting}").write_text("16777216")


def join(plan):
    """The access point, its stations and the server."""
    radios.access_point("wlan0", radios.HOSTAPD + plan.get("hostapd", ""))
    sh("ip addr add 10.8.0.1/16 dev wlan0")
    rates = plan["mcs"]
    if not rates:
        sh(f"iw dev wlan0 {MCS_7}")
    for station in range(1, plan["stations"] + 1):
        device = f"wlan{station}"
        of = radios.move(device, f"n{station}")
        sleeps = plan["sleeps"] and station == plan["pinged"]
        sh(f"{of} ip link set {device} up; {of} iw dev {device} set power_save {'on' if sleeps else 'off'}")
        if rates:
            radios.supplicant(device, device, SUPPLICANT.format(mcs=rates[station - 1]), of)
        radios.joined(device, of, None if rates else f"{of} iw dev {device} connect sluice 2412")
        if not rates:
            sh(f"{of} iw dev {device} {MCS_7}")
        high, low = divmod(station + 1, 256)
        sh(f"{of} ip addr add 10.8.{high}.{low}/16 dev {device}; {of} ip route add default via 10.8.0.1")
        sh(f"{of} ip neigh replace 10.8.0.1 lladdr 02:00:00:00:00:00 dev {device}")
        sh(f"ip neigh replace 10.8.{high}.{low} lladdr 02:00:00:00:{station:02x}:00 dev wlan0")
    of = radios.space("server")
    sh("ip link add wire type veth peer name eth0 netns server")
    sh("ip addr add 10.9.0.1/24 dev wire; ip link set wire up")
    sh(f"{of} ip addr add 10.9.0.2/24 dev eth0; {of} ip link set eth0 up; {of} ip route add default via 10.9.0.1")
    for device, at in [("wire", ""), ("eth0", of)]:
        radios.delay(device, plan["wire"] and f"delay {plan['wire']}", at)


def address(station):
    high, low = divmod(station + 1, 256)
    return f"10.8.{high}.{low}"


def airtimes(plan):
    """Airtime that mac80211 has charged to each station, in microseconds."""
    found, station = {}, None
    for line in sh("iw dev wlan0 station dump").splitlines():
        words = line.split()
        if words[:1] == ["Station"]:
            station = int(words[1].split(":")[4], 16)
        elif words[1:2] == ["duration:"] and words[0] in ("tx", "rx"):
            found[station] = found.get(station, 0) + int(words[2])
    return [found.get(station, 0) for station in range(1, plan["stations"] + 1)]


class Tcp:
    """A greedy connection from the server to a station, or back."""

    def __init__(self, loop, station, up):
        inside("server" if up else f"n{station}")
        listener = socket.create_server(("", BULK + station * up))
        inside(f"n{station}" if up else "server")
        sender = socket.socket()
        sender.setblocking(False)
        to = ("10.9.0.2", BULK + station) if up else (address(station), BULK)
        try:
            sender.connect(to)
        except BlockingIOError:
            pass
        self.sender, self.listener, self.bytes, self.loop = sender, listener, 0, loop
        loop.add(sender, select.EPOLLOUT, self.send)
        loop.add(listener, select.EPOLLIN, self.accept)

    def accept(self):
        self.receiver, _ = self.listener.accept()
        self.receiver.setblocking(False)
        self.loop.add(self.receiver, select.EPOLLIN, self.receive)

    def send(self):
        try:
            self.sender.send(CHUNK)
        except BlockingIOError:
            pass

    def receive(self):
        try:
            self.bytes += len(self.receiver.recv(1 << 18))
        except BlockingIOError:
            pass


CHUNK = bytes(1 << 17)


class Udp:
    """A stream of datagrams at a constant rate, from the server to a station."""

    def __init__(self, loop, station, rate, size, phase):
        inside(f"n{station}")
        self.sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sink.bind(("", BULK))
        self.sink.setblocking(False)
        inside("server")
        self.source = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.source.connect((address(station), BULK))
        self.packet, self.bytes = bytes(size), 0
        self.loop, self.every, self.next = loop, size * 8 / rate, time.monotonic() + phase
        loop.add(self.sink, select.EPOLLIN, self.receive)
        loop.at(self.next, self.send)

    def send(self):
        self.source.send(self.packet)
        self.next += self.every
        self.loop.at(self.next, self.send)

    def receive(self):
        try:
            while True:
                self.bytes += len(self.sink.recv(2048))
        except BlockingIOError:
            pass


class Ping:
    """Echo requests from the server to a station."""

    def __init__(self, loop, station, every, size, begin):
        inside("server")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self.socket.setblocking(False)
        self.to, self.every, self.size, self.loop = address(station), every, size, loop
        self.sent, self.trips, self.next = [], {}, begin
        loop.add(self.socket, select.EPOLLIN, self.receive)
        loop.at(begin, self.send)

    def send(self):
        number = len(self.sent)
        body = struct.pack("!BBHHH", 8, 0, 0, 77, number) + bytes(self.size)
        total = sum(struct.unpack(f"!{len(body) // 2}H", body))
        total = (total & 0xFFFF) + (total >> 16)
        body = body[:2] + struct.pack("!H", ~total & 0xFFFF) + body[4:]
        self.sent.append(time.monotonic())
        self.socket.sendto(body, (self.to, 0))
        self.next += self.every
        self.loop.at(self.next, self.send)

    def receive(self):
        packet, _ = self.socket.recvfrom(4096)
        kind, _, _, mine, number = struct.unpack("!BBHHH", packet[20:28])
        if (kind, mine) == (0, 77) and number < len(self.sent):
            self.trips.setdefault(number, time.monotonic() - self.sent[number])


class Loop:
    """Sockets and times."""

    def __init__(self):
        self.poll, self.handlers, self.times = select.epoll(), {}, []

    def add(self, one, events, handler):
        self.poll.register(one.fileno(), events)
        self.handlers[one.fileno()] = handler

    def at(self, when, handler):
        self.times.append((when, handler))

    def run(self, until):
        while True:
            self.times.sort(key=lambda entry: entry[0])
            now = time.monotonic()
            while self.times and self.times[0][0] <= now:
                self.times.pop(0)[1]()
                self.times.sort(key=lambda entry: entry[0])
            if now >= until:
                return
            wait = min([until] + [entry[0] for entry in self.times[:1]]) - now
            for number, _ in self.poll.poll(max(wait, 1e-6)):
                self.handlers[number]()


def measure(plan, began):
    loop = Loop()
    start = began + plan["begin"] if plan["begin"] else time.monotonic() + 1.0
    if start < time.monotonic():
        raise SystemExit("the stations joined too late")
    loop.run(start)
    bulk = []
    for flow in plan["flows"]:
        for station in flow["stations"]:
            if flow["kind"] == "tcp":
                bulk.append((station, Tcp(loop, station, flow.get("up", False))))
            else:
                bulk.append((station, Udp(loop, station, flow["rate"], flow["size"], 0.001 * station)))
    warm = start + plan["warmup"]
    ping = Ping(loop, plan["pinged"], plan["every"], plan["ping_size"], start)
    home()
    loop.run(warm)
    before, bytes_before, pinged_before = airtimes(plan), [one.bytes for _, one in bulk], len(ping.sent)
    loop.run(start + plan["duration"])
    after, sent = airtimes(plan), len(ping.sent)
    bytes_after = [one.bytes for _, one in bulk]
    loop.run(start + plan["duration"] + 1.5)
    span = plan["duration"] - plan["warmup"]
    trips = [trip for number, trip in sorted(ping.trips.items()) if pinged_before <= number < sent]
    return {
        "trips": trips,
        "lost": sent - pinged_before - len(trips),
        "goodput": [(b - a) * 8 / span for a, b in zip(bytes_before, bytes_after)],
        "stations": [station for station, _ in bulk],
        "airtime": [b - a for a, b in zip(before, after)],
    }


def main(plan, path):
    prepare()
    begin = time.monotonic()
    radios.load(plan["modules"], plan["stations"] + 1)
    air = radios.air(plan, path)
    began = time.monotonic()
    time.sleep(0.1)
    join(plan)
    joined = time.monotonic()
    agent = None
    if plan.get("attach"):
        said = open(path.with_suffix(".air"), "a")
        agent = subprocess.Popen([plan["sluice"], "attach", "wlan0", *plan["attach"]], stdout=said, stderr=said)
        time.sleep(2)
    result = measure(plan, began)
    phy = pathlib.Path("/sys/class/net/wlan0/phy80211/name").read_text().strip()
    aql = pathlib.Path(f"/sys/kernel/debug/ieee80211/{phy}/aql_txq_limit")
    result["aql"] = aql.read_text() if aql.exists() else ""
    if agent:
        agent.send_signal(signal.SIGTERM)
        result["agent"] = agent.wait(timeout=20)
    result.update(setup=joined - begin, ended=time.monotonic() - begin, kernel=os.uname().release)
    air.send_signal(signal.SIGINT)
    air.wait(timeout=20)
    return result


if __name__ == "__main__":
    radios.first(main)
