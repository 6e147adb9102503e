/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * params.c
 *	  What a user asks for, as a design and a plan, or an error that says what is wrong with it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/formatting.h"

#include "pg/params.h"
#include "pg/port.h"

/* The kind of this name, in letters of either case, that users may ask for; NULL: none. */
static const BfKind *
find_kind(const char *name)
{
	char	   *lower = asc_tolower(name, strlen(name));
	const BfKind *kind = bf_kind_by_name(lower);

	pfree(lower);
	return kind != NULL && !(kind->caps & BF_INTERNAL) ? kind : NULL;
}

static void kind_error(const char *name, const char *detail, const char *advice)
	pg_attribute_noreturn();

/* Raises the error for a text that is no kind; detail and advice may be NULL. */
static void
kind_error(const char *name, const char *detail, const char *advice)
{
	StringInfoData list;
	const BfKind *kind;
	size_t		i;

	initStringInfo(&list);
	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
		if (!(kind->caps & BF_INTERNAL))
			appendStringInfo(&list, "%s\"%s\"", i > 0 ? ", " : "", kind->name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized kind of bloom filter: \"%s\"", name),
			 detail != NULL ? errdetail("%s", detail) : 0,
			 errhint("Available kinds: %s.%s%s", list.data, advice != NULL ? "  " : "",
					 advice != NULL ? advice : "")));
	pg_unreachable();
}

const BfKind *
bloomfam_kind_arg(text *name)
{
	char	   *str = text_to_cstring(name);
	const BfKind *kind = find_kind(str);

	if (kind == NULL)
		kind_error(str, NULL, NULL);
	pfree(str);
	return kind;
}

/*
 * strtod decides only whether it is a number, by the syntax that float8in shares with it; what
 * number, and whether it is in range, is float8in's to say.
 */
void
bloomfam_kind_or_fpr_arg(text *arg, const char *advice, const BfKind **kind, double *fpr)
{
	char	   *str = text_to_cstring(arg);
	char	   *end;

	(void) strtod(str, &end);
	if (end != str && end[strspn(end, " \t\n\v\f\r")] == '\0')
		*fpr = DatumGetFloat8(DirectFunctionCall1(float8in, CStringGetDatum(str)));
	else
	{
		*kind = find_kind(str);
		if (*kind == NULL)
			kind_error(str, "As text, this argument is a kind or a false positive rate.", advice);
	}
	pfree(str);
}

/*
 * A design takes up to 0.1 ms, and follows from kind and rate alone: the last one is kept, for
 * those who make many filters and have no place to keep it.
 */
void
bloomfam_design(const BfKind *kind, double fpr, BfDesign *design)
{
	static BfDesign last;		/* kind NULL: none */
	BfStatus	status;

	if (last.kind != kind || last.fpr != fpr)
	{
		last.kind = NULL;
		status = bf_design(kind, fpr, &last);
		if (status != BF_OK)
		{
			last.kind = NULL;
			bloomfam_params_error(status, kind, fpr, 0);
		}
	}
	*design = last;
}

void
bloomfam_plan(const BfDesign *design, uint64 keys, BfHeader *head)
{
	BfStatus	status = bf_plan(design, keys, head);

	if (status != BF_OK)
		bloomfam_params_error(status, design->kind, design->fpr, keys);
}

uint64
bloomfam_expected_arg(int64 expected)
{
	if (expected < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected number of keys must be at least 1")));
	return (uint64) expected;
}
