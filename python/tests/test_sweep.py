"""Sweeps and the folders that they are kept in."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import time

import polars
import pytest
from conftest import CHAIN

import sluice
from sluice import _sluice, _sweep

OVER = {"scheme": {"FIFO": {"queue.controller": "none"}, "ADTH": {}}, "queue.limit": [10, 100]}
TABLES = [name for name in _sluice.TABLES if name != "cost"]


def short(chain):
    return chain.replace({"duration": "500 ms", "record.series": "100 ms"})


def files(folder):
    """All files that must be the same wherever they are made."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != "cost"
    }


def test_every_combination_with_every_seed_and_each_is_the_single_run(chain):
    sweep = sluice.sweep(short(chain), over=OVER, seeds=2)
    assert len(sweep) == 8
    assert sweep.axes == [("scheme", ["FIFO", "ADTH"]), ("queue.limit", ["10", "100"])]
    rows = sweep.flows.to_rows()
    assert [(row["scheme"], row["queue.limit"], row["seed"]) for row in rows] == [
        (scheme, limit, seed) for scheme in ("FIFO", "ADTH") for limit in (10.0, 100.0) for seed in (1, 2)
    ]
    single = short(chain).replace({"queue.controller": "none", "queue.limit": 100}).run(seed=2).flows.to_rows()[0]
    row = rows[3]
    assert {key: row[key] for key in single} == single
    assert set(sweep.flow_series["seed"]) == {1}
    assert sweep.failures == []


def test_threads_processes_and_chunks_give_the_same_bytes(chain, tmp_path):
    scenario = short(chain)
    sluice.sweep(scenario, over=OVER, seeds=2, store=tmp_path / "one", threads=1, chunk=3)
    sluice.sweep(scenario, over=OVER, seeds=2, store=tmp_path / "two", threads=2, chunk=3)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        sluice.sweep(scenario, over=OVER, seeds=2, store=tmp_path / "three", executor=pool, chunk=3)
    one = files(tmp_path / "one")
    assert one == files(tmp_path / "two") == files(tmp_path / "three")
    assert sum(name.startswith("done/") for name in one) == 3
    in_memory = sluice.sweep(scenario, over=OVER, seeds=2)
    for name in TABLES:
        kept = polars.read_parquet(tmp_path / "one" / name / "*.parquet")
        assert kept.sort(kept.columns).equals(polars.DataFrame(in_memory.table(name)).sort(kept.columns))


def test_a_folder_is_gone_on_with_and_nothing_is_run_twice(chain, tmp_path, monkeypatch):
    scenario = short(chain)
    first = sluice.sweep(scenario, over=OVER, seeds=2, store=tmp_path / "runs", chunk=2)
    before = files(tmp_path / "runs")
    lost = next((tmp_path / "runs/done").iterdir())
    lost.unlink()
    killed = subprocess.Popen(["true"])
    killed.wait()
    (tmp_path / f"runs/flows/.{lost.name}.parquet.{killed.pid}").write_bytes(b"what a kill left")
    made = []
    keep = _sweep.Store.keep
    monkeypatch.setattr(_sweep.Store, "keep", lambda self, key, chunk: (made.append(key), keep(self, key, chunk)))
    again = sluice.sweep(scenario, over=OVER, seeds=2, store=tmp_path / "runs", chunk=2)
    assert made == [lost.name]
    assert files(tmp_path / "runs") == before
    assert again.flows.to_dict() == first.flows.to_dict()


def test_results_of_different_sweeps_are_never_mixed(chain, tmp_path, monkeypatch):
    store = tmp_path / "runs"
    scenario = short(chain)
    sluice.sweep(scenario, over=OVER, seeds=1, store=store)
    before = files(store)
    refused = [
        ({"seeds": [2]}, scenario, OVER, "the seeds were"),
        ({"seeds": 1}, scenario.replace({"queue.limit": 5}), None, "the changed keys was"),
        ({"seeds": 1}, sluice.Scenario(CHAIN.replace("1.8 Mb/s", "1 Mb/s")), OVER, "the scenario file was"),
        ({"seeds": 1}, scenario, {"queue.limit": [10, 100]}, "the axes was"),
    ]
    for arguments, other, over, words in refused:
        with pytest.raises(sluice.StoreError, match=words):
            sluice.sweep(other, over=over, store=store, **arguments)
    monkeypatch.setattr(_sweep, "build", lambda: "another")
    with pytest.raises(sluice.StoreError, match="the build of Sluice was"):
        sluice.sweep(scenario, over=OVER, seeds=1, store=store)
    with pytest.raises(sluice.StoreError, match="other files"):
        sluice.sweep(scenario, over=OVER, seeds=1, store=tmp_path)
    assert files(store) == before


def test_a_folder_takes_more_seeds_and_only_those_are_run(chain, tmp_path, monkeypatch):
    scenario = short(chain)
    store = tmp_path / "runs"
    first = sluice.sweep(scenario, over=OVER, seeds=2, store=store, chunk=3)
    before = files(store)
    made = []
    keep = _sweep.Store.keep
    monkeypatch.setattr(
        _sweep.Store, "keep", lambda self, key, chunk: (made.append(len(chunk)), keep(self, key, chunk))
    )
    more = sluice.sweep(scenario, over=OVER, seeds=4, store=store, chunk=3)
    assert sum(made) == 4 * 2, "four cases, two seeds more"
    after = files(store)
    assert {name: after[name] for name in before if name != "manifest.json"} == {
        name: content for name, content in before.items() if name != "manifest.json"
    }
    alone = sluice.sweep(scenario, over=OVER, seeds=4)
    by_run = ["scheme", "queue.limit", "seed", "flow"]
    kept, fresh = (polars.DataFrame(one.flows).sort(by_run) for one in (more, alone))
    assert kept.equals(fresh.select(kept.columns))
    made.clear()
    assert len(sluice.sweep(scenario, over=OVER, seeds=4, store=store, chunk=3)) == 16
    fewer = sluice.sweep(scenario, over=OVER, seeds=2, store=store, chunk=3)
    assert made == [] and fewer.flows.to_dict() == first.flows.to_dict()


def test_values_that_do_not_fit_are_told(chain):
    with pytest.raises(sluice.ScenarioError, match="unknown key `limt`") as caught:
        sluice.sweep(chain, over={"queue.limt": [1, 2]})
    assert caught.value.nearest == "limit"
    with pytest.raises(sluice.ScenarioError, match="two values called"):
        sluice.sweep(chain, over={"queue.limit": [1, 1]})
    with pytest.raises(sluice.SluiceError, match="expected a list of values"):
        sluice.sweep(chain, over={"queue.limit": "10"})
    for seeds in (0, [], [1, 1]):
        with pytest.raises(sluice.SluiceError, match="seeds: expected"):
            sluice.sweep(chain, seeds=seeds)


def test_failed_runs_are_collected_with_their_seeds_and_tried_again(chain, tmp_path, monkeypatch):
    scenario = short(chain)
    sluice.sweep(scenario, seeds=4, store=tmp_path / "whole", chunk=2)

    class Broken:
        """A chunk of which one run failed."""

        def __init__(self, chunk):
            self.chunk = chunk
            self.failures = [({}, 3, "no reason")]

        def table(self, name):
            return self.chunk.table(name)

    take = sluice.Sweep._take
    broken = {1}
    monkeypatch.setattr(
        sluice.Sweep, "_take", lambda self, number, done: take(self, number, Broken(done) if number in broken else done)
    )
    with pytest.warns(RuntimeWarning, match="1 of 4 runs failed, see `failures`; the first with seed 3: no reason"):
        sweep = sluice.sweep(scenario, seeds=4, store=tmp_path / "runs", chunk=2)
    assert sweep.failures == [sluice.Failure({}, 3, "no reason")]
    broken.clear()
    assert sluice.sweep(scenario, seeds=4, store=tmp_path / "runs", chunk=2).failures == []
    assert files(tmp_path / "runs") == files(tmp_path / "whole")


KILLED = """
import sluice, sys
scenario = sluice.load("chain.toml").replace({"duration": "20 s"})
print("ready", flush=True)
try:
    sluice.sweep(scenario, over={"queue.limit": [5, 10, 20]}, seeds=20, store=sys.argv[1], chunk=1)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_killed_or_interrupted_three_times_is_whole_in_the_end(tmp_path, how):
    (tmp_path / "chain.toml").write_text(CHAIN)
    command = [sys.executable, "-c", KILLED]
    counts = []
    for _ in range(3):
        child = subprocess.Popen([*command, "runs"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "ready\n"
        done = tmp_path / "runs" / "done"
        before = len(list(done.iterdir())) if done.exists() else 0
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and (not done.exists() or len(list(done.iterdir())) < before + 4):
            time.sleep(0.01)
        child.send_signal(how)
        out, _ = child.communicate(timeout=120)
        assert out == ("interrupted\n" if how == signal.SIGINT else "")
        counts.append(len(list(done.iterdir())))
    assert counts == sorted(counts) and counts[-1] < 60
    subprocess.run([*command, "runs"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([*command, "whole"], cwd=tmp_path, check=True, capture_output=True)
    ours = {
        name: content for name, content in files(tmp_path / "runs").items() if not name.split("/")[-1].startswith(".")
    }
    assert ours == files(tmp_path / "whole")


def test_charts_of_sweeps(chain):
    sweep = sluice.sweep(short(chain), over=OVER, seeds=3)
    drawn = sweep.plot(x="queue.limit", y="delay_s.max", colour="scheme").to_dict()
    assert len(drawn["data"]["values"]) == 4
    assert drawn["layer"][1]["encoding"]["x"]["type"] == "quantitative"
    with pytest.raises(sluice.SluiceError, match="has no column 'nothing'"):
        sweep.plot(x="queue.limit", y="nothing")


def test_the_progress_bar_is_for_terminals(chain, capsys):
    sluice.sweep(short(chain), seeds=2)
    assert capsys.readouterr().err == ""
    sluice.sweep(short(chain), seeds=2, progress=True)
    assert "100%" in capsys.readouterr().err


@pytest.mark.slow
def test_ray_with_a_worker_that_is_killed_gives_the_same_bytes(chain, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    scenario = chain.replace({"duration": "60 s"})
    sluice.sweep(scenario, seeds=24, store=tmp_path / "here", chunk=1)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:

        @ray.remote
        def worker():
            time.sleep(0.2)
            return os.getpid()

        workers = set(ray.get([worker.remote() for _ in range(4)]))
        killed = []
        step = _sweep.Bar.step

        def kill_one(bar):
            step(bar)
            if bar.done == 4:
                killed.append(min(workers))
                os.kill(killed[0], signal.SIGKILL)

        monkeypatch.setattr(_sweep.Bar, "step", kill_one)
        sweep = sluice.sweep(scenario, seeds=24, store=tmp_path / "there", chunk=1, executor=sluice.ray())
    finally:
        ray.shutdown()
    assert killed and len(workers) == 2
    assert sweep.failures == []
    assert files(tmp_path / "here") == files(tmp_path / "there")
