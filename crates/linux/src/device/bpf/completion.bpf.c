/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Detects completions. A device is done with a packet when the packet is freed: for mac80211 when its status has
 * come, acknowledged or given up, or when it was dropped below. The program sees every packet that the machine frees,
 * and recognises ours by their mark. It is loaded while a queue releases by credit, and shares the maps of
 * sluice.bpf.c. */
#include "kernel.h"
#include "shared.h"
#include "flight.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sk_buff {
	unsigned int len;
	long long tstamp;
};
#pragma clang attribute pop

MAP(measured, ARRAY, 1, struct sluice_measured);
MAP(flights, ARRAY, 1, struct flight);

static ALWAYS_INLINE int freed(const struct sk_buff *skb)
{
	__u64 mark = skb->tstamp;
	__u32 slot = slot_of(mark);
	struct sluice_measured *is;
	struct flight *flight;
	__u32 index;

	if (likely(slot >= MOST_QUEUES))
		return 0;
	index = slot * FLIGHTS + (__u32)mark % FLIGHTS;
	is = bpf_map_lookup_elem(&measured, &slot);
	flight = bpf_map_lookup_elem(&flights, &index);
	if (is && flight)
		complete(is, flight, mark, skb->len, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/consume_skb")
int sluice_consumed(__u64 *context)
{
	return freed((const struct sk_buff *)context[0]);
}

SEC("tp_btf/kfree_skb")
int sluice_dropped(__u64 *context)
{
	return freed((const struct sk_buff *)context[0]);
}

char terms[] SEC("license") = "Dual MIT/GPL";
