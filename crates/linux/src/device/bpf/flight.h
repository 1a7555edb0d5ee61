/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Packets that were handed down to a device that never pushes back, until it is done with them. A packet bears a mark
 * that names its queue and its place here. Completions run in parallel to the queue, not under its lock: the two meet
 * in the mark, which one of them takes. */

/* Places for each queue. */
#define PLACE_BITS 8
#define FLIGHTS (1 << PLACE_BITS)
/* Bits of a mark below the number of its queue. */
#define MARK_BITS 48
/* The longest packet that a radio takes in one piece (IEEE 802.11-2016, 9.2.4.7). */
#define MOST_MSDU 2304

struct flight {
	/* Zero: the packet is completed or given up. */
	__u64 mark;
	__u64 arrived, handed, len;
	/* Not zero: a packet of real time. */
	__u64 is_real_time;
	/* Written when it is completed, done last. */
	__u64 service, done;
};

static ALWAYS_INLINE __u64 since(__u64 now, __u64 then)
{
	return likely(now > then) ? now - then : 0;
}

/* A program may give its own packets any departure time (SO_TXTIME), and so any mark; 40 bits of it come from a
 * secret, by SplitMix64 (Steele, Lea, Flood 2014). Known gap: a packet's mark is returned to its sender as a time stamp,
 * and the secret can be computed from it. The place is in the lowest bits. */
static ALWAYS_INLINE __u64 mark_of(__u32 slot, __u64 position, __u64 secret)
{
	__u64 mixed = secret + position * 0x9e3779b97f4a7c15;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
	mixed = mixed >> 24 << PLACE_BITS;
	return (__u64)(FIRST_MAJOR + slot) << MARK_BITS | mixed | position % FLIGHTS;
}

/* Returns the queue of a mark; MOST_QUEUES or more: none. */
static ALWAYS_INLINE __u32 slot_of(__u64 mark)
{
	return (__u32)(mark >> MARK_BITS) - FIRST_MAJOR;
}

static ALWAYS_INLINE int take_mark(struct flight *flight, __u64 mark)
{
	return __sync_val_compare_and_swap(&flight->mark, mark, 0) == mark;
}

/* The device is done with a packet of `len` bytes. A GSO packet is freed before its pieces, which bear its mark: the
 * first of those counts. */
static ALWAYS_INLINE void complete(struct sluice_measured *is, struct flight *flight, __u64 mark, __u64 len, __u64 now)
{
	__u64 before;

	if (flight->mark != mark || (flight->len > MOST_MSDU && len > MOST_MSDU) || !take_mark(flight, mark))
		return;
	before = __sync_lock_test_and_set(&is->completed_at, now);
	flight->service = since(now, before > flight->handed ? before : flight->handed);
	__sync_lock_test_and_set(&flight->done, now);
	__sync_fetch_and_add(&is->completed_packets, 1);
}
