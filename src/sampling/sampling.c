/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * sampling.c
 *	  Estimates sizes of joins by samples of rows: the setting bloomfam.join_samples.
 *
 * The server assumes that each key of one side of a join is as likely as another to have a match.
 * This code samples rows of a large relation, under its own conditions, and looks up their keys in
 * the relations that it is joined to, under theirs.  If the fraction that the server expects is
 * outside of the sample's interval, the fraction of rows that have a match becomes the selectivity
 * of the join's clauses.
 *
 * This is index-based join sampling (V. Leis, B. Radke, A. Gubichev, A. Kemper, T. Neumann:
 * "Cardinality Estimation Done Right", CIDR 2017), of one step.  All joins of a large relation
 * share one sample, so it also shows which joins select the same rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "sampling/estimate.h"
#include "sampling/permission.h"
#include "sampling/report.h"
#include "sampling/sampling.h"

/*
 * A relation is large if at least this many of its rows are expected: to join them takes ten times
 * as long as to sample them.  A test of small tables sets a smaller number.
 */
#ifndef SAMPLE_FEWEST_LARGE_ROWS
#define SAMPLE_FEWEST_LARGE_ROWS	100000.0
#endif

/*
 * A sample has at least this many rows, however many pairs there are, unless fewer are found.  With
 * fewer rows, a fraction of a tenth could not be distinguished from 0.
 */
#define FEWEST_ROWS			40

/* A pair, and what is found out about it. */
typedef struct PairState
{
	SamplePair	pair;

	/* Why the pair is not sampled; NULL if it is, and then all other fields are set. */
	const char *reason;
	SampleLookup lookup;
	SampleMatches matches;
	SampleFraction fraction;	/* The fraction of all rows of the sample that have a match. */

	/* The smallest fraction of the pairs with the same column of the large relation. */
	double		order;
} PairState;

/* A large relation, its conditions and its pairs. */
typedef struct LargeState
{
	RelOptInfo *rel;
	SampleConditions conditions;
	List	   *pairs;			/* List of PairState: the pairs whose large relation this is. */
} LargeState;

/* ---- choosing pairs ---- */

/*
 * Returns whether a relation of the query is a table, alone or together with its children, and not
 * a child itself.
 */
static bool
is_table(const RelOptInfo *rel)
{
	return rel != NULL && rel->reloptkind == RELOPT_BASEREL && rel->rtekind == RTE_RELATION;
}

static bool
is_large(const RelOptInfo *rel)
{
	return is_table(rel) && rel->rows >= SAMPLE_FEWEST_LARGE_ROWS;
}

/*
 * Finds the pairs of a large relation with the relations in others.  If both relations of a pair
 * are large, the one with more rows is the large relation of the pair.
 */
static void
find_pairs(PlannerInfo *root, const RelOptInfo *others, LargeState *large)
{
	int			i = -1;

	while ((i = bms_next_member(others->relids, i)) >= 0)
	{
		RelOptInfo *searched = root->simple_rel_array[i];
		PairState  *state;

		/* Outer joins have numbers among the relids, too. */
		if (!is_table(searched) || !bloomfam_sample_are_joined(root, large->rel, searched) ||
			(is_large(searched) && (searched->tuples > large->rel->tuples ||
									(searched->tuples == large->rel->tuples &&
									 searched->relid < large->rel->relid))))
			continue;
		state = palloc0(sizeof(PairState));
		state->pair.large = large->rel;
		state->pair.searched = searched;
		large->pairs = lappend(large->pairs, state);
	}
}

/* Returns a list of LargeState: the large relations that have pairs. */
static List *
find_larges(PlannerInfo *root, List *initial_rels)
{
	List	   *larges = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, initial_rels)
	{
		const RelOptInfo *rel = lfirst(lc);
		int			i = -1;

		while ((i = bms_next_member(rel->relids, i)) >= 0)
		{
			LargeState *large;

			if (!is_large(root->simple_rel_array[i]))
				continue;
			large = palloc0(sizeof(LargeState));
			large->rel = root->simple_rel_array[i];
			foreach(lc2, initial_rels)
				if (lfirst(lc2) != rel)
					find_pairs(root, lfirst(lc2), large);
			if (large->pairs != NIL)
				larges = lappend(larges, large);
		}
	}
	return larges;
}

/*
 * Prepares to sample a pair.  Returns NULL, or the reason why the pair cannot be sampled.  If the
 * searched relation has no conditions, the server expects that all keys have a match, and a sample
 * would say the same.  But a key of several columns is sampled even then, as the server expects a
 * match for each column by itself.
 */
static const char *
prepare_pair(PlannerInfo *root, const LargeState *large, PairState *state)
{
	SamplePair *pair = &state->pair;
	Bitmapset  *of_large = bms_copy(large->conditions.columns);
	Bitmapset **of_searched = &pair->conditions.columns;
	const char *reason = bloomfam_sample_pair_init(root, pair);
	int			i;

	bloomfam_sample_conditions(pair->searched, &pair->conditions);
	if (reason == NULL && pair->ncolumns == 1 && pair->conditions.evaluated == NIL)
		reason = "no condition of the searched table can be evaluated";
	for (i = 0; i < pair->ncolumns; i++)
	{
		of_large = bms_add_member(of_large, pair->columns[i].large->varattno);
		*of_searched = bms_add_member(*of_searched, pair->columns[i].searched->varattno);
	}
	if (reason == NULL)
		reason = bloomfam_sample_forbidden(root, pair->large, of_large, true);
	if (reason == NULL)
		reason = bloomfam_sample_forbidden(root, pair->searched, *of_searched, false);
	return reason != NULL ? reason : bloomfam_sample_lookup_init(root, pair, &state->lookup);
}

/* ---- sampling and looking up ---- */

/*
 * Takes a sample of a large relation, and looks up its keys in the searched relation of each pair.
 */
static void
search(PlannerInfo *root, const LargeState *large, int nrows, SampleBudget *budget,
	   SampleRows *sample)
{
	const char *reason =
		bloomfam_sample_rows(root, large->rel, &large->conditions, nrows, budget, sample);
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, large->pairs)
	{
		PairState  *state = lfirst(lc);

		if (state->reason == NULL)
			state->reason = reason;
		if (state->reason == NULL)
			state->reason = bloomfam_sample_lookup(root, &state->pair, &state->lookup, sample,
												   budget, &state->matches);
		if (state->reason == NULL)
			state->fraction = bloomfam_sample_fraction(sample, &state->matches, NULL);
		state->order = state->fraction.fraction;
		foreach(lc2, large->pairs)
		{
			PairState  *other = lfirst(lc2);

			if (other == state || state->reason != NULL)
				break;
			if (other->reason == NULL &&
				state->pair.columns[0].large->varattno == other->pair.columns[0].large->varattno)
				state->order = other->order = Min(state->order, other->order);
		}
	}
}

/* ---- using what was found ---- */

/* Estimates how many rows of the searched relation meet the conditions that were evaluated. */
static double
evaluated_rows(PlannerInfo *root, const SamplePair *pair)
{
	return clamp_row_est(
		pair->searched->tuples *
		clauselist_selectivity(root, pair->conditions.evaluated, 0, JOIN_INNER, NULL));
}

/*
 * Returns whether pair a is before pair b in the order in which the server will most likely join
 * them.  The pairs that fewer rows match come first.  Pairs with the same column are next to each
 * other, in the order of FROM, by which the server chooses the clauses of their joins.
 */
static bool
is_before(const PairState *a, const PairState *b)
{
	if (a->order != b->order)
		return a->order < b->order;
	return a->pair.searched->relid < b->pair.searched->relid;
}

/*
 * Returns the pair, of those before this one, whose matches go together most with those of this
 * one; NULL if no matches go together.  Only inner joins and semi joins discard rows without a
 * match, so others do not count.  Pairs that exclude each other do not count either: each join by
 * itself would look smaller than it is.
 */
static const PairState *
find_given(const LargeState *large, const PairState *state, const SampleRows *sample)
{
	const PairState *given = NULL;
	double		most = SAMPLE_SURE_DEVIATIONS;
	ListCell   *lc;

	foreach(lc, large->pairs)
	{
		const PairState *other = lfirst(lc);
		double		deviations;

		if (other->reason != NULL || !is_before(other, state) ||
			(other->pair.type != JOIN_INNER && other->pair.type != JOIN_SEMI) ||
			(state->pair.type != JOIN_INNER && state->pair.type != JOIN_SEMI))
			continue;
		deviations = bloomfam_sample_dependence(sample, &other->matches, &state->matches);
		if (deviations > most)
		{
			most = deviations;
			given = other;
		}
	}
	return given;
}

/*
 * Plans with the sample's fraction of a pair, unless the server's own may be right, and fills
 * *told.
 */
static void
use_pair(PlannerInfo *root, const LargeState *large, const PairState *state,
		 const SampleRows *sample, SampleTold *told)
{
	const SamplePair *pair = &state->pair;
	const PairState *given = find_given(large, state, sample);
	double		rows = evaluated_rows(root, pair);
	double		per_match;
	double		selectivity;
	ListCell   *lc;

	told->fraction = state->fraction;
	if (given != NULL)
	{
		told->fraction = bloomfam_sample_fraction(sample, &state->matches, &given->matches);
		told->given = bloomfam_sample_alias(root, given->pair.searched);
	}
	if (state->lookup.index != NULL)
		told->index = get_rel_name(state->lookup.index->indexoid);
	told->sample_blocks = sample->nblocks;
	told->nblocks = state->matches.nblocks;
	told->nleft = pair->conditions.nleft + large->conditions.nleft;
	/*
	 * If counting was cut off, use the server's estimate of the matches, but at least what was
	 * counted.
	 */
	per_match = told->fraction.per_match;
	if (state->matches.are_more)
		per_match = Max(per_match, rows / state->lookup.keys);
	told->expected = bloomfam_sample_pair_selectivity(root, pair);
	if (!bloomfam_sample_is_semi(pair))
		told->expected = Min(told->expected * rows / per_match, 1);
	/*
	 * If the fraction that the server expects lies within the range that the sample leaves possible
	 * (95 %), the difference may be chance, and the server's estimate is kept.
	 */
	if (told->expected >= told->fraction.low && told->expected <= told->fraction.high)
		return;

	/*
	 * The server may join the right side of a semi join to other relations first, and then expects
	 * no more rows than these have, whatever the right side has.  So an estimate is not raised
	 * there: a correct size beside a wrong one made query 25 of bench/sql/run sizes take 30 times
	 * as long.
	 */
	if (pair->right_of_semi && told->fraction.low > told->expected)
		return;
	/*
	 * If no row of the sample has a match, plan as if one had.  In an anti join, if all rows have a
	 * match, plan as if one had none.
	 */
	told->planned = Max(told->fraction.fraction, 1.0 / told->fraction.nrows);
	if (pair->type == JOIN_ANTI)
		told->planned = Min(told->planned, 1 - 1.0 / told->fraction.nrows);
	selectivity = Min(told->planned * per_match / rows, 1);
	bloomfam_sample_pair_set(root, pair, selectivity,
							 Min(told->planned * pair->searched->rows / rows, 1));
	/*
	 * The planner may first join this pair's searched relation to another pair's searched relation
	 * by the key that they have in common, which must get the sample's selectivity too.  A relation
	 * whose pair has more columns was joined before most often, as it has more clauses.
	 */
	foreach(lc, large->pairs)
	{
		const PairState *other = lfirst(lc);

		if (other->reason == NULL && (other->pair.ncolumns > 1 || is_before(other, state)))
			bloomfam_sample_set_between(root, &other->pair, pair, selectivity);
	}
}

/*
 * Samples a large relation for about nblocks blocks, unless reason says why it must not be sampled.
 * Uses the results, and adds what came of each pair to sampling->told.
 */
static void
sample_large(PlannerInfo *root, LargeState *large, const char *reason, double nblocks,
			 Sampling *sampling)
{
	/*
	 * The tuples in "sample" are allocated in "context", and freed with it; the other fields of
	 * "sample" are used afterwards.
	 */
	SampleRows *sample = palloc0(sizeof(SampleRows));
	/* The blocks that a row of the sample costs: its own, and those of its lookups. */
	double		of_row = 1;
	int			npairs = 0;		/* The number of pairs that can be sampled. */
	ListCell   *lc;

	bloomfam_sample_conditions(large->rel, &large->conditions);
	foreach(lc, large->pairs)
	{
		PairState  *state = lfirst(lc);

		state->reason = reason != NULL ? reason : prepare_pair(root, large, state);
		if (state->reason != NULL)
			continue;
		npairs++;
		nblocks -= state->lookup.blocks_once;
		of_row += state->lookup.blocks_of_row;
	}
	if (npairs > 0)
	{
		int			nrows = (int) Max(Min(nblocks / of_row, SAMPLE_MOST_ROWS), FEWEST_ROWS);
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "join sample",
													  ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);

		search(root, large, nrows, &sampling->budget, sample);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	foreach(lc, large->pairs)
	{
		const PairState *state = lfirst(lc);
		SampleTold *told;

		/*
		 * A pair is not reported if it was not sampled and nothing suggested sampling it: it has
		 * one column, and no conditions on its searched relation.
		 */
		if (state->reason != NULL && state->pair.searched->baserestrictinfo == NIL &&
			state->pair.ncolumns <= 1)
			continue;
		told = palloc(sizeof(SampleTold));
		*told = (SampleTold) {.join = bloomfam_sample_pair_text(root, &state->pair),
							  .reason = state->reason, .planned = -1};
		if (state->reason == NULL)
			use_pair(root, large, state, sample, told);
		sampling->told = lappend(sampling->told, told);
	}
}

void
bloomfam_sampling_size_joins(PlannerInfo *root, List *initial_rels, Sampling *sampling)
{
	List	   *larges = BLOOMFAM_KNOWN_MAJOR ? find_larges(root, initial_rels) : NIL;
	const char *reason = larges != NIL ? bloomfam_sample_query_forbidden(root) : NULL;
	ListCell   *lc;

	foreach(lc, larges)
		sample_large(root, lfirst(lc), reason,
					 (double) (sampling->budget.most - sampling->budget.spent) /
						 (list_length(larges) - foreach_current_index(lc)),
					 sampling);
}
