/*-------------------------------------------------------------------------
 *
 * probe.h
 *	  The node on the probe side: drops rows whose keys are not in the filters of joins above.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_PROBE_H
#define BLOOMFAM_JOIN_PROBE_H

/* Makes these nodes known to the server. */
extern void bloomfam_join_probe_register(void);

#endif							/* BLOOMFAM_JOIN_PROBE_H */
