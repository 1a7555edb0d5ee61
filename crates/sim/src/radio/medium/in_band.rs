//! Reception if nodes are on channels that overlap in part, or if they ignore frames of other cells.

use super::bands::{Bands, Share};
use super::receiver::{Arrival, Header, Lock};
use super::receivers::{Receivers, forget_power};
use super::reuse::{Limited, has_colour};
use super::signal::{Heard, Passing, Signal, Transmission};
use crate::config::Capture;
use crate::engine::Handle;
use crate::radio::Link;
use crate::radio::mode::Mode;
use crate::radio::reception::Mpdu;
use units::Instant;

impl Receivers {
    /// Gives nodes these channels from now on. All frames then take the plain path.
    pub(super) fn tune(&mut self, bands: Bands) {
        self.fast = false;
        self.bands = Some(Box::new(bands));
    }

    /// Makes a node that decodes nothing listen to its primary channel.
    pub(super) fn retune(&mut self, node: u32) {
        let receiver = &mut self.of[node as usize];
        if let Some(bands) = &mut self.bands
            && receiver.lock.is_none()
        {
            let tuned = &mut bands.of[node as usize];
            tuned.counted = tuned.band.primary();
            receiver.energy = tuned.energy_in(tuned.counted);
        }
    }

    /// Handles the start of a frame at a node. True if the node's medium became busy.
    pub(super) fn front_in_band<F: Copy>(&mut self, frame: Passing<F>, node: u32, power: u64, now: Instant) -> bool {
        let (sent, carrier_sense) = (frame.sent, self.reception.carrier_sense);
        let (finds, is_part) = (self.finds(node, sent.shape.mode), self.is_part(node, &sent.shape));
        let Some(bands) = &mut self.bands else { return false };
        let Some(share) = bands.share(sent, node, power) else { return false };
        let pifs = bands.pifs;
        let (tuned, receiver) = (&mut bands.of[node as usize], &mut self.of[node as usize]);
        let primary = tuned.band.primary();
        let found = sent.shape.found_by(share.within(u64::MAX));
        let decodable = finds && share.here & primary != 0 && found >= self.reception.receive;
        if receiver.lock.is_none() {
            tuned.before = tuned.idle(now);
        }
        let may_join = is_part && share.is_whole() && share.here & primary != 0;
        if may_join && receiver.lock.is_none() {
            tuned.counted = share.sent;
            receiver.energy = tuned.energy_in(share.sent);
        }
        tuned.change(&share, now, pifs, |energy, each| energy + each);
        if may_join {
            let arrival = Arrival { frame, node, power: share.within(u64::MAX), decodable };
            if let Some(turned_busy) = self.part_begins(arrival, now) {
                return turned_busy;
            }
            self.retune(node);
        }
        let Some(bands) = &mut self.bands else { return false };
        let (tuned, receiver) = (&mut bands.of[node as usize], &mut self.of[node as usize]);
        if let Some(lock) = &mut receiver.lock {
            receiver.energy += share.within(tuned.counted);
            let others = receiver.energy - lock.power;
            if !self.judge.by_ratio() && !self.reception.stands_out(lock.power, others as f64) {
                lock.intact = false;
                if now < lock.header_end {
                    lock.header = Header::Lost;
                }
            }
            receiver.disturbed(&mut self.histories[node as usize], now);
        } else {
            receiver.energy = tuned.energy_in(primary);
            if decodable && !receiver.sending {
                self.begin_in_band(frame, node, &share, now);
            }
        }
        self.of[node as usize].settle(now, carrier_sense)
    }

    /// Handles the start of a decodable frame at a node that decodes nothing.
    fn begin_in_band<F: Copy>(&mut self, frame: Passing<F>, node: u32, share: &Share, now: Instant) {
        if self.reception.order == Capture::FirstFrame {
            return self.decode_in_band(frame.of, frame.sent, node, share, (now, now));
        }
        let preamble = &mut self.preambles[node as usize];
        if preamble.is_none_or(|other| share.each > other.power) {
            *preamble = Some(super::receiver::Preamble { of: frame.of, power: share.each, start: now });
        }
    }

    /// Starts to decode a frame that arrives with power `each` in every channel, if it exceeds the capture threshold.
    /// `since`: start of the frame, and of decoding.
    pub(super) fn choose_in_band<F>(
        &mut self,
        (of, sent): (Handle, &Transmission<F>),
        node: u32,
        each: u64,
        since: (Instant, Instant),
    ) {
        let Some(share) = self.bands.as_ref().and_then(|bands| bands.share(sent, node, 0)) else { return };
        self.decode_in_band(of, sent, node, &Share { each, ..share }, since);
    }

    fn decode_in_band<F>(
        &mut self,
        of: Handle,
        sent: &Transmission<F>,
        node: u32,
        share: &Share,
        since: (Instant, Instant),
    ) {
        let noise = sent.bounds.noise() * self.noise(node);
        let Some(bands) = &mut self.bands else { return };
        let (tuned, receiver) = (&mut bands.of[node as usize], &mut self.of[node as usize]);
        let counted = share.decoded(&sent.shape, tuned.band.primary());
        let (power, energy) = (share.within(counted), tuned.energy_in(counted));
        let others = energy - power;
        if self.reception.stands_out(sent.shape.found_by(power), others as f64 + noise) {
            (tuned.counted, receiver.energy) = (counted, energy);
            receiver.lock(&self.judge, &mut self.histories[node as usize], of, sent, power, since);
        } else if self.weighs {
            self.margins[node as usize].weigh(power, others, self.reception.capture);
        }
    }

    /// Handles the end of a frame at a node.
    pub(super) fn tail_in_band<F: Copy>(
        &mut self,
        frame: Passing<F>,
        node: u32,
        power: u64,
        (now, mpdus): (Instant, &[Mpdu]),
    ) -> Heard {
        let nothing = Heard { power, what: Signal::Nothing, turned_idle: false };
        let is_part = self.is_part(node, &frame.sent.shape);
        let Some(bands) = &mut self.bands else { return nothing };
        let Some(share) = bands.share(frame.sent, node, power) else { return nothing };
        let pifs = bands.pifs;
        let tuned = &mut bands.of[node as usize];
        let (counted, primary) = (tuned.counted, tuned.band.primary());
        tuned.change(&share, now, pifs, |energy, each| energy - each);
        if is_part
            && share.is_whole()
            && let Some(heard) = self.part_ends(frame, node, share.within(u64::MAX), (now, mpdus))
        {
            self.note_width(frame.sent, node);
            return Heard { power: share.power, ..heard };
        }
        let carrier_sense = self.reception.carrier_sense;
        let receiver = &mut self.of[node as usize];
        let what = match receiver.lock {
            Some(lock) if lock.of == frame.of => {
                receiver.lock = None;
                self.retune(node);
                self.verdict_in_band(frame, node, &lock, &share, mpdus)
            }
            _ => {
                receiver.energy -= share.within(counted);
                receiver.disturbed(&mut self.histories[node as usize], now);
                receiver.unlocked(share.within(primary), carrier_sense)
            }
        };
        let turned_idle = self.of[node as usize].settle(now, carrier_sense);
        Heard { power: share.power, what, turned_idle }
    }

    /// Decides about a frame that a node was decoding. Of a frame wider than its channel it gets only the PHY header.
    fn verdict_in_band<F: Copy>(
        &mut self,
        frame: Passing<F>,
        node: u32,
        lock: &Lock,
        share: &Share,
        mpdus: &[Mpdu],
    ) -> Signal {
        if share.is_whole() || !matches!(frame.sent.shape.mode, Mode::Mimo(_)) {
            self.note_width(frame.sent, node);
            let what = self.verdict(frame, node, lock, mpdus);
            return self.heeded(frame.sent, node, share.each, what);
        }
        let decoded = lock.decoded(frame.sent, self.noise(node));
        let read = match lock.header {
            Header::Open => self.judge.reads_header(node, &decoded, &self.histories[node as usize]),
            header => header == Header::Read,
        };
        Signal::Bad { header_read: read }
    }

    /// Records the frame's width: a response has the width of the frame that it answers.
    fn note_width<F>(&mut self, sent: &Transmission<F>, node: u32) {
        if let Some(bands) = &mut self.bands {
            let tuned = &mut bands.of[node as usize];
            tuned.heard = sent.shape.width;
            tuned.answerable = tuned.heard.min(tuned.before);
        }
    }

    /// Returns the power with which a frame arrives. If powers fade, it is drawn when the frame begins.
    pub(super) fn power_of(&mut self, of: Handle, link: &Link, begins: bool) -> u64 {
        match (self.judge.fades(), begins) {
            (false, _) => link.power,
            (true, false) => forget_power(&mut self.powers[link.to as usize], of),
            (true, true) => {
                let power = self.judge.faded(link.to, link.power).0;
                self.powers[link.to as usize].push((of, power));
                power
            }
        }
    }

    /// Handles the time at which a node has read the colour of an HE PPDU. If the node ignores the frame, returns
    /// whether the node's medium became idle.
    pub(super) fn ignore<F: Copy>(&mut self, frame: Passing<F>, node: u32, now: Instant) -> Option<bool> {
        if self.reception.order == Capture::StrongestPreamble {
            self.choose(frame.air, node, now);
        }
        let noise = self.noise(node);
        let bands = self.bands.as_mut()?;
        let each = bands.each(node, self.of[node as usize].lock.as_ref().filter(|lock| lock.of == frame.of)?.power);
        let reuse = bands.reuse.as_mut().filter(|reuse| reuse.ignores(frame.sent.from, node, each))?;
        let lock = self.of[node as usize].lock.as_mut()?;
        if lock.header == Header::Open {
            let decoded = lock.decoded(frame.sent, noise);
            lock.header = self.judge.reads_header(node, &decoded, &self.histories[node as usize]).into();
        }
        if lock.header != Header::Read {
            return None;
        }
        reuse.nodes[node as usize].limited = Limited::UntilTxop;
        self.of[node as usize].lock = None;
        self.retune(node);
        Some(self.of[node as usize].settle(now, self.reception.carrier_sense))
    }

    /// Returns the outcome of a received frame at a node, where it arrived with power `each` in every 20 MHz.
    pub(super) fn heeded<F>(&mut self, sent: &Transmission<F>, node: u32, each: u64, what: Signal) -> Signal {
        let reuse = self.bands.as_mut().and_then(|bands| bands.reuse.as_mut());
        match (what, reuse) {
            (Signal::Good { .. }, Some(reuse)) if !has_colour(&sent.shape) && reuse.ignores(sent.from, node, each) => {
                reuse.nodes[node as usize].limited = Limited::UntilTxop;
                Signal::Foreign
            }
            _ => what,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ChannelWidth::{self, Mhz20, Mhz40, Mhz80, Mhz160};
    use crate::config::GuardInterval;
    use crate::radio::band::Band;
    use crate::radio::medium::Medium;
    use crate::radio::mode::OfdmRate;
    use crate::radio::reception::Shape;
    use crate::radio::{Format, Judge, Links, Mimo, Reception};
    use units::{Bytes, Duration};

    const MICROWATT: u64 = 1_000_000_000_000;
    /// Channels of nodes 0 to 4: the first two have 80 MHz from 36 on, the others 20 MHz on 44, 160 from 36 on and 20 on 52.
    const CHANNELS: [(u8, ChannelWidth); 5] = [(36, Mhz80), (36, Mhz80), (44, Mhz20), (36, Mhz160), (52, Mhz20)];

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    /// All hear node 1 with a microwatt, and each other with 8 nW.
    fn medium() -> Medium<u32> {
        let link = |from: u32, to: u32| Link {
            to,
            delay: Duration::from_nanos(1),
            power: if from == 1 { MICROWATT } else { MICROWATT / 125 },
            decodable: true,
        };
        let of = (0..5).map(|from| (0..5).filter(|&to| to != from).map(|to| link(from, to)).collect()).collect();
        let order = Capture::FirstFrame;
        let reception = Reception { carrier_sense: MICROWATT, receive: MICROWATT / 1_000, capture: 10.0, order };
        let mut medium = Medium::new(Links::fixed(of, reception), Judge::by_capture());
        let bands = CHANNELS.map(|(number, width)| Band::new(number, width, false).expect("a channel"));
        medium.tune(bands.to_vec(), Duration::from_micros(25), None);
        medium
    }

    /// A frame of 100 us, in a mode of this width or, for control frames, duplicated over it.
    fn begins(medium: &mut Medium<u32>, from: u32, width: ChannelWidth, control: bool, micros: u64) -> Handle {
        let mimo = Mimo::new(Format::He, 5, 1, width, GuardInterval::Long).expect("a mode");
        let mode = if control { Mode::Ofdm(OfdmRate::M24) } else { Mode::Mimo(mimo) };
        let (psdu, duration, answers) = (Bytes::new(100), Duration::from_micros(100), Shape::NOBODY);
        let shape = Shape { mode, psdu, duration, aggregate: false, control, answers, width, limited: false };
        let (of, _) = medium.start(from, from, at(micros), shape);
        for index in 0..4 {
            medium.front_at(of, index, at(micros));
        }
        of
    }

    /// Outcome at each listener.
    fn ends(medium: &mut Medium<u32>, of: Handle, micros: u64) -> Vec<Signal> {
        medium.end(of);
        (0..4).map(|index| medium.tail_at(of, index, at(micros), &[]).what).collect()
    }

    #[test]
    fn interference_counts_in_the_shared_part_of_the_band() {
        for (from, width, expected) in [(2, Mhz20, 1), (3, Mhz160, 2), (3, Mhz80, 1), (3, Mhz40, 1)] {
            let mut medium = medium();
            begins(&mut medium, 1, Mhz80, false, 0);
            begins(&mut medium, from, width, false, 50);
            let worst = medium.receivers.of[0].lock.as_ref().map(|lock| lock.worst);
            assert_eq!(worst, Some(MICROWATT / 125 / expected), "{width:?}");
        }
        let mut medium = medium();
        begins(&mut medium, 1, Mhz80, false, 0);
        begins(&mut medium, 4, Mhz20, false, 50);
        assert_eq!(medium.receivers.of[0].lock.as_ref().map(|lock| lock.worst), Some(0));
    }

    /// Listeners of node 1: 0, 2 on the third 20 MHz of its channel, 3, and 4 outside of it.
    #[test]
    fn of_a_wider_frame_the_preamble_is_read_and_of_a_duplicate_all() {
        let (good, header, nothing) =
            (Signal::Good { whole: true }, Signal::Bad { header_read: true }, Signal::Nothing);
        let mut medium = medium();
        let data = begins(&mut medium, 1, Mhz80, false, 0);
        assert!(medium.receivers.of[2].busy && !medium.receivers.of[4].busy);
        assert_eq!(ends(&mut medium, data, 100), [good, header, good, nothing]);
        let duplicate = begins(&mut medium, 1, Mhz80, true, 200);
        assert_eq!(ends(&mut medium, duplicate, 300), [good, good, good, nothing]);
        let narrow = begins(&mut medium, 1, Mhz40, false, 400);
        assert_eq!(ends(&mut medium, narrow, 500), [good, nothing, good, nothing]);
        assert!(medium.receivers.of.iter().all(|receiver| receiver.energy == 0 && !receiver.busy));
    }

    /// A secondary channel is usable again when it has been idle for 25 us. Below the threshold of energy the primary one is
    /// idle all the time.
    #[test]
    fn a_secondary_channel_is_busy_until_it_has_been_idle_for_pifs() {
        let mut medium = medium();
        assert_eq!([0, 2, 3].map(|node| medium.idle_width(node, at(0))), [Mhz80, Mhz20, Mhz160]);
        let frame = begins(&mut medium, 2, Mhz20, false, 0);
        assert_eq!([0, 3, 4].map(|node| medium.idle_width(node, at(50))), [Mhz40, Mhz40, Mhz20]);
        assert!(!medium.receivers.of[0].busy);
        ends(&mut medium, frame, 100);
        assert_eq!([124, 125].map(|micros| medium.idle_width(0, at(micros))), [Mhz40, Mhz80]);
    }
}
