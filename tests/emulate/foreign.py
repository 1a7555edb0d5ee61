#!/usr/bin/env python3
"""Foreign stacks over the presets, in virtual time, by the C library: foreign.py LIBRARY [PRESET ...]

aioquic (QUIC, CUBIC) lets the client download SIZE within DURATION. aiortc's bandwidth estimation (Google's congestion control, by REMB)
paces video from the server to the client. Every run is done twice, and must push and get the same packets at the same times.
"""

import collections
import ctypes
import datetime
import hashlib
import pathlib
import random
import statistics
import sys
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "crates/air/tests"), str(ROOT / "target/foreign")]

import call  # noqa: E402

PRESETS = ("home", "neighbour", "walk-away", "lecture")
DURATION = 20.0
# What a client downloads, if the time suffices.
SIZE = 60_000_000
ADDRESS = ("192.0.2.1", 4433)
# Pictures a second, the payload of an RTP packet, and aiortc's rates for H.264 in bit/s.
PICTURES, PACKET, LEAST, START, MOST = 30, 1200, 500e3, 1e6, 3e6


class Air:
    """A preset, whose first real node is the client and whose second is the server."""

    def __init__(self, library, preset):
        self.call, self.got, self.pushed, self.arrived = library, call.Delivery(), collections.Counter(), []
        self.one = library.sluice_open(1, preset.encode(), 1, f"duration = {DURATION} s".encode())
        assert self.one, library.sluice_error().decode()
        self.client, self.server = library.sluice_node(self.one, 0), library.sluice_node(self.one, 1)

    def send(self, now, source, payload):
        to = self.server if source == self.client else self.client
        sent = self.call.sluice_send(self.one, round(now * 1e9), source, to, payload, len(payload), 0)
        assert sent == 0, self.call.sluice_error().decode()
        self.pushed[source] += 1

    def poll(self, until):
        """The next arrival until a time: when, where and what."""
        if not self.call.sluice_poll(self.one, round(until * 1e9), ctypes.byref(self.got)):
            return None
        got = self.got
        self.arrived.append((got.at_ns, got.sent_ns, got.destination, got.length))
        return got.at_ns / 1e9, got.destination, bytes(got.bytes[: got.length])

    def close(self):
        self.call.sluice_close(self.one)

    def delays(self, node):
        """How long packets for a node were on their way, in milliseconds: median and 99th percentile."""
        taken = sorted((at - sent) / 1e6 for at, sent, to, _ in self.arrived if to == node)
        return statistics.median(taken), taken[len(taken) * 99 // 100]

    def missed(self):
        """Packets of the server that have not arrived."""
        return self.pushed[self.server] - sum(to == self.client for _, _, to, _ in self.arrived)

    def digest(self):
        return hashlib.sha256(repr((self.pushed, self.arrived)).encode()).hexdigest()


def certificate():
    """One that signs itself; its signatures are all of one length."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ed25519

    key = ed25519.Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    now = datetime.datetime.now(datetime.timezone.utc)
    draft = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + datetime.timedelta(days=1))
    return draft.sign(key, None), key


def quic(library, preset):
    """Milliseconds to the handshake, Mb/s, delay of data packets, packets that the stack took for lost and that were."""
    from aioquic.quic.configuration import QuicConfiguration
    from aioquic.quic.connection import QuicConnection
    from aioquic.quic.events import HandshakeCompleted, StreamDataReceived
    from aioquic.quic.logger import QuicLogger

    air, log = Air(library, preset), QuicLogger()
    common = {"congestion_control_algorithm": "cubic", "alpn_protocols": ["x"], "max_datagram_size": 1200, "idle_timeout": 60}
    window = {"max_data": 2**30, "max_stream_data": 2**30}
    client = QuicConnection(configuration=QuicConfiguration(is_client=True, verify_mode=0, **window, **common))
    chain, key = certificate()
    of_server = QuicConfiguration(is_client=False, certificate=chain, private_key=key, quic_logger=log, **common)
    client.connect(ADDRESS, now=0.0)
    server, now, bytes_got, ready, last = None, 0.0, 0, None, None
    while now < DURATION:
        ends = {air.client: client} | ({air.server: server} if server else {})
        for node, end in ends.items():
            timer = end.get_timer()
            if timer is not None and timer <= now:
                end.handle_timer(now=now)
            while event := end.next_event():
                if node == air.server and isinstance(event, HandshakeCompleted):
                    end.send_stream_data(end.get_next_available_stream_id(), bytes(SIZE))
                elif node == air.client and isinstance(event, HandshakeCompleted):
                    ready = now
                elif node == air.client and isinstance(event, StreamDataReceived):
                    bytes_got, last = bytes_got + len(event.data), now
            for payload, _ in end.datagrams_to_send(now=now):
                air.send(now, node, payload)
        timers = [end.get_timer() for end in ends.values()]
        until = min([max(timer, now + 1e-6) for timer in timers if timer is not None] + [DURATION])
        if (found := air.poll(until)) is None:
            now = until
            continue
        now, node, payload = found
        if node == air.server and server is None:
            first = client.original_destination_connection_id
            server = QuicConnection(configuration=of_server, original_destination_connection_id=first)
        (client if node == air.client else server).receive_datagram(payload, ADDRESS, now=now)
    air.close()
    lost = sum(event["name"] == "recovery:packet_lost" for trace in log.to_dict()["traces"] for event in trace["events"])
    figures = [ready * 1e3, bytes_got * 8 / (last - ready) / 1e6, *air.delays(air.client), lost, air.missed()]
    return figures, air.digest()


def rtp(library, preset):
    """Mb/s of video, delay of its packets, share of the run with less than half of the largest rate, packets lost."""
    from aiortc.rate import RemoteBitrateEstimator

    air, estimator = Air(library, preset), RemoteBitrateEstimator()
    rate, picture, estimates, got = START, 0.0, [], 0
    while picture < DURATION - 1:
        if (found := air.poll(picture)) is None:
            packets = max(1, round(rate / PICTURES / 8 / PACKET))
            sent = round(picture * 2**18) % 2**24
            for _ in range(packets):
                air.send(picture, air.server, sent.to_bytes(3, "big") + bytes(PACKET - 3))
            estimates.append(rate)
            picture += 1 / PICTURES
            continue
        at, node, payload = found
        if node == air.server:
            rate = float(int.from_bytes(payload, "big"))
            continue
        got += len(payload)
        if told := estimator.add(round(at * 1e3), int.from_bytes(payload[:3], "big"), len(payload), 1):
            air.send(at, air.client, round(min(max(told[0], LEAST), MOST)).to_bytes(4, "big"))
    air.close()
    low = statistics.mean(rate < MOST / 2 for rate in estimates)
    return [got * 8 / (DURATION - 1) / 1e6, *air.delays(air.client), low * 100, air.missed()], air.digest()


def main():
    library = call.library(sys.argv[1])
    head = "preset       handshake   QUIC  delay p50/p99  lost: said, true     video  delay p50/p99  below half  lost"
    units = "                    ms   Mb/s             ms           packets      Mb/s             ms           %  packets"
    print(f"{head}\n{units}")
    for preset in sys.argv[2:] or PRESETS:
        runs = [[quic(library, preset), rtp(library, preset)] for _ in range(2)]
        assert runs[0] == runs[1], f"{preset}: two runs of the same differ: {runs}"
        (ready, rate, p50, p99, said, true), (video, v50, v99, low, missed) = (figures for figures, _ in runs[0])
        print(
            f"{preset:<12}{ready:>10.1f}{rate:>7.1f}{p50:>8.1f} /{p99:>5.0f}{said:>11}, {true:>5}"
            f"{video:>10.2f}{v50:>8.1f} /{v99:>5.0f}{low:>12.0f}{missed:>6}"
        )


if __name__ == "__main__":
    random.seed(1)
    with mock.patch("os.urandom", random.randbytes):
        main()
