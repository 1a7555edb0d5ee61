//! An emulation: a run in real time that carried the packets of real programs.

use serde::{Deserialize, Serialize};

/// Lateness and losses of real programs' packets that flows of the kind `real` do not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Emulation {
    /// Packets delivered.
    pub packets: u64,
    /// Lateness, real minus simulated time of delivery, above which a packet is late.
    pub late_after_s: f64,
    /// Packets delivered with a lateness above `late_after_s`.
    pub late_packets: u64,
    /// Share of packets that were not late; 1 if no packet was delivered.
    pub in_time_ratio: f64,
    /// The largest lateness.
    pub lateness_max_s: f64,
    /// Packets that the network did not carry.
    pub refused_packets: Refused,
}

/// Packets of programs that a network does not carry, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Packets to an address of no other real node.
    pub elsewhere: u64,
    /// Multicast and broadcast packets from beyond a gateway.
    pub multicast: u64,
    /// Packets that the kernel dropped before the device, because they arrived faster than they were read.
    pub device_full: u64,
    /// Packets whose TTL ran out on the way.
    pub ttl: u64,
    /// Packets refused while their node was off the air.
    pub absent: u64,
    /// Packets that are neither IPv4 nor IPv6.
    pub not_ip: u64,
    /// Packets longer than the MTU.
    pub too_long: u64,
}

impl Emulation {
    /// Returns the lateness in words.
    pub fn lateness(&self) -> String {
        format!(
            "{:.3} % of {} real packets left within {} ms, the latest {:.3} ms late",
            100.0 * self.in_time_ratio,
            self.packets,
            // Whole nanoseconds, as it was given.
            (self.late_after_s * 1e9).round() / 1e6,
            self.lateness_max_s * 1e3
        )
    }
}

impl Refused {
    /// Returns the packets that were not carried in words; nothing if there are none.
    pub fn words(&self) -> String {
        let counts = [
            (self.elsewhere, "sent to addresses of no other real node"),
            (self.multicast, "to multicast groups from outside"),
            (self.device_full, "dropped in front of a device"),
            (self.ttl, "whose TTL ran out"),
            (self.absent, "sent by absent nodes or to them"),
            (self.not_ip, "that are not IP"),
            (self.too_long, "longer than the MTU"),
        ];
        let told: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        if told.is_empty() { String::new() } else { format!("packets not carried: {}", told.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_and_reasons_are_told_in_words() {
        let refused_packets = Refused { multicast: 3, ttl: 1, ..Refused::default() };
        let emulation = Emulation {
            packets: 200,
            late_after_s: 0.004_1,
            late_packets: 1,
            in_time_ratio: 0.995,
            lateness_max_s: 0.002_5,
            refused_packets,
        };
        assert_eq!(emulation.lateness(), "99.500 % of 200 real packets left within 4.1 ms, the latest 2.500 ms late");
        assert_eq!(
            refused_packets.words(),
            "packets not carried: 3 to multicast groups from outside, 1 whose TTL ran out"
        );
        assert_eq!(Refused::default().words(), "");
    }
}
