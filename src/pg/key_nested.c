/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_nested.c
 *	  The hashers of keys that consist of other values: arrays, ranges, multiranges and rows.
 *
 * The canonical bytes consist of items, as bf_key_put_item() writes them: 1 and the value's hash,
 * or for a null 0 and 8 zeros.  The family's name has the families of the parts in it.
 *
 *	x[]				number of dimensions, 4 bytes; for each its length and its lower bound, 4
 *					bytes each; the elements' items
 *	oidvector		as oid[] with all lower bounds 0, since its = does not look at them
 *	range(x)		1 byte of flags (1 empty, 2 and 4 without lower and upper bound, 8 and 16 with
 *					inclusive lower and upper bound), then the bounds' hashes, 8 bytes each, 0 for
 *					a bound that is not there
 *	multirange(x)	number of ranges, 4 bytes; the ranges' bytes
 *	row(x,y)		the items of the columns
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_range.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/arrayaccess.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/syscache.h"

#include "keys/key_hash.h"
#include "pg/key_bytes.h"
#include "pg/key_family.h"
#include "pg/key_nested.h"

/* The number of canonical bytes of one range. */
#define RANGE_SIZE			(1 + 2 * sizeof(uint64))

/* A work buffer of more bytes is not kept from key to key. */
#define BUFFER_KEEP_SIZE	((Size) 1024 * 1024)

/* A work buffer that is reused from key to key. */
typedef struct WorkBuffer
{
	MemoryContext context;
	uint8	   *data;
	Size		size;
} WorkBuffer;

typedef struct ArrayHasher
{
	BloomfamHasher base;
	BloomfamHasher *element;
	int16		typlen;			/* The typlen of the elements' type. */
	bool		typbyval;
	char		typalign;

	/* True if the array type's operator = ignores the arrays' lower bounds. */
	bool		ignore_bounds;

	/* The id of the elements' key family after which the array's key family was named last. */
	uint64		named_for;
	MemoryContext context;
	WorkBuffer	buffer;
} ArrayHasher;

/* The hasher of a range or a multirange. */
typedef struct RangeHasher
{
	BloomfamHasher base;
	BloomfamHasher *bound;
	TypeCacheEntry *range;
	WorkBuffer	buffer;			/* The work buffer for a multirange's bytes. */
} RangeHasher;

/* The hasher of rows of one type. */
typedef struct RowHasher
{
	BloomfamHasher base;
	Oid			type;

	/* The typmod, which tells anonymous row types apart; -1 for other row types. */
	int32		typmod;
	TupleDesc	desc;
	BloomfamHasher **columns;	/* The columns' hashers; NULL for a dropped column. */

	/* For each column, the id of the key family after which the row's key family was named last. */
	uint64	   *named_for;
	MemoryContext context;
	Datum	   *values;
	bool	   *nulls;
	uint8	   *bytes;
} RowHasher;

/* ---- work buffers and items ---- */

static void
buffer_init(WorkBuffer *buffer)
{
	buffer->context = CurrentMemoryContext;
	buffer->data = NULL;
	buffer->size = 0;
}

/* Makes the work buffer large enough for this number of bytes.  Its contents are lost. */
static uint8 *
buffer_reserve(WorkBuffer *buffer, Size size)
{
	if (size > buffer->size)
	{
		uint8	   *old = buffer->data;

		size = Max(size, 2 * buffer->size);
		buffer->data = NULL;
		buffer->size = 0;
		if (old != NULL)
			pfree(old);
		buffer->data = (uint8 *) MemoryContextAllocHuge(buffer->context, size);
		buffer->size = size;
	}
	return buffer->data;
}

/* Frees the buffer if it is uncommonly large. */
static void
buffer_release(WorkBuffer *buffer)
{
	if (buffer->size > BUFFER_KEEP_SIZE)
	{
		pfree(buffer->data);
		buffer->data = NULL;
		buffer->size = 0;
	}
}

/*
 * Writes the item (flag and hash, as in keys/key_hash.h) of a part of a composite key, and returns
 * where the next item goes.
 */
static inline uint8 *
put_item(uint8 *bytes, BloomfamHasher *hasher, Datum value, bool isnull)
{
	bf_key_put_item(bytes, isnull, isnull ? 0 : hasher->hash(hasher, value));
	return bytes + BF_KEY_ITEM_SIZE;
}

/* ---- parts whose family varies ---- */

/*
 * Raises the error for a NULL part whose family varies: nothing says what type it has, and so which
 * keys may equal this one.
 */
static void unknown_part_error(void) pg_attribute_noreturn();

static void
unknown_part_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDETERMINATE_DATATYPE),
			 errmsg("could not determine the type of a part of the key"),
			 errdetail("An anonymous row or a bloomkey within a key has a type only where it is "
					   "not null."),
			 errhint("Cast anonymous rows to a named composite type.")));
}

/*
 * Notes the family of an array's next element that is not NULL. *family_id is 0 before the first
 * one.  Raises an error if the family differs from that of the elements before.
 */
static inline void
note_element(uint64 *family_id, const BloomfamHasher *element)
{
	if (*family_id != 0 && *family_id != element->family_id)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot hash an array whose elements are of different types"),
				 errhint("Cast anonymous rows to a named composite type.")));
	*family_id = element->family_id;
}

/* ---- hashers of arrays ---- */

/* Names the array's family for its elements' family. */
static void
name_array(ArrayHasher *self)
{
	char	   *name = psprintf("%s[]", self->element->family);

	bloomfam_family_change(&self->base, self->context, name);
	self->named_for = self->element->family_id;
	pfree(name);
}

static uint64
key_array(BloomfamHasher *hasher, Datum key)
{
	ArrayHasher *self = (ArrayHasher *) hasher;
	AnyArrayType *array = DatumGetAnyArrayP(key);
	int			ndim = AARR_NDIM(array);
	int		   *dims = AARR_DIMS(array);
	int		   *bounds = AARR_LBOUND(array);
	int			nitems = ArrayGetNItems(ndim, dims);
	Size		size = 4 + (Size) ndim * 8 + (Size) nitems * BF_KEY_ITEM_SIZE;
	uint8	   *bytes = buffer_reserve(&self->buffer, size);
	uint8	   *p = bytes;
	array_iter	iter;
	uint64		family_id = 0;
	uint64		hash;
	int			i;

	bf_key_put_le(p, (uint32) ndim, 4);
	p += 4;
	for (i = 0; i < ndim; i++)
	{
		bf_key_put_le(p, (uint32) dims[i], 4);
		bf_key_put_le(p + 4, self->ignore_bounds ? 0 : (uint32) bounds[i], 4);
		p += 8;
	}

	bloomfam_array_iter_setup(&iter, array, self->typlen, self->typbyval, self->typalign);
	for (i = 0; i < nitems; i++)
	{
		bool		isnull;
		Datum		value =
			bloomfam_array_iter_next(&iter, &isnull, i, self->typlen, self->typbyval,
									 self->typalign);

		CHECK_FOR_INTERRUPTS();
		p = put_item(p, self->element, value, isnull);
		if (self->base.varies && !isnull)
			note_element(&family_id, self->element);
	}
	if (self->base.varies)
	{
		if (family_id == 0)
			unknown_part_error();
		if (family_id != self->named_for)
			name_array(self);
	}

	hash = bf_hash_bytes(bytes, size);
	buffer_release(&self->buffer);
	if (!VARATT_IS_EXPANDED_HEADER(array))
		free_copy(array, key);
	return hash;
}

BloomfamHasher *
bloomfam_array_hasher(Oid type, Oid element_type, BloomfamHasher *element)
{
	ArrayHasher *self = (ArrayHasher *) palloc0(sizeof(ArrayHasher));

	self->base.hash = key_array;
	self->element = element;
	get_typlenbyvalalign(element_type, &self->typlen, &self->typbyval, &self->typalign);
	self->base.varies = element->varies;
	self->context = CurrentMemoryContext;
	buffer_init(&self->buffer);

	/* int2vector has no = of its own, and is compared by that of arrays. */
	self->ignore_bounds = type == OIDVECTOROID;
	if (self->ignore_bounds)
		bloomfam_family_set(&self->base, "oidvector");
	else if (!self->base.varies)
		name_array(self);
	return &self->base;
}

/* ---- hashers of ranges and multiranges ---- */

static void
put_range(uint8 *bytes, BloomfamHasher *bound, const RangeBound *lower, const RangeBound *upper,
		  bool empty)
{
	memset(bytes, 0, RANGE_SIZE);
	if (empty)
	{
		bytes[0] = 1;
		return;
	}

	/* Leave out whether an infinite bound of a range is inclusive, as that has no meaning. */
	if (lower->infinite)
		bytes[0] |= 2;
	else
	{
		bytes[0] |= lower->inclusive ? 8 : 0;
		bf_key_put_le(bytes + 1, bound->hash(bound, lower->val), sizeof(uint64));
	}
	if (upper->infinite)
		bytes[0] |= 4;
	else
	{
		bytes[0] |= upper->inclusive ? 16 : 0;
		bf_key_put_le(bytes + 1 + sizeof(uint64), bound->hash(bound, upper->val), sizeof(uint64));
	}
}

static uint64
key_range(BloomfamHasher *hasher, Datum key)
{
	RangeHasher *self = (RangeHasher *) hasher;
	RangeType  *value = DatumGetRangeTypeP(key);
	RangeBound	lower;
	RangeBound	upper;
	bool		empty;
	uint8		bytes[RANGE_SIZE];

	range_deserialize(self->range, value, &lower, &upper, &empty);
	put_range(bytes, self->bound, &lower, &upper, empty);
	free_copy(value, key);
	return bf_hash_bytes(bytes, sizeof(bytes));
}

static uint64
key_multirange(BloomfamHasher *hasher, Datum key)
{
	RangeHasher *self = (RangeHasher *) hasher;
	MultirangeType *value = DatumGetMultirangeTypeP(key);
	uint32		count = value->rangeCount;
	Size		size = 4 + (Size) count * RANGE_SIZE;
	uint8	   *bytes = buffer_reserve(&self->buffer, size);
	uint8	   *p = bytes;
	uint64		hash;
	uint32		i;

	bf_key_put_le(p, count, 4);
	p += 4;
	for (i = 0; i < count; i++)
	{
		RangeBound	lower;
		RangeBound	upper;

		multirange_get_bounds(self->range, value, i, &lower, &upper);
		put_range(p, self->bound, &lower, &upper, false);
		p += RANGE_SIZE;
	}

	hash = bf_hash_bytes(bytes, size);
	buffer_release(&self->buffer);
	free_copy(value, key);
	return hash;
}

bool
bloomfam_range_has_default_equality(const TypeCacheEntry *range)
{
	HeapTuple	tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(range->type_id));
	Oid			opclass;
	Oid			opfamily;
	Oid			opcintype;
	Oid			equality;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for range type %u", range->type_id);
	opclass = ((Form_pg_range) GETSTRUCT(tuple))->rngsubopc;
	ReleaseSysCache(tuple);

	if (!get_opclass_opfamily_and_input_type(opclass, &opfamily, &opcintype))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	equality = get_opfamily_member(opfamily, opcintype, opcintype, BTEqualStrategyNumber);
	return OidIsValid(equality) &&
		   equality == lookup_type_cache(range->rngelemtype->type_id, TYPECACHE_EQ_OPR)->eq_opr;
}

/*
 * Raises an error if values that the bounds' hasher tells apart might be equal to the range.
 */
static void
check_range_equality(const TypeCacheEntry *range)
{
	if (!bloomfam_range_has_default_equality(range))
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot hash keys of type %s", format_type_be(range->type_id)),
			 errdetail("The operator class of the range type has another equality than its "
					   "subtype %s by default.",
					   format_type_be(range->rngelemtype->type_id)),
			 errhint("Use a range type with the subtype's default operator class.")));
}

static BloomfamHasher *
make_ranges(const char *family, uint64 (*hash) (BloomfamHasher *hasher, Datum key),
			TypeCacheEntry *range, BloomfamHasher *bound)
{
	RangeHasher *self = (RangeHasher *) palloc0(sizeof(RangeHasher));
	char	   *name;

	check_range_equality(range);
	if (bound->varies)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot hash keys of type %s", format_type_be(range->type_id)),
				 errdetail("An empty range of %s does not say what the bounds are hashes of.",
						   format_type_be(range->rngelemtype->type_id))));
	self->base.hash = hash;
	self->range = range;
	self->bound = bound;
	name = psprintf("%s(%s)", family, bound->family);
	buffer_init(&self->buffer);
	bloomfam_family_set(&self->base, name);
	pfree(name);
	return &self->base;
}

BloomfamHasher *
bloomfam_range_hasher(TypeCacheEntry *range, BloomfamHasher *bound)
{
	return make_ranges("range", key_range, range, bound);
}

BloomfamHasher *
bloomfam_multirange_hasher(TypeCacheEntry *range, BloomfamHasher *bound)
{
	return make_ranges("multirange", key_multirange, range, bound);
}

/* ---- hashers of rows ---- */

/* Names the row's family for its columns' families. */
static void
name_row(RowHasher *self)
{
	StringInfoData name;
	int			i;

	initStringInfo(&name);
	appendStringInfoString(&name, "row(");
	for (i = 0; i < self->desc->natts; i++)
	{
		if (self->columns[i] == NULL)
			continue;
		if (name.data[name.len - 1] != '(')
			appendStringInfoChar(&name, ',');
		appendStringInfoString(&name, self->columns[i]->family);
	}
	appendStringInfoChar(&name, ')');
	bloomfam_family_change(&self->base, self->context, name.data);
	pfree(name.data);

	for (i = 0; i < self->desc->natts; i++)
	{
		if (self->columns[i] != NULL)
			self->named_for[i] = self->columns[i]->family_id;
	}
}

/*
 * Names the row's key family anew if the families of the columns of the row that was hashed have
 * changed.
 */
static void
check_name(RowHasher *self)
{
	bool		changed = false;
	int			i;

	for (i = 0; i < self->desc->natts; i++)
	{
		BloomfamHasher *column = self->columns[i];

		if (column == NULL || !column->varies)
			continue;
		if (self->nulls[i])
			unknown_part_error();
		changed |= column->family_id != self->named_for[i];
	}
	if (changed)
		name_row(self);
}

static uint64
key_row(BloomfamHasher *hasher, Datum key)
{
	RowHasher  *self = (RowHasher *) hasher;
	HeapTupleHeader row = DatumGetHeapTupleHeader(key);
	HeapTupleData tuple;
	Oid			type;
	int32		typmod;
	uint8	   *p = self->bytes;
	int			i;

	check_stack_depth();

	bloomfam_row_type(row, &type, &typmod);
	if (type != self->type || typmod != self->typmod)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("unexpected row type %s in a key", format_type_be(type)),
				 errdetail("The key's type has %s there.", format_type_be(self->type))));

	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = row;
	heap_deform_tuple(&tuple, self->desc, self->values, self->nulls);

	for (i = 0; i < self->desc->natts; i++)
	{
		if (self->columns[i] != NULL)
			p = put_item(p, self->columns[i], self->values[i], self->nulls[i]);
	}
	if (self->base.varies)
		check_name(self);

	free_copy(row, key);
	return bf_hash_bytes(self->bytes, p - self->bytes);
}

BloomfamHasher *
bloomfam_row_hasher(Oid type, int32 typmod, TupleDesc desc, BloomfamHasher **columns)
{
	RowHasher  *self = (RowHasher *) palloc0(sizeof(RowHasher));
	int			i;

	self->base.hash = key_row;
	self->type = type;
	self->typmod = typmod;
	self->desc = desc;
	self->columns = columns;
	self->named_for = (uint64 *) palloc0(desc->natts * sizeof(uint64));
	self->context = CurrentMemoryContext;
	self->values = (Datum *) palloc0(desc->natts * sizeof(Datum));
	self->nulls = (bool *) palloc0(desc->natts * sizeof(bool));
	self->bytes = (uint8 *) palloc(desc->natts * BF_KEY_ITEM_SIZE);

	for (i = 0; i < desc->natts; i++)
		self->base.varies |= columns[i] != NULL && columns[i]->varies;
	if (!self->base.varies)
		name_row(self);
	return &self->base;
}
