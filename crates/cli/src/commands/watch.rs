mod view;

use super::decisions::row;
use super::stations::plain;
use super::status::{ask, interface, is_governed, none};
use crate::args;
use crate::console::print;
use crate::failure::Failure;
use crate::terminal::Terminal;
use control::Orders;
use linux::agent::signals::Signals;
use linux::telemetry::Decision;
use linux::telemetry::ask::{self, Watching};
use linux::telemetry::status::Status;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use units::refuse_if;
use view::View;

/// Keys that end the command: q and Escape.
const ENDING: [u8; 2] = [b'q', 0x1b];

pub(super) fn watch(args: &args::Watch) -> Result<(), Failure> {
    let signals = Signals::take_over()?;
    let folder = &args.agents.state;
    let mut agents = Vec::new();
    find(folder, &mut agents)?;
    refuse_if!(agents.is_empty(), Err(none(folder)));
    if let Some(device) = &args.agents.device {
        is_governed(device, &ask(folder)?.unwrap_or_default())?;
    }
    let terminal = Terminal::enter()?;
    let mut view = View::default();
    while wait(&signals, terminal.is_some(), &agents)? {
        let moved = take(&mut agents, &mut view, args.agents.device.as_deref())?;
        find(folder, &mut agents)?;
        match &terminal {
            Some(terminal) => {
                let (columns, rows) = terminal.size();
                terminal.draw(&view.draw(columns), rows)?;
            }
            None => print(&moved.iter().filter_map(line).collect::<String>())?,
        }
    }
    Ok(())
}

/// Starts watching the new agents in `folder`.
fn find(folder: &Path, agents: &mut Vec<Watching>) -> Result<(), Failure> {
    for socket in ask::sockets(folder)? {
        if agents.iter().all(|agent| agent.socket() != socket) {
            agents.extend(Watching::begin(&socket)?);
        }
    }
    Ok(())
}

/// Takes the agents' reports, and forgets agents that have ended. Returns the queues whose status changed.
fn take(agents: &mut Vec<Watching>, view: &mut View, device: Option<&str>) -> Result<Vec<Status>, Failure> {
    let mut moved = Vec::new();
    let mut kept = Vec::with_capacity(agents.len());
    for mut agent in agents.drain(..) {
        match agent.newest() {
            Ok(None) => {}
            Ok(Some(mut statuses)) => {
                statuses.retain(|status| device.is_none_or(|device| device == status.device));
                moved.extend(view.take(agent.socket(), statuses));
            }
            Err(linux::Error::Gone { .. }) => {
                view.take(agent.socket(), Vec::new());
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        kept.push(agent);
    }
    *agents = kept;
    Ok(moved)
}

/// Waits until an agent reports, at most one second. False if a signal or a key asks to end.
fn wait(signals: &Signals, keys: bool, agents: &[Watching]) -> Result<bool, Failure> {
    let stdin = io::stdin();
    let mut waited = vec![PollFd::new(signals, PollFlags::IN)];
    waited.extend(agents.iter().map(|agent| PollFd::new(agent, PollFlags::IN)));
    if keys {
        waited.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN));
    }
    match poll(&mut waited, Some(&Timespec { tv_sec: 1, tv_nsec: 0 })) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(errno) => return Err(Failure::failed(format!("cannot wait for agents: {errno}"))),
    }
    if !waited[0].revents().is_empty() {
        return Ok(false);
    }
    if keys && waited.last().is_some_and(|key| !key.revents().is_empty()) {
        let mut pressed = [0; 64];
        // A terminal that was closed has no keys.
        let read = rustix::io::read(&stdin, &mut pressed).unwrap_or(0);
        return Ok(read > 0 && !pressed[..read].iter().any(|key| ENDING.contains(key)));
    }
    Ok(true)
}

/// Formats the newest interval of a queue as a line.
fn line(status: &Status) -> Option<String> {
    let Status { place, at, limit, rate, last, .. } = status;
    let orders = Orders { rate: *rate, ..(*limit).into() };
    let row = row(&Decision::new(*at, &(*last)?.into(), &orders));
    Some(format!("{} ({}) {row}\n", interface(status), plain(place)))
}
