//! What a local user or a neighbour may try against live use, as an attack that must fail to do harm. `make attack` runs
//! these, longer ones of crate `linux`, and those of the guest.

use crate::agent::{Agent, governed, make, queue};
use crate::command::{sluice, stderr, stdout};
use crate::namespace::{end, ran_in_namespace, run};
use linux::admission::message::{Kind, Message, UNBOUNDED};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use units::Rate;

fn configure(folder: &Path, text: &str) {
    std::fs::write(folder.join("agent.toml"), text).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "real interfaces take real time")]
fn wait(millis: u64) {
    std::thread::sleep(Duration::from_millis(millis));
}

#[test]
fn whoever_holds_a_port_ends_no_governing_and_is_replaced_when_he_goes() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") {
        return;
    }
    run("ip link set lo up");
    run("ip addr add 10.9.0.1/24 dev v0");
    run("ip link set v0 up");
    run("ip link set pv0 up");
    let metrics = TcpListener::bind("127.0.0.1:9477").unwrap();
    let others = ["0.0.0.0:9478", "0.0.0.0:9479"].map(|address| UdpSocket::bind(address).unwrap());
    let folder = tempfile::tempdir().unwrap();
    configure(
        folder.path(),
        "[interface.v0]\nforce = true\nnotes = true\nbackend = \"fifo\"\nqueue = { limit = 50 }\n\
         [metrics]\nlisten = \"127.0.0.1:9477\"\n[admission]\ninterfaces = [\"v0\"]\n",
    );
    let before = queue("v0");
    let mut agent = Agent::start(folder.path(), |_| ());
    agent.until("v0", "attached");
    assert!(governed("v0", 50));
    // Each is said, once.
    let mut said: Vec<String> = ["", "v0", "v0"].map(|device| agent.until(device, "failed")).into();
    said.sort();
    for (said, port) in said.iter().zip([" 9479", ":9477", " 9478"]) {
        assert!(said.contains(port) && said.contains("the agent governs meanwhile"), "{port}: {said}");
    }
    drop((metrics, others));
    assert!(agent.until("", "listening").contains("9477"));
    agent.until("v0", "admission");
    agent.until("v0", "notes");
    let metrics = std::net::TcpStream::connect("127.0.0.1:9477");
    assert!(metrics.is_ok(), "{metrics:?}");
    assert!(governed("v0", 50));
    assert_eq!(end(&mut agent.child, "TERM"), Some(0));
    assert_eq!(queue("v0"), before);
}

#[test]
fn whoever_takes_the_place_of_a_killed_agent_steers_no_program() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") {
        return;
    }
    run("ip link set lo up");
    run("ip addr add 10.9.0.1/24 dev v0");
    run("ip link set v0 up");
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), "[admission]\ninterfaces = [\"v0\"]\n");
    let mut agent = Agent::start(folder.path(), |_| ());
    agent.until("v0", "admission");
    let mut call = sluice(folder.path());
    call.args([
        "admit", "--state", "state", "--json", "--rate", "100kb/s", "--to", "10.9.0.1:5004", "--", "sleep", "60",
    ]);
    let mut call = call.stderr(Stdio::piped()).spawn().unwrap();
    // Its socket, which every user sees.
    let name = loop {
        assert!(call.try_wait().unwrap().is_none(), "the call is refused");
        let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
        let found = sockets.split_whitespace().find_map(|word| word.strip_prefix("@sluice-"));
        if let Some(found) = found.filter(|found| found.len() == 16) {
            break format!("sluice-{found}");
        }
    };
    let program = SocketAddr::from_abstract_name(&name).unwrap();
    let address = Ipv4Addr::new(10, 9, 0, 1).into();
    let (kind, number, rate) = (Kind::Regulate, 0, Rate::bps(0));
    let regulate = Message {
        kind,
        hops: 1,
        number,
        bottleneck: UNBOUNDED,
        source: address,
        destination: address,
        port: 5_004,
        flow: 0,
        rate,
    };
    let forge = || {
        let socket = UnixDatagram::unbound().unwrap();
        socket.send_to_addr(&regulate.write(), &program).unwrap_err().kind()
    };
    assert_eq!(forge(), std::io::ErrorKind::PermissionDenied, "an agent lives");
    assert_eq!(end(&mut agent.child, "KILL"), None);
    assert_eq!(forge(), std::io::ErrorKind::PermissionDenied, "none lives");
    // The port at which programs once asked.
    let port = UdpSocket::bind("127.0.0.1:9478").unwrap();
    port.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    assert!(port.recv(&mut [0; 100]).is_err(), "nobody asks there");
    // The folder has no place for another user's socket.
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(folder.path().join("state")).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o711);
    // While he holds the port, neighbours are not heard; programs are.
    let mut next = Agent::start(folder.path(), |_| ());
    next.until("v0", "failed");
    drop(port);
    next.until("v0", "admission");
    // The call may have taken a new socket by now, so that there is none of the old name.
    let refusals = [std::io::ErrorKind::PermissionDenied, std::io::ErrorKind::ConnectionRefused];
    assert!(refusals.contains(&forge()), "another lives");
    assert!(call.try_wait().unwrap().is_none(), "the call goes on");
    assert_eq!(end(&mut call, "TERM"), Some(128 + 15));
    assert_eq!(end(&mut next.child, "TERM"), Some(0));
}

/// A service of the network in which `sluice admit` runs, and a command that has left that network.
const CLIENT: &str = "
import os, socket
for family in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    s = socket.socket(socket.AF_INET, family)
    s.settimeout(2)
    try:
        s.connect(('127.0.0.1', 8088))
        s.send(b'x')
        print('reached', s.recv(100))
    except OSError:
        print('refused')
import time
time.sleep(0.3)
print(s.getsockopt(0, 1))
";

#[test]
fn a_command_that_has_left_the_network_gets_no_socket_of_it() {
    if ran_in_namespace(|| ()) {
        return;
    }
    run("ip link set lo up");
    let _service = TcpListener::bind("127.0.0.1:8088").unwrap();
    let service = UdpSocket::bind("127.0.0.1:8088").unwrap();
    service.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), "[admission]\ninterfaces = [\"v0\"]\n");
    let mut agent = Agent::start(folder.path(), |_| ());
    while !folder.path().join("state/admission.sock").exists() {
        assert!(agent.child.try_wait().unwrap().is_none());
    }
    let admit = |command: &[&str]| {
        let mut admit = sluice(folder.path());
        admit.args(["admit", "--state", "state", "--rate", "100kb/s", "--to", "127.0.0.1:5004", "--"]).args(command);
        let output = admit.output().unwrap();
        assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
        stdout(&output)
    };
    // In this network it reaches the service; its class is that of an admitted flow from the first moment on.
    let here = admit(&["python3", "-c", "import socket\ns = socket.socket()\nprint(s.getsockopt(0, 1) & 252)"]);
    assert_eq!(here, "188\n");
    for leave in [&["unshare", "-n"][..], &["unshare", "-rn"]] {
        let said = admit(&[leave, &["python3", "-c", CLIENT]].concat());
        assert_eq!(said, "refused\nrefused\n190\n", "{leave:?}: with its own socket's class");
        assert!(service.recv(&mut [0; 9]).is_err(), "{leave:?}: a packet left by another network");
    }
    // Another user and fewer privileges: the socket is that user's, as a firewall sees it.
    let fewer = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "python3", "-c"];
    let said = admit(
        &[
            &fewer[..],
            &["import socket, os, time\ns = socket.socket()\ntime.sleep(0.3)\nprint(s.getsockopt(0, 1) & 252)"],
        ]
        .concat(),
    );
    assert_eq!(said, "188\n");
    assert_eq!(end(&mut agent.child, "TERM"), Some(0));
}

#[test]
fn processes_that_outlive_their_admission_go_on_opening_sockets() {
    if ran_in_namespace(|| ()) {
        return;
    }
    run("ip link set lo up");
    let folder = tempfile::tempdir().unwrap();
    let script = "import os, socket, sys, time
if os.fork():
    sys.exit(0)
os.setsid()
while os.getppid() not in (1,) and not os.path.exists('go'):
    time.sleep(0.01)
while not os.path.exists('go'):
    time.sleep(0.01)
try:
    made = [socket.socket() for n in range(9)]
    said = 'made'
except OSError as why:
    said = str(why)
open('said.new', 'w').write(said)
os.rename('said.new', 'said')
";
    for kill in [false, true] {
        let mut admit = sluice(folder.path());
        admit.args(["admit", "--state", "none", "--rate", "1kb/s", "--to", "127.0.0.1", "--patience", "10ms"]);
        admit.args(["--retries", "0", "--refused", "best-effort", "--", "sh", "-c"]);
        let wait = if kill { "exec sleep 600" } else { "true" };
        admit.arg(format!("python3 -c \"$0\"; touch ready; {wait}")).arg(script);
        let mut child = admit.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !folder.path().join("ready").exists() {}
        if kill {
            assert_eq!(end(&mut child, "KILL"), None);
        }
        child.wait().unwrap();
        std::fs::write(folder.path().join("go"), "").unwrap();
        let said = loop {
            if let Ok(said) = std::fs::read_to_string(folder.path().join("said")) {
                break said;
            }
            wait_a_bit();
        };
        assert_eq!(said, "made", "killed: {kill}");
        for name in ["ready", "go", "said"] {
            std::fs::remove_file(folder.path().join(name)).unwrap();
        }
    }
    // Whoever kept them able to goes with them.
    let mut left = usize::MAX;
    for _ in 0..100 {
        let own = std::process::Command::new("pgrep").args(["-c", "-f", "admit --state none"]).output().unwrap();
        left = stdout(&own).trim().parse().unwrap_or(0);
        if left == 0 {
            break;
        }
        wait_a_bit();
    }
    assert_eq!(left, 0, "a keeper is left");
}

fn wait_a_bit() {
    wait(20);
}

#[test]
fn a_reader_that_stands_still_and_any_signal_leave_the_former_queue() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    run("tc qdisc replace dev v0 root handle 7: pfifo limit 77");
    let before = queue("v0");
    let fast = ["--controller", "adth", "--set", "adth.interval=1ms", "--set", "adth.target_delay=50ms"];
    let attach = |adapt: &dyn Fn(&mut Command)| {
        let mut command = sluice(folder.path());
        command.args(["attach", "v0", "--force", "--state", "state", "--json", "--backend", "fifo"]).args(fast);
        adapt(&mut command);
        let child = command.spawn().unwrap();
        while !queue("v0").contains("\"handle\":\"51ce:\"") {}
        child
    };
    // Nobody reads its output, nor the words that it says.
    let (_out, write_out) = std::io::pipe().unwrap();
    let (_err, write_err) = std::io::pipe().unwrap();
    let mut child = attach(&|command| {
        command.stdout(write_out.try_clone().unwrap()).stderr(write_err.try_clone().unwrap());
    });
    // Some times what a pipe holds.
    wait(3_000);
    let status = sluice(folder.path()).args(["status", "--state", "state", "--json"]).output().unwrap();
    assert!(status.status.success() && stdout(&status).contains("\"device\":\"v0\""), "{}", stderr(&status));
    let begun = linux::kernel::now();
    assert_eq!(end(&mut child, "TERM"), Some(0));
    assert!(linux::kernel::now().since(begun) < units::Duration::from_secs(5));
    assert_eq!(queue("v0"), before);
    // A recording that nobody reads, or that may grow no further, is said at the end; governing goes on till then.
    run(&format!("mkfifo {}", folder.path().join("pipe").display()));
    let reader = std::fs::File::options().read(true).write(true).open(folder.path().join("pipe")).unwrap();
    let mut child = attach(&|command| {
        command.args(["--record", "pipe"]).stdout(Stdio::null()).stderr(Stdio::null());
    });
    wait(3_000);
    assert!(child.try_wait().unwrap().is_none());
    assert_eq!(end(&mut child, "TERM"), Some(3), "the recording is not whole");
    assert_eq!(queue("v0"), before);
    drop(reader);
    let mut limited = Command::new("sh");
    limited.current_dir(folder.path()).args(["-c", "ulimit -f 8; exec \"$0\" attach v0 --force --state state \"$@\""]);
    limited.arg(env!("CARGO_BIN_EXE_sluice")).args(fast).args(["--record", "recording"]);
    let mut child = limited.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !queue("v0").contains("\"handle\":\"51") {}
    wait(3_000);
    assert!(child.try_wait().unwrap().is_none(), "a full recording has ended governing");
    assert_eq!(end(&mut child, "TERM"), Some(3));
    assert_eq!(queue("v0"), before);
    // Every signal that can be caught and ends a process by default.
    let signals =
        "HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 ALRM TERM STKFLT XCPU VTALRM PROF IO PWR SYS 34 64";
    for signal in signals.split(' ') {
        let mut child = attach(&|command| {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        });
        assert_eq!(end(&mut child, signal), Some(0), "{signal}");
        assert_eq!(queue("v0"), before, "{signal}");
    }
}

#[test]
fn no_flag_and_no_advice_costs_a_shaper_but_the_one_that_says_so() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") {
        return;
    }
    run("ip link add many numtxqueues 4 type veth peer name pmany");
    run("ip link set many up");
    let folder = tempfile::tempdir().unwrap();
    let attach = |device: &str, flags: &[&str]| {
        let mut command = sluice(folder.path());
        command.args(["attach", device, "--state", "state", "--backend", "fifo"]).args(flags);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        for _ in 0..250 {
            if let Some(status) = child.try_wait().unwrap() {
                let mut said = String::new();
                std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
                return (status.code(), said);
            }
            if queue(device).contains("\"handle\":\"51ce:\"") {
                return (end(&mut child, "TERM"), "governed".into());
            }
            wait_a_bit();
        }
        panic!("{device} {flags:?}");
    };
    for (device, shaper) in [
        ("v0", &["root handle 1: htb default 10", "parent 1:10 handle 10: pfifo limit 9"][..]),
        ("v0", &["root handle 1: tbf rate 5mbit burst 5k limit 30k"]),
        ("many", &["root handle 1: mq", "parent 1:2 handle 12: tbf rate 5mbit burst 5k limit 30k"]),
    ] {
        let _ = Command::new("tc").args(["qdisc", "del", "dev", device, "root"]).stderr(Stdio::null()).status();
        for line in shaper {
            if line.contains("1:10") {
                run(&format!("tc class add dev {device} parent 1: classid 1:10 htb rate 5mbit burst 2k cburst 2k"));
            }
            run(&format!("tc qdisc replace dev {device} {line}"));
        }
        let before = queue(device);
        for flags in [&[][..], &["--force"]] {
            let (code, said) = attach(device, flags);
            assert!(code == Some(2) && said.contains("--replace (replace = true) replaces it"), "{shaper:?} {said}");
            assert_eq!(queue(device), before, "{shaper:?} {flags:?}");
        }
        let advice = stdout(&sluice(folder.path()).args(["doctor", device]).output().unwrap());
        for taking in ["--force", "--replace", "root handle", &format!("attach {device} --controller")] {
            assert!(!advice.contains(taking), "{shaper:?}: {advice}");
        }
        // It says so, and both are needed where nothing waits without the shaper.
        let (code, said) = attach(device, &["--replace"]);
        assert!(code == Some(2) && said.contains("no packet ever waits"), "{said}");
        assert_eq!(queue(device), before);
        assert_eq!(attach(device, &["--replace", "--force"]), (Some(0), "governed".into()));
    }
}

#[test]
fn a_reload_applies_all_settings_or_none() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") || !make("v1") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let interface = |name: &str, more: &str| format!("[interface.{name}]\nforce = true\nbackend = \"fifo\"\n{more}\n");
    let v0 = |queue: &str| interface("v0", &format!("queue = {queue}"));
    let recording = folder.path().join("v1.jsonl");
    let v1 = interface("v1", &format!("record = {recording:?}\nqueue = {{ limit = 70 }}"));
    let good = "{ limit = 60, controller = \"adth\", adth.target_delay = \"50 ms\" }";
    configure(folder.path(), &(v0(good) + &v1));
    let manager = folder.path().join("manager");
    let told = UnixDatagram::bind(&manager).unwrap();
    let hear = || {
        let mut buffer = [0; 4_096];
        let length = told.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    let mut agent = Agent::start(folder.path(), |command| {
        command.env("NOTIFY_SOCKET", &manager);
    });
    agent.until("v0", "attached");
    agent.until("v1", "attached");
    while !hear().starts_with("READY=1") {}
    let lines = || std::fs::read_to_string(&recording).unwrap().lines().count();
    let (old_v0, old_v1) = (queue("v0"), queue("v1"));
    let unwritable = interface("v0", "record = \"/nonexistent/v0.jsonl\"");
    let held = folder.path().join("held.jsonl");
    std::fs::write(&held, "held before\n").unwrap();
    let over = |queue: &str| interface("v0", &format!("record = {held:?}\nqueue = {queue}"));
    // A controller that this device cannot serve, also with a recording that is there; the other's recording; one that cannot
    // be written; a limit that the queue cannot hold; a queue that cannot be taken up, beside others; and nonsense.
    for refused in [
        v0("{ limit = 60, controller = \"wqm\" }") + &v1,
        over("{ limit = 60, controller = \"wqm\" }") + &v1,
        interface("v0", &format!("record = {recording:?}")) + &v1,
        unwritable + &v1,
        v0("{ limit = \"60 kB\", discipline = \"drop-head\" }") + &v1,
        v0("{ limit = 33 }") + &v1.replace("70", "71") + "[interface.lo]\nbackend = \"fifo\"\n",
        "[interface.v0]\nnonsense = 1\n".to_owned(),
    ] {
        configure(folder.path(), &refused);
        run(&format!("kill -HUP {}", agent.child.id()));
        let said = agent.until("", "failed");
        assert!(said.starts_with("nothing is changed: "), "{said}");
        let ready = loop {
            let said = hear();
            if said.starts_with("READY=1") {
                break said;
            }
        };
        assert!(ready.contains("STATUS=governs 2 of 2 queues; the last reload changed nothing: "), "{ready}");
        assert_eq!((queue("v0"), queue("v1")), (old_v0.clone(), old_v1.clone()), "{refused}");
        assert_eq!(std::fs::read_to_string(&held).unwrap(), "held before\n", "{refused}");
        let before = lines();
        while lines() == before {
            wait_a_bit();
        }
    }
    // Nothing is ever written to this one.
    std::fs::remove_file(folder.path().join("agent.toml")).unwrap();
    run(&format!("mkfifo {}", folder.path().join("agent.toml").display()));
    run(&format!("kill -HUP {}", agent.child.id()));
    let said = agent.until("", "failed");
    assert!(said.contains("it is not a regular file"), "{said}");
    while !hear().starts_with("READY=1") {}
    std::fs::remove_file(folder.path().join("agent.toml")).unwrap();
    configure(folder.path(), &(v0("{ limit = 33 }") + &v1.replace("70", "71")));
    run(&format!("kill -HUP {}", agent.child.id()));
    while hear() != "READY=1\nSTATUS=governs 2 of 2 queues" {}
    assert!(governed("v0", 33) && governed("v1", 71));
    assert_eq!(end(&mut agent.child, "TERM"), Some(0));
}
