#!/usr/bin/env python3
"""Tries the Python package's source distribution, as someone does who has nothing else: sdist.py.

In a folder outside of any checkout, pip builds a wheel of it, which must have the same bytes as that of `make wheel`; then
the wheel is installed and runs the script of docs/python/compare.md. Only the names of both differ: pip's build does not look
which C libraries the wheel is for.
"""

import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"


def newest(pattern):
    """The file in `dist` that was written last."""
    files = sorted(DIST.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not files:
        sys.exit(f"sdist: no {pattern} in dist: `make wheel` first")
    return files[-1]


def contents(wheel):
    """What is in a wheel, by name; without the names of its platforms and the sum of the file that holds them."""
    with zipfile.ZipFile(wheel) as file:
        sums = {name: hashlib.sha256(file.read(name)).hexdigest() for name in file.namelist()}
    return {name: value for name, value in sums.items() if not name.endswith((".dist-info/WHEEL", ".dist-info/RECORD"))}


def main():
    """Build, compare and run."""
    with tempfile.TemporaryDirectory(prefix="sluice-sdist-") as folder:
        folder = pathlib.Path(folder)
        # Without what this shell may have set for the checkout.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        run = lambda *words: subprocess.run([*map(str, words)], cwd=folder, env=environment, check=True)
        run(sys.executable, "-m", "venv", "venv")
        python = folder / "venv/bin/python"
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        run(*pip, "wheel", "--no-deps", "--wheel-dir", "wheels", newest("*.tar.gz"))
        built = next((folder / "wheels").glob("*.whl"))
        ours, theirs = contents(newest(f"*_{platform.machine()}.whl")), contents(built)
        differing = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
        if differing:
            sys.exit(f"sdist: the wheel differs from that of `make wheel` in {', '.join(differing)}")
        run(*pip, "install", f"{built}[plot,store]")
        shutil.copytree(ROOT / "scenarios", folder / "scenarios")
        shutil.copy(ROOT / "docs/python/compare.py", folder)
        run(python, "compare.py")
    print("sdist: the wheel has the same bytes, and runs docs/python/compare.py")


if __name__ == "__main__":
    main()
