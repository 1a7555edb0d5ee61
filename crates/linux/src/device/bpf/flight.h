/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Packets handed down to a device that never pushes back, until it is done with them. A packet is identified by its
 * address, which no other packet has until it is freed. The pieces of a GSO packet have addresses that are not known
 * before the pieces are made. They inherit its departure time, and bear a mark there. Completions run in parallel to
 * the queue, not under its lock: both access `id`, which only one of them can take. A test tries all orders of their
 * steps. */

#pragma once

/* Number of bits in the index of an entry. */
#define PLACE_BITS 10
#define FLIGHTS (1 << PLACE_BITS)
/* Number of bits of a mark below those of its queue's number. */
#define MARK_BITS 48
/* The longest packet that a radio takes in one piece (IEEE 802.11-2016, 9.2.4.7). */
#define MOST_MSDU 2304

/* A packet whose address was not recorded: its completion is missed. */
#define NOT_SAID 0xffffffffffffffff

struct flight {
	/* Address of the packet, or mark of its pieces; zero once it is completed or given up. */
	__u64 id;
	__u64 arrived, handed, len;
	/* Not zero for a packet of real time. */
	__u64 is_real_time;
	/* Written at the completion, `done` last. Until then `service` is the index of the entry. */
	__u64 service, done;
	/* Like `service`, but from the completion of the radio's previous packet, on any interface. */
	__u64 alone;
	/* With turns: the packet's port and its estimated airtime; zero without turns. */
	__u64 port, airtime;
};

static ALWAYS_INLINE __u64 since(__u64 now, __u64 then)
{
	__s64 time = now - then;

	return likely(time > 0) ? time : 0;
}

/* Ring of the airtimes of packets that the device is done with, each with its port in the lowest bits, until the queue
 * takes it; with the numbers of added and taken entries. A queue takes all entries before it hands down another packet,
 * so the ring never has more entries than packets were below. Also the time at which the radio with this number, which
 * several queues may share, was last done with a packet. All this is one variable, because the compiler orders several
 * variables as each program uses them. */
#define PORT_BITS 8
#define PORTS_OF_QUEUE (1 << PORT_BITS)
#define LANDINGS (FLIGHTS * 2)
struct landed {
	__u64 of[LANDINGS];
	__u64 came, taken, completed_at;
} all_landed[MOST_QUEUES] SEC(".bss.below");

static ALWAYS_INLINE void land(__u32 slot, __u32 port, __u64 airtime)
{
	struct landed *landed = &all_landed[slot % MOST_QUEUES];
	__u64 number = __sync_fetch_and_add(&landed->came, 1);

	__sync_lock_test_and_set(&landed->of[number % LANDINGS], airtime << PORT_BITS | port);
}

/* Takes one landed packet; zero: there is none, or it is being written now. */
static ALWAYS_INLINE __u64 next_landed(struct landed *landed)
{
	volatile __u64 *at = &landed->of[landed->taken % LANDINGS];
	__u64 what = *at;

	if (what) {
		*at = 0;
		landed->taken++;
	}
	return what;
}

#define ROTATED(word, bits) ((word) << (bits) | (word) >> (64 - (bits)))

/* SipHash-2-4 of a word (Aumasson and Bernstein, 2012). */
static APART __u64 siphash(__u64 word, __u64 key_first, __u64 key_second)
{
	__u64 a = key_first ^ 0x736f6d6570736575, b = key_second ^ 0x646f72616e646f6d;
	__u64 c = key_first ^ 0x6c7967656e657261, d = key_second ^ 0x7465646279746573;

	d ^= word;
	for (int round = 0; round < 8; round++) {
		if (round == 2) {
			/* The last word has the length. */
			a ^= word;
			d ^= 8ull << 56;
		} else if (round == 4) {
			a ^= 8ull << 56;
			c ^= 0xff;
		}
		a += b;
		b = ROTATED(b, 13) ^ a;
		a = ROTATED(a, 32);
		c += d;
		d = ROTATED(d, 16) ^ c;
		a += d;
		d = ROTATED(d, 21) ^ a;
		c += b;
		b = ROTATED(b, 17) ^ c;
		c = ROTATED(c, 32);
	}
	return a ^ b ^ c ^ d;
}

/* A program may give its own packets any departure time (SO_TXTIME), and so any mark, and it can see the marks of its
 * own packets. Therefore 38 bits of a mark are a keyed pseudo-random function of its number, and each mark is valid for
 * one completion. The lowest bits have the index of the entry. */
static ALWAYS_INLINE __u64 mark_of(__u32 slot, __u64 position, __u64 key_first, __u64 key_second)
{
	__u64 mixed = siphash(position, key_first, key_second) >> (16 + PLACE_BITS) << PLACE_BITS;

	return (__u64)(FIRST_MAJOR + slot) << MARK_BITS | mixed | position % FLIGHTS;
}

/* Returns the queue of a mark; MOST_QUEUES or more: no queue. */
static ALWAYS_INLINE __u32 slot_of(__u64 mark)
{
	return (__u32)(mark >> MARK_BITS) - FIRST_MAJOR;
}

static ALWAYS_INLINE int take_id(struct flight *flight, __u64 id)
{
	return replace(&flight->id, id, 0) == id;
}

/* Records that the device is done with a packet of a queue. */
static ALWAYS_INLINE void complete(struct sluice_measured *is, struct flight *flight, __u32 slot, __u64 id, __u64 now)
{
	__u64 before;

	if (!take_id(flight, id))
		return;
	if (flight->airtime)
		land(slot, flight->port, flight->airtime);
	before = __sync_lock_test_and_set(&is->completed_at, now);
	flight->service = since(now, before > flight->handed ? before : flight->handed);
	flight->alone = flight->service;
	if (unlikely(is->others)) {
		before = __sync_lock_test_and_set(&all_landed[(__u32)is->radio % MOST_QUEUES].completed_at, now);
		flight->alone = since(now, before > flight->handed ? before : flight->handed);
	}
	__sync_lock_test_and_set(&flight->done, now);
	__sync_fetch_and_add(&is->completed_packets, 1);
}
