/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * options.h
 *	  The storage options of a maplet index: CREATE INDEX ...  WITH (...).
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_MAPLET_OPTIONS_H
#define BLOOMFAM_MAPLET_OPTIONS_H

#include "pg/compat.h"

#include "utils/rel.h"

typedef struct MapletOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */

	/* The number of rows that the table is expected to have; 0 if it is not known. */
	double		rows;

	/*
	 * The bits of a hash that are kept beyond log2 of the rows: a lookup finds about 2^-this false
	 * places.
	 */
	int			remainder_bits;
} MapletOptions;

/* Returns the options of an index, or the defaults if none is set. */
extern const MapletOptions *bloomfam_maplet_options_of(Relation index);

/* The phase of a build that writes the run, for pg_stat_progress_create_index. */
#define MAPLET_BUILD_WRITING	2

#endif							/* BLOOMFAM_MAPLET_OPTIONS_H */
