/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * module.c
 *	  What makes this a loadable module.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "join/hooks.h"
#include "maplet/maplet.h"

BLOOMFAM_MODULE_MAGIC("bloomfam", "1.0.0");

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	bloomfam_join_init();
	bloomfam_maplet_init();
	MarkGUCPrefixReserved("bloomfam");
}
