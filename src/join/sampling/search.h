/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * search.h
 *	  A table is searched for a sample of keys, under its conditions, while a query is planned.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_SEARCH_H
#define BLOOMFAM_JOIN_SEARCH_H

#include "nodes/pathnodes.h"
#include "utils/relcache.h"

#include "join/sampling/key_sample.h"

/* A table of no more blocks is read as a whole, and so is one of few rows. */
#define JOIN_READ_MOST_BLOCKS	250
#define JOIN_READ_FEW_ROWS		4000

/* By an index no more rows are counted of a key that match. */
#define JOIN_MOST_MATCHES		4

/* How keys of a sample are compared with the column of the table that is searched. */
typedef struct JoinKeyComparison
{
	Oid			family;			/* the server's own, of btree */
	Oid			collation;
	Oid			left;			/* the sample's keys, as the operators take them */
	Oid			right;			/* the table's column */
} JoinKeyComparison;

/* Does an index compare this one of its columns so, and is it this one of the table? */
static inline bool
bloomfam_join_index_compares(const IndexOptInfo *index, int number, AttrNumber column,
							 const JoinKeyComparison *comparison)
{
	return index->indexkeys[number] == column && index->opfamily[number] == comparison->family &&
		   index->indexcollations[number] == comparison->collation;
}

typedef struct JoinSearch
{
	RelOptInfo *rel;			/* of the table */
	Relation	relation;
	AttrNumber	column;
	bool		unique;			/* no two rows have one value there */
	List	   *conditions;		/* RestrictInfo, to be evaluated */
	AttrNumber	value_column;	/* of which values are wanted; 0: none */
	JoinKeyComparison comparison;
	const JoinKeySample *sample;
	const JoinKeySample *own;	/* the table's own keys, in its type; empty: not known */
	int			most_blocks;	/* it may access */
	const IndexOptInfo *index;	/* by which it is searched; NULL: all of it is read */
	int			most_keys;		/* it may search */
} JoinSearch;

/* What was found of a key of the sample. */
typedef struct JoinFoundKey
{
	int			number;			/* which of the sample's common keys it is, or bounds */
	double		weight;			/* how many keys it stands for, beside others */
	bool		exists;			/* there is a row with it */
	bool		matches;		/* ... that meets the conditions */
	int			nrows;			/* that do, as many as were read */
	bool		has_value;		/* a row that does is not NULL in another column */
	uint32		value;			/* ... whose hash that is */
} JoinFoundKey;

/* ... and of the table's keys between two bounds, or from one on. */
typedef struct JoinFoundRange
{
	double		weight;
	int			nkeys;			/* of the table, seen there */
	double		matching;		/* the fraction of the sample's keys there that match, by these */
} JoinFoundRange;

typedef struct JoinFound
{
	Oid			index;			/* by which they were searched; 0: all of the table was read */
	int			nblocks;		/* accessed, whether or not they were cached */
	bool		has_values;		/* values of the other column were taken */
	int			ncommon;		/* the common keys that were searched, by their numbers */
	JoinFoundKey *common;		/* weight: the fraction of all rows, with those not searched */
	int			nkeys;			/* of the bounds that were searched */
	JoinFoundKey *keys;			/* in their order */
	int			nranges;		/* 0: they tell nothing of the rows that the sample is of */
	JoinFoundRange *ranges;
	double		occurring;		/* of the table's keys between the bounds, about this fraction has
								 * such rows; 0: not known */
} JoinFound;

/*
 * Chooses the index, and the most keys: as many as the blocks are enough for; INT_MAX where the
 * table is read.  Searches with the same number are for the same keys: two of one sample may have
 * the lower one.
 */
extern void bloomfam_join_search_choose(JoinSearch *search);

/*
 * Searches as chosen, with the active snapshot.  Returns NULL, or why it cannot be done.  What is
 * found lives in the current context, with other memory that it took.  It fails only as reading
 * rows would.
 */
extern const char *bloomfam_join_search(const JoinSearch *search, JoinFound *found);

/*
 * Weighs the common keys that were searched: each stands for those before it, too, that were not,
 * and the last one for those behind it.
 */
extern void bloomfam_join_found_weigh(const JoinKeySample *sample, JoinFound *found);

#endif							/* BLOOMFAM_JOIN_SEARCH_H */
