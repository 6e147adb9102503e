/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * lookups.h
 *	  Lookups by an index, beside the scan that a filter would drop rows of.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_LOOKUPS_H
#define BLOOMFAM_JOIN_LOOKUPS_H

#include "join/planner/candidate.h"

/* A nested loop that looks up rows of the scanned relation for those of the build side. */
typedef struct JoinLookups
{
	Cost		cost;			/* of the nested loop; 0 if there is none */
	Cost		pages;			/* of the scan: what those pages cost it that lookups read, too */
} JoinLookups;

/*
 * Would a nested loop be faster that looks up rows of the relation for those of the build side, and
 * has the planner a cost for it that is lower than this one, of the hash join without a filter?
 */
extern bool bloomfam_join_lookups_are_faster(const JoinPathCandidate *path_candidate,
											 Cost hash_join);

/*
 * Returns the cheapest nested loop that looks up rows of the relation for those of the build side;
 * partial: of which each process of a parallel plan does a part.
 */
extern JoinLookups bloomfam_join_lookups(const JoinPathCandidate *path_candidate, bool partial);

#endif							/* BLOOMFAM_JOIN_LOOKUPS_H */
