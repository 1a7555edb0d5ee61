//! Files whose locks keep agents apart. The owner of a lock removes the file before it releases the lock. A process
//! that waited for the lock then finds the name gone or taken by a new file, and tries again.

use crate::error::{Error, Taken};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, fchmod, flock, fstat, lstat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use units::refuse_if;

/// Maximum number of attempts to lock a file that other processes keep replacing.
const ATTEMPTS: usize = 100;

/// Opens the file with this name and tries to lock it. Also returns true if that succeeded, false if another process
/// has the lock. `None`: other processes replaced the file at every attempt.
pub(crate) fn locked(path: &Path, flags: OFlags, operation: FlockOperation) -> Result<Option<(File, bool)>, Error> {
    for _ in 0..ATTEMPTS {
        let file = open(path, flags)?;
        let tried = flock(&file, operation);
        if !has_name(&file, path)? {
            // Between the two calls the file's agent has ended or replaced the file.
            continue;
        }
        return match tried {
            Ok(()) => Ok(Some((file, true))),
            Err(Errno::WOULDBLOCK) => Ok(Some((file, false))),
            Err(errno) => Err(failed(path, errno.into())),
        };
    }
    Ok(None)
}

/// Lock of a phy while mac80211's queues or scheduler are governed, or of an interface during `sluice trial`. The file
/// is removed when this value is dropped, or, if the agent was killed, when its settings are restored.
#[derive(Debug)]
pub(crate) struct FileLock {
    path: PathBuf,
    file: File,
}

impl FileLock {
    /// Takes the lock of the phy with this number. Errors: another agent has it.
    pub(crate) fn take(folder: &Path, number: u32) -> Result<Self, Error> {
        Self::at(Self::path(folder, number))?.ok_or_else(|| Taken::Phy { number }.into())
    }

    /// Takes the lock with this name; `None` if another process has it.
    pub(crate) fn at(path: PathBuf) -> Result<Option<Self>, Error> {
        let locked = locked(&path, OFlags::RDWR | OFlags::CREATE, FlockOperation::NonBlockingLockExclusive)?;
        Ok(locked.filter(|(_, is_ours)| *is_ours).map(|(file, _)| Self { path, file }))
    }

    /// Removes the phy's lock file that a killed agent left.
    pub(crate) fn forget(folder: &Path, number: u32) {
        if !matches!(lstat(Self::path(folder, number)), Err(Errno::NOENT)) {
            // If a living agent holds it, the file stays.
            drop(Self::take(folder, number));
        }
    }

    pub(crate) fn path(folder: &Path, number: u32) -> PathBuf {
        folder.join(format!("phy{number}.lock"))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if has_name(&self.file, &self.path).unwrap_or(false) {
            // An empty file does no harm.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens a state file, which must be a regular file of this user. Never blocks, not even on a link or a pipe.
pub(crate) fn open(path: &Path, flags: OFlags) -> Result<File, Error> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let refuse = |why| Err(Error::Distrusted { path: path.into(), why });
    let file = match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
        Err(Errno::LOOP) => return refuse("is a symbolic link, so it cannot be Sluice's state"),
        // The file is a pipe without a reader, or a socket.
        Err(Errno::NXIO) => return refuse("is not a regular file, so it cannot be Sluice's state"),
        file => file.map_err(|errno| failed(path, errno.into()))?,
    };
    let stat = fstat(&file).map_err(|errno| failed(path, errno.into()))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return refuse("is not a regular file, so it cannot be Sluice's state");
    }
    refuse_if!(stat.st_uid != geteuid().as_raw(), refuse("belongs to another user, so it cannot be Sluice's state"));
    refuse_if!(stat.st_nlink > 1, refuse("has several hard links, so it cannot be Sluice's state"));
    // A user who may read the file may also lock it, and could so prevent restoring.
    fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(|errno| failed(path, errno.into()))?;
    Ok(File::from(file))
}

/// True if `path` still names this open file.
pub(crate) fn has_name(file: &File, path: &Path) -> Result<bool, Error> {
    let open = fstat(file).map_err(|errno| failed(path, errno.into()))?;
    match lstat(path) {
        Ok(named) => Ok((open.st_dev, open.st_ino) == (named.st_dev, named.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(failed(path, errno.into())),
    }
}

pub(crate) fn failed(path: &Path, source: io::Error) -> Error {
    let what = format!("keep the former queue in {}", path.display());
    Error::refused(&what, "the folder's user and CAP_NET_ADMIN")(source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_phy_has_one_agent_however_many_come_and_go_and_no_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let is_held = AtomicBool::new(false);
        let comes_and_goes = || {
            let mut turns = 0;
            while turns < 200 {
                let Ok(lock) = FileLock::take(folder.path(), 7) else {
                    std::thread::yield_now();
                    continue;
                };
                assert!(!is_held.swap(true, Ordering::SeqCst), "two agents have one phy");
                turns += 1;
                std::thread::yield_now();
                is_held.store(false, Ordering::SeqCst);
                drop(lock);
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(comes_and_goes))));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let _lock = FileLock::take(folder.path(), 7).unwrap();
        let refused = FileLock::take(folder.path(), 7).unwrap_err().to_string();
        assert!(refused.contains("phy"), "{refused}");
    }

    #[test]
    fn the_lock_of_a_killed_agent_goes_with_the_next_and_is_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = FileLock::path(folder.path(), 7);
        fs::write(&path, "").unwrap();
        drop(FileLock::take(folder.path(), 7).unwrap());
        assert!(!path.exists());
        fs::write(&path, "").unwrap();
        FileLock::forget(folder.path(), 7);
        assert!(!path.exists());
        FileLock::forget(folder.path(), 7);
        let held = FileLock::take(folder.path(), 7).unwrap();
        FileLock::forget(folder.path(), 7);
        assert!(path.exists(), "an agent has it");
        drop(held);
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        assert!(matches!(FileLock::take(folder.path(), 7), Err(Error::Distrusted { .. })));
    }
}
