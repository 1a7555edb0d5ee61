/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Marks real-time packets (ECN, RFC 3168) before they reach a queue of the discipline, as its agent orders: a
 * discipline itself may not write into packets. Shares the maps of sluice.bpf.c. */
#include "kernel.h"
#include "shared.h"
#include "class.h"

/* The next program, or the queue, comes next. */
#define TCX_NEXT (-1)

MAP(settings, ARRAY, 1, struct sluice_settings);
MAP(measured, ARRAY, 1, struct sluice_measured);

/* The loader sets the number of the queue. */
const volatile __u32 queue = 0;

KERNEL(void *bpf_cast_to_kern_ctx(void *context));
/* Returns the kernel's hash of the packet's flow, from addresses and ports. */
static __u32 (*const bpf_get_hash_recalc)(struct __sk_buff *skb) = (void *)34;
/* Marks the packet, and corrects the checksum of an IPv4 header. Returns 1 if the packet has a mark after the call. */
static long (*const bpf_skb_ecn_set_ce)(struct __sk_buff *skb) = (void *)97;

SEC("tcx/egress")
int sluice_mark(struct __sk_buff *skb)
{
	__u32 slot = queue;
	const struct sluice_settings *set = bpf_map_lookup_elem(&settings, &slot);
	struct sluice_measured *is = bpf_map_lookup_elem(&measured, &slot);
	enum class class;

	if (!set || !is || !set->mark_sets || bpf_ktime_get_ns() >= set->valid_until)
		return TCX_NEXT;
	class = class_of(skb, bpf_cast_to_kern_ctx(skb), is->link);
	if (class < (set->mark_new ? REAL_TIME_NEW : REAL_TIME))
		return TCX_NEXT;
	if (bpf_get_hash_recalc(skb) % set->mark_sets == set->mark_index && bpf_skb_ecn_set_ce(skb) > 0)
		__sync_fetch_and_add(&is->marked_packets, 1);
	return TCX_NEXT;
}

char terms[] SEC("license") = "Dual MIT/GPL";
