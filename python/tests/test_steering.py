"""A steering rule in Python: it reads a run's series and says by `moves` which station goes where."""

import pytest

import sluice

# Two access points on their own channels. Both desks begin at the first one; the second desk is nearer to the other.
OFFICE = """
title = "An office with two access points"
duration = "8 s"
[radio]
standard = "802.11ac"
mcs = 2
propagation = "log-distance"
frequency = "5.18 GHz"
[[node]]
name = "ap1"
role = "access-point"
position = ["0 m", "0 m"]
channel = 36
queues = "mac80211"
[[node]]
name = "ap2"
role = "access-point"
position = ["20 m", "0 m"]
channel = 149
queues = "mac80211"
[[node]]
name = "server"
role = "wired"
[[wired]]
between = ["ap*", "server"]
rate = "1 Gb/s"
"""
DESK = """
[[node]]
name = "{desk}"
position = ["{x} m", "0 m"]
access_point = "ap1"
{roaming}
[[flow]]
name = "to-{desk}"
from = "server"
to = "{desk}"
traffic = {{ kind = "cbr", rate = "15 Mb/s", packet = "1000 B" }}
"""
PLACES = {"desk1": 9, "desk2": 11}


def office(moves):
    """The office, with these moves: times in seconds and access points, by station."""
    desks = []
    for desk, x in PLACES.items():
        ordered = ", ".join(f'{{ time = "{time} s", access_point = "{ap}" }}' for time, ap in moves.get(desk, []))
        roaming = f'roaming = {{ outage = "100 ms", moves = [{ordered}] }}' if ordered else ""
        desks.append(DESK.format(desk=desk, x=x, roaming=roaming))
    return sluice.Scenario(OFFICE + "".join(desks))


def balance(result):
    """The rule: once a flow gets less than 14 Mb/s, the station nearest to the other access point moves there."""
    for row in result.flow_series.to_rows():
        if row["time_s"] > 0.5 and row["goodput_bps"] < 14e6:
            return {max(PLACES, key=PLACES.get): [(round(row["time_s"], 1), "ap2")]}
    return {}


def test_a_rule_in_python_moves_a_station_to_the_idle_access_point():
    before = office({}).run(series="500 ms")
    moves = balance(before)
    assert moves == {"desk2": [(1.0, "ap2")]}
    after = office(moves).run(series="500 ms")
    [[roam]] = [node["roams"] for node in after.to_dict()["nodes"] if node.get("roams")]
    assert (roam["access_point"], roam["left_s"], roam["joined_s"]) == ("ap2", 1.0, pytest.approx(1.1))

    def late(flow, since):
        rows = [row for row in after.flow_series.to_rows() if row["flow"] == flow and row["time_s"] > since]
        return min(row["goodput_bps"] for row in rows)

    # The old access point still spends its time on packets for the station that has left.
    assert late("to-desk2", 2) > 14e6 and late("to-desk1", 7) > 14e6
    assert max(row["goodput_bps"] for row in before.flows.to_rows()) < 10e6
