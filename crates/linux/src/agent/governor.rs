//! One queue of the agent, from the attempt to attach to its release; it waits while its interface is absent.

use crate::agent::Host;
use crate::agent::links::Links;
use crate::agent::needs::{self, classes, estimated, interval, look_every, radio, suits};
use crate::agent::pace::{Pace, WORTH};
use crate::agent::real_time::{LATE, RealTime};
use crate::agent::wakes::on_grid;
use crate::device::attach::{Attached, attach};
use crate::device::contract::{Device, Keeps, Own};
use crate::device::looks::Looks;
use crate::device::radio::Radiometer;
use crate::device::wish::{Start, Wish, shown_place};
use crate::error::Error;
use crate::notes::port::Port as Notes;
use crate::telemetry::Decision;
use crate::telemetry::events::{AgentEvent, AgentEventKind, clock};
use crate::telemetry::status::{State, Status};
use control::{AnyController, Controller as _, Idling, Interval, Limit, Orders, Reads, Seen, Sets};
use units::{Duration, Instant, Rate};

/// Time over which a limit is judged to leave the link idle.
const JUDGED: Duration = Duration::from_secs(10);
/// Time until the next attempt after a failure, unless the interface was absent.
const NEXT_ATTEMPT: Duration = Duration::from_secs(10);

/// Governs one queue for as long as the agent runs, also while its interface is absent.
pub(super) struct Governor {
    pub(super) wish: Wish,
    /// Seed of the controller's random draws.
    seed: u64,
    controller: AnyController,
    /// The controller of real-time packets; `None` if they have no controller of their own.
    real_time: Option<RealTime>,
    pub(super) status: Status,
    phase: Phase,
    pace: Pace,
    began: Instant,
}

enum Phase {
    /// Waits for the interface, and after a failed attempt also until an instant.
    Waiting {
        until: Instant,
    },
    Governing(Box<Governing>),
    /// Leaves the queue alone as long as the interface has this number.
    Ended {
        index: u32,
    },
}

struct Governing {
    device: Box<dyn Device>,
    /// Readings of the radio; `None` if the controller does not read it.
    radio: Option<Box<Radiometer>>,
    index: u32,
    /// Orders that the device carries out at present.
    orders: Orders,
    interval: Duration,
    /// Time between two readings; `None` if the device needs no reading.
    every: Option<Duration>,
    next_interval: Instant,
    next_look: Instant,
    /// True if the machine slept during the present interval.
    slept: bool,
    /// Judges whether the controller leaves the link idle; `None` after the finding, and without a controller.
    idling: Option<Idling>,
}

/// What one call of [`Governor::work`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// The queue was read; clients see no difference.
    Look,
    Something,
    /// The host wants the agent to end.
    Enough,
}

/// What a governor gets from the loop: the host, the present instant, and shared readings.
pub(super) struct Round<'a> {
    pub(super) host: &'a mut dyn Host,
    pub(super) links: &'a Links,
    pub(super) looks: &'a Looks,
    /// Notes of this node's queues; `None` if no queue exchanges notes.
    pub(super) notes: Option<&'a mut Notes>,
    pub(super) now: Instant,
}

impl Governor {
    /// Makes a waiting governor. With notes its controller draws from `seed`, unique to the node; else from zero.
    pub(super) fn new(wish: Wish, seed: u64, now: Instant) -> Result<Self, Error> {
        let seed = if wish.notes { seed } else { 0 };
        let controller = controller(&wish, seed)?;
        let place = shown_place(wish.place.parent);
        let mut status = Status::new(&wish.place.device, place, &controller, wish.settings.limit);
        let real_time = RealTime::new(&wish, &controller, now)?;
        status.controller = names(&controller, real_time.as_ref());
        let phase = Phase::Waiting { until: now };
        Ok(Self { wish, seed, controller, real_time, status, phase, pace: Pace::new(), began: now })
    }

    pub(super) fn next(&self) -> Instant {
        match &self.phase {
            Phase::Waiting { until } => *until,
            Phase::Governing(governing) => {
                let look = governing.every.map_or(Instant::NEVER, |_| governing.next_look);
                let real_time = self.real_time.as_ref().map_or(Instant::NEVER, RealTime::next);
                governing.next_interval.min(look).min(real_time)
            }
            Phase::Ended { .. } => Instant::NEVER,
        }
    }

    /// Returns the rate that this queue can still admit, if a controller reports it.
    pub(super) fn available(&self) -> Option<Rate> {
        let real_time = self.real_time.as_ref().and_then(RealTime::available);
        real_time.or(self.controller.available()).filter(|_| self.is_governing())
    }

    pub(super) fn is_governing(&self) -> bool {
        self.governed_index().is_some()
    }

    /// Returns the privileges that the governed queue needs; none if no queue is governed.
    pub(super) fn keeps(&self) -> Keeps {
        match &self.phase {
            Phase::Governing(governing) => governing.device.keeps(),
            _ => Keeps::Nothing,
        }
    }

    /// Attaches to the queue if its interface exists. This may take some milliseconds.
    pub(super) fn take_up(&mut self, round: &mut Round) -> Result<(), Error> {
        let device = &self.wish.place.device;
        let Some(link) = round.links.named(device).cloned() else {
            self.wait(Instant::NEVER, format!("no interface {device}"), round);
            return Ok(());
        };
        // A new controller begins: what the old one learnt was about another queue.
        self.controller = controller(&self.wish, self.seed)?;
        self.real_time = RealTime::new(&self.wish, &self.controller, round.now)?;
        self.pace = Pace::new();
        let start = start(&self.wish, &self.controller, round.now);
        let Attached { device, remarks: of_device } = attach(&self.wish, &start, round.looks)?;
        let radio = radio(&self.controller, link.index)?;
        suits(&self.controller, device.as_ref(), radio.as_deref())?;
        self.real_time.as_ref().map_or(Ok(()), |real_time| real_time.suits(device.as_ref()))?;
        let again = u64::from(self.status.last.is_some());
        self.status.totals.restarts = self.status.totals.restarts.saturating_add(again);
        self.status.held_by(&device.capabilities());
        self.status.state = if self.wish.dry_run { State::DryRun } else { State::Governing };
        let own = device.own();
        let orders = own.map_or(start.orders, |own| own.limit.into());
        (self.status.limit, self.status.rate) = (orders.limit, orders.rate);
        self.status.target_delay = own.map_or(self.controller.target_delay(), |own| Some(own.target_delay));
        // With a law of its own, the device counts the packets that the link carries.
        let rough = rough(&self.wish, link.gso_max_segs).filter(|_| own.is_none());
        let of_queue = rough.into_iter().chain(blind(&self.controller));
        let remarks: Vec<String> =
            of_device.into_iter().chain(of_queue).chain(estimated(&self.controller, device.as_ref())).collect();
        round.host.attached(device.as_ref(), &self.controller, &remarks);
        let words = [format!("{}, governed by {}", self.status.kind, self.status.controller)];
        let words = words.into_iter().chain(remarks).collect::<Vec<_>>().join("; ");
        self.tell(AgentEventKind::Attached, words, round.host);
        let every = device.capabilities().look_every;
        let (interval, looks) = paces(&self.controller, own, &start);
        let (next_interval, next_look) = first(round.now, interval, looks);
        self.phase = Phase::Governing(Box::new(Governing {
            device,
            radio,
            index: link.index,
            orders,
            interval,
            every,
            next_interval,
            next_look,
            slept: false,
            idling: own.is_none().then(Idling::default),
        }));
        Ok(())
    }

    /// Handles what is due at the governed queue.
    pub(super) fn work(&mut self, round: &mut Round) -> Result<Done, Error> {
        let Phase::Governing(governing) = &mut self.phase else { return Ok(Done::Look) };
        let now = round.now;
        if let Some(real_time) = &mut self.real_time
            && let Some(mark) = real_time.work(governing.device.as_mut(), now)?
            && mark != governing.orders.mark
        {
            governing.orders.mark = mark;
            governing.device.apply(&governing.orders)?;
        }
        if now < governing.next_interval {
            governing.next_look = on_grid(now, governing.every.unwrap_or(governing.interval));
            return governing.device.look(now).map(|()| Done::Look);
        }
        let late = now.since(governing.next_interval);
        governing.next_interval += governing.interval;
        if governing.next_interval <= now {
            governing.next_interval = now + governing.interval;
        }
        governing.next_look = on_grid(now, governing.every.unwrap_or(governing.interval));
        let seen = governing.device.take_interval(now)?;
        let beside = governing.device.beside();
        let told = governing.radio.as_mut().map(|radio| radio.take()).transpose()?;
        let looks_at_radio = self.controller.needs().reads.any_of(Reads::RADIO);
        let radio = looks_at_radio.then(|| beside.radio(told));
        if std::mem::take(&mut governing.slept) || late > governing.interval.max(LATE) {
            self.status.pass_over(&seen, &beside);
            let words = format!("skipped an interval of {}: the agent did not run during all of it", seen.length);
            self.tell(AgentEventKind::Resumed, words, round.host);
            return Ok(Done::Something);
        }
        let starving = if self.wish.dry_run { None } else { judge(&mut governing.idling, &governing.orders, &seen) };
        let learnt = self.pace.learn(&seen, self.wish.settings.limit);
        let begin_from = learnt.filter(|limit| self.controller.begin_from(*limit));
        let notes = round.notes.as_mut().filter(|_| self.wish.notes);
        let heard = notes.map_or(&[][..], |notes| notes.heard(now, governing.index));
        let all = Seen { queue: seen, radio, heard };
        let ordered = match governing.device.own() {
            Some(own) => {
                if own.every != governing.interval {
                    governing.interval = own.every;
                    governing.every = governing.device.capabilities().look_every;
                    (governing.next_interval, governing.next_look) = first(now, own.every, own.every);
                }
                own.limit.into()
            }
            None => self.controller.update(&all),
        };
        // The agent sends notes, not the device; and the real-time controller may decide marks.
        let mark = if self.real_time.is_some() { governing.orders.mark } else { ordered.mark };
        let orders = Orders { note: None, mark, ..ordered };
        let decision = Decision { seed: self.seed, ..Decision::new(now.since(self.began), &all, &ordered) };
        if let (Some(notes), Some(note)) = (&mut round.notes, &ordered.note) {
            notes.order(now, governing.index, note);
        }
        if orders != governing.orders {
            governing.device.apply(&orders)?;
            governing.orders = orders;
        }
        self.status.advance(decision.at, &seen, &beside, &orders);
        if let Some(limit) = begin_from {
            let name = &self.status.controller;
            self.tell(
                AgentEventKind::Measured,
                format!("{name} starts with a limit of {limit}, which the link sends in {WORTH}"),
                round.host,
            );
        }
        if let Some(words) = starving {
            self.tell(AgentEventKind::Starving, format!("{} {words}", self.status.controller), round.host);
        }
        let decision = Decision { begin_from, ..decision };

        let told = round.host.decided(&self.status, &decision);
        Ok(if told.is_break() { Done::Enough } else { Done::Something })
    }

    /// Records that the machine has slept, so that the controller does not see the present interval.
    pub(super) fn has_slept(&mut self) {
        if let Phase::Governing(governing) = &mut self.phase {
            governing.slept = true;
        }
    }

    /// Handles changes of interfaces. The error says why the queue is lost.
    pub(super) fn follow(&mut self, round: &mut Round) -> Result<(), Error> {
        let name = &self.wish.place.device;
        let named = round.links.named(name).map(|link| link.index);
        match &self.phase {
            Phase::Governing(governing) if named != Some(governing.index) => {
                match round.links.numbered(governing.index) {
                    Some(link) => {
                        let (name, new) = (name.clone(), link.name.clone());
                        Err(Error::Renamed { name, new })
                    }
                    None => Err(Error::Gone { name: name.clone() }),
                }
            }
            Phase::Governing(_) => Ok(()),
            Phase::Ended { index } if named.is_none_or(|named| named == *index) => Ok(()),
            Phase::Waiting { .. } if named.is_none() => Ok(()),
            Phase::Ended { .. } | Phase::Waiting { .. } => {
                self.phase = Phase::Waiting { until: round.now };
                Ok(())
            }
        }
    }

    /// Handles a failure: restores the former queue if possible, then waits, or leaves the queue alone.
    pub(super) fn fail(&mut self, error: &Error, round: &mut Round) {
        let (what, until) = match error {
            Error::Gone { .. } => (AgentEventKind::Gone, Instant::NEVER),
            Error::Renamed { .. } => (AgentEventKind::Renamed, Instant::NEVER),
            Error::Replaced { .. } => (AgentEventKind::Replaced, Instant::NEVER),
            _ => (AgentEventKind::Failed, round.now + NEXT_ATTEMPT),
        };
        let index = self.governed_index();
        // If the interface is gone or another program owns its queue, there is nothing to restore. `let_go` reports its
        // result, and the next attempt restores what remains.
        let _ = self.let_go(!matches!(what, AgentEventKind::Gone | AgentEventKind::Replaced), round.host);
        if what == AgentEventKind::Failed {
            self.wait(until, error.to_string(), round);
            // With the same settings another attempt would fail, too, and lose the packets that wait.
            if let (Error::Unfit(_), Some(link)) = (error, round.links.named(&self.wish.place.device)) {
                self.phase = Phase::Ended { index: link.index };
            }
            return;
        }
        self.tell(what, error.to_string(), round.host);
        match index {
            Some(index) if what == AgentEventKind::Replaced => {
                self.phase = Phase::Ended { index };
                self.status.state = State::Ended;
            }
            _ => self.wait(until, format!("no interface {}", self.wish.place.device), round),
        }
        // Another interface may have this name already.
        if what != AgentEventKind::Replaced && round.links.named(&self.wish.place.device).is_some() {
            self.phase = Phase::Waiting { until: round.now };
        }
    }

    /// Checks other settings without a change to the queue.
    pub(super) fn check(&self, wish: &Wish) -> Result<(), Error> {
        let controller = controller(wish, self.seed)?;
        let real_time = RealTime::new(wish, &controller, Instant::ZERO)?;
        match &self.phase {
            // The settings need a new queue, which may support them.
            Phase::Governing(governing) if self.is_same_queue(wish) => {
                real_time.map_or(Ok(()), |real_time| real_time.suits(governing.device.as_ref()))?;
                let radio = radio(&controller, governing.index)?;
                suits(&controller, governing.device.as_ref(), radio.as_deref())
            }
            _ => Ok(()),
        }
    }

    fn is_same_queue(&self, wish: &Wish) -> bool {
        let of = |wish: &Wish| (wish.backend, wish.dry_run, wish.gso_segments);
        of(wish) == of(&self.wish)
    }

    /// Applies other settings. Keeps waiting packets if the device can.
    pub(super) fn change(&mut self, wish: Wish, round: &mut Round) -> Result<(), Error> {
        if let Phase::Ended { .. } = self.phase {
            self.phase = Phase::Waiting { until: round.now };
        }
        if wish == self.wish {
            return Ok(());
        }
        let mut controller = controller(&wish, self.seed)?;
        if let Pace::Known(limit) = self.pace {
            controller.begin_from(limit);
        }
        let real_time = RealTime::new(&wish, &controller, round.now)?;
        let start = start(&wish, &controller, round.now);
        let is_same_queue = self.is_same_queue(&wish);
        let Phase::Governing(governing) = &mut self.phase else {
            self.wish = wish;
            return Ok(());
        };
        let radio = radio(&controller, governing.index)?;
        let suited = suits(&controller, governing.device.as_ref(), radio.as_deref());
        let suits = match suited {
            Err(error) if is_same_queue => return Err(error),
            suited => suited.is_ok(),
        };
        governing.radio = radio;
        // The new controller must not see measurements from under the old settings.
        let seen = governing.device.take_interval(round.now)?;
        self.status.pass_over(&seen, &governing.device.beside());
        let can_aim = wish.target_delay.or(wish.bulk_delay).is_none() || governing.device.own().is_some();
        let is_alike = suits && can_aim && wish.gso_segments == self.wish.gso_segments;
        let adapted = is_alike && governing.device.adapt(&wish, &start)?;
        let own = governing.device.own().filter(|_| adapted);
        let (interval, looks) = paces(&controller, own, &start);
        governing.interval = interval;
        governing.every = governing.device.capabilities().look_every;
        (governing.next_interval, governing.next_look) = first(round.now, interval, looks);
        let target = own.map_or(controller.target_delay(), |own| Some(own.target_delay));
        (self.status.controller, self.status.target_delay) = (names(&controller, real_time.as_ref()), target);
        // A device with its own law keeps its present limit.
        let orders = own.map_or(start.orders, |_| governing.orders);
        (governing.orders, governing.idling) = (orders, own.is_none().then(Idling::default));
        (self.status.limit, self.status.rate) = (orders.limit, orders.rate);
        (self.wish, self.controller, self.real_time) = (wish, controller, real_time);
        if adapted {
            let words = format!("now governed by {}, without losing waiting packets", self.status.controller);
            self.tell(AgentEventKind::Changed, words, round.host);
            return Ok(());
        }
        self.tell(AgentEventKind::Changed, "a new queue is needed: its former packets are lost".into(), round.host);
        let _ = self.let_go(true, round.host);
        self.phase = Phase::Waiting { until: round.now };
        Ok(())
    }

    fn governed_index(&self) -> Option<u32> {
        match &self.phase {
            Phase::Governing(governing) => Some(governing.index),
            _ => None,
        }
    }

    /// Releases the queue, so that the former one returns; `is_news`: reports the release. The error, already reported,
    /// is the reason why the former queue is not restored, or what else remains.
    fn let_go(&mut self, is_news: bool, host: &mut dyn Host) -> Result<(), Error> {
        let ended = std::mem::replace(&mut self.phase, Phase::Waiting { until: Instant::NEVER });
        let Phase::Governing(mut governing) = ended else { return Ok(()) };
        self.status.kind.clear();
        match governing.device.restore() {
            Ok(()) | Err(Error::Replaced { .. }) if !is_news || self.wish.dry_run => {}
            Ok(()) => self.tell(AgentEventKind::Restored, "the former queue is back".into(), host),
            Err(error @ Error::Remains { .. }) => {
                self.tell(AgentEventKind::Failed, error.to_string(), host);
                return Err(error);
            }
            Err(error) => {
                self.tell(AgentEventKind::Failed, format!("the former queue is not restored: {error}"), host);
                return if matches!(error, Error::Replaced { .. }) { Ok(()) } else { Err(error) };
            }
        }
        Ok(())
    }

    /// Ends governing; `is_news`: reports success. The error is the reason why the former queue is not restored.
    pub(super) fn end(&mut self, is_news: bool, host: &mut dyn Host) -> Result<(), Error> {
        self.status.state = State::Ended;
        self.let_go(is_news, host)
    }

    fn wait(&mut self, until: Instant, why: String, round: &mut Round) {
        self.phase = Phase::Waiting { until };
        if self.status.state != (State::Waiting { why: why.clone() }) {
            self.status.state = State::Waiting { why: why.clone() };
            self.tell(AgentEventKind::Waiting, why, round.host);
        }
    }

    fn tell(&mut self, what: AgentEventKind, words: String, host: &mut dyn Host) {
        let event = AgentEvent::new(clock(), &self.wish.place.device, what, words);
        host.happened(&event);
        self.status.note(event);
    }
}

/// Checks every [`JUDGED`] whether the limit leaves the link idle, until this was reported; returns the finding.
fn judge(told: &mut Option<Idling>, orders: &Orders, seen: &Interval) -> Option<String> {
    let idling = told.as_mut()?;
    idling.add(seen, orders.rate);
    if idling.length() < JUDGED {
        return None;
    }
    let (dropped, idle) = std::mem::take(idling).by_limit()?;
    *told = None;
    Some(format!(
        "dropped {:.1} % of the packets while the queue was empty {:.0} % of the time: a limit of {} leaves the link idle \
         between bursts, and TCP sends less with each drop; a larger limit_min, a fixed limit, fq_codel or cake suit TCP",
        100.0 * dropped,
        100.0 * idle,
        orders.limit
    ))
}

/// Returns the controllers' names: `swan_rate`, or with a second controller `swan_rate and swan_mark`.
fn names(controller: &AnyController, real_time: Option<&RealTime>) -> String {
    let second = real_time.map_or(String::new(), |real_time| format!(" and {}", real_time.name()));
    format!("{}{second}", controller.name())
}

fn controller(wish: &Wish, seed: u64) -> Result<AnyController, Error> {
    needs::controller(&wish.place.device, &wish.settings, seed, wish.notes)
}

/// Returns a remark if packets of up to `segments` segments make a limit in packets imprecise.
fn rough(wish: &Wish, segments: u32) -> Option<String> {
    let is_rough = matches!(wish.settings.limit, Limit::Packets(_)) && wish.gso_segments.is_none();
    (is_rough && segments > 1 && !wish.dry_run).then(|| {
        "a packet of this queue may hold many segments (GSO), and a limit in packets counts it once: --gso-segments 1 \
         (gso_segments = 1) gives each packet one segment"
            .into()
    })
}

/// Returns a remark if the controller begins with an arbitrary limit, because it does not know the link's rate yet.
fn blind(controller: &AnyController) -> Option<String> {
    let (name, first) = (controller.name(), controller.begin().limit);
    let is_blind = controller.clone().begin_from(first);
    is_blind.then(|| {
        format!(
            "{name} starts with a limit of {first}; once packets wait, it restarts from the number that the link sends \
                 in {WORTH}"
        )
    })
}

fn start(wish: &Wish, controller: &AnyController, at: Instant) -> Start {
    let (orders, needs) = (controller.begin(), controller.needs());
    let (measures, late_after, classes) = (needs.measures, needs.late_after, classes(wish, controller));
    let marks = needs.sets.any_of(Sets::MARK) || wish.real_time.is_some();
    let hops = needs.reads.any_of(Reads::HOPS);
    Start { orders, measures, late_after, classes, marks, hops, every: look_every(controller), at }
}

/// Returns the time between two intervals, and the time between two readings.
fn paces(controller: &AnyController, own: Option<Own>, start: &Start) -> (Duration, Duration) {
    own.map_or((interval(controller), start.every), |own| (own.every, own.every))
}

/// Returns when the first interval ends and the first reading is due. Equal intervals of queues end together.
fn first(now: Instant, interval: Duration, every: Duration) -> (Instant, Instant) {
    (on_grid(now + interval, every), on_grid(now, every))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::rtnetlink::ROOT;
    use crate::{Place, STATE_FOLDER};
    use control::{Name, alt};
    use queue::Settings;

    fn wish(settings: Settings) -> Wish {
        let place = Place { device: "eth0".into(), parent: ROOT, state_folder: STATE_FOLDER.into() };
        Wish { dry_run: true, ..Wish::new(place, settings) }
    }

    fn every(interval: Duration) -> Wish {
        let interval = control::Period::new(interval).unwrap();
        let alt = Some(alt::Params { interval, ..alt::Params::default() });
        wish(Settings { controller: Name::Alt, alt, ..Settings::default() })
    }

    #[test]
    fn a_controller_is_called_as_often_as_it_asks_for_and_none_as_it_is_told() {
        let slow = Duration::from_millis(1_500);
        assert_eq!(interval(&controller(&every(slow), 0).unwrap()), slow);
        assert_eq!(interval(&controller(&wish(Settings::default()), 0).unwrap()), Duration::from_secs(1));
    }

    #[test]
    fn a_limit_that_drops_bursts_and_leaves_the_link_idle_is_told_once() {
        let count = |packets| control::Count { packets, ..control::Count::default() };
        let (length, idle) = (Duration::from_secs(1), Duration::from_millis(900));
        let burst = Interval { length, idle, arrived: count(50), dropped: count(5), ..Interval::default() };
        let orders = Orders::from(Limit::Packets(4));
        let mut idling = Some(Idling::default());
        let mut told = |seen: Interval| judge(&mut idling, &orders, &seen);
        // The link is overloaded for ten seconds, and then gets bursts.
        assert!((0..10).all(|_| told(Interval { idle: Duration::ZERO, ..burst }).is_none()));
        assert!((0..9).all(|_| told(burst).is_none()));
        let words = told(burst).unwrap();
        assert!(words.starts_with("dropped 10.0 % of the packets while the queue was empty 90 %"), "{words}");
        assert!((0..30).all(|_| told(burst).is_none()));
    }

    #[test]
    fn one_that_depends_on_notes_is_refused_without_them() {
        let mut wish = wish(Settings { controller: Name::Dnb, ..Settings::default() });
        let message = controller(&wish, 1).unwrap_err().to_string();
        assert!(message.starts_with("dnb needs the notes of neighbours' agents"), "{message}");
        wish.notes = true;
        controller(&wish, 1).unwrap();
    }

    #[test]
    fn one_that_would_be_called_too_rarely_is_refused() {
        let message = controller(&every(Duration::from_secs(3)), 0).unwrap_err().to_string();
        assert_eq!(message, "eth0: alt would be called every 3 s; the longest interval of a live queue is 2 s");
    }
}
