#!/usr/bin/env python3
"""Runs `sluice doctor`, `attach --dry-run` and `agent` on each machine of crates/linux/tests/farm.json: farm.py SLUICE

The interfaces are made in a network namespace, and mac80211's files stand where debugfs is. What the program asks nl80211 and
writes into those files is answered here as the kernel would: seccomp tells of the system calls that open them. Where that is not
possible, or the kernel takes BPF disciplines, for which a radio must be real, it says so and passes.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import platform
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

FARM = pathlib.Path(__file__).resolve().parent.parent / "crates/linux/tests/farm.json"
MAC80211 = pathlib.Path("/sys/kernel/debug/ieee80211")
LIBC = ctypes.CDLL(None, use_errno=True)
# linux/seccomp.h, with the numbers of x86-64.
SECCOMP, SOCKET, BIND, OPENAT = 317, 41, 49, 257
RECEIVE, SEND, ADD_FD = 0xC0502100, 0xC0182101, 0x40182103
# A number for nl80211's family, and its attributes: phy, its name, interface, its role, limit of all queues.
FAMILY = 0x3FE
WIPHY, NAME, IFINDEX, IFTYPE, LIMIT = 1, 2, 3, 5, 266
NODEV, OPNOTSUPP = -19, -95
PATIENCE = 60


def tell(talk):
    """In the child: has seccomp tell of sockets of generic netlink, of binding and of opening."""
    program = [
        *((0x20, 0, 0, 0), (0x15, 6, 0, OPENAT), (0x15, 5, 0, BIND), (0x15, 0, 5, SOCKET)),
        *((0x20, 0, 0, 16), (0x15, 0, 3, socket.AF_NETLINK), (0x20, 0, 0, 32), (0x15, 0, 1, 16)),
        *((0x06, 0, 0, 0x7FC00000), (0x06, 0, 0, 0x7FFF0000)),
    ]
    lines = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    whole = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(lines)))
    LIBC.prctl(38, 1, 0, 0, 0)
    socket.send_fds(talk, [b"x"], [LIBC.syscall(SECCOMP, 1, 8, whole)])


def attribute(kind, value):
    return struct.pack("HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def message(kind, sequence, body):
    return struct.pack("IHHII", 16 + len(body), kind, 0, sequence, 0) + body


class Kernel:
    """Runs a program on a machine of the farm."""

    def __init__(self, machine):
        self.machine = machine
        self.numbers = {it["name"]: socket.if_nametoindex(it["name"]) for it in machine["interfaces"]}

    def answer(self, request):
        _, kind, _, sequence, _ = struct.unpack_from("IHHII", request)
        asked, at = {}, 20
        while at < len(request):
            length, name = struct.unpack_from("HH", request, at)
            asked[name] = request[at + 4 : at + length]
            at += length + -length % 4
        number = {name: int.from_bytes(value[:4], "little") for name, value in asked.items()}
        command, said, code = request[16], [], 0
        if kind == 16:
            return message(16, sequence, b"\1\1\0\0" + attribute(1, struct.pack("H", FAMILY))) + message(2, sequence, bytes(4))
        if command == 1:
            for phy, radio in self.machine["phys"].items():
                if number.get(WIPHY, int(phy)) == int(phy):
                    all_of_it = attribute(WIPHY, struct.pack("I", int(phy))) + attribute(NAME, f"phy{phy}\0".encode())
                    given = {int(name): bytes.fromhex(value) for name, value in radio["attributes"].items()}
                    said.append(b"\3\1\0\0" + all_of_it + b"".join(attribute(*one) for one in given.items()))
        elif command == 2:
            self.machine["phys"][str(number[WIPHY])]["attributes"][str(LIMIT)] = asked[LIMIT].hex()
        elif command == 5:
            for it in self.machine["interfaces"]:
                index, phy = self.numbers[it["name"]], it["phy"]
                if phy is not None and number.get(WIPHY, phy) == phy and number.get(IFINDEX, index) == index:
                    parts = {WIPHY: phy, IFINDEX: index, IFTYPE: 3}
                    said.append(b"\7\1\0\0" + b"".join(attribute(one, struct.pack("I", is_)) for one, is_ in parts.items()))
        elif command != 17:
            code = OPNOTSUPP
        if command in (1, 5) and not said:
            code = NODEV
        return b"".join(message(FAMILY, sequence, body) for body in said) + message(2, sequence, struct.pack("i", code))

    def write(self, path, text):
        """What mac80211 does with what is written to a file of AQL: the limits of a category, or another value."""
        files = self.machine["phys"][path.parent.name.removeprefix("phy")]["debugfs"]
        words = text.split()
        if len(words) == 3:
            lines = files[path.name].splitlines()
            lines[int(words[0]) + 1] = f"{lines[int(words[0]) + 1][:2]}\t{words[1]}\t\t{words[2]}"
            text = "\n".join(lines)
        files[path.name] = text.rstrip("\n") + "\n"
        path.write_text(files[path.name])

    def told(self, listener):
        """A system call of the program: it goes on, or gets what stands in the kernel's place."""
        call = bytearray(80)
        try:
            fcntl.ioctl(listener, RECEIVE, call)
        except OSError:
            return
        number, process, _, what, _, _, *arguments = struct.unpack("QIIiIQ6Q", call)
        given = None
        if what == SOCKET:
            own, given = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.inside.add(os.fstat(given.fileno()).st_ino)
            self.events.register(own, selectors.EVENT_READ, lambda: self.serve(own))
        elif what == OPENAT:
            self.drain()
            given = self.opened(process, *arguments[1:3])
        if given is not None:
            add = bytearray(struct.pack("QIIII", number, 2, given.fileno(), 0, 0o2000000))
            fcntl.ioctl(listener, ADD_FD, add)
            given.close()
            return
        # A program that bound a socket other than netlink would be refused.
        is_own = what == BIND and os.stat(f"/proc/{process}/fd/{arguments[0]}").st_ino in self.inside
        fcntl.ioctl(listener, SEND, bytearray(struct.pack("QqiI", number, 0, 0, 0 if is_own else 1)))

    def opened(self, process, name, flags):
        """For a file of mac80211's that is written to, a pipe to us."""
        with open(f"/proc/{process}/mem", "rb") as memory:
            memory.seek(name)
            path = pathlib.Path(memory.read(200).split(b"\0")[0].decode(errors="replace"))
        if not flags & 3 or MAC80211 not in path.parents:
            return None
        ours, given = os.pipe()
        self.pipes.append((ours, path))
        return os.fdopen(given, "wb")

    def drain(self):
        for ours, path in self.pipes:
            with os.fdopen(ours) as pipe:
                if text := pipe.read():
                    self.write(path, text)
        self.pipes.clear()

    def serve(self, own):
        self.drain()
        with contextlib.suppress(OSError):
            if request := own.recv(1 << 16):
                own.send(self.answer(request))
                return
        # The program has closed the socket, or has ended.
        self.events.unregister(own)
        own.close()

    def run(self, command, ends):
        """Runs a command; `ends` is asked what it said until now, and whether that is all. Returns its status and words."""
        self.inside, self.pipes, self.events = set(), [], selectors.DefaultSelector()
        ours, theirs = socket.socketpair()
        # Read by its name: a place in the file that is ours would be the program's, too.
        with tempfile.NamedTemporaryFile("w+") as out:
            program = subprocess.Popen(command, stdout=out, stderr=out, preexec_fn=lambda: tell(theirs))
            _, (listener,), _, _ = socket.recv_fds(ours, 1, 1)
            self.events.register(listener, selectors.EVENT_READ, lambda: self.told(listener))
            until, said = time.monotonic() + PATIENCE, ""
            while program.poll() is None:
                for key, _ in self.events.select(0.05):
                    # If a signal interrupts the call, it is no longer known: the program repeats it or ends.
                    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                        key.data()
                said = pathlib.Path(out.name).read_text()
                if ends(said) or time.monotonic() > until:
                    program.send_signal(signal.SIGINT)
                    ends = lambda _: False  # noqa: E731
            self.drain()
            out.seek(0)
            os.close(listener)
            return program.returncode, out.read()


def check(sluice, folder, fixture):
    """Runs the commands on a machine."""
    name, machine, expected = fixture["name"], fixture["machine"], fixture["expected"]
    kernel, before = Kernel(machine), json.dumps(machine)
    is_held, airtime = expected["holder"] == "Mac80211", expected["airtime"]
    air = [it["name"] for it in machine["interfaces"] if it["phy"] is not None]

    def need(is_so, *why):
        if not is_so:
            sys.exit(f"farm: {name}: {why}")

    def never(_):
        return False

    status, said = kernel.run([sluice, "doctor", "--json"], never)
    need(status == 0, said)
    diagnosis = json.loads(said)
    if all(finding["good"] for finding in diagnosis["machine"][1:3]):
        print("SKIPPED, the farm's machines: this kernel takes BPF disciplines")
        sys.exit()
    for device, findings in diagnosis["interfaces"]:
        found = {finding["topic"]: finding["found"] for finding in findings}
        if device in air:
            need(found["attach"].startswith(expected["without"]), found)
            need(("mac80211 takes at once and holds" in found["driver"]) == is_held, found)
            need((airtime != "set" and airtime in found["attach"]) == (is_held and airtime != "set"), found)
            need("transmit queues" not in found or not is_held, found)
    bundle = folder / "bundle"
    need(kernel.run([sluice, "doctor", "--bundle", bundle], never)[0] == 0, "no bundle")
    need(json.loads(bundle.read_text())["phys"] == machine["phys"], bundle.read_text())
    for device in air:
        command = [sluice, "attach", device, "--dry-run", "--json", "--state", folder / "state"]
        status, said = kernel.run(command, lambda said: '"limit_packets"' in said or '{"at' in said)
        need(status == 0 and "nothing is changed" in said, said)
        need(("no packet ever waits in this queue" in said) == is_held, said)
    for pattern, devices in (("*wifi", expected["radios"]), ("*", expected["all"])):
        (folder / "agent.toml").write_text(f'[interface."{pattern}"]\n')
        command = [sluice, "agent", "--json", "--config", folder / "agent.toml", "--state", folder / "state"]
        set_, tried = set(), {}

        def ends(said):
            events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
            tried.update({event["device"]: event for event in events if event["what"] in ("attached", "waiting")})
            set_.add(json.dumps(machine))
            # If nothing can be governed, the program waits.
            is_there = not is_held or any(event["what"] == "attached" for event in events)
            return set(devices) <= set(tried) and is_there

        status, said = kernel.run(command, ends)
        need(set(tried) == set(devices), pattern, said)
        for device, event in tried.items():
            is_taken = event["what"] == "attached" and event["words"].startswith("knobs")
            need(is_taken == (is_held and device in air), pattern, event)
        need(any("BE\\t2500\\t\\t5000" in one for one in set_) == (is_held and airtime == "set"), pattern, set_)
        need(json.dumps(machine) == before, pattern, "is not as it was:", machine)
    print(f"{name}: {', '.join(air)}")


def inside(sluice):
    for fixture in json.loads(FARM.read_text()):
        own = [it for it in fixture["machine"]["interfaces"] if it["name"] != "lo"]
        for it in own:
            kind = "bridge" if it["qdisc"] == "noqueue" else "ifb"
            queues = ["numtxqueues", str(it["tx_queues"])]
            subprocess.run(["ip", "link", "add", it["name"], *queues, "type", kind], check=True)
            subprocess.run(["ip", "link", "set", it["name"], "up"], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "none", MAC80211.parent], check=True)
        for phy, radio in fixture["machine"]["phys"].items():
            (MAC80211 / f"phy{phy}").mkdir(parents=True)
            for file, text in radio["debugfs"].items():
                (MAC80211 / f"phy{phy}" / file).write_text(text)
        with tempfile.TemporaryDirectory() as folder:
            check(sluice, pathlib.Path(folder), fixture)
        subprocess.run(["umount", MAC80211.parent], check=True)
        for it in own:
            subprocess.run(["ip", "link", "del", it["name"]], check=True)


def main():
    sluice, *is_inside = sys.argv[1:]
    if is_inside:
        return inside(sluice)
    apart = ["unshare", "-rnm"]
    if platform.machine() != "x86_64" or subprocess.run([*apart, "ip", "link", "add", "type", "ifb"], check=False).returncode:
        return print("SKIPPED, the farm's machines: no namespaces with interfaces here, or not x86-64")
    return sys.exit(subprocess.run([*apart, sys.executable, __file__, sluice, "inside"], check=False).returncode)


if __name__ == "__main__":
    main()
