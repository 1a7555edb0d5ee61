/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Stations of a queue with turns: the receiver of a packet, its airtime, and what the device is done with. */
#include "lane.h"

/* The stations of a queue in one element, so that one look-up serves a call. The first entries are repeated after the
 * last, so that a search need not wrap around. */
struct stations_of_queue {
	struct sluice_station at[STATIONS + PROBES - 1];
};
MAP(stations, ARRAY, MOST_QUEUES, struct stations_of_queue);

static ALWAYS_INLINE const struct sluice_station *station_at(__u32 slot, __u32 number)
{
	const struct stations_of_queue *all = bpf_map_lookup_elem(&stations, &slot);

	return all ? &all->at[bounded(number, STATIONS)] : 0;
}

/* Returns the number of the station with this address; zero: it has no entry. */
static ALWAYS_INLINE __u32 station_of(__u32 slot, __u64 address)
{
	const struct stations_of_queue *all = bpf_map_lookup_elem(&stations, &slot);
	const struct sluice_station *at;
	__u64 first;

	if (!all)
		return 0;
	first = address * all->at[0].address >> 58;
	at = &all->at[first];
	for (int probe = 0; probe < PROBES; probe++)
		if (at[probe].address == address)
			return (first + probe) % STATIONS;
	return 0;
}

/* Returns the port of a frame. mac80211 has one queue for all frames of an access point to groups. */
static ALWAYS_INLINE __u32 port_of_frame(__u32 slot, const struct sk_buff *skb)
{
	__u64 receiver = receiver_of(bytes_at(skb->data));
	__u32 station = station_of(slot, receiver);

	return station * LANES + (receiver == TO_GROUPS && station ? BEST_EFFORT_LANE : lane_of(skb));
}

/* Returns the airtime of a packet for a port. */
static ALWAYS_INLINE __u64 airtime_of(__u32 slot, __u32 port, __u64 len)
{
	const struct sluice_station *station = station_at(slot, port / LANES);

	return station ? station->per_packet + station->per_byte * len / 1000 : 0;
}

/* True if other queues of the radio keep a category from beginning a turn: they have one turn in flight, and this queue
 * has packets in flight, too; or they have more than one turn in flight; or another queue waits for its first turn. */
VERIFIED_APART int is_taken(__u32 slot, __u64 others, __u32 of, __u64 now)
{
	const struct law *law = &all_turns[bounded(slot, MOST_QUEUES)].law;
	__u64 own = law->categories[bounded(of, LANES)].pending, turn = law->medium.turn, all = 0, most = 0;
	const struct sluice_settings *set = bpf_map_lookup_elem(&settings, &slot);
	struct bpf_iter_num number;
	int *at, waits = 0;

	if (!set)
		return 0;
	bpf_iter_num_new(&number, 0, MOST_QUEUES);
	while ((at = bpf_iter_num_next(&number))) {
		__u32 other = *at, key = other;
		const struct sluice_measured *is = bpf_map_lookup_elem(&measured, &key);
		const struct category *category =
			&all_turns[bounded(other, MOST_QUEUES)].law.categories[bounded(of, LANES)];

		if (!is || !(others >> other % MOST_QUEUES & 1) || is->discipline != MANY_STATIONS)
			continue;
		/* A queue that sends no more does not notice which packets are done. */
		if (below_lately(is, other, now, set->credit_expiry)) {
			all += category->pending;
			raise_to(&most, category->last);
		} else {
			waits |= is->backlog_packets && category->turns.first;
		}
	}
	bpf_iter_num_destroy(&number);
	if (own)
		return waits || (all && own + all >= turn);
	return all > turn && all > most;
}

/* Like first_thin and begin_turn, with the loop that these mostly do not need. */
VERIFIED_APART __u32 search_thin(__u32 slot, __u32 of)
{
	struct turns *all = turns_of((struct queue){ .slot = slot });

	return first_thin(&all->law, category_of(&all->law, of));
}

VERIFIED_APART __u32 search_turn(__u32 slot, __u32 of, __u64 now)
{
	struct turns *all = turns_of((struct queue){ .slot = slot });

	return begin_turn(&all->law, category_of(&all->law, of), now);
}

/* The port of a category from which the next packet is released, if one may be. */
static ALWAYS_INLINE __u32 next_port(struct queue q, struct turns *all, __u32 of, __u64 now)
{
	struct law *law = &all->law;
	struct category *category = &law->categories[of % LANES];
	const struct sluice_station *station;
	__u64 turn;
	__u32 port;

	if (category->current) {
		if (port_at(law, category->current - 1)->packets)
			return category->current - 1;
		category->current = 0;
	}
	if (category->first.first) {
		port = category->first.first - 1;
		if (!port_at(law, port)->thin)
			port = search_thin(q.slot, of);
		if (port != NO_PORT)
			return port;
	}
	if (is_full(category, law->medium.turn) || !category->turns.first)
		return NO_PORT;
	if (unlikely(q.is->others) && is_taken(q.slot, q.is->others, of, now))
		return NO_PORT;
	port = category->turns.first - 1;
	if (!has_turn(law, port_at(law, port), now))
		port = search_turn(q.slot, of, now);
	if (port == NO_PORT)
		return NO_PORT;
	station = station_at(q.slot, port / LANES);
	if (!station)
		return NO_PORT;
	turn = station->turn;
	if (unlikely(q.set->bulk_delay)) {
		__u64 longest = turn_for(&law->medium, q.set->bulk_delay);

		turn = turn < longest ? turn : longest;
	}
	turn = turn ? turn : 1;
	if (is_full(category, turn))
		return NO_PORT;
	category->current = port + 1;
	category->left = turn;
	category->packets = station->packets;
	category->last = 0;
	return port;
}

/* Releases a packet of a port, if one waits. Returns its entry, and its entry below if it is released by credit. */
static ALWAYS_INLINE struct entry *turns_depart(struct queue q, struct turns *all, __u32 at, __u64 now,
						int by_credit, struct flight **flight)
{
	struct port *port = port_at(&all->law, at);
	int thin = port->thin != 0;
	struct entry *next = take_next(q, all, port, at);
	__u64 airtime;

	*flight = 0;
	if (!next)
		return 0;
	uncharge(q, next);
	*flight = leaves(q, next, now, by_credit);
	if (q.is->discipline != MANY_STATIONS) {
		meter_leaves(&all->meter, q.set->target_delay, now, next->len, q.is->backlog_packets > 0);
		return next;
	}
	airtime = airtime_of(q.slot, at, next->len);
	released(&all->law, port, now, at, next->len, airtime, thin);
	if (*flight) {
		(*flight)->port = at;
		(*flight)->airtime = airtime;
	}
	return next;
}

/* Takes the airtime of a packet that the device is done with. False if there is none. */
static ALWAYS_INLINE int take_one(struct law *law, struct landed *landed, __u64 done)
{
	__u64 what = next_landed(landed), airtime = what >> PORT_BITS;
	struct port *port = port_at(law, what);

	if (!what)
		return 0;
	charge(port, done, airtime);
	completed(law, port, done, what, airtime);
	return 1;
}

VERIFIED_APART int take_many(__u32 slot, __u64 done)
{
	struct law *law = &all_turns[bounded(slot, MOST_QUEUES)].law;

	AT_MOST(LANDINGS)
		if (!take_one(law, &all_landed[bounded(slot, MOST_QUEUES)], done))
			break;
	return 0;
}

/* Takes the airtime of all packets that the device is done with: mostly one, and a loop would cost more. */
static ALWAYS_INLINE void take_landed(struct law *law, __u32 slot, __u64 done)
{
	struct landed *landed = &all_landed[slot % MOST_QUEUES];

	if (take_one(law, landed, done) && unlikely(landed->came != landed->taken))
		take_many(slot, done);
}
