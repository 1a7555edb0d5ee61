//! Loads the discipline, registers it, keeps it under a folder, and removes it.

use super::completions;
use super::maps::{ELEMENTS, FLIGHTS, KIND, LINK, MEASURED, MOST_BELOW, QUEUES, RING, SETTINGS, SHARED, refused};
use super::marking;
use crate::error::{Error, Taken};
use libbpf_rs::{MapCore, MapMut, Object, ObjectBuilder, OpenObject};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::thread::{Timespec, nanosleep};
use std::fs::File;
use std::io;
use std::path::Path;

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sluice.bpf.o"));
/// How often, a millisecond apart, an agent tries to get what others hold for a small part of a second each.
const LONGEST_WAIT: u32 = 30_000;

/// Prepares the program with rings of `places` places.
pub(super) fn prepared(places: u32) -> libbpf_rs::Result<OpenObject> {
    // Its messages are for developers of BPF; ours say what the user can do.
    libbpf_rs::set_print(None);
    let mut open = ObjectBuilder::default().name("sluice")?.open_memory(PROGRAM)?;
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        match name.as_str() {
            SETTINGS | MEASURED => map.set_max_entries(ELEMENTS)?,
            RING => map.set_max_entries(ELEMENTS * places)?,
            FLIGHTS => map.set_max_entries(QUEUES * MOST_BELOW)?,
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

/// Registers the kind and pins it, and what the agent needs, under `folder`.
pub(super) fn pin(mut object: Object, folder: &Path) -> Result<(), Error> {
    let make = |source| Error::Kernel {
        what: format!("make {} (is a file system of type bpf there?)", folder.display()),
        source,
    };
    std::fs::create_dir_all(folder).map_err(make)?;
    // Left by an agent that was killed while it did this.
    for name in SHARED {
        if let Err(source) = std::fs::remove_file(folder.join(name))
            && source.kind() != io::ErrorKind::NotFound
        {
            return Err(make(source));
        }
    }
    // The link comes last: if it exists, the maps do.
    let keep = |map: &mut MapMut<'_>| match map.name().to_str() {
        Some(name) if SHARED.contains(&name) => map.pin(folder.join(name)),
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

/// Waits until no other agent loads the discipline, takes a slot, makes a queue or unloads, and excludes all others
/// while this is held: a slot must not be taken before its queue is installed, and new pins must not be removed. The
/// lock is on the parent folder, which stays.
pub(super) fn alone(folder: &Path) -> Result<File, Error> {
    let above = folder.parent().unwrap_or(folder);
    let failed = |source: io::Error| Error::Kernel { what: format!("lock {}", above.display()), source };
    let lock = File::open(above).map_err(failed)?;
    let pause = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    for _ in 0..LONGEST_WAIT {
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(lock),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(errno) => return Err(failed(errno.into())),
        }
        // If a signal cuts the pause short, it is only shorter.
        let _ = nanosleep(&pause);
    }
    Err(Taken::Lock { path: above.into() }.into())
}

/// Removes the kind, as far as it exists. The link goes first: without it nobody takes the rest for whole.
pub(super) fn take_away(folder: &Path) -> Result<(), Error> {
    let is_gone = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    let mut names = [LINK].iter().chain(&SHARED);
    completions::forget(folder)
        .and_then(|()| (0..QUEUES).try_for_each(|number| marking::forget(folder, number)))
        .and_then(|()| names.try_for_each(|name| is_gone(std::fs::remove_file(folder.join(name)))))
        .and_then(|()| is_gone(std::fs::remove_dir(folder)))
        .map_err(|source| Error::Kernel { what: "unload the queue discipline".into(), source })
}
