#!/usr/bin/env python3
"""The experiments that docs/validation.md explains differences by: one rule is changed in one simulator, in ns-2 by a
patch of patches/ or in ns-3 by an option of a program, and the difference should vanish.

Prints for each network the peer as it is, the peer with the change, Sluice as the peer and Sluice by the standard: means
over seeds with 95 % intervals. First the copy of ns-2 without a changed rule is held to the package: the same outcome to
the last digit. Outcomes are kept beside those of `compare.py`.
"""

import argparse
import fnmatch
import pathlib
import sys

import compare
import networks
import simulators
import statistic
from simulators import Changed

FEW_BEACONS = ("--ns3::ApWifiMac::BeaconInterval=3072000us", "--ns3::ApWifiMac::EnableBeaconJitter=0")
STANDARD_WINDOWS = {"b": ("cwmin", 31), "a": ("cwmin", 15)}


def windows(phy="b", *rules):
    """ns-2 with the standard's contention windows, and other rules."""
    return Changed(("windows", *rules), STANDARD_WINDOWS[phy])


def ours(follows, **settings):
    """Sluice by the conventions of a peer, or the standard's, with other settings (`__` stands for a dot)."""
    return "sluice", follows, Changed(settings=tuple((key.replace("__", "."), value) for key, value in settings.items()))


# Section of docs/validation.md, networks, peer, {column: what is changed, in the peer or in Sluice}.
EXPERIMENTS = [
    ("ns-2: contention windows", "cell-b n=50", "ns-2", {"windows": windows()}),
    ("ns-2: contention windows", "cell-a n=*", "ns-2", {"windows": windows("a")}),
    ("ns-2: the wait for an ACK", "hidden", "ns-2",
     {"time-out": Changed(("timeouts",)), "and windows": windows("b", "timeouts")}),
    ("ns-2: no CTS while the medium is busy", "hidden-rts", "ns-2",
     {"CTS by NAV": Changed(("cts-by-nav",)), "and windows, time-out": windows("b", "cts-by-nav", "timeouts")}),
    ("ns-2: a busy edge just before a slot boundary", "chain-aodv", "ns-2", {"turn-round": Changed(("turn-round",))}),
    ("ns-2: a busy edge just before a slot boundary", "tcp static *", "ns-2",
     {"windows": windows(), "and turn-round": windows("b", "turn-round"),
      "and time-out": windows("b", "turn-round", "timeouts")}),
    ("ns-2: ARP", "mobile", "ns-2", {"no ARP": Changed(("no-arp",))}),
    ("ns-2: ARP", "mobile dsr", "ns-2", {"no ARP": Changed(("no-arp",))}),
    ("ns-2: who repairs a route", "mobile", "ns-2",
     {"no ARP": Changed(("no-arp",)), "and repair anywhere": Changed(("no-arp", "repair-anywhere"))}),
    ("TCP over chains: what a receiver hears", "tcp static 7", "ns-2",
     {"Sluice as ns-2, first frame": ours("ns-2", radio__capture="first-frame"),
      "Sluice, nothing below carrier sense": ours(None, radio__capture_threshold="9 dB")}),
    ("TCP over chains: ns-2's repairs", "tcp aodv 3", "ns-2",
     {"prompt requests": Changed(("request-timer",)), "and no ARP": Changed(("request-timer", "no-arp"))}),
    ("TCP over chains: ns-2's repairs", "tcp aodv 9", "ns-2",
     {"no hold": Changed(("no-hold",)), "repair ends in time": Changed(("repair-wait",)),
      "and prompt requests, no ARP": Changed(("repair-wait", "request-timer", "no-arp"))}),
    ("TCP over chains: ns-2's repairs", "1mbps aodv 3", "ns-2",
     {"prompt requests": Changed(("request-timer",)), "and no ARP": Changed(("request-timer", "no-arp"))}),
    ("TCP over chains: ns-2's repairs", "1mbps aodv 10", "ns-2",
     {"repair ends in time": Changed(("repair-wait",)),
      "and prompt requests, no ARP": Changed(("repair-wait", "request-timer", "no-arp"))}),
    ("ns-2: a busy edge just before a slot boundary", "1mbps static *", "ns-2",
     {"windows": windows(), "and turn-round": windows("b", "turn-round"),
      "and time-out": windows("b", "turn-round", "timeouts")}),
    ("ns-2: DSR's flow state and its queue", "tcp dsr [1248]", "ns-2",
     {"no flow state": Changed(("no-flow-state",)), "and ACKs in order": Changed(("no-flow-state", "acks-in-order")),
      "and windows, turn-round, time-out": windows("b", "no-flow-state", "acks-in-order", "turn-round", "timeouts")}),
    ("ns-2: DSR's flow state and its queue", "cbr dsr [1-9]*", "ns-2",
     {"no flow state": Changed(("no-flow-state",)),
      "and no delay of the link layer": Changed(("no-flow-state",), ("link_delay", "0us"))}),
    ("ns-3: recovery without SACK", "1mbps static *", "ns-3",
     {"SACK": Changed(options=("--sack=1",)), "Sluice as ns-3, SACK": ours("ns-3", tcp__recovery="sack")}),
    ("ns-3: energy that adds up", "tcp * 10", "ns-3",
     {"two hops away alone": Changed(options=("--energy=-60.8",))}),
    ("ns-3: a TXOP reserves all its rest", "edca", "ns-3", {"reserve-next": Changed(options=("--reserve-next=1",))}),
    ("ns-3: a TXOP reserves all its rest", "edca-one", "ns-3", {"reserve-next": Changed(options=("--reserve-next=1",))}),
    ("ns-3: after a missing BlockAck", "ampdu mcs=7 n=10", "ns-3",
     {"no request, in a row": Changed(options=("--bar=0", "--in-a-row=1"))}),
    ("ns-3: VHT and HE", "ax 20 n=1 up *", "ns-3",
     {"over 5 s": Changed(options=("--duration=5.2",)), "Sluice as ns-3, over 5 s": ours("ns-3", duration="5.2 s")}),
    ("ns-3: VHT and HE", "ax 80 n=40 down 1000 B", "ns-3",
     {"Sluice as ns-3, over 10 s": ours("ns-3", duration="13 s")}),
    ("ns-3: VHT and HE", "ax 80 n=2 ofdma 1000 B", "ns-3", {"a beacon every 3 s": Changed(options=FEW_BEACONS)}),
    ("ns-3: VHT and HE", "ax 80 and 20 on 4[04]", "ns-3",
     {"a beacon every 3 s": Changed(options=FEW_BEACONS),
      "and wide BlockAcks": Changed(options=(*FEW_BEACONS, "--wide-acks=1"))}),
    ("ns-3: errors of OFDM", "tcp ofdm 5", "ns-3",
     {"NIST": Changed(options=("--errors=Nist",)), "YANS": Changed(options=("--errors=Yans",)),
      "Sluice as ns-3, YANS": ours("ns-3", radio__errors__model="yans")}),
    ("ns-3: VHT and HE", "ax 20 three hidden", "ns-3",
     {"lost below 10 dB": Changed(options=("--lose-below=10",)),
      "and training fields": Changed(options=("--lose-below=10", "--training=1"))}),
    ("ns-3: requests that survive collisions", "tcp grid", "ns-3",
     {"lost below 10 dB": Changed(options=("--lose-below=10",)),
      "Sluice as ns-3, errors by SINR": ours("ns-3", radio__propagation="log-distance", radio__path_loss_exponent=6,
                                             radio__tx_power="60 dBm")}),
    ("ns-3: AODV's list of neighbours", "mobile", "ns-3",
     {"every link": Changed(options=("--every-link=1",)),
      "and forget nobody": Changed(options=("--every-link=1", "--forget=0", "--capture=10", "--lose-below=10"))}),
]

# Runs in which the copy of ns-2 must give the package's results: every program, for a short time.
CONTROL = ["cell-b n=10", "cell-a n=5", "hidden-rts", "chain-aodv", "mobile", "tcp aodv 7", "1mbps aodv 3"]


def control(toolbox):
    """Hold the copy without a changed rule to the package."""
    for name in CONTROL:
        case = next(case for case in networks.CASES if case.name == name)
        outcomes = [simulators.run(toolbox.command(case, "ns-2", 1, "ns-2", changed=changed))[0]
                    for changed in (Changed(), Changed(("none",)))]
        if outcomes[0] != outcomes[1]:
            sys.exit(f"{name}: the copy of ns-2 without a changed rule is not the package")
    print(f"The copy of ns-2 without a changed rule gives what the package gives: {', '.join(CONTROL)}.\n")


def columns(peer, changes):
    """{heading: (simulator, whose conventions Sluice follows, change)} of one experiment."""
    changed = {name: (peer, peer, what) if isinstance(what, Changed) else what for name, what in changes.items()}
    return ({peer: (peer, peer, Changed())} | changed
            | {f"Sluice as {peer}": ("sluice", peer, Changed()), "Sluice": ("sluice", None, Changed())})


def matching(pattern):
    """The compared networks of this name."""
    return [case for case in networks.CASES if case.measures and fnmatch.fnmatch(case.name, pattern)]


def show(toolbox, experiment, seeds):
    """Run one experiment and print its table."""
    section, pattern, peer, changes = experiment
    print(f"{section}\n")
    for case in matching(pattern):
        heads = columns(peer, changes)
        figures = {
            head: [{label: measure(found) for label, measure in case.measures.items()}
                   for found in (compare.outcome(toolbox, (case, simulator, seed, follows), changed)
                                 for seed in range(1, seeds + 1))]
            for head, (simulator, follows, changed) in heads.items()}
        print(f"| `{case.name}` | {' | '.join(heads)} |\n|---|{'---:|' * len(heads)}")
        for label in case.measures:
            cells = (statistic.show(statistic.interval([figure[label] for figure in figures[head]])) for head in heads)
            print(f"| {label} | {' | '.join(cells)} |", flush=True)
        print()


def main():
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="SECTION",
                        help="sections, as 'ns-2: ARP' or 'ns-2*' (repeatable; default: all)")
    parser.add_argument("--seeds", type=int, default=10, metavar="K", help="seeds 1 to K (default 10)")
    parser.add_argument("--out", type=pathlib.Path, default=simulators.ROOT / "target/peers", metavar="DIR",
                        help="programs and outcomes go here (default target/peers)")
    parser.add_argument("--sluice", type=pathlib.Path, default=simulators.ROOT / "target/release/sluice",
                        metavar="FILE", help="default target/release/sluice")
    options = parser.parse_args()
    asked = [experiment for experiment in EXPERIMENTS
             if not options.only or any(fnmatch.fnmatch(experiment[0], want) for want in options.only)]
    if not asked:
        sys.exit(f"no such section; there are: {', '.join(dict.fromkeys(section for section, *_ in EXPERIMENTS))}")
    toolbox = simulators.Toolbox(options.out.resolve(), options.sluice.resolve())
    peers = {peer for _, _, peer, _ in asked}
    toolbox.prepare(peers, [case for _, pattern, _, _ in asked for case in matching(pattern)])
    if "ns-2" in peers:
        control(toolbox)
    for experiment in asked:
        show(toolbox, experiment, options.seeds)


if __name__ == "__main__":
    main()
