/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_equality.c
 *	  Checks whether a type's equality is the one that hashes of its keys follow.
 *
 * Two operators = are harmless.  One is the server's own, whose meaning is built into the hashes of
 * its types.  The other is the equality of a base type's default operator class, whose hash
 * function goes with it.  Any other operator = that a query may mean makes the keys an error.
 *
 * Which operator a query means depends on its search_path.  The path in effect when keys are hashed
 * need not be the query's: a view or a function may have another.  So operators of some owners
 * count wherever they are: those of the owner of the keys' type, of a superuser, and of the user.
 * Operators in the type's own schema count, too.  Those that other users have in their schemas do
 * not count, whatever they compare: they would deny keys to everybody.
 *
 * Base types of the server have operators for all types of their family.  The parser prefers these
 * to all operators that do not take a key's type exactly.  Other keys may be coerced to an
 * operator's types.  So all operators count that they can be coerced to: polymorphic ones, and
 * those of domains of any level.
 *
 * All operators of the name are examined, and users may have made many, so the answer is kept.
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
#include "parser/parse_coerce.h"
#include "parser/parse_oper.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pg/key_equality.h"
#include "pg/key_function.h"
#include "pg/key_scalar.h"
#include "pg/key_text.h"

/*
 * The answer whether a type's keys can be hashed is not kept for later calls if the search path has
 * this many schemas or more.
 */
#define MAX_PATH 16

/* The maximum number of types' answers that are kept in a session. */
#define MAX_ANSWERS 1024

/*
 * What the answer whether a type's keys can be hashed depends on, except for the contents of
 * catalogs.  It is the key of the table of answers, and compared byte by byte.
 */
typedef struct EqualityQuestion
{
	Oid			type;
	Oid			user;
	int			path_len;		/* The number of schemas in path, at most MAX_PATH. */

	/* The search path without the temporary schema; unused elements are 0. */
	Oid			path[MAX_PATH];
} EqualityQuestion;

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
 * Returns whether the server gives the type, which is not a domain, the equality of arrays, rows,
 * ranges or enums.  Otherwise it is a base type with an operator class for itself, or one that it
 * takes.
 */
static bool
has_equality_of_kind(Oid type)
{
	return get_typtype(type) != TYPTYPE_BASE || OidIsValid(get_element_type(type));
}

/* ---- types that may be of one family ---- */

static bool
is_row(Oid type)
{
	return type == RECORDOID || get_typtype(type) == TYPTYPE_COMPOSITE;
}

/*
 * Returns the type that an array, a range or a multirange is made of; InvalidOid for other types.
 */
static Oid
inner_type(Oid type)
{
	Oid			inner = get_element_type(type);

	if (!OidIsValid(inner))
		inner = get_range_subtype(type);
	return OidIsValid(inner) ? inner : get_multirange_range(type);
}

/*
 * Returns whether keys of these two types may be of one key family.  Returns true if that is not
 * known.
 */
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
		return a == b;			/* The family of any other type is named after the type itself. */
	return strcmp(family_a, family_b) == 0;
}

/* ---- operators that count ---- */

/*
 * Returns whether keys of a type of the server have operators of the server for all of their
 * family.  The exceptions, varchar and cidr, have them for the preferred type that they are a form
 * of.
 */
static bool
has_servers_operators(Oid base)
{
	/*
	 * Anonymous rows, and literals within them, are treated alike: if such a key is coerced to a
	 * type, it is the check of that type that refuses operators.
	 */
	return is_servers_own(base) &&
		(get_typtype(base) == TYPTYPE_PSEUDO || !has_equality_of_kind(base));
}

/* Returns whether an operator takes keys of exactly this type, and others of their family. */
static bool
takes_exactly(Form_pg_operator operator, Oid type)
{
	Oid			other;

	if (operator->oprleft == type)
		other = operator->oprright;
	else if (operator->oprright == type)
		other = operator->oprleft;
	else
		return false;
	if (other == type)
		return true;

	/*
	 * If keys of a server's type and of a user's type are compared, it suffices to refuse keys of
	 * the user's type.
	 */
	return (!is_servers_own(type) || is_servers_own(other)) && may_share_family(type, other);
}

/*
 * Returns whether the parser may coerce a key of a type, which is not a domain, to an operator's
 * type.
 */
static bool
reaches(Oid base, Oid operand)
{
	return can_coerce_type(1, &base, &operand, COERCION_IMPLICIT) &&
		(has_equality_of_kind(base) || may_share_family(base, operand));
}

/*
 * Returns whether an operator may compare keys of a type with each other, or with others of their
 * family.
 */
static bool
compares(Form_pg_operator operator, Oid type, Oid base)
{
	Oid			left = operator->oprleft;
	Oid			right = operator->oprright;
	bool		left_reached;
	bool		right_reached;

	if (!OidIsValid(left) || !OidIsValid(right))
		return false;
	if (has_servers_operators(base))
		return takes_exactly(operator, type) || takes_exactly(operator, base);

	left_reached = reaches(base, left);
	right_reached = reaches(base, right);
	return (left_reached && (right_reached || may_share_family(base, right))) ||
		(right_reached && may_share_family(base, left));
}

/* Returns whether an operator's schema is one of those in which operators are looked up. */
static bool
is_on_path(const EqualityQuestion *question, Form_pg_operator operator)
{
	int			i;

	for (i = 0; i < question->path_len; i++)
		if (question->path[i] == operator->oprnamespace)
			return true;
	return question->path_len == MAX_PATH && OperatorIsVisible(operator->oid);
}

/*
 * Returns whether the operator has the type's owner or is in the type's schema.  For a domain, the
 * types at each level count.
 */
static bool
belongs_to(Form_pg_operator operator, Oid type)
{
	bool		result = false;

	while (!result && OidIsValid(type))
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
		Form_pg_type form;

		if (!HeapTupleIsValid(tuple))
			return true;
		form = (Form_pg_type) GETSTRUCT(tuple);
		result = form->typowner == operator->oprowner ||
			form->typnamespace == operator->oprnamespace;
		type = form->typtype == TYPTYPE_DOMAIN ? form->typbasetype : InvalidOid;
		ReleaseSysCache(tuple);
	}
	return result;
}

/*
 * Returns whether an operator = must be considered because of its schema or its owner; see the
 * comment at the head of key_equality.c.
 */
static bool
has_weight(const EqualityQuestion *question, Form_pg_operator operator)
{
	return is_on_path(question, operator) ||
		operator->oprowner == question->user || belongs_to(operator, question->type) ||
		superuser_arg(operator->oprowner);
}

/*
 * Returns whether pg_catalog has an operator for the same types that the search path finds before
 * this one. pg_catalog comes first on all search paths except those that name it.
 */
static bool
is_behind_catalog(Form_pg_operator operator)
{
	Oid			left = operator->oprleft;
	Oid			right = operator->oprright;

	return SearchSysCacheExists4(OPERNAMENSP, CStringGetDatum("="), ObjectIdGetDatum(left),
								 ObjectIdGetDatum(right),
								 ObjectIdGetDatum(PG_CATALOG_NAMESPACE)) &&
		OpernameGetOprid(equality_name(), left, right) != operator->oid;
}

/*
 * Returns the operator that the parser takes "=" for between two keys of a type; InvalidOid if
 * there is none.
 */
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

/*
 * Returns a user's operator =, other than this one, that a query may mean; InvalidOid if there is
 * none.  An unqualified name finds no operator in temporary schemas.  The most expensive conditions
 * come last, as users may have made many operators.
 */
static Oid
find_other_equality(const EqualityQuestion *question, Oid equality)
{
	Oid			base = getBaseType(question->type);
	Oid			result = resolve_equality(question->type);
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
			has_weight(question, form) && !isAnyTempNamespace(form->oprnamespace) &&
			compares(form, question->type, base) && !is_behind_catalog(form))
			result = form->oid;
	}
	ReleaseSysCacheList(list);
	return result;
}

/* ---- answers that are kept ---- */

/*
 * The questions whose answer was that no other operator = may be meant.  Other answers are errors,
 * and are not kept.
 */
static HTAB *answers = NULL;
static uint64 answers_age;

/* Counts changes of catalogs that may make a kept answer wrong. */
static uint64 catalog_age = 0;

static void
catalog_changed(Datum arg, int cache_id, uint32 hash_value)
{
	catalog_age++;
}

/*
 * Empties the table of kept answers if a catalog has changed since it was made, or if it is full.
 */
static void
prepare_answers(void)
{
	/* pg_attribute is included, as nothing else shows that a row type inherits another. */
	static const int caches[] = {OPEROID, TYPEOID, AUTHOID, NAMESPACEOID, CASTSOURCETARGET, CLAOID,
	AMOPOPID, ATTNUM};
	static bool watching = false;
	HASHCTL		control;
	size_t		i;

	for (i = 0; !watching && i < lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], catalog_changed, (Datum) 0);
	watching = true;

	if (answers != NULL && answers_age == catalog_age &&
		hash_get_num_entries(answers) < MAX_ANSWERS)
		return;
	if (answers != NULL)
		hash_destroy(answers);
	answers = NULL;

	memset(&control, 0, sizeof(control));
	control.keysize = sizeof(EqualityQuestion);
	control.entrysize = sizeof(EqualityQuestion);
	answers = hash_create("bloomfam equalities", 64, &control, HASH_ELEM | HASH_BLOBS);
	answers_age = catalog_age;
}

/* ---- checking a type's equality ---- */

static void equality_error(Oid type, Oid operator) pg_attribute_noreturn();

static void
equality_error(Oid type, Oid operator)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot hash keys of type %s", format_type_be(type)),
			 errdetail("Operator %s is an equality that the hash does not follow.",
					   format_operator(operator)),
			 errhint("Drop the operator, or cast the key to a type whose own equality is meant.")));
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
	EqualityQuestion question;
	Oid			base;
	Oid			other;

	memset(&question, 0, sizeof(question));
	question.type = type;
	question.user = GetUserId();
	question.path_len = Min(fetch_search_path_array(question.path, MAX_PATH), MAX_PATH);

	prepare_answers();
	if (hash_search(answers, &question, HASH_FIND, NULL) != NULL)
		return;

	bloomfam_equality_check_default(type);
	base = getBaseType(type);
	other = find_other_equality(&question, has_equality_of_kind(base) ? InvalidOid
								: default_equality(base));
	if (OidIsValid(other))
		equality_error(type, other);

	/*
	 * Keep no answer if the search path may be longer than the question can hold, or if a catalog
	 * changed while the answer was being found.
	 */
	if (question.path_len < MAX_PATH && answers_age == catalog_age)
		(void) hash_search(answers, &question, HASH_ENTER, NULL);
}
