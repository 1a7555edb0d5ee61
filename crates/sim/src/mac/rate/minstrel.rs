//! Minstrel-HT, as published (Fietkau; Linux's documentation of Minstrel; Xia, Hart and Fu, Evaluation of the Minstrel
//! rate adaptation algorithm in IEEE 802.11g WLANs, 2013). It prefers the mode with the largest throughput at the
//! measured success ratio, has a chain of modes for repetitions, and samples other modes with a tenth of the frames.
//! With a single group of modes (802.11a, b, g) Minstrel-HT is Minstrel.

use crate::config::{ChannelWidth, GuardInterval};
use crate::engine::Stream;
use crate::radio::{Mode, Timing};
use units::{Bytes, Duration, Instant};

/// Time between two computations of the success ratios.
const INTERVAL: Duration = Duration::from_millis(100);
/// Weight of earlier intervals in the success ratios.
const PAST: f64 = 0.75;
/// Bounds of the success ratio. A mode below the lower bound counts as useless. A ratio above the upper bound counts as
/// that bound, so that noise in good ratios does not decide.
const USEFUL: f64 = 0.1;
const GOOD: f64 = 0.9;
/// A mode with at least this success ratio needs no sampling and may be the safest.
const SURE: f64 = 0.95;
/// One in this number of frames samples another mode.
const LOOK_AROUND: u32 = 10;
/// Attempts in the fastest, the second fastest and the safest mode: seven in all, the MAC's limit.
const TRIES: [u8; 3] = [3, 2, 2];
/// Length of the frame for which the airtimes of modes are compared. As a part of an aggregate its airtime is exact
/// to the bit: alone it would take equally many symbols in several fast modes. Linux divides the duration of 16 such
/// frames by 16 (`rc80211_minstrel_ht.c`). Some modes of HE, which Linux leaves to devices, would still be equal.
const REFERENCE: Bytes = Bytes::new(1_200);

/// Computes what a frame costs besides its payload, with a network's timing.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    timing: Timing,
}

#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Airtime of the reference payload, in ns.
    payload: f64,
    /// Overhead of a frame whatever its contents, in ns.
    overhead: f64,
    /// Streams, width and guard interval. Modes of the same group differ only in coding.
    group: Option<(u8, ChannelWidth, GuardInterval)>,
}

impl Costs {
    /// Makes the costs in a network with this timing.
    pub(crate) fn new(timing: &Timing) -> Self {
        Self { timing: timing.clone() }
    }

    pub(super) fn of(&self, mode: Mode) -> Candidate {
        let timing = &self.timing;
        let backoff = timing.slot * u64::from(timing.cw_min) / 2;
        let overhead = mode.header() + timing.difs + backoff + timing.sifs + timing.responses(mode).ack;
        let payload = match mode {
            Mode::Mimo(_) | Mode::Nominal { .. } => mode.share(REFERENCE),
            Mode::Dsss { .. } | Mode::Ofdm(_) => timing.payload(mode, REFERENCE),
        };
        let group = match mode {
            Mode::Mimo(mimo) => Some((mimo.streams(), mimo.width(), mimo.guard())),
            Mode::Dsss { .. } | Mode::Ofdm(_) | Mode::Nominal { .. } => None,
        };
        Candidate { payload: payload.as_nanos() as f64, overhead: overhead.as_nanos() as f64, group }
    }

    /// Returns a peer's throughput in bit/s in a mode if all MPDUs of its frames arrive; `mpdus` is their number in a
    /// frame. It is counted as in [`Minstrel::expected`].
    pub(super) fn clean(&self, mode: Mode, mpdus: f64) -> f64 {
        bits(self.of(mode).throughput(1.0, mpdus))
    }
}

impl Candidate {
    /// Returns how many MPDUs per nanosecond a mode delivers at this success ratio; `mpdus`: MPDUs in a frame.
    fn throughput(&self, ratio: f64, mpdus: f64) -> f64 {
        let time = self.payload + self.overhead / mpdus;
        if ratio < USEFUL { 0.0 } else { ratio.min(GOOD) / time }
    }
}

/// Converts reference payloads per nanosecond to bit/s.
fn bits(mpdus_a_nanosecond: f64) -> f64 {
    mpdus_a_nanosecond * REFERENCE.bits() as f64 * 1e9
}

#[derive(Debug)]
struct Statistics {
    candidate: Candidate,
    /// Attempts and successes in the current interval.
    attempts: u32,
    successes: u32,
    /// Moving average of the success ratio. Before the first attempt, the best ratio of the faster modes of its group.
    ratio: f64,
    known: bool,
    group: usize,
}

/// State of rate control for one peer.
#[derive(Debug)]
pub(super) struct Minstrel {
    modes: Vec<Statistics>,
    update_at: Instant,
    /// The modes with the largest and the second largest throughput, and the safest mode.
    best: [usize; 3],
    /// Modes of the current frame's attempts, and the number of attempts in each.
    chain: [(usize, u8); 4],
    stage: usize,
    /// Number of attempts left in the present mode of the chain.
    left: u8,
    /// Number of frames in the current interval, and of those that sampled.
    frames: u32,
    looks: u32,
    /// Modes in the order in which they are sampled.
    order: Vec<usize>,
    next: usize,
    /// In a computation of the ratios: the best ratio of each group so far.
    of_groups: Vec<f64>,
    /// Moving average of the number of MPDUs in a frame.
    aggregate: f64,
}

impl Minstrel {
    /// Starts without statistics. The modes are sorted by rate.
    pub(super) fn new(candidates: Vec<Candidate>, now: Instant, random: &mut Stream) -> Self {
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        for last in (1..order.len()).rev() {
            let other = usize::try_from(random.up_to(last as u64)).expect("an index");
            order.swap(last, other);
        }
        let mut groups = Vec::new();
        let statistics = |candidate: Candidate| {
            let group = groups.iter().position(|&group| group == candidate.group).unwrap_or(groups.len());
            if group == groups.len() {
                groups.push(candidate.group);
            }
            Statistics { candidate, attempts: 0, successes: 0, ratio: 0.0, known: false, group }
        };
        let modes: Vec<Statistics> = candidates.into_iter().map(statistics).collect();
        Self {
            modes,
            of_groups: vec![0.0; groups.len()],
            update_at: now + INTERVAL,
            best: [0; 3],
            chain: [(0, TRIES[0]), (0, TRIES[1]), (0, TRIES[2]), (0, 0)],
            stage: 0,
            left: TRIES[0],
            frames: 0,
            looks: 0,
            order,
            next: 0,
            aggregate: 1.0,
        }
    }

    /// Returns the mode of the next attempt.
    pub(super) fn index(&self) -> usize {
        self.chain[self.stage].0
    }

    /// Records an attempt with `sent` MPDUs, of which `acknowledged` arrived.
    pub(super) fn report(&mut self, now: Instant, sent: u16, acknowledged: u16, random: &mut Stream) {
        let index = self.index();
        let mode = &mut self.modes[index];
        mode.attempts += u32::from(sent);
        mode.successes += u32::from(acknowledged);
        self.aggregate = PAST * self.aggregate + (1.0 - PAST) * f64::from(sent);
        if now >= self.update_at {
            self.update();
            self.update_at = now + INTERVAL;
        }
        self.left = self.left.saturating_sub(1);
        if acknowledged == 0 && self.left > 0 {
            return;
        }
        if acknowledged == 0 && self.stage < 3 && self.chain[self.stage + 1].1 > 0 {
            self.stage += 1;
            self.left = self.chain[self.stage].1;
            return;
        }
        self.begin_frame(random);
    }

    /// Begins a new frame: with the best modes, or with a sample first.
    fn begin_frame(&mut self, random: &mut Stream) {
        self.frames += 1;
        let [first, second, safe] = self.best;
        let usual = [(first, TRIES[0]), (second, TRIES[1]), (safe, TRIES[2])];
        let due = self.looks * LOOK_AROUND < self.frames;
        let sampled = if due && random.up_to(u64::from(LOOK_AROUND) - 1) < 5 { self.sample() } else { None };
        self.chain = match sampled {
            Some(index) => {
                self.looks += 1;
                [(index, 1), (first, TRIES[0] - 1), usual[1], usual[2]]
            }
            None => [usual[0], usual[1], usual[2], (safe, 0)],
        };
        self.stage = 0;
        self.left = self.chain[0].1;
    }

    /// Returns the next mode if it is worth sampling: as in Linux, only a mode faster than the slowest in use.
    /// Aggregates in slower modes would take most of the time on a wide channel.
    fn sample(&mut self) -> Option<usize> {
        let payload = |index: usize| self.modes[index].candidate.payload;
        let slowest = self.best.into_iter().map(payload).fold(0.0, f64::max);
        let index = self.order[self.next];
        self.next = (self.next + 1) % self.order.len();
        let is_worth = !self.best.contains(&index) && self.modes[index].ratio <= SURE && payload(index) < slowest;
        is_worth.then_some(index)
    }

    /// Ends the interval: computes the ratios and the best modes.
    fn update(&mut self) {
        self.of_groups.fill(0.0);
        // The fastest mode comes first.
        for mode in self.modes.iter_mut().rev() {
            if mode.attempts > 0 {
                debug_assert!(mode.successes <= mode.attempts);
                let now = f64::from(mode.successes) / f64::from(mode.attempts);
                mode.ratio = if mode.known { PAST * mode.ratio + (1.0 - PAST) * now } else { now };
                mode.known = true;
                (mode.attempts, mode.successes) = (0, 0);
            }
            let of_group = &mut self.of_groups[mode.group];
            if mode.known {
                *of_group = of_group.max(mode.ratio);
            } else {
                mode.ratio = of_group.max(mode.ratio);
            }
            debug_assert!((0.0..=1.0).contains(&mode.ratio));
        }
        (self.frames, self.looks) = (0, 0);
        let throughput = |index: usize| self.throughput(index);
        let better = |best: usize, index: usize| if throughput(index) > throughput(best) { index } else { best };
        let first = (1..self.modes.len()).fold(0, better);
        let others = || (0..self.modes.len()).filter(|&index| index != first);
        let second = others().reduce(better).unwrap_or(first);
        let ratio = |index: usize| self.modes[index].ratio;
        let safest = |best: usize, index: usize| match (ratio(best) >= SURE, ratio(index) >= SURE) {
            (true, true) => better(best, index),
            _ if ratio(index) > ratio(best) => index,
            _ => best,
        };
        self.best = [first, second, (1..self.modes.len()).fold(0, safest)];
    }

    /// Returns how many MPDUs per nanosecond a mode delivers.
    fn throughput(&self, index: usize) -> f64 {
        let Statistics { candidate, ratio, .. } = &self.modes[index];
        candidate.throughput(*ratio, self.aggregate)
    }

    /// Returns the expected throughput of the best mode, in bit/s; zero if nothing has arrived yet.
    pub(super) fn expected(&self) -> f64 {
        bits(self.throughput(self.best[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Radio, Standard};
    use crate::engine::Purpose;
    use crate::radio::Format;

    const STEP: Duration = Duration::from_micros(500);

    /// Sends to an 802.11a peer that each mode reaches with these probabilities. Returns the number of frames per mode
    /// in the second half of the time, and the goodput relative to that of the best mode alone.
    fn play(reaches: [f64; 8]) -> (Minstrel, Vec<u32>, f64) {
        let radio = Radio { standard: Standard::A, ..Radio::default() };
        let costs = Costs::new(&Timing::new(&radio).expect("802.11a"));
        let candidates: Vec<Candidate> = radio.ladder().into_iter().map(|mode| costs.of(mode)).collect();
        let time = |index: usize| candidates[index].payload + candidates[index].overhead;
        let mut random = Stream::new(1, "minstrel", Purpose::RATE_CONTROL);
        let mut luck = Stream::new(2, "luck", Purpose::RECEPTION);
        let mut minstrel = Minstrel::new(candidates.clone(), Instant::ZERO, &mut random);
        let mut used = vec![0; 8];
        let (mut spent, mut delivered) = (0.0, 0.0);
        for turn in 0..20_000 {
            let index = minstrel.index();
            let arrives = luck.happens(reaches[index]);
            if turn >= 10_000 {
                used[index] += 1;
                spent += time(index);
                delivered += f64::from(u8::from(arrives));
            }
            minstrel.report(Instant::ZERO + STEP * turn, 1, u16::from(arrives), &mut random);
        }
        let best = (0..8).map(|index| reaches[index] / time(index)).fold(0.0, f64::max);
        (minstrel, used, delivered / spent / best)
    }

    #[test]
    fn it_finds_the_mode_with_the_greatest_throughput() {
        // Everything up to 24 Mb/s is safe, 36 Mb/s arrives now and then, the rest never.
        let (minstrel, used, share) = play([1.0, 1.0, 1.0, 1.0, 1.0, 0.3, 0.0, 0.0]);
        assert_eq!(minstrel.best[0], 4);
        assert!(used[4] > 8_000, "{used:?}");
        // It looks around with a tenth of the frames at most.
        assert!(used[6] + used[7] < 1_000, "{used:?}");
        assert!(share > 0.85, "{share}");
    }

    #[test]
    fn it_comes_near_the_best_mode_at_every_quality() {
        // The tolerance follows from the design: at most a tenth of the frames look around, with one attempt each.
        for working in 1..=8 {
            for last in [0.5, 0.8, 1.0] {
                let mut reaches = [0.0; 8];
                reaches[..working].fill(1.0);
                reaches[working - 1] = last;
                let (_, _, share) = play(reaches);
                assert!(share > 0.85, "{working} modes, the last with {last}: {share}");
            }
        }
    }

    /// Simulates a link without losses, with the longest aggregates; returns the goodput after 3 s, as a share of the
    /// best mode's.
    fn clean(radio: &Radio) -> f64 {
        let timing = Timing::new(radio).expect("a radio of the standard");
        let (longest, most) = match radio.standard {
            Standard::N => (65_535, 64),
            Standard::Ac => (1_048_575, 64),
            _ => (4_194_303, 256),
        };
        let costs = Costs::new(&timing);
        // 1472 B of UDP payload behind their delimiter.
        let mpdu = 1_544;
        let frame = |mode| {
            let fits = timing.longest(mode, Duration::from_micros(5_484)).count().min(longest) / mpdu;
            let mpdus = fits.clamp(1, most);
            let response = timing.sifs + timing.responses(mode).long_block_ack;
            let access = timing.difs + timing.slot * u64::from(timing.cw_min) / 2;
            (mpdus, timing.duration(mode, Bytes::new(mpdus * mpdu)) + response + access)
        };
        let goodput = |(mpdus, time): (u64, Duration)| mpdus as f64 / time.as_nanos() as f64;
        let frames: Vec<(u64, Duration)> = radio.all_modes().into_iter().map(frame).collect();
        let candidates = radio.all_modes().into_iter().map(|mode| costs.of(mode)).collect();
        let mut random = Stream::new(1, "minstrel", Purpose::RATE_CONTROL);
        let mut minstrel = Minstrel::new(candidates, Instant::ZERO, &mut random);
        let (mut now, mut delivered, mut spent) = (Instant::ZERO, 0, Duration::ZERO);
        while now < Instant::ZERO + Duration::from_secs(5) {
            let (mpdus, time) = frames[minstrel.index()];
            now += time;
            if now > Instant::ZERO + Duration::from_secs(3) {
                (delivered, spent) = (delivered + mpdus, spent + time);
            }
            let all = u16::try_from(mpdus).expect("at most 256");
            minstrel.report(now, all, all, &mut random);
        }
        goodput((delivered, spent)) / frames.into_iter().map(goodput).fold(0.0, f64::max)
    }

    #[test]
    fn on_a_clean_link_every_width_stream_and_guard_has_nearly_the_best_goodput() {
        let mut short = Vec::new();
        for standard in [Standard::N, Standard::Ac, Standard::Ax] {
            let format = Format::of(standard).expect("802.11n or later");
            for &channel_width in format.widths() {
                for &guard_interval in format.guards() {
                    for streams in 1..=format.most_streams() {
                        let mcs = (format == Format::Ht).then(|| 8 * (streams - 1));
                        let streams = Some(streams);
                        let radio = Radio { standard, mcs, streams, channel_width, guard_interval, ..Radio::default() };
                        let share = clean(&radio);
                        if share < 0.95 {
                            short.push((standard, channel_width, guard_interval, streams, share));
                        }
                    }
                }
            }
        }
        assert!(short.is_empty(), "{} {short:#?}", short.len());
    }

    /// CoDel of slow stations compares this with 6 Mb/s for each station: a mode's symbols decide, not whole ones.
    #[test]
    fn a_wide_channel_is_expected_to_carry_what_its_symbols_hold() {
        let (standard, channel_width) = (Standard::Ax, ChannelWidth::Mhz160);
        let radio = Radio { standard, channel_width, streams: Some(2), ..Radio::default() };
        let costs = Costs::new(&Timing::new(&radio).expect("802.11ax"));
        let mode = radio.ladder()[11];
        // Of 98,000 bits that three symbols of 13.6 us hold, 9600 take 3.997 us. Preamble, DIFS, back-off, SIFS and ACK
        // take 195.9 us for each frame (50.4 + 34 + 67.5 + 16 + 28). Nine tenths count: 8640 / (3.997 + 195.9 / MPDUs).
        let mbps = [1.0, 64.0, 256.0].map(|mpdus| format!("{:.0}", costs.clean(mode, mpdus) / 1e6));
        assert_eq!(mbps, ["43", "1224", "1814"]);
    }

    #[test]
    fn a_moving_average_keeps_three_quarters_of_the_past() {
        let mut random = Stream::new(1, "minstrel", Purpose::RATE_CONTROL);
        let candidate = Candidate { payload: 1.0, overhead: 1.0, group: None };
        let mut minstrel = Minstrel::new(vec![candidate], Instant::ZERO, &mut random);
        let mut interval = |millis: u64, acknowledged| {
            minstrel.report(Instant::from_nanos(millis * 1_000_000), 4, acknowledged, &mut random);
            (minstrel.modes[0].known, minstrel.modes[0].ratio)
        };
        assert_eq!(interval(50, 4), (false, 0.0));
        assert_eq!(interval(100, 4), (true, 1.0));
        assert_eq!(interval(200, 2), (true, 0.875));
        assert_eq!(interval(250, 0), (true, 0.875));
        assert_eq!(interval(300, 4), (true, 0.781_25));
    }

    #[test]
    fn a_mode_without_attempts_is_as_good_as_a_faster_one_of_its_group() {
        let mut random = Stream::new(1, "minstrel", Purpose::RATE_CONTROL);
        let group = |streams| Some((streams, ChannelWidth::Mhz20, GuardInterval::Long));
        let candidate = |(payload, streams)| Candidate { payload, overhead: 0.0, group: group(streams) };
        let modes = [(8.0, 1), (6.0, 2), (4.0, 1), (2.0, 1)].map(candidate);
        let mut minstrel = Minstrel::new(modes.to_vec(), Instant::ZERO, &mut random);
        // The third mode arrives half the time; then it fails, and the first is safer by what it is known to be.
        minstrel.chain[0].0 = 2;
        minstrel.report(Instant::ZERO + INTERVAL, 4, 2, &mut random);
        let ratios = |minstrel: &Minstrel| minstrel.modes.iter().map(|mode| mode.ratio).collect::<Vec<_>>();
        assert_eq!(ratios(&minstrel), [0.5, 0.0, 0.5, 0.0]);
        minstrel.chain = [(2, 3), (0, 0), (0, 0), (0, 0)];
        (minstrel.stage, minstrel.left) = (0, 3);
        minstrel.report(Instant::ZERO + INTERVAL * 2, 4, 0, &mut random);
        assert_eq!((ratios(&minstrel), minstrel.best[2]), (vec![0.5, 0.0, 0.375, 0.0], 0));
    }

    #[test]
    fn what_fails_falls_back_along_the_chain() {
        let mut random = Stream::new(1, "minstrel", Purpose::RATE_CONTROL);
        let candidate = |payload| Candidate { payload, overhead: 0.0, group: None };
        let mut minstrel = Minstrel::new([8.0, 4.0, 2.0].map(candidate).to_vec(), Instant::ZERO, &mut random);
        minstrel.best = [2, 1, 0];
        minstrel.chain = [(2, 3), (1, 2), (0, 2), (0, 0)];
        let modes: Vec<usize> = (0..7)
            .map(|_| {
                let index = minstrel.index();
                minstrel.report(Instant::ZERO, 1, 0, &mut random);
                index
            })
            .collect();
        assert_eq!(modes, [2, 2, 2, 1, 1, 0, 0]);
    }
}
