/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Service classes and hops without a queue of the kernel, for a test with artificial packets. */
#include "kernel.h"
#include "class.h"
#include "hops.h"
#include "lane.h"

/* The loader sets the kind of the link. */
const volatile __u32 link = LINK_ETHERNET;

KERNEL(void *bpf_cast_to_kern_ctx(void *context));
static long (*const bpf_skb_vlan_push)(void *skb, unsigned short protocol, unsigned short tag) = (void *)18;

SEC("tc")
int class(struct __sk_buff *skb)
{
	return class_of(skb, bpf_cast_to_kern_ctx(skb), link);
}

SEC("tc")
int priority(struct __sk_buff *skb)
{
	return priority_of(skb, bpf_cast_to_kern_ctx(skb), link);
}

SEC("tc")
int hops(struct __sk_buff *skb)
{
	return hops_of(skb, bpf_cast_to_kern_ctx(skb), link);
}

/* A mark becomes a tag that stands beside the packet. */
SEC("tc")
int lane(struct __sk_buff *skb)
{
	if (skb->mark)
		bpf_skb_vlan_push(skb, __builtin_bswap16(ETHERTYPE_VLAN), skb->mark);
	return lane_of(bpf_cast_to_kern_ctx(skb));
}

char terms[] SEC("license") = "Dual MIT/GPL";
