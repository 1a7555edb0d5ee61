//! Notes between agents of neighbouring machines, for controllers that order them: their format, and the sockets that
//! send and receive them. See `docs/live-admission.md`.

pub mod message;
pub(crate) mod port;
