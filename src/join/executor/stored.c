/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * stored.c
 *	  Filters that the query names in WHERE bloom_may_contain(filter, column) (stored filters): on a
 *	  heap, they are probed with all rows of a page at once, too.
 *
 * A condition with such a filter is removed from the scan's conditions, and becomes another filter
 * of the probe node on top of the scan.  It remains a condition of the query: it is never disabled,
 * and no row passes unchecked. heap_batch.c sees the table's rows rather than what the scan
 * projects, and applies the filter also where it cannot go by pages.
 *
 * What must remain as it was:
 *
 *	- Filter and key are used only when a row is: the filter is evaluated, opened and compared with
 *	  the key's family when the first key that is not NULL is hashed.  That is done once for each
 *	  scan, as the filter is the same for all rows; a parameter that changes leads to a rescan.
 *	- A row whose key is NULL does not pass; a filter that is NULL lets all other rows pass.
 *	- The scan's other conditions are evaluated only for rows that pass, even if they came first.
 *	  (The server, too, chooses the order of conditions, by security level and cost.)
 *	- A key whose hashing could fail must not be hashed before its row is asked for: below a LIMIT,
 *	  that may be never.  So conditions on such keys remain with the scan.
 *
 * take_stored() (planner/plan.c) decides which conditions are taken from a scan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "join/base/column.h"
#include "join/executor/stored.h"
#include "pg/key_scalar.h"
#include "pg/port.h"

/* Hashes a key.  Raises an error if the key is not of the filter's family. */
static uint64
hash_stored(const JoinKey *key, Datum value)
{
	const JoinStored *stored = (const JoinStored *) key;
	BloomfamHasher	 *hasher = stored->hasher;
	const BfHeader	 *head = &stored->filter.view.head;
	uint64			  hash = hasher->hash(hasher, value);

	if (unlikely(hasher->family_id != head->family_id))
		bloomfam_family_error(head, hasher->family, hasher->family_len, hasher->family_id);
	return hash;
}

static uint64
hash_nothing(const JoinKey *key, Datum value)
{
	return 0;
}

/*
 * Hashes the first key of a scan.  Evaluates the filter for that, and sets how further keys are
 * hashed and answered.
 */
static uint64
hash_first(const JoinKey *key, Datum value)
{
	JoinStored	   *stored = (JoinStored *) unconstify(JoinKey *, key);
	const BfHeader *head = &stored->filter.view.head;
	bool			isnull;
	Datum  datum = ExecEvalExprSwitchContext(stored->expression, stored->econtext, &isnull);
	uint64 hash;

	if (!isnull)
	{
		bloomfam_filter_open(&stored->filter, datum);
		stored->hasher = bloomfam_hasher_for(&stored->hashers, head->hash_id);
		bloomfam_hasher_fit(stored->hasher, head);
	}
	if (isnull || head->family_id == 0)
	{
		stored->key.hash = hash_nothing;
		stored->answer = isnull ? JOIN_ANSWER_YES : JOIN_ANSWER_NO;
		return 0;
	}
	hash = hash_stored(key, value);
	stored->key.hash = hash_stored;
	stored->key.integer = bloomfam_hasher_is_integer(stored->hasher);
	Assert(!stored->hasher->varies);
	stored->answer = JOIN_ANSWER_PROBE;
	return hash;
}

void
bloomfam_join_stored_rescan(JoinStored *stored)
{
	stored->key.hash = hash_first;
	stored->key.integer = false;
	stored->answer = JOIN_ANSWER_NOT_YET;
	ResetExprContext(stored->econtext);
}

bool
bloomfam_join_stored_passes(JoinStored *stored, Datum key)
{
	uint64 hash = stored->key.hash(&stored->key, key);

	/*
	 * hash_first() has set the answer at the first key, and it holds for all keys until the next
	 * rescan.
	 */
	Assert(stored->answer != JOIN_ANSWER_NOT_YET);
	Assert((stored->key.hash == hash_stored) == (stored->answer == JOIN_ANSWER_PROBE));
	if (stored->answer != JOIN_ANSWER_PROBE)
		return stored->answer == JOIN_ANSWER_YES;
	return stored->filter.probe(&stored->filter.view, hash);
}

JoinStored *
bloomfam_join_stored_make(CustomScanState *node, Node *condition, AttrNumber *column)
{
	EState	   *estate = node->ss.ps.state;
	JoinStored *stored = palloc0(sizeof(JoinStored));
	int			filter_arg;
	List	   *args = bloomfam_join_stored_arguments(condition, &filter_arg);
	Expr	   *key = list_nth(args, 1 - filter_arg);

	/*
	 * A recheck by EvalPlanQual would need the condition, which was taken from the scan: the probe
	 * node would return rows that the query does not want.
	 */
	if (estate->es_epq_active != NULL)
		elog(ERROR, "a condition cannot be rechecked");

	stored->expression = ExecInitExpr(list_nth(args, filter_arg), &node->ss.ps);
	stored->econtext = CreateExprContext(estate);
	stored->hashers.context = CurrentMemoryContext;
	stored->hashers.type = exprType((Node *) key);
	stored->hashers.typmod = exprTypmod((Node *) key);
	stored->hashers.collation = exprInputCollation(condition);
	stored->hashers.probing = true;
	bloomfam_filter_init(&stored->filter, CurrentMemoryContext);
	stored->key.typlen = get_typlen(stored->hashers.type);
	bloomfam_join_stored_rescan(stored);
	*column = bloomfam_join_column(key, ((Scan *) outerPlan(node->ss.ps.plan))->scanrelid);
	return stored;
}
