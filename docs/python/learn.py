# # Learn a controller in Python
#
# From a queue's measurements in an interval, a controller computes the next limit. A controller can be a Python class,
# or an agent that learns. An agent needs Gymnasium and PettingZoo: `pip install gymnasium pettingzoo numpy`.
#
# ## A controller as a class
#
# A class with `interval_s` and `update` is a controller. The method `update` gets a `sluice.Interval` and returns a
# limit in packets, or `sluice.Orders`, which may also have a rate. `controllers` names each queue by its node; the
# queue must have no other controller. If flows pass several queues of a node, as with EDCA, use the queues' names in
# the results: `ap be`, `ap vo`. A queue that no flow passes is refused.

import sluice


class Drain:
    """Holds as many packets as left within the target, at the rate of the last interval."""

    interval_s = 0.1

    def __init__(self, target_s: float = 0.2) -> None:
        self.target_s = target_s

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

# ## A discipline as a class
#
# A controller decides for each interval, a discipline for each packet. The class below holds the packets. `enqueue`
# decides about an arriving packet, `dequeue` about a departing packet. Both return the packet's number to pass it, or
# the complement `~packet` to drop it. `register` gives the class a name for all scenarios; its parameters are in
# `[queue.own.ramp]`. The two calls into Python cost some 2 us per packet; the last line compares the processor time
# with drop-tail's.

from collections import deque


class Ramp:
    """Drops more of the departing packets the longer they waited, at most one in ten."""

    def __init__(self, seed: int, low_s: float = 0.005, high_s: float = 0.1) -> None:
        self.low_s, self.high_s = low_s, high_s
        self.waiting: deque[tuple[int, float]] = deque()
        self.due = 0.0

    def enqueue(self, packet: int, length: int, flow: int, now_s: float, backlog: int, fits: bool) -> int:
        """Decide about an arriving packet."""
        if not fits:
            return ~packet
        self.waiting.append((packet, now_s))
        return packet

    def dequeue(self, now_s: float, backlog: int) -> int:
        """Decide about the packet that is next."""
        packet, since_s = self.waiting.popleft()
        self.due += min(max((now_s - since_s - self.low_s) / (self.high_s - self.low_s), 0), 1) * 0.1
        if self.due < 1:
            return packet
        self.due -= 1
        return ~packet


sluice.register("ramp", Ramp)
names = ["drop-tail", "fq-codel", "turns", "ramp"]
compared = sluice.sweep(scenario, over={"queue.discipline": names}, seeds=1)
delays = dict(zip(names, compared.flows["delay_s.p99"]))
print(delays)
assert delays["ramp"] < delays["drop-tail"]
times = dict(zip(names, compared.cost["cpu_s"]))
print(f"{times['ramp'] / times['drop-tail']:.1f} times drop-tail's processor time")

# ## Beside an experiment's own schemes
#
# `sluice.reproduce` runs a whole experiment, with the same results to the byte as the command `sluice reproduce`. With
# `baselines` it also runs your own controllers: each is another label among the experiment's schemes, in
# tables, charts and report. For every queue of every run Sluice calls the class or function that makes a controller,
# with a `sluice.Site`. The site has the case, the seed, the node, the queue, and the target delay of the experiment's
# own controller there. All other settings are those of the first label with a controller, or of the label in `like`
# (`like="scheme=ADTH-DF"`). `store` keeps the results in a folder, as the command's `--out` does; runs with controllers
# in Python are repeated each time.

experiment = sluice.reproduce(
    "scenarios/adth/s1b.toml",
    baselines={"Drain": lambda site: Drain(site.target_s)},
    quick=True,
    store="results/adth-s1b",
)
print(experiment)
experiment.report("results/adth-s1b/report.html")
worst = {}
for scheme, delay in zip(experiment.flows["scheme"], experiment.flows["delay_s.max"]):
    worst[scheme] = max(delay, worst.get(scheme, 0))
print(worst)
assert list(worst) == ["FIFO-DF", "ADTH-DF", "Drain"]

# ## An environment
#
# `sluice/Limit-v0` is a Gymnasium environment: one queue of a simulated network (by default the relay of ADTH's chain).
# `sluice.learn.OBSERVATION` lists an agent's observations, and `sluice.learn.FACTORS` the factors by which its actions
# multiply the limit. The reward is the share of packets that left, minus a penalty for delays beyond the target. The
# same seed gives the same episode. `make_vec` steps many environments in one call, on all processors; an environment
# whose episode ended starts a new episode at the next step.

import gymnasium
import numpy as np

from sluice import learn

envs = gymnasium.make_vec("sluice/Limit-v0", num_envs=8, scenario=learn.chain("10 s"))
seen, _ = envs.reset(seed=1)


# ## Learn
#
# The next lines learn a table of values (Q-learning) over two ratios: the largest nodal delay over the target, and the
# backlog over the limit. Learning takes seconds.


DELAY_EDGES, BACKLOG_EDGES = [0.25, 0.5, 0.8, 1.0, 1.5], [0.05, 0.5, 0.9]


def state(seen):
    """Number the state of each environment."""
    delay = np.digitize(seen[:, 2], DELAY_EDGES)
    backlog = np.digitize(seen[:, 1], BACKLOG_EDGES)
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
# As a check of the environment, the next lines compare the policy, on new seeds, with a fixed limit and with random
# actions.


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

# ## Export
#
# The controller [`learned`](../controllers/learned.md) decides from a table, without Python; `learn.table` returns the
# table as keys of `[queue]`. The next lines compare the policy at the relay with ADTH and A* with the same target, on
# other seeds.

factors = np.array(learn.FACTORS)[policy.reshape(6, 4)]
table = learn.table(DELAY_EDGES, BACKLOG_EDGES, factors, target="200 ms", interval="100 ms")
network = learn.chain("30 s")
schemes = {
    "none": {"controller": "none"},
    "learned": table,
    "adth": {"controller": "adth", "adth": {"target_delay": "200 ms"}},
    "astar": {"controller": "astar", "astar": {"ebdp": {"t_max": "200 ms"}}},
}
for scheme, relay in schemes.items():
    goodput, delay, late = [], [], []
    for seed in range(2001, 2011):
        result = network.replace({"node.n1.queue": relay}).run(seed)
        goodput.append(result.totals["totals.goodput_bps"][0])
        delay.append(result.queues["nodal_delay_s.p99"][1] * 1e3)
        late.append(result.queues["target_miss_ratio"][1])
    above = "" if scheme == "none" else f", {np.mean(late):.1%} above the target"
    print(f"{scheme}: {np.mean(goodput) / 1e6:.3f} Mb/s; 99 % of the relay's delays below", end=" ")
    print(f"{np.mean(delay):.0f} ± {np.std(delay, ddof=1):.0f} ms{above}")

# Over these ten seeds the network carries 1.80 to 1.82 Mb/s with every controller. The 99th percentile of the relay's
# delays (mean and standard deviation) is 287 ± 20 ms with the table. It is 146 ± 2 ms with ADTH, 198 ± 44 ms with A*,
# and 2423 ± 29 ms with a fixed limit of 1000 packets. The share of packets above the target is 1.8 % with the table,
# zero with ADTH, and 2.2 % with A*. A*'s target is for the time in the queue alone. The table was trained once, with
# one seed; other networks and loads were not tried.
#
# The same keys set an interface's controller, below `[interface.eth0.queue]` in the configuration of `sluice agent`, or
# with `--set` of `sluice attach`.

print(learn.toml(table))

# ## Several queues at once
#
# `learn.QueuesEnv` is a PettingZoo `ParallelEnv` with an agent for each of several nodes of one network. All agents
# decide at the same time.

several = learn.QueuesEnv(learn.chain("2 s"), nodes=["n0", "n1", "n2"])
seen, _ = several.reset(seed=1)
while several.agents:
    seen, rewards, *_ = several.step({agent: 3 for agent in several.agents})
