/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * params.h
 *	  Checks what a user asks for: kind, false positive rate, and number of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PARAMS_H
#define BLOOMFAM_PARAMS_H

#include "core/bf.h"
#include "pg/compat.h"

/* The false positive rate and the kind of filters for which none is asked for. */
#define BLOOMFAM_DEFAULT_FPR	0.01
#define BLOOMFAM_DEFAULT_KIND	"blocked"

/*
 * Looks up a kind that users may ask for, in letters of either case.  Raises an error that lists
 * these kinds if the name is not one.  Leaves no memory allocated.
 */
extern const BfKind *bloomfam_kind_arg(text *name);

/*
 * Takes an argument that is a kind or a false positive rate; the latter is a number in the syntax
 * of double precision.  Sets *kind or *fpr, and does not change the other.  The number's value is
 * not checked, but one beyond the range of double precision is an error. advice is a sentence for
 * the hint if the text is neither, or NULL.  Leaves no memory allocated.
 */
extern void bloomfam_kind_or_fpr_arg(text *arg, const char *advice, const BfKind **kind,
									 double *fpr);

/*
 * bloomfam_design() makes a design, and bloomfam_plan() a header for this number of keys.  Both
 * raise an error that says which argument is wrong.
 */
extern void bloomfam_design(const BfKind *kind, double fpr, BfDesign *design);
extern void bloomfam_plan(const BfDesign *design, uint64 keys, BfHeader *head);

/* Returns the argument "expected", which must be at least 1, or raises an error. */
extern uint64 bloomfam_expected_arg(int64 expected);

#endif							/* BLOOMFAM_PARAMS_H */
