//! Warnings of the kernel, and findings of its own checks.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Mutex;

/// Messages of this level and below are warnings and errors (syslog).
const WARNING: u64 = 4;
/// Bits of `/proc/sys/kernel/tainted`: a warning, an oops, a bad page, a lock-up.
const HARMED: u64 = 1 << 9 | 1 << 7 | 1 << 5 | 1 << 14;
const KFENCE: &str = "/sys/kernel/debug/kfence/stats";

/// The kernel's messages from an instant on.
pub(super) struct Log {
    messages: Mutex<File>,
}

impl Log {
    pub(super) fn from_now() -> Self {
        let mut options = File::options();
        let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
        let mut messages = options.read(true).custom_flags(nonblocking).open("/dev/kmsg").unwrap();
        std::io::Seek::seek(&mut messages, std::io::SeekFrom::End(0)).unwrap();
        Self { messages: Mutex::new(messages) }
    }

    /// Returns warnings and errors since the last call.
    pub(super) fn complaints(&self) -> Vec<String> {
        let is_complaint = |message: &String| {
            let priority: Option<u64> = message.split(',').next().unwrap().parse().ok();
            priority.is_none_or(|priority| priority % 8 <= WARNING)
        };
        self.messages().into_iter().filter(is_complaint).collect()
    }

    /// Returns all messages since the last call, each after its priority and the like.
    pub(super) fn messages(&self) -> Vec<String> {
        let mut file = self.messages.lock().unwrap();
        let mut messages = Vec::new();
        let mut buffer = [0; 8_192];
        loop {
            match file.read(&mut buffer) {
                Ok(length) => messages.push(String::from_utf8_lossy(&buffer[..length]).into_owned()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return messages,
                // Messages that were overwritten before they could be read.
                Err(error) => messages.push(format!("the kernel's log: {error}")),
            }
        }
    }
}

/// Counts of the kernel's sampling check of memory (KFENCE), if it is on; see `guest.py`.
pub(super) fn checks() -> String {
    super::shell("mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug");
    let stats = std::fs::read_to_string(KFENCE).unwrap_or_default();
    let counts: Vec<&str> = stats.lines().filter(|line| line.contains("enabled") || line.contains("total")).collect();
    format!("KFENCE {}", counts.join(", "))
}

/// Checks that there was no warning, oops, bad page or lock-up since the start, and that no invalid access was seen.
pub(super) fn is_unharmed() {
    let tainted: u64 = std::fs::read_to_string("/proc/sys/kernel/tainted").unwrap().trim().parse().unwrap();
    assert_eq!(tainted & HARMED, 0, "tainted {tainted}");
    let checks = checks();
    assert!(checks.contains("enabled: 1") && checks.contains("total bugs: 0"), "{checks}");
}

#[test]
#[ignore = "needs the guest"]
fn a_warning_of_the_kernel_is_seen_and_a_notice_is_not() {
    let log = Log::from_now();
    let say = |message: &str| File::options().write(true).open("/dev/kmsg").unwrap().write_all(message.as_bytes());
    say("<5>a notice\n").unwrap();
    assert_eq!(log.complaints(), [""; 0]);
    say("<4>a warning\n").unwrap();
    let seen = log.complaints();
    assert!(seen.len() == 1 && seen[0].contains("a warning"), "{seen:?}");
    assert_eq!(log.complaints(), [""; 0]);
}
