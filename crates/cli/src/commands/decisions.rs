//! Settings of a queue from the command line, and decisions formatted as lines.

use crate::args;
use crate::failure::Failure;
use control::Name;
use lab::live;
use lab::recorded::Decision;
use queue::Settings;
use units::Duration;

pub(super) fn settings(policy: &args::Policy) -> Result<Settings, Failure> {
    let mut sets = policy.set.clone();
    sets.extend(policy.controller().map(|name| format!("controller={name}")));
    let settings = live::settings(&sets).map_err(Failure::wrong)?;
    let Some(target) = policy.target_delay else { return Ok(settings) };
    let Some(key) = live::target_key(settings.controller) else {
        let aiming = Name::ALL.iter().filter(|name| live::target_key(**name).is_some());
        let aiming: Vec<&str> = aiming.map(|name| name.as_str()).collect();
        return Err(Failure::wrong(format!(
            "--target-delay {target}: the controller {} has no target delay; these have one: {}",
            settings.controller,
            aiming.join(", ")
        )));
    };
    sets.push(format!("{key}={target}"));
    live::settings(&sets).map_err(Failure::wrong)
}

/// Formats a decision as a line for people.
pub(super) fn row(decision: &Decision) -> String {
    let Decision { at, seen, limit, rate, .. } = decision;
    let rate = rate.map(|rate| format!("rate {rate}  ")).unwrap_or_default();
    let ms = |span: Duration| format!("{:.1} ms", span.as_secs_f64() * 1e3);
    format!(
        "{:>9.2} s  limit {:<14} {rate}backlog {:>6}  delay {:>10}  gap {:>9}  sent {:>7}  dropped {:>7}",
        at.as_secs_f64(),
        limit.to_string(),
        seen.backlog.packets,
        ms(seen.sojourn.mean),
        ms(seen.departure_gap.mean),
        seen.sent.packets,
        seen.dropped.packets
    )
}

/// Formats a decision as a line of a recording, or another value as a line of JSON.
pub(super) fn line(value: &impl serde::Serialize) -> Result<String, Failure> {
    let line = serde_json::to_string(value).map_err(Failure::failed)?;
    Ok(line + "\n")
}
