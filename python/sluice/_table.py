"""Tables of results, in Arrow's format."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Protocol

from . import _sluice

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["Table"]

#: Number of rows that a notebook shows.
SHOWN = 20


class Columns(Protocol):
    """Contents of a table: columns with Arrow's PyCapsule interface."""

    @property
    def num_rows(self) -> int: ...

    @property
    def column_names(self) -> list[str]: ...

    def column(self, name: str) -> list[Any]: ...

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

    def __arrow_c_schema__(self) -> object: ...


class Table:
    """Rows of results. Columns are named as in ``sluice run --json``: ``delay_s.max``; SI units.

    Libraries that read Arrow's PyCapsule interface read a table without a copy: ``polars.DataFrame(table)``,
    ``pyarrow.table(table)``, ``duckdb.sql("select * from flows")``, ``pandas.DataFrame.from_arrow(table)``.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._columns.column_names

    def __len__(self) -> int:
        return self._columns.num_rows

    def __getitem__(self, name: str) -> list[Any]:
        """Return a column as a list; None where a run has no such value."""
        if name not in self.columns:
            raise KeyError(f"no column is named {name!r}; there are {', '.join(self.columns)}")
        return self._columns.column(name)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return all columns as lists, by their names."""
        return {name: self._columns.column(name) for name in self.columns}

    def to_rows(self) -> list[dict[str, Any]]:
        """Return all rows, each by the names of the columns."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_polars(self) -> polars.DataFrame:
        """Return the table to polars, which must be installed."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table to pandas, which must be installed; from 3.0 on it needs pyarrow."""
        import pandas

        if hasattr(pandas.DataFrame, "from_arrow"):
            return pandas.DataFrame.from_arrow(self)
        columns = self.to_dict().items()
        return pandas.DataFrame({name: pandas.Series(values, dtype=_pandas_type(values)) for name, values in columns})

    def __reduce__(self) -> tuple[object, ...]:
        """Tables travel between processes."""
        if not isinstance(self._columns, _sluice.Table):
            return (Table, (self._columns,))
        columns = [(name, kind, self[name]) for name, kind in zip(self.columns, self._columns.kinds, strict=True)]
        return (_again, (columns,))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._columns.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._columns.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<sluice.Table: {len(self)} rows, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        """Show the columns that have values, and the first rows."""
        columns = {name: values for name, values in self.to_dict().items() if any(v is not None for v in values)}
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        rows = zip(*(values[:SHOWN] for values in columns.values()), strict=True)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(_shown(v))}</td>" for v in row) + "</tr>" for row in rows)
        more = f"<p>{len(self)} rows</p>" if len(self) > SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _again(columns: list[tuple[str, str, list[Any]]]) -> Table:
    return Table(_sluice.Table.from_columns(columns))


def _pandas_type(values: list[Any]) -> str:
    """Return the type that pandas has for a column when it reads Arrow: with a missing value, a count is a float."""
    kinds = {type(value) for value in values}
    if kinds == {int}:
        return "uint64"
    if kinds == {bool}:
        return "bool"
    return "float64" if kinds <= {int, float, type(None)} else "object"


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
