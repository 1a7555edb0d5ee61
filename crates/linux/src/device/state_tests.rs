//! A state file has either its old or its new contents, wherever writing stops, and belongs to one agent.

use super::*;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Output};
use std::sync::atomic::{AtomicBool, Ordering};

const DEVICE: &str = "v0";
/// Environment variable with the folder in which a test's part in another process works.
const FOLDER: &str = "SLUICE_TEST_FOLDER";
const CALL: &str = "SLUICE_TEST_CALL";
/// Exit code of the other process after a successful write; [`REFUSED`] is that after a failed one.
const WRITTEN: i32 = 10;
const REFUSED: i32 = 11;

/// A former queue with this handle. The texts of the two former queues differ in length.
fn former(handle: u32) -> Former {
    let text = format!(
        r#"{{"device":"v0","index":7,"parent":{ROOT},"qdisc":{{"kind":"pfifo","handle":{handle},"options":null}},"ours":1}}"#
    );
    serde_json::from_str(&text).unwrap()
}

fn before() -> Former {
    former(0x7_0000)
}

fn after() -> Former {
    former(0xff_0000)
}

/// Returns the recorded former queue, without its lock.
fn kept(folder: &Path) -> Option<Former> {
    let text = fs::read_to_string(path(folder, DEVICE, ROOT).unwrap()).ok()?;
    Some(serde_json::from_str::<Kept>(&text).unwrap_or_else(|why| panic!("{why}: {text:?}")).former)
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Makes a folder in which a killed agent left [`before`].
fn left() -> (tempfile::TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("state");
    State::lock(&folder, DEVICE, ROOT).unwrap().0.keep(&before()).unwrap();
    assert_eq!(kept(&folder), Some(before()));
    // A process that another test starts inherits the lock until it executes its own program.
    let file = fs::File::open(path(&folder, DEVICE, ROOT).unwrap()).unwrap();
    file.lock().unwrap();
    file.unlock().unwrap();
    (temporary, folder)
}

/// Runs an ignored test of this file in another process.
fn run(command: &mut Command, inner: &str, folder: &Path) -> Output {
    let inner = format!("device::state::tests::{inner}");
    command.env(FOLDER, folder).args(["--ignored", "--exact", "--nocapture", &inner]).output().unwrap()
}

fn own() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

fn folder() -> PathBuf {
    std::env::var_os(FOLDER).expect("it runs in another process only").into()
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod stopped {
    use super::*;
    use nix::libc;
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

    /// System calls that write a state file, each with all its names.
    #[cfg(target_arch = "x86_64")]
    const CALLS: [(&str, &[libc::c_long]); 7] = [
        ("unlink", &[libc::SYS_unlink, libc::SYS_unlinkat]),
        ("open", &[libc::SYS_open, libc::SYS_openat]),
        ("fstat", &[libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx]),
        ("flock", &[libc::SYS_flock]),
        ("write", &[libc::SYS_write]),
        ("fsync", &[libc::SYS_fsync]),
        ("rename", &[libc::SYS_rename, libc::SYS_renameat, libc::SYS_renameat2]),
    ];
    #[cfg(target_arch = "aarch64")]
    const CALLS: [(&str, &[libc::c_long]); 7] = [
        ("unlink", &[libc::SYS_unlinkat]),
        ("open", &[libc::SYS_openat]),
        ("fstat", &[libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx]),
        ("flock", &[libc::SYS_flock]),
        ("write", &[libc::SYS_write]),
        ("fsync", &[libc::SYS_fsync]),
        ("rename", &[libc::SYS_renameat, libc::SYS_renameat2]),
    ];

    #[test]
    fn a_kill_or_a_full_disk_at_any_system_call_of_writing_leaves_the_former_queue_written_down() {
        for (name, _) in CALLS {
            for action in ["kill", "full"] {
                let (_temporary, folder) = left();
                let output = run(own().env(CALL, format!("{action} {name}")), "stopped::inner_stopped", &folder);
                let status: ExitStatus = output.status;
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                match action {
                    "kill" => assert_eq!(status.signal(), Some(libc::SIGSYS), "{name}: {status} {said}"),
                    _ => assert!(matches!(status.code(), Some(WRITTEN | REFUSED)), "{name}: {status} {said}"),
                }
                let found = kept(&folder).unwrap_or_else(|| panic!("{action} {name}: nothing is written down"));
                let expected = if status.code() == Some(WRITTEN) { after() } else { before() };
                assert_eq!(found, expected, "{action} {name}");
                // The next agent finds the record and whatever else the stopped one left, and removes all of it.
                let (state, left) = State::left(&folder, DEVICE, ROOT).unwrap().unwrap();
                assert_eq!(left.former, expected, "{action} {name}");
                state.forget().unwrap();
                assert_eq!(names(&folder), [""; 0], "{action} {name}");
            }
        }
    }

    #[test]
    #[ignore = "runs in another process"]
    fn inner_stopped() {
        let wanted = std::env::var_os(CALL).unwrap().into_string().unwrap();
        let (action, name) = wanted.split_once(' ').unwrap();
        let (_, calls) = CALLS.into_iter().find(|(known, _)| *known == name).unwrap();
        let action = match action {
            "kill" => SeccompAction::KillProcess,
            _ => SeccompAction::Errno(libc::ENOSPC.unsigned_abs()),
        };
        let (mut state, found) = State::take(&folder(), DEVICE, ROOT, OFlags::empty()).unwrap();
        assert_eq!(found.unwrap().former, before());
        let rules = calls.iter().map(|call| (*call, Vec::new())).collect();
        let architecture = std::env::consts::ARCH.try_into().unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, architecture).unwrap();
        apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        // The thread may be unable to report anything else.
        std::process::exit(if state.keep(&after()).is_ok() { WRITTEN } else { REFUSED });
    }
}

/// Runs a test in a mount namespace of its own, if that needs no privilege.
#[test]
fn on_a_full_file_system_what_is_there_stays_and_is_put_back() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("state");
    fs::create_dir(&folder).unwrap();
    let inside = "mount -t tmpfs -o size=32k,nr_inodes=6,mode=710 none \"$SLUICE_TEST_FOLDER\" && exec \"$0\" \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", inside]).arg(std::env::current_exe().unwrap());
    let output = run(&mut command, "inner_full", &folder);
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if said.contains("Operation not permitted") || said.contains("permission denied") {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "runs in mounts of its own"]
fn inner_full() {
    let folder = folder();
    let (mut state, _) = State::lock(&folder, DEVICE, ROOT).unwrap();
    state.keep(&before()).unwrap();
    let is_full = |kept: Result<(), Error>, why: io::ErrorKind| {
        assert!(matches!(&kept, Err(Error::Kernel { source, .. }) if source.kind() == why), "{kept:?}");
    };
    // There is no room for bytes.
    fs::write(folder.join("other"), vec![7; 1 << 16]).unwrap_err();
    is_full(state.keep(&after()), io::ErrorKind::StorageFull);
    assert_eq!(kept(&folder), Some(before()));
    drop(state);
    // An agent that starts again fails and destroys nothing; `detach` needs no room.
    assert!(State::lock(&folder, DEVICE, ROOT).is_err());
    assert_eq!(kept(&folder), Some(before()));
    let (mut state, left) = State::left(&folder, DEVICE, ROOT).unwrap().unwrap();
    assert_eq!(left.former, before());
    // There is no room for another file.
    fs::remove_file(folder.join("other")).unwrap();
    let mut others = (0..9).map(|number| fs::write(folder.join(number.to_string()), ""));
    assert!(others.any(|made| made.is_err()));
    is_full(state.keep(&after()), io::ErrorKind::StorageFull);
    assert_eq!(kept(&folder), Some(before()));
    (0..9).for_each(|number| drop(fs::remove_file(folder.join(number.to_string()))));
    state.keep(&after()).unwrap();
    assert_eq!(kept(&folder), Some(after()));
    // A file that someone else has removed is no failure.
    fs::remove_file(path(&folder, DEVICE, ROOT).unwrap()).unwrap();
    state.forget().unwrap();
    assert_eq!(names(&folder), [""; 0]);
}

/// Number of kills of a process that writes all the time: 50, or what `STATE_KILLS` says.
#[test]
fn what_was_written_down_survives_kills_at_any_moment() {
    let kills = std::env::var_os("STATE_KILLS").map_or(50, |number| number.to_str().unwrap().parse().unwrap());
    let (_temporary, folder) = left();
    let mut found = [0; 2];
    for kill in 0..kills {
        let mut command = own();
        let inner = "device::state::tests::inner_for_ever";
        command.env(FOLDER, &folder).args(["--ignored", "--exact", inner]).stdout(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        // The child writes its process number into the file.
        let writes = || {
            let text = fs::read_to_string(path(&folder, DEVICE, ROOT).unwrap()).unwrap();
            serde_json::from_str::<Kept>(&text).unwrap().process == child.id()
        };
        while !writes() {}
        // Each kill begins with the other contents than the previous one, so slow disks are tested too.
        let begins_with = if kill % 2 == 0 { before() } else { after() };
        while kept(&folder).as_ref() != Some(&begins_with) {}
        // The child writes some files in up to 20 ms; the steps let kills fall at any point of a write.
        let pause = rustix::time::Timespec { tv_sec: 0, tv_nsec: (kill * 104_729) % 20_000_000 };
        let _ = rustix::thread::nanosleep(&pause);
        child.kill().unwrap();
        child.wait().unwrap();
        let now = kept(&folder).expect("it is written down at every moment");
        assert!(now == before() || now == after());
        found[usize::from(now == after())] += 1;
        assert_eq!(State::left(&folder, DEVICE, ROOT).unwrap().unwrap().1.former, now);
    }
    assert!(found.iter().all(|times| *times > 0), "{found:?}: it was not killed while it wrote");
    eprintln!("{kills} kills, {} and {} of the two contents found", found[0], found[1]);
}

#[test]
#[ignore = "runs in another process"]
fn inner_for_ever() {
    let (mut state, _) = State::lock(&folder(), DEVICE, ROOT).unwrap();
    loop {
        state.keep(&after()).unwrap();
        state.keep(&before()).unwrap();
    }
}

/// Between the opening of a file and its locking, another agent may end and a third one begin.
#[test]
fn a_place_has_one_agent_however_many_come_and_go() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("state");
    let is_held = AtomicBool::new(false);
    // Each agent succeeds a few times, however often another one holds the lock.
    let comes_and_goes = || {
        let mut turns = 0;
        while turns < 50 {
            let Ok((mut state, _)) = State::lock(&folder, DEVICE, ROOT) else {
                std::thread::yield_now();
                continue;
            };
            assert!(!is_held.swap(true, Ordering::SeqCst), "two agents have one place");
            if turns % 2 == 0 {
                state.keep(&before()).unwrap();
            }
            turns += 1;
            std::thread::yield_now();
            is_held.store(false, Ordering::SeqCst);
            state.forget().unwrap();
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(comes_and_goes))));
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn of_an_agent_that_was_killed_while_it_wrote_its_first_file_nothing_stays() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("state");
    make_state_folder(&folder).unwrap();
    let path = path(&folder, DEVICE, ROOT).unwrap();
    for file in [&new_path(&path), &path] {
        fs::write(file, "").unwrap();
    }
    assert!(State::left(&folder, DEVICE, ROOT).unwrap().is_none());
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn looking_for_what_is_left_makes_no_file_and_no_folder() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("state");
    assert!(State::left(&folder, DEVICE, ROOT).unwrap().is_none());
    assert!(!folder.exists());
    let (state, _) = State::lock(&folder, DEVICE, ROOT).unwrap();
    assert!(State::left(&folder, DEVICE, ROOT).is_err(), "an agent has it");
    assert_eq!(names(&folder).len(), 1);
    // An agent that has recorded nothing leaves no file.
    drop(state);
    assert_eq!(names(&folder), [""; 0]);
    assert!(agent_at(&folder, DEVICE, ROOT).unwrap().is_none());
}
