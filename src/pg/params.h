/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * params.h
 *	  What a user asks for: kind, false positive rate, number of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PARAMS_H
#define BLOOMFAM_PARAMS_H

#include "core/bf.h"
#include "pg/compat.h"

/* What is taken where nothing is asked for. */
#define BLOOMFAM_DEFAULT_FPR	0.01
#define BLOOMFAM_DEFAULT_KIND	"blocked"

/*
 * Looks up a kind that users may ask for, in letters of either case; raises an error that lists
 * them.  Leaves no memory behind.
 */
extern const BfKind *bloomfam_kind_arg(text *name);

/*
 * Takes an argument that is a kind or, if it is a number in the syntax of double precision, a false
 * positive rate: sets *kind or *fpr, and leaves the other as it is.  What number it is, is not
 * looked at; one beyond the range of double precision is an error.  advice: a sentence for the hint
 * of a text that is neither, or NULL.  Leaves no memory behind.
 */
extern void bloomfam_kind_or_fpr_arg(text *arg, const char *advice, const BfKind **kind,
									 double *fpr);

/* A design, or an error that says which argument is wrong. */
extern void bloomfam_design(const BfKind *kind, double fpr, BfDesign *design);
extern void bloomfam_plan(const BfDesign *design, uint64 keys, BfHeader *head);

/* expected as an argument: at least 1, or an error. */
extern uint64 bloomfam_expected_arg(int64 expected);

#endif							/* BLOOMFAM_PARAMS_H */
