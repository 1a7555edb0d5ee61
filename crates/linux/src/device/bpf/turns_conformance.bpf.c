/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * The law of turns and its queues. Calls: a packet leaves a category, or the queue of one station (0), comes to a port
 * (1), or airtime `len` of a port is done (2), or the queue begins (3). `beside`: the port or the category, and in its
 * upper half the hash of the flow. */
#define RING_MASK 4095
#define discards_at_once 1024

#include "conformance.h"
#include "flows.h"
#include "stations.h"

KERNEL(void *bpf_cast_to_kern_ctx(void *context));

/* The port of a made-up packet of Ethernet. */
SEC("tc")
int port(struct __sk_buff *context)
{
	return port_of_frame(0, bpf_cast_to_kern_ctx(context));
}

static ALWAYS_INLINE void arrives(struct queue q, struct turns *all, struct step *step, host_t host)
{
	struct port *port = port_at(&all->law, step->beside);
	struct entry *place = join(q, all, port, step->beside, step->beside >> 32, step->len, step->now, host);

	if (!place)
		return;
	step->answer = 1;
	place->packet = step->packet;
	bound(q, all, port, step->beside, step->len, step->now, host);
}

static ALWAYS_INLINE void goes(struct queue q, struct turns *all, struct step *step)
{
	__u32 port = step->beside;
	struct flight *flight;
	struct entry *entry;

	if (q.is->discipline == MANY_STATIONS) {
		count_stations(&all->law, step->now);
		port = next_port(q, all, step->beside, step->now);
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
	struct queue q;
	struct step *step = next_step(&q);
	struct turns *all;

	(void)context;
	if (!step)
		return -1;
	all = turns_of(q);
	interval(q);
	if (step->call == 0)
		goes(q, all, step);
	else if (step->call == 1)
		arrives(q, all, step, (host_t){ step });
	else if (step->call == 2) {
		struct port *port = port_at(&all->law, step->beside);

		charge(port, step->now, step->len);
		completed(&all->law, port, step->now, step->beside, step->len);
	} else
		begin_turns(all);
	return 0;
}
