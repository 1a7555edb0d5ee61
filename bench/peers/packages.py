"""Debian's packages, their sources, and what stands for the content of files."""

import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/live"))

import image  # noqa: E402


def install(packages):
    """Install Debian's packages whose file is missing, where we may; leave with a hint elsewhere."""
    missing = [package for package, file in packages if not pathlib.Path(file).exists()]
    if not missing:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(f"Debian's {' and '.join(missing)} are missing. Install them with: sudo {' '.join(command)}")
    subprocess.run(["apt-get", "update", "-qq"], check=True, stdout=sys.stderr)
    subprocess.run(command, check=True, stdout=sys.stderr)


def wheel(requirement, folder):
    """Unpack a Python package for CPython 3.11 on Linux into `folder`, where it is missing; it is not imported."""
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary=:all:", "--python-version", "3.11",
               "--platform", "manylinux_2_28_x86_64", "--target", str(folder), requirement]
        print(f"downloading {requirement}", file=sys.stderr)
        subprocess.run(pip, check=True, stdout=sys.stderr)
    return folder


def make(command, folder):
    """Run a step of a build, quietly unless it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} (in {folder}) failed:\n{(done.stdout + done.stderr)[-3000:]}")


def source(package, folder, *options):
    """Download a source package into `folder`."""
    (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text(f"deb-src {image.Packages.origin()} bookworm main\n")
    apt = ["apt-get", "-qq", "-o", f"Dir::State::lists={folder}/lists",
           "-o", f"Dir::Etc::sourcelist={folder}/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache="]
    if os.geteuid() == 0:
        apt += ["-o", "APT::Sandbox::User=root"]
    print(f"downloading Debian's source package {package}", file=sys.stderr)
    make([*apt, "update"], folder)
    make([*apt, "source", *options, package], folder)


def digest(files, text=""):
    """What stands for the content of files and a text."""
    whole = hashlib.sha256(text.encode())
    for file in files:
        whole.update(content(file))
    return whole.hexdigest()[:32]


@functools.cache
def content(file):
    """Digest of a file that does not change while this runs."""
    return hashlib.sha256(file.read_bytes()).digest()
