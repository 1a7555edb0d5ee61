use crate::args;
use crate::failure::{Failure, NO_ANSWER, REFUSED};
use crate::outlet::Outlet;
use control::GateParams;
use linux::admission::SOCKET;
use linux::admission::run::{Ended, Refused, run};
use linux::admission::source::{News, Path, Wanted, Why};
use linux::admission::supervised::NotStarted;
use linux::kernel::now;
use serde_json::json;
use std::process::Command;

pub(super) fn admit(args: &args::Admit) -> Result<u8, Failure> {
    let args::Admit { rate, patience, retries, stagger, new_for, json, .. } = *args;
    let gate = GateParams { patience, retries, stagger, new_for };
    let (destination, port) = args.to;
    let wanted = Wanted { rate, destination, port, agent: args.state.join(SOCKET), gate };
    let [program, words @ ..] = &args.command[..] else { return Err(Failure::wrong("no command is given")) };
    let mut command = Command::new(program);
    command.args(words);
    let refused = match args.refused {
        args::Refused::Stop => Refused::Stop,
        args::Refused::BestEffort => Refused::BestEffort,
    };
    let begun = now();
    // A reader that does not read must not delay the command's sockets.
    let mut log =
        Outlet::stderr().map_err(|error| Failure::failed(format!("cannot write to standard error: {error}")))?;
    let mut tell = |at: units::Instant, news: News| {
        if json {
            let mut object = object(news);
            object["at_s"] = at.since(begun).as_secs_f64().into();
            let _ = log.line(object);
        } else if let Some(words) = words_of(news, args) {
            let _ = log.line(words);
        }
    };
    let ended = run(wanted, refused, command, &mut tell).map_err(|error| match error {
        NotStarted::Supervision(error) => Failure::failed(error),
        NotStarted::Program(error) => Failure::not_run(program, &error),
    })?;
    let by_signal = |signal: i32| u8::try_from(128 + signal).unwrap_or(u8::MAX);
    Ok(match ended {
        // The kernel keeps only the lowest byte of the status.
        Ended::Exited(code) => code.to_le_bytes()[0],
        Ended::Signalled(signal) | Ended::Interrupted(signal) => by_signal(signal),
        Ended::Refused(Why::Bottleneck(_)) => REFUSED,
        Ended::Refused(Why::NoAnswer { .. }) => NO_ANSWER,
    })
}

/// Formats a step of the flow as JSON.
fn object(news: News) -> serde_json::Value {
    let of_path = |what: &str, path: Path| {
        let bottleneck = path.bottleneck.map(units::Rate::as_bps);
        json!({ "what": what, "bottleneck_bps": bottleneck, "hops": path.hops })
    };
    match news {
        News::Probe => json!({ "what": "probe" }),
        News::Admit(path) => of_path("admit", path),
        News::Confirm(path) => of_path("confirm", path),
        News::Regulate => json!({ "what": "regulate" }),
        News::Refuse(Why::Bottleneck(path)) => of_path("refuse", path),
        News::Refuse(Why::NoAnswer { has_agent }) => json!({ "what": "no-answer", "has_agent": has_agent }),
        News::Unreached { sockets } => json!({ "what": "unreached", "sockets": sockets }),
    }
}

/// Formats a step of the flow for people; `None` if nothing changes.
fn words_of(news: News, args: &args::Admit) -> Option<String> {
    let (rate, to) = (args.rate, args.to.0);
    match news {
        News::Probe | News::Confirm(_) | News::Regulate => None,
        News::Admit(Path { bottleneck: Some(bottleneck), .. }) => {
            Some(format!("admitted: the path to {to} can carry {bottleneck}, and the flow asks for {rate}"))
        }
        News::Admit(_) => Some(format!("admitted: no node on the path to {to} limits the rate")),
        News::Refuse(Why::Bottleneck(path)) => {
            let bottleneck = path.bottleneck.unwrap_or_default();
            Some(format!("refused: the path to {to} can carry {bottleneck}, and the flow asks for {rate}"))
        }
        News::Refuse(Why::NoAnswer { has_agent: true }) => Some(format!(
            "no answer from {to}: no route leads to {to}, or a node on the path runs no agent with [admission]"
        )),
        News::Refuse(Why::NoAnswer { has_agent: false }) => Some(format!(
            "no answer: no agent of this machine listens in {}; does its configuration have [admission]?",
            args.state.display()
        )),
        News::Unreached { sockets } => Some(format!("{sockets} sockets of the command keep their traffic class")),
    }
}
