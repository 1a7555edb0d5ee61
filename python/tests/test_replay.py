"""Recordings, replayed."""

import json
import subprocess

import pytest
from conftest import CHAIN, ROOT
from test_compare import sluice_command

import sluice


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """What ADTH saw and decided at the chain's first node."""
    folder = tmp_path_factory.mktemp("recording")
    (folder / "chain.toml").write_text(CHAIN)
    command = [sluice_command(ROOT), "run", "chain.toml", "--record-intervals", "n0.jsonl", "--node", "n0"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "n0.jsonl"


def told_by_the_command(root, *arguments):
    done = subprocess.run([sluice_command(root), "replay", *map(str, arguments)], capture_output=True, text=True)
    return done.stdout, done.stderr


ADTH = {"adth.target_delay": "200 ms", "limit": 100}


def test_a_recording_replays_to_the_decisions_that_were_recorded(recording):
    as_recorded = sluice.replay(recording)
    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    assert as_recorded["limit_packets"] == [line["limit"] for line in lines]
    assert as_recorded["arrived_packets"] == [line["seen"]["arrived"]["packets"] for line in lines]
    assert as_recorded["at_s"][:3] == [0.1, 0.2, 0.3]
    again = sluice.replay(recording, "adth", ADTH)
    assert again["limit_packets"] == as_recorded["limit_packets"]
    assert len(set(again["limit_packets"])) > 1
    assert again.to_dict() == sluice.replay(recording.read_text().splitlines(), "adth", ADTH).to_dict()
    assert again.to_dict() == sluice.replay(recording.read_bytes().splitlines(keepends=True), "adth", ADTH).to_dict()


def test_it_decides_what_the_command_decides(recording, root):
    settings = {"alt.a1": 5, "limit": 300}
    sets = ["--set", "limit=300", "--set", "alt.a1=5", "--controller", "alt", "--json"]
    out, _ = told_by_the_command(root, recording, *sets)
    ours = sluice.replay(recording, "alt", settings)
    assert ours["limit_packets"] == [json.loads(line)["limit"] for line in out.splitlines()]
    assert ours["recorded_limit_packets"] != ours["limit_packets"]
    assert sluice.replay(recording, settings={"controller": "alt", **settings}).to_dict() == ours.to_dict()


def test_a_controller_in_python_decides(recording):
    class Drain:
        interval_s = 0.1

        def update(self, seen):
            return sluice.Orders(max(1, seen.sent_packets), rate_bps=1e6 + seen.sent_bytes)

    table = sluice.replay(recording, Drain())
    assert table["limit_packets"] == [max(1, sent) for sent in table["sent_packets"]]
    assert table["rate_bps"] == [1e6 + sent for sent in table["sent_bytes"]]
    assert table["recorded_limit_packets"] == sluice.replay(recording)["limit_packets"]

    class Wrong(Drain):
        def update(self, seen):
            raise ZeroDivisionError("of its own")

    with pytest.raises(ZeroDivisionError, match="of its own"):
        sluice.replay(recording, Wrong())
    with pytest.raises(sluice.ReplayError, match="Drain: settings are for"):
        sluice.replay(recording, Drain(), {"limit": 5})


def test_the_last_line_may_be_cut_off_and_no_other(recording, root, tmp_path):
    file = tmp_path / "cut.jsonl"
    whole = recording.read_bytes()
    file.write_bytes(whole[:-50])
    lines = whole.count(b"\n")
    with pytest.warns(sluice.ReplayWarning) as caught:
        table = sluice.replay(file)
    assert len(table) == lines - 1
    assert f"warning: {caught[0].message}\n" in told_by_the_command(root, file)[1]
    assert f"the last line ({lines}) was cut off" in str(caught[0].message)
    file.write_bytes(b"{}\n" + whole)
    refused(root, file, None, "line 1 is not an interval of a recording: missing field `at`")


def refused(root, file, controller, words):
    """Both say the same."""
    with pytest.raises(sluice.ReplayError) as caught:
        sluice.replay(file, controller)
    assert words in str(caught.value)
    assert isinstance(caught.value, sluice.SluiceError)
    chosen = [] if controller is None else ["--controller", controller]
    assert str(caught.value) in told_by_the_command(root, file, *chosen)[1]


def test_what_cannot_be_replayed_is_told_in_the_commands_words(recording, root, tmp_path):
    refused(root, tmp_path / "none.jsonl", "adth", "cannot read")
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    refused(root, empty, None, "holds no interval")
    refused(root, recording, "ebdp", "holds no service times, but ebdp needs them: record with --controller ebdp")
    refused(root, recording, "wqm", "holds no readings of a radio, but wqm needs")
    refused(root, root / "scenarios/adth/s1a.toml", None, "line 1 is not an interval of a recording")
    with pytest.raises(sluice.ReplayError, match="unknown variant `adht`"):
        sluice.replay(recording, "adht")
    with pytest.raises(sluice.ReplayError, match="unknown field `target`"):
        sluice.replay(recording, "adth", {"adth.target": 1})
    with pytest.raises(sluice.ReplayError, match="<recording>: line 1 is not an interval"):
        sluice.replay(["nonsense"])
    with pytest.raises(sluice.ReplayError, match="<recording> holds no interval"):
        sluice.replay([])
