/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_list.c
 *	  Collects the keys of a build side to be sent as plain values: a list if they are few, and
 *	  their bounds.
 *
 * Keys are distinguished by their bytes: equal keys with different bytes, such as 1.0 and 1.00, are
 * listed separately.  A list that becomes too long is dropped, and only the bounds are collected
 * from then on.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "join/base/gucs.h"
#include "join/fdw/key_list.h"
#include "join/filter/hash.h"
#include "pg/compat.h"

typedef struct KeyListEntry
{
	Datum		key;
	uint32		hash;
	char		status;
} KeyListEntry;

/* Tells whether two keys have the same bytes.  The keys must be detoasted. */
static inline bool
keys_are_same(const JoinKeyList *list, Datum a, Datum b)
{
	return datumIsEqual(a, b, list->typbyval, list->typlen);
}

static inline uint32
hash_key(const JoinKeyList *list, Datum key)
{
	if (list->typbyval)
		return murmurhash32((uint32) (key ^ (uint64) key >> 32));
	if (list->typlen == -1)
		return hash_bytes((const unsigned char *) DatumGetPointer(key),
						  VARSIZE(DatumGetPointer(key)));
	return hash_bytes((const unsigned char *) DatumGetPointer(key), list->typlen);
}

#define SH_PREFIX		keylist
#define SH_ELEMENT_TYPE	KeyListEntry
#define SH_KEY_TYPE		Datum
#define SH_KEY			key
#define SH_HASH_KEY(table, key)	hash_key((table)->private_data, key)
#define SH_EQUAL(table, a, b)	keys_are_same((table)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry)	((entry)->hash)
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define FIRST_ROOM	64

JoinKeyList *
bloomfam_join_key_list_make(MemoryContext parent, Oid type, bool bounds,
							void (*unlisted) (void *arg, Datum key), void *arg)
{
	JoinKeyList *list = MemoryContextAllocZero(parent, sizeof(JoinKeyList));

	list->type = type;
	get_typlenbyval(type, &list->typlen, &list->typbyval);
	Assert(list->typbyval || list->typlen == -1 || list->typlen > 0);
	list->unlisted = unlisted;
	list->arg = arg;
	list->is_text = type == TEXTOID || type == VARCHAROID;
	if (bounds)
		fmgr_info_copy(&list->compare,
					   &lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo, parent);
	list->context = AllocSetContextCreate(parent, "bloomfam foreign keys", ALLOCSET_SMALL_SIZES);
	bloomfam_join_key_list_reset(list);
	return list;
}

void
bloomfam_join_key_list_reset(JoinKeyList *list)
{
	MemoryContextReset(list->context);
	list->reason = JOIN_NO_REASON;
	list->distinct = keylist_create(list->context, FIRST_ROOM, list);
	list->any = false;
	list->bytes = 0;
}

/* Calls a function with each key of a list that was not dropped. */
static void
for_each_key(const JoinKeyList *list, void (*action) (void *arg, Datum key), void *arg)
{
	keylist_iterator iterator;
	KeyListEntry *entry;

	Assert(list->reason == JOIN_NO_REASON);
	keylist_start_iterate(list->distinct, &iterator);
	while ((entry = keylist_iterate(list->distinct, &iterator)) != NULL)
		action(arg, entry->key);
}

/*
 * Drops the list of keys, after handing each of its keys to the callback "unlisted", for a filter.
 */
static void
stop_listing(JoinKeyList *list, JoinReason reason)
{
	Assert(reason != JOIN_NO_REASON);
	if (list->unlisted != NULL)
		for_each_key(list, list->unlisted, list->arg);
	keylist_destroy(list->distinct);
	list->distinct = NULL;
	list->reason = reason;
}

static bool
is_ascii(Datum key)
{
	const char *bytes = VARDATA_ANY(DatumGetPointer(key));
	Size		n = VARSIZE_ANY_EXHDR(DatumGetPointer(key));
	Size		i;

	for (i = 0; i < n; i++)
		if (IS_HIGHBIT_SET(bytes[i]))
			return false;
	return true;
}

/*
 * Returns how many bytes are sent for a key, without quotes: about the key's size, except for a
 * numeric, which may have more zeros than bytes.
 */
static Size
sent_size(const JoinKeyList *list, Datum key)
{
	char	   *text;
	Size		size;

	if (list->type != NUMERICOID)
		return datumGetSize(key, list->typbyval, list->typlen);
	text = DatumGetCString(DirectFunctionCall1(numeric_out, key));
	size = strlen(text);
	pfree(text);
	return size;
}

static Datum
copy_key(const JoinKeyList *list, Datum key)
{
	MemoryContext old = MemoryContextSwitchTo(list->context);
	Datum		copy = datumCopy(key, list->typbyval, list->typlen);

	MemoryContextSwitchTo(old);
	return copy;
}

/*
 * Adds a key to the list of keys, which must not have been dropped.  Drops the list if it becomes
 * too long, or if the key cannot be sent as a plain value.
 */
static void
list_key(JoinKeyList *list, Datum key)
{
	bool		found;

	if (keylist_lookup(list->distinct, key) != NULL)
		return;
	list->bytes += sent_size(list, key);
	if (list->is_text && !is_ascii(key))
		stop_listing(list, JOIN_KEY_LIST_NOT_ASCII);
	else if (list->distinct->members >= bloomfam_join_foreign_keys)
		stop_listing(list, JOIN_KEY_LIST_TOO_MANY);
	else if (list->bytes > bloomfam_join_foreign_max_bytes())
		stop_listing(list, JOIN_KEY_LIST_TOO_LARGE);
	else
		keylist_insert(list->distinct, copy_key(list, key), &found);
}

static int
compare_keys(JoinKeyList *list, Datum a, Datum b)
{
	return DatumGetInt32(FunctionCall2Coll(&list->compare, InvalidOid, a, b));
}

/* Sets a bound to a copy of a key, and frees the previous bound if there was one. */
static void
set_bound(JoinKeyList *list, Datum *bound, Datum key, bool had_one)
{
	if (had_one && !list->typbyval)
		pfree(DatumGetPointer(*bound));
	*bound = copy_key(list, key);
}

void
bloomfam_join_key_list_add(JoinKeyList *list, Datum key)
{
	bool		had_one = list->any;
	bool		has_bounds = OidIsValid(list->compare.fn_oid);

	list->any = true;
	if (list->reason != JOIN_NO_REASON && !has_bounds)
		return;
	if (list->typlen == -1)
		key = PointerGetDatum(PG_DETOAST_DATUM(key));
	if (list->reason == JOIN_NO_REASON)
		list_key(list, key);
	if (!has_bounds)
		return;
	if (!had_one || compare_keys(list, key, list->least) < 0)
		set_bound(list, &list->least, key, had_one);
	if (!had_one || compare_keys(list, key, list->greatest) > 0)
		set_bound(list, &list->greatest, key, had_one);
}

int
bloomfam_join_key_list_length(const JoinKeyList *list)
{
	Assert(list->reason == JOIN_NO_REASON);
	return (int) list->distinct->members;
}

/* ---- keys as values of the remote type ---- */

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/*
 * Sets *least and *greatest to the smallest and the largest number that an integer type can
 * represent.
 */
static void
range_of(Oid type, int64 *least, int64 *greatest)
{
	*least = type == INT2OID ? PG_INT16_MIN : type == INT4OID ? PG_INT32_MIN : PG_INT64_MIN;
	*greatest = type == INT2OID ? PG_INT16_MAX : type == INT4OID ? PG_INT32_MAX : PG_INT64_MAX;
}

/* The state of making an array of the listed keys. */
typedef struct ArrayOfKeys
{
	const JoinKeyList *list;
	Oid			type;
	int16		typlen;
	ArrayBuildState *state;
} ArrayOfKeys;

static void
add_to_array(void *arg, Datum key)
{
	ArrayOfKeys *array = arg;

	if (is_integer(array->type))
	{
		int64		number = bloomfam_join_number(array->list->typlen, key);
		int64		least;
		int64		greatest;

		range_of(array->type, &least, &greatest);
		if (number < least || number > greatest)
			return;
		key = bloomfam_join_number_datum(array->typlen, number);
	}
	array->state =
		accumArrayResult(array->state, key, false, array->type, CurrentMemoryContext);
}

Datum
bloomfam_join_key_list_array(const JoinKeyList *list, Oid remote)
{
	ArrayOfKeys array = {.list = list, .type = remote, .typlen = get_typlen(remote)};

	Assert(is_integer(list->type) == is_integer(remote));
	array.state = initArrayResult(remote, CurrentMemoryContext, false);
	for_each_key(list, add_to_array, &array);
	return makeArrayResult(array.state, CurrentMemoryContext);
}

bool
bloomfam_join_key_list_bounds(const JoinKeyList *list, Oid remote, Datum *least, Datum *greatest)
{
	Assert(OidIsValid(list->compare.fn_oid) && is_integer(list->type) == is_integer(remote));
	if (!list->any)
		return false;
	if (is_integer(remote))
	{
		int16		length = get_typlen(remote);
		int64		from = bloomfam_join_number(list->typlen, list->least);
		int64		to = bloomfam_join_number(list->typlen, list->greatest);
		int64		first;
		int64		last;

		range_of(remote, &first, &last);
		if (from > last || to < first)
		{
			from = last;
			to = first;
		}
		*least = bloomfam_join_number_datum(length, Max(from, first));
		*greatest = bloomfam_join_number_datum(length, Min(to, last));
		return true;
	}
	if (sent_size(list, list->least) > bloomfam_join_foreign_max_bytes() ||
		sent_size(list, list->greatest) > bloomfam_join_foreign_max_bytes())
		return false;
	*least = datumCopy(list->least, list->typbyval, list->typlen);
	*greatest = datumCopy(list->greatest, list->typbyval, list->typlen);
	return true;
}
