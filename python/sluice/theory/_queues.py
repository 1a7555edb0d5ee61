"""Queues: single servers, ALT's buffer under TCP, the buffer that a neighbourhood shares."""

from __future__ import annotations

from typing import NamedTuple

from ._solve import Array, Numbers, by_group, each, over_groups, same_for_all


class Queue(NamedTuple):
    """A queue in the long run.

    Attributes
    ----------
    load
        The part of time that the server is busy.
    mean_wait_s
        Mean time in the queue before service, in seconds.
    mean_sojourn_s
        Mean time in the system, service included, in seconds.
    mean_number
        Mean number of customers in the system, the one in service included.
    """

    load: Array
    mean_wait_s: Array
    mean_sojourn_s: Array
    mean_number: Array


class LossQueue(NamedTuple):
    """A queue with limited room in the long run.

    Attributes
    ----------
    loss_probability
        The probability that an arrival finds no room.
    mean_sojourn_s
        Mean time in the system of those who were let in, in seconds.
    mean_number
        Mean number of customers in the system.
    """

    loss_probability: Array
    mean_sojourn_s: Array
    mean_number: Array


def mm1(arrivals_per_s: Numbers, services_per_s: Numbers) -> Queue:
    """M/M/1: Poisson arrivals, exponential service times (Kleinrock 1975, chapter 3).

    Parameters
    ----------
    arrivals_per_s
        Arrivals per second, not negative.
    services_per_s
        Services per second of a busy server, above the arrivals.
    """
    return Queue(*each("mm1", 4, arrivals_per_s, services_per_s))


def mm1_sojourn_quantile_s(arrivals_per_s: Numbers, services_per_s: Numbers, quantile: Numbers) -> Array:
    """Give the time in an M/M/1 system that a part of the customers stay below, in seconds.

    Parameters
    ----------
    arrivals_per_s, services_per_s
        As of `mm1`.
    quantile
        The part, from 0 to below 1.
    """
    return each("mm1_sojourn_quantile", 1, arrivals_per_s, services_per_s, quantile)[0]


def mg1(arrivals_per_s: Numbers, mean_service_s: Numbers, service_variance_s2: Numbers = 0.0) -> Queue:
    """M/G/1: Poisson arrivals, any service time (Pollaczek and Khinchine; Kleinrock 1975, chapter 5).

    Parameters
    ----------
    arrivals_per_s
        Arrivals per second, not negative.
    mean_service_s
        Mean service time in seconds, above zero.
    service_variance_s2
        Variance of the service time in s^2. Default: zero, which is M/D/1.
    """
    return Queue(*each("mg1", 4, arrivals_per_s, mean_service_s, service_variance_s2))


def mm1k(arrivals_per_s: Numbers, services_per_s: Numbers, room: Numbers) -> LossQueue:
    """M/M/1/K: who finds the system full is lost. Any load.

    Parameters
    ----------
    arrivals_per_s, services_per_s
        Arrivals per second, and services per second of a busy server; both above zero.
    room
        How many customers the system holds, the one in service included; at least one.
    """
    return LossQueue(*each("mm1k", 3, arrivals_per_s, services_per_s, room))


class AltTraffic(NamedTuple):
    """TCP flows that share a link, as far as the model of ALT's buffer knows them.

    Attributes
    ----------
    growth_packets_per_s
        ``alpha_T``: how fast the windows of all flows together grow, in packets/s.
    acceleration_packets_per_s2
        ``A_T``: how fast the rates of all flows together grow, in packets/s^2.
    round_trip_s
        ``T_T``: the round trip of the flows together, in seconds.
    spread
        ``rho``: 1 for equal round trips, less for different ones.
    """

    growth_packets_per_s: Array
    acceleration_packets_per_s2: Array
    round_trip_s: Array
    spread: Array


class AltBuffer(NamedTuple):
    """ALT's buffer under TCP.

    Attributes
    ----------
    lambda_emptied
        What a size counts for at the next congestion event, if the queue emptied in between.
    gamma_emptied
        What the bandwidth-delay product adds to it.
    fixed_point
        The size at rest over the bandwidth-delay product.
    utilisation_ratio
        Lower bound of the mean utilisation of the link, from 0 to 1.
    is_stable
        1 where the document's condition for exponential stability holds, else 0.
    """

    lambda_emptied: Array
    gamma_emptied: Array
    fixed_point: Array
    utilisation_ratio: Array
    is_stable: Array


def alt_traffic(round_trips_s: Numbers) -> AltTraffic:
    """Describe flows whose windows grow by a packet per round trip.

    Parameters
    ----------
    round_trips_s
        Round trips without queue, in seconds: the flows along the last axis.
    """
    return AltTraffic(*over_groups("alt_traffic", 4, round_trips_s))


def alt_buffer(
    a: Numbers, b: Numbers, growth_packets_per_s: Numbers, *, spread: Numbers = 1.0, backoff: Numbers
) -> AltBuffer:
    """Give how the buffer that ALT sizes develops under TCP (Li, Leith, Malone, section V).

    Parameters
    ----------
    a, b
        ALT's steps: packets that the buffer grows per second of idle time, and shrinks per second of busy time.
    growth_packets_per_s
        ``alpha_T`` of the traffic, see `alt_traffic`.
    spread
        ``rho`` of the traffic, up to 1. Default: 1, equal round trips.
    backoff
        ``beta_T``: what is left of the sending rate after a congestion event, up to 1.
    """
    return AltBuffer(*each("alt_buffer", 5, a, b, growth_packets_per_s, spread, backoff))


def alt_next(
    size_packets: Numbers,
    bdp_packets: Numbers,
    a: Numbers,
    b: Numbers,
    growth_packets_per_s: Numbers,
    *,
    spread: Numbers = 1.0,
    backoff: Numbers,
) -> Array:
    """Give ALT's size at the next congestion event, in packets (equations 5 to 7).

    Parameters
    ----------
    size_packets
        The size at this one, in packets, above zero.
    bdp_packets
        The bandwidth-delay product in packets, above zero.
    a, b, growth_packets_per_s, spread, backoff
        As of `alt_buffer`.
    """
    return each("alt_next", 1, size_packets, bdp_packets, a, b, growth_packets_per_s, spread, backoff)[0]


def dnb_drop_probability(load: Numbers, size_packets: Numbers) -> Array:
    """Give the share of arrivals that an M/M/1/b queue drops, as DNB reckons.

    Parameters
    ----------
    load
        Arrivals over services, not negative.
    size_packets
        How many packets it holds, the one in service included.
    """
    return each("dnb_drop_probability", 1, load, size_packets)[0]


def dnb_split(total_packets: Numbers, costs: Numbers) -> Array:
    """Split a buffer over the saturated queues of a neighbourhood so that drops cost least, not in whole packets.

    Parameters
    ----------
    total_packets
        What is shared, not negative; one value for each neighbourhood.
    costs
        What a drop at each queue costs, above zero: the queues along the last axis.

    Returns
    -------
    numpy.ndarray
        Packets of each queue, along the last axis.
    """
    return by_group("dnb_split", 1, same_for_all(total_packets), costs)[0]


def dnb_split_whole(
    total_packets: Numbers, costs: Numbers, *, loads: Numbers = 1.0, least_packets: Numbers = 0
) -> Array:
    """Split a buffer over the queues of a neighbourhood so that drops cost least, in whole packets.

    Parameters
    ----------
    total_packets
        What is shared; one value for each neighbourhood.
    costs
        What a drop at each queue costs, not negative: the queues along the last axis.
    loads
        Arrivals over services of each queue. Default: 1, saturated.
    least_packets
        What every queue has at least; one value for each neighbourhood.

    Returns
    -------
    numpy.ndarray
        Packets of each queue, along the last axis.
    """
    total, least = same_for_all(total_packets), same_for_all(least_packets)
    return by_group("dnb_split_whole", 1, total, costs, loads, least)[0]
