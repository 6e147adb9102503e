/*-------------------------------------------------------------------------
 *
 * value.c
 *	  New values of filters; see value.h.
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
	/* of values and of partial states, whose limits differ (bf_format.c) */
	Assert(VARHDRSZ + bf_data_size(head) <= VARHDRSZ + BF_MAX_PARTIAL_SIZE);
	SET_VARSIZE(value, VARHDRSZ + bf_data_size(head));
	return (uint8 *) VARDATA(value) + bf_payload_offset(head->family_len);
}

/* Would the type's own input take the value?  If not, it could be dumped, and not restored. */
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
 * All values that a function returns, and all states that are sent, come through here.  A build
 * with assertions stops at one that is not valid: it was made of a stored value that is corrupt, or
 * by an operation that is wrong.
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

void
bloomfam_stored_head(const BfView *loose, BfHeader *head)
{
	*head = loose->head;
	if (head->kind->pack != NULL)
		head->kind->pack_plan(&bloomfam_port, loose, head);
}

void
bloomfam_stored_payload(const BfView *loose, const BfHeader *head, uint8 *payload)
{
	if (head->kind->pack != NULL)
	{
		bloomfam_zero(payload, head->payload_len);
		head->kind->pack(&bloomfam_port, head, payload, loose);
	}
	else if (head->payload_len > 0)
		bloomfam_copy(payload, loose->payload, head->payload_len);
}

Datum
bloomfam_stored_value(const BfView *loose)
{
	struct varlena *value;
	uint8	   *payload;
	BfHeader	head;

	bloomfam_stored_head(loose, &head);
	value = bloomfam_value_alloc(&head, &payload);
	bloomfam_stored_payload(loose, &head, payload);
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
