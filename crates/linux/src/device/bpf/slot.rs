//! One queue of the discipline in the kernel.

use super::maps::{FIRST, QUEUES, read_measured, refused};
use super::mechanism::Mechanism;
use super::reading::Reading;
use super::shared::{Below, Credit, Measured, Order, Settings};
use crate::device::contract::Beside;
use crate::device::state::namespace;
use crate::device::wish::Start;
use crate::error::Error;
use crate::kernel::random;
use control::{Count, Interval, Limit, Measures, Orders};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use units::{Bytes, Instant};

/// One queue of the discipline, which has an element in each map.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    pub(super) hard: Limit,
    settings: Settings,
    settings_map: MapHandle,
    measured_map: MapHandle,
    reading: Reading,
    /// Last reading of the real-time queue, if there is one.
    real_time: Option<Reading>,
    /// Last readings for a second controller: of the real-time queue and of this one.
    second: Option<[Reading; 2]>,
    beside: Beside,
}

impl Slot {
    /// Opens the slot with this number, for a queue of `mechanism`. If the slot serves no interface, the queue is new;
    /// otherwise the present queue continues.
    pub(super) fn take(
        number: u32,
        mechanism: Mechanism,
        measures: Measures,
        now: Instant,
        settings_map: MapHandle,
        measured_map: MapHandle,
    ) -> Result<Self, Error> {
        let seen = read_measured(&measured_map, number)?;
        let mut settings = Settings::new(mechanism, measures, now);
        settings.epoch = seen.epoch.wrapping_add(1);
        if seen.interface == 0 {
            (settings.key_first, settings.key_second) = (random()?, random()?);
        } else {
            let former = settings_map.lookup(&number.to_ne_bytes(), MapFlags::ANY);
            let former = former.map_err(|error| refused("read", &error))?;
            settings.keep_former(&former.as_deref().and_then(Settings::from_bytes).unwrap_or_default());
        }
        let reading = Reading::new(now, &seen);
        let (hard, real_time, second, beside) = (mechanism.hard, None, None, Beside::default());
        let slot = Slot { number, hard, settings, settings_map, measured_map, reading, real_time, second, beside };
        slot.write()?;
        Ok(slot)
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the handle that the queue must have: `51c0:` is `0x51c0_0000`.
    pub fn handle(&self) -> u32 {
        (FIRST + self.number) << 16
    }

    /// Permits the queue on an interface of this thread's network namespace, as long as the agent shows that it lives:
    /// now, once everything is loaded, and at each interval.
    ///
    /// # Errors
    /// The settings cannot be written.
    pub fn announce(&mut self, interface: u32, now: Instant) -> Result<(), Error> {
        self.settings.alive(now);
        (self.settings.interface, self.settings.namespace) = (interface.into(), namespace()?);
        self.write()
    }

    /// Returns the number of the queue's interface; `None` before the queue is made and after it is removed.
    ///
    /// # Errors
    /// The BPF maps of the discipline cannot be read.
    pub fn interface(&self) -> Result<Option<u64>, Error> {
        let interface = read_measured(&self.measured_map, self.number)?.interface;
        Ok((interface != 0).then_some(interface))
    }

    /// Returns the present backlog. Unlike [`take_interval`](Self::take_interval), the call does not show that the
    /// agent lives.
    ///
    /// # Errors
    /// The BPF maps of the discipline cannot be read.
    pub fn backlog(&self) -> Result<Count, Error> {
        let Measured { backlog_packets, backlog_bytes, .. } = read_measured(&self.measured_map, self.number)?;
        Ok(Count { packets: backlog_packets, bytes: Bytes::new(backlog_bytes) })
    }

    /// Returns how many real-time packets reached the queue marked, by Sluice or an earlier node, since loading.
    ///
    /// # Errors
    /// The BPF maps of the discipline cannot be read.
    pub fn marked(&self) -> Result<u64, Error> {
        Ok(read_measured(&self.measured_map, self.number)?.marked_packets)
    }

    /// Returns the counts of packets that left by credit.
    ///
    /// # Errors
    /// The BPF maps of the discipline cannot be read.
    pub fn below(&self) -> Result<Below, Error> {
        let is = read_measured(&self.measured_map, self.number)?;
        let (taken, completed, lost) = (is.handed_packets, is.completed_packets, is.lost_packets);
        Ok(Below { taken, completed, lost })
    }

    /// Returns the interval since the last call, and shows that the agent lives. A maximum during the call is lost.
    ///
    /// # Errors
    /// The BPF maps of the discipline cannot be read or written.
    pub fn take_interval(&mut self, now: Instant) -> Result<Interval, Error> {
        let seen = read_measured(&self.measured_map, self.number)?;
        let class = match &mut self.real_time {
            Some(reading) => {
                let seen = read_measured(&self.measured_map, self.number + QUEUES)?;
                Some(reading.interval(now, &seen, self.settings.epoch))
            }
            None => None,
        };
        self.beside = Beside { class, ..self.reading.beside(&seen, self.settings.epoch) };
        let interval = self.reading.interval(now, &seen, self.settings.epoch);
        self.settings.epoch = self.settings.epoch.wrapping_add(1);
        self.settings.alive(now);
        self.write()?;
        Ok(interval)
    }

    /// Returns the measurements of the real-time queue, and those from outside the queue, since the last call of this
    /// function; `None` if there is no such queue. Maxima are those since the last call of this function or of
    /// `take_interval`. Errors: the maps cannot be read.
    pub(crate) fn take_real_time(&mut self, now: Instant) -> Result<Option<(Interval, Beside)>, Error> {
        let Some([real_time, port]) = &mut self.second else { return Ok(None) };
        let seen = read_measured(&self.measured_map, self.number)?;
        let beside = port.beside(&seen, self.settings.epoch);
        *port = Reading::new(now, &seen);
        let seen = read_measured(&self.measured_map, self.number + QUEUES)?;
        Ok(Some((real_time.interval(now, &seen, self.settings.epoch), beside)))
    }

    /// Returns the measurements from outside the queue in the last interval.
    pub fn beside(&self) -> Beside {
        self.beside
    }

    /// Begins under a controller: applies its first orders, and the measurements that it needs.
    ///
    /// # Errors
    /// As for [`take_interval`](Self::take_interval).
    pub fn begin(&mut self, start: &Start) -> Result<(), Error> {
        // Turns have no controller that orders a limit.
        let limit = if self.settings.has_turns() { self.hard } else { start.orders.limit };
        self.settings.set_limit(limit, self.hard);
        self.settings.set_rate(start.orders.rate);
        self.settings.set_mark(start.orders.mark);
        self.settings.set_late_after(start.late_after);
        self.settings.classes = start.classes.into();
        self.settings.hops = start.hops.into();
        self.settings.looks = (start.classes || start.hops).into();
        let read = |number| Ok::<_, Error>(Reading::new(start.at, &read_measured(&self.measured_map, number)?));
        self.second = if start.classes { Some([read(self.number + QUEUES)?, read(self.number)?]) } else { None };
        self.real_time = self.second.map(|[real_time, _]| real_time);
        self.write()
    }

    /// Carries out a limit, a rate and marks from the next packet on; see [`set_limit`](Self::set_limit). Packets are
    /// marked only after [`Discipline::mark`](super::Discipline::mark).
    ///
    /// # Errors
    /// The settings cannot be written.
    pub fn obey(&mut self, orders: &Orders) -> Result<(), Error> {
        self.settings.set_rate(orders.rate);
        self.settings.set_mark(orders.mark);
        self.set_limit(orders.limit)
    }

    /// Sets the limit, at most the hard one. Packets above it are discarded when the next packet arrives or leaves.
    ///
    /// # Errors
    /// The settings cannot be written.
    pub fn set_limit(&mut self, limit: Limit) -> Result<(), Error> {
        self.settings.set_limit(limit, self.hard);
        self.write()
    }

    /// Sets the queue's radio, which is fixed when the queue is made.
    pub(super) fn belongs_to(&mut self, radio: u64, phy: u64) -> Result<(), Error> {
        (self.settings.radio, self.settings.phy) = (radio, phy);
        self.write()
    }

    /// Sets the discipline. It is fixed when the queue is made, except for the delays of turns.
    ///
    /// # Errors
    /// The settings cannot be written.
    pub fn set_order(&mut self, order: Order) -> Result<(), Error> {
        self.settings.set_order(order);
        self.write()
    }

    /// Continues from the last readings of `before`, a slot of the same queue.
    pub(super) fn following(self, before: &Self) -> Self {
        let real_time = self.real_time.map(|new| before.real_time.unwrap_or(new));
        Self { reading: before.reading, real_time, ..self }
    }

    /// Switches release by credit on or off.
    pub(super) fn set_credit(&mut self, credit: Option<Credit>) -> Result<(), Error> {
        self.settings.set_credit(credit);
        self.write()
    }

    fn write(&self) -> Result<(), Error> {
        // Since the real-time queue exists, packets may wait in it.
        self.write_one(self.number + QUEUES, &self.settings.of_real_time(self.hard))?;
        self.write_one(self.number, &self.settings)
    }

    fn write_one(&self, number: u32, settings: &Settings) -> Result<(), Error> {
        let update = self.settings_map.update(&number.to_ne_bytes(), &settings.to_bytes(), MapFlags::ANY);
        update.map_err(|error| refused("set", &error))
    }
}
