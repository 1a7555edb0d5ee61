//! Lengths, speeds, frequencies and radio powers. All are floats: the model uses them to compute links.

/// A length in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Length(f64);

impl Length {
    /// A length of `metres`.
    pub const fn metres(metres: f64) -> Self {
        Self(metres)
    }

    /// The number of metres.
    pub const fn as_metres(self) -> f64 {
        self.0
    }
}

/// A speed in metres a second, never negative as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Speed(f64);

impl Speed {
    /// A speed of `metres` a second.
    pub const fn metres_per_second(metres: f64) -> Self {
        Self(metres)
    }

    /// The number of metres a second.
    pub const fn as_metres_per_second(self) -> f64 {
        self.0
    }
}

/// A frequency in whole hertz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frequency(u64);

impl Frequency {
    /// A frequency of `n` Hz.
    pub const fn hertz(n: u64) -> Self {
        Self(n)
    }

    /// The number of hertz.
    pub const fn as_hertz(self) -> u64 {
        self.0
    }
}

/// A radio power, kept in dBm (decibels above a milliwatt).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Power(f64);

impl Power {
    /// A power of `dbm` decibel-milliwatts.
    pub const fn dbm(dbm: f64) -> Self {
        Self(dbm)
    }

    /// A power of `watts`; minus infinity dBm for zero watts.
    pub fn watts(watts: f64) -> Self {
        Self(10.0 * libm::log10(watts) + 30.0)
    }

    /// Decibels above a milliwatt.
    pub const fn as_dbm(self) -> f64 {
        self.0
    }

    /// The power in watts.
    pub fn as_watts(self) -> f64 {
        libm::pow(10.0, (self.0 - 30.0) / 10.0)
    }
}

/// A ratio of powers in decibels.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Decibels(f64);

impl Decibels {
    /// A ratio of `db` decibels.
    pub const fn new(db: f64) -> Self {
        Self(db)
    }

    /// The ratio in decibels.
    pub const fn as_db(self) -> f64 {
        self.0
    }

    /// The ratio as a plain number: 10 dB is 10, 3 dB is about 2.
    pub fn as_ratio(self) -> f64 {
        libm::pow(10.0, self.0 / 10.0)
    }
}
