"""Environments for learning, and controllers that are written in Python."""

import gymnasium
import numpy as np
import pytest
from conftest import CHAIN
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import sluice
from sluice import learn

SHORT = learn.chain("2 s")


class Fixed:
    """Holds a limit, and remembers what it saw."""

    interval_s = 0.1

    def __init__(self, limit):
        self.limit = limit
        self.seen = []

    def update(self, seen):
        self.seen.append(seen)
        return self.limit


def quiet(scenario):
    return scenario.replace({"queue.controller": "none"})


def test_a_controller_in_python_decides_in_the_simulation(chain):
    controller = Fixed(7)
    result = quiet(chain).run(controllers={"n1": controller})
    assert len(controller.seen) == 19
    assert all(seen.length_s == 0.1 for seen in controller.seen)
    assert sum(seen.arrived_packets for seen in controller.seen) > 100
    row = result.queues.to_rows()[1]
    assert (row["limit_packets.max"], row["limit_packets.last"]) == (100, 7)


def test_one_that_changes_nothing_leaves_no_trace(chain):
    steered, plain = quiet(chain).run(controllers={"n1": Fixed(100)}), quiet(chain).run()
    assert steered.flows.to_dict() == plain.flows.to_dict()
    assert steered.queues.to_dict() == plain.queues.to_dict()


def test_a_rate_is_obeyed(chain):
    class Slow(Fixed):
        def update(self, seen):
            return sluice.Orders(limit_packets=100, rate_bps=200_000)

    scenario = quiet(chain).replace({"duration": "10 s"})
    goodput = scenario.run(series="1 s", controllers={"n0": Slow(1)}).flow_series["goodput_bps"]
    # 1000 B of payload are 1028 B at the network layer. Packets that were below the queue take a second to leave.
    assert np.mean(goodput[2:]) == pytest.approx(200_000 * 1000 / 1028, rel=0.02)


def test_what_is_wrong_with_a_controller_is_told(chain):
    class Faulty(Fixed):
        def update(self, seen):
            raise ZeroDivisionError("of its own")

    with pytest.raises(ZeroDivisionError, match="of its own"):
        quiet(chain).run(controllers={"n1": Faulty(1)})
    with pytest.raises(sluice.SluiceError, match="Fixed: a limit of 0 packets"):
        quiet(chain).run(controllers={"n1": Fixed(0)})
    with pytest.raises(sluice.RunError, match="there is no node or queue `n9`"):
        quiet(chain).run(controllers={"n9": Fixed(1)})
    with pytest.raises(sluice.RunError, match="already has a controller: leave its `controller` out"):
        chain.run(controllers={"n1": Fixed(1)})
    fast = Fixed(1)
    fast.interval_s = 1e-6
    with pytest.raises(sluice.SluiceError, match="at least 100 us"):
        quiet(chain).run(controllers={"n1": fast})


@pytest.mark.filterwarnings("error")
def test_gymnasium_accepts_the_environment():
    check_env(gymnasium.make("sluice/Limit-v0", scenario=SHORT).unwrapped, skip_render_check=True)


def rollout(env, seed, steps=25):
    seen, _ = env.reset(seed=seed)
    parts = [np.atleast_2d(seen)]
    random = np.random.default_rng(seed)
    for _ in range(steps):
        seen, reward, _, truncated, _ = env.step(int(random.integers(7)))
        parts.append(np.append(seen, reward)[None, :6])
        if truncated:
            break
    return np.concatenate(parts)


def test_an_episode_follows_from_its_seed():
    one, again, other = (rollout(learn.LimitEnv(SHORT), seed) for seed in (5, 5, 6))
    assert np.array_equal(one, again)
    assert one.shape != other.shape or not np.array_equal(one, other)


def test_actions_move_the_limit_and_the_end_truncates():
    env = learn.LimitEnv(SHORT, limit=100)
    _, info = env.reset(seed=1)
    assert info["limit_packets"] == 100
    limits = [env.step(0)[4]["limit_packets"] for _ in range(3)]
    assert limits == [50, 25, 12]
    assert env.step(4)[4]["limit_packets"] == 13
    assert env.step(3)[4]["limit_packets"] == 13
    ends = []
    for _ in range(14):
        ends.append(env.step(3)[2:4])
    # In 2 s, 19 intervals of 100 ms end before the end of the run; the last step goes from 1.9 s to the end.
    assert ends == [(False, False)] * 13 + [(False, True)]


def test_a_longer_queue_than_the_target_costs():
    def mean_reward(action):
        env = learn.LimitEnv(learn.chain("5 s", rate="2.5 Mb/s"), limit=1000)
        env.reset(seed=1)
        rewards = []
        for number in range(30):
            rewards.append(env.step(action if number < 5 else 3)[1])
        return np.mean(rewards[10:])

    assert mean_reward(0) > mean_reward(3)


def test_environments_that_are_stepped_together_are_those_stepped_alone():
    envs = gymnasium.make_vec("sluice/Limit-v0", num_envs=3, scenario=SHORT)
    assert envs.unwrapped.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP
    alone = [learn.LimitEnv(SHORT) for _ in range(3)]
    seen, _ = envs.reset(seed=7)
    assert seen in envs.observation_space
    assert np.array_equal(seen, [env.reset(seed=7 + number)[0] for number, env in enumerate(alone)])
    random = np.random.default_rng(1)
    for _ in range(19):
        actions = random.integers(7, size=3)
        seen, rewards, terminated, truncated, _ = envs.step(actions)
        singles = [env.step(int(action)) for env, action in zip(alone, actions, strict=True)]
        assert np.array_equal(seen, [single[0] for single in singles])
        assert np.array_equal(rewards, [single[1] for single in singles])
        assert not terminated.any()
    assert truncated.all()
    seen, rewards, _, truncated, info = envs.step([0, 0, 0])
    assert not truncated.any() and not rewards.any() and (info["limit_packets"] == 1000).all()


def test_wrong_actions_and_settings_are_told():
    envs = learn.LimitVectorEnv(2, SHORT)
    envs.reset(seed=1)
    for actions in ([0], [0, 7], [0, -1]):
        with pytest.raises(sluice.SluiceError, match="expected 2 actions from 0 to 6"):
            envs.step(actions)
    with pytest.raises(sluice.SluiceError, match="a target above 0 s"):
        learn.LimitEnv(SHORT, target_s=0)
    with pytest.raises(sluice.ScenarioError, match="n9"):
        learn.LimitEnv(sluice.Scenario(CHAIN), node="n9")


def test_pettingzoo_accepts_several_queues():
    parallel_api_test(learn.QueuesEnv(SHORT), num_cycles=30)
    parallel_seed_test(lambda: learn.QueuesEnv(SHORT))


def test_each_agent_sees_its_own_queue():
    env = learn.QueuesEnv(SHORT, nodes=["n0", "n1"])
    seen, _ = env.reset(seed=1)
    alone = learn.LimitEnv(SHORT, node="n1")
    assert np.array_equal(seen["n1"], alone.reset(seed=1)[0])
    for _ in range(5):
        seen, rewards, *_ = env.step({"n0": 3, "n1": 3})
        single = alone.step(3)
        assert np.array_equal(seen["n1"], single[0]) and rewards["n1"] == single[1]


# Opposite factors follow each other, so that the limit always changes.
FACTOR_OF = np.array([[3, 6], [1, 4], [0, 2]])
DELAY_EDGES, BACKLOG_EDGES = [0.4, 0.9], [0.5]


def bins(seen, delay):
    return np.digitize(seen[..., delay], DELAY_EDGES), np.digitize(seen[..., 1], BACKLOG_EDGES)


class Table(Fixed):
    """The table as a controller in Python."""

    def __init__(self, delay):
        super().__init__(1000)
        self.delay = delay

    def update(self, seen):
        view = np.zeros(6, dtype=np.float32)
        view[1:4] = min(1, seen.backlog_packets / self.limit), seen.nodal_delay_s.max / 0.2, seen.sojourn_s.mean / 0.2
        factor = learn.FACTORS[FACTOR_OF[bins(view.clip(0, 10), self.delay)]]
        moved = np.ceil(self.limit * factor) if factor > 1 else np.floor(self.limit * factor)
        self.limit = int(np.clip(moved, 1, 1000))
        self.seen.append(self.limit)
        return self.limit


def exported(delay="nodal_delay_max"):
    factors = np.array(learn.FACTORS)[FACTOR_OF]
    return learn.table(DELAY_EDGES, BACKLOG_EDGES, factors, delay=delay)


@pytest.mark.parametrize("delay", ["nodal_delay_max", "sojourn_mean"])
def test_a_table_decides_the_same_in_the_environment_in_python_and_without(delay):
    network, number = learn.chain("10 s", rate="2.5 Mb/s"), learn.OBSERVATION.index(delay)
    env = learn.LimitEnv(network)
    seen, _ = env.reset(seed=3)
    played = []
    for _ in range(99):
        seen, _, _, _, info = env.step(FACTOR_OF[bins(seen, number)])
        played.append(info["limit_packets"])
    ours = Table(number)
    python = network.run(3, controllers={"n1": ours})
    rust = network.replace({"node.n1.queue": exported(delay)}).run(3)
    assert ours.seen == played and len(set(played)) > 10
    for kind in ("totals", "flows", "queues"):
        one, other = getattr(python, kind).to_dict(), getattr(rust, kind).to_dict()
        # A controller in Python has neither a name nor a target that the queue could know.
        named = {"controller", "target_delay_s", "target_miss_ratio"}
        assert one.keys() == other.keys()
        assert {key: one[key] for key in one.keys() - named} == {key: other[key] for key in other.keys() - named}


def test_a_table_is_written_as_keys_of_a_queue(root):
    factors = np.array([[0.8, 1.25], [1.0, 1.05], [0.5, 0.5]])
    queue = learn.table([0.5, 1], [0.5], factors, target="50 ms", interval="20 ms", delay="sojourn_mean")
    text = learn.toml(queue)
    # A test of the command line governs an interface with this controller.
    assert text == (root / "crates/cli/tests/fixtures/learned.toml").read_text()
    in_file = sluice.Scenario(SHORT.text.replace("[queue]\n", f"[queue]\n{text}"))
    changed = SHORT.replace({f"queue.{key}": value for key, value in queue.items()})
    assert in_file.run(1).queues.to_dict() == changed.run(1).queues.to_dict()
    assert set(in_file.run(1).queues.to_dict()["controller"]) == {"learned"}


def test_what_is_no_table_is_told():
    with pytest.raises(sluice.ScenarioError, match="must have a row for each bin of the delay"):
        learn.table([1.0], [], [[1.0]])
    with pytest.raises(sluice.ScenarioError, match="must be numbers above zero that ascend"):
        learn.table([1.0, 0.5], [], [[1.0]] * 3)
    with pytest.raises(sluice.ScenarioError, match="at most 7"):
        learn.table(range(1, 9), [], [[1.0]] * 9)
    with pytest.raises(sluice.ScenarioError, match="nodal_delay_max"):
        learn.table([], [], [[1.0]], delay="nodal")
