/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Offset of the network layer's header in a packet. */
#pragma once

#define LINK_ETHERNET 1
#define ETHERNET_HEADER 14
#define ETHERTYPE_IP 0x0800
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_VLAN_OF_PROVIDERS 0x88a8
#define ETHERTYPE_IPV6 0x86dd
#define IP_HEADER 20
#define IPV6_HEADER 40

struct bpf_dynptr {
	__u64 opaque[2];
} __attribute__((aligned(8)));
/* A packet as other programs see it, as far as it is used; the loader checks that the kernel's functions take one. */
struct __sk_buff {
	__u32 len, pkt_type, mark, queue_mapping, protocol;
};
KERNEL(int bpf_dynptr_from_skb(struct __sk_buff *skb, __u64 flags, struct bpf_dynptr *bytes));
KERNEL(void *bpf_dynptr_slice(const struct bpf_dynptr *bytes, __u64 from, void *buffer, __u64 buffer__szk));

/* Finds where the header of the network layer begins, and its protocol: that of the packet's description, unless the
 * link's header of `header` bytes says it. False if it cannot be read. */
static ALWAYS_INLINE int network(const struct bpf_dynptr *bytes, unsigned int *protocol, __u64 *at, __u64 link, __u64 link_header)
{
	const __u8 *header;
	__u8 buffer[2];

	*at = link_header;
	if (link != LINK_ETHERNET)
		return 1;
	*at = ETHERNET_HEADER;
	/* Two tags at most. */
	for (int tags = 0; tags < 3; tags++) {
		header = bpf_dynptr_slice(bytes, *at - 2, buffer, 2);
		if (!header)
			return 0;
		*protocol = header[0] << 8 | header[1];
		if (*protocol != ETHERTYPE_VLAN && *protocol != ETHERTYPE_VLAN_OF_PROVIDERS)
			break;
		*at += 4;
	}
	return 1;
}
