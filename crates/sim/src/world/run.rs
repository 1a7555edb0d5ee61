//! One run: builds the network, handles its events in order, and reads the results.

use super::error::BuildError;
use super::flows::connections::End;
use super::flows::{self, Flow};
use super::power_save::Cue;
use super::routing::Found;
use super::state::{Event, World};
use super::{build, outcome};
use crate::config::Network;
use crate::results::Outcome;
use crate::trace::TraceEventKind;
use units::{Duration, Instant};

/// Number of events that are handled between two checks: a few milliseconds of work.
const A_LITTLE: u64 = 4096;

impl World {
    /// Builds a network and prepares its run.
    ///
    /// # Errors
    /// If the description contradicts itself or the standard. The error names the key.
    pub fn new(network: &Network, seed: u64) -> Result<Self, BuildError> {
        build::build(network, seed)
    }

    /// Advances the run by `span` of simulated time, but not beyond its end. The results do not depend on the spans.
    pub fn advance(&mut self, span: Duration) {
        self.handle_until((self.now + span).min(self.end), u64::MAX);
    }

    /// Advances the run for some milliseconds of real time, but not beyond its end: by at most a few thousand events.
    /// Events are counted, because any number of them can have the same simulated time.
    pub fn advance_a_little(&mut self) {
        self.handle_until(self.end, self.handled + A_LITTLE);
    }

    /// Advances the run to `at`, events at `at` included, but not beyond its end. It pauses when a real packet arrives
    /// or a driver's frame is finished; see [`outside`](Self::outside).
    pub fn run_to(&mut self, at: Instant) {
        let at = at.max(self.now).min(self.end);
        if self.waits_for_program() {
            return;
        }
        self.handle_until((at + Duration::from_nanos(1)).min(self.end), u64::MAX);
        if !self.waits_for_program() {
            self.now = at;
        }
    }

    /// True if there is an arrival or an outcome that was not taken yet.
    fn waits_for_program(&self) -> bool {
        !self.arrivals.is_empty() || !self.statuses.is_empty()
    }

    /// Returns the time of the next event, or the end if that is earlier. Until then nothing changes or arrives.
    pub fn next_event(&self) -> Instant {
        if self.waits_for_program() { self.now } else { self.events.next_time().min(self.end) }
    }

    /// Returns the number of events handled since the start of the run.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// Handles the events before `until`, but stops when `most` events have been handled since the start.
    fn handle_until(&mut self, until: Instant, most: u64) {
        self.until = until;
        while self.events.next_time() < self.until
            && let Some((now, event)) = self.events.pop()
        {
            debug_assert!(now >= self.now, "time does not run back");
            self.now = now;
            self.handled += 1;
            match event {
                Event::Emit { flow } => self.emit(flow),
                Event::Saturate { flow } => {
                    self.fill(flow);
                    self.serve(self.flows[flow].from);
                }
                Event::Cease { flow } => self.cease(flow),
                Event::Timer { connection } => {
                    let (connections, mut cx) = self.transport();
                    connections.expire(connection, &mut cx);
                }
                Event::Deadline { node } => self.deadline(node),
                Event::Front { of, listener } => self.front(of, listener),
                Event::Colour { of } => self.colour(of),
                Event::Sent { of } => self.sent(of),
                Event::Tail { of, listener } => self.tail(of, listener),
                Event::Control { node, port } => self.control(node, port),
                Event::Ready { node, port } if self.nodes[node].is_ready(port, now) => self.resume(node, port),
                Event::Ready { .. } => {}
                Event::WireSent { wire } => {
                    let link = &mut self.wires[wire];
                    let (from, port) = (link.from, link.port);
                    if let Some(completion) = link.passes_on(wire, now, &mut self.events) {
                        let no_hardware = (Duration::ZERO, from.into(), 0, true);
                        self.nodes[from].completed(now, port, &completion, no_hardware, &mut self.recorder);
                        self.transmit(wire, None);
                    }
                }
                Event::WireArrives { wire } => self.wire_arrives(wire),
                Event::Route { node } => {
                    if self.tell(node, Found::due) == Some(true) {
                        self.serve(node);
                    }
                }
                Event::Message { node, packet } => {
                    let to = self.routing.found().map(|found| found.delay_ends(packet, &self.packets));
                    self.enqueue(node, packet, to.expect("fixed routes need no messages"));
                    self.serve(node);
                }
                Event::Gate { flow } => self.admit(flow, flows::Cue::Due),
                Event::Note { node } => {
                    if let Some(note) = self.nodes[node].tell(now, &mut self.posted, &mut self.packets) {
                        let what = || TraceEventKind::Note { from: node.into(), note: Box::new(note) };
                        self.accounts(node).witness.saw(what);
                        self.serve(node);
                    }
                }
                Event::PowerSave { node } => {
                    self.power_save(node, |of, awaited| Cue::Due { busy: of.has_packets(), awaited });
                }
                // Frames that the node has handed to its MAC before it leaves are not heard. When it comes, it sends
                // its waiting packets.
                Event::Presence { node } => {
                    self.nodes[node].absent ^= true;
                    // As under Linux, packets for a station that leaves its access point are lost at the access point.
                    if let Some(access_point) = self.roaming.turns(node, self.nodes[node].absent) {
                        self.purge(node, access_point);
                    }
                    self.serve(node);
                }
                Event::Step => {
                    self.end_step();
                    if let Some(recorder) = &self.recorder {
                        self.events.push(now + recorder.step, Event::Step);
                    }
                }
                Event::WarmedUp => self.restart_statistics(),
            }
            while let Some((connection, flow)) = self.connections.woken.pop() {
                self.converse(connection, End::Sender);
                let &Flow { from, to, .. } = &self.flows[flow];
                self.serve(self.roaming.place(from));
                self.serve(self.roaming.place(to.into()));
            }
            if self.handled >= most {
                return;
            }
        }
        self.now = self.until;
    }

    /// Ends the run now, or at the end of the warm-up if that is later, and returns the results.
    pub fn stop(mut self) -> Outcome {
        self.end = self.end.min(self.now.max(self.warmup + Duration::from_nanos(1)));
        self.finish()
    }

    /// Ends a run that has not begun. Returns results with all names and without values.
    pub fn names(mut self) -> Outcome {
        self.warmup = Instant::ZERO;
        self.end = Instant::ZERO + Duration::from_nanos(1);
        self.finish()
    }

    /// Runs to the end and returns the results.
    pub fn finish(mut self) -> Outcome {
        while !self.finished() {
            self.advance(Duration::MAX);
        }
        outcome::outcome(self)
    }
}
