//! Error models: the probability that the bits of a frame survive noise and interference.
//!
//! `nist` and `yans` give the success probability of a chunk of bits at one SINR. A frame is cut where the SINR
//! changes, and the chunks' probabilities are multiplied. DSSS, CCK, LDPC, and OFDM between nodes with LDPC have the
//! same curves in both models. `docs/phy.md` has the formulas.

mod coding;
mod dsss;
mod model;
mod nist;
mod simulated;
mod snr;
mod table;
#[cfg(test)]
mod tests;
mod yans;

pub(super) use coding::header_field;
pub(crate) use model::Errors;
pub(super) use model::all_survive;
pub(super) use table::Tables;
