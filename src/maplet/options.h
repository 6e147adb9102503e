/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * options.h
 *	  What CREATE INDEX ... WITH (...) can say.
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
	double		rows;			/* that the table will have, as far as known; 0: not */
	int			remainder_bits; /* kept beyond log2 of the rows: false places are 2^-this */
} MapletOptions;

/* Those of an index; the defaults if it has none. */
extern const MapletOptions *bloomfam_maplet_options_of(Relation index);

/* Subphases of a build, for pg_stat_progress_create_index. */
#define MAPLET_BUILD_WRITING	2

#endif							/* BLOOMFAM_MAPLET_OPTIONS_H */
