/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_cells.c
 *	  Folding, uniting and intersecting of arrays of cells; see bf_cells.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_cells.h"

#include <math.h>

#define MAX_CELL_WORDS	8

/*
 * An upper bound on the number of divisors that a number of cells can have.  The least number with
 * more than 720 divisors, 73513440, is more cells than a value has room for, even with cells of 8
 * bytes.
 */
#define MAX_DIVISORS	768

/* The largest payload in bytes, of a power-of-two size, that a value can hold. */
#define MAX_POWER_PAYLOAD	((uint64_t) 256 * 1024 * 1024)

/*
 * Loads a word in the machine's byte order.  Operations on bits and on half bytes give the same
 * bytes in either byte order.
 */
static inline uint64_t
load_word(const uint8_t *p)
{
	uint64_t	v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void
store_word(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline uint64_t
apply_word(BfCellOp op, uint64_t a, uint64_t b)
{
	switch (op)
	{
		case BF_CELL_OR:
			return a | b;
		case BF_CELL_AND:
			return a & b;
		case BF_CELL_ADD:
			return bf_counters_add(a, b);
		default:
			return bf_counters_min(a, b);
	}
}

/* Sets acc to the OR of n neighbouring cells, or for counters to their sum. */
static inline void
gather(const BfPort *port, BfCellOp join, uint64_t *acc, const uint8_t *cells, uint64_t n,
	   unsigned words)
{
	unsigned	w;

	for (w = 0; w < words; w++)
		acc[w] = load_word(cells + w * 8);
	while (--n > 0)
	{
		cells += words * 8;
		for (w = 0; w < words; w++)
			acc[w] = apply_word(join, acc[w], load_word(cells + w * 8));
		if ((n & BF_INTERRUPT_MASK) == 0)
			bf_check_interrupts(port);
	}
}

/* Sets one cell of out to "out op acc", and returns the address of the next cell. */
static inline uint8_t *
apply(BfCellOp op, uint8_t *out, const uint64_t *acc, unsigned words)
{
	unsigned	w;

	for (w = 0; w < words; w++)
	{
		store_word(out, apply_word(op, load_word(out), acc[w]));
		out += 8;
	}
	return out;
}

/*
 * Combines arrays of cells of different sizes: converts src to an array of via_cells cells, and
 * joins each of these into out_cells / via_cells neighbouring cells of out.
 */
static inline __attribute__((always_inline)) void
combine_unlike(const BfPort *port, BfCellOp op, uint8_t *out, uint64_t out_cells,
			   uint64_t via_cells, const uint8_t *src, uint64_t src_cells, uint32_t cell_size)
{
	BfCellOp	join = op == BF_CELL_OR || op == BF_CELL_AND ? BF_CELL_OR : BF_CELL_ADD;
	unsigned	words = cell_size / 8;
	uint64_t	repeat = out_cells / via_cells;
	/*
	 * floor(via * src_cells / via_cells): the first cell of src that goes into the array's cell
	 * `via`.
	 */
	uint64_t	first = 0;
	uint64_t	rest = 0;		/* The remainder of via * src_cells / via_cells. */
	uint64_t	since = 0;		/* Number of cells handled since the last check for interrupts. */
	uint64_t	via;

	for (via = 0; via < via_cells; via++)
	{
		uint64_t	acc[MAX_CELL_WORDS];
		uint64_t	next = first + src_cells / via_cells;
		uint64_t	next_rest = rest + src_cells % via_cells;
		uint64_t	r;

		if (next_rest >= via_cells)
		{
			next++;
			next_rest -= via_cells;
		}
		/*
		 * Gather the cells of src from `first` to the last one that begins before the range of the
		 * next of the via_cells cells does.
		 */
		gather(port, join, acc, src + first * cell_size, next - first + (next_rest > 0), words);
		for (r = 0; r < repeat; r++)
			out = apply(op, out, acc, words);
		since += next - first + repeat;
		first = next;
		rest = next_rest;
		if (since > BF_INTERRUPT_MASK)
		{
			bf_check_interrupts(port);
			since = 0;
		}
	}
}

/* Combines arrays of the same size, which is the common case, word by word. */
static inline __attribute__((always_inline)) void
combine_equal(const BfPort *port, BfCellOp op, uint8_t *out, const uint8_t *src, uint64_t len)
{
	while (len > 0)
	{
		uint64_t	chunk = BF_MIN(len, 1024 * 1024);
		uint64_t	i;

		for (i = 0; i < chunk; i += 8)
			store_word(out + i, apply_word(op, load_word(out + i), load_word(src + i)));
		out += chunk;
		src += chunk;
		len -= chunk;
		bf_check_interrupts(port);
	}
}

uint64_t
bf_cells_via(uint64_t cells, uint64_t cell_size)
{
	uint64_t	via = 1;

	if ((cells & (cells - 1)) == 0)
		return cells;
	while (via < 2 * cells && 2 * via * cell_size <= MAX_POWER_PAYLOAD)
		via *= 2;
	return via;
}

static inline __attribute__((always_inline)) void
combine_by(const BfPort *port, BfCellOp op, uint8_t *out, uint64_t out_cells, uint64_t via_cells,
		   const uint8_t *src, uint64_t src_cells, uint32_t cell_size)
{
	if (out_cells == src_cells)
		combine_equal(port, op, out, src, out_cells * cell_size);
	else
		combine_unlike(port, op, out, out_cells, via_cells, src, src_cells, cell_size);
}

/*
 * Implements bf_cells_combine(), which bf_cells.h describes. op is a constant in each call of
 * combine_by(), so that the compiler makes a separate loop for every operation.
 */
void
bf_cells_combine(const BfPort *port, BfCellOp op, uint8_t *out, uint64_t out_cells,
				 uint64_t via_cells, const uint8_t *src, uint64_t src_cells, uint32_t cell_size)
{
	switch (op)
	{
		case BF_CELL_OR:
			combine_by(port, BF_CELL_OR, out, out_cells, via_cells, src, src_cells, cell_size);
			break;
		case BF_CELL_AND:
			combine_by(port, BF_CELL_AND, out, out_cells, via_cells, src, src_cells, cell_size);
			break;
		case BF_CELL_ADD:
			combine_by(port, BF_CELL_ADD, out, out_cells, via_cells, src, src_cells, cell_size);
			break;
		case BF_CELL_MIN:
			combine_by(port, BF_CELL_MIN, out, out_cells, via_cells, src, src_cells, cell_size);
			break;
	}
}

bool
bf_cells_combined_head(const BfView *a, const BfView *b, BfHeader *head)
{
	uint64_t	a_cells = bf_cells_count(&a->head);
	uint64_t	b_cells = bf_cells_count(&b->head);

	*head = a->head;
	head->param[0] = BF_MIN(a->head.param[0], b->head.param[0]);
	head->capacity = BF_MAX(a->head.capacity, b->head.capacity);
	head->target_fpr = BF_MAX(a->head.target_fpr, b->head.target_fpr);
	if (a_cells != b_cells)
		head->payload_len =
			head->kind->cell_size * BF_MAX(bf_cells_via(a_cells, head->kind->cell_size),
										   bf_cells_via(b_cells, head->kind->cell_size));
	return true;
}

static void
combine_view(const BfPort *port, BfCellOp op, const BfHeader *head, uint8_t *out,
			 const BfView *view)
{
	uint64_t	cells = bf_cells_count(&view->head);
	uint32_t	cell_size = head->kind->cell_size;

	bf_cells_combine(port, op, out, bf_cells_count(head), bf_cells_via(cells, cell_size),
					 view->payload, cells, cell_size);
}

void
bf_cells_unite(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	combine_view(port, BF_CELL_OR, head, out, view);
}

void
bf_cells_intersect(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	combine_view(port, BF_CELL_AND, head, out, view);
}

/* Fills divisor[] with the divisors of n in ascending order, and returns how many there are. */
static unsigned
divisors(uint64_t n, uint64_t *divisor)
{
	unsigned	count = 0;
	unsigned	i;
	uint64_t	d;

	for (d = 1; d <= n / d; d++)
		if (n % d == 0)
			divisor[count++] = d;

	/* The divisors above the square root of n are n divided by the divisors below it. */
	for (i = count; i-- > 0;)
		if (n / divisor[i] != divisor[i])
			divisor[count++] = n / divisor[i];
	return count;
}

void
bf_cells_fold_plan_each(const BfPort *port, const BfView *view, uint64_t cells, double fpr,
						BfHeader *head)
{
	BfStats		stats;
	uint64_t	divisor[MAX_DIVISORS];
	unsigned	n;
	unsigned	low;
	unsigned	high;

	bf_stats(port, view, &stats);
	if (stats.fpr > fpr)
		return;					/* The FPR already exceeds fpr, and a fold would only raise it. */
	head->target_fpr = fpr;
	head->capacity = (uint64_t) fmin(fmax(1, ceil(stats.keys)), 9e18);

	/* The FPR rises with the divisor: search for the largest divisor whose FPR is at most fpr. */
	n = divisors(cells, divisor);
	low = 0;
	high = n;
	while (high - low > 1)
	{
		unsigned	middle = (low + high) / 2;

		bf_stats_folded(port, view, divisor[middle], &stats);
		if (stats.fpr <= fpr)
			low = middle;
		else
			high = middle;
	}
	head->payload_len /= divisor[low];
}

void
bf_cells_fold_plan(const BfPort *port, const BfView *view, double fpr, BfHeader *head)
{
	bf_cells_fold_plan_each(port, view, bf_cells_count(&view->head), fpr, head);
}

void
bf_cells_fold(const BfPort *port, const BfHeader *head, uint8_t *out, const BfView *view)
{
	uint64_t	out_cells = bf_cells_count(head);

	bf_cells_combine(port, BF_CELL_OR, out, out_cells, out_cells, view->payload,
					 bf_cells_count(&view->head), head->kind->cell_size);
}

void
bf_cells_gather(const BfPort *port, uint64_t *acc, const uint8_t *cells, uint64_t n, unsigned words)
{
	gather(port, BF_CELL_OR, acc, cells, n, words);
}

unsigned
bf_cells_popcount(const BfPort *port, const uint8_t *cells, uint64_t n, uint32_t cell_size)
{
	uint64_t	acc[MAX_CELL_WORDS];
	unsigned	words = cell_size / 8;
	unsigned	count = 0;
	unsigned	w;

	gather(port, BF_CELL_OR, acc, cells, n, words);
	for (w = 0; w < words; w++)
		count += (unsigned) __builtin_popcountll(acc[w]);
	return count;
}
