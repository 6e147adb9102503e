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
	const JoinSpec *spec = &state->specs[probe];
	int			i;

	for (i = 0; i < spec->ncolumns; i++)
		if (spec->columns[i].foreign_param >= 0 &&
			bloomfam_join_foreign_was_sent(state->css.ss.ps.state, spec->columns[i].foreign_param))
			return true;
	return false;
}

void
bloomfam_join_node_columns(const JoinSpec *spec, JoinKey **keys, AttrNumber **attributes)
{
	int			i;

	*keys = palloc(spec->ncolumns * sizeof(JoinKey));
	*attributes = palloc(spec->ncolumns * sizeof(AttrNumber));
	for (i = 0; i < spec->ncolumns; i++)
	{
		const JoinSpecColumn *column = &spec->columns[i];
		JoinHashSide side = {.type = column->type, .function = column->function};

		bloomfam_join_key_init(&(*keys)[i], column->hashing, &side, column->collation);
		(*attributes)[i] = column->attribute;
	}
}

bool
bloomfam_join_node_is_of_numbers(const JoinSpec *spec)
{
	return spec->ncolumns == 1 &&
		   bloomfam_join_keys_are_integers(spec->columns[0].hashing, spec->columns[0].type);
}
