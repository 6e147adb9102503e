/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reason_list.h
 *	  Lists all reasons why a filter or an optimization is not used, with their texts.
 *
 * A file that includes this one defines JOIN_REASON(name, text) first: reasons.h makes the enum
 * JoinReason of the list, and reasons.c the table of texts.  So this file has no include guard,
 * like the server's kwlist.h.
 *
 * A text has at most 12 words and no figures; report/decisions.c shows figures beside it.  The text
 * is NULL if the reason is not shown.
 *
 * .ci/checks/reasons compares the texts with the tables of docs/join_filter_reference.md and
 * docs/foreign_scans.md.  The beginning of a reason's name decides in which table it belongs.
 *
 *-------------------------------------------------------------------------
 */

/*
 * Why a join key has no filter (planner/decision.c, candidate.c, cost.c): the first reason that the
 * planner comes to.  JOIN_BUILDS_TOO_LATE is not shown itself: the reason why the join may not
 * build first is shown instead.
 */
JOIN_REASON(JOIN_KEEPS_ROWS, "an outer or anti join must return unmatched rows")
JOIN_REASON(JOIN_KEY_IS_COMPUTED, "the key is computed on the probe side, or by a subquery")
JOIN_REASON(JOIN_KEY_IS_COMPUTED_LATE, "the key is computed on the build side, after another key")
JOIN_REASON(JOIN_KEY_HAS_NO_HASH, "the operator is not strict, or not hashed by its family")
JOIN_REASON(JOIN_KEY_IS_VOLATILE, "a key calls volatile functions")
JOIN_REASON(JOIN_HAS_NO_TARGET, "the probe side is scanned asynchronously")
JOIN_REASON(JOIN_BUILDS_TOO_LATE, NULL)
JOIN_REASON(JOIN_READS_IN_PART, "the merge join may read its inner side only in part")
JOIN_REASON(JOIN_HAS_TOO_MANY_KEYS, "too many keys for bloomfam.join_filter_max_size and work_mem")
JOIN_REASON(JOIN_PROBES_FEW_ROWS, "too few rows to probe")
JOIN_REASON(JOIN_DROPS_FEW_ROWS, "too few rows to remove")
JOIN_REASON(JOIN_COSTS_MORE, "the filter would cost more than it saves")

/* Why a condition that no hash join evaluates has no filter (report/decisions.c). */
JOIN_REASON(JOIN_BY_MERGE, "the planner preferred a merge join")
JOIN_REASON(JOIN_BY_LOOP, "the planner preferred a nested loop")
JOIN_REASON(JOIN_BY_INDEX, "the planner preferred index lookups")
JOIN_REASON(JOIN_IS_VOLATILE, "the condition is volatile, which allows no hash join")
JOIN_REASON(JOIN_HAS_NO_EQUALITY, "no hashable equality between two tables")
JOIN_REASON(JOIN_IS_SUBQUERY, "a subquery in a condition is no join")

/* Why a join may not build its hash table before it reads its outer side (planner/decision.c). */
JOIN_REASON(JOIN_BUILD_WOULD_BE_SEEN, "building first would change volatile calls or row locks")
JOIN_REASON(JOIN_BUILD_COSTS_MORE, "building first costs more where the probe side may be empty")

/*
 * Why a foreign scan is sent neither filter, keys nor bounds (planner/pushdown.c, fdw/sending.c).
 * The reasons why a join may not build first can apply here as well.
 */
JOIN_REASON(JOIN_FOREIGN_UNKNOWN_MAJOR, "this version of PostgreSQL is not known to bloomfam")
JOIN_REASON(JOIN_FOREIGN_IS_OFF, "bloomfam.join_foreign_keys is -1")
JOIN_REASON(JOIN_FOREIGN_OTHER_WRAPPER, "the foreign server is none of postgres_fdw")
JOIN_REASON(JOIN_FOREIGN_IN_WORKERS, "the foreign scan is done by parallel workers")
JOIN_REASON(JOIN_FOREIGN_BUILD_DEPENDS, "the build side depends on a row outside of the join")
JOIN_REASON(JOIN_FOREIGN_BUILD_VARIES, "rows are changed or locked, and the build side may vary")
JOIN_REASON(JOIN_FOREIGN_BEGINS_ANEW, "the foreign scan begins anew with other parameters")
JOIN_REASON(JOIN_FOREIGN_READ_IN_PART, "a merge join may read the foreign scan only in part")
JOIN_REASON(JOIN_FOREIGN_IN_CTE, "the foreign scan is in a CTE that is read several times")
JOIN_REASON(JOIN_FOREIGN_LOCKS_OR_SORTS, "the remote query locks or sorts its rows")
JOIN_REASON(JOIN_FOREIGN_IS_VOLATILE, "the foreign scan has a volatile condition or column")
JOIN_REASON(JOIN_FOREIGN_NOT_IN_SCAN, "the key is no column of the foreign scan")
JOIN_REASON(JOIN_FOREIGN_NOT_IN_QUERY, "the key is no column of the remote query")
JOIN_REASON(JOIN_FOREIGN_RIGHTS_OF_OTHERS, "the query reads other tables with the rights of others")

/* Why a foreign scan is sent no filter (fdw/sending.c). */
JOIN_REASON(JOIN_FOREIGN_NO_EXTENSION, "the foreign server has no bloomfam among its extensions")
JOIN_REASON(JOIN_FOREIGN_NO_EXTENSION_HERE, "this database does not have the extension")
JOIN_REASON(JOIN_FOREIGN_OTHER_HASH, "keys of this type are not hashed alike by all servers")
JOIN_REASON(JOIN_FOREIGN_OTHER_TEXT,
			"the keys' collation or encoding may differ on the foreign server")

/* Why a foreign scan is sent no keys or no bounds (fdw/sending.c). */
JOIN_REASON(JOIN_FOREIGN_KEYS_ARE_0, "bloomfam.join_foreign_keys is 0")
JOIN_REASON(JOIN_FOREIGN_NO_TABLE, "the foreign scan is not of one table")
JOIN_REASON(JOIN_FOREIGN_TYPE, "keys of this type are not sent as plain values")
JOIN_REASON(JOIN_FOREIGN_TYPE_OF_BOUNDS, "keys of this type have no bounds that are sent")
JOIN_REASON(JOIN_FOREIGN_COLLATION, "the keys' collation is not deterministic")
JOIN_REASON(JOIN_FOREIGN_OTHER_USER,
			"the foreign table is read with another user's rights")

/*
 * Why a foreign scan is sent no keys or no bounds, judged by what its server told of the remote
 * table (fdw/remote_table.c, fdw/sending.c).
 */
JOIN_REASON(JOIN_FOREIGN_NOT_TOLD, "the foreign server did not tell the type of the remote column")
JOIN_REASON(JOIN_FOREIGN_NO_REMOTE_TABLE, "the foreign server has no such table in its catalogs")
JOIN_REASON(JOIN_FOREIGN_TOO_OLD, "the foreign server is older than PostgreSQL 14")
JOIN_REASON(JOIN_FOREIGN_REMOTE_TYPE, "the remote column is of another type")
JOIN_REASON(JOIN_FOREIGN_REMOTE_TYPMOD,
			"the column has a type modifier that the remote one has not")

/* Why a filter skips no partition (planner/partition_ancestors.c). */
JOIN_REASON(JOIN_PARTITION_OTHER_KEY, "they are not made by a column of the key")
JOIN_REASON(JOIN_PARTITION_OTHER_EQUALITY, "they are not made by the equality of the join")
JOIN_REASON(JOIN_PARTITION_OTHER_TYPE, "keys of this type are not kept")
JOIN_REASON(JOIN_PARTITION_PART_OF_HASH, "they are made by hashes of more columns than the key has")
JOIN_REASON(JOIN_PARTITION_IS_VOLATILE, "volatile functions would be called less often")

/*
 * Why a partition is read (executor/partition_pruning.c, executor/probe.c), and why all blocks of a
 * table are read (executor/block_pruning.c, executor/heap_batch.c).  Reasons that begin with
 * JOIN_SKIP_ apply to both partitions and blocks.  If several processes have different reasons, the
 * one that comes last in this list is shown.
 *
 * Two reasons are not shown.  JOIN_BLOCKS_NOT_YET: the keys may still become known while the table
 * is read.  JOIN_PARTITION_CAN_MATCH: by its bounds, the partition may have rows with the keys.
 */
JOIN_REASON(JOIN_BLOCKS_NOT_YET, NULL)
JOIN_REASON(JOIN_SKIP_TOO_LATE, "the keys were not known in time")
JOIN_REASON(JOIN_PARTITION_CAN_MATCH, NULL)
JOIN_REASON(JOIN_SKIP_KEYS_UNKNOWN, "the keys are not known")
JOIN_REASON(JOIN_PARTITION_MANY_KEYS, "there are too many keys to look up each")
JOIN_REASON(JOIN_PARTITION_NEW, "it is newer than the query's snapshot")
JOIN_REASON(JOIN_SKIP_ALL_OR_NONE, "below an aggregate only a bitmap skips any")
JOIN_REASON(JOIN_BLOCKS_NO_INDEX, "no index can be used now")
JOIN_REASON(JOIN_BLOCKS_COSTLY, "looking for them would take too long")
JOIN_REASON(JOIN_BLOCKS_MANY, "too many can match")

/* Why the list of keys was not sent to a foreign server (fdw/key_list.c). */
JOIN_REASON(JOIN_KEY_LIST_TOO_MANY, "more keys than bloomfam.join_foreign_keys")
JOIN_REASON(JOIN_KEY_LIST_TOO_LARGE, "keys too large to send")
JOIN_REASON(JOIN_KEY_LIST_NOT_ASCII, "a key that is not all ASCII")
