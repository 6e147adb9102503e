/*-------------------------------------------------------------------------
 *
 * edit.c
 *	  A filter that keys are added to or removed from; see edit.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/datum.h"
#include "pg/edit.h"
#include "pg/env.h"
#include "pg/value.h"

/* Makes a header the edit's, with the family that it has. */
static void
set_head(BloomfamEdit *edit, const BfHeader *head)
{
	edit->head = *head;
	edit->head.family = edit->family;
}

/*
 * Makes room for a payload under a header in place of the old; the old value is returned, to be
 * freed by the caller.
 */
static struct varlena *
new_value(BloomfamEdit *edit, const BfHeader *head)
{
	struct varlena *old = edit->value;
	MemoryContext caller = MemoryContextSwitchTo(edit->context);

	edit->value = bloomfam_value_alloc(head, &edit->payload);
	MemoryContextSwitchTo(caller);
	return old;
}

BloomfamEdit *
bloomfam_edit_begin(Datum datum)
{
	BloomfamEdit *edit = NULL;
	MemoryContext context = CurrentMemoryContext;
	const BfKind *kind;
	BfView		view;

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
		new_value(edit, &edit->head);
		kind->loosen(&bloomfam_env, &edit->head, edit->payload, &view);
	}
	else
	{
		new_value(edit, &edit->head);
		memcpy(edit->payload, view.payload, view.head.payload_len);
	}
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
	const uint8 *payload = edit->payload;
	struct varlena *old;

	bloomfam_edit_check_family(edit, hasher);
	if (likely(head.family_id == hasher->family_id))
		return;

	/* the family's name goes before the payload */
	head.family_id = hasher->family_id;
	head.family_len = hasher->family != NULL ? hasher->family_len : 0;
	old = new_value(edit, &head);
	memcpy(edit->payload, payload, head.payload_len);
	if (head.family_len > 0)
		memcpy(edit->family, hasher->family, head.family_len);
	set_head(edit, &head);
	pfree(old);
}

/* Makes a filter that is full larger. */
static void
grow(BloomfamEdit *edit)
{
	const BfKind *kind = edit->head.kind;
	BfStatus	status = BF_FULL;
	BfHeader	head;
	BfView		view;
	struct varlena *old;

	bloomfam_edit_view(edit, &view);
	if (kind->grow_plan != NULL)
		status = kind->grow_plan(&view, &head);
	if (status != BF_OK)
		bloomfam_full_error(&view.head, status);
	old = new_value(edit, &head);
	kind->grow(&head, edit->payload, &view);
	set_head(edit, &head);
	pfree(old);
}

void
bloomfam_edit_add(BloomfamEdit *edit, const uint64 *hashes, int n)
{
	for (;;)
	{
		int			added = (int) edit->head.kind->add(&edit->head, edit->payload, hashes, n);

		edit->head.keys_added = bloomfam_count_keys(edit->head.keys_added, added);
		if (added == n)
			return;
		hashes += added;
		n -= added;
		grow(edit);
	}
}

void
bloomfam_edit_remove(BloomfamEdit *edit, const uint64 *hashes, int n)
{
	if (edit->head.kind->remove(&edit->head, edit->payload, hashes, n) < (size_t) n)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot remove a key that is not in the bloom filter")));
	edit->head.keys_added -= Min(edit->head.keys_added, (uint64) n);
}

Datum
bloomfam_edit_end(BloomfamEdit *edit)
{
	if (BLOOMFAM_MODIFIES_IN_PLACE)
		return EOHPGetRWDatum(&edit->eoh);
	return bloomfam_value_finish(edit->value, &edit->head);
}
