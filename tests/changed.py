"""Run the unit tests of the crates whose files differ from the last commit, or from the one before if none does.

Arguments are for Cargo where crate linux or cli is among them.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def files(*command):
    listed = subprocess.run(["git", *command], cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.split()


def main():
    names = files("diff", "--name-only", "HEAD") + files("ls-files", "--others", "--exclude-standard")
    names = names or files("diff", "--name-only", "HEAD~1")
    parts = (pathlib.PurePath(name).parts for name in names)
    crates = sorted({part[1] for part in parts if part[0] == "crates" and (ROOT / "crates" / part[1]).is_dir()})
    # The tests of this part are in Python.
    crates = [crate for crate in crates if crate != "python"]
    if not crates:
        print("changed: no crate")
        return
    print(f"changed: {' '.join(crates)}", flush=True)
    chosen = [word for name in crates for word in ("-p", f"sluice-{name}")]
    features = sys.argv[1:] if {"linux", "cli"} & set(crates) else []
    tests = ["cargo", "test", *chosen, *features, "--locked", "--quiet", "--lib", "--bins"]
    sys.exit(subprocess.run(tests, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
