/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 * Types and functions of the kernel that a queue discipline uses. Only used members are listed: the loader finds their
 * offsets in the running kernel (CO-RE), so that the build needs no kernel headers. */
typedef unsigned char __u8;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef long long __s64;

#define SEC(name) __attribute__((section(name), used))
#define ALWAYS_INLINE inline __attribute__((always_inline))
/* Not inlined, so that rarely called code takes no registers from the rest. */
#define APART __attribute__((noinline))
/* Not inlined, and verified alone and once, because the verifier takes long for code that is inlined in several places.
 * Its arguments are numbers. */
#define VERIFIED_APART __attribute__((noinline))
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* Description of a map in the form that libbpf reads. */
#define MAP(name, kind, entries, Value)                \
	struct {                                       \
		int (*type)[kind];                     \
		int (*max_entries)[entries];           \
		__u32 *key;                            \
		Value *value;                          \
	} name SEC(".maps")
#define ARRAY 2

/* Replaces a value if it is `from`; returns the old value. In BPF, atomic operations that return a value are fully
 * ordered. */
static ALWAYS_INLINE __u64 replace(__u64 *place, __u64 from, __u64 to)
{
	__u64 was = __sync_val_compare_and_swap(place, from, to);

	/* Without this line the compiler makes a truth value first, and tests it afterwards. */
	asm volatile("" : "+r"(was));
	return was;
}

/* Reads a value before all later reads of the program, even on processors that reorder reads (ARM). Loads with acquire
 * semantics need Linux 6.15 and Clang 21. */
static ALWAYS_INLINE __u64 read_first(__u64 *place)
{
	return replace(place, 0, 0);
}

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static __u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static void *(*const bpf_kptr_xchg)(void *place, void *object) = (void *)194;

/* A bounded loop; the verifier examines its body only a few times. */
struct bpf_iter_num {
	__u64 opaque;
};
#define KERNEL(declaration) extern declaration __attribute__((section(".ksyms")))
KERNEL(int bpf_iter_num_new(struct bpf_iter_num *at, int start, int end));
KERNEL(int *bpf_iter_num_next(struct bpf_iter_num *at));
KERNEL(void bpf_iter_num_destroy(struct bpf_iter_num *at));
#define AT_MOST(times)                                                                                          \
	for (struct bpf_iter_num at_most_ __attribute__((cleanup(bpf_iter_num_destroy))),                       \
	     *once_ = (bpf_iter_num_new(&at_most_, 0, (times)), &at_most_);                                     \
	     once_ && bpf_iter_num_next(&at_most_);)
