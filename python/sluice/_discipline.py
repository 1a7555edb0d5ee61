"""Disciplines that are written in Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol
from uuid import uuid4

from . import _sluice, _sweep
from ._errors import SluiceError

__all__ = ["Discipline", "register"]


class Discipline(Protocol):
    """A discipline, which decides about each packet: any class with these two methods.

    The queue holds the packets; a discipline knows each by its number. It answers with the number of a packet to pass
    it, and with the number's complement, ``~packet``, to drop it.
    """

    def enqueue(self, packet: int, length: int, flow: int, now_s: float, backlog: int, fits: bool) -> int:
        """Decide about an arriving packet: pass it, drop it, or drop a waiting packet and be asked again.

        Parameters
        ----------
        packet
            Its number.
        length
            Its length in bytes, IP header and above.
        flow
            A hash of its transport flow.
        now_s
            The simulated time, in seconds.
        backlog
            Packets in the queue, without this one.
        fits
            True if the packet fits within the limit; if false, this packet or a waiting packet must be dropped.
        """
        ...

    def dequeue(self, now_s: float, backlog: int) -> int:
        """Choose a waiting packet: it leaves, or it is dropped and the queue asks again.

        The queue asks while packets wait. What the network discards by itself is not reported: its number is given back
        like any other.
        """
        ...


def register(name: str, make: Callable[..., Discipline]) -> None:
    """Make a discipline known: ``discipline = "NAME"`` in the scenarios that are read from now on.

    `Scenario.run`, `sweep` and `reproduce` can use it like the disciplines of Sluice. Results of an earlier
    registration are not reused, because nothing shows whether the code has changed. Code that runs in another process
    must register the discipline in that process.

    Parameters
    ----------
    name
        Name in scenarios. A further registration of a name replaces the earlier one.
    make
        What makes a discipline for a queue, a class or a function: it is called with the seed of its random numbers
        and, by their names, the values of the table ``[queue.own.NAME]``.

    Raises
    ------
    SluiceError
        If Sluice has a discipline of this name.
    """

    def made(seed: int, table: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        discipline = make(seed, **json.loads(table))
        return discipline.enqueue, discipline.dequeue

    try:
        _sluice.register(name, made)
    except ValueError as error:
        raise SluiceError(str(error)) from None
    _sweep.registered = uuid4().hex
