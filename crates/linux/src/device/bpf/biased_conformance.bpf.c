/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Biased queue management without a queue of the kernel, driven step by step by the test that compares it with
 * crate queue: packets are numbers, and time is given. Runs on any kernel with programs of type "syscall". */
#include "kernel.h"
#include "shared.h"

#define RING_MASK 1023
#define discards_at_once 1024

/* A call: a packet is taken (0) or comes (1) with a priority at a time, or the queue begins (2). Answer: whether
 * it was kept or what was taken, and how many were dropped. */
struct step {
	__u64 call, now, len, packet, answer, dropped, priority, unused;
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
#include "biased.h"

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

static ALWAYS_INLINE void note(__u64 packet, host_t host)
{
	__u32 one = 0;
	struct numbers *numbers = bpf_map_lookup_elem(&dropped, &one);

	if (numbers)
		numbers->of[host.step->dropped++ & RING_MASK] = packet;
}

static ALWAYS_INLINE void entry_drop(struct queue q, struct entry *entry, host_t host)
{
	(void)q;
	note(entry->packet, host);
}

SEC("syscall")
int step(void *context)
{
	__u32 slot = 0;
	struct step *step = bpf_map_lookup_elem(&call, &slot);
	struct sluice_measured *is = bpf_map_lookup_elem(&measured, &slot);
	struct queue q = { bpf_map_lookup_elem(&settings, &slot), is, is, slot, 1 };
	struct flight *flight;
	struct entry *entry;

	(void)context;
	if (!step || !q.set || !q.is)
		return -1;
	step->dropped = step->answer = 0;
	if (step->call == 1) {
		entry = arrive_biased(q, step->priority, step->now, step->len, (host_t){ step });
		if (entry)
			entry->packet = step->packet;
		else
			note(step->packet, (host_t){ step });
		step->answer = entry != 0;
	} else if (step->call == 2) {
		begin_turns(turns_of(q), slot);
	} else {
		interval(q);
		entry = depart_biased(q, step->now, &flight, (host_t){ step });
		step->answer = entry ? entry->packet : 0;
	}
	return 0;
}

char terms[] SEC("license") = "Dual MIT/GPL";
