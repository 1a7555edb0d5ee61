"""Install Debian's packages that tests need: debian.py [--try] GROUP...

Without the right to install it prints how to, and ends with status 1, or 0 with --try.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

# For each group: a file, or programs of which one is enough, and the packages that have it.
GROUPS = {
    # Any of these compilers suits the queueing discipline in BPF; clang-19 is installed if there is none.
    "bpf": {
        "clang-19 clang-20 clang-18 clang-16": "clang-19",
        "/usr/include/libelf.h": "libelf-dev",
        "/usr/include/zlib.h": "zlib1g-dev",
    },
    "browser": {"chromium chromium-browser google-chrome": "chromium fonts-dejavu-core"},
    "firefox": {"firefox-esr firefox": "firefox-esr"},
    "webkit": {"WebKitWebDriver": "webkit2gtk-driver", "Xvfb": "xvfb"},
    "capture": {"tshark": "tshark"},
    "emulation": {"ping": "iputils-ping", "iperf3": "iperf3", "curl": "curl", "ip": "iproute2", "unshare": "util-linux"},
    "guest": {"qemu-system-x86_64": "qemu-system-x86", "mmdebstrap": "mmdebstrap", "cpio": "cpio", "depmod": "kmod"},
    # User-mode Linux: tests/live/uml.py.
    "kernel": {
        "/usr/src/linux-source-6.12.tar.xz": "linux-source-6.12",
        "/usr/include/libelf.h": "libelf-dev",
        "/usr/include/openssl/ssl.h": "libssl-dev",
        "bison": "bison",
        "flex": "flex",
        "bc": "bc",
        "/usr/sbin/hostapd": "hostapd",
        "/usr/sbin/iw /sbin/iw": "iw",
        "/usr/sbin/wpa_supplicant /sbin/wpa_supplicant": "wpasupplicant",
    },
    "valgrind": {"valgrind": "valgrind"},
}
RETRIES = ["-o", "Acquire::Retries=5"]
# Another stage of the same tests may install at the same time.
LOCK = ["-o", "DPkg::Lock::Timeout=600"]


class Impossible(Exception):
    """Packages are missing and cannot be installed here; says how they would be."""


def missing(*groups):
    """The packages of these groups that are not installed."""
    tools = {tools: package for group in groups for tools, package in GROUPS[group].items()}
    packages = [packages.split() for tools, packages in tools.items() if not any(map(present, tools.split()))]
    return sorted(sum(packages, []))


def have(*groups):
    """Install what is missing of these groups."""
    absent = missing(*groups)
    if not absent:
        return
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *RETRIES, *LOCK, *absent]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Impossible(f"packages are missing here; on Debian: sudo apt-get install {' '.join(absent)}")
    patiently(["apt-get", "update", "-qq", *RETRIES, *LOCK])
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    unknown = [package for package in absent if subprocess.run(["apt-cache", "show", package], check=False, **quiet).returncode]
    if unknown:
        raise Impossible(f"this machine's release has no package {' '.join(unknown)}")
    patiently(install, stdout=subprocess.DEVNULL, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})


def present(tool):
    """Whether this program or file is here."""
    return os.path.exists(tool) if tool.startswith("/") else shutil.which(tool) is not None


def patiently(command, makes=None, **options):
    """Run a command that downloads up to three times; delete what a failed attempt `makes`.

    What it mounts there ends with it: it may fail to unmount, and who deletes the tree would delete in what is mounted."""
    command = [*(["unshare", "--mount"] if makes else []), *command]
    for pause in (10, 30, None):
        if makes:
            shutil.rmtree(pathlib.Path(makes), ignore_errors=True)
        ended = subprocess.run(command, check=False, **options).returncode
        if ended == 0:
            return
        if pause is None:
            sys.exit(f"After three attempts: {' '.join(map(str, command))} ends with status {ended}.")
        print(f"{command[0]} failed with status {ended}; once more in {pause} s.", flush=True)
        time.sleep(pause)


def main():
    groups = [word for word in sys.argv[1:] if word != "--try"]
    try:
        have(*groups)
    except Impossible as why:
        print(f"{', '.join(groups)}: {why}", file=sys.stderr)
        sys.exit("--try" not in sys.argv)


if __name__ == "__main__":
    main()
