#!/usr/bin/env python3
"""Open captures of short runs with tshark and hold every field to what the standard says.

Times and durations are worked out here, from the standard's numbers, not taken from Sluice.
"""

import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SLUICE = pathlib.Path(os.environ.get("SLUICE", ROOT / "target/release/sluice")).resolve()

FIELDS = ["frame.time_epoch", "frame.len", "radiotap.flags.badfcs", "radiotap.datarate", "radiotap.mcs.index", "radiotap.mcs.gi",
          "radiotap.vht.mcs.0", "radiotap.vht.nss.0", "radiotap.vht.bw", "radiotap.vht.gi", "radiotap.he.data_3.data_mcs",
          "radiotap.he.data_1.ppdu_format", "radiotap.he.pre_fec_padding_factor", "radiotap.he.pe_disambiguity",
          "radiotap.he.data_5.data_bw_ru_allocation", "radiotap.he.data_5.gi", "radiotap.he.data_6.nsts",
          "radiotap.ampdu.reference", "radiotap.dbm_antsignal", "wlan.fc.type_subtype", "wlan.duration", "wlan.seq",
          "wlan.fc.retry", "wlan.fc.pwrmgt", "wlan.ra", "wlan.ta", "wlan.qos.tid", "wlan.fixed.ssc.sequence", "wlan.ba.bm",
          "wlan.fcs.status", "ip.src", "ip.dst", "ip.checksum.status", "ip.dsfield.ecn", "ip.dsfield.dscp",
          "udp.length", "icmp.type", "icmp.seq", "tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw", "tcp.len", "tcp.hdr_len", "tcp.flags",
          "tcp.window_size_value", "tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.options.sack_perm",
          "ip.ttl", "dsr.nexthdr", "dsr.len", "dsr.option.type", "dsr.option.rreq.targetaddress", "dsr.option.rreq.address",
          "dsr.option.rrep.address", "dsr.option.srcrt.segsleft", "dsr.option.err.type",
          "dsr.option.err.unreachablenode", "tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr", "tcp.options.sack_le", "tcp.options.sack_re",
          "_ws.malformed"]

RTS, CTS, ACK, BLOCK_ACK, DATA, QOS_DATA = "0x001b", "0x001c", "0x001d", "0x0019", "0x0020", "0x0028"
TRIGGER, NULL, QOS_NULL = "0x0012", "0x0024", "0x002c"

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

# Standard, MCS, guard interval in scenarios and in tshark, and bytes of the bitmap in a block acknowledgement.
WIDE = [("802.11ac", 8, "short", "1", 8), ("802.11ac", 3, "long", "0", 8), ("802.11ax", 11, "long", "0", 32),
        ("802.11ax", 4, "1.6 us", "1", 32), ("802.11ax", 0, "3.2 us", "2", 32)]

# Keys of [radio], and what HE-SIG-A says of data of 1070 B, 8582 bits with SERVICE and tail: format (0 SU, 1 ER SU), bandwidth
# (0: 20 MHz, 2: 80 MHz, 6: 106 tones) and, if receivers ask for an extension, the quarters of the last symbol with data (4 as
# 0) and PE Disambiguity. 117 bits a symbol and 30 a quarter leave 41 bits, 4900 and 1200 leave 3682.
HE = [('extended_range = "242 tones"\nmcs = 0\npacket_padding = "16 us"', (1, 0, 2, 0)),
      ('extended_range = "106 tones"\nmcs = 0', (1, 6, None, None)),
      ('channel_width = "80 MHz"\nmcs = 7\npacket_padding = "8 us"', (0, 2, 0, 0)),
      # 23.2 + 27.2 + 16 us after L-SIG end 1.6 us before a multiple of 4 us: with the extension more than a symbol.
      ('channel_width = "80 MHz"\nmcs = 7\npacket_padding = "16 us"', (0, 2, 0, 1))]

OFDMA = """
title = "Downloads to four stations, whose acknowledgements are asked for"
duration = "300 ms"
radio = { standard = "802.11ax", channel_width = "80 MHz", mcs = 5 }
mac = { ofdma = "both", mu_edca = { timer = "16 ms" } }
[[node]]
name = "ap"
role = "access-point"
position = ["0 m", "0 m"]
queues = "per-station"
[[node]]
name = "s"
count = 4
position = ["5 m", "0 m"]
[[flow]]
name = "file"
from = "ap"
to = "s*"
transport = "tcp"
traffic = { kind = "greedy" }
"""

SEGMENTS = """
title = "A transfer over TCP with losses, and pings"
duration = "20 s"
[radio]
standard = "802.11g"
[queue]
limit = 8
[[node]]
name = "ap"
role = "access-point"
position = ["0 m", "0 m"]
[[node]]
name = "s1"
position = ["5 m", "0 m"]
[[node]]
name = "server"
role = "wired"
[[wired]]
between = ["server", "ap"]
rate = "100 Mb/s"
delay = "10 ms"
[[flow]]
name = "file"
from = "server"
to = "s1"
transport = "tcp"
tcp = { ecn = true, advertised_window = "4096 kB" }
traffic = { kind = "transfer", size = "300 kB", every = "10 s" }
[[flow]]
name = "ping"
from = "s1"
to = "server"
class = "real-time"
traffic = { kind = "ping", every = "1 s" }
"""

ROUTED = """
title = "Four nodes, of which the third walks away"
duration = "12 s"
[radio]
range = "30 m"
[routing]
protocol = "dsr"
[[node]]
name = "a"
position = ["0 m", "0 m"]
[[node]]
name = "b"
position = ["25 m", "0 m"]
[[node]]
name = "c"
position = ["50 m", "0 m"]
waypoints = [{ time = "5 s", position = ["50 m", "500 m"], speed = "40 m/s" }]
[[node]]
name = "d"
position = ["75 m", "0 m"]
[[flow]]
name = "forward"
from = "a"
to = "d"
traffic = { kind = "cbr", rate = "80 kb/s", packet = "1000 B" }
"""

FIN, SYN, ACKED, ECE, CWR = 0x01, 0x02, 0x10, 0x40, 0x80


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


SLEEPING = """
title = "A packet for a station that sleeps"
duration = "700 ms"
[[node]]
name = "ap"
role = "access-point"
position = ["0 m", "0 m"]
[[node]]
name = "phone"
position = ["30 m", "0 m"]
power_save = { idle_timeout = "100 ms" }
[[flow]]
name = "down"
from = "ap"
to = "phone"
start = "450 ms"
traffic = { kind = "cbr", rate = "8 kb/s", packet = "1000 B" }
"""


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
    # 30 m take 0.1 us, so the answer is heard twice that later.
    gaps = [micros(later) - micros(earlier) for earlier, later in zip(rows[:3], rows[1:4], strict=True)]
    assert all(abs(gap - due) < 0.3 for gap, due in zip(gaps, [long + 10, short + 10, payload + 10], strict=True)), gaps
    assert (rts["wlan.ra"], rts["wlan.ta"]) == (data["wlan.ra"], data["wlan.ta"])
    assert cts["wlan.ra"] == ack["wlan.ra"] == rts["wlan.ta"]
    assert (data["ip.src"], data["ip.dst"]) == ("10.0.0.1", "10.0.0.3"), "addresses go from end to end"
    assert int(data["udp.length"]) == 1008 and data["ip.checksum.status"] == "1"
    assert all(row["wlan.fcs.status"] == "1" for row in (rts, cts, ack)), "checksums of whole frames are right"
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


def check_wide(folder):
    """VHT and HE: MCS, streams, width and guard interval of frames, and bitmaps of 64 and 256 bits."""
    for standard, mcs, guard, shown, bitmap in WIDE:
        radio = f'standard = "{standard}"\nchannel_width = "80 MHz"\nstreams = 2\nguard_interval = "{guard}"\nmcs = {mcs}'
        scenario = AGGREGATES.replace('standard = "802.11n"', radio).replace("\nmcs = 7\n", "\n").replace(
            'ampdu = "65535 B"', 'ampdu = "1048575 B"')
        rows, _, results = capture(scenario, "n1", folder)
        data = [row for row in rows if row["wlan.fc.type_subtype"] == QOS_DATA]
        fields = {(row["radiotap.vht.mcs.0"], row["radiotap.vht.nss.0"], row["radiotap.vht.bw"], row["radiotap.vht.gi"],
                   row["radiotap.he.data_3.data_mcs"], row["radiotap.he.data_5.data_bw_ru_allocation"],
                   row["radiotap.he.data_5.gi"], row["radiotap.he.data_6.nsts"]) for row in data}
        numbers = {tuple(int(field, 0) if field else None for field in row) for row in fields}
        none = (None,) * 4
        expected = (mcs, 2, 4, int(shown), *none) if standard == "802.11ac" else (*none, mcs, 2, int(shown), 2)
        assert numbers == {expected}, f"{standard} MCS {mcs}: {numbers}"
        answers = [row for row in rows if row["wlan.fc.type_subtype"] == BLOCK_ACK]
        assert answers and all(len(row["wlan.ba.bm"].replace(":", "")) == 2 * bitmap for row in answers)
        rate = {0: "6", 3: "24"}[min(mcs, 3)]
        assert all(row["radiotap.datarate"] == rate for row in answers), "the highest mandatory rate below the data's"
        assert results["flows"][0]["received_packets"] > 100


def check_he(folder):
    """HE ER SU PPDUs, whose responses have their format, and the fields about packet extensions."""
    for radio, expected in HE:
        scenario = CHAIN.replace('range = "30 m"', f'standard = "802.11ax"\n{radio}').replace(
            '[mac]\nrts_threshold = "500 B"\n', "").replace('to = "n2"', 'to = "n1"')
        rows, _, _ = capture(scenario, "n1", folder)
        fields = ("radiotap.he.data_1.ppdu_format", "radiotap.he.data_5.data_bw_ru_allocation",
                  "radiotap.he.pre_fec_padding_factor", "radiotap.he.pe_disambiguity")
        words = {"True": "1", "False": "0"}
        data = {tuple(int(words.get(row[field], row[field]), 0) if row[field] else None for field in fields)
                for row in rows if row["wlan.fc.type_subtype"] == QOS_DATA}
        assert data == {expected}, f"{radio}: {data}"
        formats = {row["radiotap.he.data_1.ppdu_format"] for row in rows if row["wlan.fc.type_subtype"] == ACK}
        assert len(formats) == 1 and (formats == {""}) == (expected[0] == 0), f"{radio}: {formats}"


def check_ofdma(folder):
    """OFDMA in both directions: triggers, their answers in RUs and acknowledgements to all."""
    rows, events, _ = capture(OFDMA, "ap", folder)
    counts = {kind: kinds(rows).count(kind) for kind in (TRIGGER, QOS_NULL, QOS_DATA)}
    assert all(counts.values()), counts
    answers = [row for row in rows if row["wlan.fc.type_subtype"] == QOS_NULL]
    # RUs have 242 tones; 484 if two stations are asked; 996 if one is.
    assert {int(row["radiotap.he.data_5.data_bw_ru_allocation"], 0) for row in answers} <= {7, 8, 9}
    sent = [event["frame"] for event in events if event["event"] == "sends" and "frame" in event]
    assert {"trigger", "multi-block-ack"} <= set(sent), set(sent)
    acknowledged = [row for row in rows if row["wlan.fc.type_subtype"] == BLOCK_ACK and row["wlan.ra"] == "ff:ff:ff:ff:ff:ff"]
    assert acknowledged


def check_segments(folder):
    """Handshake, data, selective acknowledgements, time stamps, ECN and the end of TCP connections; pings."""
    rows, _, results = capture(SEGMENTS, "s1", folder)
    # The capture has a frame once for each attempt; the first good one is enough.
    once = {}
    for row in rows:
        if row["radiotap.flags.badfcs"] in ("0", "False"):
            once.setdefault((row["wlan.ta"], row["wlan.seq"]), row)
    rows = list(once.values())
    segments = [row for row in rows if row["tcp.flags"]]
    flags = {id(row): int(row["tcp.flags"], 16) for row in segments}
    ports = sorted({row["tcp.srcport"] for row in segments if row["ip.src"].endswith(".3")})
    assert ports == ["49152", "49153"], f"two connections from two ports: {ports}"
    first = [row for row in segments if "49152" in (row["tcp.srcport"], row["tcp.dstport"])]
    syn, back, data = first[0], first[1], [row for row in first if row["tcp.len"] not in ("", "0")]
    assert (flags[id(syn)], flags[id(back)]) == (SYN | ECE | CWR, SYN | ACKED | ECE), "ECN is offered and taken"
    for row in (syn, back):
        assert row["tcp.hdr_len"] == "40" and row["tcp.options.mss_val"] == "1000" and row["tcp.options.sack_perm"]
        # 4 096 000 >> 6 = 64 000; the window of a SYN is not scaled.
        assert (row["tcp.options.wscale.shift"], row["tcp.window_size_value"]) == ("6", "65535")
    assert (syn["tcp.seq_raw"], back["tcp.seq_raw"], back["tcp.ack_raw"]) == ("0", "0", "1")
    assert all(row["ip.dsfield.ecn"] == "0" for row in (syn, back)), "SYNs are never ECN-capable"
    assert (data[0]["tcp.seq_raw"], data[0]["tcp.len"], data[0]["tcp.hdr_len"]) == ("1", "1000", "32")
    assert data[0]["ip.dsfield.ecn"] == "2" and data[0]["tcp.window_size_value"] == "64000"
    numbers = [int(row["tcp.seq_raw"]) for row in data]
    assert set(numbers) == set(range(1, 300_001, 1000)), "all data, in whole segments"
    assert numbers != sorted(numbers), "what was lost came later"
    repeated = [row for row, number in zip(data, numbers, strict=True) if number < max(numbers[: data.index(row) + 1])]
    assert repeated and all(row["ip.dsfield.ecn"] == "0" for row in repeated), "repetitions are not ECN-capable"
    acks = [row for row in first if row["ip.src"].endswith(".2") and not flags[id(row)] & SYN]
    seen = [int(row["tcp.ack_raw"]) for row in acks]
    assert seen == sorted(seen) and seen[-1] == 300_002, "acknowledgements rise to the end, the FIN counted"
    assert all(row["tcp.len"] == "0" for row in acks)
    blocks = [row for row in acks if row["tcp.options.sack_le"]]
    assert blocks, "losses are reported"
    for row in blocks:
        left, right = ([int(word) for word in row[f"tcp.options.sack_{end}"].split(",")] for end in ("le", "re"))
        assert len(left) <= 3 and int(row["tcp.hdr_len"]) == 32 + 4 + 8 * len(left)
        assert all(int(row["tcp.ack_raw"]) < low < high for low, high in zip(left, right, strict=True))
        assert all((low - 1) % 1000 == 0 for low in left)
    assert all(row["tcp.hdr_len"] == "32" for row in acks if not row["tcp.options.sack_le"])
    stamps = {row["tcp.options.timestamp.tsval"] for row in first if row["ip.src"].endswith(".3")}
    assert all(row["tcp.options.timestamp.tsecr"] in stamps for row in acks), "stamps come back as they were"
    last = next(row for row in data if row["tcp.seq_raw"] == "299001")
    assert flags[id(last)] & FIN, "the end rides along with the last data"
    pings = [(row["icmp.type"], row["icmp.seq"]) for row in rows if row["icmp.type"]]
    assert pings.count(("8", "3")) == 1 and pings.count(("0", "3")) == 1 and len(pings) == 40
    # Replies, too, have expedited forwarding; TCP is best effort.
    assert {row["ip.dsfield.dscp"] for row in rows if row["icmp.type"]} == {"46"}
    assert {row["ip.dsfield.dscp"] for row in segments} == {"0"}
    flow = next(flow for flow in results["flows"] if flow["name"] == "file")
    assert flow["transfers_completed"] == 2 and flow["retransmits"] > 0


def check_routed(folder):
    """DSR's options: requests, replies, source routes of data, errors."""
    rows, _, _ = capture(ROUTED, "b", folder)
    routed = [row for row in rows if row["dsr.nexthdr"]]
    with_option = {kind: [row for row in routed if kind in row["dsr.option.type"].split(",")] for kind in ("1", "2", "3", "96")}
    near, to_all, passed = with_option["1"][:3]
    for row in (near, to_all, passed):
        assert (row["ip.src"], row["ip.dst"], int(row["dsr.nexthdr"], 0)) == ("10.0.0.1", "255.255.255.255", 59)
        assert row["dsr.option.rreq.targetaddress"] == "10.0.0.4"
    assert (near["ip.ttl"], to_all["ip.ttl"], passed["ip.ttl"]) == ("1", "16", "15")
    assert (to_all["dsr.option.rreq.address"], passed["dsr.option.rreq.address"]) == ("", "10.0.0.2")
    reply = next(row for row in with_option["2"] if row["wlan.ta"].endswith(":02"))
    assert (reply["ip.src"], reply["ip.dst"], reply["dsr.option.rrep.address"]) == ("10.0.0.4", "10.0.0.1", "10.0.0.2,10.0.0.3,10.0.0.4")
    assert reply["dsr.option.srcrt.segsleft"] == "0"
    data = [row for row in with_option["96"] if int(row["dsr.nexthdr"], 0) == 17]
    assert {(row["wlan.ta"][-2:], row["dsr.option.srcrt.segsleft"]) for row in data} >= {("01", "2"), ("02", "1")}
    assert all((row["dsr.len"], row["udp.length"]) == ("12", "1008") for row in data)
    told = next(row for row in with_option["3"] if row["wlan.ta"].endswith(":02") and row["ip.dst"] == "10.0.0.1")
    assert (told["dsr.option.err.type"], told["dsr.option.err.unreachablenode"]) == ("1", "10.0.0.3")


def check_power_save(folder):
    """Null frames with and without the power management bit: before a sleep, at the beacon that tells of a packet, after."""
    for radio, null, data in (("", NULL, DATA), ("802.11n", QOS_NULL, QOS_DATA)):
        scenario = SLEEPING + (f'[radio]\nstandard = "{radio}"\nbasic_rate = "6 Mb/s"\n' if radio else "")
        rows, _, _ = capture(scenario, "phone", folder)
        sent = [row for row in rows if row["wlan.fc.type_subtype"] != ACK]
        assert kinds(sent) == [null, null, data, null], kinds(sent)
        nulls = [row for row in sent if row["wlan.fc.type_subtype"] == null]
        assert [row["wlan.fc.pwrmgt"] in ("1", "True") for row in nulls] == [True, False, True]
        assert all(row["wlan.fcs.status"] == "1" for row in nulls), "a null frame ends after its header"
        if not radio:
            # 28 B; the station's own ACK, with the same radiotap header, has 14.
            ack = next(row for row in rows if row["wlan.fc.type_subtype"] == ACK and not row["radiotap.dbm_antsignal"])
            assert {int(row["frame.len"]) - int(ack["frame.len"]) for row in nulls} == {14}
        # Each comes when it is due and the medium is idle: after 100 ms, at the fifth beacon, 100 ms after the packet.
        began = [micros(row) / 1_000 for row in sent]
        assert abs(began[0] - 100) < 1 and abs(began[1] - 512) < 1 and 100 <= began[3] - began[2] < 102, began


def main():
    if not SLUICE.exists():
        sys.exit(f"{SLUICE} is missing: run `make build`")
    for check in (check_exchange, check_retries, check_aggregates, check_wide, check_he, check_ofdma, check_segments,
                  check_routed, check_power_save):
        with tempfile.TemporaryDirectory() as folder:
            check(folder)
        print(f"{check.__name__}: {check.__doc__.splitlines()[0]}")


if __name__ == "__main__":
    main()
