/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * datum.h
 *	  Filters as datums: opened, and known again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_DATUM_H
#define BLOOMFAM_DATUM_H

#include "core/bf_format.h"
#include "pg/compat.h"

/*
 * A TOASTed filter of which only the header has been read, since so far few keys were looked for
 * in it: a probe then reads what it needs, and not the whole value.
 */
typedef struct BloomfamSliceScan BloomfamSliceScan;

typedef struct BloomfamSlice
{
	BfView		view;			/* no payload */
	uint64		toast_pointer[2];	/* which filter, as below; zeros: none */
	uint32		lxid;
	uint32		reads;			/* chunks of this filter that were read */
	uint32		misplaced;		/* chunks, of any filter, that did not lie where they should, in a
								 * row */
	BloomfamSliceScan *scan;		/* from bloomfam_slice_open() to bloomfam_slice_close() */
	uint8		header[BF_MAX_HEADER_SIZE];
	uint8		bytes[BF_MAX_HEADER_SIZE];	/* what was read last */
} BloomfamSlice;

/*
 * An opened filter that is kept from call to call.  What is opened stays open while the datum is
 * the same value: a plain one is used where it lies, a TOASTed one is fetched once.  See datum.c
 * for how a value is known again.  What each row looks at comes first.
 */
typedef struct BloomfamFilter
{
	BfView		view;
	BfProbe		probe;			/* for this view */

	/* what the opened value is known again by: at most one of three */
	uint32		plain_word;		/* the first word of a plain value, which is its length; and its
								 * header, below */
	uint32		lxid;			/* the transaction that toast_pointer holds in */
	uint64		toast_pointer[2];	/* a struct varatt_external; zeros match none */
	Size		compressed_len; /* of a copy of the datum, compressed in its row; 0: none */
	char	   *compressed;

	uint8		header[BF_MAX_HEADER_SIZE]; /* that view was made from */
	Size		header_len;
	char	   *copy;			/* of a value that does not lie plainly in memory */
	MemoryContext context;

	BloomfamSlice slice;		/* beside all that */
} BloomfamFilter;

/* Makes an empty one; what it fetches goes into this context. */
extern void bloomfam_filter_init(BloomfamFilter *filter, MemoryContext context);

/* Opens the datum.  The view is good until the next call or the datum's end. */
extern void bloomfam_filter_open(BloomfamFilter *filter, Datum datum);

static inline uint64
bloomfam_load64(const void *p)
{
	uint64		v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline bool
bloomfam_same_word(const uint8 *a, const uint8 *b, int offset)
{
	return bloomfam_load64(a + offset) == bloomfam_load64(b + offset);
}

/*
 * Are two headers of values of one length the same, but for counts and checksum?  Then what was
 * made of one is good for the other: kind, family, geometry and probe, though not the counts in
 * view.head.  The family's name follows from its id.
 */
static inline bool
bloomfam_same_filter_shape(const uint8 *a, const uint8 *b)
{
	return likely(bloomfam_same_word(a, b, 0)) &&
		   likely(bloomfam_same_word(a, b, BF_OFF_FAMILY_ID)) &&
		   likely(bloomfam_same_word(a, b, BF_OFF_PAYLOAD_LEN)) &&
		   likely(bloomfam_same_word(a, b, BF_OFF_PARAM)) &&
		   likely(bloomfam_same_word(a, b, BF_OFF_PARAM + 8));
}

/* Is the datum the TOAST pointer that was opened last? */
static inline bool
bloomfam_filter_is_fetched(const BloomfamFilter *filter, Datum datum)
{
	const char *toast = VARDATA_EXTERNAL(DatumGetPointer(datum));

	StaticAssertStmt(sizeof(filter->toast_pointer) == sizeof(struct varatt_external),
					 "unexpected size of a TOAST pointer");
	return VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum)) &&
		   likely(bloomfam_load64(toast) == filter->toast_pointer[0]) &&
		   likely(bloomfam_load64(toast + 8) == filter->toast_pointer[1]) &&
		   likely(filter->lxid == BLOOMFAM_MY_LXID);
}

/*
 * Is the datum what was opened last, or a plain value of the same shape as that?  Then the view
 * is good for it from now on, and whatever else was made of the header still is.  A few
 * comparisons; false where more are needed.
 */
static inline bool
bloomfam_filter_is_open(BloomfamFilter *filter, Datum datum)
{
	char	   *pointer = DatumGetPointer(datum);
	const uint8 *payload;
	uint32		word;

	if (!VARATT_IS_4B_U(pointer))
		return bloomfam_filter_is_fetched(filter, datum);
	memcpy(&word, pointer, sizeof(word));
	if (unlikely(word != filter->plain_word) ||
		!bloomfam_same_filter_shape((const uint8 *) pointer + VARHDRSZ, filter->header))
		return false;
	payload = (const uint8 *) pointer + VARHDRSZ + filter->header_len;
	if (unlikely(filter->view.payload != payload))
		filter->view.payload = payload;
	return true;
}

/*
 * Opens the datum for one probe of one key, if that is worth it: slice->view then has its header.
 * False: open it whole.  After true, and after bloomfam_slice_probe(), comes
 * bloomfam_slice_close().
 */
extern bool bloomfam_slice_open(BloomfamFilter *filter, Datum datum);
extern bool bloomfam_slice_probe(BloomfamSlice *slice, uint64 hash);
extern void bloomfam_slice_close(BloomfamSlice *slice);

/*
 * bf_open(), or an error that says that the stored value is corrupt, or no filter but the state
 * of an aggregate (kind "partial").
 */
extern void bloomfam_header_open(const void *data, Size avail, Size total, BfView *view);

/* Opens an argument for one look, in the current memory context; the view borrows it. */
extern void bloomfam_view_open(Datum datum, BfView *view);

/* The same, and in the form that set operations work on; see loosen() in bf.h. */
extern void bloomfam_view_open_loose(Datum datum, BfView *view);

/* The same two where a state is welcome, too. */
extern void bloomfam_state_open(Datum datum, BfView *view);
extern void bloomfam_state_open_loose(Datum datum, BfView *view);

/* Raises the error for a state in the place of a filter. */
extern void bloomfam_not_a_filter_error(void) pg_attribute_noreturn();

/* Raises the error for a state that functions of another aggregate, made_by, have made. */
extern void bloomfam_wrong_state_error(const char *made_by) pg_attribute_noreturn();

#endif							/* BLOOMFAM_DATUM_H */
