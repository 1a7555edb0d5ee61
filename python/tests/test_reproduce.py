"""Whole experiments, with controllers that are written in Python beside the scenario's own."""

import json
import subprocess
import sys

import pytest
from conftest import CHAIN
from test_compare import sluice_command

import sluice

VARIED = """
[record]
series = "500 ms"
[vary]
scheme = [
  { label = "FIFO", set = { "queue.controller" = "none" } },
  { label = "ADTH", set = { "queue.controller" = "adth" } },
]
target = [
  { label = "200 ms", set = { "queue.adth.target_delay" = "200 ms" } },
  { label = "50 ms", set = { "queue.adth.target_delay" = "50 ms" } },
]
seeds = 3
[[claim]]
id = "chain.1"
says = "no packet arrives after its deadline, whatever the scheme"
source = "section 1"
measure = "flows.*.deadline_miss_ratio"
statistic = "max"
holds = "<= 0.001"
[[chart]]
title = "Largest delay"
x = "target"
y = ["flows.*.delay_s.max"]
y_title = "s"
colour = "scheme"
"""


class Drain:
    """As many packets as left within the target."""

    interval_s = 0.05

    def __init__(self, site):
        self.site = site

    def update(self, seen):
        return max(1, round(seen.sent_packets / seen.length_s * self.site.target_s))


class Twice:
    """The controller of examples/own-controller."""

    interval_s = 0.1

    def __init__(self, site):
        pass

    def update(self, seen):
        return min(max(2 * seen.sent_packets, 2), 1000)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "chain.toml"
    path.write_text(CHAIN + VARIED)
    return path


def lines(folder):
    runs = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return [json.dumps({**run, "wall_s": 0, "cpu_s": 0}) for run in runs]


def test_a_baseline_leaves_all_else_as_the_command_has_it(root, file, tmp_path):
    sites = []

    def made(site):
        sites.append(site)
        return Drain(site)

    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    done = sluice.reproduce(file, baselines={"Drain": made, "again": Drain}, store=ours)
    command = [sluice_command(root), "reproduce", file, "--out", theirs]
    told = subprocess.run(command, capture_output=True, text=True).stdout
    assert (ours / "claims.json").read_bytes() == (theirs / "claims.json").read_bytes()
    assert lines(ours)[:12] == lines(theirs)
    flows = (ours / "flows.csv").read_text().splitlines()
    assert flows[: 1 + 12] == (theirs / "flows.csv").read_text().splitlines()
    for series in (theirs / "series").iterdir():
        assert (ours / "series" / series.name).read_bytes() == series.read_bytes()
    assert len({site.node for site in sites}) == 3 and len(sites) == 2 * 3 * 3
    assert {(site.case["target"], site.target_s, site.limit_packets) for site in sites} == {
        ("200 ms", 0.2, 100),
        ("50 ms", 0.05, 100),
    }
    assert done.axes[0] == ("scheme", ["FIFO", "ADTH", "Drain", "again"])
    printed = str(done).strip().splitlines()
    assert printed[0] == "chain: Three nodes in a chain" and "1 claim: 1 holds" in printed
    assert "\n1 claim: 1 holds\n" in told
    limits = {}
    for row in done.queues.to_rows():
        limits.setdefault((row["scheme"], row["target"]), []).append(row["limit_packets.mean"])
    assert limits["Drain", "200 ms"] == limits["again", "200 ms"]
    assert sum(limits["Drain", "50 ms"]) < sum(limits["Drain", "200 ms"]) / 3
    done.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Drain" in page and "chain.1" in page


class Fixed:
    interval_s = 0.1

    def __init__(self, answer):
        self.answer = answer

    def update(self, seen):
        return self.answer


def test_where_a_baseline_may_stand_is_told(file):
    quiet = sluice.load(file).replace({"duration": "1 s"})
    named = sluice.reproduce(quiet, baselines={"one": lambda site: Fixed(1)}, like="scheme = ADTH", seeds=1)
    assert [row["limit_packets.last"] for row in named.queues.to_rows() if row["scheme"] == "one"] == [1] * 6
    for like, message in [
        ("scheme=ADHT", "did you mean `ADTH`"),
        ("target=50 ms", "no queue has a controller where target = 50 ms"),
        ("ADTH", "expected AXIS=LABEL"),
    ]:
        with pytest.raises(sluice.ScenarioError, match=message):
            sluice.reproduce(quiet, baselines={"one": Fixed}, like=like, seeds=1)
    with pytest.raises(sluice.ScenarioError, match="has a label `FIFO` already"):
        sluice.reproduce(quiet, baselines={"FIFO": Fixed}, seeds=1)
    with pytest.raises(sluice.ScenarioError, match="no label of `\\[vary\\]` sets a controller"):
        sluice.reproduce(sluice.Scenario(CHAIN), baselines={"one": Fixed})


@pytest.mark.parametrize("answer", [None, "7", 7.5, [7], float("nan"), sluice.Orders("x"), sluice.Orders(5, "fast")])
def test_nonsense_is_told(file, answer):
    with pytest.raises(sluice.SluiceError, match=r"Fixed: `update` gave .* expected a whole number of packets"):
        sluice.reproduce(file, baselines={"wrong": lambda site: Fixed(answer)}, seeds=1)


def test_what_a_controller_raises_says_where(file):
    class Faulty(Fixed):
        def update(self, seen):
            raise ZeroDivisionError("of its own")

    with pytest.raises(ZeroDivisionError, match="of its own") as raised:
        sluice.reproduce(file, baselines={"faulty": Faulty}, seeds=1)
    if sys.version_info >= (3, 11):
        assert raised.value.__notes__[0].startswith("in the controller of n0 be, seed 1, scheme = faulty, target = ")
    with pytest.raises(sluice.SluiceError, match="object: expected `interval_s`"):
        sluice.reproduce(file, baselines={"none": lambda site: object()}, seeds=1)
    with pytest.raises(TypeError):
        sluice.reproduce(file, baselines={"none": int}, seeds=1)


def test_counts_that_cannot_be_are_told(file, tmp_path):
    for wrong in [{"seeds": 0}, {"seeds": -1}, {"seeds": 1, "quick": True}]:
        with pytest.raises(sluice.SluiceError, match="seeds: "):
            sluice.reproduce(file, **wrong)
    (tmp_path / "store/runs").mkdir(parents=True)
    (tmp_path / "store/manifest.json").write_text('{"id": "another"}')
    with pytest.raises(sluice.StoreError, match=r"of `another`; name another folder$"):
        sluice.reproduce(file, seeds=1, store=tmp_path / "store")


def test_the_controller_of_a_crate_outside_and_the_same_class_give_the_same_bytes(root, file, tmp_path):
    program = (root / sluice_command(root)).parent / "own-controller"
    if not program.exists():
        pytest.skip("the example is not built: cargo build -p own-controller")
    command = [program, "chain.toml", "scheme=ADTH", "rust"]
    told = subprocess.run(command, cwd=file.parent, check=True, capture_output=True, text=True).stdout
    assert told.startswith("chain: ")
    sluice.reproduce(file, baselines={"twice": Twice}, like="scheme=ADTH", store=tmp_path / "python")
    for name in ("flows.csv", "nodes.csv"):
        rust, python = ((tmp_path / folder / name).read_bytes() for folder in ("rust", "python"))
        assert rust == python and rust.count(b"twice") >= 6
