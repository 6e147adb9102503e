/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * datum.c
 *	  Filters as datums: opening them, and keeping them open.
 *
 * A probe must not detoast, validate or allocate for each row, and must never take one filter for
 * another.  A function gets only the datum, and its address proves nothing: per-tuple memory is
 * used again and again, so another row's filter may lie where the last one lay.  A value is
 * recognized by these rules:
 *
 *	- A plain value (of a constant, a parameter, an aggregate) is used where it lies, whatever
 *	  its address.  Only the parsed header is kept, with the bytes that it was parsed from.  If
 *	  these are the same, what was made of them is still valid.
 *	- A TOASTed value is fetched into memory of this module and recognized by its whole TOAST
 *	  pointer (sizes, value id, relation).  Within a transaction, a value id is not used again
 *	  while a snapshot can see it.  So the pointer is valid only in the transaction in which it was
 *	  seen, as fn_extra may outlive that (PL/pgSQL's simple expressions, index expressions).
 *	- A value that is compressed in its row is small, and recognized by its compressed bytes.
 *	- A filter that is being edited (edit.c) is used where it lies, and opened anew each time, as it
 *	  may have been changed.
 *	- Other expanded and indirect values are flattened anew each time, as their datum has only an
 *	  address.
 *
 * The payload of a fetched copy begins on a cache line's boundary, so that a block is one line.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/datum.h"
#include "pg/expanded.h"
#include "pg/port.h"

/*
 * The number of bytes of a TOASTed value that are fetched at a time, directly to their final place.
 */
#define FETCH_BYTES		(1024 * 1024)

/*
 * A number that is not the first word of any plain (not TOASTed) value, as such a word has two bits
 * clear.
 */
#define NOTHING_PLAIN	PG_UINT32_MAX

static void
corrupt_error(const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("invalid bloom filter"),
			 errdetail("Reason: %s.", reason)));
}

void
bloomfam_not_a_filter_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("bloom filter of kind \"partial\" is the state of an aggregate"),
			 errdetail("It has to be combined with the other states, and finished, first."),
			 errhint("Pass it to the functions of the aggregate that made it.")));
	pg_unreachable();
}

void
bloomfam_wrong_state_error(const char *made_by)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_DATATYPE_MISMATCH),
		 errmsg("aggregate state was made by functions of another aggregate"),
		 errdetail("It is a state of %s.", made_by),
		 errhint(
			 "Take all functions of an aggregate from one of bloom_agg(bloomkey), bloom_union_agg "
			 "and bloom_intersect_agg.")));
	pg_unreachable();
}

static void
open_bytes(const void *data, Size avail, Size total, BfView *view)
{
	const char *reason;

	if (bf_open(data, avail, total, view, &reason) != BF_OK)
		corrupt_error(reason);
}

void
bloomfam_header_open(const void *data, Size avail, Size total, BfView *view)
{
	open_bytes(data, avail, total, view);
	if (unlikely(view->head.kind->id == BF_KIND_PARTIAL))
		bloomfam_not_a_filter_error();
}

void
bloomfam_state_open(Datum datum, BfView *view)
{
	BloomfamEdit *edit = bloomfam_edit_from_datum(datum);
	struct varlena *value;

	if (edit != NULL)
	{
		bloomfam_edit_view(edit, view);
		return;
	}
	value = pg_detoast_datum_packed((struct varlena *) DatumGetPointer(datum));
	open_bytes(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), VARSIZE_ANY_EXHDR(value), view);
}

void
bloomfam_view_open(Datum datum, BfView *view)
{
	bloomfam_state_open(datum, view);
	if (view->head.kind->id == BF_KIND_PARTIAL)
		bloomfam_not_a_filter_error();
}

/* Converts the opened filter from its packed form, if it is stored in it, to its loose form. */
static void
loosen(BfView *view)
{
	const BfKind *kind = view->head.kind;
	BfView		packed;
	uint8	   *payload;

	if (kind->pack == NULL || !kind->is_packed(&view->head))
		return;
	packed = *view;
	kind->loosen_plan(&packed.head, &view->head);
	payload = palloc_extended(view->head.payload_len, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	kind->loosen(&bloomfam_port, &view->head, payload, &packed);
	view->payload = payload;
}

void
bloomfam_view_open_loose(Datum datum, BfView *view)
{
	bloomfam_view_open(datum, view);
	loosen(view);
}

void
bloomfam_state_open_loose(Datum datum, BfView *view)
{
	bloomfam_state_open(datum, view);
	loosen(view);
}

void
bloomfam_filter_init(BloomfamFilter *filter, MemoryContext context)
{
	memset(filter, 0, sizeof(*filter));
	filter->context = context;
	filter->plain_word = NOTHING_PLAIN;
}

/* Makes the BloomfamFilter recognize no datum as the one that it has opened. */
static void
forget(BloomfamFilter *filter)
{
	filter->plain_word = NOTHING_PLAIN;
	filter->toast_pointer[0] = filter->toast_pointer[1] = 0;
	filter->compressed_len = 0;
}

/* Opens bytes that lie plainly in memory. */
static void
open_plain(BloomfamFilter *filter, const uint8 *data, Size len)
{
	bloomfam_header_open(data, len, len, &filter->view);
	filter->header_len = filter->view.payload - data;

	/* bloomfam_header_open() has checked that the header is not too long. */
	Assert(filter->header_len <= sizeof(filter->header) && filter->header_len <= len);
	Assert(filter->header_len == bf_payload_offset(filter->view.head.family_len));
	memcpy(filter->header, data, filter->header_len);
	filter->view.head.family = (char *) filter->header + BF_FIXED_HEADER_SIZE;
	filter->probe = filter->view.head.kind->prober(&filter->view);
}

/*
 * Fetches a value that does not lie plainly in memory into filter->copy, with its payload aligned.
 * Returns the value's first byte, and sets *len to its length.
 */
static const uint8 *
fetch(BloomfamFilter *filter, struct varlena *value, Size *len)
{
	struct varlena *head_slice = NULL;
	struct varlena *whole = NULL;
	BfView		view;
	Size		offset;
	Size		done;
	char	   *start;

	if (VARATT_IS_EXTERNAL_ONDISK(value))
	{
		struct varatt_external pointer;

		VARATT_EXTERNAL_GET_POINTER(pointer, value);
		if (!VARATT_EXTERNAL_IS_COMPRESSED(pointer))
		{
			*len = pointer.va_rawsize - VARHDRSZ;
			head_slice = detoast_attr_slice(value, 0, BF_MAX_HEADER_SIZE);
			bloomfam_header_open(VARDATA_ANY(head_slice), VARSIZE_ANY_EXHDR(head_slice), *len,
								 &view);
		}
	}
	if (head_slice == NULL)
	{
		whole = detoast_attr(value);
		*len = VARSIZE_ANY_EXHDR(whole);
		bloomfam_header_open(VARDATA_ANY(whole), *len, *len, &view);
	}

	/*
	 * The copy can be allocated: the header was opened, which checks that a value is not too long.
	 */
	if (filter->copy != NULL)
		pfree(filter->copy);
	filter->copy = NULL;
	filter->copy = MemoryContextAlloc(filter->context, *len + BLOOMFAM_CACHE_LINE);
	offset = bf_payload_offset(view.head.family_len);
	start = (char *) TYPEALIGN(BLOOMFAM_CACHE_LINE, filter->copy + offset) - offset;
	Assert(start >= filter->copy && start + *len <= filter->copy + *len + BLOOMFAM_CACHE_LINE);
	Assert((uintptr_t) (start + offset) % BLOOMFAM_CACHE_LINE == 0);
	bloomfam_advise_huge_pages(start, *len);

	if (whole != NULL)
	{
		memcpy(start, VARDATA_ANY(whole), *len);
		pfree(whole);
	}
	else
	{
		pfree(head_slice);
		for (done = 0; done < *len; done += FETCH_BYTES)
		{
			struct varlena *slice = detoast_attr_slice(value, done, FETCH_BYTES);

			if (VARSIZE_ANY_EXHDR(slice) != Min(FETCH_BYTES, *len - done))
				corrupt_error("the stored value is shorter than its header says");
			memcpy(start + done, VARDATA_ANY(slice), VARSIZE_ANY_EXHDR(slice));
			pfree(slice);
			CHECK_FOR_INTERRUPTS();
		}
	}
	return (uint8 *) start;
}

void
bloomfam_filter_open(BloomfamFilter *filter, Datum datum)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	BloomfamEdit *edit = bloomfam_edit_from_datum(datum);
	const uint8 *data;
	Size		len;

	if (bloomfam_filter_is_open(filter, datum))
		return;
	if (VARATT_IS_COMPRESSED(value) && VARSIZE_ANY(value) == filter->compressed_len &&
		memcmp(value, filter->compressed, filter->compressed_len) == 0)
		return;

	forget(filter);
	if (edit != NULL)
	{
		bloomfam_edit_view(edit, &filter->view);
		filter->probe = filter->view.head.kind->prober(&filter->view);
		return;
	}

	/* VARATT_IS_SHORT() is true for a TOAST pointer, too, so that must be excluded. */
	if (VARATT_IS_4B_U(value) || (VARATT_IS_SHORT(value) && !VARATT_IS_EXTERNAL(value)))
	{
		open_plain(filter, (uint8 *) VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
		if (VARATT_IS_4B_U(value))
			memcpy(&filter->plain_word, value, sizeof(filter->plain_word));
		return;
	}

	data = fetch(filter, value, &len);
	open_plain(filter, data, len);
	if (VARATT_IS_EXTERNAL_ONDISK(value))
	{
		memcpy(filter->toast_pointer, VARDATA_EXTERNAL(value), sizeof(filter->toast_pointer));
		filter->lxid = BLOOMFAM_MY_LXID;
	}
	else if (VARATT_IS_COMPRESSED(value))
	{
		if (filter->compressed != NULL)
			pfree(filter->compressed);
		filter->compressed = NULL;
		filter->compressed = MemoryContextAlloc(filter->context, VARSIZE_ANY(value));
		memcpy(filter->compressed, value, VARSIZE_ANY(value));
		filter->compressed_len = VARSIZE_ANY(value);
	}
}
