//! The slot-exact reference for access categories: a Monte Carlo that plays every station's counters to the nanosecond.
//! It shares no equation with `theory::edca`, and it judges the simulator where that model does not hold.
#![allow(dead_code, reason = "each test file takes what it needs")]

use crate::draws::Draws;
use std::collections::BTreeMap;
use theory::edca::{Category, Group, Medium};
use units::Duration;

/// Instant from which a category that has collided counts its own slots.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Colliders {
    /// As the bystanders of its category do: its AIFS after the longest frame of the collision.
    Together,
    /// The same, but no category of its station earlier than this after the end of its own frame: the time-out, and
    /// what the MAC waits after it.
    AfterTheirFrame(Duration),
}

/// What a slot in which another station begins to transmit does to a back-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BusySlots {
    /// It reduces the back-off by one: EDCA's rule (IEEE 802.11-2016, 10.22.2.4).
    Count,
    /// It does not reduce the back-off: the DCF's rule (10.3.4.3).
    DoNot,
}

/// The rules of a cell, besides the parameters of its categories.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) medium: Medium,
    pub(crate) busy_slots: BusySlots,
    pub(crate) colliders: Colliders,
    /// A station that is due no later than this after another has begun still sends (aRxTxTurnaroundTime).
    pub(crate) turnaround: Duration,
}

/// Counts of a category of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Frames sent.
    pub(crate) sent: u64,
    /// Frames sent that met no other.
    pub(crate) successes: u64,
    /// Attempts that a higher category of the same station took over.
    pub(crate) taken_over: u64,
    /// Frames given up.
    pub(crate) dropped: u64,
}

impl Counted {
    pub(crate) fn collision_probability(&self) -> f64 {
        1.0 - self.successes as f64 / self.sent as f64
    }
}

/// The counts, by group and category, and the time played, in s.
pub(crate) struct Played {
    pub(crate) counted: Vec<Vec<Counted>>,
    pub(crate) seconds: f64,
}

struct Entity {
    group: usize,
    category: usize,
    station: usize,
    of: Category,
    stage: u32,
    counter: u64,
    /// Instant at which its slots begin to count, in ns.
    resumes: u64,
    /// Until then it waits for an answer, and does not send whatever its counter says.
    waits_until: u64,
}

impl Entity {
    fn sends_at(&self, slot: u64) -> u64 {
        self.resumes + self.counter * slot
    }

    fn draw(&mut self, draws: &mut Draws) {
        let window = (0..self.stage).fold(self.of.cw_min, |cw, _| (2 * cw + 1).min(self.of.cw_max));
        self.counter = draws.slots(window);
    }

    /// Counts a failure; returns whether the frame is given up.
    fn failed(&mut self, draws: &mut Draws) -> bool {
        let given_up = self.of.attempts == Some(self.stage + 1);
        self.stage = if given_up { 0 } else { (self.stage + 1).min(16) };
        self.draw(draws);
        given_up
    }
}

/// Plays `accesses` to the medium.
pub(crate) fn play(groups: &[Group], rules: Rules, accesses: u32) -> Played {
    let mut draws = Draws(0x9E37_79B9_7F4A_7C15);
    let mut entities = entities(groups, &mut draws);
    let shortest = entities.iter().map(|entity| entity.of.aifsn).min().expect("a cell has stations");
    let slot = rules.medium.slot.as_nanos();
    let later = |entity: &Entity| u64::from(entity.of.aifsn - shortest) * slot;
    for entity in &mut entities {
        entity.resumes = later(entity);
    }
    let mut counted: Vec<Vec<Counted>> =
        groups.iter().map(|group| vec![Counted::default(); group.categories.len()]).collect();
    let mut now = 0;
    for _ in 0..accesses {
        let start = entities.iter().map(|entity| entity.sends_at(slot)).min().expect("a cell has stations");
        let seen = start + rules.turnaround.as_nanos();
        let (senders, taken_over) = due(&entities, slot, seen);
        let alone = senders.len() == 1;
        let end = |&at: &usize| entities[at].sends_at(slot) + entities[at].of.frame.as_nanos();
        let answer = if alone { entities[senders[0]].of.answer } else { Duration::ZERO };
        let last = senders.iter().map(end).max().expect("somebody sends");
        now = last + (answer + rules.medium.sifs).as_nanos() + u64::from(shortest) * slot;
        let timeouts = timeouts(&entities, &senders, (rules.colliders, slot));
        for (at, entity) in entities.iter_mut().enumerate() {
            let count = &mut counted[entity.group][entity.category];
            if senders.contains(&at) {
                count.sent += 1;
                count.successes += u64::from(alone);
                if alone {
                    entity.stage = 0;
                    entity.draw(&mut draws);
                } else {
                    count.dropped += u64::from(entity.failed(&mut draws));
                }
            } else if taken_over.contains(&at) {
                count.taken_over += 1;
                count.dropped += u64::from(entity.failed(&mut draws));
            } else if seen >= entity.resumes && entity.waits_until <= start {
                let passed = (seen - entity.resumes) / slot + u64::from(rules.busy_slots == BusySlots::Count);
                entity.counter = entity.counter.saturating_sub(passed);
            }
            entity.waits_until = timeouts.get(&entity.station).copied().unwrap_or(0);
            entity.resumes = entity.waits_until.max(now + later(entity));
        }
    }
    Played { counted, seconds: now as f64 / 1e9 }
}

/// Returns until when each station whose frame collides waits for an answer, with all its categories.
fn timeouts(entities: &[Entity], senders: &[usize], (colliders, slot): (Colliders, u64)) -> BTreeMap<usize, u64> {
    match (colliders, senders) {
        (Colliders::AfterTheirFrame(wait), [_, _, ..]) => {
            let until = |of: &Entity| of.sends_at(slot) + (of.of.frame + wait).as_nanos();
            senders.iter().map(|&at| (entities[at].station, until(&entities[at]))).collect()
        }
        _ => BTreeMap::new(),
    }
}

/// Returns the senders, if all that are due by `seen` begin and know it when the first does, and the other categories
/// of these stations due at the same moments. Entities are in the order of stations and, within one, of priority.
fn due(entities: &[Entity], slot: u64, seen: u64) -> (Vec<usize>, Vec<usize>) {
    let (mut senders, mut taken_over): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let start = entities.iter().map(|entity| entity.sends_at(slot)).min().unwrap_or(seen);
    let is_due = |entity: &Entity| entity.sends_at(slot) <= seen && entity.waits_until <= start;
    for at in (0..entities.len()).filter(|&at| is_due(&entities[at])) {
        match senders.last_mut() {
            Some(first) if entities[*first].station == entities[at].station => {
                // The same station's categories count from one moment, or one of them from its time-out.
                let (before, now) = (entities[*first].sends_at(slot), entities[at].sends_at(slot));
                if now < before {
                    *first = at;
                } else if now == before {
                    taken_over.push(at);
                }
            }
            _ => senders.push(at),
        }
    }
    (senders, taken_over)
}

fn entities(groups: &[Group], draws: &mut Draws) -> Vec<Entity> {
    let mut entities = Vec::new();
    let mut station = 0;
    for (group, of) in groups.iter().enumerate() {
        for _ in 0..of.stations {
            for (category, &of) in of.categories.iter().enumerate() {
                let mut entity =
                    Entity { group, category, station, of, stage: 0, counter: 0, resumes: 0, waits_until: 0 };
                entity.draw(draws);
                entities.push(entity);
            }
            station += 1;
        }
    }
    entities
}
