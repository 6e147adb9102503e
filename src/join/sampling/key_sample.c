/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_sample.c
 *	  A sample of a column's keys, as its statistics have it.
 *
 * The server says which statistics are a column's: those of a table alone, or with its children.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_statistic.h"
#include "parser/parse_coerce.h"
#include "utils/selfuncs.h"

#include "join/sampling/key_sample.h"

/* Are these values of the type, in this order? */
static bool
fits(const AttStatsSlot *slot, Oid type, Oid collation)
{
	return slot->stacoll == collation && IsBinaryCoercible(slot->valuetype, type);
}

bool
bloomfam_join_key_sample(PlannerInfo *root, const Var *column, Oid family, Oid type, Oid collation,
						 JoinKeySample *sample)
{
	VariableStatData stats;
	bool		isdefault;

	memset(sample, 0, sizeof(*sample));
	examine_variable(root, (Node *) column, 0, &stats);
	if (HeapTupleIsValid(stats.statsTuple) && stats.acl_ok)
	{
		sample->null_fraction = ((Form_pg_statistic) GETSTRUCT(stats.statsTuple))->stanullfrac;
		sample->ndistinct = get_variable_numdistinct(&stats, &isdefault);
		if (get_attstatsslot(&sample->common_slot, stats.statsTuple, STATISTIC_KIND_MCV, InvalidOid,
							 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS) &&
			fits(&sample->common_slot, type, collation))
		{
			sample->ncommon = Min(sample->common_slot.nvalues, sample->common_slot.nnumbers);
			sample->common = sample->common_slot.values;
			sample->frequencies = sample->common_slot.numbers;
		}
		if (get_attstatsslot(&sample->bounds_slot, stats.statsTuple, STATISTIC_KIND_HISTOGRAM,
							 InvalidOid, ATTSTATSSLOT_VALUES) &&
			fits(&sample->bounds_slot, type, collation) && sample->bounds_slot.nvalues >= 2 &&
			get_op_opfamily_strategy(sample->bounds_slot.staop, family) == BTLessStrategyNumber)
		{
			sample->nbounds = sample->bounds_slot.nvalues;
			sample->bounds = sample->bounds_slot.values;
		}
	}
	ReleaseVariableStats(stats);
	if (sample->ncommon > 0 || sample->nbounds > 0)
		return true;
	bloomfam_join_key_sample_free(sample);
	return false;
}

void
bloomfam_join_key_sample_free(JoinKeySample *sample)
{
	free_attstatsslot(&sample->common_slot);
	free_attstatsslot(&sample->bounds_slot);
	memset(sample, 0, sizeof(*sample));
}

double
bloomfam_join_ndistinct(PlannerInfo *root, const Var *column)
{
	VariableStatData stats;
	bool		isdefault;
	double		ndistinct;

	examine_variable(root, (Node *) column, 0, &stats);
	ndistinct = get_variable_numdistinct(&stats, &isdefault);
	ReleaseVariableStats(stats);
	return isdefault ? 0 : ndistinct;
}
