//! The categories of a cell together: (1) of [`super`], and the outcome of an access to the medium.

use super::residual::{NEGLIGIBLE, Others, Residual, Station};
use super::{Group, Medium, Outcome};
use crate::dcf::backoff::Backoff;

/// The iteration ends when no probability changes by more than this.
const CLOSE: f64 = 1e-11;

/// Largest number of iterations, for cells that do not converge to the last digit.
const MOST_ROUNDS: u32 = 2000;

/// A category of a group, with the distributions found so far.
struct Entity {
    group: usize,
    category: usize,
    stations: f64,
    law: Backoff,
    delay: usize,
    /// At index `t`: the probabilities that the attempt would come at boundary `t`, and after it (`H_e`).
    at: Vec<f64>,
    after: Vec<f64>,
    dropped: f64,
}

/// A cell whose stations have access categories, in the solver's form.
pub(super) struct Cell<'a> {
    groups: &'a [Group],
    medium: Medium,
    /// Categories in the order of the groups; within a group the highest priority is first.
    entities: Vec<Entity>,
    /// Number of slot boundaries considered.
    horizon: usize,
}

impl Entity {
    fn set(&mut self, shares: &[f64]) {
        self.at.iter_mut().for_each(|at| *at = 0.0);
        self.at[self.delay..self.delay + shares.len()].copy_from_slice(shares);
        let mut left = 0.0;
        for (at, after) in self.at.iter().zip(&mut self.after).rev() {
            *after = left;
            left += at;
        }
    }

    fn not_before(&self, t: usize) -> f64 {
        if t == 0 { 1.0 } else { self.after[t - 1] }
    }
}

impl<'a> Cell<'a> {
    pub(super) fn settle(groups: &'a [Group], medium: Medium) -> Self {
        let mut cell = Self::start(groups, medium);
        let (mut step, mut before) = (1.0_f64, f64::INFINITY);
        for _ in 0..MOST_ROUNDS {
            let found: Vec<_> = (0..cell.entities.len()).map(|entity| cell.residual(entity)).collect();
            let mut difference = 0.0_f64;
            for (entity, found) in cell.entities.iter_mut().zip(found) {
                let mut shares = found.shares;
                for (share, at) in shares.iter_mut().zip(&entity.at[entity.delay..]) {
                    difference = difference.max((*share - at).abs());
                    *share = at + step * (*share - at);
                }
                entity.set(&shares);
                entity.dropped = found.dropped;
            }
            if difference < CLOSE {
                break;
            }
            if difference >= before {
                step = (step / 2.0).max(1e-2);
            }
            before = difference;
            cell.limit();
        }
        cell
    }

    /// Starts with the residual back-offs of a category that has no competitors.
    fn start(groups: &'a [Group], medium: Medium) -> Self {
        let all = || groups.iter().flat_map(|group| &group.categories);
        let shortest = all().map(|of| of.aifsn).min().expect("no group was refused");
        let horizon = all().map(|of| of.aifsn - shortest + of.cw_max).max().expect("no group was refused") as usize + 1;
        let mut entities = Vec::new();
        for (group, of) in groups.iter().enumerate() {
            for (category, &of_category) in of.categories.iter().enumerate() {
                let (law, delay) = (of_category.law(), (of_category.aifsn - shortest) as usize);
                let (at, after) = (vec![0.0; horizon], vec![0.0; horizon]);
                let stations = f64::from(of.stations);
                let mut entity = Entity { group, category, stations, law, delay, at, after, dropped: 0.0 };
                let first = entity.law.windows()[0] as usize + 1;
                let widest = *entity.law.windows().iter().max().expect("there is a first window") as usize + 1;
                let mut shares = vec![1.0 / first as f64; first];
                shares.resize(widest, 0.0);
                entity.set(&shares);
                entities.push(entity);
            }
        }
        let mut cell = Self { groups, medium, entities, horizon };
        cell.limit();
        cell
    }

    /// Limits the horizon to the boundaries that the medium can reach while idle.
    fn limit(&mut self) {
        let most = self.entities[0].at.len();
        self.horizon = (0..most).find(|&t| self.idle_after(t) < NEGLIGIBLE).map_or(most, |t| t + 1);
    }

    /// Returns the probability that no station attempts up to boundary `t`.
    fn idle_after(&self, t: usize) -> f64 {
        self.entities.iter().map(|entity| libm::pow(entity.after[t], entity.stations)).product()
    }

    fn not_before(&self, t: usize) -> f64 {
        if t == 0 { 1.0 } else { self.idle_after(t - 1) }
    }

    fn residual(&self, entity: usize) -> Residual {
        let Entity { law, delay, .. } = &self.entities[entity];
        Station { law, delay: *delay }.among(&self.others(entity))
    }

    /// Returns what (1) and (3) give for one category.
    fn others(&self, of: usize) -> Others {
        let me = &self.entities[of];
        let mut others = Others { after: Vec::new(), lets_send: Vec::new(), lets_succeed: Vec::new() };
        for t in 0..self.horizon {
            let (mut after, mut send, mut succeed) = (1.0, 1.0, 1.0);
            for other in &self.entities {
                let siblings = other.group == me.group;
                let strangers = other.stations - f64::from(u8::from(siblings));
                let (not_before, later) =
                    (libm::pow(other.not_before(t), strangers), libm::pow(other.after[t], strangers));
                after *= later;
                send *= not_before;
                succeed *= later;
                if siblings && other.category != me.category {
                    let mine = if other.category < me.category { other.after[t] } else { other.not_before(t) };
                    after *= other.after[t];
                    send *= mine;
                    succeed *= mine;
                }
            }
            others.after.push(after);
            others.lets_send.push(send);
            others.lets_succeed.push(succeed);
        }
        others
    }

    pub(super) fn outcomes(&self) -> Vec<Vec<Outcome>> {
        let others: Vec<Others> = (0..self.entities.len()).map(|entity| self.others(entity)).collect();
        let access_s = self.mean_access_s(&others);
        let mut outcomes: Vec<Vec<Outcome>> = self.groups.iter().map(|_| Vec::new()).collect();
        for (entity, others) in self.entities.iter().zip(&others) {
            let per_access = |of: &dyn Fn(usize) -> f64| (0..self.horizon).map(|t| entity.at[t] * of(t)).sum::<f64>();
            let attempts = per_access(&|t| others.reached(t));
            let sent = per_access(&|t| others.lets_send[t]);
            let successes = per_access(&|t| others.lets_succeed[t]);
            let successes_per_second = entity.stations * successes / access_s;
            let payload = self.groups[entity.group].categories[entity.category].payload;
            outcomes[entity.group].push(Outcome {
                collision_probability: part_lost(sent, successes),
                internal_collision_probability: part_lost(attempts, sent),
                drop_probability: entity.dropped,
                successes_per_second,
                throughput_bps: successes_per_second * payload.bits() as f64,
            });
        }
        outcomes
    }

    /// Returns the mean time from one channel access to the next, in s. A collision lasts as long as its longest frame.
    fn mean_access_s(&self, others: &[Others]) -> f64 {
        let frame_s = |entity: &Entity| self.groups[entity.group].categories[entity.category].frame.as_secs_f64();
        let mut longest_first: Vec<usize> = (0..self.entities.len()).collect();
        longest_first.sort_by(|&a, &b| frame_s(&self.entities[b]).total_cmp(&frame_s(&self.entities[a])));
        let mut mean = self.shortest_aifs_s();
        for t in 0..self.horizon {
            mean += self.idle_after(t) * self.medium.slot.as_secs_f64();
            // For each group: the probability that a station attempts at `t` or later and sends nothing at `t` that is
            // as long as the frames taken so far.
            let mut shorter: Vec<f64> = self.groups.iter().map(|_| 1.0).collect();
            for entity in &self.entities {
                shorter[entity.group] *= entity.not_before(t);
            }
            let mut none_longer = self.not_before(t);
            for &at in &longest_first {
                let entity = &self.entities[at];
                shorter[entity.group] -= self.sends(entity, t);
                let none_as_long: f64 = shorter
                    .iter()
                    .zip(self.groups)
                    .map(|(shorter, group)| libm::pow(shorter.max(0.0), f64::from(group.stations)))
                    .product();
                mean += (none_longer - none_as_long) * frame_s(entity);
                none_longer = none_as_long;
                let successes = entity.stations * entity.at[t] * others[at].lets_succeed[t];
                mean += successes * self.groups[entity.group].categories[entity.category].answer.as_secs_f64();
            }
        }
        mean
    }

    fn shortest_aifs_s(&self) -> f64 {
        let shortest = self.groups.iter().flat_map(|group| &group.categories).map(|of| of.aifsn).min();
        (self.medium.sifs + self.medium.slot * u64::from(shortest.expect("no group was refused"))).as_secs_f64()
    }

    /// Returns the probability that no category of the station attempts before `t` and this one sends at `t`.
    fn sends(&self, me: &Entity, t: usize) -> f64 {
        let siblings = self.entities.iter().filter(|other| other.group == me.group && other.category != me.category);
        siblings.fold(me.at[t], |sends, other| {
            sends * if other.category < me.category { other.after[t] } else { other.not_before(t) }
        })
    }
}

/// Returns the lost share; zero for an impossible event.
fn part_lost(all: f64, left: f64) -> f64 {
    if all > 0.0 { (1.0 - left / all).max(0.0) } else { 0.0 }
}
