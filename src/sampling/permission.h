/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * permission.h
 *	  Checks what the planner may read to sample a join.
 *
 * Each function returns NULL if reading is allowed, or else the reason why it is not.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SAMPLE_PERMISSION_H
#define BLOOMFAM_SAMPLE_PERMISSION_H

#include "nodes/pathnodes.h"

/*
 * Checks whether the planner may read rows of any table while it plans this query.  Returns NULL,
 * or the reason why not.
 */
extern const char *bloomfam_sample_query_forbidden(PlannerInfo *root);

/*
 * Checks whether the planner may read these columns (attribute numbers, all above 0) of all rows of
 * a base relation, which must be locked.  The relation must be a table whose rows can be read block
 * by block.  If partitioned is true, it may also be one that has such tables below it.  These are
 * checked with NULL for columns: they are read with the rights on the table above them, as the
 * query does.
 */
extern const char *bloomfam_sample_forbidden(PlannerInfo *root, const RelOptInfo *rel,
											 const Bitmapset *columns, bool partitioned);

#endif							/* BLOOMFAM_SAMPLE_PERMISSION_H */
