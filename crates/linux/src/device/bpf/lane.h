/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Access categories of packets, and their receivers, as mac80211 finds them. */
#pragma once
#include "network.h"

/* Any struct of the kernel with a word at its beginning, to read what is no struct. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct timespec64 {
	__s64 tv_sec;
};
#pragma clang attribute pop
KERNEL(void *bpf_rdonly_cast(const void *address, __u32 type));
#define TYPE_IN_KERNEL 1

/* Eight bytes of a packet, the first lowest. */
static ALWAYS_INLINE __u64 bytes_at(const unsigned char *address)
{
	const struct timespec64 *word =
		bpf_rdonly_cast(address, __builtin_btf_type_id(*(struct timespec64 *)0, TYPE_IN_KERNEL));

	return word->tv_sec;
}

/* An address as the agent writes it. All groups have the address of broadcast: frames for groups are sent alike. */
#define SIX_BYTES 0xffffffffffff
#define NAMED 0x1000000000000
#define OF_GROUP 1
#define TO_GROUPS (SIX_BYTES | NAMED)

/* Access category by user priority (IEEE 802.11-2016, table 10-1), from the highest priority to 0: voice is 0, video 1,
 * best effort 2, background 3. */
#define LANES_BY_PRIORITY 0x00112332
#define BEST_EFFORT_LANE 2
/* The lower and the upper bit of the category of each DSCP, from 63 to 0, as in Linux from 6.8 on (RFC 8325, 4.3): a
 * priority is its upper three bits but for AF11 to AF13 and CS2 (0), AF21 to AF23 (3), CS3 and AF31 to AF33 (4), and voice
 * admit and expedited forwarding (6). The kernel does not report an access point's own map (qos_map). */
#define LANES_OF_DSCP_LOW 0x0000afff55aaab00ull
#define LANES_OF_DSCP_HIGH 0x00000000aaffffffull

/* The name of the receiver in the first eight bytes of a frame. */
static ALWAYS_INLINE __u64 receiver_of(__u64 bytes)
{
	return bytes & OF_GROUP ? TO_GROUPS : (bytes & SIX_BYTES) | NAMED;
}

/* Returns the access category of a packet, as mac80211 finds it: by what its sender asked for, by its DSCP, or by the
 * class of its first label (MPLS). Before mac80211 the kernel writes a tag into the packet, and
 * what follows the tag does not count. */
static ALWAYS_INLINE __u32 lane_of(const struct sk_buff *skb)
{
	__u32 priority = skb->priority - 256, dscp;
	__u64 header;

	if (priority <= 7)
		return LANES_BY_PRIORITY >> priority * 4 & 3;
	if (skb->vlan_all)
		return BEST_EFFORT_LANE;
	header = bytes_at(skb->head + skb->network_header);
	if (skb->protocol == __builtin_bswap16(ETHERTYPE_IP))
		dscp = header >> 10 & 63;
	else if (skb->protocol == __builtin_bswap16(ETHERTYPE_IPV6))
		dscp = (header & 15) << 2 | (header >> 14 & 3);
	else if (skb->protocol == __builtin_bswap16(ETHERTYPE_MPLS) || skb->protocol == __builtin_bswap16(ETHERTYPE_MPLS_GROUP))
		return LANES_BY_PRIORITY >> (header >> 17 & 7) * 4 & 3;
	else
		/* Handover between media (802.21) and keys (802.1X) are voice. */
		return skb->protocol == __builtin_bswap16(ETHERTYPE_HANDOVER) || skb->protocol == __builtin_bswap16(ETHERTYPE_KEYS) ?
			       0 :
			       BEST_EFFORT_LANE;
	return (LANES_OF_DSCP_LOW >> dscp & 1) | (LANES_OF_DSCP_HIGH >> dscp & 1) << 1;
}
