#!/usr/bin/env python3
"""Open captures of short runs with tshark and hold every field to what the standard says.

Times and durations are worked out here, from the standard's numbers, not taken from Sluice.
"""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SLUICE = ROOT / "target/release/sluice"

FIELDS = ["frame.time_epoch", "frame.len", "radiotap.datarate", "radiotap.mcs.index", "radiotap.mcs.gi",
          "radiotap.ampdu.reference", "radiotap.dbm_antsignal", "wlan.fc.type_subtype", "wlan.duration", "wlan.seq",
          "wlan.fc.retry", "wlan.ra", "wlan.ta", "wlan.qos.tid", "wlan.fixed.ssc.sequence", "wlan.ba.bm",
          "wlan.fcs.status", "ip.src", "ip.dst", "ip.checksum.status", "udp.length", "_ws.malformed"]

RTS, CTS, ACK, BLOCK_ACK, DATA, QOS_DATA = "0x001b", "0x001c", "0x001d", "0x0019", "0x0020", "0x0028"

CHAIN = """
title = "Three nodes, one packet each 100 ms, announced by RTS"
duration = "1 s"
[radio]
range = "30 m"
[mac]
rts_threshold = "500 B"
[nodes]
count = 3
placement = "chain"
spacing = "30 m"
[[flow]]
name = "forward"
from = "n0"
to = "n2"
traffic = { kind = "cbr", rate = "80 kb/s", packet = "1000 B" }
"""

HIDDEN = """
title = "Two hidden senders: many retries"
duration = "1 s"
[radio]
range = "30 m"
carrier_sense_range = "35 m"
[nodes]
count = 3
placement = "chain"
spacing = "30 m"
[[flow]]
name = "left"
from = "n0"
to = "n1"
traffic = { kind = "saturated", packet = "1000 B" }
[[flow]]
name = "right"
from = "n2"
to = "n1"
traffic = { kind = "saturated", packet = "1000 B" }
"""

AGGREGATES = """
title = "Aggregates of voice and best effort, one MPDU in ten spoilt"
duration = "200 ms"
[radio]
standard = "802.11n"
frequency = "5.18 GHz"
mcs = 7
[radio.errors]
model = "fixed"
packet_error_ratio = 0.1
control_frames = false
[mac]
access = "edca"
[mac.aggregation]
ampdu = "65535 B"
[nodes]
count = 2
placement = "chain"
spacing = "5 m"
[[flow]]
name = "bulk"
from = "n0"
to = "n1"
traffic = { kind = "saturated", packet = "1000 B" }
[[flow]]
name = "call"
from = "n1"
to = "n0"
category = "voice"
traffic = { kind = "cbr", rate = "64 kb/s", packet = "160 B" }
"""


def capture(scenario, node, folder):
    """The rows that tshark sees in a node's capture, and the run's results."""
    folder = pathlib.Path(folder)
    file = folder / "scenario.toml"
    file.write_text(scenario)
    command = [SLUICE, "run", file, "--json", "--pcap", folder, "--trace", folder / "events.jsonl", "--node", node]
    results = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    fields = [word for field in FIELDS for word in ("-e", field)]
    options = ["-o", "wlan.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    command = ["tshark", "-r", folder / f"{node}.pcap", *options, "-T", "fields", "-E", "separator=;", *fields]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [dict(zip(FIELDS, row, strict=True)) for row in csv.reader(io.StringIO(shown), delimiter=";")]
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert rows and events, "nothing was captured"
    for row in rows:
        assert not row["_ws.malformed"], f"tshark calls a frame malformed: {row}"
    return rows, events, results


def micros(row):
    whole, _, part = row["frame.time_epoch"].partition(".")
    return int(whole) * 1_000_000 + int(part.ljust(9, "0")) / 1_000


def kinds(rows):
    return [row["wlan.fc.type_subtype"] for row in rows]


def check_exchange(folder):
    """RTS, CTS, data, ACK of the first packet: order, rates, times and durations by hand (802.11b, clause 16)."""
    rows, events, _ = capture(CHAIN, "n0", folder)
    rts, cts, data, ack = rows[:4]
    assert kinds(rows[:4]) == [RTS, CTS, DATA, ACK], kinds(rows[:4])
    # Long preamble 192 us; 20 B and 14 B at 1 Mb/s; 1000 + 28 + 8 + 28 B at 11 Mb/s, rounded up to whole microseconds.
    long, short, payload = 192 + 160, 192 + 112, 192 + 774
    assert [row["radiotap.datarate"] for row in rows[:4]] == ["1", "1", "11", "1"]
    assert int(rts["wlan.duration"]) == 3 * 10 + 2 * short + payload
    assert int(cts["wlan.duration"]) == 2 * 10 + payload + short
    assert int(data["wlan.duration"]) == 10 + short
    assert int(ack["wlan.duration"]) == 0
    # 30 m are 0.1 us: the answer is heard twice that later.
    gaps = [micros(later) - micros(earlier) for earlier, later in zip(rows[:3], rows[1:4], strict=True)]
    assert all(abs(gap - due) < 0.3 for gap, due in zip(gaps, [long + 10, short + 10, payload + 10], strict=True)), gaps
    assert (rts["wlan.ra"], rts["wlan.ta"]) == (data["wlan.ra"], data["wlan.ta"])
    assert cts["wlan.ra"] == ack["wlan.ra"] == rts["wlan.ta"]
    assert (data["ip.src"], data["ip.dst"]) == ("10.0.0.1", "10.0.0.3"), "addresses go from end to end"
    assert int(data["udp.length"]) == 1008 and data["ip.checksum.status"] == "1"
    assert all(row["wlan.fcs.status"] == "1" for row in (rts, cts, ack)), "check sums of whole frames are right"
    assert not rts["radiotap.dbm_antsignal"] and float(cts["radiotap.dbm_antsignal"]) < 0
    own = [row for row in rows if row["wlan.fc.type_subtype"] == DATA and row["wlan.ta"] == data["wlan.ta"]]
    assert [int(row["wlan.seq"]) for row in own] == list(range(10)), "ten packets, ten sequence numbers"
    assert sum(event["event"] == "acknowledged" for event in events) == 10


def check_retries(folder):
    """A repetition has the Retry bit and the sequence number of what it repeats; counts agree with the results."""
    rows, events, results = capture(HIDDEN, "n0", folder)
    mac = next(node["mac"] for node in results["nodes"] if node["name"] == "n0")
    own = [row for row in rows if row["wlan.fc.type_subtype"] == DATA and not row["radiotap.dbm_antsignal"]]
    assert abs(len(own) - mac["attempts"]) <= 1, "the frame that is in the air at the end is not in the capture"
    retries = [row["wlan.fc.retry"] in ("1", "True") for row in own]
    assert any(retries) and not all(retries)
    for before, row, retry in zip(own, own[1:], retries[1:], strict=False):
        same = before["wlan.seq"] == row["wlan.seq"]
        assert same == retry, f"{before} then {row}"
    sent = [event for event in events if event["event"] == "sends" and event["frame"] == "data"]
    assert len(sent) == len(own)


def check_aggregates(folder):
    """MPDUs of an aggregate share a reference; the block acknowledgement names those that came in; EDCA's TIDs."""
    rows, _, results = capture(AGGREGATES, "n1", folder)
    aggregates = {}
    for row in rows:
        if row["radiotap.ampdu.reference"]:
            aggregates.setdefault(row["radiotap.ampdu.reference"], []).append(row)
        if row["wlan.fc.type_subtype"] == QOS_DATA and row["radiotap.dbm_antsignal"]:
            assert row["radiotap.mcs.index"] == "7" and row["radiotap.mcs.gi"] == "0"
    assert max(map(len, aggregates.values())) > 10, "long aggregates"
    assert {row["wlan.qos.tid"] for row in rows if row["wlan.qos.tid"]} == {"0", "6"}, "best effort and voice"
    answers = [row for row in rows if row["wlan.fc.type_subtype"] == BLOCK_ACK and not row["radiotap.dbm_antsignal"]]
    assert len(answers) >= len(aggregates) - 1
    for row in answers:
        assert row["radiotap.datarate"] in ("6", "12", "24"), "block acknowledgements at a basic rate"
        assert len(row["wlan.ba.bm"].replace(":", "")) == 16
    for mpdus in aggregates.values():
        numbers = [int(row["wlan.seq"]) for row in mpdus]
        assert numbers == sorted(numbers, key=lambda number: (number - numbers[0]) % 4096), "in order of their numbers"
        assert len(mpdus) <= 64
    retried = [row for row in rows if row["wlan.fc.type_subtype"] == QOS_DATA and row["wlan.fc.retry"] in ("1", "True")]
    assert retried, "spoilt MPDUs are sent again"
    received = next(flow for flow in results["flows"] if flow["name"] == "bulk")["received_packets"]
    assert received > 100


def main():
    if not SLUICE.exists():
        sys.exit(f"{SLUICE} is missing: run `make build`")
    for check in (check_exchange, check_retries, check_aggregates):
        with tempfile.TemporaryDirectory() as folder:
            check(folder)
        print(f"{check.__name__}: {check.__doc__.splitlines()[0]}")


if __name__ == "__main__":
    main()
