/*-------------------------------------------------------------------------
 *
 * build.h
 *	  The node on top of a hash join's build side.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_BUILD_H
#define BLOOMFAM_JOIN_BUILD_H

#include "join/executor/node.h"

/* Makes these nodes known to the server. */
extern void bloomfam_join_build_register(void);

/* Is this node one of them? */
extern bool bloomfam_join_is_build(const PlanState *node);

/* Ties a node's filter, if it has one, to the hash join that it is the build side of. */
extern void bloomfam_join_build_tie(JoinBuildState *state, HashJoinState *join);

#endif							/* BLOOMFAM_JOIN_BUILD_H */
