/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sizes.c
 *	  What samples have changed of the sizes that the planner knows.
 *
 * The planner keeps a clause's selectivity in the clause, once it was estimated.  That is where
 * another one is put; what stood there before is kept here, so that both can be planned with.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "join/sampling/sizes.h"
#include "pg/compat.h"

/* A clause, and the selectivities that it does not have now. */
typedef struct JoinSizeOfClause
{
	RestrictInfo *info;
	Selectivity norm;
	Selectivity outer;
} JoinSizeOfClause;

/* Before the first change: nothing is known yet of what was there. */
static void
begin(PlannerInfo *root, JoinSizes *sizes)
{
	if (sizes->clauses == NIL)
		sizes->keys = root->fkey_list;
}

void
bloomfam_join_sizes_set(PlannerInfo *root, JoinSizes *sizes, RestrictInfo *info,
						Selectivity norm, Selectivity outer)
{
	JoinSizeOfClause *old;
	ListCell   *lc;

	foreach(lc, sizes->clauses)
		if (((JoinSizeOfClause *) lfirst(lc))->info == info)
			break;
	if (lc == NULL)
	{
		begin(root, sizes);
		old = palloc(sizeof(JoinSizeOfClause));
		*old = (JoinSizeOfClause) {info, info->norm_selec, info->outer_selec};
		sizes->clauses = lappend(sizes->clauses, old);
	}
	info->norm_selec = norm;
	info->outer_selec = outer;
}

void
bloomfam_join_sizes_set_keys(PlannerInfo *root, JoinSizes *sizes, List *keys)
{
	Assert(sizes->clauses != NIL);
	root->fkey_list = keys;
}

bool
bloomfam_join_sizes_differ(const JoinSizes *sizes)
{
	return sizes->clauses != NIL;
}

void
bloomfam_join_sizes_swap(PlannerInfo *root, JoinSizes *sizes)
{
	List	   *keys = root->fkey_list;
	ListCell   *lc;

	foreach(lc, sizes->clauses)
	{
		JoinSizeOfClause *other = lfirst(lc);
		JoinSizeOfClause now = {other->info, other->info->norm_selec, other->info->outer_selec};

		other->info->norm_selec = other->norm;
		other->info->outer_selec = other->outer;
		*other = now;
	}
	root->fkey_list = sizes->keys;
	sizes->keys = keys;
}

/* Forgets that of a clause, and of those that it is made of by OR and AND. */
static bool
forget_outer(Node *node, void *context)
{
	RestrictInfo *info = (RestrictInfo *) node;

	if (node == NULL || !IsA(node, RestrictInfo))
		return node != NULL && expression_tree_walker(node, forget_outer, context);
	info->outer_selec = -1;
	return forget_outer((Node *) info->orclause, context);
}

void
bloomfam_join_sizes_forget_outer(PlannerInfo *root)
{
	ListCell   *lc;
	int			i;

	for (i = 1; i < root->simple_rel_array_size; i++)
		if (root->simple_rel_array[i] != NULL)
			forget_outer((Node *) root->simple_rel_array[i]->joininfo, NULL);
	foreach(lc, root->eq_classes)
	{
		const EquivalenceClass *class = lfirst(lc);

		forget_outer((Node *) class->ec_sources, NULL);
		forget_outer((Node *) bloomfam_derived_clauses(class), NULL);
	}
}
