//! The medium between all nodes.

use super::bands::{Bands, Tuned};
use super::margin::Margins;
use super::receivers::Receivers;
use super::reuse::{Reuse, colour_time};
use super::signal::{Air, Passing, Transmission};
use crate::config::{Capture, ChannelWidth, Standard};
use crate::engine::{Bitmap, Handle};
use crate::radio::band::Band;
use crate::radio::mode::Mode;
use crate::radio::reception::{Judge, Shape};
use crate::radio::{Link, Links};
use units::{Duration, Instant};

pub(crate) struct Medium<F> {
    pub(super) links: Links,
    pub(super) receivers: Receivers,
    pub(super) air: Air<F>,
    /// For each node, how long its medium had been busy when the statistics began.
    busy_before: Vec<Duration>,
    pub(super) on_air: u32,
    on_air_since: Instant,
    pub(super) on_air_time: Duration,
}

impl<F: Copy> Medium<F> {
    pub(crate) fn new(links: Links, judge: Judge) -> Self {
        Self {
            receivers: Receivers::new(links.nodes(), links.reception, judge),
            busy_before: vec![Duration::ZERO; links.nodes()],
            links,
            air: Air::default(),
            on_air: 0,
            on_air_since: Instant::ZERO,
            on_air_time: Duration::ZERO,
        }
    }

    /// From now on, stations may answer a trigger side by side.
    pub(crate) fn expect_parts(&mut self) {
        self.receivers.expect_parts();
    }

    /// From now on, frames may have extended range. All frames then take the plain path.
    pub(crate) fn extend_range(&mut self) {
        self.receivers.fast = false;
    }

    /// Sets nodes' standards, by address: they cannot decode newer formats. All frames then take the plain path.
    pub(crate) fn tell_apart(&mut self, standards: Vec<Standard>) {
        debug_assert_eq!(standards.len(), self.receivers.of.len(), "each has a standard");
        self.receivers.fast = false;
        self.receivers.standards = standards;
    }

    /// Sets nodes' noise as multiples of that of `[radio]`, in order of address. All frames then take the plain path.
    pub(crate) fn hear_noise(&mut self, noise: Vec<f64>) {
        debug_assert_eq!(noise.len(), self.receivers.of.len(), "each has its noise");
        self.receivers.fast = false;
        self.receivers.noise = noise;
    }

    /// Gives each node its own channel from now on. Secondary channels must be idle for `pifs` before a frame. If each
    /// node has one 20 MHz channel, nodes hear nothing of other channels, and reception is as on one channel.
    pub(crate) fn tune(&mut self, bands: Vec<Band>, pifs: Duration, reuse: Option<Reuse>) {
        let plain = self.receivers.parts.is_empty() && self.receivers.reception.order == Capture::FirstFrame;
        if !plain || reuse.is_some() || bands.iter().any(|band| band.width() > ChannelWidth::Mhz20) {
            self.receivers.tune(Bands::new(bands, pifs, reuse));
        }
    }

    pub(crate) fn begin_txop(&mut self, node: u32) {
        if let Some(reuse) = self.receivers.bands.as_mut().and_then(|bands| bands.reuse.as_mut()) {
            reuse.begin_txop(node);
        }
    }

    /// True if spatial reuse limits the power of a frame that a node sends now, in its own TXOP or as a response.
    pub(crate) fn limits(&self, node: u32, responds: bool) -> bool {
        let reuse = self.receivers.bands.as_ref().and_then(|bands| bands.reuse.as_ref());
        reuse.is_some_and(|reuse| reuse.limits(node, responds))
    }

    /// Returns the time at which all listeners have read the BSS colour of a frame; `None` if no listener uses it.
    pub(crate) fn colour_time(&self, of: Handle) -> Option<Instant> {
        self.receivers.bands.as_ref()?.reuse.as_ref()?;
        let sent = self.air.get_ref(of);
        colour_time(sent, self.links.of(sent.from).last()?.delay)
    }

    /// Returns the next listener, from `index` on, that ignores a frame after reading its colour, and whether the
    /// listener's medium became idle.
    pub(crate) fn ignores(&mut self, of: Handle, index: &mut usize, now: Instant) -> Option<(u32, bool)> {
        let Self { links, receivers, air, .. } = self;
        let sent = air.get_ref(of);
        while let Some(link) = links.of(sent.from).get(*index) {
            *index += 1;
            if let Some(turned_idle) = receivers.ignore(Passing { of, sent, air }, link.to, now) {
                return Some((link.to, turned_idle));
            }
        }
        None
    }

    /// Returns the channel of a node, if nodes have channels of their own.
    fn tuned(&self, node: u32) -> Option<&Tuned> {
        self.receivers.bands.as_ref().map(|bands| &bands.of[node as usize])
    }

    /// Returns the widest channel that a frame of a node may use now. If all nodes share a channel, it is that channel.
    pub(crate) fn idle_width(&self, node: u32, now: Instant) -> ChannelWidth {
        self.tuned(node).map_or(ChannelWidth::Mhz160, |tuned| tuned.idle(now))
    }

    /// True if nodes have channels of their own, which may be wider than the primary one.
    pub(crate) fn has_bands(&self) -> bool {
        self.receivers.bands.is_some()
    }

    pub(crate) fn width(&self, node: u32) -> ChannelWidth {
        self.tuned(node).map_or(ChannelWidth::Mhz160, |tuned| tuned.band.width())
    }

    /// Returns the width of the last frame that a node received.
    pub(crate) fn heard_width(&self, node: u32) -> ChannelWidth {
        self.tuned(node).map_or(ChannelWidth::Mhz20, |tuned| tuned.heard)
    }

    /// Returns the part of this width that was idle before the frame: the width of a CTS (IEEE 802.11-2020, 10.3.2.9).
    pub(crate) fn answerable_width(&self, node: u32) -> ChannelWidth {
        self.tuned(node).map_or(ChannelWidth::Mhz20, |tuned| tuned.answerable)
    }

    /// True if a node may answer a trigger in a channel of this width. No 20 MHz of the channel may have the power at
    /// which the medium counts as busy (IEEE 802.11ax-2021, 26.5.2.5).
    pub(crate) fn is_quiet(&self, node: u32, width: ChannelWidth) -> bool {
        let power = self.receivers.reception.carrier_sense;
        self.tuned(node).is_none_or(|tuned| tuned.is_quiet(width, power))
    }

    /// Starts a transmission of `from`. A frame that `from` was decoding is lost, because it is half-duplex. True if
    /// the sender's medium was idle.
    pub(crate) fn start(&mut self, from: u32, frame: F, now: Instant, shape: Shape) -> (Handle, bool) {
        let turned_busy = self.receivers.silence(from, now);
        let receiver = &mut self.receivers.of[from as usize];
        // While a frame still passes its listeners, the sender's links do not change: the frame keeps its listeners.
        if receiver.passing == 0 {
            self.links.refresh(from, now);
        }
        receiver.passing += 1;
        if self.on_air == 0 {
            self.on_air_since = now;
        }
        self.on_air += 1;
        let (end, header) = (now + shape.duration, shape.mode.header());
        let bounds = self.receivers.judge.bounds(shape.mode);
        let transmission = Transmission { from, frame, start: now, end, shape, header, bounds };
        (self.air.insert(transmission), turned_busy)
    }

    /// Ends a transmission at its sender. True if the sender's medium is idle now.
    pub(crate) fn end(&mut self, of: Handle) -> (&Transmission<F>, bool) {
        let transmission = self.air.get_ref(of);
        let now = transmission.end;
        let receiver = &mut self.receivers.of[transmission.from as usize];
        receiver.sending = false;
        let turned_idle = receiver.settle(now, self.receivers.reception.carrier_sense);
        self.on_air -= 1;
        if self.on_air == 0 {
            self.on_air_time += now.since(self.on_air_since);
        }
        (transmission, turned_idle)
    }

    /// Returns the time at which the front of a frame reaches its first listener, if any, and its last.
    pub(crate) fn front_times(&self, of: Handle) -> Option<(Instant, Instant)> {
        let transmission = self.air.get_ref(of);
        let links = self.links.of(transmission.from);
        let at = |link: &Link| transmission.start + link.delay;
        links.first().zip(links.last()).map(|(first, last)| (at(first), at(last)))
    }

    /// Returns the time at which the frame's tail reaches its first listener.
    pub(crate) fn tail_time(&self, of: Handle) -> Option<Instant> {
        let transmission = self.air.get_ref(of);
        self.links.of(transmission.from).first().map(|link| transmission.end + link.delay)
    }

    /// Returns a frame in the air, the links to its listeners, nearest first, and all receivers. As the frame passes
    /// them, they get its [front](Receivers::front) and its [tail](Receivers::tail).
    pub(crate) fn listeners(&mut self, of: Handle) -> (Passing<'_, F>, &[Link], &mut Receivers) {
        let Self { links, receivers, air, .. } = self;
        let sent = air.get_ref(of);
        (Passing { of, sent, air }, links.of(sent.from), receivers)
    }

    /// Returns which MPDUs of the aggregate heard last have arrived; all of them if `whole`.
    pub(crate) fn intact(&self, whole: bool) -> Bitmap {
        if whole { Bitmap::ALL } else { self.receivers.intact }
    }

    pub(crate) fn frame(&self, of: Handle) -> F {
        self.air.get_ref(of).frame
    }

    /// Removes a frame after its last tail.
    pub(crate) fn clear(&mut self, of: Handle) {
        let from = self.air.remove(of).from;
        self.receivers.of[from as usize].passing -= 1;
    }

    /// True if `node` is decoding a frame whose PHY header it has read.
    pub(crate) fn receives(&mut self, node: u32, now: Instant) -> bool {
        self.receivers.receives(&self.air, node, now)
    }

    /// Returns the nodes that hear `node` if it starts to send now, nearest first, each with its propagation delay.
    pub(crate) fn who_hears(&self, node: u32) -> impl Iterator<Item = (u32, Duration)> {
        self.links.of(node).iter().map(|link| (link.to, link.delay))
    }

    /// Returns the listeners that can decode a node's frames, or at least its frames of extended range.
    pub(crate) fn neighbours(&self, node: u32) -> impl Iterator<Item = u32> {
        self.links.decoding(node).map(|link| link.to)
    }

    /// True if frames from one node to another can be decoded; `extended`: frames of extended range.
    pub(crate) fn reaches(&self, from: u32, to: u32, extended: bool) -> bool {
        self.links.decoding(from).any(|link| link.to == to && (link.decodable || extended))
    }

    /// Returns the propagation delay from one node to another that hears it.
    pub(crate) fn delay(&self, from: u32, to: u32) -> Option<Duration> {
        self.links.of(from).iter().find(|link| link.to == to).map(|link| link.delay)
    }

    /// Returns the probability that this many bits of a frame survive the noise on the way to another node, at the mean
    /// power.
    pub(crate) fn chance_alone(&mut self, from: u32, to: u32, mode: Mode, bits: f64) -> Option<f64> {
        let power = self.links.of(from).iter().find(|link| link.to == to)?.power;
        Some(self.receivers.judge.chance_alone(mode, power as f64 / self.receivers.noise(to), bits))
    }

    /// True if powers fade.
    pub(crate) fn fades(&self) -> bool {
        self.receivers.judge.fades()
    }

    /// True if nodes move, so that links come and go.
    pub(crate) fn is_moving(&self) -> bool {
        self.links.moving.is_some()
    }

    /// Returns an upper bound of the propagation delay of frames that are decoded.
    pub(crate) fn longest_delay(&self) -> Duration {
        self.links.longest_delay()
    }

    /// Returns for how long `node` has sensed the medium busy since the statistics began.
    pub(crate) fn busy_time(&self, node: u32, now: Instant) -> Duration {
        self.busy_from_start(node, now) - self.busy_before[node as usize]
    }

    /// Returns for how long `node` has sensed the medium busy since the start of the run, its own frames included.
    pub(crate) fn busy_from_start(&self, node: u32, now: Instant) -> Duration {
        let receiver = &self.receivers.of[node as usize];
        let running = if receiver.busy { now.since(receiver.busy_since) } else { Duration::ZERO };
        receiver.busy_time + running
    }

    /// Returns every node's margins since the statistics began, and the capture threshold as a ratio.
    pub(crate) fn margins(&self) -> (&[Margins], f64) {
        (&self.receivers.margins, self.receivers.reception.capture)
    }

    /// Returns for how long at least one node has been sending since the statistics began.
    pub(crate) fn on_air_time(&self, now: Instant) -> Duration {
        let running = if self.on_air > 0 { now.since(self.on_air_since) } else { Duration::ZERO };
        self.on_air_time + running
    }

    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        self.on_air_time = Duration::ZERO;
        self.on_air_since = now;
        self.receivers.margins.fill(Margins::default());
        for node in 0..self.busy_before.len() {
            self.busy_before[node] = self.busy_from_start(u32::try_from(node).expect("fewer than 2^32 nodes"), now);
        }
    }
}
