"""Verdicts on claims."""

import json
import signal
import subprocess
import sys
import time

import pytest
from conftest import CHAIN
from test_compare import sluice_command

import sluice

CLAIMS = """
[vary]
"queue.adth.target_delay" = ["200 ms", "50 ms"]
seeds = 3
[[claim]]
id = "chain.1"
says = "no packet arrives after its deadline"
source = "section 1"
measure = "flows.*.deadline_miss_ratio"
statistic = "max"
reported = 0.0
holds = "<= 0.001"
[[claim]]
id = "chain.2"
says = "it is a thousand times as fast as it is"
source = "section 2"
measure = "totals.goodput_bps"
holds = ">= 1.8 Gb/s"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "chain.toml"
    path.write_text(CHAIN + CLAIMS)
    return path


def test_verdicts_are_those_of_the_command(root, file, tmp_path):
    table = sluice.claims(file, store=tmp_path / "ours")
    command = [sluice_command(root), "reproduce", file, "--out", tmp_path / "theirs", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    told = json.loads(done.stdout)["claims"]
    assert table["id"] == ["chain.1", "chain.2"]
    assert table["verdict"] == ["holds", "differs"]
    for name in ["id", "says", "source", "holds", "measured", "low", "high", "unit", "verdict", "at"]:
        assert table[name] == [claim[name] for claim in told]
    assert table["why"] == [None, None]
    again = json.loads((tmp_path / "ours/claims.json").read_text())
    assert again == json.loads((tmp_path / "theirs/claims.json").read_text())


def test_seeds_and_scenarios_that_were_changed(file):
    scenario = sluice.load(file).replace({"duration": "1 s"})
    table = sluice.claims(scenario, seeds=1)
    assert len(table) == 2
    assert table.to_polars()["scenario"].to_list() == ["chain"] * 2
    with pytest.raises(sluice.ScenarioError, match="no such file"):
        sluice.claims(file.with_name("none.toml"))


def test_why_a_claim_does_not_hold_is_what_the_scenario_says(file, tmp_path):
    text = file.read_text().replace("[[claim]]", '[[claim]]\nwhy = "It rains."\ncause = "open"', 1)
    copy = tmp_path / "chain.toml"
    copy.write_text(text)
    first = sluice.claims(copy, seeds=1).to_rows()[0]
    assert (first["why"], first["cause"]) == ("It rains.", "open")


def test_a_folder_that_cannot_be_written_is_told(file, tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(sluice.StoreError, match="cannot write"):
        sluice.claims(file, store=tmp_path / "taken")


LONG = """
import sluice
try:
    print("ready", flush=True)
    sluice.claims(sluice.load("chain.toml").replace({"duration": "100000 s"}))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_it(file):
    child = subprocess.Popen([sys.executable, "-c", LONG], cwd=file.parent, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    # Simulations run meanwhile; on a busy machine it may be interrupted earlier.
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=120)[0] == "interrupted\n"
