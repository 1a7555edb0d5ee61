"""Run targets of the Makefile beside busy loops, several times: `busy.py LOOPS TIMES TARGET...`

No verdict of `make test` may depend on what else a machine does. After a failure the targets left still run; the exit status is
then 1.
"""

import collections
import multiprocessing
import os
import subprocess
import sys


def loop(parent):
    """Use a core until the process that asked for it is gone."""
    while os.getppid() == parent:
        for _ in range(1_000_000):
            pass


def main():
    loops, times, targets = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    for _ in range(loops):
        multiprocessing.get_context("fork").Process(target=loop, args=[os.getpid()], daemon=True).start()
    failed = collections.Counter()
    for time in range(1, times + 1):
        for target in targets:
            print(f"busy: {target}, {time} of {times} beside {loops} loops", flush=True)
            run = subprocess.run([os.environ.get("MAKE", "make"), "--no-print-directory", target], check=False)
            failed[target] += run.returncode != 0
    told = [f"{target} {count} of {times} times" for target, count in failed.items() if count]
    if told:
        sys.exit(f"busy: failed: {', '.join(told)}")
    print(f"busy: {len(targets)} targets passed {times} times beside {loops} loops")


if __name__ == "__main__":
    main()
