//! Forged departure times (`SO_TXTIME`, which needs no privilege) must not pass for completions: the field in which the
//! queue marks packets that it hands down is open to programs. Guesses are tried here; a mark that was read is not.

use super::chain::{Chain, at, install_at};
use super::{MECHANISM, dummy, load, now, pause_until, shell, towards};
use control::Measures;
use linux::device::bpf::Credit;
use rustix::net::sockopt::set_txtime;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, TxTimeFlags, sendmsg};
use rustix::time::ClockId;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::net::UdpSocket;
use units::Duration;

/// From `shared.h` and `flight.h`: the first bits of a mark, and the most packets below.
const FIRST_MAJOR: u64 = 0x51c0;
const FLIGHTS: u64 = 256;

/// Sends a packet with a departure time.
fn send_at(socket: &UdpSocket, time: u64) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(TxTime(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::TxTime(time)));
    sendmsg(socket, &[IoSlice::new(&[0; 100])], &mut control, SendFlags::empty()).unwrap();
}

#[test]
#[ignore = "needs the guest"]
fn a_program_cannot_complete_packets_that_the_device_still_has() {
    const PACKETS: u64 = 20;
    let chain = Chain::new();
    dummy("one", 1);
    let discipline = load();
    let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    let credit = Credit { expiry: Duration::from_secs(100), ..Credit::default() };
    discipline.release_by(&mut slot, Some(credit)).unwrap();
    let before = slot.below().unwrap().taken;
    // The radio reports no more data frames.
    chain.medium.swallow_one_in(1);
    install_at(0, &mut slot);
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect("10.8.0.2:9").unwrap();
    for _ in 0..PACKETS {
        socket.send(&[0; 1_000]).unwrap();
    }
    let below = || (slot.below().unwrap().taken - before, slot.below().unwrap().completed);
    pause_until(now() + Duration::from_millis(100));
    let held = below();
    assert_eq!(held.0, 2, "nothing is known of the device");

    let forger = towards(1);
    set_txtime(&forger, ClockId::Monotonic, TxTimeFlags::empty()).unwrap();
    // Every place of the queue, with positions counted as since the discipline was loaded.
    for place in 0..4 * FLIGHTS {
        send_at(&forger, FIRST_MAJOR << 48 | place);
    }
    pause_until(now() + Duration::from_millis(100));
    assert_eq!(below(), held, "completions were forged");
    at(0, "tc qdisc del dev wlan0 root");
    shell("ip link del one");
    discipline.unload().unwrap();
    chain.end();
}
