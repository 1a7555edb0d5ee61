//! What nodes sent and heard, as files for other programs: captures with radiotap headers for tshark and Wireshark, and
//! events as JSON lines.

mod addresses;
mod events;
mod filter;
mod frame;
mod internet;
mod pcap;
mod recording;

use addresses::Addresses;
use events::Events;
pub use filter::Filter;
use pcap::Capture;
pub use recording::{RecordingError, Wanted, record};
