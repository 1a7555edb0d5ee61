/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Service classes of packets, by their DSCP (RFC 2474), which is believed; unreadable packets are best effort.
 * Signalling, routing and neighbour discovery (ARP, IPv6) go with real time: otherwise a full queue of best effort
 * would stop real time, too. */
#include "network.h"

#define DSCP_REAL_TIME 46
/* A flow that was admitted a short time ago. */
#define DSCP_REAL_TIME_NEW 47
#define DSCP_SIGNALLING 40
#define DSCP_ROUTING 48

#define ETHERTYPE_ARP 0x0806
#define ICMPV6 58
/* From router solicitation to redirect. */
#define FIRST_OF_NEIGHBOURS 133
#define LAST_OF_NEIGHBOURS 137

enum class { BEST_EFFORT, KEEPS_GOING, REAL_TIME, REAL_TIME_NEW };

static ALWAYS_INLINE enum class of_dscp(unsigned int dscp)
{
	switch (dscp) {
	case DSCP_REAL_TIME:
		return REAL_TIME;
	case DSCP_REAL_TIME_NEW:
		return REAL_TIME_NEW;
	case DSCP_SIGNALLING:
	case DSCP_ROUTING:
		return KEEPS_GOING;
	default:
		return BEST_EFFORT;
	}
}

static APART enum class class_of(struct __sk_buff *context, const struct sk_buff *skb, __u64 link)
{
	__u8 buffer[IPV6_HEADER];
	struct bpf_dynptr bytes;
	unsigned int protocol;
	const __u8 *header;
	__u64 at;

	if (bpf_dynptr_from_skb(context, 0, &bytes) || !network(&bytes, skb, &protocol, &at, link))
		return BEST_EFFORT;
	if (protocol == ETHERTYPE_ARP)
		return KEEPS_GOING;
	if (protocol == ETHERTYPE_IP) {
		header = bpf_dynptr_slice(&bytes, at, buffer, IP_HEADER);
		return header && header[0] >> 4 == 4 ? of_dscp(header[1] >> 2) : BEST_EFFORT;
	}
	if (protocol != ETHERTYPE_IPV6)
		return BEST_EFFORT;
	header = bpf_dynptr_slice(&bytes, at, buffer, IPV6_HEADER);
	if (!header || header[0] >> 4 != 6)
		return BEST_EFFORT;
	if (header[6] != ICMPV6)
		return of_dscp((header[0] & 15) << 2 | header[1] >> 6);
	/* From a neighbour, not from beyond a router (RFC 4861, 7.1). */
	if (header[7] != 255)
		return of_dscp((header[0] & 15) << 2 | header[1] >> 6);
	header = bpf_dynptr_slice(&bytes, at + IPV6_HEADER, buffer, 1);
	return header && header[0] >= FIRST_OF_NEIGHBOURS && header[0] <= LAST_OF_NEIGHBOURS ? KEEPS_GOING : BEST_EFFORT;
}
