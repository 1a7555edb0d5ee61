"""Controllers that are written in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from operator import index
from typing import Any, Protocol

from ._errors import SluiceError

__all__ = ["Controller", "Interval", "Orders", "Site"]


@dataclass(frozen=True)
class Interval:
    """What a queue measured since the last decision. Times are in seconds; where nothing was measured they are zero.

    ``sojourn`` is the time in the queue, ``service`` from the hand-over to the MAC until its ACK or final failure,
    ``nodal`` both together, ``departure_gap`` the time between two hand-overs with the queue never empty in between.
    """

    length_s: float
    arrived_packets: int
    arrived_bytes: int
    sent_packets: int
    sent_bytes: int
    dropped_packets: int
    dropped_bytes: int
    backlog_packets: int
    backlog_bytes: int
    backlog_max_packets: int
    service_n: int
    service_mean_s: float
    service_max_s: float
    service_last_s: float
    departure_gap_n: int
    departure_gap_mean_s: float
    departure_gap_max_s: float
    departure_gap_last_s: float
    sojourn_n: int
    sojourn_mean_s: float
    sojourn_max_s: float
    sojourn_last_s: float
    nodal_n: int
    nodal_mean_s: float
    nodal_max_s: float
    nodal_last_s: float
    idle_s: float
    busy_s: float


@dataclass(frozen=True)
class Orders:
    """What holds from now on.

    Attributes
    ----------
    limit_packets : int
        How many packets may wait; at least one.
    rate_bps : float or None
        How fast packets may leave, in bit/s; None for as fast as they can.
    """

    limit_packets: int
    rate_bps: float | None = None


class Controller(Protocol):
    """A controller: any class with these words.

    Attributes
    ----------
    interval_s : float
        Time between two decisions, in seconds; at least 100 us.
    """

    interval_s: float

    def update(self, seen: Interval) -> Orders | int:
        """Decide upon what was measured: orders, or a limit in packets."""
        ...


@dataclass(frozen=True)
class Site:
    """Where a controller of `reproduce` is to decide: a queue in a run.

    Attributes
    ----------
    case : dict
        The label of the value of every axis: ``{"scheme": "mine", "target": "200 ms"}``.
    seed : int
        The run's seed.
    node : str
        The queue's node.
    queue : str
        The queue's name in the results of its node: ``"be"``.
    limit_packets : int or None
        How many packets the queue may hold before the first decision; None where its limit is in bytes.
    target_s : float or None
        The delay, in seconds, that the controller aims at whose place it takes; None of one that aims at none.
    """

    case: dict[str, str]
    seed: int
    node: str
    queue: str
    limit_packets: int | None
    target_s: float | None


#: What the simulator calls: from what was measured to a limit in packets and a rate in bit/s.
Decide = Callable[[dict[str, Any]], tuple[int, "float | None"]]


def interval(controller: Controller) -> float:
    """Give the time between two decisions, in seconds."""
    interval_s = getattr(controller, "interval_s", None)
    if not isinstance(interval_s, Real) or not 1e-4 <= float(interval_s) <= 1e9:
        raise SluiceError(
            f"{type(controller).__name__}: expected `interval_s`, the seconds between two decisions, at least 100 us "
            f"(1e-4) and at most 1e9, and not {interval_s!r}"
        )
    return float(interval_s)


def decider(controller: Controller) -> Decide:
    """Give the function that the simulator calls."""
    name = type(controller).__name__

    def decide(measured: dict[str, Any]) -> tuple[int, float | None]:
        answer = controller.update(Interval(**measured))
        orders = answer if isinstance(answer, Orders) else Orders(answer)
        try:
            limit, rate = index(orders.limit_packets), None if orders.rate_bps is None else float(orders.rate_bps)
        except (TypeError, ValueError):
            raise SluiceError(
                f"{name}: `update` gave {answer!r}; expected a whole number of packets, or sluice.Orders"
            ) from None
        if limit < 1:
            raise SluiceError(f"{name}: a limit of {limit} packets; at least one")
        if rate is not None and not 0 < rate < float("inf"):
            raise SluiceError(f"{name}: a rate of {rate} bit/s; expected more than zero")
        return min(limit, 2**32 - 1), rate

    return decide
