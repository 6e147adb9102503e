/*-------------------------------------------------------------------------
 *
 * node.c
 *	  What the nodes of both sides have in common: they hand on their child's rows, and hash
 *	  columns of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"

#include "join/join.h"

static TupleTableSlot *
exec_nothing(PlanState *node)
{
	return ExecProcNode(outerPlanState(node));
}

void
bloomfam_join_node_begin(CustomScanState *css, EState *estate, int eflags)
{
	PlanState  *child = ExecInitNode(outerPlan(css->ss.ps.plan), estate, eflags);

	outerPlanState(css) = child;

	/* the child's own slots go through */
	css->ss.ps.resultops = ExecGetResultSlotOps(child, NULL);
	css->ss.ps.resultopsset = true;
	css->ss.ps.resultopsfixed = false;
	css->ss.ps.ExecProcNode = exec_nothing;
}

TupleTableSlot *
bloomfam_join_node_exec(CustomScanState *css)
{
	return css->ss.ps.ExecProcNodeReal(&css->ss.ps);
}

void
bloomfam_join_node_columns(const List *spec, bool outer, JoinKey **keys, AttrNumber **attributes)
{
	int			n = bloomfam_join_spec_ncolumns(spec);
	int			i;

	*keys = palloc(n * sizeof(JoinKey));
	*attributes = palloc(n * sizeof(AttrNumber));
	for (i = 0; i < n; i++)
	{
		bloomfam_join_key_init(&(*keys)[i],
							   bloomfam_join_spec_column(spec, i, JOIN_COLUMN_OPERATOR),
							   bloomfam_join_spec_column(spec, i, JOIN_COLUMN_COLLATION), outer);
		(*attributes)[i] = bloomfam_join_spec_column(spec, i, JOIN_COLUMN_ATTRIBUTE);
	}
}
