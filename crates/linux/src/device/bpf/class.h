/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Service classes of packets, according to their DSCP (RFC 2474), which is trusted. Unreadable packets are best effort.
 * Signalling, routing and neighbour discovery (ARP, IPv6) go with real time, because otherwise a full queue of best
 * effort would stop real time, too. */
#include "network.h"

#define DSCP_REAL_TIME 46
/* A flow that was admitted a short time ago. */
#define DSCP_REAL_TIME_NEW 47
#define DSCP_SIGNALLING 40
#define DSCP_ROUTING 48

#define ETHERTYPE_ARP 0x0806
#define ICMPV6 58
/* Types of ICMPv6 from router solicitation to redirect. */
#define FIRST_OF_NEIGHBOURS 133
#define LAST_OF_NEIGHBOURS 137

#define DSCP_LOWER_EFFORT 1
/* Highest discard priority. Packets that state no priority have it. */
#define MOST_PRIORITY 3

/* A value that is no DSCP. */
#define LOOKS_FOR_NEIGHBOURS 64
#define NO_CODE_POINT 65

enum class { BEST_EFFORT, KEEPS_GOING, REAL_TIME, REAL_TIME_NEW };

/* Returns the DSCP of a packet; LOOKS_FOR_NEIGHBOURS, or NO_CODE_POINT if it cannot be read. */
static APART unsigned int code_point(struct __sk_buff *context, const struct sk_buff *skb, __u64 link)
{
	__u8 buffer[IPV6_HEADER];
	struct bpf_dynptr bytes;
	unsigned int protocol;
	const __u8 *header;
	__u64 at;

	if (bpf_dynptr_from_skb(context, 0, &bytes) || !network(&bytes, skb, &protocol, &at, link))
		return NO_CODE_POINT;
	if (protocol == ETHERTYPE_ARP)
		return LOOKS_FOR_NEIGHBOURS;
	if (protocol == ETHERTYPE_IP) {
		header = bpf_dynptr_slice(&bytes, at, buffer, IP_HEADER);
		return header && header[0] >> 4 == 4 ? header[1] >> 2 : NO_CODE_POINT;
	}
	if (protocol != ETHERTYPE_IPV6)
		return NO_CODE_POINT;
	header = bpf_dynptr_slice(&bytes, at, buffer, IPV6_HEADER);
	if (!header || header[0] >> 4 != 6)
		return NO_CODE_POINT;
	/* Only a neighbour sends with this hop limit: no router forwards it (RFC 4861, section 7.1). */
	if (header[6] != ICMPV6 || header[7] != 255)
		return (header[0] & 15) << 2 | header[1] >> 6;
	header = bpf_dynptr_slice(&bytes, at + IPV6_HEADER, buffer, 1);
	return header && header[0] >= FIRST_OF_NEIGHBOURS && header[0] <= LAST_OF_NEIGHBOURS ? LOOKS_FOR_NEIGHBOURS :
											       NO_CODE_POINT;
}

static ALWAYS_INLINE enum class class_of(struct __sk_buff *context, const struct sk_buff *skb, __u64 link)
{
	switch (code_point(context, skb, link)) {
	case DSCP_REAL_TIME:
		return REAL_TIME;
	case DSCP_REAL_TIME_NEW:
		return REAL_TIME_NEW;
	case DSCP_SIGNALLING:
	case DSCP_ROUTING:
	case LOOKS_FOR_NEIGHBOURS:
		return KEEPS_GOING;
	default:
		return BEST_EFFORT;
	}
}

/* Returns the discard priority of a packet; packets with 0 are discarded first. It follows from the drop precedence
 * (RFC 2597), is 0 for lower effort (RFC 8622), and is the highest for all other packets. */
static ALWAYS_INLINE __u32 priority_of(struct __sk_buff *context, const struct sk_buff *skb, __u64 link)
{
	unsigned int code = code_point(context, skb, link), precedence = code >> 1 & 3;

	if (code == DSCP_LOWER_EFFORT)
		return 0;
	return code & 1 || code < 10 || code > 38 ? MOST_PRIORITY : MOST_PRIORITY - precedence;
}
