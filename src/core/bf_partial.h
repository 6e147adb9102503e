/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_partial.h
 *	  The flag of the internal kind "partial" (kind_partial.c) that src/pg must know, as it writes
 *	  values of that kind.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_PARTIAL_H
#define BF_PARTIAL_H

/*
 * Marks the state of a union in which a NULL took part: the union may contain every key, and its
 * result is NULL.
 */
#define BF_PARTIAL_UNKNOWN	0x01

#endif							/* BF_PARTIAL_H */
