//! Builds the traffic sources of flows.

use super::Supply;
use crate::config::{self, Flow, LengthRange, Load, LoadRange, Spread, TrafficKind, given};
use crate::engine::{Purpose, Stream};
use crate::net::{MOST_PAYLOAD, network_bytes};
use crate::results::LeftOut;
use crate::traffic::{
    Lengths, OnOff, Pareto, Pcap, Ping, RateSchedule, Recurrence, Replay, Segment, Source, Steady, Times, Transfers,
    Volume, Web, uniform,
};
use crate::transport::tcp::Settings;
use crate::world::error::BuildError;
use std::ops::Range;
use units::{Bytes, Duration, Instant, Rate, refuse_if};

/// Mean durations of a talk spurt and of a pause (ITU-T P.59, table 2/P.59).
const TALK_SPURT: Duration = Duration::from_millis(1_004);
const PAUSE: Duration = Duration::from_millis(1_587);
/// Rate of G.711, which codes a sample in 8 bits every 125 us.
const SPEECH: Rate = Rate::kbps(64);
const SAMPLE: Duration = Duration::from_micros(125);
const PACKETISATION: Duration = Duration::from_millis(20);
/// Shapes of heavy-tailed times: ns-2's default for Pareto times, and the shape that Crovella and Bestavros (IEEE/ACM
/// Transactions on Networking 5(6), 1997) measured for times without transfers.
const TIMES_SHAPE: f64 = 1.5;
/// Shape of transfer sizes, within the 1.1 to 1.3 of Crovella and Bestavros.
const SIZE_SHAPE: f64 = 1.2;
const WEB_PACKET: Bytes = Bytes::new(1_000);
/// Payload that `ping` sends on most systems.
const PING_PACKET: Bytes = Bytes::new(56);
const PING_EVERY: Duration = Duration::from_secs(1);
/// Shortest time between rate changes; else the search for a slow flow's next packet could outlast the run.
const SHORTEST_DRAW: Duration = Duration::from_millis(1);
/// Shortest mean time: with a shorter time the search for the next packet could outlast the run.
const SHORTEST_TIME: Duration = Duration::from_micros(10);

/// Traffic of one `[[flow]]` after its keys were checked. Builds the source of every flow that the table describes.
pub(crate) struct Traffic<'n> {
    flow: &'n Flow,
    run: Duration,
    recording: Option<Pcap>,
}

impl<'n> Traffic<'n> {
    /// Checks the keys and reads the recording, if the traffic names one. `run`: duration of the run.
    pub(crate) fn new(flow: &'n Flow, run: Duration) -> Result<Self, BuildError> {
        let mut traffic = Self { flow, run, recording: None };
        traffic.check_keys()?;
        traffic.check_packet()?;
        traffic.check_rate()?;
        let message = "only the rate of `cbr` and `poisson` has steps; use several flows with `start` and `stop`";
        refuse_if!(!traffic.is_steady() && !flow.at.is_empty(), Err(BuildError::new(traffic.path("at"), message)));
        traffic.recording = traffic.recording()?;
        Ok(traffic)
    }

    /// True if flows of this traffic can ask for admission, because they send at their own times.
    pub(crate) fn asks(&self) -> bool {
        match self.flow.traffic.kind {
            TrafficKind::Cbr | TrafficKind::Poisson | TrafficKind::OnOff | TrafficKind::Voice | TrafficKind::Replay => {
                true
            }
            TrafficKind::Web => self.flow.transport == config::Transport::Udp,
            TrafficKind::Saturated | TrafficKind::Greedy | TrafficKind::Transfer | TrafficKind::Ping => false,
        }
    }

    /// Returns the rate if it is constant, with the headers of UDP and IP.
    pub(crate) fn network_rate(&self) -> Option<Rate> {
        let config::Traffic { kind, packetisation, silence, overhead, .. } = self.flow.traffic;
        let (packet, rate) = match kind {
            TrafficKind::Cbr if self.flow.at.is_empty() && overhead.is_none() => (self.packet()?, self.rate()?),
            TrafficKind::Voice if silence != Some(true) => {
                (Bytes::new(packetisation.unwrap_or(PACKETISATION).div_floor(SAMPLE)), SPEECH)
            }
            _ => return None,
        };
        Some(rate.scaled(network_bytes(packet).count() as f64 / packet.count() as f64))
    }

    fn is_steady(&self) -> bool {
        matches!(self.flow.traffic.kind, TrafficKind::Cbr | TrafficKind::Poisson)
    }

    /// True if the load is random, so that results must report it.
    pub(crate) fn is_drawn(&self) -> bool {
        let config::Traffic { packet, rate, .. } = &self.flow.traffic;
        let of_one_length = matches!(packet, None | Some(config::Lengths::One(_)));
        !of_one_length || matches!(rate, Some(Load::Drawn(_)))
    }

    /// Returns which frames of the traffic's recording are not replayed.
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        self.recording.as_ref().map(|recording| recording.left_out)
    }

    fn path(&self, key: &str) -> String {
        format!("flow.{}.{key}", self.flow.name)
    }

    fn refuse<T>(&self, key: &str, message: impl Into<String>) -> Result<T, BuildError> {
        Err(BuildError::new(self.path(&format!("traffic.{key}")), message))
    }

    /// Returns the value of a key that this kind of traffic requires.
    fn need<T>(&self, key: &str, value: Option<T>) -> Result<T, BuildError> {
        value.ok_or_else(|| BuildError::new(self.path("traffic"), format!("this kind of traffic needs a `{key}`")))
    }

    fn check_keys(&self) -> Result<(), BuildError> {
        let traffic = &self.flow.traffic;
        let config::Traffic { kind, on, off, times, times_shape, silence, size_shape, reading, every, .. } = traffic;
        let given = given!(traffic; rate packet overhead on off times times_shape packetisation silence size size_shape
            reading every file);
        let known = kind.keys();
        if let Some((key, _)) = given.iter().find(|(key, given)| *given && !known.contains(key)) {
            let list = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
            let only = if list.is_empty() { String::new() } else { format!(", only {list}") };
            return self.refuse(key, format!("{kind} traffic has no `{key}`{only}"));
        }
        if *kind == TrafficKind::Voice && *silence != Some(true) {
            for (key, given) in [("on", on), ("off", off)] {
                if given.is_some() {
                    return self
                        .refuse(key, format!("without `silence = true` there are no pauses: leave `{key}` out"));
                }
            }
        }
        if *kind == TrafficKind::Ping && *times == Some(Spread::Pareto) {
            return self.refuse(
                "times",
                "pings are evenly or exponentially spaced: leave `times` out, or write \"exponential\"",
            );
        }
        if *times != Some(Spread::Pareto) && times_shape.is_some() {
            return self.refuse("times_shape", "only Pareto times have a shape: add `times = \"pareto\"`");
        }
        for (key, shape) in [("times_shape", times_shape), ("size_shape", size_shape)] {
            if shape.is_some_and(|shape| !(shape > 1.0 && shape.is_finite())) {
                return self.refuse(key, "a Pareto distribution has a mean only with a shape above 1");
            }
        }
        for (key, time) in [("on", on), ("off", off), ("reading", reading), ("every", every)] {
            if time.is_some_and(|time| time < SHORTEST_TIME) {
                return self.refuse(key, format!("a mean time must be at least {SHORTEST_TIME}"));
            }
        }
        Ok(())
    }

    fn check_packet(&self) -> Result<(), BuildError> {
        let config::Traffic { kind, ref packet, overhead, packetisation, .. } = self.flow.traffic;
        if kind == TrafficKind::Voice {
            let time = packetisation.unwrap_or(PACKETISATION);
            let samples = time.div_floor(SAMPLE);
            if samples == 0 || SAMPLE * samples != time || samples > MOST_PAYLOAD.count() {
                let most = SAMPLE * MOST_PAYLOAD.count();
                let message = format!("a packet holds whole samples of {SAMPLE}, at most {most} in one 802.11 frame");
                return self.refuse("packetisation", message);
            }
        }
        let Some(packet) = packet else { return Ok(()) };
        match packet {
            config::Lengths::One(_) => {}
            _ if !self.is_steady() => {
                return self.refuse("packet", "only `cbr` and `poisson` have packets of random lengths");
            }
            config::Lengths::Any(list) if list.is_empty() => {
                return self.refuse("packet", "the list of lengths is empty");
            }
            config::Lengths::Between(LengthRange { from, to }) if from > to => {
                return self.refuse("packet", format!("`from` ({from}) is above `to` ({to})"));
            }
            config::Lengths::Any(_) | config::Lengths::Between(_) => {}
        }
        let (shortest, overhead) = (packet.shortest(), overhead.unwrap_or_default());
        // An echo request may consist of its header alone.
        let least = if kind == TrafficKind::Ping { Bytes::new(0) } else { Bytes::new(1) };
        if shortest < overhead + least {
            let message = if overhead.count() == 0 {
                "a packet carries at least 1 B of payload".to_owned()
            } else {
                format!("a packet of {shortest} has no room for payload after {overhead} of headers")
            };
            return self.refuse("packet", message);
        }
        if lengths(packet).longest() - overhead > MOST_PAYLOAD {
            let message =
                format!("a packet in one 802.11 frame carries at most {MOST_PAYLOAD}; fragments are not simulated");
            return self.refuse("packet", message);
        }
        Ok(())
    }

    fn check_rate(&self) -> Result<(), BuildError> {
        let Some(Load::Drawn(LoadRange { from, to, every, .. })) = &self.flow.traffic.rate else { return Ok(()) };
        refuse_if!(!self.is_steady(), self.refuse("rate", "only `cbr` and `poisson` can draw their rate"));
        refuse_if!(from > to, self.refuse("rate", format!("`from` ({from}) is above `to` ({to})")));
        refuse_if!(to.is_zero(), self.refuse("rate", "the rate must be above zero"));
        match every {
            Some(every) if *every < SHORTEST_DRAW => {
                self.refuse("rate.every", format!("`every` must be at least {SHORTEST_DRAW}"))
            }
            Some(_) if !self.flow.at.is_empty() => {
                Err(BuildError::new(self.path("at"), "a rate that is drawn repeatedly cannot have steps"))
            }
            _ => Ok(()),
        }
    }

    fn recording(&self) -> Result<Option<Pcap>, BuildError> {
        if self.flow.traffic.kind != TrafficKind::Replay {
            return Ok(None);
        }
        let file = self.need("file", self.flow.traffic.file.as_ref())?;
        let Some(content) = file.content() else {
            return self.refuse("file", format!("the content of the file `{}` was not attached", file.path()));
        };
        match Pcap::read(content, MOST_PAYLOAD) {
            Ok(recording) => Ok(Some(recording)),
            Err(error) => self.refuse("file", format!("`{}` cannot be replayed: {error}", file.path())),
        }
    }

    /// Returns the packet source of the flow called `name`. `tcp`: settings of TCP if the flow uses it.
    pub(crate) fn supply(&self, name: &str, tcp: Option<Settings>, seed: u64) -> Result<Supply, BuildError> {
        let mut random = Stream::new(seed, name, Purpose::TRAFFIC);
        let jitter = match self.flow.phase_jitter.as_nanos() {
            0 => Duration::ZERO,
            most => Duration::from_nanos(random.up_to(most - 1)),
        };
        let start = Instant::ZERO + self.flow.start + jitter;
        let stop = Instant::ZERO + self.flow.stop.unwrap_or(self.run).min(self.run);
        let active = start..stop;
        if let Some(settings) = tcp {
            let transfers = self.transfers(active, random)?;
            let is_drawn = !self.flow.phase_jitter.is_zero() && self.flow.traffic.kind != TrafficKind::Web;
            return Ok(Supply::Transfers { transfers, settings, opened: 0, drawn_start: is_drawn.then_some(start) });
        }
        let kind = self.flow.traffic.kind;
        Ok(Supply::Source(match kind {
            TrafficKind::Saturated => {
                let payload = self.need("packet", self.packet())?;
                return Ok(Supply::Saturated { payload, start, stop });
            }
            TrafficKind::Cbr | TrafficKind::Poisson => {
                let config::Traffic { packet, overhead, .. } = &self.flow.traffic;
                let lengths = lengths(self.need("packet", packet.as_ref())?);
                let schedule = self.rate_schedule(name, seed, start, jitter)?;
                let exponential = kind == TrafficKind::Poisson;
                Source::Steady(Steady::new(schedule, stop, lengths, overhead.unwrap_or_default(), exponential, random))
            }
            TrafficKind::OnOff => Source::OnOff(self.on_off(active, random)?),
            TrafficKind::Voice => self.voice(active, random),
            TrafficKind::Web => Source::Web(self.web(active, random)?),
            TrafficKind::Replay => {
                let recording = self.recording.clone().expect("it was read before");
                Source::Replay(Replay { recording, active, made: 0 })
            }
            TrafficKind::Ping => {
                let random = self.flow.traffic.times.is_some().then_some(random);
                let every = self.flow.traffic.every.unwrap_or(PING_EVERY);
                Source::Ping(Ping::new(self.packet().unwrap_or(PING_PACKET), every, active, random))
            }
            TrafficKind::Greedy | TrafficKind::Transfer => unreachable!("they were checked to be over TCP"),
        }))
    }

    /// Returns the transfers of a TCP flow of this traffic.
    fn transfers(&self, active: Range<Instant>, random: Stream) -> Result<Transfers, BuildError> {
        let config::Traffic { kind, size, every, .. } = self.flow.traffic;
        let (volume, recurrence) = match kind {
            TrafficKind::Transfer => {
                let recurrence = every.map_or(Recurrence::Once, Recurrence::Every);
                (Volume::Bytes(self.need("size", size)?.count()), recurrence)
            }
            TrafficKind::Web => {
                let (sizes, reading) = self.bursts()?;
                (Volume::Random(sizes), Recurrence::AfterEnd(reading))
            }
            _ => (Volume::Endless, Recurrence::Once),
        };
        Ok(Transfers::new(volume, recurrence, active, random))
    }

    /// Returns the rate if it is not drawn.
    fn rate(&self) -> Option<Rate> {
        match self.flow.traffic.rate {
            Some(Load::One(rate)) => Some(rate),
            Some(Load::Drawn(_)) | None => None,
        }
    }

    /// Returns the packet length if it is not drawn.
    fn packet(&self) -> Option<Bytes> {
        match self.flow.traffic.packet {
            Some(config::Lengths::One(packet)) => Some(packet),
            _ => None,
        }
    }

    /// Returns the rate over time of the flow called `name`.
    fn rate_schedule(
        &self,
        name: &str,
        seed: u64,
        start: Instant,
        jitter: Duration,
    ) -> Result<RateSchedule, BuildError> {
        let rate = match self.need("rate", self.flow.traffic.rate.as_ref())? {
            Load::One(rate) => *rate,
            Load::Drawn(range) => {
                let (from, to) = (range.from, range.to);
                let mut random = range.stream(seed, name);
                if let Some(every) = range.every {
                    return Ok(RateSchedule::Drawn { start, from, to, every, random });
                }
                uniform(from, to, &mut random)
            }
        };
        Ok(RateSchedule::Steps(self.segments(rate, jitter)?))
    }

    fn segments(&self, rate: Rate, jitter: Duration) -> Result<Vec<Segment>, BuildError> {
        let refuse = |message| Err(BuildError::new(self.path("at"), message));
        let mut segments = vec![Segment { start: Instant::ZERO + self.flow.start + jitter, rate }];
        for step in &self.flow.at {
            let new = match (step.rate, step.scale) {
                (Some(new), None) => new,
                (None, Some(scale)) if scale >= 0.0 && scale.is_finite() => rate.scaled(scale),
                (None, Some(_)) => return refuse("a `scale` must be zero or more"),
                _ => return refuse("a step needs either a `rate` or a `scale`"),
            };
            let start = Instant::ZERO + step.time + jitter;
            if segments.last().is_some_and(|last| start <= last.start) {
                return refuse("steps must be in order of `time`, after the flow's start");
            }
            segments.push(Segment { start, rate: new });
        }
        Ok(segments)
    }

    fn times(&self, mean: Duration) -> Times {
        match self.flow.traffic.times.unwrap_or_default() {
            Spread::Exponential => Times::Exponential(mean),
            Spread::Pareto => {
                let shape = self.flow.traffic.times_shape.unwrap_or(TIMES_SHAPE);
                Times::Pareto(Pareto::with_mean(mean.as_secs_f64(), shape))
            }
        }
    }

    fn on_off(&self, active: Range<Instant>, random: Stream) -> Result<OnOff, BuildError> {
        let config::Traffic { on, off, .. } = self.flow.traffic;
        let rate = self.need("rate", self.rate())?;
        refuse_if!(rate.is_zero(), self.refuse("rate", "the rate while on must be above zero"));
        let packet = self.need("packet", self.packet())?;
        let (on, off) = (self.need("on", on)?, self.need("off", off)?);
        Ok(OnOff::new(packet, rate, self.times(on), self.times(off), share(on, off), active, random))
    }

    fn voice(&self, active: Range<Instant>, random: Stream) -> Source {
        let config::Traffic { packetisation, silence, on, off, .. } = self.flow.traffic;
        let packet = Bytes::new(packetisation.unwrap_or(PACKETISATION).div_floor(SAMPLE));
        if silence != Some(true) {
            let schedule = RateSchedule::Steps(vec![Segment { start: active.start, rate: SPEECH }]);
            let lengths = Lengths::One(packet);
            return Source::Steady(Steady::new(schedule, active.end, lengths, Bytes::new(0), false, random));
        }
        let (on, off) = (on.unwrap_or(TALK_SPURT), off.unwrap_or(PAUSE));
        let share = share(on, off);
        let (on, off) = (Times::Exponential(on), Times::Exponential(off));
        Source::OnOff(OnOff::new(packet, SPEECH, on, off, share, active, random))
    }

    fn web(&self, active: Range<Instant>, random: Stream) -> Result<Web, BuildError> {
        let rate = self.rate();
        if rate.is_some_and(Rate::is_zero) {
            return self
                .refuse("rate", "at a rate of zero no burst ends; without `rate` all packets of a burst come at once");
        }
        let (size, reading) = self.bursts()?;
        Ok(Web::new(self.packet().unwrap_or(WEB_PACKET), rate, size, reading, active, random))
    }

    /// Returns the distributions of burst sizes, in bytes, and of the times between bursts.
    fn bursts(&self) -> Result<(Pareto, Times), BuildError> {
        let config::Traffic { size, size_shape, reading, .. } = self.flow.traffic;
        let mean = self.need("size", size)?;
        refuse_if!(mean.count() == 0, self.refuse("size", "the mean size of bursts must be above zero"));
        let sizes = Pareto::with_mean(mean.count() as f64, size_shape.unwrap_or(SIZE_SHAPE));
        Ok((sizes, self.times(self.need("reading", reading)?)))
    }
}

fn lengths(described: &config::Lengths) -> Lengths {
    match described {
        config::Lengths::One(length) => Lengths::One(*length),
        config::Lengths::Any(lengths) => Lengths::Any(lengths.clone()),
        config::Lengths::Between(LengthRange { from, to }) => Lengths::Between(*from, *to),
    }
}

/// Returns the mean share of time in which the source is on.
fn share(on: Duration, off: Duration) -> f64 {
    on.as_secs_f64() / (on.as_secs_f64() + off.as_secs_f64())
}
