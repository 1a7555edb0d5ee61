//! `sluice trial` on a real link of this machine, in network namespaces: a veth pair whose other end answers echoes, slowed
//! down by htb and offered twice as much as it carries.

use crate::command::{sluice, stderr, stdout};
use crate::live::{interface, queues};
use crate::namespace::{end, machine_to_itself, ran_in_namespace, run, shell};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The other end of the link, and what is sent to it. The default queue of 80 packets of 1 kB is 330 ms long.
struct Link {
    far: Child,
    enough: Arc<AtomicBool>,
}

impl Link {
    fn new() -> Option<Self> {
        interface()?;
        let far = Command::new("unshare").args(["-n", "sleep", "600"]).spawn().expect("the machine plays along");
        let id = far.id();
        // Until it is in a namespace of its own.
        while std::fs::read_link(format!("/proc/{id}/ns/net")).ok() == std::fs::read_link("/proc/self/ns/net").ok() {}
        run(&format!("ip link set v1 netns {id}"));
        for line in ["ip addr add 10.9.0.2/24 dev v1", "ip link set v1 up"] {
            run(&format!("nsenter -t {id} -n {line}"));
        }
        run("ip neigh del 10.9.0.2 dev v0");
        run("tc qdisc replace dev v0 root handle 1: htb default 10");
        run("tc class add dev v0 parent 1: classid 1:10 htb rate 2mbit burst 2k cburst 2k");
        run("tc qdisc add dev v0 parent 1:10 handle 10: pfifo limit 80");
        let enough = Arc::new(AtomicBool::new(false));
        std::thread::spawn({
            let enough = Arc::clone(&enough);
            move || {
                // The kernel lets a socket have about 90 packets in the queue.
                let socket = || UdpSocket::bind("10.9.0.1:0").expect("the machine plays along");
                let sockets: Vec<UdpSocket> = (0..13).map(|_| socket()).collect();
                #[expect(clippy::disallowed_methods, reason = "a real link takes real time")]
                let begun = std::time::Instant::now();
                // By the clock: on a busy machine what is late comes in a burst. 562 packets a second are 4.5 Mb/s.
                for (number, socket) in (0_u64..).zip(sockets.iter().cycle()) {
                    while begun.elapsed().as_micros() < u128::from(number) * 1_779 {
                        #[expect(clippy::disallowed_methods, reason = "a real link takes real time")]
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                    let _ = socket.send_to(&[0; 972], "10.9.0.2:9");
                    if enough.load(Ordering::Relaxed) {
                        break;
                    }
                }
            }
        });
        Some(Self { far, enough })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        let _ = self.far.kill();
        let _ = self.far.wait();
    }
}

fn trial(folder: &Path, words: &str) -> Command {
    let mut command = sluice(folder);
    command.args("trial v0 --parent 1:10 --state state --ping 10.9.0.2".split(' ')).args(words.split(' '));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    format!("{:?}\n{}{}", output.status.code(), stdout(output), stderr(output))
}

#[test]
fn a_trial_says_which_queue_is_better_and_ends_where_one_does_harm() {
    let _machine = machine_to_itself();
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(_link) = Link::new() else { return };
    let (folder, before) = (tempfile::tempdir().unwrap(), queues());
    // Nine of twelve rounds are enough: four echoes of five are lost, and a block may have none.
    let words = "--arms default,limit=20 --block 4s --for 96s --until-known --out one.json --report one.html";
    let output = trial(folder.path(), words).output().unwrap();
    assert_eq!((output.status.code(), queues()), (Some(0), before.clone()), "{}", said(&output));
    let text = stdout(&output);
    assert!(text.starts_with("limit=20 improves the 95th percentile of the round-trip time: "), "{}", said(&output));
    assert!(text.contains("queueing delay"), "{text}");
    let file = std::fs::read_to_string(folder.path().join("one.json")).unwrap();
    assert!(!file.contains("10.9.0") && !file.contains("v0"), "{file}");
    assert!(std::fs::read_to_string(folder.path().join("one.html")).unwrap().contains("<svg"));
    let pooled = sluice(folder.path()).args(["trial", "--pool", "one.json", "one.json"]).output().unwrap();
    assert!(stdout(&pooled).starts_with("limit=20 improves"), "{}", said(&pooled));
    let of_arm = |arm: &str, low: f64, high: f64| {
        format!(r#"{{"forecast":{{"arms":[{{"name":"{arm}","echo":{{"low":{low},"high":{high}}}}}]}}}}"#)
    };
    for (forecast, code, words) in [
        (of_arm("limit=20", 0.01, 0.99), 0, "RTT p99 with limit=20: forecast 0.01 to 0.99 times, measured 0."),
        (of_arm("limit=20", 0.01, 0.99), 0, ", inside.\n"),
        (of_arm("limit=20", 90.0, 900.0), 0, ", outside.\n"),
        (of_arm("turns", 0.1, 1.0), 0, "No queue of the trial has a forecast"),
        (r#"{"forecast":{"arms":[]}}"#.to_owned(), 2, "its measurements did not suffice"),
        ("[1]".to_owned(), 2, "forecast.json is not a forecast: expected the output of `sluice forecast --json`"),
    ] {
        std::fs::write(folder.path().join("forecast.json"), forecast).unwrap();
        let given = ["trial", "--pool", "one.json", "one.json", "--forecast", "forecast.json"];
        let beside = sluice(folder.path()).args(given).output().unwrap();
        assert!(beside.status.code() == Some(code) && said(&beside).contains(words), "{}", said(&beside));
    }
    let state = || std::fs::read_dir(folder.path().join("state")).unwrap().count();
    assert_eq!(state(), 0, "nothing is left behind");

    // The kernel's own pfifo holds a thousand packets, of which the last waits for four seconds.
    let output = trial(folder.path(), "--arms default,pfifo --block 12s --for 48s").output().unwrap();
    assert_eq!((output.status.code(), queues(), state()), (Some(3), before, 0), "{}", said(&output));
    let ended = |why: &str| {
        stderr(&output).contains(&format!("the trial ended, and v0 has its former queue back: with pfifo, {why}"))
    };
    assert!(ended("no ping was answered") || said(&output).contains("of the pings are lost"), "{}", said(&output));
}

/// Waits until an arm of ours is set up.
fn wait_for_ours(child: &mut Child) {
    while !queues().contains("\"handle\":\"51") {
        assert!(child.try_wait().expect("the machine plays along").is_none(), "it ended early");
    }
}

#[test]
fn what_ends_a_trial_leaves_nothing_that_the_next_does_not_mend() {
    let _machine = machine_to_itself();
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(_link) = Link::new() else { return };
    let (folder, before) = (tempfile::tempdir().unwrap(), queues());
    let words = "--arms default,limit=20,pfifo_or_not --block 2s";
    let output = trial(folder.path(), words).output().unwrap();
    assert_eq!((output.status.code(), queues()), (Some(2), before.clone()), "{}", said(&output));
    let held = "--arms default,limit=20 --block 2s --for 40s";
    for round in 0..3 {
        let mut child = trial(folder.path(), held).spawn().unwrap();
        wait_for_ours(&mut child);
        if round == 0 {
            let second = trial(folder.path(), held).output().unwrap();
            assert_eq!(second.status.code(), Some(2), "{}", said(&second));
            assert!(stderr(&second).contains("v0 is on trial already"), "{}", said(&second));
        }
        assert_eq!(end(&mut child, "KILL"), None);
        assert_ne!(queues(), before);
        // The next one mends that first, and restores at Ctrl-C.
        let mut next = trial(folder.path(), held).spawn().unwrap();
        while queues() != before {
            assert!(next.try_wait().unwrap().is_none(), "it ended early");
        }
        wait_for_ours(&mut next);
        assert_eq!(end(&mut next, "INT"), Some(0));
        assert_eq!(queues(), before);
        assert_eq!(std::fs::read_dir(folder.path().join("state")).unwrap().count(), 0);
    }

    // Where nothing can be written, nothing is changed.
    let output = trial(folder.path(), &format!("{held} --out /proc/one.json")).output().unwrap();
    assert_eq!((output.status.code(), queues()), (Some(2), before.clone()), "{}", said(&output));
    let full = "mkdir full && mount -t tmpfs -o size=8k none full && mkdir -m 711 full/state && (cat /dev/zero > full/all || true) && \
                exec \"$0\" trial v0 --parent 1:10 --ping 10.9.0.2 --arms default,limit=20 --block 2s --for 9s --state full/state";
    let mut shelled = Command::new("unshare");
    shelled.args(["-m", "sh", "-c", full]).arg(env!("CARGO_BIN_EXE_sluice")).current_dir(folder.path());
    let output = shelled.output().unwrap();
    assert_eq!((output.status.code(), queues()), (Some(3), before), "{}", said(&output));
    assert!(stderr(&output).contains("keep the former queue"), "{}", said(&output));

    let mut child = trial(folder.path(), held).spawn().unwrap();
    wait_for_ours(&mut child);
    run("ip link del v0");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(stderr(&output).contains("v0 is gone"), "{}", said(&output));
    let output = trial(folder.path(), held).output().unwrap();
    assert!(stderr(&output).contains("no interface \"v0\""), "{}", said(&output));
    assert!(!stdout(&shell("ip link")).contains("v0"));
}

#[test]
fn a_trial_that_does_not_begin_leaves_a_former_result() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("one.json");
    std::fs::write(&kept, "former").unwrap();
    for out in ["one.json", "."] {
        let words = ["trial", "nosuch0", "--arms", "default,pfifo", "--state", "state", "--out", out];
        let output = sluice(folder.path()).args(words).output().unwrap();
        assert_ne!(output.status.code(), Some(0), "{}", said(&output));
    }
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "former");
}
