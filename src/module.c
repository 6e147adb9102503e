/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * module.c
 *	  Initializes this loadable module.
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
#include "signature/signature.h"

BLOOMFAM_MODULE_MAGIC("bloomfam", "1.0.0");

extern PGDLLEXPORT void _PG_init(void);

/*
 * Initializes the module when the server loads it.  The server loads a library twice if two names
 * lead to two files: for example, the name in plugins/ before the files are replaced by an upgrade,
 * and the other name after that.  The second library must not define the settings again, and must
 * not work without them.  If it is loaded while a session begins, it stays unused, as its functions
 * are called by the first one's name.  If it is loaded later, somebody calls its functions, so that
 * is an error.
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
	bloomfam_hooks_init();
	bloomfam_maplet_init();
	bloomfam_signature_init();
	MarkGUCPrefixReserved("bloomfam");
}
