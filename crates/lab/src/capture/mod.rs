//! Frames that nodes sent and heard, as files for other programs: captures with radiotap headers for tshark and
//! Wireshark, and events as JSON lines.

mod addresses;
mod dsr;
mod events;
mod files;
mod filter;
mod frame;
mod internet;
mod pcap;

use addresses::Addresses;
use events::Events;
pub use files::{Files, Wanted, record};
pub use filter::Filter;
use pcap::Capture;
