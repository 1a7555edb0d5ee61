"""Charts with the looks of the report."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _sluice
from ._errors import SluiceError, need
from ._table import Table

if TYPE_CHECKING:
    import altair

#: The report's colours and dashes.
COLOURS = ["#0072b2", "#d55e00", "#00875f", "#b8518e", "#b57b00", "#2b8ac4", "#4a4a55"]
DASHES = [[1, 0], [6, 3], [2, 3], [8, 3, 2, 3]]
CONFIG: dict[str, Any] = {
    "background": "#ffffff",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "#57606a",
        "titleColor": "#57606a",
        "domainColor": "#d4d9df",
        "tickColor": "#d4d9df",
        "gridColor": "#e7eaee",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "tickSize": 4,
        "titlePadding": 8,
        "labelPadding": 4,
    },
    "axisX": {"grid": False, "labelFlush": False},
    "axisY": {"domain": False, "ticks": False, "tickCount": 5, "minExtent": 34},
    "range": {"category": COLOURS},
}
#: Words for the last part of a column's name, and for a part within it.
STATISTICS = {"mean": "mean ", "max": "largest ", "min": "smallest ", "last": "last ", "p50": "median "}
WITHIN = {"mean": "mean ", "max": "largest "}
#: Units of columns by the end of their names.
UNITS = {"_s": "s", "_bps": "bit/s", "_bytes": "B", "_packets": "packets", "_ratio": "share"}


def plot_result(heading: str, series: Mapping[str, Table], totals: Mapping[str, Table], y: str | None) -> altair.Chart:
    """Draw a column of a run's tables by what their rows are of: over time where it is of a series, else as bars."""
    alt = _altair()
    if y is None:
        y = "delay_mean_s" if len(series["flow"]) else "delay_s.max"
    for name, table in series.items():
        if len(table) and y in table.columns:
            return _over_time(alt, table, name, y, heading)
    for name, table in totals.items():
        if y in table.columns:
            rows = [{name: row[name], "y": row[y]} for row in table.to_rows()]
            bars = alt.Chart(alt.Data(values=rows), title=heading).mark_bar()
            drawn = bars.encode(x=alt.X(f"{name}:N", title=name), y=alt.Y("y:Q", title=title(y)))
            chart: altair.Chart = _dressed(drawn)
            return chart
    if any(y in table.columns for table in series.values()):
        raise SluiceError(f'{y!r} is a time series, and none was recorded: run(series="100 ms")')
    known = dict.fromkeys(name for table in series.values() for name in table.columns[4:])
    raise SluiceError(f"no column is named {y!r}; of time series there are {', '.join(known)}")


def _over_time(alt: Any, table: Table, name: str, y: str, heading: str) -> altair.Chart:
    columns = zip(table["time_s"], table[name], table[y], strict=True)
    rows = [{"time_s": time, name: of, "y": value} for time, of, value in columns]
    lines = alt.Chart(alt.Data(values=rows), title=heading).mark_line(strokeWidth=1.5)
    drawn = lines.encode(
        x=alt.X("time_s:Q", title="time (s)"),
        y=alt.Y("y:Q", title=title(y)),
        color=alt.Color(f"{name}:N", title=None),
    )
    chart: altair.Chart = _dressed(drawn)
    return chart


def plot_runs(columns: Table, axes: Mapping[str, list[str]], x: str, y: str, colour: str | None) -> altair.LayerChart:
    """Draw mean and 95 % interval over the seeds, by the labels of an axis."""
    alt = _altair()
    rows = _summary(columns, x, y, colour)
    shade = {} if colour is None else {"color": alt.Color("colour:N", title=title(colour), sort=_labels(axes, colour))}
    labels = _labels(axes, x)
    numeric = labels is None
    axis = (
        alt.X("x:Q", title=title(x))
        if numeric
        else alt.X("x:N", title=title(x), sort=labels, axis=alt.Axis(labelAngle=0))
    )
    base = alt.Chart(alt.Data(values=rows))
    line = base.mark_line(point=True, strokeWidth=1.5).encode(x=axis, y=alt.Y("mean:Q", title=title(y)), **shade)
    spread = base.mark_rule().encode(x=axis, y=alt.Y("low:Q", title=title(y)), y2="high:Q", **shade)
    chart: altair.LayerChart = _dressed(alt.layer(spread, line))
    return chart


def _summary(columns: Table, x: str, y: str, colour: str | None) -> list[dict[str, Any]]:
    """Return mean and interval over the seeds for every case; several flows of a run are averaged first."""
    for name in (x, y, *([] if colour is None else [colour])):
        if name not in columns.columns:
            raise SluiceError(f"the table has no column {name!r}; there are {', '.join(columns.columns)}")
    hues: Sequence[Any] = [None] * len(columns) if colour is None else columns[colour]
    by_run: dict[tuple[Any, Any, int], list[float]] = {}
    for at, hue, seed, value in zip(columns[x], hues, columns["seed"], columns[y], strict=True):
        if value is not None:
            by_run.setdefault((at, hue, seed), []).append(float(value))
    by_case: dict[tuple[Any, Any], list[float]] = {}
    for (at, hue, _), values in by_run.items():
        by_case.setdefault((at, hue), []).append(sum(values) / len(values))
    rows = []
    for (at, hue), values in by_case.items():
        mean, low, high = _sluice.interval(values)
        rows.append({"x": at, "colour": hue, "mean": mean, "low": low, "high": high})
    return rows


def _labels(axes: Mapping[str, list[str]], axis: str) -> list[str] | None:
    """Return the labels of an axis in their order; None where they are numbers, or it is no axis."""
    labels = axes.get(axis, [])
    try:
        [float(label) for label in labels]
    except ValueError:
        return list(labels)
    return None


def title(column: str) -> str:
    """Name a column with its unit: ``delay_s.p95`` is '95th percentile of delay (s)'."""
    words = column.split(".")
    statistic = STATISTICS.get(words[-1]) or _percentile(words[-1])
    if statistic and len(words) > 1:
        words.pop()
    else:
        statistic = ""
    name = words[-1]
    for end, words_of in WITHIN.items():
        if f"_{end}_" in name:
            statistic, name = words_of, name.replace(f"_{end}_", "_")
    for end, unit in UNITS.items():
        if name.endswith(end):
            plain = name.removesuffix(end)
            plain = f"{plain} ratio" if end == "_ratio" else plain
            return f"{statistic}{plain} ({unit})".replace("_", " ")
    return f"{statistic}{name}".replace("_", " ")


def _percentile(word: str) -> str:
    """Name a percentile: ``p999`` is the 99.9th."""
    digits = word.removeprefix("p")
    if digits == word or not digits.isdecimal():
        return ""
    number = digits if len(digits) < 3 else f"{digits[:2]}.{digits[2:]}"
    ending = "th" if number[-2:] in ("11", "12", "13") else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    return f"{number}{ending} percentile of "


def save_chart(chart: altair.TopLevelMixin, path: str | os.PathLike[str]) -> None:
    """Save a chart of Altair as an HTML file that works offline: the charting library is in it.

    Parameters
    ----------
    chart
        What ``plot`` gave, or any chart of Altair.
    path
        The file to write.

    Raises
    ------
    RunError
        If this build of the package has no charting library.
    """
    spec = chart.to_json(indent=None)
    heading = json.loads(spec).get("title", "Chart")
    Path(path).write_text(_sluice.chart_page(heading if isinstance(heading, str) else "Chart", spec), encoding="utf-8")


def _dressed(chart: Any) -> Any:
    return chart.properties(width=520, height=260).configure(**CONFIG)


def _altair() -> Any:
    try:
        import altair
    except ImportError as error:
        raise need("Altair", "plot", "drawing") from error
    return altair
