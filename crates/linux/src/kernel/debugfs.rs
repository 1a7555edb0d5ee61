//! Files of mac80211 in debugfs that change airtime queue limits (AQL), as in Linux 7.2 (`net/mac80211/debugfs.c`).

use crate::error::Error;
use rustix::fs::{Mode, chmod, stat};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};

/// Folder at which debugfs is mounted.
pub(crate) const DEBUGFS: &str = "/sys/kernel/debug";
/// Access categories in the order of mac80211 and of its files.
pub(crate) const CATEGORIES: [&str; 4] = ["vo", "vi", "be", "bk"];
/// Maximum number of bytes that are read from a file.
const LONGEST: u64 = 4_096;
/// Files of a phy about AQL: the first two from Linux 5.5 on, `aql_enable` from 5.10, `aql_pending` from 6.1.
pub(crate) const AQL_FILES: [&str; 4] = [LIMITS, THRESHOLD, "aql_enable", "aql_pending"];
/// File with the limits of each category.
const LIMITS: &str = "aql_txq_limit";
/// File with the airtime of all stations above which each has its lower limit.
const THRESHOLD: &str = "aql_threshold";

/// Limits of the airtime that may be pending below mac80211; all times are in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AqlSettings {
    /// Lower and upper limit of a station for each category.
    pub(crate) limits: [(u32, u32); 4],
    /// Pending airtime of all stations above which each has its lower limit.
    pub(crate) threshold: u32,
}

/// A phy's AQL files. They also apply to stations without limits of their own.
#[derive(Clone, Debug)]
pub(crate) struct Aql {
    folder: PathBuf,
}

impl Aql {
    pub(crate) fn of(phy: &str) -> Self {
        Self::at(phy_folder(phy))
    }

    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Reads the settings. The error says why they are not available.
    pub(crate) fn read(&self) -> Result<AqlSettings, String> {
        let file = |name| self.folder.join(name);
        let limits = text(&file(LIMITS))?;
        let limits = read_limits(&limits).ok_or_else(|| strange(&file(LIMITS)))?;
        let threshold = text(&file(THRESHOLD))?;
        let threshold = threshold.trim().parse().map_err(|_| strange(&file(THRESHOLD)))?;
        Ok(AqlSettings { limits, threshold })
    }

    /// Writes those settings in which `to` differs from `now`. Errors: the kernel refuses, or this user may not write.
    pub(crate) fn change(&self, now: &AqlSettings, to: &AqlSettings) -> Result<(), Error> {
        for (category, (now, to)) in now.limits.iter().zip(&to.limits).enumerate() {
            if now != to {
                self.write(LIMITS, &format!("{category} {} {}", to.0, to.1))?;
            }
        }
        if now.threshold == to.threshold { Ok(()) } else { self.write(THRESHOLD, &to.threshold.to_string()) }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let file = self.folder.join(name);
        let what = format!("write {}", file.display());
        write(&file, text).map_err(Error::refused(&what, "root, the owner of debugfs"))
    }
}

pub(crate) fn phy_folder(phy: &str) -> PathBuf {
    Path::new(DEBUGFS).join("ieee80211").join(phy)
}

/// Writes a file whose mode lets its owner only read, as mac80211 makes them. Root without `CAP_DAC_OVERRIDE` has only
/// the owner's rights, and the agent has dropped that capability.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let open = || OpenOptions::new().write(true).open(file);
    let mut opened = match open() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let before = Mode::from_raw_mode(stat(file)?.st_mode);
            chmod(file, before | Mode::WUSR)?;
            let opened = open();
            chmod(file, before)?;
            opened?
        }
        opened => opened?,
    };
    opened.write_all(text.as_bytes())
}

/// Reads a file. The error says why it is not available.
pub(crate) fn text(file: &Path) -> Result<String, String> {
    let mut text = String::new();
    let name = file.file_name().unwrap_or_default().display();
    let read = File::open(file).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    match read.map_err(|error| error.kind()) {
        Ok(_) => Ok(text),
        Err(ErrorKind::PermissionDenied) => Err(format!("only root may read mac80211's file {name}")),
        Err(ErrorKind::NotFound) => Err(format!(
            "mac80211 shows no file {name}: this kernel was built without CONFIG_MAC80211_DEBUGFS or is too old for it, or \
             nothing is mounted at {DEBUGFS}"
        )),
        Err(kind) => Err(format!("{} cannot be read: {kind}", file.display())),
    }
}

/// Returns the error message for a file that cannot be parsed.
pub(crate) fn strange(file: &Path) -> String {
    format!("{} has another format than in Linux 7.2", file.display())
}

/// Parses `aql_txq_limit`: a heading, then lines with a category and both limits; in Linux 7.2 also one for multicast.
fn read_limits(text: &str) -> Option<[(u32, u32); 4]> {
    let mut limits = [None; 4];
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        if let Some(place) = CATEGORIES.iter().position(|category| name.eq_ignore_ascii_case(category)) {
            limits[place] = Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?));
        }
    }
    let [vo, vi, be, bk] = limits;
    Some([vo?, vi?, be?, bk?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::PermissionsExt as _;

    const SHOWN: &str = "AC\tAQL limit low\tAQL limit high\nVO\t5000\t\t12000\nVI\t5001\t\t12001\nBE\t0\t\t3500\nBK\t5003\t\t\
                         12003\nBC/MC\t50000\n";

    #[test]
    fn limits_are_read_as_the_kernel_shows_them_with_and_without_multicast() {
        let expected = [(5_000, 12_000), (5_001, 12_001), (0, 3_500), (5_003, 12_003)];
        assert_eq!(read_limits(SHOWN), Some(expected));
        assert_eq!(read_limits(&SHOWN[..SHOWN.len() - "BC/MC\t50000\n".len()]), Some(expected));
        for broken in ["", "VO 1 2\nVI 1 2\nBE 1 2\n", "VO 1\nVI 1 2\nBE 1 2\nBK 1 2", "VO 1 x\nVI 1 2\nBE 1 2\nBK 1 2"]
        {
            assert_eq!(read_limits(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn what_differs_is_written_also_where_the_mode_forbids_it() {
        let folder = tempfile::tempdir().unwrap();
        let aql = Aql { folder: folder.path().into() };
        let missing = aql.read().unwrap_err();
        assert!(missing.contains("shows no file aql_txq_limit"), "{missing}");
        let [limits, threshold] = [LIMITS, THRESHOLD].map(|name| folder.path().join(name));
        std::fs::write(&limits, SHOWN).unwrap();
        std::fs::write(&threshold, "24000\n").unwrap();
        std::fs::set_permissions(&limits, std::fs::Permissions::from_mode(0o400)).unwrap();
        let before = aql.read().unwrap();
        assert_eq!(before.threshold, 24_000);
        let mut after = before;
        after.limits[2] = (5_000, 12_000);
        aql.change(&before, &after).unwrap();
        // This test's files are plain: a write replaces their text.
        let read = |file: &Path| std::fs::read_to_string(file).unwrap();
        assert!(read(&limits).starts_with("2 5000 12000"), "{}", read(&limits));
        assert_eq!(
            (read(&threshold).as_str(), limits.metadata().unwrap().permissions().mode() & 0o777),
            ("24000\n", 0o400)
        );
        std::fs::remove_file(&threshold).unwrap();
        let error = aql.change(&after, &AqlSettings { threshold: 1, ..after }).unwrap_err().to_string();
        assert!(error.starts_with("cannot write ") && error.contains("aql_threshold: "), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_an_end(text: String, at in 0_usize..80, with: char) {
            let _ = read_limits(&text);
            let mut broken: Vec<char> = SHOWN.chars().collect();
            broken[at] = with;
            let _ = read_limits(&broken.into_iter().collect::<String>());
        }
    }
}
