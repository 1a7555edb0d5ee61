"""The compared networks as data: how each simulator runs them and what is compared. README.md describes them."""

import dataclasses
import itertools

# Sluice is compared with a peer under the peer's conventions (docs/mac-conventions.md). What the programs set otherwise
# than the peer has it by default: no hello messages in ns-3, routing packets without priority in ns-2.
CONVENTIONS = {
    "ns-3": {"conventions": "ns-3", "record.in_flight_lost": "true"},  # its programs take 1 - received / sent
    "ns-2": {"conventions": "ns-2"},
}
AODV = {
    "ns-3": {"routing.aodv.hello": "false"},
    "ns-2": {"routing.aodv.routing_priority": "none"},
}
# These programs count no trace that shows what ns-2's DSR sends and how often it asks.
DSR = {"routing.protocol": "dsr"}
# Network (j) with traffic of constant bit rate.
CBR = {"flow.down.transport": "udp", "flow.down.traffic.kind": "cbr", "flow.down.traffic.rate": "300 kb/s",
       "flow.down.traffic.packet": "1000 B", "flow.down.phase_jitter": "26.6 ms"}
# Seconds before results count in measurements of cost.
WARM_UP = 1
# In Sluice's programs for ns-3 frames do not expire.
OLD = {"ns-3": {"mac.aggregation.lifetime": "3600 s"}}
NEW = {"ns-3": OLD["ns-3"] | {"conventions": "ns-3.44"}}
# ns-3 repeats an RTS until it is answered (ns3/README.md).
ENDLESS_RTS = {"mac.short_retry_limit": 200}


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """One network with its parameters.

    `ns3` and `ns2` are a program and its options, empty where the peer has none. `conventions` are those of a peer that
    matter in this network alone; `rules` those of patches/ without which ns-2 cannot run it. `cost`: for how many
    simulated seconds CPU time is measured (cost.py), none where it is not; `settled`: when its results count; `counted`:
    from which to which simulated second instructions are counted, which takes fifty times as long.
    """

    network: str
    name: str
    scenario: str
    measures: dict
    simulated: float
    settings: dict = dataclasses.field(default_factory=dict)
    ns3: tuple = ()
    ns2: tuple = ()
    conventions: dict = dataclasses.field(default_factory=dict)
    rules: tuple = ()
    cost: int = 0
    settled: int = WARM_UP
    counted: tuple = ()

    def peers(self):
        """The peers that have this network."""
        return [peer for peer, program in (("ns-3", self.ns3), ("ns-2", self.ns2)) if program]

    def lasting(self, seconds):
        """This network for another time, with a warm-up that does not depend on it."""
        return dataclasses.replace(self, simulated=seconds,
                                   settings=self.settings | {"duration": f"{seconds} s", "warmup": f"{self.settled} s"},
                                   ns3=(*self.ns3, f"--duration={seconds}", f"--warmup={self.settled}"),
                                   ns2=(*self.ns2, "duration", seconds, "warmup", self.settled) if self.ns2 else ())

    def settings_as(self, peer):
        """Sluice's settings for this network under a peer's conventions, or the standard's where that is None."""
        return self.settings | (CONVENTIONS[peer] | self.conventions.get(peer, {}) if peer else {})


def mac_rate(key):
    """What all nodes' medium access counted, a second."""
    return lambda outcome: sum(node["mac"][key] for node in outcome["nodes"]) / outcome["simulated_s"]


def flow_at(index, *keys, scale=1.0):
    """A figure of one flow."""
    def measure(outcome):
        value = outcome["flows"][index]
        for key in keys:
            value = value[key]
        return scale * value
    return measure


def group_goodput(first, last):
    """Goodput of the flows from `first` to before `last`, in Mb/s."""
    return lambda outcome: sum(flow["goodput_bps"] for flow in outcome["flows"][first:last]) / 1e6


def category_goodput(category):
    """Goodput of the flows whose name begins with a category's, in Mb/s."""
    return lambda outcome: sum(f["goodput_bps"] for f in outcome["flows"] if f["name"].startswith(category)) / 1e6


def delivered_share(outcome):
    """Packets received of those sent, over all flows."""
    return sum(f["received_packets"] for f in outcome["flows"]) / sum(f["sent_packets"] for f in outcome["flows"])


def mean_delay(outcome):
    """Mean one-way delay over all packets received, in ms."""
    flows = outcome["flows"]
    packets = sum(flow["received_packets"] for flow in flows)
    return 1e3 * sum(flow["delay_s"]["mean"] * flow["received_packets"] for flow in flows) / packets


def routing_rate(outcome):
    """Routing packets sent a second, each hop counted."""
    return outcome["totals"]["routing_packets"] / outcome["simulated_s"]


def connections(outcome, name=""):
    """The TCP flows whose name begins so."""
    return [flow for flow in outcome["flows"] if flow["name"].startswith(name)]


def dropped_rate(outcome):
    """Packets that queues discarded, a second; of ns-3 those of the queue disc."""
    of_queues = sum(queue["dropped_packets"] for node in outcome["nodes"] for queue in node.get("queues", []))
    return outcome["totals"].get("dropped_packets", of_queues) / outcome["simulated_s"]


def mean_rtt(outcome):
    """Mean of the connections' mean round-trip times, in ms."""
    rtts = [flow["rtt_s"]["mean"] for flow in connections(outcome)]
    return 1e3 * sum(rtts) / len(rtts)


def max_smoothed_rtt(outcome):
    """Largest smoothed round-trip time of any connection, in ms."""
    return 1e3 * max(flow["srtt_max_s"] for flow in connections(outcome))


def repeated_rate(outcome):
    """Segments sent again, a second."""
    return sum(flow["retransmits"] for flow in connections(outcome)) / outcome["simulated_s"]


# Seconds that a packet of network (i) spends on the wire: 1028 B at 10 Mb/s, and the link's delay.
ON_THE_WIRE = 8 * 1028 / 10e6 + 1e-3


def wait(outcome, index, statistic):
    """A flow's wait in the queue discipline, in ms; of ns-3 without that in the device behind it."""
    flow = outcome["flows"][index]
    return 1e3 * (flow["wait_s"][statistic] if "wait_s" in flow else flow["delay_s"][statistic] - ON_THE_WIRE)


def received_rate(index):
    """Packets of a flow that arrived, a second."""
    return lambda outcome: outcome["flows"][index]["received_packets"] / outcome["simulated_s"]


DELIVERED = {"delivered, 1/s": mac_rate("delivered")}
FRAMES = {"data frames, 1/s": mac_rate("attempts"), "not acknowledged, 1/s": mac_rate("collisions")} | DELIVERED
HIDDEN = FRAMES | {"given up, 1/s": mac_rate("retry_drops")}
ANOMALY = FRAMES | {"fast stations, Mb/s": group_goodput(0, -1), "slow station, Mb/s": group_goodput(-1, None)}
CHAIN = FRAMES | {
    f"{name}: {label}": flow_at(index, *keys, scale=scale)
    for index, name in enumerate(("forward", "backward"))
    for label, keys, scale in (("goodput, Mb/s", ("goodput_bps",), 1e-6), ("loss", ("loss_ratio",), 1.0),
                               ("mean delay, s", ("delay_s", "mean"), 1.0), ("max delay, s", ("delay_s", "max"), 1.0))
}
EDCA = FRAMES | {f"{name}, Mb/s": category_goodput(name) for name in ("voice", "video", "best-effort")}
LOST = {"not acknowledged, 1/s": mac_rate("collisions")}
AMPDU = {"data frames, 1/s": mac_rate("attempts"), "goodput, Mb/s": group_goodput(0, None)}
MOBILE = {label: FRAMES[label] for label in ("data frames, 1/s", "not acknowledged, 1/s")} | {
    "delivered share": delivered_share, "mean delay, ms": mean_delay, "routing packets, 1/s": routing_rate}

TCP = {"downloads, Mb/s": category_goodput("down"), "mean RTT, ms": mean_rtt, "max sRTT, ms": max_smoothed_rtt,
       "retransmissions, 1/s": repeated_rate}
AQM = {"dropped, 1/s": dropped_rate, "bulk received, 1/s": received_rate(0),
       "sparse received, 1/s": received_rate(1)} | {
    f"{name}: {statistic} wait, ms": lambda outcome, index=index, statistic=statistic: wait(outcome, index, statistic)
    for index, name in enumerate(("bulk", "sparse")) for statistic in ("mean", "max")}


def cells(phy, name, cost):
    """Network (a) with one PHY."""
    return [Case("a", f"{name} n={n}", f"peer-{name}", DELIVERED if n == 1 else FRAMES, 11.0,
                 {"nodes.count": n + 1}, ("ns3-cell", f"--phy={phy}", f"--stations={n}"),
                 ("cell.tcl", "phy", phy, "stations", n), **cost.get(n, {}))
            for n in (1, 2, 5, 10, 20, 50)]


def ampdus():
    """Network (f)."""
    return [Case("f", f"ampdu mcs={mcs} n={n}", "peer-ampdu", AMPDU if n == 1 else AMPDU | LOST, 6.0,
                 {"nodes.count": n + 1, "radio.mcs": mcs}, ("ns3-ampdu", f"--mcs={mcs}", f"--stations={n}"), conventions=OLD,
                 **({"cost": 20, "counted": (2, 5)} if mcs == 15 else {}))
            for mcs in (7, 15) for n in (1, 10)]


# Network (o): standards with the program's name, MCS and settings.
WIDE = {"ac": ("vht", 8, {"radio.standard": "802.11ac"}), "ax": ("he", 11, {})}

# Stations that do not hear each other, since two of three are 69 m apart.
FAR = {"nodes.spacing": "40 m", "radio.range": "50 m", "radio.carrier_sense_range": "60 m"}
# What free space takes of 5.18 GHz over 1 m, and the noise of 20 MHz with a noise figure of 7 dB: dB and dBm.
FREE_SPACE, NOISE = 46.734, -93.966
# MCS and ratios of signal to noise at which about half and nine tenths of 1066 B with LDPC pass, by ns-3's tables, and
# simulated seconds.
LDPC = [(5, 14.75, 3.2), (5, 15, 1.2), (7, 17.5, 3.2), (7, 18, 1.2), (9, 23, 3.2), (9, 23.5, 1.2), (11, 28.25, 3.2),
        (11, 29, 1.2)]
# Two hidden senders that ask first, and the last of two stations of an older standard.
HIDDEN_WIDE = {"radio.standard": "802.11ax", "radio.streams": 2, "mac.rts_threshold": "0 B",
               "mac.aggregation.ampdu": "1048575 B", "mac.aggregation.ampdu_frames": 256,
               "mac.aggregation.ampdu_duration": "5484 us", "queue.limit": 1000}
GENERATIONS = {"mac.aggregation.ampdu_frames": 64, "node.n2.standard": "802.11ac", "node.n2.streams": 2,
               "node.n2.mcs": 8}
MIXED = {"data frames, 1/s": mac_rate("attempts"), "ax station, Mb/s": group_goodput(0, 1),
         "ac station, Mb/s": group_goodput(1, 2)}


def wide(standard, width, stations, down=False, payload=1000):
    """A cell of network (o): two streams; `down`: node 0 sends to all others."""
    program, mcs, settings = WIDE[standard]
    settings = settings | {"radio.channel_width": f"{width} MHz", "radio.mcs": mcs, "nodes.count": stations + 1,
                           "flow.up.traffic.packet": f"{payload} B"}
    if down:
        settings |= {"flow.up.from": "n0", "flow.up.to": "*", "node.n0.role": "access-point", "node.n0.queues": "per-station"}
    # In ns-3 stations send single frames until they have their BlockAck agreements; of forty some have none after a second.
    warmup = 3.0 if stations > 10 else 0.2
    options = (f"--standard={program}", f"--width={width}", f"--stations={stations}", f"--mcs={mcs}", "--streams=2",
               f"--payload={payload}", *(["--down=1"] if down else []), f"--duration={warmup + 0.5}", f"--warmup={warmup}")
    name = f"{standard} {width} n={stations} {'down' if down else 'up'} {payload} B"
    # With forty downloads all stations have their agreements within WARM_UP.
    settled = WARM_UP if down else max(WARM_UP, int(warmup))
    measured = {"ax 80 n=1 up 1000 B": 3, "ax 80 n=10 up 1000 B": 3, "ax 80 n=40 up 1000 B": 4,
                "ax 80 n=40 down 1000 B": 2}
    return Case("o", name, "peer-wide", AMPDU if down or stations == 1 else AMPDU | LOST, warmup + 0.5,
                settings | {"duration": f"{warmup + 0.5} s", "warmup": f"{warmup} s"}, ("ns3-wide", *options),
                conventions=NEW,
                cost=measured.get(name, 0), settled=settled,
                counted=(settled + 0.2, settled + 0.7) if name in measured else ())


def wides():
    """Network (o)."""
    for standard in WIDE:
        yield from (wide(standard, width, stations) for width in (20, 80, 160) for stations in (1, 10))
        yield wide(standard, 80, 40)
        yield from (wide(standard, width, 10, down=True) for width in (20, 80, 160))
        yield wide(standard, 80, 40, down=True)
        yield wide(standard, 80, 1, payload=200)
        yield wide(standard, 80, 10, down=True, payload=200)
    for up in (False, True):
        yield from (ofdma(stations, payload, up) for stations, payload in ((2, 1000), (4, 1000), (8, 1000), (8, 200)))
    yield from (overlap(channel) for channel in (36, 40, 44))
    like = wide("ax", 80, 2)
    yield dataclasses.replace(like, name="ax 80 hidden RTS", scenario="peer-hidden-ampdu",
                              settings=like.settings | HIDDEN_WIDE, ns3=(*like.ns3, "--hidden=1", "--rts=1"),
                              measures=AMPDU | {"RTS, 1/s": mac_rate("rts_attempts")},
                              conventions={"ns-3": NEW["ns-3"] | {"radio.basic_rate": "24 Mb/s"}})
    yield dataclasses.replace(like, name="ax 80 and ac", settings=like.settings | GENERATIONS, measures=MIXED,
                              ns3=(*like.ns3, "--old=1"))


    yield unsaturated(8, 20)
    yield from hidden()
    yield from (noisy(*link) for link in LDPC)
    yield from (minstrel(standard, width) for standard, width in itertools.product(WIDE, (20, 40, 80, 160)))


def longer(like, name, seconds, settings, options):
    """A network of its own for longer."""
    return dataclasses.replace(like, name=name, simulated=seconds, cost=0, counted=(),
                               settings=like.settings | {"duration": f"{seconds} s"} | settings,
                               ns3=(*like.ns3, f"--duration={seconds}", *options))


def unsaturated(stations, load):
    """Stations of network (o) with less to send than they could, by Poisson processes."""
    like = wide("ax", 80, stations)
    settings = {"flow.up.traffic.kind": "poisson", "flow.up.traffic.rate": f"{load} Mb/s"}
    return dataclasses.replace(
        longer(like, f"ax 80 n={stations} up {load} Mb/s each", 5.2, settings, (f"--load={load}",)),
        measures=like.measures | {"mean delay, ms": mean_delay})


def hidden():
    """Three stations of network (o) that do not hear each other, beside ns-3 as it is and with two of our rules."""
    like = longer(wide("ax", 20, 3), "ax 20 three hidden", 6, FAR | {"warmup": "1 s"}, ("--hidden=1", "--warmup=1"))
    yield like
    yield dataclasses.replace(like, name="ax 20 three hidden, training", ns3=(*like.ns3, "--lose-below=10", "--training=1"))


def minstrel(standard, width):
    """One link of network (o) whose rate Minstrel-HT chooses: of ax with one stream, since ns-3 prefers it over 160 MHz."""
    # ns-3 waits for 16 aggregates, and two for each of their frames, before a sample: of whole ones of ax for minutes.
    seconds, warmup, settings, options = 31, 30, {}, ("--minstrel=1",)
    if standard == "ax":
        seconds, warmup, settings, options = 3, 2.5, {"radio.streams": 1}, ("--streams=1", "--minstrel=1", "--learn=2")
    like = longer(wide(standard, width, 1), f"{standard} {width} Minstrel-HT", seconds, settings | {
        "mac.rate_control.algorithm": "minstrel-ht", "warmup": f"{warmup} s"},
        (*options, f"--warmup={warmup}"))
    settings = {key: value for key, value in like.settings.items() if key != "radio.mcs"}
    return dataclasses.replace(like, settings=settings, measures={"goodput, Mb/s": group_goodput(0, None)})


def noisy(mcs, snr, seconds):
    """One link of network (o), one stream over 20 MHz, with this ratio of signal to noise in dB."""
    settings = {"radio.streams": 1, "radio.mcs": mcs, "radio.propagation": "free-space", "radio.receive_threshold": "-95 dBm",
                "radio.errors.model": "nist", "radio.tx_power": f"{NOISE + snr + FREE_SPACE:.3f} dBm"}
    return longer(wide("ax", 20, 1), f"ax 20 mcs={mcs} at {snr} dB", seconds, settings,
                  ("--streams=1", f"--mcs={mcs}", f"--rss={NOISE + snr:.3f}", "--ldpc=1"))


def ofdma(stations, payload, up):
    """OFDMA of network (o): all stations in each frame, or asked for one by the access point."""
    like = wide("ax", 80, stations, down=not up, payload=payload)
    settings = {"mac.ofdma": "downlink"}
    if up:
        settings = {"mac.ofdma": "both", "mac.mu_edca.timer": "2088 ms", "node.n0.role": "access-point"}
    return dataclasses.replace(like, name=f"ax 80 n={stations} ofdma {'up ' if up else ''}{payload} B", simulated=1.5,
                               settings=like.settings | settings | {"duration": "1.5 s", "warmup": "1.0 s"},
                               measures=AMPDU, conventions=NEW,
                               ns3=("ns3-ofdma", f"--stations={stations}", f"--payload={payload}", *(["--up=1"] if up else [])))


def overlap(channel):
    """Overlapping channels of network (o): 80 MHz beside 20 MHz on one of them."""
    measures = {"data frames, 1/s": mac_rate("attempts"), "wide cell, Mb/s": group_goodput(0, 1),
                "narrow cell, Mb/s": group_goodput(1, 2)}
    return Case("o", f"ax 80 and 20 on {channel}", "peer-overlap", measures, 3.0,
                {"node.narrow.channel": channel, "duration": "3 s", "warmup": "1 s"},
                ("ns3-overlap", f"--channel={channel}", "--duration=3", "--warmup=1"), conventions=NEW)


def mixed(one, two, protection="cts-to-self", payload=1000):
    """Network (p): two stations of different standards."""
    settings = {"node.one.standard": f"802.11{one}", "node.two.standard": f"802.11{two}", "flow.up.traffic.packet": f"{payload} B"}
    if one == "b":
        settings["radio.b_protection"] = protection
    elif two == "n":
        settings["mac.cts_to_self"] = "true"  # ns-3 protects 802.11g from n, too, but not from ax
    rules = NEW["ns-3"] | (ENDLESS_RTS if protection == "rts-cts" else {})
    return Case("p", f"{one} and {two} {protection} {payload} B", "peer-mixed",
                {f"{one}, Mb/s": group_goodput(0, 1), f"{two}, Mb/s": group_goodput(1, 2)}, 6.0, settings,
                ("ns3-mixed", f"--kinds={one},{two}", f"--erp={protection.title()}", f"--payload={payload}"),
                conventions={"ns-3": rules})


# EDCA with one frame in each TXOP, for every category.
ONE_FRAME = {f"mac.edca.{category}.txop_limit": "0 s" for category in ("voice", "video", "best_effort")}


def tcps():
    """Network (h): Reno and CUBIC as ns-3's `TcpLinuxReno` and `TcpCubic`."""
    reno, cubic = "--congestion=TcpLinuxReno", "--congestion=TcpCubic"
    tables = {"codel": "CoDelQueueDisc", "fq-codel": "FqCoDelQueueDisc"}
    yield from (Case("h", f"tcp fifo-{limit}", "peer-tcp", TCP, 100.0, {"queue.limit": limit},
                     ("ns3-tcp", reno, f"--limit={limit}"), **({"cost": 40, "counted": (6, 12)} if limit == 400 else {}))
                for limit in (50, 400))
    yield Case("h", "tcp fifo-400 cubic", "peer-tcp", TCP, 100.0, {"tcp.congestion": "cubic"}, ("ns3-tcp", cubic))
    yield Case("h", "tcp uploads", "peer-tcp-uploads", TCP | {"uploads, Mb/s": category_goodput("up")}, 60.0, {},
               ("ns3-tcp", reno, "--uploads=10", "--edca=1", "--duration=60"), cost=25, counted=(3, 8))
    dropped = TCP | {"dropped, 1/s": dropped_rate}
    yield from (Case("h", f"tcp {name}", "peer-tcp-codel", dropped, 100.0, {"wired.0.queue.discipline": name},
                     ("ns3-tcp", reno, "--downloads=10", "--wired=10", f"--disc={disc}"))
                for name, disc in tables.items())
    yield Case("h", "tcp codel cubic", "peer-tcp-codel", dropped, 100.0, {"tcp.congestion": "cubic"},
               ("ns3-tcp", cubic, "--downloads=10", "--wired=10", "--disc=CoDelQueueDisc"))
    yield from bbrs()


def bbrs():
    """Network (h): BBR as ns-3.44's `TcpBbr`."""
    def one(name, scenario, measures, settings, *options):
        return Case("h", f"bbr {name}", scenario, measures, 60.0, settings, ("ns3-bbr", *options), conventions=NEW)

    limit, delay = "wired.0.queue.limit", "wired.0.delay"
    yield from (one(f"fifo-{packets}", "peer-bbr", TCP, {limit: packets}, f"--limit={packets}") for packets in (12, 500))
    yield one("200 ms", "peer-bbr", TCP, {delay: "100 ms", limit: 250}, "--delay=100", "--limit=250")
    yield one("loss=0.01", "peer-bbr", TCP, {"wired.0.loss": 0.01}, "--loss=0.01")
    shares = {"first, Mb/s": group_goodput(0, 1), "second, Mb/s": group_goodput(1, 2), "mean RTT, ms": mean_rtt}
    yield one("two", "peer-bbr-two", shares, {}, "--downloads=2")
    yield from (one(f"beside cubic fifo-{packets}", "peer-bbr-two", shares,
                    {limit: packets, "flow.down-2.tcp.congestion": "cubic"}, f"--limit={packets}", "--cubic=1")
                for packets in (50, 200))
    yield one("access point", "peer-bbr-ap", TCP, {}, "--ap=1", "--rate=100", "--limit=400")
    yield one("access point four", "peer-bbr-four", TCP, {}, "--ap=4", "--rate=100", "--limit=400")


def aqms():
    """Network (i): each queue discipline at 1.24 times the link's rate and at twice that rate."""
    discs = {"codel": "CoDel", "fq-codel": "FqCoDel", "pie": "Pie", "red": "Red"}
    return [Case("i", f"aqm {name} {bulk}", "peer-aqm", AQM, 60.0,
                 {"wired.0.queue.discipline": name, "flow.bulk.traffic.rate": f"{bulk} Mb/s"},
                 ("ns3-aqm", f"--disc={disc}", f"--bulk={bulk}"))
            for bulk in (12, 20) for name, disc in discs.items()]


def tcp_chains():
    """Network (j): a download over 1 to 10 hops. ns-2 passes packets on without AODV only in the copy."""
    measures = {"goodput, Mb/s": category_goodput("down"), "repeated segments, 1/s": repeated_rate,
                "data frames, 1/s": mac_rate("attempts"), "not acknowledged, 1/s": mac_rate("collisions"),
                "given up, 1/s": mac_rate("retry_drops")}
    for hops in range(1, 11):
        settings = {"nodes.count": hops + 1, "flow.down.to": f"n{hops}"}
        yield Case("j", f"tcp static {hops}", "peer-tcp-chain", measures, 60.0, settings,
                   ("ns3-tcp-chain", f"--hops={hops}"), ("tcp-chain.tcl", "hops", hops, "routing", "static"),
                   rules=("static-routes",))
        yield Case("j", f"tcp aodv {hops}", "peer-tcp-chain-aodv",
                   measures | {"routing packets, 1/s": routing_rate}, 60.0, settings,
                   ("ns3-tcp-chain", f"--hops={hops}", "--routing=aodv"), ("tcp-chain.tcl", "hops", hops),
                   conventions=AODV, **({"cost": 60, "counted": (5, 20)} if hops in (1, 10) else {}))
        yield Case("j", f"tcp dsr {hops}", "peer-tcp-chain", measures, 60.0, settings | DSR, (),
                   ("tcp-chain.tcl", "hops", hops, "routing", "dsr"))
        yield Case("j", f"cbr dsr {hops}", "peer-tcp-chain",
                   HIDDEN | {"goodput, Mb/s": flow_at(0, "goodput_bps", scale=1e-6),
                             "mean delay, ms": flow_at(0, "delay_s", "mean", scale=1e3)}, 60.0, settings | DSR | CBR, (),
                   ("tcp-chain.tcl", "hops", hops, "routing", "dsr", "cbr", 300000))


def slow_tcp_chains():
    """Network (k): the same at 1 Mb/s with RTS/CTS and NewReno, over 1, 3 and 10 hops; with SACK beside ns-3, too."""
    measures = {"goodput, Mb/s": category_goodput("down"), "repeated segments, 1/s": repeated_rate,
                "data frames, 1/s": mac_rate("attempts"), "RTS, 1/s": mac_rate("rts_attempts"),
                "not acknowledged, 1/s": mac_rate("collisions"), "given up, 1/s": mac_rate("retry_drops")}
    ns2 = ("data", "1Mb", "rts", 1, "spacing", 200, "frequency", "914e6", "decode", 250, "sense", 550,
           "recovery", "newreno", "segment", 512, "duration", 110)
    for hops in (1, 3, 10):
        settings = {"nodes.count": hops + 1, "flow.down.to": f"n{hops}"}
        ns3 = ("ns3-tcp-chain", f"--hops={hops}", "--slow=1", "--duration=110")
        cost = {"cost": 60, "counted": (10, 30)} if hops == 10 else {}
        yield Case("k", f"1mbps static {hops}", "peer-tcp-chain-1mbps", measures, 110.0,
                   settings | {"routing.protocol": "static"}, ns3,
                   ("tcp-chain.tcl", "hops", hops, "routing", "static", *ns2),
                   conventions={"ns-3": ENDLESS_RTS}, rules=("static-routes",), **cost)
        yield Case("k", f"1mbps aodv {hops}", "peer-tcp-chain-1mbps", measures | {"routing packets, 1/s": routing_rate},
                   110.0, settings, (*ns3, "--routing=aodv"), ("tcp-chain.tcl", "hops", hops, *ns2),
                   conventions=AODV | {"ns-3": AODV["ns-3"] | ENDLESS_RTS}, **cost)
        yield Case("k", f"1mbps sack {hops}", "peer-tcp-chain-1mbps", measures, 110.0,
                   settings | {"routing.protocol": "static", "tcp.recovery": "sack"}, (*ns3, "--sack=1"),
                   conventions={"ns-3": ENDLESS_RTS}, **cost)


def tcp_losses():
    """Network (l): a download over a wired link that loses packets at random."""
    measures = {"goodput, Mb/s": category_goodput("down"), "repeated segments, 1/s": repeated_rate}
    return [Case("l", f"tcp loss={loss:g} {rate}", "peer-tcp-loss", measures, 120.0,
                 {"wired.0.loss": loss, "wired.0.rate": f"{rate} Mb/s"},
                 ("ns3-tcp-loss", f"--loss={loss:g}", f"--rate={rate}"))
            for loss in (0.01, 0.05) for rate in (2, 5.5, 20, 24)]


# Network (m): TCP and CBR over AODV on a grid.
GRID = {"TCP, Mb/s": category_goodput("down"), "CBR delivered": lambda outcome: 1 - flow_at(0, "loss_ratio")(outcome),
        "routing packets, 1/s": routing_rate}

# Network (n): the chain of (j) over five hops with OFDM.
OFDM = {"radio.standard": "802.11a", "radio.data_rate": "24 Mb/s", "radio.basic_rate": "6 Mb/s",
        "radio.propagation": "free-space", "radio.frequency": "2.412 GHz"}

CASES = [
    *cells("b", "cell-b", {10: {"cost": 40, "counted": (2, 10)}, 50: {"cost": 20, "counted": (2, 5)}}),
    *cells("a", "cell-a", {}),
    Case("b", "anomaly", "peer-anomaly", ANOMALY, 31.0, {}, ("ns3-cell", "--stations=5", "--slow=1", "--duration=31"),
         ("cell.tcl", "stations", 5, "slow", 1, "duration", 31)),
    Case("c", "hidden", "peer-hidden", HIDDEN, 31.0, {}, ("ns3-hidden",), ("hidden.tcl",)),
    Case("c", "hidden-rts", "peer-hidden-rts", HIDDEN | {"RTS, 1/s": mac_rate("rts_attempts")}, 31.0, {},
         ("ns3-hidden", "--rts=1"), ("hidden.tcl", "rts", 1),
         conventions={"ns-3": ENDLESS_RTS}),
    *(Case("c", f"hidden ampdu mcs={mcs}", "peer-hidden-ampdu", AMPDU | LOST, 31.0, {"radio.mcs": mcs},
           ("ns3-hidden", f"--mcs={mcs}"), conventions=OLD) for mcs in (3, 15)),
    Case("d", "chain-fifo", "chain-fifo", CHAIN, 100.0, {}, ("ns3-chain",)),
    Case("d", "chain-aodv", "peer-chain-aodv", CHAIN, 100.0, {}, ("ns3-chain", "--routing=aodv"),
         ("chain.tcl",), conventions=AODV, cost=100, counted=(26, 46)),
    Case("e", "edca", "peer-edca", EDCA, 31.0, {}, ("ns3-edca",)),
    Case("e", "edca frames", "peer-edca", EDCA, 31.0, ONE_FRAME, ("ns3-edca", "--bursts=0")),
    Case("e", "edca-one", "peer-edca-one", EDCA, 31.0, {}, ("ns3-edca", "--one=1")),
    Case("e", "edca-one frames", "peer-edca-one", EDCA, 31.0, ONE_FRAME, ("ns3-edca", "--one=1", "--bursts=0")),
    *ampdus(),
    *wides(),
    *(mixed(one, two) for one, two in (("b", "g"), ("b", "n"), ("b", "ax"), ("g", "n"), ("g", "ax"))),
    *(mixed("b", two, "rts-cts") for two in ("g", "n", "ax")),
    *(mixed("b", two, payload=200) for two in ("g", "ax")),
    Case("g", "mobile", "peer-mobile", MOBILE, 110.0, {}, ("ns3-mobile", "--movement={movement}"),
         ("mobile.tcl", "movement", "{movement}"), conventions=AODV, cost=110, counted=(12, 30)),
    Case("g", "mobile dsr", "peer-mobile",
         {label: measure for label, measure in MOBILE.items() if label != "routing packets, 1/s"}, 110.0, DSR, (),
         ("mobile.tcl", "movement", "{movement}", "routing", "DSR")),
    *tcps(),
    *aqms(),
    *tcp_chains(),
    *slow_tcp_chains(),
    *tcp_losses(),
    Case("m", "tcp grid", "peer-tcp-grid", GRID, 110.0, {}, ("ns3-tcp-grid",), conventions=AODV),
    Case("n", "tcp ofdm 5", "peer-tcp-chain", {"goodput, Mb/s": category_goodput("down")}, 60.0, OFDM,
         ("ns3-tcp-chain", "--hops=5", "--rate=OfdmRate24Mbps")),
]
