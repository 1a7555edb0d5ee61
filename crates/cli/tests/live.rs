//! The live commands on this machine's own kernel, in network namespaces that need no privilege. Each test runs itself
//! again inside a namespace; where namespaces or a kind of interface are not allowed, it prints so and passes. The
//! inner tests are therefore ignored by default.

use crate::command::{sluice, stderr, stdout};
use crate::namespace::{end, is_own, ran_in_namespace, run, shell};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Returns an empty folder if `v0` could be made here: a virtual Ethernet interface on which a packet leaves at once.
pub(crate) fn interface() -> Option<TempDir> {
    is_own();
    let made = Command::new("ip").args("link add v0 type veth peer name v1".split(' ')).output();
    if !made.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no veth interface can be made here");
        return None;
    }
    // Otherwise the kernel sends packets of its own, which htb counts among its options.
    run("ip link set v0 addrgenmode none");
    run("ip link set v1 addrgenmode none up");
    run("ip addr add 10.9.0.1/24 dev v0");
    run("ip link set v0 up gso_max_segs 1");
    run("ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev v0");
    tempfile::tempdir().ok()
}

/// Gives v0 a shaper of 5 Mb/s, in whose class packets wait.
pub(crate) fn shape() {
    run("tc qdisc replace dev v0 root handle 1: htb default 10");
    run("tc class add dev v0 parent 1: classid 1:10 htb rate 5mbit burst 2k cburst 2k");
    run("tc qdisc add dev v0 parent 1:10 handle 10: pfifo limit 1000");
}

pub(crate) fn queues() -> String {
    stdout(&shell("tc -j qdisc show dev v0"))
}

/// Starts `sluice attach v0` with more arguments, and waits until it has attached. Packets never wait in the root queue
/// of v0, which does not matter where it is only put in place and removed.
pub(crate) fn attach(folder: &Path, more: &[&str]) -> (Child, BufReader<std::process::ChildStdout>) {
    let before = queues();
    let mut command = sluice(folder);
    command.args(["attach", "v0", "--force", "--json", "--state", "state"]).args(more);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the machine plays along");
    let lines = BufReader::new(child.stdout.take().expect("the machine plays along"));
    while queues() == before || !queues().contains("\"handle\":\"51") {
        assert!(child.try_wait().expect("the machine plays along").is_none(), "it ended and changed nothing");
    }
    (child, lines)
}

#[test]
fn the_former_queue_comes_back_as_it_was() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    let former = ["", "7: pfifo limit 77", "8: bfifo limit 5000", "9: pfifo_head_drop limit 9", "a: pfifo_fast"];
    for (former, signal) in former.iter().zip(["INT", "TERM", "HUP", "QUIT", "TERM"]) {
        if !former.is_empty() {
            run(&format!("tc qdisc replace dev v0 root handle {former}"));
        }
        let before = queues();
        let (mut child, _lines) = attach(folder.path(), &["--set", "limit=50"]);
        assert!(queues().contains("\"pfifo\",\"handle\":\"51ce:\""), "{}", queues());
        assert_eq!(end(&mut child, signal), Some(0));
        assert_eq!(queues(), before, "{former}");
        assert_eq!(std::fs::read_dir(folder.path().join("state")).unwrap().count(), 0, "nothing is left behind");
    }
}

#[test]
fn what_a_killed_agent_left_is_put_back_by_detach_and_by_the_next_agent() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    run("tc qdisc replace dev v0 root handle 7: pfifo limit 77");
    let before = queues();
    let detach = || sluice(folder.path()).args(["detach", "v0", "--state", "state"]).output().unwrap();

    let (mut child, _lines) = attach(folder.path(), &[]);
    let second = sluice(folder.path()).args(["attach", "v0", "--force", "--state", "state"]).output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(stderr(&second).contains("v0 is already governed"), "{}", stderr(&second));
    assert_eq!(end(&mut child, "KILL"), None);
    assert_ne!(queues(), before);
    assert_eq!(stdout(&detach()), "v0 has its former queue back\n");
    assert_eq!(queues(), before);

    let (mut child, _lines) = attach(folder.path(), &[]);
    assert_eq!(end(&mut child, "KILL"), None);
    let (mut next, _lines) = attach(folder.path(), &["--set", "limit=20"]);
    assert_eq!(stdout(&detach()), "v0 has its former queue back\n", "a running agent is ended");
    assert_eq!(next.wait().unwrap().code(), Some(0));
    assert_eq!(queues(), before);
    assert_eq!(stdout(&detach()), "v0 was not governed\n");

    let (mut child, _lines) = attach(folder.path(), &[]);
    assert_eq!(end(&mut child, "KILL"), None);
    // As if the interface had been called u0 then.
    let files = || std::fs::read_dir(folder.path().join("state")).unwrap().map(|file| file.unwrap().path());
    let state = files().find(|path| path.extension().is_some_and(|kind| kind == "json")).unwrap();
    std::fs::rename(&state, state.to_str().unwrap().replace("/v0.", "/u0.")).unwrap();
    let (mut next, _lines) = attach(folder.path(), &["--set", "limit=20"]);
    assert_eq!(end(&mut next, "TERM"), Some(0));
    assert_eq!((queues(), files().count()), (before, 0));
}

#[test]
fn output_that_cannot_be_written_ends_no_governing() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    run("tc qdisc replace dev v0 root handle 7: pfifo limit 77");
    let before = queues();
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let closed = || {
        let (read, write) = std::io::pipe().unwrap();
        drop(read);
        write
    };
    let outputs: [[Stdio; 2]; 3] =
        [[full().into(), full().into()], [Stdio::null(), closed().into()], [closed().into(), full().into()]];
    for (number, [out, err]) in outputs.into_iter().enumerate() {
        let mut command = sluice(folder.path());
        command.args(["attach", "v0", "--force", "--state", "state", "--record", "/dev/full"]);
        let mut child = command.stdout(out).stderr(err).spawn().unwrap();
        let until = std::time::Duration::from_secs(2);
        while !queues().contains("\"handle\":\"51") {
            assert!(child.try_wait().unwrap().is_none(), "{number}: it ended and changed nothing");
        }
        // Longer than one interval of a queue without a controller, so that each has something to write.
        #[expect(clippy::disallowed_methods, reason = "intervals of a real interface take real time")]
        std::thread::sleep(until);
        assert!(child.try_wait().unwrap().is_none(), "{number}: it does not govern any more");
        assert_eq!(end(&mut child, "TERM"), Some(3), "{number}: the recording is not whole");
        assert_eq!(queues(), before, "{number}");
    }
}

/// Returns the largest number of GSO segments of interface v0.
fn segments() -> String {
    let shown = stdout(&shell("ip -d link show dev v0"));
    shown.split("gso_max_segs ").nth(1).and_then(|rest| rest.split(' ').next()).expect("the kernel says it").to_owned()
}

#[test]
fn segments_come_back_after_a_kill_and_a_second_agent() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    run("ip link set v0 gso_max_segs 40");
    for _ in 0..5 {
        let (mut child, _lines) = attach(folder.path(), &["--gso-segments", "1"]);
        while segments() != "1" {}
        assert_eq!(end(&mut child, "KILL"), None);
        let (mut next, _lines) = attach(folder.path(), &["--gso-segments", "2", "--set", "limit=20"]);
        while segments() != "2" {}
        assert_eq!(end(&mut next, "TERM"), Some(0));
        assert_eq!(segments(), "40");
    }
}

#[test]
fn state_that_is_not_ours_is_neither_followed_nor_waited_for_nor_believed() {
    use std::os::unix::fs::PermissionsExt as _;
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    let before = queues();
    let (state, victim) = (folder.path().join("state"), folder.path().join("victim"));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let detach = |words: &[&str]| {
        let output = sluice(folder.path()).arg("detach").args(words).args(["--state", "state"]).output().unwrap();
        (output.status.code(), stdout(&output) + &stderr(&output))
    };

    let (mut child, _lines) = attach(folder.path(), &[]);
    let file = std::fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|kind| kind == "json")).unwrap();
    assert_eq!((mode(&state), mode(&file)), (0o711, 0o600));
    // The number of another process, given again later than in the tick of 10 ms by which the kernel dates starts.
    #[expect(clippy::disallowed_methods, reason = "ticks of the kernel take real time")]
    std::thread::sleep(std::time::Duration::from_millis(30));
    let mut stranger = Command::new("sleep").arg("60").spawn().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let forged = text.replace(&format!("\"process\":{}", child.id()), &format!("\"process\":{}", stranger.id()));
    assert_ne!(forged, text);
    std::fs::write(&file, forged).unwrap();
    let (code, said) = detach(&["v0"]);
    assert!(code == Some(2) && said.contains("did not end within 3 s"), "{said}");
    assert!(stranger.try_wait().unwrap().is_none(), "a process that governs nothing is signalled");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    std::fs::write(&file, text).unwrap();
    assert_eq!(detach(&["v0"]), (Some(0), "v0 has its former queue back\n".into()));
    child.wait().unwrap();

    let attach_refused = |why: &str| {
        let output = sluice(folder.path()).args(["attach", "v0", "--force", "--state", "state"]).output().unwrap();
        assert!(output.status.code() == Some(2) && stderr(&output).contains(why), "{why}: {}", stderr(&output));
        assert_eq!(queues(), before);
    };
    std::fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, &file).unwrap();
    attach_refused("is a symbolic link");
    std::fs::remove_file(&file).unwrap();
    std::fs::hard_link(&victim, &file).unwrap();
    attach_refused("has several hard links");
    std::fs::remove_file(&file).unwrap();
    run(&format!("mkfifo {}", file.display()));
    attach_refused("is not a regular file");
    assert_eq!(detach(&["v0"]).0, Some(2));
    std::fs::remove_file(&file).unwrap();
    run(&format!("chmod 777 {}", state.display()));
    attach_refused("can be written by other users");
    run(&format!("chmod 700 {}", state.display()));
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    for name in ["../x", "..", "a/b", "", "a-name-that-is-too-long"] {
        let (code, said) = detach(&[name]);
        assert!(code == Some(2) && said.contains("cannot be the name of an interface"), "{name}: {said}");
    }
    assert_eq!(detach(&["nosuch"]).0, Some(2));
}

#[test]
fn doctor_advises_nothing_that_takes_away_what_a_user_made() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    let doctor = |words: &[&str]| stdout(&sluice(folder.path()).args(["doctor", "v0"]).args(words).output().unwrap());
    let advice = "sudo sluice attach v0 --parent 2:20 --controller NAME";
    assert!(!doctor(&[]).contains("--controller adth") && doctor(&[]).contains("adth, which starves TCP"));
    assert!(doctor(&[]).contains("tc qdisc add dev v0 root handle 1: htb"), "{}", doctor(&[]));
    run("tc qdisc replace dev v0 root handle 2: htb default 20");
    run("tc class add dev v0 parent 2: classid 2:20 htb rate 5mbit burst 2k cburst 2k");
    let without = doctor(&[]);
    assert!(without.contains("tc qdisc add dev v0 parent CLASS handle 20: pfifo limit 1000"), "{without}");
    assert!(doctor(&["--parent", "2:20"]).contains("tc qdisc add dev v0 parent CLASS"));
    run("tc qdisc add dev v0 parent 2:20 handle 20: pfifo limit 1000");
    for said in [doctor(&[]), doctor(&["--parent", "2:20"])] {
        assert!(said.contains(advice), "{said}");
        assert!(!said.contains(" root ") && !said.contains("--force"), "{said}");
    }
    let before = queues();
    let mut child = sluice(folder.path());
    child.args([
        "attach", "v0", "--parent", "2:20", "--controller", "adth", "--target-delay", "50ms", "--state", "state",
    ]);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while queues() == before {
        assert!(child.try_wait().unwrap().is_none(), "the advice does not work");
    }
    assert_eq!(end(&mut child, "TERM"), Some(0));
    assert_eq!(queues(), before);
}

#[test]
fn detach_says_where_else_an_interface_is_governed() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    shape();
    let before = queues();
    let (mut child, _lines) = attach(folder.path(), &["--parent", "1:10"]);
    let detach =
        |more: &[&str]| sluice(folder.path()).args(["detach", "v0", "--state", "state"]).args(more).output().unwrap();
    let elsewhere = detach(&[]);
    assert_eq!(elsewhere.status.code(), Some(2));
    assert!(stderr(&elsewhere).contains("run `sluice detach v0 --parent 1:10`"), "{}", stderr(&elsewhere));
    let twice = sluice(folder.path())
        .args(["attach", "v0", "--force", "--parent", "1:10", "--state", "state"])
        .output()
        .unwrap();
    assert!(stderr(&twice).contains("run `sluice detach v0 --parent 1:10`"), "{}", stderr(&twice));
    assert_eq!(stdout(&detach(&["--parent", "1:10"])), "v0 has its former queue back\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(queues(), before);
}

#[test]
fn the_former_queue_comes_back_when_the_agent_panics_and_its_device_is_out_of_reach() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    run("tc qdisc replace dev v0 root handle 7: pfifo limit 77");
    let before = queues();
    let (device, parent) = ("v0".to_owned(), linux::kernel::rtnetlink::ROOT);
    let place = linux::Place { device, parent, state_folder: folder.path().to_owned() };
    let restorer = linux::Restorer::new(folder.path(), "v0", parent);
    restorer.restore().unwrap();
    assert_eq!(queues(), before, "there was nothing to put back");
    let (measures, every) = (control::Measures::default(), units::Duration::from_millis(1));
    let start = linux::Start {
        orders: control::Limit::Packets(9).into(),
        measures,
        late_after: None,
        marks: false,
        hops: false,
        classes: false,
        every,
        at: linux::kernel::now(),
    };
    let looks = linux::Looks::open().unwrap();
    let wish = linux::Wish { place, ..linux::Wish::default() };
    let fifo = linux::Fifo::attach(&wish, linux::Kind::Pfifo, &start, &looks).unwrap();
    assert_ne!(queues(), before);
    restorer.restore().unwrap();
    assert_eq!(queues(), before);
    drop(fifo);
    assert_eq!(queues(), before, "what is back stays");
}

#[test]
fn a_queue_that_could_not_come_back_and_a_want_of_privilege_are_refused_and_nothing_is_changed() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    let refused = |command: &mut Command, code: i32, why: &str| {
        let before = queues();
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        assert_eq!(queues(), before);
    };
    let with = |words: &str| {
        let mut command = sluice(folder.path());
        command.args(words.split(' ')).args(["--state", "state"]);
        command
    };
    refused(&mut with("attach v7"), 2, "there is no interface \"v7\", only lo, v1, v0");
    refused(&mut with("attach v0 --force --set discipline=codel"), 2, "use drop-tail or drop-head");
    refused(&mut with("attach v0 --parent 1:10"), 2, "there is no class 1:10 at v0, which has no class");
    let mut powerless = Command::new("setpriv");
    powerless.current_dir(folder.path()).args(["--bounding-set=-all", env!("CARGO_BIN_EXE_sluice")]);
    refused(
        powerless.args(["attach", "v0", "--force", "--state", "state"]),
        3,
        "needs CAP_NET_ADMIN: run the command with sudo",
    );
    run("tc qdisc replace dev v0 root handle 1: htb");
    run("tc class add dev v0 parent 1: classid 1:10 htb rate 5mbit");
    for command in ["attach v0 --force", "attach v0 --dry-run", "record v0 recording", "doctor v0"] {
        let mut missing = sluice(folder.path());
        missing.args(command.split(' ')).args(["--parent", "1:20"]);
        refused(&mut missing, 2, "there is no class 1:20 at v0, which has 1:10");
    }
    refused(&mut with("attach v0 --force --parent 1:10"), 2, "there is no queue with a handle in that class");
    refused(&mut with("attach v0"), 2, "htb cannot be restored from the kernel's description");
}

#[test]
fn every_name_that_the_kernel_allows_is_governed_and_a_transmit_queue_without_length_stays_so() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    for (at, name) in ["wlan-ü-ß", "eth0.20", "😀😀😀", "we\"ird", "x$HOME", "a\\b", "*", "{x}"].iter().enumerate()
    {
        run(&format!("ip link add {name} up txqueuelen 0 type veth peer name p{at}"));
        let shown =
            || stdout(&shell(&format!("tc qdisc show dev {name}"))) + &stdout(&shell(&format!("ip link show {name}")));
        let before = shown();
        assert!(!before.contains("qlen"), "{before}");
        let mut attach = sluice(folder.path());
        attach.args(["attach", name, "--force", "--json", "--state", "state"]).stdout(Stdio::piped());
        let mut child = attach.stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(shown().contains("pfifo 51ce:"), "{name}: {}", shown());
        if at % 2 == 0 {
            assert_eq!(end(&mut child, "TERM"), Some(0));
        } else {
            child.kill().unwrap();
            child.wait().unwrap();
            let detach = sluice(folder.path()).args(["detach", name, "--state", "state"]).output().unwrap();
            assert!(detach.status.success(), "{}", stderr(&detach));
        }
        assert_eq!(shown(), before);
    }
    let findings = sluice(folder.path()).args(["doctor", "v0"]).output().unwrap();
    assert!(stdout(&findings).contains("it is in a user namespace"), "{}", stdout(&findings));
}

#[test]
fn a_queue_in_which_nothing_ever_waits_is_not_governed_unless_that_is_forced() {
    const WHY: &str = "no packet ever waits in this queue of";
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    let with = |words: &str| {
        let mut command = sluice(folder.path());
        command.args(words.split(' ')).args(["--state", "state"]).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    // Queues whose restoring needs the privilege: the kernel's default, and one that a user has put there.
    for former in ["", "7: pfifo limit 77"] {
        if !former.is_empty() {
            run(&format!("tc qdisc replace dev v0 root handle {former}"));
        }
        for device in ["v0", "lo"] {
            let before = queues();
            let output = with(&format!("attach {device}")).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
            let said = stderr(&output);
            assert!(said.contains(WHY) && said.contains("--force (force = true) governs this queue anyway"), "{said}");
            assert!(said.contains(&format!("`sluice doctor {device}` shows alternatives")), "{said}");
            assert_eq!(queues(), before);
        }
        for how in ["--force", "--dry-run"] {
            let mut child = with(&format!("attach v0 {how}")).spawn().unwrap();
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
            let said = [lines.next().unwrap().unwrap(), lines.next().unwrap().unwrap()];
            assert!(said[1].contains(WHY), "{said:?}");
            assert_eq!(end(&mut child, "TERM"), Some(0));
        }
    }
    // Packets wait in a class of a shaper.
    shape();
    let (mut child, _lines) = attach(folder.path(), &["--parent", "1:10"]);
    assert_eq!(end(&mut child, "TERM"), Some(0));
    // As at the root, without turns it takes a controller or a setting there: nothing is governed by none.
    let before = queues();
    let output = with("attach v0 --parent 1:10").output().unwrap();
    let said = stderr(&output);
    assert!(output.status.code() == Some(2) && said.contains("--controller"), "{said}");
    assert_eq!(queues(), before);
    for setting in ["--force", "--set limit=70"] {
        let mut child = with(&format!("attach v0 --parent 1:10 {setting}")).spawn().unwrap();
        let first = BufReader::new(child.stderr.take().unwrap()).lines().next().unwrap().unwrap();
        assert!(child.try_wait().unwrap().is_none(), "{setting}: {first}");
        assert_eq!(end(&mut child, "TERM"), Some(0));
    }
}

#[test]
fn the_limit_that_a_controller_begins_with_holds_from_the_first_moment() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    let settings = ["--controller", "alt", "--set", "alt.initial=20", "--backend", "fifo"];
    let (mut child, _lines) = attach(folder.path(), &settings);
    assert!(queues().contains("\"options\":{\"limit\":20}"), "{}", queues());
    assert_eq!(end(&mut child, "TERM"), Some(0));
}

#[test]
fn large_packets_are_cut_on_request_until_the_end_even_after_a_kill() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    run("ip link set v0 gso_max_segs 40");
    let segments = |n: u32| {
        let link = stdout(&shell("ip -d -j link show dev v0"));
        assert!(link.contains(&format!("\"gso_max_segs\":{n},")), "{link}");
    };
    let cut = ["--gso-segments", "1", "--backend", "fifo"];
    for signal in ["TERM", "KILL"] {
        let (mut child, mut lines) = attach(folder.path(), &cut);
        // The queue comes first, then the segments, then an interval.
        lines.read_line(&mut String::new()).unwrap();
        segments(1);
        end(&mut child, signal);
        let detach = sluice(folder.path()).args(["detach", "v0", "--state", "state"]).output().unwrap();
        assert_eq!(stdout(&detach).contains("has its former queue back"), signal == "KILL");
        segments(40);
    }
}

#[test]
fn a_target_for_a_controller_without_one_and_a_backend_that_is_not_there_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |words: &str| {
        let output = sluice(folder.path()).args(words.split(' ')).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    let said = refusal("attach lo --controller alt --target-delay 50ms --dry-run");
    assert!(said.contains("the controller alt has no target delay; these have one: adth, ebdp, astar"), "{said}");
    let said = refusal("attach lo --target-delay 50ms --dry-run");
    assert!(said.contains("lo: without a controller a target delay sets only the knobs of mac80211"), "{said}");
    let said = refusal("attach lo --backend fifo --target-delay 50ms");
    assert!(said.contains("the controller none has no target delay"), "{said}");
    let said = refusal("attach lo --bulk-delay 50ms --dry-run");
    assert!(said.contains("lo has no stations that take turns, so there is no round to shorten"), "{said}");
    let said = refusal("attach lo --bulk-delay 0s");
    assert!(said.contains("--bulk-delay 0 s: expected a duration above zero"), "{said}");
    let said = refusal("attach lo --set turns.ecn=true");
    assert!(said.contains("--set turns.ecn: it works in simulation only: a BPF queueing discipline may not"), "{said}");
    let said = refusal("attach lo --controller adht");
    assert!(said.contains("none, adth, ebdp, alt, astar"), "{said}");
    let said = refusal("attach lo --backend ebpf");
    assert!(said.contains("expected auto, bpf, fifo"), "{said}");
    if !cfg!(feature = "bpf") {
        let said = refusal("attach lo --force --backend bpf");
        assert!(said.contains("this build of Sluice has no BPF discipline: `make live` builds one with it"), "{said}");
    }
}

#[test]
fn turns_by_their_name_are_what_no_controller_is() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(folder) = interface() else { return };
    let said = |more: &[&str]| {
        let output = sluice(folder.path()).args(["attach", "v0", "--state", "state"]).args(more).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    assert_eq!(said(&["--controller", "turns"]), said(&[]));
    for backend in ["fifo", "txq", "knobs"] {
        let (status, told) = said(&["--controller", "turns", "--backend", backend]);
        assert!(status == Some(2) && told.contains("only `--backend bpf` and `auto` have turns"), "{backend}: {told}");
    }
}
