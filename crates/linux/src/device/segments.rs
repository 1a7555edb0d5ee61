//! The limit of segments of an interface, which its governed places share: the first of them writes the former limit
//! down, later ones copy it, and the last that is restored gives it back.

use crate::device::former::Former;
use crate::device::state::Kept;
use crate::error::Error;
use crate::kernel::rtnetlink::Route;
use std::fs;
use std::path::Path;

/// Returns the former limit that other places of the interface have written down beside the state file `path`.
pub(crate) fn noted_by_others(path: &Path, former: &Former) -> Option<u32> {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.strip_suffix(".json")?.to_string());
    // The place is the last part of a name.
    let interface = |name: &str| Some(name.rsplit_once('.')?.0.to_string());
    let this = interface(&name(path)?)?;
    let entries = fs::read_dir(path.parent()?).ok()?;
    let others = entries.flatten().map(|entry| entry.path()).filter(|other| {
        other != path && name(other).and_then(|name| interface(&name)).is_some_and(|interface| interface == this)
    });
    let kept = others.filter_map(|other| serde_json::from_slice::<Kept>(&fs::read(other).ok()?).ok());
    kept.filter_map(|kept| kept.former.segments_of(former)).max()
}

/// Restores the former queue of the place with the state file `path`, and the limit of segments if no other place has
/// it in its charge.
pub(crate) fn restore(path: &Path, former: &Former, route: &mut Route) -> Result<(), Error> {
    match noted_by_others(path, former) {
        Some(_) => former.without_segments().restore(route),
        None => former.restore(route),
    }
}
