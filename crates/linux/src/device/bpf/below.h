/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Tables of the packets below, shared by the discipline and the program that traces freed packets. They are variables
 * because an element of a map must be looked up, and each packet that the machine frees is looked up here. */
#pragma once
#include "flight.h"

#define SHARED SEC(".bss.below")

#define ALL_FLIGHTS (MOST_QUEUES * FLIGHTS)
struct flight flights[ALL_FLIGHTS] SHARED;

/* Finds the flight of a packet by the packet's address. The hash table has the address from before the packet can be
 * freed until it is freed. No other packet has the address meanwhile, so an address has one writer at a time. With 768
 * packets of an interface below, one in three million finds its bucket full; its completion is missed. */
#define WAYS 3
#define BUCKET_BITS 15
struct bucket {
	__u64 id[WAYS];
	/* Index among the flights. */
	__u64 flight[WAYS];
};
struct bucket buckets[1 << BUCKET_BITS] SHARED;

/* Returns the index of the flight of a queue's packet. */
static ALWAYS_INLINE __u32 index_of(__u32 slot, __u64 position)
{
	return slot % MOST_QUEUES * FLIGHTS + (__u32)position % FLIGHTS;
}

/* The hash multiplies by the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4). */
#define GOLDEN_RATIO 0x9e3779b97f4a7c15

static ALWAYS_INLINE struct bucket *bucket_of(__u64 id)
{
	return &buckets[id * GOLDEN_RATIO >> (64 - BUCKET_BITS)];
}

/* Enters a packet that goes below. If the address is in the table, the end of the earlier packet was missed. */
static ALWAYS_INLINE void enter(__u64 id, __u32 flight)
{
	struct bucket *bucket = bucket_of(id);

	for (int way = 0; way < WAYS; way++) {
		__u64 found = bucket->id[way];

		if ((!found && !replace(&bucket->id[way], 0, id)) || found == id) {
			bucket->flight[way] = flight;
			return;
		}
	}
}

/* A packet of the machine is freed. Returns the index of its flight; ALL_FLIGHTS: the packet is not ours. */
static ALWAYS_INLINE __u32 leave(__u64 id)
{
	struct bucket *bucket = bucket_of(id);

	if (likely(bucket->id[0] != id && bucket->id[1] != id && bucket->id[2] != id))
		return ALL_FLIGHTS;
	/* Keeps the compiler from joining the two searches: the first is short. */
	asm volatile("" ::: "memory");
	for (int way = 0; way < WAYS; way++)
		if (bucket->id[way] == id) {
			__u32 flight = bucket->flight[way];

			/* The exchange is fully ordered: no packet can enter before the flight is read. */
			__sync_lock_test_and_set(&bucket->id[way], 0);
			return flight % ALL_FLIGHTS;
		}
	return ALL_FLIGHTS;
}
