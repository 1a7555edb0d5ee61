"""Environments for learning: an agent sees the measurements of a controller, and changes the limit of a queue.

Importing this module registers ``sluice/Limit-v0`` with Gymnasium. Every environment is a whole simulated network that
runs from decision to decision; the same seed gives the same episode everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from . import _sluice
from ._errors import ScenarioError, SluiceError
from ._scenario import Scenario, setting
from ._values import checked_seed, listed, whole

__all__ = ["FACTORS", "OBSERVATION", "LimitEnv", "LimitVectorEnv", "QueuesEnv", "chain", "table", "toml"]

#: Factors of actions on the limit. The limit changes by at least one packet, except with the factor 1.
FACTORS: list[float] = _sluice.FACTORS
#: What an agent sees of an interval: the limit as a share of the largest on a logarithmic scale, the backlog over the
#: limit, the largest nodal delay, the mean time in the queue and the mean service time over the target (10 at most),
#: and the share of packets dropped.
OBSERVATION = ["limit", "backlog", "nodal_delay_max", "sojourn_mean", "service_mean", "dropped"]
HIGH = np.array([1.0, 1.0, 10.0, 10.0, 10.0, 1.0], dtype=np.float32)
Observations = np.ndarray[Any, np.dtype[np.float32]]


def chain(duration: str = "20 s", rate: str = "1.8 Mb/s") -> Scenario:
    """Build ADTH's chain of three nodes, with load in both directions through the relay n1."""
    flow = {"traffic": {"kind": "cbr", "rate": rate, "packet": "1000 B"}, "deadline": "400 ms"}
    return Scenario(
        {
            "title": "ADTH's chain",
            "duration": duration,
            "radio": {
                "standard": "802.11b",
                "data_rate": "11 Mb/s",
                "basic_rate": "1 Mb/s",
                "preamble": "long",
                "range": "30 m",
                "carrier_sense_range": "60 m",
            },
            "nodes": {"count": 3, "placement": "chain", "spacing": "30 m"},
            "queue": {"discipline": "drop-head", "limit": 1000},
            "flow": [
                {"name": "forward", "from": "n0", "to": "n2", **flow},
                {"name": "backward", "from": "n2", "to": "n0", **flow},
            ],
        }
    )


def table(
    delay_edges: Sequence[float],
    backlog_edges: Sequence[float],
    factors: Any,
    *,
    target: str = "200 ms",
    interval: str = "100 ms",
    delay: str = "nodal_delay_max",
) -> dict[str, Any]:
    """Export a trained policy as a table: the keys of a queue whose controller ``learned`` decides without Python.

    The values of an interval fall into bins as ``numpy.digitize`` has it.

    Parameters
    ----------
    delay_edges
        Edges between bins of the delay divided by the target, ascending, at most 7.
    backlog_edges
        Edges between bins of the backlog divided by the limit, ascending, at most 7.
    factors
        Factors on the limit: a row for each bin of the delay, with a factor for each bin of the backlog.
    target, interval
        Text with a unit: the agent's ``target_s`` and ``interval_s``.
    delay
        Which delay of `OBSERVATION` the agent saw: ``nodal_delay_max``, or ``sojourn_mean``, which live interfaces know
        without Sluice's own discipline too.

    Raises
    ------
    ScenarioError
        If this is no table that the controller can use.
    """
    learned = {
        "target_delay": target,
        "interval": interval,
        "delay": delay,
        "delay_edges": [float(edge) for edge in delay_edges],
        "backlog_edges": [float(edge) for edge in backlog_edges],
        "factors": [[float(factor) for factor in row] for row in factors],
    }
    queue = {"controller": "learned", "learned": learned}
    # The scenario's own code checks whether the value can be used.
    chain().replace({"node.n1.queue": queue})
    return queue


def toml(queue: Mapping[str, Any]) -> str:
    """Write the result of `table` as lines of TOML.

    They stand below ``[queue]`` of a scenario as below ``[interface.eth0.queue]`` of the file of ``sluice agent``; each
    of them is what ``sluice attach --set`` takes.
    """
    keys = {f"learned.{key}": value for key, value in queue["learned"].items()}
    lines = (setting(key, value) for key, value in {"controller": queue["controller"], **keys}.items())
    return "".join(f"{line}\n" for line in lines)


class _Fleet:
    """Networks that are stepped together, with numpy's arrays."""

    def __init__(
        self,
        scenario: Scenario | None,
        queues: Sequence[str],
        interval_s: float,
        target_s: float,
        penalty: float,
        limit: int,
        count: int,
    ) -> None:
        limit, count = whole("limit", limit, 1, 2**32 - 1), whole("num_envs", count, 1)
        network = (chain() if scenario is None else scenario).replace({"queue.limit": limit})
        for queue in queues:
            network = _without_controller(network, str(queue))
        self._made = (network, [str(queue) for queue in queues], float(interval_s), float(target_s), float(penalty))
        self._limit = limit
        self.count = count
        self.queues = len(queues)
        self._begun = False
        self._make()

    def _make(self) -> None:
        network, queues, interval_s, target_s, penalty = self._made
        try:
            self._inner = _sluice.Fleet(network._inner, queues, interval_s, target_s, penalty, self._limit, self.count)
        except ValueError as error:
            raise SluiceError(str(error)) from error

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the networks, and what their states follow from."""
        return {**self.__dict__, "_inner": self._inner.states()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Run the episodes again up to where they were."""
        self.__dict__.update(state)
        self._make()
        self._inner.restore(state["_inner"])

    def reset(self, seeds: Sequence[int]) -> Observations:
        self._begun = True
        return self._seen(self._inner.reset([checked_seed(seed) for seed in seeds]))

    def step(self, actions: Any) -> tuple[Observations, np.ndarray[Any, np.dtype[np.float64]], list[bool]]:
        chosen = np.asarray(actions)
        whole_numbers = np.issubdtype(chosen.dtype, np.integer) and chosen.size == self.count * self.queues
        if not whole_numbers or chosen.min() < 0 or chosen.max() >= len(FACTORS):
            expected = f"expected {self.count * self.queues} actions from 0 to {len(FACTORS) - 1}, whole numbers"
            raise SluiceError(f"{expected}, and not {actions!r}")
        if not self._begun:
            raise SluiceError("no episode has begun: call `reset` first")
        seen, rewards, ended = self._inner.step(chosen.astype(np.uint8).tobytes())
        return self._seen(seen), np.frombuffer(rewards).reshape(self.count, self.queues), ended

    def limits(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array(self._inner.limits()).reshape(self.count, self.queues)

    def _seen(self, content: bytes) -> Observations:
        return np.frombuffer(content, dtype=np.float32).reshape(self.count, self.queues, _sluice.SEEN).copy()


def _without_controller(network: Scenario, queue: str) -> Scenario:
    """Remove the controller of the node with which a queue's name begins."""
    words = queue.split(" ")
    refusals = []
    for count in range(len(words), 0, -1):
        try:
            return network.replace({f"node.{' '.join(words[:count])}.queue.controller": "none"})
        except ScenarioError as error:
            refusals.append(error)
    raise refusals[-1]


def _box() -> Any:
    return spaces.Box(np.zeros_like(HIGH), HIGH, dtype=np.float32)


class LimitEnv(gymnasium.Env[Observations, int]):
    """One queue of a network: the agent sees the measurements of a controller, and orders a factor on the limit.

    An episode is a run of the scenario; it is truncated at its end and never terminates. The reward of an interval is
    the share of the arrived packets that left, less `penalty` for each target by which the largest nodal delay was
    beyond the target (one at most).

    Parameters
    ----------
    scenario
        The network. Default: ADTH's chain, see `chain`.
    node
        The queue that the agent governs, named as for `Scenario.run`: a node, or a node and one of its queues (``"ap
        be"``). Its controller, if any, is removed.
    interval_s
        Time between two decisions, in seconds; at least 100 us.
    target_s
        Target of the nodal delay, on which rewards depend, in seconds.
    penalty
        Cost of a nodal delay of twice the target.
    limit
        Limit at the beginning of an episode, and largest limit, in packets.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | None = None,
        node: str = "n1",
        interval_s: float = 0.1,
        target_s: float = 0.2,
        penalty: float = 1.0,
        limit: int = 1000,
        render_mode: str | None = None,
    ) -> None:
        self.observation_space = _box()
        self.action_space = spaces.Discrete(len(FACTORS))  # type: ignore[assignment]
        self.render_mode = render_mode
        self._ended = False
        self._fleet = _Fleet(scenario, [node], interval_s, target_s, penalty, limit, 1)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin an episode; without a seed the next of the ones that followed from the last seed."""
        seed = None if seed is None else checked_seed(seed)
        super().reset(seed=seed)
        number = int(self.np_random.integers(2**62)) if seed is None else seed
        self._ended = False
        return self._fleet.reset([number])[0, 0], self._info()

    def step(self, action: int) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        """Multiply the limit by ``FACTORS[action]`` and run on to the next decision."""
        if self._ended:
            raise SluiceError("the episode has ended: call `reset`")
        seen, rewards, [self._ended] = self._fleet.step([action])
        return seen[0, 0], float(rewards[0, 0]), False, self._ended, self._info()

    def _info(self) -> dict[str, Any]:
        return {"limit_packets": float(self._fleet.limits()[0, 0])}


class LimitVectorEnv(gymnasium.vector.VectorEnv[Observations, Any, Any]):
    """Several `LimitEnv` that are stepped in one call on all processors, with the interpreter released.

    An environment whose episode ended begins anew at the next step (``AutoresetMode.NEXT_STEP``): its action is ignored
    and its reward zero.

    Parameters
    ----------
    num_envs
        Number of environments.
    **settings
        As of `LimitEnv`.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        scenario: Scenario | None = None,
        node: str = "n1",
        interval_s: float = 0.1,
        target_s: float = 0.2,
        penalty: float = 1.0,
        limit: int = 1000,
        render_mode: str | None = None,
    ) -> None:
        self.num_envs = whole("num_envs", num_envs, 1)
        self.render_mode = render_mode
        self.single_observation_space = _box()
        self.single_action_space = spaces.Discrete(len(FACTORS))
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, self.num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, self.num_envs)
        self._fleet = _Fleet(scenario, [node], interval_s, target_s, penalty, limit, self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin an episode in every environment; from one seed follow ``seed``, ``seed + 1``, ..."""
        seeds: list[int | None] = [None] * self.num_envs
        first = None
        given = listed(seed)
        if given is not None:
            seeds = given
        elif seed is not None:
            first = checked_seed(seed)
            seeds = [first + number for number in range(self.num_envs)]
        super().reset(seed=first)
        numbers = [int(self.np_random.integers(2**62)) if one is None else one for one in seeds]
        return self._fleet.reset(numbers)[:, 0], self._info()

    def step(self, actions: Any) -> tuple[Observations, Any, Any, Any, dict[str, Any]]:
        """Decide in every environment, and run on to the next decisions."""
        seen, rewards, ended = self._fleet.step(actions)
        never = np.zeros(self.num_envs, dtype=np.bool_)
        return seen[:, 0], rewards[:, 0].copy(), never, np.array(ended, dtype=np.bool_), self._info()

    def _info(self) -> dict[str, Any]:
        known = np.ones(self.num_envs, dtype=np.bool_)
        return {"limit_packets": self._fleet.limits()[:, 0], "_limit_packets": known}


class QueuesEnv(pettingzoo.ParallelEnv[str, Observations, int]):  # type: ignore[misc]
    """Several queues of one network, with an agent for each: a PettingZoo `ParallelEnv`.

    Agents are named after their queues, decide at the same moments, and each sees and is rewarded for its own queue.

    Parameters
    ----------
    scenario
        The network. Default: ADTH's chain, see `chain`.
    nodes
        The queues that the agents govern, each named as for `LimitEnv`.
    interval_s, target_s, penalty, limit
        As of `LimitEnv`.
    """

    metadata: dict[str, Any] = {"name": "sluice_queues_v0", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | None = None,
        nodes: Sequence[str] = ("n0", "n1", "n2"),
        interval_s: float = 0.1,
        target_s: float = 0.2,
        penalty: float = 1.0,
        limit: int = 1000,
    ) -> None:
        self.possible_agents = list(nodes)
        self.agents: list[str] = []
        self.render_mode = None
        self._observation_space = {agent: _box() for agent in nodes}
        self._action_space = {agent: spaces.Discrete(len(FACTORS)) for agent in nodes}
        self._fleet = _Fleet(scenario, nodes, interval_s, target_s, penalty, limit, 1)
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> Any:
        """Return the space of what an agent sees."""
        return self._observation_space[agent]

    def action_space(self, agent: str) -> spaces.Discrete[Any]:
        """Return the space of what an agent may do."""
        return self._action_space[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observations], dict[str, dict[str, Any]]]:
        """Begin an episode."""
        if seed is not None:
            seed = checked_seed(seed)
            self._random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        seen = self._fleet.reset([int(self._random.integers(2**62)) if seed is None else seed])
        return dict(zip(self.agents, seen[0], strict=True)), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Observations], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Decide for every agent, and run on to the next decisions. After the end there are no agents to decide for."""
        if set(actions) != set(self.agents):
            raise SluiceError(f"expected actions of {', '.join(self.agents) or 'no agent'}, not of {list(actions)}")
        if not actions:
            return {}, {}, {}, {}, {}
        seen, rewards, ended = self._fleet.step([actions[agent] for agent in self.possible_agents])
        agents = list(self.agents)
        if ended[0]:
            self.agents = []
        return (
            dict(zip(agents, seen[0], strict=True)),
            {agent: float(reward) for agent, reward in zip(agents, rewards[0], strict=True)},
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, ended[0]),
            {agent: {} for agent in agents},
        )


gymnasium.register(
    id="sluice/Limit-v0", entry_point="sluice.learn:LimitEnv", vector_entry_point="sluice.learn:LimitVectorEnv"
)
