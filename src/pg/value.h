/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * value.h
 *	  Allocates, fills and finishes new values of filters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_VALUE_H
#define BLOOMFAM_VALUE_H

#include "core/bf_build.h"
#include "core/bf_format.h"
#include "pg/compat.h"

/*
 * Allocates room in the context for a payload of this size in bytes, zeroed and on a cache line's
 * boundary.  Sets *chunk to the memory to be freed by pfree().
 */
extern uint8 *bloomfam_payload_alloc(MemoryContext context, Size size, void **chunk);

/*
 * Returns the size of a value with this header.  Raises the error 54000 if it is too large: the
 * name of another value's family can make a value that comes from outside too large.
 */
extern Size bloomfam_value_size(const BfHeader *head);

/*
 * Allocates a value for this header, with its payload zeroed, and sets *payload to the payload's
 * place.  The value is not sealed.
 */
extern struct varlena *bloomfam_value_alloc(const BfHeader *head, uint8 **payload);

/*
 * Writes the header, seals the value, and returns it as a datum.  If its kind is stored packed and
 * the value is not packed, returns a packed value and frees this one.
 */
extern Datum bloomfam_value_finish(struct varlena *value, const BfHeader *head);

/*
 * For a value in memory that the caller has allocated in the right size, bloomfam_value_place()
 * returns the payload's place, and bloomfam_value_seal() at last writes the header and seals the
 * value.
 */
extern uint8 *bloomfam_value_place(struct varlena *value, const BfHeader *head);
extern void bloomfam_value_seal(struct varlena *value, const BfHeader *head);

/*
 * Makes a new value from a filter in its loose form: packs it if filters of its kind are stored
 * packed.
 */
extern Datum bloomfam_stored_value(const BfView *loose);

/*
 * bloomfam_value_room is room in the current memory context for the values that bf_build.c makes.
 * bloomfam_value_of_room() returns such a value as a datum, after bf_build.c has sealed it.
 */
extern const BfRoom bloomfam_value_room;
extern Datum bloomfam_value_of_room(uint8 *data, const BfHeader *head);

#endif							/* BLOOMFAM_VALUE_H */
