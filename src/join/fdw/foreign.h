/*-------------------------------------------------------------------------
 *
 * foreign.h
 *	  Join filters that are pushed to a foreign server, so that rows that cannot join are not sent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FOREIGN_H
#define BLOOMFAM_JOIN_FOREIGN_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

/* What the planner cannot know, and has a default for. */
typedef enum JoinGuess
{
	JOIN_GUESSES_NOTHING,
	JOIN_GUESSES_FRACTION,		/* the fraction of rows that are dropped */
	JOIN_GUESSES_ROWS			/* the number of rows, and so that fraction as well */
} JoinGuess;

/* Such a filter, of one column of the key, while the plan is executed. */
typedef struct JoinForeign JoinForeign;

/*
 * Can a foreign scan ask its server for those rows only whose key may be in a filter of the build
 * side, by our own hashes?  The key is an output column of the scan's.  The caller knows that
 * rows without a partner may be dropped below the scan's conditions, and that the build side
 * depends on no outer parameter; and whether the scan notices how often its own conditions and
 * columns are asked for.  Returns NULL if it can, else why not, a constant.
 */
extern const char *bloomfam_join_foreign_refusal(const ForeignScan *scan, bool volatile_free,
												 AttrNumber attribute, Oid operator, Oid collation,
												 Oid build_type);

/*
 * Is the number of its rows a guess: has it a table that was never analyzed, and the server that
 * has it was not asked?
 */
extern bool bloomfam_join_foreign_is_guessed(const PlannedStmt *stmt, const ForeignScan *scan);

/*
 * What of the estimate is a guess of a filter that the scan could take, as a foreign table was
 * never analyzed.  The key, of which the filter would have so many, is an output column of the
 * scan's.  A filter of too many keys is not pushed, so there is nothing to be tried.
 */
extern JoinGuess bloomfam_join_foreign_guess(const PlannedStmt *stmt, const ForeignScan *scan,
											 AttrNumber attribute, double keys);

/*
 * Makes a foreign scan that can do so.  *param is the filter's parameter, and -1 before the first
 * scan.
 */
extern void bloomfam_join_foreign_plan(PlannedStmt *stmt, ForeignScan *scan, AttrNumber attribute,
									   int *param);

/*
 * To be called for each such filter of a plan, whatever the settings are at execution: its
 * parameter is NULL until it is finished, which passes every key.  It is of keys of this type, as
 * the foreign server sees them.  Lives as long as the query's state.
 */
extern JoinForeign *bloomfam_join_foreign_begin(EState *estate, int param, Oid type,
												Oid collation);

/* Tells it where its scans are.  Without that, they get no filter. */
extern void bloomfam_join_foreign_tie(JoinForeign *foreign, PlanState *probe_side);

/* Adds a key that is not NULL. */
extern void bloomfam_join_foreign_add(JoinForeign *foreign, Datum key);

/* All keys are in: scans that have not begun get the filter, unless it is too large. */
extern void bloomfam_join_foreign_finish(JoinForeign *foreign);

/*
 * The build side is about to begin anew: no filter until then, and scans that have had one begin
 * anew, too.
 */
extern void bloomfam_join_foreign_reset(JoinForeign *foreign);

/* The bytes of the filter that foreign scans got by this parameter; 0: they got none. */
extern Size bloomfam_join_foreign_size(const EState *estate, int param);

#endif							/* BLOOMFAM_JOIN_FOREIGN_H */
