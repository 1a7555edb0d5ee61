//! The predictions that `docs/theory.md` draws as lines: `cargo run --release -p sluice-theory --example curves`.
//!
//! One value a line, separated by tabs: figure, series, x, measure, value. `docs/theory/plots.py` reads them and runs
//! the same networks in the simulator; values fixed here are in the scenarios that it names.

#[path = "../tests/draws/mod.rs"]
mod draws;
#[path = "../tests/edca_slots/mod.rs"]
mod edca_slots;

use edca_slots::{BusySlots, Colliders, Rules, play};
use theory::alt;
use theory::dcf::{self, Cell, Freezing};
use theory::edca::{self, Category, Medium};
use theory::hidden::{self, Handshake, Pair};
use theory::malone::{self, Arrivals, Buffer, Group};
use theory::swan::{self, Channel, Class, Target};
use units::{Bytes, Duration, Rate};

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// The standard's constants, in microseconds, for 1000 B of payload (1064 B of MAC frame).
struct Phy {
    name: &'static str,
    cw_min: u32,
    slot: u64,
    sifs: u64,
    data: u64,
    ack: u64,
    /// aRxPHYStartDelay.
    start_delay: u64,
}

const B: Phy = Phy { name: "802.11b", cw_min: 31, slot: 20, sifs: 10, data: 966, ack: 304, start_delay: 192 };
const A: Phy = Phy { name: "802.11a and g", cw_min: 15, slot: 9, sifs: 16, data: 180, ack: 44, start_delay: 20 };

impl Phy {
    fn difs(&self) -> u64 {
        self.sifs + 2 * self.slot
    }

    fn cell(&self, stations: u32) -> Cell {
        Cell {
            stations,
            cw_min: self.cw_min,
            cw_max: 1023,
            attempts: Some(7),
            slot: us(self.slot),
            success: us(self.data + self.sifs + self.ack + self.difs()),
            collision: us(self.data + self.difs()),
            payload: Bytes::new(1000),
        }
    }
}

fn line(figure: &str, series: &str, x: impl std::fmt::Display, measure: &str, value: f64) {
    println!("{figure}\t{series}\t{x}\t{measure}\t{value}");
}

fn saturated() -> Result<(), theory::Error> {
    for phy in [B, A] {
        for stations in 1..=50 {
            let colliders_resume = us(phy.data + phy.sifs + phy.slot + phy.start_delay);
            let solved = dcf::saturation(&phy.cell(stations), Freezing::Standard { colliders_resume })?;
            line("saturated", phy.name, stations, "throughput", solved.throughput_bps / 1e6);
            line("saturated", phy.name, stations, "collisions", solved.collision_probability);
        }
    }
    Ok(())
}

fn unsaturated() -> Result<(), theory::Error> {
    for stations in [5, 10, 20] {
        for step in 1..=40 {
            let Cell { cw_min, cw_max, slot, success, collision, payload, .. } = B.cell(stations);
            // Load offered by all stations together: 0.15 to 6 Mb/s.
            let offered = f64::from(15 * step) / 100.0;
            let arrivals = Arrivals::Poisson(offered * 1e6 / payload.bits() as f64 / f64::from(stations));
            let group =
                Group { stations, arrivals, buffer: Buffer::Infinite, cw_min, cw_max, success, collision, payload };
            let solved = malone::solve(&[group], slot)?[0];
            let series = format!("{stations} stations");
            line("unsaturated", &series, offered, "throughput", f64::from(stations) * solved.throughput_bps / 1e6);
            line("unsaturated", &series, offered, "collisions", solved.collision_probability);
        }
    }
    Ok(())
}

fn hidden_pair() -> Result<(), theory::Error> {
    let rts = Some(Handshake { rts: us(352), cts: us(304), data_attempts: 2 });
    for (series, handshake) in [("basic access", None), ("RTS/CTS", rts)] {
        for payload in [50, 100, 200, 400, 600, 800, 1000, 1250, 1500, 1750, 2000] {
            let octets = Bytes::new(payload + 64);
            let pair = Pair {
                cw_min: 31,
                cw_max: 255,
                attempts: Some(4),
                slot: us(20),
                frame: us(192 + Rate::mbps(11).time_for(octets).as_nanos().div_ceil(1000)),
                handshake,
                sifs: us(10),
                ack: us(304),
                difs: us(50),
                timeout: us(10 + 20 + 192),
                turnaround: us(5),
                payload: Bytes::new(payload),
            };
            let solved = hidden::saturation(&pair)?;
            line("hidden", series, payload, "throughput", solved.throughput_bps / 1e6);
            line("hidden", series, payload, "dropped", solved.drop_probability);
        }
    }
    Ok(())
}

/// Stations with three categories, by the model and by the slot-exact reference with time-outs.
fn categories() -> Result<(), theory::Error> {
    let medium = Medium { slot: us(9), sifs: us(16) };
    let category = |aifsn, cw_min, cw_max| {
        let (frame, answer, payload) = (us(180), us(16 + 44), Bytes::new(1000));
        Category { aifsn, cw_min, cw_max, attempts: Some(7), frame, answer, payload }
    };
    let names = ["voice", "video", "best effort"];
    for stations in 1..=10 {
        let categories = vec![category(2, 3, 7), category(2, 7, 15), category(3, 15, 1023)];
        let groups = [edca::Group { stations, categories }];
        let colliders = Colliders::AfterTheirFrame(us(16 + 9 + 20));
        let rules = Rules { medium, busy_slots: BusySlots::Count, colliders, turnaround: us(2) };
        let played = play(&groups, rules, 1_000_000);
        for ((name, of), counted) in names.iter().zip(&edca::saturation(&groups, medium)?[0]).zip(&played.counted[0]) {
            line("edca", name, stations, "by_category", of.throughput_bps / 1e6);
            let megabits = counted.successes as f64 * 8000.0 / played.seconds / 1e6;
            line("edca", &format!("{name}, slot-exact"), stations, "by_category", megabits);
        }
    }
    Ok(())
}

/// ALT's buffer under one flow with a round trip of 200 ms: where it settles, and the least throughput (equation (2)).
fn alt_buffer() -> Result<(), alt::OutOfRange> {
    // Capacity of the link of scenarios/reference/theory-alt.toml without ALT, Mb/s and packets of 1000 B per second.
    let (most_mbps, packets_per_s) = (15.92, 1990.0);
    for a in 2..=15 {
        let buffer = alt::Buffer::new([f64::from(a), 1.0], 5.0, 1.0, 0.5)?;
        line("alt", "model", a, "limit", buffer.fixed_point() * 0.2 * packets_per_s);
        line("alt", "model", a, "throughput", most_mbps * alt::utilisation(f64::from(a), 1.0));
    }
    Ok(())
}

/// SWAN's models for four video devices (200 kb/s in packets of 512 B) beside greedy TCP on 802.11b, with basic access and with
/// RTS: the mean MAC delay over the time that each best-effort device is busy, and the time that a target allows them.
fn real_time_beside_best_effort() -> Result<(), theory::Error> {
    let basic = Channel { cw_min: 31, cw_max: 1023, slot: us(20), success: us(975), collision: us(975) };
    let rts = Channel { success: us(1651), collision: us(402), ..basic };
    for (access, channel) in [("basic", basic), ("rts", rts)] {
        let video = |delay| Target { devices: 4, packets_per_second: 200e3 / 4096.0, mac_delay: delay };
        for devices in [8, 16, 32] {
            let series = format!("{devices} best-effort devices");
            // By the target: the delay of video is given, and the mean delay of all follows from it.
            for delay in (8..=80).map(|quarters| us(250 * quarters)) {
                let (real_time, Ok(busy)) = (video(delay), swan::busy_of_each(&channel, &video(delay), devices)) else {
                    continue;
                };
                let busy_real_time = delay.as_secs_f64() * real_time.packets_per_second;
                let classes = [Class { devices: 4, busy: busy_real_time }, Class { devices, busy }];
                if busy < 1.0 && busy_real_time <= 1.0 {
                    let found = swan::mac_delay(&channel, classes)?;
                    line(&format!("swan-delay-{access}"), &series, busy, "delay", found.mac_delay_s * 1e3);
                    line(&format!("swan-delay-{access}"), &series, busy, "video_delay", delay.as_secs_f64() * 1e3);
                }
            }
        }
        for delay in [3, 5, 8] {
            let target = video(Duration::from_millis(delay));
            for devices in 8..=32 {
                let by_2 = swan::busy_of_each(&channel, &target, devices)?;
                line(&format!("swan-busy-{access}"), &format!("{delay} ms, by (2)"), devices, "busy", by_2);
                if let Ok(found) = swan::equilibrium(&channel, &target)
                    && found.is_valid()
                {
                    line(&format!("swan-busy-{access}"), &format!("{delay} ms"), devices, "busy", found.busy(devices));
                }
            }
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    saturated()?;
    unsaturated()?;
    hidden_pair()?;
    categories()?;
    alt_buffer()?;
    real_time_beside_best_effort()?;
    Ok(())
}
