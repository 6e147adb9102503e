/*-------------------------------------------------------------------------
 *
 * probe.h
 *	  The node on the probe side: drops rows whose keys are not in the filters of joins above.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PROBE_H
#define BLOOMFAM_JOIN_PROBE_H

#include "nodes/execnodes.h"

/* Makes these nodes known to the server. */
extern void bloomfam_join_probe_register(void);

/* Is this node one of them? */
extern bool bloomfam_join_is_probe(const PlanState *node);

#endif							/* BLOOMFAM_JOIN_PROBE_H */
