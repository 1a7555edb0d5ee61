/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * The law of turns and its queues without a queue of the kernel, driven step by step by the test that compares them
 * with crate queue: packets are numbers, and time is given. Runs on any kernel with programs of type "syscall". */
#include "kernel.h"
#include "shared.h"

#define RING_MASK 4095
#define discards_at_once 1024

/* A call: a packet leaves a category, or the queue of one station (0), comes to a port (1), or airtime `len` of a port
 * is done (2). Answer: whether it was kept, or which packet left; and how many were dropped. */
struct step {
	__u64 call, now, port, hash, len, packet, answer, dropped;
};
struct numbers {
	__u64 of[RING_MASK + 1];
};
typedef struct {
	struct step *step;
} host_t;
struct entry {
	__u64 packet, since;
	__u32 len, next, flow;
};

MAP(settings, ARRAY, 1, struct sluice_settings);
MAP(measured, ARRAY, 1, struct sluice_measured);
MAP(ring, ARRAY, RING_MASK + 1, struct entry);
MAP(call, ARRAY, 1, struct step);
/* Numbers of the packets that were dropped, in order. */
MAP(dropped, ARRAY, 1, struct numbers);

struct queue;
static struct entry *entry_at(struct queue q, __u64 position);
static void entry_drop(struct queue q, struct entry *entry, host_t host);
static __u32 places_of_ring(void);
#include "fifo.h"
#include "flows.h"
#include "stations.h"

static ALWAYS_INLINE struct entry *entry_at(struct queue q, __u64 position)
{
	__u32 index = (__u32)position & RING_MASK;

	(void)q;
	return bpf_map_lookup_elem(&ring, &index);
}

static ALWAYS_INLINE __u32 places_of_ring(void)
{
	return RING_MASK + 1;
}

static ALWAYS_INLINE void entry_drop(struct queue q, struct entry *entry, host_t host)
{
	__u32 one = 0;
	struct numbers *numbers = bpf_map_lookup_elem(&dropped, &one);

	(void)q;
	if (numbers)
		numbers->of[host.step->dropped++ & RING_MASK] = entry->packet;
}

static ALWAYS_INLINE void arrives(struct queue q, struct turns *all, struct step *step, host_t host)
{
	struct pace pace = pace_at(q, all, step->port, step->len, step->now);
	struct entry *place;

	place = join(q, all, step->port, step->hash, step->len, step->now, pace.gap, host);
	if (!place)
		return;
	step->answer = 1;
	place->packet = step->packet;
	if (q.is->discipline == MANY_STATIONS)
		joined(&all->law, step->now, step->port, step->len, all->thin);
	bound(q, all, step->port, pace.most, step->now, host);
}

static ALWAYS_INLINE void goes(struct queue q, struct turns *all, struct step *step)
{
	__u32 port = step->port;
	struct flight *flight;
	struct entry *entry;

	if (q.is->discipline == MANY_STATIONS) {
		count_stations(&all->law, step->now);
		port = next_port(q.slot, step->port, step->now);
		if (port == NO_PORT)
			return;
	}
	entry = turns_depart(q, all, port, step->now, 0, &flight);
	if (entry)
		step->answer = entry->packet;
}

SEC("syscall")
int step(void *context)
{
	__u32 slot = 0;
	struct step *step = bpf_map_lookup_elem(&call, &slot);
	struct sluice_measured *is = bpf_map_lookup_elem(&measured, &slot);
	struct queue q = { bpf_map_lookup_elem(&settings, &slot), is, is, slot, 1 };
	struct turns *all;

	(void)context;
	if (!step || !q.set || !q.is)
		return -1;
	all = turns_of(q);
	interval(q);
	step->dropped = step->answer = 0;
	if (step->call == 0)
		goes(q, all, step);
	else if (step->call == 1)
		arrives(q, all, step, (host_t){ step });
	else if (step->call == 2) {
		charge(&all->law, step->now, step->port, step->len);
		completed(&all->law, step->now, step->port, step->len);
	} else
		begin_turns(all, slot);
	return 0;
}

char terms[] SEC("license") = "Dual MIT/GPL";
