/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  Connects join filters and samples with the server's hooks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_HOOKS_H
#define BLOOMFAM_HOOKS_H

/* Defines the settings and installs the hooks; is called by _PG_init(). */
extern void bloomfam_hooks_init(void);

#endif							/* BLOOMFAM_HOOKS_H */
