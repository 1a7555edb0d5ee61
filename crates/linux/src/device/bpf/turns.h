/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Queues with turns in a queue of the kernel: packets find their stations, and leave in the order of the law. */

/* Any struct of the kernel with a word at its beginning, to read what is no struct. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct timespec64 {
	__s64 tv_sec;
};
#pragma clang attribute pop
KERNEL(void *bpf_rdonly_cast(const void *address, __u32 type));
KERNEL(__u32 bpf_skb_get_hash(struct sk_buff *skb));
#define TYPE_IN_KERNEL 1

/* Eight bytes of a packet, the first lowest. */
static ALWAYS_INLINE __u64 bytes_at(const unsigned char *address)
{
	const struct timespec64 *word =
		bpf_rdonly_cast(address, __builtin_btf_type_id(*(struct timespec64 *)0, TYPE_IN_KERNEL));

	return word->tv_sec;
}

/* An address as the agent writes it. */
#define SIX_BYTES 0xffffffffffff
#define NAMED 0x1000000000000
/* Access category by user priority (IEEE 802.11-2016, table 10-1), from the highest priority to 0: voice is 0, video 1,
 * best effort 2, background 3. */
#define LANES_BY_PRIORITY 0x00112332

/* Returns the access category of a packet, as mac80211 finds it: by what its sender asked for, or by its DSCP. */
static ALWAYS_INLINE __u32 lane_of(const struct sk_buff *skb)
{
	__u32 priority = skb->priority - 256;
	__u64 header;

	if (priority > 7) {
		priority = 0;
		header = bytes_at(skb->head + skb->network_header);
		if (skb->protocol == __builtin_bswap16(ETHERTYPE_IP))
			priority = header >> 13 & 7;
		else if (skb->protocol == __builtin_bswap16(ETHERTYPE_IPV6))
			priority = header >> 1 & 7;
	}
	return LANES_BY_PRIORITY >> priority * 4 & 3;
}

/* Returns the port of a packet. */
static ALWAYS_INLINE __u32 port_of(struct queue q, const struct sk_buff *skb)
{
	__u32 station = 0;

	if (q.is->discipline != MANY_STATIONS)
		return 0;
	if (q.is->link == LINK_ETHERNET)
		station = station_of(q.slot, (bytes_at(skb->data) & SIX_BYTES) | NAMED);
	return station * LANES + lane_of(skb);
}

static ALWAYS_INLINE int enqueue_turns(struct queue q, struct sk_buff *skb, host_t host, __u64 now)
{
	__u32 all = link_len(skb), len = network_len(skb, all), hash = bpf_skb_get_hash(skb), number;
	struct turns *turns;
	struct entry *place;
	struct port *port;
	__u64 dropped;

	interval(q);
	if (unlikely(q.is->left_places))
		free_left(q, discards_at_once, host.to_free);
	turns = turns_of(q);
	number = port_of(q, skb);
	port = port_at(&turns->law, number);
	dropped = q.is->dropped_packets;
	place = join(q, turns, port, number, hash, len, now, host);
	if (!place) {
		host.sch->qstats.drops++;
		bpf_qdisc_skb_drop(skb, host.to_free);
		return NET_XMIT_DROP;
	}
	keep(place, skb, all, host);
	bound(q, turns, port, number, now, host);
	return q.is->dropped_packets == dropped ? NET_XMIT_SUCCESS : NET_XMIT_CN;
}

/* Returns the port from which the next packet leaves, if one may. */
static ALWAYS_INLINE __u32 choose(struct queue q, __u64 now, int by_credit)
{
	struct law *law = &turns_of(q)->law;
	struct sluice_measured *is = q.is;
	__u64 done, below;
	__u32 port;

	if (is->discipline != MANY_STATIONS)
		return 0;
	/* The device was done with the last of it a while ago. */
	done = is->completed_at < now ? is->completed_at : now;
	take_landed(law, q.slot, done > law->medium.since ? done : law->medium.since);
	below = below_of(is);
	if (by_credit && below >= 2 && below_with_others(q.set, is, below, now) >= q.set->credit_packets)
		return NO_PORT;
	if (!by_credit)
		forget_flight(law);
	count_stations(law, now);
	for (__u32 of = 0; of < LANES; of++) {
		const struct category *category = &law->categories[of];

		if (!(category->current | category->first.first | category->turns.first))
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
