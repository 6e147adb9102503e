/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * search.h
 *	  Finds the ranges that may have rows which meet a scan's conditions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SIGNATURE_SEARCH_H
#define BLOOMFAM_SIGNATURE_SEARCH_H

#include "pg/compat.h"

#include "access/skey.h"

#include "signature/keys.h"

/* A condition of a scan: one query, or for an array several, one of which must be met. */
typedef struct SignatureCondition
{
	SignatureQuery **queries;
	int			n;
} SignatureCondition;

/* All conditions of a scan, which must be met together. */
typedef struct SignatureSearch
{
	bool		finds_nothing;	/* True if no row can meet the conditions. */
	int			n;				/* The number of conditions that ask for keys. */
	SignatureCondition *conditions;
	uint64		pages;			/* The number of pages of groups that were read. */

	/* The last page that had another owner than the index says; InvalidBlockNumber: none had. */
	BlockNumber missed;
} SignatureSearch;

/*
 * Makes a search of a scan's conditions in the current memory context.  Values that the conditions
 * have must live as long.
 */
extern SignatureSearch *bloomfam_signature_search_make(const SignatureColumns *columns,
													   Relation index, const ScanKeyData *keys,
													   int nkeys);

/*
 * Calls found() for each group of ranges in the order of the table: n ranges from "first" on, of
 * which those in the set may have matching rows.  Ranges without a signature follow: found() is
 * called with no set and n = 0, for all from "first" on.  Returns false if the index was changed
 * so that the search must begin anew, with a new copy of the metapage.
 */
typedef void (*SignatureFound) (void *arg, uint32 first, uint32 n, const SignatureSet *set);

extern bool bloomfam_signature_search(Relation index, const SignatureMeta *meta,
									  SignatureSearch *search, SignatureFound found, void *arg);

/* Searches one group of "n" ranges; sets *set.  Returns false if its pages have another owner. */
extern bool bloomfam_signature_search_group(Relation index, const SignatureMeta *meta,
											const SignatureGroup *group, SignaturePageKind kind,
											uint32 n, SignatureSearch *search,
											SignatureSet *set);

#endif							/* BLOOMFAM_SIGNATURE_SEARCH_H */
