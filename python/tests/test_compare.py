"""Scenarios, runs and their tables."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars
import pytest
from conftest import CHAIN
from hypothesis import given, settings
from hypothesis import strategies as st

import sluice


def sluice_command(root):
    name = os.environ.get("SLUICE", root / "target/release/sluice")
    if not Path(name).exists():
        pytest.skip("the command is not built: make build")
    return str(name)


def without_cost(run):
    return {key: value for key, value in run.items() if key not in ("wall_s", "cpu_s")}


def test_a_run_is_the_one_of_the_command(chain, root, tmp_path):
    (tmp_path / "chain.toml").write_text(chain.text)
    command = [sluice_command(root), "run", "chain.toml", "--seed", "3", "--set", "queue.limit=7", "--json"]
    told = json.loads(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout)
    ours = sluice.load(tmp_path / "chain.toml").replace({"queue.limit": 7}).run(seed=3).to_dict()
    assert without_cost(ours) == without_cost(told)


def test_the_same_seed_gives_the_same_and_another_seed_another(chain):
    one, again, other = (chain.run(seed=seed).to_dict() for seed in (1, 1, 2))
    assert without_cost(one) == without_cost(again)
    assert one["flows"] != other["flows"]


def test_tables_have_the_values_of_the_object(chain):
    result = chain.run(series="100 ms")
    whole = result.to_dict()
    flow = result.flows.to_rows()[0]
    assert flow["delay_s.max"] == whole["flows"][0]["delay_s"]["max"]
    assert flow["received_packets"] == whole["flows"][0]["received_packets"]
    assert flow["rtt_s.max"] is None
    assert result.queues["limit_packets.mean"] == [
        node["queues"][0]["limit_packets"]["mean"] for node in whole["nodes"]
    ]
    assert result.nodes["mac.attempts"] == [node["mac"]["attempts"] for node in whole["nodes"]]
    assert result.totals["totals.goodput_bps"] == [whole["totals"]["goodput_bps"]]
    series = whole["series"]
    assert len(result.flow_series) == 20
    assert result.flow_series["time_s"][:3] == [0.1, 0.2, 0.3]
    assert result.flow_series["goodput_bps"] == series["flows"][0]["goodput_bps"]
    assert result.queue_series["limit"] == [limit for node in series["nodes"] for limit in node["limit"]]


def keys(value, path=()):
    """All paths to plain values, without lists."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys(inner, (*path, key))
    elif not isinstance(value, list):
        yield ".".join(path)


@pytest.mark.parametrize("file", ["adth/s1a", "swan/fig10", "buffer-sizing/fig9", "bqm/table4.1", "kaust/wqm-1hop"])
def test_every_value_of_a_run_is_in_a_table(root, file):
    result = sluice.load(root / "scenarios" / f"{file}.toml").run()
    whole = result.to_dict()
    names = {"name"}
    for flow in whole["flows"]:
        assert set(keys(flow)) - names <= set(result.flows.columns)
    for node in whole["nodes"]:
        assert set(keys(node)) - names <= set(result.nodes.columns)
        for queue in node["queues"]:
            assert set(keys(queue)) - names <= set(result.queues.columns)
        for hop in node.get("hops", []):
            assert set(keys(hop)) - names <= set(result.hops.columns)
    assert {f"totals.{key}" for key in keys(whole["totals"])} <= set(result.totals.columns)


def test_others_read_tables_through_arrow(chain):
    duckdb, pandas, pyarrow = (pytest.importorskip(name) for name in ("duckdb", "pandas", "pyarrow"))
    queues = chain.run().queues
    limits = queues["limit_packets.mean"]
    assert polars.DataFrame(queues)["limit_packets.mean"].to_list() == limits
    assert queues.to_polars()["node"].to_list() == ["n0", "n1", "n2"]
    assert pandas.DataFrame.from_arrow(queues)["limit_packets.mean"].to_list() == limits
    assert queues.to_pandas().shape == (3, len(queues.columns))
    assert pyarrow.table(queues).column("limit_packets.mean").to_pylist() == limits
    assert duckdb.sql('select "limit_packets.mean" from queues').fetchall() == [(limit,) for limit in limits]
    assert pyarrow.schema(queues).names == queues.columns


def test_a_scenario_built_in_python_is_the_one_of_the_file(chain):
    built = sluice.Scenario(
        {
            "title": "Three nodes in a chain",
            "duration": "2 s",
            "radio": {
                "standard": "802.11b",
                "data_rate": "11 Mb/s",
                "range": "30 m",
                "carrier_sense_range": "60 m",
            },
            "nodes": {"count": 3, "placement": "chain", "spacing": "30 m"},
            "queue": {
                "discipline": "drop-head",
                "limit": 100,
                "controller": "adth",
                "adth": {"target_delay": "200 ms"},
            },
            "flow": [
                {
                    "name": "forward",
                    "from": "n0",
                    "to": "n2",
                    "traffic": {"kind": "cbr", "rate": "1.8 Mb/s", "packet": "1000 B"},
                    "deadline": "400 ms",
                }
            ],
        }
    )
    assert without_cost(built.run().to_dict()) == without_cost(chain.run().to_dict())


def test_mistakes_are_told_with_their_place_and_the_nearest_name(chain, tmp_path):
    file = tmp_path / "slip.toml"
    file.write_text(chain.text.replace("controller", "controler"))
    with pytest.raises(sluice.ScenarioError) as caught:
        sluice.load(file)
    error = caught.value
    line = 1 + chain.text.split("\n").index('controller = "adth"')
    assert (error.file, error.line, error.column, error.nearest) == (str(file), line, 1, "controller")
    assert str(error).startswith(f"{file}:{line}:1: unknown key `controler`")
    assert isinstance(error, ValueError) and isinstance(error, sluice.SluiceError)
    with pytest.raises(sluice.ScenarioError, match=r"^'queue\.limt=5': unknown key `limt`") as caught:
        chain.replace({"queue.limt": 5})
    assert (caught.value.change, caught.value.nearest, caught.value.line) == ("queue.limt=5", "limit", None)
    with pytest.raises(sluice.ScenarioError, match="a duration is written with"):
        chain.replace({"duration": "5 m"})
    with pytest.raises(sluice.ScenarioError, match="no such file"):
        sluice.load(tmp_path / "none.toml")
    with pytest.raises(sluice.ScenarioError, match="cannot be written in a scenario"):
        chain.replace({"queue.limit": None})
    with pytest.raises(sluice.ScenarioError, match="cannot be written in a scenario"):
        sluice.Scenario({"title": {1, 2}})


@given(
    st.dictionaries(
        st.text(max_size=12),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text() | st.floats(),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=4,
        ),
        max_size=3,
    )
)
@settings(max_examples=150, deadline=None)
def test_nonsense_is_an_exception_and_never_an_abort(keys):
    base = sluice.Scenario(CHAIN)
    for attempt in (lambda: base.replace(keys), lambda: sluice.Scenario(keys)):
        with contextlib.suppress(sluice.ScenarioError):
            attempt()


def test_a_missing_column_is_told(chain):
    with pytest.raises(KeyError, match="no column is named 'delay'"):
        chain.run().flows["delay"]


def test_notebooks_show_tables(chain):
    result = chain.run()
    assert "<th>delay_s.max</th>" in result._repr_html_()
    shown = result.flows._repr_html_()
    assert "forward" in shown and "rtt_s" not in shown


def test_charts_are_drawn(chain, tmp_path):
    result = chain.run(series="100 ms")
    over_time = result.plot("limit").to_dict()
    assert over_time["mark"]["type"] == "line"
    assert len(over_time["data"]["values"]) == 60
    assert chain.run().plot().to_dict()["encoding"]["y"]["title"] == "largest delay (s)"
    result.plot().save(tmp_path / "chart.png")
    sluice.save_chart(result.plot(), tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text()
    assert "<script src" not in page and "http-equiv" in page and "vegaEmbed" in page
    assert (tmp_path / "chart.png").stat().st_size > 1000
    with pytest.raises(sluice.SluiceError, match=r"run\(series="):
        chain.run().plot("limit")
    with pytest.raises(sluice.SluiceError, match="no column is named"):
        result.plot("nothing")


LONG = """
import sluice, sys
scenario = sluice.load("chain.toml").replace({"duration": "100000 s"})
try:
    print("ready", flush=True)
    scenario.run()
except KeyboardInterrupt:
    print("interrupted; still alive:", scenario.replace({"duration": "1 s"}).run().seed)
"""


def test_ctrl_c_ends_a_run_and_not_the_interpreter(chain, tmp_path):
    (tmp_path / "chain.toml").write_text(chain.text)
    child = subprocess.Popen([sys.executable, "-c", LONG], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    # It runs meanwhile; on a busy machine it may be interrupted earlier.
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=120)[0] == "interrupted; still alive: 1\n"
    assert child.returncode == 0


def test_other_threads_go_on_while_something_runs(chain):
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    # Long enough for ten turns of the other thread, even on a busy machine.
    chain.replace({"duration": "300 s"}).run()
    done.set()
    thread.join()
    assert counted >= 10


def test_seeds_and_counts_that_cannot_be_are_told(chain):
    for seed in [-1, 2**64]:
        with pytest.raises(sluice.SluiceError, match="seed: expected a whole number, from 0"):
            chain.run(seed)
        with pytest.raises(sluice.SluiceError, match="seed: expected a whole number, from 0"):
            sluice.sweep(chain, over={"queue.limit": [5]}, seeds=[seed])
    for wrong in [{"threads": 0}, {"chunk": -1}]:
        with pytest.raises(sluice.SluiceError, match="expected a whole number, 1 or more"):
            sluice.sweep(chain, over={"queue.limit": [5]}, seeds=1, **wrong)


def test_an_experiment_is_loaded_by_its_id(root, monkeypatch, tmp_path):
    monkeypatch.chdir(root)
    here = sluice.load("adth-s1a")
    assert here.id == "adth-s1a"
    # In other folders it is the built-in one.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert sluice.load("adth-s1a").text == here.text
    with pytest.raises(sluice.ScenarioError, match="did you mean `adth-s1a`"):
        sluice.load("adth-s1x")


def test_columns_have_titles_with_quantity_and_unit():
    from sluice._plot import title

    names = [
        "delay_s.p95",
        "delay_s.p999",
        "delay_mean_s",
        "goodput_bps",
        "loss_ratio",
        "queue.adth.target_delay",
        "limit",
    ]
    assert [title(name) for name in names] == [
        "95th percentile of delay (s)",
        "99.9th percentile of delay (s)",
        "mean delay (s)",
        "goodput (bit/s)",
        "loss ratio (share)",
        "target delay",
        "limit",
    ]
