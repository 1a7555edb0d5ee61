"""The medium: saturated cells, also with aggregates and with access categories; unsaturated cells; hidden pairs."""

from __future__ import annotations

from typing import NamedTuple

from ._solve import Array, Numbers, by_group, each, same_for_all

#: As many attempts as it takes.
UNLIMITED = float("inf")


class Saturation(NamedTuple):
    """What a saturated cell comes to in the long run.

    Attributes
    ----------
    tau
        The probability that a station transmits in a slot that it may use.
    collision_probability
        Of the transmitted frames, the part that collides.
    drop_probability
        Of the frames, the part that is given up.
    successes_per_s
        Successful frames of the whole cell, per second.
    throughput_bps
        Payload delivered by the whole cell, in bit/s.
    """

    tau: Array
    collision_probability: Array
    drop_probability: Array
    successes_per_s: Array
    throughput_bps: Array


class Aggregated(NamedTuple):
    """What a saturated cell with aggregates comes to in the long run.

    Attributes
    ----------
    tau, collision_probability
        As of `Saturation`, of aggregates.
    delivered_per_s
        MPDUs delivered by the whole cell, per second.
    throughput_bps
        Payload delivered by the whole cell, in bit/s.
    transmissions_per_mpdu
        Mean transmissions of an MPDU until its delivery.
    """

    tau: Array
    collision_probability: Array
    delivered_per_s: Array
    throughput_bps: Array
    transmissions_per_mpdu: Array


class Category(NamedTuple):
    """What access categories come to in the long run, in the order of the arguments, along the last axis.

    Attributes
    ----------
    collision_probability
        Of the frames sent, the part that collides.
    internal_collision_probability
        Of the attempts, the part that a higher category of the same station takes over.
    drop_probability
        Of the frames, the part that is given up.
    successes_per_s
        Successful frames of all stations of the group together, per second.
    throughput_bps
        Payload delivered by all stations of the group together, in bit/s.
    """

    collision_probability: Array
    internal_collision_probability: Array
    drop_probability: Array
    successes_per_s: Array
    throughput_bps: Array


class Unsaturated(NamedTuple):
    """What groups of stations come to in the long run, in the order of the arguments, along the last axis.

    Attributes
    ----------
    q
        The probability that a frame arrives in a slot.
    r
        The probability that a success is followed by a frame that waits already.
    tau
        The probability that a station transmits in a slot.
    collision_probability
        Of a station's frames, the part that collides.
    successes_per_s
        Successful frames of one station, per second.
    throughput_bps
        Payload delivered by one station, in bit/s.
    """

    q: Array
    r: Array
    tau: Array
    collision_probability: Array
    successes_per_s: Array
    throughput_bps: Array


class HiddenPair(NamedTuple):
    """What two hidden senders come to in the long run.

    Attributes
    ----------
    success_probability
        Of the attempts, the part that succeeds.
    drop_probability
        Of the frames, the part that is given up.
    successes_per_s
        Successful frames of both senders together, per second.
    throughput_bps
        Payload delivered by both together, in bit/s.
    """

    success_probability: Array
    drop_probability: Array
    successes_per_s: Array
    throughput_bps: Array


def dcf(
    stations: Numbers,
    *,
    cw_min: Numbers,
    cw_max: Numbers,
    slot_s: Numbers,
    success_s: Numbers,
    collision_s: Numbers,
    payload_bytes: Numbers,
    attempts: Numbers = UNLIMITED,
    colliders_resume_s: Numbers | None = None,
) -> Saturation:
    """Solve the saturated 802.11 cell: alike stations that always have a frame to send, all in range.

    Parameters
    ----------
    stations
        Stations that compete, 1 to 256.
    cw_min, cw_max
        The first and the largest window: a back-off is drawn uniformly from 0 to the window, in slots.
    slot_s
        One back-off slot, in seconds.
    success_s
        From the start of a frame that no other overlaps to the moment from which slots count again, in seconds: frame,
        SIFS, ACK, DIFS.
    collision_s
        From the start of a collision to the moment from which the bystanders count slots again, in seconds.
    payload_bytes
        What a success counts for in the throughput, in bytes.
    attempts
        Transmissions of a frame before it is given up, 1 to 255. Default: infinite.
    colliders_resume_s
        From the start of a collision to the moment from which the colliders count slots again, in seconds: the frame
        and the ACK time-out. With it counters freeze as in the standard. Default: none, and they freeze as in Bianchi's
        model of 2000, where the busy period is one more slot.
    """
    cell = (stations, cw_min, cw_max, attempts, slot_s, success_s, collision_s, payload_bytes)
    if colliders_resume_s is None:
        return Saturation(*each("dcf_bianchi", 5, *cell))
    return Saturation(*each("dcf_standard", 5, colliders_resume_s, *cell))


def ampdu(
    stations: Numbers,
    subframes: Numbers,
    mpdu_error: Numbers = 0.0,
    *,
    cw_min: Numbers,
    cw_max: Numbers,
    slot_s: Numbers,
    success_s: Numbers,
    collision_s: Numbers,
    payload_bytes: Numbers,
    attempts: Numbers = UNLIMITED,
    colliders_resume_s: Numbers | None = None,
) -> Aggregated:
    """Solve the saturated cell whose stations send aggregates (A-MPDU) that are answered by a Block Ack.

    Parameters
    ----------
    stations
        Stations that compete, 1 to 256.
    subframes
        MPDUs of an aggregate, 1 to 64.
    mpdu_error
        The probability that an MPDU of an aggregate that did not collide is lost, 0 to 1.
    success_s, collision_s
        As of `dcf`, for the whole aggregate and its Block Ack.
    payload_bytes
        The payload of one MPDU, in bytes.
    cw_min, cw_max, slot_s, attempts, colliders_resume_s
        As of `dcf`.
    """
    cell = (subframes, mpdu_error, stations, cw_min, cw_max, attempts, slot_s, success_s, collision_s, payload_bytes)
    if colliders_resume_s is None:
        return Aggregated(*each("ampdu_bianchi", 5, *cell))
    return Aggregated(*each("ampdu_standard", 5, colliders_resume_s, *cell))


def edca(
    stations: Numbers,
    *,
    group: Numbers,
    aifsn: Numbers,
    cw_min: Numbers,
    cw_max: Numbers,
    slot_s: Numbers,
    sifs_s: Numbers,
    frame_s: Numbers,
    answer_s: Numbers,
    payload_bytes: Numbers,
    attempts: Numbers = UNLIMITED,
) -> Category:
    """Solve the saturated cell with access categories, which are along the last axis.

    Parameters
    ----------
    stations
        Of each category, how many stations have it.
    group
        Of each category, a number for the stations that have it: neighbours with the same number are categories of the
        same stations, the highest priority first. ``[0, 1]`` are two kinds of station, ``[0, 0]`` one with two.
    aifsn
        Slots of the AIFS after SIFS, 1 to 15.
    cw_min, cw_max, attempts
        As of `dcf`.
    slot_s, sifs_s
        A back-off slot and SIFS, in seconds; one value for each cell.
    frame_s
        A frame's time on the air, in seconds.
    answer_s
        From the end of the frame to the end of its answer, in seconds.
    payload_bytes
        What a success counts for in the throughput, in bytes.
    """
    medium = (same_for_all(slot_s), same_for_all(sifs_s))
    categories = (group, stations, aifsn, cw_min, cw_max, attempts, frame_s, answer_s, payload_bytes)
    return Category(*by_group("edca", 5, *medium, *categories))


def unsaturated(
    stations: Numbers,
    arrivals_per_s: Numbers,
    *,
    cw_min: Numbers,
    cw_max: Numbers,
    slot_s: Numbers,
    success_s: Numbers,
    collision_s: Numbers,
    payload_bytes: Numbers,
    queue: bool = True,
) -> Unsaturated:
    """Solve the cell of groups of stations that do not always have a frame to send (Malone, Duffy, Leith 2007).

    The groups are along the last axis. With queues the model holds up to 80 % of the saturated throughput, and again
    from 120 % on.

    Parameters
    ----------
    stations
        Of each group, how many stations it has.
    arrivals_per_s
        Of each group, Poisson arrivals at each station, in frames per second.
    cw_min, cw_max, success_s, collision_s, payload_bytes
        As of `dcf`, of each group. There is no limit of attempts.
    slot_s
        A back-off slot, in seconds; one value for each cell.
    queue
        Frames that arrive while one waits wait behind it. False: they are lost.
    """
    model = "unsaturated_queued" if queue else "unsaturated_bufferless"
    groups = (stations, arrivals_per_s, cw_min, cw_max, success_s, collision_s, payload_bytes)
    return Unsaturated(*by_group(model, 6, same_for_all(slot_s), *groups))


def hidden_pair(
    frame_s: Numbers,
    *,
    cw_min: Numbers,
    cw_max: Numbers,
    slot_s: Numbers,
    sifs_s: Numbers,
    ack_s: Numbers,
    difs_s: Numbers,
    timeout_s: Numbers,
    turnaround_s: Numbers,
    payload_bytes: Numbers,
    attempts: Numbers = UNLIMITED,
    rts_cts: tuple[Numbers, Numbers, Numbers] | None = None,
) -> HiddenPair:
    """Solve two saturated senders that do not hear each other, with a receiver that both hear.

    Parameters
    ----------
    frame_s
        Time on the air of a data frame, in seconds.
    cw_min, cw_max, slot_s, payload_bytes
        As of `dcf`.
    sifs_s, ack_s, difs_s
        SIFS, the time of an ACK, and DIFS, in seconds.
    timeout_s
        From the end of a frame to the moment from which its sender counts slots again if no answer comes, in seconds.
    turnaround_s
        A station that is to begin no later than this after another frame reaches it does so, in seconds.
    attempts
        Failures of the frame that contends after which it is given up, 1 to 255. Default: infinite.
    rts_cts
        With RTS and CTS: their times on the air in seconds, and the attempts of a data frame, 1 to 255.
    """
    pair = (cw_min, cw_max, attempts, slot_s, frame_s, sifs_s, ack_s, difs_s, timeout_s, turnaround_s, payload_bytes)
    if rts_cts is None:
        return HiddenPair(*each("hidden_pair", 4, *pair))
    return HiddenPair(*each("hidden_pair_rts", 4, *rts_cts, *pair))
