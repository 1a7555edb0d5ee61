//! The DSR Options header (RFC 4728, section 6) as bytes.

use super::addresses::Addresses;
use sim::trace::{DsrMessage, DsrOptions};

/// Types of options.
const PAD_N: u8 = 0;
const ROUTE_REQUEST: u8 = 1;
const ROUTE_REPLY: u8 = 2;
const ROUTE_ERROR: u8 = 3;
const SOURCE_ROUTE: u8 = 96;
const PAD_1: u8 = 224;
/// Type of a route error: the node cannot be reached.
const NODE_UNREACHABLE: u8 = 1;
/// Length of Next Header, flags and Payload Length, in bytes.
const FIXED: usize = 4;

/// Returns the length of the header of a packet that has a source route and no other option.
pub(super) fn route_length(options: &DsrOptions) -> usize {
    FIXED + 4 + 4 * options.route.len().saturating_sub(2)
}

/// Builds the header, padded to `length`, with the protocol number of the payload that follows.
pub(super) fn header(options: &DsrOptions, next: u8, length: usize) -> Vec<u8> {
    let mut bytes = vec![next, 0];
    bytes.extend(u16::try_from(length.saturating_sub(FIXED)).unwrap_or(u16::MAX).to_be_bytes());
    let told = options.route.first().copied();
    match &options.message {
        Some(DsrMessage::Request { id, target, broken, .. }) => {
            let passed = options.route.get(1..).unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "16 bits of identification come round again")]
            let id = (*id as u16).to_be_bytes();
            option(&mut bytes, ROUTE_REQUEST, &id, std::iter::once(target).chain(passed));
            if let Some(broken) = broken {
                error(&mut bytes, options.salvaged, *broken, told);
            }
        }
        Some(DsrMessage::Reply { route }) => {
            source_route(&mut bytes, options);
            option(&mut bytes, ROUTE_REPLY, &[0], route.get(1..).unwrap_or_default());
        }
        Some(DsrMessage::Error { broken }) => {
            source_route(&mut bytes, options);
            error(&mut bytes, options.salvaged, *broken, options.route.last().copied());
        }
        None => source_route(&mut bytes, options),
    }
    match length.saturating_sub(bytes.len()) {
        0 => {}
        1 => bytes.push(PAD_1),
        more => {
            bytes.extend([PAD_N, u8::try_from(more - 2).expect("a few bytes")]);
            bytes.resize(length, 0);
        }
    }
    bytes
}

/// Writes the nodes between the ends, and the number of nodes that lie ahead.
fn source_route(bytes: &mut Vec<u8>, options: &DsrOptions) {
    let nodes = &options.route;
    let between = nodes.get(1..nodes.len().saturating_sub(1)).unwrap_or_default();
    let left = between.len().saturating_sub(usize::from(options.at));
    let word = u16::from(options.salvaged & 0xf) << 6 | u16::try_from(left).expect("at most sixteen nodes");
    option(bytes, SOURCE_ROUTE, &word.to_be_bytes(), between);
}

fn error(bytes: &mut Vec<u8>, salvaged: u8, broken: (u32, u32), told: Option<u32>) {
    let (from, to) = broken;
    let nodes = [Some(from), told, Some(to)];
    option(bytes, ROUTE_ERROR, &[NODE_UNREACHABLE, salvaged & 0xf], nodes.iter().flatten());
}

/// Writes an option: its type, the length that results, these bytes, and these nodes' addresses.
fn option<'a>(bytes: &mut Vec<u8>, kind: u8, first: &[u8], nodes: impl IntoIterator<Item = &'a u32>) {
    let start = bytes.len();
    bytes.extend([kind, 0]);
    bytes.extend(first);
    nodes.into_iter().for_each(|&node| bytes.extend(Addresses::ip(Some(node))));
    bytes[start + 1] = u8::try_from(bytes.len() - start - 2).expect("an option of at most sixteen nodes");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(route: &[u32], at: u8, message: Option<DsrMessage>) -> DsrOptions {
        DsrOptions { route: route.to_vec(), at, salvaged: 2, message }
    }

    #[test]
    fn options_are_those_of_the_rfc() {
        // Over three hops: two nodes between; the second node has one node ahead.
        let data = options(&[0, 1, 2, 3], 1, None);
        assert_eq!(route_length(&data), 16);
        let expected = [17, 0, 0, 12, 96, 10, 0, 0x81, 10, 0, 0, 2, 10, 0, 0, 3];
        assert_eq!(header(&data, 17, 16), expected);
        let request = DsrMessage::Request { id: 0x1_0007, target: 3, hops_left: 14, broken: None };
        let expected = [59, 0, 0, 12, 1, 10, 0, 7, 10, 0, 0, 4, 10, 0, 0, 2];
        assert_eq!(header(&options(&[0, 1], 0, Some(request)), 59, 16), expected);
        let news = DsrMessage::Request { id: 7, target: 3, hops_left: 14, broken: Some((1, 2)) };
        let expected = [1, 6, 0, 7, 10, 0, 0, 4, 3, 14, 1, 2, 10, 0, 0, 2, 10, 0, 0, 1, 10, 0, 0, 3];
        assert_eq!(header(&options(&[0], 0, Some(news)), 59, 28)[4..], expected);
        // 3 B and two addresses, padded with one byte, or with ns-2's length with five.
        let reply = options(&[2, 1, 0], 0, Some(DsrMessage::Reply { route: vec![0, 1, 2] }));
        let expected = [96, 6, 0, 0x81, 10, 0, 0, 2, 2, 9, 0, 10, 0, 0, 2, 10, 0, 0, 3, 224];
        assert_eq!(header(&reply, 59, 24)[4..], expected);
        assert_eq!(header(&reply, 59, 28)[23..], [0, 3, 0, 0, 0]);
        let error = options(&[1, 0], 0, Some(DsrMessage::Error { broken: (1, 2) }));
        let expected = [96, 2, 0, 0x80, 3, 14, 1, 2, 10, 0, 0, 2, 10, 0, 0, 1, 10, 0, 0, 3];
        assert_eq!(header(&error, 59, 24)[4..], expected);
    }
}
