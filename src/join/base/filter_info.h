/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter_info.h
 *	  Defines the join filter's plan nodes, and the description of filters that they carry in a
 *	  plan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_FILTER_INFO_H
#define BLOOMFAM_JOIN_FILTER_INFO_H

#include "nodes/extensible.h"
#include "nodes/plannodes.h"

typedef enum JoinNodeKind
{
	JOIN_NODE_OTHER,
	JOIN_NODE_BUILD,
	JOIN_NODE_PROBE
} JoinNodeKind;

typedef enum JoinFilterInfoKind
{
	JOIN_INFO_JOIN,		/* The filter is built by a join of the plan. */

	/* The filter is named by a condition of the query; only probe nodes have it. */
	JOIN_INFO_STORED
} JoinFilterInfoKind;

/* Which rows a probe node probes its filter with, and in which way. */
typedef enum JoinAccess
{
	JOIN_ROW_BY_ROW,			/* The node probes the rows that its child returns, one by one. */

	/*
	 * The node probes all rows of a heap page together, before the scan's conditions are evaluated.
	 */
	JOIN_PAGE_BATCHES,

	/*
	 * The node probes in page batches, but lets rows pass whose key is compressed or stored
	 * externally.
	 */
	JOIN_PAGE_BATCHES_SPARING,

	/*
	 * The node probes no rows.  It only skips a partition whose keys cannot match; the partition's
	 * rows are probed by another node further down.
	 */
	JOIN_NO_ROWS
} JoinAccess;

/*
 * Describes one column of a join's key, on the side of the join whose node carries the description.
 * filter_info.c writes it as an array of ints, so all members are ints or have an int's size.
 */
typedef struct JoinColumnInfo
{
	/*
	 * A JoinHashKind: how the values of the column are hashed, in the same way on both sides of the
	 * join.
	 */
	int			hashing;
	Oid			type;			/* The data type that is hashed on this side of the join. */

	/* The hash function called for this side; 0: no function is called. */
	Oid			function;
	Oid			collation;

	/*
	 * Attribute number in the child's output; 0: the column is an expression, given by
	 * "expression".
	 */
	int			attribute;

	/* If attribute is 0: the expression's index in custom_exprs, from 0; else -1. */
	int			expression;
	int			hash_key;		/* The number of this column's hash key in the join, from 0. */

	/* Whether the key's values are kept for pruning besides the filter (only in build nodes). */
	int			kept;
	Oid			operator;		/* The join's equality operator; the probe side is on its left. */

	/*
	 * The type of the build side's keys, if the scanned table has an index that can be searched for
	 * them; 0: it has none (only in probe nodes).
	 */
	Oid			indexed;
} JoinColumnInfo;

/*
 * Describes what foreign scans are sent of one key column, and by which executor parameters:
 * "filter", "keys", "least" and "greatest" are parameter numbers, -1 if that item is not sent.
 * filter_info.c writes the struct as an array of ints, so all members are ints or have an int's
 * size.
 */
typedef struct JoinForeignInfo
{
	/* The number, from 0, of the column of the filter's key whose values are sent. */
	int			column;
	Oid			key_type;		/* The type of the key column on the build side. */

	/*
	 * The executor parameter for a Bloom filter of the keys, -1: no filter is sent; if it is set,
	 * "keys", "least" and "greatest" are -1.
	 */
	int			filter;

	/* Whether the Bloom filter is also sent to a scan that cannot be sent the keys themselves. */
	int			alone;

	/*
	 * The executor parameter for an array of all keys; -1: the keys are not sent as plain values.
	 */
	int			keys;

	/*
	 * The executor parameters for the smallest and the largest key, which are always sent together;
	 * -1: they are not sent.
	 */
	int			least;
	int			greatest;

	/*
	 * The type of the remote column that keys and bounds are compared with; 0: a filter is sent
	 * instead.
	 */
	Oid			type;

	/*
	 * The user that the query was planned for.  If another user executes the plan, neither keys nor
	 * bounds are sent.
	 */
	Oid			user;
} JoinForeignInfo;

/*
 * Describes one step from a partition up to its parent: the parent's and the child's range table
 * indexes.
 */
typedef struct JoinAncestorInfo
{
	Index		parent;
	Index		child;

	/*
	 * List of ints: the numbers, from 0, of the join key's columns that are the parent's partition
	 * key columns needed for pruning; NIL: the join's key lacks some, so this parent's partitions
	 * cannot be pruned.
	 */
	List	   *columns;
} JoinAncestorInfo;

/*
 * Describes one filter of a build or probe node. filter_info.c writes the fields up to ncolumns as
 * an array of ints, so they are ints or have an int's size.
 */
typedef struct JoinFilterInfo
{
	/* A JoinFilterInfoKind: whether the filter is a join's, or is named by a condition. */
	int			kind;

	/*
	 * The expected fraction of rows that the filter drops, in thousandths.  For a filter named by a
	 * condition it is a constant (STORED_DROP in planner/constants.h).
	 */
	int			drop;

	/* The fields from "param" to "not_skipped" are set for the filter of a join. */
	/*
	 * The number of the executor parameter by which the build node and the probe nodes find the
	 * filter.
	 */
	int			param;
	int			number;			/* The filter's number in the plan, from 1. */

	/*
	 * Whether the join must build its hash table or sort its outer side before it fetches a row to
	 * probe.  If not, the server decides.
	 */
	int			build_first;

	/*
	 * Whether all participants of a Parallel Hash build the filter together (only in build nodes).
	 */
	int			parallel_hash;

	/*
	 * Whether the join is above a Gather that this node is below, so that the filter comes from the
	 * leader (only in probe nodes).
	 */
	int			from_leader;

	/*
	 * A JoinReason: why the filter skips no partition; JOIN_NO_REASON: it can skip some, or no
	 * partition is scanned (only in build nodes).
	 */
	int			not_skipped;

	/* The fields from "access" on are set in probe nodes. */
	/* A JoinAccess: which rows the node probes the filter with, and how. */
	int			access;

	/*
	 * The smallest fraction of probed rows, in thousandths, that the filter must drop; if it drops
	 * fewer in a sample, the executor disables it for some time.
	 */
	int			min_drop;

	/*
	 * Whether the filter must drop either all or none of the rows with the same key, as a node
	 * above the scan groups rows: a group must not lose only some of its rows.
	 */
	int			all_or_none;

	/*
	 * The index in custom_exprs of the condition of the query that names the filter, from 0; -1:
	 * the filter is a join's.
	 */
	int			condition;

	/*
	 * The fields from "ncolumns" on are set for the filter of a join: "columns" describes its key.
	 */
	int			ncolumns;
	JoinColumnInfo *columns;

	/*
	 * List of JoinAncestorInfo: the partitioned tables above the scanned partition, uppermost first
	 * (only in probe nodes).
	 */
	List	   *ancestors;

	/*
	 * List of JoinForeignInfo: in a build node, what all foreign scans are sent of this filter; in
	 * a probe node, what the foreign scan below is sent.
	 */
	List	   *foreign;
} JoinFilterInfo;

/*
 * Registers the plan node type of one kind (build or probe) with the server.  Must be called once,
 * before any plan is read.  "create" makes the executor state of a node of that kind.
 */
extern void bloomfam_join_node_register(JoinNodeKind kind, Node *(*create) (CustomScan *plan));

/*
 * Returns the kind of a plan node: build, probe, or JOIN_NODE_OTHER for any node of the server or
 * of another extension.
 */
extern JoinNodeKind bloomfam_join_node_kind(const Plan *plan);

/* Returns the first plan node at or below "plan" that is neither a build nor a probe node. */
extern Plan *bloomfam_join_below_own(Plan *plan);

/*
 * Makes a plan node of the given kind, which must not be JOIN_NODE_OTHER, without filters and
 * without a child.
 */
extern CustomScan *bloomfam_join_node_make(JoinNodeKind kind);

/*
 * Adds a filter to a node's list of filters, before all filters that are expected to drop fewer
 * rows.  The executor probes filters in the order of the list, until it finds a better order
 * (executor/gate.h).
 */
extern void bloomfam_join_filter_info_add(CustomScan *node, const JoinFilterInfo *info);

/*
 * Returns an array of a node's filters, allocated in the current memory context.  Its length is
 * bloomfam_join_nfilters().
 */
extern JoinFilterInfo *bloomfam_join_filter_infos(const CustomScan *node);

/*
 * Tells whether a node has the join filter of the given number.  Reads only the number of each
 * filter from the plan, without decoding the rest.
 */
extern bool bloomfam_join_has_filter(const CustomScan *node, int number);

static inline int
bloomfam_join_nfilters(const CustomScan *node)
{
	return list_length(node->custom_private);
}

#endif							/* BLOOMFAM_JOIN_FILTER_INFO_H */
