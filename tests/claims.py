"""Compare the verdicts of a reproduction with those on record: claims.py FOLDER [--write].

Runs are deterministic, so the verdicts with a given number of seeds are the same on every machine. A verdict that
changes is a change of a model, a scheme or a claim: look at it, explain it in docs/reproductions, then record it with
--write.
"""

import csv
import json
import pathlib
import sys

RECORD = pathlib.Path(__file__).with_name("claims.csv")


def measured(folder):
    """Yield (claim, verdict) of every experiment below `folder`, in order."""
    for file in sorted(folder.glob("*/claims.json")):
        for claim in json.loads(file.read_text()):
            yield claim["id"], claim["verdict"]


def main():
    found = dict(measured(pathlib.Path(sys.argv[1])))
    if "--write" in sys.argv[2:]:
        with RECORD.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("claim", "verdict"), *found.items()])
        return
    with RECORD.open(newline="") as file:
        expected = {row["claim"]: row["verdict"] for row in csv.DictReader(file)}
    wrong = [
        f"{claim}: {found.get(claim, 'not ruled on')}, on record {expected.get(claim, 'not at all')}"
        for claim in sorted(found | expected)
        if found.get(claim) != expected.get(claim)
    ]
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong or not found:
        sys.exit(f"claims: {len(wrong)} verdicts differ from {RECORD.name}")
    print(f"claims: {len(found)} verdicts as on record, {sum(v == 'holds' for v in found.values())} hold")


if __name__ == "__main__":
    main()
