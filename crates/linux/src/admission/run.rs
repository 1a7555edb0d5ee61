//! Runs a command while the path can carry its flow.

use crate::admission::source::{News, Source, Wanted, Why};
use crate::admission::supervised::{Class, NotStarted, Supervised};
use crate::error::Error;
use crate::kernel::now;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, kill_process, set_child_subreaper};
use rustix::time::Timespec;
use std::os::fd::AsFd as _;
use std::process::Command;
use units::Instant;

/// Signals that this process forwards to the command.
const PASSED_ON: [Signal; 6] =
    [Signal::SIGINT, Signal::SIGTERM, Signal::SIGQUIT, Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGUSR2];

/// What happens if the flow is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The command does not run, or is ended.
    Stop,
    /// The command runs without the real-time class.
    BestEffort,
}

/// How the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The command ended with this status.
    Exited(i32),
    /// The command was ended by this signal.
    Signalled(i32),
    /// The flow was refused: the command did not run, or was ended.
    Refused(Why),
    /// This process got a signal while its probe was open.
    Interrupted(i32),
}

/// Probes, runs the command, and probes again when the destination asks it to regulate. Calls `tell` for each event.
///
/// # Errors
/// The command cannot be run or supervised, or a system call fails.
pub fn run(
    wanted: Wanted,
    refused: Refused,
    command: Command,
    tell: &mut dyn FnMut(Instant, News),
) -> Result<Ended, NotStarted> {
    let failed = |errno: Errno| NotStarted::Supervision(Error::kernel("run a command")(errno));
    let signals = take_over().map_err(NotStarted::Supervision)?;
    // Orphaned processes of the command become children of this process, which can then change their sockets' class.
    set_child_subreaper(Some(rustix::process::getpid())).map_err(failed)?;
    let source = Source::open(wanted).map_err(NotStarted::Supervision)?;
    let mut admission =
        Admission { source, refused, command: Some(command), running: None, class: Class::BestEffort, stopped: None };
    let begun = now();
    let mut news = admission.source.ask(begun);
    loop {
        for one in news {
            tell(now(), one);
            if let Some(ended) = admission.follow(one)? {
                return Ok(ended);
            }
        }
        if let Some(unreached) = admission.reclass() {
            tell(now(), unreached);
        }
        let is_requested = wait(&signals, &admission).map_err(failed)?;
        if let Some(ended) = admission.pass_on(&signals) {
            return Ok(ended);
        }
        if is_requested && let Some(running) = &mut admission.running {
            running.serve(now()).map_err(NotStarted::Supervision)?;
        }
        if let Some(running) = &mut admission.running {
            running.work(now());
        }
        news = admission.source.work(now());
    }
}

struct Admission {
    source: Source,
    refused: Refused,
    /// `None` once the command runs.
    command: Option<Command>,
    running: Option<Supervised>,
    class: Class,
    /// The reason why the command was ended.
    stopped: Option<Why>,
}

impl Admission {
    fn follow(&mut self, news: News) -> Result<Option<Ended>, NotStarted> {
        match news {
            News::Admit(_) => self.start()?,
            News::Refuse(why) => match (self.refused, &self.running) {
                (Refused::Stop, None) => return Ok(Some(Ended::Refused(why))),
                (Refused::Stop, Some(running)) => {
                    self.stopped = Some(why);
                    // If the command has ended already, SIGCHLD will follow.
                    let _ = kill_process(running.process, rustix::process::Signal::TERM);
                }
                (Refused::BestEffort, _) => self.start()?,
            },
            News::Probe | News::Confirm(_) | News::Regulate | News::Unreached { .. } => {}
        }
        Ok(None)
    }

    /// Starts the command unless it runs already.
    fn start(&mut self) -> Result<(), NotStarted> {
        let Some(command) = self.command.take() else { return Ok(()) };
        self.class = self.source.class(now());
        self.running = Some(Supervised::start(command, self.class)?);
        Ok(())
    }

    /// Gives the command's sockets the flow's present class.
    fn reclass(&mut self) -> Option<News> {
        let class = self.source.class(now());
        let running = self.running.as_mut().filter(|_| class != self.class)?;
        self.class = class;
        let sockets = running.change(class);
        (sockets > 0).then_some(News::Unreached { sockets })
    }

    /// Forwards signals, and notices the command's end.
    fn pass_on(&mut self, signals: &SignalFd) -> Option<Ended> {
        while let Ok(Some(told)) = signals.read_signal() {
            let number = told.ssi_signo.cast_signed();
            let Some(running) = &self.running else { return Some(Ended::Interrupted(number)) };
            // The kernel also sends the command those signals that are typed at a terminal.
            if number != Signal::SIGCHLD as i32
                && told.ssi_code <= 0
                && let Some(signal) = rustix::process::Signal::from_named_raw(number)
            {
                let _ = kill_process(running.process, signal);
            }
        }
        let process = self.running.as_ref()?.process;
        let status = reap(process)?;
        // From now on no gate controls the flow, so its packets lose the class.
        self.running.as_mut()?.change(Class::BestEffort);
        Some(match (self.stopped, status.exit_status(), status.terminating_signal()) {
            (Some(why), ..) => Ended::Refused(why),
            (None, Some(code), _) => Ended::Exited(code),
            (None, None, signal) => Ended::Signalled(signal.unwrap_or_default()),
        })
    }
}

/// Reaps all processes that have ended; returns the status of `process`.
fn reap(process: Pid) -> Option<WaitStatus> {
    let mut found = None;
    while let Ok(Some((ended, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if ended == process {
            found = Some(status);
        }
    }
    found
}

/// Waits for a signal, a message, a request for a socket, or the source's next deadline. True if a socket is requested.
fn wait(signals: &SignalFd, admission: &Admission) -> Result<bool, Errno> {
    let of_command = admission.running.as_ref().map_or(Instant::NEVER, Supervised::next);
    let until = admission.source.next().min(of_command);
    let left = std::time::Duration::from_nanos(until.since(now()).as_nanos());
    let timeout = Timespec::try_from(left).expect("2^64 nanoseconds are fewer than 2^63 seconds");
    let mut polled = vec![PollFd::new(signals, PollFlags::IN), PollFd::new(&admission.source, PollFlags::IN)];
    polled.extend(admission.running.as_ref().map(|running| PollFd::from_borrowed_fd(running.as_fd(), PollFlags::IN)));
    match poll(&mut polled, (until != Instant::NEVER).then_some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(errno) => return Err(errno),
    }
    Ok(polled.get(2).is_some_and(|command| command.revents().contains(PollFlags::IN)))
}

/// Blocks these signals in this thread and in threads that it starts; the returned descriptor reads them.
fn take_over() -> Result<SignalFd, Error> {
    let mut set = SigSet::empty();
    PASSED_ON.into_iter().chain([Signal::SIGCHLD]).for_each(|signal| set.add(signal));
    let refused = Error::kernel("catch signals");
    set.thread_block().map_err(refused)?;
    SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map_err(refused)
}
