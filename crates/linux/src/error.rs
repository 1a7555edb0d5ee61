//! Why something cannot be done with an interface or an agent.

use queue::DisciplineName;

/// Why an interface cannot be governed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such interface here.
    #[error("no interface \"{name}\"; there are {known}")]
    NoInterface {
        /// As it was asked for.
        name: String,
        /// Those that there are, separated by commas.
        known: String,
    },
    /// The interface went while it was governed.
    #[error("{name} is gone")]
    Gone {
        /// As it was called.
        name: String,
    },
    /// The interface got another name while it was governed.
    #[error("{name} is called {new} now")]
    Renamed {
        /// As it was called.
        name: String,
        /// As it is called.
        new: String,
    },
    /// Another program replaced the queue.
    #[error("the queue of {name} is no longer ours: another program made it {found}")]
    Replaced {
        /// The interface.
        name: String,
        /// What is there now.
        found: String,
    },
    /// The kernel refuses for want of a capability.
    #[error("not permitted to {what}: that needs CAP_NET_ADMIN; run it with sudo")]
    NotPermitted {
        /// What was tried: `change the queue of wlan0`.
        what: String,
    },
    /// What was asked for is not possible; the reason and the cure.
    #[error("{0}")]
    Unsuitable(String),
    /// A call of the kernel failed.
    #[error("cannot {what}: {source}")]
    Kernel {
        /// What was tried.
        what: String,
        /// What the kernel said.
        source: std::io::Error,
    },
}

impl Error {
    /// A discipline is refused whatever is to hold the packets.
    pub(crate) fn unmoved(discipline: DisciplineName) -> Self {
        let discipline = discipline.as_str();
        Self::Unsuitable(format!("{discipline} is not moved by a controller here; use drop-tail or drop-head"))
    }
}
