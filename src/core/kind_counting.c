/*-------------------------------------------------------------------------
 *
 * kind_counting.c
 *	  A Bloom filter of counters in place of bits: keys can be taken out again, and counted.
 *
 * A key has k counters, placed as the bits of a standard filter (bf_bits.h), 16 of 4 bits in a
 * word:
 *
 *		g = remix i of h (bf_hash.h)
 *		counter = floor(g * words / 2^64) * 16 + bits 29..26 of g
 *
 * Each probe counts.  A key whose probes meet adds 2 to that counter, and takes 2 away again: so
 * every counter is the plain sum of what the keys put there, and adding, uniting and folding are
 * but additions, which can be made in any order, to the byte.
 *
 * A counter that has reached 15 does not know any more how often: it is *saturated*, and stays at
 * 15 for ever.  It errs on the side of "maybe".  No false negatives then, as long as only keys
 * are removed that were added and not removed before; and the removal of a key that the filter
 * can tell not to be there is refused.
 *
 *	- count: the least of the key's counters, each divided by how many of its probes meet there,
 *	  saturated ones aside.  Other keys make it larger than the truth, never smaller.  If it is 0
 *	  then removal is refused, and conversely.
 *	- union: the sum.  With the larger of two counters, as one finds it proposed, keys of both
 *	  filters that share a counter would lose it when the first of them is removed.
 *	- intersection: the lesser of two counters; of a key that is in one m and in the other n
 *	  times, min(m, n) stay.
 *	- fold: the sum of neighbours.  Between sizes (bf_cells.h): a counter is repeated, or added to
 *	  each new one that its range meets.
 *
 * The filter is *loose*, as above, while it is worked on.  It is stored *packed*: most counters
 * are 0 or 1, and what they are can be said in 1.59 bits at the usual load of ln 2.  Plane 1 has
 * a bit for each counter: is it above 0?  Plane 2 has one for each that is: is it above 1?  And
 * so on, up to some plane t; if there are counters above t, a tail of 4 bits for each bit set in
 * plane t (with t = 0: for each counter) is their value.  The shortest such form is taken, with
 * the least t.  At the usual load there is no tail, and the planes have 1 + 0.5 + 0.15 + 0.03 +
 * ... = 1.69 bits a counter.  So a probe of a packed filter is one of a standard filter.
 *
 *	plane j, 1 to t		words of 64 bits, zeros at the end
 *						ranks: for each 2048 bits begun, 4 bytes: how many bits are set in the
 *						plane so far; zeros up to a whole word
 *	tail				words of 16 half bytes, zeros at the end
 *
 *		param[0]	k
 *		param[1]	1: packed; else the others are 0
 *		param[2]	the number of words of the loose form
 *		param[3]	t, 0 to 15
 *
 * FPR: that of a standard filter with as many bits as there are counters.
 *
 * Fan, Cao, Almeida, Broder 2000, "Summary cache: a scalable wide-area web cache sharing
 * protocol".  The counts: Cohen, Matias 2003, "Spectral Bloom filters" (minimum selection).
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_cells.h"
#include "bf_format.h"
#include "bf_hash.h"
#include "bf_math.h"

#include <math.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_BMI2_KERNEL
#endif

#define WORD_BYTES		8
#define WORD_COUNTERS	16
#define COUNTER_BITS	4
#define SATURATED		15

#define MAX_PLANES		15
#define RUN_BITS		2048	/* of a plane, for one rank: 1/64 of its size, and at most 32
								 * words to look at */
#define RANK_BYTES		4

#define LANES			UINT64_C(0x1111111111111111)

/* ---- the loose form ---- */

static inline uint64_t
position(uint64_t h, unsigned i, uint64_t words)
{
	uint64_t	g = bf_remix(h, i);

	return bf_cell(g, words) * WORD_COUNTERS + (g >> 26 & (WORD_COUNTERS - 1));
}

static inline unsigned
get_counter(const uint8_t *counters, uint64_t at)
{
	return counters[at / 2] >> (at & 1) * 4 & 15;
}

/* Adds to a counter, modulo 16: the caller sees to it that there is room. */
static inline void
change_counter(uint8_t *counters, uint64_t at, int by)
{
	counters[at / 2] = (uint8_t) (counters[at / 2] + by * (1 << (at & 1) * 4));
}

static inline bool
is_packed(const BfHeader *head)
{
	return head->param[1] != 0;
}

/* The words of the loose form, whichever this is. */
static inline uint64_t
loose_words(const BfHeader *head)
{
	return is_packed(head) ? head->param[2] : head->payload_len / WORD_BYTES;
}

/*
 * As many counters as a standard filter has bits.  Stored, the planes with their ranks, of
 * counters whose mean is k keys / counters.
 */
static void
counting_design(BfDesign *design)
{
	unsigned	k = 0;
	uint32_t	millicounters = bf_math_standard_design(design->fpr, &k);
	double		mean = 1000.0 * k / millicounters;
	double		p = exp(-mean);	/* that one is at j */
	double		reached = 1;	/* ... or above */
	double		bits = 0;
	unsigned	j;

	for (j = 0; j < MAX_PLANES; j++)
	{
		bits += reached * (1 + 8.0 * RANK_BYTES / RUN_BITS);
		reached -= p;
		p *= mean / (j + 1);
	}
	design->millibits = millicounters * COUNTER_BITS;
	design->stored_millibits = (uint32_t) ceil(millicounters * bits);
	design->param[0] = k;
}

/* Of the loose form, with counters for bits: see standard_size(). */
static uint64_t
counting_size(const BfDesign *design, uint64_t keys)
{
	uint64_t	words = bf_math_cells(keys, design->millibits, WORD_COUNTERS * COUNTER_BITS);
	unsigned	k = design->param[0];

	while (words < 262144 && bf_math_occupancy_fpr((double) keys * k,
												   (double) words * WORD_COUNTERS, k) > design->fpr)
		words++;
	words = bf_math_round_cells(words);
	return words > BF_MAX_VALUE_SIZE / WORD_BYTES ? UINT64_MAX : words * WORD_BYTES;
}

static bool
probe_counters(const BfView *view, uint64_t hash)
{
	uint64_t	words = loose_words(&view->head);
	unsigned	k = view->head.param[0];
	unsigned	i;

	for (i = 0; i < k; i++)
		if (get_counter(view->payload, position(hash, i, words)) == 0)
			return false;
	return true;
}

static bool
probe_plane(const BfView *view, uint64_t hash)
{
	uint64_t	words = loose_words(&view->head);
	unsigned	k = view->head.param[0];
	unsigned	i;

	for (i = 0; i < k; i++)
	{
		uint64_t	at = position(hash, i, words);

		if (!(view->payload[at / 8] >> (at & 7) & 1))
			return false;
	}
	return true;
}

/* Plane 1 comes first: a packed filter is probed as a standard one. */
static inline bool
has_planes(const BfHeader *head)
{
	return is_packed(head) && head->param[3] > 0;
}

static BfProbe
counting_prober(const BfView *view)
{
	return has_planes(&view->head) ? probe_plane : probe_counters;
}

static bool
counting_probe_sliced(const BfHeader *head, uint64_t hash, BfFetch fetch, void *arg)
{
	uint64_t	words = loose_words(head);
	unsigned	i;

	for (i = 0; i < head->param[0]; i++)
	{
		uint64_t	at = position(hash, i, words);

		if (has_planes(head) ? !(*fetch(arg, at / 8, 1) >> (at & 7) & 1)
							 : get_counter(fetch(arg, at / 2, 1), at & 1) == 0)
			return false;
	}
	return true;
}

static void
counting_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	BfProbe		probe = counting_prober(view);
	uint64_t	words = loose_words(&view->head);
	unsigned	per_byte = has_planes(&view->head) ? 8 : 2;
	unsigned	early = BF_MIN(view->head.param[0], 2);

	while (n > 0)
	{
		size_t		batch = BF_MIN(n, BF_BATCH);
		size_t		j;
		unsigned	i;

		/* the first two decide three times out of four: fetch those of the whole batch ahead */
		for (j = 0; j < batch; j++)
			for (i = 0; i < early; i++)
				__builtin_prefetch(view->payload + position(hashes[j], i, words) / per_byte);
		for (j = 0; j < batch; j++)
			result[j] = probe(view, hashes[j]);
		hashes += batch;
		result += batch;
		n -= batch;
	}
}

/* Fetches a key's counters ahead: that many keys before they are changed. */
#define AHEAD	4

static inline void
fetch_counters(const uint8_t *payload, uint64_t hash, unsigned k, uint64_t words)
{
	unsigned	i;

	for (i = 0; i < k; i++)
		__builtin_prefetch(payload + position(hash, i, words) / 2, 1);
}

static size_t
counting_add(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	uint64_t	words = loose_words(head);
	unsigned	k = head->param[0];
	size_t		j;
	unsigned	i;

	for (j = 0; j < BF_MIN(n, AHEAD); j++)
		fetch_counters(payload, hashes[j], k, words);
	for (j = 0; j < n; j++)
	{
		if (n - j > AHEAD)
			fetch_counters(payload, hashes[j + AHEAD], k, words);
		for (i = 0; i < k; i++)
		{
			uint64_t	at = position(hashes[j], i, words);

			if (get_counter(payload, at) < SATURATED)
				change_counter(payload, at, 1);
		}
	}
	return n;
}

/*
 * Takes one away for each probe; where there is none left, puts back what it took.  Those that it
 * changed stand at 13 at most then, so that the ones at 15 are the ones that it left alone.
 */
static size_t
counting_remove(const BfHeader *head, uint8_t *payload, const uint64_t *hashes, size_t n)
{
	uint64_t	words = loose_words(head);
	unsigned	k = head->param[0];
	size_t		j;

	for (j = 0; j < BF_MIN(n, AHEAD); j++)
		fetch_counters(payload, hashes[j], k, words);
	for (j = 0; j < n; j++)
	{
		unsigned	i;

		if (n - j > AHEAD)
			fetch_counters(payload, hashes[j + AHEAD], k, words);
		for (i = 0; i < k; i++)
		{
			uint64_t	at = position(hashes[j], i, words);
			unsigned	counter = get_counter(payload, at);

			if (counter == 0)
				break;
			if (counter < SATURATED)
				change_counter(payload, at, -1);
		}
		if (i == k)
			continue;
		while (i-- > 0)
		{
			uint64_t	at = position(hashes[j], i, words);

			if (get_counter(payload, at) < SATURATED)
				change_counter(payload, at, 1);
		}
		return j;
	}
	return n;
}

/* ---- the packed form: where things are ---- */

typedef struct Plane
{
	const uint8_t *bits;
	const uint8_t *ranks;
	uint64_t	nbits;			/* 0: none, or not there */
} Plane;

typedef struct Planes
{
	Plane		plane[MAX_PLANES];
	unsigned	n;
	bool		has_tail;
	const uint8_t *tail;
	uint64_t	ntail;			/* half bytes */
} Planes;

static inline uint64_t
round_words(uint64_t bytes)
{
	return (bytes + WORD_BYTES - 1) / WORD_BYTES * WORD_BYTES;
}

static inline uint64_t
plane_bytes(uint64_t nbits)
{
	return (nbits + 63) / 64 * WORD_BYTES;
}

static inline uint64_t
plane_runs(uint64_t nbits)
{
	return (nbits + RUN_BITS - 1) / RUN_BITS;
}

/* ... with its ranks */
static inline uint64_t
plane_size(uint64_t nbits)
{
	return plane_bytes(nbits) + round_words(plane_runs(nbits) * RANK_BYTES);
}

static inline uint64_t
tail_size(uint64_t counters)
{
	return round_words((counters + 1) / 2);
}

/* The number of bits set in a plane, or in its first runs. */
static inline uint64_t
rank_of(const Plane *plane, uint64_t runs)
{
	return runs > 0 ? bf_load32(plane->ranks + (runs - 1) * RANK_BYTES) : 0;
}

/*
 * Finds the planes and the tail of a packed payload, which may be anything.  false: they do not
 * fit it, and those are there that do.
 */
static bool
find_planes(const BfView *view, Planes *planes)
{
	uint64_t	left = view->head.payload_len;
	uint64_t	nbits = loose_words(&view->head) * WORD_COUNTERS;
	const uint8_t *p = view->payload;
	unsigned	j;

	memset(planes, 0, sizeof(*planes));
	planes->n = view->head.param[3];
	planes->has_tail = true;	/* an empty one, as long as all is not found */
	for (j = 0; j < planes->n; j++)
	{
		Plane	   *plane = &planes->plane[j];

		if (nbits == 0 || plane_size(nbits) > left)
			return false;
		plane->bits = p;
		plane->ranks = p + plane_bytes(nbits);
		plane->nbits = nbits;
		p += plane_size(nbits);
		left -= plane_size(nbits);
		nbits = rank_of(plane, plane_runs(nbits));
	}
	planes->has_tail = left > 0;
	planes->tail = p;
	planes->ntail = left * 2;
	return left == (planes->has_tail ? tail_size(nbits) : 0);
}

/*
 * The next n bits, at most 64, of a plane.  If there are not so many, which is so only in a
 * payload that lies, all ones: a counter too high says "maybe".
 */
static inline uint64_t
read_bits(const Plane *plane, uint64_t at, unsigned n)
{
	uint64_t	mask = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
	unsigned	shift = at % 64;
	const uint8_t *p;
	uint64_t	bits;

	/* nothing to read is no reason to look beyond the end either */
	if (n == 0 || at + n > plane->nbits)
		return mask;
	p = plane->bits + at / 64 * WORD_BYTES;
	bits = bf_load64(p) >> shift;
	if (shift + n > 64)
		bits |= bf_load64(p + WORD_BYTES) << (64 - shift);
	return bits & mask;
}

/* The same of the tail: no less than what the planes have said already. */
static inline unsigned
read_tail(const Planes *planes, uint64_t at)
{
	return at < planes->ntail ? BF_MAX(get_counter(planes->tail, at), planes->n) : SATURATED;
}

/* One counter of a packed filter that has planes. */
static unsigned
packed_counter(const Planes *planes, uint64_t at)
{
	unsigned	j;

	for (j = 0; j < planes->n; j++)
	{
		const Plane *plane = &planes->plane[j];
		uint64_t	run = at / RUN_BITS;
		uint64_t	i;

		if (at >= plane->nbits)
			return SATURATED;
		if (!(plane->bits[at / 8] >> (at & 7) & 1))
			return j;

		/* its place in the next plane: how many are set before it here */
		i = run * RUN_BITS;
		run = rank_of(plane, run);
		for (; i + 64 <= at; i += 64)
			run += (unsigned) __builtin_popcountll(bf_load64(plane->bits + i / 8));
		at = run + (unsigned) __builtin_popcountll(bf_load64(plane->bits + i / 8) &
												   ((UINT64_C(1) << at % 64) - 1));
	}
	return planes->has_tail ? read_tail(planes, at) : planes->n;
}

static uint64_t
counting_count(const BfView *view, uint64_t hash)
{
	uint64_t	words = loose_words(&view->head);
	unsigned	k = view->head.param[0];
	uint64_t	at[BF_MAX_PROBES];
	uint64_t	least = UINT64_MAX;
	Planes		planes;
	unsigned	i;

	if (has_planes(&view->head))
		find_planes(view, &planes);
	for (i = 0; i < k; i++)
		at[i] = position(hash, i, words);
	for (i = 0; i < k; i++)
	{
		unsigned	counter = has_planes(&view->head) ? packed_counter(&planes, at[i])
													  : get_counter(view->payload, at[i]);
		unsigned	probes = 0;
		unsigned	j;

		if (counter == SATURATED)
			continue;
		/* the key has put as many there as it has probes that meet */
		for (j = 0; j < k; j++)
			probes += at[j] == at[i];
		least = BF_MIN(least, counter / probes);
	}
	return least;
}

/* ---- between the forms ---- */

/*
 * What the loops below are made of, as plain C and as instructions of the processor:
 *
 *	deposit		the low bits of x, in order, to where mask has ones
 *	extract		the bits of x where mask has ones, in order, to the low end
 *	spread		the low 16 bits of x to the lowest of 4 each
 *	squeeze		back
 *	popcount	the number of ones
 */
static inline uint64_t
deposit_portable(uint64_t x, uint64_t mask)
{
	uint64_t	result = 0;

	for (; mask != 0 && x != 0; mask &= mask - 1, x >>= 1)
		result |= mask & -mask & -(x & 1);
	return result;
}

static inline uint64_t
extract_portable(uint64_t x, uint64_t mask)
{
	uint64_t	result = 0;
	unsigned	i;

	for (i = 0; mask != 0; mask &= mask - 1, i++)
		result |= (uint64_t) ((x & mask & -mask) != 0) << i;
	return result;
}

static inline uint64_t
spread_portable(uint64_t x)
{
	x &= 0xffff;
	x = (x | x << 24) & UINT64_C(0x000000ff000000ff);
	x = (x | x << 12) & UINT64_C(0x000f000f000f000f);
	x = (x | x << 6) & UINT64_C(0x0303030303030303);
	return (x | x << 3) & LANES;
}

static inline uint64_t
squeeze_portable(uint64_t x)
{
	x &= LANES;
	x = (x | x >> 3) & UINT64_C(0x0303030303030303);
	x = (x | x >> 6) & UINT64_C(0x000f000f000f000f);
	x = (x | x >> 12) & UINT64_C(0x000000ff000000ff);
	return (x | x >> 24) & 0xffff;
}

static inline unsigned
popcount_portable(uint64_t x)
{
	return (unsigned) __builtin_popcountll(x);
}

#ifdef HAVE_BMI2_KERNEL

#define BMI2	__attribute__((target("bmi2,popcnt")))

BMI2 static inline uint64_t
deposit_bmi2(uint64_t x, uint64_t mask)
{
	return _pdep_u64(x, mask);
}

BMI2 static inline uint64_t
extract_bmi2(uint64_t x, uint64_t mask)
{
	return _pext_u64(x, mask);
}

BMI2 static inline uint64_t
spread_bmi2(uint64_t x)
{
	return _pdep_u64(x, LANES);
}

BMI2 static inline uint64_t
squeeze_bmi2(uint64_t x)
{
	return _pext_u64(x, LANES);
}

BMI2 static inline unsigned
popcount_bmi2(uint64_t x)
{
	return (unsigned) __builtin_popcountll(x);
}

static inline bool
has_bmi2(void)
{
	return __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

#endif							/* HAVE_BMI2_KERNEL */

/* A one in the lane of each counter that is not 0. */
static inline uint64_t
nonzero_lanes(uint64_t counters)
{
	counters |= counters >> 2;
	counters |= counters >> 1;
	return counters & LANES;
}

/* The same for those that are 15. */
static inline uint64_t
saturated_lanes(uint64_t counters)
{
	counters &= counters >> 2;
	counters &= counters >> 1;
	return counters & LANES;
}

/* The sum of 16 lanes, each at most 15. */
static inline unsigned
sum_lanes(uint64_t lanes)
{
	uint64_t	bytes = (lanes & BF_EVEN_NIBBLES) + (lanes >> 4 & BF_EVEN_NIBBLES);

	/* of 8 bytes, each at most 30, into the highest */
	return (unsigned) (bytes * UINT64_C(0x0101010101010101) >> 56);
}

/* The counters of a filter in either form, in order. */
typedef struct Reader Reader;

struct Reader
{
	const BfView *view;
	unsigned	(*read) (Reader *reader, uint64_t *counters);
	uint64_t	words;			/* of the loose form */
	uint64_t	done;			/* of these */
	Planes		planes;
	uint64_t	at[MAX_PLANES];	/* where each plane goes on */
	uint64_t	at_tail;
};

/* Words of counters that are read or written together: those of one word of plane 1. */
#define GROUP	4

/*
 * Reads the next words, GROUP of them or what is left, and returns how many.  Inlined with one
 * set of the above.
 */
static inline __attribute__((always_inline)) unsigned
read_group_with(Reader *reader, uint64_t *counters, uint64_t (*deposit) (uint64_t x, uint64_t mask),
				uint64_t (*spread) (uint64_t x), unsigned (*popcount) (uint64_t x))
{
	const Planes *planes = &reader->planes;
	unsigned	n = (unsigned) BF_MIN(reader->words - reader->done, GROUP);
	uint64_t	mask = UINT64_MAX;	/* those that have reached j; before plane 1, all */
	unsigned	j;
	unsigned	w;

	if (planes->n == 0)
	{
		for (w = 0; w < n; w++)
			counters[w] = bf_load64(reader->view->payload + (reader->done + w) * WORD_BYTES);
		reader->done += n;
		return n;
	}

	memset(counters, 0, GROUP * sizeof(*counters));
	for (j = 0; j < planes->n && mask != 0; j++)
	{
		unsigned	width = j == 0 ? n * WORD_COUNTERS : popcount(mask);
		uint64_t	bits = read_bits(&planes->plane[j], reader->at[j], width);

		reader->at[j] += width;
		mask = j == 0 ? bits : deposit(bits, mask);
		for (w = 0; w < GROUP; w++)
			counters[w] += spread(mask >> w * WORD_COUNTERS);
	}
	if (planes->has_tail)
		for (; mask != 0; mask &= mask - 1)
		{
			unsigned	at = (unsigned) __builtin_ctzll(mask);
			unsigned	lane = at % WORD_COUNTERS * 4;

			counters[at / WORD_COUNTERS] &= ~(UINT64_C(15) << lane);
			counters[at / WORD_COUNTERS] |= (uint64_t) read_tail(planes, reader->at_tail++) << lane;
		}
	reader->done += n;
	return n;
}

static unsigned
read_group_portable(Reader *reader, uint64_t *counters)
{
	return read_group_with(reader, counters, deposit_portable, spread_portable, popcount_portable);
}

#ifdef HAVE_BMI2_KERNEL

BMI2 static unsigned
read_group_bmi2(Reader *reader, uint64_t *counters)
{
	return read_group_with(reader, counters, deposit_bmi2, spread_bmi2, popcount_bmi2);
}

#endif

static void
open_reader(Reader *reader, const BfView *view)
{
	memset(reader, 0, sizeof(*reader));
	reader->view = view;
	reader->read = read_group_portable;
#ifdef HAVE_BMI2_KERNEL
	if (has_bmi2())
		reader->read = read_group_bmi2;
#endif
	reader->words = loose_words(&view->head);
	if (has_planes(&view->head))
		find_planes(view, &reader->planes);
}

static void
counting_loosen_plan(const BfHeader *packed, BfHeader *loose)
{
	*loose = *packed;
	loose->payload_len = loose_words(packed) * WORD_BYTES;
	loose->param[1] = loose->param[2] = loose->param[3] = 0;
}

static void
loosen_by(const BfEnv *env, Reader *reader, uint8_t *out)
{
	while (reader->done < reader->words)
	{
		uint64_t	counters[GROUP];
		unsigned	n = reader->read(reader, counters);
		unsigned	w;

		for (w = 0; w < n; w++)
			bf_store64(out + w * WORD_BYTES, counters[w]);
		out += n * WORD_BYTES;
		if ((reader->done & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(env);
	}
}

static void
counting_loosen(const BfEnv *env, const BfHeader *loose, uint8_t *out, const BfView *packed)
{
	Reader		reader;

	(void) loose;
	open_reader(&reader, packed);
	loosen_by(env, &reader, out);
}

/* reached[j]: how many counters there are that are at least j, in a payload of counters. */
static void
count_reached(const BfEnv *env, const BfView *view, uint64_t *reached)
{
	uint64_t	words = loose_words(&view->head);
	uint64_t	i;

	memset(reached, 0, (SATURATED + 1) * sizeof(*reached));
	reached[0] = words * WORD_COUNTERS;
	for (i = 0; i < words; i += GROUP)
	{
		unsigned	n = (unsigned) BF_MIN(words - i, GROUP);
		uint64_t	left[GROUP] = {0};
		unsigned	j;
		unsigned	w;

		for (w = 0; w < n; w++)
			left[w] = bf_load64(view->payload + (i + w) * WORD_BYTES);
		for (j = 1; (left[0] | left[1] | left[2] | left[3]) != 0; j++)
		{
			uint64_t	sum = 0;	/* in each lane */

			for (w = 0; w < GROUP; w++)
			{
				uint64_t	lanes = nonzero_lanes(left[w]);

				left[w] -= lanes;
				sum += lanes;
			}
			reached[j] += sum_lanes(sum);
		}
		if ((i & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(env);
	}
}

/* With t planes, is there a tail? */
static inline bool
wants_tail(const uint64_t *reached, unsigned t)
{
	return t < SATURATED && reached[t + 1] > 0;
}

/* The number of planes of the shortest packed form, and its length. */
static unsigned
shortest_form(const uint64_t *reached, uint64_t *length)
{
	uint64_t	planes = 0;
	unsigned	best = 0;
	unsigned	t;

	/* no planes and all tail: the length of the loose form, which no other may exceed */
	*length = tail_size(reached[0]);
	for (t = 1; t <= MAX_PLANES && reached[t - 1] > 0; t++)
	{
		uint64_t	tail = wants_tail(reached, t) ? tail_size(reached[t]) : 0;

		planes += plane_size(reached[t - 1]);
		if (planes + tail < *length)
		{
			best = t;
			*length = planes + tail;
		}
	}
	return best;
}

static void
counting_pack_plan(const BfEnv *env, const BfView *loose, BfHeader *packed)
{
	uint64_t	reached[SATURATED + 1];

	count_reached(env, loose, reached);
	*packed = loose->head;
	packed->param[1] = 1;
	packed->param[2] = (uint32_t) loose_words(&loose->head);
	packed->param[3] = shortest_form(reached, &packed->payload_len);
}

/* Bits on their way to a plane. */
typedef struct Writer
{
	uint8_t    *next;
	uint64_t	word;			/* begun */
	unsigned	nbits;			/* of it, below 64 */
} Writer;

static inline void
write_bits(Writer *writer, uint64_t bits, unsigned n)
{
	writer->word |= bits << writer->nbits;
	writer->nbits += n;
	if (writer->nbits < 64)
		return;
	bf_store64(writer->next, writer->word);
	writer->next += WORD_BYTES;
	writer->nbits -= 64;
	writer->word = writer->nbits > 0 ? bits >> (n - writer->nbits) : 0;
}

static inline void
end_bits(Writer *writer)
{
	if (writer->nbits > 0)
		bf_store64(writer->next, writer->word);
}

/* Fills in a plane's ranks. */
static void
write_ranks(const BfEnv *env, uint8_t *bits, uint64_t nbits)
{
	uint8_t    *ranks = bits + plane_bytes(nbits);
	uint64_t	words = plane_bytes(nbits) / WORD_BYTES;
	uint64_t	set = 0;
	uint64_t	i;

	for (i = 0; i < words; i++)
	{
		set += (unsigned) __builtin_popcountll(bf_load64(bits + i * WORD_BYTES));
		bf_store32(ranks + i * 64 / RUN_BITS * RANK_BYTES, (uint32_t) set);
		if ((i & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(env);
	}
}

/* The planes being written, and after them the tail. */
typedef struct Packer
{
	unsigned	t;
	bool		has_tail;
	Writer		writer[MAX_PLANES + 1];
} Packer;

/* Packs n words, GROUP of them but at the end. */
static inline __attribute__((always_inline)) void
write_group_with(Packer *packer, const uint8_t *words, unsigned n,
				 uint64_t (*extract)(uint64_t x, uint64_t mask), uint64_t (*squeeze)(uint64_t x),
				 unsigned (*popcount)(uint64_t x))
{
	unsigned	t = packer->t;
	uint64_t	counters[GROUP] = {0};
	uint64_t	left[GROUP];
	uint64_t	mask = UINT64_MAX;	/* those that have reached j; before plane 1, all */
	unsigned	width = n * WORD_COUNTERS;
	unsigned	j;
	unsigned	w;

	for (w = 0; w < n; w++)
		counters[w] = bf_load64(words + w * WORD_BYTES);
	memcpy(left, counters, sizeof(left));
	for (j = 0; j < t && mask != 0; j++)
	{
		uint64_t	above = 0;

		for (w = 0; w < GROUP; w++)
		{
			uint64_t	lanes = nonzero_lanes(left[w]);

			left[w] -= lanes;
			above |= squeeze(lanes) << w * WORD_COUNTERS;
		}
		write_bits(&packer->writer[j], j == 0 ? above : extract(above, mask), width);
		mask = above;
		width = popcount(mask);
	}
	if (packer->has_tail)
		for (; mask != 0; mask &= mask - 1)
		{
			unsigned	at = (unsigned) __builtin_ctzll(mask);

			write_bits(&packer->writer[t],
					   counters[at / WORD_COUNTERS] >> at % WORD_COUNTERS * 4 & 15, 4);
		}
}

static void
write_group_portable(Packer *packer, const uint8_t *words, unsigned n)
{
	write_group_with(packer, words, n, extract_portable, squeeze_portable, popcount_portable);
}

#ifdef HAVE_BMI2_KERNEL

BMI2 static void
write_group_bmi2(Packer *packer, const uint8_t *words, unsigned n)
{
	write_group_with(packer, words, n, extract_bmi2, squeeze_bmi2, popcount_bmi2);
}

#endif

static void
pack_by(const BfEnv *env, void (*write) (Packer *packer, const uint8_t *words, unsigned n),
		unsigned t, uint8_t *out, const BfView *loose)
{
	uint64_t	words = loose_words(&loose->head);
	uint64_t	reached[SATURATED + 1];
	uint8_t    *plane[MAX_PLANES];
	Packer		packer;
	uint64_t	i;
	unsigned	j;

	if (t == 0)
	{
		memcpy(out, loose->payload, loose->head.payload_len);
		return;
	}
	count_reached(env, loose, reached);
	memset(&packer, 0, sizeof(packer));
	packer.t = t;
	packer.has_tail = wants_tail(reached, t);
	for (j = 0; j < t; j++)
	{
		packer.writer[j].next = plane[j] = out;
		out += plane_size(reached[j]);
	}
	packer.writer[t].next = out;

	for (i = 0; i < words; i += GROUP)
	{
		write(&packer, loose->payload + i * WORD_BYTES, (unsigned) BF_MIN(words - i, GROUP));
		if ((i & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(env);
	}
	for (j = 0; j <= t; j++)
		end_bits(&packer.writer[j]);
	for (j = 0; j < t; j++)
		write_ranks(env, plane[j], reached[j]);
}

static void
counting_pack(const BfEnv *env, const BfHeader *packed, uint8_t *out, const BfView *loose)
{
#ifdef HAVE_BMI2_KERNEL
	if (has_bmi2())
	{
		pack_by(env, write_group_bmi2, packed->param[3], out, loose);
		return;
	}
#endif
	pack_by(env, write_group_portable, packed->param[3], out, loose);
}

/*
 * pack() and loosen() as they are on a processor without these instructions, for the test that
 * holds them equal.
 */
void
bf_counting_portable_pack(const BfHeader *packed, uint8_t *out, const BfView *loose)
{
	pack_by(NULL, write_group_portable, packed->param[3], out, loose);
}

void
bf_counting_portable_loosen(uint8_t *out, const BfView *packed)
{
	Reader		reader;

	open_reader(&reader, packed);
	reader.read = read_group_portable;
	loosen_by(NULL, &reader, out);
}

/* ---- what is stored ---- */

static const char *
counting_check(const BfHeader *head)
{
	uint64_t	loose_len = loose_words(head) * WORD_BYTES;
	uint32_t	t = head->param[3];

	if (head->param[0] < 1 || head->param[0] > BF_MAX_PROBES)
		return "the number of probes is out of range";
	if (head->payload_len == 0 || head->payload_len % WORD_BYTES != 0)
		return "the payload is not a whole number of words";
	if (!is_packed(head))
		return head->param[2] != 0 || t != 0 ? "reserved fields of the header are not zero" : NULL;

	if (head->param[1] != 1)
		return "the form of the counters is unknown";
	if (loose_len == 0 || bf_payload_offset(head->family_len) + loose_len > BF_MAX_VALUE_SIZE)
		return "the number of counters is out of range";
	if (t > MAX_PLANES)
		return "the number of planes is out of range";

	/*
	 * the payload has plane 1 at least, so that a short value cannot become a long one: four
	 * times as long at most
	 */
	if (t == 0 ? head->payload_len != loose_len
			   : head->payload_len >= loose_len ||
					 head->payload_len < plane_size(loose_words(head) * WORD_COUNTERS))
		return "the length does not match the number of counters";
	return NULL;
}

/* Are the bits beyond the end of a plane clear, and its ranks as they must be? */
static const char *
validate_plane(const Plane *plane)
{
	uint64_t	words = plane_bytes(plane->nbits) / WORD_BYTES;
	uint64_t	runs = plane_runs(plane->nbits);
	uint64_t	set = 0;
	uint64_t	i;

	if (plane->nbits % 64 != 0 &&
		bf_load64(plane->bits + (words - 1) * WORD_BYTES) >> plane->nbits % 64 != 0)
		return "the padding of a plane is not zero";
	for (i = 0; i < words; i++)
	{
		set += (unsigned) __builtin_popcountll(bf_load64(plane->bits + i * WORD_BYTES));
		if (((i + 1) % (RUN_BITS / 64) == 0 || i + 1 == words) &&
			set != rank_of(plane, i * 64 / RUN_BITS + 1))
			return "a rank does not match its plane";
	}
	if (runs % 2 != 0 && bf_load32(plane->ranks + runs * RANK_BYTES) != 0)
		return "the padding of the ranks is not zero";
	return NULL;
}

/*
 * Any loose payload is well formed.  Of a packed one, what pack() would write for these counters.
 */
static const char *
counting_validate(const BfView *view)
{
	unsigned	t = view->head.param[3];
	uint64_t	reached[SATURATED + 1] = {0};
	uint64_t	length;
	Planes		planes;
	uint64_t	i;
	unsigned	j;

	if (!is_packed(&view->head))
		return NULL;
	if (t == 0)
		count_reached(NULL, view, reached);
	else
	{
		if (!find_planes(view, &planes))
			return "the planes do not fill the payload";
		for (j = 0; j < t; j++)
		{
			const char *reason = validate_plane(&planes.plane[j]);

			if (reason != NULL)
				return reason;
			reached[j] = planes.plane[j].nbits;
		}
		reached[t] = rank_of(&planes.plane[t - 1], plane_runs(reached[t - 1]));
		if (planes.has_tail)
		{
			for (i = 0; i < reached[t]; i++)
			{
				unsigned	counter = get_counter(planes.tail, i);

				if (counter < t)
					return "a counter is less than its planes say";
				for (j = t + 1; j <= counter; j++)
					reached[j]++;
			}
			for (; i < planes.ntail; i++)
				if (get_counter(planes.tail, i) != 0)
					return "the padding of the counters is not zero";
		}
	}
	if (shortest_form(reached, &length) != t || length != view->head.payload_len)
		return "the counters are not packed as short as they could be";
	return NULL;
}

static void
counting_stats(const BfEnv *env, const BfView *view, uint64_t fold, BfStats *stats)
{
	unsigned	k = view->head.param[0];
	Reader		reader;
	uint64_t	sum = 0;
	uint64_t	joined = 0;		/* so many words in sum */

	open_reader(&reader, view);
	while (reader.done < reader.words)
	{
		uint64_t	counters[GROUP];
		unsigned	n = reader.read(&reader, counters);
		unsigned	w;

		for (w = 0; w < n; w++)
		{
			sum = bf_counters_add(sum, counters[w]);
			if (++joined < fold)
				continue;
			stats->bits_set += sum_lanes(nonzero_lanes(sum));
			stats->saturated += sum_lanes(saturated_lanes(sum));
			sum = 0;
			joined = 0;
		}
		if ((reader.done & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(env);
	}
	stats->bits = reader.words / fold * WORD_COUNTERS;
	stats->fill = (double) stats->bits_set / (double) stats->bits;
	stats->hashes = k;
	stats->keys = bf_math_keys((double) stats->bits_set, (double) stats->bits, k);
	/* the k probes are independent and uniform: exact, given the counters */
	stats->fpr = pow(stats->fill, k);
}

/* ---- sets of the loose form ---- */

static void
combine(const BfEnv *env, BfCellOp op, const BfHeader *head, uint8_t *out, const BfView *view)
{
	uint64_t	words = bf_cells_count(&view->head);

	bf_cells_combine(env, op, out, bf_cells_count(head), bf_cells_via(words, WORD_BYTES),
					 view->payload, words, WORD_BYTES);
}

static void
counting_unite(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *view)
{
	combine(env, BF_CELL_ADD, head, out, view);
}

static void
counting_intersect(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *view)
{
	combine(env, BF_CELL_MIN, head, out, view);
}

static void
counting_fold(const BfEnv *env, const BfHeader *head, uint8_t *out, const BfView *view)
{
	uint64_t	out_words = bf_cells_count(head);

	bf_cells_combine(env, BF_CELL_ADD, out, out_words, out_words, view->payload,
					 bf_cells_count(&view->head), WORD_BYTES);
}

const BfKind bf_kind_counting = {
	.id = BF_KIND_COUNTING,
	.name = "counting",
	.caps = BF_CAN_ADD | BF_CAN_REMOVE | BF_CAN_UNION | BF_CAN_INTERSECT | BF_CAN_FOLD |
			BF_CAN_COUNT | BF_MULTISET,
	.hash_id = BF_HASH_XXH3,
	.min_fpr = 1e-15,
	.when = "keys are removed again, or how often each was added matters",
	.cell_size = WORD_BYTES, /* of the loose form */
	.design = counting_design,
	.size = counting_size,
	.check = counting_check,
	.validate = counting_validate,
	.prober = counting_prober,
	.probe_many = counting_probe_many,
	.probe_sliced = counting_probe_sliced,
	.add = counting_add,
	.remove = counting_remove,
	.count = counting_count,
	.is_packed = is_packed,
	.loosen_plan = counting_loosen_plan,
	.loosen = counting_loosen,
	.pack_plan = counting_pack_plan,
	.pack = counting_pack,
	.stats = counting_stats,
	.combined_head = bf_cells_combined_head,
	.unite = counting_unite,
	.intersect = counting_intersect,
	.fold_plan = bf_cells_fold_plan,
	.fold = counting_fold,
};
