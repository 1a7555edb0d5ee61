//! Files that a scenario names. Each is read once, and attached to every network that names it.

use super::draft::Draft;
use super::file::Files;
use super::refusal::Refusal;
use flate2::read::MultiGzDecoder;
use sim::config::Network;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::sync::Arc;

/// Largest size of an attached file, in bytes.
const LARGEST: u64 = 256 << 20;

/// Reads every file that a network names. Errors: a file cannot be read; the refusal points at the key that names the
/// first such file.
pub(super) fn attach<'n>(
    draft: &Draft,
    files: &dyn Files,
    networks: impl Iterator<Item = &'n mut Network>,
) -> Result<(), Refusal> {
    let mut known: BTreeMap<String, Arc<[u8]>> = BTreeMap::new();
    for network in networks {
        for (key, attachment) in network.attachments() {
            let path = attachment.path().to_owned();
            if !known.contains_key(&path) {
                let bytes = files.read(Path::new(&path), LARGEST).map_err(|error| {
                    if error.kind() == ErrorKind::NotFound {
                        let beside = "the files that a scenario names are looked for in its own folder";
                        return draft.refuse_at(&key, error.to_string()).note(beside);
                    }
                    draft.refuse_at(&key, format!("`{path}` cannot be read: {error}"))
                })?;
                let bytes = opened(bytes)
                    .map_err(|error| draft.refuse_at(&key, format!("`{path}` cannot be decompressed: {error}")))?;
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

/// Returns the contents of a file, decompressed if it is gzip, as captures and movement files often are. Returns at
/// most one byte more than the largest allowed size.
fn opened(bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1F, 0x8B]) {
        return Ok(bytes);
    }
    let mut content = Vec::new();
    MultiGzDecoder::new(bytes.as_slice()).take(LARGEST + 1).read_to_end(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write as _;

    fn gzipped(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).expect("a vector takes all");
        encoder.finish().expect("a vector takes all")
    }

    #[test]
    fn what_gzip_has_compressed_is_decompressed_and_all_else_stays() {
        for content in [&b""[..], b"$node_(0) set X_ 1", &[0; 10_000]] {
            assert_eq!(opened(content.to_vec()).expect("readable"), content);
            assert_eq!(opened(gzipped(content)).expect("readable"), content);
            assert_eq!(opened([gzipped(content), gzipped(b"!")].concat()).expect("readable"), [content, b"!"].concat());
        }
        let whole = gzipped(b"$node_(0) set X_ 1");
        assert!(opened(whole[..whole.len() - 1].to_vec()).is_err());
        assert!(opened(vec![0x1F, 0x8B, 0, 0]).is_err());
    }
}
