/* SPDX-License-Identifier: PostgreSQL */
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

/* Which rows a filter is probed with, and how. */
typedef enum JoinAccess
{
	JOIN_ROW_BY_ROW,			/* those that its node's child returns, one by one */
	JOIN_PAGE_BATCHES,			/* those of a heap's pages, before the conditions of their scan */
	JOIN_PAGE_BATCHES_SPARING,	/* the same, but rows with a compressed or external key pass */
	JOIN_NO_ROWS				/* none: the node may skip a partition, whose rows are probed
								 * further down */
} JoinAccess;

/*
 * One column of a join's key, on the side of the node that carries it.  Members are ints, or of
 * that size: filter_info.c writes them so.
 */
typedef struct JoinColumnInfo
{
	int			hashing;		/* of both sides: a JoinHashKind */
	Oid			type;			/* that is hashed on this side */
	Oid			function;		/* that it is hashed by; 0: none */
	Oid			collation;
	int			attribute;		/* the child's output column; 0: an expression over the child */
	int			expression;		/* ... the number of that in custom_exprs, from 0; else -1 */
	int			hash_key;		/* which one of the join's it is, from 0 */
	int			kept;			/* the keys themselves are kept as well (build nodes only) */
	Oid			operator;		/* the join's, which has the probe's side on its left */
	Oid			indexed;		/* an index of the scanned table may tell where keys of this type
								 * are; 0: none can (probe nodes only) */
} JoinColumnInfo;

/*
 * What of one column of a key foreign scans are sent, and by which parameters of the executor; -1:
 * not this.  Its members are ints, too.
 */
typedef struct JoinForeignInfo
{
	int			column;			/* of the key, from 0 */
	Oid			key_type;		/* of that on the build side */
	int			filter;			/* a Bloom filter; then the others are -1 */
	int			alone;			/* ... also to scans that can have no keys */
	int			keys;			/* all keys */
	int			least;			/* their bounds, which are sent together */
	int			greatest;
	Oid			type;			/* ... with keys, of the remote column; of a filter: 0 */
	Oid			user;			/* ... and these are sent by nobody else */
} JoinForeignInfo;

/* A partition ancestor, and the child of it that a node's rows are of: range table indexes. */
typedef struct JoinAncestorInfo
{
	Index		parent;
	Index		child;
	List	   *columns;		/* int: which of the join key's columns, from 0, are those of the
								 * partition key that must be known to prune; NIL: not all are */
} JoinAncestorInfo;

/* One filter of a node.  Its fields up to ncolumns are ints, as filter_info.c writes them. */
typedef struct JoinFilterInfo
{
	int			kind;			/* a JoinFilterInfoKind */
	int			drop;			/* fraction of rows that it is expected to drop, in thousandths; of
								 * conditions the same for all (plan.c) */

	/* of a join */
	int			param;			/* the executor's parameter by which its nodes find it */
	int			number;			/* in this plan, from 1 */
	int			build_first;	/* its join builds before it fetches a row to probe */
	int			parallel_hash;	/* built by all participants, as the hash table (build nodes) */
	int			from_leader;	/* its join is above the Gather that this node is below (probe nodes
								 * only) */
	int			not_skipped;	/* a JoinReason: why no partition is skipped; JOIN_NO_REASON: some
								 * are, or there are none (build nodes only) */

	/* of probe nodes */
	int			access;			/* a JoinAccess */
	int			min_drop;		/* minimum drop: a fraction of rows, in thousandths */
	int			all_or_none;	/* of the rows with a key it must drop all, or none */
	int			unbuffered;		/* a row that passes goes to the join at once */

	/* of a condition */
	int			condition;		/* its number in custom_exprs, from 0; else -1 */
	int			before;			/* so many of the scan's conditions come before it */

	/* of a join */
	int			ncolumns;
	JoinColumnInfo *columns;
	List	   *ancestors;		/* of JoinAncestorInfo, the uppermost first (probe nodes only) */
	List	   *foreign;		/* of JoinForeignInfo: of all foreign scans (build nodes), of that
								 * below (probe nodes) */
} JoinFilterInfo;

/*
 * Makes one kind of our nodes known to the server: to be called once, before any plan is read.
 * create makes the state of such a node.
 */
extern void bloomfam_join_node_register(JoinNodeKind kind, Node *(*create) (CustomScan *plan));

/* Which of our nodes is this? */
extern JoinNodeKind bloomfam_join_node_kind(const Plan *plan);

/* What is below nodes of ours, if the plan begins with some. */
extern Plan *bloomfam_join_below_own(Plan *plan);

/* A new node of this kind (not JOIN_NODE_OTHER) without filters, and without a child. */
extern CustomScan *bloomfam_join_node_make(JoinNodeKind kind);

/*
 * Adds a filter to those of a node: before those that are expected to drop less.  The executor
 * probes them in this order, until it finds a better one (executor/gate.h).
 */
extern void bloomfam_join_filter_info_add(CustomScan *node, const JoinFilterInfo *info);

/* The filters of a node, in the current memory context: as many as the next function says. */
extern JoinFilterInfo *bloomfam_join_filter_infos(const CustomScan *node);

/* Is the filter of this number, of a join, among them?  Reads no more than that takes. */
extern bool bloomfam_join_has_filter(const CustomScan *node, int number);

static inline int
bloomfam_join_nfilters(const CustomScan *node)
{
	return list_length(node->custom_private);
}

#endif							/* BLOOMFAM_JOIN_FILTER_INFO_H */
