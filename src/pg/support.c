/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * support.c
 *	  Tells the planner and PL/pgSQL about this module's functions and operators.
 *
 * A probe passes the rows whose key is in the filter, and a share of the others, the false positive
 * rate.  If the filter is known when the query is planned, its number of keys and its rate are
 * taken from it, and the column's most common values are probed for in it.  The filter's remaining
 * keys are assumed to be among the column's other distinct values, as filters are mostly built of
 * keys that refer to the column.  If these values are whole numbers, the histogram tells how many
 * rows they have.  The result is checked against the values of the histogram, which are a sample:
 * if these say otherwise beyond chance, they are believed.
 *
 * A filter that an InitPlan will build of a query's rows has as many keys as the planner expects
 * distinct ones among them.  Nothing is known of a filter that is a column, or that comes from
 * elsewhere: the constants below are used.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "nodes/primnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "pg/aggregate.h"
#include "pg/datum.h"
#include "pg/hasher.h"
#include "pg/io.h"
#include "pg/literal.h"
#include "pg/port.h"

PG_FUNCTION_INFO_V1(bloomfam_add_support);
PG_FUNCTION_INFO_V1(bloomfam_may_contain_support);
PG_FUNCTION_INFO_V1(bloomfam_may_be_in_support);
PG_FUNCTION_INFO_V1(bloomfam_may_contain_sel);
PG_FUNCTION_INFO_V1(bloomfam_may_be_in_sel);
PG_FUNCTION_INFO_V1(bloomfam_joinsel);

/*
 * The selectivity of a probe of a filter that the planner cannot see; somebody made the filter to
 * be selective.
 */
#define DEFAULT_SELECTIVITY			0.1

/*
 * If one key is looked up in many stored filters, the share of filters that may contain it; hardly
 * more than false positives.
 */
#define DEFAULT_STORED_SELECTIVITY	0.02

/* The assumed false positive rate of a filter that is still to be built. */
#define DEFAULT_FPR					0.01

/* The maximum number of bytes of a filter that are read to plan a query. */
#define MAX_BYTES_READ				(16 * 1024 * 1024)

/*
 * The maximum number of numbers that are probed for to find out where a filter's keys lie.  That
 * takes about as long as parsing a small query.
 */
#define MAX_NUMBERS_TRIED			16384

/*
 * The cost of a probe, in units of cpu_operator_cost: of a filter that fits in the caches, of a
 * medium or large one that does not, and of one that is stored in each row.
 */
#define PROBE_COST					1.0
#define PROBE_COST_MEDIUM			3.0
#define PROBE_COST_LARGE			8.0
#define PROBE_COST_STORED			60.0
#define MEDIUM_BYTES				(1024 * 1024)
#define LARGE_BYTES					(16 * 1024 * 1024)

/* What the planner knows of a filter. */
typedef struct FilterEstimate
{
	/* True if the filter's value is available to the planner, and opened in view. */
	bool		known;
	BfView		view;
	double		keys;			/* The number of keys; negative if it is not known. */
	double		fpr;
} FilterEstimate;

/*
 * Finds the filter and the key among the two arguments of a probe.  Returns false if the call is
 * not a probe: the functions below may be attached to operators and functions of any types, with
 * any number of arguments.  So a datum is looked into only if its type says what it is.
 */
static bool
probe_args(List *args, int filter_arg, Node **filter, Node **key)
{
	if (list_length(args) != 2)
		return false;
	*filter = list_nth(args, filter_arg);
	*key = list_nth(args, 1 - filter_arg);
	return bloomfam_is_filter_type(exprType(*filter));
}

/*
 * bloom_add_support(internal) -> internal: strict, immutable.  It is the support function of
 * bloom_add and bloom_remove.
 *
 * In PL/pgSQL's f := bloom_add(f, key) the variable may be changed in place: both functions change
 * nothing if they fail, and a key is never a part of the filter.
 */
Datum
bloomfam_add_support(PG_FUNCTION_ARGS)
{
	Node	   *result = NULL;
#if BLOOMFAM_MODIFIES_IN_PLACE
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestModifyInPlace))
	{
		SupportRequestModifyInPlace *modify = (SupportRequestModifyInPlace *) request;
		Param	   *param = list_length(modify->args) == 2 ? linitial(modify->args) : NULL;

		if (param != NULL && IsA(param, Param) && param->paramkind == PARAM_EXTERN &&
			param->paramid == modify->paramid && bloomfam_is_filter_type(param->paramtype))
			result = (Node *) param;
	}
#endif
	PG_RETURN_POINTER(result);
}

/*
 * Returns whether this is an aggregate that makes a filter of keys, which are its first argument.
 */
static bool
makes_filter(const Aggref *aggref)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	FmgrInfo	trans;

	if (!HeapTupleIsValid(tuple))
		return false;

	/* The aggregate is known by its C function, as extensions are relocatable. */
	fmgr_info(((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn, &trans);
	ReleaseSysCache(tuple);
	return trans.fn_addr == bloomfam_agg_trans || trans.fn_addr == bloomfam_agg_text_trans ||
		trans.fn_addr == bloomfam_agg_key_trans || trans.fn_addr == bloomfam_agg_key_text_trans;
}

/* Finds the first aggregate in an expression that makes a filter of keys. */
static bool
find_filter_maker(Node *node, void *context)
{
	Aggref	  **found = context;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && makes_filter((Aggref *) node))
	{
		*found = (Aggref *) node;
		return true;
	}
	return expression_tree_walker(node, find_filter_maker, context);
}

/* Returns the number of rows that the aggregate of a finished plan gets. */
static double
rows_aggregated(const Plan *plan)
{
	double		processes = 1;

	while (plan->lefttree != NULL &&
		   (IsA(plan, Agg) || IsA(plan, Gather) || IsA(plan, GatherMerge)))
	{
		int			workers = IsA(plan, Gather) ? ((const Gather *) plan)->num_workers
			: IsA(plan, GatherMerge)			? ((const GatherMerge *) plan)->num_workers
												: 0;

		/*
		 * Nodes below a Gather have the rows of one process.  The leader's share is estimated as
		 * the planner does.
		 */
		if (workers > 0)
			processes = workers + (parallel_leader_participation ? Max(0, 1 - 0.3 * workers) : 0);
		plan = plan->lefttree;
	}
	return plan->plan_rows * processes;
}

/*
 * Returns the number of distinct keys of the filter that an InitPlan makes, as the planner would
 * estimate the number of groups.  Returns a negative number if the parameter is not such a filter.
 */
static double
keys_aggregated(PlannerInfo *root, Param *param)
{
	if (param->paramkind != PARAM_EXEC)
		return -1;
	for (; root != NULL; root = root->parent_root)
	{
		ListCell   *lc;

		foreach(lc, root->init_plans)
		{
			SubPlan    *subplan = lfirst_node(SubPlan, lc);
			Aggref	   *aggref = NULL;
			PlannerInfo *subroot;
			Plan	   *plan;
			double		rows;
			Node	   *key;

			if (!list_member_int(subplan->setParam, param->paramid))
				continue;
			plan = list_nth(root->glob->subplans, subplan->plan_id - 1);
			subroot = list_nth(root->glob->subroots, subplan->plan_id - 1);
			if (plan == NULL || !IsA(plan, Agg) || subroot == NULL ||
				!find_filter_maker((Node *) plan->targetlist, &aggref))
				return -1;
			rows = rows_aggregated(plan);
			if (aggref->aggfilter != NULL)
				rows *= clause_selectivity(subroot, (Node *) aggref->aggfilter, 0, JOIN_INNER,
										   NULL);
			key = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
			return estimate_num_groups(subroot, list_make1(key), clamp_row_est(rows), NULL, NULL);
		}
	}
	return -1;
}

/*
 * Finds out what can be known of a filter.  Returns false if the filter is NULL, and so passes
 * every key.
 */
static bool
estimate_filter(PlannerInfo *root, Node *filter, FilterEstimate *estimate)
{
	memset(estimate, 0, sizeof(*estimate));
	estimate->keys = -1;
	estimate->fpr = DEFAULT_FPR;
	if (root != NULL)
		filter = estimate_expression_value(root, filter);
	if (IsA(filter, Const))
	{
		Const	   *value = (Const *) filter;
		BfStats		stats;

		if (value->constisnull)
			return false;

		/*
		 * A state of an aggregate instead of a filter is an error when the probe runs, if it does.
		 */
		if (!bloomfam_is_filter_type(value->consttype))
			return true;
		bloomfam_state_open(value->constvalue, &estimate->view);
		if (estimate->view.head.kind->id == BF_KIND_PARTIAL)
			return true;
		estimate->known = true;
		if (bf_stats_sampled(&bloomfam_port, &estimate->view, MAX_BYTES_READ, &stats))
		{
			estimate->keys = stats.keys;
			estimate->fpr = stats.fpr;
		}
		else
		{
			estimate->keys =
				(double) Min(estimate->view.head.keys_added, estimate->view.head.capacity);
			estimate->fpr = estimate->view.head.target_fpr;
		}
	}
	else if (IsA(filter, Param) && root != NULL)
		estimate->keys = keys_aggregated(root, (Param *) filter);
	return true;
}

/*
 * Gets values of a column's statistics.  Returns false unless they are of the type that the
 * column's keys are hashed as: statistics of a column of a user's type may have values of any type.
 */
static bool
get_keys_slot(AttStatsSlot *slot, const VariableStatData *column, int kind, int flags)
{
	if (!get_attstatsslot(slot, column->statsTuple, kind, InvalidOid, flags))
		return false;
	if (slot->nvalues > 0 && (slot->valuetype == column->vartype ||
							  IsBinaryCoercible(slot->valuetype, column->vartype)))
		return true;
	free_attstatsslot(slot);
	return false;
}

static inline bool
filter_has(const FilterEstimate *filter, BloomfamHasher *hasher, BfProbe probe, Datum value)
{
	uint64		hash = hasher->hash(hasher, value);

	return hasher->family_id == filter->view.head.family_id && probe(&filter->view, hash);
}

/*
 * Returns how many values of a slot of the column's statistics the filter may contain.  If the
 * values have frequencies, sums up those of all values in *all, and those of the values found in
 * *hit.
 */
static int
count_hits(const FilterEstimate *filter, BloomfamHasher *hasher, const AttStatsSlot *slot,
		   double *all, double *hit)
{
	BfProbe		probe = filter->view.head.kind->prober(&filter->view);
	int			hits = 0;
	int			i;

	for (i = 0; i < slot->nvalues; i++)
	{
		bool		found = filter_has(filter, hasher, probe, slot->values[i]);

		hits += found;
		if (i < slot->nnumbers)
		{
			*all += slot->numbers[i];
			*hit += found ? slot->numbers[i] : 0;
		}
	}
	return hits;
}

/*
 * Returns whether this is a type of whole numbers.  Int64GetDatum() makes a datum of any such type,
 * and whole_number() gets the number from a slot of values.
 */
static bool
is_whole_number(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == DATEOID;
}

static uint64
whole_number(const AttStatsSlot *slot, int i)
{
	int64 number = slot->valuetype == INT8OID	? DatumGetInt64(slot->values[i])
				   : slot->valuetype == INT2OID ? DatumGetInt16(slot->values[i])
												: DatumGetInt32(slot->values[i]);

	/* The result is modulo 2^64, as callers use it only for differences. */
	return (uint64) number;
}

/*
 * Returns how many rows a key of the filter has, relative to the average value of the histogram.
 * Returns 1 if that cannot be told.
 *
 * In a skewed column, some ranges have many rows for each value, and others few.  If the whole
 * numbers of the range are not too many, numbers are probed for to find out in which ranges the
 * filter's keys lie.
 */
static double
relative_frequency(const FilterEstimate *filter, BloomfamHasher *hasher,
				   const AttStatsSlot *histogram)
{
	BfProbe		probe = filter->view.head.kind->prober(&filter->view);
	int			nranges = histogram->nvalues - 1;
	double		tried = 0;
	double		hits = 0;
	/* The sum of the relative frequencies of the numbers that the filter contains. */
	double		frequency = 0;
	double		chance;
	uint64		first;
	uint64		range;
	uint64		step;
	uint64		at = 0;
	int			i;

	if (nranges < 1)
		return 1;
	first = whole_number(histogram, 0);
	range = whole_number(histogram, nranges) - first;
	if (range > (uint64) MAX_NUMBERS_TRIED * MAX_NUMBERS_TRIED)
		/* The range is too wide: nearly all numbers would be probed for in vain. */
		return 1;
	step = range / MAX_NUMBERS_TRIED + 1;
	for (i = 1; i <= nranges; i++)
	{
		uint64		end = whole_number(histogram, i) - first;
		uint64		width = end + first - whole_number(histogram, i - 1);

		if (end > range)
			/*
			 * The bounds are not in ascending order, so they are not a histogram: whoever owns a
			 * table may set its statistics.
			 */
			return 1;
		for (; at < end; at += step)
		{
			CHECK_FOR_INTERRUPTS();
			tried++;
			if (!filter_has(filter, hasher, probe, Int64GetDatum((int64) (first + at))))
				continue;
			hits++;
			frequency += (double) range / width / nranges;
		}
	}

	/*
	 * Numbers found by chance (false positives) have the average frequency.  If all may have been
	 * found by chance, nothing is known of the filter's keys.
	 */
	chance = filter->fpr * tried;
	return hits - chance > 2 * sqrt(hits) ? Max(0, frequency - chance) / (hits - chance) : 1;
}

/* Returns the share of rows whose key passes the filter, by the statistics of the key's column. */
static double
passing_share(const FilterEstimate *filter, VariableStatData *column, Oid function, Oid collation)
{
	double		nulls = 0;
	double		common = 0;		/* The share of rows with the most common values. */
	double		common_hit = 0; /* The share of rows with those most common values that pass. */
	/* The number of most common values; ncommon_hit is the number of those that pass. */
	int			ncommon = 0;
	int			ncommon_hit = 0;
	double		distinct;
	double		low = 0;
	double		high = 1;
	/*
	 * How frequent the values are that the filter contains, relative to the column's other values.
	 */
	double		frequency = 1;
	double		rest;
	bool		is_default;

	distinct = get_variable_numdistinct(column, &is_default);
	if (is_default && column->rel != NULL)
		distinct = Max(distinct, column->rel->tuples);
	if (HeapTupleIsValid(column->statsTuple))
	{
		AttStatsSlot slot;

		nulls = ((Form_pg_statistic) GETSTRUCT(column->statsTuple))->stanullfrac;
		if (filter->known && filter->view.payload != NULL &&
			!bloomfam_is_literal(column->vartype) &&
			statistic_proc_security_check(column, function))
		{
			BloomfamHasher *hasher = bloomfam_hasher_make(CurrentMemoryContext, column->vartype,
														  collation, filter->view.head.hash_id);

			hasher->probing = true;
			bloomfam_hasher_fit(hasher, &filter->view.head);
			if (get_keys_slot(&slot, column, STATISTIC_KIND_MCV,
							  ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
			{
				ncommon = slot.nvalues;
				ncommon_hit = count_hits(filter, hasher, &slot, &common, &common_hit);
				free_attstatsslot(&slot);
			}
			if (get_keys_slot(&slot, column, STATISTIC_KIND_HISTOGRAM, ATTSTATSSLOT_VALUES))
			{
				double		unused;
				double		hits = count_hits(filter, hasher, &slot, &unused, &unused);

				/*
				 * Limit the share by three standard deviations of the number of values found, as if
				 * it were a Poisson variable.
				 */
				low = (hits - 3 * sqrt(hits)) / slot.nvalues;
				high = (hits + 3 * sqrt(hits) + 3) / slot.nvalues;
				if (is_whole_number(slot.valuetype))
					frequency = relative_frequency(filter, hasher, &slot);
				free_attstatsslot(&slot);
			}
		}
	}
	if (filter->keys < 0)
		return DEFAULT_SELECTIVITY * (1 - nulls);

	rest = Min(1, Max(0, filter->keys - ncommon_hit) / Max(1, distinct - ncommon) * frequency);
	rest += (1 - rest) * filter->fpr;
	rest = Max(low, Min(high, rest));
	return common_hit + Max(0, 1 - nulls - common) * Min(1, rest);
}

/* Estimates the selectivity of a probe that is a restriction of one relation. */
static Selectivity
probe_selectivity(PlannerInfo *root, Node *filter, Node *key, int varRelid, Oid function,
				  Oid collation)
{
	FilterEstimate estimate;
	VariableStatData column;
	double		selectivity;

	/* The filter is a column, and the key is not: one key is looked up in many stored filters. */
	if (contain_var_clause(filter) && !contain_var_clause(key))
		return DEFAULT_STORED_SELECTIVITY;

	examine_variable(root, key, varRelid, &column);
	if (estimate_filter(root, filter, &estimate))
		selectivity = passing_share(&estimate, &column, function, collation);
	else
		selectivity = HeapTupleIsValid(column.statsTuple) ?
			1 - ((Form_pg_statistic) GETSTRUCT(column.statsTuple))->stanullfrac : 1;
	ReleaseVariableStats(column);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * The selectivity estimators of the operators @~ and ~@: (internal, oid, internal, integer) ->
 * float8, strict, stable.  They read statistics and, if it is a constant, the filter.
 */
static Datum
operator_sel(FunctionCallInfo fcinfo, int filter_arg)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid			operator = PG_GETARG_OID(1);
	List	   *args = (List *) PG_GETARG_POINTER(2);
	Node	   *filter;
	Node	   *key;

	if (!probe_args(args, filter_arg, &filter, &key))
		PG_RETURN_FLOAT8(DEFAULT_SELECTIVITY);
	PG_RETURN_FLOAT8(probe_selectivity(root, filter, key, PG_GETARG_INT32(3),
									   get_opcode(operator), PG_GET_COLLATION()));
}

Datum
bloomfam_may_contain_sel(PG_FUNCTION_ARGS)
{
	return operator_sel(fcinfo, 0);
}

Datum
bloomfam_may_be_in_sel(PG_FUNCTION_ARGS)
{
	return operator_sel(fcinfo, 1);
}

/*
 * bloom_joinsel(internal, oid, internal, smallint, internal) -> float8: strict, stable.  It is the
 * join selectivity estimator of both operators, for a column of filters joined with a column of
 * keys.
 */
Datum
bloomfam_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(DEFAULT_STORED_SELECTIVITY);
}

/* Returns the cost of one probe of this filter, which may be unknown, a constant, or a column. */
static Cost
probe_cost(Node *filter)
{
	double		factor = PROBE_COST;

	if (filter == NULL)
		return cpu_operator_cost;
	if (contain_var_clause(filter))
		factor = PROBE_COST_STORED;
	else if (IsA(filter, Const) && !((Const *) filter)->constisnull &&
			 bloomfam_is_filter_type(((Const *) filter)->consttype))
	{
		Size		size = VARSIZE_ANY(DatumGetPointer(((Const *) filter)->constvalue));

		factor = size > LARGE_BYTES	   ? PROBE_COST_LARGE
				 : size > MEDIUM_BYTES ? PROBE_COST_MEDIUM
									   : PROBE_COST;
	}
	return factor * cpu_operator_cost;
}

/*
 * bloom_may_contain_support(internal) -> internal, bloom_may_be_in_support(internal) -> internal:
 * strict, immutable.  They tell the selectivity and the cost of a probe.
 */
static Datum
probe_support(FunctionCallInfo fcinfo, int filter_arg)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *result = NULL;
	Node	   *filter;
	Node	   *key;

	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *want = (SupportRequestSelectivity *) request;

		if (!probe_args(want->args, filter_arg, &filter, &key))
			PG_RETURN_POINTER(NULL);
		want->selectivity =
			want->is_join ? DEFAULT_STORED_SELECTIVITY
						  : probe_selectivity(want->root, filter, key, want->varRelid,
											  want->funcid, want->inputcollid);
		result = request;
	}
	else if (IsA(request, SupportRequestCost))
	{
		SupportRequestCost *want = (SupportRequestCost *) request;
		List	   *args = NIL;

		if (want->node != NULL && IsA(want->node, FuncExpr))
			args = ((FuncExpr *) want->node)->args;
		else if (want->node != NULL && IsA(want->node, OpExpr))
			args = ((OpExpr *) want->node)->args;
		if (args != NIL && !probe_args(args, filter_arg, &filter, &key))
			PG_RETURN_POINTER(NULL);
		want->startup = 0;
		want->per_tuple = probe_cost(args != NIL ? filter : NULL);
		result = request;
	}
	PG_RETURN_POINTER(result);
}

Datum
bloomfam_may_contain_support(PG_FUNCTION_ARGS)
{
	return probe_support(fcinfo, 0);
}

Datum
bloomfam_may_be_in_support(PG_FUNCTION_ARGS)
{
	return probe_support(fcinfo, 1);
}
