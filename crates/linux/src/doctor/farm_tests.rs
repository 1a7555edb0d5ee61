//! Decisions about the machines in `tests/farm.json`: who holds the packets, which grade is advised, which of mac80211's
//! settings can be set, and which interfaces `*wifi` means.

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
use std::collections::BTreeMap;

const FARM: &str = include_str!("../../tests/farm.json");

/// A machine, written by hand: what mt76 and ath11k say of airtime as their sources have it, the rest from experience and
/// not yet compared with sources or devices.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Machine {
    name: String,
    /// The module of the device's driver, and those that use mac80211's: what nothing is decided by.
    module: String,
    holders: Vec<String>,
    phys: Vec<Radio>,
    /// Files of each phy in debugfs.
    debugfs: BTreeMap<String, String>,
    expected: Expected,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Radio {
    /// `NL80211_ATTR_TXQ_LIMIT`, and bits of `NL80211_ATTR_EXT_FEATURES`.
    txq_limit: Option<u32>,
    features: Vec<usize>,
    /// In order of their numbers.
    interfaces: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    holder: String,
    with_bpf: String,
    without: String,
    /// Limits of airtime can be set, or why not.
    airtime: String,
    radios: Vec<String>,
}

/// What nl80211 answers about a phy, as parsed.
fn answer(number: u32, radio: &Radio) -> Phy {
    let mut features = vec![0_u8; 9];
    radio.features.iter().for_each(|bit| features[bit / 8] |= 1 << (bit % 8));
    let mut request = Request::new(28, 0, &[3, 1, 0, 0]).with(1, &number.to_ne_bytes());
    if let Some(limit) = radio.txq_limit {
        request = request.with(266, &limit.to_ne_bytes());
    }
    told(&request.with(217, &features).finish(1)).phy
}

#[test]
fn every_machine_of_the_farm_is_decided_on_as_its_driver_needs() {
    let farm: Vec<Machine> = serde_json::from_str(FARM).unwrap();
    assert!(farm.len() >= 10, "{}", farm.len());
    for Machine { name, module, holders, phys, debugfs, expected } in farm {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in &debugfs {
            std::fs::write(folder.path().join(file), text).unwrap();
        }
        let context = format!("{name} ({module}, beside {holders:?})");
        let mut known = Vec::new();
        for (number, radio) in (0..).zip(&phys) {
            let phy = answer(number, radio);
            let holder = Holder::of(Some(&phy));
            assert_eq!(format!("{holder:?}"), expected.holder, "{context}");
            let (knobs, remarks) = settable(&phy, &Aql::at(folder.path().into()));
            let airtime = knobs.map_or_else(|| remarks.join("; "), |_| "set".into());
            assert!(airtime.contains(&expected.airtime), "{context}: {airtime}");
            let lost = (holder == Holder::Mac80211).then_some(remarks);
            for interface in &radio.interfaces {
                let link = Link { name: interface.clone(), qdisc: "noqueue".into(), hardware: 1, ..Link::default() };
                let (driver, _) = Driver::of(&link, holder, &[]);
                for (bpf, words) in [(true, &expected.with_bpf), (false, &expected.without)] {
                    let finding = possible(&link, driver, bpf, lost.as_deref());
                    assert!(finding.good && finding.found.starts_with(words.as_str()), "{context}: {finding:?}");
                }
                known.push(Known { name: interface.clone(), phy: Some(number), is_wired: false });
            }
        }
        let place = Place { device: "*wifi".into(), parent: ROOT, state_folder: "/run".into() };
        let wishes = over(&[Wish::new(place, Settings::default())], &known);
        let radios: Vec<&str> = wishes.iter().map(|wish| wish.place.device.as_str()).collect();
        assert_eq!(radios, expected.radios, "{context}");
    }
}
