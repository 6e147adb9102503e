/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index_open.h
 *	  Opens the index that is a function's argument.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_INDEX_OPEN_H
#define BLOOMFAM_INDEX_OPEN_H

#include "pg/compat.h"

#include "access/amapi.h"
#include "utils/rel.h"

typedef struct BloomfamOpenIndex
{
	Relation	table;
	Relation	index;
	LOCKMODE	lockmode;
} BloomfamOpenIndex;

/* Who may open an index by bloomfam_index_open(). */
typedef enum BloomfamIndexUser
{
	BLOOMFAM_INDEX_USER_OWNER,			/* Only the index's owner may open it. */
	BLOOMFAM_INDEX_USER_MONITOR,		/* Members of pg_stat_scan_tables may open it, too. */
	BLOOMFAM_INDEX_USER_CHECKED_LATER	/* Anybody may: the caller checks privileges itself. */
} BloomfamIndexUser;

/*
 * Opens and locks the index's table, and then the index.  Raises an error if it is not an
 * index that this session can read, of the access method with this name and this function for
 * builds, if the index is not valid, or if the user may not open it.
 * bloomfam_index_close() closes and unlocks both.
 */
extern void bloomfam_index_open(Oid index, const char *method, ambuild_function build,
								LOCKMODE lockmode, BloomfamIndexUser user,
								BloomfamOpenIndex *opened);
extern void bloomfam_index_close(BloomfamOpenIndex *opened);

#endif							/* BLOOMFAM_INDEX_OPEN_H */
