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

#include "join/sampling/sizes.h"

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
