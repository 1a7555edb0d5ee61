//! One client of a server, with bounded time and memory.

use super::request::{self, LONGEST, Request, Serves};
use crate::telemetry::metrics;
use crate::telemetry::status::Status;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};
use std::os::fd::OwnedFd;
use units::{Duration, Instant, refuse_if};

/// Minimum time between two lines for a watching client.
pub const WATCH_EVERY: Duration = Duration::from_millis(50);
/// Longest time for sending a request, for reading the answer, and for closing.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The request is not complete.
    Asking,
    /// One answer is being sent.
    Answered,
    /// A line is sent from time to time.
    Watching,
    /// All is sent. The client must close first: otherwise bytes that it has not read would be lost.
    Leaving,
}

/// An accepted connection. Its socket does not block.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) socket: OwnedFd,
    phase: Phase,
    /// Number of clients that were accepted before this one.
    number: u64,
    /// Bytes received, at most [`LONGEST`].
    input: Vec<u8>,
    output: Vec<u8>,
    /// Number of bytes of `output` that are already sent.
    sent: usize,
    /// True if the client has closed its sending side.
    silent: bool,
    /// Instant at which the client is dropped unless it makes progress.
    deadline: Instant,
    /// Instant of the next line to a watching client.
    due: Instant,
}

/// The client has all that it asked for, or must not be served any longer.
pub(super) struct Done;

impl Client {
    pub(super) fn new(socket: OwnedFd, now: Instant, number: u64) -> Self {
        let (phase, deadline, input, output) = (Phase::Asking, now + PATIENCE, Vec::new(), Vec::new());
        Self { socket, phase, number, input, output, sent: 0, silent: false, deadline, due: now }
    }

    /// Returns the client's age rank; `None` for a client that watches, because watching never ends.
    pub(super) fn age(&self) -> Option<u64> {
        (self.phase != Phase::Watching).then_some(self.number)
    }

    pub(super) fn interest(&self) -> EventFlags {
        let mut interest = if self.silent { EventFlags::empty() } else { EventFlags::IN };
        if self.sent < self.output.len() {
            interest |= EventFlags::OUT;
        }
        interest
    }

    /// Reads and writes as much as possible without waiting.
    pub(super) fn serve(&mut self, now: Instant, serves: Serves, statuses: &[Status]) -> Result<(), Done> {
        if !self.silent {
            self.receive()?;
        }
        if self.phase == Phase::Asking {
            self.answer(now, serves, statuses)?;
        }
        self.send(now)
    }

    fn receive(&mut self) -> Result<(), Done> {
        let mut bytes = [0; LONGEST];
        let room = LONGEST - self.input.len();
        match rustix::net::recv(&self.socket, &mut bytes[..room.max(1)], RecvFlags::empty()) {
            Ok((_, 0)) => {
                self.silent = true;
                if matches!(self.phase, Phase::Asking | Phase::Leaving) { Err(Done) } else { Ok(()) }
            }
            // A client that keeps sending after its request is dropped.
            Ok(_) if room == 0 => Err(Done),
            Ok((_, length)) => {
                self.input.extend_from_slice(&bytes[..length]);
                Ok(())
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(_) => Err(Done),
        }
    }

    fn answer(&mut self, now: Instant, serves: Serves, statuses: &[Status]) -> Result<(), Done> {
        let request = request::read(&self.input);
        self.phase = Phase::Answered;
        match request {
            Ok(None) => {
                self.phase = Phase::Asking;
                return Ok(());
            }
            Ok(Some(Request::Metrics)) => {
                self.output = request::response(200, "OK", metrics::CONTENT_TYPE, &metrics::text(statuses));
            }
            Ok(Some(Request::Status | Request::Watch)) if serves == Serves::Metrics => {
                self.output = b"error: this socket serves only metrics\n".to_vec();
            }
            Ok(Some(Request::Status)) => self.output = line(statuses)?,
            Ok(Some(Request::Watch)) => {
                self.phase = Phase::Watching;
                self.tell(now, statuses)?;
            }
            Err(refusal) => self.output = refusal.answer(),
        }
        self.deadline = now + PATIENCE;
        Ok(())
    }

    /// Sends a watching client its next line, if that is due. A client that has not read the last line misses this one.
    pub(super) fn tell(&mut self, now: Instant, statuses: &[Status]) -> Result<(), Done> {
        refuse_if!(now >= self.deadline, Err(Done));
        if self.phase != Phase::Watching || now < self.due || self.sent < self.output.len() {
            return Ok(());
        }
        self.output = line(statuses)?;
        self.sent = 0;
        self.deadline = now + PATIENCE;
        self.due = now + WATCH_EVERY;
        Ok(())
    }

    pub(super) fn send(&mut self, now: Instant) -> Result<(), Done> {
        while self.sent < self.output.len() {
            match rustix::net::send(&self.socket, &self.output[self.sent..], SendFlags::NOSIGNAL) {
                Ok(length) => self.sent += length,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(_) => return Err(Done),
            }
        }
        match self.phase {
            Phase::Watching => self.deadline = Instant::NEVER,
            Phase::Answered if self.silent => return Err(Done),
            Phase::Answered => {
                self.phase = Phase::Leaving;
                self.deadline = now + PATIENCE;
                rustix::net::shutdown(&self.socket, Shutdown::Write).map_err(|_| Done)?;
            }
            Phase::Asking | Phase::Leaving => {}
        }
        Ok(())
    }
}

fn line(statuses: &[Status]) -> Result<Vec<u8>, Done> {
    let mut line = serde_json::to_vec(statuses).map_err(|_| Done)?;
    line.push(b'\n');
    Ok(line)
}
