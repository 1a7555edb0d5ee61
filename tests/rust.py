"""Which Rust sources there are, and which of their lines are tests: what is behind `#[cfg(test)]`, and folders of tests."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Of the attributes before an item; those behind `any(test, ...)` are compiled elsewhere too.
TEST = re.compile(r" *#\[cfg\((?:all\()?test\b")
ATTRIBUTE = re.compile(r" *#\[")
PATH = re.compile(r' *#\[path = "([^"]*)"\]')
FILE = re.compile(r" *(?:pub(?:\([a-z]+\))? )?mod (\w+);")
FOLDERS = {"tests", "benches", "examples", "fuzz"}


def listed(*patterns):
    """The files of the checkout, those that are not committed included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [path for name in sorted(set(names)) if (path := ROOT / name).exists()]


def tested(lines):
    """The ranges of lines that hold items behind `#[cfg(test)]`, each with the name and the path of a module in another file."""
    at = 0
    while at < len(lines):
        if not TEST.match(lines[at]):
            at += 1
            continue
        first, path = at, None
        while ATTRIBUTE.match(lines[at]):
            path = PATH.match(lines[at]) or path
            at += 1
        indent = re.match(" *", lines[at])[0]
        named = FILE.match(lines[at])
        if not lines[at].endswith((";", "}", ",")):
            at += 1
            while not re.match(rf"{indent}[])}}]", lines[at]):
                at += 1
        at += 1
        yield range(first, at), named and named[1], path and path[1]


def test_files(files):
    """Those of `files` that are tests as a whole: in a folder of tests, or of a module behind `#[cfg(test)]`."""
    modules = set()
    for file in files:
        folder = file.parent if file.name in ("mod.rs", "lib.rs", "main.rs") else file.with_suffix("")
        for _, name, path in tested(file.read_text().splitlines()):
            if name:
                module = file.parent / path if path else folder / f"{name}.rs"
                modules |= {module, module.with_suffix("")}
    return {file for file in files if FOLDERS & set(file.relative_to(ROOT).parts) or modules & {file, *file.parents}}
