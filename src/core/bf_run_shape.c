/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_run_shape.c
 *	  The geometry of runs: the widths of fields and the number of pages; see bf_run.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_run_int.h"

#include <math.h>

/* Fixed-point unit: numbers of bits and shares are counted in thousandths. */
#define MILLI			1000

/*
 * The room that is left in a page for chance, in standard deviations of its number of entries,
 * which has a Poisson distribution; times MILLI.  The total space hardly depends on the room z
 * between 2.0 and 2.6 deviations, at all sizes of pages: 1 / (1 - z / sqrt(c)) * (1 + Q(z)) is flat
 * there.
 */
#define SLACK			2300

/*
 * The smallest share of a page's entries that a plan fills, in thousandths of the page's capacity.
 */
#define MIN_FILL		250

static unsigned
bits_of(uint64_t x)
{
	return x > 0 ? 64 - (unsigned) __builtin_clzll(x) : 0;
}

static uint64_t
square_root(uint64_t x)
{
	uint64_t	root = 0;
	uint64_t	bit;

	for (bit = UINT64_C(1) << 31; bit > 0; bit >>= 1)
		if ((root + bit) * (root + bit) <= x)
			root += bit;
	return root;
}

/*
 * Returns an entry's share of the zeros and of the directory, in thousandths of a bit.  A bucket
 * takes 17/16 bits (its zero, and 16 bits of directory per 256 buckets), and there are 2^p / (n d
 * 2^s) buckets per entry.
 */
static uint64_t
zeros_share(uint64_t n, const BfRunShape *shape)
{
	/*
	 * The share is computed in units of 1/128 bit, where 17/16 is 136: then 2^p times 136 still
	 * fits 64 bits.
	 */
	uint64_t	share = (UINT64_C(136) << shape->p >> shape->s) / n / shape->d;

	return BF_MIN(share, UINT32_MAX) * MILLI / 128;
}

/*
 * Sets shape->d and shape->s, and returns how many thousandths of a bit an entry takes for its
 * share of the zeros; sets *fixed to the thousandths of a bit that it takes otherwise.  The best
 * width of a record is where one more bit would save less than a bit of zeros.
 */
static uint64_t
split(uint64_t n, BfRunShape *shape, uint64_t places, uint64_t *fixed)
{
	unsigned	gap = bits_of((UINT64_C(1) << shape->p) / n);
	unsigned	w = bits_of(places - 1);
	uint64_t	zeros;

	/*
	 * The product d * 2^s, the range of hashes of a bucket, should be about the gap between two
	 * hashes, and d * places must fit a field of BF_RUN_FIELD bits.
	 */
	shape->s = gap + w > BF_RUN_FIELD - 1 ? (uint8_t) (gap + w - (BF_RUN_FIELD - 1)) : 0;
	for (;; w++)
	{
		shape->d = (UINT64_C(1) << w) / places;
		zeros = zeros_share(n, shape);
		if (zeros <= 2 * MILLI || w == BF_RUN_FIELD)
			break;
	}
	*fixed = (w + shape->s + 1) * (uint64_t) MILLI;
	return zeros;
}

bool
bf_run_plan(uint64_t n, unsigned p, uint32_t first_block, uint64_t blocks, unsigned offsets,
			uint32_t body, BfRunShape *shape)
{
	BfRunShape	plan = {.p = (uint8_t) p, .first_block = first_block};
	uint64_t	room = ((uint64_t) body - BF_RUN_HEAD - BF_RUN_SPARE) * 8;
	/* The bits of a page that rounding its parts to whole words can lose. */
	uint64_t	lost = 64 + 2 * 64;
	uint64_t	fixed;
	uint64_t	zeros;
	uint64_t	fill;
	uint64_t	mean;
	uint64_t	pages;
	BfRun		run;
	const char *reason;

	if (p < 1 || p > BF_RUN_MAX_P || n > BF_RUN_MAX_ENTRIES || body < BF_RUN_MIN_BODY ||
		body > BF_RUN_MAX_BODY || blocks < 1 || blocks > UINT32_MAX || offsets < 1 ||
		offsets > UINT16_MAX)
		return false;
	n = BF_MAX(n, 1);
	plan.blocks = (uint32_t) blocks;
	plan.offsets = (uint16_t) offsets;
	zeros = split(n, &plan, blocks * offsets, &fixed);

	/*
	 * fill is the share of a page's capacity that is to be filled, and mean the number of entries
	 * that this gives; both are times MILLI.
	 */
	fill = MILLI - BF_MIN(MILLI - MIN_FILL,
						  SLACK * 100 / square_root(10000 * room * MILLI / (fixed + zeros)));
	mean = (room - lost) * MILLI * fill / (fixed + zeros * fill / MILLI);
	pages = (n * MILLI + mean - 1) / BF_MAX(mean, 1);
	if (pages > BF_RUN_MAX_PAGES)
		return false;
	plan.pages = (uint32_t) BF_MIN(BF_MAX(pages, 1), UINT64_C(1) << p);
	if (!bf_run_open(&plan, body, &run, &reason))
		return false;
	*shape = plan;
	return true;
}

static bool
refuse(const char **reason, const char *why)
{
	*reason = why;
	return false;
}

bool
bf_run_open(const BfRunShape *shape, uint32_t body, BfRun *run, const char **reason)
{
	uint64_t	longest;
	uint64_t	buckets;
	uint64_t	bits;
	uint64_t	capacity;

	*reason = NULL;
	if (body < BF_RUN_MIN_BODY || body > BF_RUN_MAX_BODY)
		return refuse(reason, "a page's size is out of range");
	if (shape->p < 1 || shape->p > BF_RUN_MAX_P || shape->s > shape->p)
		return refuse(reason, "a number of hash bits is out of range");
	if (shape->pages < 1 || shape->pages > BF_RUN_MAX_PAGES ||
		shape->pages > UINT64_C(1) << shape->p)
		return refuse(reason, "the number of pages is out of range");
	if (shape->blocks < 1 || shape->offsets < 1 ||
		(uint64_t) shape->first_block + shape->blocks > (uint64_t) UINT32_MAX + 1)
		return refuse(reason, "the range of places is out of range");

	run->shape = *shape;
	run->body = body;
	run->places = (uint64_t) shape->blocks * shape->offsets;
	if (shape->d < 1 || shape->d > (UINT64_C(1) << BF_RUN_FIELD) / run->places)
		return refuse(reason, "a record is too wide");
	run->w = bits_of(shape->d * run->places - 1);
	run->width = run->w + shape->s;
	run->by_d = UINT64_MAX / shape->d;
	run->by_places = UINT64_MAX / run->places;
	run->by_offsets = UINT64_MAX / shape->offsets;

	/* The number of possible kept bits in the longest interval of a main page, minus 1. */
	longest = ((UINT64_C(1) << shape->p) - 1) / shape->pages;
	buckets = (longest >> shape->s) / shape->d + 1;
	if (buckets > body * 8)
		return refuse(reason, "a page has no room for its buckets");
	run->buckets = (uint32_t) buckets;
	run->unary_at = (BF_RUN_HEAD + 2 * bf_run_samples(run) + 7) / 8 * 8;
	if (run->unary_at + BF_RUN_SPARE >= body)
		return refuse(reason, "a page has no room for its buckets");
	bits = (body - run->unary_at - BF_RUN_SPARE) * 8;
	if (bits < buckets + 63 + 1 + run->width)
		return refuse(reason, "a page has no room for an entry");
	capacity = (bits - buckets - 63) / (1 + run->width);
	run->capacity = (uint32_t) BF_MIN(capacity, UINT16_MAX);
	run->records_at = run->unary_at + (run->buckets + run->capacity + 63) / 64 * 8;
	return true;
}

uint64_t
bf_run_max_overflow(const BfRun *run, uint64_t n)
{
	return n > 0 ? (n - 1) / run->capacity : 0;
}

double
bf_run_false_places(uint64_t n, unsigned p)
{
	return ldexp((double) n, -(int) p);
}

double
bf_run_entry_bytes(const BfRun *run, uint64_t n, uint32_t page)
{
	double		mean = (double) n / run->shape.pages;
	double		pages = 1;
	double		more;
	int			i;

	if (n == 0)
		return 0;
	for (i = 1; i < 1000; i++)
	{
		more = erfc(((double) i * run->capacity + 0.5 - mean) / sqrt(2 * mean)) / 2;
		pages += more;
		if (more < 1e-9)
			break;
	}
	return pages * page / mean;
}

uint32_t
bf_run_page_of(const BfRun *run, uint64_t hash)
{
	uint64_t	kept = hash >> (64 - run->shape.p);

	return (uint32_t) (((unsigned __int128) kept * run->shape.pages) >> run->shape.p);
}

uint64_t
bf_run_page_begin(const BfRun *run, uint32_t i)
{
	return bf_run_begin(&run->shape, i) << (64 - run->shape.p);
}

/*
 * Implements bf_run_aim().  With kept * pages = page * 2^p + part, kept is floor(part / pages)
 * after the first hash of its page, which saves a long division.
 */
void
bf_run_aim(const BfRun *run, uint64_t hash, BfRunAim *aim)
{
	const BfRunShape *shape = &run->shape;
	uint64_t	kept = hash >> (64 - shape->p);
	unsigned __int128 scaled = (unsigned __int128) kept * shape->pages;
	uint64_t	behind = ((uint64_t) scaled & bf_run_mask(shape->p)) / shape->pages;
	uint64_t	bucket = bf_run_divide(behind >> shape->s, shape->d, run->by_d);

	aim->kept = kept;
	aim->page = (uint32_t) (scaled >> shape->p);
	aim->low = behind & bf_run_mask(shape->s);
	aim->bucket = (uint32_t) bucket;
	aim->record = ((behind >> shape->s) - bucket * shape->d) * run->places;
}
