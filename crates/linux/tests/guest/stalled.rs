//! Describes a process that does not end: its threads, other tasks in the kernel, stacks that cannot be interrupted.

use super::kernel_log::Log;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a thread waits for, its system call and its stack in the kernel; nanoseconds on a processor, nanoseconds in the
/// queue for one, and turns; see `proc(5)`.
const FILES: [&str; 4] = ["wchan", "syscall", "schedstat", "stack"];
/// Its state, the signals that wait for it, and whether it waits or computes.
const STATUS: [&str; 5] = ["State", "SigPnd", "ShdPnd", "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"];
/// Lines of the machine's threads that run or wait in the kernel.
const BUSY: &str = "cat /proc/loadavg; grep -E 'MemFree|MemAvailable' /proc/meminfo; \
                    ps -eLo pid,tid,stat,time,wchan:32,comm | awk 'NR == 1 || $3 ~ /^[RD]/'";

/// Describes a process, and the machine at this instant.
pub(super) fn described(process: u32) -> String {
    let mut said = vec![format!("process {process}:")];
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    for thread in threads.map(|thread| thread.path()) {
        said.push(thread.display().to_string());
        said.extend(FILES.map(|name| format!("{name}: {}", read(&thread.join(name)))));
        let status = read(&thread.join("status"));
        let wanted = |line: &&str| line.split_once(':').is_some_and(|(name, _)| STATUS.contains(&name));
        said.extend(status.lines().filter(wanted).map(Into::into));
        said.push(format!("clock ticks in user mode and in the kernel: {}", times(&read(&thread.join("stat")))));
    }
    let busy = Command::new("sh").arg("-c").arg(BUSY).output().unwrap();
    said.push(String::from_utf8_lossy(&busy.stdout).into_owned());
    let log = Log::from_now();
    // The stacks of tasks that wait without being able to be interrupted.
    fs::write("/proc/sysrq-trigger", "w").unwrap();
    said.extend(log.messages());
    said.join("\n")
}

/// Clock ticks that a process has spent in user mode and in the kernel.
pub(super) fn computed(process: u32) -> String {
    times(&read(Path::new(&format!("/proc/{process}/stat"))))
}

fn read(file: &Path) -> String {
    // It may have ended since.
    fs::read_to_string(file).unwrap_or_else(|error| error.to_string()).trim().into()
}

/// Fields 14 and 15 of `stat`; the program's name before them may contain anything.
fn times(stat: &str) -> String {
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().skip(11).take(2).collect::<Vec<_>>().join(" ")
}
