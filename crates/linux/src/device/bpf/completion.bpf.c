/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Detects completions. The device is done with a packet when it is freed: with mac80211 once its status has come
 * (acknowledged or given up), or if it was dropped below. The program sees each packet that the machine frees, and
 * recognises the queue's packets by their addresses. It is loaded while a queue releases by credit, and shares the maps
 * of sluice.bpf.c. */
#include "kernel.h"
#include "shared.h"
#include "below.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sk_buff {
	unsigned int len;
	long long tstamp;
};
#pragma clang attribute pop

/* Returns a pointer through which the kernel's memory at an address may be read. */
KERNEL(void *bpf_rdonly_cast(const void *address, __u32 type));
#define TYPE_IN_KERNEL 1

MAP(measured, ARRAY, 1, struct sluice_measured);

static ALWAYS_INLINE int done(__u32 index, __u64 id)
{
	__u32 slot = index / FLIGHTS;
	struct sluice_measured *is = bpf_map_lookup_elem(&measured, &slot);

	if (is)
		complete(is, &flights[index], slot, id, bpf_ktime_get_ns());
	return 0;
}

static ALWAYS_INLINE int freed(__u64 address)
{
	__u32 index = leave(address);
	const struct sk_buff *skb;
	__u64 mark;
	__u32 slot;

	if (unlikely(index < ALL_FLIGHTS))
		return done(index, address);
	skb = bpf_rdonly_cast((void *)address, __builtin_btf_type_id(*(struct sk_buff *)0, TYPE_IN_KERNEL));
	mark = skb->tstamp;
	slot = slot_of(mark);
	/* A GSO packet is freed before its pieces; the first piece counts. */
	if (likely(slot >= MOST_QUEUES) || skb->len > MOST_MSDU)
		return 0;
	return done(index_of(slot, mark), mark);
}

SEC("raw_tp/consume_skb")
int sluice_consumed(__u64 *context)
{
	return freed(context[0]);
}

SEC("raw_tp/kfree_skb")
int sluice_dropped(__u64 *context)
{
	return freed(context[0]);
}

char terms[] SEC("license") = "Dual MIT/GPL";
