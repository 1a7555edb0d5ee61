//! Marks of the settings that were read while a network was built: a setting that no network reads has no effect.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Settings that were read, by their paths in a table, if their effect depends on other settings. Copies of a table
/// share its marks, because a network is built from copies.
///
/// Only settings that `crates/experiment/src/scenario/idle/reasons.toml` lists in `belongs` or `other` need marks.
#[derive(Clone, Debug, Default)]
pub struct Marks(Arc<Mutex<BTreeSet<Cow<'static, str>>>>);

impl Marks {
    /// Marks a setting, and returns its value: to be called where the value takes effect.
    pub(crate) fn read<T>(&self, key: impl Into<Cow<'static, str>>, value: T) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.into());
        value
    }

    /// Marks the keys of each line whose condition holds: for tables whose settings are read packet by packet.
    pub(crate) fn read_where(&self, lines: &[(bool, &[&'static str])]) {
        let keys = lines.iter().filter(|(acts, _)| *acts).flat_map(|(_, keys)| keys.iter());
        keys.for_each(|&key| self.read(key, ()));
    }

    /// True if the setting was read.
    pub fn has(&self, key: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }
}
