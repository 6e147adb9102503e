/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * expanded.c
 *	  The filter that is being edited, as an expanded object; see expanded.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/expanded.h"
#include "pg/port.h"
#include "pg/value.h"

/*
 * The methods of the expanded object.  The caller may have chosen a memory context that only grows,
 * so memory that is allocated and freed on the way comes from the edit's context.
 */
static Size
flat_size(ExpandedObjectHeader *eohptr)
{
	BloomfamEdit *edit = (BloomfamEdit *) eohptr;
	MemoryContext caller = MemoryContextSwitchTo(edit->context);
	BfHeader	head;
	BfView		view;

	bloomfam_edit_view(edit, &view);
	bf_build_stored_plan(&bloomfam_port, &view, &head);
	MemoryContextSwitchTo(caller);
	return bloomfam_value_size(&head);
}

static void
flatten_into(ExpandedObjectHeader *eohptr, void *result, Size allocated_size)
{
	BloomfamEdit *edit = (BloomfamEdit *) eohptr;
	MemoryContext caller = MemoryContextSwitchTo(edit->context);
	BfHeader	head;
	BfView		view;

	bloomfam_edit_view(edit, &view);
	bf_build_stored_plan(&bloomfam_port, &view, &head);
	Assert(allocated_size == VARHDRSZ + bf_data_size(&head));
	bf_build_stored_payload(&bloomfam_port, &head, bloomfam_value_place(result, &head), &view);
	bloomfam_value_seal(result, &head);
	MemoryContextSwitchTo(caller);
}

const ExpandedObjectMethods bloomfam_edit_methods = {
	.get_flat_size = flat_size,
	.flatten_into = flatten_into,
};

BloomfamEdit *
bloomfam_edit_from_datum(Datum datum)
{
	ExpandedObjectHeader *eoh;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return NULL;
	eoh = DatumGetEOHP(datum);
	return eoh->eoh_methods == &bloomfam_edit_methods ? (BloomfamEdit *) eoh : NULL;
}

void
bloomfam_edit_view(BloomfamEdit *edit, BfView *view)
{
	view->head = edit->head;
	view->payload = edit->payload;
}
