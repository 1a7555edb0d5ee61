"""A sweep of many runs of ADTH's chain, whole and killed on the way: time, memory, files, and whether the bytes agree.

Needs the package with its store, in the environment that runs this.
"""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SCENARIO = pathlib.Path(__file__).resolve().parents[2] / "scenarios/adth/s1a.toml"
SWEEP = """
import sys, sluice
scenario = sluice.load(sys.argv[1]).replace({"duration": "100 s"})
over = {
    "queue.adth.target_delay": ["50 ms", "100 ms", "200 ms", "400 ms", "1 s"],
    "scheme": {"FIFO": {"queue.controller": "none"}, "ADTH": {"queue.controller": "adth"}},
}
sweep = sluice.sweep(scenario, over=over, seeds=int(sys.argv[2]), store=sys.argv[3], progress=False)
assert len(sweep.runs) == 10 * int(sys.argv[2]) and not sweep.failures
"""


def start(store, seeds):
    """Begin the sweep, or go on with it, in a process of its own."""
    return subprocess.Popen([sys.executable, "-c", SWEEP, SCENARIO, str(seeds), store])


def finish(store, seeds):
    """Wall-clock and processor seconds of the sweep from where it is to its end, and its most memory in MB."""
    began = time.monotonic()
    _, status, used = os.wait4(start(store, seeds).pid, 0)
    if status != 0:
        sys.exit("the sweep failed")
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3


def content(store):
    """A hash of each file but those of the table `cost`, which holds times."""
    files = (file for file in sorted(store.rglob("*")) if file.is_file())
    named = {str(file.relative_to(store)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    return {name: digest for name, digest in named.items() if not name.startswith("cost/")}


def main():
    """Run it twice and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="each with ten cases")
    parser.add_argument("--kill-after", type=float, nargs="*", default=[15, 20, 25], metavar="SECONDS")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = (pathlib.Path(folder) / name for name in ("whole", "killed"))
        wall_s, cpu_s, memory_mb = finish(whole, args.seeds)
        files = [file for file in whole.rglob("*") if file.is_file()]
        size_mb = sum(file.stat().st_size for file in files) / 1e6
        print(
            f"{10 * args.seeds} runs of 100 s: {wall_s:.0f} s, {cpu_s:.0f} s of processor time, {memory_mb:.0f} MB of"
        )
        print(f"memory, {len(files)} files of {size_mb:.1f} MB in all")
        for seconds in args.kill_after:
            sweep = start(killed, args.seeds)
            try:
                sweep.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                sweep.kill()
                sweep.wait()
                kept = sum(1 for _ in (killed / "runs").glob("*.parquet"))
                print(f"killed after {seconds:g} s: {kept} chunks are kept")
        _, cpu_s, _ = finish(killed, args.seeds)
        print(f"whole after {cpu_s:.0f} s more of processor time")
        if content(whole) != content(killed):
            sys.exit("the two differ")
        print("same bytes as without a kill")


if __name__ == "__main__":
    main()
