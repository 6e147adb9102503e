/* SPDX-License-Identifier: PostgreSQL */
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
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "join/fdw/key_list.h"
#include "join/fdw/sending.h"

/* What the planner cannot know, and has a default for. */
typedef enum JoinGuess
{
	JOIN_GUESSES_NOTHING,
	JOIN_GUESSES_FRACTION,		/* the fraction of rows that are dropped */
	JOIN_GUESSES_ROWS			/* the number of rows, and so that fraction as well */
} JoinGuess;

/* Such a filter, of one column of the key, while the plan is executed. */
typedef struct JoinForeign JoinForeign;

/* What was sent of it to foreign servers, by their scans' parameters as they are now. */
typedef struct JoinSent
{
	bool		keys;			/* a list of keys */
	int			nkeys;			/* ... so many */
	JoinReason	no_list;		/* why the list of keys was dropped; JOIN_NO_REASON: it was not, or
								 * there was none */
	bool		bounds;
	Size		filter;			/* the bytes of a filter; 0: none */
} JoinSent;

/*
 * Are so many keys expected to be sent to a scan of this table, or a filter of them?  While paths
 * are made: as far as is known then.
 */
extern bool bloomfam_join_foreign_expected(const JoinForeignKey *key, double keys);

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
 * Tells the planner the size of a relation that is a foreign table and was never analyzed, as its
 * server does, before its rows are estimated.
 */
extern void bloomfam_join_foreign_size(PlannerInfo *root, RelOptInfo *rel);

/*
 * Has a foreign scan sent what it may be.  *infos, of JoinForeignInfo, are the parameters of the
 * filter's foreign scans so far; those that are added are of this column of its key, which is of
 * this type on the build side.  Returns those of this scan.
 */
extern List *bloomfam_join_foreign_plan(PlannedStmt *stmt, ForeignScan *scan, AttrNumber attribute,
										const JoinSendings *sendings, int column, Oid key_type,
										List **infos);

/*
 * To be called for each column of a plan's filter that has such parameters, whatever the settings
 * are at execution: they are NULL until it is finished, which passes every key.  Lives as long as
 * the query's state.
 */
extern JoinForeign *bloomfam_join_foreign_begin(EState *estate, const List *infos, int column,
												Oid collation);

/* Tells it where its scans are.  Without that, they get nothing. */
extern void bloomfam_join_foreign_tie(JoinForeign *foreign, PlanState *probe_side);

/* Adds a key that is not NULL. */
extern void bloomfam_join_foreign_add(JoinForeign *foreign, Datum key);

/* All keys are in: scans that have not begun get what there is to send, unless it is too large. */
extern void bloomfam_join_foreign_finish(JoinForeign *foreign);

/*
 * The build side is about to begin anew: nothing is sent until then, and scans that have had
 * something begin anew, too.
 */
extern void bloomfam_join_foreign_reset(JoinForeign *foreign);

/* The query has come to its end without an error. */
extern void bloomfam_join_foreign_end(JoinForeign *foreign);

extern JoinSent bloomfam_join_foreign_sent(const JoinForeign *foreign);

static inline bool
bloomfam_join_foreign_was_sent(const JoinForeign *foreign)
{
	JoinSent	sent = bloomfam_join_foreign_sent(foreign);

	return sent.keys || sent.bounds || sent.filter > 0;
}

/* Can it be sent at all, by the plan's parameters? */
extern bool bloomfam_join_foreign_may_send(const JoinForeign *foreign, JoinSending what);

/* What a foreign scan got, by which its server left rows out. */
typedef enum JoinForeignGot
{
	JOIN_FOREIGN_GOT_NOTHING,
	JOIN_FOREIGN_GOT_BOUNDS,
	JOIN_FOREIGN_GOT_KEYS		/* or a filter of them */
} JoinForeignGot;

/* What did a foreign scan get that has these parameters, of JoinForeignInfo? */
extern JoinForeignGot bloomfam_join_foreign_got(const EState *estate, const List *infos);

#endif							/* BLOOMFAM_JOIN_FOREIGN_H */
