//! Admission between agents in three network namespaces in a chain, which need no privilege: A at 10.9.1.1, B at 10.9.1.2 and
//! 10.9.2.1, C at 10.9.2.2.

#![expect(clippy::unwrap_used, reason = "all of this is tests")]

use crate::command::{stderr, stdout};
use crate::namespace::{end, in_namespace, is_own, run};
use linux::admission::message::{Kind, LENGTH, Message, UNBOUNDED};
use linux::kernel::clock::now;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;
use units::Rate;

const C: Ipv4Addr = Ipv4Addr::new(10, 9, 2, 2);
/// Longer than a message and its answer ever take, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);
/// Long enough for an answer that must not come.
const SILENCE: Duration = Duration::from_millis(400);

/// Three machines. A is this process's namespace.
struct Chain {
    folder: tempfile::TempDir,
    b: Child,
    c: Child,
}

/// An agent, and what it says.
struct Agent {
    child: Child,
    log: std::io::Lines<BufReader<ChildStderr>>,
    config: PathBuf,
}

impl Chain {
    /// None where no such interfaces can be made.
    fn new() -> Option<Self> {
        is_own();
        if !Command::new("ip").args("link add va type veth peer name vb1".split(' ')).status().unwrap().success() {
            eprintln!("skipped: no veth interface can be made here");
            return None;
        }
        let machine = || {
            let mut child = Command::new("unshare");
            let mut child =
                child.args(["-n", "sh", "-c", "echo; exec sleep 600"]).stdout(Stdio::piped()).spawn().unwrap();
            // From its first word on it is in its namespace.
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
            child
        };
        let chain = Self { folder: tempfile::tempdir().unwrap(), b: machine(), c: machine() };
        let (b, c) = (chain.b.id(), chain.c.id());
        run("ip link add vb2 type veth peer name vc");
        for (name, process) in [("vb1", b), ("vb2", b), ("vc", c)] {
            run(&format!("ip link set {name} netns {process}"));
        }
        for (process, name, address) in [
            (None, "va", "10.9.1.1"),
            (Some(b), "vb1", "10.9.1.2"),
            (Some(b), "vb2", "10.9.2.1"),
            (Some(c), "vc", "10.9.2.2"),
        ] {
            let inside = process.map_or_else(String::new, |process| format!("nsenter --net=/proc/{process}/ns/net "));
            for line in
                [format!("addr add {address}/24 dev {name}"), format!("link set {name} up"), "link set lo up".into()]
            {
                run(&format!("{inside}ip {line}"));
            }
        }
        run("ip route add 10.9.2.0/24 via 10.9.1.2");
        run(&format!("nsenter --net=/proc/{c}/ns/net ip route add 10.9.1.0/24 via 10.9.2.1"));
        let mut forward = chain.within(Some(b), "sh");
        assert!(forward.args(["-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]).status().unwrap().success());
        Some(chain)
    }

    /// A command on one of the machines.
    fn within(&self, process: Option<u32>, program: &str) -> Command {
        let mut command = match process {
            None => Command::new(program),
            Some(process) => {
                let mut command = Command::new("nsenter");
                command.arg(format!("--net=/proc/{process}/ns/net")).arg(program);
                command
            }
        };
        command.current_dir(self.folder.path());
        command
    }

    /// Starts the agent of a machine, and waits until it listens at all of its interfaces.
    fn agent(&self, process: Option<u32>, name: &str, interfaces: &[&str], more: &str) -> Agent {
        let config = self.folder.path().join(format!("{name}.toml"));
        configure(&config, interfaces, more);
        let mut command = self.within(process, env!("CARGO_BIN_EXE_sluice"));
        command.args(["agent", "--json", "--state", name, "--config"]).arg(&config).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut agent = Agent { child, log, config };
        for interface in interfaces {
            agent.until(interface, "admission");
        }
        agent
    }

    /// Agents on all three, which admit what they are given.
    fn agents(&self, at_most: [&str; 3]) -> [Agent; 3] {
        let [a, b, c] = at_most;
        [
            self.agent(None, "a", &["va"], a),
            self.agent(Some(self.b.id()), "b", &["vb1", "vb2"], b),
            self.agent(Some(self.c.id()), "c", &["vc"], c),
        ]
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        for child in [&mut self.b, &mut self.c] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn configure(config: &Path, interfaces: &[&str], more: &str) {
    std::fs::write(config, format!("[admission]\ninterfaces = {interfaces:?}\n{more}\n")).unwrap();
}

impl Agent {
    /// Reads the log until this happened; the words.
    fn until(&mut self, device: &str, what: &str) -> String {
        for line in self.log.by_ref() {
            let line = line.unwrap();
            let event: serde_json::Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
            if event["device"] == device && event["what"] == what {
                return event["words"].as_str().unwrap().to_owned();
            }
            assert!(event["device"] != device || event["what"] != "failed", "{line}");
        }
        panic!("{device} was never {what}");
    }
}

/// A test that failed must not leave an agent behind, which would keep its output open.
impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// A program of this machine, to its agent.
fn program() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect("127.0.0.1:9478").unwrap();
    socket
}

fn probe(number: u64, destination: Ipv4Addr) -> Message {
    let (source, destination) = (Ipv4Addr::UNSPECIFIED.into(), destination.into());
    Message { kind: Kind::Probe, hops: 0, number, bottleneck: UNBOUNDED, source, destination, port: 0 }
}

/// What comes within a time.
fn hear(socket: &UdpSocket, within: Duration) -> Option<Message> {
    socket.set_read_timeout(Some(within)).unwrap();
    let mut buffer = [0; 100];
    let length = socket.recv(&mut buffer).ok()?;
    Some(Message::read(&buffer[..length]).unwrap())
}

fn ask(socket: &UdpSocket, probe: Message, within: Duration) -> Option<Message> {
    socket.send(&probe.write()).unwrap();
    hear(socket, within)
}

#[test]
fn a_probe_goes_hop_by_hop_and_comes_back_with_the_least() {
    in_namespace("admission::inner_probe");
}

#[test]
#[ignore = "runs in a namespace"]
fn inner_probe() {
    let Some(chain) = Chain::new() else { return };
    let [a, mut b, mut c] = chain.agents(["at_most = \"1 Mb/s\"", "at_most = \"300 kb/s\"", ""]);
    let socket = program();
    let answer = ask(&socket, probe(7, C), PATIENCE).unwrap();
    let expected = Message {
        kind: Kind::Answer,
        // C, B, A: the answer has passed its sender and B.
        hops: 2,
        bottleneck: Rate::kbps(300),
        source: Ipv4Addr::new(10, 9, 1, 1).into(),
        ..probe(7, C)
    };
    assert_eq!(answer, expected);
    // The destination lowers nothing: what it hears, its last neighbour hears, too.
    let near = Ipv4Addr::new(10, 9, 1, 2);
    assert_eq!(ask(&socket, probe(8, near), PATIENCE).unwrap().bottleneck, Rate::mbps(1));

    // A bottleneck of zero, by settings that are read again.
    configure(&b.config, &["vb1", "vb2"], "at_most = \"0 b/s\"");
    run(&format!("kill -HUP {}", b.child.id()));
    let begun = now();
    while ask(&socket, probe(9, C), PATIENCE).unwrap().bottleneck != Rate::bps(0) {
        assert!(now().since(begun).as_secs_f64() < PATIENCE.as_secs_f64());
    }
    // An interface that is no longer named is deaf, and one that is named again answers again.
    configure(&b.config, &["vb1"], "");
    run(&format!("kill -HUP {}", b.child.id()));
    let begun = now();
    while ask(&socket, probe(10, C), SILENCE).is_some() {
        assert!(now().since(begun).as_secs_f64() < PATIENCE.as_secs_f64());
    }
    configure(&b.config, &["vb1", "vb2"], "");
    run(&format!("kill -HUP {}", b.child.id()));
    b.until("vb2", "admission");
    assert_eq!(ask(&socket, probe(11, C), PATIENCE).unwrap().bottleneck, Rate::mbps(1));

    // No route leads there; nobody is there; its agent has died, and is back.
    for destination in [[192, 0, 2, 1], [10, 9, 1, 77]] {
        assert_eq!(ask(&socket, probe(12, destination.into()), SILENCE), None);
    }
    assert_eq!(end(&mut c.child, "KILL"), None);
    assert_eq!(ask(&socket, probe(13, C), SILENCE), None);
    let again = chain.agent(Some(chain.c.id()), "c", &["vc"], "");
    assert_eq!(ask(&socket, probe(14, C), PATIENCE).unwrap().number, 14);

    for mut agent in [a, b, again] {
        assert_eq!(end(&mut agent.child, "TERM"), Some(0));
    }
}

#[test]
fn what_is_forged_cut_off_or_too_much_is_not_answered() {
    in_namespace("admission::inner_forged");
}

#[test]
#[ignore = "runs in a namespace"]
fn inner_forged() {
    let Some(chain) = Chain::new() else { return };
    let _b = chain.agent(Some(chain.b.id()), "b", &["vb1", "vb2"], "");
    let mut c = chain.agent(Some(chain.c.id()), "c", &["vc"], "");
    // What A's agent would be.
    let stranger = UdpSocket::bind("10.9.1.1:9478").unwrap();
    stranger.connect("10.9.1.2:9478").unwrap();
    stranger.set_ttl(255).unwrap();
    let own = Message { hops: 1, source: Ipv4Addr::new(10, 9, 1, 1).into(), ..probe(1, Ipv4Addr::new(10, 9, 1, 2)) };
    let count = |messages: &mut dyn Iterator<Item = Vec<u8>>| {
        for message in messages {
            stranger.send(&message).unwrap();
        }
        let (mut heard, mut buffer) = (0, [0; 100]);
        stranger.set_read_timeout(Some(SILENCE)).unwrap();
        while let Ok(length) = stranger.recv(&mut buffer) {
            assert_eq!(length, LENGTH, "no answer is longer than what it answers");
            heard += 1;
        }
        heard
    };
    let good = own.write().to_vec();
    assert_eq!(count(&mut [good.clone()].into_iter()), 1, "what follows differs from this in one thing each");
    let cut = (0..LENGTH).map(|length| good[..length].to_vec());
    assert_eq!(count(&mut cut.chain([[good.clone(), vec![0]].concat()])), 0);
    // Kinds, versions and addresses other than his own.
    let flipped = [0, 4, 5, 7, 24 + 14, 58].into_iter().map(|at| {
        let mut bytes = good.clone();
        bytes[at] ^= 8;
        bytes
    });
    assert_eq!(count(&mut flipped.into_iter()), 0);
    let for_c = Message { source: C.into(), ..own }.write().to_vec();
    assert_eq!(count(&mut [for_c].into_iter()), 0);
    // As if a router had passed it on.
    stranger.set_ttl(254).unwrap();
    assert_eq!(count(&mut [good.clone()].into_iter()), 0);
    stranger.set_ttl(255).unwrap();
    // 50 at once, and 50 a second.
    let begun = now();
    let heard = count(&mut (0..1_000).map(|_| good.clone()));
    let most = 51.0 + 50.0 * now().since(begun).as_secs_f64();
    assert!((40.0..=most).contains(&f64::from(heard)), "{heard} of 1000 were answered, at most {most} may be");

    // A machine that is not asked through a named interface is deaf: C's agent, at loopback's address and at B's side.
    let mut deaf = chain.within(Some(chain.c.id()), "ss");
    let listening = deaf.args(["-H", "-l", "-u", "-n"]).output().unwrap();
    if listening.status.success() {
        let mut ports: Vec<String> =
            stdout(&listening).lines().map(|line| line.split_whitespace().nth(3).unwrap().into()).collect();
        ports.sort();
        assert_eq!(ports, ["0.0.0.0%vc:9478", "127.0.0.1%lo:9478"], "{}", stderr(&listening));
    }
    assert_eq!(end(&mut c.child, "TERM"), Some(0));
}
