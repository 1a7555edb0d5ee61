/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Flow queues of stations: packets hashed by flow, and deficit round robin over the flows of a station in bytes, new
 * flows first; crate queue's Flows and Turns in C, held to the same decisions by a test. All flows of a queue share one
 * table, in which a flow belongs to one port at a time. The places of the ring are a pool here: chains of places.
 *
 * Numbers of flows and places count from one, and zero is none. Ports count from zero, see law.h. */

#define LANES 4
/* A port has one station's packets in one access category: PORTS is STATIONS * LANES. */
#define PORTS PORTS_OF_QUEUE
/* Flows, with one for each port that takes packets whose flow belongs to another port. */
#define FLOWS 2048
#define HASHED_FLOWS (FLOWS - PORTS)
/* Bytes of a flow in a round, as in mac80211. */
#define QUANTUM 300
/* Maximum number of steps from flow to flow in a call, so that each call ends soon. */
#define MOST_STEPS 1024
/* Number of flows among which the longest is sought, so that a drop costs the same for any number of flows. */
#define LOOKED_AT 16
/* Number of listed flows above which new flows have no precedence: the precedence of thin packets is bounded, that of
 * new flows is not. A turn then has OF_CROWD quanta, about a full packet: flows share places, and rounds are long. */
#define CROWD 64
#define OF_CROWD 5
/* Factor by which flows of short packets may wait longer than other flows; then the longest ACK with options. */
#define ACKS 10
#define SHORT_BYTES 128

enum { UNLISTED, NEW_FLOW, OLD_FLOW };

struct flow {
	/* Packets of the flow: first and last entry, their number and their bytes. */
	__u32 first, last;
	__u32 packets;
	__u32 port;
	__u64 bytes;
	/* Bytes that the flow may still send in this turn. */
	__s64 deficit;
	/* Time at which the flow's last packet arrived; zero: none has. */
	__u64 came;
	__u32 listed;
	/* Packets of the flow that go before all flows. */
	__u32 ahead;
};

#include "law.h"

/* All that such a queue has in addition to its packets. */
struct turns {
	struct law law;
	struct meter meter;
	/* Chain of free entries, and how many were ever used. */
	__u32 free, used;
	struct flow flows[FLOWS];
	__u32 next_flow[FLOWS];
};

struct turns all_turns[MOST_QUEUES] SEC(".bss.turns");

static ALWAYS_INLINE struct turns *turns_of(struct queue q)
{
	return &all_turns[q.slot % MOST_QUEUES];
}

static ALWAYS_INLINE struct flow *flow_at(struct turns *all, __u32 number)
{
	return &all->flows[bounded(number - 1, FLOWS)];
}

/* Begins without packets. The host frees packets that are still in entries of the ring. */
static APART int begin_turns(struct turns *all)
{
	struct bpf_iter_num number;
	int *at;

	begin_law(&all->law);
	all->meter = (struct meter){};
	all->free = all->used = 0;
	bpf_iter_num_new(&number, 0, FLOWS);
	while ((at = bpf_iter_num_next(&number)))
		all->flows[bounded(*at, FLOWS)] = (struct flow){};
	bpf_iter_num_destroy(&number);
	return 0;
}

/* Adds an entry to the end of a chain. */
static ALWAYS_INLINE void chain(struct queue q, __u32 *first, __u32 *last, __u32 number, struct entry *entry)
{
	struct entry *before;

	entry->next = 0;
	if (*last) {
		before = entry_at(q, *last - 1);
		if (before)
			before->next = number;
	} else {
		*first = number;
	}
	*last = number;
}

/* Takes the first entry out of a chain. It is free then: the host must take its packet before anything else. */
static ALWAYS_INLINE struct entry *unchain(struct queue q, struct turns *all, __u32 *first, __u32 *last)
{
	__u32 number = *first;
	struct entry *entry;

	if (!number)
		return 0;
	entry = entry_at(q, number - 1);
	if (!entry)
		return 0;
	*first = entry->next;
	if (!entry->next)
		*last = 0;
	entry->next = all->free;
	all->free = number;
	return entry;
}

/* Returns a free entry; null: there is none. */
static ALWAYS_INLINE struct entry *free_place(struct queue q, struct turns *all, __u32 *number)
{
	int is_new = !all->free;
	struct entry *entry;

	if (is_new && all->used >= places_of_ring())
		return 0;
	*number = is_new ? all->used + 1 : all->free;
	entry = entry_at(q, *number - 1);
	if (!entry)
		return 0;
	if (is_new)
		all->used = *number;
	else
		all->free = entry->next;
	return entry;
}

/* Takes the first packet of a flow. */
static ALWAYS_INLINE struct entry *take_of_flow(struct queue q, struct turns *all, struct flow *flow)
{
	struct entry *entry = unchain(q, all, &flow->first, &flow->last);

	if (!entry)
		return 0;
	flow->packets--;
	flow->bytes -= entry->len;
	return entry;
}

/* A packet leaves its port. */
static ALWAYS_INLINE void leaves_port(struct port *port, const struct entry *entry)
{
	port->packets--;
	port->bytes -= entry->len;
}

/* A packet leaves the account of the queue. The host must take it before anything else. */
static ALWAYS_INLINE void uncharge(struct queue q, const struct entry *entry)
{
	q.is->backlog_packets--;
	q.is->backlog_bytes -= entry->len;
}

/* Returns the flow of a port to which a packet with this hash belongs, and its number. */
static ALWAYS_INLINE struct flow *flow_of(struct turns *all, __u32 port, __u32 hash, __u32 *number)
{
	struct flow *flow;

	*number = 1 + (__u32)((__u64)hash * HASHED_FLOWS >> 32);
	flow = flow_at(all, *number);
	if (flow->port == port)
		return flow;
	if (flow->listed || flow->packets || flow->ahead) {
		*number = 1 + HASHED_FLOWS + port;
		flow = flow_at(all, *number);
	}
	if (flow->port != port) {
		flow->port = port;
		flow->came = 0;
	}
	return flow;
}

/* Returns the bytes of the flow that is known as the port's longest. */
static ALWAYS_INLINE __u64 known_bytes(struct turns *all, const struct port *port, __u32 at)
{
	const struct flow *flow = flow_at(all, port->fattest);

	return port->fattest && flow->port == at ? flow->bytes : 0;
}

/* The flows of a port in order of their turns: the next one, and the first of the second line once the first has ended. */
struct walk {
	__u32 number, others;
	/* The longest flow so far (the first of equal ones), and its bytes. */
	__u32 fattest;
	__u64 most;
};

/* Looks at one more flow. Returns true if there was none. */
static ALWAYS_INLINE int look_at_next(struct turns *all, struct walk *walk)
{
	const struct flow *flow;

	if (!walk->number) {
		walk->number = walk->others;
		walk->others = 0;
	}
	if (!walk->number)
		return 1;
	flow = flow_at(all, walk->number);
	if (flow->bytes > walk->most) {
		walk->most = flow->bytes;
		walk->fattest = walk->number;
	}
	walk->number = all->next_flow[bounded(walk->number - 1, FLOWS)];
	return 0;
}

/* Visits the flow that has the turn. Returns true if no further visit is needed: it took a packet, whose entry is
 * `next`, or no flow is left. */
static ALWAYS_INLINE int visit(struct queue q, struct turns *all, struct port *port, struct entry **next)
{
	__u32 new = port->new_flows.first, number = new ? new : port->old_flows.first;
	struct line *line = new ? &port->new_flows : &port->old_flows;
	struct flow *flow;
	int has_turn;

	if (!number)
		return 1;
	flow = flow_at(all, number);
	has_turn = flow->deficit > 0;
	if (!has_turn) {
		__u32 listed = port->new_flows.count + port->old_flows.count;
		int is_alone = listed == 1;

		/* A flow that is alone gets all rounds that it needs at once, and is the next, too. */
		flow->deficit += (is_alone ? 1 + (__u64)-flow->deficit / QUANTUM : listed > CROWD ? OF_CROWD : 1) * QUANTUM;
		has_turn = is_alone && !new;
	}
	if (has_turn) {
		*next = take_of_flow(q, all, flow);
		if (*next) {
			flow->deficit -= (*next)->len;
			leaves_port(port, *next);
			return 1;
		}
		/* A new flow passes once through the old ones, so that it cannot return at once and starve them. */
		if (!new || !port->old_flows.first) {
			flow->listed = UNLISTED;
			pop_front(line, all->next_flow, FLOWS);
			return 0;
		}
	}
	flow->listed = OLD_FLOW;
	push_back(&port->old_flows, all->next_flow, FLOWS, pop_front(line, all->next_flow, FLOWS));
	return 0;
}

/* Passes over the flows of a port whose turns are next until one has packets: each for once, so that a drop costs the same
 * however many are empty. Returns the number of this flow; zero: no flow has packets. */
static ALWAYS_INLINE __u32 pass_empty(struct queue q, struct turns *all, struct port *port)
{
	struct entry *none = 0;
	__u32 number = 0;

	AT_MOST(MOST_STEPS) {
		number = port->new_flows.first ? port->new_flows.first : port->old_flows.first;
		if (!number || flow_at(all, number)->packets)
			break;
		visit(q, all, port, &none);
		number = 0;
	}
	return number;
}

/* Takes the packet at the head of a port's longest flow out of the flow. The longest is sought among the flow that was
 * longest and the first LOOKED_AT flows in order of their turns (the first of equals). If none of these has packets,
 * further flows are visited until one has. Returns the packet's place as a number; zero: no flow has packets, or the
 * flow's packets are shorter than `least` on average. */
VERIFIED_APART __u32 take_of_fattest(__u32 slot, __u32 at, __u32 least)
{
	struct queue q = { .slot = slot };
	struct turns *all = turns_of(q);
	struct port *port = port_at(&all->law, at);
	struct walk walk = { port->new_flows.first, port->old_flows.first, 0, 0 };
	__u64 known = known_bytes(all, port, at);
	struct entry *gone;
	struct flow *flow;
	__u32 number;

	AT_MOST(LOOKED_AT)
		if (look_at_next(all, &walk))
			break;
	if (unlikely(!(walk.most | known)))
		walk.fattest = pass_empty(q, all, port);
	else if (known > walk.most)
		walk.fattest = port->fattest;
	if (!walk.fattest)
		return 0;
	port->fattest = walk.fattest;
	flow = flow_at(all, walk.fattest);
	if (flow->bytes < (__u64)least * flow->packets)
		return 0;
	number = flow->first;
	gone = take_of_flow(q, all, flow);
	if (!gone)
		return 0;
	leaves_port(port, gone);
	/* If all flows are alike, the next one is as long, and those before it are empty. */
	if (!flow->packets)
		port->fattest = all->next_flow[bounded(walk.fattest - 1, FLOWS)];
	return number;
}

/* Drops the packet at the head of the longest flow of a port, if that has any. */
static ALWAYS_INLINE int shed(struct queue q, __u32 at, __u64 least, host_t host)
{
	__u32 number = take_of_fattest(q.slot, at, least);
	struct entry *gone = number ? entry_at(q, number - 1) : 0;

	if (!gone)
		return 0;
	uncharge(q, gone);
	refuse(q, gone->len);
	entry_drop(q, gone, host);
	return 1;
}

/* A packet joins a port. Returns its entry; null: there is none. */
static ALWAYS_INLINE struct entry *join_port(struct queue q, struct turns *all, struct port *port, struct flow *flow,
					     __u32 of, __u32 len, __u64 now, int thin)
{
	__u32 number;
	struct entry *place = free_place(q, all, &number);

	if (!place)
		return 0;
	place->since = now;
	place->len = len;
	place->flow = of;
	port->packets++;
	port->bytes += len;
	if (thin) {
		flow->ahead = 1;
		port->thin++;
		chain(q, &port->first, &port->last, number, place);
		return place;
	}
	chain(q, &flow->first, &flow->last, number, place);
	flow->packets++;
	flow->bytes += len;
	if (port->fattest != of && flow->bytes > known_bytes(all, port, flow->port))
		port->fattest = of;
	if (!flow->listed) {
		int is_crowd = port->new_flows.count + port->old_flows.count >= CROWD;

		flow->listed = is_crowd ? OLD_FLOW : NEW_FLOW;
		flow->deficit = QUANTUM;
		push_back(is_crowd ? &port->old_flows : &port->new_flows, all->next_flow, FLOWS, of);
	}
	return place;
}

/* True if a packet of a port is thin: no packet of its flow waits, and the flow's last packet came long ago. Mostly
 * this is plain before the law computes how long ago. */
static ALWAYS_INLINE int comes_thin(struct queue q, const struct turns *all, const struct port *port,
				    const struct flow *flow, __u32 len, __u64 now)
{
	__u64 gap = flow->came ? since(now, flow->came) : 0xffffffffffffffff;

	if (flow->packets || flow->ahead)
		return 0;
	return q.is->discipline == MANY_STATIONS ? is_thin(&all->law.medium, port, len, gap) :
						   is_thin_by(&all->meter, port, len, gap);
}

/* A packet arrives at a port. Returns the entry where the host must put it; null: the host must drop it. */
static ALWAYS_INLINE struct entry *join(struct queue q, struct turns *all, struct port *port, __u32 at, __u32 hash,
					__u32 len, __u64 now, host_t host)
{
	struct sluice_measured *is = q.is;
	struct entry *place;
	struct limit limit;
	struct flow *flow;
	int thin;
	__u32 of;

	if (is->discipline == MANY_STATIONS)
		count_share(port, &all->law.medium, now);
	is->arrived_packets++;
	is->arrived_bytes += len;
	limit = (struct limit){ q.set->limit_packets, q.set->limit_bytes };
	if (unlikely(!fits(0, 0, limit, len)))
		goto refused;
	if (is->discipline != MANY_STATIONS)
		count_meter(&all->meter, q.set->target_delay, now);
	flow = flow_of(all, at, hash, &of);
	thin = comes_thin(q, all, port, flow, len, now);
	flow->came = now;
	if (unlikely(!fits(is->backlog_packets, is->backlog_bytes, limit, len))) {
		AT_MOST(discards_at_once) {
			if (fits(is->backlog_packets, is->backlog_bytes, limit, len) || !shed(q, at, 0, host))
				break;
		}
		if (!fits(is->backlog_packets, is->backlog_bytes, limit, len))
			goto refused;
	}
	place = join_port(q, all, port, flow, of, len, now, thin);
	if (!place)
		goto refused;
	if (is->discipline == MANY_STATIONS)
		joined(&all->law, port, now, at, len, thin);
	else if (thin)
		spend(&all->meter, len);
	is->backlog_packets++;
	is->backlog_bytes += len;
	raise_to(&is->backlog_max, is->backlog_packets);
	occupancy(q, now);
	return place;
refused:
	refuse(q, len);
	settle(q, now);
	return 0;
}

/* Drops what would wait for too long in a port, once the host has put the packet into its place. ACKs are short. Their
 * wait is how a station pays for what it sends, and their loss would slow nobody. */
static ALWAYS_INLINE void bound(struct queue q, struct turns *all, struct port *port, __u32 at, __u32 len, __u64 now,
				host_t host)
{
	const struct sluice_settings *set = q.set;
	__u64 times = 1, least = SHORT_BYTES;
	struct bounds bounds;

	if (port->bytes <= KEPT)
		return;
	bounds = q.is->discipline == MANY_STATIONS ?
			 bounds_of(&all->law.medium, port, set->target_delay, set->bulk_delay) :
			 bounds_by(&all->meter, set->target_delay);
	/* The fewest bytes that have waited since the previous packet came. */
	if (port->bytes - len <= bounds.stands) {
		port->full_since = now;
	} else if (unlikely(since(now, port->full_since) >= bounds.time) && shed(q, at, SHORT_BYTES, host)) {
		port->full_since = now;
		settle(q, now);
	}
	if (likely(port->bytes <= bounds.most))
		return;
	AT_MOST(discards_at_once) {
		if (port->bytes / times > bounds.most && shed(q, at, least, host))
			continue;
		if (times == ACKS)
			break;
		times = ACKS;
		least = 0;
	}
	settle(q, now);
}

/* Takes the next packet of the flow whose turn it is, after many visits. Returns its place as a number. */
VERIFIED_APART __u32 next_of_many(__u32 slot, __u32 at)
{
	struct queue q = { .slot = slot };
	struct turns *all = turns_of(q);
	struct entry *next = 0;

	AT_MOST(MOST_STEPS)
		if (visit(q, all, port_at(&all->law, at), &next))
			break;
	/* The entry that was just taken is the first of the free entries. */
	return next ? all->free : 0;
}

/* Takes the next packet of a port: a thin one, if one waits, else of the flow whose turn it is. Mostly two visits
 * suffice, and a loop costs more than one. */
static ALWAYS_INLINE struct entry *take_next(struct queue q, struct turns *all, struct port *port, __u32 at)
{
	struct entry *next = unchain(q, all, &port->first, &port->last);
	struct flow *flow;
	__u32 number;

	if (next) {
		flow = flow_at(all, next->flow);
		port->thin--;
		if (flow->ahead)
			flow->ahead--;
		leaves_port(port, next);
		return next;
	}
	if (visit(q, all, port, &next) || visit(q, all, port, &next))
		return next;
	number = next_of_many(q.slot, at);
	return number ? entry_at(q, number - 1) : 0;
}
