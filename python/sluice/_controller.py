"""Controllers that are written in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ._errors import SluiceError

__all__ = ["Controller", "Interval", "Orders"]


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


def decider(controller: Controller) -> Callable[[dict[str, Any]], tuple[int, float | None]]:
    """Give the function that the simulator calls."""

    def decide(measured: dict[str, Any]) -> tuple[int, float | None]:
        answer = controller.update(Interval(**measured))
        orders = answer if isinstance(answer, Orders) else Orders(int(answer))
        if orders.limit_packets < 1:
            raise SluiceError(f"{type(controller).__name__}: a limit of {orders.limit_packets} packets; at least one")
        if orders.rate_bps is not None and not 0 < orders.rate_bps < float("inf"):
            raise SluiceError(
                f"{type(controller).__name__}: a rate of {orders.rate_bps} bit/s; expected more than zero"
            )
        return min(int(orders.limit_packets), 2**32 - 1), orders.rate_bps

    return decide
