"""Whole experiments: every case with every seed, verdicts, a report, and one's own controllers beside them."""

from __future__ import annotations

import concurrent.futures
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from . import _sluice
from ._controller import Controller, Decide, Site, decider, interval
from ._errors import SluiceError
from ._runs import Runs
from ._scenario import Scenario, loaded
from ._sweep import build
from ._table import Table
from ._values import whole

__all__ = ["Reproduction", "claims", "reproduce"]

#: What the compiled part is given for a baseline: from a case, a seed and the queues to the intervals and what decides.
Make = Callable[[dict[str, str], int, list[tuple[str, str, int | None, float | None]]], list[tuple[float, Decide]]]


class Reproduction(Runs):
    """A whole experiment: all its runs, the verdicts on its claims, and its report."""

    def __init__(self, study: _sluice.Study) -> None:
        self._study = study

    @property
    def axes(self) -> list[tuple[str, list[str]]]:
        """The axes with their labels; labels of baselines come last."""
        return self._study.axes

    @property
    def seeds(self) -> list[int]:
        """The seeds of every case."""
        return self._study.seeds

    def __len__(self) -> int:
        """Count the runs."""
        return len(self._study)

    def table(self, name: str) -> Table:
        """Return one of the tables by its name: ``"flows"``."""
        return Table(self._study.table(name))

    @property
    def claims(self) -> Table:
        """The verdicts, see `claims`."""
        return self.table("claims")

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report of ``sluice reproduce``, one HTML file with the claims and charts.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        StoreError
            If the file cannot be written.
        RunError
            If this build has no charting library.
        """
        self._study.report(os.fspath(path))

    def __reduce__(self) -> tuple[object, ...]:
        """Reproductions travel between processes."""
        return (_again, (self._study.to_json(),))

    def __str__(self) -> str:
        return self._study.text(120)

    def __repr__(self) -> str:
        return f"<sluice.Reproduction of {self._study.id}: {len(self)} runs>"


def _again(study: bytes) -> Reproduction:
    return Reproduction(_sluice.Study.from_json(study))


def reproduce(
    scenario: Scenario | str | os.PathLike[str],
    *,
    baselines: Mapping[str, Callable[[Site], Controller]] | None = None,
    like: str | None = None,
    seeds: int | None = None,
    quick: bool = False,
    store: str | os.PathLike[str] | None = None,
) -> Reproduction:
    """Run a scenario with everything that it varies, and rule on its claims, as ``sluice reproduce`` does.

    Parameters
    ----------
    scenario
        A scenario or its file.
    baselines
        Controllers that are written in Python, to be compared with those of the scenario: by a label of your choice,
        what makes a controller for a queue, a class or a function. It is called anew for every queue of every run. The
        label stands beside the scenario's labels in tables, charts and the report; claims are about the scenario's own
        labels. A baseline's runs differ only in the controllers from the runs of the label that `like` names. They are
        made anew each time, because nothing tells whether the code has changed. In the results their queues have the
        controller ``none``, and no target.
    like
        The label beside which the baselines stand, as ``axis=label``: ``"scheme=ADTH-DF"``. They become an additional
        label of that axis, and decide at the queues that have a controller with that label. Default: the first label
        whose cases all have a controller, in the order of the axes.
    seeds
        Number of seeds instead of the scenario's. With fewer, claims may be ruled ``needs-full-runs``.
    quick
        Instead: three seeds, and the shorter runs of the scenario's table ``quick``.
    store
        A folder for the results, as ``sluice reproduce --out`` makes it: stored runs are not repeated, and ``sluice
        report`` makes a page of them. Default: nothing is kept.

    Returns
    -------
    Reproduction
        The runs as tables, the verdicts, the report.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run with these seeds, or has no place for a baseline.
    StoreError
        If results cannot be kept in the folder.
    RunError
        If a run does not come to its end.
    SluiceError
        If a controller gives an impossible order. Exceptions of the controller itself pass through.
    KeyboardInterrupt
        On Ctrl-C. Finished runs are kept in the store.
    """
    if seeds is not None:
        seeds, quick = whole("seeds", seeds, 1), bool(quick)
        if quick:
            raise SluiceError("seeds: leave them out with `quick`, which has three")
    read = loaded(scenario)
    makes = [(label, _maker(made)) for label, made in (baselines or {}).items()]
    if store is not None:
        return _reproduce(read, makes, like, seeds, quick, os.fspath(store))
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        return _reproduce(read, makes, like, seeds, quick, folder)


def claims(
    scenario: Scenario | str | os.PathLike[str],
    *,
    seeds: int | None = None,
    quick: bool = False,
    store: str | os.PathLike[str] | None = None,
) -> Table:
    """Return the verdicts on a scenario's claims: `reproduce` without the runs.

    Parameters
    ----------
    scenario, seeds, quick, store
        As of `reproduce`.

    Returns
    -------
    Table
        A row for each verdict, with the keys of the results' ``claims[]``: ``id``, ``says`` (the claim), ``source``
        (where the document says so), ``reported`` (what it reports), ``measured`` (ours) with its 95 % interval ``low``
        and ``high`` and their ``unit``, ``verdict`` (``holds``, ``not-refuted``, ``better``, ``differs``,
        ``not-confirmed``, ``too-few-seeds``, ``needs-full-runs``), ``why`` it does not hold and the ``cause`` (as the
        scenario says), and more.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run with these seeds.
    StoreError
        If results cannot be kept in the folder.
    RunError
        If a run does not come to its end.
    """
    return reproduce(scenario, seeds=seeds, quick=quick, store=store).claims


def _maker(make: Callable[[Site], Controller]) -> Make:
    def made(
        case: dict[str, str], seed: int, places: list[tuple[str, str, int | None, float | None]]
    ) -> list[tuple[float, Decide]]:
        sites = [Site(case, seed, *place) for place in places]
        controllers = [make(site) for site in sites]
        return [(interval(each), _told(decider(each), site)) for each, site in zip(controllers, sites, strict=True)]

    return made


def _told(decide: Decide, site: Site) -> Decide:
    """Add to an exception the run in which it was raised."""

    def told(measured: dict[str, Any]) -> tuple[int, float | None]:
        try:
            return decide(measured)
        except Exception as error:
            if sys.version_info >= (3, 11):
                case = ", ".join(f"{axis} = {label}" for axis, label in site.case.items())
                error.add_note(f"in the controller of {site.node} {site.queue}, seed {site.seed}, {case}")
            raise

    return told


def _reproduce(
    scenario: Scenario, makes: list[tuple[str, Any]], like: str | None, seeds: int | None, quick: bool, folder: str
) -> Reproduction:
    stop = _sluice.Stop()
    # In a thread of its own, so that Ctrl-C is heard while the runs are made.
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        done = thread.submit(_sluice.reproduce, scenario._inner, makes, like, seeds, quick, folder, build(), stop)
        try:
            return Reproduction(done.result())
        except BaseException:
            stop.stop()
            raise
