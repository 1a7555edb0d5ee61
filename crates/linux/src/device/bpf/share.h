/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Shares of the bytes sent by an interface, in 1/256, that bound what goes before best effort, so that nobody
 * starves it by a code point. Rooms are in bytes. Included after fifo.h; a test requires the same decisions of a
 * twin in Rust. */

/* What may go first after a pause, in bytes: some hundred requests of ARP. */
#define PRIORITY_BURST 16384

/* Anybody may send signalling, without admission: what exceeds its share does not go before others. */
static ALWAYS_INLINE int is_within_share(struct queue q, __u32 len)
{
	if (q.port->signalling_room < len)
		return 0;
	q.port->signalling_room -= len;
	return 1;
}

/* Real time that has used up its share waits for best effort. */
static ALWAYS_INLINE int goes_first(struct queue q)
{
	return q.port->real_time_used <= PRIORITY_BURST;
}

/* A packet of either queue leaves, and makes room for both shares. Of what real time takes while nothing else waits, no
 * more than a packet counts against it later. */
static ALWAYS_INLINE void makes_room(struct queue q, __u64 len)
{
	__u64 room = q.port->signalling_room + len * q.set->signalling_share / 256, used = q.port->real_time_used;

	q.port->signalling_room = room < PRIORITY_BURST ? room : PRIORITY_BURST;
	if (is_real_time(q))
		used = (used < PRIORITY_BURST ? used : PRIORITY_BURST) + len;
	q.port->real_time_used = since(used, len * q.set->real_time_share / 256);
}
