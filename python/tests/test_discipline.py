"""Disciplines that are written in Python, beside Sluice's and beside the one in a crate outside."""

import json
import subprocess
from collections import deque

import pytest
from conftest import CHAIN
from test_compare import sluice_command
from test_medium import HOME

import sluice
from sluice import learn

LOADED = CHAIN.replace('controller = "adth"\n[queue.adth]\ntarget_delay = "200 ms"\n', "").replace("1.8 Mb/s", "4 Mb/s")
VARIED = (
    LOADED
    + """
[vary]
seeds = 2
"queue.discipline" = ["ramp", "drop-tail", "fq-codel", "turns"]
"""
)


class Ramp:
    """The discipline of examples/own-discipline."""

    def __init__(self, seed, low_s=0.005, high_s=0.1):
        self.low_s, self.high_s = low_s, high_s
        self.waiting = deque()
        self.due = 0.0

    def enqueue(self, packet, length, flow, now_s, backlog, fits):
        if not fits:
            return ~packet
        self.waiting.append((packet, now_s))
        return packet

    def dequeue(self, now_s, backlog):
        packet, since_s = self.waiting.popleft()
        self.due += min(max((now_s - since_s - self.low_s) / (self.high_s - self.low_s), 0), 1) * 0.1
        if self.due < 1:
            return packet
        self.due -= 1
        return ~packet


def run(make, changes=None):
    sluice.register("mine", make)
    return sluice.Scenario(LOADED).replace({"queue.discipline": "mine", **(changes or {})}).run(seed=1)


def lines(folder):
    runs = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return [json.dumps({**run, "wall_s": 0, "cpu_s": 0}) for run in runs]


def test_the_discipline_of_a_crate_outside_and_the_same_class_give_the_same_bytes(root, tmp_path):
    program = (root / sluice_command(root)).parent / "own-discipline"
    if not program.exists():
        pytest.skip("the example is not built: cargo build -p own-discipline")
    (tmp_path / "varied.toml").write_text(VARIED + "[queue.own.ramp]\nlow_s = 0.01\n")
    command = [program, "reproduce", "varied.toml", "--out", "rust"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    sluice.register("ramp", Ramp)
    done = sluice.reproduce(tmp_path / "varied.toml", store=tmp_path / "python")
    assert lines(tmp_path / "rust") == lines(tmp_path / "python")
    for name in ("flows.csv", "nodes.csv"):
        rust, python = ((tmp_path / folder / name).read_bytes() for folder in ("rust", "python"))
        assert rust == python and rust.count(b"ramp") >= 2
    worst = {}
    for row in done.flows.to_rows():
        worst.setdefault(row["queue.discipline"], []).append(row["delay_s.p99"])
    assert max(worst["ramp"]) < min(worst["drop-tail"])


def test_what_has_a_backlog_moves():
    result = run(Ramp, {"record.series": "200 ms", "queue.limit": 1000})
    moved = {}
    for row in result.queue_series.to_rows():
        if moved.get(row["queue"], 0) > 5:
            assert row["sent_packets"] > 0, row
        moved[row["queue"]] = row["backlog_packets"]
    assert max(moved.values()) > 5
    assert {row["scheduler"] for row in result.queues.to_rows()} == {"mine"}


def test_names_and_parameters_are_told():
    with pytest.raises(sluice.SluiceError, match="`codel` is a discipline of Sluice: choose another name"):
        sluice.register("codel", Ramp)
    sluice.register("mine", Ramp)
    for changes, message in [
        ({"queue.discipline": "mien"}, "did you mean `mine`"),
        ({"queue.own.mine.low_s": 1}, 'it belongs to `discipline = "mine"`'),
        ({"queue.discipline": "mine", "queue.own.mine.lo_s": 1}, "unexpected keyword argument 'lo_s'"),
        ({"queue.discipline": "mine", "queue.purge": "tail", "queue.controller": "adth"}, "is not for a registered"),
    ]:
        with pytest.raises(sluice.ScenarioError, match=message):
            sluice.Scenario(LOADED).replace(changes)


def answering(**functions):
    return type("Answering", (Ramp,), functions)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (answering(dequeue=lambda ramp, *_: ramp.waiting[0][0]), r"`dequeue` gives packet \d+, which it does not hold"),
        (answering(dequeue=lambda *_: None), r"the discipline `mine`: `dequeue` raises TypeError: .*NoneType"),
        (answering(dequeue=lambda *_: 1 / 0), r"`dequeue` raises ZeroDivisionError: division by zero \(line \d+\)"),
        (answering(enqueue=lambda ramp, packet, *_: ramp.waiting.append((packet, 0)) or packet), "beyond the limit"),
        (answering(enqueue=lambda *_: 0.5), "`enqueue` raises TypeError: .*float"),
        (answering(enqueue=lambda *_: 2**70), "`enqueue` raises OverflowError"),
        (answering(enqueue=lambda *_: -7), "`enqueue` gives packet 6, which it does not hold"),
    ],
)
def test_a_wrong_discipline_is_told(make, message):
    with pytest.raises(sluice.RunError, match=message):
        run(make)


def test_a_discipline_that_fails_in_a_medium_or_under_an_agent_is_told():
    sluice.register("mine", answering(dequeue=lambda *_: 1 / 0))
    air = sluice.Medium(sluice.Scenario(HOME).replace({"queue.discipline": "mine"}))
    assert air.poll(1.0) is None
    with pytest.raises(sluice.RunError, match="ZeroDivisionError"):
        air.send(1.0, "laptop", "ap", b"refused")
    with pytest.raises(sluice.RunError, match="ZeroDivisionError"):
        air.finish()
    env = learn.LimitEnv(sluice.Scenario(LOADED).replace({"queue.discipline": "mine"}))
    with pytest.raises(sluice.RunError, match="ZeroDivisionError"):
        env.reset(seed=1)
