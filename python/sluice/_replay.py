"""Recordings of queues, replayed into controllers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from . import _sluice
from ._controller import Controller, decider
from ._errors import ReplayError, ReplayWarning
from ._scenario import setting
from ._table import Table

__all__ = ["replay"]


def replay(
    recording: str | os.PathLike[str] | Iterable[str | bytes],
    controller: str | Controller | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Table:
    """Return the decisions of a controller that sees the intervals of a recording, as ``sluice replay`` does.

    The decisions do not change the recorded queue: the table shows how a controller would have reacted to the
    measurements, not how the network would have changed.

    Parameters
    ----------
    recording
        A file of ``sluice record``, ``sluice attach --record`` or ``sluice run --record-intervals``; or its lines.
    controller
        The name of a controller, or one that is written in Python. Default: that of the settings, or without settings
        none: the decisions as they were recorded.
    settings
        Settings by dotted path, with the keys of a scenario's ``[queue]``: ``{"adth.target_delay": "50 ms"}``. Default:
        the defaults.

    Returns
    -------
    Table
        A row for each interval: ``at_s``, the end of the interval since the recording began; what was measured, with
        the names of `Interval`; the orders that were recorded, ``recorded_limit_packets`` or ``recorded_limit_bytes``
        and ``recorded_rate_bps``; and the orders now, ``limit_packets`` or ``limit_bytes``, ``rate_bps``, ``mark``,
        ``access``, ``low_up_to_packets`` and ``note``.

    Raises
    ------
    ReplayError
        If the recording cannot be read, the settings are invalid, or the controller needs measurements that were not
        recorded.

    Warns
    -----
    ReplayWarning
        If the last line was cut off by a full disk or a crash. It is left out.
    """
    if isinstance(recording, str | os.PathLike):
        read = _sluice.Recording.open(os.fspath(recording))
    else:
        read = _sluice.Recording.read("<recording>", b"\n".join(_line(line) for line in recording))
    if read.warning is not None:
        warnings.warn(read.warning, ReplayWarning, stacklevel=2)
    sets = [setting(key, value) for key, value in (settings or {}).items()]
    if controller is not None and not isinstance(controller, str):
        if sets:
            raise ReplayError(f"{type(controller).__name__}: settings are for a controller of Sluice's own")
        return Table(read.replay_steered(decider(controller)))
    if controller is not None:
        sets.append(setting("controller", controller))
    return Table(read.replay(sets) if sets else read.table())


def _line(line: str | bytes) -> bytes:
    return line.removesuffix("\n").encode() if isinstance(line, str) else line.removesuffix(b"\n")
