#!/usr/bin/env python3
"""Builds the Python package's wheel for aarch64, and compares its results with this machine's: wheel.py.

It is built in the tree of static.py, with Zig, for a C library of 2018 or later. Then it and the wheel of `make wheel`
run the same scenarios with the same seeds, it in QEMU's user mode: the results must have the same bytes.
"""

import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys
import zipfile

import static

PROCESSOR, TARGET, GLIBC = "aarch64", "aarch64-unknown-linux-gnu", "manylinux_2_28"
DIST = static.ROOT / "dist"
# Debian's Python for that processor, unpacked. It runs only in the emulator.
ROOT = static.PLACE / f"python-{PROCESSOR}"
PYTHON = "usr/bin/python3.13"
PACKAGES = ["libc6", "libexpat1", "libgcc-s1", "libpython3-stdlib", "libssl3t64", "python3", "zlib1g"]
SCENARIOS = [
    "scenarios/adth/s1a.toml",
    "scenarios/reference/ampdu.toml",
    "scenarios/reference/aodv-conventions-mobile.toml",
    "scenarios/reference/fading.toml",
    "scenarios/reference/tcp-download.toml",
]
RUN = """
import hashlib, json, sys, sluice
for file in sys.argv[1:]:
    result = sluice.load(file).run(seed=3)
    tables = {name: getattr(result, name).to_dict() for name in ("totals", "flows", "nodes", "queues")}
    print(hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest(), file)
"""


def build():
    """The wheel, in `dist`."""
    variables = {
        "CARGO_HOME": "/crates",
        "CARGO_TARGET_DIR": "/sluice/target/static/build",
        "HOME": "/tmp",
        "PATH": "/sluice/target/static/site/bin:/sluice/target/static/site/ziglang:/usr/bin:/bin",
        # The same as in static.py.
        "RUSTC_BOOTSTRAP": "1",
        "RUSTFLAGS": "--remap-path-prefix=/crates=crates",
        "XDG_CACHE_HOME": "/sluice/target/static/cache",
    }
    command = ["maturin", "build", "--locked", "--zig", "-Zbuild-std=std,panic_unwind", f"--target={TARGET}"]
    command += [f"--compatibility={GLIBC}", "--interpreter=python3.10", "--out=/sluice/dist"]
    exports = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    static.in_tree("; ".join([*exports, "cd /sluice/python", shlex.join(command)]))


def wheel(processor):
    """The newest wheel for a processor, unpacked below the target folder."""
    wheels = sorted(DIST.glob(f"*_{processor}.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit(f"wheel: there is none for {processor} in dist: `make wheel` first")
    folder = static.PLACE / f"wheel-{processor}"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheels[-1]) as content:
        content.extractall(folder)
    return folder


def emulated(folder):
    """The results of the wheel's runs in the emulator."""
    if not (ROOT / PYTHON).exists():
        line = f"deb {static.image.Packages.origin()} {static.RELEASE} main"
        options = ["--quiet", "--mode=root", "--variant=extract", "--architectures=arm64"]
        command = ["mmdebstrap", *options, f"--include={','.join(PACKAGES)}", static.RELEASE, ROOT, line]
        static.image.debian.patiently(command, makes=ROOT)
        # Otherwise a script of the package makes it.
        (ROOT / "lib").symlink_to("usr/lib")
    root, package = (pathlib.Path("/sluice") / path.relative_to(static.ROOT) for path in (ROOT, folder))
    command = ["qemu-aarch64", "-L", root, "-E", f"PYTHONPATH={package}", root / PYTHON, "-c", RUN, *SCENARIOS]
    return static.in_tree(f"cd /sluice; {shlex.join(map(str, command))}").stdout


def own(folder):
    """The results of the same runs on this machine."""
    command = [sys.executable, "-c", RUN, *SCENARIOS]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=static.ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    """Build and compare."""
    here = wheel(platform.machine())
    static.prepare()
    build()
    there, expected = emulated(wheel(PROCESSOR)), own(here)
    if there != expected:
        sys.exit(f"wheel: {PROCESSOR} has other results:\n{there}here:\n{expected}")
    print(f"{PROCESSOR} has the same results as {platform.machine()}:\n{there}", end="")


if __name__ == "__main__":
    main()
