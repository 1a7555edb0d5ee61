//! Notes between agents of neighbouring machines, for controllers that order them: what they are as bytes, and the sockets at
//! which they are told and heard. `docs/live-admission.md` has the whole picture.

pub mod message;
pub(crate) mod port;
