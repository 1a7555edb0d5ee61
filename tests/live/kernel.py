#!/usr/bin/env python3
"""Runs a program in a Linux kernel whose simulated radios are the nodes of a scenario, in virtual time:

    kernel.py SCENARIO [options] -- PROGRAM ARGUMENTS

PROGRAM runs as root, on this machine's files, when all stations are associated. Then this prints what the air saw. The exit
status is PROGRAM's; or 2 for wrong input, 124 at the limit, 125 for a fault of the kernel or the air, 126 or 127 if PROGRAM
cannot be run, and 128 plus its number after a signal. README.md describes the network.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

import uml
from kernel_first import MARK
from radios import LIBC

WRONG, LATE, FAULT, NO_PROGRAM = 2, 124, 125, 127
MOST_RADIOS = 100
ADDR_NO_RANDOMIZE = 0x0040000
NEEDED = "UML UML_TIME_TRAVEL_SUPPORT HOSTFS TMPFS NET_NS UNIX PACKET VETH NET_SCH_NETEM MAC80211_HWSIM".split()


class Ended(Exception):
    """Why the exit status, which comes first, is not the program's."""


def network(path, sluice):
    """The nodes and wires of a scenario, and the scenario of their air."""

    def need(true, key, message):
        if not true:
            raise Ended(WRONG, f"{path}: {key}: {message}")

    checked = subprocess.run([sluice, "check", path], capture_output=True, text=True, check=False)
    if checked.returncode:
        raise Ended(WRONG, checked.stderr.strip())
    text = path.read_text()
    scenario = tomllib.loads(text)
    need(not scenario.keys() & {"base", "nodes"}, "base, nodes", "write each node as [[node]]")
    standard = scenario.get("radio", {}).get("standard")
    need(standard == "802.11n", "radio.standard", f"the kernel's radios are of 802.11n here, not {standard}")
    described = []
    for node in scenario.get("node", []):
        names = [f"{node['name']}{number}" for number in range(1, node["count"] + 1)] if "count" in node else [node["name"]]
        described += [{"role": "station", **node, "name": name} for name in names]
    described.sort(key=lambda node: node["role"] == "wired")
    access_points = [node["name"] for node in described if node["role"] == "access-point" and node.get("queues") == "driver"]
    need(access_points, "node", 'no access point has `queues = "driver"`')
    nodes = {}
    for number, node in enumerate(described):
        name, wired, of = node["name"], node["role"] == "wired", node.get("access_point", access_points[0])
        if not wired and node.get("queues") != "driver":
            need(len(access_points) < 2, f"node.{name}", "with several access points all radios are the kernel's")
            continue
        need(re.fullmatch(r"[\w.-]+", name), f"node.{name}", "this is not a name for a network namespace")
        need("channel" not in node, f"node.{name}.channel", "the kernel's radios share one channel")
        need(of in access_points, f"node.{name}.access_point", f"the kernel does not run {of}")
        mac = None if wired else f"02:00:00:00:{len(nodes):02x}:00"
        address = ".".join(map(str, (10, *(number + 1).to_bytes(3, "big"))))
        nodes[name] = {"role": node["role"], "mac": mac, "address": address, "access_point": of}
    count = sum(bool(node["mac"]) for node in nodes.values())
    need(count <= MOST_RADIOS, "node", f"{count} are radios, but mac80211_hwsim has at most {MOST_RADIOS}")
    wires = []
    for wire in scenario.get("wired", []):
        more, ends = sorted(wire.keys() - {"between", "rate", "delay"}), wire["between"]
        need(not more, f"wired.{' '.join(more)}", "a wire of the kernel has only `rate` and `delay`")
        need(nodes.keys() >= set(ends), "wired.between", f"{' and '.join(ends)} are not both the kernel's")
        netem = " ".join(f"{key} {wire[key].replace('b/s', 'bit').replace(' ', '')}" for key in ("delay", "rate") if key in wire)
        wires.append((ends, netem))
    if len(access_points) > 1:
        # The kernel decides where stations are: on the air each radio may send to each.
        text = re.sub(r'^ *(role *= *"access-point"|access_point *=.*)$', "", text, flags=re.MULTILINE)
        need('"access-point"' not in text, "node", "write `role` and `access_point` in lines of their own")
    return {"nodes": nodes, "wires": wires}, text


def kernel(given, folder):
    """The folder of a kernel, as `uml.run` takes it, and the modules that it has."""
    if not given:
        place = uml.build()
        return place, [str(place / name) for name in uml.MODULES]
    try:
        done = subprocess.run([given, "--showconfig"], capture_output=True, check=False, timeout=10)
        config = done.stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        config = ""
    lacks = [f"CONFIG_{name}" for name in NEEDED if not re.search(rf"^CONFIG_{name}=[ym]$", config, re.MULTILINE)]
    if "CONFIG_UML" in lacks:
        raise Ended(WRONG, f"{given}: this is not user-mode Linux, a program that `make ARCH=um` builds")
    if lacks:
        raise Ended(WRONG, f"{given}: this kernel lacks {', '.join(lacks)}")
    (folder / "linux").symlink_to(given)
    return folder, [str(given.parent / name) for name in uml.MODULES if (given.parent / name).exists()]


def end(session):
    """Ends all processes of a session."""
    for found in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(found.read_text().rpartition(")")[2].split()[3]) == session:
                os.kill(int(found.parent.name), signal.SIGKILL)
        except OSError:
            pass


def boot(place, folder, limit):
    """Runs the kernel, and prints what the program writes. False if the kernel has not ended by itself."""
    console, begin, parts = folder / "console", time.monotonic(), 0
    console.touch()
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(folder)
        # Runs are alike only if all addresses are, and the command line: the kernel's random numbers begin with it.
        LIBC.personality(ADDR_NO_RANDOMIZE)
        # Its limit is for when this program is killed.
        uml.run(place, "/proc/self/cwd/first", {}, console, seconds=limit + 60)
        os._exit(0)
    try:
        with open(console, "rb") as said:
            over = False
            while not over and time.monotonic() - begin < limit:
                time.sleep(0.05)
                over = os.waitpid(child, os.WNOHANG)[0] == child
                for part in re.split(b"(%s)" % MARK, said.read()):
                    parts += part == MARK
                    if parts == 1 and part != MARK:
                        sys.stdout.buffer.write(part)
                sys.stdout.buffer.flush()
            return over
    finally:
        end(child)


def seen(folder):
    """What the air saw."""
    rows = [("node", "frames", "again", "given up", "airtime, s", "busy, %")]
    for node in json.loads((folder / "plan.air.json").read_text())["nodes"]:
        mac, hops = node["mac"], node.get("hops", [])
        sums = [sum(hop[key] for hop in hops) for key in ("attempts", "repeated", "retry_drops")]
        rows.append((node["name"], *map(str, sums), f"{mac['airtime_s']:.6f}", f"{100 * mac['busy_ratio']:.2f}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([*lines, (folder / "plan.air").read_text().strip()])


def run(args, command, folder):
    if not command or not shutil.which(command[0]):
        raise Ended(NO_PROGRAM, f"there is no program {command[0]}" if command else "write a program behind --")
    plan, air = network(args.scenario, args.sluice)
    place, modules = kernel(args.kernel and args.kernel.absolute(), folder)
    if args.captures:
        folder = args.captures.resolve()
        folder.mkdir(parents=True, exist_ok=True)
    (folder / "air.toml").write_text(air)
    for old in ("plan.result", "first"):
        (folder / old).unlink(missing_ok=True)
    (folder / "first").symlink_to(uml.HERE / "kernel_first.py")
    plan |= {
        "modules": modules, "sluice": str(args.sluice.resolve()), "air": str(folder / "air.toml"), "seed": args.seed,
        "command": command, "folder": os.getcwd(), "captures": args.captures and str(folder / "air.pcap"),
        "environment": {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "SLUICE_NODES": " ".join(plan["nodes"])},
    }  # fmt: skip
    (folder / "plan").write_text(json.dumps(plan))
    begin = time.monotonic()
    if not boot(place, folder, args.limit):
        raise Ended(LATE, f"the kernel has not ended within {args.limit} s (--limit)")
    try:
        got = json.loads((folder / "plan.result").read_text())
    except FileNotFoundError:
        got = {"error": "the kernel ended without a result"}
    if "error" in got:
        raise Ended(FAULT, "\n".join([got["error"], *(folder / "console").read_text(errors="replace").splitlines()[-20:]]))
    if "fault" in got:
        raise Ended(got.get("status", FAULT), got["fault"])
    print(seen(folder), flush=True)
    print(f"{time.monotonic() - begin:.1f} s", file=sys.stderr)
    return got["status"] if got["status"] >= 0 else 128 - got["status"]


def interrupted(number, _):
    raise Ended(128 + number, "interrupted")


def main():
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", type=pathlib.Path)
    parser.add_argument("--kernel", type=pathlib.Path, help="a user-mode Linux, with its modules in its folder or built in")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--captures", type=pathlib.Path, help="folder for all frames, the results of the air and the console")
    parser.add_argument("--limit", type=int, default=600, help="in seconds of this machine (%(default)s)")
    parser.add_argument("--sluice", type=pathlib.Path, default=uml.HERE.parent.parent / "target/debug/sluice")
    args = parser.parse_args(sys.argv[1:at])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    try:
        with tempfile.TemporaryDirectory(prefix="kernel-") as own:
            status = run(args, sys.argv[at + 1 :], pathlib.Path(own))
    except (Ended, OSError) as why:
        status, message = why.args if isinstance(why, Ended) else (WRONG, why)
        print(f"kernel.py: {message}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
