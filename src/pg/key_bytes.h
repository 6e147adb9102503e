/*-------------------------------------------------------------------------
 *
 * key_bytes.h
 *	  What hashers write and read bytes with.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_KEY_BYTES_H
#define BLOOMFAM_KEY_BYTES_H

#include "postgres.h"

/* Writes the low len bytes of a number, the lowest first. */
static inline void
put_le(uint8 *bytes, uint64 value, int len)
{
	int			i;

	for (i = 0; i < len; i++)
		bytes[i] = (uint8) (value >> (8 * i));
}

/* Frees what detoasting a key has allocated, if it has. */
static inline void
free_copy(void *value, Datum key)
{
	if (value != (void *) DatumGetPointer(key))
		pfree(value);
}

#endif							/* BLOOMFAM_KEY_BYTES_H */
