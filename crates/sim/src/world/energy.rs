//! Counts the energy that radios draw in each state, and chooses the packets that are sent at a low transmission level.

use super::error::BuildError;
use crate::config::{self, Consumption, LowLevel, Network, Node as Site, Queues, RateAlgorithm};
use crate::egress::Layout;
use crate::mac::{BROADCAST, Conventions, Frame, Kind};
use crate::radio::Mode;
use crate::results;
use control::Served;
use queue::Meter;
use units::{Duration, Energy, Instant, Power};

/// Espressif, ESP32 Series Datasheet, "Current consumption depending on RF modes", in W at 3.3 V: 240 mA for 802.11b at
/// 1 Mb/s and 19.5 dBm, 190 mA for 802.11g at 54 Mb/s and 16 dBm, 180 mA for 802.11n at MCS 7 and 14 dBm. Reception
/// takes 95 mA to 100 mA.
const TRANSMIT: [f64; 3] = [0.792, 0.627, 0.594];
const RECEIVE: f64 = 0.33;
const LISTEN: f64 = 0.3135;

/// Number of kinds of frames with different powers: DSSS, OFDM, HT, and data at the low level.
const KINDS: usize = 4;
const LOW: usize = 3;

/// Power of a node in each state, and the time spent in it. Only nodes whose energy is counted have one.
#[derive(Debug, Default)]
pub(crate) struct EnergyAccount {
    draw: Draw,
    /// Sending time since the start of the run, for each kind of frame. A frame counts in full when it begins.
    sending: [Duration; KINDS],
    /// End and kind of the frame that is being sent, or of the last frame.
    sent_by: Instant,
    last: usize,
    /// Number of packets with the MAC.
    held: u32,
    /// Idle time of the medium, from the start of the run until the MAC got the first of its packets.
    idle_then: Duration,
    /// Idle time of the medium in which the MAC had packets, until it last had none.
    awake: Duration,
    levels: Option<Levels>,
    /// Sleep of a node with power save; `None` if the node draws as much power asleep as awake.
    sleep: Option<Sleep>,
    /// Times in each state at the end of the warm-up.
    before: Spent,
}

/// Powers in watts.
#[derive(Clone, Copy, Debug, Default)]
struct Draw {
    transmit: [f64; KINDS],
    receive: f64,
    listen: f64,
    doze: Option<f64>,
}

/// Times in each state.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    sending: [Duration; KINDS],
    receiving: Duration,
    listening: Duration,
    dozing: Duration,
}

/// Time that a node has slept.
#[derive(Clone, Copy, Debug, Default)]
struct Sleep {
    /// Time at which the node fell asleep, and the busy time of the medium up to then.
    since: Option<(Instant, Duration)>,
    /// Time slept before the present sleep, and the busy time of the medium in it.
    slept: Duration,
    unheard: Duration,
}

/// State of a node with two transmission levels.
#[derive(Debug, Default)]
struct Levels {
    /// Controller's threshold of the low level, in packets; `None` if no controller has set one.
    low_up_to: Option<Meter>,
    /// True if the packet that the MAC holds is sent at the low level.
    is_low: bool,
    /// Energy, in J, that the node had drawn when the MAC got the packet.
    drawn_then: f64,
    /// Services since the start of the run at each level, the low level first.
    served: [Served; 2],
    /// Services up to the last report to the controller; the next field has those up to the end of the warm-up.
    told: [Served; 2],
    before: [Served; 2],
}

impl EnergyAccount {
    /// Makes an account with the described powers. `sleeps`: the node has power save.
    pub(crate) fn new(described: &config::Consumption, sleeps: bool) -> Self {
        let watts = |power: Option<Power>, default: f64| power.map_or(default, Power::as_watts);
        let [dsss, ofdm, ht] = TRANSMIT.map(|default| watts(described.transmit, default));
        let low = described.low.as_ref().map_or(0.0, |low| low.transmit.as_watts());
        let draw = Draw {
            transmit: [dsss, ofdm, ht, low],
            receive: watts(described.receive, RECEIVE),
            listen: watts(described.listen, LISTEN),
            doze: described.doze.map(Power::as_watts),
        };
        Self {
            draw,
            levels: described.low.is_some().then(Levels::default),
            sleep: (sleeps && draw.doze.is_some()).then(Sleep::default),
            ..Self::default()
        }
    }

    /// Records that a frame of this duration begins.
    pub(crate) fn sends(&mut self, now: Instant, frame: &Frame, length: Duration) {
        debug_assert!(self.sent_by <= now, "one frame at a time");
        let is_data = match frame.kind {
            Kind::Data { .. } | Kind::Aggregate { .. } => frame.to != BROADCAST,
            kind => matches!(kind, Kind::MultiUser { .. } | Kind::Triggered { frames: 1.., .. }),
        };
        let is_low = is_data && self.levels.as_ref().is_some_and(|levels| levels.is_low);
        self.last = match frame.mode {
            _ if is_low => LOW,
            Mode::Dsss { .. } => 0,
            Mode::Ofdm(_) => 1,
            Mode::Mimo(_) | Mode::Nominal { .. } => 2,
        };
        self.sending[self.last] += length;
        self.sent_by = now + length;
    }

    /// Records that the MAC gets a packet. `busy`, in this and all functions: the medium's busy time, with own frames.
    pub(crate) fn takes(&mut self, now: Instant, busy: Duration) {
        debug_assert!(busy <= now.since(Instant::ZERO), "busy for longer than the run");
        self.held += 1;
        if self.held == 1 {
            self.idle_then = idle(now, busy);
        }
    }

    /// Records that the node falls asleep, or wakes.
    pub(crate) fn sleeps(&mut self, now: Instant, busy: Duration, asleep: bool) {
        if let Some(sleep) = &mut self.sleep {
            *sleep = Sleep { since: asleep.then_some((now, busy)), ..sleep.by(now, busy) };
        }
    }

    /// Chooses the level of the packet that the MAC got from the number of packets at the node: true for the low level.
    /// `None` if the node has no levels.
    pub(crate) fn chooses(&mut self, now: Instant, busy: Duration, packets: u64) -> Option<bool> {
        let drawn_then = self.joules(&self.spent(now, busy));
        let levels = self.levels.as_mut()?;
        let up_to = levels.low_up_to.as_ref().map_or(0, Meter::value);
        (levels.is_low, levels.drawn_then) = (packets <= up_to, drawn_then);
        Some(levels.is_low)
    }

    /// Records a completed packet and the time that it spent with the MAC.
    pub(crate) fn finishes(&mut self, now: Instant, busy: Duration, service: Duration) {
        debug_assert!(self.held > 0, "the MAC has the packet that it is done with");
        debug_assert!(service <= now.since(Instant::ZERO), "served for longer than the run");
        self.held -= 1;
        if self.held == 0 {
            self.awake += idle(now, busy) - self.idle_then;
        }
        let drawn = self.joules(&self.spent(now, busy));
        let at_rest = self.draw.doze.unwrap_or(self.draw.listen) * service.as_secs_f64();
        if let Some(levels) = &mut self.levels {
            let served = &mut levels.served[usize::from(!levels.is_low)];
            served.packets += 1;
            served.time += service;
            served.energy += Energy::joules(drawn - levels.drawn_then - at_rest);
        }
    }

    /// Sets the threshold of the low level that a controller orders.
    pub(crate) fn order(&mut self, now: Instant, low_up_to: Option<u32>) {
        let Some(levels) = &mut self.levels else { return };
        match (&mut levels.low_up_to, low_up_to) {
            (Some(meter), up_to) => meter.set(now, up_to.unwrap_or(0).into()),
            (none, Some(up_to)) => *none = Some(Meter::new(now, up_to.into())),
            (None, None) => {}
        }
    }

    /// Returns the service at each level since the controller's last update.
    pub(crate) fn tell(&mut self) -> [Served; 2] {
        let Some(levels) = &mut self.levels else { return Default::default() };
        let told = std::mem::replace(&mut levels.told, levels.served);
        since(levels.served, told)
    }

    pub(crate) fn restart(&mut self, now: Instant, busy: Duration) {
        self.before = self.spent(now, busy);
        if let Some(levels) = &mut self.levels {
            levels.before = levels.served;
            if let Some(meter) = &mut levels.low_up_to {
                meter.restart(now);
            }
        }
    }

    /// Returns the results of a run that ends now.
    pub(crate) fn result(&self, now: Instant, busy: Duration) -> results::Energy {
        let spent = self.spent(now, busy).since(&self.before);
        let seconds = Duration::as_secs_f64;
        let sending = spent.sending.iter().fold(Duration::ZERO, |sum, &time| sum + time);
        let covered = sending + spent.receiving + spent.listening + spent.dozing;
        let total_j = self.joules(&spent);
        let levels = self.levels.as_ref().map(|levels| since(levels.served, levels.before).map(level));
        let level = self.levels.as_ref().and_then(|levels| levels.low_up_to.as_ref()).map(|meter| meter.level(now));
        results::Energy {
            total_j,
            mean_w: total_j / seconds(covered),
            transmit_j: self.transmitting(&spent),
            receive_j: self.draw.receive * seconds(spent.receiving),
            listen_j: self.draw.listen * seconds(spent.listening),
            doze_j: self.draw.doze.unwrap_or(0.0) * seconds(spent.dozing),
            transmit_s: seconds(sending),
            receive_s: seconds(spent.receiving),
            listen_s: seconds(spent.listening),
            doze_s: seconds(spent.dozing),
            low: levels.map(|[low, _]| low),
            high: levels.map(|[_, high]| high),
            low_up_to_packets: level.map(|level| results::Level {
                mean: level.mean,
                min: level.min as f64,
                max: level.max as f64,
                last: level.last as f64,
            }),
        }
    }

    fn spent(&self, now: Instant, busy: Duration) -> Spent {
        let mut sending = self.sending;
        sending[self.last] = sending[self.last] - self.sent_by.since(now);
        let idle = idle(now, busy);
        if let Some(Sleep { slept, unheard, .. }) = self.sleep.map(|sleep| sleep.by(now, busy)) {
            let receiving = sending.iter().fold(busy - unheard, |left, &time| left - time);
            return Spent { sending, receiving, listening: idle - (slept - unheard), dozing: slept };
        }
        let receiving = sending.iter().fold(busy, |left, &time| left - time);
        let since_taken = if self.held > 0 { idle - self.idle_then } else { Duration::ZERO };
        let listening = if self.draw.doze.is_some() { self.awake + since_taken } else { idle };
        Spent { sending, receiving, listening, dozing: idle - listening }
    }

    fn joules(&self, spent: &Spent) -> f64 {
        self.transmitting(spent)
            + self.draw.receive * spent.receiving.as_secs_f64()
            + self.draw.listen * spent.listening.as_secs_f64()
            + self.draw.doze.unwrap_or(0.0) * spent.dozing.as_secs_f64()
    }

    fn transmitting(&self, spent: &Spent) -> f64 {
        spent.sending.iter().zip(self.draw.transmit).map(|(time, watts)| time.as_secs_f64() * watts).sum()
    }
}

impl Sleep {
    /// Returns the time slept up to now, and the busy time of the medium in it.
    fn by(self, now: Instant, busy: Duration) -> Self {
        let Some((then, busy_then)) = self.since else { return self };
        Self { slept: self.slept + now.since(then), unheard: self.unheard + (busy - busy_then), ..self }
    }
}

impl Spent {
    fn since(&self, before: &Self) -> Self {
        let mut sending = self.sending;
        sending.iter_mut().zip(before.sending).for_each(|(time, before)| *time = *time - before);
        Self {
            sending,
            receiving: self.receiving - before.receiving,
            listening: self.listening - before.listening,
            dozing: self.dozing - before.dozing,
        }
    }
}

/// Returns how long the medium has been idle so far.
fn idle(now: Instant, busy: Duration) -> Duration {
    now.since(Instant::ZERO) - busy
}

fn since(served: [Served; 2], before: [Served; 2]) -> [Served; 2] {
    std::array::from_fn(|level| Served {
        packets: served[level].packets - before[level].packets,
        time: served[level].time - before[level].time,
        energy: served[level].energy - before[level].energy,
    })
}

fn level(served: Served) -> results::EnergyLevel {
    let time = served.time.as_secs_f64();
    let over = |value: f64, by: f64| if by > 0.0 { value / by } else { 0.0 };
    results::EnergyLevel {
        packets: served.packets,
        service_mean_s: over(time, served.packets as f64),
        power_w: over(served.energy.as_joules(), time),
    }
}

/// Returns a node's power consumption if the node has a radio and its energy is counted.
pub(super) fn consumption(network: &Network, site: &Site, layout: &Layout) -> Option<Consumption> {
    let given = match (&site.consumption, &network.consumption) {
        (Some(own), Some(shared)) => own.over(shared),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => return None,
    };
    (layout.radio_ports() > 0).then_some(given)
}

/// Returns the mode of a node's low transmission level.
pub(super) fn low_mode(
    site: &Site,
    network: &Network,
    rules: &Conventions,
    low: &LowLevel,
) -> Result<Mode, BuildError> {
    let own = site.consumption.as_ref().is_some_and(|own| own.low.is_some());
    let at = if own { format!("node.{}.consumption.low", site.name) } else { "consumption.low".to_owned() };
    let refuse = |why: &str| Err(BuildError::new(at.clone(), why));
    if rules.edca() || network.class_queue.is_some() || site.queues.is_some_and(|queues| queues != Queues::One) {
        return refuse(
            "`low` counts the packets of one queue, so it needs the DCF (in 802.11n `access = \"dcf\"` in \
             `[mac]`) and no `class_queue`",
        );
    }
    if network.mac.rate_control.algorithm != RateAlgorithm::Fixed {
        return refuse("rate control chooses the mode; leave `low` out, or write `algorithm = \"fixed\"`");
    }
    let mode = network.radio.node_mode(low.data_rate, low.mcs);
    let mode = mode.map_err(|refusal| BuildError::new(format!("{at}.{}", refusal.key), refusal.why))?;
    mode.map_or_else(|| refuse("`low` needs a `data_rate` or an `mcs`"), Ok)
}
