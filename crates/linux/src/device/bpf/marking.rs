//! Marks real-time packets before their queue, by a program at the interface (tcx): a discipline may not write packets.

use super::maps::{MEASURED, SETTINGS, refused, removed};
use crate::error::Error;
use libbpf_rs::{AsRawLibbpf as _, Link, ObjectBuilder, ProgramMut, Result, libbpf_sys};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/mark.bpf.o"));

/// Returns the path at which a queue's program is pinned.
pub(super) fn kept(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("mark-{number}"))
}

/// Attaches the program to the interface with this number, for queue `number`. The program stays in `folder`, with the
/// discipline's maps, until [`forget`].
pub(super) fn watch(folder: &Path, number: u32, interface: u32) -> std::result::Result<(), Error> {
    // A program that a killed agent left may belong to another interface.
    forget(folder, number).map_err(Error::kernel("mark packets"))?;
    load(folder, number, interface).map_err(|error| refused("mark the packets on their way to", &error))
}

fn load(folder: &Path, number: u32, interface: u32) -> Result<()> {
    let mut open = ObjectBuilder::default().name("sluice_mark")?.open_memory(PROGRAM)?;
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if [SETTINGS, MEASURED].contains(&name.as_str()) {
            map.reuse_pinned_map(folder.join(name))?;
        } else if name.ends_with(".rodata") {
            map.initial_value_mut()
                .and_then(|constants| constants.get_mut(..4))
                .expect("the program has one constant of four bytes")
                .copy_from_slice(&number.to_ne_bytes());
        }
    }
    let object = open.load()?;
    let program = object.progs_mut().next().expect("there is one program");
    attach(&program, interface)?.pin(kept(folder, number))
}

/// Calls a function of libbpf that libbpf-rs lacks.
#[expect(unsafe_code, reason = "libbpf-rs has no attachment of this kind")]
fn attach(program: &ProgramMut<'_>, interface: u32) -> Result<Link> {
    let interface = i32::try_from(interface).map_err(io::Error::other)?;
    // SAFETY: the program is loaded and outlives the call; without options there is nothing else to point to.
    let link = unsafe {
        libbpf_sys::bpf_program__attach_tcx(program.as_libbpf_object().as_ptr(), interface, std::ptr::null())
    };
    let failed = io::Error::last_os_error();
    let link = NonNull::new(link).ok_or(failed)?;
    // SAFETY: libbpf has just made the link, and no other code has it.
    Ok(unsafe { Link::from_ptr(link) })
}

/// Removes the program if it exists.
pub(super) fn forget(folder: &Path, number: u32) -> io::Result<()> {
    removed(std::fs::remove_file(kept(folder, number)))
}
