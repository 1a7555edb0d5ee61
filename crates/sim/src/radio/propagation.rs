//! Path loss over distance, and the received power that follows from it.

use super::channel::Channel;
use crate::config::{Capture, Propagation, Radio, Rooms};
use crate::motion::Position;
use units::{Decibels, Duration, Length, Power};

/// Speed of light in metres per second.
const LIGHT: f64 = 299_792_458.0;
/// Relative precision of positions and ranges: a node 30 m away is within a range of 30 m.
const ROUNDING: f64 = 1e-9;

/// Power of an HE ER SU PPDU's preamble divided by that of other PPDUs: 3 dB (IEEE 802.11ax-2021, 27.3.11).
pub(super) const BOOST: u64 = 2;

/// Thresholds for decoding, carrier sense and capture. Powers are in attowatts, so that sums are exact integers and the
/// same on every machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reception {
    /// Carrier-sense threshold: the minimum total power with which the medium is busy.
    pub(crate) carrier_sense: u64,
    /// Receive threshold: the minimum power at which a frame can be decoded.
    pub(crate) receive: u64,
    /// Capture threshold: a signal's power divided by the sum of all other signals' powers.
    pub(crate) capture: f64,
    /// Capture rule: which of several signals is decoded.
    pub(crate) order: Capture,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Address of the listener.
    pub(crate) to: u32,
    /// Propagation delay.
    pub(crate) delay: Duration,
    /// Received power, in attowatts.
    pub(crate) power: u64,
    /// True if the signal is strong enough to be decoded without interference.
    pub(crate) decodable: bool,
}

/// Default transmit power; the next constant is the largest that a stated range may require, a kilowatt.
pub(crate) const USUAL_POWER: Power = Power::dbm(15.0);
const MOST_POWER: Power = Power::dbm(60.0);

/// Converts watts to whole attowatts.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
fn attowatts(watts: f64) -> u64 {
    (watts * 1e18) as u64
}

/// Returns the share of a signal's power that passes the walls and floors between two positions.
fn between(rooms: &Rooms, (one, other): (Position, Position)) -> f64 {
    let crossed = |one: f64, other: f64, size: Length| {
        let room = |place: f64| libm::floor(place / size.as_metres());
        (room(one) - room(other)).abs()
    };
    let [length, width, height] = rooms.size;
    let walls = crossed(one.x, other.x, length) + crossed(one.y, other.y, width);
    let floors = crossed(one.z, other.z, height);
    // Without floors there is no loss.
    let counted = if floors > 0.0 { libm::pow(floors, (floors + 2.0) / (floors + 1.0) - 0.46) } else { 0.0 };
    let (wall, floor) = (rooms.wall.map_or(5.0, Decibels::as_db), rooms.floor.map_or(18.3, Decibels::as_db));
    libm::pow(10.0, -(wall * walls + floor * counted) / 10.0)
}

/// A propagation model and its thresholds, in W and m.
pub(super) struct Model {
    channel: Channel,
    propagation: Propagation,
    transmit: f64,
    wavelength: f64,
    /// Height of antennas above the lowest position.
    height: f64,
    /// Height of the lowest position, which is that of the ground.
    ground: f64,
    /// Height of the antenna at the highest position.
    highest: f64,
    exponent: f64,
    /// Longest distance at which free-space loss applies; at longer distances the exponent applies.
    near: f64,
    rooms: Option<Rooms>,
    receive: f64,
    carrier_sense: u64,
    floor: u64,
    capture: f64,
    order: Capture,
    range: f64,
    sense_range: f64,
    /// Upper bound of a single signal in attowatts, so that the sum of all signals fits into 64 bits.
    ceiling: u64,
    /// Upper bound of the distance from which signals count.
    reach: f64,
}

impl Model {
    /// Makes the model. `heights`: the minimum and the maximum height of all nodes over the run.
    pub(super) fn new(radio: &Radio, nodes: usize, heights: (f64, f64), channel: &Channel) -> Self {
        let wavelength = LIGHT / radio.carrier().as_hertz() as f64;
        let given = (radio.propagation == Propagation::TwoRay)
            .then(|| radio.marks.read("antenna_height", radio.antenna_height))
            .flatten();
        let height = given.unwrap_or(Length::metres(1.5)).as_metres();
        let has_slope = matches!(radio.propagation, Propagation::LogDistance | Propagation::TwoSlope);
        let exponent = has_slope.then(|| radio.marks.read("path_loss_exponent", radio.path_loss_exponent)).flatten();
        let breaks = radio.propagation == Propagation::TwoSlope;
        let near = breaks.then(|| radio.marks.read("breakpoint", radio.breakpoint).unwrap_or(Length::metres(5.0)));
        let mut model = Self {
            channel: channel.clone(),
            propagation: radio.propagation,
            transmit: USUAL_POWER.as_watts(),
            wavelength,
            height,
            ground: heights.0,
            highest: height + (heights.1 - heights.0),
            exponent: exponent.unwrap_or(if breaks { 3.5 } else { 3.0 }),
            near: near.map_or(1.0, Length::as_metres),
            rooms: radio.rooms.clone(),
            receive: 0.0,
            carrier_sense: 0,
            floor: 0,
            capture: radio.capture_threshold.unwrap_or(channel.capture_threshold()).as_ratio(),
            order: radio.capture,
            range: radio.range.map_or(f64::INFINITY, Length::as_metres),
            sense_range: f64::INFINITY,
            ceiling: u64::MAX / (nodes as u64).max(1),
            reach: f64::INFINITY,
        };
        let sense_range = radio.carrier_sense_range.map(Length::as_metres);
        model.sense_range = sense_range.unwrap_or(2.0 * model.range);
        if model.propagation == Propagation::Range {
            // All signals are alike: their power is one unit, and it is sensed wherever it arrives.
            model.carrier_sense = 1;
            model.reach = model.range.max(model.sense_range) * (1.0 + 2.0 * ROUNDING);
            return model;
        }
        model.transmit = radio.marks.read("tx_power", radio.tx_power).unwrap_or(USUAL_POWER).as_watts();
        if let (Some(range), None) = (radio.range, radio.tx_power) {
            // Frames are decodable within a stated range. This determines the transmit power.
            let needed = channel.needed / model.received_low(range.as_metres());
            model.transmit = (model.transmit * needed.max(1.0)).min(MOST_POWER.as_watts());
        }
        let threshold = |power: Option<Power>, range: Option<f64>, default: f64| {
            let given = power.map(Power::as_watts);
            given.or(range.map(|metres| model.received_low(metres))).unwrap_or(default) * (1.0 - ROUNDING)
        };
        let range = radio.range.map(Length::as_metres);
        let receive = threshold(
            radio.marks.read("receive_threshold", radio.receive_threshold),
            range,
            Power::dbm(-82.0).as_watts(),
        );
        let sense_power = radio.marks.read("carrier_sense_threshold", radio.carrier_sense_threshold);
        let sensed = threshold(sense_power, sense_range.or(range.map(|metres| 2.0 * metres)), receive);
        model.receive = receive;
        let sensed = if model.order == Capture::StrongestPreamble { sensed.min(receive) } else { sensed };
        model.carrier_sense = attowatts(sensed).max(1);
        // The weakest single signal that can spoil the weakest decodable frame. Weaker signals are ignored.
        let spoils = if model.order == Capture::AnySignal { sensed } else { receive / model.capture };
        let [receive, spoils] = [receive, spoils].map(|power| power / model.boost());
        model.floor = attowatts(channel.least_power(sensed.min(receive).min(spoils), receive)).max(1);
        model.reach = model.farthest(|watts| attowatts(watts) >= model.floor);
        model
    }

    /// Returns the distance beyond which no power `counts`, or slightly more. In all models power falls with distance.
    fn farthest(&self, counts: impl Fn(f64) -> bool) -> f64 {
        let luck = self.channel.largest_gain();
        let counts = |metres: f64| counts(self.received(metres, (self.highest, self.highest)) * luck);
        let (mut near, mut far) = (0.0, 1.0);
        // An absurd exponent or power may give a signal that counts everywhere; the search must end nevertheless.
        while far < f64::INFINITY && counts(far) {
            (near, far) = (far, far * 2.0);
        }
        while far - near > far * ROUNDING {
            let middle = near + (far - near) / 2.0;
            *(if counts(middle) { &mut near } else { &mut far }) = middle;
        }
        far * (1.0 + ROUNDING)
    }

    /// Returns the factor by which frames of some formats may be weaker than other frames.
    pub(super) fn boost(&self) -> f64 {
        if self.channel.extended { BOOST as f64 } else { 1.0 }
    }

    /// Returns an upper bound, in metres, of the distance from which signals are decoded.
    pub(super) fn decodable_reach(&self) -> f64 {
        match self.propagation {
            Propagation::Range => self.range * (1.0 + 2.0 * ROUNDING),
            _ => self.farthest(|watts| watts * self.boost() >= self.receive),
        }
    }

    /// Returns an upper bound, in metres, of the distance from which a single signal keeps the medium busy.
    pub(super) fn sensed_reach(&self) -> f64 {
        match self.propagation {
            Propagation::Range => self.sense_range.max(self.range) * (1.0 + 2.0 * ROUNDING),
            _ => self.farthest(|watts| attowatts(watts) >= self.carrier_sense),
        }
    }

    /// Returns an upper bound, in metres, of the distance from which signals count.
    pub(super) fn reach(&self) -> f64 {
        self.reach.min(f64::MAX / 4.0)
    }

    pub(super) fn reception(&self) -> Reception {
        let (carrier_sense, receive) = (self.carrier_sense, attowatts(self.receive));
        Reception { carrier_sense, receive, capture: self.capture, order: self.order }
    }

    /// Returns the propagation delay over `metres`: at least a nanosecond, as no node hears a frame at its start.
    pub(super) fn delay(metres: f64) -> Duration {
        Duration::from_secs_f64(metres / LIGHT).max(Duration::from_nanos(1))
    }

    /// Returns the power in W that is received over `metres` between nodes at the lowest position.
    pub(super) fn received_low(&self, metres: f64) -> f64 {
        self.received(metres, (self.height, self.height))
    }

    /// Returns the power in W that is received over `metres` between antennas at these heights above ground. The
    /// antennas have no gain, and the system has no loss.
    fn received(&self, metres: f64, heights: (f64, f64)) -> f64 {
        let free_space = |metres: f64| {
            let spread = self.wavelength / (4.0 * core::f64::consts::PI * metres);
            self.transmit * spread * spread
        };
        let power = match self.propagation {
            Propagation::FreeSpace | Propagation::Range => free_space(metres),
            Propagation::TwoRay => {
                // Rappaport, Wireless Communications, section 4.6: beyond this, the reflected ray weakens the signal.
                let crossover = 4.0 * core::f64::consts::PI * heights.0 * heights.1 / self.wavelength;
                if metres < crossover {
                    free_space(metres)
                } else {
                    let ratio = heights.0 * heights.1 / (metres * metres);
                    self.transmit * ratio * ratio
                }
            }
            Propagation::LogDistance | Propagation::TwoSlope => {
                // Below one metre the loss is that at one metre.
                let near = metres.min(self.near).max(self.near.min(1.0));
                free_space(near) * libm::pow((metres / self.near).max(1.0), -self.exponent)
            }
        };
        // Below about a wavelength, the far-field formulas give more power than was sent.
        power.min(self.transmit)
    }

    /// Returns the link between nodes at these positions, from `from` to `to`; `None` if the signal does not count.
    pub(super) fn link(&self, places: (Position, Position), from: u32, to: u32) -> Option<Link> {
        let metres = places.0.distance(places.1);
        let walls = self.rooms.as_ref().map_or(1.0, |rooms| between(rooms, places));
        self.link_with((Self::delay(metres), metres, walls), (places.0.z, places.1.z), from, to)
    }

    /// Returns the same link if delay, distance, loss in walls and the heights of both positions are known.
    #[inline(always)] // once a listener, and the answer would go through memory
    pub(super) fn link_with(
        &self,
        (delay, metres, walls): (Duration, f64, f64),
        heights: (f64, f64),
        from: u32,
        to: u32,
    ) -> Option<Link> {
        if !self.channel.joins(from, to) {
            return None;
        }
        let (power, decodable) = if self.propagation == Propagation::Range {
            let within = |range: f64| metres <= range * (1.0 + ROUNDING);
            (u64::from(within(self.sense_range.max(self.range))), within(self.range))
        } else {
            let antenna = |height: f64| self.height + (height - self.ground);
            let antennas = (antenna(heights.0), antenna(heights.1));
            let watts = self.received(metres, antennas) * self.channel.gain(from, to) * walls;
            (attowatts(watts).min(self.ceiling), watts >= self.receive)
        };
        (power >= self.floor.max(1)).then_some(Link { to, delay, power, decodable })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::{Motion, Walk};
    use crate::radio::{Ends, Links};

    fn at(metres: f64) -> [Length; 2] {
        [Length::metres(metres), Length::default()]
    }

    fn links(radio: &Radio, positions: &[[Length; 2]]) -> Links {
        let motion = Motion::new(positions.iter().map(|&place| Walk::still(place.into())).collect());
        Links::new(radio, motion, &Channel::clear())
    }

    #[test]
    fn ranges_given_in_metres_hold_in_every_model() {
        use Propagation::{FreeSpace, LogDistance, Range, TwoRay};
        for propagation in [TwoRay, FreeSpace, LogDistance, Range] {
            let radio = Radio { propagation, range: Some(Length::metres(30.0)), ..Radio::default() };
            let found = links(&radio, &[at(0.0), at(30.0), at(30.1), at(60.0)]);
            let heard = |to: u32| *found.of(0).iter().find(|link| link.to == to).expect("a link");
            let senses = |to: u32| heard(to).power >= found.reception.carrier_sense;
            assert!(heard(1).decodable && !heard(2).decodable && !heard(3).decodable, "{propagation:?}");
            assert!(senses(1) && senses(2) && senses(3), "{propagation:?}");
            let far = links(&radio, &[at(0.0), at(60.1)]);
            let still_sensed = far.of(0).first().is_some_and(|link| link.power >= far.reception.carrier_sense);
            assert!(!still_sensed, "{propagation:?} senses beyond its carrier sense range");
        }
    }

    /// IEEE 802.11-14/0980: residential 40.05 + 20 log(f / 2.4 GHz) + 20 log(min(d, 5)) + 35 log(d / 5) beyond 5 m, 5 dB a
    /// wall and 18.3 F^((F + 2) / (F + 1) - 0.46) for F floors; enterprise with 10 m and 7 dB a wall.
    #[test]
    fn two_slopes_walls_and_floors_are_those_of_tgax() {
        let place = |x, y, z| Position { x, y, z };
        let loss = |breakpoint, wall, to: Position| {
            let size = [Length::metres(10.0), Length::metres(10.0), Length::metres(3.0)];
            let radio = Radio {
                propagation: Propagation::TwoSlope,
                frequency: Some(units::Frequency::hertz(2_400_000_000)),
                tx_power: Some(Power::dbm(20.0)),
                receive_threshold: Some(Power::dbm(-120.0)),
                breakpoint: Some(Length::metres(breakpoint)),
                rooms: Some(Rooms { size, wall: Some(Decibels::new(wall)), floor: None }),
                ..Radio::default()
            };
            let places = [place(1.0, 1.0, 1.5), to].map(Walk::still);
            let found = Links::new(&radio, Motion::new(places.to_vec()), &Channel::clear());
            20.0 - Power::watts(found.of(0)[0].power as f64 * 1e-18).as_dbm()
        };
        // 4 m in one room: 40.05 + 12.04. 8 m: 40.05 + 13.98 + 7.14. Through one wall, 20 m: 40.05 + 13.98 + 21.07 + 2 x 5.
        let cases = [
            (5.0, 5.0, place(5.0, 1.0, 1.5), 52.09),
            (5.0, 5.0, place(9.0, 1.0, 1.5), 61.17),
            (5.0, 5.0, place(21.0, 1.0, 1.5), 85.10),
            // One floor: 18.3. Two: 18.3 x 2^(4/3 - 0.46) = 33.52; 3 and 6 m above.
            (5.0, 5.0, place(1.0, 1.0, 4.5), 40.05 + 9.54 + 18.3),
            (5.0, 5.0, place(1.0, 1.0, 7.5), 40.05 + 13.98 + 2.77 + 33.52),
            // Enterprise: both directions count. sqrt(200) = 14.14 m: 40.05 + 20 + 5.27 + 2 x 7.
            (10.0, 7.0, place(11.0, 11.0, 1.5), 79.32),
        ];
        for (breakpoint, wall, to, expected) in cases {
            let found = loss(breakpoint, wall, to);
            assert!((found - expected).abs() < 0.03, "{to:?}: {found} dB, by hand {expected}");
        }
    }

    /// Both ends' antennas count in both directions, but only the sender's power: the directions differ by the powers.
    #[test]
    fn links_are_as_strong_as_both_ends_make_them() {
        let usual = (Power::dbm(15.0), Decibels::new(7.0));
        let nodes = [(20.0, 3.0), (15.0, 0.0)].map(|(power, gain)| (Power::dbm(power), Decibels::new(gain), usual.1));
        let of = |ends: Option<Ends>| {
            let motion = Motion::new([0.0, 50.0].map(|x| Walk::still(at(x).into())).to_vec());
            let links = Links::new(&Radio::default(), motion, &Channel::clear().between(ends));
            [0, 1].map(|from| Power::watts(links.of(from)[0].power as f64 * 1e-18).as_dbm())
        };
        let (same, own) = (of(None), of(Some(Ends::new(nodes.into_iter(), usual))));
        let more = [own[0] - same[0], own[1] - same[1]];
        assert!((more[0] - 8.0).abs() < 0.01 && (more[1] - 3.0).abs() < 0.01, "{more:?}");
    }

    #[test]
    fn two_ray_falls_with_the_fourth_power_beyond_the_crossover() {
        let (radio, channel) = (Radio::default(), Channel::clear());
        // 4 pi 1.5^2 / 0.1243 m = 227.5 m at 2.412 GHz.
        let model = Model::new(&radio, 2, (0.0, 0.0), &channel);
        let slope = |near: f64, far: f64| model.received_low(near) / model.received_low(far);
        assert!((slope(50.0, 100.0) - 4.0).abs() < 1e-9);
        assert!((slope(500.0, 1000.0) - 16.0).abs() < 1e-9);
        // Friis at 100 m: 15 dBm - 20 log10(4 pi 100 / 0.12429) = 15 - 80.09 dBm.
        assert!((Power::watts(model.received_low(100.0)).as_dbm() + 65.09).abs() < 0.01);
    }

    #[test]
    fn the_powers_of_all_nodes_together_fit_into_64_bits() {
        // A megawatt each, all in one place.
        let radio = Radio { tx_power: Some(Power::dbm(90.0)), ..Radio::default() };
        let found = links(&radio, &[at(0.0); 40]);
        let at_last = (0..39).map(|from| found.of(from).iter().find(|link| link.to == 39).expect("a link").power);
        assert!(at_last.clone().try_fold(0_u64, u64::checked_add).is_some());
        assert!(at_last.into_iter().all(|power| power > found.reception.carrier_sense));
    }

    #[test]
    fn a_capture_ratio_below_one_leaves_no_decodable_link_out() {
        let radio = Radio {
            range: Some(Length::metres(30.0)),
            carrier_sense_range: Some(Length::metres(20.0)),
            capture_threshold: Some(Decibels::new(-3.0)),
            ..Radio::default()
        };
        assert!(links(&radio, &[at(0.0), at(29.0)]).of(0).iter().any(|link| link.decodable));
    }

    #[test]
    fn the_nearest_hears_first() {
        let found = links(&Radio::default(), &[at(0.0), at(90.0), at(30.0), at(0.0)]);
        let order: Vec<(u32, u64)> = found.of(0).iter().map(|link| (link.to, link.delay.as_nanos())).collect();
        // 30 m are 100.07 ns.
        assert_eq!(order, [(3, 1), (2, 100), (1, 300)]);
    }
}
