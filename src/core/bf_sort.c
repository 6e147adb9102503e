/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_sort.c
 *	  Sorting of hashes in the order of bf_order(); see bf.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_hash.h"

/* Fewer values than this are sorted by insertion, which is then faster than a radix sort. */
#define SMALL	48

/*
 * Up to this many values are sorted by copying them to a spare array and back, within the
 * processor's caches.
 */
#define NEAR	((uint64_t) 1 << 14)

#define DIGIT	8				/* The number of bits in a digit of the radix sort. */
#define PARTS	(1 << DIGIT)

static inline unsigned
digit(uint64_t value, int shift)
{
	return (value >> shift) & (PARTS - 1);
}

static void
insertion_sort(uint64_t *v, uint64_t n)
{
	uint64_t	i;

	for (i = 1; i < n; i++)
	{
		uint64_t	value = v[i];
		uint64_t	j = i;

		for (; j > 0 && v[j - 1] > value; j--)
			v[j] = v[j - 1];
		v[j] = value;
	}
}

/*
 * Copies values from one array to another, sorted by one digit.  Values with the same digit keep
 * their order.
 */
static void
scatter(const uint64_t *from, uint64_t *to, uint64_t n, int shift, const uint32_t *count)
{
	uint32_t	next[PARTS];
	uint32_t	sum = 0;
	uint64_t	i;

	for (i = 0; i < PARTS; i++)
	{
		next[i] = sum;
		sum += count[i];
	}
	for (i = 0; i < n; i++)
		to[next[digit(from[i], shift)]++] = from[i];
}

static void radix_sort(const BfPort *port, uint64_t *v, uint64_t n, int shift, uint64_t *spare);

/*
 * Sorts at most NEAR values by two digits, the higher of which begins at bit `shift`: first by the
 * lower digit, then by the higher.  Few of at most NEAR hashes agree in both digits; each group of
 * values that do is then sorted by the remaining digits.
 */
static void
sort_near(const BfPort *port, uint64_t *v, uint64_t n, int shift, uint64_t *spare)
{
	uint32_t	high[PARTS] = {0};
	uint32_t	low[PARTS] = {0};
	uint64_t	first;
	uint64_t	i;

	for (i = 0; i < n; i++)
	{
		high[digit(v[i], shift)]++;
		low[digit(v[i], shift - DIGIT)]++;
	}
	shift -= DIGIT;
	scatter(v, spare, n, shift, low);
	scatter(spare, v, n, shift + DIGIT, high);
	for (first = 0; first < n; first = i)
	{
		for (i = first + 1; i < n && v[i] >> shift == v[first] >> shift; i++)
			;
		if (shift > 0 && i - first > 1)
			radix_sort(port, v + first, i - first, shift - DIGIT, spare);
	}
}

/*
 * Sorts values by the digit that begins at bit `shift`, and then each part of values with the same
 * digit by the next digit.  It works in place ("American flag sort", McIlroy, Bostic, McIlroy
 * 1993), at most eight levels deep.  A value is exchanged with the one that lies in the next place
 * of its part.  Following the displaced value to its own part, and so on, would make each step wait
 * for the one before.
 */
static void
radix_sort(const BfPort *port, uint64_t *v, uint64_t n, int shift, uint64_t *spare)
{
	uint64_t	next[PARTS] = {0};
	uint64_t	end[PARTS];
	uint64_t	i;
	int			part;

	if (n < SMALL)
	{
		insertion_sort(v, n);
		return;
	}
	if (n <= NEAR && shift > 0)
	{
		sort_near(port, v, n, shift, spare);
		return;
	}
	bf_check_interrupts(port);
	for (i = 0; i < n; i++)
		next[digit(v[i], shift)]++;
	for (i = 0, part = 0; part < PARTS; part++)
	{
		end[part] = i + next[part];
		next[part] = i;
		i = end[part];
	}
	for (part = 0; part < PARTS; part++)
		while (next[part] < end[part])
			for (i = next[part]; i < end[part]; i++)
			{
				uint64_t	value = v[i];
				uint64_t	to = next[digit(value, shift)]++;

				v[i] = v[to];
				v[to] = value;
			}
	if (shift == 0)
		return;
	for (i = 0, part = 0; part < PARTS; i = end[part++])
		if (end[part] - i > 1)
			radix_sort(port, v + i, end[part] - i, shift - DIGIT, spare);
}

/* Replaces hashes by their images under bf_order(), and sorts the images. */
static void
sort_ordered(const BfPort *port, uint64_t *hashes, uint64_t n)
{
	uint64_t   *spare = bf_alloc(port, BF_MIN(n, NEAR) * sizeof(uint64_t));
	uint64_t	i;

	for (i = 0; i < n; i++)
		hashes[i] = bf_order(hashes[i]);
	radix_sort(port, hashes, n, 64 - DIGIT, spare);
	bf_release(port, spare);
}

static void
undo_order(uint64_t *hashes, uint64_t n)
{
	uint64_t	i;

	for (i = 0; i < n; i++)
		hashes[i] *= BF_ORDER_INVERSE;
}

uint64_t
bf_sort_hashes(const BfPort *port, uint64_t *hashes, uint64_t n)
{
	uint64_t	kept = 0;
	uint64_t	i;

	sort_ordered(port, hashes, n);
	for (i = 0; i < n; i++)
		if (kept == 0 || hashes[i] != hashes[kept - 1])
			hashes[kept++] = hashes[i];
	undo_order(hashes, kept);
	return kept;
}

uint64_t
bf_sort_multiset(const BfPort *port, uint64_t *hashes, uint64_t n, uint64_t *distinct)
{
	uint64_t	kept = 0;
	uint64_t	i;

	sort_ordered(port, hashes, n);
	*distinct = 0;
	for (i = 0; i < n; i++)
	{
		/*
		 * Kept values are sorted, so the last BF_MAX_TIMES are all equal to this value if the first
		 * of them is.
		 */
		if (kept >= BF_MAX_TIMES && hashes[i] == hashes[kept - BF_MAX_TIMES])
			continue;
		*distinct += kept == 0 || hashes[i] != hashes[kept - 1];
		hashes[kept++] = hashes[i];
	}
	undo_order(hashes, kept);
	return kept;
}
