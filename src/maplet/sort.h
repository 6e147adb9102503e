/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sort.h
 *	  Sorts entries into the order that runs need.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_SORT_H
#define BLOOMFAM_MAPLET_SORT_H

#include "pg/compat.h"

#include "core/bf_run.h"

/*
 * Sorts entries by hash, then by place.  Frees the palloc'd array and returns a new one, so there
 * are two arrays meanwhile.  Takes linear time for hashes that are spread evenly over their range,
 * whatever the range is, and n log n at worst.
 */
extern BfRunEntry *bloomfam_maplet_sort(BfRunEntry *entries, uint64 n);

#endif							/* BLOOMFAM_MAPLET_SORT_H */
