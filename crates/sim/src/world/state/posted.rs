//! Notes to neighbours that are on their way.

use crate::engine::Arena;
use crate::record::Ledger;
use control::Note;

/// What notes say that have not been everywhere yet, and how many there were.
#[derive(Debug, Default)]
pub(crate) struct Posted {
    pub(crate) contents: Arena<Note>,
    pub(crate) ledger: Ledger,
}
