/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sort.c
 *	  Sorts entries into the order that runs need.
 *
 * Hashes are spread evenly, so most of the work is done by counting: entries are distributed to
 * cells of equal ranges of hashes.  Each cell gets few entries, and is then sorted by itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "maplet/sort.h"

/*
 * The binary logarithm of the maximum number of cells that hashes are sorted into.  More cells
 * would be slower: caches would not have room for all the places written to.
 */
#define MAX_CELL_BITS	16

#define ST_SORT sort_entries
#define ST_ELEMENT_TYPE BfRunEntry
#define ST_COMPARE(a, b) \
	((a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash ? 1 : \
	 (a)->place < (b)->place ? -1 : (a)->place > (b)->place)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

BfRunEntry *
bloomfam_maplet_sort(BfRunEntry *entries, uint64 n)
{
	BfRunEntry *sorted;
	uint64	   *ends;
	uint64		least = PG_UINT64_MAX;
	uint64		most = 0;
	uint64		begin = 0;
	uint64		ncells;
	int			cell_bits = 0;
	int			shift = 0;
	uint64		i;

	while (cell_bits < MAX_CELL_BITS && UINT64CONST(2) << cell_bits <= n)
		cell_bits++;
	for (i = 0; i < n; i++)
	{
		least = Min(least, entries[i].hash);
		most = Max(most, entries[i].hash);
	}
	while (n > 0 && (most - least) >> shift >> cell_bits > 0)
		shift++;

	/*
	 * ends[] has for each cell first the cell's number of entries, then the index at which its
	 * entries begin, and at last the one at which they end.
	 */
	ncells = UINT64CONST(1) << cell_bits;
	ends = (uint64 *) palloc0(ncells * sizeof(uint64));
	for (i = 0; i < n; i++)
		ends[(entries[i].hash - least) >> shift]++;
	for (i = 0; i < ncells; i++)
	{
		uint64		count = ends[i];

		ends[i] = begin;
		begin += count;
	}
	sorted = (BfRunEntry *) palloc_extended(Max(n, 1) * sizeof(BfRunEntry), MCXT_ALLOC_HUGE);
	for (i = 0; i < n; i++)
		sorted[ends[(entries[i].hash - least) >> shift]++] = entries[i];
	pfree(entries);

	begin = 0;
	for (i = 0; i < ncells; i++)
	{
		if (ends[i] - begin > 1)
			sort_entries(&sorted[begin], ends[i] - begin);
		begin = ends[i];
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	pfree(ends);
#ifdef USE_ASSERT_CHECKING
	for (i = 1; i < n; i++)
		Assert(sorted[i - 1].hash <= sorted[i].hash);
#endif
	return sorted;
}
