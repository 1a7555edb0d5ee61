//! Parses the role, channel and power of an interface (`NL80211_CMD_NEW_INTERFACE`).

use super::reading::{ATTR_IFTYPE, ATTR_WIPHY, body};
use crate::kernel::wire::{attributes, u32_at};

const ATTR_FREQUENCY: u16 = 38;
const ATTR_TX_POWER: u16 = 98;
const ATTR_CHANNEL_WIDTH: u16 = 159;
const ATTR_CENTRE_1: u16 = 160;
const ATTR_CENTRE_2: u16 = 161;
const ATTR_LINKS: u16 = 312;

/// Widths in MHz, in the order of `enum nl80211_chan_width`.
const WIDTHS: [u32; 14] = [20, 20, 40, 80, 160, 160, 5, 10, 1, 2, 4, 8, 16, 320];

/// An interface of a phy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Number of the interface's phy.
    pub phy: u32,
    /// Use of the interface, such as access point or station.
    pub role: Role,
    /// Channel; with several links (802.11be) the first link's. `None` while the interface is down or not connected.
    pub channel: Option<Channel>,
    /// Transmit power in hundredths of a dBm.
    pub power: Option<i32>,
}

/// Roles of interfaces. All except `Other` carry a network's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Access point, or the group owner of a peer-to-peer group.
    AccessPoint,
    /// Station of an access point.
    Station,
    /// Mesh point (802.11s).
    MeshPoint,
    /// Member of a network without an access point.
    AdHoc,
    /// Another role, such as a monitor.
    #[default]
    Other,
}

impl Role {
    /// Converts a number of `enum nl80211_iftype`.
    const fn of(number: u32) -> Self {
        match number {
            1 => Self::AdHoc,
            2 | 8 => Self::Station,
            3 | 4 | 9 => Self::AccessPoint,
            7 => Self::MeshPoint,
            _ => Self::Other,
        }
    }

    /// Returns the role in words: `access point`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AccessPoint => "access point",
            Self::Station => "station",
            Self::MeshPoint => "mesh point",
            Self::AdHoc => "ad hoc",
            Self::Other => "other",
        }
    }
}

/// A channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    /// Centre of the primary channel of 20 MHz, in MHz.
    pub frequency: u32,
    /// Width in MHz; `None` if it is not reported.
    pub width: Option<u32>,
    /// Centre of the whole channel in MHz; for 80 + 80 MHz the centres of both parts.
    pub centres: [Option<u32>; 2],
}

impl Channel {
    /// Returns the primary channel's number (`ieee80211_freq_khz_to_channel`); `None` outside of 2.4, 5 and 6 GHz.
    pub const fn number(&self) -> Option<u32> {
        match self.frequency {
            2_412..2_484 => Some((self.frequency - 2_407) / 5),
            2_484 => Some(14),
            5_005..5_935 => Some((self.frequency - 5_000) / 5),
            5_935 => Some(2),
            5_955..=7_115 => Some((self.frequency - 5_950) / 5),
            _ => None,
        }
    }

    /// Returns the band's number in `enum nl80211_band`.
    pub(crate) const fn band(&self) -> Option<usize> {
        match self.frequency {
            2_400..2_500 => Some(0),
            4_900..5_935 => Some(1),
            57_000..72_000 => Some(2),
            5_935..7_200 => Some(3),
            _ => None,
        }
    }
}

pub(super) fn interface(payload: &[u8]) -> Option<Interface> {
    let (mut phy, mut role, mut interface) = (None, None, Interface::default());
    (interface.channel, interface.power) = on_the_air(body(payload));
    for (kind, value) in body(payload) {
        match kind {
            ATTR_WIPHY => phy = u32_at(value, 0),
            ATTR_IFTYPE => role = u32_at(value, 0).map(Role::of),
            // The links have the channels, and the interface has none of its own.
            ATTR_LINKS if interface.channel.is_none() => {
                let mut links = attributes(value).map(|(_, link)| on_the_air(attributes(link)));
                if let Some((channel, power)) = links.find(|(channel, _)| channel.is_some()) {
                    (interface.channel, interface.power) = (channel, power.or(interface.power));
                }
            }
            _ => {}
        }
    }
    Some(Interface { phy: phy?, role: role?, ..interface })
}

/// Returns the channel and the power that these attributes contain.
fn on_the_air<'a>(parts: impl Iterator<Item = (u16, &'a [u8])>) -> (Option<Channel>, Option<i32>) {
    let (mut channel, mut frequency, mut power) = (Channel::default(), None, None);
    for (kind, value) in parts {
        let number = u32_at(value, 0);
        match kind {
            ATTR_FREQUENCY => frequency = number,
            ATTR_CHANNEL_WIDTH => channel.width = number.and_then(|number| WIDTHS.get(number as usize).copied()),
            ATTR_CENTRE_1 => channel.centres[0] = number,
            ATTR_CENTRE_2 => channel.centres[1] = number.filter(|&centre| centre != 0),
            ATTR_TX_POWER => power = number.map(u32::cast_signed),
            _ => {}
        }
    }
    (frequency.map(|frequency| Channel { frequency, ..channel }), power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::nl80211::told;
    use crate::kernel::wire::Request;
    use proptest::prelude::*;

    const NESTED: u16 = 0x8000;

    fn with(request: Request, numbers: &[(u16, u32)]) -> Request {
        numbers.iter().fold(request, |request, (kind, number)| request.with(*kind, &number.to_ne_bytes()))
    }

    /// An access point of phy 2 on channel 36 with 80 MHz and 20 dBm; attributes as in `nl80211_send_iface`.
    fn access_point() -> Vec<u8> {
        let request = Request::new(28, 0, &[7, 1, 0, 0]);
        let numbers = [
            (3, 4),
            (ATTR_WIPHY, 2),
            (ATTR_IFTYPE, 3),
            (ATTR_FREQUENCY, 5_180),
            (ATTR_CHANNEL_WIDTH, 3),
            (ATTR_CENTRE_1, 5_210),
            (ATTR_TX_POWER, 2_000),
        ];
        with(request, &numbers).finish(1)
    }

    #[test]
    fn an_interface_has_its_role_channel_and_power() {
        let expected = Interface {
            phy: 2,
            role: Role::AccessPoint,
            channel: Some(Channel { frequency: 5_180, width: Some(80), centres: [Some(5_210), None] }),
            power: Some(2_000),
        };
        assert_eq!(told(&access_point()).interface, Some(expected));
        assert_eq!(expected.channel.unwrap().number(), Some(36));
        // The station is not connected, and its driver's power is below a milliwatt.
        let idle = with(
            Request::new(28, 0, &[7, 1, 0, 0]),
            &[(ATTR_WIPHY, 0), (ATTR_IFTYPE, 2), (ATTR_TX_POWER, (-150_i32).cast_unsigned())],
        );
        let expected = Interface { role: Role::Station, power: Some(-150), ..Interface::default() };
        assert_eq!(told(&idle.finish(1)).interface, Some(expected));
        for part in [(ATTR_IFTYPE, 2), (ATTR_WIPHY, 2)] {
            assert_eq!(told(&with(Request::new(28, 0, &[7, 1, 0, 0]), &[part]).finish(1)).interface, None);
        }
    }

    #[test]
    fn of_several_links_the_first_that_has_a_channel_counts() {
        let link = |numbers: &[(u16, u32)]| with(Request::new(0, 0, &[]), numbers).finish(0).split_off(16);
        let links = Request::new(0, 0, &[])
            .with(1 | NESTED, &link(&[(313, 0)]))
            .with(2 | NESTED, &link(&[(ATTR_FREQUENCY, 5_955), (ATTR_CHANNEL_WIDTH, 13), (ATTR_TX_POWER, 1_700)]));
        let request = with(Request::new(28, 0, &[7, 1, 0, 0]), &[(ATTR_WIPHY, 0), (ATTR_IFTYPE, 3)]);
        let request = request.with(ATTR_LINKS | NESTED, &links.finish(0)[16..]);
        let interface = told(&request.finish(1)).interface.unwrap();
        let channel = Channel { frequency: 5_955, width: Some(320), centres: [None; 2] };
        assert_eq!((interface.channel, interface.power, channel.number()), (Some(channel), Some(1_700), Some(1)));
    }

    #[test]
    fn channels_have_their_numbers_and_bands() {
        for (frequency, number, band) in [
            (2_412, Some(1), Some(0)),
            (2_472, Some(13), Some(0)),
            (2_484, Some(14), Some(0)),
            (5_885, Some(177), Some(1)),
            (5_935, Some(2), Some(3)),
            (7_115, Some(233), Some(3)),
            (60_480, None, Some(2)),
            (902, None, None),
            (0, None, None),
            (u32::MAX, None, None),
        ] {
            let channel = Channel { frequency, ..Channel::default() };
            assert_eq!((channel.number(), channel.band()), (number, band), "{frequency}");
        }
    }

    proptest! {
        /// One byte of a valid message is changed, or the message is cut.
        #[test]
        fn a_broken_interface_is_read_to_its_end(at in 0_usize..120, to in any::<u8>(), cut in 0_usize..120) {
            let mut bytes = access_point();
            let at = at % bytes.len();
            bytes[at] = to;
            bytes.truncate(bytes.len().saturating_sub(cut));
            let _ = told(&bytes);
        }
    }
}
