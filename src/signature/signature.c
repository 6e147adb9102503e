/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * signature.c
 *	  Defines the index access method "signature": its table of functions, its storage options, and
 *	  the rules for its operator classes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "pg/index_key.h"
#include "signature/keys.h"
#include "signature/options.h"
#include "signature/signature.h"

PG_FUNCTION_INFO_V1(bloomfam_signature_handler);
PG_FUNCTION_INFO_V1(bloomfam_signature_ngrams);

static relopt_kind signature_relopt_kind;

void
bloomfam_signature_init(void)
{
	signature_relopt_kind = add_reloption_kind();
	add_int_reloption(signature_relopt_kind, "pages_per_range",
					  "Number of pages of the table that share a signature", 0, 0,
					  SIGNATURE_MAX_RANGE, AccessExclusiveLock);
	add_real_reloption(signature_relopt_kind, "bits_per_key",
					   "Bits of a signature for each different key of a range", 0, 0,
					   SIGNATURE_MAX_BITS_PER_KEY, AccessExclusiveLock);
	add_int_reloption(signature_relopt_kind, "ngram",
					  "Number of characters of an n-gram", SIGNATURE_DEFAULT_NGRAM,
					  SIGNATURE_MIN_NGRAM, SIGNATURE_MAX_NGRAM, AccessExclusiveLock);
}

static bytea *
signature_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt elements[] = {
		{"pages_per_range", RELOPT_TYPE_INT, offsetof(SignatureOptions, pages_per_range)},
		{"bits_per_key", RELOPT_TYPE_REAL, offsetof(SignatureOptions, bits_per_key)},
		{"ngram", RELOPT_TYPE_INT, offsetof(SignatureOptions, ngram)}
	};

	return (bytea *) build_reloptions(reloptions, validate, signature_relopt_kind,
									  sizeof(SignatureOptions), elements, lengthof(elements));
}

const SignatureOptions *
bloomfam_signature_options_of(Relation index)
{
	static const SignatureOptions defaults = {0, 0, 0, SIGNATURE_DEFAULT_NGRAM};

	return index->rd_options != NULL ? (const SignatureOptions *) index->rd_options : &defaults;
}

/*
 * Is a mark: an operator class with this function as its support function SIGNATURE_NGRAMS_PROC has
 * the n-grams of texts as keys.  It is never called.
 */
Datum
bloomfam_signature_ngrams(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("signature_ngrams() marks operator classes, and cannot be called")));
}

/* ---- validating operator classes ---- */

static void
complain(bool *valid, const char *class, const char *what)
{
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator class \"%s\" of access method %s %s", class, "signature", what)));
	*valid = false;
}

/* Returns whether a support function has the argument types and the result that it must have. */
static bool
proc_is_sane(const FormData_pg_amproc *proc, Oid input, Oid key)
{
	switch (proc->amprocnum)
	{
		case SIGNATURE_COMPARE_PROC:
			return check_amproc_signature(proc->amproc, INT4OID, false, 2, 2, key, key);
		case SIGNATURE_EXTRACT_VALUE_PROC:
			return check_amproc_signature(proc->amproc, INTERNALOID, false, 2, 3, input,
										  INTERNALOID, INTERNALOID);
		case SIGNATURE_EXTRACT_QUERY_PROC:
			return check_amproc_signature(proc->amproc, INTERNALOID, false, 5, 7, input,
										  INTERNALOID, INT2OID, INTERNALOID, INTERNALOID,
										  INTERNALOID, INTERNALOID);
		case SIGNATURE_CONSISTENT_PROC:
			return check_amproc_signature(proc->amproc, BOOLOID, false, 6, 8, INTERNALOID, INT2OID,
										  input, INT4OID, INTERNALOID, INTERNALOID, INTERNALOID,
										  INTERNALOID);
		case SIGNATURE_COMPARE_PARTIAL_PROC:
			return check_amproc_signature(proc->amproc, INT4OID, false, 4, 4, key, key, INT2OID,
										  INTERNALOID);
		case SIGNATURE_TRI_CONSISTENT_PROC:
			return check_amproc_signature(proc->amproc, CHAROID, false, 7, 7, INTERNALOID, INT2OID,
										  input, INT4OID, INTERNALOID, INTERNALOID, INTERNALOID);
		case SIGNATURE_NGRAMS_PROC:
			return input == TEXTOID &&
				check_amproc_signature(proc->amproc, INTERNALOID, true, 1, 1, INTERNALOID);
		default:
			return false;
	}
}

static bool
operator_is_sane(const FormData_pg_amop *amop, bool is_scalar)
{
	return amop->amoppurpose == AMOP_SEARCH &&
		check_amop_signature(amop->amopopr, BOOLOID, amop->amoplefttype, amop->amoprighttype) &&
		(!is_scalar ||
		 (amop->amopstrategy == 1 &&
		  bloomfam_index_is_equality(amop->amopopr, amop->amoplefttype, amop->amoprighttype)));
}

static bool
signature_validate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass form;
	char	   *name;
	Oid			family;
	Oid			type;
	Oid			key;
	CatCList   *list;
	uint32		procs = 0;
	bool		is_scalar;
	bool		valid = true;
	int			i;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	family = form->opcfamily;
	type = form->opcintype;
	key = OidIsValid(form->opckeytype) ? form->opckeytype : type;
	name = pstrdup(NameStr(form->opcname));
	ReleaseSysCache(tuple);

	list = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
	for (i = 0; i < list->n_members; i++)
	{
		Form_pg_amproc proc = (Form_pg_amproc) GETSTRUCT(&list->members[i]->tuple);

		if (proc->amproclefttype != type)
			continue;
		procs |= UINT32_C(1) << proc->amprocnum;
		if (!proc_is_sane(proc, type, key))
			complain(&valid, name, psprintf("cannot have function %s as number %d",
											format_procedure(proc->amproc), proc->amprocnum));
	}
	ReleaseCatCacheList(list);
	is_scalar = procs == 0;
	if (!is_scalar && procs != UINT32_C(1) << SIGNATURE_NGRAMS_PROC &&
		((procs & UINT32_C(1) << SIGNATURE_EXTRACT_VALUE_PROC) == 0 ||
		 (procs & UINT32_C(1) << SIGNATURE_EXTRACT_QUERY_PROC) == 0 ||
		 (procs & (UINT32_C(1) << SIGNATURE_CONSISTENT_PROC |
				   UINT32_C(1) << SIGNATURE_TRI_CONSISTENT_PROC)) == 0))
		complain(&valid, name, "is missing support function(s)");

	list = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	for (i = 0; i < list->n_members; i++)
	{
		Form_pg_amop amop = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);

		if (!operator_is_sane(amop, is_scalar))
			complain(&valid, name, psprintf("cannot have operator %s",
											format_operator(amop->amopopr)));
	}
	if (list->n_members == 0)
		complain(&valid, name, "is missing operator(s)");
	ReleaseCatCacheList(list);
	return valid;
}

/* Fields that are not set are false or NULL in every version of the server. */
static const IndexAmRoutine signature_am = {
	.type = T_IndexAmRoutine,
	.amstrategies = 0,
	.amsupport = SIGNATURE_PROCS,
	.amcanmulticol = true,
	.amoptionalkey = true,
	.amsearcharray = true,
	.amstorage = true,
	BLOOMFAM_AM_IS_SUMMARIZING
	.amparallelvacuumoptions = VACUUM_OPTION_NO_PARALLEL,
	.amkeytype = InvalidOid,

	.ambuild = bloomfam_signature_build,
	.ambuildempty = bloomfam_signature_buildempty,
	.aminsert = bloomfam_signature_insert,
	.ambulkdelete = bloomfam_signature_bulkdelete,
	.amvacuumcleanup = bloomfam_signature_vacuumcleanup,
	.amcostestimate = bloomfam_signature_costestimate,
	.amoptions = signature_options,
	.amvalidate = signature_validate,
	.ambeginscan = bloomfam_signature_beginscan,
	.amrescan = bloomfam_signature_rescan,
	.amgetbitmap = bloomfam_signature_getbitmap,
	.amendscan = bloomfam_signature_endscan,
};

Datum
bloomfam_signature_handler(PG_FUNCTION_ARGS)
{
	return bloomfam_index_am(&signature_am);
}
