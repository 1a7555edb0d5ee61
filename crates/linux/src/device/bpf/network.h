/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Finds the network layer's header in a packet. */
#pragma once

#define LINK_ETHERNET 1
#define ETHERNET_HEADER 14
#define ETHERTYPE_IP 0x0800
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_VLAN_OF_PROVIDERS 0x88a8
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_PPP_SESSION 0x8864
#define ETHERTYPE_MPLS 0x8847
#define ETHERTYPE_MPLS_GROUP 0x8848
#define ETHERTYPE_HANDOVER 0x8917
#define ETHERTYPE_KEYS 0x888e
#define PPP_SESSION_HEADER 8
#define PPP_IP 0x0021
#define PPP_IPV6 0x0057
#define IP_HEADER 20
#define IPV6_HEADER 40

struct bpf_dynptr {
	__u64 opaque[2];
} __attribute__((aligned(8)));
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sk_buff {
	unsigned int len, priority, vlan_all;
	unsigned short protocol, network_header;
	unsigned char *head, *data;
	long long tstamp;
	char cb[48];
};
#pragma clang attribute pop
/* A packet as other programs see it; the loader checks that the kernel's functions take one. */
struct __sk_buff {
	__u32 len, kind, mark;
};
KERNEL(int bpf_dynptr_from_skb(struct __sk_buff *skb, __u64 flags, struct bpf_dynptr *bytes));
KERNEL(void *bpf_dynptr_slice(const struct bpf_dynptr *bytes, __u64 from, void *buffer, __u64 buffer__szk));

/* Returns the bytes of a packet before its network layer. The sender's stack states them, and knows links without a
 * header (PPP, tunnels) and headers that vary (VLAN). A number beyond the packet: none was stated. */
static ALWAYS_INLINE __u32 before_network(const struct sk_buff *skb)
{
	__u64 room = skb->data - skb->head;

	/* A difference of pointers is a number; the compiler must not compute with one pointer alone. */
	asm volatile("" : "+r"(room));
	return skb->network_header - room;
}

/* Finds the header of IPv4, IPv6 or ARP, and its protocol: on Ethernet from the Ethernet header, also behind tags or in
 * a session of PPP; elsewhere from the packet's description. False if it cannot be read. */
static ALWAYS_INLINE int network(const struct bpf_dynptr *bytes, const struct sk_buff *skb, unsigned int *protocol,
				 __u64 *at, __u64 link)
{
	const __u8 *header;
	__u8 buffer[2];

	*protocol = __builtin_bswap16(skb->protocol);
	*at = before_network(skb);
	if (link != LINK_ETHERNET)
		return 1;
	*at = ETHERNET_HEADER;
	/* There are at most two tags. */
	for (int tags = 0; tags < 3; tags++) {
		header = bpf_dynptr_slice(bytes, *at - 2, buffer, 2);
		if (!header)
			return 0;
		*protocol = header[0] << 8 | header[1];
		if (*protocol != ETHERTYPE_VLAN && *protocol != ETHERTYPE_VLAN_OF_PROVIDERS)
			break;
		*at += 4;
	}
	if (*protocol != ETHERTYPE_PPP_SESSION)
		return 1;
	*at += PPP_SESSION_HEADER;
	header = bpf_dynptr_slice(bytes, *at - 2, buffer, 2);
	if (!header)
		return 0;
	*protocol = header[0] << 8 | header[1];
	*protocol = *protocol == PPP_IP ? ETHERTYPE_IP : *protocol == PPP_IPV6 ? ETHERTYPE_IPV6 : 0;
	return 1;
}
