/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * pair.c
 *	  Pairs of base relations with equalities between them.
 *
 * An equality is either implied by an equivalence class, or a clause of its own, as most of outer
 * joins are.  The server keeps the clauses that it makes of a class, and finds them again: on 15
 * only for the same left and right side, so both are made here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/nbtree.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_proc_d.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/joininfo.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "join/base/column.h"
#include "join/sampling/pair.h"
#include "pg/compat.h"

/* A relation that comes back is searched for beside tables of so many rows. */
#define ROWS_OF_LARGE	10000

/* Keys reach far beyond others if there are so many times more of them. */
#define FAR_BEYOND		4

bool
bloomfam_join_are_joined(PlannerInfo *root, RelOptInfo *a, RelOptInfo *b)
{
	return (a->has_eclass_joins && b->has_eclass_joins &&
			have_relevant_eclass_joinclause(root, a, b)) ||
		   have_relevant_joinclause(root, a, b);
}

/* May a class equate two relations? */
static bool
class_joins(const EquivalenceClass *class, const RelOptInfo *a, const RelOptInfo *b)
{
	return !class->ec_has_const && !class->ec_has_volatile &&
		   bms_is_member(a->relid, class->ec_relids) && bms_is_member(b->relid, class->ec_relids);
}

int
bloomfam_join_pair_column(const JoinPair *pair, const IndexOptInfo *index, int number)
{
	int			i;

	for (i = 0; i < pair->ncolumns; i++)
		if (bloomfam_join_index_compares(index, number, pair->columns[i].searched->varattno,
										 &pair->columns[i].comparison))
			return i;
	return -1;
}

bool
bloomfam_join_have_several(PlannerInfo *root, RelOptInfo *a, RelOptInfo *b)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, root->eq_classes)
		n += class_joins(lfirst(lc), a, b);
	foreach(lc, a->joininfo)
		n += bms_is_member(b->relid, lfirst_node(RestrictInfo, lc)->clause_relids);
	return n > 1;
}

/* The members of a class that are of this relation alone. */
static List *
members_of(const EquivalenceClass *class, const RelOptInfo *rel)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, class->ec_members)
	{
		EquivalenceMember *member = lfirst(lc);

		if (!member->em_is_const && !member->em_is_child &&
			bms_equal(member->em_relids, rel->relids))
			result = lappend(result, member);
	}
	return result;
}

/* Has a class an operator for a member of each, and for the other direction? */
static bool
has_operators(const EquivalenceClass *class, List *as, List *bs)
{
	ListCell   *lca;
	ListCell   *lcb;
	ListCell   *lcf;

	foreach(lca, as)
		foreach(lcb, bs)
			foreach(lcf, class->ec_opfamilies)
			{
				Oid			a = ((EquivalenceMember *) lfirst(lca))->em_datatype;
				Oid			b = ((EquivalenceMember *) lfirst(lcb))->em_datatype;

				if (OidIsValid(get_opfamily_member(lfirst_oid(lcf), a, b, BTEqualStrategyNumber)) &&
					OidIsValid(get_opfamily_member(lfirst_oid(lcf), b, a, BTEqualStrategyNumber)))
					return true;
			}
	return false;
}

/*
 * Can clauses be made of all classes that equate the two?  One that cannot would be marked as
 * broken for the whole query.
 */
static bool
can_make_clauses(PlannerInfo *root, const RelOptInfo *a, const RelOptInfo *b)
{
	ListCell   *lc;

	foreach(lc, root->eq_classes)
	{
		const EquivalenceClass *class = lfirst(lc);
		List	   *as;
		List	   *bs;

		if (!class_joins(class, a, b))
			continue;
		as = members_of(class, a);
		bs = members_of(class, b);
		if (class->ec_broken || (as != NIL && bs != NIL && !has_operators(class, as, bs)))
			return false;
	}
	return true;
}

/* The equality that a clause is, as a condition on two columns; the first is the probe's. */
static bool
read_equality(const RestrictInfo *info, const JoinPair *pair, const Var **probe,
			  const Var **searched, Oid *operator)
{
	const OpExpr *expr = (const OpExpr *) info->clause;
	const Var  *left;
	const Var  *right;

	if (!is_opclause(expr) || list_length(expr->args) != 2 || info->mergeopfamilies == NIL)
		return false;
	left = bloomfam_join_var(linitial(expr->args));
	right = bloomfam_join_var(lsecond(expr->args));
	if (left == NULL || right == NULL || bloomfam_var_is_nulled(left) ||
		bloomfam_var_is_nulled(right))
		return false;
	*operator = expr->opno;
	if (left->varno == pair->searched->relid)
	{
		const Var  *other = left;

		left = right;
		right = other;
		*operator = get_commutator(expr->opno);
	}
	*probe = left;
	*searched = right;
	return OidIsValid(*operator) && left->varno == pair->probe->relid &&
		   right->varno == pair->searched->relid;
}

/* Can keys be compared so, each with each of the other side, whatever the session's settings? */
static bool
is_complete(const JoinKeyComparison *comparison)
{
	Oid			function = get_opfamily_proc(comparison->family, comparison->left,
											 comparison->right, BTORDER_PROC);

	return OidIsValid(function) && func_volatile(function) == PROVOLATILE_IMMUTABLE &&
		   OidIsValid(get_opfamily_member(comparison->family, comparison->right,
										  comparison->left, BTEqualStrategyNumber)) &&
		   OidIsValid(get_opfamily_member(comparison->family, comparison->right,
										  comparison->right, BTLessStrategyNumber));
}

/* How an equality compares; false: not by what the server has itself, or it can fail. */
static bool
choose_comparison(const RestrictInfo *info, Oid operator, JoinKeyComparison *comparison)
{
	ListCell   *lc;

	comparison->collation = ((const OpExpr *) info->clause)->inputcollid;
	op_input_types(operator, &comparison->left, &comparison->right);

	/* columns of two collations have none in common: to compare them is an error */
	if (!OidIsValid(comparison->collation) &&
		(type_is_collatable(comparison->left) || type_is_collatable(comparison->right)))
		return false;
	foreach(lc, info->mergeopfamilies)
	{
		comparison->family = lfirst_oid(lc);
		if (comparison->family < FirstNormalObjectId &&
			get_op_opfamily_strategy(operator, comparison->family) == BTEqualStrategyNumber &&
			!IsPolymorphicType(comparison->left) && !IsPolymorphicType(comparison->right) &&
			comparison->left != RECORDOID && comparison->right != RECORDOID &&
			is_complete(comparison))
			return true;
	}
	return false;
}

/*
 * May the right side of a semi join be made unique and joined to others before those that it
 * selects from?  So it is where its condition is about several relations, or where another one has
 * the same constant as a relation there: the planner takes that for a reason to join the two.
 */
static bool
may_be_joined_to_others(PlannerInfo *root, const SpecialJoinInfo *join)
{
	Relids		others = bms_difference(join->syn_lefthand, join->min_lefthand);
	ListCell   *lc;

	if (bms_membership(join->min_lefthand) == BMS_MULTIPLE)
		return true;
	foreach(lc, root->eq_classes)
	{
		const EquivalenceClass *class = lfirst(lc);

		if (class->ec_has_const && bms_overlap(class->ec_relids, others) &&
			bms_overlap(class->ec_relids, join->syn_righthand))
			return true;
	}
	return false;
}

/* The type of the join between the two, as it is for sizes. */
static const char *
choose_type(PlannerInfo *root, JoinPair *pair)
{
	ListCell   *lc;

	pair->type = JOIN_INNER;
	pair->right_of_semi = false;
	foreach(lc, root->join_info_list)
	{
		const SpecialJoinInfo *join = lfirst(lc);
		bool		probe_left = bms_is_member(pair->probe->relid, join->syn_lefthand);
		bool		probe_right = bms_is_member(pair->probe->relid, join->syn_righthand);

		if (join->jointype == JOIN_SEMI && probe_right &&
			bms_is_member(pair->searched->relid, join->syn_righthand) &&
			may_be_joined_to_others(root, join))
			pair->right_of_semi = true;
		if (!(probe_left && bms_is_member(pair->searched->relid, join->syn_righthand)) &&
			!(probe_right && bms_is_member(pair->searched->relid, join->syn_lefthand)))
			continue;
		if (join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI)
		{
			if (!probe_left)
				return "the rows on the left of the semi join or anti join are not those with keys";
			pair->type = join->jointype;
		}
		else if (pair->type == JOIN_INNER)
			pair->type = join->jointype;
	}
	return NULL;
}

/* The pair's columns of an equality, which are added if they are new; NULL: it has too many. */
static JoinPairColumn *
find_columns(JoinPair *pair, const Var *probe, const Var *searched)
{
	JoinPairColumn *column;
	int			i;

	for (i = 0; i < pair->ncolumns; i++)
		if (probe->varattno == pair->columns[i].probe->varattno &&
			searched->varattno == pair->columns[i].searched->varattno)
			return &pair->columns[i];
	if (pair->ncolumns == JOIN_MOST_COLUMNS)
		return NULL;
	column = &pair->columns[pair->ncolumns++];
	*column = (JoinPairColumn) {.probe = probe, .searched = searched};
	return column;
}

/* Adds a clause to the pair's; false: it is none that can be searched by. */
static bool
add_clause(JoinPair *pair, RestrictInfo *info)
{
	const Var  *probe;
	const Var  *searched;
	Oid			operator;
	JoinPairColumn *column;

	if (!read_equality(info, pair, &probe, &searched, &operator))
		return false;
	column = find_columns(pair, probe, searched);
	if (column == NULL ||
		(column->clauses == NIL && !choose_comparison(info, operator, &column->comparison)))
		return false;
	column->clauses = lappend(column->clauses, info);
	return true;
}

/* Are these the only relations that a clause is about? */
static bool
is_about(PlannerInfo *root, const RestrictInfo *info, const JoinPair *pair)
{
	Relids		relids = pull_varnos(root, (Node *) info->clause);

	return bms_num_members(relids) == 2 && bms_is_member(pair->probe->relid, relids) &&
		   bms_is_member(pair->searched->relid, relids);
}

const char *
bloomfam_join_pair_init(PlannerInfo *root, JoinPair *pair)
{
	const char *others = "there are other conditions between the two, or none that is known";
	List	   *clauses;
	ListCell   *lc;

	pair->ncolumns = 0;
	if (!can_make_clauses(root, pair->probe, pair->searched))
		return others;
	clauses = list_concat(bloomfam_implied_equalities(root, pair->probe, pair->searched),
						  bloomfam_implied_equalities(root, pair->searched, pair->probe));
	foreach(lc, pair->probe->joininfo)
		if (is_about(root, lfirst(lc), pair))
			clauses = lappend(clauses, lfirst(lc));
	foreach(lc, clauses)
		if (!add_clause(pair, lfirst(lc)))
			return others;
	return pair->ncolumns == 0 ? others : choose_type(root, pair);
}

/* Has a foreign key to do with a clause of these columns? */
static bool
shares_clause(const ForeignKeyOptInfo *key, const JoinPairColumn *column)
{
	ListCell   *lc;
	int			i;

	foreach(lc, column->clauses)
	{
		RestrictInfo *info = lfirst(lc);

		for (i = 0; i < key->nkeys; i++)
			if ((info->parent_ec != NULL && key->eclass[i] == info->parent_ec) ||
				list_member_ptr(key->rinfos[i], info))
				return true;
	}
	return false;
}

/* With how many columns of the pair? */
static int
count_shared(const ForeignKeyOptInfo *key, const JoinPair *pair)
{
	int			n = 0;
	int			i;

	for (i = 0; i < pair->ncolumns; i++)
		n += shares_clause(key, &pair->columns[i]);
	return n;
}

/*
 * Would a foreign key take a clause of the pair out of what is estimated?  One of several columns
 * to another table is the only thing that is known of these together: it stays.
 */
static bool
overrides(const ForeignKeyOptInfo *key, const JoinPair *pair)
{
	bool		elsewhere =
		key->con_relid != pair->searched->relid && key->ref_relid != pair->searched->relid;

	return count_shared(key, pair) > 0 && !(elsewhere && key->nkeys > 1);
}

static double
column_selectivity(PlannerInfo *root, const JoinPair *pair, const JoinPairColumn *column)
{
	SpecialJoinInfo *join = makeNode(SpecialJoinInfo);

	join->min_lefthand = join->syn_lefthand = pair->probe->relids;
	join->min_righthand = join->syn_righthand = pair->searched->relids;
	join->jointype = JOIN_INNER;
	return clause_selectivity(root, linitial(column->clauses), 0, JOIN_INNER, join);
}

double
bloomfam_join_pair_selectivity(PlannerInfo *root, const JoinPair *pair)
{
	const ForeignKeyOptInfo *matching = NULL;
	double		selectivity = 1;
	ListCell   *lc;
	int			i;

	foreach(lc, root->fkey_list)
	{
		const ForeignKeyOptInfo *key = lfirst(lc);

		if (key->con_relid == pair->probe->relid && key->ref_relid == pair->searched->relid &&
			count_shared(key, pair) == key->nkeys)
			matching = key;
	}
	if (matching != NULL)
		selectivity = 1 / Max(pair->searched->tuples, 1);
	for (i = 0; i < pair->ncolumns; i++)
		if (matching == NULL || !shares_clause(matching, &pair->columns[i]))
			selectivity *= column_selectivity(root, pair, &pair->columns[i]);
	return selectivity;
}

/*
 * Which field is read depends on the type of a join alone.  The second one is also read where the
 * inner side of any other join is unique, as the server has it: it is then the same as the first.
 */
static void
set_column(PlannerInfo *root, JoinSizes *sizes, const JoinPair *pair, const JoinPairColumn *column,
		   double selectivity, double share)
{
	ListCell   *lc;

	foreach(lc, column->clauses)
	{
		RestrictInfo *info = lfirst(lc);

		/* more than 1 says that it is redundant */
		if (info->norm_selec > 1)
			continue;
		bloomfam_join_sizes_set(
			root, sizes, info, selectivity,
			pair->type == JOIN_SEMI || pair->type == JOIN_ANTI ? share : selectivity);
	}
}

/*
 * The server multiplies the selectivities of several columns.  Each gets as large a part of what
 * they make together as it has of the server's own: where a third relation has one of the columns,
 * its clause may be left out.
 */
void
bloomfam_join_pair_set(PlannerInfo *root, JoinSizes *sizes, const JoinPair *pair,
					   double selectivity, double share)
{
	double		logs[JOIN_MOST_COLUMNS];
	double		sum = 0;
	List	   *keys = NIL;
	ListCell   *lc;
	int			i;

	Assert(selectivity >= 0 && selectivity <= 1 && share >= 0 && share <= 1);
	for (i = 0; i < pair->ncolumns && pair->ncolumns > 1; i++)
	{
		logs[i] = -log(Max(column_selectivity(root, pair, &pair->columns[i]), 1e-12));
		sum += logs[i];
	}
	for (i = 0; i < pair->ncolumns; i++)
	{
		double		part = sum > 0 ? logs[i] / sum : 1.0 / pair->ncolumns;

		set_column(root, sizes, pair, &pair->columns[i], pow(selectivity, part), pow(share, part));
	}
	foreach(lc, root->fkey_list)
		if (!overrides(lfirst(lc), pair))
			keys = lappend(keys, lfirst(lc));
	bloomfam_join_sizes_set_keys(root, sizes, keys);
}

/* The column that a class has of this relation; NULL if it has none. */
static const Var *
column_of(const EquivalenceClass *class, const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, members_of(class, rel))
	{
		const Var  *column = bloomfam_join_var(((EquivalenceMember *) lfirst(lc))->em_expr);

		if (column != NULL)
			return column;
	}
	return NULL;
}

/* Is the relation joined by another class to one with conditions, other than this one? */
static bool
is_limited_elsewhere(PlannerInfo *root, const RelOptInfo *rel, const EquivalenceClass *class,
					 const RelOptInfo *large)
{
	ListCell   *lc;
	int			i;

	foreach(lc, root->eq_classes)
		for (i = -1; lfirst(lc) != class && (i = bms_next_member(root->all_baserels, i)) >= 0;)
		{
			const RelOptInfo *other = root->simple_rel_array[i];

			if (other != NULL && other != rel && other != large &&
				other->reloptkind == RELOPT_BASEREL && other->baserestrictinfo != NIL &&
				class_joins(lfirst(lc), rel, other))
				return true;
		}
	return false;
}

bool
bloomfam_join_comes_back(PlannerInfo *root)
{
	ListCell   *lc;
	int			i;
	int			k;

	/* not of all relations: there may be thousands of partitions */
	foreach(lc, root->eq_classes)
		for (i = -1; (i = bms_next_member(root->all_baserels, i)) >= 0;)
			for (k = -1; (k = bms_next_member(root->all_baserels, k)) >= 0;)
			{
				EquivalenceClass *class = lfirst(lc);
				RelOptInfo *rel = root->simple_rel_array[i];
				RelOptInfo *large = root->simple_rel_array[k];
				const Var  *column;
				const Var  *of_large;
				double		keys_of_large;

				if (rel == NULL || large == NULL || rel == large ||
					rel->reloptkind != RELOPT_BASEREL || large->reloptkind != RELOPT_BASEREL ||
					rel->baserestrictinfo != NIL || large->tuples < ROWS_OF_LARGE ||
					!class_joins(class, rel, large) ||
					(column = column_of(class, rel)) == NULL ||
					(of_large = column_of(class, large)) == NULL)
					continue;
				keys_of_large = bloomfam_join_ndistinct(root, of_large);
				if (keys_of_large > 0 &&
					bloomfam_join_ndistinct(root, column) > FAR_BEYOND * keys_of_large &&
					is_limited_elsewhere(root, rel, class, large))
					return true;
			}
	return false;
}

Relids
bloomfam_join_thirds(PlannerInfo *root, const JoinPair *pair)
{
	Relids		thirds = NULL;
	ListCell   *lc;
	int			i;

	if (pair->searched->baserestrictinfo == NIL)
		return NULL;
	foreach(lc, root->eq_classes)
	{
		const EquivalenceClass *class = lfirst(lc);

		if (!class_joins(class, pair->probe, pair->searched))
			continue;
		for (i = -1; (i = bms_next_member(class->ec_relids, i)) >= 0;)
		{
			const RelOptInfo *rel = root->simple_rel_array[i];

			if (rel != NULL && rel != pair->probe && rel != pair->searched &&
				rel->reloptkind == RELOPT_BASEREL && rel->baserestrictinfo != NIL)
				thirds = bms_add_member(thirds, i);
		}
	}
	return thirds;
}
