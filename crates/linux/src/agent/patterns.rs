//! Patterns give settings to several interfaces: `*wifi` to one of each radio, `*` also to others whose drivers push
//! back. Patterns also match interfaces that appear later.

use crate::agent::links::Links;
use crate::device::driver::Driver;
use crate::device::looks::Looks;
use crate::device::txq::Holder;
use crate::device::wish::Wish;
use crate::error::Error;
use crate::kernel::nl80211::{Role, Wireless};
use std::collections::BTreeSet;

/// One interface of each phy, because a phy's interfaces share its queues and its air.
const EACH_RADIO: &str = "*wifi";
/// One interface of each phy, and all other interfaces whose drivers push back.
const ALL: &str = "*";

/// True if this name is a pattern.
pub(super) fn is_pattern(device: &str) -> bool {
    matches!(device, EACH_RADIO | ALL)
}

/// The properties of an interface on which patterns depend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) name: String,
    /// The interface's phy if it is Wi-Fi and carries a network.
    pub(crate) phy: Option<u32>,
    /// True if the interface is not Wi-Fi and its driver pushes back.
    pub(crate) is_wired: bool,
}

/// Returns the requested queues on the present interfaces, named or matched by a pattern. Errors: those of the kernel.
pub(super) fn spread(wishes: &[Wish], links: &Links, looks: &Looks) -> Result<Vec<Wish>, Error> {
    let has_patterns = wishes.iter().any(|wish| is_pattern(&wish.place.device));
    let known = if has_patterns { known(links, looks)? } else { Vec::new() };
    Ok(over(wishes, &known))
}

/// Returns the interfaces in the order of their numbers, so that an older interface keeps its phy.
fn known(links: &Links, looks: &Looks) -> Result<Vec<Known>, Error> {
    let mut wireless = Wireless::open().ok();
    let mut all = Vec::new();
    for link in links.all() {
        let of_air = match &mut wireless {
            Some(wireless) => wireless.interface(link.index)?,
            None => None,
        };
        let phy = of_air.filter(|it| it.role != Role::Other).map(|it| it.phy);
        let is_wired =
            of_air.is_none() && Driver::of(link, Holder::NotWifi, &looks.users(link.index)?).0 == Driver::PushesBack;
        all.push(Known { name: link.name.clone(), phy, is_wired });
    }
    Ok(all)
}

/// Expands patterns. If an interface really has a pattern's name, the name means only that interface.
pub(crate) fn over(wishes: &[Wish], known: &[Known]) -> Vec<Wish> {
    let is_there = |name: &str| known.iter().any(|it| it.name == name);
    let (patterns, named): (Vec<&Wish>, Vec<&Wish>) =
        wishes.iter().partition(|wish| is_pattern(&wish.place.device) && !is_there(&wish.place.device));
    let mut all: Vec<Wish> = named.into_iter().cloned().collect();
    let phy_of = |name: &str| known.iter().find(|it| it.name == name).and_then(|it| it.phy);
    let mut phys: BTreeSet<u32> = all.iter().filter_map(|wish| phy_of(&wish.place.device)).collect();
    // The narrower pattern is expanded first.
    for pattern in [EACH_RADIO, ALL] {
        for wish in patterns.iter().filter(|wish| wish.place.device == pattern) {
            for Known { name, phy, is_wired } in known {
                let is_new = phy.map_or(*is_wired && pattern == ALL, |phy| phys.insert(phy));
                if is_new && all.iter().all(|other| other.place.device != *name) {
                    let mut one = (*wish).clone();
                    one.place.device.clone_from(name);
                    all.push(one);
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;
    use crate::device::wish::Backend;
    use crate::kernel::rtnetlink::ROOT;
    use queue::Settings;

    fn wish(device: &str, backend: Backend) -> Wish {
        let place = Place { device: device.into(), parent: ROOT, state_folder: "/run".into() };
        Wish { backend, ..Wish::new(place, Settings::default()) }
    }

    fn wifi(name: &str, phy: u32) -> Known {
        Known { name: name.into(), phy: Some(phy), is_wired: false }
    }

    fn other(name: &str, is_wired: bool) -> Known {
        Known { name: name.into(), phy: None, is_wired }
    }

    fn names(wishes: &[Wish], known: &[Known]) -> Vec<(String, Backend)> {
        over(wishes, known).into_iter().map(|wish| (wish.place.device, wish.backend)).collect()
    }

    #[test]
    fn a_pattern_is_one_interface_of_each_radio_and_what_is_named_comes_before_it() {
        let all = wish(EACH_RADIO, Backend::Knobs);
        assert!(names(std::slice::from_ref(&all), &[other("lo", false), other("eth0", true)]).is_empty());
        // Two phys on one device, as MT7915 DBDC, MT7981 and MT7986 have. The first phy also has a guests' network.
        let two = [other("eth0", true), wifi("phy0-ap0", 0), wifi("phy1-ap0", 1), wifi("phy0-ap1", 0)];
        let of = |name: &str, backend| (name.to_owned(), backend);
        let both = [of("phy0-ap0", Backend::Knobs), of("phy1-ap0", Backend::Knobs)];
        assert_eq!(names(std::slice::from_ref(&all), &two), both);
        let wan = wish("wan", Backend::Auto);
        assert_eq!(names(&[all.clone(), wan.clone()], &two), [&[of("wan", Backend::Auto)], &both[..]].concat());
        // A named interface of a radio keeps the pattern from the radio's other interfaces.
        let guests = wish("phy0-ap1", Backend::Bpf);
        let expected = [of("phy0-ap1", Backend::Bpf), of("phy1-ap0", Backend::Knobs)];
        assert_eq!(names(&[all.clone(), guests], &two), expected);
        let every = wish(ALL, Backend::Auto);
        let expected = [&both[..], &[of("eth0", Backend::Auto)]].concat();
        assert_eq!(names(&[every.clone(), all], &two), expected);
        let expected = ["eth0", "phy0-ap0", "phy1-ap0"].map(|name| of(name, Backend::Auto));
        assert_eq!(names(&[every], &two), expected);
    }
}
