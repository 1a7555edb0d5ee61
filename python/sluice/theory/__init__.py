"""Closed forms and solvers with arrays in and out: what the simulator is held to, and can be compared with.

Arguments are numbers, sequences or arrays, which are broadcast as numpy does; results are numpy arrays of 64-bit
floats. A model of several groups (stations, categories, queues, hops) takes them along the last axis. Each function is
one model of the crate ``theory``, whose documentation has the equations, their source and where they hold.

Arguments outside their range raise `sluice.TheoryError`; its ``index`` is the place of the first that is wrong among
the elements of the arguments, counted as ``numpy.ravel`` does; of a model of groups it counts the rows of groups.
Needs numpy: ``pip install 'sluice-wifi[theory]'``.
"""

from ._medium import (
    Aggregated,
    Category,
    HiddenPair,
    Saturation,
    Unsaturated,
    ampdu,
    dcf,
    edca,
    hidden_pair,
    unsaturated,
)
from ._queues import (
    AltBuffer,
    AltTraffic,
    LossQueue,
    Queue,
    alt_buffer,
    alt_next,
    alt_traffic,
    dnb_drop_probability,
    dnb_split,
    dnb_split_whole,
    mg1,
    mm1,
    mm1_sojourn_quantile_s,
    mm1k,
)
from ._schemes import (
    SwanDelay,
    SwanEquilibrium,
    bqm_discriminator,
    bqm_misjudged,
    bqm_probability,
    emodel_rating,
    energy_cost,
    energy_threshold,
    swan_busy_of_each,
    swan_equilibrium,
    swan_mac_delay,
    tmac_parking_lot,
    tmac_rate,
)

__all__ = [
    "Aggregated",
    "AltBuffer",
    "AltTraffic",
    "Category",
    "HiddenPair",
    "LossQueue",
    "Queue",
    "Saturation",
    "SwanDelay",
    "SwanEquilibrium",
    "Unsaturated",
    "alt_buffer",
    "alt_next",
    "alt_traffic",
    "ampdu",
    "bqm_discriminator",
    "bqm_misjudged",
    "bqm_probability",
    "dcf",
    "dnb_drop_probability",
    "dnb_split",
    "dnb_split_whole",
    "edca",
    "emodel_rating",
    "energy_cost",
    "energy_threshold",
    "hidden_pair",
    "mg1",
    "mm1",
    "mm1_sojourn_quantile_s",
    "mm1k",
    "swan_busy_of_each",
    "swan_equilibrium",
    "swan_mac_delay",
    "tmac_parking_lot",
    "tmac_rate",
    "unsaturated",
]
