//! Analytic models of a run, which predict results for its network from its measurements.

mod bqm;
pub(crate) mod swan;
mod voice;

use crate::study::{Modelled, Models, Rated};
use sim::config::Network;
use sim::results::Outcome;

/// A fault in a table `[model]`: the key below the table, and the reason.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) key: &'static str,
    pub(crate) message: String,
}

/// Computes a scenario's models for a run; `None` if the scenario asks for none. Errors: a model does not cover these
/// nodes or settings, whatever was measured.
pub(crate) fn of(models: &Models, network: &Network, outcome: &Outcome) -> Result<Option<Modelled>, Fault> {
    if *models == Models::default() {
        return Ok(None);
    }
    let swan = models.swan.as_ref().map(|settings| swan::of(settings, network, outcome)).transpose()?;
    let bqm = models.bqm.as_ref().map(|settings| bqm::of(settings, network, outcome)).transpose()?;
    let voice = models.voice.as_ref().map(|settings| voice::of(settings, network, outcome)).transpose()?;
    let voice = voice.map(|calls| Rated { calls });
    Ok(Some(Modelled { swan, bqm, voice }))
}
