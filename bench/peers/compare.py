#!/usr/bin/env python3
"""Compare Sluice with ns-3 and ns-2: the same networks in all three, several seeds, one table.

Figures are means over seeds with 95 % t-intervals; 'agree' means that the two intervals overlap, and
'flags from' is the smallest difference that would not. Sluice follows the
conventions of the peer that it is compared with (networks.py); beside it stands what it gives by the standard. What differs is looked up in known-differences.toml: the section
of docs/validation.md that shows by an experiment where the difference comes from. A difference that no entry covers, or
that is larger than the entry says, is UNEXPLAINED and makes the exit status 1.

Outcomes are kept in target/peers by program and arguments, so that a run that was interrupted goes on where it was.
Needs Python 3.11, g++, make and Debian's libns3-dev and ns2, which are installed where we may. `cost.py` measures cost.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import pathlib
import re
import sys
import tomllib

import networks
import simulators
import statistic

VALIDATION = simulators.ROOT / "docs/validation.md"


def jobs(cases, seeds, peers):
    """All runs in the order of seeds, so that an early look covers everything: (case, simulator, seed, peer)."""
    for seed in range(1, seeds + 1):
        for case in cases:
            for peer in (peer for peer in case.peers() if peer in peers):
                yield case, "sluice", seed, peer
                yield case, peer, seed, peer
            yield case, "sluice", seed, None


def outcome(toolbox, job, changed=simulators.Changed()):
    """A run's outcome, kept or fresh."""
    command = toolbox.command(*job, changed=changed)
    kept = toolbox.out / "outcomes" / f"{toolbox.identity(command)}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    found, _, _ = simulators.run(command)
    kept.parent.mkdir(exist_ok=True)
    unfinished = kept.with_suffix(".part")
    unfinished.write_text(json.dumps(found))
    unfinished.rename(kept)
    return found


def collect(toolbox, todo, at_once):
    """Every job's figures: {job: {measure: value}}."""
    figures = {}
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        running = {pool.submit(outcome, toolbox, job): job for job in todo}
        try:
            for future in concurrent.futures.as_completed(running):
                job = running[future]
                figures[job] = {label: measure(future.result()) for label, measure in job[0].measures.items()}
                progress(len(figures), len(running), job)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return figures


def progress(done, of, job):
    """One line that is written over, where somebody looks."""
    if sys.stderr.isatty():
        case, simulator, seed, _ = job
        sys.stderr.write(f"\r\033[K{done}/{of} {case.name} {simulator} seed {seed}" + ("\n" if done == of else ""))
        sys.stderr.flush()


def compare(cases, seeds, peers, figures, explained):
    """A row for every network, measure and peer."""
    rows = []
    for case in cases:
        for label in case.measures:
            for peer in (peer for peer in case.peers() if peer in peers):
                ours, theirs, standard = (
                    statistic.interval([figures[case, simulator, seed, follows][label] for seed in range(1, seeds + 1)])
                    for simulator, follows in (("sluice", peer), (peer, peer), ("sluice", None)))
                row = {"network": case.name, "measure": label, "peer": peer, "sluice": ours, "theirs": theirs,
                       "standard": standard, "verdict": statistic.verdict(ours, theirs)}
                row["explained"] = explanation(row, explained) if row["verdict"] == "differ" else None
                rows.append(row)
    return rows


def explanation(row, explained):
    """The section that explains a difference, or None; an entry does not cover a larger one than it says."""
    ours, theirs = row["sluice"][0], row["theirs"][0]
    gap = abs(ours - theirs) / max(abs(ours), abs(theirs))
    return covering(row["network"], row["measure"], row["peer"], explained, gap)


def covering(network, measure, peer, explained, gap=0.0):
    """The section that speaks of a network's measure beside a peer, and covers a relative difference, or None."""
    return next((entry["section"] for entry in explained
                 if peer == entry["peer"] and measure in entry["measures"] and gap <= entry["most"]
                 and any(fnmatch.fnmatch(network, name) for name in entry["networks"])), None)


def load_known_differences():
    """The entries of known-differences.toml; each must name a section that docs/validation.md has."""
    entries = tomllib.loads((simulators.HERE / "known-differences.toml").read_text()).get("difference", [])
    sections = re.findall(r"^#+ (.*)$", VALIDATION.read_text(), re.MULTILINE)
    for entry in entries:
        if entry["section"] not in sections:
            sys.exit(f"known-differences.toml: docs/validation.md has no section '{entry['section']}'")
    return entries


def print_table(rows, seeds):
    """The table for people."""
    print(f"{'network':<16} {'measure':<25} {'peer':<5} {'peer: mean ± 95 %':>24} "
          f"{'Sluice as the peer':>24} {'as the standard':>24} {'flags from':>10}  verdict ({seeds} seeds)")
    for row in rows:
        note = {"differ": f": {row['explained'] or 'UNEXPLAINED'}"}.get(row["verdict"], "")
        print(f"{row['network']:<16} {row['measure']:<25} {row['peer']:<5} {statistic.show(row['theirs']):>24} "
              f"{statistic.show(row['sluice']):>24} {statistic.show(row['standard']):>24} "
              f"{statistic.resolution(row['theirs'], row['sluice']):>10.1%}  {row['verdict']}{note}")
    differ = [row for row in rows if row["verdict"] == "differ"]
    open_rows = [row for row in differ if not row["explained"]]
    print(f"\n{len(rows)} rows: {len(rows) - len(differ)} inside the intervals, {len(differ) - len(open_rows)} differ "
          f"and are explained in docs/validation.md, {len(open_rows)} UNEXPLAINED")


def chosen(only):
    """The cases whose letter or name matches."""
    compared = [case for case in networks.CASES if case.measures]
    cases = [case for case in compared if wanted(case, only)]
    if not cases:
        sys.exit(f"no such network; there are: {', '.join(case.name for case in compared)}")
    return cases


def wanted(case, only):
    """Is a case among the letters and names that were asked for?"""
    return not only or any(fnmatch.fnmatch(case.name, want) or case.network == want for want in only)


def main():
    """Run what was asked for; exit status 1 where a difference is not explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="NETWORK",
                        help="a letter (a to k) or a name, as 'cell-b *' (repeatable; default: all)")
    parser.add_argument("--peer", choices=sorted(simulators.PEERS), action="append", help="default: both")
    parser.add_argument("--seeds", type=int, default=10, metavar="K", help="seeds 1 to K (default 10)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="runs at a time (default 2)")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.add_argument("--out", type=pathlib.Path, default=simulators.ROOT / "target/peers", metavar="DIR",
                        help="programs and outcomes go here (default target/peers)")
    parser.add_argument("--sluice", type=pathlib.Path, default=simulators.ROOT / "target/release/sluice",
                        metavar="FILE", help="default target/release/sluice")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error("--seeds: at least 1")
    explained, cases = load_known_differences(), chosen(options.only)
    peers = options.peer or list(simulators.PEERS)
    toolbox = simulators.Toolbox(options.out.resolve(), options.sluice.resolve())
    toolbox.prepare(peers, cases)
    try:
        figures = collect(toolbox, list(jobs(cases, options.seeds, peers)), options.jobs)
    except RuntimeError as failure:
        sys.exit(str(failure))
    rows = compare(cases, options.seeds, peers, figures, explained)
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        print_table(rows, options.seeds)
    return any(row["verdict"] == "differ" and not row["explained"] for row in rows)


if __name__ == "__main__":
    sys.exit(main())
