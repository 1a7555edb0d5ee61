//! The files that a scenario names: looked for beside it, read once, attached to every network that names them.

use super::draft::Draft;
use super::file::read;
use super::missing;
use super::refusal::Refusal;
use sim::config::Network;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// No attached file is larger, in bytes.
const LARGEST: u64 = 256 << 20;

/// Reads every file that one of the networks names, relative to `folder`.
///
/// # Errors
/// The first file that cannot be read, at the key that names it.
pub(super) fn attach<'n>(
    draft: &Draft,
    folder: &Path,
    networks: impl Iterator<Item = &'n mut Network>,
) -> Result<(), Refusal> {
    let mut known: BTreeMap<String, Arc<[u8]>> = BTreeMap::new();
    for network in networks {
        for (key, attachment) in network.attachments() {
            let path = attachment.path().to_owned();
            if !known.contains_key(&path) {
                let file = folder.join(&path);
                let bytes = read(&file, LARGEST).map_err(|error| {
                    if error.kind() == ErrorKind::NotFound {
                        let beside = "the files that a scenario names are looked for in its own folder";
                        return draft.refuse_at(&key, missing::sentence(&file)).note(beside);
                    }
                    draft.refuse_at(&key, format!("`{path}` cannot be read: {error}"))
                })?;
                if bytes.len() as u64 > LARGEST {
                    return Err(draft.refuse_at(&key, format!("`{path}` is larger than {} MiB", LARGEST >> 20)));
                }
                known.insert(path.clone(), bytes.into());
            }
            attachment.attach(Arc::clone(&known[&path]));
        }
    }
    Ok(())
}
