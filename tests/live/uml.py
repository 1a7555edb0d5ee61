"""User-mode Linux with mac80211 and its simulated radios, at virtual time.

Built once from Debian's `linux-source` and kept in target/uml: the kernel as a program, and the modules, with the driver as
card.py changes it. It runs on the host's own files, as root. With `time-travel=inf-cpu` an instruction takes no time and
waiting is skipped: results depend on nothing outside.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import card  # noqa: E402
import debian  # noqa: E402

PLACE = HERE.parent.parent / "target/uml"
SERIES = "6.12"
# The clock at boot, in nanoseconds since 1970.
START = 1_750_000_000_000_000_000
MODULES = ["cfg80211.ko", "libarc4.ko", "mac80211.ko", "mac80211_hwsim.ko", "sch_netem.ko"]
DRIVER = "drivers/net/wireless/virtual/mac80211_hwsim.c"
# Bytes of a processor's registers that a thread has, AMX's among them: those of newer processors did not fit.
REGISTERS = ("arch/x86/um/user-offsets.c", "HOST_FP_SIZE, 2696", "HOST_FP_SIZE, 12288")
# What the kernel's random numbers begin with is the host's: here always the same.
RANDOM = "arch/um/os-Linux/util.c"
OF_HOST = "\treturn getrandom(buf, len, flags);\n"
OWN = """	static unsigned long long state = 0x9e3779b97f4a7c15ULL;
	unsigned char *to = buf;
	size_t i;

	for (i = 0; i < len; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		to[i] = state;
	}
	return len;
"""


def build():
    """The folder with the kernel and its modules."""
    key = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in ("card.py", "uml.config", "uml.py"))).hexdigest()
    done = PLACE / "made-by"
    if done.exists() and done.read_text() == key:
        return PLACE
    missing = debian.missing("kernel")
    archive = pathlib.Path(f"/usr/src/linux-source-{SERIES}.tar.xz")
    if missing:
        sys.exit(f"User-mode Linux needs: apt-get install {' '.join(missing)}")
    print(f"Building user-mode Linux {SERIES}, once: four minutes of a processor.", flush=True)
    tree, out = PLACE / "source", PLACE / "out"
    shutil.rmtree(PLACE, ignore_errors=True)
    out.mkdir(parents=True)
    tree.mkdir()
    subprocess.run(["tar", "-xJf", archive, "-C", tree, "--strip-components=1"], check=True)
    (tree / DRIVER).write_text(card.changed((tree / DRIVER).read_text()))
    for file, old, new in (REGISTERS, (RANDOM, OF_HOST, OWN)):
        text = (tree / file).read_text()
        assert text.count(old) == 1, f"{file} of user-mode Linux no longer has: {old}"
        (tree / file).write_text(text.replace(old, new))
    shutil.copy(HERE / "uml.config", out / ".config")
    make = ["make", "-s", "-C", tree, "ARCH=um", f"O={out}"]
    subprocess.run([*make, "olddefconfig"], check=True)
    subprocess.run([*make, f"-j{os.cpu_count()}", "linux", "modules"], check=True)
    for found in [out / "linux", *(next(out.rglob(name)) for name in MODULES)]:
        shutil.copy(found, PLACE)
    subprocess.run(["strip", "--strip-debug", *(PLACE / name for name in MODULES)], check=True)
    shutil.rmtree(tree)
    shutil.rmtree(out)
    done.write_text(key)
    return PLACE


def run(place, init, environment, console, memory="768M", seconds=1800):
    """Runs `init` as the first process, until it powers off. Returns the last lines of its console, which goes to a file."""
    words = [f"{name}={value}" for name, value in environment.items()]
    line = [place / "linux", f"mem={memory}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", f"init={init}",
            "con=null", "con0=null,fd:1", "quiet", "norandmaps", "time-travel=inf-cpu", f"time-travel-start={START}", "PYTHONHASHSEED=0", *words]  # fmt: skip
    with open(console, "w") as out:
        subprocess.run(["timeout", "-k", "5", str(seconds), *line], stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False)
    return "\n".join(pathlib.Path(console).read_text(errors="replace").splitlines()[-20:])
