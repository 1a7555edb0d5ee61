#!/usr/bin/env python3
"""Makes the guest of the live tests from Debian's packages, in target/guest, once for each state of these sources."""

import gzip
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLACE = ROOT / "target/guest"
SOURCES = [HERE / "guest/init", HERE / "guest/second", pathlib.Path(__file__).resolve()]

# What the host needs; Debian's names.
HOST = {
    "qemu-system-x86_64": "qemu-system-x86",
    "mmdebstrap": "mmdebstrap",
    "busybox": "busybox-static",
    "cpio": "cpio",
    "depmod": "kmod",
}
RELEASE = "trixie"
KERNEL = "7.2.12+deb13-amd64"
# The suite lists newer ones as time goes: an older kernel stays until it is replaced here, on purpose.
KERNEL_VERSION = "7.2.12-1~bpo13+1"
USERLAND = ["ethtool", "iperf3", "iproute2", "iputils-ping", "iw", "kmod", "mount", "procps", "wireless-regdb"]
# Loaded by the tests, with what they depend on.
MODULES = [
    *("9p", "9pnet_virtio", "overlay"),
    *("dummy", "ifb", "slip", "tun", "veth", "mac80211_hwsim", "ccm", "cmac", "ctr", "gcm"),
    *("sch_cake", "sch_codel", "sch_fq", "sch_fq_codel", "sch_htb", "sch_netem", "sch_prio", "sch_tbf"),
]
FIRST_MODULES = ["9pnet_virtio", "9p", "overlay"]


def build():
    """Makes the guest, unless the one that is there was made by these very sources."""
    key = hashlib.sha256(b"".join(source.read_bytes() for source in SOURCES)).hexdigest()
    made_by = PLACE / "made-by"
    if made_by.exists() and made_by.read_text() == key:
        return
    if os.geteuid() != 0:
        sys.exit("The guest's files need their owners: build it as root.")
    have_on_host()
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    print("Building the guest of the live tests, once.", flush=True)
    packages = Packages(PLACE / "packages")
    kernel = packages.kernel()
    shutil.copy(kernel / "vmlinuz", PLACE / "vmlinuz")
    userland(packages)
    modules(packages)
    first_stage()
    shutil.rmtree(packages.folder)
    made_by.write_text(key)


def have_on_host():
    """Installs what is missing where that is possible."""
    missing = sorted({package for tool, package in HOST.items() if not shutil.which(tool)})
    if missing:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL)


class Packages:
    """Packages of the guest's release, from the mirror that this machine uses, without touching its own lists."""

    def __init__(self, folder):
        self.folder = folder
        for part in ("lists/partial", "cache/archives/partial", "files", "unpacked"):
            (folder / part).mkdir(parents=True)
        lines = [f"deb {self.origin()} {suite} main\n" for suite in (RELEASE, f"{RELEASE}-backports")]
        (folder / "sources.list").write_text("".join(lines))
        self.apt("update")

    @staticmethod
    def origin():
        """Keyring and mirror as in a line of sources.list."""
        for source in sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*.sources")):
            if found := re.search(r"^URIs:\s*(\S+)", source.read_text(), re.MULTILINE):
                return f"[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {found[1]}"
        sys.exit("No mirror of Debian in this machine's apt configuration (a file .sources with URIs:).")

    def apt(self, *arguments):
        options = {
            "Dir::Etc::sourcelist": self.folder / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::State::Lists": self.folder / "lists",
            "Dir::Cache": self.folder / "cache",
            "APT::Sandbox::User": "root",
        }
        given = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        subprocess.run(["apt-get", "-qq", *given, *arguments], check=True, cwd=self.folder / "files")

    def kernel(self):
        """Downloads and unpacks the kernel; the folder of its modules, where its image is as well."""
        names = [f"linux-{part}-{KERNEL}" for part in ("base", "binary", "modules")]
        self.apt("download", *(f"{name}={KERNEL_VERSION}" for name in names))
        for name in names:
            (file,) = (self.folder / "files").glob(f"{name}_*.deb")
            subprocess.run(["dpkg-deb", "-x", file, self.folder / "unpacked"], check=True)
        return self.folder / "unpacked/usr/lib/modules" / KERNEL


def userland(packages):
    """The guest's tree, shared with it read-only."""
    include = f"--include={','.join(USERLAND)}"
    line = f"deb {packages.origin()} {RELEASE} main"
    command = ["mmdebstrap", "--quiet", "--mode=root", "--variant=apt", include, RELEASE, PLACE / "tree", line]
    subprocess.run(command, check=True)
    shutil.copy(HERE / "guest/second", PLACE / "tree/second")
    (PLACE / "tree/second").chmod(0o755)


def modules(packages):
    """The modules, uncompressed: to decompress them is slow in the guest."""
    unpacked = packages.folder / "unpacked/usr"
    subprocess.run(["depmod", "-b", unpacked, KERNEL], check=True)
    target = PLACE / "tree/usr/lib/modules" / KERNEL
    target.mkdir(parents=True)
    source = unpacked / "lib/modules" / KERNEL
    for file in source.glob("modules.*"):
        shutil.copy(file, target)
    for file in dependencies(unpacked, MODULES):
        uncompressed = target / file.relative_to(source).with_suffix("")
        uncompressed.parent.mkdir(parents=True, exist_ok=True)
        uncompressed.write_bytes(lzma.decompress(file.read_bytes()))
    subprocess.run(["depmod", "-b", PLACE / "tree/usr", KERNEL], check=True)


def dependencies(base, names):
    """The files of modules and of what they depend on, in an order in which they can be loaded."""
    files = []
    for name in names:
        command = ["modprobe", "-d", base, "-S", KERNEL, "--show-depends", name]
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        files += [pathlib.Path(line.split()[1]) for line in shown.splitlines() if line.startswith("insmod ")]
    return list(dict.fromkeys(files))


def first_stage():
    """The initial memory file system: what it takes to mount the tree."""
    stage = PLACE / "first"
    for folder in ("bin", "dev", "layer", "modules", "proc", "root", "sys", "tree"):
        (stage / folder).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), stage / "bin/busybox")
    for number, file in enumerate(dependencies(PLACE / "tree/usr", FIRST_MODULES)):
        shutil.copy(file, stage / f"modules/{number:02}-{file.name}")
    shutil.copy(HERE / "guest/init", stage / "init")
    (stage / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(stage)) for path in sorted(stage.rglob("*")))
    archive = subprocess.run(
        ["cpio", "-o", "-H", "newc", "--quiet"], cwd=stage, input=names.encode(), check=True, capture_output=True
    ).stdout
    (PLACE / "first.cpio.gz").write_bytes(gzip.compress(archive, compresslevel=1))


if __name__ == "__main__":
    build()
