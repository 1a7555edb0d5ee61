//! One queue of an interface: measured, limited, and restored at the end, wherever its packets wait.

pub(crate) mod attach;
#[cfg(feature = "bpf")]
pub mod bpf;
pub(crate) mod claim;
pub(crate) mod contract;
pub(crate) mod driver;
pub(crate) mod estimate;
pub(crate) mod fifo;
pub(crate) mod former;
pub(crate) mod knobs;
pub(crate) mod lock;
pub(crate) mod looks;
pub(crate) mod observed;
pub(crate) mod options;
pub(crate) mod radio;
pub(crate) mod state;
pub(crate) mod txq;
pub(crate) mod wish;
