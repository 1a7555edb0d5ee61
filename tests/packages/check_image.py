#!/usr/bin/env python3
"""Holds the image of `make image` to the contract of quic-network-simulator's `sim`.

Three network namespaces are its containers: the client at 193.167.0.100, the server at 193.167.100.100, and the image's files,
with eth0 and eth1, between both. They belong to a user namespace, so that nothing is left. Where this user may make none, it
says so and checks nothing. With ENGINE="podman", or with options ENGINE="podman --runtime runc", Podman's containers do the same.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tarfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGE = ROOT / "target/image/sluice-between.tar"
FILES = ROOT / "target/image/root"
INSIDE = "SLUICE_IMAGE"
CLIENT, SERVER = "193.167.0.100", "193.167.100.100"
CLIENT6, SERVER6 = "fd00:cafe:cafe:0::100", "fd00:cafe:cafe:100::100"
# The files are the root of a mount namespace, as in a container: a process under chroot may make no user namespace.
CONTAINER = """
mount --bind {files} {files} && cd {files} && mount --rbind /dev dev && mount -t proc proc proc && mount -t tmpfs tmpfs logs
pivot_root . tmp && exec chroot . sh -c 'umount -l /tmp && exec /bin/between.sh'
"""


def check_layout():
    """Each part has the length and the hash by which it is named, and the layer holds the files."""
    with tarfile.open(IMAGE) as archive:
        content = {entry.name: archive.extractfile(entry).read() for entry in archive}

    def part(reference):
        found = content[f"blobs/sha256/{reference['digest'][7:]}"]
        assert len(found) == reference["size"] and hashlib.sha256(found).hexdigest() == reference["digest"][7:], reference
        return found

    (reference,) = json.loads(content["index.json"])["manifests"]
    manifest = json.loads(part(reference))
    config = json.loads(part(manifest["config"]))
    assert config["config"]["Entrypoint"] == ["/bin/between.sh"], config
    (layer,) = manifest["layers"]
    packed = subprocess.run(["gzip", "--decompress"], input=part(layer), check=True, capture_output=True).stdout
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(packed).hexdigest()}"]
    (old,) = json.loads(content["manifest.json"])
    assert all(name in content for name in (old["Config"], *old["Layers"])), old
    told = subprocess.run([FILES / "bin/sluice", "--version"], check=True, capture_output=True, text=True).stdout
    assert told.startswith("sluice "), told


def container(children, *words):
    """A process in a network namespace of its own."""
    process = subprocess.Popen(["unshare", "--net", *words])
    children.callback(process.kill)
    own = pathlib.Path("/proc/self/ns/net").readlink()
    wait_until(lambda: pathlib.Path(f"/proc/{process.pid}/ns/net").readlink() != own)
    return process.pid


def at(pid, *words, **options):
    """Start a program in a container's network."""
    return subprocess.Popen(["nsenter", f"--target={pid}", "--net", *words], text=True, **options)


def run(pid, *words):
    """What a program in a container's network prints."""
    process = at(pid, *words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    told = process.communicate(timeout=120)[0]
    assert process.returncode == 0, f"{words}: {told}"
    return told


def connect(children):
    """The containers with their networks."""
    client, server, sim = (container(children, "sleep", "infinity") for _ in range(3))
    for number, (pid, device, four, six) in enumerate([(client, "eth0", CLIENT, CLIENT6), (server, "eth1", SERVER, SERVER6)]):
        link = ["ip", "link", "add", f"end{number}", "type", "veth", "peer", "name", f"sim{number}"]
        subprocess.run(link, check=True)
        for name, to, new, last in [(f"end{number}", pid, "eth0", 100), (f"sim{number}", sim, device, 2)]:
            subprocess.run(["ip", "link", "set", name, "netns", str(to), "name", new], check=True)
            run(to, "ip", "addr", "add", f"{four.rpartition('.')[0]}.{last}/24", "dev", new)
            run(to, "ip", "addr", "add", f"{six.rpartition(':')[0]}:{last}/64", "dev", new, "nodad")
            run(to, "ip", "link", "set", new, "up")
        run(pid, "ip", "route", "add", "193.167.0.0/16", "via", f"{four.rpartition('.')[0]}.2")
        run(pid, "ip", "route", "add", "fd00:cafe:cafe::/48", "via", f"{six.rpartition(':')[0]}:2")
    return client, server, sim


def echo():
    """In the server: send back datagrams, with the address from which they came."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("", 443))
        while True:
            bytes_, (sender, port) = udp.recvfrom(2000)
            udp.sendto(f"{sender} ".encode() + bytes_, (sender, port))


def ask():
    """In the client: say what comes back."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(1)
        for _ in range(60):
            udp.sendto(b"a request", (SERVER, 443))
            with contextlib.suppress(TimeoutError):
                print(udp.recv(2000).decode())
                return


def wait_until(holds):
    """Wait for what another program does; a minute."""
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen within a minute")


def is_open(pid, address):
    """Whether the port is open by which the simulator says that it is ready."""
    command = f"import socket; socket.create_connection(('{address}', 57832), 1)"
    return at(pid, sys.executable, "-c", command, stderr=subprocess.DEVNULL).wait() == 0


def check_contract():
    """The client reaches the server over the air once the server is there, by addresses of both networks."""
    with contextlib.ExitStack() as children:
        client, server, sim = connect(children)
        variables = os.environ | {"SCENARIO": "home --seed 3", "WAITFORSERVER": f"{SERVER}:443"}
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", CONTAINER.format(files=FILES)]
        process = at(sim, *words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        children.callback(process.kill)
        time.sleep(2)
        assert process.poll() is None and not is_open(client, "193.167.0.2"), process.stdout.read()
        served = at(server, sys.executable, __file__, "echo")
        children.callback(served.kill)
        wait_until(lambda: process.poll() is not None or is_open(client, "193.167.0.2") and is_open(server, "193.167.100.2"))
        assert process.poll() is None, process.stdout.read()
        # Neither end is hidden behind another address.
        assert run(client, sys.executable, __file__, "ask") == f"{CLIENT} a request\n"
        # The three hops are the node's kernel, the gateway and this container's kernel.
        for words in (["-c", "3", SERVER], ["-6", "-c", "3", SERVER6]):
            told = run(client, "ping", "-i", "0.2", "-w", "60", *words)
            assert "ttl=61" in told, told
        run(server, "ping", "-c", "1", "-w", "60", CLIENT)
        (first,) = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        logs = pathlib.Path(f"/proc/{first}/root/logs")
        wait_until(lambda: b"a request" in (logs / "trace_node_left.pcap").read_bytes())
        assert (logs / "trace_node_left.pcap").readlink() == pathlib.Path("laptop.pcap")
        os.kill(int(first), signal.SIGTERM)
        told = process.communicate(timeout=60)[0]
        assert "Using scenario: home --seed 3" in told, told


def check_engine(engine):
    """The same with containers of Podman, whose networks hide no address."""
    networks = {"left": CLIENT, "right": SERVER}

    def call(*words, check=True):
        done = subprocess.run([*engine, *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert not check or done.returncode == 0, f"{words}: {done.stdout}"
        return done.stdout

    def start(name, *options, command=()):
        options = ["--name", name, "--privileged", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096", *options]
        call("run", "--detach", *options, call("load", "--input", IMAGE).split()[-1], *command)

    def clean():
        call("rm", "--force", "sluice-sim", "sluice-left", "sluice-right", check=False)
        call("network", "rm", *(f"sluice-{side}" for side in networks), check=False)

    with contextlib.ExitStack() as done:
        clean()
        done.callback(clean)
        between = []
        for number, (side, end) in enumerate(networks.items()):
            subnet = end.rpartition(".")[0]
            call("network", "create", "--internal", "--subnet", f"{subnet}.0/24", f"sluice-{side}")
            route = f"ip route add 193.167.0.0/16 via {subnet}.2 && exec sleep infinity"
            start(f"sluice-{side}", "--network", f"sluice-{side}:ip={end}", "--entrypoint", "/bin/sh", command=("-c", route))
            between += ["--network", f"sluice-{side}:ip={subnet}.2,interface_name=eth{number}"]
        start("sluice-sim", *between, "--env", "SCENARIO=home --seed 3")
        ping = ["ping", "-c", "1", "-W", "2"]
        wait_until(lambda: "ttl=61" in call("exec", "sluice-left", *ping, SERVER, check=False))
        assert "ttl=61" in call("exec", "sluice-right", *ping, CLIENT)
        assert "laptop.pcap" in call("exec", "sluice-sim", "ls", "/logs")


def main():
    if sys.argv[1:]:
        {"echo": echo, "ask": ask}[sys.argv[1]]()
        return
    if os.environ.get(INSIDE):
        check_contract()
        return
    if not IMAGE.exists():
        sys.exit(f"{IMAGE} is missing: run `make image`")
    check_layout()
    print("layout: the parts of the image have their hashes")
    if engine := os.environ.get("ENGINE", "").split():
        check_engine(engine)
        print(f"{engine[0]}: a client reaches a server over the air")
    spaces = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*spaces, "true"], check=False).returncode:
        print("skipped: this user may make no namespaces")
        return
    subprocess.run([*spaces, sys.executable, __file__], check=True, env=os.environ | {INSIDE: "yes"})
    print("contract: a client reaches a server over the air")


if __name__ == "__main__":
    main()
