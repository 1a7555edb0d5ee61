//! The integration tests of crate `sim`: one binary, so that its dependencies are linked once.

mod admission;
mod aggregation;
mod broadcast;
mod capture_margin;
mod classes;
#[path = "../../theory/tests/draws/mod.rs"]
mod draws;
mod dsr;
mod edca;
#[path = "../../theory/tests/edca_slots/mod.rs"]
mod edca_slots;
mod edges;
mod energy;
mod fairness;
mod fingerprints;
mod floors;
mod generations;
mod hardware_queue;
mod hidden_nodes;
mod independence;
mod infrastructure;
mod invariants;
mod l4s;
mod mac80211;
mod movement;
mod neighbourhood;
mod networks;
mod on_the_air;
mod outside;
mod queueing;
mod rate_control;
mod routing;
mod saturation;
mod starvation;
mod tcp;
mod tcp_networks;
mod theory_alt;
mod theory_ampdu;
mod theory_edca;
mod theory_errors;
mod theory_hidden;
mod theory_unsaturated;
mod tmac;
mod traffic;
mod turns;
mod unloaded_delay;
