#!/usr/bin/env python3
"""Builds static binaries for routers with musl, without BPF and without the simulator: static.py [PROCESSOR...].

Debian has no package of Rust's standard library for other processors, so it is compiled as well, in a tree of Debian's
packages with Rust and its sources. The tree is made once, in target/static. Zig, from PyPI, is the linker and has musl.
Ends with the size of each binary, and its version as it prints it in an emulator.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/live"))
import image  # pylint: disable=wrong-import-position

PLACE = ROOT / "target/static"
TREE, SITE = PLACE / "tree", PLACE / "site"
RELEASE = "trixie"
PACKAGES = ["cargo", "qemu-user", "rust-src", "rustc"]
TOOLS = ["ziglang==0.17.1", "cargo-zigbuild==0.24.0", "maturin==1.16.0"]
TARGETS = {
    "x86_64": "x86_64-unknown-linux-musl",
    "aarch64": "aarch64-unknown-linux-musl",
    "arm": "armv7-unknown-linux-musleabihf",
    "mips": "mips-unknown-linux-musl",
    "mipsel": "mipsel-unknown-linux-musl",
}
# Panics neither unwind nor print a backtrace, so the tables for both are left out.
FLAGS = [
    *("-C", "target-feature=+crt-static", "-C", "link-self-contained=no", "-C", "force-unwind-tables=no"),
    "--remap-path-prefix=/crates=crates",
]
LARGEST_BYTES = 3_000_000


def prepare():
    """The tree with Rust, and Zig with what builds by it."""
    if os.geteuid() != 0:
        sys.exit("static: the tree's files must belong to their owners: run it as root")
    if not shutil.which("mmdebstrap"):
        sys.exit("static: missing: sudo apt-get install mmdebstrap")
    PLACE.mkdir(parents=True, exist_ok=True)
    if not (TREE / "usr/bin/cargo").exists():
        origin = image.Packages.origin()
        lines = [f"deb {origin} {suite} main" for suite in (RELEASE, f"{RELEASE}-backports")]
        newest = f'--aptopt=APT::Default-Release "{RELEASE}-backports"'
        options = ["--quiet", "--mode=root", "--variant=apt", newest, f"--include={','.join(PACKAGES)}"]
        image.debian.patiently(["mmdebstrap", *options, RELEASE, TREE, *lines], makes=TREE)
    if not (SITE / "bin/maturin").exists():
        options = ["--quiet", "--no-deps", "--only-binary=:all:", "--root-user-action=ignore", "--target", SITE]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, *TOOLS], check=True)


def in_tree(command):
    """Runs a shell command in the tree, with the sources in /sluice; the mounts end with it."""
    crates = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    # Cargo in the tree trusts the same certificates as this machine.
    trusted = "etc/ssl/certs"
    shared = {ROOT: "sluice", crates: "crates", f"/{trusted}": trusted, "/dev": "dev", "/proc": "proc"}
    for folder in shared.values():
        (TREE / folder).mkdir(parents=True, exist_ok=True)
    mounts = [f"mount --rbind {shlex.quote(str(source))} {TREE / folder}" for source, folder in shared.items()]
    if pathlib.Path("/etc/resolv.conf").exists():
        shutil.copy("/etc/resolv.conf", TREE / "etc/resolv.conf")
    inside = shlex.join(["chroot", str(TREE), "sh", "-ec", command])
    script = " && ".join([*mounts, f"exec {inside}"])
    return subprocess.run(["unshare", "--mount", "sh", "-c", script], check=True, stdout=subprocess.PIPE, text=True)


def build(target):
    """The binary for a target."""
    variables = {
        "CARGO_HOME": "/crates",
        # Optimised for size: no computation here takes long, and code for MIPS is half as large again.
        "CARGO_PROFILE_SMALL_OPT_LEVEL": "z",
        "CARGO_TARGET_DIR": "/sluice/target/static/build",
        "CARGO_ZIGBUILD_ZIG_PATH": "/sluice/target/static/site/ziglang/zig",
        "PATH": "/sluice/target/static/site/bin:/usr/bin:/bin",
        # The standard library can be compiled by an unstable option only. What a program begins with is Zig's: Debian's
        # Rust has none for musl.
        "RUSTC_BOOTSTRAP": "1",
        "RUSTFLAGS": " ".join(FLAGS),
        "XDG_CACHE_HOME": "/sluice/target/static/cache",
    }
    command = ["cargo-zigbuild", "zigbuild", "-Zbuild-std=std,panic_abort", "--profile=small", "--locked", "-psluice-cli"]
    command += ["--no-default-features", f"--target={target}", "-Zbuild-std-features=optimize_for_size"]
    exports = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    in_tree("; ".join([*exports, "cd /sluice", shlex.join(command)]))
    return PLACE / "build" / target / "small/sluice"


def main():
    wanted = sys.argv[1:] or list(TARGETS)
    for unknown in set(wanted) - set(TARGETS):
        sys.exit(f"static: no processor {unknown}; there are {', '.join(TARGETS)}")
    prepare()
    for processor in wanted:
        built = build(TARGETS[processor])
        binary = PLACE / f"sluice-{processor}"
        shutil.copy(built, binary)
        inside = f"qemu-{processor} /sluice/target/static/{binary.name}"
        # QEMU's user mode has no netlink: commands that ask the kernel run only for this machine's processor.
        version = in_tree(f"{inside} --version && {inside} completions bash > /dev/null").stdout.strip()
        if processor == os.uname().machine:
            subprocess.run([binary, "doctor", "lo"], check=True, stdout=subprocess.DEVNULL)
        size = binary.stat().st_size
        print(f"{binary.relative_to(ROOT)}: {version}, {size / 1e6:.2f} MB")
        if size > LARGEST_BYTES:
            sys.exit(f"static: more than {LARGEST_BYTES / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
