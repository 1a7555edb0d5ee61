"""Writes the tables of claims in this folder's pages from the verdicts of runs: `python3 docs/reproductions/verdicts.py FOLDER [OTHER]`.

FOLDER is what `sluice reproduce` wrote: of one experiment, or of several. Prints a Markdown table for each experiment, in the order of
the claims' numbers, and a line with the totals. OTHER has the same experiments under the conventions of ns-2
(`--set conventions=ns-2`), whose values and verdicts are set beside.
"""

import json
import pathlib
import re
import sys

SCALES = {
    "s": [(1, "s"), (1e-3, "ms"), (1e-6, "us")],
    "bit/s": [(1e6, "Mb/s"), (1e3, "kb/s"), (1, "b/s")],
    "share": [(1e-2, "%")],
}
WORDS = {"holds": "holds", "differs": "**differs**", "not-confirmed": "*not confirmed*", "needs-full-runs": "needs full runs"}


def digits(value):
    """Three significant digits, in plain notation."""
    if value is None:
        return "none"
    text = f"{value:.3g}"
    return f"{float(text):g}" if "e" not in text else f"{float(text):.0f}" if abs(value) >= 1 else text


def scale(values, unit):
    """The values and a unit in which the largest is easy to read."""
    largest = max((abs(value) for value in values if value is not None), default=0)
    for size, name in SCALES.get(unit, [(1, "packets" if unit == "packets" else "")]):
        if largest >= size or size == SCALES.get(unit, [(1, "")])[-1][0]:
            return [None if value is None else value / size for value in values], name
    return values, ""


def measured(verdict):
    """The value with its interval, or the worst seed with the smallest and largest."""
    (value, low, high), unit = scale([verdict["measured"], verdict["low"], verdict["high"]], verdict["unit"])
    unit = f" {unit}" if unit else ""
    text = digits(value) + unit
    if low != high:
        text += f" ({digits(low)} to {digits(high)})"
    at = verdict.get("at") or ""
    return f"{text}; {at}" if at else text


def reported(verdict):
    value = verdict.get("reported")
    return "" if value is None else digits(value) if isinstance(value, (int, float)) else str(value)


def place(identity):
    """Where a claim stands: `buf-fig3.12` after `buf-fig3.2`."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", identity)]


def verdicts_of(folder):
    files = [folder / "claims.json"] if (folder / "claims.json").exists() else sorted(folder.glob("*/claims.json"))
    return [verdict for file in files for verdict in json.loads(file.read_text())]


def main(folder, other=None):
    verdicts = sorted(verdicts_of(folder), key=lambda verdict: place(verdict["id"]))
    others = {verdict["id"]: verdict for verdict in verdicts_of(other)} if other else {}
    group = None
    for verdict in verdicts:
        if verdict["id"].rsplit(".", 1)[0] != group:
            group = verdict["id"].rsplit(".", 1)[0]
            beside = verdict["id"] in others
            print("\n| claim | document | ours | holds if | verdict |" + (" ns-2's conventions |" if beside else ""))
            print("|---|---:|---:|---|---|" + ("---|" if beside else ""))
        cells = [f"{verdict['id']}: {verdict['says']}", reported(verdict), measured(verdict), verdict["holds"], WORDS[verdict["verdict"]]]
        if beside:
            there = others[verdict["id"]]
            (value,), unit = scale([there["measured"]], there["unit"])
            cells.append(f"{digits(value)} {unit}".strip() + f", {WORDS[there['verdict']]}")
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    for word, of in [("", verdicts), (" under the conventions of ns-2", others.values())]:
        counts = {word: sum(verdict["verdict"] == word for verdict in of) for word in WORDS}
        if of:
            print(f"\n{len(of)} claims{word}: " + ", ".join(f"{count} {word}" for word, count in counts.items() if count))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:3]))
