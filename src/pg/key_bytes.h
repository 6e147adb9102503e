/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_bytes.h
 *	  Frees what hashers of variable-length keys have allocated.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_BYTES_H
#define BLOOMFAM_KEY_BYTES_H

#include "postgres.h"

/* Frees the copy that detoasting a key has allocated, if it has made one. */
static inline void
free_copy(void *value, Datum key)
{
	if (value != (void *) DatumGetPointer(key))
		pfree(value);
}

#endif							/* BLOOMFAM_KEY_BYTES_H */
