/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * A leaky bucket, crate queue's Shaper in C: packets fill it as they leave, it drains at a rate, and none leaves
 * while it holds more than a burst. A test requires the same times. Its level counts in bits times 10^9, so that a
 * rate in bit/s drains that number per nanosecond; a burst of 64 MB and a packet do not overflow it. */

#define SECOND 1000000000ull

static ALWAYS_INLINE void drain(struct sluice_measured *is, __u64 now)
{
	__u64 time = since(now, is->bucket_at);

	if (!is->bucket_rate || time > is->bucket / is->bucket_rate)
		is->bucket = 0;
	else
		is->bucket -= time * is->bucket_rate;
	is->bucket_at = now;
}

static ALWAYS_INLINE void look_ahead(struct queue q)
{
	struct sluice_measured *is = q.is;
	__u64 surplus = since(is->bucket, q.set->burst * SECOND);

	is->ready_at = 0;
	if (surplus && is->bucket_rate)
		is->ready_at = is->bucket_at + (surplus + is->bucket_rate - 1) / is->bucket_rate;
}

/* True if it is too early for the packet at the head. Also notices a changed rate. */
static ALWAYS_INLINE int is_shaped(struct queue q, __u64 now)
{
	struct sluice_measured *is = q.is;
	__u64 rate;

	if (likely(!q.set->rate && !is->bucket_rate))
		return 0;
	rate = q.governed ? q.set->rate : 0;
	if (unlikely(rate != is->bucket_rate)) {
		drain(is, now);
		is->bucket_rate = rate;
		look_ahead(q);
	}
	return unlikely(now < is->ready_at);
}

/* A packet leaves. */
static ALWAYS_INLINE void fill(struct queue q, __u64 now, __u64 len)
{
	if (likely(!q.is->bucket_rate))
		return;
	drain(q.is, now);
	q.is->bucket += len * 8 * SECOND;
	look_ahead(q);
}
