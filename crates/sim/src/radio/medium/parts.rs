//! Frames side by side in parts of the channel. The responses to one trigger do not disturb one another. A receiver
//! decodes them together, each with its own power.

use super::receiver::{Arrival, Lock};
use super::receivers::Receivers;
use super::signal::{Heard, Passing, Transmission};
use crate::radio::Link;
use crate::radio::reception::{Mpdu, Shape};
use units::Instant;

impl Receivers {
    /// From now on, frames may be in parts of the channel. Such frames take the plain path.
    pub(super) fn expect_parts(&mut self) {
        self.fast = false;
        self.parts = vec![Vec::new(); self.of.len()];
    }

    /// Handles the beginning of a response to a trigger at a node. It joins the responses that the node decodes, or is
    /// the first, which every capture rule decodes. `None` if another signal occupies the receiver, or the node sends.
    pub(super) fn part_begins<F: Copy>(&mut self, arrival: Arrival<F>, now: Instant) -> Option<bool> {
        let Arrival { frame: Passing { of, sent, .. }, node, power, decodable } = arrival;
        let noise = sent.bounds.noise() * self.noise(node);
        let (receiver, parts) = (&mut self.of[node as usize], &mut self.parts[node as usize]);
        match &mut receiver.lock {
            Some(lock) if lock.answers == sent.shape.answers => lock.power += power,
            Some(_) => return None,
            None => {
                let stands_out = self.reception.stands_out(power, receiver.energy as f64 + noise);
                if receiver.sending || !decodable || !stands_out {
                    return None;
                }
                parts.clear();
                receiver.energy += power;
                receiver.lock(&self.judge, &mut self.histories[node as usize], of, sent, power, (now, now));
                parts.push((of, power));
                self.preambles[node as usize] = None;
                return Some(receiver.settle(now, self.reception.carrier_sense));
            }
        }
        receiver.energy += power;
        parts.push((of, power));
        Some(false)
    }

    /// Handles the end of a response to a trigger. `None` if the node did not decode it beside other responses.
    pub(super) fn part_ends<F: Copy>(
        &mut self,
        frame: Passing<F>,
        node: u32,
        power: u64,
        (now, mpdus): (Instant, &[Mpdu]),
    ) -> Option<Heard> {
        let (receiver, parts) = (&mut self.of[node as usize], &mut self.parts[node as usize]);
        let lock = receiver.lock.as_mut().filter(|lock| lock.answers == frame.sent.shape.answers)?;
        let place = parts.iter().position(|&(of, _)| of == frame.of)?;
        parts.swap_remove(place);
        let own = Lock { power, ..*lock };
        lock.power -= power;
        receiver.energy -= power;
        match parts.first() {
            // The other responses end within a round-trip time.
            Some(&(of, _)) => lock.of = of,
            None => receiver.lock = None,
        }
        self.retune(node);
        let what = self.verdict(frame, node, &own, mpdus);
        let turned_idle = self.of[node as usize].settle(now, self.reception.carrier_sense);
        Some(Heard { power, what, turned_idle })
    }

    /// Lets the tail of a frame pass a listener that decodes a part of the frame with its own shape.
    pub(crate) fn tail_of_part<F: Copy>(
        &mut self,
        frame: Passing<F>,
        shape: Shape,
        link: &Link,
        now: Instant,
        mpdus: &[Mpdu],
    ) -> Heard {
        let bounds = self.judge.bounds(shape.mode);
        let sent = Transmission { shape, bounds, ..*frame.sent };
        self.tail(Passing { sent: &sent, ..frame }, link, now, mpdus)
    }
}
