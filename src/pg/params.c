/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * params.c
 *	  Turns what a user asks for into a design and a plan, or raises an error that says what is
 *	  wrong.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/formatting.h"

#include "pg/params.h"
#include "pg/port.h"

/*
 * Returns the kind of this name, in letters of either case, if users may ask for it; otherwise
 * NULL.
 */
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

/* Raises the error for a text that is not a kind; detail and advice may be NULL. */
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
 * strtod() decides only whether the text is a number, as its syntax is that of float8in().  The
 * number's value, and whether it is in range, is decided by float8in().
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
 * Making a design takes up to 0.1 ms, and it depends only on kind and rate.  The last one is kept,
 * for callers that make many filters and cannot keep it themselves.
 */
void
bloomfam_design(const BfKind *kind, double fpr, BfDesign *design)
{
	/* The design that was made last; its kind is NULL if there is none. */
	static BfDesign last;
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
