/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * combiner.c
 *	  The combiner, which is the state of bloom_union_agg and bloom_intersect_agg; see combiner.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "core/bf_partial.h"
#include "pg/combiner.h"
#include "pg/datum.h"
#include "pg/port.h"
#include "pg/value.h"

static Size flat_size(ExpandedObjectHeader *eohptr);
static void flatten_into(ExpandedObjectHeader *eohptr, void *result, Size allocated_size);

static const ExpandedObjectMethods combiner_methods = {
	.get_flat_size = flat_size,
	.flatten_into = flatten_into,
};

Combiner *
bloomfam_combiner_make(MemoryContext parent, CombinerVerb verb)
{
	MemoryContext context =
		AllocSetContextCreate(parent, "bloomfam combiner", ALLOCSET_SMALL_SIZES);
	Combiner   *combiner = MemoryContextAllocZero(context, sizeof(Combiner));

	EOH_init_header(&combiner->eoh, &combiner_methods, context);
	combiner->context = context;
	combiner->verb = verb;
	combiner->content = COMBINER_NOTHING;
	return combiner;
}

Combiner *
bloomfam_combiner_from_datum(Datum datum)
{
	ExpandedObjectHeader *eoh;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return NULL;
	eoh = DatumGetEOHP(datum);
	return eoh->eoh_methods == &combiner_methods ? (Combiner *) eoh : NULL;
}

/* Makes a view of the filter that was combined so far. */
static void
image_view(Combiner *combiner, BfView *view)
{
	view->head = combiner->head;
	view->payload = combiner->image;
}

/*
 * Sets the header of the combined filter.  The key family's name is copied, and may be in the
 * combiner already.
 */
static void
set_head(Combiner *combiner, const BfHeader *head)
{
	if (head->family_len > 0)
		memmove(combiner->family, head->family, head->family_len);
	combiner->head = *head;
	combiner->head.family = combiner->family;
	combiner->head.keys_added = bf_count_keys(head->keys_added, 0);
}

/* Allocates the payload that the header of the combined filter asks for. */
static void
make_image(Combiner *combiner)
{
	combiner->image = bloomfam_payload_alloc(combiner->context, combiner->head.payload_len,
											 &combiner->chunk);
	combiner->content = COMBINER_IMAGE;
}

/*
 * The core's functions for a union or an intersection: plan() makes the result's header, and both()
 * combines two filters into its payload.
 */
typedef struct Combination
{
	BfStatus	(*plan) (const BfView *a, const BfView *b, BfHeader *head);
	void		(*both) (const BfPort *port, const BfHeader *head, uint8 *out, const BfView *a,
						 const BfView *b);
} Combination;

static const Combination combinations[] = {
	[COMBINER_UNITE] = {bf_union_plan, bf_union},
	[COMBINER_INTERSECT] = {bf_intersect_plan, bf_intersect},
};

/*
 * Combines one more filter with those before: in place if the result keeps its size, and otherwise
 * into a new payload.
 */
static void
combine(Combiner *combiner, const BfView *view)
{
	const Combination *combination = &combinations[combiner->verb];
	const BfKind *kind = view->head.kind;
	void		(*into) (const BfPort *port, const BfHeader *head, uint8 *out, const BfView *view);
	BfView		mine;
	BfHeader	head;
	BfStatus	status;
	void	   *old_chunk = combiner->chunk;

	into = combiner->verb == COMBINER_UNITE ? kind->unite : kind->intersect;
	image_view(combiner, &mine);
	status = combination->plan(&mine, view, &head);
	if (status != BF_OK)
		bloomfam_combine_error(status, combiner->verb == COMBINER_UNITE, &mine, view);
	set_head(combiner, &head);
	if (mine.head.kind == kind && head.payload_len == mine.head.payload_len && into != NULL)
		into(&bloomfam_port, &combiner->head, combiner->image, view);
	else
	{
		make_image(combiner);
		combination->both(&bloomfam_port, &combiner->head, combiner->image, &mine, view);
		pfree(old_chunk);
	}
}

void
bloomfam_combiner_take(Combiner *combiner, const BfView *view)
{
	if (view->head.kind->id == BF_KIND_PARTIAL)
		bloomfam_not_a_filter_error();
	switch (combiner->content)
	{
		case COMBINER_NOTHING:
			set_head(combiner, &view->head);
			make_image(combiner);
			if (view->head.payload_len > 0)
				bloomfam_copy(combiner->image, view->payload, view->head.payload_len);
			break;
		case COMBINER_IMAGE:
			combine(combiner, view);
			break;
		case COMBINER_ANYTHING:
			break;
	}
}

void
bloomfam_combiner_take_null(Combiner *combiner)
{
	Assert(combiner->verb == COMBINER_UNITE);
	if (combiner->content == COMBINER_IMAGE)
		pfree(combiner->chunk);
	combiner->content = COMBINER_ANYTHING;
}

void
bloomfam_combiner_absorb(Combiner *combiner, const BfView *view)
{
	if (view->head.kind->id == BF_KIND_PARTIAL && (view->head.param[1] & BF_PARTIAL_UNKNOWN) &&
		combiner->verb == COMBINER_UNITE)
		bloomfam_combiner_take_null(combiner);
	else
		bloomfam_combiner_take(combiner, view);
}

/* Fills in the header of the combiner's flattened form. */
static void
flat_head(Combiner *combiner, BfHeader *head)
{
	memset(head, 0, sizeof(*head));
	head->hash_id = BF_HASH_XXH3;
	switch (combiner->content)
	{
		case COMBINER_NOTHING:
			head->kind = bf_kind_by_id(BF_KIND_IDENTITY);
			break;
		case COMBINER_IMAGE:
			*head = combiner->head;
			break;
		case COMBINER_ANYTHING:
			head->kind = bf_kind_by_id(BF_KIND_PARTIAL);
			head->param[1] = BF_PARTIAL_UNKNOWN;
			break;
	}
}

bool
bloomfam_combiner_finish(Combiner *combiner, Datum *result)
{
	BfView		view = {.payload = combiner->image};

	if (combiner->content == COMBINER_ANYTHING)
		return false;
	flat_head(combiner, &view.head);
	*result = bloomfam_stored_value(&view);
	return true;
}

/* The methods of the expanded object. */
static Size
flat_size(ExpandedObjectHeader *eohptr)
{
	BfHeader	head;

	flat_head((Combiner *) eohptr, &head);
	return bloomfam_value_size(&head);
}

static void
flatten_into(ExpandedObjectHeader *eohptr, void *result, Size allocated_size)
{
	Combiner   *combiner = (Combiner *) eohptr;
	BfHeader	head;
	uint8	   *payload;

	flat_head(combiner, &head);
	Assert(allocated_size == VARHDRSZ + bf_data_size(&head));
	payload = bloomfam_value_place(result, &head);
	if (head.payload_len > 0)
		bloomfam_copy(payload, combiner->image, head.payload_len);
	bloomfam_value_seal(result, &head);
}
