"""Common parts of the results of many runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ._table import Table

if TYPE_CHECKING:
    import altair

__all__ = ["Runs"]


class Runs(ABC):
    """Results of many runs: tables as of a single run, with a column for each axis."""

    @property
    @abstractmethod
    def axes(self) -> list[tuple[str, list[str]]]:
        """The axes with their labels."""

    @property
    @abstractmethod
    def seeds(self) -> list[int]:
        """The seeds of every case."""

    @abstractmethod
    def table(self, name: str) -> Table:
        """Return one of the tables by its name: ``"flows"``."""

    @property
    def runs(self) -> Table:
        """The network as a whole: a row for each run."""
        return self.table("runs")

    @property
    def flows(self) -> Table:
        """A row for each flow of each run."""
        return self.table("flows")

    @property
    def nodes(self) -> Table:
        """A row for each node of each run."""
        return self.table("nodes")

    @property
    def queues(self) -> Table:
        """A row for each queue of each run."""
        return self.table("queues")

    @property
    def hops(self) -> Table:
        """A row for each neighbour that a node of a run sent to."""
        return self.table("hops")

    @property
    def flow_series(self) -> Table:
        """Flows over time, of the first seed of each case."""
        return self.table("flow_series")

    @property
    def queue_series(self) -> Table:
        """Queues over time, of the first seed of each case."""
        return self.table("queue_series")

    @property
    def cost(self) -> Table:
        """What each run took: the only results that differ from machine to machine."""
        return self.table("cost")

    def plot(self, x: str, y: str, *, colour: str | None = None, table: str = "flows") -> altair.LayerChart:
        """Draw mean and 95 % interval over the seeds with Altair.

        Parameters
        ----------
        x, colour
            Axes of the sweep, or other columns of the table: ``"flow"``.
        y
            A column of the table: ``"delay_s.p99"``. Rows of the same run, axes and colour are averaged first.
        table
            The table.
        """
        from ._plot import plot_runs

        return plot_runs(self.table(table), dict(self.axes), x, y, colour)
