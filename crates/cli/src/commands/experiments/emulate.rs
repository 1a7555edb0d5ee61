//! `sluice emulate` and `sluice enter`.

use super::targets;
use crate::args;
use crate::console::{complain, print, print_json, width};
use crate::failure::{CANNOT_RUN, Failure, HOLDS, INTERRUPTED, LATE, NOT_FOUND};
use crate::progress::warn;
use ::emulate::live::{self, Bound, Ended, NoVisit, NotRun, Ready, Report, Unavailable};
use ::emulate::{Medium, NotLoaded};
use lab::home;
use lab::run::Timed;
use lab::scenario::{Scenario, Wishes};
use lab::{study, sweep, tables};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::time::Duration;

pub(super) fn emulate(mut args: args::Emulate) -> Result<u8, Failure> {
    let inside = live::inside()?;
    args.file = targets::one(&args.file)?;
    let wishes = Wishes { set: args.set.clone(), base_only: true, ..Wishes::default() };
    let mut scenario = Scenario::load(&args.file, &wishes)?;
    scenario.file = home::name(&args.file, &scenario.id);
    let scenario = scenario.without_variations(args.seed);
    let mut medium = Medium::new(&scenario.base, args.seed)?;
    let Some(inside) = inside else {
        let nodes: Vec<String> = medium.nodes().map(str::to_owned).collect();
        drop(medium);
        if args.fifo {
            let refused =
                |error| Failure::failed(format!("cannot take real-time priority ({error}): leave --fifo out"));
            live::raise().map_err(refused)?;
        }
        return Ok(code(live::again(&nodes)?));
    };
    let bound = Bound { late: Duration::from_nanos(args.late.as_nanos()) };
    let mut begin = |nodes: &[Ready]| {
        for Ready { name, addresses: [v4, v6] } in nodes {
            complain(format_args!("{name}: {v4} {v6}"));
        }
    };
    let mut late = |by: Duration| {
        if args.most_late.is_some() {
            complain(format_args!("warning: a packet was delivered {} ms late", by.as_secs_f64() * 1e3));
        }
    };
    let (report, ended) = live::run(&inside, &mut medium, command(&args.command), bound, &mut begin, &mut late)?;
    let too_late = args.most_late.is_some_and(|most| 100.0 * (1.0 - report.lateness.in_time()) > most);
    let wall_s = medium.now().as_secs_f64();
    let mut outcome = medium.finish();
    if too_late {
        outcome.warnings.push(format!("emulation: {}: the results are not to be trusted", lateness(&report, bound)));
    }
    let cpu_s = report.cpu.as_secs_f64();
    let (run, verdicts) = sweep::judged(&scenario, Timed { outcome, wall_s, cpu_s });
    warn(&study::warnings(std::slice::from_ref(&run)));
    if args.json {
        let mut object = serde_json::to_value(&run).map_err(|error| Failure::failed(error.to_string()))?;
        object["emulation"] = json(&report, bound);
        print_json(&format!("{object}\n"))?;
    } else {
        let width = width();
        let flows = tables::flows(&run.outcome, width);
        let claims = if verdicts.is_empty() { String::new() } else { tables::claims(&verdicts, width) + "\n" };
        let cpu = 100.0 * cpu_s / wall_s.max(1e-9);
        let told = format!("{}; {cpu:.0} % of a core\n", lateness(&report, bound));
        print(&format!("{}\n\n{flows}\n{claims}{}{told}", scenario.title, refused(&report)))?;
    }
    Ok(match ended {
        Ended::Command(status) if status != 0 => u8::try_from(status & 0xff).unwrap_or(u8::MAX),
        _ if too_late => LATE,
        Ended::Interrupted => INTERRUPTED,
        Ended::Command(_) | Ended::Over => HOLDS,
    })
}

pub(super) fn enter(args: &args::Enter) -> Result<u8, Failure> {
    live::visit(&args.node)?;
    let Some(mut command) = command(&args.command) else { return Err(Failure::wrong("there is no command")) };
    // Ctrl-C is for the command, which gets it too.
    let _ = ctrlc::set_handler(|| {});
    command.status().map(code).map_err(|error| not_run(&error))
}

fn command(words: &[OsString]) -> Option<Command> {
    let (program, words) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(words);
    Some(command)
}

/// The exit status that a shell gives a process that ended so.
fn code(ended: ExitStatus) -> u8 {
    let code = ended.code().or_else(|| ended.signal().map(|signal| 128 + signal)).unwrap_or_default();
    u8::try_from(code & 0xff).unwrap_or(u8::MAX)
}

fn not_run(error: &std::io::Error) -> Failure {
    let code = if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN };
    Failure::of_command(code, format!("cannot run the command: {error}"))
}

fn lateness(report: &Report, bound: Bound) -> String {
    let late = report.lateness;
    format!(
        "{:.3} % of {} real packets within {} ms, the latest {:.3} ms late",
        100.0 * late.in_time(),
        late.packets,
        bound.late.as_secs_f64() * 1e3,
        late.max.as_secs_f64() * 1e3
    )
}

/// The packets that were not carried, by reason, as a line; nothing if there are none.
fn refused(report: &Report) -> String {
    let refused = report.refused;
    let counts = [
        (refused.elsewhere, "to addresses of no other real node"),
        (refused.device_full, "dropped in front of a device"),
        (refused.ttl, "whose TTL ran out"),
        (refused.absent, "of nodes off the air"),
        (refused.not_ip, "that are not IP"),
        (refused.too_long, "longer than the MTU"),
    ];
    let told: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if told.is_empty() { String::new() } else { format!("packets not carried: {}\n", told.join(", ")) }
}

fn json(report: &Report, bound: Bound) -> serde_json::Value {
    let (late, refused) = (report.lateness, report.refused);
    serde_json::json!({
        "packets": late.packets,
        "late_after_s": bound.late.as_secs_f64(),
        "late_packets": late.late,
        "in_time_ratio": late.in_time(),
        "lateness_max_s": late.max.as_secs_f64(),
        "refused_packets": {
            "elsewhere": refused.elsewhere,
            "device_full": refused.device_full,
            "ttl": refused.ttl,
            "absent": refused.absent,
            "not_ip": refused.not_ip,
            "too_long": refused.too_long,
        },
    })
}

impl From<Unavailable> for Failure {
    fn from(error: Unavailable) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<NotRun> for Failure {
    fn from(error: NotRun) -> Self {
        match error {
            NotRun::Unavailable(error) => error.into(),
            NotRun::Command(error) => not_run(&error),
        }
    }
}

impl From<NotLoaded> for Failure {
    fn from(error: NotLoaded) -> Self {
        Self::wrong(error.to_string())
    }
}

impl From<NoVisit> for Failure {
    fn from(error: NoVisit) -> Self {
        match error {
            NoVisit::System { .. } => Self::failed(error.to_string()),
            NoVisit::NoEmulation | NoVisit::NoNode { .. } => Self::wrong(error.to_string()),
        }
    }
}
