//! Notes between agents of neighbouring machines, for controllers that order them: their bytes, and the sockets that
//! send and receive them. `docs/live-admission.md` describes them.

pub mod message;
pub(crate) mod port;
