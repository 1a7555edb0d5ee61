//! The `[routing.dsr]` table.

use super::Category;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters and rules of DSR as a set; `docs/routing.md` lists those in which the sets differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DsrProfile {
    /// RFC 4728, with a cache of links.
    #[default]
    Rfc,
    /// ns-2.35, with a cache of paths.
    #[serde(rename = "ns-2")]
    Ns2,
}

/// DSR (RFC 4728).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dsr {
    /// Parameters and rules.
    pub profile: DsrProfile,
    /// Packets queued for a broken link are salvaged at once.
    pub purge_on_failure: bool,
    /// Access category of DSR packets without data, for `mac.access` "edca".
    pub category: Category,
}

impl Default for Dsr {
    fn default() -> Self {
        Self { profile: DsrProfile::default(), purge_on_failure: true, category: Category::default() }
    }
}
