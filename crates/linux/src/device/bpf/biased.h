/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Biased queue management: packets leave in their order, and when the queue is full, the oldest packet of the lowest
 * discard priority is dropped. This is crate queue's Biased in C; a test requires the same decisions. A lower limit
 * discards in the same way. Packets of a priority are a chain of entries in the ring. The chains are in the tables of
 * the flows of turns, because a queue has only one discipline. Which of the four chains has the oldest packet follows
 * from packets' numbers of arrival. Included after flows.h. */

#define PRIORITIES 4

/* Returns the chain of a priority. */
static ALWAYS_INLINE struct flow *chain_of(struct turns *all, __u32 priority)
{
	return &all->flows[priority % PRIORITIES];
}

/* Takes the first packet of a priority out of the account. */
static ALWAYS_INLINE struct entry *take_of_priority(struct queue q, struct turns *all, __u32 priority)
{
	struct entry *entry = take_of_flow(q, all, chain_of(all, priority));

	if (entry)
		uncharge(q, entry);
	return entry;
}

/* Discards the oldest packet of the lowest priority, if that priority is at most `most`. */
static ALWAYS_INLINE int discard_least(struct queue q, struct turns *all, __u32 most, host_t host)
{
	struct entry *gone = 0;

	for (__u32 priority = 0; priority < PRIORITIES && !gone; priority++)
		if (priority <= most)
			gone = take_of_priority(q, all, priority);
	if (!gone)
		return 0;
	refuse(q, gone->len);
	entry_drop(q, gone, host);
	return 1;
}

/* Discards packets beyond a limit that was lowered or fell back, over as many calls as needed. */
static ALWAYS_INLINE void purge_least(struct queue q, struct turns *all, struct limit limit, __u64 now, host_t host)
{
	if (likely(!is_over(q.is, limit)))
		return;
	AT_MOST(discards_at_once) {
		if (!is_over(q.is, limit) || !discard_least(q, all, PRIORITIES, host))
			break;
	}
	settle(q, now);
}

/* A packet of a priority arrives. Returns the entry where the host must put it; null: the host must drop it. */
static ALWAYS_INLINE struct entry *arrive_biased(struct queue q, __u32 priority, __u64 now, __u32 len, host_t host)
{
	struct turns *all = turns_of(q);
	struct sluice_measured *is = q.is;
	struct limit limit = limit_of(q);
	struct flow *flow = chain_of(all, priority);
	struct entry *place;
	__u32 number;

	interval(q);
	purge_least(q, all, limit, now, host);
	is->arrived_packets++;
	is->arrived_bytes += len;
	if (unlikely(!fits(is->backlog_packets, is->backlog_bytes, limit, len)) && fits(0, 0, limit, len)) {
		AT_MOST(discards_at_once) {
			if (fits(is->backlog_packets, is->backlog_bytes, limit, len) ||
			    !discard_least(q, all, priority, host))
				break;
		}
	}
	place = fits(is->backlog_packets, is->backlog_bytes, limit, len) ? free_place(q, all, &number) : 0;
	if (!place) {
		refuse(q, len);
		settle(q, now);
		return 0;
	}
	place->since = now;
	place->len = len;
	place->flow = is->arrived_packets;
	chain(q, &flow->first, &flow->last, number, place);
	flow->packets++;
	flow->bytes += len;
	is->backlog_packets++;
	is->backlog_bytes += len;
	raise_to(&is->backlog_max, is->backlog_packets);
	occupancy(q, now);
	return place;
}

/* Returns the priority of the oldest packet. */
static ALWAYS_INLINE __u32 oldest_priority(struct queue q, struct turns *all)
{
	__u32 oldest = 0, age = 0;

	for (__u32 priority = 0; priority < PRIORITIES; priority++) {
		struct flow *flow = chain_of(all, priority);
		struct entry *first = flow->first ? entry_at(q, flow->first - 1) : 0;
		/* Numbers wrap, but fewer packets wait than there are numbers. */
		__u32 older = first ? (__u32)q.is->arrived_packets - first->flow + 1 : 0;

		if (older > age) {
			age = older;
			oldest = priority;
		}
	}
	return oldest;
}

/* The device takes a packet; otherwise like depart(). */
static ALWAYS_INLINE struct entry *depart_biased(struct queue q, __u64 now, struct flight **flight, host_t host)
{
	int by_credit = is_by_credit(q);
	struct turns *all = turns_of(q);
	struct entry *first;

	purge_least(q, all, limit_of(q), now, host);
	*flight = 0;
	if (unlikely(!q.is->backlog_packets) || (by_credit && is_credit_used(q, now)) || is_shaped(q, now))
		return 0;
	first = take_of_priority(q, all, oldest_priority(q, all));
	if (!first)
		return 0;
	*flight = leaves(q, first, now, by_credit);
	return first;
}
