"""Sweeps: every combination of values with every seed, run by any executor."""

from __future__ import annotations

import concurrent.futures
import hashlib
import itertools
import math
import os
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import _sluice
from ._errors import SluiceError
from ._runs import Runs
from ._scenario import Scenario, loaded, setting
from ._store import Spec, Store
from ._table import Table
from ._values import listed, seeds_of, text_of, whole

__all__ = ["Failure", "Sweep", "sweep"]

#: Seconds that a chunk simulates; at the usual thousand times real time it takes a second or more.
CHUNK_S = 2000.0
#: Most runs of a chunk, so that little is lost when a chunk is lost.
MOST_RUNS = 500
#: Chunks per worker that are handed out before they are needed.
AHEAD = 2

#: A value of an axis: its label, and its settings.
Value = tuple[str, list[str]]


@dataclass(frozen=True)
class Failure:
    """A run that ended early.

    Attributes
    ----------
    case : dict
        The label of the value of every axis.
    seed : int
        The run's seed.
    message : str
        The error message.
    """

    case: dict[str, str]
    seed: int
    message: str


def sweep(
    scenario: Scenario | str | os.PathLike[str],
    over: Mapping[str, Sequence[Any] | Mapping[str, Mapping[str, Any]]] | None = None,
    *,
    seeds: int | Iterable[int] | None = None,
    store: str | os.PathLike[str] | None = None,
    executor: concurrent.futures.Executor | None = None,
    threads: int | None = None,
    chunk: int | None = None,
    progress: bool | None = None,
) -> Sweep:
    """Run every combination of values with every seed.

    Parameters
    ----------
    scenario
        A scenario or its file.
    over
        The axes: lists of values by dotted path, ``{"queue.limit": [50, 100]}``, or labelled changes by a name of your
        choice, ``{"scheme": {"FIFO": {"queue.controller": "none"}, "ADTH": {}}}``. Default: the scenario's ``[vary]``.
    seeds
        Number of seeds (1, 2, ...), or a list of seeds. Default: the scenario's.
    store
        A folder in which results are stored as runs finish, as Parquet files: one data set for each table, read by
        ``store/flows/*.parquet``. An interrupted sweep runs only the runs that the folder lacks. With more seeds than
        are stored only the new seeds are run; their rows follow the stored rows. Needs polars.
    executor
        Executor of the runs: any `concurrent.futures.Executor`, or `sluice.ray`. Default: threads of this process, with
        the interpreter released.
    threads
        Number of threads without an executor. Default: one for each processor. Results do not depend on it.
    chunk
        Number of runs that are handed out and stored together. Default: as many as simulate 2000 s.
    progress
        Show the progress on standard error. Default: if standard error is a terminal.

    Returns
    -------
    Sweep
        The results, and the runs that failed.

    Raises
    ------
    ScenarioError
        If a value does not fit.
    StoreError
        If the folder holds results of another scenario, version or sweep.
    KeyboardInterrupt
        On Ctrl-C. Finished runs are kept in the store.
    """
    scenario = loaded(scenario)
    threads = None if threads is None else whole("threads", threads, 1)
    chunk = None if chunk is None else whole("chunk", chunk, 1)
    inner = scenario._inner
    axes = None if over is None and seeds is None else _axes(scenario, over)
    numbers = None if seeds is None else seeds_of(seeds)
    if numbers is None and axes is not None:
        numbers = inner.seeds
    runs = max(1, math.ceil(CHUNK_S / inner.duration_s)) if chunk is None else chunk
    text, name, stem, folder, changes = inner.words
    spec = Spec(
        text,
        name,
        stem,
        os.fspath(Path(folder).absolute()),
        tuple(changes),
        axes,
        None if numbers is None else tuple(numbers),
        build(),
        min(runs, MOST_RUNS),
        None if store is None else tuple(Store.blocks(Path(store), inner.seeds if numbers is None else numbers)),
    )
    plan = spec.plan()
    kept = None if store is None else Store.open(Path(store), plan, spec)
    done = Sweep(spec, plan, kept)
    missing = [number for number, key in enumerate(done.keys) if kept is None or not kept.has(key)]
    bar = Bar(len(done.keys), len(done.keys) - len(missing), progress)
    stop = _sluice.Stop()
    workers = threads or os.cpu_count() or 1
    pool = concurrent.futures.ThreadPoolExecutor(workers) if executor is None else executor
    local = isinstance(pool, concurrent.futures.ThreadPoolExecutor)
    ahead = AHEAD * max(workers, getattr(pool, "_max_workers", 0) or getattr(pool, "workers", 0))

    def submit(number: int) -> concurrent.futures.Future[Any]:
        return pool.submit(plan.run, number, stop) if local else pool.submit(run_elsewhere, spec, number)

    try:
        for number, chunk_done in _in_flight(submit, missing, ahead):
            if chunk_done is None:
                raise SluiceError("the sweep was stopped")
            done._take(number, _sluice.Chunk.from_json(chunk_done) if isinstance(chunk_done, bytes) else chunk_done)
            bar.step()
    except BaseException:
        stop.stop()
        raise
    finally:
        bar.end()
        if executor is None:
            pool.shutdown(cancel_futures=True)
    if done.failures:
        first = done.failures[0]
        warnings.warn(
            f"{len(done.failures)} of {plan.runs} runs failed, see `failures`; the first with seed {first.seed}: "
            f"{first.message}",
            RuntimeWarning,
            stacklevel=2,
        )
    return done


def _in_flight(submit: Any, numbers: Sequence[int], most: int) -> Iterator[tuple[int, Any]]:
    """Yield the chunks as they finish, with a bounded number handed out at a time."""
    left = iter(numbers)
    running = {submit(number): number for number in itertools.islice(left, most)}
    try:
        while running:
            finished, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in finished:
                number = running.pop(future)
                yield number, future.result()
                for following in itertools.islice(left, 1):
                    running[submit(following)] = following
    finally:
        for future in running:
            future.cancel()


class Sweep(Runs):
    """The results of a sweep: tables as of a single run, with a column for each axis.

    Attributes
    ----------
    failures : list of Failure
        The failed runs. They are repeated when the sweep is run again with its store.
    """

    def __init__(self, spec: Spec, plan: _sluice.Plan, store: Store | None) -> None:
        self._spec = spec
        self._plan = plan
        self._store = store
        self._chunks: dict[int, _sluice.Chunk] = {}
        self.keys = plan.keys()
        self.failures: list[Failure] = []

    @property
    def axes(self) -> list[tuple[str, list[str]]]:
        """The axes with their labels."""
        return self._plan.axes

    @property
    def seeds(self) -> list[int]:
        """The seeds of every case."""
        return self._plan.seeds

    def __len__(self) -> int:
        """Return the number of requested runs."""
        return self._plan.runs

    def _take(self, number: int, chunk: _sluice.Chunk) -> None:
        self.failures += [Failure(*failure) for failure in chunk.failures]
        if self._store is None:
            self._chunks[number] = chunk
        else:
            self._store.keep(self.keys[number], chunk)

    def table(self, name: str) -> Table:
        """Return one of the tables by its name: ``"flows"``."""
        if self._store is not None:
            return self._store.table(name, self.keys)
        chunks = [self._chunks[number].table(name) for number in sorted(self._chunks)]
        return Table(_sluice.Table.concat(chunks))

    def __reduce__(self) -> tuple[object, ...]:
        """Sweeps travel between processes; what a store holds stays in its folder."""
        chunks = {number: chunk.to_json() for number, chunk in self._chunks.items()}
        return (_again, (self._spec, self._store, chunks, self.failures))

    def __repr__(self) -> str:
        axes = " x ".join(f"{len(labels)} {axis}" for axis, labels in self.axes)
        return f"<sluice.Sweep: {len(self)} runs ({axes or 'one case'}, {len(self.seeds)} seeds)>"


def _again(spec: Spec, store: Store | None, chunks: dict[int, bytes], failures: list[Failure]) -> Sweep:
    sweep = Sweep(spec, spec.plan(), store)
    sweep._chunks = {number: _sluice.Chunk.from_json(chunk) for number, chunk in chunks.items()}
    sweep.failures = failures
    return sweep


def run_elsewhere(spec: Spec, number: int) -> bytes:
    """Make the runs of a chunk in another process: the function that workers get."""
    if not spec.build.startswith(_build()):
        raise SluiceError("this worker has another build of Sluice: results of different builds are never mixed")
    done = _plan(spec).run(number, _sluice.Stop())
    if done is None:
        raise SluiceError("the chunk was stopped")
    return done.to_json()


@lru_cache(maxsize=4)
def _plan(spec: Spec) -> _sluice.Plan:
    return spec.plan()


#: A number that each registration of a discipline has to itself.
registered = ""


def build() -> str:
    """Return a name of this build of Sluice: results of other builds must not be reused."""
    return _build() + registered


@lru_cache(maxsize=1)
def _build() -> str:
    return hashlib.blake2b(Path(_sluice.__file__).read_bytes()).hexdigest()[:32]


def _axes(
    scenario: Scenario, over: Mapping[str, Sequence[Any] | Mapping[str, Mapping[str, Any]]] | None
) -> tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...] | None:
    if over is None:
        if scenario.axes:
            return None
        over = {}
    axes = []
    for axis, values in over.items():
        if isinstance(values, Mapping):
            chosen = [(label, tuple(setting(*change) for change in sets.items())) for label, sets in values.items()]
        else:
            chosen = [_value(axis, value) for value in listed(values) or []]
        if not chosen:
            raise SluiceError(f"over[{axis!r}]: expected a list of values, or changes by their labels")
        axes.append((axis, tuple(chosen)))
    return tuple(axes)


def _value(axis: str, value: object) -> tuple[str, tuple[str, ...]]:
    text, change = text_of(value), setting(axis, value)
    return change.split("=", 1)[1] if text is None else text, (change,)


class Bar:
    """A line on the terminal with the progress of a sweep and the estimated remaining time."""

    def __init__(self, total: int, done: int, wanted: bool | None) -> None:
        self.total = total
        self.done = done
        self.before = done
        self.began = time.monotonic()
        self.shown = sys.stderr.isatty() if wanted is None else wanted
        self._show()

    def step(self) -> None:
        """Count one more chunk."""
        self.done += 1
        self._show()

    def _show(self) -> None:
        if self.shown and self.total:
            share = self.done / self.total
            filled = int(30 * share)
            bar = f"\r[{'#' * filled}{'.' * (30 - filled)}] {share:4.0%}{self._left():<24}"
            print(bar, end="", file=sys.stderr, flush=True)

    def _left(self) -> str:
        made, left = self.done - self.before, self.total - self.done
        if not made or not left:
            return ""
        seconds = round((time.monotonic() - self.began) / made * left)
        hours, minutes = divmod(seconds // 60, 60)
        span = f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds % 60} s" if minutes else f"{seconds} s"
        return f"  about {span} left"

    def end(self) -> None:
        """Leave the line."""
        if self.shown and self.total:
            print(file=sys.stderr)
