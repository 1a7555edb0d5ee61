"""Compare the verdicts of a reproduction with those on record: claims.py FOLDER quick|all [--part] [--write].

Runs are deterministic, so the verdicts with a given number of seeds are the same on every machine. A verdict that
changes is a change of a model, a scheme or a claim: look at it, explain it in docs/reproductions, then record it with
--write. With --part, experiments that are not in FOLDER are left out. A quick run may say less than a full one and never something else; that is compared too, and so are the verdicts in
the tables of docs/reproductions with those of full runs.
"""

import csv
import json
import pathlib
import re
import sys

RECORDS = {
    "quick": pathlib.Path(__file__).with_name("claims.csv"),
    "all": pathlib.Path(__file__).with_name("claims-all.csv"),
}
PAGES = pathlib.Path(__file__).parents[1] / "docs" / "reproductions"
# How the pages' tables write verdicts.
WRITTEN = {"**differs**": "differs", "*not confirmed*": "not-confirmed", "needs full runs": "needs-full-runs"}
# What says less than a verdict.
LESS = {"not-confirmed", "needs-full-runs"}


def measured(folder):
    """The verdicts of every experiment below `folder` by claim, in order; several of one claim stand beside each other."""
    found = {}
    for file in sorted(folder.glob("*/claims.json")):
        for claim in json.loads(file.read_text()):
            setting = f"{claim['setting']}: " if "setting" in claim else ""
            before = f"{found[claim['id']]}; " if claim["id"] in found else ""
            found[claim["id"]] = f"{before}{setting}{claim['verdict']}"
    return found


def by_setting(verdicts):
    """`RTS/CTS: holds; basic access: differs` as a dictionary; a single verdict has no setting."""
    parts = [verdict.rpartition(": ") for verdict in verdicts.split("; ")]
    return {setting: verdict for setting, _, verdict in parts}


def record(which):
    """The verdicts on record; none where nothing is."""
    if not RECORDS[which].exists():
        return {}
    with RECORDS[which].open(newline="") as file:
        return {row["claim"]: row["verdict"] for row in csv.DictReader(file)}


def contradictions():
    """Yield what the quick runs on record say that the full ones do not."""
    full = record("all")
    for claim, verdicts in record("quick").items():
        if claim not in full:
            continue
        in_full = by_setting(full[claim])
        for setting, verdict in by_setting(verdicts).items():
            if verdict not in LESS and verdict != in_full.get(setting):
                yield f"{claim}: {verdicts} in a quick run, {full[claim]} in a full one: give it `full = true` or longer quick runs"


def cells(row):
    """The cells of a row of a Markdown table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def outdated():
    """Yield the rows of the pages' tables whose verdict is not that of the full runs on record."""
    full = record("all")
    for page in sorted(PAGES.glob("*.md")):
        column = None
        for row in page.read_text().splitlines():
            if row.startswith("| claim "):
                column = cells(row).index("verdict") if "verdict" in cells(row) else None
            claim = re.match(r"\| ([a-z][\w.-]*\.\w+): ", row)
            if not claim or column is None or claim.group(1) not in full:
                continue
            ruled = by_setting(cells(row)[column].replace("<br>", "; "))
            words = {setting: verdict.split(", depends on")[0] for setting, verdict in ruled.items()}
            expected = full[claim.group(1)]
            if {setting: WRITTEN.get(word, word) for setting, word in words.items()} != by_setting(expected):
                yield f"{page.name}: {claim.group(1)} is not as on record, {expected}"


def main():
    folder, which = pathlib.Path(sys.argv[1]), sys.argv[2]
    found = measured(folder)
    if "--write" in sys.argv[3:]:
        with RECORDS[which].open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("claim", "verdict"), *found.items()])
    expected = record(which)
    if "--part" in sys.argv[3:]:
        experiments = {claim.rpartition(".")[0] for claim in found}
        expected = {claim: verdict for claim, verdict in expected.items() if claim.rpartition(".")[0] in experiments}
    wrong = [
        f"{claim}: {found.get(claim, 'not ruled on')}, on record {expected.get(claim, 'not at all')}"
        for claim in sorted(found | expected)
        if found.get(claim) != expected.get(claim)
    ]
    wrong += contradictions()
    wrong += outdated()
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong or not found:
        sys.exit(f"claims: {len(wrong)} verdicts are not those of {RECORDS[which].name}")
    tally = {verdict: sum(v == verdict for v in found.values()) for verdict in sorted(set(found.values()))}
    words = ", ".join(f"{n} {verdict}" for verdict, n in tally.items())
    print(f"claims: {len(found)} verdicts as on record: {words}")


if __name__ == "__main__":
    main()
