//! Random actions of an operator, two agents, other programs and the kernel on our queues, at the same time and under
//! traffic; for two processors. Afterwards every packet is accounted for, nothing is left, and the kernel is silent.
//!
//! `STRESS_SECONDS` gives the duration (the guest's clock), `STRESS_SEED` the choices; the seed is printed.

use super::ground::{CLASSES, Ground, INTERFACES, SHAPED, dummy, uncounted};
use super::kernel_log::{self, Log};
use super::program::{PROGRAM, nothing_is_left};
use super::traffic::{Sent, Traffic};
use super::witness::{self, Witness};
use super::{now, pause_until, shell, stalled, unsent};
use linux::device::bpf::FOLDER;
use std::collections::BTreeMap;
use std::fs::File;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Duration;

/// Structs shared with the discipline; the second one is its measurements.
const SHARED: &str = include_str!("../../src/device/bpf/shared.h");
const SECONDS: u64 = 10;
const SEED: u64 = 1;
/// Longest time between two actions.
const PAUSE: Duration = Duration::from_millis(250);
/// Longest time to begin or to end; both take a small part of it, also if two agents wait for each other. On a busy host the
/// guest stands still at times: the time begins anew while there is progress.
const LONGEST: Duration = Duration::from_secs(60);
/// Longest time to end with progress.
const AT_ALL: Duration = Duration::from_secs(600);
/// An agent that has not ended after this time is described, and again after the same time.
const LONG: Duration = Duration::from_secs(20);
/// Bytes per second of the slow link.
const RATES: [u64; 4] = [2_000, 20_000, 200_000, 2_000_000];
const SETTINGS: [&str; 12] = [
    "--controller adth --target-delay 20ms",
    "--set controller=none --set limit=1000",
    "--set controller=none --set limit=65536",
    "--set controller=none --set limit=60kB --set discipline=drop-head",
    "--controller alt --set limit=200 --gso-segments 1",
    "--controller adth --classes",
    "--controller swan_rate --set limit=500",
    "--controller swan_mark --set limit=500",
    "--controller dnb --notes",
    "--set discipline=biased --set limit=50",
    "--set discipline=turns",
    "--controller adth --json",
];
/// Interfaces of the agent that has a configuration, which asks for all that an agent may do.
const CONFIGURED: [&str; 3] = [
    "[interface.v0]\nbackend = \"bpf\"\nforce = true\nreplace = true\nqueue = { controller = \"swan_rate\", limit = 500 }\n\
     [interface.v0.real_time]\ncontroller = \"swan_mark\"\n[interface.wlan0]\n",
    "[interface.wlan0]\nbackend = \"knobs\"\n[interface.sl0]\nnotes = true\nqueue = { controller = \"dnb\" }\n",
    "[interface.v0]\nbackend = \"bpf\"\nforce = true\nreplace = true\nclasses = true\n[interface.ppp0]\nforce = true\n\
     [interface.many]\nforce = true\nreplace = true\nqueue = { limit = 300 }\n",
];
/// What may still hold a packet at the end: sockets, queues, what mac80211 keeps for stations, and an interface that gives
/// it up when it is down. (Lists of packets that another processor is to free hold none that is still a socket's.)
const HOLDERS: &str = "cat /proc/net/udp; tc -s qdisc; iw dev wlan0 station dump; \
                       grep -r . /sys/kernel/debug/ieee80211/*/netdev:wlan0/stations/*/aq*; cat /tmp/ppp; \
                       for one in d0 d1 v0 many two ppp0 sl0 wlan0; do ip link set $one down; \
                       echo without $one:; cat /proc/net/udp; done; true";
const SERVED: &str = "[metrics]\nlisten = \"127.0.0.1:9477\"\n[admission]\ninterfaces = [\"v0\"]\n";

/// Numbers below a bound, by `SplitMix64` (Steele, Lea, Flood 2014).
pub(super) struct Choices(pub(super) u64);

impl Choices {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    pub(super) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }
}

#[expect(clippy::disallowed_methods, reason = "settings of a test")]
pub(super) fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

/// An agent that may be ended in any way.
struct Agent {
    program: Option<Child>,
    said: String,
}

impl Agent {
    fn start(&mut self, words: &str) {
        self.kill();
        let mut command = Command::new(PROGRAM);
        // What it says as JSON nobody reads.
        let out = if words.contains("--json") { Stdio::piped() } else { Stdio::null() };
        command.args(words.split_whitespace()).stdin(Stdio::null()).stdout(out);
        self.program = Some(command.stderr(File::create(&self.said).unwrap()).spawn().unwrap());
    }

    fn signal(&self, name: &str) {
        if let Some(program) = &self.program {
            // It may have ended by itself.
            let _ = Command::new("kill").arg(format!("-{name}")).arg(program.id().to_string()).status();
        }
    }

    fn kill(&mut self) {
        if let Some(mut program) = self.program.take() {
            program.kill().unwrap();
            let status = program.wait().unwrap();
            self.is_orderly(status.code());
        }
    }

    /// Lets it restore what it took.
    fn end(&mut self) {
        self.signal("CONT");
        self.signal("TERM");
        let Some(mut program) = self.program.take() else { return };
        let (mut until, mut described) = (now() + LONGEST, now() + LONG);
        let (at_all, mut before) = (now() + AT_ALL, String::new());
        loop {
            if let Some(status) = program.try_wait().unwrap() {
                return self.is_orderly(status.code());
            }
            let computed = stalled::computed(program.id());
            if computed != before && now() < at_all {
                (before, until) = (computed, now() + LONGEST);
            }
            if now() >= described {
                described += LONG;
                let said = std::fs::read_to_string(&self.said).unwrap();
                println!("an agent has not ended after {LONG}: {said}\n{}", stalled::described(program.id()));
            }
            assert!(now() < until, "an agent does not end within {LONGEST}");
            pause_until(now() + Duration::from_millis(10));
        }
    }

    /// Checks that there was no panic (101) and no signal but ours, in which case there is no status.
    fn is_orderly(&self, status: Option<i32>) {
        let said = std::fs::read_to_string(&self.said).unwrap();
        assert!(matches!(status, None | Some(0..=4)), "status {status:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// Does not fail if the interface has another name just now, or is away.
pub(super) fn attempt(line: &str) {
    let _ = Command::new("sh").arg("-c").arg(line).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
}

struct Stress {
    choices: Choices,
    agents: [Agent; 2],
    ground: Ground,
    /// Ports of agents that another program holds.
    held: Option<(Option<TcpListener>, Option<UdpSocket>)>,
    /// How often each was done, and how long that took.
    done: BTreeMap<&'static str, (u64, Duration)>,
}

impl Stress {
    fn act(&mut self) {
        let begin = now();
        let interface = self.choices.of(&INTERFACES);
        let what = match self.choices.below(28) {
            choice @ 0..7 => self.machine(choice, interface),
            choice => self.agent(choice - 7, interface),
        };
        let (times, took) = self.done.entry(what).or_default();
        (*times, *took) = (*times + 1, *took + now().since(begin));
    }

    /// What is done with agents.
    fn agent(&mut self, choice: u64, interface: &str) -> &'static str {
        let which = usize::try_from(self.choices.below(2)).unwrap();
        match choice {
            0..=5 => {
                let settings = self.choices.of(&SETTINGS);
                self.agents[which].start(&format!("attach {interface} --backend bpf --force --replace {settings}"));
                "attach"
            }
            6 | 7 => {
                let words = format!("attach {interface} --backend bpf --force --replace --controller adth");
                self.agents.iter_mut().for_each(|agent| agent.start(&words));
                "two attach"
            }
            8 | 9 => {
                self.agents[which].kill();
                "kill"
            }
            10 => {
                self.agents[which].end();
                "end"
            }
            11 => {
                self.agents[which].signal("STOP");
                pause_until(now() + Duration::from_nanos(self.choices.below(7_000_000_000)));
                self.agents[which].signal("CONT");
                "stop, go on"
            }
            12 => {
                attempt(&format!("timeout 60 {PROGRAM} detach {interface}"));
                "detach"
            }
            13 | 14 => {
                let how = self.choices.of(&["", "", "--backend knobs", "--target-delay 20ms"]);
                self.agents[which].start(&format!("attach wlan0 {how}"));
                "grades"
            }
            15 | 16 => {
                std::fs::write("/tmp/stress.toml", format!("{}{SERVED}", self.choices.of(&CONFIGURED))).unwrap();
                if self.choices.below(2) == 0 {
                    self.agents[which].start("agent --config /tmp/stress.toml");
                } else {
                    self.agents[which].signal("HUP");
                }
                "configuration"
            }
            17 => {
                let words =
                    CLASSES.map(|class| format!("attach {SHAPED} --backend fifo --parent {class} --gso-segments 1"));
                for (agent, words) in self.agents.iter_mut().zip(&words) {
                    agent.start(words);
                }
                "two places"
            }
            18 => {
                let admit = "admit --rate 100kb/s --patience 200ms --to 10.9.3.2:5004 -- sleep 1";
                attempt(&format!("timeout 5 {PROGRAM} {admit}"));
                "admit"
            }
            19 => {
                // An agent may have them.
                let hold = || (TcpListener::bind("127.0.0.1:9477").ok(), UdpSocket::bind("0.0.0.0:9478").ok());
                self.held = if self.held.take().is_some() { None } else { Some(hold()) };
                "hold ports"
            }
            _ => {
                let signal = self.choices.of(&["USR1", "XFSZ", "INT", "QUIT", "HUP"]);
                self.agents[which].signal(signal);
                "signal"
            }
        }
    }

    /// What is done to interfaces, whoever governs them.
    fn machine(&mut self, choice: u64, interface: &str) -> &'static str {
        match choice {
            0 => {
                let kind = self.choices.of(&["pfifo limit 50", "fq_codel", "bfifo limit 30000", "sluice"]);
                attempt(&format!("tc qdisc replace dev {interface} root {kind}"));
                "tc replace"
            }
            1 => {
                attempt(&format!("tc qdisc del dev {interface} root"));
                "tc del"
            }
            2 => {
                let interface = self.choices.of(&["d0", "v0"]);
                attempt(&format!("ip link set {interface} down; ip link set {interface} up"));
                "down, up"
            }
            3 => {
                attempt("ip link set d1 name r1 || ip link set r1 name d1");
                "rename"
            }
            4 => {
                attempt("ip link del d0");
                dummy("d0");
                "delete"
            }
            5 => {
                attempt("ip link set r1 name d1; ip link set d1 netns away && ip -n away link set d1 netns 1");
                dummy("d1");
                "namespace"
            }
            _ => {
                self.ground.link.set_rate(self.choices.of(&RATES));
                let most = self.choices.of(&[1, 8, 65_535]);
                attempt(&format!("ip link set v0 gso_max_segs {most}"));
                "rate, GSO"
            }
        }
    }
}

/// Offset of a member of the discipline's measurements.
fn place_of(member: &str) -> usize {
    let (_, measured) = SHARED.split_once("struct sluice_measured {").unwrap();
    let line = format!("__u64 {member};");
    measured.lines().filter(|line| line.trim().starts_with("__u64 ")).position(|one| one.trim() == line).unwrap()
}

/// Checks that every queue has sent, dropped or still holds what came, and that no more was completed than handed to the
/// device. Asks again if a packet moves just then.
fn queues_are_balanced() {
    use libbpf_rs::{MapCore, MapFlags, MapHandle};
    let members = [
        "arrived_packets", "sent_packets", "dropped_packets", "backlog_packets", "handed_packets", "completed_packets",
        "lost_packets",
    ];
    let members = members.map(place_of);
    // It comes and goes with the agents.
    let Ok(measured) = MapHandle::from_pinned_path(Path::new(FOLDER).join("measured")) else { return };
    for slot in 0..measured.max_entries() {
        let read = || {
            let bytes = measured.lookup(&slot.to_ne_bytes(), MapFlags::ANY).unwrap().unwrap();
            members.map(|place| u64::from_ne_bytes(bytes[8 * place..8 * place + 8].try_into().unwrap()))
        };
        let is_balanced = |[arrived, sent, dropped, waits, handed, completed, lost]: [u64; 7]| {
            arrived == sent + dropped + waits && completed + lost <= handed
        };
        let balanced = (0..200).any(|attempt| {
            if attempt > 0 {
                pause_until(now() + Duration::from_millis(1));
            }
            is_balanced(read())
        });
        assert!(balanced, "queue {slot}: {:?}", read());
    }
}

/// Returns what the kernel complains of, but that its shaper has more to do at once than it likes: it goes on later.
fn unexpected(log: &Log) -> Vec<String> {
    log.complaints().into_iter().filter(|said| !said.contains("htb: too many events")).collect()
}

#[test]
#[ignore = "needs the guest"]
fn queues_survive_all_that_is_done_to_them_at_once() {
    let (seconds, seed) = (setting("STRESS_SECONDS", SECONDS), setting("STRESS_SEED", SEED));
    println!("STRESS_SECONDS={seconds} STRESS_SEED={seed}");
    let ground = Ground::new(RATES[2]);
    let log = Log::from_now();
    let witness = Witness::new();
    let traffic = Traffic::start(seed);
    let enough = Arc::new(AtomicBool::new(false));
    let beside = uncounted(seed, &enough);

    let agents = ["/tmp/said-0", "/tmp/said-1"].map(|said| Agent { program: None, said: said.into() });
    let mut stress = Stress { choices: Choices(seed), agents, ground, held: None, done: BTreeMap::new() };
    let begin = now();
    let until = begin + Duration::from_secs(seconds);
    while now() < until {
        stress.act();
        let pause = stress.choices.below(PAUSE.as_nanos());
        pause_until(now() + Duration::from_nanos(pause));
        queues_are_balanced();
        let complaints = unexpected(&log);
        assert!(complaints.is_empty(), "after {:?}: {complaints:#?}", stress.done);
    }
    println!("{} s, actions: {:?}", now().since(begin).as_nanos() / 1_000_000_000, stress.done);
    let Sent { packets, refused, streamed, sockets } = traffic.end();
    enough.store(true, Ordering::Relaxed);
    let beside = beside.join().unwrap();
    stress.agents.iter_mut().for_each(Agent::end);
    // An agent may have been killed under either name.
    for names in ["d1 name r1", "r1 name d1"] {
        for interface in INTERFACES {
            attempt(&format!("timeout 60 {PROGRAM} detach {interface}"));
        }
        attempt(&format!("ip link set {names}"));
    }
    attempt(&format!("timeout 60 {PROGRAM} detach d1"));
    for class in CLASSES {
        attempt(&format!("timeout 60 {PROGRAM} detach {SHAPED} --parent {class}"));
    }
    // Waiting packets leave, whatever queue holds them.
    stress.ground.link.set_rate(100 * RATES[3]);
    let (mut least, mut drained) = (u64::MAX, now() + LONGEST);
    while unsent() > 0 {
        if unsent() < least {
            (least, drained) = (unsent(), now() + LONGEST);
        }
        assert!(now() < drained, "{} B are never freed\n{}", unsent(), shell(HOLDERS));
        pause_until(now() + Duration::from_millis(20));
    }
    drop((sockets, beside));
    queues_are_balanced();
    nothing_is_left();
    let handed: u64 = shell("cat /sys/class/net/sl0/statistics/tx_packets").trim().parse().unwrap();
    let delivered = stress.ground.end();

    let missed = witness::missed();
    for (socket, (packets, refused)) in packets.into_iter().zip(refused).enumerate() {
        let (taken, dropped) = witness.freed(socket);
        println!("socket {socket}: {packets} sent, {refused} refused; {taken} taken by devices, dropped {dropped:?}");
        let freed = taken + dropped.values().sum::<u64>();
        // If a send failed there may have been a packet already.
        assert!(freed <= packets + refused && freed + missed >= packets, "{freed} freed, {missed} not seen");
        if socket == 1 {
            println!("the slow link: {handed} handed to it, {delivered} came out of it");
            assert_eq!(handed, delivered);
            assert!(taken <= handed && handed <= taken + missed, "{taken} {handed}");
        }
    }
    println!("{streamed} B by TCP; {missed} events that the witness missed; {}", kernel_log::checks());
    let complaints = unexpected(&log);
    assert!(complaints.is_empty(), "{complaints:#?}");
    kernel_log::is_unharmed();
}
