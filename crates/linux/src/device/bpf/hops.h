/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Hops that packets have travelled, according to their time to live, which is trusted. */
#include "network.h"

/* Longest path. If a time to live implies a longer one, it began at another number. */
#define MOST_HOPS 32

/* Senders begin with a time to live of 64, 128 or 255, and each router subtracts one. */
static ALWAYS_INLINE __u64 hops_by(unsigned int time_to_live)
{
	unsigned int first = time_to_live > 128 ? 255 : time_to_live > 64 ? 128 : 64;
	unsigned int hops = first - time_to_live + 1;

	return hops <= MOST_HOPS ? hops : 0;
}

/* Returns the hops of a packet, including the one that it is about to take; zero if it shows none. */
static APART __u64 hops_of(struct __sk_buff *context, const struct sk_buff *skb, __u64 link)
{
	__u8 buffer[IPV6_HEADER];
	struct bpf_dynptr bytes;
	unsigned int protocol;
	const __u8 *header;
	__u64 at;

	if (bpf_dynptr_from_skb(context, 0, &bytes) || !network(&bytes, skb, &protocol, &at, link))
		return 0;
	if (protocol == ETHERTYPE_IP) {
		header = bpf_dynptr_slice(&bytes, at, buffer, IP_HEADER);
		return header && header[0] >> 4 == 4 ? hops_by(header[8]) : 0;
	}
	if (protocol != ETHERTYPE_IPV6)
		return 0;
	header = bpf_dynptr_slice(&bytes, at, buffer, IPV6_HEADER);
	return header && header[0] >> 4 == 6 ? hops_by(header[7]) : 0;
}
