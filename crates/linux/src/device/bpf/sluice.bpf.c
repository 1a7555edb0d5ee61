/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * The queue discipline "sluice". It is only the mechanism; the agent sets its limit. A queue is one element of the
 * arrays, found by the queue's handle. Enqueue, dequeue and reset run under the queue's lock. Before destroy, reset
 * runs once more without it. */
#include "kernel.h"
#include "shared.h"
#include "network.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct qdisc_skb_cb {
	unsigned int pkt_len;
};
struct qdisc_skb_head {
	__u32 qlen;
};
struct gnet_stats_queue {
	__u32 backlog, drops;
};
struct ns_common {
	unsigned int inum;
};
struct net {
	struct ns_common ns;
};
typedef struct {
	struct net *net;
} possible_net_t;
struct net_device {
	int ifindex;
	unsigned short type;
	possible_net_t nd_net;
};
struct netdev_queue {
	struct net_device *dev;
};
struct Qdisc {
	__u32 limit, handle;
	struct netdev_queue *dev_queue;
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
};
#pragma clang attribute pop

struct bpf_sk_buff_ptr {
	struct sk_buff *skb;
};
struct nlattr;
struct netlink_ext_ack;
struct Qdisc_ops {
	char id[16];
	int (*enqueue)(struct sk_buff *, struct Qdisc *, struct sk_buff **);
	struct sk_buff *(*dequeue)(struct Qdisc *);
	int (*init)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
	void (*reset)(struct Qdisc *);
	void (*destroy)(struct Qdisc *);
};
KERNEL(void bpf_qdisc_skb_drop(struct sk_buff *skb, struct bpf_sk_buff_ptr *to_free));
KERNEL(void bpf_kfree_skb(struct sk_buff *skb));
KERNEL(void bpf_qdisc_watchdog_schedule(struct Qdisc *sch, __u64 expire, __u64 delta_ns));
KERNEL(void bpf_qdisc_bstats_update(struct Qdisc *sch, const struct sk_buff *skb));

#define NET_XMIT_SUCCESS 0
#define NET_XMIT_DROP 1
#define NET_XMIT_CN 2
#define EPERM 1
#define EBUSY 16
#define EINVAL 22
#define MOST_PLACES (1 << 16)
/* Longest time, ns, until a queue notices that its rate has changed. */
#define LONGEST_WAIT 10000000

/* Most packets freed in one call. Freeing one costs some hundred nanoseconds, while other calls of the queue wait.
 * Enqueue and dequeue free as many as a transmitting processor sends at once (net.core.dev_weight). A reset delays only
 * what its processor receives, for less than half a millisecond of the two that receiving may take at once
 * (net.core.netdev_budget_usecs). */
#define discards_at_once 64
#define RESET_FREES 1024

/* The loader sets the number of queues, and the number of packets in each (a power of two). */
const volatile __u32 ring_mask = 1023;

typedef struct sk_buff *packet_t;
/* How a discarded packet is freed: in enqueue after the lock is released, otherwise at once. */
typedef struct {
	struct Qdisc *sch;
	struct bpf_sk_buff_ptr *to_free;
} host_t;

struct entry {
	struct sk_buff __attribute__((btf_type_tag("kptr"))) *skb;
	__u64 since;
	__u32 len;
	/* With turns: the next entry in the packet's chain, and the packet's flow. */
	__u32 next, flow;
};

MAP(settings, ARRAY, 1, struct sluice_settings);
MAP(measured, ARRAY, 1, struct sluice_measured);
MAP(ring, ARRAY, 1, struct entry);

struct queue;
static struct entry *entry_at(struct queue q, __u64 position);
static void entry_drop(struct queue q, struct entry *entry, host_t host);
static __u32 places_of_ring(void);
#include "fifo.h"
#include "share.h"
#include "flows.h"
#include "stations.h"
#include "biased.h"
#include "class.h"
#include "hops.h"

static ALWAYS_INLINE struct entry *entry_at(struct queue q, __u64 position)
{
	__u32 mask = ring_mask, index = q.slot * (mask + 1) + ((__u32)position & mask);

	return bpf_map_lookup_elem(&ring, &index);
}

static ALWAYS_INLINE __u32 places_of_ring(void)
{
	return ring_mask + 1;
}

/* Bytes of a packet as the kernel counts them: what the link carries. */
static ALWAYS_INLINE __u32 link_len(const struct sk_buff *skb)
{
	return ((const struct qdisc_skb_cb *)skb->cb)->pkt_len;
}

/* Removes a packet from the kernel's own account. */
static ALWAYS_INLINE void uncount(struct Qdisc *sch, const struct sk_buff *skb)
{
	sch->q.qlen--;
	sch->qstats.backlog -= link_len(skb);
}

static ALWAYS_INLINE void entry_drop(struct queue q, struct entry *entry, host_t host)
{
	struct sk_buff *skb = bpf_kptr_xchg(&entry->skb, 0);

	(void)q;
	host.sch->qstats.drops++;
	if (!skb)
		return;
	uncount(host.sch, skb);
	if (host.to_free)
		bpf_qdisc_skb_drop(skb, host.to_free);
	else
		bpf_kfree_skb(skb);
}

/* Frees packets that a reset has left in their entries, the oldest first. Called before packets are put into the ring,
 * so no entry is needed again before it is empty. */
static ALWAYS_INLINE void free_left(struct queue q, __u32 most, struct bpf_sk_buff_ptr *to_free)
{
	AT_MOST(most) {
		struct entry *entry;
		struct sk_buff *skb;

		if (likely(!q.is->left_places))
			break;
		entry = entry_at(q, q.is->left_end - q.is->left_places--);
		if (!entry)
			break;
		skb = bpf_kptr_xchg(&entry->skb, 0);
		if (!skb)
			continue;
		if (to_free)
			bpf_qdisc_skb_drop(skb, to_free);
		else
			bpf_kfree_skb(skb);
	}
}

/* Finds the queue of a handle. False if Sluice has none. */
static ALWAYS_INLINE int find(struct Qdisc *sch, struct queue *q)
{
	/* The key of a look-up must be in memory; other values need not be. */
	__u32 slot = (sch->handle >> 16) - FIRST_MAJOR;

	if (slot >= MOST_QUEUES)
		return 0;
	q->set = bpf_map_lookup_elem(&settings, &slot);
	q->is = q->port = bpf_map_lookup_elem(&measured, &slot);
	q->slot = slot;
	return q->set && q->is;
}

/* Changes from a queue to the real-time queue next to it. */
static ALWAYS_INLINE int find_real_time(struct queue *q)
{
	__u32 slot = q->slot + MOST_QUEUES;

	q->set = bpf_map_lookup_elem(&settings, &slot);
	q->is = bpf_map_lookup_elem(&measured, &slot);
	q->slot = slot;
	return q->set && q->is;
}

/* Returns the packet's bytes at the network layer. */
static ALWAYS_INLINE __u32 network_len(const struct sk_buff *skb, __u32 all)
{
	__u32 before = before_network(skb);

	return likely(before < all) ? all - before : all;
}

/* Puts a packet into its entry. */
static ALWAYS_INLINE void keep(struct entry *place, struct sk_buff *skb, __u32 all, host_t host)
{
	skb = bpf_kptr_xchg(&place->skb, skb);
	if (skb)
		bpf_qdisc_skb_drop(skb, host.to_free);
	host.sch->q.qlen++;
	host.sch->qstats.backlog += all;
}

/* A packet arrives at a queue. */
static ALWAYS_INLINE int put(struct queue q, struct sk_buff *skb, host_t host, enum class class, __u64 now)
{
	__u32 all = link_len(skb);
	struct entry *place;
	__u64 dropped;

	if (unlikely(q.is->left_places))
		free_left(q, discards_at_once, host.to_free);
	dropped = q.is->dropped_packets;
	place = arrive(q, now, network_len(skb, all), host);
	if (unlikely(!place)) {
		host.sch->qstats.drops++;
		bpf_qdisc_skb_drop(skb, host.to_free);
		return NET_XMIT_DROP;
	}
	keep(place, skb, all, host);
	if (class >= REAL_TIME)
		q.port->real_time_bytes += place->len;
	if (class == REAL_TIME_NEW)
		q.port->real_time_new_bytes += place->len;
	return q.is->dropped_packets == dropped ? NET_XMIT_SUCCESS : NET_XMIT_CN;
}

/* Enqueue for a queue that reads headers, for classes or hops. */
static APART int enqueue_looking(struct sk_buff *skb, struct Qdisc *sch, struct bpf_sk_buff_ptr *to_free, __u64 now)
{
	enum class class = BEST_EFFORT;
	host_t host = { sch, to_free };
	struct queue q;

	if (!find(sch, &q))
		goto drop;
	q.governed = is_governed(q.set, now);
	if (q.set->hops) {
		interval(q);
		raise_to(&q.is->hops_max, hops_of((struct __sk_buff *)skb, skb, q.is->link));
	}
	if (q.set->classes && q.governed)
		class = class_of((struct __sk_buff *)skb, skb, q.is->link);
	if (class == KEEPS_GOING && !is_within_share(q, link_len(skb)))
		class = BEST_EFFORT;
	if (class != BEST_EFFORT) {
		q.is->split = 1;
		if (!find_real_time(&q))
			goto drop;
	}
	return put(q, skb, host, class, now);
drop:
	bpf_qdisc_skb_drop(skb, to_free);
	return NET_XMIT_DROP;
}

/* Returns when a queue with waiting packets tries again by itself. Nothing wakes it if a packet is completed, its rate
 * changes or its agent dies; so a missing completion does not stop it. */
static ALWAYS_INLINE __u64 look_again_at(struct queue q, const struct Qdisc *sch, __u64 now)
{
	__u64 ready_at = q.is->ready_at;
	int real_time_waits = sch->q.qlen > q.is->backlog_packets;

	if (real_time_waits || now >= ready_at)
		return now + q.set->credit_poll;
	return ready_at < now + LONGEST_WAIT ? ready_at : now + LONGEST_WAIT;
}

/* Records how a packet that goes below will be recognised. */
static ALWAYS_INLINE void identify(struct queue q, struct flight *flight, struct sk_buff *skb)
{
	if (unlikely(flight->len > MOST_MSDU)) {
		__u64 position = q.port->handed_packets - 1;

		flight->id = mark_of(q.slot % MOST_QUEUES, position, q.set->key_first, q.set->key_second);
		/* Nothing below reads the packet's departure time. */
		skb->tstamp = flight->id;
		return;
	}
	/* What is read from a map is a number, not a pointer, and may be used in computations. */
	*(struct sk_buff *volatile *)&flight->id = skb;
	enter(*(volatile __u64 *)&flight->id, flight->service);
}

/* Hands out a packet that has left the account. */
static ALWAYS_INLINE struct sk_buff *hand_out(struct queue q, struct Qdisc *sch, struct entry *first,
					      struct flight *flight)
{
	struct sk_buff *skb;

	skb = bpf_kptr_xchg(&first->skb, 0);
	if (!skb)
		return 0;
	uncount(sch, skb);
	if (flight)
		identify(q, flight, skb);
	bpf_qdisc_bstats_update(sch, skb);
	return skb;
}

#include "turns.h"

/* Enqueue for queues that discard by priority. */
static APART int enqueue_biased(struct sk_buff *skb, struct Qdisc *sch, struct bpf_sk_buff_ptr *to_free, __u64 now)
{
	struct __sk_buff *context = (struct __sk_buff *)skb;
	__u32 all = link_len(skb), priority;
	host_t host = { sch, to_free };
	struct entry *place;
	struct queue q;
	__u64 dropped;

	if (!find(sch, &q))
		goto drop;
	q.governed = is_governed(q.set, now);
	interval(q);
	if (q.set->hops)
		raise_to(&q.is->hops_max, hops_of(context, skb, q.is->link));
	if (unlikely(q.is->left_places))
		free_left(q, discards_at_once, to_free);
	priority = priority_of(context, skb, q.is->link);
	dropped = q.is->dropped_packets;
	place = arrive_biased(q, priority, now, network_len(skb, all), host);
	if (!place) {
		sch->qstats.drops++;
		goto drop;
	}
	keep(place, skb, all, host);
	return q.is->dropped_packets == dropped ? NET_XMIT_SUCCESS : NET_XMIT_CN;
drop:
	bpf_qdisc_skb_drop(skb, to_free);
	return NET_XMIT_DROP;
}

static APART struct sk_buff *dequeue_biased(struct Qdisc *sch, __u64 now)
{
	host_t host = { sch, 0 };
	struct flight *flight;
	struct entry *first;
	struct queue q;

	if (!find(sch, &q))
		return 0;
	q.governed = is_governed(q.set, now);
	interval(q);
	look_below(q, 0, now);
	first = depart_biased(q, now, &flight, host);
	if (first)
		return hand_out(q, sch, first, flight);
	if (q.is->backlog_packets)
		bpf_qdisc_watchdog_schedule(sch, look_again_at(q, sch, now), 0);
	return 0;
}

SEC("struct_ops/sluice_enqueue")
int sluice_enqueue(__u64 *context)
{
	struct sk_buff *skb = (void *)context[0];
	struct Qdisc *sch = (void *)context[1];
	host_t host = { sch, (void *)context[2] };
	struct queue q;
	__u64 now;

	if (!find(sch, &q)) {
		bpf_qdisc_skb_drop(skb, host.to_free);
		return NET_XMIT_DROP;
	}
	now = bpf_ktime_get_ns();
	if (unlikely(q.set->looks | q.is->split)) {
		if (q.is->discipline == BIASED)
			return enqueue_biased(skb, sch, host.to_free, now);
		if (!q.is->discipline)
			return enqueue_looking(skb, sch, host.to_free, now);
		return enqueue_turns(q, skb, host, now);
	}
	q.governed = is_governed(q.set, now);
	return put(q, skb, host, BEST_EFFORT, now);
}

/* Dequeue for queues that have, or had, a real-time queue. */
static APART struct sk_buff *dequeue_classes(struct Qdisc *sch, __u64 now)
{
	host_t host = { sch, 0 };
	struct entry *first;
	struct flight *flight;
	struct queue q, rt, one;

	if (!find(sch, &q))
		return 0;
	q.governed = is_governed(q.set, now);
	rt = q;
	if (!find_real_time(&rt))
		return 0;
	interval(q);
	interval(rt);
	look_below(q, rt.is, now);
	/* If real time is over its share, best effort goes first if its rate allows, even if it waits for credit, which real
	 * time would otherwise take. */
	one = goes_first(q) || !q.is->backlog_packets || is_shaped(q, now) ? rt : q;
	first = depart(one, now, &flight, host);
	if (!first && (is_real_time(one) || !q.is->backlog_packets)) {
		one = is_real_time(one) ? q : rt;
		first = depart(one, now, &flight, host);
	}
	/* It was the last real-time packet of a queue without classes. */
	if (!q.set->classes && !rt.is->backlog_packets)
		q.is->split = 0;
	if (first) {
		makes_room(one, first->len);
		return hand_out(one, sch, first, flight);
	}
	if (sch->q.qlen)
		bpf_qdisc_watchdog_schedule(sch, look_again_at(q, sch, now), 0);
	return 0;
}

SEC("struct_ops/sluice_dequeue")
struct sk_buff *sluice_dequeue(__u64 *context)
{
	struct Qdisc *sch = (void *)context[0];
	host_t host = { sch, 0 };
	struct entry *first;
	struct flight *flight;
	struct queue q;
	__u64 now;

	/* The kernel calls dequeue once more after the last packet. */
	if (!sch->q.qlen || !find(sch, &q))
		return 0;
	now = bpf_ktime_get_ns();
	if (unlikely(q.is->split)) {
		if (q.is->discipline == BIASED)
			return dequeue_biased(sch, now);
		if (!q.is->discipline)
			return dequeue_classes(sch, now);
		return dequeue_turns(sch, q.set, q.is, q.slot, now);
	}
	q.governed = is_governed(q.set, now);
	interval(q);
	look_below(q, 0, now);
	first = depart(q, now, &flight, host);
	if (first)
		return hand_out(q, sch, first, flight);
	if (q.is->backlog_packets)
		bpf_qdisc_watchdog_schedule(sch, look_again_at(q, sch, now), 0);
	return 0;
}

/* The kernel also calls reset and destroy after a failed init. Then the slot belongs to another queue. */
static ALWAYS_INLINE int find_own(struct Qdisc *sch, struct queue *q)
{
	return sch->limit && find(sch, q);
}

SEC("struct_ops/sluice_init")
int sluice_init(__u64 *context)
{
	struct Qdisc *sch = (void *)context[0];
	struct net_device *dev = sch->dev_queue->dev;
	struct queue q, rt;

	if (!find(sch, &q))
		return -EINVAL;
	if (q.is->interface)
		return -EBUSY;
	/* A user with a network namespace of his own may make queues in it, but no sluice: such queues are made only where an
	 * agent permitted it a short time ago. */
	if (!is_governed(q.set, bpf_ktime_get_ns()) || q.set->interface != (__u64)dev->ifindex ||
	    q.set->namespace != dev->nd_net.net->ns.inum)
		return -EPERM;
	begin(q, bpf_ktime_get_ns());
	q.is->signalling_room = PRIORITY_BURST;
	q.is->real_time_used = 0;
	q.is->interface = dev->ifindex;
	q.is->link = dev->type;
	q.is->radio = q.set->radio;
	q.is->discipline = q.set->discipline;
	q.is->split = q.is->discipline != 0;
	if (q.is->discipline)
		begin_turns(turns_of(q));
	rt = q;
	if (!find_real_time(&rt))
		return -EINVAL;
	begin(rt, bpf_ktime_get_ns());
	meet(q.slot, 1);
	/* Zero in each new queue; 1 shows that this queue has its slot. */
	sch->limit = 1;
	return 0;
}

/* Discards all packets of a queue. */
static ALWAYS_INLINE void empty(struct queue q, struct Qdisc *sch)
{
	__u64 left;

	/* Entries between those of an earlier reset and the present queue are empty. The kernel sets its own account to zero
	 * after this. */
	left = q.is->left_places ? q.is->head - q.is->left_end + q.is->left_places : 0;
	left += q.is->backlog_packets;
	sch->qstats.drops += q.is->backlog_packets;
	abandon(q, bpf_ktime_get_ns());
	q.is->left_places = left <= ring_mask ? left : ring_mask + 1;
	q.is->left_end = q.is->head;
	free_left(q, RESET_FREES, 0);
}

/* Like empty(), with turns: packets are in the first entries. */
static ALWAYS_INLINE void empty_turns(struct queue q, struct Qdisc *sch)
{
	struct turns *all = turns_of(q);

	sch->qstats.drops += q.is->backlog_packets;
	abandon(q, bpf_ktime_get_ns());
	if (all->used > q.is->left_end || !q.is->left_places)
		q.is->left_end = all->used;
	q.is->left_places = q.is->left_end;
	begin_turns(all);
	free_left(q, RESET_FREES, 0);
}

SEC("struct_ops/sluice_reset")
void sluice_reset(__u64 *context)
{
	struct Qdisc *sch = (void *)context[0];
	struct queue q;

	if (!find_own(sch, &q))
		return;
	if (q.is->discipline) {
		empty_turns(q, sch);
		return;
	}
	empty(q, sch);
	if (q.is->split && find_real_time(&q))
		empty(q, sch);
}

SEC("struct_ops/sluice_destroy")
void sluice_destroy(__u64 *context)
{
	struct queue q, rt;

	if (!find_own((void *)context[0], &q))
		return;
	/* No call waits for this one. */
	free_left(q, MOST_PLACES, 0);
	rt = q;
	if (q.is->split && find_real_time(&rt))
		free_left(rt, MOST_PLACES, 0);
	q.is->interface = 0;
	meet(q.slot, 0);
}

SEC(".struct_ops.link")
struct Qdisc_ops sluice = {
	.id = "sluice",
	.enqueue = (void *)sluice_enqueue,
	.dequeue = (void *)sluice_dequeue,
	.init = (void *)sluice_init,
	.reset = (void *)sluice_reset,
	.destroy = (void *)sluice_destroy,
};

char terms[] SEC("license") = "Dual MIT/GPL";
