//! `sluice arena`.

use super::report;
use super::reproduce::{build, object, reproduce, told};
use crate::args;
use crate::console::{complain, print, print_json, width};
use crate::failure::{DIFFERS, Failure, HOLDS};
use crate::progress::{Console, warn};
use experiment::homes::{self, ARMS, Home, judge};
use experiment::{jobs, tables};
use lab::store::{Store, write_whole};
use lab::sweep::{self, Settings};
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn arena(args: args::Arena) -> Result<u8, Failure> {
    let Some(count) = args.homes else { return reproduce(args.into()) };
    let homes: Vec<Home> = (args.first..).take(count).map(Home::draw).collect();
    match &args.write {
        Some(folder) => write(&homes, folder),
        None => compared(&homes, args),
    }
}

fn write(homes: &[Home], folder: &Path) -> Result<u8, Failure> {
    let unwritable = |error| Failure::unwritten(&error, format!("cannot write {}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(unwritable)?;
    for Home { number, text, .. } in homes {
        write_whole(&folder.join(format!("home-{number}.toml")), text.as_bytes())?;
    }
    Ok(HOLDS)
}

/// Runs all arms in all homes, and judges them.
fn compared(homes: &[Home], args: args::Arena) -> Result<u8, Failure> {
    let command = command(&args);
    let args::Arena { mut arms, seeds, threads, out, json, .. } = args;
    arms.push(ARMS[0].to_owned());
    let scenario = homes::scenario(homes, &arms, seeds).map_err(|fault| Failure::failed(fault.to_string()))?;
    let folder = out.unwrap_or_else(|| PathBuf::from("results").join(homes::ID));
    let store = Store::create(&folder, &scenario.id)?;
    let settings = Settings { threads: threads.unwrap_or(0), build: build()?, command, traces: None };
    let mut console = Console::new()?;
    console.begin(&scenario.id, jobs::simulated_time(&scenario));
    let done = sweep::run(&scenario, &store, &settings, &console);
    console.end();
    let mut study = done.map_err(|error| told(error, &folder))?;
    warn(&study.warnings());
    let rows = judge::rows(homes, &study.runs);
    judge::judge(&mut study, &rows);
    let keys: Vec<String> = jobs::jobs(&scenario, &settings.build).into_iter().map(|job| job.key).collect();
    store.finish(&study, &keys)?;
    let studies = [study];
    let [study] = &studies;
    let file = folder.join("report.html");
    let report =
        report::write(&studies, &file, None)?.map_err(|error| complain(format_args!("no report: {error}"))).ok();
    let report = report.map(|()| file);
    if json {
        let mut object = object(study, &folder, report.as_deref());
        object["homes"] = serde_json::json!(rows);
        print_json(&format!("{object}\n"))?;
    } else {
        print(&format!("{}\n{}", judge::text(&rows, width()), tables::study(study, width(), false)))?;
        if let Some(file) = report {
            print(&format!("report: {}\n", file.display()))?;
        }
    }
    Ok(if study.claims.iter().any(|claim| claim.verdict.fails()) { DIFFERS } else { HOLDS })
}

/// Returns the command that makes these runs again.
fn command(args: &args::Arena) -> String {
    let mut words = vec![format!("sluice arena --homes {}", args.homes.unwrap_or(1))];
    words.extend((args.first != 1).then(|| format!("--first {}", args.first)));
    words.extend(args.seeds.map(|seeds| format!("--seeds {seeds}")));
    words.extend((args.arms.len() < ARMS.len() - 1).then(|| format!("--arms {}", args.arms.join(","))));
    words.join(" ")
}
