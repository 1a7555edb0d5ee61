//! Networks that are stepped together from decision to decision, as environments for reinforcement learning.

use crate::error::failed;
use crate::run::parallel;
use crate::scenario::Scenario;
use crate::steer::{orders, period, place};
use control::{Interval, Period, mix};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use sim::config::Network;
use sim::{Asked, Place, World};

/// Number of values that an agent observes.
pub(crate) const SEEN: usize = 6;
/// Factors by which actions multiply the limit.
pub(crate) const FACTORS: [f64; 7] = [0.5, 0.8, 0.95, 1.0, 1.05, 1.25, 2.0];
/// Longest time that an agent can distinguish, in targets.
const FAR: f64 = 10.0;

/// Several networks with one description, each with its own seed. In each network one agent decides for each of some
/// queues, all at the same moments.
#[pyclass(module = "sluice._sluice")]
pub(crate) struct Fleet {
    settings: Settings,
    members: Vec<Member>,
}

struct Settings {
    network: Network,
    /// Names of the queues for which agents decide.
    queues: Vec<String>,
    interval: Period,
    target_s: f64,
    penalty: f64,
    most: f64,
}

/// One network.
struct Member {
    world: Option<World>,
    agents: Vec<Agent>,
    /// Seed of the network's first episode; later seeds follow from it.
    seed: u64,
    episode: u64,
    ended: bool,
    /// All actions in this episode; together with the seed they determine the network's state.
    taken: Vec<u8>,
}

/// What determines a network's state: the seed, the number of the episode, and the actions in it.
type State = (u64, u64, Vec<u8>);

/// An agent that decides for one queue.
#[derive(Clone)]
struct Agent {
    queue: Place,
    asked: Option<Asked>,
    limit: f64,
    seen: [f32; SEEN],
    reward: f64,
}

#[pymethods]
impl Fleet {
    /// Builds the networks. `target_s` is the nodal delay at which the reward aims; `penalty` is the cost if the delay
    /// is one target longer.
    #[new]
    fn new(
        scenario: &Bound<'_, Scenario>,
        queues: Vec<String>,
        interval_s: f64,
        target_s: f64,
        penalty: f64,
        most: u32,
        count: usize,
    ) -> PyResult<Self> {
        if queues.is_empty() || count == 0 || !(target_s > 0.0 && target_s.is_finite() && penalty.is_finite()) {
            return Err(PyValueError::new_err(
                "expected queues, a number of networks, a target above 0 s and a penalty",
            ));
        }
        let network = scenario.get().ready.base.clone();
        let interval = period(interval_s)?;
        let settings = Settings { network, queues, interval, target_s, penalty, most: f64::from(most.max(1)) };
        let member = || Member { world: None, agents: Vec::new(), seed: 0, episode: 0, ended: true, taken: Vec::new() };
        Ok(Self { settings, members: (0..count).map(|_| member()).collect() })
    }

    /// Starts new episodes with these seeds and returns what the agents observe, as 32-bit floats.
    fn reset(&mut self, py: Python<'_>, seeds: Vec<u64>) -> PyResult<Vec<u8>> {
        let Self { settings, members } = self;
        if seeds.len() != members.len() {
            return Err(PyValueError::new_err(format!("expected {} seeds", members.len())));
        }
        let begun: Result<(), String> = parallel(py, || {
            members.par_iter_mut().zip(seeds).try_for_each(|(member, seed)| {
                (member.seed, member.episode) = (seed, 0);
                member.begin(settings)
            })
        });
        begun.map_err(|error| failed(py, &error))?;
        Ok(self.seen())
    }

    /// Applies each agent's decision, the index of its chosen factor. Returns what the agents observe, their rewards as
    /// 64-bit floats, and whether each network has ended. A network that had ended starts anew: its action is ignored,
    /// and its reward is zero.
    fn step(&mut self, py: Python<'_>, actions: &[u8]) -> PyResult<(Vec<u8>, Vec<u8>, Vec<bool>)> {
        let Self { settings, members } = self;
        let agents = settings.queues.len();
        if actions.len() != members.len() * agents || actions.iter().any(|&action| usize::from(action) >= FACTORS.len())
        {
            let (count, most) = (members.len() * agents, FACTORS.len() - 1);
            return Err(PyValueError::new_err(format!("expected {count} actions from 0 to {most}")));
        }
        let stepped: Result<(), String> = parallel(py, || {
            members.par_iter_mut().zip(actions.par_chunks(agents)).try_for_each(|(member, actions)| {
                if member.ended {
                    member.episode += 1;
                    return member.begin(settings);
                }
                member.step(settings, actions)
            })
        });
        stepped.map_err(|error| failed(py, &error))?;
        let rewards = self.members.iter().flat_map(|member| &member.agents);
        let rewards = rewards.flat_map(|agent| agent.reward.to_ne_bytes()).collect();
        Ok((self.seen(), rewards, self.members.iter().map(|member| member.ended).collect()))
    }

    /// Returns the state of each network; `None` if it has not started.
    fn states(&self) -> Vec<Option<State>> {
        let state =
            |member: &Member| member.world.as_ref().map(|_| (member.seed, member.episode, member.taken.clone()));
        self.members.iter().map(state).collect()
    }

    /// Brings each network to a state by repeating its episode.
    fn restore(&mut self, py: Python<'_>, states: Vec<Option<State>>) -> PyResult<()> {
        let Self { settings, members } = self;
        if states.len() != members.len() {
            return Err(PyValueError::new_err(format!("expected {} states", members.len())));
        }
        let again = |(member, state): (&mut Member, Option<State>)| {
            let Some((seed, episode, taken)) = state else { return Ok(()) };
            (member.seed, member.episode) = (seed, episode);
            member.begin(settings)?;
            taken.chunks(settings.queues.len()).try_for_each(|actions| member.step(settings, actions))
        };
        let restored: Result<(), String> = parallel(py, || members.par_iter_mut().zip(states).try_for_each(again));
        restored.map_err(|error| failed(py, &error))
    }

    /// Returns the present limit in packets of each agent in each network.
    fn limits(&self) -> Vec<f64> {
        self.members.iter().flat_map(|member| &member.agents).map(|agent| agent.limit).collect()
    }
}

impl Fleet {
    fn seen(&self) -> Vec<u8> {
        let agents = self.members.iter().flat_map(|member| &member.agents);
        agents.flat_map(|agent| agent.seen).flat_map(f32::to_ne_bytes).collect()
    }
}

impl Member {
    /// Builds the network and runs it to the first decision.
    fn begin(&mut self, settings: &Settings) -> Result<(), String> {
        let seed = if self.episode == 0 { self.seed } else { mix(self.seed ^ mix(self.episode)) };
        let mut world = World::new(&settings.network, seed).map_err(|error| error.to_string())?;
        self.agents.clear();
        self.taken.clear();
        for name in &settings.queues {
            let queue = place(&world, name)?;
            world.steer(queue, settings.interval).map_err(|error| error.to_string())?;
            self.agents.push(Agent { queue, asked: None, limit: settings.most, seen: [0.0; SEEN], reward: 0.0 });
        }
        self.world = Some(world);
        self.ended = false;
        self.advance(settings)?;
        for agent in &mut self.agents {
            agent.reward = 0.0;
        }
        Ok(())
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "limits are whole, from one to `most`")]
    fn step(&mut self, settings: &Settings, actions: &[u8]) -> Result<(), String> {
        let Some(world) = &mut self.world else { return Ok(()) };
        self.taken.extend_from_slice(actions);
        for (agent, &action) in self.agents.iter_mut().zip(actions) {
            agent.limit = next_limit(agent.limit, action, settings.most);
            // An interval that the end of the run cuts off has no reward.
            agent.reward = 0.0;
            if let Some(asked) = agent.asked.take() {
                world.order(&asked, &orders(agent.limit as u32, None));
            }
        }
        self.advance(settings)
    }

    /// Runs until every agent must decide, or until the run ends.
    fn advance(&mut self, settings: &Settings) -> Result<(), String> {
        let Some(world) = &mut self.world else { return Ok(()) };
        while !world.finished() && self.agents.iter().any(|agent| agent.asked.is_none()) {
            world.advance_a_little();
            while let Some(asked) = world.asked() {
                if let Some(agent) = self.agents.iter_mut().find(|agent| agent.queue == asked.place) {
                    agent.seen = sight(&asked.seen, agent.limit, settings);
                    agent.reward = reward(&asked.seen, settings);
                    agent.asked = Some(asked);
                }
            }
        }
        self.ended = world.finished();
        sim::sound(world).map_err(|why| why.to_string())
    }
}

/// Returns the limit after an action, in whole packets. A factor changes the limit by at least one packet.
fn next_limit(limit: f64, action: u8, most: f64) -> f64 {
    let factor = FACTORS[usize::from(action)];
    let next = match factor {
        factor if factor > 1.0 => (limit * factor).ceil(),
        _ => (limit * factor).floor(),
    };
    next.clamp(1.0, most)
}

/// Returns what an agent observes: the limit (logarithmic), the backlog divided by it, the largest nodal delay, the
/// mean time in the queue, the mean service time, and the dropped share. Times are divided by the target.
#[expect(clippy::cast_possible_truncation, reason = "agents see 32 bits")]
fn sight(seen: &Interval, limit: f64, settings: &Settings) -> [f32; SEEN] {
    let over_target = |time: units::Duration| (time.as_secs_f64() / settings.target_s).min(FAR);
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) };
    let values = [
        (1.0 + limit).log2() / (1.0 + settings.most).log2(),
        (seen.backlog.packets as f64 / limit).min(1.0),
        over_target(seen.nodal.max),
        over_target(seen.sojourn.mean),
        over_target(seen.service.mean),
        share(seen.dropped.packets, seen.arrived.packets),
    ];
    values.map(|value| value as f32)
}

/// Returns the share of arrived packets that left, minus the penalty times the excess of the largest nodal delay over
/// the target. The excess is in targets, at most one.
fn reward(seen: &Interval, settings: &Settings) -> f64 {
    let arrived = seen.arrived.packets.max(1) as f64;
    let beyond = (seen.nodal.max.as_secs_f64() / settings.target_s - 1.0).clamp(0.0, 1.0);
    (seen.sent.packets as f64 / arrived).min(1.0) - settings.penalty * beyond
}
