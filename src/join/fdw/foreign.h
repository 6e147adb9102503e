/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * foreign.h
 *	  Sends join filters to foreign servers, so that rows that cannot join are not fetched.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FOREIGN_H
#define BLOOMFAM_JOIN_FOREIGN_H

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "join/fdw/key_list.h"
#include "join/fdw/sending.h"

/* Which figures of a foreign scan the planner does not know and has only defaults for. */
typedef enum JoinGuess
{
	JOIN_GUESSES_NOTHING,
	JOIN_GUESSES_FRACTION,		/* The fraction of rows that are dropped is a guess. */

	/* The number of rows is a guess, and so the fraction that is dropped is one as well. */
	JOIN_GUESSES_ROWS
} JoinGuess;

/*
 * State, in the executor, of sending the values of one column of a filter's key to foreign servers.
 */
typedef struct JoinForeign JoinForeign;

/* What foreign servers were sent of the values of one key column in the last build. */
typedef struct JoinSent
{
	bool		keys;			/* Whether a list of keys was sent. */
	int			nkeys;			/* The number of keys that were sent. */

	/*
	 * The reason why the list of keys was given up; JOIN_NO_REASON: it was not, or no list was
	 * wanted.
	 */
	JoinReason	no_list;
	bool		bounds;
	Size		filter;			/* The size in bytes of the filter that was sent; 0: none was. */
} JoinSent;

/*
 * Tells whether the given number of keys, or a filter of them, is expected to be sent to a scan of
 * a foreign table, as far as that is known while paths are made.
 */
extern bool bloomfam_join_foreign_expected(const JoinForeignKey *key, double keys);

/*
 * Tells whether the number of a foreign scan's rows is only a guess: whether it has a foreign table
 * that was never analyzed, and whose server has not told its size.
 */
extern bool bloomfam_join_foreign_is_guessed(const PlannedStmt *stmt, const ForeignScan *scan);

/*
 * Returns which figures are guesses when a filter for a foreign scan is estimated, because a
 * foreign table was never analyzed.  "attribute" is the key's column among the scan's output
 * columns, and "keys" the number of keys.  If there are too many keys for a filter to be sent,
 * nothing counts as a guess, as there is nothing to be tried.
 */
extern JoinGuess bloomfam_join_foreign_guess(const PlannedStmt *stmt, const ForeignScan *scan,
											 AttrNumber attribute, double keys);

/*
 * Sets the size of a foreign table that was never analyzed to the size that its server tells,
 * before the planner estimates its rows.
 */
extern void bloomfam_join_foreign_size(PlannerInfo *root, RelOptInfo *rel);

/*
 * Plans what a foreign scan is sent, as "sendings" allows. *infos is a list of JoinForeignInfo with
 * the parameters of the filter's foreign scans so far; it is extended for column "column" of the
 * filter's key, which has type key_type on the build side.  Returns the list of those that this
 * scan is sent.
 */
extern List *bloomfam_join_foreign_plan(PlannedStmt *stmt, ForeignScan *scan, AttrNumber attribute,
										const JoinSendings *sendings, int column, Oid key_type,
										List **infos);

/*
 * Begins the execution for one column of a filter's key.  Must be called for each column that has
 * parameters in "infos", whatever the settings are: the parameters are NULL until
 * bloomfam_join_foreign_finish(), and a NULL lets every key pass.  The result lives as long as the
 * query's executor state.
 */
extern JoinForeign *bloomfam_join_foreign_begin(EState *estate, const List *infos, int column,
												Oid collation);

/* Sets the part of the plan that the foreign scans are in.  Without that, they are sent nothing. */
extern void bloomfam_join_foreign_tie(JoinForeign *foreign, PlanState *probe_side);

/* Adds a key, which must not be NULL, to what may be sent to foreign servers. */
extern void bloomfam_join_foreign_add(JoinForeign *foreign, Datum key);

/*
 * Completes the keys: foreign scans that have not begun are sent what there is to send, unless it
 * is too large.
 */
extern void bloomfam_join_foreign_finish(JoinForeign *foreign);

/*
 * Forgets the keys, as the build side is about to begin anew.  Nothing is sent until the next
 * bloomfam_join_foreign_finish(), and scans that were sent something begin anew as well.
 */
extern void bloomfam_join_foreign_reset(JoinForeign *foreign);

/*
 * Notes that the query has ended without an error, so that nothing sent to foreign servers was at
 * fault.
 */
extern void bloomfam_join_foreign_end(JoinForeign *foreign);

extern JoinSent bloomfam_join_foreign_sent(const JoinForeign *foreign);

static inline bool
bloomfam_join_foreign_was_sent(const JoinForeign *foreign)
{
	JoinSent	sent = bloomfam_join_foreign_sent(foreign);

	return sent.keys || sent.bounds || sent.filter > 0;
}

/*
 * Tells whether the plan has a parameter by which keys, bounds or a filter (as "what" says) can be
 * sent.
 */
extern bool bloomfam_join_foreign_may_send(const JoinForeign *foreign, JoinSending what);

/* What a foreign scan was sent, by which its server dropped rows. */
typedef enum JoinForeignGot
{
	JOIN_FOREIGN_GOT_NOTHING,
	JOIN_FOREIGN_GOT_BOUNDS,
	JOIN_FOREIGN_GOT_KEYS		/* The scan was sent the keys, or a filter of them. */
} JoinForeignGot;

/* Returns what a foreign scan was sent by the parameters in "infos", a list of JoinForeignInfo. */
extern JoinForeignGot bloomfam_join_foreign_got(const EState *estate, const List *infos);

#endif							/* BLOOMFAM_JOIN_FOREIGN_H */
