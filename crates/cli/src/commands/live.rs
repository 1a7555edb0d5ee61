//! `sluice attach`, `sluice detach` and `sluice record`.

use super::decisions::{line, row, settings};
use crate::args;
use crate::console::print;
use crate::failure::{FAILED, Failure};
use crate::outlet::Outlet;
use control::{AnyController, Reads};
use experiment::printable;
use experiment::shell::quoted;
use linux::agent::Host;
use linux::agent::govern::{Patience, govern};
use linux::agent::signals::Signals;
use linux::telemetry::Decision;
use linux::telemetry::air::Sampler;
use linux::telemetry::ask;
use linux::telemetry::events::{AgentEvent, AgentEventKind};
use linux::telemetry::serve::{Address, Serves};
use linux::telemetry::status::Status;
use linux::{Backend, Device, Place, Quality, Restored, Restorer, Wish};
use queue::Settings;
use std::ops::ControlFlow;
use std::path::Path;
use units::{Duration, Positive};

/// Settings of an access point's turns that scenarios have outside of `[queue]`, each with its replacement live.
const OF_ACCESS_POINTS: [(&str, &str); 2] = [
    ("turns.bulk_delay", "give it as --bulk-delay TIME"),
    (
        "turns.ecn",
        "it works in simulation only: a BPF queueing discipline may not write ECN marks; the queues of mac80211 (--backend \
         knobs) mark by CoDel",
    ),
];

pub(super) fn attach(args: &args::Attach) -> Result<(), Failure> {
    for (key, instead) in OF_ACCESS_POINTS {
        if args.policy.set.iter().any(|set| set.split('=').next().is_some_and(|given| given.trim() == key)) {
            return Err(Failure::wrong(format!("--set {key}: {instead}")));
        }
    }
    let (settings, target_delay) = aimed(&args.policy, args.backend)?;
    let bulk_delay = args.bulk_delay.map(|bulk| above_zero("--bulk-delay", bulk)).transpose()?;
    let names_turns = args.policy.controller.is_some() && args.policy.controller().is_none();
    if names_turns && !matches!(args.backend, Backend::Auto | Backend::Bpf) {
        return Err(Failure::wrong("--controller turns: only `--backend bpf` and `auto` have turns"));
    }
    controller(&settings, 0)?;
    let (place, dry_run) = (place(&args.queue), args.dry_run);
    let folder = place.state_folder.clone();
    let mut host = Attaching::new(args.json, dry_run)?;
    host.rows = Some(Outlet::stdout().map_err(|error| Failure::unwritten(&error, "to standard output"))?);
    host.file = args.record.as_deref().map(create).transpose()?;
    // Without the privilege there is no folder for a socket; a dry run needs no socket.
    let listen = if dry_run { Vec::new() } else { vec![listening(&folder)] };
    if !dry_run {
        restore_on_panic(vec![place.clone()]);
    }
    let args::Attach { backend, force, replace, gso_segments, classes, notes, .. } = *args;
    let wish = Wish {
        backend,
        dry_run,
        force,
        replace,
        gso_segments,
        classes,
        notes,
        target_delay,
        bulk_delay,
        ..Wish::new(place, settings)
    };
    govern_one(wish, listen, &mut host)
}

pub(super) fn detach(args: &args::Detach) -> Result<(), Failure> {
    let place = place(&args.queue);
    let said = match linux::detach(&place)? {
        Some(Restored::Queue) => "has its former queue back",
        Some(Restored::Settings) => "has the former settings of mac80211's scheduler back",
        None => "was not governed",
    };
    print(&format!("{} {said}\n", place.device))
}

pub(super) fn record(args: &args::Record) -> Result<(), Failure> {
    let settings = settings(&args.policy)?;
    controller(&settings, 0)?;
    let mut host = Attaching::new(false, true)?;
    host.file = Some(create(&args.file)?);
    host.is_public = args.bundle;
    let wish = Wish { dry_run: true, ..Wish::new(place(&args.queue), settings) };
    govern_one(wish, Vec::new(), &mut host)
}

fn govern_one(wish: Wish, listen: Vec<(Address, Serves)>, host: &mut Attaching) -> Result<(), Failure> {
    let signals = Signals::take_over()?;
    // The sampler's thread must not get the signals.
    host.air = wish.dry_run.then(|| Sampler::begin(&wish.place.device, host.is_public)).flatten();
    let governed = govern(vec![wish], Patience::End, listen, &signals, host);
    host.finish();
    governed?;
    host.broken.take().map_or(Ok(()), Err)
}

/// Removes the sockets of killed agents, and returns the socket of this process's agent.
pub(super) fn listening(folder: &Path) -> (Address, Serves) {
    ask::forget_killed(folder);
    (Address::Path(ask::socket(folder, std::process::id())), Serves::Everything)
}

/// An agent in the foreground, for one interface.
struct Attaching {
    json: bool,
    /// Output for a line about each interval.
    rows: Option<Outlet>,
    log: Outlet,
    file: Option<Outlet>,
    dry_run: bool,
    broken: Option<Failure>,
    /// Readings of the radio that go into the recording.
    air: Option<Sampler>,
    is_public: bool,
}

impl Attaching {
    fn new(json: bool, dry_run: bool) -> Result<Self, Failure> {
        let log = Outlet::stderr().map_err(|error| Failure::unwritten(&error, "to standard error"))?;
        Ok(Self { json, rows: None, log, file: None, dry_run, broken: None, air: None, is_public: false })
    }

    fn complain(&mut self, text: impl std::fmt::Display) {
        // Governing continues, even if the output cannot be written.
        let _ = self.log.line(text);
    }

    /// Writes what is still queued, and reports lines that no reader took. An incomplete recording is a failure.
    fn finish(&mut self) {
        if let Some(dropped @ 1..) = self.rows.as_mut().and_then(|rows| rows.finish().ok()) {
            self.complain(format_args!("{dropped} lines were dropped: the program that reads them is too slow"));
        }
        match self.file.as_mut().map(Outlet::finish) {
            Some(Ok(dropped @ 1..)) => {
                let words = format!("the recording lacks {dropped} intervals: they could not be written in time");
                self.broken.get_or_insert(Failure::failed(words));
            }
            Some(Err(error)) => drop(self.broken.get_or_insert(Failure::unwritten(&error, "the recording"))),
            Some(Ok(0)) | None => {}
        }
        let _ = self.log.finish();
    }

    /// Shows and records a decision. Once a write has failed, it is not tried again.
    fn take(&mut self, decision: &Decision) -> Result<(), Failure> {
        let json = self.json;
        let shown = self.rows.as_mut().map_or(Ok(()), |rows| tell(rows, decision, json));
        if shown.is_err() {
            self.rows = None;
        }
        let air = self.air.as_mut().map(Sampler::take).unwrap_or_default();
        let recorded = self.file.as_mut().map_or(Ok(()), |file| write(file, decision, &air));
        if recorded.is_err() {
            self.file = None;
        }
        recorded.and(shown)
    }
}

impl Host for Attaching {
    fn attached(&mut self, device: &dyn Device, controller: &AnyController, remarks: &[String]) {
        if self.rows.is_some() {
            self.complain(opening(device, controller, self.dry_run, remarks).trim_end());
        }
    }

    fn decided(&mut self, _: &Status, decision: &Decision) -> ControlFlow<()> {
        let Err(failure) = self.take(decision) else { return ControlFlow::Continue(()) };
        let ends = self.dry_run;
        if !ends {
            self.complain(format_args!("{failure}; the agent continues to govern"));
        }
        self.broken = Some(failure);
        if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn happened(&mut self, event: &AgentEvent) {
        // `attached` has already printed this event in more detail.
        if event.what != AgentEventKind::Attached {
            self.log.event(event, false);
        }
    }
}

fn controller(settings: &Settings, seed: u64) -> Result<AnyController, Failure> {
    settings.build_controller(seed).map_err(Failure::wrong)
}

/// Builds a queue's settings from the command line, and without a controller the target delay of a device's own law.
fn aimed(policy: &args::Policy, backend: Backend) -> Result<(Settings, Option<Positive<Duration>>), Failure> {
    let has_law = matches!(backend, Backend::Auto | Backend::Knobs);
    let Some(target) =
        policy.target_delay.filter(|_| has_law && policy.controller().is_none() && policy.set.is_empty())
    else {
        return settings(policy).map(|settings| (settings, None));
    };
    Ok((Settings::default(), Some(above_zero("--target-delay", target)?)))
}

fn above_zero(option: &str, given: Duration) -> Result<Positive<Duration>, Failure> {
    let wrong = || Failure::wrong(format!("{option} {given}: expected a duration above zero"));
    Positive::<Duration>::new(given).ok_or_else(wrong)
}

fn place(queue: &args::QueueArgs) -> Place {
    Place { device: queue.device.clone(), parent: queue.parent, state_folder: queue.state.clone() }
}

/// Makes a panic restore the former queues at `places`.
pub(super) fn restore_on_panic(places: Vec<Place>) {
    let places: Vec<(String, Restorer)> = places
        .into_iter()
        .map(|place| {
            let restorer = Restorer::new(&place.state_folder, &place.device, place.parent);
            (place.device, restorer)
        })
        .collect();
    std::panic::set_hook(Box::new(move |panic| {
        // The queues come first: a reader of the message may block this process.
        let restored = places.iter().map(|(device, restorer)| match restorer.restore() {
            Ok(()) => format!("{device} has its former queue back\n"),
            Err(error) => format!("error: {error}; `sluice detach {}` tries again\n", quoted(device)),
        });
        let restored: String = restored.collect();
        if let Ok(mut log) = Outlet::stderr() {
            let _ = log.line(format_args!("error: this is a fault in Sluice: {panic}\n{}", restored.trim_end()));
            let _ = log.finish();
        }
        std::process::exit(i32::from(FAILED));
    }));
}

fn opening(device: &dyn Device, controller: &AnyController, dry_run: bool, remarks: &[String]) -> String {
    let able = device.capabilities();
    let kind = able.kind;
    let (name, controller) = (device.name(), controller.name().as_str());
    let mut text = if let Some(own) = device.own() {
        let target = own.target_delay;
        format!("{name}: {kind}, target delay {target}; Ctrl-C restores the former settings\n")
    } else if dry_run {
        format!("{name}: observing the present queue, with {controller}; nothing is changed\n")
    } else {
        format!("{name}: {kind}, governed by {controller}; Ctrl-C restores the former queue\n")
    };
    text.extend(remarks.iter().map(|remark| format!("  {remark}\n")));
    for (what, reads) in
        [("queueing delay", Reads::SOJOURN), ("time between departures", Reads::GAP), ("service", Reads::SERVICE)]
    {
        let line = match able.quality(reads) {
            Quality::Measured => String::new(),
            Quality::Estimated(how) => format!("  {what}: estimated ({how})\n"),
            Quality::Absent => format!("  {what}: not measured\n"),
        };
        text.push_str(&line);
    }
    if !able.purges && !dry_run {
        text += "  a lower limit affects only arriving packets; waiting packets leave as the link takes them\n";
    }
    text
}

fn tell(rows: &mut Outlet, decision: &Decision, json: bool) -> Result<(), Failure> {
    let told = if json { rows.put(&printable::json(&line(decision)?)) } else { rows.line(row(decision)) };
    told.map_err(|error| Failure::unwritten(&error, "to standard output"))
}

fn create(path: &Path) -> Result<Outlet, Failure> {
    Outlet::create(path).map_err(|error| Failure::unwritten(&error, path.display()))
}

fn write(file: &mut Outlet, decision: &Decision, air: &str) -> Result<(), Failure> {
    let decision = line(decision)?;
    // The recording is written line by line, because an outlet takes no more at once than it can queue.
    let mut lines = air.split_inclusive('\n').chain([&*decision]);
    lines.try_for_each(|line| file.put(line)).map_err(|error| Failure::unwritten(&error, "the recording"))
}
