/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * remote_types.c
 *	  Lists the types whose keys may be sent to a foreign server, and the remote types they are
 *	  compared with.
 *
 * Keys of a type that is not listed are not sent.  A filter has hashes, which are made of bytes
 * that are alike on every server.  Keys that are sent as plain values are read there by the type's
 * input function, and compared by its equality operator.  So fewer types are sent as plain values.
 * Types are excluded whose text does not reproduce the value to the last bit (float4, float8), or
 * whose equality ignores a part of values that arrive here from a column of another type (bpchar).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"

#include "join/fdw/remote_types.h"

typedef struct ForeignType
{
	Oid			type;

	/*
	 * The remote types whose values arrive here as this type with the hash that they have there, as
	 * a list of constants in SQL.  An int8 that is too large to be an int2 does not arrive at all;
	 * but a float4 that arrives as a float8 is a different number.
	 */
	const char *filter;
	JoinClear	clear;

	/*
	 * Types of the same group may be compared with each other across servers: a value of one that
	 * is sent as another arrives unchanged.
	 */
	Oid			group;
} ForeignType;

#define INTEGERS	"'int2'::regtype, 'int4'::regtype, 'int8'::regtype"
#define TEXTS		"'text'::regtype, 'varchar'::regtype"

static const ForeignType foreign_types[] = {
	{INT2OID, INTEGERS, JOIN_CLEAR_KEYS_AND_BOUNDS, INT8OID},
	{INT4OID, INTEGERS, JOIN_CLEAR_KEYS_AND_BOUNDS, INT8OID},
	{INT8OID, INTEGERS, JOIN_CLEAR_KEYS_AND_BOUNDS, INT8OID},
	{TEXTOID, TEXTS, JOIN_CLEAR_KEYS, TEXTOID},
	{VARCHAROID, TEXTS, JOIN_CLEAR_KEYS, TEXTOID},
	{BPCHAROID, "'bpchar'::regtype", JOIN_CLEAR_NOTHING, BPCHAROID},
	{NUMERICOID, "'numeric'::regtype", JOIN_CLEAR_KEYS_AND_BOUNDS, NUMERICOID},
	{FLOAT4OID, "'float4'::regtype", JOIN_CLEAR_NOTHING, FLOAT4OID},
	{FLOAT8OID, "'float8'::regtype", JOIN_CLEAR_NOTHING, FLOAT8OID},
	{UUIDOID, "'uuid'::regtype", JOIN_CLEAR_KEYS_AND_BOUNDS, UUIDOID},
	{DATEOID, "'date'::regtype", JOIN_CLEAR_KEYS_AND_BOUNDS, DATEOID},
	{TIMEOID, "'time'::regtype", JOIN_CLEAR_KEYS_AND_BOUNDS, TIMEOID},
	{TIMESTAMPOID, "'timestamp'::regtype", JOIN_CLEAR_KEYS_AND_BOUNDS, TIMESTAMPOID},
	{TIMESTAMPTZOID, "'timestamptz'::regtype", JOIN_CLEAR_KEYS_AND_BOUNDS, TIMESTAMPTZOID},
	{BYTEAOID, "'bytea'::regtype", JOIN_CLEAR_KEYS, BYTEAOID},
	{OIDOID, "'oid'::regtype", JOIN_CLEAR_KEYS_AND_BOUNDS, OIDOID},
	{INETOID, "'inet'::regtype", JOIN_CLEAR_KEYS, INETOID},
	{MACADDROID, "'macaddr'::regtype", JOIN_CLEAR_KEYS, MACADDROID},
	{MACADDR8OID, "'macaddr8'::regtype", JOIN_CLEAR_KEYS, MACADDR8OID},
};

static const ForeignType *
find_foreign_type(Oid type)
{
	size_t		i;

	for (i = 0; i < lengthof(foreign_types); i++)
		if (foreign_types[i].type == type)
			return &foreign_types[i];
	return NULL;
}

const char *
bloomfam_join_remote_types_of_filter(Oid type)
{
	const ForeignType *known = find_foreign_type(type);

	return known != NULL ? known->filter : NULL;
}

JoinClear
bloomfam_join_remote_clear(Oid key, Oid build)
{
	const ForeignType *known = find_foreign_type(key);
	const ForeignType *other = find_foreign_type(build);

	if (known == NULL || other == NULL || known->group != other->group)
		return JOIN_CLEAR_NOTHING;
	return known->clear;
}

bool
bloomfam_join_remote_agrees(Oid key, Oid remote)
{
	return bloomfam_join_remote_clear(key, remote) != JOIN_CLEAR_NOTHING;
}
