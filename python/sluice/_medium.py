"""A simulated network that carries real packets, in virtual time."""

from __future__ import annotations

import os
from dataclasses import dataclass

from . import _sluice
from ._scenario import Result, Scenario, load
from ._values import checked_seed

__all__ = ["Delivery", "Medium"]


@dataclass(frozen=True)
class Delivery:
    """A packet that has arrived."""

    at_s: float
    """When it arrived."""
    sent_s: float
    """When it was pushed."""
    source: str
    """The node at which it was pushed."""
    destination: str
    """The node at which it arrived."""
    payload: bytes
    """What was pushed."""
    dscp: int
    """Its code point."""
    ecn: int
    """0: not ECN-capable, 1: ECT(1), 2: ECT(0), 3: congestion experienced."""
    routers: int
    """Nodes that it passed, access points not among them."""

    def packet(self) -> bytes | None:
        """Return the IP packet of `send_packet` as it arrives, with ECN field and TTL; None if the TTL ran out."""
        return _sluice.carried(self.payload, self.dscp << 2 | self.ecn, self.routers)


class Medium:
    """A scenario's network that takes packets at its real nodes and returns them at their destinations.

    Times are in seconds since the start of the run. The same scenario, seed and pushes give the same deliveries.

    Parameters
    ----------
    scenario
        A scenario in which at least two nodes have ``real = true``, or its file.
    seed
        Seed of all random numbers.

    Raises
    ------
    RunError
        If no node is real.
    """

    _scenario: Scenario
    _inner: _sluice.Medium

    def __init__(self, scenario: Scenario | str | os.PathLike[str], seed: int = 1) -> None:
        self._scenario = scenario if isinstance(scenario, Scenario) else load(scenario)
        self._inner = _sluice.Medium(self._scenario._inner, checked_seed(seed))

    @property
    def nodes(self) -> list[str]:
        """Names of the real nodes."""
        return self._inner.nodes

    @property
    def now_s(self) -> float:
        """Time up to which the network has been simulated."""
        return self._inner.now_s

    def addresses(self, node: str) -> list[str] | None:
        """Return the IPv4 and the IPv6 address of a real node for `send_packet`."""
        return self._inner.addresses(node)

    def send(self, now_s: float, source: str, destination: str, payload: bytes, *, dscp: int = 0, ecn: int = 0) -> None:
        """Push a UDP datagram; on the air it has headers of UDP and IPv4.

        Parameters
        ----------
        now_s
            Time of the push, not before `now_s`. Packets that arrive until then wait for `poll`.
        source
            A real node.
        destination
            Another one, or ``broadcast``.
        payload
            At most 1472 bytes.
        dscp
            The code point; under EDCA it gives the access category.
        ecn
            1: ECT(1), 2: ECT(0).

        Raises
        ------
        ValueError
            If the network does not accept the packet. A full queue is no error: the packet is lost.
        RunError
            If a discipline that was registered has failed.
        """
        if not 0 <= dscp < 64 or not 0 <= ecn < 4:
            raise ValueError(f"expected a dscp of 0 to 63 and an ecn of 0 to 3, not {dscp} and {ecn}")
        self._inner.send(now_s, source, destination, payload, dscp << 2 | ecn)

    def send_packet(self, now_s: float, source: str, packet: bytes) -> None:
        """Push an IP packet, which goes to the real node with its destination address, or to all."""
        self._inner.send_packet(now_s, source, packet)

    def poll(self, until_s: float) -> Delivery | None:
        """Return the first packet that arrives until this time, and simulate only up to its arrival."""
        found = self._inner.poll(until_s)
        if found is None:
            return None
        at_s, sent_s, source, destination, payload, tos, routers = found
        return Delivery(at_s, sent_s, source, destination, bytes(payload), tos >> 2, tos & 3, routers)

    def next_event(self) -> float | None:
        """Return the time before which nothing arrives; None after the end."""
        return self._inner.next_event()

    def finish(self) -> Result:
        """End the run now and return its results; flows of real packets have the kind ``real``."""
        return Result(self._scenario, self._inner.finish())
