/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * port.c
 *	  Provides what the core needs from PostgreSQL, and raises errors for the core's status codes.
 *
 * This is the only file that chooses an SQLSTATE for a status of the core.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>

#include "catalog/namespace.h"
#include "common/string.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "keys/family.h"
#include "pg/key_family.h"
#include "pg/port.h"

#define HUGE_PAGE		((Size) 2 * 1024 * 1024)

/*
 * The smallest memory for which huge pages are asked by madvise().  The allocator may reuse smaller
 * memory for something else after it was freed, and the advice would then still hold for it.
 */
#define MIN_HUGE_SIZE	((Size) 8 * 1024 * 1024)

/*
 * The number of bytes that are written between two answers to interrupts: less than a millisecond.
 */
#define BYTES_PER_CHECK	((Size) 1024 * 1024)

static void
check_interrupts(void *arg)
{
	CHECK_FOR_INTERRUPTS();
}

/*
 * Asks for huge pages for memory that was allocated and not touched yet.  A filter that is larger
 * than the caches is read and written at random, which would spend most of its time on page tables.
 * It does no harm if huge pages cannot be had.
 */
void
bloomfam_advise_huge_pages(void *memory, Size size)
{
#ifdef MADV_HUGEPAGE
	uintptr_t	start = TYPEALIGN(HUGE_PAGE, (uintptr_t) memory);
	uintptr_t	end = TYPEALIGN_DOWN(HUGE_PAGE, (uintptr_t) memory + size);

	if (size >= MIN_HUGE_SIZE && end > start)
		(void) madvise((void *) start, end - start, MADV_HUGEPAGE);
#endif
}

void
bloomfam_zero(void *memory, Size size)
{
	Size		done;

	for (done = 0; done < size; done += BYTES_PER_CHECK)
	{
		CHECK_FOR_INTERRUPTS();
		memset((char *) memory + done, 0, Min(BYTES_PER_CHECK, size - done));
	}
}

void
bloomfam_copy(void *to, const void *from, Size size)
{
	Size		done;

	for (done = 0; done < size; done += BYTES_PER_CHECK)
	{
		CHECK_FOR_INTERRUPTS();
		memcpy((char *) to + done, (const char *) from + done, Min(BYTES_PER_CHECK, size - done));
	}
}

static void *
env_alloc(void *arg, size_t size)
{
	void	   *memory = palloc_extended(size, MCXT_ALLOC_HUGE);

	bloomfam_advise_huge_pages(memory, size);
	return memory;
}

static void
env_release(void *arg, void *memory)
{
	if (memory != NULL)
		pfree(memory);
}

/* The core's memory comes from the current memory context, which frees it after an error. */
const BfPort bloomfam_port = {
	.check_interrupts = check_interrupts,
	.alloc = env_alloc,
	.release = env_release,
};

/* Raises the error for bad arguments of bf_design() and bf_plan(). */
void
bloomfam_params_error(BfStatus status, const BfKind *kind, double fpr, uint64 keys)
{
	switch (status)
	{
		case BF_FPR_OUT_OF_RANGE:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("false positive rate must be between 0 and 1, both excluded"),
					 fpr >= 1 ? errhint("It is a fraction: 0.01 stands for 1 %%.  The expected "
										"number of keys is another argument.")
							  : errhint("It is a fraction: 0.01 stands for 1 %%.")));
			break;
		case BF_FPR_TOO_LOW:
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false positive rate %g is too low for kind \"%s\"", fpr, kind->name),
				 errdetail("The lowest that this kind reaches is %g.", kind->min_fpr),
				 kind->better_kind != NULL ? errhint("Use kind \"%s\".", kind->better_kind) : 0));
			break;
		case BF_TOO_LARGE:
			ereport(
				ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("bloom filter would be too large"),
				 errdetail("A filter of kind \"%s\" for " UINT64_FORMAT
						   " keys at a false positive rate of %g would exceed %d MB.",
						   kind->name, keys, fpr, (int) (BF_MAX_VALUE_SIZE / (1024 * 1024))),
				 errhint("Allow a higher false positive rate, or divide the keys among several "
						 "filters.")));
			break;
		default:
			elog(ERROR, "unexpected status %d", (int) status);
	}
	pg_unreachable();
}

/*
 * Returns the first kind that users may ask for and that has this capability; NULL if there is
 * none.
 */
static const BfKind *
able_kind(uint32 cap)
{
	const BfKind *kind;
	size_t		i;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
		if ((kind->caps & cap) && !(kind->caps & BF_INTERNAL))
			break;
	return kind;
}

/* Makes an error's detail that describes two filters. */
static int
detail_of_both(const BfHeader *a, const BfHeader *b)
{
	return errdetail("The first filter is of kind \"%s\" (capacity " UINT64_FORMAT
					 ", false positive rate %g), "
					 "the second of kind \"%s\" (capacity " UINT64_FORMAT
					 ", false positive rate %g).",
					 a->kind->name, a->capacity, a->target_fpr, b->kind->name, b->capacity,
					 b->target_fpr);
}

/*
 * Returns what differs between the families of two filters, or of a filter and a key.  A value may
 * lack the name of a well-known family.
 */
static FamilyDifference
difference_of(const char *a, uint32 a_len, uint64 a_id, const char *b, uint32 b_len, uint64 b_id)
{
	if (a == NULL || a_len == 0)
	{
		a = bf_family_name(a_id);
		a_len = a != NULL ? strlen(a) : 0;
	}
	if (b == NULL || b_len == 0)
	{
		b = bf_family_name(b_id);
		b_len = b != NULL ? strlen(b) : 0;
	}
	return bloomfam_family_difference(a, a_len, b, b_len);
}

static int
hint_to_build_alike(const BfHeader *a, const BfHeader *b)
{
	switch (difference_of(a->family, a->family_len, a->family_id, b->family, b->family_len,
						  b->family_id))
	{
		case FAMILY_DIFFERS_IN_COLLATION:
			return errhint("Give the keys one collation when building the filters, by the COLLATE "
						   "clause.");
		case FAMILY_DIFFERS_IN_SERVER:
			return errhint("Build both on one major version of the server: each hashes such keys "
						   "in a way of its own.");
		case FAMILY_MAY_DIFFER_IN_SERVER:
			return errhint("Build both of keys of one type, and on one major version of the "
						   "server: each hashes such keys in a way of its own.");
		case FAMILY_DIFFERS_IN_TYPE:
			break;
	}
	return errhint("Cast the keys to one type when building the filters.");
}

/*
 * Makes a hint for two filters that cannot be united or intersected.  A kind's own advice tells
 * which of its filters can be, or why none can.  For other kinds, the hint is to probe one filter
 * after the other.
 */
static int
hint_to_combine(const BfKind *kind, bool unite)
{
	uint32		wanted = unite ? BF_CAN_UNION : BF_CAN_INTERSECT;
	bool		never = !(kind->caps & (BF_CAN_UNION | BF_CAN_INTERSECT));

	if (kind->advice != NULL && kind->build == NULL && (never || (kind->caps & wanted)))
		return errhint("%s", kind->advice);
	if (unite)
		return errhint("Ask all of them, \"key ~@ ANY (ARRAY[f, g])\", or build one filter of the "
					   "keys of all; filters of kind \"%s\" can be united.",
					   able_kind(wanted)->name);
	return errhint("Ask both of them, \"f @~ key AND g @~ key\"; filters of kind \"%s\" can be "
				   "intersected.",
				   able_kind(wanted)->name);
}

/* Raises the error for two filters that cannot be combined. */
void
bloomfam_combine_error(BfStatus status, bool unite, const BfView *a, const BfView *b)
{
	const char *verb = unite ? "unite" : "intersect";
	const BfKind *kind = a->head.kind;

	/* The filter of no rows unites with any filter, except with kinds that do not unite at all. */
	if (kind->caps & BF_INTERNAL)
		kind = b->head.kind;
	switch (status)
	{
		case BF_FAMILY_MISMATCH:
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("cannot %s bloom filters of keys of different types", verb),
					 errdetail("The first filter holds keys of type %s, the second of type %s.",
							   bloomfam_family_display(a->head.family, a->head.family_len,
													   a->head.family_id),
							   bloomfam_family_display(b->head.family, b->head.family_len,
													   b->head.family_id)),
					 hint_to_build_alike(&a->head, &b->head)));
			break;
		case BF_KIND_MISMATCH:
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("cannot %s bloom filters of different kinds", verb),
							detail_of_both(&a->head, &b->head),
							errhint("Build both filters with the same kind.")));
			break;
		case BF_UNSUPPORTED:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot %s bloom filters of kind \"%s\"", verb, kind->name),
					 detail_of_both(&a->head, &b->head),
					 hint_to_combine(kind, unite)));
			break;
		default:
			elog(ERROR, "unexpected status %d", (int) status);
	}
	pg_unreachable();
}

/*
 * Raises the error for what a kind cannot do.  The hint is the kind's own advice, or names the
 * first kind that can.  For a capability that few kinds have, it always names a kind.
 */
void
bloomfam_unsupported_error(const BfKind *kind, const char *what, uint32 needed_cap)
{
	const char *advice = needed_cap & (BF_CAN_REMOVE | BF_CAN_COUNT) ? NULL : kind->advice;
	const BfKind *able = able_kind(needed_cap);

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot %s a bloom filter of kind \"%s\"", what, kind->name),
			 advice != NULL ? errhint("%s", advice) :
			 able != NULL ? errhint("A filter of kind \"%s\" can do this.", able->name) : 0));
	pg_unreachable();
}

/* Raises the error for a filter that is full. */
void
bloomfam_full_error(const BfHeader *head, BfStatus status)
{
	if (status == BF_TOO_LARGE)
		bloomfam_params_error(status, head->kind, head->target_fpr, head->keys_added);
	ereport(
		ERROR,
		(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		 errmsg("bloom filter of kind \"%s\" is full", head->kind->name),
		 errdetail("It was made for " UINT64_FORMAT " keys, and " UINT64_FORMAT " were added.",
				   head->capacity, head->keys_added),
		 errhint("Build it for more keys.  A key that is added several times takes a place each "
				 "time.")));
	pg_unreachable();
}

/* Raises the error for a key of one family and a filter of another. */
void
bloomfam_family_error(const BfHeader *filter, const char *key_family, uint32 key_family_len,
					  uint64 key_family_id)
{
	char *holds = bloomfam_family_display(filter->family, filter->family_len, filter->family_id);
	char	   *is = bloomfam_family_display(key_family, key_family_len, key_family_id);
	FamilyDifference difference = difference_of(filter->family, filter->family_len,
												filter->family_id, key_family, key_family_len,
												key_family_id);

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("key does not have the type of the bloom filter's keys"),
			 errdetail("The filter holds keys of type %s, and the key is of type %s.", holds, is),
			 difference == FAMILY_DIFFERS_IN_COLLATION
				 ? errhint("Give the key the collation that the filter was built under, by the "
						   "COLLATE clause.")
				 : difference == FAMILY_DIFFERS_IN_SERVER
				 ? errhint("Build the filter again: each major version of the server hashes such "
						   "keys in a way of its own.")
				 : difference == FAMILY_MAY_DIFFER_IN_SERVER
				 ? (filter->family_len > 0
					? errhint("Make the bloomkey again, on this server, from a key of the filter's "
							  "type: each major version hashes such keys in a way of its own.")
					: errhint("Build the filter again, on this server, from keys of the key's "
							  "type: each major version hashes such keys in a way of its own."))
				 : strcmp(is, psprintf("%s[]", holds)) == 0
				 ? errhint("For the elements of an array there are \"filter @~ ANY (keys)\", "
						   "bloom_may_contain_any and bloom_add_all.")
				 : strcmp(holds, psprintf("%s[]", is)) == 0
				 ? errhint("The filter's keys are whole arrays.  For their elements build it by "
						   "bloom_agg(x) FROM unnest(...) AS x.")
				 : errhint("Cast the key to the type that the filter was built from.")));
	pg_unreachable();
}

/*
 * Converts a name from UTF-8 to the server's encoding.  Returns NULL if it is not valid UTF-8, or
 * has characters that the encoding does not have.
 */
static char *
name_to_server(const char *name, int len)
{
	char	   *copy = pnstrdup(name, len);
	char	   *converted;
	Size		size;
	Oid			proc;

	/* The name's bytes may have come from anywhere, so they are verified. */
	if (!pg_verify_mbstr(PG_UTF8, copy, len, true))
		return NULL;
	if (GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII ||
		pg_is_ascii(copy))
		return copy;

	proc = FindDefaultConversionProc(PG_UTF8, GetDatabaseEncoding());
	if (!OidIsValid(proc))
		return NULL;
	size = (Size) len * MAX_CONVERSION_GROWTH + 1;
	converted = palloc(size);
	if (pg_do_encoding_conversion_buf(proc, PG_UTF8, GetDatabaseEncoding(), (unsigned char *) copy,
									  len, (unsigned char *) converted, (int) size, true) != len)
		return NULL;
	return converted;
}

char *
bloomfam_family_display(const char *name, uint32 len, uint64 id)
{
	char	   *display = NULL;

	if (id == 0)
		return pstrdup("(none)");
	if (name == NULL || len == 0)
	{
		name = bf_family_name(id);
		len = name != NULL ? strlen(name) : 0;
	}
	if (name != NULL)
		display = name_to_server(name, (int) len);
	return display != NULL ? display : psprintf("(number %016llx)", (unsigned long long) id);
}
