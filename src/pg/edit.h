/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * edit.h
 *	  Adds keys to a filter or removes keys from it, one call at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_EDIT_H
#define BLOOMFAM_EDIT_H

#include "pg/expanded.h"
#include "pg/hasher.h"

/*
 * Returns the filter of an argument to be changed: the filter itself if the caller may change it in
 * place, and otherwise a copy.
 */
extern BloomfamEdit *bloomfam_edit_begin(Datum datum);

/*
 * bloomfam_edit_check_family() and bloomfam_edit_take_family() raise an error if the filter has
 * another key family than the hasher.  If the filter has none, bloomfam_edit_take_family() gives it
 * that of the hasher.
 */
extern void bloomfam_edit_check_family(const BloomfamEdit *edit, const BloomfamHasher *hasher);
extern void bloomfam_edit_take_family(BloomfamEdit *edit, const BloomfamHasher *hasher);

/*
 * Adds hashes.  Raises an error if the filter is full; the hashes that it had room for are in it
 * then.
 */
extern void bloomfam_edit_add(BloomfamEdit *edit, const uint64 *hashes, int n);

/*
 * Removes hashes.  Raises an error if one is certainly not in the filter; those before it are gone
 * then.
 */
extern void bloomfam_edit_remove(BloomfamEdit *edit, const uint64 *hashes, int n);

/* Returns the changed filter. */
extern Datum bloomfam_edit_end(BloomfamEdit *edit);

#endif							/* BLOOMFAM_EDIT_H */
