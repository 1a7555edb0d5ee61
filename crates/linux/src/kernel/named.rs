//! UNIX sockets that are made before the agent loses the right to make sockets, and get their names later. Naming can
//! be tried again, because a name can be in use, or its folder full.

use super::descriptor_of;
use crate::error::{Error, Taken};
use rustix::fs::{Mode, chmod, rename, stat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, sendto, socket_with};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use units::refuse_if;

/// A socket without a name.
#[derive(Debug)]
pub(crate) struct Unnamed {
    socket: OwnedFd,
    /// Socket that tests if another socket has a name. It can be used any number of times.
    probe: OwnedFd,
    /// Temporary name of the socket, until its mode is set.
    hidden: Option<PathBuf>,
}

/// The file of a socket, which is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Name {
    path: PathBuf,
    inode: u64,
}

impl Unnamed {
    pub(crate) fn open(kind: SocketType) -> Result<Self, Errno> {
        let open = |kind| socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None);
        Ok(Self { socket: open(kind)?, probe: open(SocketType::DGRAM)?, hidden: None })
    }

    /// Gives the socket this name once it can `listen`. The file appears with its final mode, and replaces a file that
    /// belongs to no process. Errors: another socket or another file has the name, or the system refuses.
    pub(crate) fn name(
        &mut self,
        path: &Path,
        mode: Mode,
        listen: impl FnOnce(&OwnedFd) -> Result<(), Errno>,
    ) -> Result<Name, Error> {
        refuse_if!(self.answers(path), Err(Taken::Socket { socket: path.into() }.into()));
        if path.symlink_metadata().is_ok_and(|found| !found.file_type().is_socket()) {
            return Err(Error::Distrusted { path: path.into(), why: "exists and is not a socket" });
        }
        let named = (|| {
            let hidden = match &self.hidden {
                Some(hidden) => hidden,
                None => self.hidden.insert(bind_hidden(&self.socket, path)?),
            };
            chmod(hidden, mode)?;
            listen(&self.socket)?;
            let inode = stat(hidden)?.st_ino;
            rename(hidden, path)?;
            Ok(Name { path: path.into(), inode })
        })();
        named.map_err(Error::kernel::<Errno>(&format!("listen at {}", path.display())))
    }

    /// True if a living process has a socket of this name.
    fn answers(&self, path: &Path) -> bool {
        let empty = |address: &SocketAddrUnix| sendto(&self.probe, &[], SendFlags::DONTWAIT, address);
        // With these errors the socket is of another type, or its queue is full.
        matches!(SocketAddrUnix::new(path).and_then(|it| empty(&it)), Ok(_) | Err(Errno::PROTOTYPE | Errno::AGAIN))
    }
}

/// True if a socket's file belongs to no living process.
pub(crate) fn is_nobodys(path: &Path) -> bool {
    Unnamed::open(SocketType::DGRAM).is_ok_and(|socket| !socket.answers(path))
}

fn bind_hidden(socket: &OwnedFd, path: &Path) -> Result<PathBuf, Errno> {
    let mut hidden = path.as_os_str().to_owned();
    hidden.push(format!(".{}", std::process::id()));
    let hidden = PathBuf::from(hidden);
    let _ = std::fs::remove_file(&hidden);
    bind(socket, &SocketAddrUnix::new(&hidden)?)?;
    Ok(hidden)
}

descriptor_of!(Unnamed, socket);

impl Drop for Unnamed {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            let _ = std::fs::remove_file(hidden);
        }
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        if stat(&self.path).is_ok_and(|found| found.st_ino == self.inode) {
            // If the file remains, the next socket replaces it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
