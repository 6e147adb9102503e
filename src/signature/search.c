/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * search.c
 *	  Finds the ranges that may have rows which meet a scan's conditions.
 *
 * A search reads the metapage first, then the entries of slabs, and then the pages of each slab and
 * batch that its keys are on.  It looks for one key after the other, and is done with a group of
 * ranges when none is left that has all keys so far.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "signature/search.h"
#include "signature/store.h"

/* ---- making a search ---- */

/* Adds a query of a condition, unless no row can meet it. */
static void
add_query(SignatureCondition *condition, SignatureQuery *query, bool *asks_nothing)
{
	bloomfam_signature_query_finish(query);
	if (query->ask == SIGNATURE_ASK_NOTHING)
		*asks_nothing = true;
	else if (query->ask == SIGNATURE_ASK_KEYS)
		condition->queries[condition->n++] = query;
}

/* Returns the type of a scan key's right side; for an array, that of its elements. */
static Oid
argument_type(const ScanKeyData *key, Oid own)
{
	return OidIsValid(key->sk_subtype) ? key->sk_subtype : own;
}

/*
 * Makes a condition of a scan key.  Sets *asks_nothing if every range may have rows that meet it.
 */
static SignatureCondition
make_condition(const SignatureColumns *columns, Relation index, const ScanKeyData *key,
			   bool *asks_nothing)
{
	SignatureColumn *column = columns->columns[key->sk_attno - 1];
	Oid			type = argument_type(key, index->rd_opcintype[key->sk_attno - 1]);
	SignatureCondition condition = {NULL, 0};

	*asks_nothing = false;
	if (key->sk_flags & SK_ISNULL)
	{
		/* An operator that is not strict may be true for NULL. */
		*asks_nothing = !key->sk_func.fn_strict;
		return condition;
	}
	if (key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL | SK_ROW_HEADER | SK_ROW_MEMBER))
	{
		*asks_nothing = true;
		return condition;
	}
	if (key->sk_flags & SK_SEARCHARRAY)
	{
		ArrayType  *array = DatumGetArrayTypeP(key->sk_argument);
		int16		length;
		bool		by_value;
		char		align;
		Datum	   *elements;
		bool	   *nulls;
		int			n;
		int			i;

		get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
		deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &elements, &nulls,
						  &n);
		condition.queries = (SignatureQuery **) palloc(Max(n, 1) * sizeof(SignatureQuery *));
		for (i = 0; i < n && !*asks_nothing; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!nulls[i])
				add_query(&condition, column->class->ask(column, key->sk_strategy, type,
														 elements[i]), asks_nothing);
			else if (!key->sk_func.fn_strict)
				*asks_nothing = true;
		}
		return condition;
	}
	condition.queries = (SignatureQuery **) palloc(sizeof(SignatureQuery *));
	add_query(&condition, column->class->ask(column, key->sk_strategy, type, key->sk_argument),
			  asks_nothing);
	return condition;
}

SignatureSearch *
bloomfam_signature_search_make(const SignatureColumns *columns, Relation index,
							   const ScanKeyData *keys, int nkeys)
{
	SignatureSearch *search = (SignatureSearch *) palloc0(sizeof(SignatureSearch));
	int			i;

	search->missed = InvalidBlockNumber;
	search->conditions = (SignatureCondition *) palloc(Max(nkeys, 1) *
													   sizeof(SignatureCondition));
	for (i = 0; i < nkeys; i++)
	{
		bool		asks_nothing;
		SignatureCondition condition = make_condition(columns, index, &keys[i], &asks_nothing);

		if (asks_nothing)
			continue;
		if (condition.n == 0)
			search->finds_nothing = true;
		else
			search->conditions[search->n++] = condition;
	}
	return search;
}

/* ---- searching a group ---- */

/* A group that is being searched, and one of its pages, which is locked in SHARE mode. */
typedef struct Lookup
{
	Relation	index;
	const SignatureMeta *meta;
	const SignatureGroup *group;
	SignaturePageKind kind;
	uint32		n;				/* The number of its ranges. */
	Buffer		buffer;			/* InvalidBuffer if no page is locked. */
	uint32		number;			/* The page's number in the group. */
	bool		is_gone;		/* True if a page has another owner now. */
	uint64		pages;			/* The number of pages that were read. */
	SignatureSearch *search;
} Lookup;

static Page
group_page(Lookup *self, uint32 number)
{
	if (BufferIsValid(self->buffer) && self->number == number)
		return BufferGetPage(self->buffer);
	if (BufferIsValid(self->buffer))
		UnlockReleaseBuffer(self->buffer);
	self->buffer = ReadBuffer(self->index, self->group->start + number);
	self->number = number;
	self->pages++;
	LockBuffer(self->buffer, BUFFER_LOCK_SHARE);
	if (signature_page_is(BufferGetPage(self->buffer), self->kind, self->group->id, number))
		return BufferGetPage(self->buffer);
	self->is_gone = true;
	self->search->missed = self->group->start + number;
	return NULL;
}

/* Leaves those ranges in the set that may have the key. */
static void
match_key(Lookup *self, uint64 hash, SignatureSet *set)
{
	BfSignatureShape shape = signature_shape(self->meta, self->group);
	BfSignatureProbe probe = bf_signature_probe(&shape, hash);
	uint32		slot;
	uint32		i;

	if (self->kind == SIGNATURE_PAGE_SLAB)
	{
		Page		page = group_page(self, signature_slab_place(0, probe.block, &slot));

		if (page == NULL)
			return;
		for (i = 0; i < SIGNATURE_WIDTH; i += 64)
			if (set->bits[i / 64] != 0)
				set->bits[i / 64] = bf_signature_match(signature_slot(page, slot + i),
													   Min(64, SIGNATURE_WIDTH - i),
													   set->bits[i / 64], &probe);
		return;
	}
	for (i = 0; i < self->n; i++)
	{
		Page		page;

		if (!signature_set_has(set, i))
			continue;
		page = group_page(self, signature_batch_place(self->group, i, probe.block, &slot));
		if (page == NULL)
			return;
		if (!bf_signature_block_has(signature_slot(page, slot), &probe))
			signature_set_remove(set, i);
	}
}

/* Moves a required key to the front, as it leaves few ranges, and others need not be asked then. */
static void
ask_first(SignatureQuery *query, uint32 i)
{
	uint64		hash = query->hashes[i];

	/* What decides about keys knows them by their numbers. */
	if (query->decide != NULL)
		return;
	memmove(&query->hashes[1], &query->hashes[0], i * sizeof(uint64));
	query->hashes[0] = hash;
}

/* Leaves those ranges in the set for which the query's function says so. */
static void
decide_ranges(Lookup *self, SignatureQuery *query, SignatureSet *set)
{
	SignatureSet *found = (SignatureSet *) palloc(query->nkeys * sizeof(SignatureSet));
	bool	   *present = (bool *) palloc(query->nkeys * sizeof(bool));
	bool	   *last = (bool *) palloc(query->nkeys * sizeof(bool));
	bool		answer = false;
	bool		is_known = false;
	uint32		i;
	uint32		k;

	for (k = 0; k < query->nkeys && !self->is_gone; k++)
	{
		CHECK_FOR_INTERRUPTS();
		found[k] = *set;
		if (!query->required[k] && (query->unknown == NULL || !query->unknown[k]))
			match_key(self, query->hashes[k], &found[k]);
	}
	for (i = 0; i < self->n && !self->is_gone; i++)
	{
		if (!signature_set_has(set, i))
			continue;
		for (k = 0; k < query->nkeys; k++)
			present[k] = signature_set_has(&found[k], i);

		/* Most ranges have the same keys, or none. */
		if (!is_known || memcmp(present, last, query->nkeys * sizeof(bool)) != 0)
		{
			answer = query->decide(query, present);
			memcpy(last, present, query->nkeys * sizeof(bool));
			is_known = true;
		}
		if (!answer)
			signature_set_remove(set, i);
	}
	pfree(last);
	pfree(present);
	pfree(found);
}

/* Leaves those ranges in the set that may have rows which meet the query. */
static void
match_query(Lookup *self, SignatureQuery *query, SignatureSet *set)
{
	uint32		i;

	for (i = 0; i < query->nkeys && query->nrequired > 0; i++)
	{
		if (!query->required[i])
			continue;
		match_key(self, query->hashes[i], set);
		if (self->is_gone)
			return;
		if (signature_set_is_empty(set))
		{
			ask_first(query, i);
			return;
		}
	}
	if (query->decide != NULL && query->nrequired < query->nkeys)
		decide_ranges(self, query, set);
}

bool
bloomfam_signature_search_group(Relation index, const SignatureMeta *meta,
								const SignatureGroup *group, SignaturePageKind kind, uint32 n,
								SignatureSearch *search, SignatureSet *set)
{
	Lookup		self = {index, meta, group, kind, n, InvalidBuffer, 0, false, 0, search};
	int			i;
	int			j;

	*set = signature_set_first(n);
	set->bits[0] &= ~group->dirty.bits[0];
	set->bits[1] &= ~group->dirty.bits[1];
	for (i = 0; i < search->n && !signature_set_is_empty(set) && !self.is_gone; i++)
	{
		SignatureCondition *condition = &search->conditions[i];
		SignatureSet all = {{0, 0}};

		for (j = 0; j < condition->n && !self.is_gone; j++)
		{
			SignatureSet some = {{
				set->bits[0] & ~all.bits[0], set->bits[1] & ~all.bits[1]
			}};

			if (signature_set_is_empty(&some))
				break;
			CHECK_FOR_INTERRUPTS();
			match_query(&self, condition->queries[j], &some);
			all.bits[0] |= some.bits[0];
			all.bits[1] |= some.bits[1];
		}
		*set = all;
	}
	if (BufferIsValid(self.buffer))
		UnlockReleaseBuffer(self.buffer);

	search->pages += self.pages;

	/* The i-th bit of a dirty range stands for a range that there is. */
	set->bits[0] |= group->dirty.bits[0];
	set->bits[1] |= group->dirty.bits[1];
	return !self.is_gone;
}

/* ---- searching an index ---- */

/*
 * The number of slabs whose pages are prefetched before they are searched: those for the first
 * key of the first condition.
 */
#define PREFETCHED_SLABS	16

static void
prefetch_slab(Relation index, const SignatureMeta *meta, const SignatureSearch *search,
			  const SignatureGroup *slab)
{
	const SignatureQuery *query;
	BfSignatureShape shape = signature_shape(meta, slab);
	BfSignatureProbe probe;
	uint32		slot;

	if (search->n == 0)
		return;
	query = search->conditions[0].queries[0];
	if (query->nkeys == 0 || !query->required[0])
		return;
	probe = bf_signature_probe(&shape, query->hashes[0]);
	(void) PrefetchBuffer(index, MAIN_FORKNUM,
						  slab->start + signature_slab_place(0, probe.block, &slot));
}

bool
bloomfam_signature_search(Relation index, const SignatureMeta *meta, SignatureSearch *search,
						  SignatureFound found, void *arg)
{
	SignatureGroup *slabs = (SignatureGroup *) palloc(SIGNATURE_BODY);
	uint32		first = 0;
	bool		is_done = true;
	uint32		i;

	while (first < meta->nslabs && is_done)
	{
		uint32		n = bloomfam_signature_slabs_read(index, meta, first, slabs);
		uint32		prefetched = 0;

		for (i = 0; i < n && is_done; i++)
		{
			SignatureSet set;

			for (; prefetched < Min(n, i + PREFETCHED_SLABS); prefetched++)
				prefetch_slab(index, meta, search, &slabs[prefetched]);
			is_done = bloomfam_signature_search_group(index, meta, &slabs[i], SIGNATURE_PAGE_SLAB,
													  SIGNATURE_WIDTH, search, &set);
			found(arg, (first + i) * SIGNATURE_WIDTH, SIGNATURE_WIDTH, &set);
		}
		first += n;
	}
	first = meta->nslabs * SIGNATURE_WIDTH;
	for (i = 0; i < meta->batch_count && is_done; i++)
	{
		const SignatureBatch *batch = &meta->batches[i];
		SignatureSet set;

		is_done = bloomfam_signature_search_group(index, meta, &batch->group,
												  SIGNATURE_PAGE_BATCH, batch->count, search,
												  &set);
		found(arg, first, batch->count, &set);
		first += batch->count;
	}
	if (is_done)
		found(arg, first, 0, NULL);
	pfree(slabs);
	return is_done;
}
