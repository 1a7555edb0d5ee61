//! The real `sluice` leaves nothing behind when it ends, however it ends.

use super::program::{Program, nothing_is_left, queue, run, said, until, until_said};
use super::slow_link::Terminal;
use super::{dummy, now, pause_until, shell};
use linux::device::bpf::FOLDER;
use std::process::Command;
use units::Duration;

/// Nothing ever waits on a dummy interface, which does not matter here.
const ATTACH: &str = "--force --replace --backend bpf --set controller=adth --set adth.target_delay=50ms";

fn attached(interface: &str) -> Program {
    Program::attached(&format!("attach {interface} {ATTACH}"), interface)
}

#[test]
#[ignore = "needs the guest"]
fn a_clean_exit_restores_the_former_discipline_exactly() {
    shell("modprobe -a sch_fq_codel sch_cake");
    dummy("one", 1);
    let (terminal, far_end) = Terminal::new("sl0");
    for (former, signal) in [
        ("", "INT"),
        ("handle 7: pfifo limit 77", "TERM"),
        ("handle 8: fq_codel limit 500 flows 64 target 7ms interval 90ms quantum 300 noecn", "HUP"),
        ("handle 9: cake bandwidth 10mbit besteffort dsthost nat wash rtt 60ms", "INT"),
    ] {
        for interface in ["one", "sl0"] {
            if !former.is_empty() {
                shell(&format!("tc qdisc replace dev {interface} root {former}"));
            }
            let before = shell(&format!("tc -j qdisc show dev {interface}"));
            let program = attached(interface);
            program.signal(signal);
            assert_eq!(program.end(), Some(0), "{}", said());
            assert_eq!(shell(&format!("tc -j qdisc show dev {interface}")), before, "{former}, {signal}");
            nothing_is_left();
        }
    }
    drop((terminal, far_end));
    shell("ip link del one");
}

/// Who keeps the lock, another agent in use, does not keep the former queue away.
#[test]
#[ignore = "needs the guest"]
fn an_agent_that_cannot_unload_says_that_the_queue_is_back_and_what_stays() {
    dummy("one", 1);
    shell("tc qdisc replace dev one root handle 7: pfifo limit 77");
    let before = shell("tc -j qdisc show dev one");
    let program = attached("one");
    let mut keeper = Command::new("flock").args(["--no-fork", FOLDER, "sleep", "1000"]).spawn().unwrap();
    pause_until(now() + Duration::from_secs(1));
    program.signal("TERM");
    assert_eq!(program.end(), Some(3), "{}", said());
    assert_eq!(shell("tc -j qdisc show dev one"), before);
    let words = said();
    assert!(words.contains("the former queue is back, but parts") && !words.contains("not restored"), "{words}");
    keeper.kill().unwrap();
    keeper.wait().unwrap();
    run("detach one");
    nothing_is_left();
    shell("ip link del one");
}

/// Each attempt waits four seconds for a lock that another process keeps.
#[test]
#[ignore = "needs the guest"]
fn an_agent_of_many_interfaces_that_all_keep_it_waiting_ends_when_it_is_told() {
    let interfaces: Vec<String> = (1..=8).map(|number| format!("one{number}")).collect();
    for (name, network) in interfaces.iter().zip(100..) {
        dummy(name, network);
    }
    let table = |name: &String| format!("[interface.{name}]\nbackend = \"bpf\"\nforce = true\n");
    std::fs::write("/tmp/many.toml", interfaces.iter().map(table).collect::<String>()).unwrap();
    shell(&format!("mkdir -m 700 {FOLDER}"));
    let mut keeper = Command::new("flock").args(["--no-fork", FOLDER, "sleep", "1000"]).spawn().unwrap();
    let program = Program::start("agent --config /tmp/many.toml");
    pause_until(now() + Duration::from_secs(6));
    program.signal("TERM");
    let told = now();
    assert_eq!(program.end(), Some(0), "{}", said());
    let took = now().since(told);
    assert!(took < Duration::from_secs(6) && said().contains("one1"), "{took}: {}", said());
    keeper.kill().unwrap();
    keeper.wait().unwrap();
    shell(&format!("rmdir {FOLDER}"));
    nothing_is_left();
    for name in &interfaces {
        shell(&format!("ip link del {name}"));
    }
}

/// The interface has four transmit queues, of which the kernel uses the first and shows all.
#[test]
#[ignore = "needs the guest"]
fn mq_comes_back_with_its_queues_and_its_place_is_said() {
    shell("modprobe -a ifb sch_fq_codel; ip link add many numtxqueues 4 type ifb; ip link set many up");
    let all = || shell("tc -j qdisc show dev many");
    assert!(all().matches("parent").count() >= 4 && all().contains("\"mq\""), "{}", all());
    assert!(shell("/tmp/sluice doctor many").contains("many has 4 transmit queues"));
    for (former, backend) in [("", "bpf"), ("handle 1: mq", "bpf"), ("handle 1: mq", "fifo")] {
        if !former.is_empty() {
            shell(&format!("tc qdisc replace dev many root {former}"));
        }
        let before = all();
        let program = Program::start(&format!("attach many --backend {backend} --controller ebdp"));
        until("our queue", || queue("many").contains("\"handle\":\"51"));
        assert!(said().contains("one queue under one lock"), "{}", said());
        program.stop();
        assert_eq!(all(), before, "{former}, {backend}");
        nothing_is_left();
    }
    // What a user put below it would not come back.
    shell("tc qdisc add dev many parent 1:2 handle 12: fq_codel");
    let before = all();
    assert_eq!(run("attach many --backend bpf --controller ebdp"), Some(2), "{}", said());
    assert!(said().contains("fq_codel"), "{}", said());
    assert_eq!(all(), before);
    shell("ip link del many");
}

/// Checks that it ends by itself, with status 3 and these words, and leaves nothing behind.
fn ends(program: Program, words: &str) {
    assert_eq!(program.end(), Some(3), "{}", said());
    assert!(said().contains(words), "{}", said());
    nothing_is_left();
}

#[test]
#[ignore = "needs the guest"]
fn an_interface_that_goes_is_reported() {
    for how in ["ip link del one", "ip netns add away; ip link set one netns away; ip netns del away", "rmmod dummy"] {
        dummy("one", 1);
        let program = attached("one");
        shell(how);
        ends(program, "one is gone");
    }
}

#[test]
#[ignore = "needs the guest"]
fn an_interface_that_is_renamed_is_reported_and_has_its_former_queue_back() {
    dummy("one", 1);
    shell("tc qdisc replace dev one root handle 7: pfifo limit 77");
    let before = queue("one");
    let program = attached("one");
    shell("ip link set one name uno");
    ends(program, "one is called uno now");
    assert_eq!(queue("uno"), before);
    shell("ip link del uno");
}

#[test]
#[ignore = "needs the guest"]
fn a_driver_that_is_removed_is_reported() {
    shell("modprobe mac80211_hwsim radios=1; ip link set wlan0 up");
    let program = attached("wlan0");
    shell("rmmod mac80211_hwsim");
    ends(program, "wlan0 is gone");

    let (terminal, far_end) = Terminal::new("sl0");
    let program = attached("sl0");
    // While a terminal is attached the driver is in use.
    shell("! rmmod slip");
    drop((terminal, far_end));
    ends(program, "sl0 is gone");
    shell("rmmod slip");
}

#[test]
#[ignore = "needs the guest"]
fn a_queue_that_another_program_replaces_is_reported_and_stays() {
    dummy("one", 1);
    let program = attached("one");
    shell("tc qdisc replace dev one root handle 9: pfifo limit 99");
    let theirs = queue("one");
    ends(program, "another program replaced Sluice's queue of one by pfifo");
    assert_eq!(queue("one"), theirs);
    shell("ip link del one");
}

#[test]
#[ignore = "needs the guest"]
fn without_privilege_it_says_so_and_changes_nothing() {
    dummy("one", 1);
    shell("tc qdisc replace dev one root handle 7: pfifo limit 77");
    let before = queue("one");
    for (backend, lacks) in [("auto", "CAP_NET_ADMIN"), ("bpf", "CAP_PERFMON"), ("fifo", "CAP_NET_ADMIN")] {
        let attach = format!("attach one --force --backend {backend} --set controller=adth");
        let command = format!("setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/sluice {attach} 2>&1 && false");
        let shown = shell(&format!("{{ {command}; }} || echo status $?"));
        let why = format!("{lacks}: run the command with sudo");
        assert!(shown.contains("status 3") && shown.contains(&why), "{backend}: {shown}");
        assert_eq!(queue("one"), before);
        nothing_is_left();
    }
    shell("ip link del one");
}

#[test]
#[ignore = "needs the guest"]
fn what_a_killed_agent_left_is_put_back_by_detach() {
    dummy("one", 1);
    shell("tc qdisc replace dev one root handle 7: pfifo limit 77");
    let before = queue("one");
    for name in ["one", "uno"] {
        attached("one").kill();
        pause_until(now() + Duration::from_millis(100));
        assert!(queue("one").contains("sluice"));
        shell(&format!("ip link set one name {name}"));
        assert_eq!(run(&format!("detach {name}")), Some(0), "{}", said());
        assert_eq!(queue(name), before);
        nothing_is_left();
    }
    // The next agent restores it, too, and then attaches.
    attached("uno").kill();
    shell("ip link set uno name one");
    let next = attached("one");
    pause_until(now() + Duration::from_secs(1));
    next.stop();
    assert_eq!(queue("one"), before);
    nothing_is_left();
    shell("ip link del one");
}

/// It does not need the privileges that it has given up: programs are then loaded again, read, and removed.
#[test]
#[ignore = "needs the guest"]
fn an_agent_with_few_powers_left_reloads_follows_an_interface_that_returns_and_restores() {
    const CONFIG: &str = "/tmp/agent.toml";
    let configure = |limit: u32| {
        let queue = format!("limit = {limit}\ncontroller = \"adth\"");
        let config = format!("[interface.one]\nforce = true\nbackend = \"bpf\"\n[interface.one.queue]\n{queue}\n");
        std::fs::write(CONFIG, config).unwrap();
    };
    dummy("one", 1);
    shell("ip link set one up; tc qdisc replace dev one root handle 7: pfifo limit 77");
    let before = queue("one");
    configure(500);
    let program = Program::attached("agent --config /tmp/agent.toml", "one");
    until_said("one attached", 1);
    pause_until(now() + Duration::from_millis(500));
    let held = program.held();
    // CAP_NET_ADMIN, CAP_PERFMON and CAP_BPF.
    let kept = 1_u64 << 12 | 1 << 38 | 1 << 39;
    for line in [format!("CapEff:\t{kept:016x}"), format!("CapPrm:\t{kept:016x}"), "NoNewPrivs:\t1".into()] {
        assert!(held.contains(&line), "{line}: {held}");
    }
    assert!(held.contains("Seccomp:\t2"), "{held}");
    configure(400);
    program.signal("HUP");
    until_said("without losing waiting packets", 1);
    shell("ip link del one");
    until_said("one gone", 1);
    dummy("one", 1);
    shell("ip link set one up; tc qdisc replace dev one root handle 7: pfifo limit 77");
    // It may have taken up the new interface before that queue came, and says so then.
    program.signal("HUP");
    until_said("one attached", 2);
    until("our queue", || {
        program.signal("HUP");
        pause_until(now() + Duration::from_millis(100));
        queue("one").contains("sluice")
    });
    program.signal("QUIT");
    assert_eq!(program.end(), Some(0), "{}", said());
    assert_eq!(queue("one"), before);
    nothing_is_left();
    shell("ip link del one");
}
