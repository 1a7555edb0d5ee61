"""Results of a sweep in a folder: Parquet files, a data set for each table."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _sluice
from ._errors import StoreError, need
from ._table import Table

if TYPE_CHECKING:
    import polars

#: What a manifest says of a sweep, in words for messages.
PARTS = {
    "version": "version of Sluice",
    "build": "build of Sluice",
    "id": "scenario",
    "text": "scenario file",
    "set": "changed keys",
    "axes": "axes",
    "chunk": "size of chunks",
}


@dataclass(frozen=True)
class Spec:
    """All that a sweep's results depend on; each worker gets it."""

    text: str
    name: str
    stem: str
    folder: str
    set: tuple[str, ...]
    over: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...] | None
    seeds: tuple[int, ...] | None
    build: str
    chunk: int
    blocks: tuple[int, ...] | None

    def plan(self) -> _sluice.Plan:
        """Read the scenario and lay out the runs."""
        over = None
        if self.over is not None:
            over = [(axis, [(label, list(sets)) for label, sets in values]) for axis, values in self.over]
        seeds = None if self.seeds is None else list(self.seeds)
        blocks = None if self.blocks is None else list(self.blocks)
        scenario = _sluice.Scenario(self.text, self.name, self.stem, self.folder, list(self.set))
        return _sluice.Plan(scenario, over, seeds, self.build, self.chunk, blocks)


class Store:
    """A folder that holds one sweep.

    ``manifest.json`` describes the sweep. ``TABLE/KEY.parquet`` holds a table of a chunk of runs, and ``done/KEY``
    shows that the chunk is complete. Every file appears completely or not at all.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def open(cls, folder: Path, plan: _sluice.Plan, spec: Spec) -> Store:
        """Make the folder, or continue the sweep that it holds.

        Raises
        ------
        StoreError
            If it holds another sweep, or cannot be written to.
        """
        _polars()
        seeds = plan.seeds
        blocks = [[seeds.pop(0) for _ in range(size)] for size in spec.blocks or [len(seeds)]]
        manifest: dict[str, Any] = {
            "version": _sluice.VERSION,
            "build": spec.build,
            "id": plan.id,
            "text": hashlib.blake2b(spec.text.encode()).hexdigest()[:32],
            "set": list(spec.set),
            "axes": [[axis, labels] for axis, labels in plan.axes],
            "networks": plan.networks(),
            "chunk": spec.chunk,
            "blocks": blocks,
        }
        store = cls(folder)
        path = folder / "manifest.json"
        try:
            if path.exists():
                there = json.loads(path.read_text())
                store._compare(there, manifest)
                store._tidy()
                if len(blocks) > len(there["blocks"]):
                    _write(path, json.dumps(manifest, indent=1).encode())
                return store
            if folder.exists() and any(folder.iterdir()):
                raise StoreError(f"{folder} holds other files than a sweep's; name another folder")
            for part in (*_sluice.TABLES, "done"):
                (folder / part).mkdir(parents=True, exist_ok=True)
            _write(path, json.dumps(manifest, indent=1).encode())
        except OSError as error:
            raise StoreError(f"cannot keep results in {folder}: {error}") from error
        except json.JSONDecodeError as error:
            raise StoreError(f"{path} is damaged: {error}; name another folder") from error
        return store

    def _compare(self, there: dict[str, Any], ours: dict[str, Any]) -> None:
        for part, words in PARTS.items():
            if there.get(part) != ours[part]:
                raise StoreError(
                    f"{self.folder} holds results of another sweep: the {words} was {_short(there.get(part))}, now it "
                    f"is {_short(ours[part])}; name another folder"
                )
        old, new = ([seed for block in one["blocks"] for seed in block] for one in (there, ours))
        if old[: len(new)] != new[: len(old)]:
            raise StoreError(
                f"{self.folder} holds results of another sweep: the seeds were {_short(old)}, now they are "
                f"{_short(new)}, and neither begins with the other; name another folder"
            )
        if there.get("networks") != ours["networks"]:
            raise StoreError(
                f"{self.folder} holds results of another sweep: its networks differ, by values or by files that they "
                "name; name another folder"
            )

    @staticmethod
    def blocks(folder: Path, seeds: Sequence[int]) -> list[int]:
        """Return how many seeds each call added: stored seeds keep their chunks, new seeds are added."""
        try:
            there = json.loads((folder / "manifest.json").read_text())["blocks"]
        except (OSError, ValueError, KeyError, TypeError):
            return [len(seeds)]
        sizes: list[int] = []
        left = len(seeds)
        for size in [*map(len, there), left]:
            if left:
                sizes.append(min(size, left))
                left -= sizes[-1]
        return sizes

    def _tidy(self) -> None:
        """Remove partial files of processes that were killed while writing."""
        for part in self.folder.glob("*/.*.*"):
            process = part.suffix[1:]
            if process.isdecimal() and not _runs(int(process)):
                part.unlink(missing_ok=True)

    def has(self, key: str) -> bool:
        """Return whether a chunk is complete."""
        return (self.folder / "done" / key).exists()

    def keep(self, key: str, chunk: _sluice.Chunk) -> None:
        """Store a chunk; a chunk with failed runs is run again the next time."""
        polars = _polars()
        try:
            for name in _sluice.TABLES:
                frame = polars.DataFrame(chunk.table(name))
                if frame.height or not name.endswith("_series"):
                    path = self._path(name, key)
                    with _beside(path) as part:
                        frame.write_parquet(part)
            if not chunk.failures:
                _write(self.folder / "done" / key, b"")
        except OSError as error:
            raise StoreError(f"cannot keep results in {self.folder}: {error}") from error

    def table(self, name: str, keys: Sequence[str]) -> Table:
        """Read a table of all stored chunks, in the sweep's order."""
        polars = _polars()
        if name not in _sluice.TABLES:
            raise KeyError(f"there is no table {name!r}; there are {', '.join(_sluice.TABLES)}")
        paths = [path for key in keys if (path := self._path(name, key)).exists()]
        if not paths:
            raise StoreError(f"{self.folder} holds no {name}: no run recorded them")
        return Table(Frame(polars.read_parquet(paths)))

    def _path(self, name: str, key: str) -> Path:
        return self.folder / name / f"{key}.parquet"


class Frame:
    """Columns of a polars frame."""

    def __init__(self, frame: polars.DataFrame) -> None:
        self._frame = frame

    @property
    def num_rows(self) -> int:
        """Count the rows."""
        return self._frame.height

    @property
    def column_names(self) -> list[str]:
        """Name the columns."""
        return self._frame.columns

    def column(self, name: str) -> list[Any]:
        """Return a column as a list."""
        values: list[Any] = self._frame[name].to_list()
        return values

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        stream: object = self._frame.__arrow_c_stream__(requested_schema)
        return stream

    def __arrow_c_schema__(self) -> object:

        return self._frame.head(0).to_arrow().schema.__arrow_c_schema__()


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


@contextlib.contextmanager
def _beside(path: Path) -> Any:
    """Return a temporary name beside a file, for writing it."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Return whether a process of this machine exists."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _write(path: Path, content: bytes) -> None:
    with _beside(path) as part:
        part.write_bytes(content)


def _polars() -> Any:
    try:
        import polars
    except ImportError as error:
        raise need("polars", "store", "a store") from error
    return polars
