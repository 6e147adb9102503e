/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * pair.c
 *	  Pairs of base relations that are joined by equalities of their columns.
 *
 * An equality is either implied by an equivalence class, or a clause of its own, as most equalities
 * of outer joins are.  The server keeps the clauses that it makes of a class, and finds them again.
 * PostgreSQL 15 finds a clause again only for the same left and right side, so this code makes the
 * clauses with either side on the left.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/joininfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/expression.h"
#include "sampling/pair.h"

bool
bloomfam_sample_are_joined(PlannerInfo *root, RelOptInfo *a, RelOptInfo *b)
{
	return (a->has_eclass_joins && b->has_eclass_joins &&
			have_relevant_eclass_joinclause(root, a, b)) ||
		   have_relevant_joinclause(root, a, b);
}

/*
 * Reads a join clause as an equality between a column of the large relation and one of the searched
 * relation.  Returns false if it is not such an equality.
 */
static bool
read_equality(const RestrictInfo *info, const SamplePair *pair, SampleColumn *column)
{
	const OpExpr *expr = (const OpExpr *) info->clause;
	Oid			operator;
	ListCell   *lc;

	if (!is_opclause(expr) || list_length(expr->args) != 2 || info->mergeopfamilies == NIL)
		return false;
	operator = expr->opno;
	column->large = bloomfam_expression_var(linitial(expr->args));
	column->searched = bloomfam_expression_var(lsecond(expr->args));
	if (column->large == NULL || column->searched == NULL ||
		bloomfam_var_is_nulled(column->large) || bloomfam_var_is_nulled(column->searched))
		return false;
	if (column->large->varno == pair->searched->relid)
	{
		const Var  *other = column->large;

		column->large = column->searched;
		column->searched = other;
		operator = get_commutator(operator);
	}
	if (!OidIsValid(operator) || column->large->varno != pair->large->relid ||
		column->searched->varno != pair->searched->relid)
		return false;

	/*
	 * Columns of two different collations have no collation in common, and comparing them is an
	 * error.
	 */
	column->collation = expr->inputcollid;
	op_input_types(operator, &column->large_type, &column->searched_type);
	if (!OidIsValid(column->collation) &&
		(type_is_collatable(column->large_type) || type_is_collatable(column->searched_type)))
		return false;

	/* The equality of arrays, rows and the like may call functions of their elements' types. */
	column->search_operator = get_commutator(operator);
	if (!OidIsValid(column->search_operator) || operator >= FirstNormalObjectId ||
		IsPolymorphicType(column->large_type) || column->large_type == RECORDOID)
		return false;
	foreach(lc, info->mergeopfamilies)
	{
		column->family = lfirst_oid(lc);
		if (column->family < FirstNormalObjectId &&
			get_op_opfamily_strategy(operator, column->family) == BTEqualStrategyNumber)
			return true;
	}
	return false;
}

/*
 * Adds the columns that a join clause compares to the pair's columns.  Returns false if the clause
 * is not an equality that can be looked up in the searched relation.
 */
static bool
add_clause(SamplePair *pair, RestrictInfo *info)
{
	SampleColumn column = {0};
	int			i;

	if (!read_equality(info, pair, &column))
		return false;
	for (i = 0; i < pair->ncolumns; i++)
		if (column.large->varattno == pair->columns[i].large->varattno &&
			column.searched->varattno == pair->columns[i].searched->varattno)
			break;
	if (i == pair->ncolumns)
	{
		if (i == INDEX_MAX_KEYS)
			return false;
		pair->columns[pair->ncolumns++] = column;
	}
	pair->columns[i].clauses = lappend(pair->columns[i].clauses, info);
	return true;
}

/*
 * Finds the type of the join between the pair's relations, as far as it matters to sizes.  Returns
 * NULL, or the reason why the pair cannot be sampled.
 */
static const char *
find_type(PlannerInfo *root, SamplePair *pair, Relids both)
{
	ListCell   *lc;

	pair->type = JOIN_INNER;
	foreach(lc, root->join_info_list)
	{
		const SpecialJoinInfo *join = lfirst(lc);
		bool		is_semi = join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI;
		bool		large_left = bms_is_member(pair->large->relid, join->syn_lefthand);

		if (join->jointype == JOIN_SEMI && bms_is_subset(both, join->syn_righthand))
			pair->right_of_semi = true;
		if (!bms_overlap(both, join->syn_lefthand) || !bms_overlap(both, join->syn_righthand))
			continue;
		if (is_semi && !large_left)
			return "the semi join or anti join selects rows of the smaller relation";
		if (is_semi || pair->type == JOIN_INNER)
			pair->type = join->jointype;
	}
	return NULL;
}

const char *
bloomfam_sample_pair_init(PlannerInfo *root, SamplePair *pair)
{
	const char *no_equality = "there are other conditions between the two, or none that is known";
	Relids		both = bms_union(pair->large->relids, pair->searched->relids);
	List	   *clauses =
		list_concat(bloomfam_implied_equalities(root, pair->large, pair->searched),
					bloomfam_implied_equalities(root, pair->searched, pair->large));
	ListCell   *lc;

	foreach(lc, pair->large->joininfo)
		if (bms_equal(lfirst_node(RestrictInfo, lc)->clause_relids, both))
			clauses = lappend(clauses, lfirst(lc));
	foreach(lc, clauses)
		if (!add_clause(pair, lfirst(lc)))
			return no_equality;
	return pair->ncolumns == 0 ? no_equality : find_type(root, pair, both);
}

/*
 * Returns whether a foreign key would make the server ignore the selectivity of one of the pair's
 * clauses.
 */
static bool
replaces_clause(const ForeignKeyOptInfo *key, const SamplePair *pair)
{
	ListCell   *lc;
	int			i;
	int			k;

	/*
	 * The foreign key is kept: it has several columns and refers to another table, and only it
	 * tells the planner how these columns go together.
	 */
	if (key->nkeys > 1 && key->con_relid != pair->searched->relid &&
		key->ref_relid != pair->searched->relid)
		return false;
	for (i = 0; i < pair->ncolumns; i++)
		foreach(lc, pair->columns[i].clauses)
			for (k = 0; k < key->nkeys; k++)
				if (list_member_ptr(key->rinfos[k], lfirst(lc)) ||
					(key->eclass[k] != NULL &&
					 key->eclass[k] == ((RestrictInfo *) lfirst(lc))->parent_ec))
					return true;
	return false;
}

/*
 * Returns the selectivity of one column's equality, as the server estimates it without foreign
 * keys.  The planner keeps its estimate in the clause.  For joins other than inner joins, the
 * estimate may depend on more than the two relations, so the clause's own value is restored.
 */
static double
column_selectivity(PlannerInfo *root, const SamplePair *pair, const SampleColumn *column)
{
	SpecialJoinInfo *join = makeNode(SpecialJoinInfo);
	RestrictInfo *info = linitial(column->clauses);
	Selectivity outer = info->outer_selec;
	double		result;

	join->min_lefthand = join->syn_lefthand = pair->large->relids;
	join->min_righthand = join->syn_righthand = pair->searched->relids;
	join->jointype = bloomfam_sample_is_semi(pair) ? JOIN_SEMI : JOIN_INNER;
	info->outer_selec = -1;
	result = clause_selectivity(root, (Node *) info, 0, join->jointype, join);
	info->outer_selec = outer;
	return result;
}

double
bloomfam_sample_pair_selectivity(PlannerInfo *root, const SamplePair *pair)
{
	double		selectivity = 1;
	ListCell   *lc;
	int			i;

	foreach(lc, root->fkey_list)
	{
		const ForeignKeyOptInfo *key = lfirst(lc);

		/*
		 * The server estimates a join along this foreign key at one searched row for each row of
		 * the large relation, so this is what it expects of the pair.
		 */
		if (key->con_relid == pair->large->relid && key->ref_relid == pair->searched->relid &&
			key->nkeys == pair->ncolumns && !bloomfam_sample_is_semi(pair))
			return 1 / Max(pair->searched->tuples, 1);
	}
	for (i = 0; i < pair->ncolumns; i++)
		selectivity *= column_selectivity(root, pair, &pair->columns[i]);
	return selectivity;
}

/*
 * Sets both selectivities of clauses.  Which of them the server reads depends on the type of the
 * join alone.  But it also reads outer_selec if the inner side of a join of another type is unique
 * (compute_semi_anti_join_factors()), and takes it for the same as norm_selec.  A norm_selec above
 * 1 says that the clause is redundant, and is not changed.
 */
static void
set_clauses(List *clauses, double norm, double outer)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *info = lfirst(lc);

		if (info->norm_selec <= 1)
		{
			info->norm_selec = norm;
			info->outer_selec = outer;
		}
	}
}

/* Returns the logarithm of a selectivity, limited so that it is neither 0 nor infinite. */
static double
log_of(double selectivity)
{
	return log(Min(Max(selectivity, 1e-200), 1 - 1e-9));
}

/*
 * The server multiplies the selectivities of several columns.  So the logarithm of the new
 * selectivity is divided among the columns in the proportions of the server's own estimates.  Each
 * column needs its own part, as the server may leave a column's clause out if a third relation has
 * the column.
 */
void
bloomfam_sample_pair_set(PlannerInfo *root, const SamplePair *pair, double selectivity,
						 double fraction)
{
	double		all = Min(log_of(bloomfam_sample_pair_selectivity(root, pair)),
						  log_of(1) * pair->ncolumns);
	List	   *keys = NIL;
	ListCell   *lc;
	int			i;

	for (i = 0; i < pair->ncolumns; i++)
	{
		double		part = log_of(column_selectivity(root, pair, &pair->columns[i])) / all;
		double		norm = pow(selectivity, part);

		set_clauses(pair->columns[i].clauses, norm,
					bloomfam_sample_is_semi(pair) ? pow(fraction, part) : norm);
	}
	foreach(lc, root->fkey_list)
		if (!replaces_clause(lfirst(lc), pair))
			keys = lappend(keys, lfirst(lc));
	root->fkey_list = keys;
}

void
bloomfam_sample_set_between(PlannerInfo *root, const SamplePair *other, const SamplePair *pair,
							double selectivity)
{
	int			i;

	for (i = 0; i < other->ncolumns && other != pair && pair->ncolumns == 1; i++)
		if (other->columns[i].large->varattno == pair->columns[0].large->varattno)
			set_clauses(list_concat(
							bloomfam_implied_equalities(root, other->searched, pair->searched),
							bloomfam_implied_equalities(root, pair->searched, other->searched)),
						selectivity, selectivity);
}

char *
bloomfam_sample_alias(PlannerInfo *root, const RelOptInfo *rel)
{
	return pstrdup(planner_rt_fetch(rel->relid, root)->eref->aliasname);
}

static const char *
column_text(PlannerInfo *root, const Var *column)
{
	const RangeTblEntry *rte = planner_rt_fetch(column->varno, root);

	return psprintf("%s.%s", rte->eref->aliasname,
					strVal(list_nth(rte->eref->colnames, column->varattno - 1)));
}

char *
bloomfam_sample_pair_text(PlannerInfo *root, const SamplePair *pair)
{
	StringInfoData out;
	int			i;

	initStringInfo(&out);
	for (i = 0; i < pair->ncolumns; i++)
		appendStringInfo(&out, "%s%s = %s", i > 0 ? " AND " : "",
						 column_text(root, pair->columns[i].large),
						 column_text(root, pair->columns[i].searched));
	if (pair->ncolumns == 0)
		appendStringInfo(&out, "%s, %s", bloomfam_sample_alias(root, pair->large),
						 bloomfam_sample_alias(root, pair->searched));
	return out.data;
}
