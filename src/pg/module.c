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

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	MarkGUCPrefixReserved("bloomfam");
}
