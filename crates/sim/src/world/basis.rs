//! What all parts of a network are built from.

use super::nodes::generations::Generations;
use super::nodes::infrastructure::Infrastructure;
use super::nodes::sites::Site;
use crate::config::Network;
use crate::mac::Conventions;

/// A network's description, and what follows from it before anything is built.
#[derive(Clone, Copy)]
pub(crate) struct Basis<'b> {
    pub(crate) network: &'b Network,
    pub(crate) sites: &'b [Site],
    /// Names of the nodes.
    pub(crate) names: &'b [String],
    pub(crate) infrastructure: &'b Infrastructure,
    pub(crate) generations: &'b Generations,
    pub(crate) rules: &'b Conventions,
    pub(crate) seed: u64,
}
