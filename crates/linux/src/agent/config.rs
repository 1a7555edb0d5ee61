//! The agent's configuration: which interfaces it governs, and how.

use crate::admission::Settings as Admission;
use crate::agent::patterns::is_pattern;
use crate::device::wish::{Backend, Place, Wish, class, is_name};
use crate::kernel::rtnetlink::ROOT;
use crate::telemetry::serve::address::Address;
use queue::Settings;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use units::{Duration, Positive};

/// The file that `sluice agent` reads: the queues to govern and where metrics are served.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Interfaces by their names; `*wifi`: one of each radio, and `*`: these and all others whose drivers push back, also of
    /// those that come later.
    #[serde(default)]
    pub interface: BTreeMap<String, Interface>,
    /// Metrics for Prometheus. Default: none.
    pub metrics: Option<Metrics>,
    /// Answers and forwards probes of flows that ask for admission. Default: none.
    pub admission: Option<Admission>,
}

/// Settings of one interface's queue.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
pub struct Interface {
    /// The keys of a scenario's `[queue]`.
    #[serde(default)]
    pub queue: Settings,
    /// The queue that holds the packets. Default `auto`.
    #[serde(default)]
    pub backend: Backend,
    /// Where on the interface: `root`, or a class of a shaper such as `1:10`. Default `root`.
    #[serde(default = "root", deserialize_with = "parent")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub parent: u32,
    /// Measure and decide; change nothing. Default false.
    #[serde(default)]
    pub dry_run: bool,
    /// Go on even if nothing ever waits. Default false.
    #[serde(default)]
    pub force: bool,
    /// Go on even if a user's queue cannot be restored, or limits the link's rate. Default false.
    #[serde(default)]
    pub replace: bool,
    /// Largest number of segments (GSO) in a packet while the interface is governed: with 1 a limit in packets counts
    /// the link's packets. Default: unchanged.
    pub gso_segments: Option<NonZeroU32>,
    /// Give real-time packets a queue of their own, with strict priority. Default false; always done for a controller
    /// that governs one of the two classes.
    #[serde(default)]
    pub classes: bool,
    /// Exchange the controller's notes with agents of neighbours at the interface, by UDP multicast. Default false.
    #[serde(default)]
    pub notes: bool,
    /// Queueing delay at which turns and the knobs of mac80211 aim, above zero. Default 100 ms. A controller has its own.
    pub target_delay: Option<Positive<Duration>>,
    /// Longest round of the stations' turns, above zero; shorter rounds cost goodput. Default: as long as it takes.
    pub bulk_delay: Option<Positive<Duration>>,
    /// A second controller, of real time, which may only order marks: the keys of a scenario's `[queue]` that concern a
    /// controller. Default: none.
    pub real_time: Option<Settings>,
    /// File for intervals and decisions, for `sluice replay`. Default: none.
    pub record: Option<PathBuf>,
}

/// The table `[metrics]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Where metrics are served: the path of a UNIX socket, or a loopback address and port.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub listen: Address,
}

impl Config {
    /// Returns the queues to govern; agents keep their state in `folder`.
    pub fn wishes(&self, folder: &Path) -> Result<Vec<Wish>, String> {
        if let Some(admission) = &self.admission {
            if admission.interfaces.is_empty() {
                return Err("admission.interfaces: name at least one interface, or leave out the table".into());
            }
            admission.interfaces.iter().try_for_each(|device| named("admission.interfaces", device))?;
            if admission.interfaces.iter().any(|device| device == "lo") {
                return Err("admission.interfaces: programs of this machine are always heard; leave out lo".into());
            }
        } else if self.interface.is_empty() {
            return Err("no interface is named: give at least one table [interface.NAME]".into());
        }
        self.interface.iter().map(|(device, interface)| wish(device, interface, folder)).collect()
    }

    /// Takes out the interfaces whose settings no queue can have, and says why of each: the others are governed.
    pub fn take_out_wrong(&mut self, folder: &Path) -> Vec<String> {
        let before = self.interface.len();
        let mut wrong = Vec::new();
        self.interface.retain(|device, interface| match wish(device, interface, folder) {
            Ok(_) => true,
            Err(why) => {
                wrong.push(why);
                false
            }
        });
        debug_assert_eq!(self.interface.len() + wrong.len(), before);
        wrong
    }
}

fn wish(device: &str, interface: &Interface, folder: &Path) -> Result<Wish, String> {
    named("interface", device)?;
    if is_pattern(device) && interface.record.is_some() {
        return Err(format!("interface.{device}: a recording is of one interface: leave out record"));
    }
    let Interface {
        queue: settings,
        backend,
        parent,
        dry_run,
        force,
        replace,
        gso_segments,
        classes,
        notes,
        target_delay,
        bulk_delay,
        real_time,
        record: _,
    } = interface.clone();
    if notes && dry_run {
        return Err(format!("interface.{device}: a dry run exchanges no notes: leave out notes or dry_run"));
    }
    settings.build_controller(0).map_err(|why| format!("interface.{device}.queue: {why}"))?;
    if let Some(settings) = &real_time {
        settings.build_controller(0).map_err(|why| format!("interface.{device}.real_time: {why}"))?;
    }
    let place = Place { device: device.into(), parent, state_folder: folder.into() };
    Ok(Wish {
        place,
        settings,
        backend,
        dry_run,
        force,
        replace,
        gso_segments,
        classes,
        notes,
        target_delay,
        bulk_delay,
        real_time,
    })
}

/// Checks a name against the kernel's rules for interfaces.
fn named(table: &str, device: &str) -> Result<(), String> {
    if is_name(device) {
        return Ok(());
    }
    Err(format!(
        "{table}.{device}: no interface can have this name: a name has up to 15 bytes, and no space, colon or slash"
    ))
}

const fn root() -> u32 {
    ROOT
}

fn parent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    class(&String::deserialize(deserializer)?).map_err(de::Error::custom)
}
