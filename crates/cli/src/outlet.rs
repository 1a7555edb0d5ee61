//! Output of a process that must not wait for its reader. Bytes that cannot be written at once are queued. Lines that
//! would make the queue longer than its bound are dropped and counted.

use experiment::printable;
use linux::telemetry::events::{AgentEvent, AgentEventKind};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, OFlags, Timespec, fstat};
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::fmt::Display;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Largest number of queued bytes.
const MOST: usize = 256 << 10;
/// Number of bytes that a pipe with room accepts without waiting.
const AT_ONCE: usize = 4_096;
/// Number of waits for a reader at the end; the next constant is their length.
const LAST_WAITS: usize = 10;
const LAST_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

#[derive(Debug)]
pub(crate) struct Outlet {
    to: OwnedFd,
    kind: Kind,
    queue: Vec<u8>,
    dropped: u64,
    /// True if the output goes to the journal, in which each line may begin with a priority.
    is_journal: bool,
}

/// Ways to write without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A file, which never has to wait for a reader, or this outlet's own descriptor in non-blocking mode.
    Plain,
    /// A socket; each call has the flag not to wait.
    Socket,
    /// A pipe or a terminal that cannot be opened again; it is written only while it has room.
    Shared,
}

impl Outlet {
    pub(crate) fn stdout() -> io::Result<Self> {
        Self::new(io::stdout().as_fd().try_clone_to_owned()?)
    }

    pub(crate) fn stderr() -> io::Result<Self> {
        let mut to = Self::new(io::stderr().as_fd().try_clone_to_owned()?)?;
        if let Some(journal) = std::env::var_os("JOURNAL_STREAM").and_then(|journal| journal.into_string().ok()) {
            let file = File::from(io::stderr().as_fd().try_clone_to_owned()?);
            to.is_journal = file.metadata().is_ok_and(|file| is_at(&journal, &file));
        }
        Ok(to)
    }

    /// Creates a file, or empties it. A named pipe without a reader is an error.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let made = Self::open(path)?;
        let file = File::from(made.to.try_clone()?);
        if file.metadata()?.is_file() {
            file.set_len(0)?;
        }
        Ok(made)
    }

    /// Creates a file, or opens an existing one for appending.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let wanted = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().append(true).create(true).custom_flags(wanted).open(path)?;
        Ok(Self { to: file.into(), kind: Kind::Plain, queue: Vec::new(), dropped: 0, is_journal: false })
    }

    /// True if both outlets write to the same file.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let of = |outlet: &Self| fstat(&outlet.to).map(|stat| (stat.st_dev, stat.st_ino)).ok();
        of(self).is_some_and(|one| of(other) == Some(one))
    }

    pub(crate) fn holds_something(&self) -> bool {
        fstat(&self.to).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file() && stat.st_size > 0)
    }

    fn new(to: OwnedFd) -> io::Result<Self> {
        let file = File::from(to);
        let kind = file.metadata()?.file_type();
        let (to, kind) = if kind.is_socket() {
            (file, Kind::Socket)
        } else if kind.is_fifo() || kind.is_char_device() {
            // If this descriptor became non-blocking, it would be so for all processes that share it.
            let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
            let own =
                OpenOptions::new().write(true).custom_flags(flags).open(format!("/proc/self/fd/{}", file.as_raw_fd()));
            own.map_or((file, Kind::Shared), |own| (own, Kind::Plain))
        } else {
            (file, Kind::Plain)
        };
        Ok(Self { to: to.into(), kind, queue: Vec::new(), dropped: 0, is_journal: false })
    }

    /// Writes a line of text that may contain any characters. Errors: the destination cannot be written, for example
    /// because the disk is full. A closed pipe is no error.
    pub(crate) fn line(&mut self, text: impl Display) -> io::Result<()> {
        self.put(&(printable::lines(&text.to_string()) + "\n"))
    }

    /// Writes an event, as JSON if `json` is true. Ignores errors, so that governing continues.
    pub(crate) fn event(&mut self, event: &AgentEvent, json: bool) {
        let priority = if self.is_journal { format!("<{}>", priority(event.what)) } else { String::new() };
        let line = json.then(|| serde_json::to_string(event).ok()).flatten().unwrap_or_else(|| event.to_string());
        let _ = self.line(format_args!("{priority}{line}"));
    }

    /// Writes lines of JSON, each with its line end.
    pub(crate) fn put(&mut self, lines: &str) -> io::Result<()> {
        self.flush()?;
        if self.queue.len() + lines.len() > MOST {
            self.dropped += 1;
            return Ok(());
        }
        self.queue.extend_from_slice(lines.as_bytes());
        self.flush()
    }

    /// Writes as much of the queue as possible without waiting.
    fn flush(&mut self) -> io::Result<()> {
        while !self.queue.is_empty() {
            match self.write() {
                Ok(written) => drop(self.queue.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => {
                    self.queue.clear();
                    return if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) };
                }
            }
        }
        Ok(())
    }

    fn write(&self) -> io::Result<usize> {
        Ok(match self.kind {
            Kind::Plain => rustix::io::write(&self.to, &self.queue)?,
            Kind::Socket => rustix::net::send(&self.to, &self.queue, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?,
            Kind::Shared if !self.has_room(Timespec { tv_sec: 0, tv_nsec: 0 })? => return Err(Errno::AGAIN.into()),
            Kind::Shared => rustix::io::write(&self.to, &self.queue[..self.queue.len().min(AT_ONCE)])?,
        })
    }

    fn has_room(&self, within: Timespec) -> io::Result<bool> {
        let mut polled = [PollFd::new(&self.to, PollFlags::OUT)];
        Ok(poll(&mut polled, Some(&within))? > 0)
    }

    /// Writes what is still queued, if the reader takes it within half a second. Returns the number of dropped lines.
    pub(crate) fn finish(&mut self) -> io::Result<u64> {
        for _ in 0..LAST_WAITS {
            self.flush()?;
            if self.queue.is_empty() {
                break;
            }
            // A signal can only shorten the wait.
            let _ = self.has_room(LAST_WAIT);
        }
        let rest = self.queue.split(|byte| *byte == b'\n').count() as u64 - 1;
        self.queue.clear();
        Ok(self.dropped + rest)
    }
}

/// True if `JOURNAL_STREAM` in the environment refers to this file (`systemd.exec(5)`).
fn is_at(stream: &str, file: &Metadata) -> bool {
    let numbers = stream.split_once(':');
    numbers.is_some_and(|(device, inode)| device.parse() == Ok(file.dev()) && inode.parse() == Ok(file.ino()))
}

/// Returns an event's priority in the journal (`sd-daemon(3)`).
const fn priority(what: AgentEventKind) -> u8 {
    match what {
        AgentEventKind::Failed => 3,
        AgentEventKind::Gone | AgentEventKind::Replaced | AgentEventKind::Starving | AgentEventKind::Waiting => 4,
        AgentEventKind::Renamed | AgentEventKind::Changed | AgentEventKind::Listening | AgentEventKind::Resumed => 5,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn outlet(to: impl Into<OwnedFd>) -> Outlet {
        Outlet::new(to.into()).unwrap()
    }

    /// Fills an output before it is read, then reads all of it: whole lines in order, and the number of dropped ones.
    fn filled(mut to: Outlet, mut from: impl io::Read + Send + 'static) {
        let lines = 100_000_u64;
        for number in 0..lines {
            to.line(format_args!("line {number}")).unwrap();
        }
        assert!(to.queue.len() <= MOST && to.dropped > 0, "{}", to.dropped);
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = from.read_to_string(&mut text);
            text
        });
        let dropped = to.finish().unwrap();
        drop(to);
        let text = reader.join().unwrap();
        let expected = (0..lines - dropped).map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat();
        assert_eq!(text.len(), expected.len());
        assert_eq!(text, expected);
    }

    #[test]
    fn a_pipe_and_a_socket_that_nobody_reads_make_nothing_wait() {
        let (read, write) = io::pipe().unwrap();
        filled(outlet(write), read);
        let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        filled(outlet(near), far);
        let (read, write) = io::pipe().unwrap();
        let shared = Outlet { kind: Kind::Shared, ..outlet(write) };
        filled(shared, read);
    }

    #[test]
    fn a_file_keeps_what_is_in_it_and_a_full_disk_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "before\n").unwrap();
        let mut log = outlet(OpenOptions::new().append(true).open(&path).unwrap());
        log.line("after\u{1b}[0m").unwrap();
        assert_eq!(log.finish().unwrap(), 0);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("before\nafter") && !text.contains('\u{1b}'), "{text}");
        let mut full = outlet(OpenOptions::new().write(true).open("/dev/full").unwrap());
        assert_eq!(full.line("x").unwrap_err().kind(), ErrorKind::StorageFull);
        let (read, write) = io::pipe().unwrap();
        drop(read);
        outlet(write).line("nobody wants it").unwrap();
    }

    #[test]
    fn the_journal_has_a_priority_before_each_line_and_others_have_none() {
        let event = AgentEvent::new(0, "v0", AgentEventKind::Failed, "no");
        for (is_journal, begin) in [(true, "<3>{"), (false, "{")] {
            let (mut read, write) = io::pipe().unwrap();
            let mut log = Outlet { is_journal, ..outlet(write) };
            log.event(&event, true);
            drop(log);
            let mut text = String::new();
            read.read_to_string(&mut text).unwrap();
            assert!(text.starts_with(begin), "{text}");
        }
        let file = tempfile::tempfile().unwrap().metadata().unwrap();
        assert!(is_at(&format!("{}:{}", file.dev(), file.ino()), &file));
        assert!(!is_at(&format!("{}:{}", file.dev(), file.ino() + 1), &file) && !is_at("x", &file));
    }
}
