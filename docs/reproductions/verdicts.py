"""Writes the tables of claims in this folder's pages from the verdicts of runs: `python3 docs/reproductions/verdicts.py FOLDER [OTHER]`.

FOLDER is what `sluice reproduce` wrote: of one experiment, or of several. Prints a Markdown table for each experiment, in the order of
the claims' numbers, and a line with the totals. OTHER has the same experiments under the conventions of ns-2
(`--set conventions=ns-2`), whose values and verdicts are set beside.
"""

import itertools
import json
import pathlib
import re
import sys

SCALES = {
    "s": [(1, "s"), (1e-3, "ms"), (1e-6, "us")],
    "bit/s": [(1e6, "Mb/s"), (1e3, "kb/s"), (1, "b/s")],
    "share": [(1e-2, "%")],
}
WORDS = {"holds": "holds", "differs": "**differs**", "not-confirmed": "*not confirmed*", "too-few-seeds": "too few seeds", "needs-full-runs": "needs full runs"}


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


def neighbours(verdict):
    """The range of the values with the choice ruled on and its neighbours, by parameter."""
    ranges = {}
    for beside in verdict.get("neighbours", []):
        if beside["measured"] is not None and verdict["measured"] is not None:
            ranges.setdefault(beside["parameter"], [verdict["measured"]]).append(beside["measured"])
    scaled = {name: scale([min(values), max(values)], verdict["unit"]) for name, values in ranges.items()}
    texts = [f"{name} {digits(low)} to {digits(high)} {unit}".strip() for name, ((low, high), unit) in scaled.items()]
    return "; over neighbours: " + ", ".join(texts) if texts else ""


def ruled(verdict):
    """The verdict, and the parameters that it depends on."""
    depends = verdict.get("depends_on", [])
    return WORDS[verdict["verdict"]] + (", depends on " + ", ".join(depends) if depends else "")


def beside(verdict):
    """A value and its verdict, in short."""
    (value,), unit = scale([verdict["measured"]], verdict["unit"])
    return f"{digits(value)} {unit}".strip() + f", {WORDS[verdict['verdict']]}"


def by_setting(verdicts, cell):
    """A claim's cell; where it has several verdicts, each with its setting."""
    return "<br>".join((f"{verdict['setting']}: " if "setting" in verdict else "") + cell(verdict) for verdict in verdicts)


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
    others = {(verdict["id"], verdict.get("setting")): verdict for verdict in verdicts_of(other)} if other else {}
    group = None
    for identity, found in itertools.groupby(verdicts, key=lambda verdict: verdict["id"]):
        found = list(found)
        first = found[0]
        there = [others[key] for key in ((identity, verdict.get("setting")) for verdict in found) if key in others]
        if identity.rsplit(".", 1)[0] != group:
            group = identity.rsplit(".", 1)[0]
            print("\n| claim | document | ours | holds if | verdict |" + (" ns-2's conventions |" if there else ""))
            print("|---|---:|---:|---|---|" + ("---|" if there else ""))
        ours = by_setting(found, lambda verdict: measured(verdict) + neighbours(verdict))
        cells = [f"{identity}: {first['says']}", reported(first), ours, first["holds"], by_setting(found, ruled)]
        if there:
            cells.append(by_setting(there, beside))
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    for word, of in [("", verdicts), (" under the conventions of ns-2", others.values())]:
        counts = {word: sum(verdict["verdict"] == word for verdict in of) for word in WORDS}
        if of:
            claims = len({verdict["id"] for verdict in of})
            several = f", {len(of)} verdicts" if claims < len(of) else ""
            print(f"\n{claims} claims{several}{word}: " + ", ".join(f"{count} {word}" for word, count in counts.items() if count))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:3]))
