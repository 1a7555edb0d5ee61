"""Makes the modules of a mac80211 whose airtime queue limits (AQL) work on simulated radios and show in debugfs.

Debian's mac80211 has AQL and no files for it (CONFIG_MAC80211_DEBUGFS), and the driver of simulated radios does not ask for
it. The kernel's own source is compiled with both. The driver says of no frame that it is one of 802.11ax: with `he=1` it
does so of those of 802.11ac. It forgets frames when 200 are on their way, which AQL's limits for forty stations exceed: here
2000. Nothing else changes. The modules are kept in target/guest-wifi.
"""

import hashlib
import pathlib
import shutil
import subprocess

import debian

# The two features of a driver that mac80211 needs for AQL and for weights, beside one that hwsim sets.
BESIDE = "\twiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_VHT_IBSS);\n"
FEATURES = "".join(f"\twiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_{name});\n" for name in ("AQL", "AIRTIME_FAIRNESS"))
# What the driver says of the frames that a radio receives.
FORMAT = "\t\trx_status.encoding = RX_ENC_VHT;\n"
OR_HE = "\t\trx_status.encoding = he ? RX_ENC_HE : RX_ENC_VHT;\n"
RADIOS = "static int radios = 2;\n"
# Frames that wait for their status; beyond, the driver says that the oldest are done.
WAITING = "#define MAX_QUEUE 200\n"
HE = "static bool he;\nmodule_param(he, bool, 0444);\n"
FOLDERS = ["net/mac80211", "net/wireless", "drivers/net/wireless/virtual"]
KBUILD = """obj-m += net/mac80211/
obj-m += mac80211_hwsim.o
mac80211_hwsim-y := drivers/net/wireless/virtual/mac80211_hwsim_main.o drivers/net/wireless/virtual/mac80211_hwsim_nan.o
"""
# cfg80211 stays Debian's: the one file that it lacks becomes a part of mac80211.
HELPERS = "mac80211-y += ../wireless/debugfs.o\n"
FLAGS = "-DCONFIG_MAC80211_DEBUGFS=1 -DCONFIG_CFG80211_DEBUGFS=1"
MODULES = ["net/mac80211/mac80211.ko", "mac80211_hwsim.ko"]


def build(place, packages, kernel, version):
    """The folder with the modules for this kernel of this version of Debian's packages, built once."""
    key = hashlib.sha256(pathlib.Path(__file__).read_bytes() + f"{kernel} {version}".encode()).hexdigest()
    done = place / "made-by"
    if done.exists() and done.read_text() == key:
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    print(f"Building mac80211 with AQL for the guest of the live tests, once: Linux {kernel}.", flush=True)
    tree = packages.folder / "builder"
    include = f"--include=binutils,make,xz-utils,linux-headers-{kernel}={version}"
    lines = (packages.folder / "sources.list").read_text().splitlines()
    options = ["--quiet", "--mode=root", "--variant=apt", '--aptopt=Acquire::Retries "5"', include]
    debian.patiently(["mmdebstrap", *options, lines[0].split()[-2], tree, *lines], makes=tree)
    source = f"linux-source-{'.'.join(kernel.split('.')[:2])}"
    packages.apt("download", f"{source}={version}")
    (file,) = (packages.folder / "files").glob(f"{source}_*.deb")
    subprocess.run(["dpkg-deb", "-x", file, tree], check=True)
    compile_in(tree, kernel, source)
    for module in MODULES:
        shutil.copy(tree / "wifi" / module, place)
    shutil.rmtree(tree)
    done.write_text(key)
    return place


def compile_in(tree, kernel, source):
    """Compiles the modules in a tree with Debian's compiler and headers of this kernel."""
    folder = tree / "wifi"
    folder.mkdir()
    unpack = ["tar", "-xJf", f"/usr/src/{source}.tar.xz", "-C", "/wifi", "--strip-components=1"]
    subprocess.run(["chroot", tree, *unpack, *(f"{source}/{name}" for name in FOLDERS)], check=True)
    driver = folder / "drivers/net/wireless/virtual/mac80211_hwsim_main.c"
    text = driver.read_text()
    changes = {BESIDE: BESIDE + FEATURES, FORMAT: OR_HE, RADIOS: HE + RADIOS, WAITING: WAITING.replace("200", "2000")}
    for old, new in changes.items():
        assert text.count(old) == 1, f"hwsim has no longer, or more than once: {old}"
        text = text.replace(old, new)
    driver.write_text(text)
    (folder / "Kbuild").write_text(KBUILD)
    with (folder / "net/mac80211/Makefile").open("a") as makefile:
        makefile.write(HELPERS)
    settings = ["CONFIG_MAC80211_DEBUGFS=y", "CONFIG_CFG80211_DEBUGFS=y", f"KCFLAGS={FLAGS}"]
    make = ["make", "-s", "-j2", "-C", f"/lib/modules/{kernel}/build", "M=/wifi", *settings, "modules"]
    # objtool reads /proc.
    inside = ["sh", "-c", 'mount --bind /proc "$0/proc" && exec chroot "$0" "$@"', tree, *make]
    subprocess.run(["unshare", "--mount", *inside], check=True, stdout=subprocess.DEVNULL)
    for module in MODULES:
        subprocess.run(["chroot", tree, "strip", "--strip-debug", f"/wifi/{module}"], check=True)
