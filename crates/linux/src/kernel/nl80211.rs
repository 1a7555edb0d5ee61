//! Queues, interfaces and stations of mac80211 from nl80211 (`linux/nl80211.h`) over generic netlink. The queues have
//! one limit and counters; interfaces have a channel; stations have readings.
//!
//! mac80211 has a queue (TXQ) for each station and traffic identifier, and one limit in packets for all interfaces of a
//! phy. Calls block, and requests follow one another.

mod interface;
mod mode;
mod reading;
mod survey;

pub use interface::{Channel, Interface, Role};
pub use mode::{Format, Mode};
pub(crate) use reading::counters;
pub use reading::{Peer, Phy, TxqCounts};
pub use survey::Survey;

use crate::error::{Error, Unsupported};
use crate::kernel::netlink::{Connection, F_ACK, F_DUMP, F_REQUEST, failed, unless};
use crate::kernel::wire::{Request, messages, text, u16_at};
use interface::interface;
use reading::{
    ATTR_EXT_FEATURES, ATTR_IFINDEX, ATTR_SPLIT_WIPHY_DUMP, ATTR_TXQ_LIMIT, ATTR_WIPHY, ATTR_WIPHY_NAME, add_phy,
    add_station, body, found, number_of, peer,
};
use rustix::io::Errno;
use rustix::net::netlink::GENERIC;
use std::collections::BTreeMap;
use survey::survey;

/// `GENL_ID_CTRL` (`linux/genetlink.h`): the family that knows the numbers of all families.
const CONTROLLER: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

const GET_WIPHY: u8 = 1;
const SET_WIPHY: u8 = 2;
const GET_INTERFACE: u8 = 5;
const GET_STATION: u8 = 17;
const GET_SURVEY: u8 = 50;

/// A connection to nl80211.
#[derive(Debug)]
pub(crate) struct Wireless {
    connection: Connection,
    family: u16,
}

impl Wireless {
    /// Opens the connection in the network namespace of this thread. Needs no privilege. Errors: this kernel has no
    /// nl80211, or its module is not loaded.
    pub(crate) fn open() -> Result<Self, Error> {
        let mut connection = Connection::open(Some(GENERIC))?;
        let body = [CTRL_CMD_GETFAMILY, 1, 0, 0];
        let request = Request::new(CONTROLLER, F_REQUEST | F_ACK, &body).with(CTRL_ATTR_FAMILY_NAME, b"nl80211\0");
        match connection.one(request, |message| family_number(message.payload)) {
            Ok(Some(family)) => Ok(Self { connection, family }),
            _ => Err(Unsupported::NoWifi.into()),
        }
    }

    /// Returns the interface with this number; `None` if it does not exist or is not Wi-Fi. Errors, also of all calls
    /// below: the kernel does not answer.
    pub(crate) fn interface(&mut self, index: u32) -> Result<Option<Interface>, Error> {
        let request = self.request(GET_INTERFACE, F_ACK, ATTR_IFINDEX, index);
        let asked = self.connection.one(request, |message| interface(message.payload));
        unless(&[Errno::NODEV, Errno::INVAL, Errno::OPNOTSUPP], "look at the interface", asked)
    }

    /// Returns the phy of the interface with this number; `None` if the interface does not exist or is not Wi-Fi.
    pub(crate) fn phy_of(&mut self, index: u32) -> Result<Option<Phy>, Error> {
        // If an interface has no phy, the kernel would list all phys.
        self.interface(index)?.map_or(Ok(None), |interface| self.phy(interface.phy))
    }

    /// Returns the phy with this number; `None` if there is none.
    pub(crate) fn phy(&mut self, number: u32) -> Result<Option<Phy>, Error> {
        let told = self.of_phy(number)?;
        let mut phy = Phy::default();
        for payload in &told {
            add_phy(&mut phy, payload);
        }
        Ok((!told.is_empty()).then_some(phy))
    }

    /// Returns the attributes of a phy that decide how it is governed. None of them is a name or an address.
    pub(crate) fn deciding(&mut self, number: u32) -> Result<BTreeMap<u16, Vec<u8>>, Error> {
        let told = self.of_phy(number)?;
        let decides = |(kind, _): &(u16, &[u8])| matches!(*kind, ATTR_TXQ_LIMIT | ATTR_EXT_FEATURES);
        let all = told.iter().flat_map(|payload| body(payload)).filter(decides);
        Ok(all.map(|(kind, value)| (kind, value.to_vec())).collect())
    }

    /// Returns the kernel's messages about a phy, which are several; none if the phy does not exist.
    fn of_phy(&mut self, number: u32) -> Result<Vec<Vec<u8>>, Error> {
        let request = self.request(GET_WIPHY, F_DUMP, ATTR_WIPHY, number).with(ATTR_SPLIT_WIPHY_DUMP, &[]);
        let read = |payload: &[u8]| (number_of(payload, ATTR_WIPHY) == Some(number)).then(|| payload.to_vec());
        unless(&[Errno::NODEV, Errno::INVAL], "read the queues of the interface's phy", self.list(&request, read))
    }

    /// Returns the name of the phy with this number; `None` if there is none.
    pub(crate) fn phy_name(&mut self, number: u32) -> Result<Option<String>, Error> {
        let request = self.request(GET_WIPHY, F_ACK, ATTR_WIPHY, number);
        let asked = self.connection.one(request, |message| found(message.payload, ATTR_WIPHY_NAME).map(text));
        unless(&[Errno::NODEV, Errno::INVAL], "read the name of the interface's phy", asked)
    }

    /// Returns the numbers of a phy's interfaces.
    pub(crate) fn interfaces(&mut self, number: u32) -> Result<Vec<u32>, Error> {
        let request = self.request(GET_INTERFACE, F_DUMP, ATTR_WIPHY, number);
        let read = |payload: &[u8]| {
            number_of(payload, ATTR_IFINDEX).filter(|_| number_of(payload, ATTR_WIPHY) == Some(number))
        };
        unless(&[Errno::NODEV, Errno::INVAL], "list the interfaces of the phy", self.list(&request, read))
    }

    /// Returns the sum of the counters of the queues for an interface's stations. Errors: as for
    /// [`peers`](Self::peers).
    pub(crate) fn stations(&mut self, index: u32) -> Result<TxqCounts, Error> {
        let mut sum = TxqCounts::default();
        self.peers(index)?.iter().for_each(|peer| sum.add(&peer.queues));
        Ok(sum)
    }

    /// Returns the stations of an interface, sorted by address. Errors: the interface is not Wi-Fi, or does not exist.
    pub(crate) fn peers(&mut self, index: u32) -> Result<Vec<Peer>, Error> {
        let request = self.request(GET_STATION, F_DUMP, ATTR_IFINDEX, index);
        let mut peers = self.list(&request, peer).map_err(|errno| failed("look at the interface's stations", errno))?;
        peers.sort_unstable_by_key(|peer| peer.address);
        Ok(peers)
    }

    /// Returns the driver's survey of the channel that an interface is on. Empty if the driver surveys no channel.
    pub(crate) fn survey(&mut self, index: u32) -> Result<Survey, Error> {
        let request = self.request(GET_SURVEY, F_DUMP, ATTR_IFINDEX, index);
        let found = unless(&[Errno::OPNOTSUPP], "look at the interface's channel", self.list(&request, survey))?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    /// Sets the limit of a phy's queues, in packets.
    pub(crate) fn set_limit(&mut self, phy: u32, packets: u32) -> Result<(), Error> {
        let request = self.request(SET_WIPHY, F_ACK, ATTR_WIPHY, phy).with(ATTR_TXQ_LIMIT, &packets.to_ne_bytes());
        self.connection.ask(request, |_| ()).map_err(|errno| failed("set the limit of the phy's queues", errno))
    }

    fn list<T>(&mut self, request: &Request, read: impl Fn(&[u8]) -> Option<T>) -> Result<Vec<T>, Errno> {
        let mut found = Vec::new();
        self.connection.list(&mut found, request, |message| read(message.payload))?;
        Ok(found)
    }

    fn request(&self, command: u8, flags: u16, by: u16, number: u32) -> Request {
        Request::new(self.family, F_REQUEST | flags, &[command, 0, 0, 0]).with(by, &number.to_ne_bytes())
    }
}

/// Parsed contents of a datagram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The phy, from all messages of the datagram.
    pub phy: Phy,
    /// Sum of the counters of all stations' queues.
    pub stations: TxqCounts,
    /// The stations.
    pub peers: Vec<Peer>,
    /// Survey of the channel in use.
    pub survey: Option<Survey>,
    /// The first interface in the datagram.
    pub interface: Option<Interface>,
}

/// Parses a datagram of nl80211. Accepts any bytes.
pub fn told(datagram: &[u8]) -> Contents {
    let mut contents = Contents::default();
    for message in messages(datagram) {
        add_phy(&mut contents.phy, message.payload);
        add_station(&mut contents.stations, message.payload);
        contents.peers.extend(peer(message.payload));
        contents.survey = contents.survey.or(survey(message.payload));
        contents.interface = contents.interface.or(interface(message.payload));
    }
    contents
}

fn family_number(payload: &[u8]) -> Option<u16> {
    u16_at(found(payload, CTRL_ATTR_FAMILY_ID)?, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_family_has_its_number_from_the_controller() {
        let request = Request::new(28, 0, &[3, 1, 0, 0]).with(CTRL_ATTR_FAMILY_NAME, b"nl80211\0");
        let bytes = request.with(CTRL_ATTR_FAMILY_ID, &[28, 0]).finish(1);
        assert_eq!(family_number(&bytes[16..]), Some(28));
    }

    #[test]
    fn a_machine_without_wireless_says_so() {
        match Wireless::open() {
            Ok(mut wireless) => assert_eq!(wireless.phy_of(1).unwrap(), None, "the loopback interface has no phy"),
            Err(error) => assert!(error.to_string().contains("has no Wi-Fi"), "{error}"),
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_of_a_family_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = family_number(&bytes);
        }
    }
}
