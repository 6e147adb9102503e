/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * module.c
 *	  What makes this a loadable module.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/guc.h"

#include "hooks.h"
#include "maplet/maplet.h"

BLOOMFAM_MODULE_MAGIC("bloomfam", "1.0.0");

extern PGDLLEXPORT void _PG_init(void);

/*
 * The server loads a library twice where two names lead to two files: that of plugins/ before the
 * files are replaced, and the other one after that, or the other way round.  The second one must
 * not define the settings again, nor work without them.  While a session begins it stays unused, as
 * its functions are called by the first one's name; later somebody calls them.
 */
void
_PG_init(void)
{
	void	  **loaded = find_rendezvous_variable("bloomfam");

	if (*loaded != NULL)
	{
		if (IsNormalProcessingMode() && !InitializingParallelWorker)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("library \"bloomfam\" was replaced after this session had loaded it"),
					 errhint("Connect again: a new session has the new library.")));
		return;
	}
	*loaded = loaded;
	bloomfam_join_init();
	bloomfam_maplet_init();
	MarkGUCPrefixReserved("bloomfam");
}
