/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reader.h
 *	  Reads rows of a table while a query is planned: under conditions, and within a budget.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_READER_H
#define BLOOMFAM_JOIN_READER_H

#include "access/genam.h"
#include "access/relscan.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/block.h"
#include "utils/relcache.h"

/* A row that is stored elsewhere in part counts as so many blocks more. */
#define JOIN_BLOCKS_OF_LONG_ROW	8

/* Statistics have no keys of more bytes, and longer ones are not sampled either. */
#define JOIN_WIDEST_KEY			1024

/* So many rows are read at once that are next to another one. */
#define JOIN_MOST_BESIDE		16

typedef struct JoinReader
{
	Relation	relation;
	TupleTableSlot *slot;		/* the row that was read last */
	EState	   *estate;
	ExprState  *conditions;		/* that are evaluated first */
	ExprState  *conditions_about_long;
	List	   *long_values;	/* that these read, or the search does */
	Size		nbytes;			/* of such values, less than a block: not counted yet */
	int			noperators;		/* for a row, beyond those that a row has for nothing */
	int			noperations;	/* less than a block's: not counted yet */
	int			nblocks;		/* accessed, whether or not they were cached */
	int			most_blocks;	/* that may be */
	Relation	index;			/* by which rows are searched */
	IndexScanDesc scan;
	int			height;
	int			nentries;		/* since a search began */
	BlockNumber block;			/* of the last row; none yet: invalid */
	HeapTupleData beside[JOIN_MOST_BESIDE]; /* rows next to that one, which it was asked for */
} JoinReader;

/* Why nothing was found where a reader is over its budget. */
extern const char bloomfam_join_over_budget[];

/* Begins to read a table with the active snapshot; used: a column that is read beside, or 0. */
extern void bloomfam_join_reader_begin(JoinReader *reader, Relation relation, List *conditions,
									   AttrNumber used, int most_blocks);
extern void bloomfam_join_reader_end(JoinReader *reader);

/* Does the row in the slot meet the conditions? */
extern bool bloomfam_join_reader_matches(JoinReader *reader);

/* May this index of the planner's be searched? */
extern bool bloomfam_join_reader_can_search(const IndexOptInfo *index);

/* Opens an index, to be searched by its first columns; then each search begins anew. */
extern void bloomfam_join_reader_open(JoinReader *reader, const IndexOptInfo *index, int nkeys);
extern void bloomfam_join_reader_seek(JoinReader *reader, ScanKey keys, int nkeys);

/* The next row; false: there is none, or the reader is over its budget. */
extern bool bloomfam_join_reader_next(JoinReader *reader);

/*
 * Reads visible rows of the block that the row in the slot is on: those next to this one of its
 * rows, after it (step 1) or before it (-1), until one that is not visible.  Returns how many;
 * show() puts one of them into the slot.  No block is accessed again.  None, if rows are not those
 * of the server's own tables.
 */
extern int	bloomfam_join_reader_beside(JoinReader *reader, OffsetNumber row, int step, int most);
extern void bloomfam_join_reader_show(JoinReader *reader, int number);

static inline bool
bloomfam_join_reader_is_over(const JoinReader *reader)
{
	return reader->nblocks > reader->most_blocks;
}

/* Is a value as short as a key of statistics may be?  It counts the blocks that it is read of. */
extern bool bloomfam_join_reader_is_short(JoinReader *reader, Form_pg_attribute attribute,
										  Datum value);

/*
 * A copy of a key, which is not compressed nor stored elsewhere: it is compared many times.  False:
 * it is wider than any key of statistics.
 */
extern bool bloomfam_join_reader_copy_key(JoinReader *reader, Form_pg_attribute attribute,
										  Datum value, Datum *copy);

#endif							/* BLOOMFAM_JOIN_READER_H */
