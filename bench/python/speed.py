"""What the Python package costs: a sweep beside the command's, a step of an environment, environments on all cores.

A step is also compared with ns-3 (Debian's libns3-dev), where that is installed: with its share of a run in C++ of the same
network, start included. That leaves out what a coupling of ns-3 with Python adds, such as ns3-gym's messages.

Processor times are compared, in turns, so that a busy machine falls on both: `make bench-python`. The package must be
built as a wheel is (`make wheel`) and the command as a release.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import sluice
from sluice import learn

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = ROOT / "target/release/sluice"
NS3 = ROOT / "target/bench/ns3-chain"


def spent(who):
    """Processor seconds of this process, or of those that it started and that ended."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def sweeps(folder, seeds, duration):
    """Processor seconds of the command and of the package for the same sweep, results kept in files by both."""
    file = folder / "short.toml"
    file.write_text(learn.chain(duration).text)
    before = spent(resource.RUSAGE_CHILDREN)
    command = [COMMAND, "reproduce", file, "--seeds", str(seeds), "--out", folder / "command"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    command_s = spent(resource.RUSAGE_CHILDREN) - before
    before = spent(resource.RUSAGE_SELF)
    sweep = sluice.sweep(sluice.load(file), over={}, seeds=seeds, store=str(folder / "package"), progress=False)
    package_s = spent(resource.RUSAGE_SELF) - before
    assert len(sweep.runs) == seeds and not sweep.failures
    return command_s, package_s


def step_us(steps):
    """Microseconds of a step of a millisecond of simulated time, in one environment."""
    env = learn.LimitEnv(learn.chain("1000 s"), interval_s=0.001)
    env.reset(seed=1)
    for _ in range(500):
        env.step(3)
    began = time.perf_counter()
    for _ in range(steps):
        env.step(3)
    return (time.perf_counter() - began) / steps * 1e6


def episodes_us():
    """Microseconds of processor time for a step of 1 ms in a run of 100 s: the environment's, and ns-3's share."""
    before = spent(resource.RUSAGE_SELF)
    env = learn.LimitEnv(sluice.load(ROOT / "scenarios/reference/chain-fifo.toml"), interval_s=0.001)
    env.reset(seed=1)
    steps, ended = 0, False
    while not ended:
        *_, ended, _ = env.step(3)
        steps += 1
    ours = spent(resource.RUSAGE_SELF) - before
    before = spent(resource.RUSAGE_CHILDREN)
    subprocess.run([NS3], check=True, stdout=subprocess.DEVNULL)
    theirs = spent(resource.RUSAGE_CHILDREN) - before
    return ours / steps * 1e6, theirs / steps * 1e6


def ns3():
    """Build ns-3's program; False where ns-3 is not installed."""
    if not pathlib.Path("/usr/include/ns3/wifi-module.h").exists():
        return False
    subprocess.run(["make", "-s", "-C", ROOT / "bench/peers/ns3", f"OUT={NS3.parent}", NS3], check=True)
    return True


# Prints how many steps per second this many environments make that are stepped together.
TOGETHER = """
import sys, time, gymnasium, numpy
from sluice import learn
count, steps = int(sys.argv[1]), int(sys.argv[2])
envs = gymnasium.make_vec("sluice/Limit-v0", num_envs=count, scenario=learn.chain("1000 s"))
envs.reset(seed=1)
keep = numpy.full(count, 3)
for _ in range(5):
    envs.step(keep)
began = time.perf_counter()
for _ in range(steps):
    envs.step(keep)
print(count * steps / (time.perf_counter() - began))
"""


def steps_a_second(environments, steps, cores):
    """Steps a second of environments that are stepped together, on so many cores."""
    own = sorted(os.sched_getaffinity(0))[:cores]
    # In a process of its own, because the number of threads follows from the cores that it may use when it starts.
    command = [sys.executable, "-c", TOGETHER, str(environments), str(steps)]
    pinned = lambda: os.sched_setaffinity(0, own)
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, preexec_fn=pinned).stdout)


def main():
    """Print the middle of each figure, and its extremes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured")
    parser.add_argument("--json", action="store_true", help="every figure, as JSON")
    args = parser.parse_args()
    figures = {"sweep_ratio": [], "step_us": [], "two_cores_share": []}
    beside = ns3()
    if beside:
        figures |= {"episode_step_us": [], "ns3_step_us": [], "ns3_ratio": []}
    else:
        print("ns-3 is not installed (Debian's libns3-dev): not compared", file=sys.stderr)
    for _ in range(args.rounds):
        with tempfile.TemporaryDirectory() as folder:
            command_s, package_s = sweeps(pathlib.Path(folder), 1000, "5 s")
        figures["sweep_ratio"].append(package_s / command_s)
        figures["step_us"].append(step_us(20_000))
        one, two = steps_a_second(64, 100, 1), steps_a_second(64, 100, 2)
        figures["two_cores_share"].append(two / one / 2)
        if beside:
            ours, theirs = episodes_us()
            figures["episode_step_us"].append(ours)
            figures["ns3_step_us"].append(theirs)
            figures["ns3_ratio"].append(theirs / ours)
    if args.json:
        print(json.dumps(figures))
        return
    words = {
        "sweep_ratio": "processor time of a sweep of 1000 runs of 5 s, package over command",
        "step_us": "microseconds of an environment's step of 1 ms of simulated time",
        "two_cores_share": "steps a second of 64 environments on two cores, over twice those on one",
        "episode_step_us": "microseconds of processor time for such a step, in an episode of 100 s",
        "ns3_step_us": "its share of a run of the same network in ns-3, without Python",
        "ns3_ratio": "ns-3 over the environment",
    }
    for name, values in figures.items():
        print(f"{words[name]}: {statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})")


if __name__ == "__main__":
    main()
