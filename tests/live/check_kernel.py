#!/usr/bin/env python3
"""Runs the examples of kernel.py twice, whose outputs and captures must be the same, and tries its faults.

Installs what it needs where we may. Where this is impossible, it says so and ends with status 0.
"""

import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import uml

SCENARIOS = uml.HERE.parent.parent / "scenarios/kernel"
HOME = SCENARIOS / "home.toml"
EXAMPLES = ("home", "roam")


def kernel(*words, after=None):
    """Exit status, output and messages. SIGINT is sent after this many seconds."""
    command = [sys.executable, uml.HERE / "kernel.py", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if after:
        time.sleep(after)
        process.send_signal(signal.SIGINT)
    out, said = process.communicate()
    left = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if b"init=" + bytes(uml.HERE) in path.read_bytes()]
    assert not left, f"still running: {left}"
    return process.returncode, out, said.strip()


def twice(name, folder):
    runs = []
    for turn in range(2):
        own = folder / f"{name}-{turn}"
        status, out, said = kernel(SCENARIOS / f"{name}.toml", "--captures", own, "--", uml.HERE / f"kernel/{name}.sh")
        assert status == 0, f"{name}: {status}\n{out}\n{said}"
        runs.append([out.encode(), *((own / file).read_bytes() for file in ("air.pcap", "plan.air.json"))])
    print(f"{runs[0][0].decode()}{name}.toml, {said} the second time\n", flush=True)
    assert runs[0] == runs[1], f"{name}: two runs differ: {folder}"


def main():
    try:
        uml.debian.have("kernel")
    except uml.debian.Impossible as why:
        print(f"kernel-test: left out: {why}")
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="check-"))
    linux, bare, plain = folder / "linux", folder / "bare", folder / "plain"
    linux.symlink_to(uml.build() / "linux")
    bare.write_text(f"#!/bin/sh\n{linux} --showconfig | grep -v HWSIM\n")
    plain.write_text("echo a script without its first line\n")
    for file in (bare, plain):
        file.chmod(0o755)

    def other(old, new):
        path = folder / f"{abs(hash(new))}.toml"
        path.write_text(HOME.read_text().replace(old, new))
        return path

    for name in EXAMPLES:
        twice(name, folder)
    phone = '"60 m"]\nreal = true\nqueues = "driver"'
    for status, part, scenario, *words in [
        (7, "", HOME, "--", "sh", "-c", "exit 7"),
        (137, "", HOME, "--", "sh", "-c", "kill -9 $$"),
        (127, "there is no program ./nothing", HOME, "--", "./nothing"),
        (126, "cannot run", HOME, "--", plain),
        (2, "this is not user-mode Linux", HOME, "--kernel", HOME, "--", "true"),
        (2, "lacks CONFIG_MAC80211_HWSIM", HOME, "--kernel", bare, "--", "true"),
        (125, "0 simulated radios", HOME, "--kernel", linux, "--", "true"),
        (125, "the air ended before the program, with status -9", HOME, "--", "sh", "-c", "kill -9 $(pidof sluice); sleep 9"),
        (125, "the air ended before the program, with status 0: `duration`", other('"10 min"', '"5 s"'), "--", "sleep", "60"),
        (2, "the kernel's radios are of 802.11n", other('"802.11n"', '"802.11ax"'), "--", "true"),
        (2, "only `rate` and `delay`", other('"5 ms"', '"5 ms"\nloss = 0.1'), "--", "true"),
        (2, "others have", other(phone, phone.partition("\nqueues")[0]), "--", "true"),
        (2, "unknown", other("[radio]", "[radoi]"), "--", "true"),
        (124, "has not ended within 5 s", HOME, "--limit", "5", "--", "sh", "-c", "while :; do :; done"),
        (130, "interrupted", HOME, "--", "sh", "-c", "while :; do :; done"),
    ]:
        begin = time.monotonic()
        got, _, said = kernel(scenario, *words, after=4 if status == 130 else None)
        print(f"{got:3} after {time.monotonic() - begin:4.1f} s  {said}", flush=True)
        assert got == status and part in said, f"expected {status}: {part}"
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
