/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_counting_packed.c
 *	  The packed form, in which a counting filter is stored; see kind_counting.c.
 *
 * Packing and loosening go through the counters in groups of four words, 64 counters, for which
 * plane 1 has one word.  A mask has a 1 for each counter of the group that has reached j; the bits
 * of plane j + 1 are those of the counters with a 1 in the mask, in order.  The processor's deposit
 * and extract instructions move bits between "all 64 counters" and "the counters in the mask";
 * without them, bits are moved one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "kind_counting_packed.h"

#include "bf_cpu.h"
#include "bf_format.h"
#include "kind_counting_loose.h"

/* ---- the parts of a packed payload ---- */

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

/* Returns the size in bytes of a plane with its ranks. */
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

/* Returns the number of bits that are set in the first `runs` * RUN_BITS bits of a plane. */
static inline uint64_t
rank_of(const Plane *plane, uint64_t runs)
{
	return runs > 0 ? bf_load32(plane->ranks + (runs - 1) * RANK_BYTES) : 0;
}

bool
bf_counting_find_planes(const BfView *view, Planes *planes)
{
	uint64_t	left = view->head.payload_len;
	uint64_t	nbits = loose_words(&view->head) * WORD_COUNTERS;
	const uint8_t *p = view->payload;
	unsigned	j;

	memset(planes, 0, sizeof(*planes));
	planes->n = view->head.param[PARAM_PLANES];
	/*
	 * Assume an empty tail until all planes are found: reading a counter from it returns SATURATED.
	 */
	planes->has_tail = true;
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
 * Returns the next n bits of a plane, at most 64.  If the plane has fewer, which is possible only
 * in a maliciously crafted payload, returns all ones: a counter that is too high can only cause
 * false positives.
 */
static inline uint64_t
read_bits(const Plane *plane, uint64_t at, unsigned n)
{
	uint64_t	mask = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
	unsigned	shift = at % 64;
	const uint8_t *p;
	uint64_t	bits;

	/* With n = 0, return before the load, which might be beyond the end of the plane. */
	if (n == 0 || at + n > plane->nbits)
		return mask;
	p = plane->bits + at / 64 * WORD_BYTES;
	bits = bf_load64(p) >> shift;
	if (shift + n > 64)
		bits |= bf_load64(p + WORD_BYTES) << (64 - shift);
	return bits & mask;
}

/*
 * Returns a counter that is stored in the tail; at least the number of planes, as only counters
 * that are set in all planes are in the tail.
 */
static inline unsigned
read_tail(const Planes *planes, uint64_t at)
{
	return at < planes->ntail ? BF_MAX(get_counter(planes->tail, at), planes->n) : SATURATED;
}

unsigned
bf_counting_packed_counter(const Planes *planes, uint64_t at)
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

		/*
		 * The counter's place in the next plane is the number of bits that are set before it in
		 * this one.
		 */
		i = run * RUN_BITS;
		run = rank_of(plane, run);
		for (; i + 64 <= at; i += 64)
			run += (unsigned) __builtin_popcountll(bf_load64(plane->bits + i / 8));
		at = run + (unsigned) __builtin_popcountll(bf_load64(plane->bits + i / 8) &
												   ((UINT64_C(1) << at % 64) - 1));
	}
	return planes->has_tail ? read_tail(planes, at) : planes->n;
}

/* ---- operations on the bits of a word ---- */

/*
 * The operations on bits that packing and loosening consist of.  Each has an implementation in
 * plain C, and one that uses the processor's instruction:
 *
 *	deposit		the low bits of x, in order, at the positions where mask has ones
 *	extract		the bits of x where mask has ones, in order, at the low end: the inverse
 *	spread		the low 16 bits of x, each to the lowest bit of a counter
 *	squeeze		the lowest bits of 16 counters, to the low end: the inverse
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

#ifdef BF_HAVE_BMI2

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

#endif							/* BF_HAVE_BMI2 */

/* ---- reading counters, and loosening ---- */

/*
 * Implements Reader.read with one of the implementations of deposit, spread and popcount, which are
 * inlined.
 */
static inline __attribute__((always_inline)) unsigned
read_group_with(Reader *reader, uint64_t *counters, uint64_t (*deposit) (uint64_t x, uint64_t mask),
				uint64_t (*spread) (uint64_t x), unsigned (*popcount) (uint64_t x))
{
	const Planes *planes = &reader->planes;
	unsigned	n = (unsigned) BF_MIN(reader->words - reader->done, GROUP);
	/*
	 * The counters of the group that are at least j, a bit for each; all counters before plane 1.
	 */
	uint64_t	mask = UINT64_MAX;
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

#ifdef BF_HAVE_BMI2

BMI2 static unsigned
read_group_bmi2(Reader *reader, uint64_t *counters)
{
	return read_group_with(reader, counters, deposit_bmi2, spread_bmi2, popcount_bmi2);
}

#endif							/* BF_HAVE_BMI2 */

void
bf_counting_open_reader(Reader *reader, const BfView *view)
{
	memset(reader, 0, sizeof(*reader));
	reader->view = view;
	reader->read = read_group_portable;
#ifdef BF_HAVE_BMI2
	if (bf_have_bmi2())
		reader->read = read_group_bmi2;
#endif
	reader->words = loose_words(&view->head);
	if (has_planes(&view->head))
		bf_counting_find_planes(view, &reader->planes);
}

void
bf_counting_loosen_plan(const BfHeader *packed, BfHeader *loose)
{
	*loose = *packed;
	loose->payload_len = loose_words(packed) * WORD_BYTES;
	loose->param[PARAM_PACKED] = loose->param[PARAM_WORDS] = loose->param[PARAM_PLANES] = 0;
}

static void
loosen_by(const BfPort *port, Reader *reader, uint8_t *out)
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
			bf_check_interrupts(port);
	}
}

void
bf_counting_loosen(const BfPort *port, const BfHeader *loose, uint8_t *out, const BfView *packed)
{
	Reader		reader;

	(void) loose;
	bf_counting_open_reader(&reader, packed);
	loosen_by(port, &reader, out);
}

/* ---- packing counters ---- */

/*
 * Sets reached[j] to the number of counters of a loose payload that are at least j, for each j up
 * to 15.
 */
static void
count_reached(const BfPort *port, const BfView *view, uint64_t *reached)
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
			/* In each lane, the number of words whose counter there is at least j. */
			uint64_t	sum = 0;

			for (w = 0; w < GROUP; w++)
			{
				uint64_t	lanes = nonzero_lanes(left[w]);

				left[w] -= lanes;
				sum += lanes;
			}
			reached[j] += sum_lanes(sum);
		}
		if ((i & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(port);
	}
}

/* Returns whether a packed form with t planes needs a tail. */
static inline bool
wants_tail(const uint64_t *reached, unsigned t)
{
	return t < SATURATED && reached[t + 1] > 0;
}

/*
 * Returns the number of planes of the shortest packed form, and sets *length to its length in
 * bytes.
 */
static unsigned
shortest_form(const uint64_t *reached, uint64_t *length)
{
	uint64_t	planes = 0;
	unsigned	best = 0;
	unsigned	t;

	/*
	 * Begin with the form without planes, which has all counters in the tail: it has the length of
	 * the loose form, which no chosen form may exceed.
	 */
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

void
bf_counting_pack_plan(const BfPort *port, const BfView *loose, BfHeader *packed)
{
	uint64_t	reached[SATURATED + 1];

	count_reached(port, loose, reached);
	*packed = loose->head;
	packed->param[PARAM_PACKED] = 1;
	packed->param[PARAM_WORDS] = (uint32_t) loose_words(&loose->head);
	packed->param[PARAM_PLANES] = shortest_form(reached, &packed->payload_len);
}

/* A writer that appends bits to a plane, or to the tail. */
typedef struct Writer
{
	uint8_t    *next;
	uint64_t	word;			/* The word that is not full yet. */
	unsigned	nbits;			/* The number of bits in word, below 64. */
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

/* Computes a plane's ranks, and writes them after its bits. */
static void
write_ranks(const BfPort *port, uint8_t *bits, uint64_t nbits)
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
			bf_check_interrupts(port);
	}
}

/* The writers of the planes, and after them that of the tail. */
typedef struct Packer
{
	unsigned	t;
	bool		has_tail;
	Writer		writer[MAX_PLANES + 1];
} Packer;

/* Packs n words of counters: GROUP words, or fewer at the end. */
static inline __attribute__((always_inline)) void
write_group_with(Packer *packer, const uint8_t *words, unsigned n,
				 uint64_t (*extract)(uint64_t x, uint64_t mask), uint64_t (*squeeze)(uint64_t x),
				 unsigned (*popcount)(uint64_t x))
{
	unsigned	t = packer->t;
	uint64_t	counters[GROUP] = {0};
	uint64_t	left[GROUP];
	/*
	 * The counters of the group that are at least j, a bit for each; all counters before plane 1.
	 */
	uint64_t	mask = UINT64_MAX;
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

#ifdef BF_HAVE_BMI2

BMI2 static void
write_group_bmi2(Packer *packer, const uint8_t *words, unsigned n)
{
	write_group_with(packer, words, n, extract_bmi2, squeeze_bmi2, popcount_bmi2);
}

#endif							/* BF_HAVE_BMI2 */

static void
pack_by(const BfPort *port, void (*write) (Packer *packer, const uint8_t *words, unsigned n),
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
		/* No interrupts are checked: 1 GB, the most that a value has, takes less than a second. */
		memcpy(out, loose->payload, loose->head.payload_len);
		return;
	}
	count_reached(port, loose, reached);
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
			bf_check_interrupts(port);
	}
	for (j = 0; j <= t; j++)
		end_bits(&packer.writer[j]);
	for (j = 0; j < t; j++)
		write_ranks(port, plane[j], reached[j]);
}

void
bf_counting_pack(const BfPort *port, const BfHeader *packed, uint8_t *out, const BfView *loose)
{
#ifdef BF_HAVE_BMI2
	if (bf_have_bmi2())
	{
		pack_by(port, write_group_bmi2, packed->param[PARAM_PLANES], out, loose);
		return;
	}
#endif
	pack_by(port, write_group_portable, packed->param[PARAM_PLANES], out, loose);
}

/*
 * For the test that compares implementations: pack and loosen without the processor's bit deposit
 * and extract instructions.
 */
void
bf_counting_portable_pack(const BfHeader *packed, uint8_t *out, const BfView *loose)
{
	pack_by(NULL, write_group_portable, packed->param[PARAM_PLANES], out, loose);
}

void
bf_counting_portable_loosen(uint8_t *out, const BfView *packed)
{
	Reader		reader;

	bf_counting_open_reader(&reader, packed);
	reader.read = read_group_portable;
	loosen_by(NULL, &reader, out);
}

/* ---- checking a packed filter ---- */

const char *
bf_counting_check_packed(const BfHeader *head)
{
	uint64_t	loose_len = loose_words(head) * WORD_BYTES;
	uint32_t	t = head->param[PARAM_PLANES];

	if (head->param[PARAM_PACKED] != 1)
		return "the form of the counters is unknown";
	if (loose_len == 0 || bf_payload_offset(head->family_len) + loose_len > BF_MAX_VALUE_SIZE)
		return "the number of counters is out of range";
	if (t > MAX_PLANES)
		return "the number of planes is out of range";

	/*
	 * The payload has at least plane 1, so the loose form is at most four times as long, and a
	 * short value cannot ask for much memory.
	 */
	if (t == 0 ? head->payload_len != loose_len
			   : head->payload_len >= loose_len ||
					 head->payload_len < plane_size(loose_words(head) * WORD_COUNTERS))
		return "the length does not match the number of counters";
	return NULL;
}

/*
 * Checks that the bits beyond the end of a plane are clear, and that its ranks are right.  Returns
 * NULL, or what is wrong.
 */
static const char *
validate_plane(const BfPort *port, const Plane *plane)
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
		if ((i & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(port);
	}
	if (runs % 2 != 0 && bf_load32(plane->ranks + runs * RANK_BYTES) != 0)
		return "the padding of the ranks is not zero";
	return NULL;
}

/*
 * Checks that the payload is exactly what bf_counting_pack() would write for its counters.  Returns
 * NULL, or what is wrong.
 */
const char *
bf_counting_validate_packed(const BfPort *port, const BfView *view)
{
	unsigned	t = view->head.param[PARAM_PLANES];
	uint64_t	reached[SATURATED + 1] = {0};
	uint64_t	length;
	Planes		planes;
	uint64_t	i;
	unsigned	j;

	if (t == 0)
		count_reached(port, view, reached);
	else
	{
		if (!bf_counting_find_planes(view, &planes))
			return "the planes do not fill the payload";
		for (j = 0; j < t; j++)
		{
			const char *reason = validate_plane(port, &planes.plane[j]);

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
				if ((i & BF_INTERRUPT_MASK) == 0)
					bf_check_interrupts(port);
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
