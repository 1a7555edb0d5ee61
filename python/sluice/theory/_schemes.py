"""Schemes and what users make of them: SWAN, T-MAC, biased queue management, a node that saves energy, the E-model."""

from __future__ import annotations

from typing import NamedTuple

from ._solve import Array, Numbers, each, over_groups, same_for_all


class SwanDelay(NamedTuple):
    """SWAN's Model A: the channel of real-time and best-effort devices. NaN for a class without devices.

    Attributes
    ----------
    tau_real_time, tau_best_effort
        The probability that a busy device transmits in a slot.
    collision_probability_real_time, collision_probability_best_effort
        Of a device's transmissions, the part that collides.
    transmission_probability
        The probability that at least one device transmits in a slot.
    success_probability
        The probability that exactly one does, given that one does.
    packets_per_s
        Packets of all devices together, per second.
    mac_delay_s
        Mean MAC delay over all packets, in seconds.
    """

    tau_real_time: Array
    tau_best_effort: Array
    collision_probability_real_time: Array
    collision_probability_best_effort: Array
    transmission_probability: Array
    success_probability: Array
    packets_per_s: Array
    mac_delay_s: Array


class SwanEquilibrium(NamedTuple):
    """SWAN's Model B: the channel on which real time has its target delay.

    Attributes
    ----------
    busy_real_time
        The part of the time that a real-time device is busy.
    backlogged
        The mean number of busy best-effort devices.
    tau_real_time, tau_best_effort
        The probability that a busy device transmits in a slot.
    collision_probability_real_time, collision_probability_best_effort
        Of a device's transmissions, the part that collides.
    is_valid
        1 where at least one best-effort device is busy on average, else 0: below that the method does not hold.
    """

    busy_real_time: Array
    backlogged: Array
    tau_real_time: Array
    tau_best_effort: Array
    collision_probability_real_time: Array
    collision_probability_best_effort: Array
    is_valid: Array


def swan_mac_delay(
    real_time: Numbers,
    busy_real_time: Numbers,
    best_effort: Numbers,
    busy_best_effort: Numbers,
    *,
    cw_min: Numbers,
    cw_max: Numbers,
    slot_s: Numbers,
    success_s: Numbers,
    collision_s: Numbers,
) -> SwanDelay:
    """Solve SWAN's Model A: the MAC delay that follows from how long devices are busy (section IV-A).

    Parameters
    ----------
    real_time, best_effort
        Devices of either class; together 1 to 1000.
    busy_real_time, busy_best_effort
        The part of the time that a device of the class holds a packet, 0 to 1.
    cw_min, cw_max, slot_s, success_s, collision_s
        As of `dcf`.
    """
    channel = (cw_min, cw_max, slot_s, success_s, collision_s)
    return SwanDelay(*each("swan_mac_delay", 8, real_time, busy_real_time, best_effort, busy_best_effort, *channel))


def swan_equilibrium(
    real_time: Numbers,
    packets_per_s: Numbers,
    mac_delay_s: Numbers,
    *,
    cw_min: Numbers,
    cw_max: Numbers,
    slot_s: Numbers,
    success_s: Numbers,
    collision_s: Numbers,
) -> SwanEquilibrium:
    """Solve SWAN's Model B: how busy best effort may be so that real time keeps a target delay (section IV-B).

    Parameters
    ----------
    real_time
        Real-time devices, 1 to 1000.
    packets_per_s
        Packets per second of one of them.
    mac_delay_s
        Their target MAC delay, in seconds.
    cw_min, cw_max, slot_s, success_s, collision_s
        As of `dcf`.
    """
    channel = (cw_min, cw_max, slot_s, success_s, collision_s)
    return SwanEquilibrium(*each("swan_equilibrium", 7, real_time, packets_per_s, mac_delay_s, *channel))


def swan_busy_of_each(
    best_effort: Numbers,
    real_time: Numbers,
    packets_per_s: Numbers,
    mac_delay_s: Numbers,
    *,
    cw_min: Numbers,
    cw_max: Numbers,
    slot_s: Numbers,
    success_s: Numbers,
    collision_s: Numbers,
) -> Array:
    """Give the part of the time that each best-effort device may be busy so that real time keeps its target delay.

    Parameters
    ----------
    best_effort
        Best-effort devices, at least 1.
    real_time, packets_per_s, mac_delay_s, cw_min, cw_max, slot_s, success_s, collision_s
        As of `swan_equilibrium`.
    """
    channel = (cw_min, cw_max, slot_s, success_s, collision_s)
    return each("swan_busy_of_each", 1, best_effort, real_time, packets_per_s, mac_delay_s, *channel)[0]


def tmac_rate(data_s: Numbers, ack_s: Numbers = 0.0, packets_per_ack: Numbers = 1.0) -> Array:
    """Give the rate of every flow under T-MAC, in packets per second, where all cross one collision domain.

    Parameters
    ----------
    data_s
        Channel time of a data packet in seconds: the hops of all flows along the last axis.
    ack_s
        Channel time of a transport acknowledgement on that hop in seconds. Default: none.
    packets_per_ack
        Data packets that an acknowledgement is for, at least 1; one value for each domain.
    """
    return over_groups("tmac_rate", 1, data_s, ack_s, same_for_all(packets_per_ack))[0]


def tmac_parking_lot(sources: Numbers) -> Array:
    """Give what each source of a parking lot has under T-MAC, in packets per slot.

    Parameters
    ----------
    sources
        How many stand 1, 2, ... hops from the gateway, all in one domain; at least one.
    """
    return each("tmac_parking_lot", 1, sources)[0]


def bqm_discriminator(every: Numbers, lost: Numbers, of_zero: Numbers) -> Array:
    """Give biased queue management's loss discriminator: below zero for congestion, NaN where nothing is lost.

    Parameters
    ----------
    every
        One packet in so many has discard priority 0; at least 1.
    lost
        Missing packets of the window.
    of_zero
        Those of them with discard priority 0.
    """
    return each("bqm_discriminator", 1, every, lost, of_zero)[0]


def bqm_probability(of_zero: Numbers, window: Numbers, every: Numbers, lost: Numbers) -> Array:
    """Give the probability that so many of the packets that chance takes have discard priority 0 (equation 3.1).

    Parameters
    ----------
    of_zero
        How many of the lost packets have discard priority 0.
    window
        Packets of the window, at most a million.
    every, lost
        As of `bqm_discriminator`; no more lost than the window has.
    """
    return each("bqm_probability", 1, of_zero, window, every, lost)[0]


def bqm_misjudged(window: Numbers, every: Numbers, lost: Numbers) -> Array:
    """Give the probability that the discriminator takes losses by chance for congestion.

    Parameters
    ----------
    window, every, lost
        As of `bqm_probability`.
    """
    return each("bqm_misjudged", 1, window, every, lost)[0]


def energy_cost(
    threshold_packets: Numbers,
    *,
    arrivals_per_s: Numbers,
    low_per_s: Numbers,
    high_per_s: Numbers,
    low_w: Numbers,
    high_w: Numbers,
    packets_per_w: Numbers,
) -> Array:
    """Give the long-run cost of a node that serves at its low rate up to a threshold of packets, in packets.

    Parameters
    ----------
    threshold_packets
        The high rate serves while more packets are there.
    arrivals_per_s
        Packets that come per second.
    low_per_s, high_per_s
        Packets per second at the low and at the high rate; the high one is above the arrivals.
    low_w, high_w
        Power at the low and at the high rate, in W.
    packets_per_w
        What a watt costs in packets.
    """
    node = (arrivals_per_s, low_per_s, high_per_s, low_w, high_w, packets_per_w)
    return each("energy_cost", 1, threshold_packets, *node)[0]


def energy_threshold(
    *,
    arrivals_per_s: Numbers,
    low_per_s: Numbers,
    high_per_s: Numbers,
    low_w: Numbers,
    high_w: Numbers,
    packets_per_w: Numbers,
) -> Array:
    """Give the threshold with the least cost, in packets.

    Parameters
    ----------
    arrivals_per_s, low_per_s, high_per_s, low_w, high_w, packets_per_w
        As of `energy_cost`.
    """
    return each("energy_threshold", 1, arrivals_per_s, low_per_s, high_per_s, low_w, high_w, packets_per_w)[0]


def emodel_rating(
    mouth_to_ear_s: Numbers, missing_ratio: Numbers = 0.0, *, impairment: Numbers = 0.0, robustness: Numbers = 25.1
) -> Array:
    """Give how users rate a telephone call, ``R`` of ITU-T G.107: 93.2 at best, satisfied above 80.

    Parameters
    ----------
    mouth_to_ear_s
        Delay from mouth to ear, in seconds.
    missing_ratio
        The share of packets that are missing, by whatever cause, 0 to 1.
    impairment, robustness
        The codec's ``Ie`` and ``Bpl`` of G.113. Default: those of G.711 whose receiver conceals losses; without
        concealment ``robustness=4.3``.
    """
    return each("emodel_rating", 1, mouth_to_ear_s, missing_ratio, impairment, robustness)[0]
