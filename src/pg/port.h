/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * port.h
 *	  Provides what the core needs from the server, and raises errors for the core's status codes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PORT_H
#define BLOOMFAM_PORT_H

#include "core/bf.h"
#include "core/bf_format.h"
#include "core/bf_hash.h"
#include "pg/compat.h"

extern const BfPort bloomfam_port;

/*
 * The number of bytes that the processor fetches at a time.  Payloads begin on such a boundary, so
 * that a block is one fetch.
 */
#define BLOOMFAM_CACHE_LINE		64

/*
 * Asks for huge pages for memory that will be accessed at random.  It must be called before the
 * memory is touched.
 */
extern void bloomfam_advise_huge_pages(void *memory, Size size);

/*
 * bloomfam_zero() is memset() to 0 and bloomfam_copy() is memcpy(), but both answer interrupts.
 * They are for memory as large as a value may be, which takes some tenths of a second, or seconds
 * if memory is short.
 */
extern void bloomfam_zero(void *memory, Size size);
extern void bloomfam_copy(void *to, const void *from, Size size);

/* Raises the error for a status of bf_design() or bf_plan(). */
extern void bloomfam_params_error(BfStatus status, const BfKind *kind, double fpr, uint64 keys)
	pg_attribute_noreturn();

/*
 * Raises the error for two filters that cannot be combined in a union (unite) or an intersection.
 */
extern void bloomfam_combine_error(BfStatus status, bool unite, const BfView *a,
								   const BfView *b) pg_attribute_noreturn();

/*
 * Raises the error for what a kind cannot do: "cannot <what> of kind ...".  The hint names a kind
 * that has the capability needed_cap.
 */
extern void bloomfam_unsupported_error(const BfKind *kind, const char *what, uint32 needed_cap)
	pg_attribute_noreturn();

/*
 * Raises the error for a filter that takes no more keys: it cannot grow (BF_FULL), or cannot grow
 * further (BF_TOO_LARGE).
 */
extern void bloomfam_full_error(const BfHeader *head, BfStatus status) pg_attribute_noreturn();

/* Raises the error for a key of one family and a filter of another. */
extern void bloomfam_family_error(const BfHeader *filter, const char *key_family,
								  uint32 key_family_len, uint64 key_family_id)
	pg_attribute_noreturn();

/*
 * Returns a family for a message, in the server's encoding, as a palloc'd string: its name, or its
 * id if the name is not known.
 */
extern char *bloomfam_family_display(const char *name, uint32 len, uint64 id);

#endif							/* BLOOMFAM_PORT_H */
