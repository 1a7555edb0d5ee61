//! The properties from sysfs, nl80211 and debugfs that decide how a machine is governed, as a file without names and
//! addresses. A machine's owner sends it; test machines (`tests/farm.json`) have the same form.

use crate::device::driver::linked;
use crate::error::Error;
use crate::kernel::debugfs::{AQL_FILES, phy_folder};
use crate::kernel::nl80211::{Role, Wireless};
use crate::kernel::rtnetlink::{Link, Route};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;

/// A machine: its kernel's version, its interfaces in order, and its phys under their numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    pub(super) kernel: String,
    pub(super) interfaces: Vec<Interface>,
    pub(super) phys: BTreeMap<u32, Radio>,
}

/// An interface that carries a network, in the form of its link. Its replacement name stands in no other file: `if3`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) phy: Option<u32>,
    pub(super) kind: Option<String>,
    pub(super) hardware: u16,
    pub(super) qdisc: String,
    pub(super) tx_queues: u32,
    /// Module of its driver. No decision depends on it.
    module: Option<String>,
}

/// A phy: nl80211's answers in hexadecimal by the number of the attribute, and debugfs files, null if unreadable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Radio {
    pub(super) attributes: BTreeMap<u16, String>,
    pub(super) debugfs: BTreeMap<String, Option<String>>,
}

/// Reads this machine.
///
/// # Errors
/// The kernel does not answer.
pub fn bundle() -> Result<Machine, Error> {
    let mut wireless = Wireless::open().ok();
    let (mut phys, mut interfaces) = (BTreeMap::new(), Vec::new());
    for Link { index, name, kind, hardware, qdisc, tx_queues, .. } in Route::open()?.links()? {
        let found = wireless.as_mut().map_or(Ok(None), |wireless| wireless.interface(index))?;
        if found.is_some_and(|it| it.role == Role::Other) {
            continue;
        }
        let (phy, module) = (found.map(|it| it.phy), linked(&name, "device/driver/module"));
        if let (Some(wireless), Some(number)) = (&mut wireless, phy) {
            phys.insert(number, radio(wireless, number)?);
        }
        let name = format!("if{}", interfaces.len());
        interfaces.push(Interface { name, phy, kind, hardware, qdisc, tx_queues, module });
    }
    let kernel = rustix::system::uname().release().to_string_lossy().split('-').next().unwrap_or_default().to_owned();
    Ok(Machine { kernel, interfaces, phys })
}

fn radio(wireless: &mut Wireless, number: u32) -> Result<Radio, Error> {
    let folder = phy_folder(&wireless.phy_name(number)?.unwrap_or_default());
    let read = |file: &str| match fs::read_to_string(folder.join(file)) {
        Err(error) if error.kind() != ErrorKind::PermissionDenied => None,
        read => Some((file.to_owned(), read.ok())),
    };
    let hex = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let attributes = wireless.deciding(number)?.into_iter().map(|(kind, value)| (kind, hex(value))).collect();
    Ok(Radio { attributes, debugfs: AQL_FILES.iter().filter_map(|file| read(file)).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file must not contain names, addresses or serial numbers of this machine.
    #[test]
    fn this_machine_is_told_without_its_names_and_addresses_and_read_again() {
        let links = Route::open().unwrap().links().unwrap();
        let text = serde_json::to_string(&bundle().unwrap()).unwrap();
        let read: Machine = serde_json::from_str(&text).unwrap();
        assert!(read.interfaces.len() <= links.len() && !read.interfaces.is_empty());
        for link in &links {
            assert!(!text.contains(&format!("\"{}\"", link.name)), "{}: {text}", link.name);
            let address = fs::read_to_string(format!("/sys/class/net/{}/address", link.name)).unwrap_or_default();
            let bare = address.trim().replace(':', "");
            assert!(bare.is_empty() || bare.chars().all(|digit| digit == '0') || !text.contains(&bare), "{text}");
        }
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        assert!(host.len() < 4 || !text.contains(&host), "{text}");
    }
}
