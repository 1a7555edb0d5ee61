"""Run targets of the Makefile and print what each took: stages.py LANE...

A lane is a list of targets that run one after the other; lanes run beside each other. `browser@claims` starts when `claims`
has ended. After a failure nothing more is started; the exit status is then 1. With one lane a target prints as it would by
itself, with several each line begins with its target's name, and the last lines of a target that failed are repeated at the
end, where a log that was cut still has them.
"""

import collections
import os
import subprocess
import sys
import threading
import time

# Of a target that failed: a traceback, or what a compiler says of one error.
REPEATED = 40


class Stages:
    """The targets of all lanes: which have ended, and what they took."""

    def __init__(self, lanes):
        self.lanes = [[target.partition("@")[::2] for target in lane.split()] for lane in lanes]
        self.ended = {name: threading.Event() for lane in self.lanes for name, _ in lane}
        self.prefixed = len(self.lanes) > 1
        self.rows = []
        # The last lines of each.
        self.failed = {}

    def run(self):
        """Run all lanes to their end."""
        start = time.monotonic()
        threads = [threading.Thread(target=self.lane, args=[lane], daemon=True) for lane in self.lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        total = sum(cpu for _, _, cpu in self.rows)
        rows = [line(*row) for row in [*self.rows, ("all", time.monotonic() - start, total)]]
        print("", f"{'stage':<12}{'wall':>10}{'CPU':>10}", *rows, sep="\n")
        for name, last in self.failed.items():
            print("", *(f"{name:<12}| {text}" for text in last), sep="\n")
        if self.failed:
            sys.exit(f"stages: {' and '.join(self.failed)} failed")

    def lane(self, targets):
        """Run targets one after the other, each when the one that it needs has ended."""
        for name, needed in targets:
            if needed:
                self.ended[needed].wait()
            if not self.failed:
                row = self.stage(name)
                self.rows.append(row)
                print(f"stage {line(*row)}", flush=True)
            self.ended[name].set()

    def stage(self, name):
        """Run a target; its row of the table."""
        start = time.monotonic()
        command = [os.environ.get("MAKE", "make"), "--no-print-directory", name]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "errors": "replace"} if self.prefixed else {}
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)
        last = collections.deque(maxlen=REPEATED)
        for text in process.stdout or []:
            last.append(text.rstrip())
            print(f"{name:<12}| {last[-1]}", flush=True)
        # This process's children alone: those of other lanes run meanwhile.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            self.failed[name] = last
        return name, time.monotonic() - start, used.ru_utime + used.ru_stime


def line(name, wall, cpu):
    """A row of the table: minutes and seconds of both."""
    shown = (f"{int(value) // 60:3}:{int(value) % 60:02}" for value in (wall, cpu))
    return f"{name:<12}" + "".join(f"{value:>10}" for value in shown)


if __name__ == "__main__":
    Stages(sys.argv[1:]).run()
