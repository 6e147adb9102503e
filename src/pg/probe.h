/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * probe.h
 *	  Declares the functions that probe filters, by which join filters recognize such conditions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_PROBE_H
#define BLOOMFAM_PROBE_H

#include "pg/compat.h"

extern PGDLLEXPORT Datum bloomfam_may_contain(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum bloomfam_may_be_in(PG_FUNCTION_ARGS);

#endif							/* BLOOMFAM_PROBE_H */
