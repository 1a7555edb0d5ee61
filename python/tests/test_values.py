"""What users hand over: numpy's numbers and arrays, paths; and what they copy and send to other processes."""

import concurrent.futures
import copy
import pickle
from pathlib import Path

import gymnasium
import numpy as np
import pandas
import pytest
from conftest import CHAIN

import sluice
from sluice import learn

SHORT = learn.chain("2 s")
EDCA = (
    CHAIN.replace('controller = "adth"', 'controller = "none"')
    .replace("[queue.adth]", "")
    .replace('target_delay = "200 ms"', "")
    + '[mac]\naccess = "edca"\nedca.best_effort.txop_limit = "0 s"\n'
)
FLOW = '[[flow]]\nname = "call"\nfrom = "n0"\nto = "n2"\ncategory = "voice"\n[flow.traffic]\nkind = "cbr"\n'
CALL = FLOW + 'rate = "64 kb/s"\npacket = "160 B"\n'


class Fixed:
    interval_s = 0.1

    def __init__(self, limit):
        self.limit = limit
        self.seen = []

    def update(self, seen):
        self.seen.append(seen)
        return self.limit


@pytest.fixture
def short(chain):
    return chain.replace({"duration": "500 ms"})


@pytest.mark.parametrize(
    ("key", "value", "same"),
    [
        ("queue.limit", np.int64(7), 7),
        ("queue.limit", np.uint8(7), 7),
        ("queue.limit", np.array(7), 7),
        ("radio.path_loss_exponent", np.float32(2.5), 2.5),
        ("mac.cts_to_self", np.bool_(True), True),
        ("queue.learned.delay_edges", np.array([0.5, 1.0]), [0.5, 1.0]),
        ("queue.learned.factors", np.ones((3, 1)), [[1.0]] * 3),
        ("queue.limit", np.str_("64 kB"), "64 kB"),
        ("mobility.file", Path("a") / "b.ns", "a/b.ns"),
        ("queue.learned", {"factors": np.ones((1, 1))}, {"factors": [[1.0]]}),
    ],
)
def test_values_of_other_types_are_those_of_python(key, value, same):
    assert sluice._scenario.setting(key, value) == sluice._scenario.setting(key, same)
    assert sluice._scenario._toml({"a": {"b": value}}) == sluice._scenario._toml({"a": {"b": same}})


@pytest.mark.parametrize("value", [np.nan, np.float64("inf"), object(), 1j, {"a": {1, 2}}])
def test_what_no_scenario_can_hold_is_told(chain, value):
    with pytest.raises(sluice.ScenarioError, match=r"queue\.limit: .* cannot be written in a scenario"):
        chain.replace({"queue.limit": value})


def test_sweeps_over_arrays_with_seeds_of_numpy(short):
    ours = sluice.sweep(short, {"queue.limit": np.arange(10, 30, 10)}, seeds=np.int64(2))
    plain = sluice.sweep(short, {"queue.limit": [10, 20]}, seeds=2)
    assert ours.axes == plain.axes == [("queue.limit", ["10", "20"])]
    assert ours.flows.to_dict() == plain.flows.to_dict()
    listed = sluice.sweep(
        short, {"queue.limit": (10, 20)}, seeds=np.array([1, 2]), threads=np.int8(1), chunk=np.int8(1)
    )
    assert listed.flows.to_dict() == plain.flows.to_dict()
    assert sluice.sweep(short, {"queue.limit": iter([10, 20])}, seeds=2).flows.to_dict() == plain.flows.to_dict()


def test_a_store_takes_counts_of_numpy(short, tmp_path):
    for chunk in (np.int64(1), 1):
        done = sluice.sweep(short, seeds=np.arange(1, 3), store=tmp_path / "runs", chunk=chunk)
        assert done.runs["seed"] == [1, 2]


@pytest.mark.parametrize("seeds", [0, -1, 2.0, np.float64(2), [1, 1], [], [1.5], "2", np.array([])])
def test_what_are_no_seeds_is_told(short, seeds):
    with pytest.raises(sluice.SluiceError, match="seed"):
        sluice.sweep(short, seeds=seeds)


@pytest.mark.parametrize("values", ["10", 10, [], np.array(10), Path("a"), {}])
def test_what_cannot_be_varied_is_told(short, values):
    with pytest.raises(sluice.SluiceError, match=r"over\['queue.limit'\]: expected a list of values"):
        sluice.sweep(short, {"queue.limit": values})


def test_runs_and_environments_take_numbers_of_numpy(short):
    assert short.run(np.int64(3)).seed == 3
    for seed in (1.5, "1", None):
        with pytest.raises(sluice.SluiceError, match="seed: expected a whole number, from 0 to"):
            short.run(seed)
    env = learn.LimitEnv(SHORT, np.str_("n1"), np.float32(0.5), np.float64(0.2), np.int8(1), np.int64(100))
    plain = learn.LimitEnv(SHORT, "n1", 0.5, 0.2, 1.0, 100)
    assert np.array_equal(env.reset(seed=np.uint8(3))[0], plain.reset(seed=3)[0])
    assert np.array_equal(env.step(np.array(2))[0], plain.step(2)[0])
    several = learn.LimitVectorEnv(np.int64(2), SHORT)
    seen = several.reset(seed=np.int64(5))[0]
    assert np.array_equal(seen, learn.LimitVectorEnv(2, SHORT).reset(seed=np.array([5, 6]))[0])
    assert np.array_equal(learn.QueuesEnv(SHORT).reset(np.int64(5))[0]["n1"], learn.QueuesEnv(SHORT).reset(5)[0]["n1"])


@pytest.mark.parametrize("action", [1.7, np.nan, np.float32(1), "1", None, 7, -1, [1, 1], 300])
def test_what_is_no_action_is_told(action):
    env = learn.LimitEnv(SHORT)
    env.reset(seed=1)
    with pytest.raises(sluice.SluiceError, match="expected 1 actions from 0 to 6, whole numbers, and not"):
        env.step(action)
    assert env.step(3)[4] == {"limit_packets": 1000}


def test_episodes_begin_and_end():
    env = learn.LimitEnv(SHORT, interval_s=1.0)
    with pytest.raises(sluice.SluiceError, match="call `reset`"):
        env.step(3)
    env.reset(seed=1)
    assert env.step(3)[3]
    with pytest.raises(sluice.SluiceError, match="the episode has ended: call `reset`"):
        env.step(3)
    env.reset()
    assert env.step(3)[3]


def test_agents_are_those_that_decide():
    env = learn.QueuesEnv(SHORT, interval_s=1.0)
    assert env.step({}) == ({}, {}, {}, {}, {})
    env.reset(seed=1)
    for actions in ({}, {"n0": 3}, {"n0": 3, "n1": 3, "n2": 3, "n3": 3}):
        with pytest.raises(sluice.SluiceError, match="expected actions of n0, n1, n2, not of "):
            env.step(actions)
    assert all(env.step(dict.fromkeys(["n0", "n1", "n2"], 3))[3].values())
    assert env.agents == [] and env.step({}) == ({}, {}, {}, {}, {})
    with pytest.raises(sluice.SluiceError, match="expected actions of no agent"):
        env.step({"n0": 3})


def copies(value):
    return [pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)]


def test_results_and_their_tables_pickle_and_copy(chain):
    result = chain.replace({"record.series": "100 ms"}).run(seed=2)
    for again in copies(result):
        assert again.scenario.changes == result.scenario.changes and again.seed == 2
        assert again.to_dict() == result.to_dict() and str(again) == str(result)
        for name in ("totals", "flows", "nodes", "queues", "hops", "flow_series", "queue_series", "claims"):
            assert getattr(again, name).to_dict() == getattr(result, name).to_dict()
    for table in (result.flows, result.queue_series, result.claims):
        for again in copies(table):
            assert again.to_dict() == table.to_dict()
            assert again.to_polars().schema == table.to_polars().schema


def test_scenarios_pickle_and_copy(chain):
    for again in copies(chain.replace({"queue.limit": 7})):
        assert (
            again.changes == ["queue.limit=7"]
            and again.run().to_dict()["flows"] == (chain.replace({"queue.limit": 7}).run().to_dict()["flows"])
        )


def test_processes_run_scenarios_and_give_results_back(short):
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        results = list(pool.map(short.run, [1, 2]))
    assert [result.flows.to_dict() for result in results] == [short.run(seed).flows.to_dict() for seed in (1, 2)]


def test_sweeps_and_reproductions_pickle_and_copy(chain, tmp_path):
    varied = sluice.Scenario(chain.text + "[vary]\nseeds = 2\n'queue.limit' = [5, 50]\n").replace({"duration": "1 s"})
    for done in (sluice.sweep(varied), sluice.sweep(varied, store=tmp_path / "runs"), sluice.reproduce(varied)):
        for again in copies(done):
            assert repr(again) == repr(done) and len(again) == 4
            assert again.axes == done.axes and again.flows.to_dict() == done.flows.to_dict()


def played(env, actions):
    return [env.step(action) for action in actions]


def test_environments_pickle_and_copy_within_an_episode():
    env = learn.LimitEnv(SHORT)
    for fresh in copies(env)[:2]:
        assert np.array_equal(fresh.reset(seed=9)[0], env.reset(seed=9)[0])
    env.reset(seed=4)
    played(env, [0, 0, 5])
    again = copies(env)[:2]
    rest = played(env, [1, 6, 3])
    for other in again:
        for one, two in zip(rest, played(other, [1, 6, 3]), strict=True):
            assert np.array_equal(one[0], two[0]) and one[1:] == two[1:]
        assert np.array_equal(other.reset()[0], copy.deepcopy(env).reset()[0])


def test_environments_that_are_stepped_together_pickle_after_one_has_begun_anew():
    envs = gymnasium.make_vec("sluice/Limit-v0", num_envs=2, scenario=learn.chain("1 s")).unwrapped
    envs.reset(seed=7)
    played(envs, [[0, 5]] * 14)
    again = copies(envs)[:2]
    rest = played(envs, [[1, 2]] * 3)
    for other in again:
        for one, two in zip(rest, played(other, [[1, 2]] * 3), strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one[:4], two[:4], strict=True))
    queues = learn.QueuesEnv(SHORT)
    queues.reset(seed=1)
    queues.step({"n0": 0, "n1": 1, "n2": 2})
    other = pickle.loads(pickle.dumps(queues))
    one, two = (env.step({"n0": 5, "n1": 1, "n2": 4}) for env in (queues, other))
    assert one[1:] == two[1:] and all(np.array_equal(one[0][name], two[0][name]) for name in queues.agents)


def test_pandas_before_3_reads_tables_too(chain, monkeypatch):
    result = chain.replace({"record.series": "100 ms"}).run()
    frames = [(table, table.to_pandas()) for table in (result.flows, result.totals, result.queue_series)]
    monkeypatch.delattr(pandas.DataFrame, "from_arrow")
    for table, frame in frames:
        older = table.to_pandas()
        assert list(older.columns) == list(frame.columns) == table.columns
        for name in table.columns:
            one, other = older[name], frame[name]
            assert one.isna().equals(other.isna())
            assert one.dropna().tolist() == other.dropna().tolist()
            assert pandas.api.types.is_numeric_dtype(one) >= pandas.api.types.is_numeric_dtype(other)
            if pandas.api.types.is_numeric_dtype(other):
                assert one.dtype == other.dtype


def test_controllers_decide_at_the_queues_that_they_name():
    scenario = sluice.Scenario(EDCA)
    plain = {(row["node"], row["queue"]): row for row in scenario.run().queues.to_rows()}
    for name in ("n1", "n1 be"):
        controller = Fixed(3)
        rows = {
            (row["node"], row["queue"]): row for row in scenario.run(controllers={name: controller}).queues.to_rows()
        }
        assert len(controller.seen) == 19 and sum(seen.arrived_packets for seen in controller.seen) > 100
        assert rows["n1", "be"]["limit_packets.last"] == 3
        assert rows["n1", "vo"] == plain["n1", "vo"]


def test_a_queue_that_no_flow_passes_is_refused_and_the_right_one_named():
    scenario = sluice.Scenario(EDCA)
    for name, words in [
        ("n1 vo", "no flow passes the queue `n1 vo`; expected `n1 be`"),
        ("n2", "no flow passes the queues of `n2`; expected one of: `n0 be`, `n1 be`"),
        ("n1 bee", "there is no node or queue `n1 bee`; .*; did you mean `n1 be`"),
        ("n9", "there is no node or queue `n9`"),
    ]:
        with pytest.raises(sluice.RunError, match=words):
            scenario.run(controllers={name: Fixed(1)})
    both = sluice.Scenario(EDCA + CALL)
    with pytest.raises(sluice.RunError, match="flows pass several queues of `n1`; expected one of: `n1 vo`, `n1 be`"):
        both.run(controllers={"n1": Fixed(1)})
    one, other = Fixed(2), Fixed(5)
    rows = both.run(controllers={"n1 vo": one, "n1 be": other}).queues.to_rows()
    limits = {row["queue"]: row["limit_packets.last"] for row in rows if row["node"] == "n1"}
    assert limits == {"vo": 2, "be": 5, "vi": 100, "bk": 100} and one.seen != other.seen


def test_environments_name_queues():
    scenario = sluice.Scenario(EDCA + CALL)
    env = learn.QueuesEnv(scenario, nodes=["n1 vo", "n1 be"], limit=50)
    env.reset(seed=1)
    infos = env.step({"n1 vo": 0, "n1 be": 3})
    assert set(infos[0]) == {"n1 vo", "n1 be"} and not np.array_equal(*infos[0].values())
    with pytest.raises(sluice.RunError, match="no flow passes the queue `n1 bk`"):
        learn.LimitEnv(scenario, node="n1 bk").reset(seed=1)


def test_sites_of_baselines_name_their_queues():
    text = EDCA.replace('controller = "none"', 'controller = "adth"') + "[vary]\nscheme = [{ label = 'a', set = {} }]\n"
    queues = []

    def made(site):
        queues.append((site.node, site.queue))
        return Fixed(9)

    sluice.reproduce(sluice.Scenario(text), baselines={"nine": made}, seeds=1)
    assert queues == [(node, queue) for node in ("n0", "n1", "n2") for queue in ("vo", "vi", "be", "bk")]
