/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * value.h
 *	  New values of filters: allocated, filled and finished.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_VALUE_H
#define BLOOMFAM_VALUE_H

#include "core/bf_build.h"
#include "core/bf_format.h"
#include "pg/compat.h"

/*
 * Allocates room for a payload of so many bytes, zeroed and on a cache line's boundary; *chunk is
 * what to free.
 */
extern uint8 *bloomfam_payload_alloc(MemoryContext context, Size size, void **chunk);

/*
 * The size of a value with this header; 54000 if it is too large, as that of a value from outside
 * may become by the name of another one's family.
 */
extern Size bloomfam_value_size(const BfHeader *head);

/* Allocates a value for this header, payload zeroed; *payload is where it goes.  Not sealed. */
extern struct varlena *bloomfam_value_alloc(const BfHeader *head, uint8 **payload);

/*
 * Writes the header, seals, and returns the value as a datum: packed, if its kind is stored so
 * and the value is not, which is then freed.
 */
extern Datum bloomfam_value_finish(struct varlena *value, const BfHeader *head);

/*
 * The same for memory of the right size that others have allocated: says where the payload goes,
 * and at last writes the header and seals.
 */
extern uint8 *bloomfam_value_place(struct varlena *value, const BfHeader *head);
extern void bloomfam_value_seal(struct varlena *value, const BfHeader *head);

/* From a filter in its loose form to one as it is stored, in a new value. */
extern Datum bloomfam_stored_value(const BfView *loose);

/*
 * Room for the values that bf_build.c makes, in the current memory context; and such a value, which
 * it has sealed, as a datum.
 */
extern const BfRoom bloomfam_value_room;
extern Datum bloomfam_value_of_room(uint8 *data, const BfHeader *head);

#endif							/* BLOOMFAM_VALUE_H */
