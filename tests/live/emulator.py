"""QEMU for guests whose processors run at once.

Before 8.1 it may continue with a stale translation of code that another processor has just patched, as Linux does when
a static key is switched: about once an hour the guest then panics at a breakpoint that is no longer there (fixed by
QEMU's "accel/tcg: Always lock pages before translation"). If this machine's QEMU is older, a newer one from Debian is
unpacked once, in target/guest-qemu.
"""

import re
import shutil
import subprocess

import image

PROGRAM = "qemu-system-x86_64"
PLACE = image.ROOT / "target/guest-qemu"
OLDEST = (8, 1)


def command(at_once):
    """QEMU's command line without options; `at_once`: for processors that run at once."""
    said = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"version (\d+)\.(\d+)", said)
    if not at_once or tuple(map(int, version.groups())) >= OLDEST:
        return [PROGRAM]
    usr = PLACE / "usr"
    if not (usr / "bin" / PROGRAM).exists():
        unpack()
    # It needs the libraries of its own Debian release.
    loader = [usr / "lib64/ld-linux-x86-64.so.2", "--library-path", usr / "lib/x86_64-linux-gnu"]
    return [*loader, usr / "bin" / PROGRAM, "-L", usr / "share/qemu", "-L", usr / "share/seabios"]


def unpack():
    """Unpacks QEMU and what it depends on, without installing it."""
    line = f"deb {image.Packages.origin()} {image.RELEASE} main"
    options = ["--quiet", "--mode=root", "--variant=extract", '--aptopt=Acquire::Retries "5"', "--include=qemu-system-x86"]
    part = PLACE.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    image.debian.patiently(["mmdebstrap", *options, image.RELEASE, part, line], makes=part)
    shutil.rmtree(PLACE, ignore_errors=True)
    part.rename(PLACE)
