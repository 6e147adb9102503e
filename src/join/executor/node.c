/*-------------------------------------------------------------------------
 *
 * node.c
 *	  What the nodes of both sides have in common: they hand on their child's rows, and hash
 *	  columns of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "join/executor/node.h"

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

bool
bloomfam_join_node_was_foreign(const JoinProbeState *state, int probe)
{
	const JoinFilterInfo *info = &state->infos[probe];
	int			i;

	for (i = 0; i < info->ncolumns; i++)
		if (info->columns[i].foreign_param >= 0 &&
			bloomfam_join_foreign_was_pushed(state->css.ss.ps.state,
											 info->columns[i].foreign_param))
			return true;
	return false;
}

JoinKey *
bloomfam_join_node_keys(const JoinFilterInfo *info)
{
	JoinKey    *keys = palloc(info->ncolumns * sizeof(JoinKey));
	int			i;

	for (i = 0; i < info->ncolumns; i++)
	{
		const JoinColumnInfo *column = &info->columns[i];
		JoinHashSide side = {.type = column->type, .function = column->function};

		bloomfam_join_key_init(&keys[i], column->hashing, &side, column->collation);
	}
	return keys;
}

AttrNumber *
bloomfam_join_node_attributes(const JoinFilterInfo *info)
{
	AttrNumber *attributes = palloc(info->ncolumns * sizeof(AttrNumber));
	int			i;

	for (i = 0; i < info->ncolumns; i++)
	{
		Assert(info->columns[i].attribute >= 0 && info->columns[i].attribute <= MaxAttrNumber);
		attributes[i] = info->columns[i].attribute;
	}
	return attributes;
}
