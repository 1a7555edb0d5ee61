#!/usr/bin/env python3
"""The first process of a user-mode Linux whose radios are a scenario's nodes (`kernel.py`): makes their network, and runs a
program in it.

Each node is a network namespace of its name, with one address. Access points and wired nodes are routers: our kernel has no
bridges. An access point answers ARP for what is behind its wires. When a station joins one, the others get a route there.
"""

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
from radios import sh

# Around what the program writes to the console, which is also the kernel's.
MARK = b"\x1e"
ETH_P_ALL, RADIOTAP, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 3, 127, 33, 35
FORWARDS = "net.ipv4.ip_forward=1 net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.default.send_redirects=0"


class Network:
    def __init__(self, nodes, wires):
        """Namespaces, addresses, wires, and routes over them."""
        self.nodes, self.of, self.wires = nodes, {}, {name: {} for name in nodes}
        self.access_points = [name for name, node in nodes.items() if node["role"] == "access-point"]
        self.macs = {node["mac"]: name for name, node in nodes.items() if node["mac"]}
        for number, (name, node) in enumerate(nodes.items()):
            # Those with a radio come first.
            of = self.of[name] = radios.move(f"wlan{number}", name) if node["mac"] else radios.space(name)
            if node["mac"]:
                sh(f"{of}ip link set wlan{number} name wlan0")
            if node["role"] != "station":
                sh(f"{of}sysctl -qw {FORWARDS}; {of}ip addr add {node['address']} dev lo")
        for number, (ends, netem) in enumerate(wires):
            one, other = (f"eth{number} netns {name}" for name in ends)
            sh(f"ip link add {one} type veth peer name {other}")
            for name, peer in (ends, ends[::-1]):
                self.wires[name][peer] = f"eth{number}"
                radios.delay(f"eth{number}", netem, self.of[name])
                sh(f"{self.of[name]}ip link set eth{number} up")
        for name in nodes:
            self.lead(name, name)

    def lead(self, to, at):
        """Makes routes to a node from all that have wires to `at`, where it is."""
        found = [at]
        for via in found:
            over = "" if via == to else f"via {self.nodes[via]['address']} onlink"
            for name, device in self.wires[via].items():
                if name not in found:
                    found.append(name)
                    sh(f"{self.of[name]}ip route replace {self.nodes[to]['address']} {over} dev {device}")

    def join(self):
        """The access points first, so that each station finds its own."""
        for number, name in enumerate(self.access_points):
            # hwsim's radios count from one clock: with the same interval all beacons would collide.
            more = f"beacon_int={100 + 3 * number}\nctrl_interface=/run/{name}\n"
            radios.access_point(name, radios.HOSTAPD + more, self.of[name])
            sh(f"{self.of[name]}sysctl -qw net.ipv4.conf.wlan0.proxy_arp=1 net.ipv4.neigh.wlan0.proxy_delay=0")
        for name, node in self.nodes.items():
            if node["role"] == "station":
                of, hint = self.of[name], self.nodes[node["access_point"]]["mac"]
                sh(f"{of}ip link set wlan0 up; {of}iw dev wlan0 set power_save off")
                sh(f"{of}ip addr add {node['address']} dev wlan0; {of}ip route add 10.0.0.0/8 dev wlan0")
                own = f'ssid="sluice"\nkey_mgmt=NONE\nscan_freq=2412\nbssid_hint={hint}'
                radios.supplicant(name, "wlan0", f"ctrl_interface=/run/{name}\nnetwork={{\n{own}\n}}\n", of)
                self.joined(name, radios.joined("wlan0", of).split()[2])

    def joined(self, station, mac):
        here = self.macs[mac]
        sh(f"{self.of[here]}ip route replace {self.nodes[station]['address']} dev wlan0")
        self.lead(station, here)

    def follow(self, name):
        """Where to hear which stations join an access point, and what to do then."""
        told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        told.bind(f"/run/{name}.told")
        told.connect(f"/run/{name}/wlan0")
        told.send(b"ATTACH")

        def hear():
            words = told.recv(4096).decode(errors="replace").split()
            if words[0].endswith("AP-STA-CONNECTED") and words[1] in self.macs:
                self.joined(self.macs[words[1]], self.nodes[name]["mac"])

        return told, hear


def capture(path):
    """hwsim's device with all frames, in the order in which the driver got them, and how to keep them."""
    sh("ip link set hwsim0 up")
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
    tap.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    tap.bind(("hwsim0", ETH_P_ALL))
    file = open(path, "wb", buffering=0)
    file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, RADIOTAP))

    def keep():
        frame, [(_, _, at)], *_ = tap.recvmsg(65535, 64)
        file.write(struct.pack("<IIII", *struct.unpack("qq", at), len(frame), len(frame)) + frame)

    return tap, keep


def run(plan, path):
    radios.mount()
    subprocess.run(["stty", "-opost"], check=True)
    names = "".join(f"{node['address']} {name}\n" for name, node in plan["nodes"].items())
    pathlib.Path("/run/hosts").write_text("127.0.0.1 localhost\n" + names)
    sh("mount --bind /run/hosts /etc/hosts")
    count, air, result = sum(bool(node["mac"]) for node in plan["nodes"].values()), None, {}
    try:
        radios.load(plan["modules"], count)
        found = len(list(pathlib.Path("/sys/class").glob("ieee80211/*")))
        if found < count:
            return {"fault": f"the kernel has {found} simulated radios (mac80211_hwsim), the scenario {count}"}
        air = radios.air(plan, path)
        time.sleep(0.1)
        if air.poll() is None:
            handlers = [capture(plan["captures"])] if plan["captures"] else []
            network = Network(plan["nodes"], plan["wires"])
            network.join()
            if len(network.access_points) > 1:
                handlers += map(network.follow, network.access_points)
            result = run_in(plan, air, handlers)
    except SystemExit as why:
        result = {"fault": f"the network cannot be made: {why}"}
    if air and air.poll() is not None:
        why = path.with_suffix(".air").read_text().strip() if air.returncode else "`duration` of the scenario is over"
        return {"fault": f"the air ended before the program, with status {air.returncode}: {why or 'it says nothing'}"}
    if air:
        air.send_signal(signal.SIGINT)
        air.wait(timeout=20)
    return result


def run_in(plan, air, handlers):
    """Runs the program until it ends or the air does."""
    # To ping the clock of a machine's first second is no clock.
    time.sleep(max(0, 2 - time.monotonic()))
    os.write(1, MARK)
    try:
        program = subprocess.Popen(plan["command"], cwd=plan["folder"], env=plan["environment"], stdin=subprocess.DEVNULL)
    except OSError as why:
        return {"fault": f"cannot run {plan['command'][0]}: {why.strerror}", "status": 126}
    handlers = {one.fileno(): handler for one, handler in handlers}
    events = select.epoll()
    for number in (*handlers, os.pidfd_open(program.pid), os.pidfd_open(air.pid)):
        events.register(number, select.EPOLLIN)

    def hear(wait=None):
        heard = [handlers[number] for number, _ in events.poll(wait) if number in handlers]
        for handler in heard:
            handler()
        return heard

    while program.poll() is None and air.poll() is None:
        hear()
    # What came before the end is kept, too.
    while hear(0):
        pass
    os.write(1, MARK)
    return {"status": program.poll()}


if __name__ == "__main__":
    # As yet this is the host's: of the process that is this kernel.
    os.environ["PLAN"] = str(pathlib.Path("/proc/self/cwd").resolve() / "plan")
    radios.first(run)
