/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  Where the join filter meets the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_JOIN_HOOKS_H
#define BLOOMFAM_JOIN_HOOKS_H

/* To be called by _PG_init(). */
extern void bloomfam_join_init(void);

#endif							/* BLOOMFAM_JOIN_HOOKS_H */
