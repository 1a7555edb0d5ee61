//! Admission between agents: probes, answers to them, and requests to regulate, hop by hop. `docs/live-admission.md` has the
//! whole picture.

mod marks;
pub mod message;
pub(crate) mod pace;
pub(crate) mod peer;
pub(crate) mod port;
mod relay;
pub mod run;
pub mod settings;
pub mod source;
pub mod supervised;
