/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Shares of the bytes that an interface sends, in 1/256. They bound what goes before best effort, so that no sender
 * starves it by a code point. Rooms are in bytes. Included after fifo.h; a test requires the same decisions of a twin
 * in Rust. */

/* Bytes that may go first after a pause: some hundred ARP requests. */
#define PRIORITY_BURST 16384

/* Any program may send signalling without admission. What exceeds its share does not go before other packets. */
static ALWAYS_INLINE int is_within_share(struct queue q, __u32 len)
{
	if (q.port->signalling_room < len)
		return 0;
	q.port->signalling_room -= len;
	return 1;
}

/* True if real time goes first. If it has used up its share, it waits for best effort. */
static ALWAYS_INLINE int goes_first(struct queue q)
{
	return q.port->real_time_used <= PRIORITY_BURST;
}

/* A packet of either queue leaves, and makes room in both shares. If real time sends while nothing else waits, at most
 * one packet of it counts later. */
static ALWAYS_INLINE void makes_room(struct queue q, __u64 len)
{
	__u64 room = q.port->signalling_room + len * q.set->signalling_share / 256, used = q.port->real_time_used;

	q.port->signalling_room = room < PRIORITY_BURST ? room : PRIORITY_BURST;
	if (is_real_time(q))
		used = (used < PRIORITY_BURST ? used : PRIORITY_BURST) + len;
	q.port->real_time_used = since(used, len * q.set->real_time_share / 256);
}
