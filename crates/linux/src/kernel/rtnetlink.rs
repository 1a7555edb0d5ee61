//! Links and queue disciplines from rtnetlink (`linux/rtnetlink.h`, `linux/pkt_sched.h`): reads their state and
//! counters, and replaces a discipline. Calls block, and requests follow one another.

use crate::error::Error;
use crate::kernel::Counters;
use crate::kernel::netlink::{Connection, F_ACK, F_CREATE, F_DUMP, F_ECHO, F_REQUEST, failed, unless};
use crate::kernel::wire::{Message, Request, attribute, attributes, messages, text, u16_at, u32_at, u64_at};
use nix::libc::{
    IFLA_GSO_MAX_SEGS, IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINKINFO, IFLA_NUM_TX_QUEUES, IFLA_QDISC, IFLA_TXQLEN,
    RTM_DELLINK, RTM_DELQDISC, RTM_DELTCLASS, RTM_GETLINK, RTM_GETQDISC, RTM_GETTCLASS, RTM_GETTFILTER, RTM_NEWLINK,
    RTM_NEWQDISC, RTM_NEWTCLASS, RTM_NEWTFILTER, RTM_SETLINK, TCA_KIND, TCA_OPTIONS, TCA_STATS2,
};
use rustix::io::Errno;
use std::collections::BTreeMap;

/// `TC_H_ROOT` (`linux/pkt_sched.h`): the parent of an interface's outermost discipline.
pub const ROOT: u32 = 0xffff_ffff;

const F_REPLACE: u16 = 0x100;

/// Length of `struct ifinfomsg`.
const LINK_BODY: usize = 16;
/// Length of `struct tcmsg`.
const TC_BODY: usize = 20;

const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_PKT64: u16 = 8;

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Number. No other interface of this network namespace has it as long as this one exists.
    pub index: u32,
    /// Name: `wlan0`. It may change while the interface exists.
    pub name: String,
    /// Kind of a software interface: `veth`, `tun`, `bridge`; `None` for hardware.
    pub kind: Option<String>,
    /// Hardware type (`ARPHRD_` in `linux/if_arp.h`): 1 is Ethernet.
    pub hardware: u16,
    /// Kind of the root queue discipline: `fq_codel`.
    pub qdisc: String,
    /// Length of the transmit queue in packets (`txqueuelen`). Some disciplines take their limit from this length.
    pub tx_queue_length: u32,
    /// Number of transmit queues; with more than one the root is `mq` on most drivers.
    pub tx_queues: u32,
    /// Largest number of segments in a packet (GSO).
    pub gso_max_segs: u32,
}

/// A queue discipline at an attachment point of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qdisc {
    /// Number of the interface.
    pub index: u32,
    /// Handle: `8001:` is `0x8001_0000`. Zero if the kernel itself installed the discipline.
    pub handle: u32,
    /// Parent: the class below which the discipline is attached, or [`ROOT`].
    pub parent: u32,
    /// Kind: `pfifo`, `fq_codel`, `mq`.
    pub kind: String,
    /// Options as the kernel shows them.
    pub options: Option<Vec<u8>>,
    /// Counters since the discipline was installed.
    pub counters: Counters,
}

/// Describes a discipline in the form of `tc`.
pub(crate) fn shown(qdisc: Option<&Qdisc>) -> String {
    qdisc.map_or_else(|| "none".into(), |qdisc| format!("{} {:x}:", qdisc.kind, qdisc.handle >> 16))
}

/// Counters of a queue at an attachment point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Number of the interface; this field and the next two are as in [`Qdisc`].
    pub(crate) index: u32,
    pub(crate) handle: u32,
    pub(crate) parent: u32,
    pub(crate) counters: Counters,
}

/// A connection for the kernel's routing messages.
#[derive(Debug)]
pub struct Route(Connection);

impl Route {
    /// Opens the connection in the network namespace of this thread. Needs no privilege. Errors: no such socket.
    pub(crate) fn open() -> Result<Self, Error> {
        Connection::open(None).map(Self)
    }

    /// Returns all interfaces of this network namespace, in the kernel's order. Errors: the kernel does not answer.
    pub(crate) fn links(&mut self) -> Result<Vec<Link>, Error> {
        self.dump(RTM_GETLINK, RTM_NEWLINK, &[0; LINK_BODY], link)
    }

    /// Returns the interface with this name. Errors: there is no such interface; the error lists the present ones.
    pub(crate) fn link(&mut self, name: &str) -> Result<Link, Error> {
        let mut zero_ended = name.as_bytes().to_vec();
        zero_ended.push(0);
        let request = Request::new(RTM_GETLINK, F_REQUEST | F_ACK, &[0; LINK_BODY]).with(IFLA_IFNAME, &zero_ended);
        match self.0.one(request, |message| of_kind(message, RTM_NEWLINK).and_then(link)) {
            // The kernel also finds an interface by one of its alternative names.
            Ok(Some(found)) if found.name == name => Ok(found),
            // A name that is too long is out of range.
            Ok(_) | Err(Errno::NODEV | Errno::RANGE | Errno::INVAL) => {
                let known: Vec<String> = self.links()?.into_iter().map(|link| link.name).collect();
                Err(Error::NoInterface { name: name.into(), known: known.join(", ") })
            }
            Err(errno) => Err(failed("look up an interface", errno)),
        }
    }

    /// Returns the disciplines of each interface by its number, as `tc qdisc` lists them. The kernel lists the
    /// disciplines of all interfaces or none. Errors: the kernel does not answer.
    pub(crate) fn qdiscs(&mut self) -> Result<BTreeMap<u32, Vec<Qdisc>>, Error> {
        let mut by_link: BTreeMap<u32, Vec<Qdisc>> = BTreeMap::new();
        for qdisc in self.dump(RTM_GETQDISC, RTM_NEWQDISC, &tc_body(0, 0, 0), qdisc)? {
            by_link.entry(qdisc.index).or_default().push(qdisc);
        }
        Ok(by_link)
    }

    /// Returns the discipline in the place `parent` of interface `index`, if any. The kernel also sends the answer to
    /// all programs that follow disciplines. Errors: the interface does not exist, or the kernel does not answer.
    pub(crate) fn qdisc(&mut self, index: u32, parent: u32) -> Result<Option<Qdisc>, Error> {
        let request = Request::new(RTM_GETQDISC, F_REQUEST | F_ACK | F_ECHO, &tc_body(index, 0, parent));
        match self.0.one(request, |message| of_kind(message, RTM_NEWQDISC).and_then(qdisc)) {
            Err(Errno::NODEV) => Err(Error::Gone { name: format!("interface {index}") }),
            // There is no such class, or it has no discipline, or one that the kernel does not show.
            asked => unless(&[Errno::NOENT, Errno::INVAL, Errno::OPNOTSUPP], "look up a queue", asked),
        }
    }

    /// Reads the counters of all queues of the machine into `found`, whose memory is reused.
    pub(crate) fn tallies(&mut self, found: &mut Vec<Tally>) -> Result<(), Error> {
        self.dump_into(found, RTM_GETQDISC, RTM_NEWQDISC, &tc_body(0, 0, 0), tally)
    }

    /// True if filters are attached to the discipline `handle` of interface `index`. Errors: those of the kernel.
    pub(crate) fn has_filters(&mut self, index: u32, handle: u32) -> Result<bool, Error> {
        let body = tc_body(index, 0, handle);
        Ok(!self.dump(RTM_GETTFILTER, RTM_NEWTFILTER, &body, |_| Some(()))?.is_empty())
    }

    /// Installs the discipline `new` at its attachment point; its `options` are in the kernel's form.
    pub(crate) fn replace(&mut self, new: &Qdisc) -> Result<(), Error> {
        self.put(new, F_CREATE | F_REPLACE, "change the queue")
    }

    /// Changes the options of the discipline that is installed at this attachment point.
    pub(crate) fn change(&mut self, new: &Qdisc) -> Result<(), Error> {
        self.put(new, 0, "change the limit")
    }

    fn put(&mut self, new: &Qdisc, flags: u16, what: &str) -> Result<(), Error> {
        let mut kind = new.kind.clone().into_bytes();
        kind.push(0);
        let body = tc_body(new.index, new.handle, new.parent);
        let mut request = Request::new(RTM_NEWQDISC, F_REQUEST | F_ACK | flags, &body).with(TCA_KIND, &kind);
        if let Some(options) = &new.options {
            request = request.with(TCA_OPTIONS, options);
        }
        self.0.ask(request, |_| ()).map_err(|errno| failed(what, errno))
    }

    /// Removes the discipline at `parent`; the kernel replaces it by its default.
    pub(crate) fn delete(&mut self, index: u32, parent: u32) -> Result<(), Error> {
        let request = Request::new(RTM_DELQDISC, F_REQUEST | F_ACK, &tc_body(index, 0, parent));
        self.0.ask(request, |_| ()).map_err(|errno| failed("remove the queue", errno))
    }

    /// Sets the largest number of segments (GSO) in a packet of interface `index`.
    pub(crate) fn set_segments(&mut self, index: u32, segments: u32) -> Result<(), Error> {
        self.set_link(index, IFLA_GSO_MAX_SEGS, segments, "set how many segments a packet may hold")
    }

    /// Sets the length of the transmit queue of interface `index`.
    pub(crate) fn set_tx_queue_length(&mut self, index: u32, packets: u32) -> Result<(), Error> {
        self.set_link(index, IFLA_TXQLEN, packets, "set the length of the transmit queue")
    }

    fn set_link(&mut self, index: u32, attribute: u16, value: u32, what: &str) -> Result<(), Error> {
        let mut body = [0; LINK_BODY];
        body[4..8].copy_from_slice(&index.to_ne_bytes());
        let request = Request::new(RTM_SETLINK, F_REQUEST | F_ACK, &body);
        let asked = self.0.ask(request.with(attribute, &value.to_ne_bytes()), |_| ());
        asked.map_err(|errno| match errno {
            Errno::NODEV => Error::Gone { name: format!("interface {index}") },
            errno => failed(what, errno),
        })
    }

    /// True if the kernel lets this process change queues: of an impossible change it checks the privilege first.
    pub(crate) fn may_change(&mut self) -> bool {
        !matches!(self.delete(0, ROOT), Err(Error::NotPermitted { .. }))
    }

    /// Returns the classes of interface `index`, in the kernel's order. Errors: the kernel does not answer.
    pub(crate) fn classes(&mut self, index: u32) -> Result<Vec<u32>, Error> {
        self.dump(RTM_GETTCLASS, RTM_NEWTCLASS, &tc_body(index, 0, 0), |payload| u32_at(payload, 8))
    }

    fn dump<T>(&mut self, ask: u16, kind: u16, body: &[u8], read: fn(&[u8]) -> Option<T>) -> Result<Vec<T>, Error> {
        let mut found = Vec::new();
        self.dump_into(&mut found, ask, kind, body, read)?;
        Ok(found)
    }

    fn dump_into<T>(
        &mut self,
        found: &mut Vec<T>,
        ask: u16,
        kind: u16,
        body: &[u8],
        read: fn(&[u8]) -> Option<T>,
    ) -> Result<(), Error> {
        let request = Request::new(ask, F_REQUEST | F_DUMP, body);
        let listed = self.0.list(found, &request, |message| of_kind(message, kind).and_then(read));
        listed.map_err(|errno| failed("list interfaces and queues", errno))
    }
}

fn of_kind<'m>(message: &Message<'m>, kind: u16) -> Option<&'m [u8]> {
    (message.kind == kind).then_some(message.payload)
}

/// Returns a `struct tcmsg`.
fn tc_body(index: u32, handle: u32, parent: u32) -> [u8; TC_BODY] {
    let mut body = [0; TC_BODY];
    body[4..8].copy_from_slice(&index.to_ne_bytes());
    body[8..12].copy_from_slice(&handle.to_ne_bytes());
    body[12..16].copy_from_slice(&parent.to_ne_bytes());
    body
}

/// Applies a message about a change to `users`: each interface's disciplines with a handle, which users made.
pub(crate) fn follow(users: &mut BTreeMap<u32, Vec<Qdisc>>, message: &Message) {
    let payload = message.payload;
    match message.kind {
        RTM_NEWQDISC => {
            let Some(new) = qdisc(payload) else { return };
            let of_link = users.entry(new.index).or_default();
            of_link.retain(|other| other.parent != new.parent && (other.handle != new.handle || new.handle == 0));
            of_link.extend((new.handle != 0).then_some(new));
        }
        RTM_DELQDISC => {
            let Some(old) = qdisc(payload) else { return };
            if let Some(of_link) = users.get_mut(&old.index) {
                of_link.retain(|other| (other.parent, other.handle) != (old.parent, old.handle));
                remove_below(of_link, |parent| parent >> 16 == old.handle >> 16);
            }
        }
        // If a class disappears, its queue disappears without a message.
        RTM_DELTCLASS => {
            let (Some(index), Some(class)) = (u32_at(payload, 4), u32_at(payload, 8)) else { return };
            if let Some(of_link) = users.get_mut(&index) {
                remove_below(of_link, |parent| parent == class);
            }
        }
        // If a bridge loses a port, it sends the same message with another family (`PF_BRIDGE`).
        RTM_DELLINK if payload.first() == Some(&0) => {
            if let Some(index) = u32_at(payload, 4) {
                users.remove(&index);
            }
        }
        _ => {}
    }
}

/// Removes the disciplines whose parent `is_gone`, and all disciplines below them.
fn remove_below(qdiscs: &mut Vec<Qdisc>, is_gone: impl Fn(u32) -> bool) {
    // A discipline attached to an interface itself (`TC_H_INGRESS` and above) has no parent.
    let mut gone: Vec<u32> = Vec::new();
    loop {
        let is_below = |qdisc: &Qdisc| {
            qdisc.parent < 0xffff_0000 && (is_gone(qdisc.parent) || gone.contains(&(qdisc.parent >> 16)))
        };
        let Some(at) = qdiscs.iter().position(is_below) else { return };
        gone.push(qdiscs.swap_remove(at).handle >> 16);
    }
}

/// Parses a datagram about interfaces and queues. Accepts any bytes.
pub fn told(datagram: &[u8]) -> (Vec<Link>, Vec<Qdisc>) {
    let of = |kind| messages(datagram).filter(move |message| message.kind == kind);
    let links = of(RTM_NEWLINK).filter_map(|message| link(message.payload)).collect();
    (links, of(RTM_NEWQDISC).filter_map(|message| qdisc(message.payload)).collect())
}

fn link(payload: &[u8]) -> Option<Link> {
    let mut link = Link { hardware: u16_at(payload, 2)?, index: u32_at(payload, 4)?, ..Link::default() };
    for (kind, value) in attributes(payload.get(LINK_BODY..)?) {
        match kind {
            IFLA_IFNAME => link.name = text(value),
            IFLA_QDISC => link.qdisc = text(value),
            IFLA_TXQLEN => link.tx_queue_length = u32_at(value, 0)?,
            IFLA_NUM_TX_QUEUES => link.tx_queues = u32_at(value, 0)?,
            IFLA_GSO_MAX_SEGS => link.gso_max_segs = u32_at(value, 0)?,
            IFLA_LINKINFO => link.kind = attribute(value, IFLA_INFO_KIND).map(text),
            _ => {}
        }
    }
    Some(link)
}

fn tally(payload: &[u8]) -> Option<Tally> {
    let (index, handle, parent) = (u32_at(payload, 4)?, u32_at(payload, 8)?, u32_at(payload, 12)?);
    let counters = attribute(payload.get(TC_BODY..)?, TCA_STATS2).map(counters).unwrap_or_default();
    Some(Tally { index, handle, parent, counters })
}

fn qdisc(payload: &[u8]) -> Option<Qdisc> {
    let (index, handle, parent) = (u32_at(payload, 4)?, u32_at(payload, 8)?, u32_at(payload, 12)?);
    let mut qdisc = Qdisc { index, handle, parent, ..Qdisc::default() };
    for (kind, value) in attributes(payload.get(TC_BODY..)?) {
        match kind {
            TCA_KIND => qdisc.kind = text(value),
            TCA_OPTIONS => qdisc.options = Some(value.to_vec()),
            TCA_STATS2 => qdisc.counters = counters(value),
            _ => {}
        }
    }
    Some(qdisc)
}

/// Parses `struct gnet_stats_basic` and `gnet_stats_queue` (`linux/gen_stats.h`). The 64-bit count of packets follows
/// the 32-bit count, but only once the 32-bit count has overflowed.
fn counters(nest: &[u8]) -> Counters {
    let mut counters = Counters::default();
    for (kind, value) in attributes(nest) {
        let word = |at| u32_at(value, at).unwrap_or_default();
        match kind {
            TCA_STATS_BASIC => {
                counters.sent_bytes = u64_at(value, 0).unwrap_or_default();
                counters.sent_packets = word(8).into();
            }
            TCA_STATS_PKT64 => counters.sent_packets = u64_at(value, 0).unwrap_or_default(),
            TCA_STATS_QUEUE => {
                counters.backlog_packets = word(0);
                counters.backlog_bytes = word(4);
                counters.dropped = word(8);
            }
            _ => {}
        }
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{connections::round_trip, echo::neighbour, routes::next_hop};
    use proptest::prelude::*;

    #[test]
    fn counters_are_read_from_their_places() {
        let mut basic = 15_000_u64.to_ne_bytes().to_vec();
        basic.extend(10_u32.to_ne_bytes());
        let queue: Vec<u8> = [3_u32, 4_500, 7, 0, 9].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let message = Request::new(0, 0, &[]).with(TCA_STATS_BASIC, &basic).with(TCA_STATS_QUEUE, &queue).finish(0);
        let expected =
            Counters { sent_packets: 10, sent_bytes: 15_000, dropped: 7, backlog_packets: 3, backlog_bytes: 4_500 };
        assert_eq!(counters(&message[16..]), expected);
    }

    #[test]
    fn the_interfaces_of_this_machine_can_be_listed_without_privilege() {
        let mut route = Route::open().unwrap();
        let links = route.links().unwrap();
        assert!(links.iter().any(|link| link.name == "lo" && link.index > 0), "{links:?}");
        let message = route.link("no-such-0").unwrap_err().to_string();
        assert!(message.starts_with("there is no interface \"no-such-0\", only "), "{message}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = link(&bytes);
            let _ = qdisc(&bytes);
            let _ = tally(&bytes);
            let _ = counters(&bytes);
            let _ = told(&bytes);
            let _ = (next_hop(&bytes), round_trip(&bytes), neighbour(&bytes, 1));
        }

        #[test]
        fn no_attribute_makes_a_reader_panic(
            kinds in proptest::collection::vec((0..50_u16, proptest::collection::vec(any::<u8>(), 0..40)), 0..12),
        ) {
            let message = |body: &[u8]| {
                let request = Request::new(0, 0, body);
                kinds.iter().fold(request, |request, (kind, value)| request.with(*kind, value)).finish(0)
            };
            let _ = link(&message(&[0; LINK_BODY])[16..]);
            let message = message(&[0; TC_BODY]);
            let (qdisc, tally) = (qdisc(&message[16..]), tally(&message[16..]));
            prop_assert!(qdisc.is_some() && tally.is_some());
        }
    }
}
