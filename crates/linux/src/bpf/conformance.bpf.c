/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * The mechanism of fifo.h without a queue of the kernel, driven a step at a time by the test that holds it to crate
 * queue: packets are numbers, and time is given. Runs on any kernel with programs of type "syscall". */
#include "kernel.h"
#include "shared.h"

#define MOST_PACKETS 1000000
#define RING_MASK 1023

/* A call: a packet comes (1), is taken (0) or is completed (2) at a time. Answer: was it kept or what was taken, how
 * many were dropped, and the mark of what was taken; the one that is completed is named by its mark. */
struct step {
	__u64 call, now, len, packet, answer, dropped, mark;
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
/* Numbers of the packets that the last step dropped, in order. */
MAP(dropped, ARRAY, RING_MASK + 1, __u64);

struct queue;
struct flight;
static struct entry *entry_at(struct queue q, __u64 position);
static struct flight *flight_at(struct queue q, __u64 position);
static void entry_drop(struct queue q, struct entry *entry, host_t host);
#include "fifo.h"

MAP(flights, ARRAY, FLIGHTS, struct flight);

static ALWAYS_INLINE struct flight *flight_at(struct queue q, __u64 position)
{
	__u32 index = (__u32)position % FLIGHTS;

	(void)q;
	return bpf_map_lookup_elem(&flights, &index);
}

static ALWAYS_INLINE struct entry *entry_at(struct queue q, __u64 position)
{
	__u32 index = (__u32)position & RING_MASK;

	(void)q;
	return bpf_map_lookup_elem(&ring, &index);
}

static ALWAYS_INLINE void note(__u64 packet, host_t host)
{
	__u32 index = (__u32)host.step->dropped++ & RING_MASK;
	__u64 *place = bpf_map_lookup_elem(&dropped, &index);

	if (place)
		*place = packet;
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
	struct queue q = { bpf_map_lookup_elem(&settings, &slot), bpf_map_lookup_elem(&measured, &slot), slot };
	host_t host = { step };
	struct flight *flight;
	struct entry *entry;

	(void)context;
	if (!step || !q.set || !q.is)
		return -1;
	step->dropped = step->answer = 0;
	if (step->call == 2) {
		flight = flight_at(q, step->mark);
		if (flight)
			complete(q.is, flight, step->mark, step->len, step->now);
	} else if (step->call == 1) {
		entry = arrive(q, step->now, step->len, host);
		if (entry)
			entry->packet = step->packet;
		else
			note(step->packet, host);
		step->answer = entry != 0;
	} else {
		entry = depart(q, step->now, &step->mark, host);
		if (entry)
			step->answer = entry->packet;
	}
	return 0;
}

char terms[] SEC("license") = "Dual MIT/GPL";
