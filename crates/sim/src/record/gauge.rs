//! Radio and MAC statistics of a node, for controllers that use them ([`control::Radio`]).

use crate::config::Dscp;
use crate::engine::PortId;
use crate::radio::Mode;
use control::{Radio, Reads};
use units::{Bytes, Duration, Instant, Rate};

/// Radio and MAC statistics of a node. Only nodes with a controller that uses such statistics have a gauge.
#[derive(Debug)]
pub(crate) struct Gauge {
    /// One meter per controller that reads these statistics, since each has its own intervals.
    meters: Vec<Meter>,
    totals: Totals,
    /// End of the frame that is being sent, or that was sent last.
    sent_by: Instant,
    /// Mode of the last data frame for one receiver.
    pub(crate) mode: Option<Mode>,
}

/// Sums since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    sending: Duration,
    frames: u64,
    mpdus: u64,
    bytes: u64,
    /// Sum over frames of bytes times rate.
    weighted_rate: u128,
    real_time: RealTime,
}

/// Bytes of real-time packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RealTime {
    pub(crate) all: Bytes,
    /// Bytes of recently admitted flows.
    pub(crate) new: Bytes,
}

impl RealTime {
    /// Adds a packet, if it is a real-time packet.
    pub(crate) fn and(self, dscp: Dscp, length: Bytes) -> Self {
        let of = |counts: bool| if counts { length } else { Bytes::default() };
        Self { all: self.all + of(dscp.is_real_time()), new: self.new + of(dscp == Dscp::REAL_TIME_NEW) }
    }
}

/// Measurements that one controller has not read yet.
#[derive(Debug)]
struct Meter {
    port: PortId,
    late_after: Option<Duration>,
    /// The sums, and the busy time of the medium, at the controller's last reading.
    told: Totals,
    busy_told: Duration,
    late: u64,
    hops: u8,
    /// Bitmask of stations heard since the controller's last reading.
    heard: Vec<u64>,
}

impl Gauge {
    /// A gauge for the controllers of these ports, each with the statistics that it `reads` and its bound of late
    /// packets, in a network with this number of stations. `None` if no controller reads radio statistics.
    pub(crate) fn new(
        ports: impl Iterator<Item = (PortId, Reads, Option<Duration>)>,
        stations: usize,
    ) -> Option<Box<Self>> {
        let looking = ports.filter(|(_, reads, _)| reads.any_of(Reads::RADIO.and(Reads::LEVELS)));
        let meters: Vec<Meter> = looking.map(|(port, _, late_after)| Meter::new(port, late_after, stations)).collect();
        let gauge = Self { meters, totals: Totals::default(), sent_by: Instant::ZERO, mode: None };
        (!gauge.meters.is_empty()).then(|| Box::new(gauge))
    }

    /// Records the start of a frame of any kind and its duration.
    pub(crate) fn sends(&mut self, now: Instant, length: Duration) {
        self.totals.sending += length;
        self.sent_by = now + length;
    }

    /// Records a unicast data frame.
    pub(crate) fn sends_data(&mut self, mode: Mode, psdu: Bytes, mpdus: u64) {
        let totals = &mut self.totals;
        totals.frames += 1;
        totals.mpdus += mpdus;
        totals.bytes += psdu.count();
        totals.weighted_rate += u128::from(psdu.count()) * u128::from(mode.rate().as_bps());
        self.mode = Some(mode);
    }

    /// Records an intact frame that names its sender.
    pub(crate) fn hears(&mut self, station: u32) {
        for meter in &mut self.meters {
            meter.heard[station as usize / 64] |= 1 << (station % 64);
        }
    }

    /// Counts bytes of real-time packets, overheard for any receiver or the node's own.
    pub(crate) fn real_time(&mut self, bytes: RealTime) {
        self.totals.real_time.all += bytes.all;
        self.totals.real_time.new += bytes.new;
    }

    /// Records a completed packet and its time with the MAC.
    pub(crate) fn finishes(&mut self, service: Duration) {
        for meter in &mut self.meters {
            meter.late += u64::from(meter.late_after.is_some_and(|bound| service > bound));
        }
    }

    /// Records the hop count of a data packet that left, this hop included.
    pub(crate) fn goes_on(&mut self, hops: u8) {
        for meter in &mut self.meters {
            meter.hops = meter.hops.max(hops);
        }
    }

    /// Measurements since the controller of a port last read them; none if the controller reads none. `busy`: busy time
    /// of the medium since the start of the run, including own frames. The MAC adds the largest aggregate, and the
    /// energy account the services of the levels.
    pub(crate) fn read(&mut self, port: PortId, now: Instant, busy: Duration) -> Option<Radio> {
        let meter = self.meters.iter_mut().find(|meter| meter.port == port)?;
        // A frame that is being sent counts with the part sent so far.
        let totals = Totals { sending: self.totals.sending - self.sent_by.since(now), ..self.totals };
        let told = std::mem::replace(&mut meter.told, totals);
        let sensed = busy - std::mem::replace(&mut meter.busy_told, busy);
        let sending = totals.sending - told.sending;
        let contenders = meter.heard.iter().map(|some| some.count_ones()).sum();
        meter.heard.fill(0);
        Some(Radio {
            busy: sensed - sending,
            sending,
            contenders,
            phy_rate: totals.mean_rate_since(&told),
            frames: totals.frames - told.frames,
            mpdus: totals.mpdus - told.mpdus,
            late: std::mem::take(&mut meter.late),
            real_time: totals.real_time.all - told.real_time.all,
            // No packet says yet that its flow is new.
            real_time_new: totals.real_time.new - told.real_time.new,
            hops: std::mem::take(&mut meter.hops),
            ..Radio::default()
        })
    }
}

impl Totals {
    /// Mean rate of the frames since the last reading, weighted by their bytes; zero without frames.
    fn mean_rate_since(&self, then: &Self) -> Rate {
        let (weighted, bytes) = (self.weighted_rate - then.weighted_rate, self.bytes - then.bytes);
        let mean = weighted.checked_div(u128::from(bytes)).unwrap_or(0);
        Rate::bps(u64::try_from(mean).expect("a mean of rates is no larger than they are"))
    }
}

impl Meter {
    fn new(port: PortId, late_after: Option<Duration>, stations: usize) -> Self {
        let heard = vec![0; stations.div_ceil(64)];
        Self { port, late_after, told: Totals::default(), busy_told: Duration::ZERO, late: 0, hops: 0, heard }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + us(micros)
    }

    const fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    fn gauge(ports: &[(u32, Reads, Option<Duration>)]) -> Option<Box<Gauge>> {
        Gauge::new(ports.iter().map(|&(port, reads, late_after)| (port.into(), reads, late_after)), 130)
    }

    #[test]
    fn nothing_is_kept_where_nobody_looks() {
        assert!(gauge(&[(0, Reads::COUNTS.and(Reads::SERVICE), None)]).is_none());
        assert!(gauge(&[(0, Reads::COUNTS, None), (1, Reads::HOPS, None)]).is_some());
    }

    #[test]
    fn a_frame_counts_in_each_interval_for_the_part_that_it_has_there() {
        let mut gauge = gauge(&[(0, Reads::MEDIUM, None)]).expect("it looks");
        gauge.sends(at(100), us(600));
        // Busy from 100 us on, with its own frame until 700 us and with another from 800 us to 900 us.
        let mut read = |now: u64, busy: u64| gauge.read(0.into(), at(now), us(busy)).expect("it looks");
        let [first, second] = [read(400, 300), read(1_000, 700)];
        assert_eq!([first.sending, first.busy], [us(300), us(0)]);
        assert_eq!([second.sending, second.busy], [us(300), us(100)]);
    }

    #[test]
    fn each_controller_has_intervals_and_a_bound_of_its_own() {
        let reads = Reads::LATE.and(Reads::MEDIUM);
        let mut gauge = gauge(&[(0, reads, Some(us(50))), (2, reads, Some(us(10)))]).expect("both look");
        for service in [10, 11, 50, 51] {
            gauge.finishes(us(service));
        }
        for station in [0, 64, 64, 129] {
            gauge.hears(station);
        }
        let mut read =
            |port: u32| gauge.read(port.into(), at(1_000), us(0)).map(|radio| (radio.late, radio.contenders));
        assert_eq!([read(0), read(0), read(1), read(2)], [Some((1, 3)), Some((0, 0)), None, Some((3, 3))]);
    }
}
