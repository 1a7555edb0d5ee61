//! Reader of packet recordings as tcpdump writes them: pcap and pcapng.
//!
//! Only the time and the length of each IP packet are read. The formats are those of the IETF drafts
//! draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. This reader exists because errors must name the packet. The
//! known crate also reads big-endian files as little-endian when it iterates over a slice.

mod container;
mod dot11;
mod error;
mod ip;
mod link;
mod link_type;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::Pcap;
