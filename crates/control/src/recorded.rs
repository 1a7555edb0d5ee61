//! What a recording of a queue holds, one JSON object a line.

use crate::{Access, Heard, Interval, Limit, Mark, Note, Orders, Radio, Seen};
use serde::{Deserialize, Serialize};
use units::{Duration, Rate};

/// What a controller saw in an interval, and what it ordered. Keys that are absent say what they say where a host measures
/// or orders nothing of the kind, so that recordings from before a key stay readable.
///
/// `H` holds the neighbours' notes: a list of whichever kind the host has, as this crate has no heap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound(serialize = "H: Serialize + AsRef<[Heard]>", deserialize = "H: Deserialize<'de> + Default"))]
pub struct Decision<H> {
    /// The interval's end, since the recording began.
    pub at: Duration,
    /// What the queue measured.
    pub seen: Interval,
    /// What the radio saw, where the controller looks at that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<Radio>,
    /// The newest note of each neighbour, where the controller looks at them.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub heard: H,
    /// What it decided.
    pub limit: Limit,
    /// How fast packets may leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Which are marked.
    #[serde(default, skip_serializing_if = "is_none")]
    pub mark: Mark,
    /// How the category contends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Up to how many packets the low transmission level serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_up_to: Option<u32>,
    /// What neighbours shall know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
    /// What the host had it begin from before it saw this interval, see
    /// [`begin_from`](crate::Controller::begin_from).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin_from: Option<Limit>,
    /// What the controller draws follows from it ([`Site::seed`](crate::Site::seed)).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seed: u64,
}

impl<H: AsRef<[Heard]>> Decision<H> {
    /// What was `seen` up to a moment, and the orders that followed.
    pub fn new<'a>(at: Duration, seen: &Seen<'a>, orders: &Orders) -> Self
    where
        H: From<&'a [Heard]>,
    {
        let Orders { limit, rate, mark, access, low_up_to, note } = *orders;
        let (radio, heard) = (seen.radio, seen.heard.into());
        Self {
            at,
            seen: seen.queue,
            radio,
            heard,
            limit,
            rate,
            mark,
            access,
            low_up_to,
            note,
            begin_from: None,
            seed: 0,
        }
    }

    /// All that the controller saw.
    pub fn seen(&self) -> Seen<'_> {
        Seen { queue: self.seen, radio: self.radio, heard: self.heard.as_ref() }
    }

    /// What it would have been with these orders.
    #[must_use]
    pub fn with(self, orders: &Orders) -> Self {
        let Orders { limit, rate, mark, access, low_up_to, note } = *orders;
        Self { limit, rate, mark, access, low_up_to, note, ..self }
    }
}

fn is_empty(heard: &impl AsRef<[Heard]>) -> bool {
    heard.as_ref().is_empty()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(seed: &u64) -> bool {
    *seed == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_none(mark: &Mark) -> bool {
    *mark == Mark::None
}
