/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * value.c
 *	  Allocates, fills and finishes new values of filters; see value.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/port.h"
#include "pg/value.h"

uint8 *
bloomfam_payload_alloc(MemoryContext context, Size size, void **chunk)
{
	uint8	   *payload;

	*chunk = MemoryContextAllocHuge(context, size + BLOOMFAM_CACHE_LINE);
	payload = (uint8 *) TYPEALIGN(BLOOMFAM_CACHE_LINE, *chunk);
	Assert(payload + size <= (uint8 *) *chunk + size + BLOOMFAM_CACHE_LINE);
	bloomfam_advise_huge_pages(payload, size);
	bloomfam_zero(payload, size);
	return payload;
}

uint8 *
bloomfam_value_place(struct varlena *value, const BfHeader *head)
{
	/*
	 * The value is within the limit for partial states; finished filters have a lower one
	 * (bf_format.c).
	 */
	Assert(VARHDRSZ + bf_data_size(head) <= VARHDRSZ + BF_MAX_PARTIAL_SIZE);
	SET_VARSIZE(value, VARHDRSZ + bf_data_size(head));
	return (uint8 *) VARDATA(value) + bf_payload_offset(head->family_len);
}

/*
 * Returns whether the type's own input function would accept the value.  If it would not, the value
 * could be dumped and not restored.
 */
pg_attribute_unused()
static bool
is_accepted(const struct varlena *value)
{
	BfView		view;
	const char *reason;

	return bf_validate(&bloomfam_port, VARDATA(value), VARSIZE(value) - VARHDRSZ, &view, &reason) ==
		BF_OK;
}

/*
 * Writes the header and seals the value.  All values that functions return, and all states that are
 * sent, come through here.  A build with assertions stops at an invalid value: it was made from a
 * stored value that is corrupt, or by an operation that is wrong.
 */
void
bloomfam_value_seal(struct varlena *value, const BfHeader *head)
{
	Assert(VARSIZE(value) == VARHDRSZ + bf_data_size(head));
	bf_write_header(VARDATA(value), head);
	bf_seal(&bloomfam_port, VARDATA(value), VARSIZE(value) - VARHDRSZ);
	Assert(is_accepted(value));
}

Size
bloomfam_value_size(const BfHeader *head)
{
	Size		size = VARHDRSZ + bf_data_size(head);

	if (size > BF_MAX_VALUE_SIZE)
		bloomfam_params_error(BF_TOO_LARGE, head->kind, head->target_fpr, head->capacity);
	return size;
}

struct varlena *
bloomfam_value_alloc(const BfHeader *head, uint8 **payload)
{
	Size		size = bloomfam_value_size(head);
	struct varlena *value = palloc(size);

	bloomfam_zero(value, size);
	*payload = bloomfam_value_place(value, head);
	return value;
}

Datum
bloomfam_stored_value(const BfView *loose)
{
	struct varlena *value;
	uint8	   *payload;
	BfHeader	head;

	bf_build_stored_plan(&bloomfam_port, loose, &head);
	value = bloomfam_value_alloc(&head, &payload);
	bf_build_stored_payload(&bloomfam_port, &head, payload, loose);
	bloomfam_value_seal(value, &head);
	return PointerGetDatum(value);
}

Datum
bloomfam_value_finish(struct varlena *value, const BfHeader *head)
{
	const BfKind *kind = head->kind;

	if (kind->pack != NULL && !kind->is_packed(head))
	{
		BfView		loose = {.head = *head, .payload = bloomfam_value_place(value, head)};
		Datum		stored = bloomfam_stored_value(&loose);

		pfree(value);
		return stored;
	}
	bloomfam_value_seal(value, head);
	return PointerGetDatum(value);
}

/* ---- room for values that the core makes as a whole ---- */

static struct varlena *
value_of(uint8_t *data)
{
	return (struct varlena *) (data - VARHDRSZ);
}

static uint8_t *
room_alloc(BfRoom *room, uint64_t size)
{
	char	   *value = MemoryContextAllocHuge(CurrentMemoryContext, VARHDRSZ + size);

	return (uint8_t *) value + VARHDRSZ;
}

static uint8_t *
room_resize(BfRoom *room, uint8_t *data, uint64_t size)
{
	return (uint8_t *) repalloc_huge(value_of(data), VARHDRSZ + size) + VARHDRSZ;
}

static void
room_release(BfRoom *room, uint8_t *data)
{
	pfree(value_of(data));
}

const BfRoom bloomfam_value_room = {
	.alloc = room_alloc,
	.resize = room_resize,
	.release = room_release,
};

Datum
bloomfam_value_of_room(uint8 *data, const BfHeader *head)
{
	struct varlena *value = value_of(data);

	SET_VARSIZE(value, VARHDRSZ + bf_data_size(head));
	Assert(is_accepted(value));
	return PointerGetDatum(value);
}
