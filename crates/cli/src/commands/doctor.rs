use super::decisions::line;
use super::stations;
use crate::args;
use crate::console::{print, print_json, width};
use crate::failure::Failure;
use experiment::shell::quoted;
use linux::{Diagnosis, Finding};

pub(super) fn doctor(args: &args::Doctor) -> Result<(), Failure> {
    if let Some(file) = &args.bundle {
        let text = line(&linux::bundle()?)?;
        return std::fs::write(file, text).map_err(|error| Failure::unwritten(&error, file.display()));
    }
    let diagnosis = linux::diagnose(args.device.as_deref(), args.parent)?;
    if args.json {
        return print_json(&line(&diagnosis)?);
    }
    let device = args.device.as_deref().map_or_else(|| "DEV".to_owned(), quoted);
    let next = format!(
        "\nto compare queues here: sluice forecast {device} simulates them (Wi-Fi), sudo sluice trial {device} uses \
         live traffic\n"
    );
    print(&(text(&diagnosis) + &next))
}

fn text(diagnosis: &Diagnosis) -> String {
    let mut text = format!("kernel {}\n", diagnosis.kernel);
    text.extend(diagnosis.machine.iter().map(row));
    for (name, findings) in &diagnosis.interfaces {
        text.extend(["\n", name, "\n"]);
        text.extend(findings.iter().map(row));
    }
    let modes = stations::modes(&diagnosis.wireless, width());
    let wireless = stations::text(&diagnosis.wireless, width());
    if !wireless.is_empty() {
        text.extend(["\nstations\n", &modes, &wireless]);
    }
    text
}

fn row(finding: &Finding) -> String {
    let Finding { topic, good, found, fix } = finding;
    let fix = fix.as_ref().map_or_else(String::new, |fix| format!("       fix: {fix}\n"));
    format!("  {} {topic}: {found}\n{fix}", if *good { "ok  " } else { "bad " })
}
