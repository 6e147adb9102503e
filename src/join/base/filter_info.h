/*-------------------------------------------------------------------------
 *
 * filter_info.h
 *	  What the nodes of the join filter carry in a plan, and which nodes those are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FILTER_INFO_H
#define BLOOMFAM_JOIN_FILTER_INFO_H

#include "nodes/extensible.h"
#include "nodes/plannodes.h"

typedef enum JoinNodeKind
{
	JOIN_NODE_OTHER,			/* none of ours */
	JOIN_NODE_BUILD,			/* on top of a hash join's build side */
	JOIN_NODE_PROBE	 /* on its probe side, or on top of a scan */
} JoinNodeKind;

typedef enum JoinFilterInfoKind
{
	JOIN_INFO_JOIN,		/* the filter of a join */
	JOIN_INFO_STORED			/* one that the query names in a condition (probe nodes only) */
} JoinFilterInfoKind;

/* Which rows a filter looks at. */
typedef enum JoinAccess
{
	JOIN_ROW_BY_ROW,			/* those that its node's child gives, one by one */
	JOIN_PAGE_BATCHES,			/* those of a heap's pages, before the conditions of their scan */
	JOIN_PAGE_BATCHES_SPARING,	/* the same, but a key that it takes time to fetch is left to the
								 * join */
	JOIN_NO_ROWS				/* none: the node may skip a partition, and its filters of rows are
								 * further down */
} JoinAccess;

/* One column of a join's key, on the side of the node that carries it. */
typedef struct JoinColumnInfo
{
	int			hashing;		/* of both sides: a JoinHashKind */
	Oid			type;			/* that is hashed on this side */
	Oid			function;		/* that it is hashed by; 0: none */
	Oid			collation;
	int			attribute;		/* the child's output column; 0: an expression over the child */
	int			expression;		/* ... the number of that in custom_exprs, from 0; else -1 */
	int			hash_key;		/* which one of the join's it is, from 0 */
	int			foreign_param;	/* by which it travels to other servers, or -1; of a probe node: to
								 * the foreign scan below it */
	Oid			foreign_type;	/* ... as a key of this type (build nodes only) */
	int			kept;			/* the keys themselves are kept as well (build nodes only) */
	Oid			operator;		/* the join's, which has the probe's side on its left */
	Oid			indexed;		/* an index of the scanned table may tell where keys of this type
								 * are; 0: none can (probe nodes only) */
} JoinColumnInfo;

/*
 * A table that has partitions by columns of a join's key, and the one of them that a node's rows
 * are of: their numbers in the range table.
 */
typedef struct JoinAncestorInfo
{
	Index		parent;
	Index		child;
	List	   *columns;		/* int, of the join's key from 0: that of the partition key's first
								 * column, and so on, as far as they can be used; NIL: none can */
} JoinAncestorInfo;

/* Whether partitions are skipped. */
typedef enum JoinSkip
{
	JOIN_SKIP_NOTHING,			/* there are none */
	JOIN_SKIP_PARTITIONS,		/* that cannot match, of some table at least */
	JOIN_SKIP_OTHER_KEY,		/* of the reasons against it, that of the last table */
	JOIN_SKIP_OTHER_EQUALITY,
	JOIN_SKIP_OTHER_TYPE,
	JOIN_SKIP_PART_OF_HASH,
	JOIN_SKIP_VOLATILE
} JoinSkip;

/* One filter of a node. */
typedef struct JoinFilterInfo
{
	int			kind;			/* a JoinFilterInfoKind */
	int			drop;			/* share of rows that it is expected to drop, in thousandths */

	/* of a join */
	int			param;			/* the executor's parameter by which its nodes find it */
	int			number;			/* in this plan, from 1 */
	int			build_first;	/* its join builds before it asks for a row to probe */
	int			parallel_hash;	/* built in shares, as the hash table is (build nodes only) */
	int			from_leader;	/* its join is above the Gather that this node is below (probe nodes
								 * only) */
	int			skip;			/* a JoinSkip (build nodes only) */
	int			ncolumns;
	JoinColumnInfo *columns;
	List	   *ancestors;		/* of JoinAncestorInfo, the uppermost first (probe nodes only) */

	/* of probe nodes */
	int			access;			/* a JoinAccess */
	int			min_drop;		/* share of rows that it must drop, in thousandths */
	int			all_or_none;	/* of the rows with a key it must drop all, or none */
	int			unbuffered;		/* a row that passes goes on to the join at once */

	/* of a condition */
	int			condition;		/* its number in custom_exprs, from 0; else -1 */
	int			before;			/* so many of the scan's conditions come before it */
} JoinFilterInfo;

/*
 * Makes one kind of our nodes known to the server: to be called once, before any plan is read.
 * create makes the state of such a node.
 */
extern void bloomfam_join_node_register(JoinNodeKind kind, Node *(*create) (CustomScan *plan));

/* Which of our nodes is this? */
extern JoinNodeKind bloomfam_join_node_kind(const Plan *plan);

/* A new node of this kind (not JOIN_NODE_OTHER) without filters, and without a child. */
extern CustomScan *bloomfam_join_node_make(JoinNodeKind kind);

/* Adds a filter to those of a node: before those that are expected to drop less. */
extern void bloomfam_join_filter_info_add(CustomScan *node, const JoinFilterInfo *info);

/* The filters of a node, in the current memory context: as many as the next function says. */
extern JoinFilterInfo *bloomfam_join_filter_infos(const CustomScan *node);

/* Is the filter of this number, of a join, among them?  Reads no more than that takes. */
extern bool bloomfam_join_has_filter(const CustomScan *node, int number);

/* The share of rows that those of joins are expected to let pass, of those that come to them. */
extern double bloomfam_join_passing(const CustomScan *node);

static inline int
bloomfam_join_nfilters(const CustomScan *node)
{
	return list_length(node->custom_private);
}

#endif							/* BLOOMFAM_JOIN_FILTER_INFO_H */
