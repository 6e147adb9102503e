/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * gucs.c
 *	  Defines the configuration parameters of the join filter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "access/xact.h"
#include "utils/guc.h"

#include "join/base/gucs.h"

int			bloomfam_join_filter = JOIN_FILTER_OFF;
int			bloomfam_join_filter_max_size = 64 * 1024;
int			bloomfam_join_foreign_keys = 1000;
bool		bloomfam_join_filter_log = false;
bool		bloomfam_join_filter_plans = true;
bool		bloomfam_join_filter_skip = true;
bool		bloomfam_join_samples = true;

static const struct config_enum_entry mode_options[] = {
	{"off", JOIN_FILTER_OFF, false},
	{"on", JOIN_FILTER_ON, false},
	{"force", JOIN_FILTER_FORCE, false},
	/*
	 * Other words that the server accepts for a boolean parameter are accepted for
	 * bloomfam.join_filter too, but are hidden from lists of its values.
	 */
	{"true", JOIN_FILTER_ON, true},
	{"yes", JOIN_FILTER_ON, true},
	{"1", JOIN_FILTER_ON, true},
	{"false", JOIN_FILTER_OFF, true},
	{"no", JOIN_FILTER_OFF, true},
	{"0", JOIN_FILTER_OFF, true},
	{NULL, 0, false}
};

static bool in_time;

/*
 * Checks a new value of bloomfam.join_filter.  Any value is accepted; a warning is raised if
 * filters are switched on in a session that loaded the module too late for them to work.
 */
static bool
check_mode(int *mode, void **extra, GucSource source)
{
	bool		set_for_sessions = source == PGC_S_DATABASE || source == PGC_S_USER ||
								   source == PGC_S_DATABASE_USER;

	if (*mode != JOIN_FILTER_OFF && (source == PGC_S_SESSION || set_for_sessions) && !in_time)
		ereport(WARNING,
				errmsg("\"bloomfam.join_filter\" has no effect in this session"),
				errdetail("The module was loaded after the session had begun."),
				errhint("Add bloomfam to session_preload_libraries, by ALTER DATABASE or ALTER "
						"ROLE for instance, and connect again. Where $libdir/plugins has "
						"bloomfam, any user may add it to local_preload_libraries instead."));
	return true;
}

void
bloomfam_join_gucs_define(bool loaded_in_time)
{
	in_time = loaded_in_time;
	/* A server with assertions compares the variable with its default from PostgreSQL 16 on. */
	bloomfam_join_filter = loaded_in_time ? JOIN_FILTER_ON : JOIN_FILTER_OFF;
	DefineCustomEnumVariable(
		"bloomfam.join_filter",
		"Lets hash joins drop rows of their probe side at the scan, by a Bloom filter of their "
		"build side.",
		"\"force\" does so wherever it is right, whether or not it is expected to pay. "
		"It is on by default where bloomfam is in session_preload_libraries, and has no effect "
		"elsewhere.",
		&bloomfam_join_filter, bloomfam_join_filter, mode_options, PGC_USERSET, 0, check_mode, NULL,
		NULL);

	/*
	 * Join filters are off if the module was loaded too late.  A parallel worker always loads the
	 * module before its first command, so its own default is "on".  The leader sends a worker only
	 * settings that differ from the leader's defaults, so "off" must be set here explicitly rather
	 * than be the default.
	 */
	if (!loaded_in_time && !IsInParallelMode())
		SetConfigOption("bloomfam.join_filter", "off", PGC_USERSET, PGC_S_DYNAMIC_DEFAULT);
	DefineCustomIntVariable("bloomfam.join_filter_max_size",
							"Sets the size from which on a join's filter is discarded.", NULL,
							&bloomfam_join_filter_max_size, 64 * 1024, 1, 1024 * 1024, PGC_USERSET,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable(
		"bloomfam.join_foreign_keys",
		"Sets the number of a join's keys that may be sent to a foreign server as plain values.",
		"If there are more, the smallest and the largest are sent. They may appear in the foreign "
		"server's log. 0 sends filters only, and -1 nothing at all.",
		&bloomfam_join_foreign_keys, 1000, -1, 100000, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable(
		"bloomfam.join_filter_log",
		"Logs for each join that may have filters which it gets, or why it gets none.", NULL,
		&bloomfam_join_filter_log, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable(
		"bloomfam.join_filter_plans",
		"Lets the planner choose hash joins for what their filters are expected to save.",
		"If it is off, plans are made as without filters.", &bloomfam_join_filter_plans, true,
		PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable(
		"bloomfam.join_filter_skip",
		"Lets joins with filters not read partitions and pages of their probe side in which no row "
		"can match.",
		NULL, &bloomfam_join_filter_skip, true, PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomBoolVariable(
		"bloomfam.join_samples",
		"Lets the planner sample rows of large tables, to know how many of them have a match in "
		"the tables that they are joined to.",
		"It is of use without join filters, too. Needs bloomfam in session_preload_libraries.",
		&bloomfam_join_samples, true, PGC_USERSET, 0, NULL, NULL, NULL);
}
