//! Detects when a device is done with a packet: a program, next to the discipline, sees when packets are freed.

use super::maps::{BELOW, MEASURED, kept_as, refused, removed};
use crate::error::Error;
use libbpf_rs::{ObjectBuilder, Result};
use std::io;
use std::path::Path;

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/completion.bpf.o"));
/// Pinned links of the two programs.
const LINKS: [(&str, &str); 2] = [("sluice_consumed", "consumed"), ("sluice_dropped", "dropped")];

/// Loads the programs, unless they are loaded. The kernel keeps them under `folder`, with the discipline's maps.
pub(super) fn watch(folder: &Path) -> std::result::Result<(), Error> {
    if LINKS.iter().all(|(_, link)| folder.join(link).exists()) {
        return Ok(());
    }
    forget(folder).map_err(Error::kernel("trace freed packets"))?;
    load(folder).map_err(|error| refused("trace freed packets", &error))
}

fn load(folder: &Path) -> Result<()> {
    let mut open = ObjectBuilder::default().name("sluice_done")?.open_memory(PROGRAM)?;
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        let name = kept_as(&name);
        if [MEASURED, BELOW].contains(&name) {
            map.reuse_pinned_map(folder.join(name))?;
        }
    }
    let object = open.load()?;
    for program in object.progs_mut() {
        let kept = LINKS.iter().find(|(name, _)| program.name() == *name);
        if let Some((_, link)) = kept {
            program.attach()?.pin(folder.join(link))?;
        }
    }
    Ok(())
}

/// Unloads the programs, if they are loaded.
pub(super) fn forget(folder: &Path) -> io::Result<()> {
    LINKS.iter().try_for_each(|(_, link)| removed(std::fs::remove_file(folder.join(link))))
}
