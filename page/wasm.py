#!/usr/bin/env python3
"""Compiles crate page to WebAssembly: wasm.py OUT.wasm.

With rustup's target where it is installed (rustup target add wasm32-unknown-unknown). Elsewhere, on Debian as root, with
the compiler of Debian's next release in a folder of its own, target/wasm-debian (1.3 GB): nothing is installed into the
system, and what is mounted there is gone when this ends, however it ends.
"""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import debian  # noqa: E402

TARGET = "wasm32-unknown-unknown"
BUILD = ["cargo", "build", "--locked", "-p", "sluice-page", "--profile", "page", "--target", TARGET, "--target-dir", "target/wasm"]
# Vector instructions, which every browser has had since 2023: structures are copied sixteen bytes at a time.
FLAGS = ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-Ctarget-feature=+simd128")
BUILT = ROOT / f"target/wasm/{TARGET}/page/page.wasm"
TREE = ROOT / "target/wasm-debian"
PACKAGES = "rustc,cargo,libstd-rust-dev-wasm32,lld,ca-certificates"


def has_target():
    """Tells whether the usual compiler has the standard library for the target."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    return (pathlib.Path(sysroot) / "lib/rustlib" / TARGET).is_dir()


def in_debian():
    """Compiles with Debian's compiler."""
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        sys.exit(f"missing: rustup target add {TARGET}; or, on Debian, root and mmdebstrap")
    if not (TREE / "usr/bin/cargo").exists():
        print("Fetching a compiler with WebAssembly's standard library, once.", flush=True)
        # An archive's copy may be older than its files say they are valid.
        options = ['--aptopt=Acquire::Check-Valid-Until "false"', '--aptopt=Acquire::Retries "5"']
        debian.patiently(["mmdebstrap", "--quiet", "--variant=minbase", *options, f"--include={PACKAGES}", "sid", TREE], makes=TREE)
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    # Sources first by the usual cargo, which knows this machine's registries.
    subprocess.run(["cargo", "fetch", "--locked", "--target", TARGET], cwd=ROOT, check=True)
    inside = TREE / "checkout"
    for folder in (inside, TREE / "cargo"):
        folder.mkdir(exist_ok=True)
    words = " ".join(["CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld", "=".join(FLAGS), *BUILD, "--offline"])
    script = (
        f'mount --bind "{ROOT}" "{inside}" && mount --bind "{home}" "{TREE}/cargo" && mount -t proc proc "{TREE}/proc" && '
        f'exec chroot "{TREE}" env -i HOME=/root CARGO_HOME=/cargo PATH=/usr/bin:/bin sh -c "cd /checkout && {words}"'
    )
    subprocess.run(["unshare", "--mount", "sh", "-ec", script], check=True)


def main():
    if has_target():
        subprocess.run(BUILD, cwd=ROOT, check=True, env=os.environ | dict([FLAGS]))
    else:
        in_debian()
    out = pathlib.Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(BUILT, out)
    print(f"page: {out}, {out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
