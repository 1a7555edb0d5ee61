"""Writes the table of all schemes on the set-ups of the slides: `python3 docs/reproductions/schemes.py FOLDER`.

FOLDER is what `sluice reproduce kaust --out FOLDER` wrote. Prints one Markdown table: a row for each set-up and number of flows, a column
for each scheme, in it the mean round-trip time, the goodput of all flows together and, of several flows, Jain's index.
"""

import json
import pathlib
import statistics
import sys

SCHEMES = ["default", "WQM", "DNB", "CoDel", "PIE", "FQ-CoDel", "mac80211"]
FLOWS = ["1", "2", "3", "4", "5"]
# The experiment, what a row is called, and the labels of its cases beside the scheme.
ROWS = [
    *(("kaust-wqm-1hop", f"one hop, one queue, {n}", {"arrangement": "one queue", "flows": n}) for n in FLOWS),
    *(("kaust-wqm-1hop", f"one hop, queue per flow, {n}", {"arrangement": "queue per flow", "flows": n}) for n in FLOWS),
    *(("kaust-wqm-multihop", f"{hops} hops, {n}", {"hops": hops, "flows": n}) for hops in ("2", "3") for n in FLOWS),
    *(
        ("kaust-dnb", f"mesh, {sensing}, {transfers}", {"sensing": sensing, "transfers": transfers})
        for sensing in ("hidden", "one domain")
        for transfers in ("one", "two")
    ),
]


def runs_of(folder):
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def milliseconds(run):
    return 1e3 * statistics.mean(flow["rtt_s"]["mean"] for flow in run["flows"])


def digits(value):
    """Three significant digits, in plain notation."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def rate(bps):
    return f"{digits(bps / 1e6)} Mb/s" if bps >= 10e6 else f"{digits(bps / 1e3)} kb/s"


def cell(runs):
    """The means over the seeds; nothing where the scheme was not run."""
    if not runs:
        return "–"
    goodput = statistics.mean(run["totals"]["goodput_bps"] for run in runs)
    words = [f"{digits(statistics.mean(map(milliseconds, runs)))} ms", rate(goodput)]
    if len(runs[0]["flows"]) > 1:
        words.append(f"{statistics.mean(run['totals']['jain_index'] for run in runs):.2f}")
    return ", ".join(words)


def main(folder):
    known = {name: runs_of(folder / name) for name in dict.fromkeys(name for name, _, _ in ROWS)}
    print("| flows | " + " | ".join(SCHEMES) + " |")
    print("|---|" + "---:|" * len(SCHEMES))
    for name, title, labels in ROWS:
        cells = []
        for scheme in SCHEMES:
            wanted = {**labels, "scheme": scheme}
            cells.append(cell([run for run in known[name] if run["case"] == wanted]))
        print(f"| {title} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
