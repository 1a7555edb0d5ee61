#!/usr/bin/env python3
"""Draw docs/controllers/{ebdp,alt,astar}.png: limit and backlog of the access point in scenarios/reference/sized-buffers.toml.

Needs target/release/sluice. The pictures are Vega-Lite's, as those of docs/theory/plots.py, whose library this takes.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/theory"))

import plots  # noqa: E402

SCENARIO = ROOT / "scenarios/reference/sized-buffers.toml"


def history(controller):
    """Rows of the queue's limit and backlog with a controller, a second each."""
    setting = f"node.ap.queue.controller={controller}"
    command = [ROOT / "target/release/sluice", "run", SCENARIO, "--json", "--set", setting]
    outcome = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    queue = next(node for node in outcome["series"]["nodes"] if node["name"] == "ap be")
    for second, (limit, backlog) in enumerate(zip(queue["limit"], queue["backlog_packets"], strict=True), 1):
        yield {"x": second, "packets": limit, "what": "limit"}
        yield {"x": second, "packets": backlog, "what": "waiting"}


def panel(title, rows):
    """A Vega-Lite panel."""
    legend = {"title": None, "orient": "bottom", "symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 300}
    scale = {"domain": ["limit", "waiting"], "range": ["#d1610a", "#0b6fb8"]}
    return {
        "title": title,
        "width": 380,
        "height": 220,
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 1.4},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": "time (s)"},
            "y": {"field": "packets", "type": "quantitative", "title": "packets", "scale": {"domain": [0, 420]}},
            "color": {"field": "what", "type": "nominal", "scale": scale, "legend": legend},
        },
    }


def main():
    """Each controller beside the fixed limit."""
    fixed = panel("none: 400 packets", list(history("none")))
    for controller in ("ebdp", "alt", "astar"):
        axis = {"labelFontSize": 13, "titleFontSize": 14, "titleFontWeight": "normal", "gridColor": "#e6e6e6"}
        specification = {
            "background": "white",
            "padding": 12,
            "config": {"axis": axis, "legend": {"labelFontSize": 13}, "view": {"stroke": "#999"}},
            "hconcat": [fixed, panel(controller, list(history(controller)))],
            "spacing": 30,
        }
        picture = plots.library().vegalite_to_png(json.dumps(specification), scale=1.5)
        (pathlib.Path(__file__).parent / f"{controller}.png").write_bytes(picture)


if __name__ == "__main__":
    main()
