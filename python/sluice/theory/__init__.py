"""Closed forms and solvers for arrays, with which the simulator is validated and can be compared.

Arguments are numbers, sequences or arrays, which are broadcast as numpy does; results are numpy arrays of 64-bit
floats. A model of several groups (stations, categories, queues, hops) takes them along the last axis. Each function is
one model of the crate ``theory``, whose documentation has the equations, their source and where they hold.

Arguments outside their range raise `sluice.TheoryError`; its ``index`` is that of the first invalid element, in the
order of ``numpy.ravel``; for a model of groups, that of the row of groups. Needs numpy: ``pip install
'sluice-wifi[theory]'``.
"""

# Bodies come from signatures, whose names crates/python/src/theory.rs reads: a new model is an arm there, a function
# here and the words for its parameters in _glossary.py. Long signatures are packed: one parameter a line is too long.
# mypy: disable-error-code="empty-body"
# pyright: reportReturnType=false

from __future__ import annotations

from math import inf
from typing import NamedTuple

from ._model import Array, Groups, Numbers, model

__all__ = [
    "Aggregated", "AltBuffer", "AltTraffic", "Category", "HiddenPair", "LossQueue", "Queue", "Saturation", "SwanDelay",
    "SwanEquilibrium", "Unsaturated", "alt_buffer", "alt_next", "alt_traffic", "ampdu", "bqm_discriminator",
    "bqm_misjudged", "bqm_probability", "dcf", "dnb_drop_probability", "dnb_split", "dnb_split_whole", "edca",
    "emodel_rating", "energy_cost", "energy_threshold", "hidden_pair", "mg1", "mm1", "mm1_sojourn_quantile_s", "mm1k",
    "swan_busy_of_each", "swan_equilibrium", "swan_mac_delay", "tmac_parking_lot", "tmac_rate", "unsaturated",
]  # fmt: skip


class Saturation(NamedTuple):
    """A saturated cell in the long run; successes and throughput are of the whole cell."""

    tau: Array
    collision_probability: Array
    drop_probability: Array
    successes_per_s: Array
    throughput_bps: Array


@model()
def dcf(stations: Numbers, *, cw_min: Numbers, cw_max: Numbers, slot_s: Numbers, success_s: Numbers,
        collision_s: Numbers, payload_bytes: Numbers, attempts: Numbers = inf,
        colliders_resume_s: Numbers | None = None) -> Saturation:  # fmt: skip
    """Solve the saturated 802.11 cell: alike stations that always have a frame to send, all in range."""


class Aggregated(NamedTuple):
    """A saturated cell with aggregates in the long run; deliveries and throughput are of the whole cell."""

    tau: Array
    collision_probability: Array
    delivered_per_s: Array
    throughput_bps: Array
    transmissions_per_mpdu: Array


@model()
def ampdu(stations: Numbers, subframes: Numbers, mpdu_error: Numbers = 0.0, *, cw_min: Numbers, cw_max: Numbers,
        slot_s: Numbers, success_s: Numbers, collision_s: Numbers, payload_bytes: Numbers, attempts: Numbers = inf,
        colliders_resume_s: Numbers | None = None) -> Aggregated:  # fmt: skip
    """Solve the saturated cell whose stations send aggregates (A-MPDU) that are answered by a Block Ack."""


class Category(NamedTuple):
    """Access categories along the last axis; successes and throughput are of all stations of a group together."""

    collision_probability: Array
    internal_collision_probability: Array
    drop_probability: Array
    successes_per_s: Array
    throughput_bps: Array


@model(by_group=True, stations="How many stations have the category.")
def edca(stations: Groups, *, group: Groups, aifsn: Groups, cw_min: Groups, cw_max: Groups, slot_s: Numbers,
        sifs_s: Numbers, frame_s: Groups, answer_s: Groups, payload_bytes: Groups,
        attempts: Groups = inf) -> Category:  # fmt: skip
    """Solve the saturated cell with access categories, which are along the last axis."""


class Unsaturated(NamedTuple):
    """Groups of stations along the last axis; successes and throughput are of one station."""

    q: Array
    r: Array
    tau: Array
    collision_probability: Array
    successes_per_s: Array
    throughput_bps: Array


@model(by_group=True, stations="Stations of the group.", arrivals_per_s="Poisson arrivals at a station, in frames/s.")
def unsaturated(stations: Groups, arrivals_per_s: Groups, *, cw_min: Groups, cw_max: Groups, slot_s: Numbers,
        success_s: Groups, collision_s: Groups, payload_bytes: Groups, queue: bool = True) -> Unsaturated:  # fmt: skip
    """Solve the cell of groups of stations that do not always have a frame to send (Malone, Duffy, Leith 2007).

    The groups are along the last axis. With queues the model holds up to 80 % of the saturated throughput, and again
    from 120 % on. There is no limit of attempts.
    """


class HiddenPair(NamedTuple):
    """Two hidden senders in the long run; successes and throughput are of both together."""

    success_probability: Array
    drop_probability: Array
    successes_per_s: Array
    throughput_bps: Array


@model(attempts="Failures of the frame that contends after which it is given up, 1 to 255. Default: infinite.")
def hidden_pair(frame_s: Numbers, *, cw_min: Numbers, cw_max: Numbers, slot_s: Numbers, sifs_s: Numbers, ack_s: Numbers,
        difs_s: Numbers, timeout_s: Numbers, turnaround_s: Numbers, payload_bytes: Numbers, attempts: Numbers = inf,
        rts_cts: tuple[Numbers, Numbers, Numbers] | None = None) -> HiddenPair:  # fmt: skip
    """Solve two saturated senders that do not hear each other, with a receiver that both hear."""


class Queue(NamedTuple):
    """A queue in the long run."""

    load: Array
    mean_wait_s: Array
    mean_sojourn_s: Array
    mean_number: Array


@model()
def mm1(arrivals_per_s: Numbers, services_per_s: Numbers) -> Queue:
    """M/M/1: Poisson arrivals, exponential service times (Kleinrock 1975, chapter 3)."""


@model()
def mm1_sojourn_quantile_s(arrivals_per_s: Numbers, services_per_s: Numbers, quantile: Numbers) -> Array:
    """Return the time in an M/M/1 system below which this share of the customers stays, in seconds."""


@model()
def mg1(arrivals_per_s: Numbers, mean_service_s: Numbers, service_variance_s2: Numbers = 0.0) -> Queue:
    """M/G/1: Poisson arrivals, any service time (Pollaczek and Khinchine; Kleinrock 1975, chapter 5)."""


class LossQueue(NamedTuple):
    """A queue with limited room in the long run; times are of admitted customers."""

    loss_probability: Array
    mean_sojourn_s: Array
    mean_number: Array


@model()
def mm1k(arrivals_per_s: Numbers, services_per_s: Numbers, room: Numbers) -> LossQueue:
    """M/M/1/K: customers that find the system full are lost. Any load."""


class AltTraffic(NamedTuple):
    """Aggregate parameters of TCP flows that share a link, for the model of ALT's buffer."""

    growth_packets_per_s: Array
    acceleration_packets_per_s2: Array
    round_trip_s: Array
    spread: Array


@model()
def alt_traffic(round_trips_s: Groups) -> AltTraffic:
    """Describe flows whose windows grow by a packet per round trip."""


class AltBuffer(NamedTuple):
    """ALT's buffer under TCP."""

    lambda_emptied: Array
    gamma_emptied: Array
    fixed_point: Array
    utilisation_ratio: Array
    is_stable: Array


@model()
def alt_buffer(a: Numbers, b: Numbers, growth_packets_per_s: Numbers, *, spread: Numbers = 1.0,
        backoff: Numbers) -> AltBuffer:  # fmt: skip
    """Return the evolution of ALT's buffer under TCP (Li, Leith, Malone, section V; see `alt_traffic`)."""


@model(size_packets="The size at this congestion event, in packets, above zero.")
def alt_next(size_packets: Numbers, bdp_packets: Numbers, a: Numbers, b: Numbers, growth_packets_per_s: Numbers, *,
        spread: Numbers = 1.0, backoff: Numbers) -> Array:  # fmt: skip
    """Return ALT's size at the next congestion event, in packets (equations 5 to 7)."""


@model()
def dnb_drop_probability(load: Numbers, size_packets: Numbers) -> Array:
    """Return the share of arrivals that an M/M/1/b queue drops, as DNB computes it."""


@model(by_group=True)
def dnb_split(total_packets: Numbers, costs: Groups) -> Array:
    """Split a buffer over the saturated queues of a neighbourhood so that drops cost least, not in whole packets."""


@model(by_group=True, costs="Cost of a drop at each queue, not negative: the queues along the last axis.")
def dnb_split_whole(total_packets: Numbers, costs: Groups, *, loads: Groups = 1.0, least_packets: Numbers = 0) -> Array:
    """Split a buffer over the queues of a neighbourhood so that drops cost least, in whole packets."""


class SwanDelay(NamedTuple):
    """SWAN's Model A: the channel of real-time and best-effort devices. NaN for a class without devices."""

    tau_real_time: Array
    tau_best_effort: Array
    collision_probability_real_time: Array
    collision_probability_best_effort: Array
    transmission_probability: Array
    success_probability: Array
    packets_per_s: Array
    mac_delay_s: Array


@model(real_time="Real-time devices; 1 to 1000 together with the best-effort ones.")
def swan_mac_delay(real_time: Numbers, busy_real_time: Numbers, best_effort: Numbers, busy_best_effort: Numbers, *,
        cw_min: Numbers, cw_max: Numbers, slot_s: Numbers, success_s: Numbers,
        collision_s: Numbers) -> SwanDelay:  # fmt: skip
    """Solve SWAN's Model A: the MAC delay that follows from the busy shares of the devices (section IV-A)."""


class SwanEquilibrium(NamedTuple):
    """SWAN's Model B: the channel on which real time has its target delay."""

    busy_real_time: Array
    backlogged: Array
    tau_real_time: Array
    tau_best_effort: Array
    collision_probability_real_time: Array
    collision_probability_best_effort: Array
    is_valid: Array


@model()
def swan_equilibrium(real_time: Numbers, packets_per_s: Numbers, mac_delay_s: Numbers, *, cw_min: Numbers,
        cw_max: Numbers, slot_s: Numbers, success_s: Numbers, collision_s: Numbers) -> SwanEquilibrium:  # fmt: skip
    """Solve SWAN's Model B: how busy best effort may be so that real time keeps a target delay (section IV-B)."""


@model(best_effort="Best-effort devices, at least 1.")
def swan_busy_of_each(best_effort: Numbers, real_time: Numbers, packets_per_s: Numbers, mac_delay_s: Numbers, *,
        cw_min: Numbers, cw_max: Numbers, slot_s: Numbers, success_s: Numbers,
        collision_s: Numbers) -> Array:  # fmt: skip
    """Return the part of the time that each best-effort device may be busy so that real time keeps its target delay."""


@model(ack_s="Channel time of a transport acknowledgement on each hop, in seconds. Default: none.")
def tmac_rate(data_s: Groups, ack_s: Groups = 0.0, packets_per_ack: Numbers = 1.0) -> Array:
    """Return the rate of every flow under T-MAC, in packets per second, where all cross one collision domain."""


@model()
def tmac_parking_lot(sources: Numbers) -> Array:
    """Return the rate of each source of a parking lot under T-MAC, in packets per slot."""


@model()
def bqm_discriminator(every: Numbers, lost: Numbers, of_zero: Numbers) -> Array:
    """Return biased queue management's loss discriminator: below zero for congestion, NaN where nothing is lost."""


@model()
def bqm_probability(of_zero: Numbers, window: Numbers, every: Numbers, lost: Numbers) -> Array:
    """Return the probability that this number of the randomly lost packets has discard priority 0 (equation 3.1)."""


@model()
def bqm_misjudged(window: Numbers, every: Numbers, lost: Numbers) -> Array:
    """Return the probability that the discriminator mistakes random losses for congestion."""


@model(arrivals_per_s="Packets that come per second, above zero.")
def energy_cost(threshold_packets: Numbers, *, arrivals_per_s: Numbers, low_per_s: Numbers, high_per_s: Numbers,
        low_w: Numbers, high_w: Numbers, packets_per_w: Numbers) -> Array:  # fmt: skip
    """Return the long-run cost of a node that serves at its low rate up to a threshold of packets, in packets."""


@model(arrivals_per_s="Packets that come per second, above zero.")
def energy_threshold(*, arrivals_per_s: Numbers, low_per_s: Numbers, high_per_s: Numbers, low_w: Numbers,
        high_w: Numbers, packets_per_w: Numbers) -> Array:  # fmt: skip
    """Return the threshold with the least cost, in packets."""


@model()
def emodel_rating(mouth_to_ear_s: Numbers, missing_ratio: Numbers = 0.0, *, impairment: Numbers = 0.0,
        robustness: Numbers = 25.1) -> Array:  # fmt: skip
    """Return the rating of a telephone call, ``R`` of ITU-T G.107: 93.2 at best, satisfied above 80."""
