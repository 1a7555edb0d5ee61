#!/usr/bin/env python3
"""Builds the command with profile-guided optimisation: target/pgo/sluice.

A first build counts, while it runs the networks of tests/instructions.py, how often each piece of code is executed; the
second is laid out and inlined by these counts. Its results must have the same bytes as those of `make build`, on
profiled networks and on others. Ends with the instructions that both builds execute.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACE = ROOT / "target/pgo"
PLAIN = ROOT / "target/release/sluice"
sys.path.append(str(ROOT / "tests"))

import instructions

# Networks that are not profiled.
OTHERS = {name: (name, duration, {}) for name, duration in
          {"ampdu": "5 s", "aodv-conventions-mobile": "10 s", "edca": "5 s", "tcp-web": "105 s"}.items()}


def main():
    merge = tool()
    counts = PLACE / "counts"
    shutil.rmtree(counts, ignore_errors=True)
    counting = build("counting", f"-Cprofile-generate={counts}")
    for name, network in instructions.NETWORKS.items():
        print(f"counting: {name}", flush=True)
        results(counting, network)
    profile = PLACE / "sluice.profdata"
    subprocess.run([merge, "merge", "--output", profile, counts], check=True)
    made = build("final", f"-Cprofile-use={profile}")
    for name, network in (instructions.NETWORKS | OTHERS).items():
        if results(made, network) != results(PLAIN, network):
            sys.exit(f"{name}: the results of {made} are not those of {PLAIN}")
    shutil.copy2(made, PLACE / "sluice")
    print(f"{(PLACE / 'sluice').relative_to(ROOT)}: the same results; instructions in millions, and relative to {PLAIN.relative_to(ROOT)}")
    for name, network in (instructions.NETWORKS | OTHERS).items():
        plain, counted = (instructions.instructions(binary, network) for binary in (PLAIN, made))
        kind = "" if name in instructions.NETWORKS else "  not profiled"
        print(f"{name:<25}{network[1]:>6}{counted / 1e6:>10.1f}{counted / plain:>8.3f}{kind}", flush=True)


def tool():
    """The path of `llvm-profdata`, in the version of the compiler's LLVM, which merges the counts."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = sorted(pathlib.Path(sysroot.strip()).glob("lib/rustlib/*/bin/llvm-profdata"))
    if not found:
        sys.exit("missing: rustup component add llvm-tools")
    return found[0]


def build(name, flags):
    """A release build with these flags of the compiler, in a folder of its own."""
    command = ["cargo", "build", "--release", "--locked", "-p", "sluice-cli", "--target-dir", PLACE / name]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"RUSTFLAGS": flags})
    return PLACE / name / "release/sluice"


def results(binary, network):
    """All that a run prints as JSON, except the time that it took."""
    done = subprocess.run([binary, *instructions.run(network)], check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{network[0]}: {done.stderr}")
    return re.sub(r'"(wall|cpu)_s":[^,]*', "", done.stdout)


if __name__ == "__main__":
    main()
