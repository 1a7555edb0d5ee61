use super::live::{listening, restore_on_panic};
use super::recordings::Recordings;
use crate::args;
use crate::failure::Failure;
use crate::outlet::Outlet;
use control::AnyController;
use experiment::scenario::parse_parts;
use linux::admission::Settings as Admission;
use linux::agent::Host;
use linux::agent::config::Config;
use linux::agent::govern::{Patience, govern};
use linux::agent::signals::Signals;
use linux::telemetry::Decision;
use linux::telemetry::events::{AgentEvent, AgentEventKind, clock};
use linux::telemetry::serve::{Address, Serves};
use linux::telemetry::status::Status;
use linux::{Device, Place, Wish, class, make_state_folder};
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use units::refuse_if;

pub(super) fn agent(args: &args::Agent) -> Result<(), Failure> {
    let (config, wishes, wrong) = read(&args.config, &args.state).map_err(Failure::wrong)?;
    let signals = Signals::take_over()?;
    let places: Vec<Place> = wishes.iter().map(|wish| wish.place.clone()).collect();
    restore_on_panic(places.clone());
    let admission = config.admission.clone();
    let log = Outlet::stderr().map_err(|error| Failure::unwritten(&error, "to standard error"))?;
    let mut serving = Serving {
        args,
        listen: metrics(&config),
        admission,
        recordings: Recordings::default(),
        log,
        places,
        taken: Vec::new(),
        next: None,
    };
    serving.leave_out(&wrong);
    let recordings = serving.recordings.opened(&config).map_err(Failure::wrong)?;
    serving.record(&config, recordings);
    // Queues come first: without their privilege the folder cannot be made either.
    let mut listen = Vec::new();
    if make_state_folder(&args.state).is_ok() {
        listen.push(listening(&args.state));
    }
    listen.extend(serving.listen.clone().map(|address| (address, Serves::Metrics)));
    let governed = govern(wishes, Patience::Wait, listen, &signals, &mut serving);
    serving.finish();
    Ok(governed?)
}

/// Reads the configuration. Returns the requested queues, and why some interfaces are left out.
fn read(file: &Path, state: &Path) -> Result<(Config, Vec<Wish>, Vec<String>), String> {
    let name = file.display().to_string();
    let bytes = plain(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => lab::files::sentence(file),
        _ => format!("{name} cannot be read: {error}"),
    })?;
    let read = parse_parts::<Config, Wish>(&name, &bytes, "interface");
    let (mut config, mut wrong) = read.map_err(|refusal| refusal.to_string())?;
    wrong.extend(config.take_out_wrong(state));
    if config.interface.is_empty()
        && let Some(first) = wrong.first()
    {
        return Err(format!("{name}: {first}"));
    }
    let wishes = config.wishes(state).map_err(|why| format!("{name}: {why}"))?;
    Ok((config, wishes, wrong))
}

/// Reads a regular file: a pipe could make the agent wait.
fn plain(path: &Path) -> io::Result<Vec<u8>> {
    const LARGEST: u64 = 1 << 24;
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    refuse_if!(!file.metadata()?.is_file(), Err(io::Error::other("it is not a regular file")));
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn metrics(config: &Config) -> Option<Address> {
    config.metrics.as_ref().map(|metrics| metrics.listen.clone())
}

struct Serving<'a> {
    args: &'a args::Agent,
    /// Address at which metrics are served. It does not change after the start.
    listen: Option<Address>,
    admission: Option<Admission>,
    recordings: Recordings,
    log: Outlet,
    /// Attachment points of the queues that a panic restores.
    places: Vec<Place>,
    /// Such attachment points of interfaces that a pattern such as `*wifi` names.
    taken: Vec<Place>,
    /// Settings that were read again, but are not applied yet.
    next: Option<Next>,
}

struct Next {
    config: Config,
    recordings: Recordings,
    places: Vec<Place>,
}

impl Serving<'_> {
    fn complain(&mut self, text: impl std::fmt::Display) {
        // Governing continues, even if the log cannot be written.
        let _ = self.log.line(text);
    }

    /// Reports which tables of the configuration are invalid. All other tables apply.
    fn leave_out(&mut self, wrong: &[String]) {
        let words = wrong.iter().map(|why| format!("{why}; the agent ignores this table"));
        words.for_each(|words| self.happened(&AgentEvent::new(clock(), "", AgentEventKind::Failed, words)));
    }

    /// Writes what is still queued, and reports which recordings are incomplete.
    fn finish(&mut self) {
        for lacking in self.recordings.finish() {
            self.complain(lacking);
        }
        let _ = self.log.finish();
    }

    fn read_again(&mut self) -> Result<Vec<Wish>, String> {
        let (config, wishes, wrong) = read(&self.args.config, &self.args.state)?;
        let recordings = self.recordings.opened(&config)?;
        let places: Vec<Place> = wishes.iter().map(|wish| wish.place.clone()).collect();
        restore_on_panic(self.places.iter().chain(&places).chain(&self.taken).cloned().collect());
        self.next = Some(Next { config, recordings, places });
        self.leave_out(&wrong);
        Ok(wishes)
    }

    fn record(&mut self, config: &Config, new: Recordings) {
        for failed in self.recordings.begin(config, new) {
            self.complain(failed);
        }
    }
}

impl Host for Serving<'_> {
    fn attached(&mut self, device: &dyn Device, _: &AnyController, _: &[String]) {
        let is_known = |place: &Place| place.device == device.name();
        if !self.places.iter().chain(&self.taken).any(is_known) {
            let (device, state_folder) = (device.name().into(), self.args.state.clone());
            let parent = class("root").expect("as its own parser has it");
            self.taken.push(Place { device, parent, state_folder });
            restore_on_panic(self.places.iter().chain(&self.taken).cloned().collect());
        }
    }

    fn decided(&mut self, status: &Status, decision: &Decision) -> ControlFlow<()> {
        if let Err(failure) = self.recordings.write(&status.device, decision) {
            self.complain(format_args!("{}: {failure}; the recording of this interface ends", status.device));
        }
        ControlFlow::Continue(())
    }

    fn happened(&mut self, event: &AgentEvent) {
        self.log.event(event, self.args.json);
    }

    fn reload(&mut self) -> Option<Result<Vec<Wish>, String>> {
        Some(self.read_again())
    }

    fn reloaded(&mut self, applies: bool) {
        let Some(Next { config, recordings, places }) = self.next.take() else { return };
        if applies {
            self.places = places;
            self.record(&config, recordings);
            if metrics(&config) != self.listen {
                self.complain("metrics.listen takes effect at the next start");
            }
            if config.admission.is_some() && self.admission.is_none() {
                self.complain("admission takes effect at the next start");
            }
            if let (Some(before), Some(after)) = (&mut self.admission, config.admission) {
                let is_moved = before.port != after.port;
                *before = after;
                if is_moved {
                    self.complain("admission.port takes effect at the next start");
                }
            }
        }
        restore_on_panic(self.places.iter().chain(&self.taken).cloned().collect());
    }

    fn admission(&self) -> Option<(Admission, PathBuf)> {
        Some((self.admission.clone()?, self.args.state.clone()))
    }
}
