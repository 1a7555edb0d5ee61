/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Queues with turns in a queue of the kernel: they find the stations of packets, and release packets by the law. */

KERNEL(__u32 bpf_skb_get_hash(struct sk_buff *skb));

/* Returns the port of a packet. */
static ALWAYS_INLINE __u32 port_of(struct queue q, const struct sk_buff *skb)
{
	if (q.is->discipline != MANY_STATIONS)
		return 0;
	return q.is->link == LINK_ETHERNET ? port_of_frame(q.slot, skb) : lane_of(skb);
}

static ALWAYS_INLINE int enqueue_turns(struct queue q, struct sk_buff *skb, host_t host, __u64 now)
{
	__u32 number = port_of(q, skb), hash = bpf_skb_get_hash(skb), all, len;
	struct turns *turns;
	struct entry *place;
	struct port *port;
	__u64 dropped;

	interval(q);
	if (unlikely(q.is->left_places))
		free_left(q, discards_at_once, host.to_free);
	/* Computed after the calls above, because registers would be spilled over these calls. */
	all = link_len(skb);
	len = network_len(skb, all);
	turns = turns_of(q);
	port = port_at(&turns->law, number);
	dropped = q.is->dropped_packets;
	place = join(q, turns, port, number, hash, len, now, host);
	if (!place) {
		host.sch->qstats.drops++;
		bpf_qdisc_skb_drop(skb, host.to_free);
		return NET_XMIT_DROP;
	}
	keep(place, skb, all, host);
	bound(q, turns, port, number, len, now, host);
	return q.is->dropped_packets == dropped ? NET_XMIT_SUCCESS : NET_XMIT_CN;
}

/* Returns the port from which the next packet may leave, if there is one. */
static ALWAYS_INLINE __u32 choose(struct queue q, __u64 now, int by_credit)
{
	struct law *law = &turns_of(q)->law;
	struct sluice_measured *is = q.is;
	__u64 done, below;
	__u32 port;

	if (is->discipline != MANY_STATIONS)
		return 0;
	/* The device was done with the last packet a while ago. */
	done = is->completed_at < now ? is->completed_at : now;
	take_landed(law, q.slot, done > law->medium.since ? done : law->medium.since);
	if (!by_credit) {
		forget_flight(law);
	} else {
		below = below_of(is);
		if (below >= 2 && below_with_others(q.set, is, below, now) >= q.set->credit_packets)
			return NO_PORT;
	}
	count_stations(law, now);
	for (__u32 of = 0; of < LANES; of++) {
		const struct category *category = &law->categories[of];

		/* A port that has the turn is in line for the next one. */
		if (!(category->first.first | category->turns.first))
			continue;
		port = next_port(q, turns_of(q), of, now);
		if (port != NO_PORT)
			return port;
	}
	return NO_PORT;
}

static APART struct sk_buff *dequeue_turns(struct Qdisc *sch, struct sluice_settings *set, struct sluice_measured *is,
					   __u32 slot, __u64 now)
{
	struct queue q = { set, is, is, slot % MOST_QUEUES, is_governed(set, now) };
	struct flight *flight = 0;
	struct turns *turns;
	struct entry *next;
	int by_credit;
	__u32 port;

	interval(q);
	by_credit = look_below(q, 0, now);
	turns = turns_of(q);
	if (!q.is->backlog_packets)
		return 0;
	port = is_shaped(q, now) ? NO_PORT : choose(q, now, by_credit);
	if (port != NO_PORT) {
		next = turns_depart(q, turns, port, now, by_credit, &flight);
		if (next)
			return hand_out(q, sch, next, flight);
	}
	bpf_qdisc_watchdog_schedule(sch, look_again_at(q, sch, now), 0);
	return 0;
}
