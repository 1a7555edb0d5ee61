//! Errors and warnings about parameters; each names its setting.

use core::fmt;

/// Path of a setting within its queue's table: `adth.phi_min`. The owner of an outer table prepends its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Path([&'static str; Self::DEEPEST]);

impl Path {
    /// Largest depth at which a setting is nested in the tables of a queue.
    const DEEPEST: usize = 3;

    /// Returns the path with the name of the enclosing table in front.
    ///
    /// # Panics
    /// The path becomes deeper than any setting of a queue. That is a mistake in a scheme, not in its parameters.
    #[must_use]
    pub const fn within(self, table: &'static str) -> Self {
        let Self([first, second, third]) = self;
        assert!(third.is_empty(), "a queue's tables are not nested so deep");
        Self([table, first, second])
    }
}

impl From<&'static str> for Path {
    fn from(key: &'static str) -> Self {
        Self([key, "", ""])
    }
}

/// Writes the path as `adth.phi_min`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().filter(|name| !name.is_empty()).enumerate() {
            write!(f, "{}{name}", if index == 0 { "" } else { "." })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A setting that cannot be used: `adth.phi_min is above phi_max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} {why}")]
pub struct Invalid {
    /// Path within the queue's table.
    pub parameter: Path,
    /// What is wrong with the setting: `is above phi_max`.
    pub why: &'static str,
}

impl Invalid {
    /// Makes an error about the setting with this key.
    pub fn new(key: &'static str, why: &'static str) -> Self {
        Self { parameter: key.into(), why }
    }

    /// Returns the error with the name of the enclosing table in front of its path.
    #[must_use]
    pub const fn within(self, table: &'static str) -> Self {
        Self { parameter: self.parameter.within(table), why: self.why }
    }
}

/// A setting that is accepted although it may cause bad behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Path within the queue's table.
    pub parameter: Path,
    /// The possible effect, with the equation that predicts it.
    pub why: &'static str,
}

impl Warning {
    /// Returns the warning with the name of the enclosing table in front of its path.
    #[must_use]
    pub const fn within(self, table: &'static str) -> Self {
        Self { parameter: self.parameter.within(table), why: self.why }
    }
}

/// Writes the warning as `alt.a1 is not below 10 + b1 ...`.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.parameter, self.why)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::string::ToString;

    #[test]
    fn each_table_puts_its_name_in_front() {
        let refused = Invalid::new("weight", "must be at most 1");
        assert_eq!(refused.to_string(), "weight must be at most 1");
        let refused = refused.within("ebdp").within("astar");
        assert_eq!(refused.to_string(), "astar.ebdp.weight must be at most 1");
        assert_eq!(std::format!("{:?}", refused.parameter), "astar.ebdp.weight");
    }
}
