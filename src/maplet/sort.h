/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sort.h
 *	  Entries in the order that runs want.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_SORT_H
#define BLOOMFAM_MAPLET_SORT_H

#include "pg/compat.h"

#include "core/bf_run.h"

/*
 * Sorts by hash, then by place.  Takes a palloc'd array and returns another one in its stead, so
 * that there are two meanwhile.  Linear for hashes that are spread evenly over their range,
 * whatever that is; n log n at worst.
 */
extern BfRunEntry *bloomfam_maplet_sort(BfRunEntry *entries, uint64 n);

#endif							/* BLOOMFAM_MAPLET_SORT_H */
