/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * fuzz_keys.c
 *	  Names of Parquet's columns, and stored numbers, from anywhere.
 *
 * The input is a name, and the type of a column.  It is a number, too: its first byte is the sign, the second precision and scale of a
 * decimal, the next four the weight, and the rest digits of base 10000, which may be larger than a server would store.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "keys/plain.h"

static void
name(const uint8_t *data, size_t size)
{
	char	   *bytes = (char *) fuzz_copy(data, size);
	char	   *text = test_malloc(size + 1);
	char		written[BF_PLAIN_MAX_NAME];
	BfPlainColumn column;
	BfPlainColumn again;

	memcpy(text, bytes, size);
	text[size] = '\0';
	if (bf_plain_of_family(bytes, size, &column))
	{
		MUST(bf_plain_write_name(&column, written) == size);
		MUST(memcmp(written, bytes, size) == 0);
	}
	if (bf_plain_parse(text, &column))
	{
		size_t		len = bf_plain_write_name(&column, written);

		MUST(len < sizeof(written) && strlen(written) == len);
		MUST(bf_plain_of_family(written, len, &again));
		MUST(memcmp(&column, &again, sizeof(column)) == 0);
		MUST(bf_plain_compatible(column.type, again.type));
	}
	free(text);
	free(bytes);
}

static void
number(const uint8_t *data, size_t size)
{
	BfNumeric	value = {.sign = (BfNumericSign) (data[0] % 5)};
	BfPlainColumn column = {0};
	int			precision = 1 + data[1] % BF_PLAIN_MAX_PRECISION;
	int			scale = data[1] / 7 % (precision + 1);
	uint8_t    *digits = fuzz_copy(data + 6, size - 6);
	bool		stored = true;	/* could a server have it? */
	__int128	integer;
	uint64_t	hash;
	size_t		i;

	value.weight = (int32_t) bf_load32(data + 2);
	if (data[1] & 1)
		value.weight %= 16;
	if (value.sign <= BF_NUMERIC_NEGATIVE)
	{
		value.digits = digits;
		value.ndigits = (size - 6) / 2;
	}
	for (i = 0; i < value.ndigits; i++)
		stored &= bf_numeric_digit(&value, i) < 10000;

	hash = bf_key_numeric(0, &value);
	MUST(bf_plain_set_decimal(&column, precision, scale));
	if (bf_numeric_unscaled(&value, precision, scale, &integer))
	{
		uint16_t	room[BF_NUMERIC_INT128_ROOM];
		BfNumeric	again;
		uint64_t	plain;
		uint64_t	plain_again;

		MUST(value.sign <= BF_NUMERIC_NEGATIVE);
		bf_numeric_of_int128(&again, integer, scale, room);
		MUST(!stored || bf_key_numeric(0, &again) == hash);
		MUST(bf_plain_numeric(&column, &value, &plain) && bf_plain_numeric(&column, &again, &plain_again));
		MUST(plain == plain_again);
	}
	free(digits);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	name(data, size);
	if (size >= 6)
		number(data, size);
	return 0;
}
