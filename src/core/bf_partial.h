/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_partial.h
 *	  What the glue must know of the internal kind "partial" (kind_partial.c): it writes such
 *	  values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_PARTIAL_H
#define BF_PARTIAL_H

/*
 * The state of a union in which a NULL took part: it may contain every key, and its result is
 * NULL.
 */
#define BF_PARTIAL_UNKNOWN	0x01

#endif							/* BF_PARTIAL_H */
