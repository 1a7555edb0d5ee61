/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Biased queue management. Calls: a packet is taken (0) or comes (1) with a priority, in `beside`, at a time, or the
 * queue begins (2). */
#define RING_MASK 1023
#define discards_at_once 1024

#include "conformance.h"
#include "flows.h"
#include "stations.h"
#include "biased.h"

SEC("syscall")
int step(void *context)
{
	struct queue q;
	struct step *step = next_step(&q);
	struct flight *flight;
	struct entry *entry;

	(void)context;
	if (!step)
		return -1;
	if (step->call == 1) {
		entry = arrive_biased(q, step->beside, step->now, step->len, (host_t){ step });
		if (entry)
			entry->packet = step->packet;
		else
			note(step->packet, (host_t){ step });
		step->answer = entry != 0;
	} else if (step->call == 2) {
		begin_turns(turns_of(q));
	} else {
		interval(q);
		entry = depart_biased(q, step->now, &flight, (host_t){ step });
		step->answer = entry ? entry->packet : 0;
	}
	return 0;
}
