//! A request to govern a queue, with its settings.

use crate::kernel::rtnetlink::ROOT;
use control::{Measures, Orders};
use queue::turns::Params;
use queue::{DisciplineName, Settings};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;
use units::{Duration, Instant, Positive};

/// The kind of queue that holds the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// Without a controller and settings of a queue: turns in Sluice's own discipline, or else the scheduler of
    /// mac80211 if it holds the packets. With either: Sluice's own discipline if this build and the kernel have it,
    /// else the queues of mac80211 if it holds the packets, else the kernel's FIFO.
    #[default]
    Auto,
    /// Sluice's own discipline, in BPF.
    Bpf,
    /// One of the kernel's FIFOs.
    Fifo,
    /// The queues of mac80211, governed through the packet limit of their phy.
    Txq,
    /// The scheduler of mac80211, with settings that suit the turns of its stations.
    Knobs,
}

impl Backend {
    /// All kinds of queues that can be requested.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Bpf, Self::Fifo, Self::Txq, Self::Knobs];
}

/// Writes the name that a configuration uses.
impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|backend| backend.to_string() == text);
        found.ok_or_else(|| format!("expected {}", Self::ALL.map(|backend| backend.to_string()).join(", ")))
    }
}

/// Settings of one governed queue: a table `[interface.NAME]` of the agent's file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Interface"))]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
pub struct Wish {
    /// The keys of a scenario's `[queue]`.
    #[serde(rename = "queue")]
    pub settings: Settings,
    /// The kind of queue that holds the packets. Default `auto`.
    pub backend: Backend,
    /// Attachment point on the interface: `root`, or a class of a shaper such as `1:10`. Default `root`.
    #[serde(rename = "parent", deserialize_with = "at_parent")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub place: Place,
    /// Measure and decide; change nothing. Default false.
    pub dry_run: bool,
    /// Continue even if no packet ever waits in the queue. Default false.
    pub force: bool,
    /// Continue even if a user's queue cannot be restored, or limits the link's rate. Default false.
    pub replace: bool,
    /// Largest number of segments (GSO) in a packet while the interface is governed: with 1 a limit in packets counts
    /// the link's packets. Default: unchanged.
    pub gso_segments: Option<NonZeroU32>,
    /// Give real-time packets their own queue, with strict priority. Default false; always done for a controller that
    /// governs one of the two classes.
    pub classes: bool,
    /// Exchange the controller's notes with agents of neighbours at the interface, by UDP multicast. Default false.
    pub notes: bool,
    /// Queueing delay that turns and mac80211's scheduler aim at, above zero; not for a controller. Default 100 ms.
    pub target_delay: Option<Positive<Duration>>,
    /// Longest round of the stations' turns, above zero; shorter rounds cost goodput. Default: unbounded.
    pub bulk_delay: Option<Positive<Duration>>,
    /// A second controller, for real-time packets; it may only order marks. Its table has the controller's keys of a
    /// scenario's `[queue]`. Default: none.
    pub real_time: Option<Settings>,
    /// File in which intervals and decisions are recorded for `sluice replay`. Default: none.
    pub record: Option<PathBuf>,
}

impl Wish {
    /// Requests the queue at `place` with these settings, and the defaults of all other fields.
    pub fn new(place: Place, settings: Settings) -> Self {
        Self { settings, place, ..Self::default() }
    }

    /// True if the request names no controller and no setting of a queue.
    pub(crate) fn is_unspecific(&self) -> bool {
        self.settings == Settings::default() && !self.classes && !self.notes && self.real_time.is_none()
    }

    /// True if a full queue must discard by priority.
    pub(crate) fn is_biased(&self) -> bool {
        self.settings.discipline == DisciplineName::Biased
    }

    /// Returns the target delay of a queue with turns, if the settings ask for turns or leave everything open.
    pub(crate) fn turns(&self) -> Option<Positive<Duration>> {
        let of_settings = self.settings.turns.as_ref().map(|turns| turns.target_delay);
        let is_free = self.backend == Backend::Auto && self.place.parent == ROOT && self.is_unspecific() && !self.force;
        let asked = self.settings.discipline == DisciplineName::Turns || is_free;
        asked.then(|| self.target_delay.or(of_settings).unwrap_or(Params::TARGET_DELAY))
    }
}

/// What a device needs to start: orders and the measurements to make.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The first orders of the controller.
    pub orders: Orders,
    /// Measurements that the controller asks for.
    pub measures: Measures,
    /// MAC delay above which packets are counted as late. `None`: none are counted.
    pub late_after: Option<Duration>,
    /// True if real-time packets have their own queue.
    pub classes: bool,
    /// True if the controller may order that real-time packets be marked.
    pub marks: bool,
    /// True if the controller reads packets' hops.
    pub hops: bool,
    /// Time between two readings of a queue that is measured by polling.
    pub every: Duration,
    /// Instant of the start, by the kernel's monotonic clock.
    pub at: Instant,
}

/// An attachment point of a queue: an interface, with its root or a class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Name of the interface.
    pub device: String,
    /// [`ROOT`], or the class of a shaper: `1:1` is `0x1_0001`.
    pub parent: u32,
    /// Folder in which the agent records what to restore: [`STATE_FOLDER`](crate::STATE_FOLDER).
    pub state_folder: PathBuf,
}

impl Default for Place {
    fn default() -> Self {
        Self { device: String::new(), parent: ROOT, state_folder: PathBuf::new() }
    }
}

/// Reads the attachment point, without the interface's name.
fn at_parent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Place, D::Error> {
    let parent = class(&String::deserialize(deserializer)?).map_err(de::Error::custom)?;
    Ok(Place { parent, ..Place::default() })
}

/// Longest name of an interface (`IFNAMSIZ` less one), in bytes.
const LONGEST_NAME: usize = 15;

/// True if the kernel allows this name of an interface (`dev_valid_name`); it must also suit a file.
pub(crate) fn is_name(name: &str) -> bool {
    // White space according to the kernel's `isspace`, including the byte of a no-break space in Latin-1.
    let is_space = |byte: u8| matches!(byte, b'\t'..=b'\r' | b' ' | 0xa0);
    !matches!(name, "" | "." | "..")
        && name.len() <= LONGEST_NAME
        && name.bytes().all(|byte| !matches!(byte, 0 | b'/' | b':') && !is_space(byte))
}

/// Returns a word in quotes for a POSIX shell; a name may contain any character but white space.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+%@".contains(c);
    if word.chars().all(is_plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Returns an attachment point in the form of `tc`: `root`, or a class such as `1:10`.
pub fn shown_place(parent: u32) -> String {
    if parent == ROOT { "root".into() } else { format!("{:x}:{:x}", parent >> 16, parent & 0xffff) }
}

/// Parses a class in the form of `tc`.
///
/// # Errors
/// The text is neither `root` nor a class.
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
