/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * explain_text.h
 *	  Functions for EXPLAIN's text format.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOMFAM_EXPLAIN_TEXT_H
#define BLOOMFAM_EXPLAIN_TEXT_H

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

#include "pg/compat.h"

/* Appends a list of strings, with commas between them. */
static inline void
append_names(StringInfo out, const List *names)
{
	const ListCell *lc;

	foreach(lc, names)
		appendStringInfo(out, "%s%s", lc == list_head(names) ? "" : ", ", (char *) lfirst(lc));
}

static inline bool
is_text(const ExplainState *es)
{
	return es->format == EXPLAIN_FORMAT_TEXT;
}

/* Begins a line with EXPLAIN's indentation. */
static inline void
indent(ExplainState *es)
{
	appendStringInfoSpaces(es->str, es->indent * 2);
}

#endif							/* BLOOMFAM_EXPLAIN_TEXT_H */
