/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_keys.c
 *	  src/keys: equal keys have equal bytes, those of docs/format.md, whatever code hashes them.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#include "keys/family.h"
#include "keys/key_hash.h"
#include "keys/numeric.h"

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

/*
 * Checks a hash computed outside the server against the server's hash, as given by docs/format.md.
 */
#define GOLDEN(hash, expected) \
	CHECKF((hash) == UINT64_C(expected), "%s: %016" PRIx64, #hash, (uint64_t) (hash))

/* Returns the hash of a number in decimal text, which may have a sign, a point, and an exponent. */
static uint64_t
numeric_of_text(const char *text)
{
	uint16_t	room[BF_NUMERIC_ROOM(2000)];
	BfNumeric	number;
	bool		negative = *text == '-';
	size_t		len = strcspn(text += negative, "e");

	bf_numeric_of_text(&number, negative, text, len, text[len] == 'e' ? atoi(text + len + 1) : 0, room);
	return bf_key_numeric(0, &number);
}

static uint64_t
numeric_sign(BfNumericSign sign)
{
	BfNumeric	number = {.sign = sign};

	return bf_key_numeric(0, &number);
}

/* Checks hashes against the vectors of expected/keys_golden.out. */
static void
golden(void)
{
	static const uint8_t uuid[16] = {0xa0, 0xee, 0xbc, 0x99, 0x9c, 0x0b, 0x4e, 0xf8, 0xbb, 0x6d, 0x6b, 0xb9, 0xbd, 0x38, 0x0a, 0x11};
	static const uint8_t mac[8] = {8, 0, 0x2b, 1, 2, 3, 4, 5};
	static const uint8_t address4[4] = {10, 1, 2, 3};
	static const uint8_t network4[4] = {10, 0, 0, 0};
	static const uint8_t address6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
	static const uint8_t bits[1] = {0xa0};
	char		many[300];

	memset(many, 'x', sizeof(many));

	GOLDEN(bf_key_int(0, 0), 0xc77b3abb6f87acd9);
	GOLDEN(bf_key_int(0, 1), 0x2fbc593564db792e);
	GOLDEN(bf_key_int(0, -1), 0x5111c7e47d784413);
	GOLDEN(bf_key_int(0, 42), 0xd5a6f8c838df27c8);
	GOLDEN(bf_key_int(0, INT64_MAX), 0xa233cf376558df46);
	GOLDEN(bf_key_double(0, 0.0), 0xc77b3abb6f87acd9);
	GOLDEN(bf_key_double(0, -0.0), 0xc77b3abb6f87acd9);
	GOLDEN(bf_key_double(0, (double) 1.5f), 0x2561a4889ff63458);
	GOLDEN(bf_key_double(0, 0.1), 0xc9d73e6076fe03cd);
	GOLDEN(bf_key_double(0, (double) NAN), 0x0aa61dcfa381c167);
	GOLDEN(bf_key_double(0, -(double) NAN), 0x0aa61dcfa381c167);
	GOLDEN(bf_key_double(0, -(double) INFINITY), 0x966b04ab6a2f4836);
	GOLDEN(bf_key_text(0, "", 0), 0x2d06800538d394c2);
	GOLDEN(bf_key_text(0, "a", 1), 0xe6c632b61e964e1f);
	GOLDEN(bf_key_text(0, "a   ", 4), 0xe6c632b61e964e1f);
	GOLDEN(bf_key_text(0, "\xc3\xa9\xe6\x97\xa5", 5), 0xe9dd022a21af4f43);
	GOLDEN(bf_key_text(0, many, sizeof(many)), 0xa5d1b4607dc83554);
	GOLDEN(numeric_of_text("0.00"), 0xc44bdff4074eecdb);
	GOLDEN(numeric_of_text("-0"), 0xc44bdff4074eecdb);
	GOLDEN(numeric_of_text("1.0"), 0xedc93b4ed541f087);
	GOLDEN(numeric_of_text("-1.5"), 0xd2ad6d485b7829ea);
	GOLDEN(numeric_of_text("10000.0"), 0xda7ac59e88a20d9b);
	GOLDEN(numeric_of_text("0.0001"), 0x33dc90cbcae9261e);
	GOLDEN(numeric_of_text("1234567890.0987654321"), 0x237600ee88145b58);
	GOLDEN(numeric_of_text("1e400"), 0xf8a30e562a11ac7a);
	GOLDEN(numeric_of_text("1e-400"), 0x3bc75a2b07d1286d);
	GOLDEN(numeric_sign(BF_NUMERIC_NAN), 0xc9f42e6c9e93dfff);
	GOLDEN(numeric_sign(BF_NUMERIC_INFINITY), 0x13e608bc156defed);
	GOLDEN(numeric_sign(BF_NUMERIC_MINUS_INFINITY), 0x73b2284b32bf8672);
	GOLDEN(bf_key_bool(0, true), 0xe12ef9d2eb86ceeb);
	GOLDEN(bf_key_bool(0, false), 0xc44bdff4074eecdb);
	GOLDEN(bf_key_bytes(0, "\0\1\377", 3), 0x8af97d207880c972);
	GOLDEN(bf_key_uuid(0, uuid), 0x55df69482c6d3767);
	GOLDEN(bf_key_4_bytes(0, 1), 0xdb02334e96d65708);	/* 2000-01-02; oid 1 */
	GOLDEN(bf_key_4_bytes(0, (uint32_t) -1), 0xcd6b1c920d3f662c);	/* 1999-12-31 */
	GOLDEN(bf_key_4_bytes(0, (uint32_t) BF_KEY_DATE_INFINITY), 0x55506669e60fb0ff);
	GOLDEN(bf_key_8_bytes(0, ((12 * 60 + 34) * 60 + 56) * UINT64_C(1000000) + 789000), 0x62e4f13cc9bfbc7b);
	GOLDEN(bf_key_timetz(0, ((12 * 60 + 34) * 60 + 56) * INT64_C(1000000) + 789000, -7200), 0x78bbb8a415f57203);
	/* 2024-02-29 12:00: 1709208000 seconds in Unix' time */
	GOLDEN(bf_key_8_bytes(0, (uint64_t) (INT64_C(1709208000000000) - BF_KEY_EPOCH_USECS)), 0x62bd5fb8a030f1f2);
	GOLDEN(bf_key_interval(0, 1, 0, 0), 0x37fb0f4464396598);
	GOLDEN(bf_key_interval(0, 0, 30, 0), 0x37fb0f4464396598);
	GOLDEN(bf_key_interval(0, 0, 0, -1000000), 0x83a75ca50aba8db1);
	GOLDEN(bf_key_inet(0, 4, 32, address4), 0xef3700aa71aa7591);
	GOLDEN(bf_key_inet(0, 4, 8, network4), 0x54ec07595ce79c24);
	GOLDEN(bf_key_inet(0, 6, 64, address6), 0xc8ea51d612c79e57);
	GOLDEN(bf_key_macaddr(0, mac), 0xd6f980e14eff2ef8);
	GOLDEN(bf_key_macaddr8(0, mac), 0x2a5f33b8573bdb93);
	GOLDEN(bf_key_char(0, 'a'), 0xe6c632b61e964e1f);
	GOLDEN(bf_key_8_bytes(0, UINT64_C(0x16B374D848)), 0x6af12a37898e179c);
	GOLDEN(bf_key_bit(0, 3, bits, 1), 0x3e4bb78f8a61dd7d);
}

/*
 * Checks that an interval is hashed by its length, for which the server's type allows more than 64
 * bits.
 */
static void
intervals(void)
{
	CHECK(bf_key_interval(0, INT32_MAX, INT32_MAX, INT64_MAX) ==
		  bf_key_interval_span(0, (__int128) 86400000000 * 31 * INT32_MAX + INT64_MAX));
	CHECK(bf_key_interval(0, INT32_MIN, INT32_MIN, INT64_MIN) ==
		  bf_key_interval_span(0, (__int128) 86400000000 * 31 * INT32_MIN + INT64_MIN));
	CHECK(bf_key_interval(7, -1, 30, 5) == bf_key_interval_span(7, 5));
}

/*
 * Checks that a seed changes hashes, that values with the same bytes have equal hashes under a
 * seed, too, and that seed 0 means no seed.
 */
static void
seeds(void)
{
	int64_t		value = (int64_t) test_random();
	BfNumeric	number = {.ndigits = 1, .digits = (const uint16_t[]) {1}};

	CHECK(bf_key_int(1, value) != bf_key_int(0, value));
	CHECK(bf_key_int(0, value) == bf_hash_u64((uint64_t) value));
	CHECK(bf_key_text(1, "a ", 2) == bf_key_bytes(1, "a", 1));
	CHECK(bf_key_text(1, "a", 1) != bf_key_text(0, "a", 1));
	CHECK(bf_key_numeric(1, &number) != bf_key_numeric(0, &number));
	CHECK(bf_key_bit(1, 8, "a", 1) != bf_key_bit(0, 8, "a", 1));
}

/* ---- numeric ---- */

/*
 * Computes the canonical bytes of a numeric by the definition alone, from n decimal digits without
 * a point times 10^exponent, and returns their hash.
 */
static uint64_t
slow_numeric(uint64_t seed, bool negative, const char *text, size_t n, int exponent)
{
	size_t		size = 5 + 2 * (n + 8);
	uint8_t    *bytes = test_malloc(size);
	uint64_t	hash;
	int			power = exponent + (int) n - 1;
	size_t		len = 1;
	size_t		i;

	memset(bytes, 0, size);
	for (i = 0; i < n && text[i] == '0'; i++)
		power--;
	for (; n > i && text[n - 1] == '0'; n--)
		 /* trailing zeros */ ;
	if (i < n)
	{
		int			weight = (int) floor(power / 4.0);

		bytes[0] = negative;
		for (len = 0; len < 4; len++)
			bytes[1 + len] = (uint8_t) ((uint32_t) weight >> (8 * len));
		for (len = 5; i < n; power--, i++)
		{
			size_t		at = 5 + 2 * (size_t) (weight - (int) floor(power / 4.0));
			unsigned	digit = bytes[at] + 256U * bytes[at + 1];
			static const unsigned tens[] = {1, 10, 100, 1000};

			digit += (unsigned) (text[i] - '0') * tens[((power % 4) + 4) % 4];
			bytes[at] = (uint8_t) digit;
			bytes[at + 1] = (uint8_t) (digit >> 8);
			len = at + 2;
		}
	}
	hash = bf_hash_bytes_seeded(seed, bytes, len);
	free(bytes);
	return hash;
}

/*
 * Tests random decimal texts of up to 1200 digits, with the point at each place, and zeros around
 * them.
 */
static void
numerics_of_text(void)
{
	int			trial;

	for (trial = 0; trial < 20000; trial++)
	{
		size_t		n = 1 + test_below(trial % 20 == 0 ? 1200 : 40);
		char	   *digits = test_malloc(n);
		char	   *text = test_malloc(n + 1);
		uint16_t   *room = test_malloc(BF_NUMERIC_ROOM(n + 1) * sizeof(*room));
		size_t		point = test_below(n + 1);
		int			exponent = (int) test_below(30) - 15;
		bool		negative = test_below(2) == 0;
		bool		zeros = test_below(3) == 0;
		uint64_t	seed = test_below(2) == 0 ? 0 : test_random();
		BfNumeric	number;
		size_t		i;

		for (i = 0; i < n; i++)
			digits[i] = (char) (zeros && test_below(3) != 0 ? '0' : '0' + test_below(10));
		memcpy(text, digits, point);
		text[point] = '.';
		memcpy(text + point + 1, digits + point, n - point);

		bf_numeric_of_text(&number, negative, text, n + 1, exponent, room);
		CHECKF(number.ndigits <= BF_NUMERIC_ROOM(n + 1), "%zu digits of %zu", number.ndigits, n);
		CHECKF(bf_key_numeric(seed, &number) ==
			   slow_numeric(seed, negative, digits, n, exponent - (int) (n - point)),
			   "%.*s e%d", (int) n + 1, text, exponent);

		bf_numeric_of_text(&number, negative, digits, n, exponent, room);
		CHECKF(bf_key_numeric(seed, &number) == slow_numeric(seed, negative, digits, n, exponent),
			   "%.*s e%d", (int) n, digits, exponent);
		free(digits);
		free(text);
		free(room);
	}
}

/* Tests integers with a scale against the texts of the same numbers. */
static void
numerics_of_int128(void)
{
	int			trial;

	for (trial = 0; trial < 40000; trial++)
	{
		uint16_t	room[BF_NUMERIC_INT128_ROOM];
		uint16_t	text_room[BF_NUMERIC_ROOM(40)];
		unsigned __int128 rest = ((unsigned __int128) test_random() << 64 | test_random()) >> test_below(128);
		__int128	value = (__int128) rest;
		int			scale = (int) test_below(90) - 45;
		char		text[40];
		size_t		at = sizeof(text);
		BfNumeric	number;
		BfNumeric	same;

		if (trial < 8)
			value = trial & 1 ? (__int128) ((unsigned __int128) 1 << 127) : trial & 2 ? 0 : (__int128) (((unsigned __int128) 1 << 127) - 1);
		rest = value < 0 ? -(unsigned __int128) value : (unsigned __int128) value;
		do
			text[--at] = (char) ('0' + (int) (rest % 10));
		while ((rest /= 10) != 0);

		bf_numeric_of_int128(&number, value, scale, room);
		bf_numeric_of_text(&same, value < 0, text + at, sizeof(text) - at, -scale, text_room);
		CHECKF(bf_key_numeric(0, &number) == bf_key_numeric(0, &same), "%.*s scale %d", (int) (sizeof(text) - at), text + at, scale);
		CHECK(number.ndigits <= BF_NUMERIC_INT128_ROOM);
	}
}

/* Tests digits at any alignment, with zeros around them that do not change the value. */
static void
numerics_are_stripped(void)
{
	static const uint16_t padded[] = {0, 0, 12, 0, 3400, 0};
	uint8_t		bytes[sizeof(padded) + 1];
	BfNumeric	number = {.weight = 3, .ndigits = LENGTH(padded), .digits = bytes + 1};
	uint64_t	expected = numeric_of_text("120000.34");

	memcpy(bytes + 1, padded, sizeof(padded));
	CHECK(bf_key_numeric(0, &number) == expected);
	number.sign = BF_NUMERIC_NEGATIVE;
	CHECK(bf_key_numeric(0, &number) == numeric_of_text("-120000.34"));
	number.ndigits = 2;
	CHECK(bf_key_numeric(0, &number) == numeric_of_text("0"));
}

static bool
unscaled(const char *text, int precision, int scale, __int128 *integer)
{
	uint16_t	room[BF_NUMERIC_ROOM(200)];
	BfNumeric	number;
	bool		negative = *text == '-';

	text += negative;
	bf_numeric_of_text(&number, negative, text, strlen(text), 0, room);
	return bf_numeric_unscaled(&number, precision, scale, integer);
}

static void
numerics_unscaled(void)
{
	static const char nines[] = "99999999999999999999999999999999999999";	/* 38 */
	__int128	integer = 0;
	BfNumeric	infinite = {.sign = BF_NUMERIC_INFINITY};
	BfNumeric	huge = {.ndigits = 1, .digits = (const uint16_t[]) {65535}};

	CHECK(unscaled("12.34", 4, 2, &integer) && integer == 1234);
	CHECK(unscaled("-12.34", 10, 4, &integer) && integer == -123400);
	CHECK(unscaled("12.340", 4, 2, &integer) && integer == 1234);
	CHECK(!unscaled("12.345", 10, 2, &integer));
	CHECK(!unscaled("12.34", 3, 2, &integer));
	CHECK(!unscaled("100", 4, 2, &integer));
	CHECK(unscaled("99.99", 4, 2, &integer) && integer == 9999);
	CHECK(unscaled("0.00010000", 5, 5, &integer) && integer == 10);
	CHECK(!unscaled("0.00001", 4, 4, &integer));
	CHECK(unscaled("0", 1, 0, &integer) && integer == 0);
	CHECK(unscaled(nines, 38, 0, &integer) && integer / 10 + 1 == (__int128) 10000000000000000000U * 1000000000000000000 &&
		  integer % 10 == 9);
	CHECK(!unscaled("100000000000000000000000000000000000000", 38, 0, &integer));
	CHECK(!bf_numeric_unscaled(&infinite, 38, 0, &integer));
	/* digits that no server stores are no way to overflow */
	CHECK(!bf_numeric_unscaled(&huge, 4, 0, &integer));
	CHECK(bf_numeric_unscaled(&huge, 5, 0, &integer) && integer == 65535);
	huge.weight = INT32_MAX;
	CHECK(!bf_numeric_unscaled(&huge, 38, 38, &integer));
	huge.weight = INT32_MIN;
	CHECK(!bf_numeric_unscaled(&huge, 38, 38, &integer));
}

/* ---- families ---- */

static void
families(void)
{
	static const char *const names[] = {"int", "float", "text", "numeric", "bool", "bytea", "uuid", "date", "time", "timetz",
		"timestamp", "timestamptz", "interval", "oid", "inet", "macaddr", "macaddr8", "char", "pg_lsn", "bit", "oidvector"};
	static const char *const around[][2] = {{"", ""}, {"", "[]"}, {"range(", ")"}, {"multirange(", ")"}};
	size_t		i;
	size_t		j;

	for (i = 0; i < LENGTH(names); i++)
	{
		for (j = 0; j < LENGTH(around); j++)
		{
			char		name[64];
			uint64_t	id;
			BfFamily	family;

			snprintf(name, sizeof(name), "%s%s%s", around[j][0], names[i], around[j][1]);
			id = bf_family_id(name, strlen(name));
			CHECKF(bf_family_name(id) != NULL && strcmp(bf_family_name(id), name) == 0, "%s", name);
			family = bf_family_by_id(id);
			if (j > 0)
				CHECKF(family == BF_FAMILY_OTHER, "%s", name);
			else
				CHECKF(family == (BfFamily) (i + 1) && strcmp(bf_family_label(family), name) == 0 &&
					   bf_family_number(family) == id, "%s", name);
		}
	}
	CHECK(bf_family_name(0) == NULL && bf_family_by_id(0) == BF_FAMILY_OTHER);
	CHECK(bf_family_name(1) == NULL && bf_family_by_id(1) == BF_FAMILY_OTHER);
	CHECK(bf_family_label(BF_FAMILY_OTHER) == NULL && bf_family_number(BF_FAMILY_OTHER) == 0);
	CHECK(bf_family_label((BfFamily) (LENGTH(names) + 1)) == NULL);
}

int
main(void)
{
	test_seed(31);
	RUN(golden);
	RUN(intervals);
	RUN(seeds);
	RUN(numerics_of_text);
	RUN(numerics_of_int128);
	RUN(numerics_are_stripped);
	RUN(numerics_unscaled);
	RUN(families);
	return test_finish();
}
