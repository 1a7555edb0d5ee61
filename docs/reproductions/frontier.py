#!/usr/bin/env python3
"""Draw docs/reproductions/frontier.png: what SWAN leaves of delay and TCP over T, d and g, and the document's point.

Needs the results of `sluice reproduce swan-frontier`, and to draw the places of sinks, too, those of `swan-frontier-sinks`, in
the folders that are given. The picture is Vega-Lite's, as those of docs/theory/plots.py, whose library this takes.
"""

import csv
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/theory"))

import plots  # noqa: E402

# The document's points, in per cent of plain 802.11's: delay (with 8 flows at most) and TCP.
DOCUMENT = {"8": (40, 98), "32": (25, 98)}
CONTROL = re.compile(r"T = (?P<T>\S+) s, d = (?P<d>\S+) ms, g = (?P<g>\S+) %")


def points(folder, flows):
    """A row for each setting."""
    found = {}
    for row in csv.DictReader((folder / "tables.csv").open()):
        control = CONTROL.match(row["row"])
        if control and row["column"].split(", ")[-1] == flows and row["quantity"].endswith("of the original's"):
            point = found.setdefault(row["row"], {key: control[key] for key in "Tdg"})
            point["delay" if row["quantity"].startswith("MAC") else "tcp"] = 100 * float(row["mean"])
    return list(found.values())


def panel(title, rows, document):
    """A Vega-Lite panel."""
    axes = {
        "x": {"field": "delay", "type": "quantitative", "title": "MAC delay, % of the original's", "scale": {"domain": [0, 60]}},
        "y": {"field": "tcp", "type": "quantitative", "title": "TCP, % of the original's", "scale": {"domain": [0, 105]}},
    }
    control = {
        "color": {"field": "d", "type": "ordinal", "title": "d, ms", "sort": ["5", "20", "50"], "scale": {"range": ["#0b6fb8", "#d1610a", "#2b8a3e"]}},
        "shape": {"field": "T", "type": "nominal", "title": "T, s", "scale": {"range": ["circle", "square"]}},
        "size": {"field": "g", "type": "ordinal", "title": "g, %", "sort": ["10", "20", "50"], "scale": {"range": [50, 110, 200]}},
    }
    x, y = document
    mark = {"type": "point", "shape": "cross", "size": 260, "filled": True, "color": "black"}
    return {
        "title": title,
        "width": 340,
        "height": 240,
        "layer": [
            {"data": {"values": rows}, "mark": {"type": "point", "filled": True, "opacity": 0.8}, "encoding": axes | control},
            {"data": {"values": [{"delay": x, "tcp": y}]}, "mark": mark, "encoding": axes},
        ],
    }


def main():
    """Draws the panels: sinks that are sources, too, above; a device for each below; 8 flows left, 32 right."""
    rows = []
    for folder, sinks in zip(sys.argv[1:], ["sinks are sources", "a device for each sink"], strict=False):
        panels = [panel(f"{flows} flows, {sinks}", points(pathlib.Path(folder), flows), DOCUMENT[flows]) for flows in DOCUMENT]
        rows.append({"hconcat": panels, "spacing": 30})
    axis = {"labelFontSize": 13, "titleFontSize": 13, "titleFontWeight": "normal", "gridColor": "#e6e6e6"}
    config = {"axis": axis, "legend": {"labelFontSize": 13}, "view": {"stroke": "#999"}}
    specification = {"background": "white", "padding": 12, "config": config, "vconcat": rows}
    picture = plots.library().vegalite_to_png(json.dumps(specification), scale=1.5)
    (pathlib.Path(__file__).parent / "frontier.png").write_bytes(picture)


if __name__ == "__main__":
    main()
