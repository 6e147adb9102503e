/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index.c
 *	  Which indexes of a table can tell where the keys of a join are.
 *
 * An index can if it compares its column as the join does: the join's operator is the equality
 * of the column's operator family.  And it must have an entry for each row that a snapshot sees:
 * the rules are those by which the planner takes indexes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "catalog/catalog.h"
#include "catalog/pg_am_d.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "join/base/index.h"
#include "pg/index.h"

/* Fills in an operator of an index; false if hidden rows are to stay so, and it could tell. */
static bool
take_operator(JoinIndexOperator *result, Oid operator, StrategyNumber strategy,
			  const JoinIndexed *column)
{
	result->strategy = strategy;
	result->function = OidIsValid(operator) ? get_opcode(operator) : InvalidOid;
	return OidIsValid(result->function) &&
		   (!column->guarded || get_func_leakproof(result->function));
}

/* The same of one that a BRIN index and the order of the keys' type have in common. */
static bool
take_ordering(JoinIndexOperator *result, Oid family, Oid type, StrategyNumber strategy,
			  const JoinIndexed *column)
{
	Oid			operator = get_opfamily_member(family, type, column->type, strategy);
	Oid			order = lookup_type_cache(column->type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;

	return take_operator(result, operator, strategy, column) &&
		   get_op_opfamily_strategy(operator, order) == strategy;
}

/*
 * How can a column of an index be searched?  The families of minmax and minmax-multi number
 * operators as those of btree do.
 */
static JoinIndexSearch
decide_column(Relation index, int number, const JoinIndexed *column, JoinIndexUse *use)
{
	Oid			family = index->rd_opfamily[number];
	Oid			type = index->rd_opcintype[number];
	StrategyNumber strategy = get_op_opfamily_strategy(column->operator, family);

	if (strategy == InvalidStrategy ||
		get_opfamily_member(family, type, column->type, strategy) != column->operator)
		return JOIN_INDEX_NOT;
	Assert(number < IndexRelationGetNumberOfKeyAttributes(index));
	use->column = number + 1;
	use->collation = index->rd_indcollation[number];
	if (index->rd_rel->relam == BRIN_AM_OID)
		return strategy == BTEqualStrategyNumber &&
					   take_ordering(&use->equal, family, type, BTEqualStrategyNumber, column) &&
					   take_ordering(&use->not_less, family, type, BTGreaterEqualStrategyNumber,
									 column) &&
					   take_ordering(&use->not_greater, family, type, BTLessEqualStrategyNumber,
									 column)
				   ? JOIN_INDEX_BY_RANGE
				   : JOIN_INDEX_NOT;
	return index->rd_indam->amgettuple != NULL &&
				   take_operator(&use->equal, column->operator, strategy, column)
			   ? JOIN_INDEX_BY_KEY
			   : JOIN_INDEX_NOT;
}

/* A BRIN index can be searched by any of its columns, others by the first one. */
JoinIndexUse
bloomfam_join_index_use(Relation index, const JoinIndexed *column)
{
	const FormData_pg_index *form = index->rd_index;
	int			n = index->rd_rel->relam == BRIN_AM_OID ? form->indnkeyatts : 1;
	JoinIndexUse use = {.search = JOIN_INDEX_NOT};
	int			i;

	if (!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return use;
	for (i = 0; i < n && use.search == JOIN_INDEX_NOT; i++)
		if (form->indkey.values[i] == column->attribute)
			use.search = decide_column(index, i, column, &use);
	return use;
}

/* The lock is not waited for: REINDEX has one, and need not have this table's. */
Relation
bloomfam_join_index_open(Oid oid, Snapshot snapshot)
{
	Relation	index;
	const FormData_pg_index *form;

	if (!ConditionalLockRelationOid(oid, AccessShareLock))
		return NULL;
	index = index_open(oid, NoLock);
	form = index->rd_index;
	if (form->indisvalid && form->indisready && form->indislive &&
		(snapshot == NULL || bloomfam_index_is_complete(index, snapshot)))
		return index;
	index_close(index, AccessShareLock);
	return NULL;
}

List *
bloomfam_join_indexes(Relation table, const JoinIndexed *column, Snapshot snapshot)
{
	List	   *by_key = NIL;
	List	   *by_range = NIL;
	List	   *all;
	ListCell   *lc;

	if (!table->rd_rel->relhasindex || (IgnoreSystemIndexes && IsSystemRelation(table)))
		return NIL;
	all = RelationGetIndexList(table);
	foreach(lc, all)
	{
		Relation	index = bloomfam_join_index_open(lfirst_oid(lc), snapshot);
		JoinIndexSearch search;

		if (index == NULL)
			continue;
		search = bloomfam_join_index_use(index, column).search;
		if (search == JOIN_INDEX_BY_KEY)
			by_key = lappend_oid(by_key, lfirst_oid(lc));
		else if (search == JOIN_INDEX_BY_RANGE)
			by_range = lappend_oid(by_range, lfirst_oid(lc));
		index_close(index, AccessShareLock);
	}
	list_free(all);
	return list_concat(by_key, by_range);
}
