/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * edit.c
 *	  Adds keys to a filter or removes keys from it; see edit.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/datum.h"
#include "pg/edit.h"
#include "pg/port.h"
#include "pg/value.h"

/* Sets the header of the edited filter.  The header's key family is the name that the edit has. */
static void
set_head(BloomfamEdit *edit, const BfHeader *head)
{
	edit->head = *head;
	edit->head.family = edit->family;
}

/*
 * Allocates a value with this header in the edit's memory context.  The edit keeps its present
 * value.
 */
static struct varlena *
new_value(BloomfamEdit *edit, const BfHeader *head, uint8 **payload)
{
	MemoryContext caller = MemoryContextSwitchTo(edit->context);
	struct varlena *value = bloomfam_value_alloc(head, payload);

	MemoryContextSwitchTo(caller);
	return value;
}

/*
 * Replaces the edited filter's value, and frees the old one.  The new value must be complete: the
 * edit may be a variable that outlives an error, and a cancel is an error that may come anywhere
 * before.
 */
static void
set_value(BloomfamEdit *edit, struct varlena *value, uint8 *payload)
{
	if (edit->value != NULL)
		pfree(edit->value);
	edit->value = value;
	edit->payload = payload;
}

BloomfamEdit *
bloomfam_edit_begin(Datum datum)
{
	BloomfamEdit *edit = NULL;
	MemoryContext context = CurrentMemoryContext;
	const BfKind *kind;
	BfView		view;
	struct varlena *value;
	uint8	   *payload;

	if (VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
		edit = bloomfam_edit_from_datum(datum);
	if (edit != NULL)
		return edit;

	bloomfam_view_open(datum, &view);
	kind = view.head.kind;
	if (BLOOMFAM_MODIFIES_IN_PLACE)
		context = AllocSetContextCreate(CurrentMemoryContext, "bloomfam edit",
										ALLOCSET_START_SMALL_SIZES);
	edit = MemoryContextAlloc(context, sizeof(BloomfamEdit));
	EOH_init_header(&edit->eoh, &bloomfam_edit_methods, context);
	edit->context = context;
	edit->value = NULL;
	if (view.head.family_len > 0)
		memcpy(edit->family, view.head.family, view.head.family_len);
	set_head(edit, &view.head);
	if (kind->pack != NULL && kind->is_packed(&view.head))
	{
		kind->loosen_plan(&view.head, &edit->head);
		set_head(edit, &edit->head);
		value = new_value(edit, &edit->head, &payload);
		kind->loosen(&bloomfam_port, &edit->head, payload, &view);
	}
	else
	{
		value = new_value(edit, &edit->head, &payload);
		bloomfam_copy(payload, view.payload, view.head.payload_len);
	}
	set_value(edit, value, payload);
	return edit;
}

void
bloomfam_edit_check_family(const BloomfamEdit *edit, const BloomfamHasher *hasher)
{
	if (edit->head.family_id != hasher->family_id && edit->head.family_id != 0)
		bloomfam_family_error(&edit->head, hasher->family, hasher->family_len, hasher->family_id);
}

void
bloomfam_edit_take_family(BloomfamEdit *edit, const BloomfamHasher *hasher)
{
	BfHeader	head = edit->head;
	struct varlena *value;
	uint8	   *payload;

	bloomfam_edit_check_family(edit, hasher);
	if (likely(head.family_id == hasher->family_id))
		return;

	/*
	 * The key family's name comes before the payload in a value, so setting it takes a new value.
	 */
	head.family_id = hasher->family_id;
	head.family_len = hasher->family != NULL ? hasher->family_len : 0;
	value = new_value(edit, &head, &payload);
	bloomfam_copy(payload, edit->payload, head.payload_len);
	set_value(edit, value, payload);
	if (head.family_len > 0)
		memcpy(edit->family, hasher->family, head.family_len);
	set_head(edit, &head);
}

/* Enlarges a filter that is full. */
static void
grow(BloomfamEdit *edit)
{
	const BfKind *kind = edit->head.kind;
	BfStatus	status = BF_FULL;
	BfHeader	head;
	BfView		view;
	struct varlena *value;
	uint8	   *payload;

	bloomfam_edit_view(edit, &view);
	if (kind->grow_plan != NULL)
		status = kind->grow_plan(&view, &head);
	if (status != BF_OK)
		bloomfam_full_error(&view.head, status);
	value = new_value(edit, &head, &payload);
	kind->grow(&head, payload, &view);
	set_value(edit, value, payload);
	set_head(edit, &head);
}

/* The number of keys that are added or removed between two answers to interrupts: some ms. */
#define KEYS_PER_CHECK	65536

void
bloomfam_edit_add(BloomfamEdit *edit, const uint64 *hashes, int n)
{
	while (n > 0)
	{
		int			batch = Min(n, KEYS_PER_CHECK);
		int			added = (int) edit->head.kind->add(&edit->head, edit->payload, hashes, batch);

		edit->head.keys_added = bf_count_keys(edit->head.keys_added, added);
		hashes += added;
		n -= added;
		if (added < batch)
			grow(edit);
		CHECK_FOR_INTERRUPTS();
	}
}

void
bloomfam_edit_remove(BloomfamEdit *edit, const uint64 *hashes, int n)
{
	while (n > 0)
	{
		int			batch = Min(n, KEYS_PER_CHECK);

		if (edit->head.kind->remove(&edit->head, edit->payload, hashes, batch) < (size_t) batch)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot remove a key that is not in the bloom filter")));
		edit->head.keys_added -= Min(edit->head.keys_added, (uint64) batch);
		hashes += batch;
		n -= batch;
		CHECK_FOR_INTERRUPTS();
	}
}

Datum
bloomfam_edit_end(BloomfamEdit *edit)
{
	if (BLOOMFAM_MODIFIES_IN_PLACE)
		return EOHPGetRWDatum(&edit->eoh);
	return bloomfam_value_finish(edit->value, &edit->head);
}
