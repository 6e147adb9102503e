/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * io.h
 *	  Recognizes the SQL type bloomfilter.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_IO_H
#define BLOOMFAM_IO_H

#include "pg/compat.h"

/*
 * Returns whether this is the type bloomfilter of this extension, or a domain over it.  Extensions
 * are relocatable, so the type is known by its input function.
 */
extern bool bloomfam_is_filter_type(Oid type);

#endif							/* BLOOMFAM_IO_H */
