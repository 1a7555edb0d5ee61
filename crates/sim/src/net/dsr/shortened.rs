//! Automatic route shortening (RFC 4728, 3.4.3): which gratuitous replies were made of late.

use super::action::Context;
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Gratuitous replies that are remembered at once.
const MOST_SHORTENED: usize = 64;
/// Time between gratuitous replies to a node for one neighbour.
const GRATUITOUS_REPLY_HOLDOFF: Duration = Duration::from_secs(1);

/// Recent gratuitous replies: the node that got each, the node that was overheard, and until when the next one waits.
#[derive(Debug, Default)]
pub(super) struct Shortened {
    recent: VecDeque<(u32, u32, Instant)>,
}

impl Shortened {
    /// Records a reply. False if one of the same kind was made a short time ago.
    pub(super) fn is_new(&mut self, told: u32, heard: u32, cx: &Context) -> bool {
        self.recent.retain(|&(.., until)| until > cx.now);
        if self.recent.len() == MOST_SHORTENED || self.recent.iter().any(|&(a, b, _)| (a, b) == (told, heard)) {
            return false;
        }
        self.recent.push_back((told, heard, cx.now + GRATUITOUS_REPLY_HOLDOFF));
        true
    }
}
