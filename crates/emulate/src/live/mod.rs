//! Real programs over a [`Medium`](crate::Medium), in real time: real nodes have network namespaces with TUN devices.
//!
//! It leaves no files. The namespaces belong to the first process of a PID namespace. When it ends, for whatever
//! reason, all processes in the namespaces end, and so do the namespaces and devices.
//!
//! The medium can also be that of a kernel's own radios: [`radios`].

mod host;
mod hwsim;
mod namespaces;
mod node;
mod pace;
mod priority;
mod sight;
mod tun;
mod unavailable;
mod visit;

pub use host::{Hidden, Host, host};
pub use hwsim::{Counts, radios};
pub use namespaces::{Inside, again, inside, status};
pub use pace::{Ended, NotRun, Report, Rules, run};
pub use priority::raise;
pub use sight::Ready;
pub use unavailable::Unavailable;
pub use visit::{NoVisit, visit};
