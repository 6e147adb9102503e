/*-------------------------------------------------------------------------
 *
 * key_equality.c
 *	  Whether a type's equality is the one that hashes of its keys follow.
 *
 * Two operators are harmless.  One is the server's own =: the hashes of what it is for spell it
 * out.  The other is the equality of a base type's default operator class, whose hash function
 * goes with it.  Any other operator = that a query may mean makes the keys an error.
 *
 * Which one a query means depends on its search_path.  The one in effect when keys are hashed need
 * not be that of the query: a view or a function may have another.  So there also count, wherever
 * they are, the operators of those whose word has weight: the owner of a type that they take, a
 * superuser, and the user; and those in such a type's own schema.  What others have in their
 * schemas does not: it would deny keys to everybody.
 *
 * Of two types that an operator compares, only keys of one family matter, as others are an error.
 * If one of them is the server's own, only keys of the other are refused.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_oper.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pg/key_equality.h"
#include "pg/key_function.h"
#include "pg/key_scalar.h"
#include "pg/key_text.h"

static inline bool
is_servers_own(Oid object)
{
	return object < FirstNormalObjectId;
}

static List *
equality_name(void)
{
	return list_make1(makeString("="));
}

/*
 * Does the server give the type, which is no domain, the equality of its kind: of arrays, rows,
 * ranges, enums?  Else a base type, with an operator class for itself, or one that it takes.
 */
static bool
has_equality_of_kind(Oid type)
{
	return get_typtype(type) != TYPTYPE_BASE || OidIsValid(get_element_type(type));
}

/* ---- what two types have in common ---- */

static bool
is_row(Oid type)
{
	return type == RECORDOID || get_typtype(type) == TYPTYPE_COMPOSITE;
}

/* The type that an array, a range or a multirange is made of; 0 for others. */
static Oid
inner_type(Oid type)
{
	Oid			inner = get_element_type(type);

	if (!OidIsValid(inner))
		inner = get_range_subtype(type);
	return OidIsValid(inner) ? inner : get_multirange_range(type);
}

/* May keys of these types be of one family?  Where that is not known they may. */
static bool
may_share_family(Oid a, Oid b)
{
	const char *family_a;
	const char *family_b;

	check_stack_depth();

	a = getBaseType(a);
	b = getBaseType(b);
	if (a == b || (is_row(a) && is_row(b)))
		return true;
	if (get_typtype(a) == TYPTYPE_PSEUDO || get_typtype(b) == TYPTYPE_PSEUDO)
		return true;
	if (OidIsValid(inner_type(a)) && OidIsValid(inner_type(b)))
		return may_share_family(inner_type(a), inner_type(b));
	if (has_equality_of_kind(a) || has_equality_of_kind(b))
		return false;

	a = bloomfam_key_relabelled(a);
	b = bloomfam_key_relabelled(b);
	family_a = bloomfam_is_text(a) ? "text" : bloomfam_scalar_family(a);
	family_b = bloomfam_is_text(b) ? "text" : bloomfam_scalar_family(b);
	if (family_a == NULL || family_b == NULL)
		return a == b;			/* the name of such a family is the type's */
	return strcmp(family_a, family_b) == 0;
}

/* ---- which operators count ---- */

/* Does an operator compare keys of a type with each other, or with others of their family? */
static bool
compares(Form_pg_operator operator, Oid type)
{
	Oid			other;

	if (!OidIsValid(operator->oprleft) || !OidIsValid(operator->oprright))
		return false;
	if (operator->oprleft == type)
		other = operator->oprright;
	else if (operator->oprright == type)
		other = operator->oprleft;
	else
		return false;
	if (other == type)
		return true;
	return (!is_servers_own(type) || is_servers_own(other)) && may_share_family(type, other);
}

/* Is the operator the type's owner's, or where the type is? */
static bool
belongs_to(Form_pg_operator operator, Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Form_pg_type form;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return true;
	form = (Form_pg_type) GETSTRUCT(tuple);
	result = form->typowner == operator->oprowner || form->typnamespace == operator->oprnamespace;
	ReleaseSysCache(tuple);
	return result;
}

/* May a query mean this operator? */
static bool
counts(Form_pg_operator operator)
{
	Oid			left = operator->oprleft;
	Oid			right = operator->oprright;

	if (OpernameGetOprid(equality_name(), left, right) == operator->oid)
		return true;

	/* pg_catalog comes first on all search paths but those that name it */
	if (SearchSysCacheExists4(OPERNAMENSP, CStringGetDatum("="), ObjectIdGetDatum(left),
							  ObjectIdGetDatum(right), ObjectIdGetDatum(PG_CATALOG_NAMESPACE)))
		return false;

	return superuser_arg(operator->oprowner) || operator->oprowner == GetUserId() ||
		belongs_to(operator, left) || belongs_to(operator, right);
}

/* What the parser takes "=" for between two keys of a type: 0 if there is no operator. */
static Oid
resolve_equality(Oid type)
{
	Operator	tuple = oper(NULL, equality_name(), type, type, true, -1);
	Oid			operator = InvalidOid;

	if (tuple != NULL)
	{
		operator = oprid(tuple);
		ReleaseSysCache(tuple);
	}
	return operator;
}

/* An operator = of somebody's own, other than this one, that a query may mean; 0 if none. */
static Oid
find_other_equality(Oid type, Oid equality)
{
	Oid			base = getBaseType(type);
	Oid			result = resolve_equality(type);
	CatCList   *list;
	int			i;

	if (!is_servers_own(result) && result != equality)
		return result;

	result = InvalidOid;
	list = SearchSysCacheList1(OPERNAMENSP, CStringGetDatum("="));
	for (i = 0; i < list->n_members && !OidIsValid(result); i++)
	{
		Form_pg_operator form = (Form_pg_operator) GETSTRUCT(&list->members[i]->tuple);

		if (!is_servers_own(form->oid) && form->oid != equality &&
			(compares(form, type) || compares(form, base)) && counts(form))
			result = form->oid;
	}
	ReleaseSysCacheList(list);
	return result;
}

/* ---- the questions ---- */

static void equality_error(Oid type, Oid operator) pg_attribute_noreturn();

static void
equality_error(Oid type, Oid operator)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot hash keys of type %s", format_type_be(type)),
			 errdetail("Operator %s is an equality that the hash does not follow.",
					   format_operator(operator)),
			 errhint("Cast the key to a type that has no operator = of its own, such as text.")));
	pg_unreachable();
}

static Oid
default_equality(Oid type)
{
	return lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
}

void
bloomfam_equality_check_default(Oid type)
{
	Oid			base = getBaseType(type);
	Oid			equality;

	if (!has_equality_of_kind(base))
		return;
	equality = default_equality(base);
	if (OidIsValid(equality) && !is_servers_own(equality))
		equality_error(type, equality);
}

void
bloomfam_equality_check_named(Oid type)
{
	Oid			base = getBaseType(type);
	Oid			other;

	bloomfam_equality_check_default(type);
	other = find_other_equality(type, has_equality_of_kind(base) ? InvalidOid
								: default_equality(base));
	if (OidIsValid(other))
		equality_error(type, other);
}
