/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  The library's filters and types, for the program.  Any failure ends the program.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FILTER_H
#define FILTER_H

#include "options.h"

#include "client/bloomfam.h"

extern void fail_library(const char *what, const BloomfamError *error) __attribute__((noreturn));
extern BloomfamFilter *filter_open(const char *path);
extern BloomfamType filter_key_type(const BloomfamFilter *filter, const Options *options,
									bool *is_known);
extern BloomfamType row_of_texts(size_t ncolumns);
extern bool has_readings(const BloomfamType *type);
extern BloomfamType type_of_name(const char *name, const char *kind);

#endif							/* FILTER_H */
