//! Single-server queues, first come, first served, with Poisson arrivals.
//!
//! Rates are in 1/s, times in s. Numbers count all customers in the system, including the one in service. Source: L.
//! Kleinrock, "Queueing Systems, Volume 1: Theory", 1975, chapter 3 (M/M/1, M/M/1/K) and chapter 5 (M/G/1, the
//! Pollaczek-Khinchine mean values).

/// Reason why a queue has no solution.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The load is 1 or more: the queue grows for ever.
    #[error("the load is {load}, but a queue is stable only at a load below 1")]
    Unstable {
        /// Arrival rate times mean service time.
        load: f64,
    },
    /// A rate or time is not finite and positive (an arrival rate and a variance may be zero), or a probability is
    /// outside `0..1`.
    #[error("a rate, time or probability is out of its range")]
    OutOfRange,
}

fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn not_negative(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// M/G/1: service times of any distribution, of which only mean and variance matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mg1 {
    arrivals: f64,
    mean_service_s: f64,
    service_variance: f64,
}

impl Mg1 {
    /// Makes a queue from `arrivals` per second, `mean_service_s` in s and `service_variance` in s^2.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`], or [`Error::Unstable`] if the load is 1 or more.
    pub fn new(arrivals: f64, mean_service_s: f64, service_variance: f64) -> Result<Self, Error> {
        if !not_negative(arrivals) || !positive(mean_service_s) || !not_negative(service_variance) {
            return Err(Error::OutOfRange);
        }
        let load = arrivals * mean_service_s;
        if load < 1.0 { Ok(Self { arrivals, mean_service_s, service_variance }) } else { Err(Error::Unstable { load }) }
    }

    /// Returns the share of the time in which the server is busy.
    pub fn load(&self) -> f64 {
        self.arrivals * self.mean_service_s
    }

    /// Returns the mean time in the queue before service, in s: `lambda E[S^2] / (2 (1 - rho))`.
    pub fn mean_wait_s(&self) -> f64 {
        let second_moment = self.mean_service_s * self.mean_service_s + self.service_variance;
        self.arrivals * second_moment / (2.0 * (1.0 - self.load()))
    }

    /// Returns the mean time in the system, in s.
    pub fn mean_sojourn_s(&self) -> f64 {
        self.mean_wait_s() + self.mean_service_s
    }

    /// Returns the mean number in the system, according to Little's law.
    pub fn mean_number(&self) -> f64 {
        self.arrivals * self.mean_sojourn_s()
    }
}

/// M/M/1: exponential service times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mm1 {
    arrivals: f64,
    services: f64,
}

impl Mm1 {
    /// Makes a queue from `arrivals` per second and `services` per second of busy time.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`], or [`Error::Unstable`] if the load is 1 or more.
    pub fn new(arrivals: f64, services: f64) -> Result<Self, Error> {
        if !not_negative(arrivals) || !positive(services) {
            return Err(Error::OutOfRange);
        }
        let load = arrivals / services;
        if load < 1.0 { Ok(Self { arrivals, services }) } else { Err(Error::Unstable { load }) }
    }

    /// Returns the share of the time in which the server is busy.
    pub fn load(&self) -> f64 {
        self.arrivals / self.services
    }

    /// Returns the mean number in the system: `rho / (1 - rho)`.
    pub fn mean_number(&self) -> f64 {
        self.load() / (1.0 - self.load())
    }

    /// Returns the mean time in the system, in s: `1 / (mu - lambda)`.
    pub fn mean_sojourn_s(&self) -> f64 {
        1.0 / (self.services - self.arrivals)
    }

    /// Returns the mean time in the queue before service, in s.
    pub fn mean_wait_s(&self) -> f64 {
        self.load() * self.mean_sojourn_s()
    }

    /// Returns this `quantile` of the time in the system, in s. The distribution of the time is exponential.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] unless `0 <= quantile < 1`.
    pub fn sojourn_quantile_s(&self, quantile: f64) -> Result<f64, Error> {
        if (0.0..1.0).contains(&quantile) {
            Ok(-libm::log1p(-quantile) * self.mean_sojourn_s())
        } else {
            Err(Error::OutOfRange)
        }
    }
}

/// M/M/1/K: the system has room for `K` customers, including the one in service; a full one loses arrivals. Any load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mm1k {
    arrivals: f64,
    services: f64,
    room: u32,
}

impl Mm1k {
    /// Makes a queue from `arrivals` per second, `services` per second of busy time, and `room` in customers.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`]; both rates must be positive, and there must be room for one customer.
    pub fn new(arrivals: f64, services: f64, room: u32) -> Result<Self, Error> {
        if positive(arrivals) && positive(services) && room > 0 {
            Ok(Self { arrivals, services, room })
        } else {
            Err(Error::OutOfRange)
        }
    }

    /// Returns the probability that an arrival is lost: `rho^K / (1 + rho + ... + rho^K)`. Arrivals see time averages,
    /// so this is also the share of time in which the system is full.
    pub fn loss_probability(&self) -> f64 {
        let (least_likely, sum, _) = self.weights();
        if self.arrivals < self.services { least_likely / sum } else { 1.0 / sum }
    }

    /// Returns the mean number in the system.
    pub fn mean_number(&self) -> f64 {
        let (_, sum, moment) = self.weights();
        let from_the_likely_end = moment / sum;
        if self.arrivals < self.services { from_the_likely_end } else { f64::from(self.room) - from_the_likely_end }
    }

    /// Returns the mean time that admitted customers spend in the system, in s, according to Little's law.
    pub fn mean_sojourn_s(&self) -> f64 {
        let (least_likely, sum, _) = self.weights();
        // All admitted customers are served, so the rate of entry is the service rate times the busy share of time.
        let empty = if self.arrivals < self.services { 1.0 / sum } else { least_likely / sum };
        self.mean_number() / (self.services * (1.0 - empty))
    }

    /// Returns weights of the states, relative to the likelier of "empty" and "full" and counted from that state: the
    /// last weight, the sum, and the first moment. Only powers of a ratio up to 1 occur, so that nothing overflows and
    /// a load of 1 needs no special case.
    fn weights(&self) -> (f64, f64, f64) {
        let ratio = (self.arrivals / self.services).min(self.services / self.arrivals);
        let (mut weight, mut sum, mut moment) = (1.0, 1.0, 0.0);
        for distance in 1..=self.room {
            weight *= ratio;
            sum += weight;
            moment += weight * f64::from(distance);
        }
        (weight, sum, moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} instead of {expected}");
    }

    #[test]
    fn mm1_by_hand() {
        // 8 packets/s into 10 packets/s: 4 in the system, half a second each, of which 0.4 s waiting.
        let queue = Mm1::new(8.0, 10.0).unwrap();
        assert_near(queue.load(), 0.8);
        assert_near(queue.mean_number(), 4.0);
        assert_near(queue.mean_sojourn_s(), 0.5);
        assert_near(queue.mean_wait_s(), 0.4);
        // The median of an exponential time is ln 2 of its mean, and one in a hundred stays ln 100 times it.
        assert_near(queue.sojourn_quantile_s(0.5).unwrap(), 0.5 * core::f64::consts::LN_2);
        assert_near(queue.sojourn_quantile_s(0.99).unwrap(), 0.5 * 4.605_170_185_988_092);
        assert_near(queue.sojourn_quantile_s(0.0).unwrap(), 0.0);
    }

    #[test]
    fn constant_service_waits_half_as_long_as_exponential() {
        let (exponential, constant) = (Mm1::new(8.0, 10.0).unwrap(), Mg1::new(8.0, 0.1, 0.0).unwrap());
        assert_near(constant.mean_wait_s(), 0.2);
        assert_near(constant.mean_wait_s(), exponential.mean_wait_s() / 2.0);
        assert_near(constant.mean_sojourn_s(), 0.3);
        assert_near(constant.mean_number(), 2.4);
    }

    #[test]
    fn general_service_contains_exponential_service() {
        // The variance of an exponential time is its mean squared.
        let (exponential, general) = (Mm1::new(3.0, 10.0).unwrap(), Mg1::new(3.0, 0.1, 0.01).unwrap());
        assert_near(general.load(), exponential.load());
        assert_near(general.mean_wait_s(), exponential.mean_wait_s());
        assert_near(general.mean_number(), exponential.mean_number());
    }

    #[test]
    fn a_full_room_by_hand() {
        // Load 1/2, room for 2: the states weigh 4 : 2 : 1.
        let queue = Mm1k::new(5.0, 10.0, 2).unwrap();
        assert_near(queue.loss_probability(), 1.0 / 7.0);
        assert_near(queue.mean_number(), 4.0 / 7.0);
        assert_near(queue.mean_sojourn_s(), (4.0 / 7.0) / (5.0 * 6.0 / 7.0));
        // Load 2: they weigh 1 : 2 : 4.
        let queue = Mm1k::new(20.0, 10.0, 2).unwrap();
        assert_near(queue.loss_probability(), 4.0 / 7.0);
        assert_near(queue.mean_number(), 10.0 / 7.0);
        assert_near(queue.mean_sojourn_s(), (10.0 / 7.0) / (20.0 * 3.0 / 7.0));
        // Load 1: all alike.
        let queue = Mm1k::new(10.0, 10.0, 4).unwrap();
        assert_near(queue.loss_probability(), 0.2);
        assert_near(queue.mean_number(), 2.0);
    }

    #[test]
    fn room_for_one_is_erlangs_loss_formula() {
        let queue = Mm1k::new(3.0, 4.0, 1).unwrap();
        assert_near(queue.loss_probability(), 0.75 / 1.75);
        assert_near(queue.mean_sojourn_s(), 0.25);
    }

    #[test]
    fn in_a_large_room_it_is_the_queue_without_limit() {
        let (bounded, unbounded) = (Mm1k::new(8.0, 10.0, 1000).unwrap(), Mm1::new(8.0, 10.0).unwrap());
        assert_near(bounded.mean_number(), unbounded.mean_number());
        assert_near(bounded.mean_sojourn_s(), unbounded.mean_sojourn_s());
        assert!(bounded.loss_probability() < 1e-90);
    }

    #[test]
    fn a_flooded_room_loses_the_excess_and_stays_full() {
        let queue = Mm1k::new(1000.0, 10.0, 5000).unwrap();
        assert_near(queue.loss_probability(), 0.99);
        assert_near(queue.mean_number(), 5000.0 - 1.0 / 99.0);
        assert_near(queue.mean_sojourn_s(), queue.mean_number() / 10.0);
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        assert_eq!(Mm1::new(10.0, 10.0), Err(Error::Unstable { load: 1.0 }));
        assert_eq!(Mg1::new(20.0, 0.1, 0.0), Err(Error::Unstable { load: 2.0 }));
        assert_eq!(Mm1::new(f64::NAN, 10.0), Err(Error::OutOfRange));
        assert_eq!(Mm1::new(1.0, 0.0), Err(Error::OutOfRange));
        assert_eq!(Mg1::new(1.0, 0.1, -1.0), Err(Error::OutOfRange));
        assert_eq!(Mm1k::new(1.0, 1.0, 0), Err(Error::OutOfRange));
        assert_eq!(Mm1::new(1.0, 2.0).unwrap().sojourn_quantile_s(1.0), Err(Error::OutOfRange));
        assert!(Error::Unstable { load: 1.5 }.to_string().contains("1.5"));
    }
}
