/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * First in, first out, with a limit that moves and two ends to drop from: crate queue's Fifo and Account in C, held to
 * the same decisions and counters by a test. No clock; packets are the host's. The host defines before it includes this:
 *
 *   packet_t                       a packet
 *   host_t                         what is needed to drop a packet
 *   struct entry                   a place in the ring with members since (__u64) and len
 *   entry_at(queue, position)      that place; may be null where the verifier needs a check
 *   entry_drop(queue, entry, host) the packet in it is discarded
 *   discards_at_once               maximum number of packets that a call discards for each reason
 *
 * Times never run back within a queue. Those of bpf_ktime_get_ns may, so negative differences count as zero. */

#include "below.h"

struct queue {
	struct sluice_settings *set;
	struct sluice_measured *is;
	/* Account of what the device has: `is` itself; for a real-time queue that of the best-effort queue. */
	struct sluice_measured *port;
	__u32 slot;
	/* True if the queue's agent is alive at this call. */
	int governed;
};

/* True for the real-time queue next to another queue. */
static ALWAYS_INLINE int is_real_time(struct queue q)
{
	return q.slot >= MOST_QUEUES;
}

struct limit {
	__u64 packets, bytes;
};

/* True if the agent reported recently. */
static ALWAYS_INLINE int is_governed(const struct sluice_settings *set, __u64 now)
{
	return likely(now < set->valid_until);
}

/* Returns the limit that applies: that of a living agent, or the fall-back. */
static ALWAYS_INLINE struct limit limit_of(struct queue q)
{
	const struct sluice_settings *set = q.set;

	if (q.governed)
		return (struct limit){ set->limit_packets, set->limit_bytes };
	return (struct limit){ set->fallback_packets, set->fallback_bytes };
}

static ALWAYS_INLINE int fits(__u64 packets, __u64 bytes, struct limit limit, __u64 len)
{
	return packets < limit.packets && len <= limit.bytes && bytes <= limit.bytes - len;
}

static ALWAYS_INLINE int is_over(const struct sluice_measured *is, struct limit limit)
{
	return is->backlog_packets > limit.packets || is->backlog_bytes > limit.bytes;
}

static ALWAYS_INLINE void raise_to(__u64 *max, __u64 value)
{
	if (value > *max)
		*max = value;
}

/* Accounts for idle time after the queue's length has changed. */
static ALWAYS_INLINE void occupancy(struct queue q, __u64 now)
{
	struct sluice_measured *is = q.is;

	if (is->backlog_packets <= q.set->idle_threshold) {
		if (unlikely(!is->idle_since))
			is->idle_since = now;
	} else if (unlikely(is->idle_since)) {
		is->idle_sum += since(now, is->idle_since);
		is->idle_since = 0;
	}
}

#include "shaper.h"

/* Begins an empty queue. Counters continue from those of the former queue, so that a reader sees no step. Time without
 * a queue counts as idle. */
static ALWAYS_INLINE void begin(struct queue q, __u64 now)
{
	struct sluice_measured *is = q.is;

	if (is->idle_since)
		is->idle_sum += since(now, is->idle_since);
	is->idle_since = now;
	is->service_average = NO_AVERAGE;
	is->departed = is->released = 0;
	is->pace = 0;
	is->bucket = is->bucket_rate = is->ready_at = 0;
}

/* If the agent has read, maxima begin again. */
static ALWAYS_INLINE void interval(struct queue q)
{
	struct sluice_measured *is = q.is;

	if (likely(is->epoch == q.set->epoch))
		return;
	is->epoch = q.set->epoch;
	is->backlog_max = is->backlog_packets;
	is->sojourn_max = is->service_max = is->nodal_max = is->hops_max = 0;
}

/* Takes the packet at the head or the tail out of the account. */
static ALWAYS_INLINE struct entry *unlink_entry(struct queue q, int tail)
{
	struct sluice_measured *is = q.is;
	struct entry *gone = entry_at(q, tail ? is->head + is->backlog_packets - 1 : is->head);

	if (!gone)
		return 0;
	if (!tail)
		is->head++;
	is->backlog_packets--;
	is->backlog_bytes -= gone->len;
	return gone;
}

static ALWAYS_INLINE void refuse(struct queue q, __u64 len)
{
	q.is->dropped_packets++;
	q.is->dropped_bytes += len;
}

static ALWAYS_INLINE void discard(struct queue q, int tail, host_t host)
{
	struct entry *gone = unlink_entry(q, tail);

	if (!gone)
		return;
	refuse(q, gone->len);
	entry_drop(q, gone, host);
}

/* Updates the counters after packets were discarded. */
static ALWAYS_INLINE void settle(struct queue q, __u64 now)
{
	if (!q.is->backlog_packets)
		q.is->departed = 0;
	occupancy(q, now);
}

/* Discards all packets. They leave the account at once, and the host empties their entries. */
static ALWAYS_INLINE void abandon(struct queue q, __u64 now)
{
	struct sluice_measured *is = q.is;

	is->dropped_packets += is->backlog_packets;
	is->dropped_bytes += is->backlog_bytes;
	is->head += is->backlog_packets;
	is->backlog_packets = is->backlog_bytes = 0;
	settle(q, now);
}

/* Discards packets beyond a limit that was lowered or fell back, over as many calls as needed. */
static ALWAYS_INLINE void purge(struct queue q, struct limit limit, __u64 now, host_t host)
{
	if (likely(!is_over(q.is, limit)) || !q.set->purge)
		return;
	AT_MOST(discards_at_once) {
		if (!is_over(q.is, limit))
			break;
		discard(q, q.set->purge == 2, host);
	}
	settle(q, now);
}

/* A packet arrives. Returns the entry where the host must put it; null: the host must drop it. */
static ALWAYS_INLINE struct entry *arrive(struct queue q, __u64 now, __u64 len, host_t host)
{
	struct sluice_measured *is = q.is;
	struct limit limit = limit_of(q);
	struct entry *place;

	interval(q);
	purge(q, limit, now, host);
	is->arrived_packets++;
	is->arrived_bytes += len;
	if (unlikely(!fits(is->backlog_packets, is->backlog_bytes, limit, len))) {
		if (q.set->drop_head && fits(0, 0, limit, len)) {
			AT_MOST(discards_at_once) {
				if (fits(is->backlog_packets, is->backlog_bytes, limit, len))
					break;
				discard(q, 0, host);
			}
		}
		if (!fits(is->backlog_packets, is->backlog_bytes, limit, len)) {
			refuse(q, len);
			settle(q, now);
			return 0;
		}
	}
	place = entry_at(q, is->head + is->backlog_packets);
	if (!place)
		return 0;
	place->since = now;
	place->len = len;
	is->backlog_packets++;
	is->backlog_bytes += len;
	raise_to(&is->backlog_max, is->backlog_packets);
	occupancy(q, now);
	return place;
}

/* Records the wait of a packet that has left. */
static ALWAYS_INLINE void waited(struct sluice_measured *is, __u64 sojourn)
{
	is->sojourn_count++;
	is->sojourn_sum += sojourn;
	is->sojourn_last = sojourn;
	raise_to(&is->sojourn_max, sojourn);
}

/* Records the service time of the packet whose wait was recorded last. */
static ALWAYS_INLINE void served(const struct sluice_settings *set, struct sluice_measured *is, __u64 service)
{
	__u64 nodal = is->sojourn_last + service;

	if (set->weight) {
		/* Service times above nine minutes count as nine minutes, so that nothing overflows. */
		__s64 capped = service < 1ull << 39 ? service : 1ull << 39;
		__s64 average = is->service_average;

		if (is->service_average == NO_AVERAGE)
			is->service_average = capped << 8;
		else
			is->service_average = average + ((((capped << 8) - average) * (__s64)set->weight) >> 15);
	}
	is->service_count++;
	is->service_sum += service;
	is->service_last = service;
	raise_to(&is->service_max, service);
	is->nodal_sum += nodal;
	is->nodal_last = nodal;
	raise_to(&is->nodal_max, nodal);
}

static ALWAYS_INLINE void late_if(struct queue q, __u64 mac_delay)
{
	if (unlikely(q.set->late_after) && mac_delay > q.set->late_after)
		q.port->late_packets++;
}

/* Takes the oldest packet below out of the account if the device is done with it or it is overdue. Packets behind it
 * may be done earlier: their credit is free at once, and their times are counted in turn, for this queue or the
 * real-time queue, from which they came. */
static ALWAYS_INLINE void settle_oldest(struct queue q, struct sluice_measured *real_time, __u64 now)
{
	struct sluice_measured *is = q.is, *its = is;
	struct flight *oldest;
	__u64 done;

	if (is->settled_packets == is->handed_packets)
		return;
	oldest = &flights[index_of(q.slot, is->settled_packets)];
	done = read_first(&oldest->done);
	if (done) {
		if (unlikely(real_time) && oldest->is_real_time)
			its = real_time;
		waited(its, since(since(done, oldest->arrived), oldest->service));
		served(q.set, its, oldest->service);
		late_if(q, oldest->service);
		is->pace = is->pace ? is->pace - is->pace / 8 + oldest->alone / 8 : oldest->alone + 1;
	} else {
		int is_full = is->handed_packets - is->settled_packets >= FLIGHTS;
		__u64 id = oldest->id;

		if (!is_full && since(now, oldest->handed) < q.set->credit_expiry)
			return;
		/* Another processor is completing this packet now. */
		if (!id || !take_id(oldest, id))
			return;
		if (oldest->airtime)
			land(q.slot, oldest->port, oldest->airtime);
		is->lost_packets++;
	}
	is->settled_packets++;
}

static ALWAYS_INLINE int is_by_credit(struct queue q)
{
	return q.governed && q.set->credit_packets;
}

/* Takes at most two completed packets out of the account: one for a packet that may enter it, and one more. Returns
 * true if the queue releases by credit. */
static ALWAYS_INLINE int look_below(struct queue q, struct sluice_measured *real_time, __u64 now)
{
	int by_credit = is_by_credit(q);

	if (by_credit) {
		settle_oldest(q, real_time, now);
		settle_oldest(q, real_time, now);
	}
	return by_credit;
}

/* Returns how many packets of a queue the device has. */
static ALWAYS_INLINE __u64 below_of(const struct sluice_measured *is)
{
	return is->handed_packets - is->completed_packets - is->lost_packets;
}

/* A queue appears or disappears: it and the other queues of its radio learn of each other. The kernel makes and ends
 * queues one after another. */
VERIFIED_APART int meet(__u32 slot, int comes)
{
	struct sluice_measured *is = bpf_map_lookup_elem(&measured, &slot);
	struct bpf_iter_num number;
	int *at;

	if (!is)
		return 0;
	is->others = 0;
	bpf_iter_num_new(&number, 0, MOST_QUEUES);
	while ((at = bpf_iter_num_next(&number))) {
		__u32 which = *at, key = which;
		struct sluice_measured *other = bpf_map_lookup_elem(&measured, &key);

		if (!other || !other->interface || which == slot || other->radio != is->radio)
			continue;
		other->others &= ~(1ull << slot % MOST_QUEUES);
		if (comes) {
			other->others |= 1ull << slot % MOST_QUEUES;
			is->others |= 1ull << which % MOST_QUEUES;
		}
	}
	bpf_iter_num_destroy(&number);
	return 0;
}

/* Like below_of, for a second queue of the radio, which does not notice overdue packets if it sends no more. */
static ALWAYS_INLINE __u64 below_lately(const struct sluice_measured *is, __u32 slot, __u64 now, __u64 expiry)
{
	const struct flight *last = &flights[index_of(slot, is->handed_packets - 1)];

	return since(now, last->handed) < expiry ? below_of(is) : 0;
}

/* Returns the packets that a radio has, of these queues and of one with `own` packets; or, if more, `own` for each
 * queue that sends: no queue may have more than its share. */
VERIFIED_APART __u32 below_of_radio(__u64 others, __u32 own, __u64 now, __u64 expiry)
{
	struct bpf_iter_num number;
	__u64 all = own, senders = 1;
	int *at;

	bpf_iter_num_new(&number, 0, MOST_QUEUES);
	while ((at = bpf_iter_num_next(&number))) {
		__u32 slot = *at;
		const struct sluice_measured *is = bpf_map_lookup_elem(&measured, &slot);

		__u64 below;

		if (!is || !(others >> slot % MOST_QUEUES & 1))
			continue;
		below = below_lately(is, slot, now, expiry);
		all += below;
		senders += below || is->backlog_packets;
	}
	bpf_iter_num_destroy(&number);
	return all > own * senders ? all : own * senders;
}

/* Like below_of, for all packets that the radio has. */
static ALWAYS_INLINE __u64 below_with_others(const struct sluice_settings *set, const struct sluice_measured *is,
					     __u64 own, __u64 now)
{
	return likely(!is->others) ? own : below_of_radio(is->others, own, now, set->credit_expiry);
}

/* True if this many packets below use up the credit. Not inlined: it is needed only while packets are below. */
static APART int uses_credit(const struct sluice_settings *set, const struct sluice_measured *is, __u64 below, __u64 now)
{
	below = below_with_others(set, is, below, now);
	return below >= set->credit_packets || !is->pace || below * is->pace >= set->credit_time;
}

/* True if no more packets may be handed down now. Each queue may always have two packets below. Real time waits only
 * for an entry. */
static ALWAYS_INLINE int is_credit_used(struct queue q, __u64 now)
{
	const struct sluice_measured *is = q.port;
	__u64 below = below_of(is);

	if (is->handed_packets - is->settled_packets >= FLIGHTS)
		return 1;
	return below >= 2 && !is_real_time(q) && uses_credit(q.set, is, below, now);
}

/* Hands the packet at the head to a device that reports completions. Returns the entry for the packet's id. */
static ALWAYS_INLINE struct flight *hand_down(struct queue q, const struct entry *first, __u64 now)
{
	__u32 index = index_of(q.slot, q.port->handed_packets);
	struct flight *flight = &flights[index];

	flight->service = index;
	flight->arrived = first->since;
	flight->handed = now;
	flight->len = first->len;
	flight->is_real_time = is_real_time(q);
	flight->airtime = 0;
	flight->done = 0;
	flight->id = NOT_SAID;
	q.port->handed_packets++;
	q.is->departed = 0;
	return flight;
}

/* Hands the packet at the head to a device that pushes back. By taking it, the device shows that it was done with the
 * packet before. */
static ALWAYS_INLINE void hand_over(struct queue q, const struct entry *first, __u64 now)
{
	struct sluice_measured *is = q.is;

	if (is->departed)
		served(q.set, is, since(now, is->departed));
	waited(is, since(now, first->since));
	is->departed = is->backlog_packets ? now : 0;
}

/* Returns how long a device that pushes back has made the packet at the head wait: since it could have left this queue
 * and the packet before it was done. */
static ALWAYS_INLINE __u64 kept_waiting(struct queue q, const struct entry *first, __u64 now)
{
	__u64 could = first->since;

	if (q.is->ready_at > could)
		could = q.is->ready_at;
	if (q.port->released > could)
		could = q.port->released;
	return since(now, could);
}

/* A packet that has left the account leaves. With credit, returns its entry among the packets below. */
static ALWAYS_INLINE struct flight *leaves(struct queue q, const struct entry *first, __u64 now, int by_credit)
{
	struct sluice_measured *is = q.is;

	is->sent_packets++;
	is->sent_bytes += first->len;
	occupancy(q, now);
	if (unlikely(q.set->late_after)) {
		if (!by_credit)
			late_if(q, kept_waiting(q, first, now));
		q.port->released = now;
	}
	fill(q, now, first->len);
	if (by_credit)
		return hand_down(q, first, now);
	hand_over(q, first, now);
	return 0;
}

/* The device takes a packet. Returns its entry, from which the host hands it out; null: no packet waits, or it must
 * wait for credit or for the rate. With credit the packet also gets an entry below. Call interval() and look_below()
 * before. */
static ALWAYS_INLINE struct entry *depart(struct queue q, __u64 now, struct flight **flight, host_t host)
{
	int by_credit = is_by_credit(q);
	struct entry *first;

	purge(q, limit_of(q), now, host);
	*flight = 0;
	if (unlikely(!q.is->backlog_packets) || (by_credit && is_credit_used(q, now)) || is_shaped(q, now))
		return 0;
	first = unlink_entry(q, 0);
	if (!first)
		return 0;
	*flight = leaves(q, first, now, by_credit);
	return first;
}
