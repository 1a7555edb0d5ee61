//! Findings about this machine and its interfaces: what is possible, why more is not, and what would help. Reads only.

mod bundle;
#[cfg(test)]
mod farm_tests;
mod interface;
mod machine;
mod wireless;

pub use bundle::{Machine, bundle};
pub use machine::Finding;

use crate::device::driver::{TO_QUEUES, has_class, linked, past_queues};
use crate::device::looks::Looks;
use crate::device::txq::{Holder, holder};
use crate::error::Error;
use crate::kernel::rtnetlink::Route;
use crate::telemetry::stations::Stations;
use serde::Serialize;
use std::collections::BTreeMap;

/// Findings about this machine and its interfaces.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// Release of the kernel: `6.18.44`.
    pub kernel: String,
    /// Findings about the machine and this process.
    pub machine: Vec<Finding>,
    /// Findings about each interface, under its name.
    pub interfaces: Vec<(String, Vec<Finding>)>,
    /// Stations of each Wi-Fi interface.
    pub wireless: BTreeMap<String, Stations>,
}

/// Examines the machine, and the queue at `parent` of interface `device`, or with `None` of all interfaces.
///
/// # Errors
/// There is no such interface or class, or the kernel does not answer.
pub fn diagnose(device: Option<&str>, parent: u32) -> Result<Diagnosis, Error> {
    let mut route = Route::open()?;
    let links = match device {
        Some(name) => vec![route.link(name)?],
        None => route.links()?,
    };
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    let (granted, in_kernel, in_build) = (machine::privilege(&mut route), machine::bpf(&kernel), machine::build());
    let can_bpf = in_kernel.good && in_build.good;
    let machine = vec![granted, in_kernel, in_build, machine::disciplines(&kernel)];
    let (mut interfaces, mut wireless) = (Vec::new(), BTreeMap::new());
    let looks = Looks::open()?;
    for link in links {
        let holder = holder(link.index)?;
        let mut findings = {
            let users = looks.users(link.index)?;
            has_class(&link, parent, &users, &mut route)?;
            interface::findings((&link, holder), parent, &mut route, &users, can_bpf)?
        };
        let past = past_queues(&link.name);
        findings.extend(past.map(|found| Finding::bad("hardware offload", found, TO_QUEUES)));
        if holder != Holder::NotWifi {
            let module = linked(&link.name, "device/driver/module");
            let (more, stations) = wireless::findings(&link.name, holder, module.as_deref())?;
            findings.extend(more);
            wireless.extend(stations.map(|stations| (link.name.clone(), stations)));
        }
        interfaces.push((link.name, findings));
    }
    Ok(Diagnosis { kernel, machine, interfaces, wireless })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::rtnetlink::ROOT;

    #[test]
    fn each_interface_of_this_machine_is_ruled_on_and_what_is_missing_has_a_fix() {
        let diagnosis = diagnose(None, ROOT).unwrap();
        assert!(diagnosis.interfaces.iter().any(|(name, _)| name == "lo"));
        let of_interfaces = diagnosis.interfaces.iter().flat_map(|(_, findings)| findings);
        for finding in diagnosis.machine.iter().chain(of_interfaces) {
            assert!(finding.good || finding.fix.is_some(), "{finding:?}");
        }
        let one = diagnose(Some("lo"), ROOT).unwrap();
        assert_eq!(one.interfaces.len(), 1);
        assert!(diagnose(Some("no-such-0"), ROOT).is_err());
    }
}
