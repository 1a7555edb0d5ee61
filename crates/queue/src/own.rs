//! Disciplines that a program registers, from a crate outside the workspace or from Python. Such a discipline decides
//! about each packet, which it knows as a number. Its queue holds the packets and keeps the account.

use crate::account::Waiting;
use crate::discipline::{Context, LOOK_AHEAD, Setup};
use crate::packet::Packet;
use control::{Count, Invalid};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::{Bytes, Instant};

/// A discipline that decides about each packet, and keeps only the packet's number.
///
/// A packet that the network itself discards is not reported. Its number is returned like any other, and the queue asks
/// again. `backlog`: packets in the queue, an arriving one left out.
pub trait PerPacket: fmt::Debug + Send + Sync {
    /// Decides about an arriving packet: it joins, or it or a waiting one is dropped. After a waiting packet was
    /// dropped, the queue asks again. `flow`: hash of its transport flow. `fits`: the limit has room for it.
    fn enqueue(&mut self, now: Instant, packet: u64, length: Bytes, flow: u64, backlog: Count, fits: bool) -> Verdict;

    /// Decides about a packet that waits: it leaves, or it is dropped and the queue asks again. It is called only while
    /// packets wait, also for packets above a lowered limit.
    fn dequeue(&mut self, now: Instant, backlog: Count) -> Verdict;
}

/// A decision about the packet with this number.
#[derive(Debug)]
pub enum Verdict {
    /// The packet joins the queue, or leaves it.
    Pass(u64),
    /// The packet is dropped.
    Drop(u64),
    /// The discipline fails for this reason. The run ends with it.
    Fault(String),
}

pub(crate) type Make = dyn Fn(Value, u64) -> Result<Box<dyn PerPacket>, String> + Send + Sync;

type Registered = BTreeMap<&'static str, &'static Make>;

/// Returns the names and makers, which are kept for good.
pub(crate) fn registered() -> MutexGuard<'static, Registered> {
    static REGISTERED: Mutex<Registered> = Mutex::new(BTreeMap::new());
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True if the program has registered a discipline.
pub fn is_used() -> bool {
    !registered().is_empty()
}

/// A queue with a registered discipline.
#[derive(Debug)]
pub(crate) struct OwnQueue<P> {
    pub(crate) name: &'static str,
    decides: Box<dyn PerPacket>,
    /// Packets of each number; `None` if a packet was discarded and the discipline does not know.
    held: BTreeMap<u64, Option<Waiting<P>>>,
    arrived: u64,
    /// Packets that leave before all other packets: the host has seen them, or they go first.
    ahead: VecDeque<Waiting<P>>,
    /// The first fault. After this fault all packets are dropped.
    pub(crate) fault: Option<String>,
}

impl<P: Packet> OwnQueue<P> {
    pub(crate) fn new(name: &'static str, tables: &Map<String, Value>, setup: &Setup) -> Result<Self, Invalid> {
        if setup.purge.is_some() {
            return Err(Invalid::new("purge", "is not for a registered discipline, which chooses its drops"));
        }
        let table = tables.get(name).cloned().unwrap_or_else(|| Map::new().into());
        let make = registered()[name];
        let decides = make(table, setup.seed).map_err(|why| Invalid::new(name, why.leak()).within("own"))?;
        Ok(Self { name, decides, held: BTreeMap::new(), arrived: 0, ahead: VecDeque::new(), fault: None })
    }

    pub(crate) fn enqueue(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>) {
        self.arrived += 1;
        let (number, length) = (self.arrived, packet.len());
        while self.fault.is_none() && cx.account.fits_alone(length.count()) {
            let (fits, backlog) = (cx.account.fits(length.count()), cx.account.backlog());
            let wrong = match self.decides.enqueue(cx.now, number, length, packet.flow(), backlog, fits) {
                Verdict::Pass(this) if this == number && fits => {
                    self.held.insert(number, Some(Waiting { packet, since: cx.now }));
                    return cx.account.joins(cx.now, length.count());
                }
                Verdict::Pass(this) if this == number => format!("keeps packet {this} beyond the limit"),
                Verdict::Pass(other) => format!("passes packet {other}, although packet {number} arrives"),
                Verdict::Drop(this) if this == number => break,
                Verdict::Drop(other) => match self.discard(other, cx) {
                    Ok(()) => continue,
                    Err(why) => why,
                },
                Verdict::Fault(why) => why,
            };
            self.fail("enqueue", &wrong, cx);
        }
        cx.account.refuse(packet, cx.dropped);
        cx.account.settle(cx.now);
    }

    pub(crate) fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>) {
        if let Some(gone) = self.next(cx).or_else(|| self.ahead.pop_back()) {
            cx.account.discard(gone.packet, cx.dropped);
        }
    }

    pub(crate) fn put_first(&mut self, waiting: Waiting<P>) {
        self.ahead.push_front(waiting);
    }

    pub(crate) fn peek(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<&P> {
        while self.ahead.len() <= index && index <= LOOK_AHEAD {
            let next = self.next(cx);
            cx.account.settle(cx.now);
            self.ahead.push_back(next?);
        }
        self.ahead.get(index).map(|waiting| &waiting.packet)
    }

    pub(crate) fn remove(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        self.peek(index, cx)?;
        self.ahead.remove(index)
    }

    pub(crate) fn purge(&mut self, cx: &mut Context<impl FnMut(P)>) {
        while cx.account.is_over() {
            self.make_way(cx);
        }
    }

    pub(crate) fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>) {
        cx.account.discard_where(&mut self.ahead, unwanted, cx.dropped);
        for held in self.held.values_mut() {
            if let Some(gone) = held.take_if(|waiting| unwanted(&waiting.packet)) {
                cx.account.discard(gone.packet, cx.dropped);
            }
        }
    }

    /// Removes and returns the next packet that the discipline passes. The caller settles the account.
    fn next(&mut self, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        while cx.account.backlog().packets > self.ahead.len() as u64 {
            let taken = match self.decides.dequeue(cx.now, cx.account.backlog()) {
                Verdict::Pass(number) => self.take(number),
                Verdict::Drop(number) => self.discard(number, cx).map(|()| None),
                Verdict::Fault(why) => Err(why),
            };
            match taken {
                Ok(None) => {}
                Ok(next) => return next,
                Err(why) => self.fail("dequeue", &why, cx),
            }
        }
        None
    }

    fn discard(&mut self, number: u64, cx: &mut Context<impl FnMut(P)>) -> Result<(), String> {
        if let Some(gone) = self.take(number)? {
            cx.account.discard(gone.packet, cx.dropped);
        }
        Ok(())
    }

    fn take(&mut self, number: u64) -> Result<Option<Waiting<P>>, String> {
        self.held.remove(&number).ok_or_else(|| format!("gives packet {number}, which it does not hold"))
    }

    fn fail(&mut self, call: &str, why: &str, cx: &mut Context<impl FnMut(P)>) {
        self.fault = Some(format!("the discipline `{}`: `{call}` {why}", self.name));
        self.discard_where(&mut |_| true, cx);
    }
}
