/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  Where join filters and samples meet the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_HOOKS_H
#define BLOOMFAM_HOOKS_H

/* To be called by _PG_init(). */
extern void bloomfam_join_init(void);

#endif							/* BLOOMFAM_HOOKS_H */
