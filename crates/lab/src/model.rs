//! Analytic models beside a run: what they say of its network, from what was measured in it.

pub(crate) mod swan;

use crate::study::{Modelled, Models};
use sim::config::Network;
use sim::results::Outcome;

/// What is wrong with a table `[model]`: the key below it, and why.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) key: &'static str,
    pub(crate) message: String,
}

/// What the models of a scenario say of a run; none where it asks for none.
///
/// # Errors
/// Nodes or settings that a model does not speak of, whatever was measured.
pub(crate) fn of(models: &Models, network: &Network, outcome: &Outcome) -> Result<Option<Modelled>, Fault> {
    let Some(settings) = &models.swan else { return Ok(None) };
    swan::of(settings, network, outcome).map(|swan| Some(Modelled { swan }))
}
