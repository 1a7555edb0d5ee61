/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * A queue without the kernel's, driven step by step by a test that compares it with crate queue: packets are numbers,
 * and time is given. Runs on any kernel with programs of type "syscall". Defined before: RING_MASK. */
#include "kernel.h"
#include "shared.h"

/* What is called, when, with which packet of which length, and what else a call needs. Answer: whether it was kept or
 * what was taken, and how many were dropped. The first dropped one is at `before`. */
struct step {
	__u64 call, now, len, packet, answer, dropped, beside, before;
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
	__u64 place = host.step->before + host.step->dropped++;

	if (numbers)
		numbers->of[place & RING_MASK] = packet;
}

static ALWAYS_INLINE void entry_drop(struct queue q, struct entry *entry, host_t host)
{
	(void)q;
	note(entry->packet, host);
}

static ALWAYS_INLINE struct queue queue_of(__u32 slot)
{
	struct sluice_measured *is = bpf_map_lookup_elem(&measured, &slot);

	return (struct queue){ bpf_map_lookup_elem(&settings, &slot), is, is, slot, 1 };
}

/* The next call, and the queue that it is for. Null: there is none. */
static ALWAYS_INLINE struct step *next_step(struct queue *q)
{
	__u32 slot = 0;
	struct step *step = bpf_map_lookup_elem(&call, &slot);

	*q = queue_of(slot);
	if (!step || !q->set || !q->is)
		return 0;
	step->before = step->dropped = step->answer = 0;
	return step;
}

char terms[] SEC("license") = "Dual MIT/GPL";
