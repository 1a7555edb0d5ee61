//! Reads 802.11 frames (IEEE 802.11-2016, clause 9) and the headers that captures put before them.

use super::container::{Order, Record, array};
use super::error::Reason;
use super::ip::{No, is_snap, length_at, llc, read};
use super::link_type as of;
use std::collections::BTreeMap;
use units::refuse_if;

/// Length of LLC and SNAP, which an encrypted frame hides.
const LLC: u64 = 8;
const SEQUENCES: u16 = 4096;

/// A frame without the headers that the capture has added.
pub(super) struct Frame<'f> {
    data: &'f [u8],
    /// Length on the air without the checksum. `data` may be shorter.
    length: u32,
    /// True if the header is padded to a multiple of four bytes.
    padded: bool,
    bad_fcs: bool,
}

impl<'f> Frame<'f> {
    pub(super) fn new(record: &Record<'f>) -> Result<Self, No> {
        let data = record.data;
        let little = Order::Little;
        let mut flags = 0;
        let at = match record.link {
            of::RADIOTAP => {
                flags = radiotap_flags(data)?;
                read(little.u16(data, 2))?.into()
            }
            of::PPI => read(little.u16(data, 2))?.into(),
            of::AVS => avs(data)?,
            _ => 0,
        };
        let fcs = if flags & FCS == 0 { 0 } else { 4 };
        Ok(Self {
            data: read(data.get(at..))?,
            length: record.original.saturating_sub(u32::try_from(at).unwrap_or(u32::MAX)).saturating_sub(fcs),
            padded: flags & DATA_PAD != 0,
            bad_fcs: flags & BAD_FCS != 0,
        })
    }
}

/// Bit of radiotap's field Flags: the frame has its checksum.
const FCS: u8 = 0x10;
const DATA_PAD: u8 = 0x20;
const BAD_FCS: u8 = 0x40;

/// Returns the field Flags of a radiotap header; zero if there is none.
fn radiotap_flags(data: &[u8]) -> Result<u8, No> {
    let present = read(Order::Little.u32(data, 4))?;
    let mut at = 8;
    // The highest bit of each word says whether another word follows.
    let mut word = present;
    while word & 1 << 31 != 0 {
        word = read(Order::Little.u32(data, at))?;
        at += 4;
    }
    if present & 1 << 1 == 0 {
        return Ok(0);
    }
    // Only TSFT may precede Flags: eight bytes at a multiple of eight.
    if present & 1 != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    read(data.get(at).copied())
}

/// Returns where the frame begins after a header of AVS, whose numbers are big-endian.
fn avs(data: &[u8]) -> Result<usize, No> {
    usize::try_from(read(Order::Big.u32(data, 4))?).map_err(|_| No::Cut)
}

/// What is known from the frames so far.
#[derive(Default)]
pub(super) struct Air {
    /// For each transmitter and TID, the sequence numbers that were seen.
    seen: BTreeMap<([u8; 6], u8), Seen>,
    /// For each BSSID, the lengths of the integrity check of unicast and of group frames.
    checks: BTreeMap<[u8; 6], [u64; 2]>,
}

impl Air {
    /// Calls `found` with the length of each IP packet in a frame.
    pub(super) fn lengths(&mut self, frame: &Frame, found: &mut impl FnMut(u64)) -> Result<(), No> {
        refuse_if!(frame.bad_fcs, Err(Reason::BadFcs.into()));
        let data = frame.data;
        let control = read(Order::Little.u16(data, 0))?;
        let flag = |bit: u16| control & 1 << bit != 0;
        let (is_data, no_body, qos) = (control >> 2 & 3 == 2, flag(6), flag(7));
        if !is_data || no_body {
            // These are beacons and probe responses.
            if matches!(control & 0xFC, 0x80 | 0x50) {
                self.learn(data);
            }
            return Err(Reason::Management.into());
        }
        let (to_ds, from_ds, retry, protected) = (flag(8), flag(9), flag(11), flag(14));
        // A frame from one access point to another has four addresses.
        let mut header = if to_ds && from_ds { 30 } else { 24 };
        let mut qos_control = 0;
        if qos {
            qos_control = read(Order::Little.u16(data, header))?;
            // If the order bit is set, the HT control field follows the QoS control field.
            header += if flag(15) { 6 } else { 2 };
        }
        let sequence = read(Order::Little.u16(data, 22))?;
        let (fragment, sequence) = (sequence & 15, sequence >> 4);
        let transmitter: [u8; 6] = read(array(data, 10))?;
        refuse_if!(fragment > 0, Err(Reason::Fragment.into()));
        let tid = if qos { (qos_control & 15).to_le_bytes()[0] } else { u8::MAX };
        refuse_if!(self.seen.entry((transmitter, tid)).or_default().has(sequence, retry), Err(Reason::Repeated.into()));
        let body = if frame.padded { header.next_multiple_of(4) } else { header };
        let aggregated = qos_control & 1 << 7 != 0;
        if protected {
            return if aggregated {
                Err(Reason::Encrypted.into())
            } else {
                self.encrypted(frame, body, from_ds, to_ds).map(found)
            };
        }
        let meshed = from_ds && qos_control & 1 << 8 != 0;
        if aggregated {
            return aggregate(frame, body, meshed, found);
        }
        let body = if meshed { mesh(data, body) } else { body };
        let at = llc(data, body)?;
        length_at(data, at, frame.length).map(found)
    }

    /// Returns the length of an encrypted packet: the frame without LLC and without the bytes that the cipher adds.
    fn encrypted(&self, frame: &Frame, body: usize, from_ds: bool, to_ds: bool) -> Result<u64, No> {
        let data = frame.data;
        let header: [u8; 4] = read(array(data, body))?;
        let bssid: [u8; 6] = read(array(
            data,
            if to_ds {
                4
            } else if from_ds {
                10
            } else {
                16
            },
        ))?;
        let group = read(data.first_chunk::<5>())?[4] & 1 == 1;
        let extended = header[3] & 0x20 != 0;
        let added = if !extended {
            // WEP adds IV and ICV.
            4 + 4
        } else if header[2] != 0 && header[1] == (header[0] | 0x20) & 0x7F {
            // TKIP adds IV, Michael and ICV.
            8 + 8 + 4
        } else {
            let [unicast, of_group] = self.checks.get(&bssid).copied().unwrap_or([8, 8]);
            8 + if group { of_group } else { unicast }
        };
        let before = body as u64 + added + LLC;
        // At least an IP header must be left.
        match u64::from(frame.length).checked_sub(before) {
            Some(length) if length >= 20 => Ok(length),
            _ => Err(Reason::NotIp.into()),
        }
    }

    /// Reads a network's ciphers from the RSN element of a beacon or probe response (9.4.2.25).
    fn learn(&mut self, data: &[u8]) {
        const RSN: u8 = 48;
        let Some(bssid) = array(data, 16) else { return };
        let mut elements = data.get(36..).unwrap_or_default();
        while let [kind, length, rest @ ..] = elements {
            let Some(value) = rest.get(..usize::from(*length)) else { return };
            if *kind == RSN {
                let suite = |at: usize| array::<4>(value, at);
                let unicast = Order::Little.u16(value, 6).filter(|&suites| suites == 1).and_then(|_| suite(8));
                self.checks.insert(bssid, [unicast, suite(2)].map(check));
                return;
            }
            elements = &rest[value.len()..];
        }
    }
}

/// Returns the length of the check at the end: 16 B with GCMP and CCMP-256, otherwise that of CCMP-128.
fn check(suite: Option<[u8; 4]>) -> u64 {
    match suite {
        Some([0, 0x0F, 0xAC, 8..=10]) => 16,
        _ => 8,
    }
}

/// Returns where the body begins after a mesh control field (9.2.4.7.3), if there is one. Senders outside a mesh use
/// the field's bit for another purpose.
fn mesh(data: &[u8], body: usize) -> usize {
    let is_llc = |at: usize| data.get(at..).is_some_and(is_snap);
    match data.get(body) {
        Some(flags @ 0..=2) if !is_llc(body) => body + 6 + 6 * usize::from(*flags),
        _ => body,
    }
}

/// Reads an A-MSDU: subframes (9.3.2.2) with addresses and length, all but the last padded to a multiple of 4 bytes.
fn aggregate(frame: &Frame, body: usize, meshed: bool, found: &mut impl FnMut(u64)) -> Result<(), No> {
    const HEADER: usize = 14;
    let (mut at, mut packets) = (body, 0);
    while ((at + HEADER) as u64) < u64::from(frame.length) {
        let length = usize::from(read(Order::Big.u16(frame.data, at + 12))?);
        refuse_if!((at + HEADER + length) as u64 > u64::from(frame.length), Err(Reason::Malformed.into()));
        let inner = if meshed { mesh(frame.data, at + HEADER) } else { at + HEADER };
        match llc(frame.data, inner).and_then(|ip| length_at(frame.data, ip, frame.length)) {
            Ok(length) => {
                found(length);
                packets += 1;
            }
            Err(No::Left(_)) => {}
            Err(No::Cut) => return Err(No::Cut),
        }
        at = body + (at + HEADER + length - body).next_multiple_of(4);
    }
    if packets == 0 { Err(Reason::NotIp.into()) } else { Ok(()) }
}

/// Sequence numbers that a transmitter has recently used.
struct Seen {
    last: u16,
    numbers: [u64; SEQUENCES as usize / 64],
}

impl Default for Seen {
    fn default() -> Self {
        Self { last: 0, numbers: [0; SEQUENCES as usize / 64] }
    }
}

impl Seen {
    /// Records the number of a frame. True if the frame repeats an earlier one with this number.
    fn has(&mut self, number: u16, repeated: bool) -> bool {
        let ahead = number.wrapping_sub(self.last) % SEQUENCES;
        // Numbers that were skipped, or that will be used again, belong to other frames.
        if ahead < SEQUENCES / 2 {
            (1..=ahead).for_each(|step| self.set((self.last + step) % SEQUENCES, false));
            self.last = number;
        }
        let seen = self.numbers[usize::from(number / 64)] >> (number % 64) & 1 == 1;
        self.set(number, true);
        seen && repeated
    }

    fn set(&mut self, number: u16, seen: bool) {
        let word = &mut self.numbers[usize::from(number / 64)];
        let bit = 1 << (number % 64);
        *word = if seen { *word | bit } else { *word & !bit };
    }
}
