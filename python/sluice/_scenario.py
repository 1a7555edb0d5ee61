"""Scenarios: loaded or built, changed, run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _sluice
from ._controller import Controller, decider, interval
from ._errors import ScenarioError
from ._table import Table
from ._values import checked_seed, dumps

if TYPE_CHECKING:
    import altair

__all__ = ["Result", "Scenario", "load"]


def load(path: str | os.PathLike[str]) -> Scenario:
    """Load a scenario's TOML file.

    Parameters
    ----------
    path
        The file, or the id of an experiment: ``"adth-s1a"``. Ids are looked up in ``./scenarios``; without such a
        folder, among the built-in experiments. Files that a scenario names are looked up in its folder.

    Raises
    ------
    ScenarioError
        If the file is missing or invalid; the error has the line and the nearest right name.
    """
    return Scenario(_sluice.Scenario.load(_sluice.scenario_file(os.fspath(path))))


class Scenario:
    """A network, its traffic and its queues, checked when it is made. It never changes.

    Parameters
    ----------
    keys
        The keys of a scenario file, nested as its tables are: ``{"title": ..., "queue": {"limit": 50}}``; quantities
        are text with a unit: ``"100 ms"``. Or the file's text.
    folder
        Folder of the files that the scenario names.

    Raises
    ------
    ScenarioError
        If the scenario is invalid. ``line`` refers to the scenario's text, see `text`.
    """

    _inner: _sluice.Scenario

    def __init__(
        self, keys: Mapping[str, Any] | str | _sluice.Scenario, *, folder: str | os.PathLike[str] = "."
    ) -> None:
        if isinstance(keys, _sluice.Scenario):
            self._inner = keys
            return
        text = keys if isinstance(keys, str) else _toml(keys)
        self._inner = _sluice.Scenario(text, "<scenario>", "scenario", os.fspath(Path(folder)), [])

    @property
    def id(self) -> str:
        """Its id: ``adth-s1a``."""
        return self._inner.id

    @property
    def title(self) -> str:
        """The title, in a line."""
        return self._inner.title

    @property
    def text(self) -> str:
        """The TOML text, without the keys that `replace` changed."""
        return self._inner.words[0]

    @property
    def changes(self) -> list[str]:
        """The keys that `replace` changed, with their values: ``queue.limit=50``."""
        return self._inner.words[-1]

    @property
    def axes(self) -> dict[str, list[str]]:
        """The axes of its own ``[vary]``: labels by axis."""
        return self._inner.axes

    @property
    def duration_s(self) -> float:
        """Simulated time of a run, in seconds."""
        return self._inner.duration_s

    def replace(self, changes: Mapping[str, Any]) -> Scenario:
        """Return the same scenario with other values.

        Parameters
        ----------
        changes
            Values by dotted path, as ``sluice run --set`` has them: ``{"queue.adth.target_delay": "200 ms"}``. Tables
            of an array are addressed by their name, all of them by ``*``: ``flow.forward.deadline``.
        """
        text, name, stem, folder, before = self._inner.words
        changed = [*before, *(setting(key, value) for key, value in changes.items())]
        return Scenario(_sluice.Scenario(text, name, stem, os.fspath(folder), changed))

    def run(
        self,
        seed: int = 1,
        *,
        series: str | None = None,
        controllers: Mapping[str, Controller] | None = None,
    ) -> Result:
        """Simulate the network once, without its ``[vary]``.

        Parameters
        ----------
        seed
            Seed of all random numbers: the same seed gives the same results everywhere.
        series
            Record time series with this spacing: ``"100 ms"``. Default: as in the scenario.
        controllers
            Controllers that are written in Python, by the queue at which they decide: a node (``"ap"``), if flows pass
            only one of its queues; or a node and one of its queues in the results (``"ap be"`` of EDCA's best effort,
            ``"ap laptop"`` of a station). The queue has no controller of its own (``queue.controller = "none"``).

        Raises
        ------
        RunError
            If the run ends early, or no flow passes a queue whose controller is given.
        """
        scenario = self if series is None else self.replace({"record.series": series})
        stop = _sluice.Stop()
        seed = checked_seed(seed)
        steered = [(queue, interval(each), decider(each)) for queue, each in (controllers or {}).items()]
        return Result(scenario, _sluice.run_steered(scenario._inner, seed, stop, steered))

    def __reduce__(self) -> tuple[object, ...]:
        """Scenarios travel between processes."""
        text, name, stem, folder, changes = self._inner.words
        return (_again, (text, name, stem, os.fspath(folder), changes))

    def __repr__(self) -> str:
        return f"<sluice.Scenario {self.id}: {self.title}>"


def loaded(scenario: Scenario | str | os.PathLike[str]) -> Scenario:
    """Return a scenario, which may be given by its file."""
    return scenario if isinstance(scenario, Scenario) else load(scenario)


def _again(text: str, name: str, stem: str, folder: str, changes: list[str]) -> Scenario:
    return Scenario(_sluice.Scenario(text, name, stem, folder, changes))


class Result:
    """Measurements of a run. The tables have the keys of ``sluice run --json`` as columns, see the page on results."""

    def __init__(self, scenario: Scenario, run: _sluice.Run) -> None:
        self.scenario = scenario
        self._run = run

    @property
    def seed(self) -> int:
        """The run's seed."""
        return self._run.seed

    @property
    def warnings(self) -> list[str]:
        """Warnings about parameters that may give bad results."""
        return self._run.warnings

    @property
    def totals(self) -> Table:
        """The network as a whole: one row."""
        return Table(self._run.table("runs"))

    @property
    def flows(self) -> Table:
        """A row for each flow."""
        return Table(self._run.table("flows"))

    @property
    def nodes(self) -> Table:
        """A row for each node: its medium access and routing."""
        return Table(self._run.table("nodes"))

    @property
    def queues(self) -> Table:
        """A row for each queue of a node."""
        return Table(self._run.table("queues"))

    @property
    def hops(self) -> Table:
        """A row for each neighbour to which a node sent."""
        return Table(self._run.table("hops"))

    @property
    def flow_series(self) -> Table:
        """Flows over time: a row for each flow and step. Empty if no series were recorded."""
        return Table(self._run.table("flow_series"))

    @property
    def queue_series(self) -> Table:
        """Queues over time: a row for each queue and step. Empty if no series were recorded."""
        return Table(self._run.table("queue_series"))

    @property
    def claims(self) -> Table:
        """The verdicts on the scenario's claims about a single run."""
        return Table(self._run.table("claims"))

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``sluice run --json`` prints."""
        value: dict[str, Any] = json.loads(self._run.json())
        return value

    def plot(self, y: str | None = None) -> altair.Chart:
        """Draw a result with Altair, which must be installed.

        Parameters
        ----------
        y
            A column of `flow_series` or `queue_series` over time (``"delay_max_s"``, ``"limit"``), or of `flows` or
            `queues` as bars (``"delay_s.p99"``). Default: the delays over time where series were recorded, else the
            largest delays.
        """
        from ._plot import plot_result

        series = {"flow": self.flow_series, "queue": self.queue_series}
        return plot_result(self.scenario.title, series, {"flow": self.flows, "node": self.queues}, y)

    def __reduce__(self) -> tuple[object, ...]:
        """Results travel between processes."""
        return (_result_again, (self.scenario, self._run.to_json()))

    def __repr__(self) -> str:
        return f"<sluice.Result of {self.scenario.id}, seed {self.seed}>"

    def __str__(self) -> str:
        return self._run.text(120)

    def _repr_html_(self) -> str:
        shown = ["flow", "from", "to", "goodput_bps", "loss_ratio", "delay_s.mean", "delay_s.p99", "delay_s.max"]
        flows = self.flows.to_dict()
        return Table(_Lists({name: flows[name] for name in shown}))._repr_html_()


def _result_again(scenario: Scenario, run: bytes) -> Result:
    return Result(scenario, _sluice.Run.from_json(run))


class _Lists:
    """Columns that are lists, for display."""

    def __init__(self, lists: dict[str, list[Any]]) -> None:
        self._lists = lists

    @property
    def num_rows(self) -> int:
        return len(next(iter(self._lists.values()), []))

    @property
    def column_names(self) -> list[str]:
        return list(self._lists)

    def column(self, name: str) -> list[Any]:
        return self._lists[name]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        raise NotImplementedError

    def __arrow_c_schema__(self) -> object:
        raise NotImplementedError


def setting(key: str, value: object) -> str:
    """Write a changed key as ``key=value``, the value in TOML."""
    return f"{key}={_value(key, value)}"


def _value(key: str, value: object) -> str:
    try:
        return _sluice.toml_value_from_json(dumps(value))
    except (TypeError, ValueError) as error:
        raise ScenarioError(f"{key}: {value!r} cannot be written in a scenario: {error}", change=key) from error


def _toml(keys: Mapping[str, Any]) -> str:
    try:
        return _sluice.toml_from_json(dumps(keys))
    except (TypeError, ValueError) as error:
        raise ScenarioError(f"these keys cannot be written in a scenario: {error}") from error
