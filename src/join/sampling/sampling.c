/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sampling.c
 *	  Sizes of joins by a sample of their keys: bloomfam.join_samples.
 *
 * The server expects of an equality that all keys of both sides are alike.  Here a large relation's
 * keys, as its statistics have a sample of them, are searched in a table that it is joined to,
 * under that table's conditions.  The fraction that is found becomes the clause's selectivity,
 * where it differs from the server's by more than chance.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/relation.h"
#include "access/table.h"
#include "lib/stringinfo.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "join/base/gucs.h"
#include "join/sampling/cache.h"
#include "join/sampling/couple.h"
#include "join/sampling/join_order.h"
#include "join/sampling/pair.h"
#include "join/sampling/permission.h"
#include "join/sampling/reader.h"
#include "join/sampling/row_search.h"
#include "join/sampling/sampling.h"
#include "pg/compat.h"

/* A pair is sampled if so many rows are to be joined (fewer in a test of small tables) ... */
#ifndef JOIN_SAMPLED_FEWEST_ROWS
#define JOIN_SAMPLED_FEWEST_ROWS	100000.0
#endif

/* ... and such a fraction of them may have a match: less cannot be seen in some 200 keys. */
#define LEAST_SHARE		0.01

/* A query of more relations is left alone: pairs and classes are looked at, each with each. */
#define MOST_RELATIONS	32

/* Rows of a table may be so many times more than the server expects. */
#define NEAR_ROWS		2.0

/* All searches of a query may access so many blocks. */
#define MOST_BLOCKS		2000

/* The query that is planned. */
static JoinSampling *current = NULL;

/* A search is going on: what is planned by functions that it calls is not sampled. */
static bool searching = false;

void
bloomfam_join_sampling_begin(JoinSampling *sampling)
{
	sampling->sampled = NIL;
	sampling->nblocks = MOST_BLOCKS;
	sampling->outer = current;
	current = sampling;
}

void
bloomfam_join_sampling_end(JoinSampling *sampling)
{
	Assert(current == sampling);
	current = sampling->outer;
}

/* ---- what is told ---- */

static char *
alias_of(PlannerInfo *root, const RelOptInfo *rel)
{
	return pstrdup(planner_rt_fetch(rel->relid, root)->eref->aliasname);
}

/* The aliases of these relations, a list of strings. */
static List *
aliases_of(PlannerInfo *root, Relids relids)
{
	List	   *aliases = NIL;
	int			i = -1;

	while ((i = bms_next_member(relids, i)) >= 0)
		if (root->simple_rel_array[i] != NULL)
			aliases = lappend(aliases, alias_of(root, root->simple_rel_array[i]));
	return aliases;
}

static const char *
column_name(PlannerInfo *root, const Var *column)
{
	const RangeTblEntry *rte = planner_rt_fetch(column->varno, root);

	return psprintf("%s.%s", rte->eref->aliasname,
					strVal(list_nth(rte->eref->colnames, column->varattno - 1)));
}

/* The equalities of a pair. */
static const char *
condition_of(PlannerInfo *root, const JoinPair *pair)
{
	StringInfoData out;
	int			i;

	initStringInfo(&out);
	for (i = 0; i < pair->ncolumns; i++)
		appendStringInfo(&out, "%s%s = %s", i > 0 ? " AND " : "",
						 column_name(root, pair->columns[i].probe),
						 column_name(root, pair->columns[i].searched));
	return out.data;
}

/* A new entry for what is told of a pair. */
static JoinSampled *
new_sampled(PlannerInfo *root, const JoinPair *pair)
{
	JoinSampled *sampled = palloc0(sizeof(JoinSampled));

	sampled->used = -1;
	sampled->probe = alias_of(root, pair->probe);
	sampled->searched = alias_of(root, pair->searched);
	if (pair->ncolumns > 0)
		sampled->condition = condition_of(root, pair);
	current->sampled = lappend(current->sampled, sampled);
	return sampled;
}

/* ---- one pair ---- */

/* Appends nodes, but not where the query's text has them, as before 17 it has one more place. */
static void
append_without_locations(StringInfo out, const char *nodes)
{
	static const char field[] = ":location ";
	const char *location;

	appendStringInfoChar(out, ' ');
	while ((location = strstr(nodes, field)) != NULL)
	{
		appendBinaryStringInfo(out, nodes, location - nodes);
		nodes = location + strlen(field);
		nodes += strspn(nodes, "-0123456789");
	}
	appendStringInfo(out, "%s ", nodes);
}

/* Appends what a search depends on beside the tables and their statistics. */
static void
describe(PlannerInfo *root, const JoinPair *pair, int most_blocks, StringInfo out)
{
	const RangeTblEntry *probe = planner_rt_fetch(pair->probe->relid, root);
	const RangeTblEntry *searched = planner_rt_fetch(pair->searched->relid, root);
	int			i;

	appendStringInfo(out, "%u %d %u %u %d %d %d", probe->relid, probe->inh, searched->relid,
					 pair->searched->relid, pair->value_column, pair->unique_in_all, most_blocks);
	for (i = 0; i < pair->ncolumns; i++)
	{
		const JoinPairColumn *column = &pair->columns[i];

		appendStringInfo(out, " %d %d %u %u %u %u", column->probe->varattno,
						 column->searched->varattno, column->comparison.family,
						 column->comparison.collation, column->comparison.left,
						 column->comparison.right);
	}
	append_without_locations(out, nodeToString(extract_actual_clauses(pair->conditions, false)));
}

/*
 * Gets the keys of the statistics that a pair's table can be searched for, and its own, where rows
 * beside those may be read.  Returns NULL, or why there are none.  Both to be freed, in any case.
 */
static const char *
plan_search(PlannerInfo *root, const JoinPair *pair, int most_blocks, JoinKeySample *sample,
			JoinKeySample *own, JoinSearch *plan)
{
	const JoinPairColumn *column = &pair->columns[0];
	const JoinKeyComparison *comparison = &column->comparison;

	*plan = (JoinSearch) {
		.rel = pair->searched,
		.column = column->searched->varattno,
		.unique = pair->unique_in_all,
		.conditions = pair->conditions,
		.value_column = pair->value_column,
		.comparison = *comparison,
		.sample = sample,
		.own = own,
		.most_blocks = most_blocks
	};
	if (!bloomfam_join_key_sample(root, column->probe, comparison->family, comparison->left,
								  comparison->collation, sample))
		return "there are no statistics";
	bloomfam_join_search_choose(plan);
	if (plan->index != NULL && plan->unique)
		bloomfam_join_key_sample(root, column->searched, comparison->family, comparison->right,
								 comparison->collation, own);
	return NULL;
}

/* Searches for the keys of the statistics. */
static const char *
search_keys(PlannerInfo *root, JoinSearch *plan, JoinFound *found, JoinMatchShare *share)
{
	const char *reason;

	plan->relation = table_open(planner_rt_fetch(plan->rel->relid, root)->relid, NoLock);
	reason = bloomfam_join_search(plan, found);
	table_close(plan->relation, NoLock);
	share->nblocks = found->nblocks;
	if (reason == NULL && !bloomfam_join_match_share(plan->sample, found, share))
		reason = "the statistics have too few keys";
	return reason;
}

/* Searches for rows of the table itself. */
static const char *
search_rows(PlannerInfo *root, const JoinPair *pair, int most_blocks, JoinMatchShare *share)
{
	Relation	probe = table_open(planner_rt_fetch(pair->probe->relid, root)->relid, NoLock);
	Relation	relation = table_open(planner_rt_fetch(pair->searched->relid, root)->relid, NoLock);
	const char *reason = bloomfam_join_search_forbidden(root, pair->probe, probe);
	JoinRowSearch plan = {
		.pair = pair, .probe = probe, .searched = relation, .unique = pair->unique_in_all,
		.most_blocks = most_blocks
	};

	if (reason == NULL)
		reason = bloomfam_join_row_search(root, &plan, share);
	table_close(relation, NoLock);
	table_close(probe, NoLock);
	return reason;
}

/* Searches for the keys of each pair, the same ones, and for what they have in common. */
static const char *
search_pairs(PlannerInfo *root, JoinPair *const *pairs, int npairs, int most_blocks,
			 JoinMatchShares *shares)
{
	JoinKeySample samples[2] = {{0}};
	JoinKeySample own[2] = {{0}};
	JoinSearch	plans[2];
	JoinFound	found[2];
	const char *reason = NULL;
	int			most_keys = INT_MAX;
	int			i;

	for (i = 0; i < npairs && reason == NULL; i++)
	{
		reason = plan_search(root, pairs[i], most_blocks, &samples[i], &own[i], &plans[i]);
		if (reason == NULL)
			most_keys = Min(most_keys, plans[i].most_keys);
	}
	for (i = 0; i < npairs && reason == NULL; i++)
	{
		plans[i].most_keys = most_keys;
		reason = search_keys(root, &plans[i], &found[i], &shares->of[i]);
	}
	if (reason == NULL && npairs == 2 &&
		!bloomfam_join_match_share_of_both(&samples[0], &found[0], &found[1], &shares->both))
		reason = "the statistics have too few keys";
	for (i = 0; i < npairs; i++)
	{
		bloomfam_join_key_sample_free(&samples[i]);
		bloomfam_join_key_sample_free(&own[i]);
	}
	return reason;
}

/* Searches; returns NULL, or why it could not.  All in a context of its own. */
static const char *
search(PlannerInfo *root, JoinPair *const *pairs, int npairs, int most_blocks,
	   JoinMatchShares *shares)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "join sample", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const char *reason = NULL;

	memset(shares, 0, sizeof(*shares));
	searching = true;
	PG_TRY();
	{
		if (npairs == 1 && pairs[0]->ncolumns > 1)
			reason = search_rows(root, pairs[0], most_blocks, &shares->of[0]);
		else
			reason = search_pairs(root, pairs, npairs, most_blocks, shares);
	}
	PG_FINALLY();
	{
		searching = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return reason;
}

static JoinCacheSource
source_of(PlannerInfo *root, Index relid, AttrNumber column)
{
	const RangeTblEntry *rte = planner_rt_fetch(relid, root);

	return (JoinCacheSource) {rte->relid, column, rte->inh};
}

/* Keeps what was found, until a table is analyzed: then any column of these has new statistics. */
static void
keep_shares(PlannerInfo *root, JoinPair *const *pairs, int npairs, const char *text,
			const JoinMatchShares *shares)
{
	JoinCacheSource *sources = palloc(sizeof(JoinCacheSource));
	int			n = 0;
	int			i;
	int			k;

	for (i = 0; i < npairs; i++)
	{
		const JoinPair *pair = pairs[i];
		Bitmapset  *columns = NULL;
		int			member = -1;

		pull_varattnos((Node *) extract_actual_clauses(pair->conditions, false),
					   pair->searched->relid, &columns);
		sources = repalloc(sources, (n + 2 * pair->ncolumns + bms_num_members(columns)) *
									sizeof(JoinCacheSource));
		for (k = 0; k < pair->ncolumns; k++)
		{
			sources[n++] =
				source_of(root, pair->probe->relid, pair->columns[k].probe->varattno);
			sources[n++] =
				source_of(root, pair->searched->relid, pair->columns[k].searched->varattno);
		}
		while ((member = bms_next_member(columns, member)) >= 0)
			sources[n++] = source_of(root, pair->searched->relid,
									 member + FirstLowInvalidHeapAttributeNumber);
	}
	bloomfam_join_cache_keep(text, sources, n, shares);
	pfree(sources);
}

/*
 * Finds the shares of a pair, or of two pairs with the same key of the same relation, as they were
 * found before, or by a search.
 */
static const char *
find_shares(PlannerInfo *root, JoinPair *const *pairs, int npairs, int most_blocks,
			JoinMatchShares *shares)
{
	const JoinMatchShares *cached;
	const char *reason = NULL;
	StringInfoData text;
	int			i;

	Assert(npairs == 1 || (npairs == 2 && pairs[0]->probe == pairs[1]->probe));
	initStringInfo(&text);
	for (i = 0; i < npairs; i++)
		describe(root, pairs[i], most_blocks, &text);
	cached = bloomfam_join_cache_find(text.data);
	if (cached != NULL)
	{
		*shares = *cached;
		reason = shares->over_budget ? bloomfam_join_over_budget : NULL;
	}
	else
	{
		reason = search(root, pairs, npairs, most_blocks, shares);
		shares->over_budget = reason == bloomfam_join_over_budget;
		if (reason == NULL || shares->over_budget)
			keep_shares(root, pairs, npairs, text.data, shares);
	}
	for (i = 0; i < npairs; i++)
		current->nblocks -= shares->of[i].nblocks;
	pfree(text.data);
	return reason;
}

/* May the columns of the pair and of these conditions be seen? */
static const char *
check_columns(PlannerInfo *root, const JoinPair *pair)
{
	Bitmapset  *probe = NULL;
	Bitmapset  *searched = NULL;
	Bitmapset  *used = NULL;
	const char *reason;
	int			member = -1;
	int			i;

	for (i = 0; i < pair->ncolumns; i++)
	{
		probe = bms_add_member(probe, pair->columns[i].probe->varattno);
		searched = bms_add_member(searched, pair->columns[i].searched->varattno);
	}
	if (pair->value_column != 0)
		searched = bms_add_member(searched, pair->value_column);
	pull_varattnos((Node *) extract_actual_clauses(pair->conditions, false),
				   pair->searched->relid, &used);
	while ((member = bms_next_member(used, member)) >= 0)
		searched = bms_add_member(searched, member + FirstLowInvalidHeapAttributeNumber);
	reason = bloomfam_join_columns_forbidden(root, pair->probe, probe);
	return reason != NULL ? reason
						  : bloomfam_join_columns_forbidden(root, pair->searched, searched);
}

/* Do conditions of the relation itself depend on its key? */
static bool
limits_its_keys(const JoinPair *pair)
{
	Bitmapset  *used = NULL;
	int			i;

	pull_varattnos((Node *) extract_actual_clauses(pair->probe->baserestrictinfo, false),
				   pair->probe->relid, &used);
	for (i = 0; i < pair->ncolumns; i++)
		if (bms_is_member(pair->columns[i].probe->varattno - FirstLowInvalidHeapAttributeNumber,
						  used))
			return true;
	return false;
}

/*
 * How many rows a match is expected to be of: all that meet the conditions, by the keys that do.
 * These are more the less the conditions follow the key: as many as if rows met them by chance, or
 * as large a part as of the sample's.  And no fewer than were counted.
 */
static double
rows_per_match(PlannerInfo *root, const JoinPair *pair, double rows, const JoinMatchShare *share)
{
	double		all = Max(pair->searched->tuples, 1);
	double		least = Max(share->least_per_match, 1);
	double		keys =
		pair->ncolumns == 1 ? bloomfam_join_ndistinct(root, pair->columns[0].searched) : 0;
	double		by_chance;

	if (keys < 1)
		return least;
	by_chance = keys * (1 - pow(Max(1 - rows / all, 0), all / keys));
	least = Max(least, rows / Max(by_chance, 1));
	if (share->of_existing > 0)
		least = Max(least, Min(rows / Max(keys * share->of_existing, 1), all / keys));
	return least;
}

/*
 * How many times more rows a parameter is expected to select of those with a match than the server
 * expects of all; 1 if that is not known, or differs by less than twice.
 */
static double
parameter_ratio(PlannerInfo *root, const JoinPair *pair, JoinSampled *sampled)
{
	double		expected;

	if (pair->parameter == NULL || sampled->share.alike <= 0)
		return 1;
	expected = clause_selectivity(root, (Node *) pair->parameter, 0, JOIN_INNER, NULL);
	if (sampled->share.alike < 2 * expected && sampled->share.alike > expected / 2)
		return 1;
	sampled->alike = sampled->share.alike;
	return sampled->alike / Max(expected, 1e-9);
}

/*
 * Chooses between what the server expects and what was found; true: the latter is planned with.
 * anti: the rows without a match are those that come.
 */
static bool
choose_share(JoinSampled *sampled, double expected, bool anti)
{
	const JoinMatchShare *share = &sampled->share;

	sampled->expected = expected;
	if (bloomfam_join_share_may_be(share, expected, anti))
		sampled->unused = "the difference may be chance";
	else if (bloomfam_join_share_is_near(share, expected, anti))
		sampled->unused = "the difference is small";
	else
		sampled->used = bloomfam_join_share_beside(share, expected);
	return sampled->unused == NULL;
}

/* How many rows of the searched table the conditions leave that were evaluated. */
static double
evaluated_rows(PlannerInfo *root, const JoinPair *pair)
{
	/* those that were not keep the server's selectivity */
	if (list_length(pair->conditions) == list_length(pair->searched->baserestrictinfo))
		return pair->searched->rows;
	return clamp_row_est(
		pair->searched->tuples *
		clauselist_selectivity(root, pair->conditions, 0, JOIN_INNER, NULL));
}

/* How many rows a match is of: as many as were found, or as the server lets expect. */
static double
found_rows_per_match(PlannerInfo *root, const JoinPair *pair, const JoinMatchShare *share)
{
	if (pair->unique)
		return 1;
	return share->rows_per_match > 0
			   ? share->rows_per_match
			   : rows_per_match(root, pair, evaluated_rows(root, pair), share);
}

/* Gives the clauses of a pair the selectivity that comes of its sample. */
static void
use_sample(PlannerInfo *root, const JoinPair *pair, JoinSampled *sampled)
{
	double		rows = evaluated_rows(root, pair);
	double		per_match = found_rows_per_match(root, pair, &sampled->share);
	double		ratio = parameter_ratio(root, pair, sampled);
	double		share;

	share = Min(bloomfam_join_pair_selectivity(root, pair) * rows / per_match, 1);
	if (choose_share(sampled, share, pair->type == JOIN_ANTI))
	{
		/* a table that is larger than it seems makes each nested loop over it look cheap */
		if (rows * sampled->share.of_one_key * NEAR_ROWS < sampled->share.share &&
			sampled->share.of_one_key > 0)
			sampled->unused =
				"more rows of the table must match than the server expects of it at all";
		else if (pair->right_of_semi && sampled->used > share)
			/* it is sized as no more rows than those others have, whatever it has itself */
			sampled->unused = "the server counts too few rows where the right side of a semi join "
							  "is joined to others first";
		if (sampled->unused == NULL)
			share = sampled->used;
		else
			sampled->used = -1;
	}
	if (sampled->unused == NULL || ratio != 1)
		bloomfam_join_pair_set(root, &current->sizes, pair,
							   Min(share * ratio * per_match / rows, 1),
							   Min(share * ratio * pair->searched->rows / rows, 1));
}

/* Gives the third relation's clause what is left, after the first two, of what both leave. */
static void
use_both(PlannerInfo *root, const JoinCouple *couple, const JoinMatchShares *shares)
{
	const JoinMatchShare *share = &shares->both;
	JoinSampled *sampled = new_sampled(root, couple->pairs[0]);
	double		matches = 1;
	double		per_match = 1;
	int			i;

	for (i = 0; i < 2; i++)
	{
		matches *= evaluated_rows(root, couple->pairs[i]);
		per_match *= found_rows_per_match(root, couple->pairs[i], &shares->of[i]);
	}
	matches /= share->rows_per_match > 0 ? share->rows_per_match : per_match;
	sampled->condition = psprintf("%s AND %s", sampled->condition,
								  condition_of(root, couple->pairs[1]));
	sampled->searched = psprintf("%s and %s", sampled->searched,
								 alias_of(root, couple->pairs[1]->searched));
	sampled->share = *share;
	/* each is an estimate of its own; but no more rows match in both than in one */
	for (i = 0; i < 2; i++)
		sampled->share.share = Min(sampled->share.share, shares->of[i].share);
	sampled->share.low = Min(sampled->share.low, sampled->share.share);
	if (choose_share(sampled, Min(bloomfam_join_couple_selectivity(root, couple) * matches, 1),
					 false) &&
		!bloomfam_join_couple_set(root, &current->sizes, couple, Min(sampled->used / matches, 1)))
	{
		sampled->used = -1;
		sampled->unused = "a join with one of the two would look too small";
	}
}

/*
 * Have no two rows of the table that is searched the same key, or if not of all, of those of the
 * query?  A unique index with a predicate says it of the latter alone, and a deferrable one not
 * before a transaction ends.  What is equal may differ in another collation.
 */
static bool
is_unique(const JoinPair *pair, bool of_all)
{
	ListCell   *lc;

	foreach(lc, pair->searched->indexlist)
	{
		const IndexOptInfo *index = lfirst(lc);
		int			i;

		if (!index->unique || !index->immediate ||
			!(index->indpred == NIL || (index->predOK && !of_all)))
			continue;
		for (i = 0; i < index->nkeycolumns; i++)
			if (bloomfam_join_pair_column(pair, index, i) < 0)
				break;
		if (i == index->nkeycolumns)
			return true;
	}
	return false;
}

/* The most keys that a column of the pair's probe has; 0 if that is not known. */
static double
most_keys(PlannerInfo *root, const JoinPair *pair)
{
	double		most = 0;
	int			i;

	for (i = 0; i < pair->ncolumns; i++)
		most = Max(most, bloomfam_join_ndistinct(root, pair->columns[i].probe));
	return most;
}

/* Why a pair is not sampled, whatever may be found; NULL: it is. */
static const char *
check_pair(PlannerInfo *root, JoinPair *pair)
{
	const char *reason;
	Relation	searched;

	pair->conditions = bloomfam_join_safe_conditions(pair->searched);
	pair->parameter = bloomfam_join_parameter_condition(pair->searched, &pair->value_column);
	reason = bloomfam_join_probe_forbidden(root, pair->probe);
	if (reason == NULL)
		reason = bloomfam_join_pair_init(root, pair);
	if (reason != NULL)
		return reason;
	if (pair->conditions == NIL && pair->parameter == NULL && pair->ncolumns == 1)
		return "no condition of the table to be searched can be evaluated";
	if (limits_its_keys(pair))
		return "a condition depends on the key";
	reason = check_columns(root, pair);
	if (reason != NULL)
		return reason;
	if (pair->searched->tuples < LEAST_SHARE * most_keys(root, pair))
		return "too few rows can have a match";
	pair->unique_in_all = is_unique(pair, true);
	pair->unique = is_unique(pair, false);
	searched = table_open(planner_rt_fetch(pair->searched->relid, root)->relid, NoLock);
	reason = bloomfam_join_search_forbidden(root, pair->searched, searched);
	table_close(searched, NoLock);
	return reason;
}

/* Tells of a pair what came of it, and uses that. */
static void
take_share(PlannerInfo *root, const JoinPair *pair, const char *reason,
		   const JoinMatchShare *share)
{
	JoinSampled *sampled = new_sampled(root, pair);

	sampled->reason = reason;
	if (reason != NULL)
		return;
	sampled->share = *share;
	if (OidIsValid(share->index))
		sampled->index = get_rel_name(share->index);
	use_sample(root, pair, sampled);
}

/* Samples a pair, unless there is a reason not to. */
static void
sample_pair(PlannerInfo *root, JoinPair *pair, int most_blocks)
{
	JoinMatchShares shares = {0};

	if (pair->reason == NULL && bloomfam_join_thirds(root, pair) != NULL)
		pair->reason = "a third table with conditions has the same key";
	if (pair->reason == NULL)
		pair->reason = find_shares(root, &pair, 1, most_blocks, &shares);
	take_share(root, pair, pair->reason, &shares.of[0]);
}

/* Samples two pairs with one key.  What is found of one of them alone says nothing of both. */
static void
sample_couple(PlannerInfo *root, const JoinCouple *couple, int most_blocks)
{
	JoinMatchShares shares;
	const char *reason = find_shares(root, couple->pairs, 2, most_blocks, &shares);
	int			i;

	for (i = 0; i < 2; i++)
		take_share(root, couple->pairs[i], reason, &shares.of[i]);
	if (reason == NULL)
		use_both(root, couple, &shares);
}

/* ---- all pairs ---- */

/*
 * Does the gate let a pair pass, before anything is known that takes time?  The server expects that
 * all keys match, unless there are conditions; but of several columns that each do so by itself.
 */
static bool
may_pay(PlannerInfo *root, RelOptInfo *probe, RelOptInfo *searched)
{
	return probe->rows >= JOIN_SAMPLED_FEWEST_ROWS && searched->tuples > 0 &&
		   bloomfam_join_are_joined(root, probe, searched) &&
		   (searched->baserestrictinfo != NIL ||
			bloomfam_join_have_several(root, probe, searched));
}

/* Adds a pair of base relations, if it pays; the larger one is the probe. */
static List *
add_pair(PlannerInfo *root, RelOptInfo *a, RelOptInfo *b, List *pairs)
{
	JoinPair   *pair;
	RelOptInfo *probe = a->tuples >= b->tuples ? a : b;
	RelOptInfo *searched = probe == a ? b : a;

	if (a->reloptkind != RELOPT_BASEREL || b->reloptkind != RELOPT_BASEREL ||
		a->rtekind != RTE_RELATION || b->rtekind != RTE_RELATION)
		return pairs;
	if (!may_pay(root, probe, searched))
	{
		RelOptInfo *other = probe;

		probe = searched;
		searched = other;
		if (!may_pay(root, probe, searched))
			return pairs;
	}
	pair = palloc0(sizeof(JoinPair));
	pair->probe = probe;
	pair->searched = searched;
	return lappend(pairs, pair);
}

/* Pairs of which the one is in this relation, the other in that. */
static List *
add_pairs(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *other, List *pairs)
{
	int			i = -1;
	int			k;

	while ((i = bms_next_member(rel->relids, i)) >= 0)
		for (k = -1; (k = bms_next_member(other->relids, k)) >= 0;)
			/* outer joins have numbers, too, and no relation */
			if (root->simple_rel_array[i] != NULL && root->simple_rel_array[k] != NULL)
				pairs = add_pair(root, root->simple_rel_array[i], root->simple_rel_array[k],
								 pairs);
	return pairs;
}

/* Is there a relation large enough? */
static bool
has_large(PlannerInfo *root)
{
	Index		i;

	for (i = 1; i < root->simple_rel_array_size; i++)
		if (root->simple_rel_array[i] != NULL &&
			root->simple_rel_array[i]->reloptkind == RELOPT_BASEREL &&
			root->simple_rel_array[i]->rows >= JOIN_SAMPLED_FEWEST_ROWS)
			return true;
	return false;
}

static void
sample_all(PlannerInfo *root, List *initial_rels)
{
	List	   *pairs = NIL;
	const char *reason;
	int			left;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, initial_rels)
		for_each_cell(lc2, initial_rels, lnext(initial_rels, lc))
			pairs = add_pairs(root, lfirst(lc), lfirst(lc2), pairs);
	if (pairs == NIL)
		return;

	reason = bloomfam_join_sampling_forbidden(root);
	if (reason == NULL && bms_num_members(root->all_baserels) > MOST_RELATIONS)
		reason = "the query has too many relations";
	if (reason == NULL && bloomfam_join_comes_back(root))
		reason = "a relation without conditions is joined to two others, and reaches far beyond "
				 "one";
	foreach(lc, pairs)
	{
		JoinPair   *pair = lfirst(lc);

		pair->reason = reason != NULL ? reason : check_pair(root, pair);
	}
	left = list_length(pairs);
	foreach(lc, pairs)
	{
		JoinCouple	couple;

		/* a couple when its first pair's turn comes, which the other's may be before */
		if (!bloomfam_join_couple_init(root, initial_rels, pairs, lfirst(lc), &couple))
			sample_pair(root, lfirst(lc), current->nblocks / left);
		else if (couple.pairs[0] == lfirst(lc))
			sample_couple(root, &couple, current->nblocks / Max(left, 2));
		left--;
	}
	Assert(left == 0);
}

RelOptInfo *
bloomfam_join_sampled_search(PlannerInfo *root, int levels, List *initial_rels,
							 join_search_hook_type search)
{
	JoinReorder	order;
	RelOptInfo *rel;

	if (!BLOOMFAM_KNOWN_MAJOR || current == NULL || searching || !has_large(root))
		return search(root, levels, initial_rels);
	memset(&current->sizes, 0, sizeof(JoinSizes));
	sample_all(root, initial_rels);
	rel = bloomfam_join_order_search(root, levels, initial_rels, &current->sizes, search, &order);
	if (order.choice != JOIN_REORDER_NOT_COMPARED)
	{
		JoinSampled *sampled = palloc0(sizeof(JoinSampled));

		sampled->kind = JOIN_SAMPLED_ORDER;
		sampled->order = order;
		sampled->relations = aliases_of(root, rel->relids);
		current->sampled = lappend(current->sampled, sampled);
	}
	return rel;
}
