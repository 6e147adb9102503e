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

/* Looks up a kind that users may ask for; raises an error that lists them. */
extern const BfKind *bloomfam_kind_arg(text *name);

/*
 * Is a text a number, in the syntax of double precision?  If so, *fpr is set, to whatever number
 * it is; an error if that is beyond the range of double precision.
 */
extern bool bloomfam_text_is_fpr(text *arg, double *fpr);

/* A design, or an error that says which argument is wrong. */
extern void bloomfam_design(const BfKind *kind, double fpr, BfDesign *design);
extern void bloomfam_plan(const BfDesign *design, uint64 keys, BfHeader *head);

/* expected as an argument: at least 1, or an error. */
extern uint64 bloomfam_expected_arg(int64 expected);

#endif							/* BLOOMFAM_PARAMS_H */
