//! Decides which parts of a frame a node receives: by the capture threshold, by chance, or by the ratio of signal to
//! noise and interference, for each interval in which the interference is constant.

use super::channel::Channel;
use super::errors::{Errors, Tables, all_survive, header_field};
use super::fading::Fading;
use super::mode::Mode;
use super::propagation::{BOOST, Reception};
use crate::config::ChannelWidth;
use crate::engine::{Bitmap, Purpose, Stream};
use std::ops::Range;
use units::{Bytes, Duration, Instant};

/// A frame as the medium sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) mode: Mode,
    /// Length of the frame's part after the PHY header.
    pub(crate) psdu: Bytes,
    pub(crate) duration: Duration,
    /// True if the frame has several MPDUs, each with its own checksum.
    pub(crate) aggregate: bool,
    /// True for an ACK, CTS, RTS or block acknowledgement.
    pub(crate) control: bool,
    /// The node whose trigger this frame answers together with other frames, each in its own part of the channel;
    /// [`NOBODY`](Self::NOBODY) for a frame that is no such answer.
    pub(crate) answers: u32,
    /// Bandwidth of the frame, if nodes have several channels.
    pub(crate) width: ChannelWidth,
    /// True if the frame is sent with less power, for spatial reuse.
    pub(crate) limited: bool,
}

impl Shape {
    pub(crate) const NOBODY: u32 = u32::MAX;

    /// Returns the preamble's power in a frame of this power; a receiver detects the frame with it.
    pub(super) fn found_by(&self, power: u64) -> u64 {
        match self.mode {
            Mode::Mimo(mode) if mode.extended_range().is_some() => power.saturating_mul(BOOST),
            _ => power,
        }
    }

    /// True if the frame answers a trigger together with other frames.
    pub(crate) fn is_part(&self) -> bool {
        self.answers != Self::NOBODY
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mpdu {
    /// Offset of the MPDU in the PSDU, in bytes.
    pub(crate) start: Bytes,
    pub(crate) length: Bytes,
}

/// Noise in a receiver in attowatts, and the SINR above which no bit is lost.
#[derive(Clone, Copy, Debug)]
struct Bound {
    noise: f64,
    certain: f64,
}

impl Bound {
    /// True if no bit of a signal with this power is lost if other signals have the total power `others`.
    fn is_certain(&self, power: u64, others: u64) -> bool {
        power as f64 / (self.noise + others as f64) >= self.certain
    }
}

/// Bounds of a mode for the field in the PHY header, and for the rest. They decide about nearly all frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    header: Bound,
    payload: Bound,
}

impl Bounds {
    /// Bounds for error models that do not depend on the SINR.
    const NONE: Self = {
        let none = Bound { noise: 0.0, certain: f64::INFINITY };
        Self { header: none, payload: none }
    };

    /// Returns the same bounds for a receiver whose noise is higher by this factor.
    pub(super) fn louder(self, factor: f64) -> Self {
        let of = |bound: Bound| Bound { noise: bound.noise * factor, ..bound };
        Self { header: of(self.header), payload: of(self.payload) }
    }

    /// Returns the noise at the beginning of a frame, in attowatts.
    pub(super) fn noise(&self) -> f64 {
        self.header.noise
    }
}

/// A frame that a node is decoding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoded {
    pub(super) shape: Shape,
    pub(super) bounds: Bounds,
    pub(super) power: u64,
    /// Largest power of other signals during the frame, in attowatts.
    pub(super) worst: u64,
    /// Time at which the frame's first bit arrived at the node.
    pub(super) start: Instant,
    pub(super) from: u32,
}

/// Interference while a frame is decoded: times, and the power of all other signals from each time on, in attowatts.
pub(super) type History = Vec<(Instant, u64)>;

/// Decides about the frames that nodes decode.
pub(crate) struct Judge {
    errors: Errors,
    /// Curves of the model if it depends on the SINR; then curves of OFDM's rates between nodes with LDPC.
    tables: Option<Box<[Tables; 2]>>,
    /// For each node, true if it supports LDPC.
    ldpc: Vec<bool>,
    /// SINR bounds of each mode used so far.
    bounds: Vec<(u64, Bounds)>,
    fading: Option<Fading>,
    /// Receive threshold in attowatts.
    receive: u64,
    /// Upper bound of a signal after fading, so that the sum of all signals fits into 64 bits.
    ceiling: u64,
    /// For each node, random numbers for errors if the model draws them.
    luck: Vec<Stream>,
    /// For each node, random numbers for fading if powers fade.
    powers: Vec<Stream>,
}

impl Judge {
    /// Makes a judge that uses only the capture threshold.
    #[cfg(test)]
    pub(super) fn by_capture() -> Self {
        Self {
            errors: Errors::None,
            tables: None,
            ldpc: Vec::new(),
            bounds: Vec::new(),
            fading: None,
            receive: 0,
            ceiling: u64::MAX,
            luck: Vec::new(),
            powers: Vec::new(),
        }
    }

    /// Makes the judge of a channel between nodes with these names, some of which have LDPC.
    pub(crate) fn new(channel: &Channel, reception: &Reception, names: &[String], ldpc: Vec<bool>, seed: u64) -> Self {
        let streams = |wanted, purpose| {
            let names = if wanted { names } else { &[] };
            names.iter().map(|name| Stream::new(seed, name, purpose)).collect()
        };
        Self {
            errors: channel.errors,
            tables: match channel.errors {
                Errors::Snr(model) => Some(Box::new([false, true].map(|simulated| Tables::new(model, simulated)))),
                Errors::None | Errors::Fixed { .. } => None,
            },
            ldpc,
            bounds: Vec::new(),
            fading: channel.fading,
            receive: reception.receive,
            ceiling: u64::MAX / (names.len() as u64).max(1),
            luck: streams(channel.errors != Errors::None, Purpose::RECEPTION),
            powers: streams(channel.fading.is_some(), Purpose::FADING),
        }
    }

    /// True if a frame without interference is always received.
    pub(super) fn is_plain(&self) -> bool {
        self.errors == Errors::None
    }

    pub(super) fn fades(&self) -> bool {
        self.fading.is_some()
    }

    /// Draws the power of a frame at `node`, and whether it can be decoded.
    #[cold]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub(super) fn faded(&mut self, node: u32, mean: u64) -> (u64, bool) {
        let Some(fading) = self.fading else { return (mean, mean >= self.receive) };
        let power = ((mean as f64 * fading.draw(&mut self.powers[node as usize])) as u64).min(self.ceiling);
        (power, power >= self.receive)
    }

    /// True if the SINR during the frame decides, not only the capture threshold.
    pub(super) fn by_ratio(&self) -> bool {
        matches!(self.errors, Errors::Snr(_))
    }

    /// True if the capture threshold alone decides, and frames' powers follow from positions.
    pub(super) fn by_threshold(&self) -> bool {
        self.tables.is_none() && self.fading.is_none()
    }

    #[inline(always)] // once a frame
    pub(super) fn bounds(&mut self, mode: Mode) -> Bounds {
        if self.tables.is_none() {
            return Bounds::NONE;
        }
        let key = mode.key();
        for (known, bounds) in &self.bounds {
            if *known == key {
                return *bounds;
            }
        }
        self.find_bounds(mode)
    }

    #[cold]
    fn find_bounds(&mut self, mode: Mode) -> Bounds {
        let (Errors::Snr(model), Some(tables)) = (&self.errors, &mut self.tables) else { return Bounds::NONE };
        let mut bound = |mode| Bound { noise: model.noise(mode), certain: tables[0].least_certain(mode) };
        let field = header_field(mode);
        let once = bound(field.mode);
        // The powers of copies add up.
        let header = Bound { certain: once.certain / field.copies as f64, ..once };
        let mut payload = bound(mode);
        if matches!(mode, Mode::Ofdm(_)) && self.ldpc.contains(&true) {
            payload.certain = payload.certain.max(tables[1].least_certain(mode));
        }
        let bounds = Bounds { header, payload };
        self.bounds.push((mode.key(), bounds));
        bounds
    }

    /// True if the SINR of a frame of this power is above the error-free bound, with interference of at most `worst`.
    #[inline]
    pub(super) fn spares(&self, bounds: &Bounds, power: u64, worst: u64) -> bool {
        match self.errors {
            Errors::None => true,
            Errors::Fixed { .. } => false,
            Errors::Snr(_) => bounds.header.is_certain(power, worst) && bounds.payload.is_certain(power, worst),
        }
    }

    /// Returns the probability that this many bits survive at this power without interference.
    pub(super) fn chance_alone(&mut self, mode: Mode, power: f64, bits: f64) -> f64 {
        let (Errors::Snr(model), Some(tables)) = (&self.errors, &mut self.tables) else { return 1.0 };
        tables[0].success(mode, power / model.noise(mode), bits)
    }

    /// Draws whether `node` could read the PHY header, which has ended.
    pub(super) fn reads_header(&mut self, node: u32, frame: &Decoded, history: &History) -> bool {
        let Some([tables, _]) = self.tables.as_deref_mut() else { return true };
        let Bound { noise, .. } = frame.bounds.header;
        if frame.is_certain(frame.bounds.header) {
            return true;
        }
        let field = header_field(frame.shape.mode);
        let span = frame.start + field.begins..frame.start + field.ends;
        let power = frame.power.saturating_mul(field.copies);
        let chance = survival(tables, field.mode, field.bits, noise, power, &span, history);
        self.luck[node as usize].happens(chance)
    }

    /// Returns the MPDUs of a frame that `node` receives after it has read the header; `None` if it receives all.
    /// `mpdus` are the MPDUs of an aggregate.
    pub(super) fn survivors(
        &mut self,
        node: u32,
        frame: &Decoded,
        history: &History,
        reception: &Reception,
        mpdus: &[Mpdu],
    ) -> Option<Bitmap> {
        let whole = [Mpdu { start: Bytes::new(0), length: frame.shape.psdu }];
        let mpdus = if frame.shape.aggregate { mpdus } else { &whole };
        // First the whole frame is judged with the largest interference.
        let undisturbed = match self.errors {
            Errors::Snr(_) => frame.is_certain(frame.bounds.payload),
            Errors::None | Errors::Fixed { .. } => {
                history.iter().all(|&(_, others)| reception.stands_out(frame.power, others as f64))
            }
        };
        if undisturbed && !matches!(self.errors, Errors::Fixed { .. }) {
            return None;
        }
        let (span, mut intact) = (frame.spans(), Bitmap::default());
        let has_ldpc = |node: u32| self.ldpc.get(node as usize) == Some(&true);
        let simulated = matches!(frame.shape.mode, Mode::Ofdm(_)) && has_ldpc(frame.from) && has_ldpc(node);
        for (index, mpdu) in mpdus.iter().enumerate() {
            let bits = mpdu.length.bits() as f64;
            let chance = match (&self.errors, &mut self.tables) {
                (Errors::Snr(_), Some(tables)) => {
                    let noise = frame.bounds.payload.noise;
                    let tables = &mut tables[usize::from(simulated)];
                    survival(tables, frame.shape.mode, bits, noise, frame.power, &span(mpdu), history)
                }
                _ if !undisturbed && !stood_out(frame.power, &span(mpdu), history, reception) => 0.0,
                (Errors::Fixed { control: false, .. }, _) if frame.shape.control => 1.0,
                (Errors::Fixed { packets, bits: bit, .. }, _) => (1.0 - packets) * all_survive(*bit, bits),
                (Errors::None | Errors::Snr(_), _) => 1.0,
            };
            let open = chance > 0.0 && chance < 1.0;
            let survives = if open { self.luck[node as usize].happens(chance) } else { chance > 0.0 };
            if survives {
                intact.set(index);
            }
        }
        Some(intact)
    }
}

impl Decoded {
    /// True if no bit is lost even with the largest interference.
    fn is_certain(&self, bound: Bound) -> bool {
        bound.is_certain(self.power, self.worst)
    }

    /// Returns the span of time in which each MPDU of the frame is received: its share of the payload's time.
    fn spans(&self) -> impl Fn(&Mpdu) -> Range<Instant> + use<> {
        let begins = self.start + self.shape.mode.header();
        let payload = self.shape.mode.data(self.shape.psdu).as_nanos();
        let all = self.shape.psdu.count().max(1);
        let at = move |bytes: Bytes| begins + Duration::from_nanos(payload * bytes.count().min(all) / all);
        move |mpdu| at(mpdu.start)..at(mpdu.start + mpdu.length)
    }
}

/// Returns the intervals of constant interference within a span: duration in nanoseconds, and interfering power.
fn intervals(span: &Range<Instant>, history: &History) -> impl Iterator<Item = (u64, u64)> {
    let (from, to) = (span.start, span.end);
    let ends = history.iter().skip(1).map(|&(next, _)| next).chain([Instant::NEVER]);
    history.iter().zip(ends).filter_map(move |(&(start, others), end)| {
        let (start, end) = (start.max(from), end.min(to));
        (start < end).then(|| (end.since(start).as_nanos(), others))
    })
}

/// Returns the probability that bits spread evenly over a span survive with this noise.
fn survival(
    tables: &mut Tables,
    mode: Mode,
    bits: f64,
    noise: f64,
    power: u64,
    span: &Range<Instant>,
    history: &History,
) -> f64 {
    let length = span.end.since(span.start).as_nanos() as f64;
    let mut chance = 1.0;
    for (nanos, others) in intervals(span, history) {
        chance *= tables.success(mode, power as f64 / (noise + others as f64), bits * nanos as f64 / length);
        if chance <= 0.0 {
            break;
        }
    }
    chance
}

/// True if the frame exceeded all other signals by the capture threshold during a whole span.
fn stood_out(power: u64, span: &Range<Instant>, history: &History, reception: &Reception) -> bool {
    intervals(span, history).all(|(_, others)| reception.stands_out(power, others as f64))
}

impl Reception {
    /// True if a frame of this power on a link can be decoded without interference.
    pub(super) fn decodes(&self, shape: &Shape, power: u64, decodable: bool) -> bool {
        decodable || shape.found_by(power) > power && shape.found_by(power) >= self.receive
    }

    /// True if a signal of this power exceeds all other signals by the capture threshold.
    pub(super) fn stands_out(&self, power: u64, others: f64) -> bool {
        others <= 0.0 || power as f64 >= others * self.capture
    }
}
