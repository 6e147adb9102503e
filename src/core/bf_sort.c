/*-------------------------------------------------------------------------
 *
 * bf_sort.c
 *	  Hashes in the order of bf_order(); see bf.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_hash.h"

/* Below this, insertion is faster than counting. */
#define SMALL	48

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
 * Sorts by the 8 bits that end at shift, then each part by the next: in place, by carrying every value to its part ("American flag sort",
 * McIlroy, Bostic, McIlroy 1993).  Eight levels deep at the most.
 */
static void
radix_sort(const BfEnv *env, uint64_t *v, uint64_t n, int shift)
{
	uint64_t	next[256] = {0};
	uint64_t	end[256];
	uint64_t	i;
	int			part;

	if (n < SMALL)
	{
		insertion_sort(v, n);
		return;
	}
	if (n > BF_INTERRUPT_MASK)
		bf_check_interrupts(env);
	for (i = 0; i < n; i++)
		next[(v[i] >> shift) & 255]++;
	for (i = 0, part = 0; part < 256; part++)
	{
		end[part] = i + next[part];
		next[part] = i;
		i = end[part];
	}
	for (part = 0; part < 256; part++)
		while (next[part] < end[part])
		{
			uint64_t	value = v[next[part]];
			unsigned	to;

			while ((to = (value >> shift) & 255) != (unsigned) part)
			{
				uint64_t	other = v[next[to]];

				v[next[to]++] = value;
				value = other;
			}
			v[next[part]++] = value;
		}
	if (shift == 0)
		return;
	for (i = 0, part = 0; part < 256; i = end[part++])
		if (end[part] - i > 1)
			radix_sort(env, v + i, end[part] - i, shift - 8);
}

uint64_t
bf_sort_hashes(const BfEnv *env, uint64_t *hashes, uint64_t n)
{
	uint64_t	kept = 0;
	uint64_t	i;

	for (i = 0; i < n; i++)
		hashes[i] = bf_order(hashes[i]);
	radix_sort(env, hashes, n, 56);
	for (i = 0; i < n; i++)
		if (kept == 0 || hashes[i] != hashes[kept - 1])
			hashes[kept++] = hashes[i];
	for (i = 0; i < kept; i++)
		hashes[i] *= BF_ORDER_INVERSE;
	return kept;
}
