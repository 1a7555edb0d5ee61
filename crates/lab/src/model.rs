//! Analytic models beside a run: what they say of its network, from what was measured in it.

mod bqm;
pub(crate) mod swan;
mod voice;

use crate::study::{Modelled, Models, Rated};
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
    if *models == Models::default() {
        return Ok(None);
    }
    let swan = models.swan.as_ref().map(|settings| swan::of(settings, network, outcome)).transpose()?;
    let bqm = models.bqm.as_ref().map(|settings| bqm::of(settings, network, outcome)).transpose()?;
    let voice = models.voice.as_ref().map(|settings| voice::of(settings, network, outcome)).transpose()?;
    let voice = voice.map(|calls| Rated { calls });
    Ok(Some(Modelled { swan, bqm, voice }))
}
