//! Admission between agents in three network namespaces in a chain, which need no privilege: A at 10.9.1.1, B at 10.9.1.2 and
//! 10.9.2.1, C at 10.9.2.2. In one file, although it is long: one chain serves all of them.

use crate::agent::Agent;
use crate::command::{stderr, stdout};
use crate::namespace::{end, is_own, ran_in_namespace, run, shell};
use linux::admission::message::{Kind, LENGTH, Message, UNBOUNDED};
use linux::kernel::now;
use rustix::net::SocketAddrUnix;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use units::Rate;

const C: Ipv4Addr = Ipv4Addr::new(10, 9, 2, 2);
/// The longest wait for an answer: more than a message and its answer take, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);
/// The wait for an answer that must not come.
const SILENCE: Duration = Duration::from_millis(400);

/// Three machines. A is this process's namespace.
struct Chain {
    folder: tempfile::TempDir,
    b: Child,
    c: Child,
}

impl Chain {
    /// Creates the chain; `None` if such interfaces cannot be made here.
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
            // From its first line of output on, the child is in its namespace.
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

    /// Returns a command that runs on one of the machines.
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
        command.args(["agent", "--json", "--state", name, "--config"]).arg(&config);
        let mut agent = Agent::of(&mut command);
        for interface in interfaces {
            agent.until(interface, "admission");
        }
        agent
    }

    /// Starts agents on all three machines, which admit flows up to these rates.
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

fn reconfigure(chain: &Chain, b: &Agent, interfaces: &[&str], more: &str) {
    configure(&chain.folder.path().join("b.toml"), interfaces, more);
    run(&format!("kill -HUP {}", b.child.id()));
}

/// A program of this machine, to its agent.
fn program(chain: &Chain) -> UnixDatagram {
    let socket = UnixDatagram::unbound().unwrap();
    socket.connect(chain.folder.path().join("a/admission.sock")).unwrap();
    let number: u64 = now().as_nanos();
    rustix::net::bind(&socket, &SocketAddrUnix::new_abstract_name(format!("sluice-{number:016x}").as_bytes()).unwrap())
        .unwrap();
    socket
}

fn probe(number: u64, destination: Ipv4Addr) -> Message {
    let (source, destination) = (Ipv4Addr::UNSPECIFIED.into(), destination.into());
    let (bottleneck, rate) = (UNBOUNDED, Rate::kbps(1));
    Message { kind: Kind::Probe, hops: 0, number, bottleneck, source, destination, port: 0, flow: 9, rate }
}

/// What comes within a time.
fn hear(socket: &UnixDatagram, within: Duration) -> Option<Message> {
    socket.set_read_timeout(Some(within)).unwrap();
    let mut buffer = [0; 100];
    let length = socket.recv(&mut buffer).ok()?;
    Some(Message::read(&buffer[..length]).unwrap())
}

fn ask(socket: &UnixDatagram, probe: Message, within: Duration) -> Option<Message> {
    socket.send(&probe.write()).unwrap();
    hear(socket, within)
}

#[test]
fn a_probe_goes_hop_by_hop_and_comes_back_with_the_least() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(chain) = Chain::new() else { return };
    let [a, mut b, mut c] = chain.agents(["at_most = \"1 Mb/s\"", "at_most = \"300 kb/s\"", ""]);
    let socket = program(&chain);
    let answer = ask(&socket, probe(7, C), PATIENCE).unwrap();
    let expected = Message {
        kind: Kind::Answer,
        // The answer was sent by C and forwarded by B to A.
        hops: 2,
        bottleneck: Rate::kbps(300),
        source: Ipv4Addr::new(10, 9, 1, 1).into(),
        ..probe(7, C)
    };
    assert_eq!(answer, expected);
    // The destination does not lower the rate: its last neighbour hears everything that it hears.
    let near = Ipv4Addr::new(10, 9, 1, 2);
    assert_eq!(ask(&socket, probe(8, near), PATIENCE).unwrap().bottleneck, Rate::mbps(1));

    // A bottleneck of zero, by a configuration that is read again.
    reconfigure(&chain, &b, &["vb1", "vb2"], "at_most = \"0 b/s\"");
    let begun = now();
    while ask(&socket, probe(9, C), PATIENCE).unwrap().bottleneck != Rate::bps(0) {
        assert!(now().since(begun).as_secs_f64() < PATIENCE.as_secs_f64());
    }
    // An interface removed from the configuration does not answer, and one that is added again does.
    reconfigure(&chain, &b, &["vb1"], "");
    let begun = now();
    while ask(&socket, probe(10, C), SILENCE).is_some() {
        assert!(now().since(begun).as_secs_f64() < PATIENCE.as_secs_f64());
    }
    reconfigure(&chain, &b, &["vb1", "vb2"], "");
    b.until("vb2", "admission");
    assert_eq!(ask(&socket, probe(11, C), PATIENCE).unwrap().bottleneck, Rate::mbps(1));

    // No route to the destination; no host there; an agent that was killed and started again.
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
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(chain) = Chain::new() else { return };
    let _b = chain.agent(Some(chain.b.id()), "b", &["vb1", "vb2"], "");
    let mut c = chain.agent(Some(chain.c.id()), "c", &["vc"], "");
    // A socket in the place of A's agent.
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
    // Other kinds, versions and addresses than the sender's own.
    let flipped = [0, 4, 5, 7, 24 + 14, 58].into_iter().map(|at| {
        let mut bytes = good.clone();
        bytes[at] ^= 8;
        bytes
    });
    assert_eq!(count(&mut flipped.into_iter()), 0);
    let for_c = Message { source: C.into(), ..own }.write().to_vec();
    assert_eq!(count(&mut [for_c].into_iter()), 0);
    // A TTL as if a router had forwarded the message.
    stranger.set_ttl(254).unwrap();
    assert_eq!(count(&mut [good.clone()].into_iter()), 0);
    stranger.set_ttl(255).unwrap();
    // A burst of 50, and 50 per second.
    let begun = now();
    let heard = count(&mut (0..1_000).map(|_| good.clone()));
    let most = 51.0 + 50.0 * now().since(begun).as_secs_f64();
    assert!((40.0..=most).contains(&f64::from(heard)), "{heard} of 1000 were answered, at most {most} may be");

    // Messages that do not arrive through a named interface get no answer: C's agent, at loopback and at B's side.
    let mut deaf = chain.within(Some(chain.c.id()), "ss");
    let listening = deaf.args(["-H", "-l", "-u", "-n"]).output().unwrap();
    if listening.status.success() {
        let mut ports: Vec<String> =
            stdout(&listening).lines().map(|line| line.split_whitespace().nth(3).unwrap().into()).collect();
        ports.sort();
        assert_eq!(ports, ["0.0.0.0%vc:9478"], "{}", stderr(&listening));
    }
    assert_eq!(end(&mut c.child, "TERM"), Some(0));
}

/// Prints the type-of-service byte of each packet that arrives.
const RECEIVER: &str = "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
s.bind(('10.9.2.2', 5004))
s.settimeout(20)
print('ready', flush=True)
while True:
    print(s.recvmsg(100, 100)[1][0][2][0], flush=True)
";
/// Sends fifty packets per second through one socket and tries to set their class itself.
const SENDER: &str = "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x20)
while True:
    s.sendto(bytes(80), ('10.9.2.2', 5004))
    time.sleep(0.02)
";
const NEW: &str = "190";
const ADMITTED: &str = "186";
const BEST_EFFORT: &str = "0";

/// A receiver of the packets that arrive at C.
struct Receiver {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Receiver {
    fn start(chain: &Chain) -> Self {
        let mut command = chain.within(Some(chain.c.id()), "python3");
        let mut child = command.args(["-c", RECEIVER]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut receiver = Self { child, lines };
        receiver.until("ready");
        receiver
    }

    /// Reads until a packet of this class arrives and returns the packets before it.
    fn until(&mut self, class: &str) -> Vec<String> {
        let mut before = Vec::new();
        // Twenty seconds of the sender's packets.
        while before.len() < 1_000 {
            match self.lines.next() {
                Some(line) if line.as_ref().unwrap() == class => return before,
                line => before.push(line.expect("packets come").unwrap()),
            }
        }
        panic!("no packet of class {class}: {before:?}");
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Chain {
    fn admit(&self, words: &str, command: &[&str]) -> Command {
        let mut admit = self.within(None, env!("CARGO_BIN_EXE_sluice"));
        admit.arg("admit").args(words.split(' '));
        if !words.contains("--state") {
            admit.args(["--state", "a"]);
        }
        admit.arg("--").args(command);
        admit
    }

    /// Runs `sluice admit` and returns its exit status and standard error.
    fn admitted(&self, words: &str, command: &[&str]) -> (Option<i32>, String) {
        let output = self.admit(words, command).output().unwrap();
        (output.status.code(), stderr(&output))
    }
}

/// Starts a command under `sluice admit`, whose steps are read as a log.
fn admitting(chain: &Chain, words: &str, command: &[&str]) -> Agent {
    Agent::of(&mut chain.admit(&format!("{words} --json"), command))
}

impl Agent {
    /// Checks the next steps of the flow.
    fn tells(&mut self, expected: &[&str]) {
        for expected in expected {
            let told = self.next();
            assert_eq!(told["what"], **expected, "{told}");
        }
    }

    /// Returns the next step of the flow.
    fn next(&mut self) -> serde_json::Value {
        serde_json::from_str(&self.log.next().unwrap().unwrap()).unwrap()
    }
}

#[test]
fn a_command_runs_as_real_time_or_not_at_all_and_its_status_is_passed_on() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(chain) = Chain::new() else { return };
    let _agents = chain.agents(["at_most = \"1 Mb/s\"", "at_most = \"300 kb/s\"", ""]);
    let mut receiver = Receiver::start(&chain);
    let flow = "--rate 200kb/s --to 10.9.2.2:5004";

    // All packets, from the first on, are those of a new flow, and after three seconds those of an old one.
    let mut sender = admitting(&chain, &format!("{flow} --new-for 3s"), &["python3", "-c", SENDER]);
    assert_eq!(receiver.until(NEW), [""; 0]);
    assert!(receiver.until(ADMITTED).iter().all(|class| class == NEW));
    assert_eq!(sender.next()["what"], "probe");
    let admitted = sender.next();
    assert_eq!((&admitted["what"], &admitted["bottleneck_bps"]), (&"admit".into(), &300_000.into()), "{admitted}");
    // A signal is passed on, and the exit status is that of the command ended by it.
    assert_eq!(end(&mut sender.child, "TERM"), Some(128 + 15));

    let ran = chain.folder.path().join("ran");
    let touch = ["touch", ran.to_str().unwrap()];
    let refused = chain.admitted("--rate 400kb/s --to 10.9.2.2", &touch);
    assert_eq!(
        refused,
        (Some(10), "refused: the path to 10.9.2.2 can carry 300 kb/s, and the flow asks for 400 kb/s\n".into())
    );
    let (code, said) = chain.admitted("--rate 200kb/s --to 10.9.1.77 --patience 100ms --retries 1", &touch);
    assert!(code == Some(11) && said.contains("no answer from 10.9.1.77"), "{said}");
    let (code, said) = chain.admitted("--rate 200kb/s --to 10.9.2.2 --state none --patience 100ms", &touch);
    assert!(code == Some(11) && said.contains("no agent of this machine listens in none;"), "{said}");
    for wrong in
        ["--rate 0b/s --to 10.9.2.2", "--rate 1Mb/s --to 10.9.2.2:x", "--rate 1Mb/s --to 224.0.0.1", "--rate 1Mb/s"]
    {
        assert_eq!(chain.admitted(wrong, &touch).0, Some(2), "{wrong}");
    }
    assert!(!ran.exists(), "a flow that is refused ran");

    // Refused but run: as best effort, whatever class it sets itself.
    let mut sender =
        admitting(&chain, "--rate 400kb/s --to 10.9.2.2 --refused best-effort", &["python3", "-c", SENDER]);
    receiver.until(BEST_EFFORT);
    assert_eq!(end(&mut sender.child, "INT"), Some(128 + 2));

    assert_eq!(chain.admitted(flow, &["sh", "-c", "exit 7"]).0, Some(7));
    assert_eq!(chain.admitted(flow, &["sh", "-c", "kill -KILL $$"]).0, Some(128 + 9));
    assert_eq!(chain.admitted(flow, &["./no-such-program"]).0, Some(127));
    assert_eq!(chain.admitted(flow, &["/"]).0, Some(126));
    // Processes that the command starts are real time too, with all of their sockets.
    let many = "for i in 1 2 3 4 5; do python3 -c 'import socket
s = [socket.socket(f, k) for f in (socket.AF_INET, socket.AF_INET6) for k in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
assert [x.getsockopt(0, 1) & 0xfc for x in s] == [0xbc] * 4, s
assert not s[0].get_inheritable()' || exit 1; done";
    assert_eq!(
        chain.admitted(flow, &["sh", "-c", many]),
        (Some(0), "admitted: the path to 10.9.2.2 can carry 300 kb/s, and the flow asks for 200 kb/s\n".into())
    );
}

#[test]
fn a_flow_whose_packets_arrive_marked_asks_again_and_goes_on_or_not() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(chain) = Chain::new() else { return };
    let [_a, b, _c] = chain.agents(["", "at_most = \"300 kb/s\"", ""]);
    let mut receiver = Receiver::start(&chain);
    // No queueing discipline of this machine marks packets: the mark is set at the sender, by another socket.
    let marked = UdpSocket::bind("10.9.1.1:0").unwrap();
    rustix::net::sockopt::set_ip_tos(&marked, 46 << 2 | 3).unwrap();
    // A packet that comes alone asks for nothing.
    let mark = || {
        for _ in 0..4 {
            marked.send_to(&[0; 80], "10.9.2.2:5004").unwrap();
            #[expect(clippy::disallowed_methods, reason = "marks of a real interface take real time")]
            std::thread::sleep(Duration::from_millis(70));
        }
    };
    for refused in ["best-effort", "stop"] {
        reconfigure(&chain, &b, &["vb1", "vb2"], "at_most = \"300 kb/s\"");
        let words = format!("--rate 200kb/s --to 10.9.2.2:5004 --refused {refused}");
        let mut sender = admitting(&chain, &words, &["python3", "-c", SENDER]);
        sender.tells(&["probe", "admit"]);
        receiver.until(NEW);
        // Marks on another flow, or on best effort, do not concern this flow.
        marked.send_to(&[0; 80], "10.9.2.2:5006").unwrap();
        mark();
        sender.tells(&["regulate", "probe", "confirm"]);
        reconfigure(&chain, &b, &["vb1", "vb2"], "at_most = \"100 kb/s\"");
        // Repeat until the new settings apply.
        let refusal = loop {
            mark();
            sender.tells(&["regulate", "probe"]);
            let told = sender.next();
            if told["what"] != "confirm" {
                break told;
            }
        };
        assert_eq!((&refusal["what"], &refusal["bottleneck_bps"]), (&"refuse".into(), &100_000.into()), "{refusal}");
        if refused == "stop" {
            assert_eq!(sender.child.wait().unwrap().code(), Some(10));
        } else {
            // The same socket that was real time before.
            receiver.until(BEST_EFFORT);
            assert!(sender.child.try_wait().unwrap().is_none());
            assert_eq!(end(&mut sender.child, "TERM"), Some(128 + 15));
        }
    }
}

/// Sends a message 3,000 times a second for 4 s in the name of each address and port; every second with another flow.
const FORGER: &str = "
import socket, struct, sys, time
message, names = bytes.fromhex(sys.argv[1]), sys.argv[2:]
def total(b):
    s = sum(struct.unpack('>%dH' % (len(b) // 2), b))
    return (s & 0xffff) + (s >> 16)
def packet(name, payload):
    udp = struct.pack('>HHHH', 9478, 9478, 8 + len(payload), 0) + payload
    ip = struct.pack('>BBHHHBBH', 0x45, 0, 20 + len(udp), 1, 0, 255, 17, 0)
    ip += socket.inet_aton(name) + socket.inet_aton('10.9.1.1')
    return ip[:10] + struct.pack('>H', ~total(ip) & 0xffff) + ip[12:] + udp
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
begun, sent = time.time(), 0
while time.time() - begun < 4:
    while sent < (time.time() - begun) * 3000:
        flow = sent.to_bytes(8, 'big') if sent % 2 else message[60:68]
        s.sendto(packet(names[sent % len(names)], message[:60] + flow + message[68:]), ('10.9.1.1', 0))
        sent += 1
    time.sleep(0.001)
print(sent)
";

/// A neighbour on the link asks to regulate in the name of the next hop and of the peer, which he does not hear.
#[test]
fn a_neighbour_who_floods_requests_to_regulate_ends_no_call() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(chain) = Chain::new() else { return };
    let _agents = chain.agents(["", "", ""]);
    let mut call = chain.admit("--rate 100kb/s --to 10.9.2.2:5004 --json", &["sleep", "60"]);
    let mut call = call.stderr(Stdio::piped()).spawn().unwrap();
    let mut steps = BufReader::new(call.stderr.take().unwrap()).lines();
    for expected in ["probe", "admit"] {
        assert!(steps.next().unwrap().unwrap().contains(expected));
    }
    let to_a = Message { kind: Kind::Regulate, hops: 1, source: Ipv4Addr::new(10, 9, 1, 1).into(), ..probe(1, C) };
    let hex = Message { port: 5_004, ..to_a }.write().map(|byte| format!("{byte:02x}")).concat();
    let mut forger = chain.within(Some(chain.b.id()), "python3");
    let output = forger.args(["-c", FORGER, &hex, "10.9.1.2", "10.9.2.2", "10.9.1.77"]).output().unwrap();
    assert!(stdout(&output).trim().parse::<u32>().unwrap() > 4_000, "{}", stderr(&output));
    assert!(call.try_wait().unwrap().is_none(), "the call has ended");
    // The agent answers others as before.
    let (code, said) = chain.admitted("--rate 100kb/s --to 10.9.2.2:5006", &["true"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(end(&mut call, "TERM"), Some(128 + 15));
    let told: Vec<String> = steps.map_while(Result::ok).collect();
    assert!(told.iter().all(|step| !step.contains("regulate") && !step.contains("refuse")), "{told:?}");
}

#[test]
fn flows_together_get_no_more_than_at_most_and_one_that_ends_makes_room() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(chain) = Chain::new() else { return };
    let most = "at_most = \"500 kb/s\"";
    let _agents = chain.agents(["", most, ""]);
    // Eight at the same time, each of 200 kb/s, of which two fit.
    let flow = |port| admitting(&chain, &format!("--rate 200kb/s --to 10.9.2.2:{port}"), &["sleep", "600"]);
    let mut flows: Vec<Agent> = (5_001..5_009).map(flow).collect();
    let mut admitted: Vec<usize> = (0..flows.len())
        .filter(|at| {
            flows[*at].tells(&["probe"]);
            flows[*at].next()["what"] == "admit"
        })
        .collect();
    assert_eq!(admitted.len(), 2, "{admitted:?}");
    for (at, flow) in flows.iter_mut().enumerate().filter(|(at, _)| !admitted.contains(at)) {
        assert_eq!(flow.child.wait().unwrap().code(), Some(10), "{at}");
    }
    // Longer than a probe that is not followed by a word of its flow counts.
    #[expect(clippy::disallowed_methods, reason = "a real agent forgets in real time")]
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(chain.admitted("--rate 200kb/s --to 10.9.2.2:5010", &["true"]).0, Some(10));
    let last = admitted.pop().unwrap();
    assert_eq!(end(&mut flows[last].child, "TERM"), Some(128 + 15));
    assert_eq!(chain.admitted("--rate 200kb/s --to 10.9.2.2:5010", &["true"]).0, Some(0));
    assert_eq!(end(&mut flows[admitted[0]].child, "TERM"), Some(128 + 15));
}

#[test]
fn agents_that_are_killed_between_probe_and_answer_leave_nothing_behind() {
    if ran_in_namespace(|| ()) {
        return;
    }
    let Some(chain) = Chain::new() else { return };
    let _b = chain.agent(Some(chain.b.id()), "b", &["vb1", "vb2"], "");
    let c = chain.agent(Some(chain.c.id()), "c", &["vc"], "");
    let sockets = || stdout(&shell("ss -H -a -u -n")) + &stdout(&shell("ss -H -a -x -n src @sluice-*"));
    let before = sockets();
    for kill in 0..50 {
        let mut a = chain.agent(None, "a", &["va"], "");
        // C receives the probe and does not answer while it is stopped.
        run(&format!("kill -STOP {}", c.child.id()));
        let mut flow = admitting(&chain, "--rate 200kb/s --to 10.9.2.2 --patience 50ms --retries 0", &["true"]);
        assert_eq!(flow.next()["what"], "probe");
        assert_eq!(end(&mut a.child, "KILL"), None);
        run(&format!("kill -CONT {}", c.child.id()));
        assert_eq!(flow.child.wait().unwrap().code(), Some(11), "kill {kill}");
        assert_eq!(sockets(), before, "kill {kill}");
    }
    // The last agent starts and ends without a fault, although answers arrived late.
    let mut a = chain.agent(None, "a", &["va"], "");
    assert_eq!(chain.admitted("--rate 200kb/s --to 10.9.2.2", &["true"]).0, Some(0));
    assert_eq!(end(&mut a.child, "TERM"), Some(0));
    assert_eq!(std::fs::read_dir(chain.folder.path().join("a")).unwrap().count(), 0, "no state is left");
    assert_eq!(sockets(), before);
}
