/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * keys.c
 *	  Collects the numbers of a build side's keys: the smallest, the largest, and a list if they are
 *	  few.
 *
 * A filter can tell whether one given key may be on the build side.  The numbers themselves are
 * needed to tell whether any key lies in a partition or in a range of blocks, and to search an
 * index for the keys.  The bounds also give a bitmap its range, and they are the range filter if
 * there are too many keys for another form.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/bitmapset.h"

#include "join/filter/keys.h"

typedef struct Entry
{
	int64		value;
	char		status;
} Entry;

/*
 * The hash function is the last multiplication of MurmurHash3's 64-bit finaliser, which spreads
 * consecutive numbers.
 */
#define SH_PREFIX		joinkeys
#define SH_ELEMENT_TYPE	Entry
#define SH_KEY_TYPE		int64
#define SH_KEY			value
#define SH_HASH_KEY(table, key)	\
	((uint32) (((uint64) (key) * UINT64CONST(0xc4ceb9fe1a85ec53)) >> 32))
#define SH_EQUAL(table, a, b)	((a) == (b))
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define FIRST_ROOM	64

bool
bloomfam_join_keys_can_keep(JoinHashKind kind, Oid type)
{
	/*
	 * Where a Datum has less than 64 bits, the server passes 64-bit types by reference, and so a
	 * JoinKey does not treat their values as integers.
	 */
	if (SIZEOF_DATUM < sizeof(int64) && type != INT2OID && type != INT4OID && type != DATEOID)
		return false;
	if (kind == JOIN_HASH_NUMBER)
		return true;
	return kind == JOIN_HASH_BYTES &&
		   (type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID);
}

void
bloomfam_join_keys_begin(JoinKeys *keys, JoinKeysPhase phase)
{
	Assert(phase != JOIN_KEYS_LISTED);
	keys->phase = phase;
	keys->bounds = (JoinKeysRange) {PG_INT64_MAX, PG_INT64_MIN};
	keys->distinct = NULL;
	keys->values = NULL;
	keys->nvalues = 0;
}

/*
 * Frees the list of a column that is not finished, and sets the column's phase to BOUNDED or
 * UNKNOWN.
 */
static void
stop_listing(JoinKeys *keys, JoinKeysPhase phase)
{
	Assert(keys->phase != JOIN_KEYS_LISTED && keys->values == NULL);
	if (keys->distinct != NULL)
		joinkeys_destroy(keys->distinct);
	keys->distinct = NULL;
	keys->phase = phase;
}

void
bloomfam_join_keys_list(JoinKeys *keys, int64 number, MemoryContext context)
{
	bool		found;

	Assert(keys->phase == JOIN_KEYS_LISTING);
	if (keys->distinct == NULL)
		keys->distinct = joinkeys_create(context, FIRST_ROOM, NULL);
	keys->last = number;
	joinkeys_insert(keys->distinct, number, &found);
	if (keys->distinct->members > JOIN_KEYS_FEW)
		stop_listing(keys, JOIN_KEYS_BOUNDED);
}

static int
compare_numbers(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/* Copies the list of a LISTING column, which must not be empty, to values[] in ascending order. */
static void
sort_distinct(JoinKeys *keys, MemoryContext context)
{
	joinkeys_iterator iterator;
	Entry *entry;

	keys->values = MemoryContextAlloc(context, keys->distinct->members * sizeof(int64));
	joinkeys_start_iterate(keys->distinct, &iterator);
	while ((entry = joinkeys_iterate(keys->distinct, &iterator)) != NULL)
		keys->values[keys->nvalues++] = entry->value;
	joinkeys_destroy(keys->distinct);
	keys->distinct = NULL;
	qsort(keys->values, keys->nvalues, sizeof(int64), compare_numbers);
	Assert(keys->values[0] == keys->bounds.smallest);
	Assert(keys->values[keys->nvalues - 1] == keys->bounds.largest);
}

void
bloomfam_join_keys_finish(JoinKeys *keys, MemoryContext context)
{
	if (keys->phase != JOIN_KEYS_LISTING)
		return;
	if (keys->distinct != NULL)
		sort_distinct(keys, context);
	keys->phase = JOIN_KEYS_LISTED;
	Assert((keys->nvalues == 0) == (keys->bounds.smallest > keys->bounds.largest));
}

/*
 * The gap between two neighbouring keys in values[], the sorted list of a column's distinct keys.
 */
typedef struct Gap
{
	uint64		width;
	int			after;			/* The index in values[] of the gap's smaller neighbour. */
} Gap;

static int
compare_widths(const void *a, const void *b)
{
	uint64		x = ((const Gap *) a)->width;
	uint64		y = ((const Gap *) b)->width;

	return (x < y) - (x > y);
}

int
bloomfam_join_keys_ranges(const JoinKeys *keys, JoinKeysRange *ranges, int most)
{
	Gap		   *gaps;
	int			ngaps = 0;
	/*
	 * The widest gaps between neighbouring keys in values[], which the ranges leave out: for each
	 * gap, the index of its smaller neighbour.
	 */
	Bitmapset  *chosen = NULL;
	int			n = 0;
	int			i;

	Assert(bloomfam_join_keys_are_known(keys) && most >= 1);
	if (keys->bounds.smallest > keys->bounds.largest)
		return 0;
	ranges[0] = keys->bounds;
	if (keys->phase != JOIN_KEYS_LISTED || most == 1)
		return 1;
	gaps = palloc(keys->nvalues * sizeof(Gap));
	for (i = 0; i + 1 < keys->nvalues; i++)
	{
		uint64		width = (uint64) keys->values[i + 1] - (uint64) keys->values[i];

		if (width > 1)
			gaps[ngaps++] = (Gap) {width, i};
	}
	qsort(gaps, ngaps, sizeof(Gap), compare_widths);
	for (i = 0; i < Min(ngaps, most - 1); i++)
		chosen = bms_add_member(chosen, gaps[i].after);
	for (i = -1; (i = bms_next_member(chosen, i)) >= 0; n++)
	{
		ranges[n].largest = keys->values[i];
		ranges[n + 1] = (JoinKeysRange) {keys->values[i + 1], keys->bounds.largest};
		Assert(ranges[n].smallest <= ranges[n].largest);
		Assert(ranges[n].largest < ranges[n + 1].smallest);
	}
	pfree(gaps);
	return n + 1;
}

void
bloomfam_join_keys_merge(JoinKeys *keys, const JoinKeys *other, const int64 *values,
						 MemoryContext context)
{
	int			i;

	if (keys->phase == JOIN_KEYS_UNKNOWN || other->phase == JOIN_KEYS_UNKNOWN)
	{
		stop_listing(keys, JOIN_KEYS_UNKNOWN);
		return;
	}
	keys->type = other->type;
	keys->typlen = other->typlen;
	for (i = 0; i < other->nvalues; i++)
		bloomfam_join_keys_add(keys, values[i], context);
	if (other->phase == JOIN_KEYS_BOUNDED)
		stop_listing(keys, JOIN_KEYS_BOUNDED);
	keys->bounds.smallest = Min(keys->bounds.smallest, other->bounds.smallest);
	keys->bounds.largest = Max(keys->bounds.largest, other->bounds.largest);
}
