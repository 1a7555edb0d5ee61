//! Recordings of packets, as tcpdump writes them: pcap and pcapng.
//!
//! Only what a flow needs is read: when each IP packet came and how long it was. All else is passed over. The formats are
//! those of the IETF drafts draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. The container crates that there are were
//! not taken: one reads big-endian files as little-endian in its iterator over a slice, and errors were to name the packet.

mod container;
mod dot11;
mod left;
mod link;
mod link_type;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::Pcap;
