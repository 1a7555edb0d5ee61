#!/usr/bin/env python3
"""Runs a shell command in a small Linux guest, on a kernel with queue disciplines in BPF; see image.py.

Output and exit status are the command's. The folder where this is called is /host in the guest. Clocks:

    virtual        an instruction takes 2 ns, waiting takes no time: results do not depend on the host's load (default)
    instructions   an instruction takes 1 ns: the guest's clock counts executed instructions
    two            as virtual, with two processors, which take turns
    host           the host's time, two processors that run at once; needs a newer QEMU, see emulator.py

The guest's own files are in memory. In virtual time measure nothing that uses /host: while the guest waits for a file
of the host, its clock runs ahead.
"""

import argparse
import fcntl
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

import emulator
import image

# Checks of memory that Debian's kernels have and do not switch on: accesses beyond an object or after it was freed, by
# sampling (KFENCE, an allocation each millisecond), and of every packet, by what stands around and in it (SLUB).
CHECKS = "kfence.sample_interval=1 slab_debug=FZP,skbuff_head_cache,skbuff_small_head"

# The console of the last guest that ended without a status.
CONSOLE = image.ROOT / "target/guest-console"

# Exit codes: of a command that exceeded its time limit, and of a guest that ended without a status.
LATE, DEAD = 124, 125

CLOCKS = {
    "virtual": ["-accel", "tcg,thread=single", "-smp", "1", "-icount", "shift=1,sleep=off",
                "-rtc", "clock=vm,base=2026-01-01"],
    "two": ["-accel", "tcg,thread=single", "-smp", "2", "-icount", "shift=1,sleep=off",
            "-rtc", "clock=vm,base=2026-01-01"],
    "instructions": ["-accel", "tcg,thread=single", "-smp", "1", "-icount", "shift=0"],
    "host": ["-accel", "tcg,thread=multi,tb-size=512", "-smp", "2"],
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clock", choices=CLOCKS, default="virtual")
    parser.add_argument("--kernel", choices=image.KERNELS, default=image.KERNEL)
    parser.add_argument("--checks", action="store_true", help="the kernel's own checks of memory")
    parser.add_argument("--seconds", type=int, default=300, help="time limit on the host's clock")
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    try:
        image.build([args.kernel])
    except image.debian.Impossible as why:
        sys.exit(f"No guest: {why}")
    line = CHECKS if args.checks else ""
    sys.exit(run(" ".join(args.command), pathlib.Path.cwd(), args.clock, args.seconds, args.kernel, line=line))


def run(command, share, clock="virtual", seconds=300, kernel=image.KERNEL, out=sys.stdout, line=""):
    """Runs a shell command in the guest, where `share` is /host, with its output to the file `out`.

    `line` is for the kernel, such as CHECKS.

    Returns its exit status, or LATE or DEAD.
    """
    with tempfile.TemporaryDirectory(prefix=".guest-", dir=share) as talk:
        talk = pathlib.Path(talk)
        (talk / "command").write_text(command + "\n")
        # A port on standard output whose input is at its end would block the guest: it writes to a descriptor.
        descriptor = writable(out)
        os.set_inheritable(descriptor, True)
        qemu = ["timeout", "--foreground", "-k", "5", str(seconds), *machine(talk, share, clock, descriptor, kernel, line)]
        ended = subprocess.run(qemu, stdin=subprocess.DEVNULL, pass_fds=[descriptor], check=False).returncode
        os.close(descriptor)
        status = talk / "status"
        if status.exists() and status.read_text().strip():
            return int(status.read_text())
        if ended in (124, 137):
            return LATE
        console = (talk / "console").read_text(errors="replace").splitlines()
        shutil.copy(talk / "console", CONSOLE)
        # From where the kernel's first complaint may begin: two processors' complaints are long.
        faults = [at for at, line in enumerate(console) if re.search(r"Oops|BUG:|WARNING:", line)]
        first = max(0, min([len(console) - 40, *faults]) - 3)
        last = [f"The guest ended without a status. The last of its console, which is whole in {CONSOLE}:", *console[first:]]
        print(*last, sep="\n", file=out, flush=True)
        return DEAD


def writable(out):
    """A descriptor of a file that can only be written, as QEMU requires; a terminal's can also be read."""
    mode = fcntl.fcntl(out.fileno(), fcntl.F_GETFL) & os.O_ACCMODE
    if mode == os.O_WRONLY or stat.S_ISSOCK(os.fstat(out.fileno()).st_mode):
        return os.dup(out.fileno())
    return os.open(f"/dev/fd/{out.fileno()}", os.O_WRONLY | os.O_APPEND)


def machine(talk, share, clock, descriptor, kernel, line):
    """QEMU's command line. At fixed addresses (`norandmaps`) its translations are used again when a program runs
    again."""
    whole = (
        "console=ttyS0 panic=-1 loglevel=4 nokaslr mitigations=off random.trust_cpu=on no_timer_check tsc=reliable "
        f"audit=0 lsm= norandmaps talk={talk.name} {line}"
    )
    return [
        *emulator.command(at_once="thread=multi" in CLOCKS[clock][1]),
        "-M", "q35,hpet=off", "-cpu", "max", "-m", "1024", *CLOCKS[clock],
        "-display", "none", "-nodefaults", "-no-reboot", "-no-user-config",
        "-kernel", image.PLACE / f"vmlinuz-{kernel}", "-initrd", image.PLACE / f"tree-{kernel}.cpio",
        "-append", whole,
        "-serial", f"file:{talk / 'console'}",
        "-device", "virtio-serial-pci", "-add-fd", f"fd={descriptor},set=1",
        "-chardev", "file,id=out,path=/dev/fdset/1,append=on", "-device", "virtserialport,chardev=out,name=out,nr=1",
        "-fsdev", f"local,id=host,path={share},security_model=none",
        "-device", "virtio-9p-pci,fsdev=host,mount_tag=host",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
