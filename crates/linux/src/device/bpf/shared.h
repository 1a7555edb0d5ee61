/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Arrays of settings and of measurements, which the discipline and the agent share; each queue has one element. The
 * major number of its handle is FIRST_MAJOR plus the element's index. Its real-time queue has the element MOST_QUEUES
 * further on. The build makes Rust of the two structs, which therefore have only members "__u64 name;", and of the
 * numbers. */
#pragma once

#define FIRST_MAJOR 0x51c0
#define MOST_QUEUES 16
#define NO_AVERAGE 0xffffffffffffffff
/* Disciplines of a queue other than first in, first out: turns with one station, turns with the stations that the agent
 * names, and biased queue management. */
#define ONE_STATION 1
#define MANY_STATIONS 2
#define BIASED 3
/* Number of stations of a queue. The first stands for all receivers without an entry. */
#define STATIONS 64
/* Maximum number of entries that are tried for a station, from its address's hash on. The hash has a key, so that a
 * sender who chooses addresses cannot choose entries. */
#define PROBES 8

/* Settings, which the agent writes at any time. They apply from the next packet that arrives or leaves. */
struct sluice_settings {
	/* Numbers of the interface and its network namespace on which a queue may be made with this element. */
	__u64 interface;
	__u64 namespace;
	/* Until this time (CLOCK_MONOTONIC, ns) the limit applies; then the agent counts as dead: the fall-back applies. */
	__u64 valid_until;
	/* Limits that apply together: in packets, and in bytes of the network layer. */
	__u64 limit_packets;
	__u64 limit_bytes;
	__u64 fallback_packets;
	__u64 fallback_bytes;
	/* Not zero: packets at the head are dropped for an arriving one; zero: the arriving packet is dropped. */
	__u64 drop_head;
	/* What is discarded if the limit is lowered: nothing (0), packets at the head (1) or at the tail (2). */
	__u64 purge;
	/* Backlog in packets up to which the queue counts as idle. */
	__u64 idle_threshold;
	/* Weight of the newest packet in the average service time, in 1/32768; zero: no average. */
	__u64 weight;
	/* The agent increases it after it has read: maxima then begin again. */
	__u64 epoch;
	/* For a device that never pushes back: most packets that are handed down and not completed. Zero: no bound. */
	__u64 credit_packets;
	/* Longest time, ns, for which packets below last at the device's recent pace; two are always allowed. */
	__u64 credit_time;
	/* Time after which a packet without a completion is given up, ns. */
	__u64 credit_expiry;
	/* Interval at which a queue that waits for credit checks it, ns. */
	__u64 credit_poll;
	/* Number of the radio; queues of one radio share it. Then the kernel's number of its phy plus one, by which agents
	 * find these queues. Both are fixed when the queue is made. */
	__u64 radio;
	__u64 phy;
	/* Random secret key of the marks, see flight.h. */
	__u64 key_first;
	__u64 key_second;
	/* Not zero: headers of packets are read, to find classes or hops. */
	__u64 looks;
	/* Not zero: real-time packets have a queue of their own with strict priority. */
	__u64 classes;
	/* Share of the bytes sent, in 1/256, that signalling may have with priority; more signalling is best effort. */
	__u64 signalling_share;
	/* Share of the bytes sent, in 1/256, that real time has with priority while best effort waits. */
	__u64 real_time_share;
	/* Not zero: hops of packets are read. */
	__u64 hops;
	/* Largest rate at which packets leave, in bit/s of the network layer; zero: no bound. */
	__u64 rate;
	/* Burst after a pause, in bits. */
	__u64 burst;
	/* Bound of the MAC delay above which a packet counts as late, ns; zero: none. */
	__u64 late_after;
	/* Real-time packets are marked if their flow is in set mark_index of mark_sets; zero sets: none is marked. */
	__u64 mark_sets;
	__u64 mark_index;
	/* Not zero: only flows that were admitted a short time ago are marked. */
	__u64 mark_new;
	/* Discipline of the queue, fixed when it is made: one of the constants above, or zero for first in, first out. */
	__u64 discipline;
	/* With turns, how long packets may wait, ns; then how long a round of turns may take (zero: no bound). */
	__u64 target_delay;
	__u64 bulk_delay;
};

/* A receiver. The agent writes all receivers of a queue together. */
struct sluice_station {
	/* Its MAC address, the first byte lowest, with a seventh of 1; zero: none. Of the first station the key of the hash:
	 * an odd number above all addresses, so that the hash is universal (Dietzfelbinger and others, 1997). */
	__u64 address;
	/* Airtime of a byte, ps; then airtime that a packet takes in addition, ns. */
	__u64 per_byte;
	__u64 per_packet;
	/* Airtime of a turn, ns; then its number of packets. */
	__u64 turn;
	__u64 packets;
};

/* Measurements, which the discipline writes. The agent reads them, and takes differences of counters. */
struct sluice_measured {
	/* Epoch of the settings to which the maxima belong. */
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
	/* Time in the queue, ns, of packets that were sent. By credit: of packets that were completed, until the
	 * device was done with the packet before them. */
	__u64 sojourn_count;
	__u64 sojourn_sum;
	__u64 sojourn_max;
	__u64 sojourn_last;
	/* Time between departures with the queue never empty in between, ns: the service time of a device that
	 * pushes back. By credit: from the completion of the packet before, or from the packet's own hand-over if
	 * later, to its completion. The average is in 1/256 ns, and NO_AVERAGE before there is one. */
	__u64 service_count;
	__u64 service_sum;
	__u64 service_max;
	__u64 service_last;
	__u64 service_average;
	/* Sojourn plus service of the packets whose service was timed, ns. */
	__u64 nodal_sum;
	__u64 nodal_max;
	__u64 nodal_last;
	/* Idle time, ns, without that since idle_since (0: the queue is busy). */
	__u64 idle_sum;
	__u64 idle_since;
	/* Time of the last departure; 0 if the queue has been empty since. */
	__u64 departed;
	/* Position in the ring of the packet at the head. */
	__u64 head;
	/* By credit: packets handed down, completed, given up without a completion; and how many of the first are
	 * accounted for. */
	__u64 handed_packets;
	__u64 completed_packets;
	__u64 lost_packets;
	__u64 settled_packets;
	/* Time of the last completion. */
	__u64 completed_at;
	/* Average service time of recent packets, ns; 0 before there is one. */
	__u64 pace;
	/* Places of the ring whose packets a reset took out of the account without freeing them: their number, and
	 * the position after them. */
	__u64 left_places;
	__u64 left_end;
	/* Number of the interface; 0 if the element serves no queue. */
	__u64 interface;
	/* Type of the link (ARPHRD_...). */
	__u64 link;
	/* The queue's radio, as in the settings, and the radio's other queues, a bit each. */
	__u64 radio;
	__u64 others;
	/* Not zero: real-time packets have, or had, a queue of their own. */
	__u64 split;
	/* Bytes of signalling that may come with priority before more is sent, and of real time that were sent
	 * beyond its share. */
	__u64 signalling_room;
	__u64 real_time_used;
	/* Leaky bucket: its level in bits times 10^9, at which time, the rate at which it drains, and when a packet
	 * may leave. */
	__u64 bucket;
	__u64 bucket_at;
	__u64 bucket_rate;
	__u64 ready_at;
	/* Last departure of any packet of the interface. */
	__u64 released;
	/* Packets of the interface whose MAC delay was too long. */
	__u64 late_packets;
	/* Bytes of real time accepted: all, and those of flows that were admitted a short time ago. */
	__u64 real_time_bytes;
	__u64 real_time_new_bytes;
	/* Real-time packets that reached the queue with a mark, from its own program or from an earlier node. */
	__u64 marked_packets;
	/* The discipline with which the queue was made, as in the settings. */
	__u64 discipline;
	/* Most hops that an arriving packet had travelled, this one included; zero without any; a maximum like the
	 * others. */
	__u64 hops_max;
};
