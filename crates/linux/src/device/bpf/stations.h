/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Stations of a queue with turns: who a packet is for, how long it takes, and what the device is done with. */

MAP(stations, ARRAY, MOST_QUEUES *STATIONS, struct sluice_station);

static ALWAYS_INLINE const struct sluice_station *station_at(__u32 slot, __u32 number)
{
	__u32 index = slot % MOST_QUEUES * STATIONS + number % STATIONS;

	return bpf_map_lookup_elem(&stations, &index);
}

/* Returns the number of the station with an address; zero: it is not named. */
static ALWAYS_INLINE __u32 station_of(__u32 slot, __u64 address)
{
	__u32 first = (address ^ address >> 24) * GOLDEN_RATIO >> 58;

	for (__u32 probe = 0; probe < PROBES; probe++) {
		__u32 number = (first + probe) % STATIONS;
		const struct sluice_station *station = station_at(slot, number);

		if (station && station->address == address)
			return number;
	}
	return 0;
}

/* Returns the airtime of a packet for a port. */
static ALWAYS_INLINE __u64 airtime_of(__u32 slot, __u32 port, __u64 len)
{
	const struct sluice_station *station = station_at(slot, port / LANES);

	return station ? station->per_packet + station->per_byte * len / 1000 : 0;
}

/* Airtime of a turn of a port. */
static ALWAYS_INLINE __u64 turn_of(struct turns *all, __u32 port)
{
	const struct sluice_station *station = station_at(all->slot, port / LANES);

	return station ? station->turn : 0;
}

/* Whether no turn may begin in a category because of these other queues of the radio: it has one turn of them in
 * flight, and this queue has some of its own; or more than one; or another queue waits for its first. */
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
		/* One that sends no more does not see what is done. */
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

/* The port of a category from which the next packet is released, if one may be. */
VERIFIED_APART __u32 next_port(__u32 slot, __u32 of, __u64 now)
{
	struct turns *all = turns_of((struct queue){ .slot = slot });
	struct law *law = &all->law;
	struct category *category = category_of(law, of);
	const struct sluice_settings *set;
	const struct sluice_measured *is;
	__u64 turn, others;
	__u32 port;

	if (category->current) {
		if (waits(all, category->current - 1))
			return category->current - 1;
		category->current = 0;
	}
	port = first_thin(law, category, all);
	if (port != NO_PORT || is_full(category, law->medium.turn) || !category->turns.first)
		return port;
	is = bpf_map_lookup_elem(&measured, &slot);
	others = is ? is->others : 0;
	if (unlikely(others) && is_taken(slot, others, of, now))
		return NO_PORT;
	port = begin_turn(law, category, now, all);
	if (port == NO_PORT)
		return NO_PORT;
	turn = turn_of(all, port);
	set = bpf_map_lookup_elem(&settings, &slot);
	if (set && unlikely(set->bulk_delay)) {
		__u64 longest = turn_for(&law->medium, set->bulk_delay);

		turn = turn < longest ? turn : longest;
	}
	turn = turn ? turn : 1;
	if (is_full(category, turn))
		return NO_PORT;
	category->current = port + 1;
	category->left = turn;
	category->last = 0;
	return port;
}

/* Bounds for a packet of so many bytes that arrives at a port. */
static ALWAYS_INLINE struct pace pace_at(struct queue q, struct turns *all, __u32 port, __u64 len, __u64 now)
{
	if (q.is->discipline == MANY_STATIONS)
		return pace_of(&all->law, q.set->target_delay, q.set->bulk_delay, now, port, len);
	return pace_by(&all->meter, q.set->target_delay, len);
}

/* A packet of a port leaves, if one waits. Returns its place, and that below if it is released by credit. */
static ALWAYS_INLINE struct entry *turns_depart(struct queue q, struct turns *all, __u32 port, __u64 now,
						int by_credit, struct flight **flight)
{
	int thin = has_thin(all, port);
	struct entry *next = uncharge(q, take_next(q.slot, port));
	__u64 airtime;

	*flight = 0;
	if (!next)
		return 0;
	*flight = leaves(q, next, now, by_credit);
	if (q.is->discipline != MANY_STATIONS) {
		meter_leaves(&all->meter, now, next->len, q.is->backlog_packets > 0);
		return next;
	}
	airtime = airtime_of(q.slot, port, next->len);
	released(&all->law, now, port, next->len, airtime, thin);
	if (*flight) {
		(*flight)->port = port;
		(*flight)->airtime = airtime;
	}
	return next;
}

/* Returns the number of the lowest bit that is set, by counting those below it. The compiler would make a table of it
 * among the program's constants. */
static ALWAYS_INLINE __u32 lowest_bit(__u64 bits)
{
	__u64 below = (bits & -bits) - 1;

	asm volatile("" : "+r"(below));
	below -= below >> 1 & 0x5555555555555555;
	below = (below & 0x3333333333333333) + (below >> 2 & 0x3333333333333333);
	below = (below + (below >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return below * 0x0101010101010101 >> 56;
}

/* Takes the airtime of the port of the lowest bit. */
static ALWAYS_INLINE __u64 take_lowest(struct law *law, __u32 slot, __u32 part, __u64 bits, __u64 done)
{
	__u32 port = part * 64 + lowest_bit(bits);
	__u64 airtime = __sync_lock_test_and_set(&landed.airtime[slot * PORTS + bounded(port, PORTS)], 0);

	charge(law, done, port, airtime);
	completed(law, done, port, airtime);
	return bits & (bits - 1);
}

/* Takes the airtime of packets that the device is done with. */
VERIFIED_APART int take_landed(__u32 slot, __u64 done)
{
	struct law *law;

	slot = bounded(slot, MOST_QUEUES);
	law = &all_turns[slot].law;
	for (int part = 0; part < PORTS / 64; part++) {
		__u64 *word = &landed.ports[slot * (PORTS / 64) + part], bits;

		if (likely(!*(volatile __u64 *)word))
			continue;
		/* Mostly one. */
		bits = take_lowest(law, slot, part, __sync_lock_test_and_set(word, 0), done);
		if (likely(!bits))
			continue;
		AT_MOST(63) {
			bits = take_lowest(law, slot, part, bits, done);
			if (!bits)
				break;
		}
	}
	return 0;
}
