//! What is wanted of a queue.

use crate::kernel::rtnetlink::ROOT;
use control::{Measures, Orders};
use queue::Settings;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;
use units::{Duration, Instant};

/// What is asked for to hold the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// Our own discipline where this build and the kernel have it, else the queues of mac80211 where it holds the
    /// interface's packets, else the kernel's FIFO.
    #[default]
    Auto,
    /// Our own discipline, in BPF.
    Bpf,
    /// One of the kernel's FIFOs.
    Fifo,
    /// The queues of mac80211, by the limit of their phy.
    Txq,
}

impl Backend {
    /// Every choice that there is.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Bpf, Self::Fifo, Self::Txq];

    /// As it is written in a configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Bpf => "bpf",
            Self::Fifo => "fifo",
            Self::Txq => "txq",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|backend| backend.as_str() == text);
        found.ok_or_else(|| format!("expected {}", Self::ALL.map(Self::as_str).join(", ")))
    }
}

/// What is wanted of a queue.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a wish of its own")]
pub struct Wish {
    /// The place of the queue: an interface, or a class of it.
    pub place: Place,
    /// The very settings of a simulated one.
    pub settings: Settings,
    /// What is to hold the packets.
    pub backend: Backend,
    /// Measure and decide; change nothing.
    pub dry_run: bool,
    /// Go on where the former queue cannot be put back as it is, and where nothing ever waits.
    pub force: bool,
    /// How many segments a packet of the interface may hold meanwhile. Absent: as many as it may.
    pub gso_segments: Option<NonZeroU32>,
    /// Packets of real time have a queue of their own, which comes before all others. So they have for a controller that
    /// orders a rate or marks, whatever this says.
    pub classes: bool,
    /// Notes of the controller are told to agents of neighbours at the interface, and theirs are heard.
    pub notes: bool,
}

/// How a queue begins, and how it is to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The orders that hold from the first moment.
    pub orders: Orders,
    /// What the controller asks for.
    pub measures: Measures,
    /// Packets with a longer MAC delay than this are counted. Absent: none are.
    pub late_after: Option<Duration>,
    /// Packets of real time have a queue of their own.
    pub classes: bool,
    /// The controller may order that they are marked.
    pub marks: bool,
    /// The hops that packets have come are looked at.
    pub hops: bool,
    /// Time between two looks, where the queue is measured by looking.
    pub every: Duration,
    /// When it begins, by the kernel's monotonic clock.
    pub at: Instant,
}

/// Which queue: of which interface, and where on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The interface's name.
    pub device: String,
    /// [`ROOT`], or the class of a shaper, `1:1` as `0x1_0001`.
    pub parent: u32,
    /// Where the agent writes down what to put back: [`STATE_FOLDER`](crate::STATE_FOLDER).
    pub state_folder: PathBuf,
}

/// A place as `tc` writes it: `root`, or a class such as `1:10`.
pub fn shown_place(parent: u32) -> String {
    if parent == ROOT { "root".into() } else { format!("{:x}:{:x}", parent >> 16, parent & 0xffff) }
}

/// `1:1` as `tc` writes a class.
///
/// # Errors
/// What is expected instead.
pub fn class(text: &str) -> Result<u32, String> {
    let number = |text: &str| if text.is_empty() { Ok(0) } else { u16::from_str_radix(text, 16) };
    if text == "root" {
        return Ok(ROOT);
    }
    let parts = text.split_once(':').and_then(|(major, minor)| Some((number(major).ok()?, number(minor).ok()?)));
    match parts {
        Some((major, minor)) if major > 0 && minor > 0 => Ok(u32::from(major) << 16 | u32::from(minor)),
        _ => Err("expected root, or a class as tc writes it: 1:10".into()),
    }
}
