//! Recordings of an agent. Earlier contents of a file survive a restart and refused settings.

use super::decisions::line;
use crate::failure::Failure;
use crate::outlet::Outlet;
use linux::agent::config::Config;
use linux::telemetry::Decision;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

#[derive(Debug, Default)]
pub(super) struct Recordings(BTreeMap<String, Recording>);

#[derive(Debug)]
struct Recording {
    path: PathBuf,
    file: Outlet,
    /// True if this recording created the file.
    is_made: bool,
}

impl Drop for Recording {
    fn drop(&mut self) {
        if self.is_made && !self.file.holds_something() {
            // If an empty file remains, it does no harm.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Recordings {
    /// Opens the files that only the new `config` names. Their content stays until the recordings [begin](Self::begin).
    /// Errors: a file cannot be written, or two interfaces name it.
    pub(super) fn opened(&self, config: &Config) -> Result<Self, String> {
        let mut new = Self::default();
        for (device, path) in named(config) {
            if self.goes_on(device, path) {
                continue;
            }
            let is_made = !path.exists();
            let file = Outlet::open(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            let going_on = named(config).filter(|(other, path)| self.goes_on(other, path));
            let others = going_on.filter_map(|(other, _)| Some((other, self.0.get(other)?)));
            let mut others = others.chain(new.0.iter().map(|(other, open)| (other.as_str(), open)));
            let shared = others.find(|(_, open)| open.file.is_same(&file)).map(|(other, _)| other.to_owned());
            new.0.insert(device.to_owned(), Recording { path: path.to_owned(), file, is_made });
            if let Some(other) = shared {
                return Err(format!("{other} and {device} share one recording file: {}", path.display()));
            }
        }
        Ok(new)
    }

    fn goes_on(&self, device: &str, path: &Path) -> bool {
        self.0.get(device).is_some_and(|open| open.path == path)
    }

    /// Starts recordings that `config` adds, ends those that it no longer names, and continues all other recordings.
    /// What a file contained before moves to a file with a number in its name. Returns the failures as texts.
    pub(super) fn begin(&mut self, config: &Config, new: Self) -> Vec<String> {
        self.0.retain(|device, open| named(config).any(|wanted| wanted == (device.as_str(), open.path.as_path())));
        let mut failed = Vec::new();
        for (device, mut recording) in new.0 {
            match recording.begin() {
                Ok(()) => drop(self.0.insert(device, recording)),
                Err(error) => failed.push(format!("{device} is not recorded: {error}")),
            }
        }
        failed
    }

    /// Records a decision. Once a write has failed, nothing more is written.
    pub(super) fn write(&mut self, device: &str, decision: &Decision) -> Result<(), Failure> {
        let Some(recording) = self.0.get_mut(device) else { return Ok(()) };
        let written = line(decision)
            .and_then(|line| recording.file.put(&line).map_err(|error| Failure::unwritten(&error, "the recording")));
        if written.is_err() {
            self.0.remove(device);
        }
        written
    }

    /// Writes what is still queued. Returns which recordings are incomplete.
    pub(super) fn finish(&mut self) -> Vec<String> {
        let finished = self.0.iter_mut().filter_map(|(device, recording)| match recording.file.finish() {
            Ok(0) => None,
            Ok(dropped) => Some(format!("{device}: its recording lacks {dropped} intervals")),
            Err(error) => Some(format!("{device}: cannot write the recording: {error}")),
        });
        let told = finished.collect();
        self.0.clear();
        told
    }
}

impl Recording {
    fn begin(&mut self) -> io::Result<()> {
        if self.file.holds_something() {
            let numbered = |number: u32| {
                let mut path = self.path.clone().into_os_string();
                path.push(format!(".{number}"));
                PathBuf::from(path)
            };
            let free = (1..=u32::MAX).map(numbered).find(|path| fs::symlink_metadata(path).is_err());
            fs::rename(&self.path, free.ok_or(io::ErrorKind::AlreadyExists)?)?;
            self.is_made = true;
        }
        // The file may have disappeared when its earlier recording ended.
        self.file = Outlet::open(&self.path)?;
        Ok(())
    }
}

fn named(config: &Config) -> impl Iterator<Item = (&str, &Path)> {
    config.interface.iter().filter_map(|(device, interface)| Some((device.as_str(), interface.record.as_deref()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(recorded: &[(&str, &Path)]) -> Config {
        let of = |(device, path): &(&str, &Path)| format!("[interface.{device}]\nrecord = {path:?}\n");
        let text: String = recorded.iter().map(of).collect();
        experiment::scenario::parse("agent.toml", text.as_bytes()).unwrap()
    }

    #[test]
    fn what_was_recorded_before_stays_also_if_new_settings_are_refused_or_the_agent_starts_again() {
        let folder = tempfile::tempdir().unwrap();
        let [one, new] = ["one", "new"].map(|name| folder.path().join(name));
        let held = |name: &str| fs::read_to_string(folder.path().join(name)).ok();
        fs::write(&one, "before\n").unwrap();
        let wanted = config(&[("v0", &one), ("v1", &new)]);
        let mut running = Recordings::default();
        // Refused settings change nothing.
        drop(running.opened(&wanted).unwrap());
        assert_eq!((held("one").as_deref(), held("new")), (Some("before\n"), None));
        for start in 1..=2 {
            running = Recordings::default();
            let opened = running.opened(&wanted).unwrap();
            assert_eq!(running.begin(&wanted, opened), Vec::<String>::new());
            assert_eq!((held("one").as_deref(), held("new").as_deref()), (Some(""), Some("")));
            running.0.get_mut("v0").unwrap().file.put(&format!("start {start}\n")).unwrap();
            // If the settings are read again, the recordings continue.
            assert!(running.opened(&wanted).unwrap().0.is_empty());
            assert_eq!(running.finish(), Vec::<String>::new());
        }
        let all = ["one", "one.1", "one.2", "one.3", "new", "new.1"].map(held);
        assert_eq!(
            all,
            [Some("start 2\n"), Some("before\n"), Some("start 1\n"), None, None, None]
                .map(|text| text.map(str::to_owned))
        );
    }

    #[test]
    fn two_interfaces_have_no_common_recording_by_whatever_names_and_one_may_take_over_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let [one, link] = ["one", "link"].map(|name| folder.path().join(name));
        fs::write(&one, "before\n").unwrap();
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let mut running = Recordings::default();
        for both in [config(&[("v0", &one), ("v1", &one)]), config(&[("v0", &one), ("v1", &link)])] {
            let refused = running.opened(&both).unwrap_err();
            assert!(refused.contains("v0 and v1 share one recording file"), "{refused}");
        }
        let first = config(&[("v0", &one)]);
        let opened = running.opened(&first).unwrap();
        running.begin(&first, opened);
        assert!(running.opened(&config(&[("v0", &one), ("v1", &link)])).is_err(), "it is open");
        let second = config(&[("v1", &one)]);
        let opened = running.opened(&second).unwrap();
        assert_eq!(running.begin(&second, opened), Vec::<String>::new());
        assert_eq!(running.0.keys().collect::<Vec<_>>(), ["v1"]);
        assert_eq!(fs::read_to_string(folder.path().join("one.1")).unwrap(), "before\n");
    }
}
