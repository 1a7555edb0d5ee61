"""Run targets of the Makefile one after the other and say what each took: stages.py TARGET...

Ends with the first that fails, and its exit status.
"""

import os
import resource
import subprocess
import sys
import time


def seconds():
    """Wall and CPU time so far, of this process's ended children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), used.ru_utime + used.ru_stime


def line(name, wall, cpu):
    """A row of the table: minutes and seconds of both."""
    shown = (f"{int(value) // 60:3}:{int(value) % 60:02}" for value in (wall, cpu))
    return f"{name:<12}" + "".join(f"{value:>10}" for value in shown)


def main():
    rows = []
    total = [0.0, 0.0]
    status = 0
    for target in sys.argv[1:]:
        before = seconds()
        status = subprocess.run([os.environ.get("MAKE", "make"), "--no-print-directory", target], check=False).returncode
        spent = [after - start for after, start in zip(seconds(), before)]
        total = [all_of_it + part for all_of_it, part in zip(total, spent)]
        rows.append(line(target, *spent))
        print(f"stage {rows[-1]}", flush=True)
        if status:
            break
    print("", f"{'stage':<12}{'wall':>10}{'CPU':>10}", *rows, line("all", *total), sep="\n")
    if status:
        sys.exit(f"stages: {target} failed")


if __name__ == "__main__":
    main()
