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

#include "pg/params.h"
#include "pg/port.h"

const BfKind *
bloomfam_kind_arg(text *name)
{
	char	   *str = text_to_cstring(name);
	const BfKind *kind = bf_kind_by_name(str);
	StringInfoData list;
	size_t		i;

	if (kind != NULL && !(kind->caps & BF_INTERNAL))
	{
		pfree(str);
		return kind;
	}

	initStringInfo(&list);
	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
		if (!(kind->caps & BF_INTERNAL))
			appendStringInfo(&list, "%s\"%s\"", i > 0 ? ", " : "", kind->name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized kind of bloom filter: \"%s\"", str),
			 errhint("Available kinds: %s.", list.data)));
}

/*
 * strtod decides only whether it is a number, by the syntax that float8in shares with it; what
 * number, and whether it is in range, is float8in's to say.
 */
bool
bloomfam_text_is_fpr(text *arg, double *fpr)
{
	char	   *str = text_to_cstring(arg);
	char	   *end;
	bool		is_number;

	(void) strtod(str, &end);
	is_number = end != str && end[strspn(end, " \t\n\v\f\r")] == '\0';
	if (is_number)
		*fpr = DatumGetFloat8(DirectFunctionCall1(float8in, CStringGetDatum(str)));
	pfree(str);
	return is_number;
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
