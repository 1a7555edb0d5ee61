//! The `sluice` command with a discipline of one's own: `own-discipline run SCENARIO --set queue.discipline=ramp`.

use control::Count;
use queue::own::{PerPacket, Verdict};
use queue::register;
use serde::Deserialize;
use std::collections::VecDeque;
use std::process::ExitCode;
use units::{Bytes, Instant};

/// FIFO that drops more of the departing packets the longer they waited: none up to `low_s`, one in ten from `high_s`.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Ramp {
    low_s: f64,
    high_s: f64,
    /// Each packet's number, and its arrival in seconds.
    #[serde(skip)]
    waiting: VecDeque<(u64, f64)>,
    /// Packets to be dropped, with a fraction.
    #[serde(skip)]
    due: f64,
}

impl Default for Ramp {
    fn default() -> Self {
        Self { low_s: 0.005, high_s: 0.1, waiting: VecDeque::new(), due: 0.0 }
    }
}

impl PerPacket for Ramp {
    fn enqueue(&mut self, now: Instant, packet: u64, _: Bytes, _flow: u64, _: Count, fits: bool) -> Verdict {
        if !fits {
            return Verdict::Drop(packet);
        }
        self.waiting.push_back((packet, now.as_secs_f64()));
        Verdict::Pass(packet)
    }

    fn dequeue(&mut self, now: Instant, _: Count) -> Verdict {
        let Some((packet, since)) = self.waiting.pop_front() else { return Verdict::Fault("holds none".to_owned()) };
        self.due += ((now.as_secs_f64() - since - self.low_s) / (self.high_s - self.low_s)).clamp(0.0, 1.0) * 0.1;
        let drops = self.due >= 1.0;
        self.due -= f64::from(u8::from(drops));
        if drops { Verdict::Drop(packet) } else { Verdict::Pass(packet) }
    }
}

fn main() -> ExitCode {
    let ramp = register("ramp", |table, _seed| {
        let ramp: Ramp = serde_json::from_value(table).map_err(|error| error.to_string())?;
        Ok(Box::new(ramp))
    });
    ramp.expect("Sluice has none of this name");
    cli::main()
}
