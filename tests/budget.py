"""Check that the Rust sources, their tests and the documentation stay within `budget.csv`: `budget.py [--write]`

A row allows an area so many lines of source and of tests; an area is a crate, or a folder of its sources. `docs` counts
words, `pages` pages, `README` words. `methods of X` counts the methods of a type in crate `sim`, `flags` the places in its MAC,
world and radio that ask at run time for a feature of the whole network. `total` bounds the sum of all areas. `--write` records today's lines as the rows of the
areas, unless the total would not hold; the others are set by hand. A line may be moved between areas, and the commit that
moves it says why.
"""

import collections
import csv
import re
import sys

import rust

BUDGET = rust.ROOT / "budget.csv"
KINDS = ("source", "tests")


def area(file):
    """The row in which a file is counted."""
    parts = file.relative_to(rust.ROOT).parent.parts
    if parts[0] != "crates":
        return parts[0]
    is_folder = len(parts) > 3 and parts[2] == "src"
    return "/".join(parts[:4] if is_folder else parts[:2])


def lines():
    """Lines of source and of tests by area."""
    files = rust.listed("*.rs")
    tests = rust.test_files(files)
    counted = collections.defaultdict(lambda: [0, 0])
    for file in files:
        text = file.read_text().splitlines()
        inside = len(text) if file in tests else sum(len(rows) for rows, *_ in rust.tested(text))
        row = counted[area(file)]
        row[0] += len(text) - inside
        row[1] += inside
    return dict(sorted(counted.items()))


def methods(name):
    """Methods of a type in crate `sim`, in all of its own `impl`s and those of traits."""
    block = re.compile(rf"^impl(?:<[^>]*>)? (?:[\w:<>, ']+ for )?{name}(?:<[^>]*>)? \{{.*?^\}}", re.MULTILINE | re.DOTALL)
    method = re.compile(r"^    (?:pub(?:\([a-z]+\))? )?(?:const )?fn ", re.MULTILINE)
    return sum(len(method.findall(found)) for text in simulator() for found in block.findall(text))


def flags():
    """Places that read from the rules of the network whether it has a feature."""
    read = re.compile(r"rules\s*\.(?:bandwidth|tmac|shares_downlink|shares_uplink|ofdma)\b")
    return sum(len(read.findall(text)) for text in simulator("mac", "world", "radio"))


def simulator(*folders):
    """The sources of crate `sim`, or of some of its folders, that are not tests."""
    files = rust.listed(*(f"crates/sim/src/{folder}" for folder in folders or ("",)))
    files = [file for file in files if file.suffix == ".rs"]
    tests = rust.test_files(rust.listed("crates/sim/src/*.rs"))
    return [file.read_text() for file in files if file not in tests]


def words(files):
    return sum(len(file.read_text().split()) for file in files)


def main():
    writes = "--write" in sys.argv[1:]
    with BUDGET.open() as file:
        rows = {row["area"]: [int(row[kind]) for kind in KINDS] for row in csv.DictReader(file)}
    pages = rust.listed("docs/*.md")
    areas = lines()
    whole = {
        "docs": [words(pages), 0],
        "pages": [len(pages), 0],
        "README": [words([rust.ROOT / "README.md"]), 0],
        **{f"methods of {name}": [methods(name), 0] for name in ("World", "Station", "Egress")},
        "flags": [flags(), 0],
        "total": [sum(row[at] for row in areas.values()) for at in (0, 1)],
    }
    checked = whole if writes else areas | whole
    wrong = [
        f"budget: {name}: {used:,} of {kind}, at most {most:,}"
        for name, today in checked.items()
        for used, most, kind in zip(today, rows.get(name, (0, 0)), KINDS)
        if used > most
    ]
    if not writes:
        wrong += [f"budget: {name}: delete the row, nothing is counted in it" for name in rows if name not in checked]
    if wrong:
        sys.exit("\n".join(wrong))
    if writes:
        with BUDGET.open("w") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["area", *KINDS])
            writer.writerows([name, *row] for name, row in {**areas, **{name: rows[name] for name in whole}}.items())
    (source, tests), (most, most_tests) = whole["total"], rows["total"]
    print(f"budget: {source:,} of {most:,} lines of source, {tests:,} of {most_tests:,} of tests")


if __name__ == "__main__":
    main()
