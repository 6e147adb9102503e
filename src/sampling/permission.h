/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * permission.h
 *	  What the planner may read to sample a join.
 *
 * Each function returns NULL if reading is allowed, else the reason why it is not.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_PERMISSION_H
#define BLOOMFAM_SAMPLE_PERMISSION_H

#include "nodes/pathnodes.h"

/* May rows be read at all while this query is planned? */
extern const char *bloomfam_sample_query_forbidden(PlannerInfo *root);

/*
 * May the planner read these columns (attribute numbers, all above 0) of all rows of a base
 * relation, which is locked?  It must be a table whose rows can be read block by block, or, if
 * partitioned is true, one that has such tables below it.  columns is NULL for these: as the query
 * does, they are read with the rights on the table above them.
 */
extern const char *bloomfam_sample_forbidden(PlannerInfo *root, const RelOptInfo *rel,
											 const Bitmapset *columns, bool partitioned);

#endif							/* BLOOMFAM_SAMPLE_PERMISSION_H */
