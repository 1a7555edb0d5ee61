//! Queries this machine's agents over their sockets; the client of [`serve`](crate::telemetry::serve).

use crate::admission;
use crate::error::Error;
use crate::kernel::descriptor_of;
use crate::kernel::named::is_nobodys;
use crate::telemetry::status::Status;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use units::refuse_if;

/// Longest answer that is read, in bytes: some thousand queues.
const LONGEST: usize = 16 << 20;
/// Longest time to wait for an answer. One pass of an agent's loop takes at most a second.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);

/// Returns the path of the socket of an agent with this process number and state folder.
pub fn socket(folder: &Path, process: u32) -> PathBuf {
    folder.join(format!("agent-{process}.sock"))
}

/// Returns the sockets of agents in `folder`, running or killed, sorted by name. Empty if the folder does not exist.
///
/// # Errors
/// The folder cannot be read.
pub fn sockets(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::kernel(&format!("look for agents in {}", folder.display())))?,
    };
    let is_agent = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("agent-") && path.extension().is_some_and(|kind| kind == "sock"))
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_agent).collect();
    found.sort();
    Ok(found)
}

/// Removes sockets that killed agents left in `folder`: those named after a process that does not exist, and
/// admission's socket if no agent listens there. Sockets that cannot be removed stay.
pub fn forget_killed(folder: &Path) {
    let is_left = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let of_agent = name.strip_prefix("agent-").and_then(|name| name.strip_suffix(".sock"));
        // The socket does not have its final name yet; see `kernel::named`.
        match of_agent.or(name.rsplit_once(".sock.").map(|(_, number)| number)) {
            Some(number) => {
                let process = number.parse().ok().and_then(Pid::from_raw);
                process.is_some_and(|process| test_kill_process(process) == Err(Errno::SRCH))
            }
            None => name == admission::SOCKET && is_nobodys(path),
        }
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for socket in entries.map(|entry| entry.path()).filter(is_left) {
        // Another agent may have removed it already.
        let _ = fs::remove_file(socket);
    }
}

/// Returns the status of the agent behind `socket`; `None` if no agent listens there any longer.
///
/// # Errors
/// The socket is not for this user, or the answer is not valid.
pub fn status(socket: &Path) -> Result<Option<Vec<Status>>, Error> {
    let Some(stream) = connect(socket, b"status\n")? else { return Ok(None) };
    let mut answer = Vec::new();
    let read =
        stream.set_read_timeout(Some(PATIENCE)).and_then(|()| (&stream).take(LONGEST as u64).read_to_end(&mut answer));
    read.map_err(Error::kernel(&format!("read the answer of the agent at {}", socket.display())))?;
    statuses(socket, &answer).map(Some)
}

/// Sends a request to the agent behind `socket`; `None` if no agent listens there any longer.
fn connect(socket: &Path, request: &[u8]) -> Result<Option<UnixStream>, Error> {
    let ask = format!("ask the agent at {}", socket.display());
    let mut stream = match UnixStream::connect(socket) {
        Ok(stream) => stream,
        Err(error) => {
            let whom = match error.kind() {
                ErrorKind::NotFound | ErrorKind::ConnectionRefused => return Ok(None),
                ErrorKind::PermissionDenied => ", which answers its owner and group (run it with sudo)",
                _ => "",
            };
            return Err(Error::kernel(&(ask + whom))(error));
        }
    };
    match stream.write_all(request) {
        Ok(()) => Ok(Some(stream)),
        // The agent has ended meanwhile, or it has too many clients.
        Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(None),
        Err(error) => Err(Error::kernel(&ask)(error)),
    }
}

fn statuses(socket: &Path, answer: &[u8]) -> Result<Vec<Status>, Error> {
    serde_json::from_slice(answer).map_err(|why| {
        let said = String::from_utf8_lossy(&answer[..answer.len().min(80)]).trim().to_owned();
        let said = if said.is_empty() { "nothing; the agent may have too many clients".into() } else { said };
        Error::NoStatus { socket: socket.into(), why, said }
    })
}

/// A connection over which an agent repeats its status. The descriptor is readable when a new status has arrived.
#[derive(Debug)]
pub struct Watching {
    socket: PathBuf,
    stream: UnixStream,
    /// Bytes of a line that is not complete yet.
    pending: Vec<u8>,
}

descriptor_of!(Watching, stream);

impl Watching {
    /// Watches the agent behind `socket`; `None` if no agent listens there any longer.
    ///
    /// # Errors
    /// As for [`status`].
    pub fn begin(socket: &Path) -> Result<Option<Self>, Error> {
        let Some(stream) = connect(socket, b"watch\n")? else { return Ok(None) };
        let watch = format!("watch the agent at {}", socket.display());
        stream.set_nonblocking(true).map_err(Error::kernel(&watch))?;
        Ok(Some(Self { socket: socket.into(), stream, pending: Vec::new() }))
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Returns the newest status if a new one has arrived. Does not wait.
    ///
    /// # Errors
    /// [`Error::Gone`] if the agent has ended; another error if it sent no valid status.
    pub fn newest(&mut self) -> Result<Option<Vec<Status>>, Error> {
        let gone = || Error::Gone { name: format!("the agent at {}", self.socket.display()) };
        let mut part = [0; 1 << 14];
        loop {
            match self.stream.read(&mut part) {
                Ok(0) => return Err(gone()),
                Ok(length) => self.pending.extend_from_slice(&part[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(gone()),
            }
            refuse_if!(self.pending.len() > LONGEST, Err(Error::EndlessStatus { socket: self.socket.clone() }));
        }
        let Some(end) = self.pending.iter().rposition(|&byte| byte == b'\n') else { return Ok(None) };
        let begin = self.pending[..end].iter().rposition(|&byte| byte == b'\n').map_or(0, |before| before + 1);
        let newest = statuses(&self.socket, &self.pending[begin..end])?;
        self.pending.drain(..=end);
        Ok(Some(newest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::now;
    use crate::telemetry::serve::{Address, Listener, Serves, WATCH_EVERY};
    use crate::telemetry::status::tests::busy;
    use std::os::unix::net::{UnixDatagram, UnixListener};

    #[test]
    fn an_agent_is_found_and_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = socket(folder.path(), 7);
        let mut server = Listener::open(Address::Path(path.clone()), Serves::Everything).unwrap().listen().unwrap();
        drop(UnixListener::bind(folder.path().join("metrics.sock")).unwrap());
        drop(UnixListener::bind(socket(folder.path(), 6)).unwrap());
        assert_eq!(sockets(folder.path()).unwrap(), [socket(folder.path(), 6), path.clone()]);
        assert!(sockets(&folder.path().join("none")).unwrap().is_empty());
        assert_eq!(status(&socket(folder.path(), 6)).unwrap(), None, "its agent was killed");
        let asking = std::thread::spawn(move || status(&path).unwrap());
        while !asking.is_finished() {
            server.ready(now(), &[busy()]);
        }
        assert_eq!(asking.join().unwrap(), Some(vec![busy()]));
    }

    #[test]
    fn sockets_go_with_the_process_that_made_them_also_before_they_have_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // Linux numbers processes only up to 4194304.
        let (own, none) = (std::process::id(), i32::MAX);
        let stay = [format!("admission.sock.{own}"), format!("agent-{own}.sock"), "metrics.sock".into()];
        let go = [format!("admission.sock.{none}"), format!("agent-{none}.sock"), format!("agent-{none}.sock.{none}")];
        for name in stay.iter().chain(&go) {
            drop(UnixListener::bind(at(name)).unwrap());
        }
        let left = || {
            forget_killed(folder.path());
            let mut names: Vec<String> = fs::read_dir(folder.path())
                .unwrap()
                .map(|one| one.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let admission = UnixDatagram::bind(at(admission::SOCKET)).unwrap();
        assert_eq!(left(), [&[admission::SOCKET.into()], &stay[..]].concat());
        drop(admission);
        assert_eq!(left(), stay, "nobody has it");
        forget_killed(&folder.path().join("none"));
    }

    #[test]
    fn the_newest_of_several_lines_is_told_and_an_end_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = socket(folder.path(), 7);
        let mut server = Listener::open(Address::Path(path.clone()), Serves::Everything).unwrap().listen().unwrap();
        let mut watching = Watching::begin(&path).unwrap().unwrap();
        assert_eq!(watching.newest().unwrap(), None);
        let (mut now, mut status) = (now(), busy());
        for restarts in 0..3 {
            status.totals.restarts = restarts;
            server.ready(now, &[status.clone()]);
            server.tell(now, &[status.clone()]);
            now += WATCH_EVERY;
        }
        assert_eq!(watching.newest().unwrap(), Some(vec![status]));
        assert_eq!(watching.newest().unwrap(), None);
        drop(server);
        assert!(matches!(watching.newest(), Err(Error::Gone { .. })));
    }

    #[test]
    fn what_is_no_agent_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = socket(folder.path(), 7);
        let listener = UnixListener::bind(&path).unwrap();
        let other = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"220 mail ready\r\n").unwrap();
            let _ = stream.read(&mut [0; 64]);
        });
        let message = status(&path).unwrap_err().to_string();
        other.join().unwrap();
        assert!(message.contains("is not a status") && message.contains("220 mail ready"), "{message}");
    }
}
