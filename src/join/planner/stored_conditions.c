/*-------------------------------------------------------------------------
 *
 * stored_conditions.c
 *	  Which conditions with a filter become filters of a probe node.
 *
 * What such a filter must keep at execution says stored.c.  Of planning:
 *
 *	- The order is the planner's to choose, but not where row security has a part in it: a function
 *	  that could tell of a row must not see it before the policy has let it pass.  In such a
 *	  query, only what comes first is taken.  (Behind the barrier of a view there is a scan of its
 *	  own.)  Volatile conditions are left alone, and with them all of their scan.
 *	- EvalPlanQual evaluates a scan's conditions for a row again, and would miss this one.  So
 *	  plans that may come to that, those that lock or change rows of a table that they scan, are
 *	  left alone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "join/base/column.h"
#include "join/base/gucs.h"
#include "join/planner/stored_conditions.h"

/* Can the condition be a filter that is probed in page batches? */
static bool
can_be_taken(Node *condition, Index relid, const JoinPlanInfo *plan_info)
{
	int	  filter_arg;
	List *args = bloomfam_join_stored_arguments(condition, &filter_arg);
	Node *filter;

	if (args == NIL || bloomfam_join_column(list_nth(args, 1 - filter_arg), relid) == 0)
		return false;
	filter = list_nth(args, filter_arg);
	return !contain_var_clause(filter) && bloomfam_join_is_volatile_free(filter, plan_info);
}

/*
 * Is this a heap, and not too small?  A few rows are probed with as many blocks of the filter, of
 * which pages would want all.
 */
static bool
is_worthwhile(Oid relation)
{
	Relation table = table_open(relation, NoLock);
	bool	 result = table->rd_tableam == GetHeapamTableAmRoutine() &&
				  (bloomfam_join_filter == JOIN_FILTER_FORCE || table->rd_rel->reltuples < 0 ||
				   table->rd_rel->reltuples >= bloomfam_join_filter_min_rows);

	table_close(table, NoLock);
	return result;
}

List *
bloomfam_join_take_stored(const JoinPlanInfo *plan_info, Scan *scan, bool row_security)
{
	const PlannedStmt *stmt = plan_info->stmt;
	List	 *taken = NIL;
	List	 *left = NIL;
	ListCell *lc;

	if ((stmt->commandType != CMD_SELECT && stmt->commandType != CMD_INSERT) ||
		stmt->rowMarks != NIL || stmt->hasModifyingCTE)
		return NIL;
	foreach (lc, scan->plan.qual)
	{
		Node *condition = lfirst(lc);

		if ((left == NIL || !row_security) && can_be_taken(condition, scan->scanrelid, plan_info))
		{
			JoinStoredCondition *stored = palloc(sizeof(JoinStoredCondition));

			stored->condition = condition;
			stored->before = list_length(left);
			taken = lappend(taken, stored);
		}
		else
			left = lappend(left, condition);
	}
	if (taken == NIL || !bloomfam_join_is_volatile_free(left, plan_info) ||
		!is_worthwhile(rt_fetch(scan->scanrelid, stmt->rtable)->relid))
		return NIL;
	scan->plan.qual = left;
	return taken;
}
