//! A full queue while the settings of the real `sluice` change, or another agent replaces a killed one.

use super::program::{Program, nothing_is_left, queue, said};
use super::slow_link::SlowLink;
use super::{HEADERS, now, pause_until, towards};
use control::Limit;
use linux::STATE_FOLDER;
use linux::telemetry::ask;
use linux::telemetry::status::Status;
use std::path::Path;
use units::Duration;

const CONFIG: &str = "/tmp/agent.toml";
const LEN: usize = 1_000;
const SENT: u64 = 300;
/// An interval of a queue without a controller, and one more.
const SEEN: Duration = Duration::from_millis(2_500);

fn configure(queue: &str) {
    std::fs::write(CONFIG, format!("[interface.sl0]\nbackend = \"bpf\"\n[interface.sl0.queue]\n{queue}\n")).unwrap();
}

fn status() -> Status {
    let sockets = ask::sockets(Path::new(STATE_FOLDER)).unwrap();
    ask::status(&sockets[0]).unwrap().unwrap().remove(0)
}

fn backlog(status: &Status) -> u64 {
    status.last.unwrap().backlog.packets
}

#[test]
#[ignore = "needs the guest"]
fn settings_that_are_read_again_cost_no_packet_that_waits() {
    // Two packets per second.
    let link = SlowLink::new(2 * LEN as u64);
    configure("limit = 1000");
    let program = Program::attached("agent --config /tmp/agent.toml", "sl0");
    let socket = towards(9);
    for _ in 0..SENT {
        socket.send(&[0; LEN - HEADERS]).unwrap();
    }
    pause_until(now() + SEEN);
    let (mut before, handle) = (status(), queue("sl0"));
    assert!(backlog(&before) > SENT - 50, "{before:?}");
    // Another limit; another end to drop from; another controller, with other measurements.
    for (settings, limit) in [
        ("limit = 900", 900),
        ("limit = 900\ndiscipline = \"drop-head\"\npurge = \"none\"", 900),
        ("limit = 800\ncontroller = \"alt\"\nalt = { initial = 700, b1 = 0.001, idle_threshold = 3 }", 700),
    ] {
        configure(settings);
        program.signal("HUP");
        pause_until(now() + SEEN);
        assert!(said().contains("without losing waiting packets"), "{}", said());
        let after = status();
        let Limit::Packets(packets) = after.limit else { panic!("{after:?}") };
        assert!((limit - 5..=limit).contains(&packets), "{after:?}");
        let sent = after.totals.counts.sent.packets - before.totals.counts.sent.packets;
        assert_eq!(after.totals.counts.dropped.packets, 0, "{after:?}");
        assert_eq!(
            after.totals.counts.arrived.packets,
            after.totals.counts.sent.packets + backlog(&after),
            "{after:?}"
        );
        assert!(sent <= 10 && backlog(&after) + sent >= backlog(&before), "{before:?} {after:?}");
        assert_eq!((after.totals.restarts, queue("sl0") == handle), (0, true), "{}", queue("sl0"));
        before = after;
    }
    program.stop();
    nothing_is_left();
    link.end();
}

/// The default limit of a FIFO does not bound turns, at the start and after a reload.
#[test]
#[ignore = "needs the guest"]
fn turns_hold_more_packets_than_a_fifo_and_keep_them_over_a_reload() {
    let link = SlowLink::new(2 * LEN as u64);
    let aim = |seconds| std::fs::write(CONFIG, format!("[interface.sl0]\ntarget_delay = \"{seconds} s\"\n")).unwrap();
    aim(2_000);
    let program = Program::attached("agent --config /tmp/agent.toml", "sl0");
    let socket = towards(9);
    for wait in [1_400, 2_400] {
        for _ in 0..1_500 {
            socket.send(&[0; LEN - HEADERS]).unwrap();
        }
        pause_until(now() + SEEN);
        let status = status();
        assert!(backlog(&status) > wait && status.totals.counts.dropped.packets == 0, "{status:?}");
        aim(3_000);
        program.signal("HUP");
        pause_until(now() + SEEN);
    }
    program.stop();
    nothing_is_left();
    link.end();
}

#[test]
#[ignore = "needs the guest"]
fn a_queue_that_a_killed_agent_left_is_taken_over_with_all_that_waits() {
    let link = SlowLink::new(2 * LEN as u64);
    let before = queue("sl0");
    configure("limit = 1000");
    let command = "agent --config /tmp/agent.toml";
    let program = Program::attached(command, "sl0");
    let socket = towards(9);
    for _ in 0..SENT {
        socket.send(&[0; LEN - HEADERS]).unwrap();
    }
    pause_until(now() + SEEN);
    let (full, handle) = (backlog(&status()), queue("sl0"));
    assert!(full > SENT - 50, "{full}");
    program.kill();
    // The fall-back would hold after 5 s.
    let next = Program::attached(command, "sl0");
    pause_until(now() + SEEN);
    let after = status();
    assert_eq!((queue("sl0"), after.totals.counts.dropped.packets), (handle, 0), "{after:?}");
    assert!(backlog(&after) + 12 >= full, "{full} before, {after:?}");
    next.stop();
    assert_eq!(queue("sl0"), before);
    nothing_is_left();
    link.end();
}
