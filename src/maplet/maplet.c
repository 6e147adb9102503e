/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * maplet.c
 *	  Defines the index access method "maplet": its table of functions, its storage options, and the
 *	  rules for its operator classes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/stratnum.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pg/index_key.h"
#include "maplet/hash.h"
#include "maplet/maplet.h"
#include "maplet/meta.h"
#include "maplet/options.h"

PG_FUNCTION_INFO_V1(bloomfam_maplet_handler);

static relopt_kind maplet_relopt_kind;

void
bloomfam_maplet_init(void)
{
	maplet_relopt_kind = add_reloption_kind();
	add_real_reloption(maplet_relopt_kind, "rows",
					   "Number of rows that the table will have, as far as known", 0, 0,
					   MAPLET_MAX_ROWS, AccessExclusiveLock);
	add_int_reloption(maplet_relopt_kind, "remainder_bits",
					  "Bits kept of a hash beyond the logarithm of the number of rows",
					  MAPLET_DEFAULT_REMAINDER, MAPLET_MIN_REMAINDER, MAPLET_MAX_REMAINDER,
					  AccessExclusiveLock);
}

static bytea *
maplet_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt elements[] = {
		{"rows", RELOPT_TYPE_REAL, offsetof(MapletOptions, rows)},
		{"remainder_bits", RELOPT_TYPE_INT, offsetof(MapletOptions, remainder_bits)}
	};

	return (bytea *) build_reloptions(reloptions, validate, maplet_relopt_kind,
									  sizeof(MapletOptions), elements, lengthof(elements));
}

const MapletOptions *
bloomfam_maplet_options_of(Relation index)
{
	static const MapletOptions defaults = {0, 0, MAPLET_DEFAULT_REMAINDER};

	return index->rd_options != NULL ? (const MapletOptions *) index->rd_options : &defaults;
}

static char *
build_phase_name(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "scanning table";
		case MAPLET_BUILD_WRITING:
			return "writing run";
		default:
			return NULL;
	}
}

/*
 * Returns whether keys of both types are hashed alike, so that keys of one type can be looked up by
 * values of the other.
 */
static bool
hashed_alike(Oid left, Oid right)
{
	return bloomfam_hasher_make(CurrentMemoryContext, left, DEFAULT_COLLATION_OID,
								BF_HASH_XXH3)->family_id ==
		bloomfam_hasher_make(CurrentMemoryContext, right, DEFAULT_COLLATION_OID,
							 BF_HASH_XXH3)->family_id;
}

static bool
operator_is_sane(const FormData_pg_amop *amop)
{
	Oid			left = amop->amoplefttype;
	Oid			right = amop->amoprighttype;

	return amop->amopstrategy == HTEqualStrategyNumber && amop->amoppurpose == AMOP_SEARCH &&
		check_amop_signature(amop->amopopr, BOOLOID, left, right) &&
		bloomfam_index_is_equality(amop->amopopr, left, right) &&
		(left == right || hashed_alike(left, right));
}

/*
 * Validates an operator class.  It must have one operator, the equality of its type's default
 * B-tree or hash operator class, as that is the equality that hashes of keys agree with.  All
 * operators of its family, including those for other types, must be such equalities.
 */
static bool
maplet_validate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass form;
	char	   *name;
	Oid			family;
	Oid			type;
	CatCList   *operators;
	CatCList   *procs;
	bool		result = true;
	int			i;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	family = form->opcfamily;
	type = form->opcintype;
	name = pstrdup(NameStr(form->opcname));
	ReleaseSysCache(tuple);

	if (!OidIsValid(get_opfamily_member(family, type, type, HTEqualStrategyNumber)))
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class \"%s\" of access method %s is missing operator(s)",
						name, "maplet")));
		result = false;
	}
	operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	for (i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop amop = (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);

		if (!operator_is_sane(amop))
		{
			ereport(INFO,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("operator class \"%s\" of access method %s cannot have operator %s",
							name, "maplet", format_operator(amop->amopopr))));
			result = false;
		}
	}
	ReleaseCatCacheList(operators);
	procs = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
	if (procs->n_members > 0)
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class \"%s\" of access method %s contains a support function",
						name, "maplet")));
		result = false;
	}
	ReleaseCatCacheList(procs);
	return result;
}

/*
 * compared_by() returns what a strategy compares, and strategy_of() returns the strategy for a kind
 * of comparison.  The only strategy is equality.
 */
pg_attribute_unused()
static CompareType
compared_by(StrategyNumber strategy, Oid family)
{
	return strategy == HTEqualStrategyNumber ? COMPARE_EQ : COMPARE_INVALID;
}

pg_attribute_unused()
static StrategyNumber
strategy_of(CompareType type, Oid family)
{
	return type == COMPARE_EQ ? HTEqualStrategyNumber : InvalidStrategy;
}

/*
 * Fields that are not set are false or NULL in every version of the server. amcanhash is not set,
 * because PostgreSQL 18 requires its own kind of support functions with it. amcanunique is set from
 * PostgreSQL 18 on: in earlier versions, any ON CONFLICT fails on a table with a unique index that
 * is not a B-tree.
 */
static const IndexAmRoutine maplet_am = {
	.type = T_IndexAmRoutine,
	.amstrategies = 1,
	.amsupport = 0,
	.amcanmulticol = true,
	.amsearcharray = true,
	BLOOMFAM_AM_BUILDS_IN_PARALLEL
	BLOOMFAM_AM_IS_UNIQUE(compared_by, strategy_of)
	.amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL,
	.amkeytype = InvalidOid,

	.ambuild = bloomfam_maplet_build,
	.ambuildempty = bloomfam_maplet_buildempty,
	.aminsert = bloomfam_maplet_insert,
	.ambulkdelete = bloomfam_maplet_bulkdelete,
	.amvacuumcleanup = bloomfam_maplet_vacuumcleanup,
	.amcostestimate = bloomfam_maplet_costestimate,
	.amoptions = maplet_options,
	.ambuildphasename = build_phase_name,
	.amvalidate = maplet_validate,
	.ambeginscan = bloomfam_maplet_beginscan,
	.amrescan = bloomfam_maplet_rescan,
	.amgettuple = bloomfam_maplet_gettuple,
	.amgetbitmap = bloomfam_maplet_getbitmap,
	.amendscan = bloomfam_maplet_endscan,
};

Datum
bloomfam_maplet_handler(PG_FUNCTION_ARGS)
{
	return bloomfam_index_am(&maplet_am);
}
