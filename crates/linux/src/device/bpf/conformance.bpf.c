/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * The mechanism of fifo.h without a queue of the kernel, driven step by step by the test that compares it with crate
 * queue: packets are numbers, and time is given. Runs on any kernel with programs of type "syscall". */
#include "kernel.h"
#include "shared.h"

#define RING_MASK 1023

/* Set by the loader. */
const volatile __u32 discards_at_once = RING_MASK + 1;

/* A call: a packet is taken (0), comes (1) or is completed (2) at a time, or the limit becomes `packet` packets
 * and `len` bytes (3); or the bucket alone is asked, filled with `len` bytes (4) or given a rate (5), when a
 * packet may leave next; or the mark with number `packet` (6); or `len` bytes of best effort (7) or of real time
 * (8) leave, or as many of signalling come (9): which goes first, or whether they may. Answer: whether it was kept
 * or what was taken, how many were dropped, and whether what was taken went below, by credit. The first dropped
 * one is at `before`. */
struct step {
	__u64 call, now, len, packet, answer, dropped, below, before;
};

/* Many calls in one. */
#define CALLS 512
struct steps {
	struct step of[CALLS];
};
struct numbers {
	__u64 of[RING_MASK + 1];
};

typedef struct {
	struct step *step;
} host_t;

struct entry {
	__u64 packet, since, len;
};

MAP(settings, ARRAY, 1, struct sluice_settings);
MAP(measured, ARRAY, 1, struct sluice_measured);
MAP(ring, ARRAY, RING_MASK + 1, struct entry);
MAP(call, ARRAY, 1, struct step);
MAP(calls, ARRAY, 1, struct steps);
/* Numbers of the packets that were dropped, in order. */
MAP(dropped, ARRAY, 1, struct numbers);

struct queue;
static struct entry *entry_at(struct queue q, __u64 position);
static void entry_drop(struct queue q, struct entry *entry, host_t host);
#include "fifo.h"
#include "share.h"

static ALWAYS_INLINE struct entry *entry_at(struct queue q, __u64 position)
{
	__u32 index = (__u32)position & RING_MASK;

	(void)q;
	return bpf_map_lookup_elem(&ring, &index);
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

/* With `all` not zero every call; else those with which packets come and leave, for the verifier's sake. */
static ALWAYS_INLINE void take(struct queue q, struct step *step, int all)
{
	host_t host = { step };
	struct flight *flight;
	struct entry *entry;
	__u32 index;

	q.governed = is_governed(q.set, step->now);
	step->dropped = step->answer = 0;
	if (step->call == 3) {
		q.set->limit_packets = step->packet;
		q.set->limit_bytes = step->len;
	} else if (all && step->call == 2) {
		index = leave(step->packet);
		if (index < ALL_FLIGHTS)
			complete(q.is, &flights[index], 0, step->packet, step->now);
	} else if (all && step->call == 4) {
		is_shaped(q, step->now);
		fill(q, step->now, step->len);
		step->answer = q.is->ready_at;
	} else if (all && step->call == 5) {
		q.set->rate = step->packet;
		is_shaped(q, step->now);
		step->answer = q.is->ready_at;
	} else if (all && step->call == 6) {
		step->answer = mark_of(0, step->packet, q.set->key_first, q.set->key_second);
	} else if (all && (step->call == 7 || step->call == 8)) {
		if (step->call == 8)
			q.slot = MOST_QUEUES;
		makes_room(q, step->len);
		step->answer = goes_first(q);
	} else if (all && step->call == 9) {
		step->answer = is_within_share(q, step->len);
	} else if (step->call == 1) {
		entry = arrive(q, step->now, step->len, host);
		if (entry)
			entry->packet = step->packet;
		else
			note(step->packet, host);
		step->answer = entry != 0;
	} else {
		interval(q);
		if (all)
			look_below(q, 0, step->now);
		entry = depart(q, step->now, &flight, host);
		if (entry)
			step->answer = entry->packet;
		step->below = all && entry && flight;
		if (all && entry && flight) {
			flight->id = entry->packet;
			enter(entry->packet, index_of(0, q.is->handed_packets - 1));
		}
	}
}

static ALWAYS_INLINE struct queue queue_of(__u32 slot)
{
	struct sluice_measured *is = bpf_map_lookup_elem(&measured, &slot);

	return (struct queue){ bpf_map_lookup_elem(&settings, &slot), is, is, slot, 0 };
}

SEC("syscall")
int step(void *context)
{
	__u32 slot = 0;
	struct step *step = bpf_map_lookup_elem(&call, &slot);
	struct queue q = queue_of(slot);

	(void)context;
	if (!step || !q.set || !q.is)
		return -1;
	step->before = 0;
	take(q, step, 1);
	return 0;
}

SEC("syscall")
int steps(void *context)
{
	__u32 slot = 0;
	struct steps *steps = bpf_map_lookup_elem(&calls, &slot);
	struct queue q = queue_of(slot);
	struct bpf_iter_num number;
	__u64 before = 0;
	int *at;

	(void)context;
	if (!steps || !q.set || !q.is)
		return -1;
	/* A number that the verifier does not know, so that it need not walk the loop as often as it runs. */
	bpf_iter_num_new(&number, 0, CALLS);
	while ((at = bpf_iter_num_next(&number))) {
		struct step *step = &steps->of[(__u32)*at % CALLS];

		step->before = before;
		take(q, step, 0);
		before += step->dropped;
	}
	bpf_iter_num_destroy(&number);
	return 0;
}

char terms[] SEC("license") = "Dual MIT/GPL";
