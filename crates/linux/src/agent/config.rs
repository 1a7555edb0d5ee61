//! The agent's configuration: which interfaces it governs, and how.

use crate::admission::Settings as Admission;
use crate::agent::patterns::is_pattern;
use crate::device::wish::{Place, Wish, is_name};
use crate::telemetry::serve::address::Address;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The file that `sluice agent` reads: the queues to govern and where metrics are served.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Settings of each interface. `*wifi`: one interface of each radio; `*`: also every interface that pushes back.
    #[serde(default)]
    pub interface: BTreeMap<String, Wish>,
    /// Metrics for Prometheus. Default: none.
    pub metrics: Option<Metrics>,
    /// Answers and forwards probes of flows that ask for admission. Default: none.
    pub admission: Option<Admission>,
}

/// The table `[metrics]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Where metrics are served: the path of a UNIX socket, or a loopback address with its port.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub listen: Address,
}

impl Config {
    /// Returns the queues to govern; their agent keeps its state in `folder`.
    ///
    /// # Errors
    /// The file names no interface, a name is invalid, or a controller cannot be built from its parameters.
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

    /// Removes interfaces with invalid settings and returns the reasons, so that the valid ones can be governed.
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

fn wish(device: &str, interface: &Wish, folder: &Path) -> Result<Wish, String> {
    named("interface", device)?;
    if is_pattern(device) && interface.record.is_some() {
        return Err(format!("interface.{device}: a recording covers one interface: leave `record` out"));
    }
    if interface.notes && interface.dry_run {
        return Err(format!("interface.{device}: a dry run exchanges no notes: leave `notes` or `dry_run` out"));
    }
    interface.settings.build_controller(0).map_err(|why| format!("interface.{device}.queue: {why}"))?;
    if let Some(settings) = &interface.real_time {
        settings.build_controller(0).map_err(|why| format!("interface.{device}.real_time: {why}"))?;
    }
    let place = Place { device: device.into(), state_folder: folder.into(), ..interface.place };
    // The host program decides where to record.
    Ok(Wish { place, record: None, ..interface.clone() })
}

/// Checks that the kernel allows this name of an interface.
fn named(table: &str, device: &str) -> Result<(), String> {
    if is_name(device) {
        return Ok(());
    }
    Err(format!("{table}.{device}: an interface's name has 1 to 15 bytes, without space, colon or slash"))
}
