//! Analytic models of a run, which predict results for its network from its measurements.

mod bqm;
pub(crate) mod swan;
mod voice;

use crate::study::{Modelled, Models, Rated};
use sim::config::{self, Network};
use sim::results::{Flow, Outcome};

/// A fault in a table `[model]`: the key below the table, and the reason.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) key: &'static str,
    pub(crate) message: String,
}

/// Returns the flow of a network's description that a flow of a run stands for: copies are called `name-1` and so on.
fn described<'n>(network: &'n Network, flow: &Flow) -> Option<&'n config::Flow> {
    let stands_for =
        |name: &str| flow.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let described = network.flow.iter().filter(|described| stands_for(&described.name));
    described.max_by_key(|described| described.name.len())
}

/// Computes the models of a scenario for a run; `None` if the scenario asks for none. Errors: nodes or settings that a
/// model does not cover, independent of measurements.
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
