/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * index.c
 *	  Finds the indexes of a table that can tell in which blocks the keys of a join are.
 *
 * An index can tell that if it compares its column as the join does, that is, if the join's
 * operator is the equality operator of the column's operator family.  The index must also have an
 * entry for each row that the snapshot sees, which is judged by the same rules by which the planner
 * accepts indexes.
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

/*
 * Sets *result to an operator and its function.  Returns false if there is no such operator, or if
 * the scan's conditions may hide rows from the user and the operator's function is not leakproof.
 */
static bool
take_operator(JoinIndexOperator *result, Oid operator, StrategyNumber strategy,
			  const JoinIndexed *column)
{
	result->strategy = strategy;
	result->function = OidIsValid(operator) ? get_opcode(operator) : InvalidOid;
	return OidIsValid(result->function) &&
		   (!column->guarded || get_func_leakproof(result->function));
}

/*
 * Sets *result to the operator of an index column's operator family that has the given strategy and
 * takes the keys' type on its right.  Returns false if take_operator() does, or if the operator
 * does not have the same strategy in the default btree operator family of the keys' type.
 */
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
 * Decides how a column of an index can be searched for a join's keys, and sets the operators in
 * *use.  "number" is the column's position in the index, from 0.  A BRIN index can be searched if
 * its operator family is one of minmax or minmax-multi, which have the strategy numbers of btree.
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

/*
 * Tells whether an index must be searched by all of its columns at once: whether there are several,
 * and their access method does not let a condition on a column be left out.
 */
static bool
needs_whole_key(Relation index)
{
	return index->rd_indam->amgettuple != NULL && !index->rd_indam->amoptionalkey &&
		   IndexRelationGetNumberOfKeyAttributes(index) > 1;
}

/*
 * A BRIN index can be searched by any of its columns, an index of another type only by its first
 * one, or by all at once.  A partial index cannot be searched.
 */
JoinIndexUse
bloomfam_join_index_use(Relation index, const JoinIndexed *column)
{
	const FormData_pg_index *form = index->rd_index;
	int			n = index->rd_rel->relam == BRIN_AM_OID ? form->indnkeyatts : 1;
	JoinIndexUse use = {.search = JOIN_INDEX_NOT};
	int			i;

	if (!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL) ||
		needs_whole_key(index))
		return use;
	for (i = 0; i < n && use.search == JOIN_INDEX_NOT; i++)
		if (form->indkey.values[i] == column->attribute)
			use.search = decide_column(index, i, column, &use);
	return use;
}

int
bloomfam_join_index_use_whole(Relation index, const JoinIndexed *key, int nkey,
							  JoinIndexUse *uses, int *columns)
{
	int			n = IndexRelationGetNumberOfKeyAttributes(index);
	int			i;
	int			j;

	if (!needs_whole_key(index) ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return 0;
	for (i = 0; i < n; i++)
	{
		AttrNumber	attribute = index->rd_index->indkey.values[i];

		uses[i].search = JOIN_INDEX_NOT;
		for (j = 0; j < nkey && uses[i].search == JOIN_INDEX_NOT; j++)
			if (attribute != 0 && key[j].attribute == attribute)
			{
				uses[i].search = decide_column(index, i, &key[j], &uses[i]);
				columns[i] = j;
			}
		if (uses[i].search == JOIN_INDEX_NOT)
			return 0;
	}
	return n;
}

/*
 * The lock is not waited for: REINDEX may hold a conflicting lock on the index without holding one
 * on the table.
 */
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

/* Returns the OIDs of a table's indexes, NIL if they are to be ignored. */
static List *
indexes_of(Relation table)
{
	if (!table->rd_rel->relhasindex || (IgnoreSystemIndexes && IsSystemRelation(table)))
		return NIL;
	return RelationGetIndexList(table);
}

List *
bloomfam_join_indexes(Relation table, const JoinIndexed *column, Snapshot snapshot)
{
	List	   *by_key = NIL;
	List	   *by_range = NIL;
	List	   *all = indexes_of(table);
	ListCell   *lc;

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

List *
bloomfam_join_whole_indexes(Relation table, const JoinIndexed *key, int nkey, Snapshot snapshot,
							Bitmapset **columns)
{
	JoinIndexUse uses[INDEX_MAX_KEYS];
	int			numbers[INDEX_MAX_KEYS];
	List	   *result = NIL;
	List	   *all = nkey > 1 ? indexes_of(table) : NIL;
	ListCell   *lc;

	foreach(lc, all)
	{
		Relation	index = bloomfam_join_index_open(lfirst_oid(lc), snapshot);
		int			n;

		if (index == NULL)
			continue;
		n = bloomfam_join_index_use_whole(index, key, nkey, uses, numbers);
		if (n > 0)
			result = lappend_oid(result, lfirst_oid(lc));
		while (columns != NULL && n > 0)
			*columns = bms_add_member(*columns, numbers[--n]);
		index_close(index, AccessShareLock);
	}
	list_free(all);
	return result;
}
