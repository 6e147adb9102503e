/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * next.c
 *	  What the library of a next version has beyond today's: see bloomfam--1.0--1.1.sql.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

extern PGDLLEXPORT Datum bloomfam_shard(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(bloomfam_next);
PG_FUNCTION_INFO_V1(bloomfam_next_shard);

Datum
bloomfam_next(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text("1.1"));
}

Datum
bloomfam_next_shard(PG_FUNCTION_ARGS)
{
	return bloomfam_shard(fcinfo);
}
