//! Loads the discipline, registers it, keeps it in a folder, and removes it.

use super::completions;
use super::maps::{ELEMENTS, KIND, LINK, MEASURED, QUEUES, RING, SETTINGS, SHARED, kept_as, refused, removed};
use super::marking;
use crate::error::{Error, Taken};
use crate::kernel::{Patience, random};
use libbpf_rs::{MapCore, MapMut, Object, ObjectBuilder, OpenObject};
use rustix::fs::{CWD, FileType, FlockOperation, Mode, RenameFlags, Stat, flock, fstat, lstat, renameat_with, statfs};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::{DirBuilder, File, remove_dir};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use units::Duration;

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sluice.bpf.o"));
/// Longest attempt to get a lock that others hold briefly. It is shorter than the time after which a watchdog fires.
const LONGEST_WAIT: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_millis(1);
/// Mode of the folder. A user who may open the folder may lock it, and one who may write may replace its files.
const FOLDER_MODE: u32 = 0o700;
/// Type of sysfs in `statfs` (magic.h).
const SYSFS: u64 = 0x6265_6572;

/// Prepares the program with `places` entries in each ring.
pub(super) fn prepared(places: u32) -> libbpf_rs::Result<OpenObject> {
    // libbpf's messages are for developers of BPF; Sluice's say what the user can do.
    libbpf_rs::set_print(None);
    let mut open = ObjectBuilder::default().name("sluice")?.open_memory(PROGRAM)?;
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        match name.as_str() {
            SETTINGS | MEASURED => map.set_max_entries(ELEMENTS)?,
            RING => map.set_max_entries(ELEMENTS * places)?,
            _ if name.ends_with(".rodata") => {
                map.initial_value_mut()
                    .and_then(|constants| constants.get_mut(..4))
                    .expect("the program has one constant of four bytes")
                    .copy_from_slice(&(places - 1).to_ne_bytes());
            }
            _ => {}
        }
    }
    Ok(open)
}

/// Registers the discipline, and pins it and what the agent needs in `folder`.
pub(super) fn pin(mut object: Object, folder: &Path) -> Result<(), Error> {
    own(folder)?;
    // These pins are from an agent that was killed while it pinned.
    for name in SHARED {
        removed(std::fs::remove_file(folder.join(name))).map_err(|source| failed(folder, source))?;
    }
    // The link is pinned last: if it exists, so do the maps.
    let keep = |map: &mut MapMut<'_>| match map.name().to_str() {
        Some(name) if SHARED.contains(&kept_as(name)) => map.pin(folder.join(kept_as(name))),
        _ => Ok(()),
    };
    let register = |map: &mut MapMut<'_>| match map.name().to_str() {
        Some(KIND) => map.attach_struct_ops()?.pin(folder.join(LINK)),
        _ => Ok(()),
    };
    let kept = object.maps_mut().try_for_each(|mut map| keep(&mut map));
    let registered = kept.and_then(|()| object.maps_mut().try_for_each(|mut map| register(&mut map)));
    registered.map_err(|error| refused("register", &error))
}

/// Makes the folder for this user alone. Any user may write to the file system (mode 1777), so another user may have
/// made a folder of this name first. If the kernel allows, that folder is moved aside, else refused. A folder in which
/// others may add or remove files is refused, too. Returns false if the folder has just been unloaded.
fn own(folder: &Path) -> Result<bool, Error> {
    let above = folder.parent().unwrap_or(folder);
    match DirBuilder::new().mode(FOLDER_MODE).create(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound && above.exists() => {
            // If nothing is mounted at the path above, it is in sysfs, where no folder can be made.
            let mounted = !statfs(above).is_ok_and(|kind| u64::try_from(kind.f_type) == Ok(SYSFS));
            let why = "has no file system of type bpf (mount -t bpf bpf /sys/fs/bpf), so it keeps no queue discipline";
            return if mounted { Ok(false) } else { Err(Error::Distrusted { path: above.into(), why }) };
        }
        Err(error) => return Err(failed(folder, error)),
    }
    for (path, may_be_sticky) in [(folder, false), (above, true)] {
        let stat = match lstat(path) {
            Err(Errno::NOENT) => return Ok(false),
            stat => stat.map_err(|errno| failed(path, errno.into()))?,
        };
        let mode = Mode::from_raw_mode(stat.st_mode);
        let is_open = mode.intersects(Mode::WGRP | Mode::WOTH) && !(may_be_sticky && mode.contains(Mode::SVTX));
        let refuse = |why| Err(Error::Distrusted { path: path.into(), why });
        let is_own = stat.st_uid == 0 || stat.st_uid == geteuid().as_raw();
        if !is_own && path == folder && put_aside(folder) {
            return Ok(false);
        }
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return refuse("is not a folder, so it cannot keep the queue discipline");
        }
        if !is_own {
            return refuse("belongs to another user, so it cannot keep the queue discipline");
        }
        if is_open {
            return refuse("can be written by other users, so it cannot keep the queue discipline");
        }
    }
    Ok(true)
}

/// Puts a folder of this user in the place of another user's, as the parent folder's owner may. Nobody can undo it.
fn put_aside(folder: &Path) -> bool {
    let Ok(name) = random() else { return false };
    // File systems of type bpf refuse names with a dot.
    let own = folder.with_file_name(format!("sluice-{name:016x}"));
    let made = DirBuilder::new().mode(FOLDER_MODE).create(&own);
    let is_done = made.is_ok() && renameat_with(CWD, &own, CWD, folder, RenameFlags::EXCHANGE).is_ok();
    // This is our folder, or an empty one of the other user.
    let _ = remove_dir(own);
    is_done
}

/// Waits until no other agent loads the discipline, takes a slot, makes a queue or unloads. All other agents are kept
/// away while the result is held, so that no slot is taken twice and no new pins are removed. The lock is on the
/// folder: no other user can open it, and it disappears with the discipline.
pub(super) fn alone(folder: &Path) -> Result<File, Error> {
    let patience = Patience::new(LONGEST_WAIT, PAUSE);
    loop {
        let opened = if own(folder)? { File::open(folder) } else { Err(io::ErrorKind::NotFound.into()) };
        match opened {
            Ok(lock) => match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if is_still(&lock, folder) => return Ok(lock),
                Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(errno) => return Err(failed(folder, errno.into())),
            },
            // Another agent has just unloaded it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(folder, error)),
        }
        if !patience.lasts() {
            return Err(Taken::Lock { path: folder.into() }.into());
        }
    }
}

/// True if the path still names the folder that was opened.
fn is_still(opened: &File, folder: &Path) -> bool {
    let same = |opened: Stat, now: Stat| (opened.st_dev, opened.st_ino) == (now.st_dev, now.st_ino);
    matches!((fstat(opened), lstat(folder)), (Ok(opened), Ok(now)) if same(opened, now))
}

fn failed(folder: &Path, source: io::Error) -> Error {
    let what = format!("keep the queue discipline in the folder {} of type bpf", folder.display());
    Error::refused(&what, "the folder's user")(source)
}

/// Removes what exists of the discipline, the link first: without the link no agent takes the rest for complete.
pub(super) fn take_away(folder: &Path) -> Result<(), Error> {
    let mut names = [LINK].iter().chain(&SHARED);
    completions::forget(folder)
        .and_then(|()| (0..QUEUES).try_for_each(|number| marking::forget(folder, number)))
        .and_then(|()| names.try_for_each(|name| removed(std::fs::remove_file(folder.join(name)))))
        .and_then(|()| removed(std::fs::remove_dir(folder)))
        .map_err(Error::kernel("unload the queue discipline"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

    #[test]
    fn what_another_user_made_first_is_put_aside_and_one_that_is_open_to_others_refused() {
        let above = tempfile::tempdir().unwrap();
        std::fs::set_permissions(above.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
        let folder = above.path().join("sluice");
        let made: [&dyn Fn(); 3] = [
            &|| std::fs::create_dir(&folder).unwrap(),
            &|| {
                std::fs::create_dir(&folder).unwrap();
                std::fs::write(folder.join("link"), "").unwrap();
            },
            &|| symlink("/etc", &folder).unwrap(),
        ];
        for make in made {
            make();
            if rustix::fs::chownat(
                CWD,
                &folder,
                Some(rustix::fs::Uid::from_raw(4_242)),
                None,
                rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
            )
            .is_err()
            {
                eprintln!("skipped: only root can make what another user has");
                return;
            }
            drop(alone(&folder).unwrap());
            let of = std::fs::symlink_metadata(&folder).unwrap();
            assert!(of.is_dir() && of.uid() == geteuid().as_raw() && of.mode() & 0o7777 == FOLDER_MODE);
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
            remove_dir(&folder).unwrap();
        }
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        let refused = own(&folder).unwrap_err().to_string();
        assert!(refused.contains("can be written by other users"), "{refused}");
        remove_dir(&folder).unwrap();
        // This owner does not own the folder above.
        chown(above.path(), Some(4_242), None).unwrap();
        let refused = own(&folder).unwrap_err().to_string();
        assert!(refused.contains("belongs to another user"), "{refused}");
    }
}
