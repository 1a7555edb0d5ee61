#!/usr/bin/env python3
"""Runs the tests of crate linux that need a kernel with queue disciplines in BPF, in the guest."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import guest
import image

# What the build needs besides the guest's tools; Debian's names.
PACKAGES = {"clang-19": "clang-19", "/usr/include/libelf.h": "libelf-dev", "/usr/include/zlib.h": "zlib1g-dev"}
# Tests whose name begins so count instructions; all others run in virtual time.
INSTRUCTIONS = "instructions::"


def main():
    have_compiler()
    image.build()
    with tempfile.TemporaryDirectory(prefix="live-", dir=image.PLACE) as share:
        share = pathlib.Path(share)
        shutil.copy(test_binary(), share / "tests")
        # The copy within the guest: its clock runs away while it reads files of the host.
        run = "cp /host/tests /tmp; cd /tmp; ./tests --ignored --nocapture --test-threads=1"
        statuses = [
            guest.run(f"{run} --skip {INSTRUCTIONS}", share, "virtual", 900),
            guest.run(f"{run} {INSTRUCTIONS}", share, "instructions", 900),
        ]
    if any(statuses):
        sys.exit(f"Live tests failed in the guest; its exit statuses: {statuses}.")


def have_compiler():
    """Installs what is missing where that is possible."""
    present = {name for name in PACKAGES if shutil.which(name) or pathlib.Path(name).exists()}
    missing = sorted(PACKAGES[name] for name in PACKAGES if name not in present)
    if missing:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL)


def test_binary():
    """Builds the tests; the path of those for the guest. Those that need none run here."""
    cargo = ["cargo", "test", "--locked", "-p", "linux", "--features", "bpf"]
    subprocess.run([*cargo, "--lib"], check=True, cwd=image.ROOT)
    build = [*cargo, "--test", "guest", "--no-run", "--message-format=json"]
    messages = subprocess.run(build, check=True, cwd=image.ROOT, stdout=subprocess.PIPE, text=True).stdout
    artifacts = [message for message in map(json.loads, messages.splitlines()) if message.get("executable")]
    return os.fspath(next(one["executable"] for one in artifacts if one["target"]["name"] == "guest"))


if __name__ == "__main__":
    main()
