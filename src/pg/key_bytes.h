/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_bytes.h
 *	  What hashers of variable-length keys leave behind.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_BYTES_H
#define BLOOMFAM_KEY_BYTES_H

#include "postgres.h"

/* Frees what detoasting a key has allocated, if it has. */
static inline void
free_copy(void *value, Datum key)
{
	if (value != (void *) DatumGetPointer(key))
		pfree(value);
}

#endif							/* BLOOMFAM_KEY_BYTES_H */
