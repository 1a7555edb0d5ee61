//! The agent's loop: one thread and one epoll for any number of queues. Between their intervals it attaches to further
//! queues one by one, and follows interfaces that disappear and return. At its end it restores all former queues.

use crate::admission::port::Port;
use crate::agent::Host;
use crate::agent::confine::{Opens, confine};
use crate::agent::governor::{Done, Governor, Round};
use crate::agent::links::Links;
use crate::agent::manager::Manager;
use crate::agent::patterns;
use crate::agent::signals::{Signals, Told};
use crate::agent::wakes::{Source, Wakes};
use crate::device::contract::Keeps;
use crate::device::looks::Looks;
use crate::device::wish::{Place, Wish};
use crate::error::Error;
use crate::kernel::rtnetlink::Route;
use crate::kernel::{now, random, slept};
use crate::notes::port::Port as Notes;
use crate::telemetry::events::{AgentEvent, AgentEventKind, clock};
use crate::telemetry::serve::{Address, Listener, Server, Serves};
use crate::telemetry::status::Status;
use std::collections::{BTreeMap, BTreeSet};
use units::{Duration, Instant, refuse_if};

/// Longest time between two checks for overdue clients.
const HOUSEKEEPING: Duration = Duration::from_secs(1);
/// Time between two attempts to make a socket listen.
const TRIED_EVERY: Duration = Duration::from_secs(2);
/// If the clocks with and without sleep moved apart by more than this, the machine has slept.
const SLEEP: Duration = Duration::from_millis(100);

/// What the agent does when it loses a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// The agent ends, with the reason as its error.
    End,
    /// The agent continues with its remaining queues, and waits for the interface to return.
    Wait,
}

/// Governs queues until a signal arrives or the host ends the loop; then restores the former queues, also after an
/// error. Serves status and metrics at `listen`. Once the agent has attached to a queue (with [`Patience::End`] to
/// all), this thread permanently gives up the privileges that it does not need.
///
/// # Errors
/// With [`Patience::End`] the first failure. With [`Patience::Wait`] a missing privilege at the start, or that no queue
/// can be governed now or later. At the end, the reason why a former queue is not restored.
pub fn govern(
    wishes: Vec<Wish>,
    patience: Patience,
    listen: Vec<(Address, Serves)>,
    signals: &Signals,
    host: &mut dyn Host,
) -> Result<(), Error> {
    let mut agent = Agent::new(wishes, patience, signals)?;
    let begun = agent.begin(listen, signals, host).and_then(|()| agent.confine(host));
    let governed = begun.and_then(|()| agent.run(signals, host));
    agent.manager.tell("STOPPING=1");
    let is_news = !matches!(governed, Err(Error::Gone { .. } | Error::Replaced { .. }));
    agent.governors.iter_mut().fold(governed, |so_far, governor| so_far.and(governor.end(is_news, host)))
}

/// State of the agent that the service manager is told: `READY=1` follows after one attempt for each queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// A missing privilege ends the agent.
    Starting,
    Reloading,
    Ready,
}

/// Settings that are being applied.
#[derive(Debug)]
pub(super) struct Reload {
    pub(super) before: BTreeMap<Place, Wish>,
    /// Attachment points that are new or have other settings.
    pub(super) touched: BTreeSet<Place>,
    pub(super) wanted: BTreeSet<Place>,
    /// All requested queues; patterns such as `*wifi` are not expanded.
    pub(super) all: Vec<Wish>,
}

pub(super) struct Agent {
    /// The requested queues; patterns such as `*wifi` are not expanded.
    pub(super) wanted: Vec<Wish>,
    pub(super) governors: Vec<Governor>,
    /// The status of each client; the servers' numbers of clients are its indices.
    statuses: Vec<Status>,
    patience: Patience,
    pub(super) links: Links,
    pub(super) looks: Looks,
    wakes: Wakes,
    servers: Vec<Server>,
    /// Sockets that do not listen yet.
    listeners: Vec<Listener>,
    /// Last reported failure of each socket; the key is its address or interface.
    deaf: BTreeMap<String, String>,
    /// Instant at which sockets that do not listen yet try again.
    again: Instant,
    /// Sockets of admission; `None` if admission is not configured.
    pub(super) port: Option<Port>,
    /// Sockets of notes; `None` if no queue's controller exchanges notes.
    pub(super) notes: Option<Notes>,
    pub(super) manager: Manager,
    /// Settings that are being applied; `None` if there are none.
    pub(super) reload: Option<Reload>,
    pub(super) readiness: Readiness,
    housekeeping: Instant,
    slept: Duration,
}

impl Agent {
    fn new(wishes: Vec<Wish>, patience: Patience, signals: &Signals) -> Result<Self, Error> {
        let now = now();
        let links = Links::open()?;
        let wakes = Wakes::new(signals, &links)?;
        let looks = Looks::open()?;
        let new = |wish| Governor::new(wish, seed()?, now);
        // A user who governs one interface means a name, not a pattern.
        let is_one = patience == Patience::End;
        let spread = if is_one { wishes.clone() } else { patterns::spread(&wishes, &links, &looks)? };
        let governors: Result<Vec<Governor>, Error> = spread.into_iter().map(new).collect();
        Ok(Self {
            wanted: wishes,
            governors: governors?,
            statuses: Vec::new(),
            patience,
            links,
            looks,
            wakes,
            servers: Vec::new(),
            listeners: Vec::new(),
            deaf: BTreeMap::new(),
            again: Instant::NEVER,
            port: None,
            notes: None,
            manager: Manager::find(now),
            reload: None,
            readiness: Readiness::Starting,
            housekeeping: now,
            slept: slept(),
        })
    }

    /// Listens, then attaches: to all queues, or until one is governed or a signal arrives; the loop attaches the rest.
    fn begin(&mut self, listen: Vec<(Address, Serves)>, signals: &Signals, host: &mut dyn Host) -> Result<(), Error> {
        let (mut first, mut refused) = (None, 0);
        for at in 0..self.governors.len() {
            // Each attempt to attach may take seconds.
            if signals.has_come()? {
                break;
            }
            if self.patience == Patience::End {
                // If the interface does not exist, this error lists the existing ones.
                Route::open()?.link(&self.governors[at].wish.place.device)?;
            }
            let Err(error) = self.with(at, now(), host, Governor::take_up) else {
                if self.patience == Patience::Wait && self.governors[at].is_governing() {
                    break;
                }
                continue;
            };
            refuse_if!(self.ends_by(&error), Err(error));
            self.lost(at, &error, host);
            refused += 1;
            first.get_or_insert(error);
        }
        if let Some(error) = first.filter(|_| refused == self.governors.len() && !self.has_patterns()) {
            return Err(error);
        }
        self.open(listen, host);
        self.listen(host);
        Ok(())
    }

    /// Makes all sockets. A failure never ends governing: an attacker may hold a port, or all ports.
    fn open(&mut self, listen: Vec<(Address, Serves)>, host: &mut dyn Host) {
        for (address, serves) in listen {
            match Listener::open(address, serves) {
                Ok(listener) => self.listeners.push(listener),
                Err(error) => tell(host, "", AgentEventKind::Failed, error.to_string()),
            }
        }
        if self.governors.iter().any(|governor| governor.wish.notes) {
            let opened =
                seed().and_then(Notes::open).and_then(|notes| self.wakes.add(&notes, Source::Notes).map(|()| notes));
            self.notes = opened.map_err(|error| tell(host, "", AgentEventKind::Failed, error.to_string())).ok();
        }
        if let Some((admission, folder)) = host.admission() {
            let opened = Port::open(&admission, &folder)
                .and_then(|(port, blind)| self.wakes.add(&port, Source::Admission).map(|()| (port, blind)));
            match opened {
                Ok((port, blind)) => {
                    self.port = Some(port);
                    if let Some(why) = blind {
                        let words = format!("the agent continues without detecting packets that arrive marked: {why}");
                        tell(host, "", AgentEventKind::Failed, words);
                    }
                }
                Err(error) => tell(host, "", AgentEventKind::Failed, error.to_string()),
            }
        }
    }

    /// Tries to make every socket listen. A failure is reported once, and the socket is tried again later.
    pub(super) fn listen(&mut self, host: &mut dyn Host) {
        let mut done: Vec<(String, &str, Result<AgentEventKind, Error>)> = Vec::new();
        for listener in std::mem::take(&mut self.listeners) {
            let address = listener.address.to_string();
            let listened = match listener.listen().map_err(|refused| *refused) {
                Ok(server) => self.wakes.add(&server, Source::Clients).map(|()| {
                    self.servers.push(server);
                    AgentEventKind::Listening
                }),
                Err((listener, error)) => {
                    self.listeners.push(listener);
                    Err(error)
                }
            };
            done.push((address, "", listened));
        }
        if let Some(port) = &mut self.port {
            let news = port.follow(|name| self.links.named(name).map(|link| link.index));
            let of = |(device, opened): (String, Result<(), Error>)| {
                (device, "admission", opened.map(|()| AgentEventKind::Admission))
            };
            done.extend(news.into_iter().map(of));
        }
        if let Some(notes) = &mut self.notes {
            let wishes = self.governors.iter().map(|governor| &governor.wish).filter(|wish| wish.notes);
            let names: Vec<&str> = wishes.map(|wish| wish.place.device.as_str()).collect();
            let news = notes.follow(&names, |name| self.links.named(name).map(|link| link.index));
            let of = |(device, opened): (String, Result<(), Error>)| {
                (device, "notes", opened.map(|()| AgentEventKind::Notes))
            };
            done.extend(news.into_iter().map(of));
        }
        let mut failed = false;
        for (name, service, listened) in done {
            let key = format!("{name} {service}");
            let device = if service.is_empty() { "" } else { &name };
            match listened {
                Ok(what) => {
                    let was_deaf = self.deaf.remove(&key).is_some();
                    let words = match what {
                        AgentEventKind::Admission => "probes are answered and forwarded".into(),
                        AgentEventKind::Notes => "notes are exchanged with neighbours".into(),
                        _ if was_deaf => format!("now listens at {name}"),
                        // At the start this needs no event.
                        _ => continue,
                    };
                    tell(host, device, what, words);
                }
                Err(error) => {
                    failed = true;
                    let words = format!("{error}; the agent governs meanwhile, and retries every {TRIED_EVERY}");
                    if self.deaf.insert(key, words.clone()).as_ref() != Some(&words) {
                        tell(host, device, AgentEventKind::Failed, words);
                    }
                }
            }
        }
        self.again = if failed { now() + TRIED_EVERY } else { Instant::NEVER };
    }

    /// True if some requests are patterns, which may match interfaces that appear later.
    fn has_patterns(&self) -> bool {
        self.patience == Patience::Wait && self.wanted.iter().any(|wish| patterns::is_pattern(&wish.place.device))
    }

    /// Expands patterns to the present interfaces, but not while a reload is applied.
    pub(super) fn spread(&mut self, host: &mut dyn Host) {
        if self.reload.is_some() || !self.has_patterns() {
            return;
        }
        let spread = match patterns::spread(&self.wanted, &self.links, &self.looks) {
            Ok(spread) => spread,
            Err(error) => return tell(host, "", AgentEventKind::Failed, error.to_string()),
        };
        self.keep_only(|place| spread.iter().any(|wish| wish.place == *place), host);
        for wish in spread {
            if self.governors.iter().any(|governor| governor.wish.place == wish.place) {
                continue;
            }
            // The loop attaches to it.
            match seed().and_then(|seed| Governor::new(wish, seed, now())) {
                Ok(governor) => self.governors.push(governor),
                Err(error) => tell(host, "", AgentEventKind::Failed, error.to_string()),
            }
        }
    }

    /// Gives up privileges that the agent no longer needs.
    fn confine(&mut self, host: &mut dyn Host) -> Result<(), Error> {
        let of_queues = self.governors.iter().map(Governor::keeps).max().unwrap_or(Keeps::Nothing);
        // With `Wait` the agent may have to attach to any of its queues later.
        let keeps = if self.patience == Patience::Wait { Keeps::most() } else { of_queues };
        let talks = self.port.is_some() || self.notes.is_some();
        let opens = if talks { Opens::Datagrams } else { Opens::Netlink };
        if let Some(why) = confine(keeps, opens)? {
            let words = format!("the agent continues without a filter of its system calls ({why})");
            tell(host, "", AgentEventKind::Failed, words);
        }
        Ok(())
    }

    fn run(&mut self, signals: &Signals, host: &mut dyn Host) -> Result<(), Error> {
        loop {
            self.wakes.wait(self.next())?;
            let now = now();
            if self.wakes.woke(Source::Signals) {
                match signals.read()? {
                    Some(Told::Reload) => {
                        if !self.reload(host) {
                            return Ok(());
                        }
                    }
                    Some(Told::End) => return Ok(()),
                    Some(Told::Nothing) | None => {}
                }
            }
            if self.wakes.woke(Source::Links) {
                self.links.refresh()?;
                self.listen(host);
                for at in 0..self.governors.len() {
                    self.check(at, crate::kernel::now(), host, Governor::follow)?;
                }
                self.spread(host);
            }
            if self.again <= now {
                self.listen(host);
            }
            if let Some(notes) =
                self.notes.as_mut().filter(|notes| self.wakes.woke(Source::Notes) || notes.next() <= now)
            {
                notes.work(now);
            }
            let done = self.work(now, host)?;
            let available = self.governors.iter().filter_map(Governor::available).min();
            if let Some(port) =
                self.port.as_mut().filter(|port| self.wakes.woke(Source::Admission) || port.next() <= now)
            {
                port.work(now, available);
            }
            if done == Done::Enough {
                return Ok(());
            }
            self.settle(host);
            self.tell_manager();
            self.serve(self.wakes.woke(Source::Clients), done == Done::Something, now);
        }
    }

    fn next(&self) -> Instant {
        let due = self.governors.iter().map(Governor::next).min().unwrap_or(Instant::NEVER);
        let told = self.manager.next();
        let clients =
            if self.servers.iter().any(|server| server.clients() > 0) { self.housekeeping } else { Instant::NEVER };
        let admission = self.port.as_ref().map_or(Instant::NEVER, Port::next);
        let notes = self.notes.as_ref().map_or(Instant::NEVER, Notes::next);
        due.min(told).min(clients).min(admission).min(notes).min(self.again)
    }

    /// Handles what is due: intervals and readings, then one attempt to attach to a queue. An attempt may take
    /// milliseconds, so further attempts wait for the next call.
    fn work(&mut self, now: Instant, host: &mut dyn Host) -> Result<Done, Error> {
        let slept = slept();
        if slept.saturating_sub(self.slept) > SLEEP {
            self.governors.iter_mut().for_each(Governor::has_slept);
        }
        self.slept = slept;
        let (mut most, mut attempt) = (Done::Look, None);
        for at in 0..self.governors.len() {
            if self.governors[at].next() > now {
                continue;
            }
            if !self.governors[at].is_governing() {
                attempt.get_or_insert(at);
                continue;
            }
            // A round that loses the queue also counts as `Something`.
            let mut done = Done::Something;
            self.check(at, now, host, |governor, round| governor.work(round).map(|it| done = it))?;
            match done {
                Done::Enough => return Ok(done),
                Done::Something => most = done,
                Done::Look => {}
            }
        }
        if let Some(at) = attempt {
            let place = &self.governors[at].wish.place;
            if self.reload.as_ref().is_some_and(|reload| reload.touched.contains(place)) {
                if let Err(error) = self.with(at, now, host, Governor::take_up) {
                    self.roll_back(&error.to_string(), host);
                }
            } else {
                self.check(at, crate::kernel::now(), host, Governor::take_up)?;
            }
        }
        Ok(most)
    }

    /// Tells the manager that the agent lives, how many queues it governs, and, once each was tried, that it is ready.
    fn tell_manager(&mut self) {
        let now = now();
        let is_tried = self.governors.iter().all(|governor| governor.is_governing() || governor.next() > now);
        let is_ready = is_tried && std::mem::replace(&mut self.readiness, Readiness::Ready) != Readiness::Ready;
        let governed = self.governors.iter().filter(|governor| governor.is_governing()).count();
        self.manager.count((governed, self.governors.len()), is_ready, is_tried, now);
        self.manager.live(now);
    }

    fn serve(&mut self, ready: bool, news: bool, now: Instant) {
        let due = self.housekeeping <= now;
        let clients = self.servers.iter().any(|server| server.clients() > 0);
        if !(ready || due || news && clients) {
            return;
        }
        self.statuses.clear();
        self.statuses.extend(self.governors.iter().map(|governor| governor.status.clone()));
        for server in &mut self.servers {
            if ready {
                server.ready(now, &self.statuses);
            }
            server.tell(now, &self.statuses);
        }
        if due {
            self.housekeeping = now + HOUSEKEEPING;
        }
    }

    /// Calls a function of a governor. If the function fails, the governor loses its queue.
    fn check(
        &mut self,
        at: usize,
        now: Instant,
        host: &mut dyn Host,
        what: impl FnOnce(&mut Governor, &mut Round) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.with(at, now, &mut *host, what) {
            Ok(()) => Ok(()),
            Err(error) if self.ends_by(&error) => Err(error),
            Err(error) => {
                self.lost(at, &error, host);
                Ok(())
            }
        }
    }

    /// True if this failure of a queue ends the agent.
    fn ends_by(&self, error: &Error) -> bool {
        let is_denied = matches!(error, Error::NotPermitted { .. });
        self.patience == Patience::End || self.readiness == Readiness::Starting && is_denied
    }

    pub(super) fn with<T>(
        &mut self,
        at: usize,
        now: Instant,
        host: &mut dyn Host,
        what: impl FnOnce(&mut Governor, &mut Round) -> T,
    ) -> T {
        let notes = self.notes.as_mut();
        let mut round = Round { host, links: &self.links, looks: &self.looks, notes, now };
        what(&mut self.governors[at], &mut round)
    }

    pub(super) fn lost(&mut self, at: usize, error: &Error, host: &mut dyn Host) {
        self.with(at, now(), host, |governor, round| governor.fail(error, round));
    }
}

pub(super) fn tell(host: &mut dyn Host, device: &str, what: AgentEventKind, words: impl Into<String>) {
    host.happened(&AgentEvent::new(clock(), device, what, words));
}

/// Draws a random number of 32 bits, not zero; other machines very likely draw others.
pub(super) fn seed() -> Result<u64, Error> {
    Ok((random()? >> 32).max(1))
}
