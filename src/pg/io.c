/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * io.c
 *	  Input and output of the type bloomfilter: text, binary, bytea.
 *
 * Every input function reads the whole value and checks it, with its checksum; nothing checks it
 * later.  Values of all kinds are accepted, including states of aggregates (kind "partial").  These
 * are sent like any value between the nodes of an engine that splits aggregates, and an input
 * function cannot tell where a value comes from.  What a value may be used for is decided when it
 * is opened (datum.h).  The text form is bytea's hex form, whatever bytea_output says.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "core/bf_format.h"
#include "pg/io.h"
#include "pg/port.h"

/*
 * The number of bytes that are written as text or read from it between two answers to interrupts,
 * which takes some ms.
 */
#define BYTES_PER_CHECK		((Size) 1024 * 1024)

PG_FUNCTION_INFO_V1(bloomfam_in);
PG_FUNCTION_INFO_V1(bloomfam_out);
PG_FUNCTION_INFO_V1(bloomfam_recv);
PG_FUNCTION_INFO_V1(bloomfam_send);
PG_FUNCTION_INFO_V1(bloomfam_from_bytea);
PG_FUNCTION_INFO_V1(bloomfam_to_bytea);

/*
 * To save loading a function, a type whose size or alignment is not bloomfilter's is refused first.
 */
bool
bloomfam_is_filter_type(Oid type)
{
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Oid			input;
	Oid			ioparam;
	FmgrInfo	finfo;

	type = getBaseType(type);
	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	if (typlen != -1 || typalign != TYPALIGN_DOUBLE || get_typtype(type) != TYPTYPE_BASE)
		return false;
	getTypeInputInfo(type, &input, &ioparam);
	fmgr_info(input, &finfo);
	return finfo.fn_addr == bloomfam_in;
}

/* Returns NULL if the bytes are a filter, and otherwise the reason why they are not. */
static const char *
invalid_reason(const void *data, Size len)
{
	BfView		view;
	const char *reason;

	return bf_validate(&bloomfam_port, data, len, &view, &reason) == BF_OK ? NULL : reason;
}

/* Raises the error 22P03 if a value that came as bytes is not a filter. */
static void
check_value(struct varlena *value)
{
	const char *reason = invalid_reason(VARDATA(value), VARSIZE(value) - VARHDRSZ);

	if (reason != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid bloom filter"),
				 errdetail("Reason: %s.", reason)));
}

/*
 * Returns the end of this number of hex digits, or of the text.  Blanks may be between pairs of
 * digits.
 */
static const char *
end_of_digits(const char *text, Size ndigits)
{
	for (; *text != '\0' && ndigits > 0; text++)
		ndigits -= *text != ' ' && *text != '\n' && *text != '\t' && *text != '\r';
	return text;
}

/*
 * bloomfilter_in(cstring) -> bloomfilter: strict, immutable.
 *
 * Raises 22P02 for anything but \x and the hex digits of a valid filter, as a soft error from
 * PostgreSQL 16 on.
 */
Datum
bloomfam_in(PG_FUNCTION_ARGS)
{
	char	   *str = PG_GETARG_CSTRING(0);
	Node	   *escontext = fcinfo->context;
	struct varlena *value;
	Size		len = 0;
	const char *piece;
	const char *end;
	const char *reason;

	if (str[0] != '\\' || str[1] != 'x')
		bloomfam_ereturn(escontext, (Datum) 0,
						 (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						  errmsg("invalid input syntax for type %s", "bloomfilter"),
						  errdetail("A bloom filter's text form begins with \"\\x\"."),
						  errhint("Make a filter of keys by bloom_agg, an empty one by "
								  "bloom_create.")));
	value = palloc(VARHDRSZ + strlen(str) / 2);
	for (piece = str + 2; *piece != '\0'; piece = end)
	{
		Size		nbytes;

		CHECK_FOR_INTERRUPTS();
		end = end_of_digits(piece, 2 * BYTES_PER_CHECK);
		if (!bloomfam_hex_decode(piece, end - piece, VARDATA(value) + len, escontext, &nbytes))
			PG_RETURN_NULL();
		len += nbytes;
	}
	SET_VARSIZE(value, VARHDRSZ + len);
	CHECK_FOR_INTERRUPTS();
	reason = invalid_reason(VARDATA(value), len);
	if (reason != NULL)
		bloomfam_ereturn(escontext, (Datum) 0,
						 (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						  errmsg("invalid bloom filter"),
						  errdetail("Reason: %s.", reason)));
	PG_RETURN_POINTER(value);
}

/*
 * bloomfilter_out(bloomfilter) -> cstring: strict, immutable.  Returns the text form, "\x" and hex
 * digits.
 */
Datum
bloomfam_out(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	Size		len = VARSIZE_ANY_EXHDR(value);
	char	   *str = palloc(2 + 2 * len + 1);
	Size		done;

	str[0] = '\\';
	str[1] = 'x';
	for (done = 0; done < len; done += BYTES_PER_CHECK)
	{
		CHECK_FOR_INTERRUPTS();
		hex_encode(VARDATA_ANY(value) + done, Min(BYTES_PER_CHECK, len - done),
				   str + 2 + 2 * done);
	}
	str[2 + 2 * len] = '\0';
	PG_RETURN_CSTRING(str);
}

/*
 * bloomfilter_recv(internal) -> bloomfilter: strict, immutable.  The binary form is the value's
 * bytes.  Raises 22P03 if they are not a filter.
 */
Datum
bloomfam_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int			len = buf->len - buf->cursor;
	struct varlena *value = palloc(VARHDRSZ + len);

	bloomfam_copy(VARDATA(value), pq_getmsgbytes(buf, len), len);
	SET_VARSIZE(value, VARHDRSZ + len);
	check_value(value);
	PG_RETURN_POINTER(value);
}

/*
 * bloomfilter_send(bloomfilter) -> bytea: strict, immutable.  Returns the binary form, the value's
 * bytes.
 */
Datum
bloomfam_send(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0)));
}

/*
 * bloomfilter(bytea) -> bloomfilter: strict, immutable.  This is the cast from bytea.  Raises 22P03
 * if the bytes are not a filter.
 */
Datum
bloomfam_from_bytea(PG_FUNCTION_ARGS)
{
	struct varlena *bytes = PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0));

	check_value(bytes);
	PG_RETURN_POINTER(bytes);
}

/* bytea(bloomfilter) -> bytea: strict, immutable.  This is the cast to bytea. */
Datum
bloomfam_to_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0)));
}
