//! Decisions about the machines in `tests/farm.json`: what holds the packets, which grade is advised, which settings of
//! mac80211 can be set, and which interfaces `*wifi` means.

use super::bundle::{Interface, Machine, Radio};
use super::interface::possible;
use crate::Place;
use crate::agent::patterns::{Known, over};
use crate::device::driver::Driver;
use crate::device::knobs::settable;
use crate::device::txq::Holder;
use crate::device::wish::Wish;
use crate::kernel::debugfs::Aql;
use crate::kernel::nl80211::{Phy, told};
use crate::kernel::rtnetlink::{Link, ROOT};
use crate::kernel::wire::Request;
use queue::Settings;
use serde::Deserialize;

const FARM: &str = include_str!("../../tests/farm.json");

/// A machine, written by hand in the form of `sluice doctor --bundle`. The files of AQL are as `net/mac80211/debugfs.c` writes
/// them in Linux 5.4 (none), 5.13, 5.17 and 5.19 (for 5.15: no `aql_pending`), 6.1, 6.6, 6.10 (for 6.12), 6.17 and 7.2 (which
/// has a line for multicast, as `OpenWrt`'s mac80211 has by another name). They were compared with sources, as was what most
/// drivers say of airtime and transmit queues (not rt2800usb). `tests/farm.py` runs the commands on each.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixture {
    name: String,
    machine: Machine,
    expected: Expected,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    holder: String,
    with_bpf: String,
    without: String,
    /// `set` if airtime queue limits can be set, else part of the remark that says why not.
    airtime: String,
    /// Interfaces that `*wifi` and `*` mean.
    radios: Vec<String>,
    all: Vec<String>,
}

/// Returns the parsed answer of nl80211 about a phy.
fn answer(number: u32, radio: &Radio) -> Phy {
    let byte = |hex: &str, at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
    let value = |hex: &str| -> Vec<u8> { (0..hex.len()).step_by(2).map(|at| byte(hex, at)).collect() };
    let request = Request::new(28, 0, &[3, 1, 0, 0]).with(1, &number.to_ne_bytes());
    let request = radio.attributes.iter().fold(request, |all, (kind, hex)| all.with(*kind, &value(hex)));
    told(&request.finish(1)).phy
}

fn link(interface: &Interface) -> Link {
    let Interface { name, kind, hardware, qdisc, tx_queues, .. } = interface.clone();
    Link { name, kind, hardware, qdisc, tx_queues, ..Link::default() }
}

/// Returns the interfaces that the settings of a pattern govern.
fn governed(pattern: &str, known: &[Known]) -> Vec<String> {
    let place = Place { device: pattern.into(), parent: ROOT, state_folder: "/run".into() };
    let wishes = over(&[Wish::new(place, Settings::default())], known);
    wishes.into_iter().map(|wish| wish.place.device).collect()
}

#[test]
fn every_machine_of_the_farm_is_decided_on_as_its_driver_needs() {
    let farm: Vec<Fixture> = serde_json::from_str(FARM).expect("the farm is read");
    assert!(farm.len() >= 10, "{}", farm.len());
    for Fixture { name, machine, expected } in farm {
        let mut known = Vec::new();
        for interface in &machine.interfaces {
            let link = link(interface);
            let context = format!("{name}, Linux {}: {}", machine.kernel, link.name);
            let Some(number) = interface.phy else {
                let is_wired = Driver::of(&link, Holder::NotWifi, &[]).0 == Driver::PushesBack;
                known.push(Known { name: link.name, phy: None, is_wired });
                continue;
            };
            let (radio, folder) = (&machine.phys[&number], tempfile::tempdir().expect("a folder"));
            for (file, text) in &radio.debugfs {
                std::fs::write(folder.path().join(file), text.as_deref().unwrap_or_default()).expect("a file");
            }
            let phy = answer(number, radio);
            let holder = Holder::of(Some(&phy));
            assert_eq!(format!("{holder:?}"), expected.holder, "{context}");
            let (knobs, remarks) = settable(&phy, &Aql::at(folder.path().into()));
            let airtime = knobs.map_or_else(|| remarks.join("; "), |_| "set".into());
            assert!(airtime.contains(&expected.airtime), "{context}: {airtime}");
            let lost = (holder == Holder::Mac80211).then_some(remarks);
            let (driver, _) = Driver::of(&link, holder, &[]);
            for (bpf, words) in [(true, &expected.with_bpf), (false, &expected.without)] {
                let finding = possible(&link, driver, bpf, lost.as_deref());
                assert!(finding.good && finding.found.starts_with(words.as_str()), "{context}: {finding:?}");
            }
            known.push(Known { name: link.name, phy: Some(phy.number), is_wired: false });
        }
        assert_eq!(governed("*wifi", &known), expected.radios, "{name}");
        assert_eq!(governed("*", &known), expected.all, "{name}");
    }
}
