/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * store.h
 *	  Writes signatures to the pages of batches and slabs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_SIGNATURE_STORE_H
#define BLOOMFAM_SIGNATURE_STORE_H

#include "signature/meta.h"

/* Returns the page and the slot of a block of the i-th range's signature. */
static inline uint32
signature_place(const SignatureGroup *group, SignaturePageKind kind, uint32 i, uint32 block,
				uint32 *slot)
{
	return kind == SIGNATURE_PAGE_SLAB ? signature_slab_place(i, block, slot) :
		signature_batch_place(group, i, block, slot);
}

/*
 * Writes the signature of a batch's i-th range to its pages.  The ranges before it have theirs, and
 * no reader looks at those from the i-th one on.
 */
extern void bloomfam_signature_append(Relation index, const SignatureGroup *batch, uint32 i,
									  const uint64 *signature);

/*
 * Adds a row's signature, of batch->blocks blocks, to that of a batch's i-th range.  Returns false
 * if a page was given to another owner meanwhile.
 */
extern bool bloomfam_signature_add(Relation index, const SignatureGroup *batch, uint32 i,
								   const uint64 *signature);

/* Replaces the signatures of n ranges of a batch or slab, whose numbers are in ranges[]. */
extern void bloomfam_signature_replace(Relation index, const SignatureGroup *group,
									   SignaturePageKind kind, const uint32 *ranges, uint32 n,
									   uint64 *const *signatures);

/* Writes the pages of a slab from those of a full batch. */
extern void bloomfam_signature_write_slab(Relation index, const SignatureGroup *batch,
										  const SignatureGroup *slab);

/*
 * Copies the i-th range's signature to memory for group->blocks blocks.  The caller must have the
 * lock of bloomfam_signature_lock().
 */
extern void bloomfam_signature_copy(Relation index, const SignatureGroup *group,
									SignaturePageKind kind, uint32 i, uint64 *signature);

#endif							/* BLOOMFAM_SIGNATURE_STORE_H */
