//! TCP of smoltcp over a simulated network, by IP packets.

use crate::{NEIGHBOURS, home};
use emulate::Medium as Air;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::time::Duration;

/// Bytes that the sender transfers.
const TRANSFER: usize = 1_000_000;

/// A network card: packets that came, and packets to be sent.
#[derive(Default)]
struct Card {
    came: VecDeque<Vec<u8>>,
    to_send: VecDeque<Vec<u8>>,
}

impl Device for Card {
    type RxToken<'a> = Came;
    type TxToken<'a> = ToSend<'a>;

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.max_transmission_unit = 1_500;
        capabilities.medium = Medium::Ip;
        capabilities
    }

    fn receive(&mut self, _now: Instant) -> Option<(Came, ToSend<'_>)> {
        let packet = self.came.pop_front()?;
        Some((Came(packet), ToSend(&mut self.to_send)))
    }

    fn transmit(&mut self, _now: Instant) -> Option<ToSend<'_>> {
        Some(ToSend(&mut self.to_send))
    }
}

struct Came(Vec<u8>);

impl phy::RxToken for Came {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

struct ToSend<'a>(&'a mut VecDeque<Vec<u8>>);

impl phy::TxToken for ToSend<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut packet = vec![0; length];
        let result = write(&mut packet);
        self.0.push_back(packet);
        result
    }
}

struct Host {
    name: &'static str,
    card: Card,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
}

fn clock(now: Duration) -> Instant {
    Instant::from_micros(i64::try_from(now.as_micros()).unwrap())
}

impl Host {
    fn new(name: &'static str, air: &Air) -> Self {
        let mut card = Card::default();
        let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut card, Instant::ZERO);
        let Some([IpAddr::V4(own), _]) = air.addresses(name) else { panic!("a real node") };
        interface.update_ip_addrs(|addresses| addresses.push(IpCidr::new(IpAddress::Ipv4(own), 8)).unwrap());
        let buffer = || tcp::SocketBuffer::new(vec![0; 200_000]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_congestion_control(tcp::CongestionControl::Cubic);
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        Self { name, card, interface, sockets, socket }
    }

    fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(self.socket)
    }

    /// Lets the host act, and enters into the network what it sends.
    fn act(&mut self, now: Duration, air: &mut Air) {
        self.interface.poll(clock(now), &mut self.card, &mut self.sockets);
        for packet in self.card.to_send.drain(..) {
            air.send_packet(now, self.name, &packet).unwrap();
        }
    }

    /// Returns when the host wants to act next: not before the next microsecond.
    fn deadline(&mut self, now: Duration) -> Duration {
        let at = self.interface.poll_at(clock(now), &self.sockets);
        at.map_or(Duration::MAX, |at| {
            Duration::from_micros(at.total_micros().unsigned_abs()).max(now + Duration::from_micros(1))
        })
    }
}

/// Transfers from the server to the laptop; returns when the transfer ended.
fn transfer(more: &str, seed: u64) -> (Duration, sim::results::Outcome) {
    let mut air = Air::read("home.toml", &home("", more), seed, &[]).unwrap_or_else(|refusal| panic!("{refusal}"));
    let (mut laptop, mut server) = (Host::new("laptop", &air), Host::new("server", &air));
    server.socket().listen(80).unwrap();
    let Some([IpAddr::V4(to), _]) = air.addresses("server") else { panic!("a real node") };
    let Host { interface, sockets, socket, .. } = &mut laptop;
    sockets.get_mut::<tcp::Socket>(*socket).connect(interface.context(), (IpAddress::Ipv4(to), 80), 5_000).unwrap();
    let (mut now, mut sent, mut received) = (Duration::ZERO, 0, 0);
    while received < TRANSFER {
        // A packet that came may open the connection or the window.
        server.act(now, &mut air);
        while sent < TRANSFER && server.socket().can_send() {
            let data = vec![0x5a; (TRANSFER - sent).min(10_000)];
            sent += server.socket().send_slice(&data).unwrap();
        }
        for host in [&mut laptop, &mut server] {
            host.act(now, &mut air);
        }
        while laptop.socket().can_recv() {
            received += laptop
                .socket()
                .recv(|data| {
                    assert!(data.iter().all(|&byte| byte == 0x5a));
                    (data.len(), data.len())
                })
                .unwrap();
        }
        let until = laptop.deadline(now).min(server.deadline(now)).min(air.end());
        now = match air.poll(until) {
            Some(delivery) => {
                let (at, host) = (delivery.at, if delivery.to == "laptop" { &mut laptop } else { &mut server });
                host.card.came.extend(delivery.into_packet());
                at
            }
            None => until,
        };
        assert!(now < air.end(), "{received} B of {TRANSFER} B");
    }
    (now, air.finish())
}

#[test]
fn a_transfer_over_tcp_arrives_whole_and_takes_longer_beside_others() {
    let (alone, outcome) = transfer("", 1);
    // At most 65 Mb/s on the air, and a slow start of a few round trips of ten milliseconds.
    assert!(alone > Duration::from_millis(8 * 1_000 / 65) && alone < Duration::from_secs(2), "{alone:?}");
    let down = outcome.flows.iter().find(|flow| flow.name == "server-laptop").unwrap();
    assert!(down.received_packets * 1_460 >= TRANSFER as u64);
    let (beside, outcome) = transfer(NEIGHBOURS, 1);
    assert!(beside > alone * 2, "{beside:?} beside others, {alone:?} alone");
    assert!(outcome.flows[0].goodput_bps > 0.0, "the others go on");
    assert_eq!(transfer(NEIGHBOURS, 1).0, beside);
}
