"""Adaptive queue management for wireless networks: simulate, sweep, learn.

Units are SI and stand at the end of names: ``_s`` seconds, ``_bps`` bit/s, ``_bytes``, ``_ratio`` from 0 to 1.
"""

from ._controller import Controller, Interval, Orders, Site, Times
from ._discipline import Discipline, register
from ._errors import (
    MissingPackageError,
    ReplayError,
    ReplayWarning,
    RunError,
    ScenarioError,
    SluiceError,
    StoreError,
    TheoryError,
)
from ._medium import Delivery, Medium
from ._plot import save_chart
from ._ray import ray
from ._replay import replay
from ._reproduce import Reproduction, claims, reproduce
from ._scenario import Result, Scenario, load
from ._sluice import VERSION as __version__
from ._sweep import Failure, Sweep, sweep
from ._table import Table

__all__ = [
    "Controller",
    "Delivery",
    "Discipline",
    "Failure",
    "Interval",
    "Medium",
    "MissingPackageError",
    "Orders",
    "ReplayError",
    "ReplayWarning",
    "Reproduction",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Site",
    "SluiceError",
    "StoreError",
    "Sweep",
    "Table",
    "TheoryError",
    "Times",
    "__version__",
    "claims",
    "load",
    "ray",
    "register",
    "replay",
    "reproduce",
    "save_chart",
    "sweep",
]
