//! `sluice attach`, `sluice detach` and `sluice record`.

use crate::args;
use crate::console::print;
use crate::failure::{FAILED, Failure};
use control::{Controller, LimitController as _, Name};
use lab::live;
use linux::agent::{self, Signals};
use linux::recording::Decision;
use linux::{Attached, Capabilities, Device, Observed, Place, Quality, Start, Wish};
use queue::Settings;
use std::fs::File;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use units::Duration;

pub(super) fn attach(args: &args::Attach) -> Result<(), Failure> {
    let settings = settings(&args.policy)?;
    let mut controller = controller(&settings)?;
    let place = place(&args.queue);
    let start = start(&settings, &controller);
    let signals = Signals::take_over()?;
    if !args.dry_run {
        restore_on_panic(&place);
    }
    let wish = Wish { place, settings, backend: args.backend, dry_run: args.dry_run, force: args.force };
    let Attached { mut device, why } = linux::attach(&wish, &start)?;
    if let Some(why) = agent::obstacle(controller.name(), device.as_ref()) {
        return Err(Failure::wrong(why));
    }
    eprint!("{}", opening(device.as_ref(), &controller, args.dry_run, why.as_deref()));
    let mut file = args.record.as_deref().map(create).transpose()?;
    let mut broken = None;
    let mut tell = |decision: &Decision| {
        let told = tell(decision, args.json).and_then(|()| file.as_mut().map_or(Ok(()), |file| write(file, decision)));
        told.map_or_else(
            |failure| {
                broken = Some(failure);
                ControlFlow::Break(())
            },
            ControlFlow::Continue,
        )
    };
    agent::govern(device.as_mut(), &mut controller, start.limit, &signals, &mut tell)?;
    broken.map_or(Ok(()), Err)
}

pub(super) fn detach(args: &args::Detach) -> Result<(), Failure> {
    let place = place(&args.queue);
    let done = linux::detach(&place)?;
    let said = if done { "has its former queue back" } else { "was not governed" };
    print(&format!("{} {said}\n", place.device))
}

pub(super) fn record(args: &args::Record) -> Result<(), Failure> {
    let settings = settings(&args.policy)?;
    let mut controller = controller(&settings)?;
    let start = start(&settings, &controller);
    let signals = Signals::take_over()?;
    let mut device = Observed::new(&place(&args.queue), &start)?;
    let mut file = create(&args.file)?;
    let mut broken = None;
    let mut tell = |decision: &Decision| match write(&mut file, decision) {
        Ok(()) => ControlFlow::Continue(()),
        Err(failure) => {
            broken = Some(failure);
            ControlFlow::Break(())
        }
    };
    agent::govern(&mut device, &mut controller, start.limit, &signals, &mut tell)?;
    broken.map_or(Ok(()), Err)
}

/// The settings of a queue that were typed.
pub(super) fn settings(policy: &args::Policy) -> Result<Settings, Failure> {
    let mut sets = policy.set.clone();
    sets.extend(policy.controller.map(|name| format!("controller={name}")));
    let settings = live::settings(&sets).map_err(Failure::wrong)?;
    let Some(target) = policy.target_delay else { return Ok(settings) };
    let Some(key) = live::target_key(settings.controller) else {
        let aiming = Name::ALL.iter().filter(|name| live::target_key(**name).is_some());
        let aiming: Vec<&str> = aiming.map(|name| name.as_str()).collect();
        return Err(Failure::wrong(format!(
            "--target-delay {target}: the controller {} aims at no delay; these do: {}",
            settings.controller,
            aiming.join(", ")
        )));
    };
    sets.push(format!("{key}={target}"));
    live::settings(&sets).map_err(Failure::wrong)
}

/// The controller of `settings`.
pub(super) fn controller(settings: &Settings) -> Result<Controller, Failure> {
    settings.build_controller().map_err(|invalid| Failure::wrong(invalid.to_string()))
}

fn place(queue: &args::Queue) -> Place {
    Place { device: queue.device.clone(), parent: queue.parent, state_folder: queue.state.clone() }
}

fn start(settings: &Settings, controller: &Controller) -> Start {
    let limit = controller.initial().unwrap_or(settings.limit);
    Start { limit, measures: controller.measures(), every: agent::look_every(controller), at: agent::now() }
}

/// A fault in Sluice must not leave the interface with a queue that nobody governs.
fn restore_on_panic(place: &Place) {
    let (folder, device, parent): (PathBuf, String, u32) =
        (place.state_folder.clone(), place.device.clone(), place.parent);
    let state = linux::Restorer::new(&folder, &device, parent);
    std::panic::set_hook(Box::new(move |panic| {
        eprintln!("error: this is a fault in Sluice: {panic}");
        match state.restore() {
            Ok(()) => eprintln!("{device} has its former queue back"),
            Err(error) => eprintln!("error: {error}; `sluice detach {device}` tries again"),
        }
        std::process::exit(i32::from(FAILED));
    }));
}

fn opening(device: &dyn Device, controller: &Controller, dry_run: bool, why: Option<&str>) -> String {
    let Capabilities { kind, purges, sojourn, departure_gap, service, .. } = device.capabilities();
    let (name, controller) = (device.name(), controller.name().as_str());
    let mut text = if dry_run {
        format!("{name}: looking at the queue that is there, with {controller}; nothing is changed\n")
    } else {
        format!("{name}: {kind}, governed by {controller}; Ctrl-C puts the former queue back\n")
    };
    text.extend(why.map(|why| format!("  not by our own discipline in BPF: {why}\n")));
    for (what, quality) in
        [("queuing delay", sojourn), ("time between departures", departure_gap), ("service", service)]
    {
        let line = match quality {
            Quality::Measured => String::new(),
            Quality::Estimated(how) => format!("  {what}: estimated ({how})\n"),
            Quality::Absent => format!("  {what}: not measured\n"),
        };
        text.push_str(&line);
    }
    if !purges && !dry_run {
        text += "  a lower limit meets packets that come; those that wait leave as the link takes them\n";
    }
    text
}

fn tell(decision: &Decision, json: bool) -> Result<(), Failure> {
    if json { print(&line(decision)?) } else { print(&(row(decision) + "\n")) }
}

/// A decision for a person.
pub(super) fn row(decision: &Decision) -> String {
    let Decision { at, seen, limit } = decision;
    let ms = |span: Duration| format!("{:.1} ms", span.as_secs_f64() * 1e3);
    format!(
        "{:>9.2} s  limit {:<14} backlog {:>6}  delay {:>10}  gap {:>9}  sent {:>7}  dropped {:>7}",
        at.as_secs_f64(),
        limit.to_string(),
        seen.backlog.packets,
        ms(seen.sojourn.mean),
        ms(seen.departure_gap.mean),
        seen.sent.packets,
        seen.dropped.packets
    )
}

/// A decision as a line of a recording.
pub(super) fn line(decision: &Decision) -> Result<String, Failure> {
    let line = serde_json::to_string(decision).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(line + "\n")
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| Failure::wrong(format!("cannot write {}: {error}", path.display())))
}

fn write(file: &mut File, decision: &Decision) -> Result<(), Failure> {
    let line = line(decision)?;
    file.write_all(line.as_bytes()).map_err(|error| Failure::failed(format!("cannot write the recording: {error}")))
}
