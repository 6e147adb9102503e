/*-------------------------------------------------------------------------
 *
 * partition_key.h
 *	  What a table is partitioned by, for the planner and the executor.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PARTITION_KEY_H
#define BLOOMFAM_JOIN_PARTITION_KEY_H

#include "nodes/pathnodes.h"
#include "partitioning/partdefs.h"

/* The arrays, of ncolumns each, are the server's, and live as long as what they were taken from. */
typedef struct JoinPartitionKey
{
	char		strategy;		/* PARTITION_STRATEGY_... */
	int			ncolumns;
	int			needed;			/* so many, from the first on, must be known to prune partitions */
	const Oid  *families;
	const Oid  *types;			/* that the operator classes are for */
	const Oid  *collations;
} JoinPartitionKey;

/* The partition key of a table: from its relcache entry, or as the planner describes it. */
extern JoinPartitionKey bloomfam_join_partition_key(PartitionKey key);
extern JoinPartitionKey bloomfam_join_partition_key_by_scheme(PartitionScheme scheme);

/*
 * The operator by which a column of the partition key, on the left, equals a value of this type;
 * InvalidOid if there is none.
 */
extern Oid	bloomfam_join_partition_equality(const JoinPartitionKey *key, int column, Oid type);

/*
 * The function that compares a column's bounds with a value of this type, or hashes that;
 * InvalidOid if there is none.
 */
extern Oid	bloomfam_join_partition_support(const JoinPartitionKey *key, int column, Oid type);

/* Are the bounds of the first column in the order of its type, and not hashes? */
extern bool bloomfam_join_partition_is_in_order(const JoinPartitionKey *key);

#endif							/* BLOOMFAM_JOIN_PARTITION_KEY_H */
