import pytest

import sluice

HOME = """
title = "A laptop and its access point"
duration = "10 s"
radio.standard = "802.11n"
node = [
    { name = "ap", role = "access-point", position = ["0 m", "0 m"], real = true },
    { name = "laptop", position = ["5 m", "0 m"], real = true },
    { name = "neighbour", count = 3, position = ["0 m", "5 m"] },
]
[[flow]]
name = "upload"
from = "neighbour*"
to = "ap"
traffic = { kind = "saturated", packet = "1000 B" }
"""


def echoes(seed):
    """Send a datagram every 20 ms and answer each; give all deliveries and the results."""
    air, all_ = sluice.Medium(sluice.Scenario(HOME), seed), []
    for number in range(20):
        air.send(0.02 * number, "laptop", "ap", bytes([number]), dscp=46, ecn=1)
        while delivery := air.poll(0.02 * (number + 1)):
            if delivery.destination == "ap":
                air.send(delivery.at_s, "ap", "laptop", delivery.payload)
            all_.append(delivery)
    return all_, air.finish()


def test_the_same_seed_gives_the_same_deliveries():
    deliveries, result = echoes(1)
    assert deliveries == echoes(1)[0]
    assert deliveries != echoes(2)[0]
    there = [delivery for delivery in deliveries if delivery.destination == "ap"]
    assert [delivery.payload[0] for delivery in there] == list(range(20))
    assert all((one.dscp, one.ecn, one.routers, type(one.payload)) == (46, 1, 0, bytes) for one in there)
    flows = result.flows
    real = [name for name, kind in zip(flows["flow"], flows["kind"], strict=True) if kind == "real"]
    assert real == ["ap-laptop", "laptop-ap"]


def test_packets_go_by_their_addresses():
    air = sluice.Medium(sluice.Scenario(HOME))
    assert air.nodes == ["ap", "laptop"]
    assert air.addresses("ap")[0] == "10.0.0.1"
    packet = bytes([0x45, 0, 0, 20, 0, 0, 0, 0, 9, 253, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1])
    air.send_packet(0, "laptop", packet)
    assert air.next_event() < 0.01
    delivery = air.poll(1)
    assert delivery.at_s == air.now_s
    assert delivery.packet() == packet
    assert sluice.Delivery(0, 0, "", "", packet, 0, 0, 9).packet() is None


def test_a_broadcast_goes_to_all_others():
    air = sluice.Medium(sluice.Scenario(HOME.replace("count = 3", "count = 3, real = true")))
    air.send(1, "laptop", "broadcast", b"hello")
    receivers = [delivery.destination for delivery in iter(lambda: air.poll(2), None)]
    assert sorted(receivers) == ["ap", "neighbour1", "neighbour2", "neighbour3"]


def test_wrong_pushes_are_refused():
    air = sluice.Medium(sluice.Scenario(HOME))
    air.send(1, "laptop", "ap", b"")
    for now_s, source, destination, payload, ecn in [
        (0.5, "laptop", "ap", b"", 0),
        (2, "labtop", "ap", b"", 0),
        (2, "laptop", "neighbour1", b"", 0),
        (2, "laptop", "ap", bytes(1473), 0),
        (2, "laptop", "ap", b"", 4),
        (float("nan"), "laptop", "ap", b"", 0),
        (10, "laptop", "ap", b"", 0),
    ]:
        with pytest.raises(ValueError):
            air.send(now_s, source, destination, payload, ecn=ecn)
    air.finish()
    with pytest.raises(sluice.RunError, match="finished"):
        air.poll(3)
    with pytest.raises(sluice.RunError, match="no node of the network is real"):
        sluice.Medium(sluice.Scenario(HOME.replace(", real = true", "")))
