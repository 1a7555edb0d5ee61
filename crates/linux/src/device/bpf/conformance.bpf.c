/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * The mechanism of fifo.h. Calls: a packet is taken (0), comes (1) or is completed (2) at a time, or the limit becomes
 * `packet` packets and `len` bytes (3); or the bucket alone is asked, filled with `len` bytes (4) or given a rate (5),
 * when a packet may leave next; or the mark with number `packet` (6); or `len` bytes of best effort (7) or of real
 * time (8) leave, or as many of signalling come (9): which goes first, or whether they may. `beside`: whether what was
 * taken went below, by credit. */
#define RING_MASK 1023

/* Set by the loader. */
const volatile unsigned int discards_at_once = RING_MASK + 1;

#include "conformance.h"
#include "share.h"

/* Many calls in one. */
#define CALLS 512
struct steps {
	struct step of[CALLS];
};
MAP(calls, ARRAY, 1, struct steps);

/* Carries out every call if `all` is not zero, else only arrivals and departures, for the verifier's sake. */
static ALWAYS_INLINE void take(struct queue q, struct step *step, int all)
{
	host_t host = { step };
	struct flight *flight;
	struct entry *entry;
	__u32 index;

	q.governed = is_governed(q.set, step->now);
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
		step->beside = all && entry && flight;
		if (all && entry && flight) {
			flight->id = entry->packet;
			enter(entry->packet, index_of(0, q.is->handed_packets - 1));
		}
	}
}

SEC("syscall")
int step(void *context)
{
	struct queue q;
	struct step *step = next_step(&q);

	(void)context;
	if (!step)
		return -1;
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
		step->dropped = step->answer = 0;
		take(q, step, 0);
		before += step->dropped;
	}
	bpf_iter_num_destroy(&number);
	return 0;
}
