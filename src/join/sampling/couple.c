/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * couple.c
 *	  Two pairs of one probe, whose tables are searched for the same key.
 *
 * Two tables of one key, as an article's master data and its prices, or a table of days twice,
 * may keep the same keys by their conditions, or none in common.  The server multiplies what each
 * keeps.
 *
 * The size of a join is that of the first way to make it which the server comes upon: relations are
 * tried in the order that the query has them in.  An equivalence class has one clause for each
 * further relation: that with the first of its members which are joined already.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/geqo.h"
#include "optimizer/paths.h"

#include "join/sampling/couple.h"

/* The place of a relation's member of the list; -1: there is none. */
static int
place_of(List *initial_rels, const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, initial_rels)
		if (bms_is_member(rel->relid, ((RelOptInfo *) lfirst(lc))->relids))
			return foreach_current_index(lc);
	return -1;
}

/* The class that is a pair's only clause; NULL: it is none. */
static const EquivalenceClass *
class_of(const JoinPair *pair)
{
	const RestrictInfo *info;

	if (pair->ncolumns != 1)
		return NULL;
	info = linitial(pair->columns[0].clauses);
	return info->parent_ec;
}

/* Which of two relations a class names first. */
static const RelOptInfo *
first_member(const EquivalenceClass *class, const RelOptInfo *a, const RelOptInfo *b)
{
	ListCell   *lc;

	foreach(lc, class->ec_members)
	{
		const EquivalenceMember *member = lfirst(lc);

		if (bms_equal(member->em_relids, a->relids))
			return a;
		if (bms_equal(member->em_relids, b->relids))
			return b;
	}
	return a;
}

/* Can a pair be one of a couple? */
static bool
is_suitable(const JoinPair *pair)
{
	return pair->reason == NULL && pair->parameter == NULL && pair->type == JOIN_INNER &&
		   class_of(pair) != NULL;
}

/* The pair of the same probe whose table is the only other one with conditions and this key. */
static JoinPair *
find_partner(PlannerInfo *root, List *pairs, const JoinPair *pair)
{
	Relids		thirds = bloomfam_join_thirds(root, pair);
	int			third;
	ListCell   *lc;

	if (!bms_get_singleton_member(thirds, &third))
		return NULL;
	foreach(lc, pairs)
	{
		JoinPair   *other = lfirst(lc);

		if (other->probe == pair->probe && other->searched->relid == third &&
			is_suitable(other) && class_of(other) == class_of(pair))
			return other;
	}
	return NULL;
}

/* The couple's pair of these two relations. */
static const JoinPair *
pair_of(const JoinCouple *couple, const RelOptInfo *a, const RelOptInfo *b)
{
	int			i;

	for (i = 0; i < 2; i++)
	{
		const JoinPair *pair = couple->pairs[i];

		if ((pair->probe == a && pair->searched == b) || (pair->probe == b && pair->searched == a))
			return pair;
	}
	return &couple->between;
}

bool
bloomfam_join_couple_init(PlannerInfo *root, List *initial_rels, List *pairs, JoinPair *pair,
						  JoinCouple *couple)
{
	JoinPair   *partner = is_suitable(pair) ? find_partner(root, pairs, pair) : NULL;
	const RelOptInfo *rels[3];
	int			i;

	/* GEQO joins in orders of its own */
	if (partner == NULL || (enable_geqo && list_length(initial_rels) >= geqo_threshold))
		return false;
	rels[0] = pair->probe;
	rels[1] = pair->searched;
	rels[2] = partner->searched;
	/* in the order of the list; so few are sorted by three exchanges */
	for (i = 0; i < 3; i++)
	{
		const RelOptInfo **two = &rels[i % 2];

		if (place_of(initial_rels, two[0]) > place_of(initial_rels, two[1]))
		{
			const RelOptInfo *other = two[0];

			two[0] = two[1];
			two[1] = other;
		}
	}
	if (place_of(initial_rels, rels[0]) == place_of(initial_rels, rels[1]) ||
		place_of(initial_rels, rels[1]) == place_of(initial_rels, rels[2]))
		return false;

	memset(couple, 0, sizeof(*couple));
	couple->pairs[0] = pair->searched->relid < partner->searched->relid ? pair : partner;
	couple->pairs[1] = couple->pairs[0] == pair ? partner : pair;
	couple->between.probe = pair->searched;
	couple->between.searched = partner->searched;
	if (bloomfam_join_pair_init(root, &couple->between) != NULL ||
		class_of(&couple->between) != class_of(pair))
		return false;
	couple->first = pair_of(couple, rels[0], rels[1]);
	couple->last = pair_of(couple, first_member(class_of(pair), rels[0], rels[1]), rels[2]);
	return true;
}

double
bloomfam_join_couple_selectivity(PlannerInfo *root, const JoinCouple *couple)
{
	return bloomfam_join_pair_selectivity(root, couple->first) *
		   bloomfam_join_pair_selectivity(root, couple->last);
}

bool
bloomfam_join_couple_set(PlannerInfo *root, JoinSizes *sizes, const JoinCouple *couple,
						 double selectivity)
{
	double		last =
		Min(selectivity / bloomfam_join_pair_selectivity(root, couple->first), 1);
	int			i;

	/* a join of the probe and one table has that clause, too, and must not seem to lose its rows */
	if (couple->last != &couple->between &&
		last < bloomfam_join_pair_selectivity(root, couple->last))
		return false;
	/* a foreign key of either would take the place of the class's clauses */
	for (i = 0; i < 2; i++)
	{
		double		own = bloomfam_join_pair_selectivity(root, couple->pairs[i]);

		bloomfam_join_pair_set(root, sizes, couple->pairs[i], own, own);
	}
	bloomfam_join_pair_set(root, sizes, couple->last, last, last);
	return true;
}
