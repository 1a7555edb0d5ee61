"""What a scenario claims, and whether it holds."""

from __future__ import annotations

import concurrent.futures
import os
import tempfile

from . import _sluice
from ._scenario import Scenario, load
from ._sweep import build
from ._table import Table

__all__ = ["claims"]


def claims(
    scenario: Scenario | str | os.PathLike[str],
    *,
    seeds: int | None = None,
    quick: bool = False,
    store: str | os.PathLike[str] | None = None,
) -> Table:
    """Run a scenario with everything that it varies, and rule on its claims, as ``sluice reproduce`` does.

    Parameters
    ----------
    scenario
        A scenario or its file, with ``[[claim]]``.
    seeds
        How many seeds in the place of the scenario's. With fewer, claims may come out as ``needs-full-runs``.
    quick
        Three seeds, and the shorter runs of the scenario's table ``quick``.
    store
        A folder for the results, as ``sluice reproduce --out`` makes it: runs that are there already are not made
        again, and ``sluice report`` makes a page of it. Default: nothing is kept.

    Returns
    -------
    Table
        A row for each verdict, with the keys of the results' ``claims[]``: ``id``, ``says`` (the claim), ``source``
        (where the document says so), ``reported`` (what it reports), ``measured`` (ours) with its 95 % interval ``low``
        and ``high`` and their ``unit``, ``verdict`` (``holds``, ``differs``, ``not-confirmed``, ``needs-full-runs``),
        and more; where a claim does not hold, ``why`` and ``why_page``: what is written about it, and where.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run with these seeds.
    StoreError
        If results cannot be kept in the folder.
    RunError
        If a run does not come to its end.
    """
    read = scenario if isinstance(scenario, Scenario) else load(scenario)
    if store is not None:
        return _claims(read, seeds, quick, os.fspath(store))
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        return _claims(read, seeds, quick, folder)


def _claims(scenario: Scenario, seeds: int | None, quick: bool, folder: str) -> Table:
    stop = _sluice.Stop()
    # In a thread of its own, so that Ctrl-C is heard while the runs are made.
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        ruled = thread.submit(_sluice.claims, scenario._inner, seeds, quick, folder, build(), stop)
        try:
            return Table(ruled.result())
        except BaseException:
            stop.stop()
            raise
