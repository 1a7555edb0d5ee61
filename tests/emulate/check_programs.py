#!/usr/bin/env python3
"""Run real programs over simulated air: ping, iperf3, curl, and Chromium that loads a page whose DNS and HTTP server is
behind a simulated access point. Counts and order are checked, never times. Needs no root where users may make namespaces;
where they may not, it says so and checks nothing."""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/browser"))
import chromium  # noqa: E402

SLUICE = pathlib.Path(os.environ.get("SLUICE", ROOT / "target/release/sluice")).resolve()
# Another emulation may run on this machine, in which nodes have other names.
SERVER, LAPTOP = f"server-{os.getpid()}", f"laptop-{os.getpid()}"
HOME = (ROOT / "scenarios/emulate/home.toml").read_text().replace('"server"', f'"{SERVER}"').replace('"laptop"', f'"{LAPTOP}"')
NAME = "page.test"
FILE = b"".join(hashlib.sha256(number.to_bytes(4)).digest() for number in range(10_000))
PAGE = f"""<!DOCTYPE html><title>Loading</title><link rel=stylesheet href=/style.css>
<img src=/picture.svg onload="document.body.dataset.picture=this.naturalWidth">
<script src=/script.js></script><p id=file></p>
<script>fetch('/file').then(got => got.arrayBuffer()).then(got => {{ document.title = 'Loaded ' + got.byteLength }})</script>"""
PARTS = {
    "/": ("text/html", PAGE.encode()),
    "/style.css": ("text/css", b"p { margin-left: 41px }"),
    "/script.js": ("text/javascript", b"window.ran = 'yes'"),
    "/picture.svg": ("image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>'),
    "/file": ("application/octet-stream", FILE),
}
# Number of packets that each of two programs hands to the kernel.
FLOOD = 2_000_000_000
# Growth that the emulation may have meanwhile.
ROOM = 64 << 20


# Emulations that a failed check left running.
RUNNING = contextlib.ExitStack()


class Emulation:
    """A running emulation, in whose nodes programs are started."""

    def __init__(self, *words, home=HOME, nodes=2):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-programs-"))
        (self.folder / "home.toml").write_text(home)
        command = [SLUICE, "emulate", "home.toml", "--set", "node.neighbour.count=3", "--set", "warmup=0 s", "--json", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        first = self.process.stderr.readline()
        if "may not make namespaces" in first or "cannot make a TUN device" in first:
            print(f"skipped: {first}")
            shutil.rmtree(self.folder)
            sys.exit(0)
        RUNNING.callback(self.abandon)
        told, self.warnings = [first], []
        while len(told) < nodes + ("--gateway" in words):
            line = self.process.stderr.readline()
            assert line, f"it ended after {told}"
            (self.warnings if "warning: " in line else told).append(line)
        self.addresses = {name: both.split() for name, both in (line.strip().split(": ") for line in told)}

    def start(self, node, *words):
        """Start a program in a node."""
        command = [SLUICE, "enter", node, "--", *map(str, words)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.folder)

    def ping(self, node, times, *words):
        """What ping prints, which had as many answers within a minute, and their numbers."""
        # Without a deadline it waits for the last answer no longer than twice the longest round trip so far. With one it
        # goes on meanwhile, and may have more answers.
        told = self.run(node, "ping", "-i", "0.2", "-w", "60", "-c", times, *words)
        numbers = [int(line.split("icmp_seq=")[1].split()[0]) for line in told.splitlines() if "icmp_seq=" in line]
        assert len(numbers) >= times, told
        return told, numbers

    def run(self, node, *words, fails=False):
        """What a program in a node prints."""
        process = self.start(node, *words)
        told = process.communicate(timeout=300)[0]
        assert (process.returncode != 0) == fails, f"{words} in {node}: status {process.returncode}\n{told}"
        return told

    def own(self, *words):
        """The words of a command that runs a function of this file."""
        return [sys.executable, __file__, *words]

    def inner(self):
        """The process that paces the network."""
        for status in pathlib.Path("/proc").glob("[0-9]*/status"):
            with contextlib.suppress(OSError):
                if f"\nPPid:\t{self.process.pid}\n" in status.read_text():
                    return status
        raise AssertionError("the emulation has no process inside")

    def abandon(self):
        """End it whatever it does, and remove its folder."""
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)

    def end(self):
        """End it; its results."""
        self.process.terminate()
        told, complaints = self.process.communicate(timeout=60)
        assert self.process.returncode == 130, complaints
        results = json.loads(told)
        self.real = {flow["name"]: flow for flow in results["flows"] if flow["kind"] == "real"}
        return results


def wait_until(holds, what):
    """Wait for what another program does; a minute."""
    for _ in range(1200):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what} within a minute")


def serve(address, address6, log):
    """In the server: a DNS server that knows one name, and an HTTP server over IPv4 and IPv6."""
    lines, lock = pathlib.Path(log), threading.Lock()

    def note(text):
        with lock, lines.open("a") as file:
            file.write(text + "\n")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            kind, content = PARTS.get(self.path, ("", b""))
            note(f"GET {self.path}")
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    class Four(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True

    class Six(Four):
        address_family = socket.AF_INET6

    for server in (Four((address, 80), Handler), Six((address6, 80), Handler)):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as dns:
        dns.bind((address, 53))
        note("ready")
        while True:
            query, asker = dns.recvfrom(2000)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1 : at + 1 + query[at]].decode())
                at += 1 + query[at]
            (kind,) = struct.unpack("!H", query[at + 1 : at + 3])
            name = ".".join(labels)
            note(f"DNS {name} {kind}")
            known = name == NAME
            found = kind == 1 and known
            head = query[:2] + struct.pack("!HHHHH", 0x8580 if known else 0x8583, 1, found, 0, 0)
            answer = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + socket.inet_aton(address) if found else b""
            dns.sendto(head + query[12 : at + 5] + answer, asker)


def browse(resolver):
    """In the laptop: load the page in Chromium, which asks our DNS server for its name; what came of it."""
    subprocess.run(["mount", "--bind", resolver, "/etc/resolv.conf"], check=True)
    with chromium.chromium(online=True) as browser:
        browser.call("Page.navigate", url=f"http://{NAME}/")
        for _ in range(1200):
            if str(browser.evaluate("document.title")).startswith("Loaded") and browser.evaluate("document.body?.dataset.picture"):
                break
            time.sleep(0.1)
        page = "({title: document.title, ran: window.ran, picture: document.body.dataset.picture, "
        page += "margin: getComputedStyle(document.getElementById('file')).marginLeft})"
        print(json.dumps(browser.evaluate(page)))


def misbehave():
    """In the laptop: send what the network does not carry, a different number of each."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        # This goes to an address that no node has.
        for _ in range(3):
            udp.sendto(b"x", ("10.9.9.9", 9))
    # Root in the node may give the device a larger MTU.
    subprocess.run(["ip", "link", "set", "air0", "mtu", "4000"], check=True)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        raw.bind(("air0", 0x0800))
        for _ in range(5):
            raw.send(b"no packet at all")
        long = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 2000, 0, 0, 64, 253, 0, bytes([10, 0, 0, 2]), bytes([10, 0, 0, 6]))
        for _ in range(7):
            raw.send(long.ljust(2000, b"x"))


def join(*groups):
    """Join groups, say so, and print who sends what to them or to all; ends after a message to each."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("", 5353))
        for group in groups:
            # The device may have any name: it is the one of the node's routes.
            udp.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + bytes(4))
        pathlib.Path("/proc/sys/net/ipv4/icmp_echo_ignore_broadcasts").write_text("0")
        print("ready", flush=True)
        for _ in range(len(groups) + 2):
            bytes_, (sender, _port) = udp.recvfrom(2000)
            print(sender, bytes_.decode(), flush=True)


def call(*groups):
    """Send the name of each group to it, and to all."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        for to in (*groups, "10.255.255.255", "255.255.255.255"):
            udp.sendto(to.encode(), (to, 5353))


def check_groups():
    """Multicast and broadcast of a laptop reach the server and another laptop, and their answers come back."""
    phone = f"phone-{os.getpid()}"
    real = f'[[node]]\nname = "{phone}"\nposition = ["0 m", "5 m"]\nreal = true\n\n[[wired]]'
    emulation = Emulation("--set", "duration=300 s", home=HOME.replace("[[wired]]", real), nodes=3)
    assert set(emulation.addresses) == {LAPTOP, phone, SERVER}
    laptop, _ = emulation.addresses[LAPTOP]
    groups = ["224.0.0.251", "239.255.255.250"]
    listeners = [emulation.start(node, *emulation.own("join", *groups)) for node in (phone, SERVER)]
    assert [listener.stdout.readline() for listener in listeners] == ["ready\n"] * 2
    emulation.run(LAPTOP, *emulation.own("call", *groups))
    expected = [f"{laptop} {to}" for to in (*groups, "10.255.255.255", "255.255.255.255")]
    for listener in listeners:
        told = listener.communicate(timeout=60)[0].splitlines()
        assert sorted(told) == sorted(expected), told
    # Over IPv6 this machine's kernel also answers, and no address is in the list.
    others = {emulation.addresses[node][0] for node in (phone, SERVER)}
    for words, count in [(["-b", "10.255.255.255"], 2), (["-6", "ff02::1%air0"], 3)]:
        told = emulation.ping(LAPTOP, 5, *words)[0]
        answers = {line.split("from ")[1].split()[0].rstrip(":") for line in told.splitlines() if "bytes from" in line}
        assert len(answers) == count and (count == 3 or answers == others), told
    emulation.end()
    flow = emulation.real[f"{LAPTOP}-broadcast"]
    assert flow["sent_packets"] >= 14 and flow["received_packets"] > flow["sent_packets"], flow


def flood(to):
    """In the laptop: hand datagrams to the kernel as fast as it takes them, by segmentation 44 at a time."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.setsockopt(socket.IPPROTO_UDP, 103, 1472)
        udp.connect((to, 9))
        sent = 0
        while sent < FLOOD:
            with contextlib.suppress(OSError):
                udp.send(bytes(44 * 1472))
            sent += 44 * 1472


def check_programs():
    """ping, iperf3 and curl over IPv4 and IPv6, and a page in Chromium; then their packets in a capture."""
    kept = pathlib.Path(RUNNING.enter_context(tempfile.TemporaryDirectory()))
    emulation = Emulation("--pcap", kept, "--node", LAPTOP, "--out", kept / "out", "--set", "record.series=1 s")
    four, six = emulation.addresses[SERVER]
    log = emulation.folder / "log"
    server = emulation.start(SERVER, *emulation.own("serve", four, six, log))
    wait_until(log.exists, "the server did not begin")

    for words in ([four], ["-6", six], ["-M", "do", "-s", "1472", four]):
        told, numbers = emulation.ping(LAPTOP, 10, *words)
        assert numbers[:10] == list(range(1, 11)), told
    # A datagram of three fragments arrives; the kernel refuses one that must not be fragmented.
    emulation.ping(LAPTOP, 4, "-s", "4000", four)
    assert "too long" in emulation.run(LAPTOP, "ping", "-c", "1", "-M", "do", "-s", "1473", four, fails=True)

    for name in (four, f"[{six}]"):
        emulation.run(LAPTOP, "curl", "--silent", "--fail", "--output", "file", f"http://{name}/file")
        assert (emulation.folder / "file").read_bytes() == FILE
    assert log.read_text().split("\n")[1:3] == ["GET /file"] * 2

    listener = emulation.start(SERVER, "iperf3", "--server", "--one-off")
    # If it is refused, its client reports this in JSON but ends with success.
    wait_until(lambda: ":5201" in emulation.run(SERVER, "ss", "-ltn"), "iperf3 did not listen")
    told = emulation.run(LAPTOP, "iperf3", "--client", four, "--bytes", "3M", "--json")
    listener.communicate(timeout=60)
    sent, total = (json.loads(told)["end"][which]["bytes"] for which in ("sum_sent", "sum_received"))
    # The server reports what it had received when the client ended.
    assert sent == 3 << 20 and 0 < total <= sent, told

    resolver = emulation.folder / "resolv.conf"
    resolver.write_text(f"nameserver {four}\n")
    page = json.loads(emulation.run(LAPTOP, *emulation.own("browse", resolver)))
    expected = {"title": f"Loaded {len(FILE)}", "ran": "yes", "picture": "7", "margin": "41px"}
    assert page == expected, page
    seen = log.read_text().split("\n")[3:-1]
    asked, got = seen.index(f"DNS {NAME} 1"), seen.index("GET /")
    assert asked < got, seen
    fetched = [line for line in seen[got:] if line.startswith("GET") and "favicon" not in line]
    assert sorted(fetched) == sorted(f"GET {part}" for part in PARTS), seen

    results = emulation.end()
    server.wait(timeout=60)
    up, down = emulation.real[f"{LAPTOP}-{SERVER}"], emulation.real[f"{SERVER}-{LAPTOP}"]
    found = results["emulation"]
    assert found["packets"] == sum(flow["received_packets"] for flow in emulation.real.values())
    # Three transfers of the file, and what iperf3 sent.
    assert down["received_packets"] >= 3 * len(FILE) // 1460 and up["received_packets"] >= total // 1460
    refused = {reason for reason, count in found["refused_packets"].items() if count}
    assert not refused, f"not carried: {refused}"
    check_capture(kept / f"{LAPTOP}.pcap")
    check_kept(kept / "out", found)


FIELDS = ["radiotap.flags.badfcs", "_ws.malformed", "wlan.fc.tods", "wlan.fcs.status", "ip.addr", "ip.checksum.status",
          "tcp.checksum", "tcp.checksum.status", "tcp.dstport", "icmp.type", "icmp.seq", "icmp.checksum.status", "icmpv6.type",
          "dns.qry.name", "http.request.uri"]  # fmt: skip


def check_capture(file):
    """tshark sees in the frames what the programs sent, whole."""
    options = [f"{what}.check_checksum:TRUE" for what in ("wlan", "ip", "tcp")]
    words = [word for option in options for word in ("-o", option)] + [word for field in FIELDS for word in ("-e", field)]
    # Now and then tshark calls TCP malformed that it cannot put together, after a loss, or guesses a protocol for the random
    # bytes of iperf3.
    alone = ["-o", "tcp.desegment_tcp_streams:FALSE", "-d", "tcp.port==5201,data"]
    command = ["tshark", "-n", "-r", file, *alone, "-T", "fields", *words]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in told.splitlines()]
    rows = [row for row in rows if row["radiotap.flags.badfcs"] in ("0", "False")]
    assert not any(row["_ws.malformed"] for row in rows)
    # Simulated packets end after their headers, so checksums of their contents cannot be checked.
    assert any(row["tcp.dstport"] == "10000" for row in rows)
    real = [row for row in rows if "10.0.0.2" in row["ip.addr"].split(",") and row["tcp.dstport"]]
    # A sum of zero has two forms. tshark calls the kernel's, 0xffff, bad (RFC 1624): one segment in 65,536 has it.
    sound = ["wlan.fcs.status", "ip.checksum.status"]
    wrong = [row for row in real if row["tcp.checksum"] != "0xffff" and row["tcp.checksum.status"] != "1"]
    wrong += [row for row in real if [row[field] for field in sound] != ["1"] * 2]
    assert real and not wrong, wrong
    sent = [row for row in rows if row["wlan.fc.tods"] in ("1", "True")]
    echoes = [int(row["icmp.seq"]) for row in sent if (row["icmp.type"], row["icmp.checksum.status"]) == ("8", "1")]
    assert list(dict.fromkeys(echoes))[:10] == list(range(1, 11)), echoes
    assert any(row["icmpv6.type"] == "128" for row in sent)
    assert any(row["dns.qry.name"] == NAME for row in sent)
    requests = [row["http.request.uri"] for row in sent if row["http.request.uri"]]
    assert requests.count("/file") >= 3 and set(PARTS) <= set(requests), requests


def check_kept(folder, found):
    """Results, series and report of the emulation, as of every run."""
    (kept,) = (json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines())
    assert kept["emulation"] == found
    (series,) = (folder / "series").iterdir()
    head, *rows = (line.split(",") for line in series.read_text().splitlines())
    late, packets = head.index("emulation.late_packets"), head.index("emulation.lateness_max_s")
    assert sum(int(row[late] or 0) for row in rows) == found["late_packets"]
    assert max(float(row[packets] or 0) for row in rows) == found["lateness_max_s"]
    subprocess.run([SLUICE, "report", folder], check=True, capture_output=True)
    report = (folder / "report.html").read_text()
    assert f"Flows of real programs: {LAPTOP}-{SERVER}, {SERVER}-{LAPTOP}" in report
    assert f". {100 * found['in_time_ratio']:.3f} % of {found['packets']}" in report


def check_refusals():
    """What the network does not carry is counted by its reason, and does no harm."""
    emulation = Emulation()
    four, _ = emulation.addresses[SERVER]
    emulation.run(LAPTOP, *emulation.own("misbehave"))
    emulation.ping(LAPTOP, 3, four)
    refused = emulation.end()["emulation"]["refused_packets"]
    expected = {"elsewhere": 3, "multicast": 0, "not_ip": 5, "too_long": 7, "device_full": 0, "ttl": 0, "absent": 0}
    assert refused == expected, refused


def check_flood():
    """Two programs that send as fast as the kernel takes it: the emulation's memory is bounded, and it goes on."""
    emulation = Emulation()
    four, _ = emulation.addresses[SERVER]
    status = emulation.inner()

    def most():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) << 10

    before = most()
    begun = time.monotonic()
    floods = [emulation.start(LAPTOP, *emulation.own("flood", four)) for _ in range(2)]
    assert all(flood.communicate() and flood.returncode == 0 for flood in floods)
    took, grown = time.monotonic() - begun, most() - before
    assert grown < ROOM, f"grown by {grown >> 20} MiB"
    emulation.ping(LAPTOP, 3, four)
    found = emulation.end()["emulation"]
    offered, carried = 2 * FLOOD // 1472, emulation.real[f"{LAPTOP}-{SERVER}"]["sent_packets"]
    assert found["refused_packets"]["device_full"] + carried > offered // 2
    print(f"flood: {16e-9 * FLOOD / took:.1f} Gb/s, {carried} of {offered} packets read, {grown >> 20} MiB more memory")


def check_gateway():
    """Programs of this machine and of a node reach one another through a gateway, and what a node sends further does, too.

    This machine is played by a namespace, so that it needs no root and nothing is left."""
    if os.environ.get("SLUICE_HOST") != "played":
        command = ["unshare", "--user", "--map-root-user", "--net", "--mount", sys.executable, __file__, "gateway"]
        subprocess.run(command, check=True, env=os.environ | {"SLUICE_HOST": "played"})
        return
    emulation = Emulation("--gateway", SERVER)
    (laptop, laptop6), (machine, machine6) = emulation.addresses[LAPTOP], emulation.addresses["this machine"]

    def ping(*words):
        command = ["ping", "-c", "3", "-i", "0.2", "-w", "60", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    # The gateway lowers the TTL by one.
    for told in (ping(laptop), ping("-6", laptop6), emulation.ping(LAPTOP, 3, machine)[0]):
        assert "ttl=63" in told, told
    emulation.ping(LAPTOP, 3, "-6", machine6)
    # An address of this machine that no node has: what is behind the gateway is reached by routes alone.
    subprocess.run(["ip", "addr", "add", "192.0.2.1/32", "dev", "sluice0"], check=True)
    emulation.ping(LAPTOP, 3, "192.0.2.1")
    # A simulated node cannot be the gateway.
    emulation.run(LAPTOP, "ping", "-c", "2", "-W", "1", "10.0.0.3", fails=True)
    found = emulation.end()["emulation"]["refused_packets"]
    assert found["elsewhere"] == 2, found
    has_ended("sluice0")
    emulation = Emulation("--gateway", SERVER)
    emulation.process.kill()
    has_ended("sluice0")
    # The addresses of two nodes are those of hosts in the network of another device.
    phone = f'[[node]]\nname = "phone-{os.getpid()}"\nposition = ["0 m", "3 m"]\nreal = true\n\n'
    for command in ("tuntap add lan mode tun", "addr add 10.0.0.200/24 dev lan", "link set lan up"):
        subprocess.run(["ip", *command.split()], check=True)
    emulation = Emulation("--gateway", SERVER, home=HOME.replace("[[wired]]", f"{phone}[[wired]]"), nodes=3)
    hidden = sorted(addresses[0] for name, addresses in emulation.addresses.items() if name.startswith(("laptop", "phone")))
    share = "warning: a node and a host at lan share the address {}: programs reach only the node"
    assert sorted(map(str.strip, emulation.warnings)) == [share.format(address) for address in hidden], emulation.warnings
    emulation.end()
    has_ended("sluice0")


def has_ended(device):
    """A device is gone with its emulation, however that ended."""
    command = ["ip", "link", "show", device]
    wait_until(lambda: subprocess.run(command, check=False, capture_output=True).returncode, f"{device} did not go")


CHECKS = {"programs": check_programs, "groups": check_groups, "refusals": check_refusals, "flood": check_flood}
CHECKS["gateway"] = check_gateway
INSIDE = {"serve": serve, "browse": browse, "join": join, "call": call, "misbehave": misbehave, "flood": flood}


def main():
    # A program in a node has arguments, or is none of the checks.
    if sys.argv[1:] and (sys.argv[1] not in CHECKS or len(sys.argv) > 2):
        INSIDE[sys.argv[1]](*sys.argv[2:])
        return
    if not SLUICE.exists():
        sys.exit(f"{SLUICE} is missing: run `make build`")
    for name in sys.argv[1:] or CHECKS:
        with RUNNING:
            CHECKS[name]()
        print(f"{name}: {CHECKS[name].__doc__.splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
