"""Controllers that are written in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from operator import index
from typing import Any, Protocol

from ._errors import SluiceError

__all__ = ["Controller", "Interval", "Orders", "Site", "Times"]


@dataclass(frozen=True)
class Times:
    """Times of the packets of an interval; zero if nothing was measured.

    Attributes
    ----------
    n : int
        Number of packets.
    mean : float
        Mean, in seconds.
    max : float
        Largest value, in seconds.
    last : float
        Value of the last packet, in seconds.
    """

    n: int = 0
    mean: float = 0.0
    max: float = 0.0
    last: float = 0.0


@dataclass(frozen=True)
class Interval:
    """Measurements of a queue since the last decision, named as in results: ``sojourn_s.mean``.

    Attributes
    ----------
    length_s : float
        Length of the interval.
    arrived_packets, arrived_bytes : int
        Arrivals at the queue.
    sent_packets, sent_bytes : int
        Departures from the queue.
    dropped_packets, dropped_bytes : int
        Drops by the queue.
    backlog_packets, backlog_bytes : int
        Backlog at the end of the interval.
    backlog_max_packets : int
        Largest backlog in the interval.
    sojourn_s : Times
        Time in the queue.
    service_s : Times
        Time from the hand-over to the MAC until the ACK or the final failure.
    nodal_delay_s : Times
        Time in the queue plus service time.
    departure_gap_s : Times
        Time between two hand-overs while packets waited.
    idle_s, busy_s : float
        Time in which the queue was empty, and time in which it was not.
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
    service_s: Times
    departure_gap_s: Times
    sojourn_s: Times
    nodal_delay_s: Times
    idle_s: float
    busy_s: float


@dataclass(frozen=True)
class Orders:
    """Orders that apply from now on.

    Attributes
    ----------
    limit_packets : int
        Largest number of waiting packets; at least one.
    rate_bps : float or None
        Largest rate of departures, in bit/s; None: no bound.
    """

    limit_packets: int
    rate_bps: float | None = None


class Controller(Protocol):
    """A controller: any class with this attribute and this method.

    Attributes
    ----------
    interval_s : float
        Time between two decisions, in seconds; at least 100 us.
    """

    interval_s: float

    def update(self, seen: Interval) -> Orders | int:
        """Decide by the measurements: return orders, or a limit in packets."""
        ...


@dataclass(frozen=True)
class Site:
    """A queue in a run for which a controller of `reproduce` decides.

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
        Limit of the queue before the first decision, in packets; None if its limit is in bytes.
    target_s : float or None
        Target delay of the replaced controller, in seconds; None if that controller has none.
    """

    case: dict[str, str]
    seed: int
    node: str
    queue: str
    limit_packets: int | None
    target_s: float | None


#: What the simulator calls: gets measurements, and returns a limit in packets and a rate in bit/s.
Decide = Callable[[dict[str, Any]], tuple[int, "float | None"]]


def interval(controller: Controller) -> float:
    """Return the time between two decisions, in seconds."""
    interval_s = getattr(controller, "interval_s", None)
    if not isinstance(interval_s, Real) or not 1e-4 <= float(interval_s) <= 1e9:
        raise SluiceError(
            f"{type(controller).__name__}: expected `interval_s`, the seconds between two decisions, at least 100 us "
            f"(1e-4) and at most 1e9, and not {interval_s!r}"
        )
    return float(interval_s)


def _seen(measured: Mapping[str, Any]) -> Interval:
    """Turn measurements into an interval: ``sojourn_s.mean`` is the mean of ``sojourn_s``."""
    values: dict[str, Any] = {}
    times: dict[str, dict[str, Any]] = {}
    for key, value in measured.items():
        name, _, part = key.partition(".")
        if part:
            times.setdefault(name, {})[part] = value
        else:
            values[name] = value
    values.update({name: Times(**parts) for name, parts in times.items()})
    return Interval(**values)


def decider(controller: Controller) -> Decide:
    """Return the function that the simulator calls."""
    name = type(controller).__name__

    def decide(measured: dict[str, Any]) -> tuple[int, float | None]:
        answer = controller.update(_seen(measured))
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
