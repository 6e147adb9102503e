/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * datum.h
 *	  Filters as datums: opening them, and recognizing them from call to call.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_DATUM_H
#define BLOOMFAM_DATUM_H

#include "core/bf_format.h"
#include "pg/compat.h"

/*
 * The open TOAST table, its indexes and the scan, while one TOASTed filter is probed without
 * fetching all of it (slice.c).
 */
typedef struct BloomfamSliceScan BloomfamSliceScan;

typedef struct BloomfamSlice
{
	BfView		view;			/* The filter's header, without a payload. */

	/* The filter's TOAST pointer, a struct varatt_external; zeros if there is no filter. */
	uint64		toast_pointer[2];
	uint32		lxid;
	uint32		reads;			/* The number of this filter's chunks that were read. */

	/*
	 * The number of chunks, of any filter, that were read in a row and not found at the place where
	 * they were expected.
	 */
	uint32		misplaced;

	/* The open scan, from bloomfam_slice_open() to bloomfam_slice_close(). */
	BloomfamSliceScan *scan;
	uint8		header[BF_MAX_HEADER_SIZE];
	uint8		bytes[BF_MAX_HEADER_SIZE];	/* The bytes that were read last. */
} BloomfamSlice;

/*
 * A filter that is kept open from call to call, as long as the datum is the same value.  A plain
 * value is used where it lies; a TOASTed one is fetched once. datum.c says how a value is
 * recognized.  The fields that each row looks at come first.
 */
typedef struct BloomfamFilter
{
	BfView		view;
	BfProbe		probe;			/* The function that probes the opened filter. */

	/*
	 * How bloomfam_filter_is_open() recognizes the opened value in another call: by at most one of
	 * the members plain_word, toast_pointer and compressed.
	 */
	/*
	 * The first word of a plain value, which is its length; a plain value is also recognized by its
	 * header.
	 */
	uint32		plain_word;
	uint32		lxid;			/* The transaction in which toast_pointer is valid. */

	/* The TOAST pointer, a struct varatt_external; zeros match no value. */
	uint64		toast_pointer[2];

	/*
	 * The length of "compressed", a copy of a datum that is compressed in its row; 0 if there is
	 * none.
	 */
	Size		compressed_len;
	char	   *compressed;

	uint8		header[BF_MAX_HEADER_SIZE]; /* The header that view was made from. */
	Size		header_len;

	/* A copy of a value that does not lie plainly in memory; NULL if there is none. */
	char	   *copy;
	MemoryContext context;

	/*
	 * The state of probing a TOASTed filter by slices, which does not depend on the opened value.
	 */
	BloomfamSlice slice;
} BloomfamFilter;

/* Makes an empty BloomfamFilter.  What it fetches goes into this memory context. */
extern void bloomfam_filter_init(BloomfamFilter *filter, MemoryContext context);

/* Opens the datum.  The view is valid until the next call or the end of the datum. */
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
 * Returns whether two headers are the same except for counts and checksum; both values must have
 * the same length.  If so, what was made of one header is valid for the other: kind, family,
 * geometry and probe, but not the counts in view.head.  The family's name follows from its id.
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

/* Returns whether the datum is the TOAST pointer that was opened last. */
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
 * Returns whether the datum is the value that was opened last, or a plain value of the same shape.
 * Then the view is valid for it from now on, and so is everything made of the header.  Makes only a
 * few comparisons, and returns false if more would be needed.
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
 * Opens the datum for one probe of one key, if that is worthwhile: then slice->view has its header.
 * Otherwise returns false, and the datum must be opened as a whole.  If it returns true,
 * bloomfam_slice_close() must follow, after bloomfam_slice_probe() if that is called.
 */
extern bool bloomfam_slice_open(BloomfamFilter *filter, Datum datum);
extern bool bloomfam_slice_probe(BloomfamSlice *slice, uint64 hash);
extern void bloomfam_slice_close(BloomfamSlice *slice);

/*
 * Opens a header by bf_open().  Raises an error if the stored value is corrupt, or if it is not a
 * filter but the state of an aggregate (kind "partial").
 */
extern void bloomfam_header_open(const void *data, Size avail, Size total, BfView *view);

/* Opens an argument for one use, in the current memory context.  The view points into it. */
extern void bloomfam_view_open(Datum datum, BfView *view);

/*
 * Opens an argument like bloomfam_view_open(), in the loose form that set operations need (loosen()
 * in bf.h).
 */
extern void bloomfam_view_open_loose(Datum datum, BfView *view);

/*
 * Like bloomfam_view_open() and bloomfam_view_open_loose(), but accept an aggregate's state, too.
 */
extern void bloomfam_state_open(Datum datum, BfView *view);
extern void bloomfam_state_open_loose(Datum datum, BfView *view);

/* Raises the error that an argument is an aggregate's state and not a filter. */
extern void bloomfam_not_a_filter_error(void) pg_attribute_noreturn();

/* Raises the error that a state was made by functions of another aggregate, made_by. */
extern void bloomfam_wrong_state_error(const char *made_by) pg_attribute_noreturn();

#endif							/* BLOOMFAM_DATUM_H */
