/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * The law of turns: which station sends next and for how long, which packets go first, and how much may wait; crate
 * queue's turns::Law in C, held to the same decisions by a test. It leaves out what stations send, and frames
 * without an answer, because no queue of the kernel is told of them.
 *
 * Times are in nanoseconds, ratios in 1024ths and airtime per byte in picoseconds. Ports count from zero, and NO_PORT is
 * none; only a line, in which zero is none, holds each as one more. The host fills and empties the queues of ports, and says how long a turn is. */

#define NO_PORT 0xffffffff

#define ONE 1024ull
/* Airtime of a frame with a thin packet, in addition to the packet's own: access, preambles and ACK. */
#define OVERHEAD 300000ull
/* Packets that leave within this part of the target are measured together: a driver takes packets in bursts. */
#define BURST 64
/* Bytes of two full packets: two turns never have less. */
#define KEPT 3000ull
/* Pause of a flow after which its next packet may be thin, for any number of busy stations or flows. */
#define SPARSE 10000000ull
/* Time over which the number of busy stations is averaged. */
#define STATIONS_OVER 100000000ull
/* Length of the windows in which the stretch is measured. */
#define WINDOW 20000000ull
/* Time after a station's last packet for which it pays for airtime. */
#define ACTIVE 100000000ull
/* Length of a turn and stretch before anything was measured, and the largest stretch. */
#define TURN 3600000ull
#define STRETCH (ONE * 6 / 5)
#define STRETCHED (100 * ONE)
/* Number of rounds in which a deficit grows by a turn: who has used less than others is out of debt before them. */
#define STEPS 16
/* Most rounds of stations in a call. After one round the first is out of debt. */
#define ROUNDS 4
/* Longest time that is counted at once, so that nothing overflows: credit is full long before that. */
#define LONGEST_COUNT (1ull << 43)

/* A line of numbered elements; each has the number of the next. */
struct line {
	__u32 first, last, count;
};

/* A station in one access category. */
struct port {
	/* Airtime that the station may use; below zero if it has used more than its share. */
	__s64 deficit;
	/* Airtime estimated for the station's released packets that are not finished. */
	__u64 pending;
	/* Time at which a packet of the port last waited. */
	__u64 active;
	/* Airtime that the port's thin packets may use, and when it was last counted. */
	__s64 credit;
	__u64 counted;
	/* Airtime of a byte in picoseconds, averaged over the port's packets. */
	__u64 per_byte;
	__u32 listed;
	/* Not zero if the port is in the line of thin packets. */
	__u32 hurries;
	/* What waits: flows in order of their turns, places of thin packets, the number of those, and all. */
	struct line new_flows, old_flows;
	__u32 first, last;
	/* The flow that was the longest when a packet last came or was dropped: other flows may have grown past it since, or
	 * it may belong to another port by now. */
	__u64 fattest;
	__u64 thin, packets, bytes;
	/* Time since which more than two turns have waited. */
	__u64 full_since;
};

/* An access category. */
struct category {
	/* Ports with packets, in the order of their turns; then ports with thin packets. */
	struct line turns, first;
	/* The port that has the turn, as a number from one on, and what is left of the turn: airtime and packets. */
	__u64 current, left, packets;
	/* Airtime that the last turn has released. */
	__u64 last;
	/* Airtime estimated for released packets that are not finished. */
	__u64 pending;
};

/* Measurements of the medium. */
struct medium {
	/* Number of stations with packets (n), averaged, in 1024ths, and when they were last counted. */
	__u64 stations, counted;
	/* Wall time per estimated airtime while something is in flight (f), in 1024ths. */
	__u64 stretch;
	/* Length of a turn (a), averaged. */
	__u64 turn;
	/* Airtime in flight in all categories, and since when there is any. */
	__u64 pending, since;
	/* Wall time and airtime of this window, and their averages over earlier windows. */
	__u64 wall, done, all_wall, all_done;
};

struct law {
	struct medium medium;
	struct category categories[LANES];
	struct port ports[PORTS];
	__u32 next_turn[PORTS], next_first[PORTS];
};

/* How long a byte takes, for a queue of one station, and what thin packets may use of its link. */
struct meter {
	/* Time on the link that thin packets may use, and when it was last counted. */
	__s64 credit;
	__u64 counted;
	/* Wall time of a byte in picoseconds, averaged, plus one; zero before a packet behind another has left. */
	__u64 per_byte;
	/* When the last measured packet left, if others waited behind it, and the bytes that have left since. */
	__u64 busy_since, bytes;
};

/* An index that the verifier knows to be below `most`, a power of two. */
static ALWAYS_INLINE __u64 bounded(__u64 index, __u32 most)
{
	asm volatile("" : "+r"(index));
	return index & (most - 1);
}

static ALWAYS_INLINE void push_back(struct line *line, __u32 *next, __u32 most, __u32 number)
{
	next[bounded(number - 1, most)] = 0;
	if (line->last)
		next[bounded(line->last - 1, most)] = number;
	else
		line->first = number;
	line->last = number;
	line->count++;
}

static ALWAYS_INLINE void push_front(struct line *line, __u32 *next, __u32 most, __u32 number)
{
	next[bounded(number - 1, most)] = line->first;
	if (!line->first)
		line->last = number;
	line->first = number;
	line->count++;
}

static ALWAYS_INLINE __u32 pop_front(struct line *line, __u32 *next, __u32 most)
{
	__u32 number = line->first;

	line->first = next[bounded(number - 1, most)];
	if (!line->first)
		line->last = 0;
	line->count--;
	return number;
}

static ALWAYS_INLINE void rotate(struct line *line, __u32 *next, __u32 most)
{
	push_back(line, next, most, pop_front(line, next, most));
}

static ALWAYS_INLINE struct port *port_at(struct law *law, __u32 number)
{
	return &law->ports[bounded(number, PORTS)];
}

static ALWAYS_INLINE struct category *category_of(struct law *law, __u32 port)
{
	return &law->categories[bounded(port, LANES)];
}

static ALWAYS_INLINE __u64 less(__u64 from, __u64 what)
{
	__s64 left = from - what;

	return left > 0 ? left : 0;
}

static ALWAYS_INLINE void begin_law(struct law *law)
{
	struct bpf_iter_num number;
	int *at;

	law->medium = (struct medium){
		.stations = ONE,
		.stretch = STRETCH,
		.turn = TURN,
		.all_wall = WINDOW,
		.all_done = WINDOW * ONE / STRETCH,
	};
	for (int category = 0; category < LANES; category++)
		law->categories[category] = (struct category){};
	bpf_iter_num_new(&number, 0, PORTS);
	while ((at = bpf_iter_num_next(&number)))
		*port_at(law, *at) = (struct port){ .credit = TURN, .per_byte = 150000 };
	bpf_iter_num_destroy(&number);
}

/* Returns the wall time in which each of `senders` (in 1024ths, at least one) sends for this airtime. */
static ALWAYS_INLINE __u64 wall_of(const struct medium *medium, __u64 airtime, __u64 senders)
{
	return airtime * medium->stretch / ONE * (senders > ONE ? senders : ONE) / ONE;
}

/* Adds a port's share of the time since the last count to its credit and its deficit. */
static ALWAYS_INLINE void count_share(struct port *port, const struct medium *medium, __u64 now)
{
	__u64 past = since(now, port->counted);
	__s64 most = medium->turn, earned;

	if (past > LONGEST_COUNT)
		past = LONGEST_COUNT;
	port->counted = now;
	/* Mostly both are full already, and a division is saved. */
	if (port->credit < most || (!port->listed && port->deficit < most)) {
		/* A share of the medium's own air, in which packets are charged. */
		earned = past * (ONE * ONE) / ((medium->stations + ONE) * medium->stretch);
		port->credit += earned;
		/* Unused airtime is kept, up to one turn. */
		if (!port->listed && port->deficit < most)
			port->deficit = port->deficit + earned < most ? port->deficit + earned : most;
	}
	if (port->credit > most)
		port->credit = most;
}

/* Returns the airtime that a thin packet costs. */
static ALWAYS_INLINE __u64 cost_of(const struct port *port, __u64 len)
{
	return OVERHEAD + port->per_byte * len / 1000;
}

/* Returns the airtime of this radio in a wall time. */
static ALWAYS_INLINE __u64 air_of(const struct medium *medium, __u64 wall)
{
	return wall * ONE / medium->stretch;
}

/* Returns the airtime of a turn if a round of all busy stations takes this wall time. */
static ALWAYS_INLINE __u64 turn_for(const struct medium *medium, __u64 round)
{
	return air_of(medium, round) * ONE / (medium->stations > ONE ? medium->stations : ONE);
}

static ALWAYS_INLINE __u64 flows_of(const struct port *port)
{
	__u64 flows = port->new_flows.count + port->old_flows.count;

	return flows ? flows : 1;
}

/* True if a packet of a port is thin: its length is `len`, and its flow's last packet came `gap` before. */
static ALWAYS_INLINE int is_thin(const struct medium *medium, const struct port *port, __u64 len, __u64 gap)
{
	if (port->credit < 0)
		return 0;
	if (gap >= SPARSE)
		return 1;
	/* Mostly plain without a division: the stretch and the number of flows are at least one. */
	if (gap < OVERHEAD * (medium->stations + ONE) / ONE)
		return 0;
	return gap >= wall_of(medium, cost_of(port, len), medium->stations + ONE) * flows_of(port);
}

/* Part of the bound that may stand in a queue for all of D. */
#define PATIENT 10

/* Bounds on the bytes that wait in a port: `most` at any time, and at most `stands` once in each `time`. */
struct bounds {
	__u64 most, stands, time;
};

/* `bulk`: how long a round may take; zero, any time. */
static ALWAYS_INLINE struct bounds bounds_of(const struct medium *medium, const struct port *port, __u64 target,
					     __u64 bulk)
{
	__u64 per_byte = port->per_byte ? port->per_byte : 1, air = target, turns = medium->turn * 2, each, sent, stays;

	/* What other senders send meanwhile makes no packet late. */
	if (unlikely(bulk)) {
		if (air > air_of(medium, bulk))
			air = air_of(medium, bulk);
		/* As many turns as a round of this length allows. */
		if (turns > turn_for(medium, bulk))
			turns = turn_for(medium, bulk);
		if (turns < medium->turn)
			turns = medium->turn;
	}
	/* `sent` bytes of this station are sent in `air`, if all busy stations have turns. */
	each = per_byte * (medium->stations > ONE ? medium->stations : ONE) / ONE;
	sent = air * 1000 / each;
	stays = turns * 1000 / per_byte;
	if (stays < KEPT)
		stays = KEPT;
	/* Where turns are short, as without aggregates, two of them are less than a sender needs. */
	return (struct bounds){ sent > stays ? sent : stays, sent / PATIENT > stays ? sent / PATIENT : stays,
				wall_of(medium, air, ONE) };
}

/* A packet has joined a port. */
static ALWAYS_INLINE void joined(struct law *law, struct port *port, __u64 now, __u32 number, __u64 len, int thin)
{
	struct category *category = category_of(law, number);

	port->active = now;
	if (!port->listed) {
		port->listed = 1;
		push_front(&category->turns, law->next_turn, PORTS, number + 1);
	}
	if (thin) {
		port->credit -= cost_of(port, len);
		if (!port->hurries) {
			port->hurries = 1;
			push_back(&category->first, law->next_first, PORTS, number + 1);
		}
	}
}

/* Counts the stations with packets. */
static ALWAYS_INLINE void count_stations(struct law *law, __u64 now)
{
	struct medium *medium = &law->medium;
	__u64 past = since(now, medium->counted), listed = 0, moves;
	int more;

	if (past > STATIONS_OVER)
		past = STATIONS_OVER;
	medium->counted = now;
	for (int category = 0; category < LANES; category++)
		if (law->categories[category].turns.count > listed)
			listed = law->categories[category].turns.count;
	listed *= ONE;
	more = listed > medium->stations;
	moves = more ? listed - medium->stations : medium->stations - listed;
	/* Without this line the compiler divides in both cases. */
	asm volatile("" : "+r"(moves));
	moves = moves * past / STATIONS_OVER;
	medium->stations = more ? medium->stations + moves : medium->stations - moves;
}

/* True if more than a turn is in flight, so that no further packet is released. */
static ALWAYS_INLINE int is_full(const struct category *category, __u64 turn)
{
	return category->pending >= turn && category->pending > category->last;
}

/* Returns the first port with thin packets, whatever is in flight, because credit bounds these packets. */
static ALWAYS_INLINE __u32 first_thin(struct law *law, struct category *category)
{
	__u32 port = NO_PORT;

	AT_MOST(PORTS) {
		if (!category->first.first)
			break;
		port = category->first.first - 1;
		if (port_at(law, port)->thin)
			break;
		port_at(law, port)->hurries = 0;
		pop_front(&category->first, law->next_first, PORTS);
		port = NO_PORT;
	}
	return port;
}

/* If all ports are in debt: skips as many rounds at once as the first port needs to be out of debt. */
static ALWAYS_INLINE void skip_rounds(struct law *law, const struct category *category, __u64 rounds, __u64 quantum)
{
	__u32 number = category->turns.first;

	if (!rounds)
		return;
	AT_MOST(PORTS) {
		struct port *port;

		if (!number)
			break;
		port = port_at(law, number - 1);
		if (port->deficit < (__s64)port->pending)
			port->deficit += rounds * quantum;
		number = law->next_turn[bounded(number - 1, PORTS)];
	}
}

/* True if the first port has the turn. Mostly it has, so that no loop is needed. */
static ALWAYS_INLINE int has_turn(struct law *law, struct port *port, __u64 now)
{
	if (!port->packets)
		return 0;
	count_share(port, &law->medium, now);
	return port->deficit >= (__s64)port->pending;
}

/* The port whose turn begins. A deficit grows only when its station is visited and something may be released. */
static ALWAYS_INLINE __u32 begin_turn(struct law *law, struct category *category, __u64 now)
{
	__u64 quantum = law->medium.turn / STEPS ? law->medium.turn / STEPS : 1;

	AT_MOST(ROUNDS) {
		__u32 left = category->turns.count;
		__u64 least = 0;

		AT_MOST(PORTS) {
			struct port *port;
			__s64 owed;

			if (!left || !category->turns.first)
				break;
			left--;
			port = port_at(law, category->turns.first - 1);
			count_share(port, &law->medium, now);
			owed = port->pending - port->deficit;
			/* A station's packets in flight may have to be sent again: until they are done it pays with the other stations. */
			if (!port->packets && (owed <= 0 || !port->pending)) {
				port->listed = 0;
				pop_front(&category->turns, law->next_turn, PORTS);
				continue;
			}
			/* The port stays at the front until its turns have put it into debt. */
			if (owed <= 0)
				return category->turns.first - 1;
			port->deficit += quantum;
			if (!least || (__u64)owed < least)
				least = owed;
			rotate(&category->turns, law->next_turn, PORTS);
		}
		if (!least)
			break;
		skip_rounds(law, category, (least - 1) / quantum, quantum);
	}
	return NO_PORT;
}

/* The device is done with packets of a port, for which this airtime was estimated. */
static ALWAYS_INLINE void completed(struct law *law, struct port *port, __u64 now, __u32 number, __u64 estimated)
{
	struct category *category = category_of(law, number);
	struct medium *medium = &law->medium;
	__u64 ratio;

	port->pending = less(port->pending, estimated);
	category->pending = less(category->pending, estimated);
	medium->pending = less(medium->pending, estimated);
	medium->done += estimated;
	medium->wall += since(now, medium->since);
	medium->since = now;
	if (medium->wall < WINDOW)
		return;
	/* The ratio of the sums: a mean of ratios would count a window with little airtime as much as others. */
	medium->all_wall = (medium->all_wall * 4 + medium->wall) / 5;
	medium->all_done = (medium->all_done * 4 + medium->done) / 5;
	medium->wall = medium->done = 0;
	ratio = medium->all_wall * ONE / (medium->all_done ? medium->all_done : 1);
	medium->stretch = ratio < ONE ? ONE : ratio > STRETCHED ? STRETCHED : ratio;
}

/* Forgets what is in flight, because nothing reports completions any more. */
static ALWAYS_INLINE void forget_flight(struct law *law)
{
	for (int category = 0; category < LANES; category++)
		law->categories[category].pending = 0;
}

/* Charges a station for airtime. */
static ALWAYS_INLINE void charge(struct port *port, __u64 now, __u64 airtime)
{
	if (since(now, port->active) <= ACTIVE)
		port->deficit -= airtime;
}

/* A packet has left its port; `estimated` is its airtime. */
static ALWAYS_INLINE void released(struct law *law, struct port *port, __u64 now, __u32 number, __u64 len,
				   __u64 estimated, int thin)
{
	struct category *category = category_of(law, number);
	struct medium *medium = &law->medium;

	if (!medium->pending)
		medium->since = now;
	port->pending += estimated;
	medium->pending += estimated;
	category->pending += estimated;
	port->active = now;
	port->per_byte = port->per_byte - port->per_byte / 10 + estimated * 100 / (len ? len : 1);
	if (thin) {
		/* Each station in turn may send one packet. */
		if (category->first.first == number + 1)
			rotate(&category->first, law->next_first, PORTS);
		if (!category->current)
			return;
	}
	category->last += estimated;
	if (!category->current)
		return;
	category->left = less(category->left, estimated);
	category->packets--;
	if (!category->left || !category->packets) {
		category->current = 0;
		/* Short packets that end it early make the turns of others no shorter. */
		medium->turn = medium->turn * 7 / 8 + (category->last + category->left) / 8;
	}
}

/* Adds half of the time since the last count to the credit of thin packets: their share of the link of one station. */
static ALWAYS_INLINE void count_meter(struct meter *meter, __u64 target, __u64 now)
{
	__s64 most = target / 2;

	meter->credit += since(now, meter->counted) / 2;
	meter->counted = now;
	if (meter->credit > most)
		meter->credit = most;
}

/* A thin packet joins the queue of one station. */
static ALWAYS_INLINE void spend(struct meter *meter, __u64 len)
{
	if (meter->per_byte)
		meter->credit -= (meter->per_byte - 1) * len / 1000;
}

/* Like is_thin, for one station. */
static ALWAYS_INLINE int is_thin_by(const struct meter *meter, const struct port *port, __u64 len, __u64 gap)
{
	__u64 per_byte = meter->per_byte ? meter->per_byte - 1 : 0, least = (OVERHEAD + per_byte * len / 1000) * 2;

	return meter->credit >= 0 && gap >= least && (gap >= SPARSE || gap >= least * flows_of(port));
}

/* Like bounds_of, for one station. */
static ALWAYS_INLINE struct bounds bounds_by(const struct meter *meter, __u64 target)
{
	__u64 per_byte = meter->per_byte - 1, never = 0xffffffffffffffff, most;

	if (!meter->per_byte)
		return (struct bounds){ never, never, never };
	most = target * 1000 / (per_byte ? per_byte : 1);
	return (struct bounds){ most > KEPT ? most : KEPT, never, never };
}

/* A packet leaves the queue of one station; `more`: packets wait behind it. */
static ALWAYS_INLINE void meter_leaves(struct meter *meter, __u64 target, __u64 now, __u64 len, int more)
{
	__u64 seen, time, before = meter->per_byte - 1;

	if (meter->busy_since) {
		meter->bytes += len;
		time = since(now, meter->busy_since);
		if (time >= target / BURST) {
			seen = time * 1000 / (meter->bytes ? meter->bytes : 1);
			meter->per_byte = 1 + (meter->per_byte ? before - before / 16 + seen / 16 : seen);
		} else if (more) {
			return;
		}
	}
	meter->bytes = 0;
	meter->busy_since = more ? now : 0;
}
