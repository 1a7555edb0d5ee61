//! Packets, segments and their fates, in the form that observers get.

use super::flow::Role;
use crate::net::{Load, Packet};
use crate::trace::{self, Owner, Protocol, Report, Segment};
use crate::transport::tcp;
use units::Bytes;

impl Packet {
    /// The packet, as it is told, with the segment that it carries.
    pub(super) fn picture(&self, segment: Option<Box<trace::Segment>>) -> trace::Packet {
        let of = match self.load {
            Load::Flow(flow) => Owner::Flow(flow.into()),
            Load::Routing { .. } => Owner::Routing,
            Load::Note(_) => Owner::Note,
        };
        trace::Packet { id: u64::from(self.serial), of, length: self.length, dscp: self.dscp, ecn: self.ecn, segment }
    }
}

impl From<Role> for Protocol {
    fn from(role: Role) -> Self {
        match role {
            Role::Data | Role::Probe { .. } | Role::Answer { .. } | Role::Regulation { .. } => Self::Udp,
            Role::Request { .. } => Self::EchoRequest,
            Role::Reply { of } => Self::EchoReply(of.into()),
            Role::Stream { .. } => Self::Tcp,
            Role::Acknowledgement { of } => Self::TcpBack(of.into()),
        }
    }
}

impl From<tcp::Report> for Report {
    fn from(report: tcp::Report) -> Self {
        match report {
            tcp::Report::Wireless => Self::Wireless,
            tcp::Report::Congestion { reached } => Self::Congestion { reached },
        }
    }
}

impl Segment {
    /// A segment of the `connection`-th connection of its flow, which has segments of at most `most`, as it is told.
    pub(super) fn new(segment: &tcp::Segment, connection: u32, most: Bytes) -> Self {
        let flags = [
            (segment.fin, Self::FIN),
            (segment.syn, Self::SYN),
            (segment.ack.is_some(), Self::ACK),
            (segment.ece, Self::ECE),
            (segment.cwr, Self::CWR),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).fold(0, |flags, (_, flag)| flags | flag);
        Self {
            connection,
            sequence: segment.start,
            payload: Bytes::new(segment.length.into()),
            most,
            ack: segment.ack,
            window: segment.window,
            sacks: segment.sacks.blocks().iter().map(|block| (block.start, block.end)).collect(),
            sack_permitted: segment.sack_permitted,
            stamp: segment.stamp.map(|stamp| (stamp, segment.echo)),
            report: segment.report.map(Report::from).or(segment.reports.then_some(Report::Permitted)),
            flags,
        }
    }
}
