use super::request::LONGEST;
use super::*;
use crate::kernel::now;
use crate::telemetry::status::tests::busy;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use units::Duration;

/// Makes a socket and listens.
fn bind(address: &Address, serves: Serves) -> Result<Server, Error> {
    Listener::open(address.clone(), serves)?.listen().map_err(|refused| refused.1)
}

/// A server that the test drives, with the test's own clock.
struct Driven {
    server: Server,
    now: Instant,
    statuses: Vec<Status>,
    folder: tempfile::TempDir,
}

impl Driven {
    fn new(answered: Serves) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = bind(&Address::Path(folder.path().join("s")), answered).unwrap();
        Self { server, now: now(), statuses: vec![busy()], folder }
    }

    fn connect(&self) -> UnixStream {
        let client = UnixStream::connect(self.folder.path().join("s")).unwrap();
        client.set_nonblocking(true).unwrap();
        client
    }

    /// Serves until nothing is left to do; panics if that takes too long.
    fn turn(&mut self) {
        for _ in 0..10_000 {
            if !is_readable(&self.server) {
                return;
            }
            self.server.ready(self.now, &self.statuses);
        }
        panic!("the server has something to do without end");
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.server.tell(self.now, &self.statuses);
        self.turn();
    }

    /// Returns the server's answer; the server must then close the connection.
    fn ask(&mut self, request: &[u8]) -> String {
        let mut client = self.connect();
        client.write_all(request).unwrap();
        self.turn();
        client.set_nonblocking(false).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        drop(client);
        self.turn();
        assert_eq!(self.server.clients(), 0);
        answer
    }
}

fn is_readable(server: &Server) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let mut set = [PollFd::new(server, PollFlags::IN)];
    let at_once = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut set, Some(&at_once)).unwrap() > 0
}

/// Returns the bytes that have arrived; none if the connection is closed.
fn received(client: &mut UnixStream) -> Option<Vec<u8>> {
    let (mut all, mut part) = (Vec::new(), [0; 4_096]);
    loop {
        match client.read(&mut part) {
            Ok(0) => return None,
            Ok(length) => all.extend_from_slice(&part[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Some(all),
            Err(_) => return None,
        }
    }
}

/// True if the server has closed the connection. A process that another test just starts also holds it for a moment.
fn is_closed(client: &mut UnixStream) -> bool {
    client.set_nonblocking(false).unwrap();
    client.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    client.read_to_end(&mut Vec::new()).is_ok()
}

#[test]
fn status_is_answered_with_one_array() {
    let mut driven = Driven::new(Serves::Everything);
    let answer = driven.ask(b"status\n");
    assert_eq!(serde_json::from_str::<Vec<Status>>(&answer).unwrap(), [busy()]);
    driven.statuses.clear();
    assert_eq!(driven.ask(b"status\n"), "[]\n");
}

#[test]
fn metrics_are_answered_over_http_and_nothing_else_where_only_they_are_served() {
    let mut driven = Driven::new(Serves::Metrics);
    let answer = driven.ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    assert_eq!(body, crate::telemetry::metrics::text(&[busy()]));
    assert!(driven.ask(b"GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert_eq!(driven.ask(b"status\n"), "error: this socket serves only metrics\n");
    assert_eq!(driven.ask(b"nonsense\n"), "error: expected status, watch, or an HTTP request\n");
}

#[test]
fn a_request_may_come_byte_by_byte_and_a_client_may_close_its_side_after_it() {
    let mut driven = Driven::new(Serves::Everything);
    let mut client = driven.connect();
    for byte in b"status\n" {
        assert_eq!(received(&mut client), Some(Vec::new()));
        client.write_all(&[*byte]).unwrap();
        driven.turn();
    }
    client.shutdown(Shutdown::Write).unwrap();
    driven.turn();
    client.set_nonblocking(false).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Status>>(&answer).unwrap(), [busy()]);
    assert_eq!(driven.server.clients(), 0);
}

#[test]
fn a_watching_client_gets_a_line_an_interval_until_it_leaves_also_with_its_own_side_closed() {
    let mut driven = Driven::new(Serves::Everything);
    let mut client = driven.connect();
    client.write_all(b"watch\n").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    driven.turn();
    for lines in 1..5 {
        driven.statuses[0].totals.restarts = lines;
        driven.pass(WATCH_EVERY);
        driven.pass(Duration::from_millis(1));
        let line = received(&mut client).unwrap();
        let newest = String::from_utf8(line).unwrap();
        let newest: Vec<Status> = serde_json::from_str(newest.lines().last().unwrap()).unwrap();
        assert_eq!(newest, driven.statuses);
    }
    driven.pass(Duration::from_secs(3_600));
    assert_eq!(driven.server.clients(), 1, "one that reads may stay");
    drop(client);
    driven.pass(WATCH_EVERY);
    assert_eq!(driven.server.clients(), 0);
}

#[test]
fn a_watching_client_that_does_not_read_costs_one_line_of_memory_and_is_dropped() {
    let mut driven = Driven::new(Serves::Everything);
    driven.statuses = vec![busy(); 200];
    let mut client = driven.connect();
    client.write_all(b"watch\n").unwrap();
    driven.turn();
    for _ in 0..40 {
        driven.pass(WATCH_EVERY);
        assert_eq!(driven.server.clients(), 1);
    }
    driven.pass(client::PATIENCE);
    assert_eq!(driven.server.clients(), 0);
}

#[test]
fn as_many_silent_clients_as_there_is_room_for_keep_nobody_out() {
    const REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\n\r\n";
    let mut driven = Driven::new(Serves::Metrics);
    // Some clients send nothing, others send a request and stay.
    let mut idle: Vec<UnixStream> = (0..MOST_CLIENTS).map(|_| driven.connect()).collect();
    for client in idle.iter_mut().step_by(2) {
        client.write_all(REQUEST).unwrap();
    }
    driven.turn();
    assert_eq!(driven.server.clients(), MOST_CLIENTS);
    for number in 0..MOST_CLIENTS {
        let mut honest = driven.connect();
        honest.write_all(REQUEST).unwrap();
        // As many clients come in addition.
        let more: Vec<UnixStream> = (0..MOST_CLIENTS).map(|_| driven.connect()).collect();
        driven.turn();
        honest.set_nonblocking(false).unwrap();
        let mut answer = String::new();
        honest.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{number}: {answer}");
        assert!(idle.iter_mut().take(1).all(is_closed), "the oldest has gone");
        idle = more;
    }
    assert_eq!(driven.server.clients(), MOST_CLIENTS);
}

#[test]
fn whoever_watches_is_not_sent_away_for_others() {
    let mut driven = Driven::new(Serves::Everything);
    let mut watching: Vec<UnixStream> = (0..MOST_CLIENTS).map(|_| driven.connect()).collect();
    for client in &mut watching {
        client.write_all(b"watch\n").unwrap();
    }
    driven.turn();
    let mut one_more = driven.connect();
    driven.turn();
    assert!(is_closed(&mut one_more), "one too many is turned away");
    assert!(watching.iter_mut().all(|client| received(client).is_some_and(|line| !line.is_empty())));
    assert_eq!(driven.server.clients(), MOST_CLIENTS);
}

#[test]
fn silent_and_talkative_clients_are_dropped_and_the_next_is_served() {
    let mut driven = Driven::new(Serves::Everything);
    let mut silent: Vec<UnixStream> = (0..MOST_CLIENTS).map(|_| driven.connect()).collect();
    driven.turn();
    driven.pass(client::PATIENCE);
    assert!(silent.iter_mut().all(is_closed), "silent ones are dropped");

    let mut talkative = driven.connect();
    talkative.write_all(b"watch\n").unwrap();
    driven.turn();
    for _ in 0..=LONGEST / 1_024 {
        // The server drops the client while it sends.
        let _ = talkative.write_all(&[b'x'; 1_024]);
        driven.turn();
    }
    assert_eq!(driven.server.clients(), 0);
    assert!(!driven.ask(b"status\n").is_empty());
}

#[test]
fn clients_that_go_at_any_moment_leave_nothing() {
    let mut driven = Driven::new(Serves::Everything);
    for request in [&b""[..], b"stat", b"status\n", b"watch\n", b"GET /metrics HTTP/1.1\r\n\r\n"] {
        for served_before in [false, true] {
            let mut client = driven.connect();
            client.write_all(request).unwrap();
            if served_before {
                driven.turn();
            }
            drop(client);
            driven.turn();
            assert_eq!(driven.server.clients(), 0, "{request:?}");
        }
    }
}

#[test]
fn the_socket_is_for_owner_and_group_and_goes_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sock");
    let server = bind(&Address::Path(path.clone()), Serves::Everything).unwrap();
    let found = path.metadata().unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o660);
    let second = bind(&Address::Path(path.clone()), Serves::Everything).unwrap_err().to_string();
    assert!(second.starts_with("an agent listens already at "), "{second}");
    drop(server);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_socket_that_was_left_is_replaced_and_any_other_file_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sock");
    let address = Address::Path(path.clone());
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let server = bind(&address, Serves::Everything).unwrap();
    std::fs::remove_file(&path).unwrap();
    let next = bind(&address, Serves::Everything).unwrap();
    drop(server);
    assert!(path.exists(), "a server takes only its own socket away");
    drop(next);
    std::fs::write(&path, "precious").unwrap();
    let message = bind(&address, Serves::Everything).unwrap_err().to_string();
    assert!(message.ends_with("exists and is not a socket"), "{message}");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    let long = Address::Path(folder.path().join("x".repeat(200)));
    assert!(bind(&long, Serves::Everything).is_err());
}

#[test]
fn metrics_are_served_on_loopback_and_on_no_address_that_others_reach() {
    let mut server = bind(&"127.0.0.1:0".parse().unwrap(), Serves::Metrics).unwrap();
    let port = SocketAddr::try_from(rustix::net::getsockname(&server.listener).unwrap()).unwrap().port();
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    let reader = std::thread::spawn(move || client.read_to_string(&mut answer).map(|_| answer));
    while !reader.is_finished() {
        server.ready(now(), &[busy()]);
    }
    assert!(reader.join().unwrap().unwrap().contains("sluice_queue_limit_packets{"));
    for (text, why) in [
        ("0.0.0.0:9477", "0.0.0.0 can be reached from other hosts"),
        ("[::]:9477", ":: can be reached from other hosts"),
        ("192.0.2.1:9477", "192.0.2.1 can be reached from other hosts"),
        ("localhost:9477", "expected the path of a socket, or an address"),
        ("metrics.sock", "expected the path of a socket, or an address"),
    ] {
        assert!(text.parse::<Address>().unwrap_err().starts_with(why), "{text}");
    }
    for text in ["127.0.0.1:9477", "[::1]:9477", "/run/sluice/metrics.sock"] {
        let address: Address = serde_json::from_str(&format!("{text:?}")).unwrap();
        assert_eq!(address.to_string(), text);
    }
}
