/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Counts, for a test, how packets of two sockets end: how many are freed for each reason. */
#include "kernel.h"

/* The first socket has port FIRST_PORT, and the second the next one. */
#define FIRST_PORT 40000
#define SOCKETS 2
/* Reasons with a number of their own; the last is for all others. A packet that its device has completed has reason
 * 0. */
#define REASONS 256

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sock_common {
	unsigned short skc_num;
};
struct sock {
	struct sock_common __sk_common;
};
struct sk_buff {
	struct sock *sk;
};
#pragma clang attribute pop

MAP(freed, ARRAY, SOCKETS *REASONS, __u64);

static ALWAYS_INLINE int count(const struct sk_buff *skb, __u64 reason)
{
	const struct sock *sk = skb->sk;
	__u32 index;
	__u64 *count;

	if (!sk)
		return 0;
	index = sk->__sk_common.skc_num - FIRST_PORT;
	if (index >= SOCKETS)
		return 0;
	index = index * REASONS + (reason < REASONS ? reason : REASONS - 1);
	count = bpf_map_lookup_elem(&freed, &index);
	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}

SEC("tp_btf/consume_skb")
int consumed(__u64 *context)
{
	return count((const struct sk_buff *)context[0], 0);
}

SEC("tp_btf/kfree_skb")
int dropped(__u64 *context)
{
	return count((const struct sk_buff *)context[0], (__u32)context[2]);
}

char terms[] SEC("license") = "Dual MIT/GPL";
