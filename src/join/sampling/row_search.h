/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * row_search.h
 *	  A table is searched for rows of another, which are sampled, by several columns at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_ROW_SEARCH_H
#define BLOOMFAM_JOIN_ROW_SEARCH_H

#include "join/sampling/match_share.h"
#include "join/sampling/pair.h"

typedef struct JoinRowSearch
{
	const JoinPair *pair;
	Relation	probe;			/* of whose rows some are taken */
	Relation	searched;
	bool		unique;			/* no two rows of it have one key */
	int			most_blocks;	/* that may be accessed, of both */
} JoinRowSearch;

/*
 * Searches, with the active snapshot.  Returns NULL, or why it cannot be done.  It takes memory of
 * the current context, and fails only as reading rows would.
 */
extern const char *bloomfam_join_row_search(PlannerInfo *root, const JoinRowSearch *search,
											JoinMatchShare *share);

#endif							/* BLOOMFAM_JOIN_ROW_SEARCH_H */
