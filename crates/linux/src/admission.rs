//! Admission between agents: probes, answers to them, and requests to regulate, hop by hop. `docs/live-admission.md` has the
//! whole picture.

pub mod message;
