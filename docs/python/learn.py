# # Learn a controller in Python
#
# A controller sees what a queue measured in an interval and decides what holds from then on. It can be a Python class, or
# an agent that learns. Needs Gymnasium and PettingZoo for the latter: `pip install gymnasium pettingzoo numpy`.
#
# ## A controller as a class
#
# A class with `interval_s` and `update` is a controller. It gets a `sluice.Interval` and gives a limit in packets, or
# `sluice.Orders` with a rate too. It decides at a queue that has no controller of its own.

import sluice


class Drain:
    """Holds as many packets as left within the target, at the rate of the last interval."""

    interval_s = 0.1
    target_s = 0.2

    def update(self, seen: sluice.Interval) -> int:
        """Decide upon an interval."""
        if seen.sent_packets == 0:
            return 1000
        return max(1, round(seen.sent_packets / seen.length_s * self.target_s))


scenario = sluice.load("scenarios/adth/s1a.toml").replace({"queue.controller": "none"})
fifo = scenario.run(seed=1)
ours = scenario.run(seed=1, controllers={node: Drain() for node in ["n0", "n1", "n2"]})
print(ours)
assert max(ours.flows["delay_s.max"]) < max(fifo.flows["delay_s.max"])

# ## An environment
#
# `sluice/Limit-v0` is a Gymnasium environment: one queue of a simulated network (by default the relay of ADTH's chain).
# `sluice.learn.OBSERVATION` says what an agent sees, `sluice.learn.FACTORS` what its actions multiply the limit by. The
# reward is the share of packets that left, less a penalty for delays beyond the target. The same seed gives the same
# episode. `make_vec` steps many environments in one call, on all processors; one whose episode ended begins anew at the
# next step.

import gymnasium
import numpy as np

from sluice import learn

envs = gymnasium.make_vec("sluice/Limit-v0", num_envs=8, scenario=learn.chain("10 s"))
seen, _ = envs.reset(seed=1)


# ## Learn
#
# A table of values (Q-learning) over what matters most: the largest nodal delay over the target, and the backlog over the
# limit. It takes seconds.


def state(seen):
    """Number the state of each environment."""
    delay = np.digitize(seen[:, 2], [0.25, 0.5, 0.8, 1.0, 1.5])
    backlog = np.digitize(seen[:, 1], [0.05, 0.5, 0.9])
    return delay * 4 + backlog


random = np.random.default_rng(1)
value = np.zeros((24, len(learn.FACTORS)))
now = state(seen)
ended = np.zeros(8, dtype=bool)
for step in range(2000):
    explore = random.random(8) < max(0.05, 1 - step / 1000)
    actions = np.where(explore, random.integers(len(learn.FACTORS), size=8), value[now].argmax(axis=1))
    seen, rewards, _, truncated, _ = envs.step(actions)
    following = state(seen)
    goal = rewards + 0.9 * value[following].max(axis=1)
    # The step after an end begins an episode and teaches nothing.
    for number in np.flatnonzero(~ended):
        value[now[number], actions[number]] += 0.1 * (goal[number] - value[now[number], actions[number]])
    now, ended = following, truncated
policy = value.argmax(axis=1)
print(policy.reshape(6, 4))

# ## Compare
#
# Seeds that it has not seen, beside the limit that stays where it is and one drawn at random: a check of the environment.


def mean_reward(choose):
    """Play an episode in each of eight environments."""
    seen, _ = envs.reset(seed=1000)
    total = 0.0
    for _ in range(98):
        seen, rewards, *_ = envs.step(choose(seen))
        total += rewards.mean()
    return total / 98


learned = mean_reward(lambda seen: policy[state(seen)])
fixed = mean_reward(lambda seen: np.full(8, 3))
chance = mean_reward(lambda seen: random.integers(len(learn.FACTORS), size=8))
print(f"learned {learned:.3f}, fixed {fixed:.3f}, at random {chance:.3f}")
assert learned > fixed

# The table as a controller, beside ADTH and A* with the same target at the relay, on other seeds. What the other two nodes
# do is the same for all. All three carry as much; of the relay's delays, the table holds 99 % below 298 ms, ADTH below
# 145 ms, and A* below 171 ms: so coarse a table, learned in seconds, misses the target that the schemes keep.


class Learned:
    """Decides by the table."""

    interval_s = 0.1

    def __init__(self):
        self.limit = 1000

    def update(self, seen: sluice.Interval) -> int:
        """Multiply the limit by what the table says."""
        view = np.array([[0, min(1, seen.backlog_packets / self.limit), seen.nodal_max_s / 0.2, 0, 0, 0]])
        factor = learn.FACTORS[policy[state(view)[0]]]
        moved = np.ceil(self.limit * factor) if factor > 1 else np.floor(self.limit * factor)
        self.limit = int(np.clip(moved, 1, 1000))
        return self.limit


network = learn.chain("30 s")
schemes = {
    "learned": None,
    "adth": {"target_delay": "200 ms"},
    "astar": {"ebdp": {"t_max": "200 ms"}},
}
for scheme, settings in schemes.items():
    goodput, delay = [], []
    for seed in [2001, 2002, 2003]:
        if settings is None:
            result = network.run(seed, controllers={"n1": Learned()})
        else:
            relay = {"controller": scheme, scheme: settings}
            result = network.replace({"node.n1.queue": relay}).run(seed)
        goodput.append(result.totals["totals.goodput_bps"][0])
        delay.append(result.queues["nodal_delay_s.p99"][1])
    print(
        f"{scheme}: {np.mean(goodput) / 1e6:.3f} Mb/s, 99 % of the relay's delays below {np.mean(delay) * 1e3:.0f} ms"
    )

# ## Several queues at once
#
# `learn.QueuesEnv` is a PettingZoo `ParallelEnv` with an agent for each of several nodes of one network, who decide at the
# same moments.

several = learn.QueuesEnv(learn.chain("2 s"), nodes=["n0", "n1", "n2"])
seen, _ = several.reset(seed=1)
while several.agents:
    seen, rewards, *_ = several.step({agent: 3 for agent in several.agents})
