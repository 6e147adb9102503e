/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * io.h
 *	  The type bloomfilter, known again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_IO_H
#define BLOOMFAM_IO_H

#include "pg/compat.h"

/*
 * Is this the type bloomfilter of this extension, or a domain over it?  (By its input function:
 * extensions are relocatable.)
 */
extern bool bloomfam_is_filter_type(Oid type);

#endif							/* BLOOMFAM_IO_H */
