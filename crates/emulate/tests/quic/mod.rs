//! QUIC of quinn-proto over a simulated network, by datagrams.

use crate::{NEIGHBOURS, home};
use emulate::Medium;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event,
    ServerConfig, StreamEvent, TransportConfig,
};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A self-signed certificate for `localhost`, and its key, for this test alone.
const CERTIFICATE: &[u8] = include_bytes!("certificate.der");
const KEY: &[u8] = include_bytes!("key.der");
/// Bytes that the client uploads.
const UPLOAD: usize = 500_000;

/// One end: its endpoint, and its connection once there is one.
struct End {
    name: String,
    peer: String,
    /// Address of the peer, which quinn needs; the network uses names.
    remote: SocketAddr,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Packets that came marked.
    marked: u64,
}

impl End {
    /// Takes a datagram that has arrived.
    fn take(&mut self, now: Instant, bytes: &[u8], ecn: u8) {
        let mut answer = Vec::new();
        self.marked += u64::from(ecn == 3);
        match self.endpoint.handle(now, self.remote, None, EcnCodepoint::from_bits(ecn), bytes.into(), &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                self.connection = Some(accepted.unwrap_or_else(|error| panic!("{:?}", error.cause)));
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                self.connection.as_mut().expect("it has one").1.handle_event(event);
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Lets the connection act, and enters into the network what it sends.
    fn act(&mut self, start: Instant, now: Duration, air: &mut Medium) {
        let Some((handle, connection)) = &mut self.connection else { return };
        if connection.poll_timeout().is_some_and(|timeout| timeout <= start + now) {
            connection.handle_timeout(start + now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        let mut buffer = Vec::new();
        while let Some(transmit) = connection.poll_transmit(start + now, 1, &mut buffer) {
            let tos = transmit.ecn.map_or(0, |ecn| ecn as u8);
            air.send(now, &self.name, &self.peer, &buffer[..transmit.size], tos).unwrap();
            buffer.clear();
        }
    }

    fn timeout(&mut self, start: Instant) -> Duration {
        let at = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        at.map_or(Duration::MAX, |at| at.saturating_duration_since(start))
    }
}

fn ends(start: Instant, client: &str) -> [End; 2] {
    let certificate = CertificateDer::from(CERTIFICATE);
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let mut transport = TransportConfig::default();
    // The path's MTU is known, so that no probe is lost.
    transport.mtu_discovery_config(None).initial_mtu(1_472);
    let transport = Arc::new(transport);
    let mut serving = ServerConfig::with_single_cert(vec![certificate], PrivatePkcs8KeyDer::from(KEY).into()).unwrap();
    serving.transport_config(Arc::clone(&transport));
    let mut calling = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    calling.transport_config(transport);
    let end = |name: &str, peer: &str, serving, seed| End {
        name: name.to_owned(),
        peer: peer.to_owned(),
        remote: "10.0.0.9:443".parse().unwrap(),
        endpoint: Endpoint::new(Arc::new(EndpointConfig::default()), serving, true, Some([seed; 32])),
        connection: None,
        marked: 0,
    };
    let (mut client, server) = (end(client, "server", None, 1), end("server", client, Some(Arc::new(serving)), 2));
    client.connection = Some(client.endpoint.connect(start, calling, client.remote, "localhost").unwrap());
    [client, server]
}

/// Uploads from the laptop to the server; returns the duration, and the marks that the server saw.
fn upload(text: &str) -> (Duration, u64) {
    through(Medium::read("home.toml", text, 1, &[]).unwrap_or_else(|refusal| panic!("{refusal}")))
}

/// Uploads from the first real node to the server.
fn through(mut air: Medium) -> (Duration, u64) {
    let client = air.nodes().next().unwrap().to_owned();
    // quinn counts time from an instant that it does not choose; only differences matter.
    #[expect(clippy::disallowed_methods, reason = "an origin for virtual time")]
    let start = Instant::now();
    let [mut client, mut server] = ends(start, &client);
    let (mut now, mut stream, mut sent, mut received) = (Duration::ZERO, None, 0, 0);
    loop {
        let (_, connection) = client.connection.as_mut().unwrap();
        while let Some(event) = connection.poll() {
            assert!(!matches!(event, Event::ConnectionLost { .. }), "{event:?}");
        }
        if stream.is_none() && !connection.is_handshaking() {
            stream = connection.streams().open(Dir::Uni);
        }
        if let Some(stream) = stream {
            let mut stream = connection.send_stream(stream);
            while sent < UPLOAD
                && let Ok(taken) = stream.write(&vec![0x5a; (UPLOAD - sent).min(10_000)])
            {
                sent += taken;
            }
        }
        if let Some((_, connection)) = &mut server.connection {
            while let Some(event) = connection.poll() {
                let id = match event {
                    Event::Stream(StreamEvent::Opened { dir }) => connection.streams().accept(dir).unwrap(),
                    Event::Stream(StreamEvent::Readable { id }) => id,
                    _ => continue,
                };
                let mut stream = connection.recv_stream(id);
                let mut chunks = stream.read(true).unwrap();
                while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                    assert!(chunk.bytes.iter().all(|&byte| byte == 0x5a));
                    received += chunk.bytes.len();
                }
                let _ = chunks.finalize();
            }
        }
        if received == UPLOAD {
            return (now, server.marked);
        }
        for end in [&mut client, &mut server] {
            end.act(start, now, &mut air);
        }
        let until = client.timeout(start).min(server.timeout(start)).max(now);
        now = match air.poll(until) {
            Some(delivery) => {
                let end = if delivery.to == "server" { &mut server } else { &mut client };
                end.take(start + delivery.at, &delivery.bytes, delivery.ecn());
                delivery.at
            }
            None => until,
        };
        assert!(now < air.end(), "{received} B of {UPLOAD} B");
    }
}

#[test]
fn an_upload_over_quic_arrives_whole_and_takes_longer_beside_others() {
    let (alone, marked) = upload(&home("", ""));
    assert!(alone > Duration::from_millis(8 * 500 / 65) && alone < Duration::from_secs(2), "{alone:?}");
    assert_eq!(marked, 0);
    let (beside, _) = upload(&home("", NEIGHBOURS));
    assert!(beside > alone, "{beside:?} beside others, {alone:?} alone");
}

#[test]
fn a_queue_tells_quic_of_congestion_by_marks() {
    let marking = "queue = { limit = 400, discipline = \"codel\", codel = { target = \"1 ms\", interval = \"5 ms\", \
                   ecn = true } }\n";
    let text =
        home("", "").replace("position = [\"5 m\", \"0 m\"]\n", &format!("position = [\"5 m\", \"0 m\"]\n{marking}"));
    assert!(upload(&text).1 > 0);
}

#[test]
fn quic_uploads_through_four_presets_and_takes_the_same_time_twice() {
    let took = |preset: &str, seed| {
        let air = Medium::open(preset, seed, &["duration=60 s"]).unwrap_or_else(|refusal| panic!("{refusal}"));
        through(air).0
    };
    for (preset, least, most) in
        [("cafe", 0.2, 10.0), ("neighbour", 0.05, 10.0), ("train-roam", 3.0, 30.0), ("mesh", 1.0, 20.0)]
    {
        let first = took(preset, 1);
        eprintln!("{preset}: {first:?}");
        assert!((least..most).contains(&first.as_secs_f64()), "{preset}: {first:?}");
        assert_eq!(first, took(preset, 1), "{preset}");
    }
}
