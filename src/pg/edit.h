/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * edit.h
 *	  A filter that keys are added to or removed from, one call at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_EDIT_H
#define BLOOMFAM_EDIT_H

#include "pg/expanded.h"
#include "pg/hasher.h"

/*
 * The filter of an argument, to be changed: itself if the caller lets it be changed in place,
 * otherwise a copy.
 */
extern BloomfamEdit *bloomfam_edit_begin(Datum datum);

/*
 * Raises an error if the filter has another key family than a hasher; takes it over if it has
 * none.
 */
extern void bloomfam_edit_check_family(const BloomfamEdit *edit, const BloomfamHasher *hasher);
extern void bloomfam_edit_take_family(BloomfamEdit *edit, const BloomfamHasher *hasher);

/* Adds hashes; an error if the filter is full: those that it had room for are then in it. */
extern void bloomfam_edit_add(BloomfamEdit *edit, const uint64 *hashes, int n);

/* Removes hashes; an error if one is certainly not there: those before it are then gone. */
extern void bloomfam_edit_remove(BloomfamEdit *edit, const uint64 *hashes, int n);

/* The changed filter. */
extern Datum bloomfam_edit_end(BloomfamEdit *edit);

#endif							/* BLOOMFAM_EDIT_H */
