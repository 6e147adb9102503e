/*-------------------------------------------------------------------------
 *
 * explain.h
 *	  What EXPLAIN says of the join filter's nodes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_EXPLAIN_H
#define BLOOMFAM_JOIN_EXPLAIN_H

#include "pg/compat.h"

#include "join/executor/node.h"

/* As ExplainCustomScan of the nodes' methods. */
extern void bloomfam_join_build_explain(CustomScanState *node, List *ancestors,
										ExplainState *es);
extern void bloomfam_join_probe_explain(CustomScanState *node, List *ancestors,
										ExplainState *es);

#endif							/* BLOOMFAM_JOIN_EXPLAIN_H */
