/*-------------------------------------------------------------------------
 *
 * keys.c
 *	  What the keys of a build side were: the smallest and the largest, and all while they are few.
 *
 * A filter says of a key whether it may be there.  What lies between two keys, or in a partition,
 * or which keys to look up, only the keys themselves say.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/date.h"
#include "utils/timestamp.h"

#include "join/filter/keys.h"

typedef struct JoinKeysEntry
{
	int64		value;
	char		status;
} JoinKeysEntry;

/* the last multiplication of MurmurHash3's 64-bit finaliser: numbers in a row lie apart */
#define SH_PREFIX		joinkeys
#define SH_ELEMENT_TYPE	JoinKeysEntry
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
	if (kind == JOIN_HASH_NUMBER)
		return true;
	return kind == JOIN_HASH_BYTES &&
		   (type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID);
}

void
bloomfam_join_keys_begin(JoinKeys *keys, Oid type)
{
	memset(keys, 0, sizeof(*keys));
	keys->phase = JOIN_KEYS_COLLECTING;
	keys->type = type;
	keys->smallest = PG_INT64_MAX;
	keys->largest = PG_INT64_MIN;
}

/* From here on the list of keys is not kept. */
static void
forget_distinct(JoinKeys *keys, JoinKeysPhase phase)
{
	if (keys->distinct != NULL)
		joinkeys_destroy(keys->distinct);
	keys->distinct = NULL;
	keys->phase = phase;
}

void
bloomfam_join_keys_add_new(JoinKeys *keys, int64 value, MemoryContext context)
{
	bool		found;

	keys->smallest = Min(keys->smallest, value);
	keys->largest = Max(keys->largest, value);
	keys->last = value;
	if (keys->phase != JOIN_KEYS_COLLECTING)
		return;
	if (keys->distinct == NULL)
		keys->distinct = joinkeys_create(context, FIRST_ROOM, NULL);
	joinkeys_insert(keys->distinct, value, &found);
	if (keys->distinct->members > JOIN_KEYS_FEW)
		forget_distinct(keys, JOIN_KEYS_BOUNDED);
}

static int
compare_numbers(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

void
bloomfam_join_keys_finish(JoinKeys *keys, MemoryContext context)
{
	joinkeys_iterator iterator;
	JoinKeysEntry *entry;

	if (keys->phase != JOIN_KEYS_COLLECTING)
		return;
	keys->phase = JOIN_KEYS_LISTED;
	if (keys->distinct == NULL)
		return;
	keys->values = MemoryContextAlloc(context, keys->distinct->members * sizeof(int64));
	joinkeys_start_iterate(keys->distinct, &iterator);
	while ((entry = joinkeys_iterate(keys->distinct, &iterator)) != NULL)
		keys->values[keys->nvalues++] = entry->value;
	joinkeys_destroy(keys->distinct);
	keys->distinct = NULL;
	qsort(keys->values, keys->nvalues, sizeof(int64), compare_numbers);
}

Datum
bloomfam_join_keys_datum(const JoinKeys *keys, int64 value)
{
	switch (keys->type)
	{
		case INT2OID:
			return Int16GetDatum((int16) value);
		case INT4OID:
		case DATEOID:
			return Int32GetDatum((int32) value);
		default:
			return Int64GetDatum(value);
	}
}

int64
bloomfam_join_keys_number(Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
		case DATEOID:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* A place between two keys, in the order of values, and how far they are apart. */
typedef struct Gap
{
	uint64		width;
	int			after;
} Gap;

static int
compare_widths(const void *a, const void *b)
{
	uint64		x = ((const Gap *) a)->width;
	uint64		y = ((const Gap *) b)->width;

	return (x < y) - (x > y);
}

static int
compare_targets(const void *a, const void *b)
{
	return ((const Gap *) a)->after - ((const Gap *) b)->after;
}

int
bloomfam_join_keys_ranges(const JoinKeys *keys, JoinKeysRange *ranges, int most)
{
	Gap		   *gaps;
	int			ngaps = 0;
	int			i;

	if (keys->smallest > keys->largest)
		return 0;
	ranges[0] = (JoinKeysRange) {keys->smallest, keys->largest};
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
	ngaps = Min(ngaps, most - 1);
	qsort(gaps, ngaps, sizeof(Gap), compare_targets);
	for (i = 0; i < ngaps; i++)
	{
		ranges[i].largest = keys->values[gaps[i].after];
		ranges[i + 1] = (JoinKeysRange) {keys->values[gaps[i].after + 1], keys->largest};
	}
	pfree(gaps);
	return ngaps + 1;
}

/* ---- as bytes: a head for each column, then the values of all ---- */

typedef struct WrittenKeys
{
	JoinKeysPhase phase;
	Oid			type;
	int64		smallest;
	int64		largest;
	int64		nvalues;
} WrittenKeys;

Size
bloomfam_join_keys_size(const JoinKeys *keys, int ncolumns)
{
	Size		size = ncolumns * sizeof(WrittenKeys);
	int			i;

	for (i = 0; i < ncolumns; i++)
		size += keys[i].nvalues * sizeof(int64);
	return size;
}

void
bloomfam_join_keys_write(const JoinKeys *keys, int ncolumns, void *bytes)
{
	WrittenKeys *written = bytes;
	int64	   *values = (int64 *) (written + ncolumns);
	int			i;

	for (i = 0; i < ncolumns; i++)
	{
		written[i] = (WrittenKeys) {
			.phase = keys[i].phase, .type = keys[i].type, .smallest = keys[i].smallest,
			.largest = keys[i].largest, .nvalues = keys[i].nvalues
		};
		if (keys[i].nvalues > 0)
			memcpy(values, keys[i].values, keys[i].nvalues * sizeof(int64));
		values += keys[i].nvalues;
	}
}

void
bloomfam_join_keys_merge(JoinKeys *keys, int ncolumns, const void *bytes, MemoryContext context)
{
	const WrittenKeys *written = bytes;
	const int64 *values = (const int64 *) (written + ncolumns);
	int			i;
	int			v;

	for (i = 0; i < ncolumns; i++)
	{
		if (keys[i].phase != JOIN_KEYS_UNKNOWN)
			keys[i].type = written[i].type;
		switch (written[i].phase)
		{
			case JOIN_KEYS_UNKNOWN:
			case JOIN_KEYS_COLLECTING:
				forget_distinct(&keys[i], JOIN_KEYS_UNKNOWN);
				break;
			case JOIN_KEYS_BOUNDED:
				if (keys[i].phase == JOIN_KEYS_COLLECTING)
					forget_distinct(&keys[i], JOIN_KEYS_BOUNDED);
				keys[i].smallest = Min(keys[i].smallest, written[i].smallest);
				keys[i].largest = Max(keys[i].largest, written[i].largest);
				break;
			case JOIN_KEYS_LISTED:
				for (v = 0; v < written[i].nvalues; v++)
					bloomfam_join_keys_add(&keys[i], values[v], context);
				break;
		}
		values += written[i].nvalues;
	}
}
