/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * What the discipline and the agent share: an array of settings and an array of what was measured, an element of each
 * for every queue. The handle of a queue says which: its major number is FIRST_MAJOR more. Where packets of real time have
 * a queue of their own, its element is MOST_QUEUES further on. The build makes Rust of the two structs, which therefore
 * have only members "__u64 name;", and of the numbers. */

#define FIRST_MAJOR 0x51c0
#define MOST_QUEUES 16
#define NO_AVERAGE 0xffffffffffffffff

/* The agent writes these at any moment; the discipline obeys from the next packet that comes or leaves. */
struct sluice_settings {
	/* Until then (CLOCK_MONOTONIC, ns) the limit holds; later, with an agent that is silent, the fall-back does. */
	__u64 valid_until;
	/* The limit, both of which hold: packets, and bytes of the network layer. */
	__u64 limit_packets;
	__u64 limit_bytes;
	__u64 fallback_packets;
	__u64 fallback_bytes;
	/* Not zero: packets at the head make way for one that comes; zero: the one that comes is dropped. */
	__u64 drop_head;
	/* What goes when the limit was lowered: nothing (0), packets at the head (1) or at the tail (2). */
	__u64 purge;
	/* With at most so many packets the queue is idle. */
	__u64 idle_threshold;
	/* Weight of the newest packet in the average service time, in 1/32768; zero: no average. */
	__u64 weight;
	/* Raised by the agent after it has read: the maxima start anew. */
	__u64 epoch;
	/* Of a device that never pushes back: so many packets at most are handed down and not completed. Zero: the device
	 * takes as many as it likes. */
	__u64 credit_packets;
	/* And no more than the device completes in that time, by its pace of late, ns; two packets always. */
	__u64 credit_time;
	/* A packet that is not completed so long after it was handed down is given up, ns. */
	__u64 credit_expiry;
	/* A queue that waits for credit looks again after that time, ns. */
	__u64 credit_poll;
	/* Random: who does not know it cannot forge the mark of a packet. */
	__u64 secret;
	/* Not zero: packets' headers are looked at, for classes or for hops. */
	__u64 looks;
	/* Not zero: packets of real time have a queue of their own, and go before all others. */
	__u64 classes;
	/* Not zero: the hops that packets have come are looked at. */
	__u64 hops;
	/* Packets leave at most at this rate, in bit/s of the network layer; zero: as the device takes them. */
	__u64 rate;
	/* After a pause so much may leave at once, in bits. */
	__u64 burst;
	/* A packet with a longer MAC delay counts as late, ns; zero: none is looked at. */
	__u64 late_after;
	/* Packets of real time are marked whose flow falls into set mark_index of so many; zero: none is. */
	__u64 mark_sets;
	__u64 mark_index;
	/* Not zero: of these only what belongs to flows that were admitted a short time ago. */
	__u64 mark_new;
};

/* The discipline writes these; the agent reads them, and takes differences of what counts up. */
struct sluice_measured {
	/* Of the settings, that the maxima belong to. */
	__u64 epoch;
	__u64 arrived_packets;
	__u64 arrived_bytes;
	__u64 sent_packets;
	__u64 sent_bytes;
	__u64 dropped_packets;
	__u64 dropped_bytes;
	__u64 backlog_packets;
	__u64 backlog_bytes;
	__u64 backlog_max;
	/* Time in the queue, ns, of packets that were sent. By credit: of packets that were completed, and until the device
	 * was done with the packet before. */
	__u64 sojourn_count;
	__u64 sojourn_sum;
	__u64 sojourn_max;
	__u64 sojourn_last;
	/* From one departure to the next with the queue never empty in between, ns: the service time of a device that pushes
	 * back. By credit: until the packet was completed, from when the one before was or it was handed down itself. The
	 * average is in 1/256 ns, and NO_AVERAGE before there is one. */
	__u64 service_count;
	__u64 service_sum;
	__u64 service_max;
	__u64 service_last;
	__u64 service_average;
	/* Sojourn plus service of the packets whose service was timed, ns. */
	__u64 nodal_sum;
	__u64 nodal_max;
	__u64 nodal_last;
	/* Idle time, ns, but for the idle time that goes on since idle_since (0: the queue is busy). */
	__u64 idle_sum;
	__u64 idle_since;
	/* Last departure; 0 where the queue has been empty since. */
	__u64 departed;
	/* Where in the ring the packet at the head is. */
	__u64 head;
	/* Bytes of the link layer's header, which do not count. */
	__u64 header;
	/* By credit: handed down, completed, given up without a completion; and of the first, how many are accounted for. */
	__u64 handed_packets;
	__u64 completed_packets;
	__u64 lost_packets;
	__u64 settled_packets;
	/* Last completion. */
	__u64 completed_at;
	/* Average service time of the last few packets, ns; 0 before there is one. */
	__u64 pace;
	/* Places of the ring whose packets a reset has taken out of the account and not freed: so many before that position. */
	__u64 left_places;
	__u64 left_end;
	/* Of the interface; 0 where the element serves no queue. */
	__u64 interface;
	/* What kind of link it is (ARPHRD_...). */
	__u64 link;
	/* Packets of real time have, or had, a queue of their own. */
	__u64 split;
	/* Leaky bucket: what it holds, in bits times 10^9, at which time, at which rate it drains, and when a packet may leave. */
	__u64 bucket;
	__u64 bucket_at;
	__u64 bucket_rate;
	__u64 ready_at;
	/* Last departure of any packet of the interface. */
	__u64 released;
	/* Of all packets of the interface, those with too long a MAC delay. */
	__u64 late_packets;
	/* Real time that was let in: all of it, and what belongs to flows that were admitted a short time ago. */
	__u64 real_time_bytes;
	__u64 real_time_new_bytes;
	/* Of that, packets that were marked, or were already. */
	__u64 marked_packets;
	/* The most hops that a packet had come which came, this one included, zero without any; a maximum like the others. */
	__u64 hops_max;
};
