#!/usr/bin/env python3
"""Tests the Python package on its own, without a checkout: sdist.py [WHEEL].

In an environment outside of any checkout, a wheel is installed without any other package and writes the report of an
experiment; both together may use 60 s of processor time. If a wheel is named, this is all. Otherwise pip also builds a
wheel of the source distribution, which must have the same bytes as that of `make wheel`; then the wheel is installed
and runs the script of docs/python/compare.md. Only the names of the two wheels differ: pip's build does not check the C
library for the platform tag.
"""

import hashlib
import os
import pathlib
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
# Processor time, so that a busy machine changes no verdict.
MOST_SECONDS = 60
REPORT = """
import pathlib, sluice
sluice.reproduce("scenarios/adth/s1a.toml", quick=True).report("report.html")
assert "adth-s1a.1" in pathlib.Path("report.html").read_text(encoding="utf-8")
"""


def newest(pattern):
    """The file in `dist` that was written last."""
    files = sorted(DIST.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not files:
        sys.exit(f"sdist: no {pattern} in dist: `make wheel` first")
    return files[-1]


def contents(wheel):
    """The contents of a wheel by name, without its platform tags and the hash of the file that has them."""
    with zipfile.ZipFile(wheel) as file:
        sums = {name: hashlib.sha256(file.read(name)).hexdigest() for name in file.namelist()}
    return {name: value for name, value in sums.items() if not name.endswith((".dist-info/WHEEL", ".dist-info/RECORD"))}


class Environment:
    """A new virtual environment of Python in a folder, with the project's scenarios beside it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.python = self.folder / "venv/bin/python"
        self.run(sys.executable, "-m", "venv", "venv")
        shutil.copytree(ROOT / "scenarios", self.folder / "scenarios")

    def run(self, *words):
        """Runs a command there, without variables that this shell may have set for the checkout."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run([*map(str, words)], cwd=self.folder, env=environment, check=True)

    def pip(self, *words):
        """Runs pip there."""
        self.run(self.python, "-m", "pip", "--quiet", "--disable-pip-version-check", *words)


def first_report(wheel):
    """Installs a wheel and writes a report with it, within the time limit."""
    with tempfile.TemporaryDirectory(prefix="sluice-wheel-") as folder:
        new = Environment(folder)
        start, before = time.monotonic(), used()
        new.pip("install", "--no-index", wheel)
        new.run(new.python, "-c", REPORT)
        seconds = used() - before
    print(f"sdist: the first report took {seconds:.1f} s of processor time, {time.monotonic() - start:.1f} s in all")
    if seconds > MOST_SECONDS:
        sys.exit(f"sdist: the first report may take {MOST_SECONDS} s of processor time")


def used():
    """Processor time of all commands that have ended, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def rebuilt():
    """Builds a wheel of the source distribution, compares it and runs a script with it."""
    with tempfile.TemporaryDirectory(prefix="sluice-sdist-") as folder:
        new = Environment(folder)
        new.pip("wheel", "--no-deps", "--wheel-dir", "wheels", newest("*.tar.gz"))
        built = next((new.folder / "wheels").glob("*.whl"))
        ours, theirs = contents(newest(f"*_{platform.machine()}.whl")), contents(built)
        differing = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
        if differing:
            sys.exit(f"sdist: the wheel differs from that of `make wheel` in {', '.join(differing)}")
        new.pip("install", f"{built}[plot,store]")
        shutil.copy(ROOT / "docs/python/compare.py", new.folder)
        new.run(new.python, "compare.py")
    print("sdist: the wheel has the same bytes, and runs docs/python/compare.py")


def main():
    """Test the wheel that is named, or both."""
    if len(sys.argv) == 2:
        first_report(pathlib.Path(sys.argv[1]).resolve())
    else:
        first_report(newest(f"*_{platform.machine()}.whl"))
        rebuilt()


if __name__ == "__main__":
    main()
