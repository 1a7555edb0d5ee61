//! `sluice emulate` and `sluice enter`.

use super::reproduce::build;
use super::targets;
use crate::args;
use crate::commands::decisions::line;
use crate::console::{complain, print, print_json, width};
use crate::failure::{Failure, HOLDS, INTERRUPTED, LATE};
use crate::progress::warn;
use ::emulate::live::{self, Counts, Ended, Hidden, NoVisit, NotRun, Ready, Report, Rules};
use ::emulate::{Medium, has_radios};
use experiment::jobs;
use experiment::scenario::Scenario;
use experiment::shell::quoted;
use experiment::watch::Timed;
use experiment::{study, tables};
use lab::capture::Wanted;
use lab::store::Store;
use lab::sweep::{self, Settings};
use std::ffi::OsString;
use std::net::IpAddr;
use std::process::Command;
use std::time::Duration;

/// Share of late packets above which a run warns, if `--most-late` is not given.
const LATE_BY_DEFAULT: f64 = 0.01;

pub(super) fn emulate(args: &args::Emulate) -> Result<u8, Failure> {
    let scenario = targets::scenario(&args.of, true)?.without_variations(args.of.seed);
    if has_radios(&scenario.base) {
        return radios(args, Medium::of_radios(&scenario.base, args.of.seed).map_err(Failure::wrong)?);
    }
    let inside = live::inside().map_err(Failure::failed)?;
    let mut medium = Medium::new(&scenario.base, args.of.seed).map_err(Failure::wrong)?;
    if let Some(gateway) = &args.gateway {
        medium.lead(gateway).map_err(Failure::wrong)?;
    }
    let Some(inside) = inside else { return outside(args, medium) };
    // The folder is made before anything runs, so that a folder that cannot be written is reported at once.
    let store = args.out.as_ref().map(|out| Store::create(out, &scenario.id)).transpose()?;
    if args.pcap.is_some() {
        medium.capture(&Wanted { pcap: args.pcap.clone(), nodes: args.node.clone(), ..Wanted::default() })?;
    }
    let late = Duration::from_nanos(args.late.as_nanos());
    let step = scenario.base.record.series.map(|step| Duration::from_nanos(step.as_nanos()));
    let mut begin = |nodes: &[Ready]| nodes.iter().for_each(|Ready { name, addresses }| ready(name, *addresses));
    let mut first_late = |by: Duration| {
        if args.most_late.is_some() {
            complain(format_args!("warning: a packet was delivered {:.3} ms late", by.as_secs_f64() * 1e3));
        }
    };
    let rules = Rules { late, step };
    let done = live::run(&inside, &mut medium, command(&args.command), rules, &mut begin, &mut first_late);
    let (Report { emulation, series, wall, cpu }, ended) = done.map_err(|error| cannot_run(error, args))?;
    medium.end_capture()?;
    let lateness = emulation.lateness();
    let too_late = args.most_late.is_some_and(|most| 100.0 * (1.0 - emulation.in_time_ratio) > most);
    let wall_s = wall.as_secs_f64();
    let mut outcome = medium.finish();
    if matches!(ended, Ended::CutOff(_)) {
        outcome.warnings.push("emulation: the scenario ended before the command: make `duration` longer".to_owned());
    }
    if too_late {
        outcome.warnings.push(format!("emulation: {lateness}: do not trust these results"));
    } else if args.most_late.is_none() && 1.0 - emulation.in_time_ratio > LATE_BY_DEFAULT {
        let remedy = if args.fifo { "this machine is too busy or too slow" } else { "try `--fifo`" };
        outcome.warnings.push(format!("emulation: {lateness}: {remedy}"));
    }
    if let Some(all) = &mut outcome.series {
        all.emulation = series;
    }
    let cpu_s = cpu.as_secs_f64();
    let (mut run, verdicts) = jobs::judged(&scenario, Timed { outcome, wall_s, cpu_s });
    run.emulation = Some(emulation);
    warn(&study::warnings(std::slice::from_ref(&run)));
    if args.json {
        print_json(&line(&run)?)?;
    } else {
        let width = width();
        let flows = tables::flows(&run.outcome, width);
        let claims = if verdicts.is_empty() { String::new() } else { tables::claims(&verdicts, width) + "\n" };
        let refused = emulation.refused_packets.words();
        let refused = if refused.is_empty() { refused } else { refused + "\n" };
        let cpu = 100.0 * cpu_s / wall_s.max(1e-9);
        print(&format!("{}\n\n{flows}\n{claims}{refused}{lateness}; {cpu:.0} % of a core\n", scenario.title))?;
    }
    if let Some(store) = store {
        let command = words(args, &scenario);
        let settings = Settings { threads: 1, build: build()?, command, traces: None };
        sweep::keep(&scenario, &store, &settings, run, verdicts)?;
    }
    Ok(match ended {
        Ended::Command(status) | Ended::CutOff(status) if status != 0 => code(status),
        _ if too_late => LATE,
        Ended::Interrupted => INTERRUPTED,
        Ended::Command(_) | Ended::CutOff(_) | Ended::Over => HOLDS,
    })
}

/// Runs the network as the medium of the kernel's radios.
fn radios(args: &args::Emulate, mut medium: Medium) -> Result<u8, Failure> {
    if args.pcap.is_some() || args.gateway.is_some() || args.out.is_some() {
        return Err(Failure::wrong("with mac80211_hwsim, `--pcap`, `--gateway` and `--out` are not supported yet"));
    }
    let done = live::radios(&mut medium, command(&args.command));
    let (counts, ended) = done.map_err(|error| cannot_run(error, args))?;
    let Counts { acknowledged, failed, to_all, refused } = counts;
    let mut outcome = medium.finish();
    outcome.flows.retain(|flow| flow.received_packets > 0);
    if args.json {
        print_json(&line(&outcome)?)?;
    }
    complain(format_args!(
        "frames of the radios: {acknowledged} acknowledged, {failed} given up, {to_all} broadcast, {refused} not sent"
    ));
    Ok(match ended {
        Ended::Command(status) | Ended::CutOff(status) => code(status),
        Ended::Interrupted => INTERRUPTED,
        Ended::Over => HOLDS,
    })
}

/// Makes the gateway's device outside of the namespaces, and runs all else within them.
fn outside(args: &args::Emulate, medium: Medium) -> Result<u8, Failure> {
    let host = args.gateway.is_some().then(|| live::host(&medium)).transpose().map_err(Failure::failed)?;
    let host = host.map(|(host, hidden)| {
        if let Some(hidden) = hidden {
            ready("this machine", Medium::host());
            for Hidden { address, device } in hidden {
                complain(format_args!(
                    "warning: a node and a host at {device} share the address {address}: programs reach only the node"
                ));
            }
        }
        host
    });
    let nodes: Vec<String> = medium.nodes().map(str::to_owned).collect();
    drop(medium);
    if args.fifo {
        let refused = |error| Failure::failed(format!("cannot get real-time priority ({error}): run without --fifo"));
        live::raise().map_err(refused)?;
    }
    live::again(&nodes, host).map(live::status).map(code).map_err(Failure::failed)
}

fn ready(name: &str, [v4, v6]: [IpAddr; 2]) {
    complain(format_args!("{name}: {v4} {v6}"));
}

/// Returns the command line that repeats this emulation.
fn words(args: &args::Emulate, scenario: &Scenario) -> String {
    let mut words = targets::command("sluice emulate", scenario, &args.of);
    words.extend(args.gateway.iter().map(|node| format!("--gateway {}", quoted(node))));
    words.extend((!args.command.is_empty()).then(|| "--".to_owned()));
    words.extend(args.command.iter().map(|word| quoted(&word.to_string_lossy())));
    words.join(" ")
}

pub(super) fn enter(args: &args::Enter) -> Result<u8, Failure> {
    let wrong = |error| if let NoVisit::System { .. } = error { Failure::failed(error) } else { Failure::wrong(error) };
    live::visit(&args.node).map_err(wrong)?;
    let Some(mut command) = command(&args.command) else { return Err(Failure::wrong("no command is given")) };
    // Ctrl-C also reaches the command, which decides what to do.
    let _ = ctrlc::set_handler(|| {});
    command.status().map(live::status).map(code).map_err(|error| Failure::not_run(&args.command[0], &error))
}

fn command(words: &[OsString]) -> Option<Command> {
    let (program, words) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(words);
    Some(command)
}

/// Returns a status in the range of a process's exit code.
fn code(status: i32) -> u8 {
    u8::try_from(status & 0xff).unwrap_or(u8::MAX)
}

fn cannot_run(error: NotRun, args: &args::Emulate) -> Failure {
    match error {
        NotRun::Unavailable(error) => Failure::failed(error),
        NotRun::Command(error) => Failure::not_run(&args.command[0], &error),
    }
}
