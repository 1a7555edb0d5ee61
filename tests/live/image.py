#!/usr/bin/env python3
"""Makes the guest of the live tests from Debian's packages, in target/guest, once for each state of these sources."""

import hashlib
import lzma
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import debian  # noqa: E402
import wifi  # noqa: E402

PLACE = ROOT / "target/guest"
# The guest's files while the image is made.
TREE = PLACE / "tree"
SOURCES = [HERE / "guest/init", HERE / "wifi.py", pathlib.Path(__file__).resolve()]

RELEASE = "trixie"
# The suite lists newer ones as time goes: a kernel stays until it is replaced here, on purpose. The second is the first
# series of Debian's with queue disciplines in BPF: its 6.16 was built without them.
KERNEL, OLDEST = "7.2.12+deb13-amd64", "6.17.8+deb13-amd64"
# Of each kernel, its packages and their version.
KERNELS = {
    KERNEL: (["linux-base-", "linux-binary-", "linux-modules-"], "7.2.12-1~bpo13+1"),
    OLDEST: (["linux-image-"], "6.17.8-1~bpo13+1"),
}
USERLAND = ["ethtool", "hostapd", "iperf3", "iproute2", "iputils-ping", "iw", "kmod", "mount", "procps", "wireless-regdb"]
# Where the guest has mac80211 and simulated radios with AQL.
AQL = "usr/lib/aql"
# Loaded by the tests, with what they depend on.
MODULES = [
    *("9p", "9pnet_virtio"),
    *("dummy", "ifb", "slip", "tun", "veth", "mac80211_hwsim", "ccm", "cmac", "ctr", "gcm", "tcp_diag"),
    *("8021q", "ip6_tunnel", "ipip", "ppp_generic", "pppoe"),
    *("sch_cake", "sch_codel", "sch_fq", "sch_fq_codel", "sch_htb", "sch_netem", "sch_prio", "sch_tbf"),
]
# What no test needs of the tree, by the beginning of its path.
LEFT_OUT = ("boot/", "usr/include/", "usr/share/", "var/cache/", "var/lib/apt/", "var/lib/dpkg/")


def build(kernels=(KERNEL,), aql=True):
    """Make the guest with these kernels, unless the one that is there has them and was made by these very sources.

    `aql`: with mac80211 and simulated radios that have AQL, whose compilation takes minutes."""
    wanted = [*kernels, *([AQL] if aql else [])]
    key = hashlib.sha256(b"".join(source.read_bytes() for source in SOURCES)).hexdigest()
    made_by = PLACE / "made-by"
    if platform.machine() != "x86_64":
        raise debian.Impossible(f"the guest's kernel is for x86_64, this machine is {platform.machine()}")
    debian.have("guest")
    made = made_by.read_text().split() if made_by.exists() else []
    made = made[1:] if made[:1] == [key] else []
    if set(wanted) <= set(made):
        return
    wanted = list(dict.fromkeys([*made, *wanted]))
    kernels = [kernel for kernel in wanted if kernel != AQL]
    if os.geteuid() != 0:
        raise debian.Impossible("the guest's files need their owners: run it as root once, the guest is kept then")
    Packages.origin()
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    print(f"Building the guest of the live tests, once: Linux {' and '.join(kernels)}.", flush=True)
    packages = Packages(PLACE / "packages")
    userland(packages)
    for kernel in kernels:
        unpacked = packages.kernel(kernel)
        (image,) = unpacked.glob("**/vmlinuz*")
        shutil.copy(image, PLACE / f"vmlinuz-{kernel}")
        modules(unpacked / "usr", kernel)
        if kernel == KERNEL and AQL in wanted:
            # Not among the modules of the kernel: a test loads them by name.
            shutil.copytree(wifi.build(ROOT / "target/guest-wifi", packages, kernel, KERNELS[kernel][1]), TREE / AQL)
        archive(kernel)
        shutil.rmtree(unpacked)
    shutil.rmtree(packages.folder)
    shutil.rmtree(TREE)
    made_by.write_text(" ".join([key, *wanted]))


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
        keys = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
        for source in sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*.sources")):
            text = source.read_text()
            found = re.search(r"^URIs:\s*(\S+)", text, re.MULTILINE)
            if found and "debian" in text and keys.exists():
                return f"[signed-by={keys}] {found[1]}"
        raise debian.Impossible("no mirror of Debian in this machine's apt configuration (a file .sources with URIs:)")

    def apt(self, *arguments):
        options = {
            "Dir::Etc::sourcelist": self.folder / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::State::Lists": self.folder / "lists",
            "Dir::Cache": self.folder / "cache",
            "APT::Sandbox::User": "root",
        }
        given = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        debian.patiently(["apt-get", "-qq", *debian.RETRIES, *given, *arguments], cwd=self.folder / "files")

    def kernel(self, kernel):
        """Downloads and unpacks a kernel; the folder where it is."""
        parts, version = KERNELS[kernel]
        self.apt("download", *(f"{part}{kernel}={version}" for part in parts))
        for part in parts:
            (file,) = (self.folder / "files").glob(f"{part}{kernel}_*.deb")
            subprocess.run(["dpkg-deb", "-x", file, self.folder / "unpacked"], check=True)
        return self.folder / "unpacked"


def userland(packages):
    """The guest's tree."""
    include = f"--include={','.join(USERLAND)}"
    line = f"deb {packages.origin()} {RELEASE} main"
    options = ["--quiet", "--mode=root", "--variant=apt", '--aptopt=Acquire::Retries "5"', include]
    debian.patiently(["mmdebstrap", *options, RELEASE, TREE, line], makes=TREE)
    shutil.copy(HERE / "guest/init", TREE / "init")
    (TREE / "init").chmod(0o755)


def modules(unpacked, kernel):
    """The modules of a kernel, uncompressed: to decompress them is slow in the guest."""
    subprocess.run(["depmod", "-b", unpacked, kernel], check=True)
    target = TREE / "usr/lib/modules" / kernel
    target.mkdir(parents=True)
    source = unpacked / "lib/modules" / kernel
    for file in source.glob("modules.*"):
        shutil.copy(file, target)
    for file in dependencies(unpacked, kernel, MODULES):
        uncompressed = target / file.relative_to(source).with_suffix("")
        uncompressed.parent.mkdir(parents=True, exist_ok=True)
        uncompressed.write_bytes(lzma.decompress(file.read_bytes()))
    subprocess.run(["depmod", "-b", TREE / "usr", kernel], check=True)


def dependencies(base, kernel, names):
    """The files of modules and of what they depend on, in an order in which they can be loaded."""
    command = ["modprobe", "-d", base, "-S", kernel, "--show-depends", "-a", *names]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    files = [pathlib.Path(line.split()[1]) for line in shown.splitlines() if line.startswith("insmod ")]
    return list(dict.fromkeys(files))


def archive(kernel):
    """The memory file system of a guest with this kernel: the tree, with the modules of no other."""
    others = tuple(f"usr/lib/modules/{other}" for other in KERNELS if other != kernel)
    paths = (str(path.relative_to(TREE)) for path in sorted(TREE.rglob("*")))
    names = "\n".join(path for path in paths if not path.startswith(LEFT_OUT + others))
    # Not compressed: to decompress it is slow in the guest.
    with (PLACE / f"tree-{kernel}.cpio").open("wb") as file:
        command = ["cpio", "-o", "-H", "newc", "--quiet"]
        subprocess.run(command, cwd=TREE, input=names.encode(), stdout=file, check=True)


if __name__ == "__main__":
    build(aql=False)
