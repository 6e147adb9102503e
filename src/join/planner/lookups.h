/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * lookups.h
 *	  Compares a filtered scan with a nested loop that looks up rows by an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_LOOKUPS_H
#define BLOOMFAM_JOIN_LOOKUPS_H

#include "join/planner/candidate.h"

/* A nested loop that looks up rows of the scanned relation for the rows of the build side. */
typedef struct JoinLookups
{
	Cost		cost;			/* The cost of the nested loop; 0 if there is none. */

	/* The part of the scan's cost that is due to pages that the lookups would read as well. */
	Cost		pages;
} JoinLookups;

/*
 * Tells whether a nested loop that looks up rows of the scanned relation for the rows of the build
 * side is in truth faster than the filtered scan.  If not, sets *lookups to the cheapest nested
 * loop of that kind.  If "partial" is true, each process of a parallel plan does a part of it.
 */
extern bool bloomfam_join_lookups_win(const JoinPathCandidate *path_candidate, bool partial,
									  JoinLookups *lookups);

#endif							/* BLOOMFAM_JOIN_LOOKUPS_H */
