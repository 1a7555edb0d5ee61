"""Run the tests that `make nightly` runs and `make test` does not: those with `#[ignore = "make nightly: ..."]`.

Arguments are for Cargo.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SLOW = re.compile(r'#\[ignore = "make nightly: [^"]*"\](?:\s*#\[[^\]]*\])*\s*fn (\w+)')


def main():
    names = sorted(name for path in ROOT.glob("crates/**/*.rs") for name in SLOW.findall(path.read_text()))
    tests = ["cargo", "test", "--workspace", "--locked", "--lib", "--bins", "--tests", *sys.argv[1:]]
    done = subprocess.run([*tests, "--", "--ignored", *names], cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    ran = sum(map(int, re.findall(r"(\d+) passed", done.stdout)))
    if done.returncode or ran != len(names):
        sys.exit(f"slow: {ran} of {len(names)} tests passed")
    print(f"slow: {ran} tests passed")


if __name__ == "__main__":
    main()
