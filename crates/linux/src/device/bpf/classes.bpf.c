/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Service classes and hops without a queue of the kernel, for a test that makes up packets. */
#include "kernel.h"
#include "class.h"
#include "hops.h"

/* Set by the loader: the link's kind, and the length of its header. */
const volatile __u32 link = LINK_ETHERNET;
const volatile __u32 link_header = ETHERNET_HEADER;

SEC("tc")
int class(struct __sk_buff *skb)
{
	return class_of(skb, __builtin_bswap16(skb->protocol), link, link_header);
}

SEC("tc")
int hops(struct __sk_buff *skb)
{
	return hops_of(skb, __builtin_bswap16(skb->protocol), link, link_header);
}

char terms[] SEC("license") = "Dual MIT/GPL";
