#!/usr/bin/env python3
"""Draw docs/theory/*.png: predictions as lines, simulations as points with 95 % intervals. `make theory-plots`.

The lines come from `crates/theory/examples/curves.rs`, the points from `target/release/sluice` and the scenarios under
scenarios/reference, five seeds each. The pictures are Vega-Lite's, drawn by the package that `crates/lab/charts.py`
pins and installs below the target folder.
"""

import concurrent.futures
import csv
import dataclasses
import importlib
import io
import json
import math
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = ROOT / "target/release/sluice"
SEEDS = range(1, 6)
# Two-sided 95 % point of Student's t with 4 degrees of freedom.
STUDENT = 2.776
# What the name of a line ends with that the slot-exact reference has played; it is dashed.
EXACT = ", slot-exact"


def total(key):
    """The sum of a MAC counter over all nodes."""
    return lambda outcome: sum(node["mac"][key] for node in outcome["nodes"])


def ratio(part, whole):
    """Sum over sum; 0 where nothing happened."""
    return lambda outcome, _: sum(p(outcome) for p in part) / max(sum(w(outcome) for w in whole), 1)


def of_category(outcome, series):
    """Goodput in Mb/s of the flows of a category."""
    name = series.replace(" ", "-") + "-"
    return sum(flow["goodput_bps"] for flow in outcome["flows"] if flow["name"].startswith(name)) / 1e6


def limit_of_ap(outcome, series):
    """ALT's limit at the access point in packets: its mean, or its least, which it has at congestion events."""
    queues = {queue["name"]: queue for node in outcome["nodes"] if node["name"] == "ap" for queue in node["queues"]}
    limit = queues.get("be", {}).get("limit_packets")
    return limit["min" if "events" in series else "mean"] if limit else 0.0


MEASURES = {
    "throughput": lambda outcome, _: outcome["totals"]["goodput_bps"] / 1e6,
    "by_category": of_category,
    "limit": limit_of_ap,
    "collisions": ratio([total("collisions")], [total("attempts")]),
    "dropped": ratio([total("retry_drops")], [total("retry_drops"), total("delivered")]),
}


@dataclasses.dataclass(frozen=True)
class Point:
    """One network of a figure: where it is drawn, and how it is simulated."""

    series: str
    x: float
    scenario: str
    settings: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Figure:
    """One picture: a panel a measure."""

    name: str
    x_title: str
    panels: dict[str, str]
    points: tuple[Point, ...]
    log_x: bool = False


def saturated():
    """Saturated cells of 1 to 50 stations."""
    standards = {
        "802.11b": ("802.11b", "11 Mb/s", "1 Mb/s"),
        "802.11a and g": ("802.11a", "54 Mb/s", "6 Mb/s"),
    }
    for series, (standard, data, basic) in standards.items():
        for stations in (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50):
            settings = (
                f"radio.standard={standard}",
                f"radio.data_rate={data}",
                f"radio.basic_rate={basic}",
                f"nodes.count={stations + 1}",
            )
            yield Point(series, stations, "cell-b-10", settings)


def unsaturated():
    """Poisson packets: the offered load of all stations together in Mb/s."""
    for stations in (5, 10, 20):
        for offered in (0.6, 1.2, 1.8, 2.4, 3.0, 3.6, 4.2, 4.8, 5.4, 6.0):
            settings = (f"nodes.count={stations + 1}", f"flow.*.traffic.rate={offered * 1e6 / stations:.0f} b/s")
            yield Point(f"{stations} stations", offered, "theory-unsaturated", settings)


def hidden():
    """Two hidden senders by the packets' length."""
    for series, threshold in {"basic access": "off", "RTS/CTS": "0 B"}.items():
        for payload in (50, 200, 400, 600, 800, 1000, 1250, 1500, 1750, 2000):
            settings = (f"flow.*.traffic.packet={payload} B", f"mac.rts_threshold={threshold}")
            yield Point(series, payload, "theory-hidden", settings)


def edca():
    """Stations with three categories each."""
    for stations in range(1, 11):
        for series in ("voice", "video", "best effort"):
            yield Point(series, stations, "theory-edca", (f"nodes.count={stations + 1}",))


def alt():
    """One TCP flow through a buffer that ALT sizes."""
    for a1 in (2, 3, 4, 5, 6, 8, 10, 12, 15):
        for series in ("mean size", "size at congestion events"):
            yield Point(series, a1, "theory-alt", (f"node.ap.queue.alt.a1={a1}",))


COLLISIONS = "collision probability"
THROUGHPUT = "throughput of the cell (Mb/s)"
FIGURES = (
    Figure("saturated", "stations", {"throughput": THROUGHPUT, "collisions": COLLISIONS}, tuple(saturated()), True),
    Figure(
        "unsaturated",
        "offered by all stations (Mb/s)",
        {"throughput": THROUGHPUT, "collisions": COLLISIONS},
        tuple(unsaturated()),
    ),
    Figure(
        "hidden",
        "payload of a packet (B)",
        {"throughput": "throughput of both (Mb/s)", "dropped": "share of packets given up"},
        tuple(hidden()),
    ),
    Figure(
        "alt",
        "a1 (packets a second of idle time)",
        {"limit": "size of the buffer (packets)", "throughput": "throughput (Mb/s)"},
        tuple(alt()),
    ),
    Figure("edca", "stations", {"by_category": "throughput of the category (Mb/s)"}, tuple(edca())),
)


def simulate(point, seed):
    """One run's measures."""
    command = [SLUICE, "run", ROOT / f"scenarios/reference/{point.scenario}.toml", "--json", "--seed", str(seed)]
    for setting in point.settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"theory-plots: {' '.join(map(str, command))}\n{done.stderr}")
    outcome = json.loads(done.stdout)
    return {name: measure(outcome, point.series) for name, measure in MEASURES.items()}


def simulated(figure):
    """Rows of the figure's points: mean and 95 % interval over the seeds."""
    runs = [(point, seed) for point in figure.points for seed in SEEDS]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda run: simulate(*run), runs))
    for index, point in enumerate(figure.points):
        of_point = outcomes[index * len(SEEDS) : (index + 1) * len(SEEDS)]
        for measure in figure.panels:
            values = [outcome[measure] for outcome in of_point]
            mean, half = statistics.mean(values), STUDENT * statistics.stdev(values) / math.sqrt(len(values))
            where = {"series": point.series, "x": point.x, "measure": measure}
            yield where | {"value": mean, "low": mean - half, "high": mean + half}


def predicted():
    """Rows of all lines, by figure."""
    command = ["cargo", "run", "--quiet", "--release", "--locked", "-p", "sluice-theory", "--example", "curves"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    rows = {}
    for figure, series, x, measure, value in csv.reader(io.StringIO(done.stdout), delimiter="\t"):
        row = {"series": series, "x": float(x), "measure": measure, "value": float(value)}
        rows.setdefault(figure, []).append(row)
    return rows


def worst(figure, lines, points):
    """Prints how far the points are from the line at the same x: the largest difference of each panel."""
    line = {(row["series"], row["x"], row["measure"]): row["value"] for row in lines}
    for measure in figure.panels:
        here = [row for row in points if row["measure"] == measure]
        for ending in ("", EXACT):
            pairs = [(row, line[key]) for row in here if (key := (row["series"] + ending, row["x"], measure)) in line]
            if not pairs:
                continue
            row, value = max(pairs, key=lambda pair: abs(pair[0]["value"] - pair[1]))
            print(f"{figure.name} {measure}{ending}: {len(pairs)} points, worst at {row['series']}, ", end="")
            relative = 100 * (row["value"] / value - 1) if value else math.nan
            print(f"x = {row['x']}: {row['value']:.4f} simulated, {value:.4f} predicted ({relative:+.2f} %)")


def panel(figure, measure, title, lines, points):
    """A Vega-Lite layer: lines, intervals and points."""
    scale = {"type": "log", "nice": False} if figure.log_x else {"zero": True, "nice": True}
    ticks = {"values": [1, 2, 5, 10, 20, 50]} if figure.log_x else {"tickCount": 8}
    x = {"field": "x", "type": "quantitative", "title": figure.x_title, "scale": scale, "axis": ticks}
    order = list(dict.fromkeys(row["series"].removesuffix(EXACT) for row in lines))
    legend = {"title": None, "orient": "bottom", "symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 300}
    colour = {"field": "series", "type": "nominal", "sort": order, "legend": legend}
    colour["scale"] = {"range": ["#0b6fb8", "#d1610a", "#2b8a3e", "#8a3ab9"]}
    y = {"type": "quantitative", "title": title, "scale": {"zero": True, "domainMin": 0}}
    here = [row for row in points if row["measure"] == measure]
    solid = [row for row in lines if row["measure"] == measure and not row["series"].endswith(EXACT)]
    dashed = [row | {"series": row["series"].removesuffix(EXACT)} for row in lines if row["series"].endswith(EXACT)]
    return {
        "width": 380,
        "height": 300,
        "layer": [
            {
                "data": {"values": solid},
                "mark": {"type": "line", "strokeWidth": 1.6},
                "encoding": {"x": x, "y": {"field": "value", **y}, "color": colour},
            },
            {
                "data": {"values": dashed},
                "mark": {"type": "line", "strokeWidth": 1.6, "strokeDash": [5, 4]},
                "encoding": {"x": x, "y": {"field": "value", **y}, "color": colour},
            },
            {
                "data": {"values": here},
                "mark": {"type": "rule", "strokeWidth": 1.4},
                "encoding": {"x": x, "y": {"field": "low", **y}, "y2": {"field": "high"}, "color": colour},
            },
            {
                "data": {"values": here},
                "mark": {"type": "point", "filled": False, "size": 42, "strokeWidth": 1.6, "fill": "white"},
                "encoding": {"x": x, "y": {"field": "value", **y}, "color": colour},
            },
        ],
    }


def library():
    """The drawing library, installed if need be."""
    sys.path.insert(0, str(ROOT / "crates/lab"))
    charts = importlib.import_module("charts")
    if not (charts.SITE / "vl_convert").is_dir():
        charts.install()
    sys.path.insert(0, str(charts.SITE))
    return importlib.import_module("vl_convert")


def draw(figure, lines, points):
    """Writes the figure's picture beside this script."""
    vega = library()
    axis = {"labelFontSize": 13, "titleFontSize": 14, "titleFontWeight": "normal", "gridColor": "#e6e6e6"}
    specification = {
        "background": "white",
        "padding": 12,
        "config": {"axis": axis, "legend": {"labelFontSize": 13}, "view": {"stroke": "#999"}},
        "hconcat": [panel(figure, measure, title, lines, points) for measure, title in figure.panels.items()],
        "spacing": 30,
    }
    picture = vega.vegalite_to_png(json.dumps(specification), scale=1.5)
    (pathlib.Path(__file__).parent / f"{figure.name}.png").write_bytes(picture)


def main():
    """Draws the figures named on the command line, or all."""
    lines = predicted()
    for figure in FIGURES:
        if sys.argv[1:] and figure.name not in sys.argv[1:]:
            continue
        points = list(simulated(figure))
        worst(figure, lines[figure.name], points)
        draw(figure, lines[figure.name], points)


if __name__ == "__main__":
    main()
