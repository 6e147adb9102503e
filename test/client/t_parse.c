/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_parse.c
 *	  Keys from text: which texts are read, as which key, and which are refused.
 *
 * Which key a text is follows from a server (test/t/039_client_library.pl).  This test has the
 * golden vectors of expected/keys_golden.out, texts that must or must not be the same key, and
 * texts that must be refused.
 *
 *-------------------------------------------------------------------------
 */
#include "client.h"

#include "keys/key_hash.h"

/* ---- golden vectors ---- */

typedef struct Golden
{
	const char *type;
	const char *text;
	uint64_t	hash;
} Golden;

static const Golden goldens[] = {
	{"bigint", "0", 0xc77b3abb6f87acd9},
	{"bigint", "1", 0x2fbc593564db792e},
	{"bigint", "-1", 0x5111c7e47d784413},
	{"smallint", "42", 0xd5a6f8c838df27c8},
	{"bigint", "9223372036854775807", 0xa233cf376558df46},
	{"double precision", "0", 0xc77b3abb6f87acd9},
	{"double precision", "-0", 0xc77b3abb6f87acd9},
	{"real", "1.5", 0x2561a4889ff63458},
	{"double precision", "0.1", 0xc9d73e6076fe03cd},
	{"double precision", "NaN", 0x0aa61dcfa381c167},
	{"double precision", "-Infinity", 0x966b04ab6a2f4836},
	{"text", "", 0x2d06800538d394c2},
	{"text", "a", 0xe6c632b61e964e1f},
	{"char(4)", "a   ", 0xe6c632b61e964e1f},
	{"name", "a", 0xe6c632b61e964e1f},
	{"text", "\xc3\xa9\xe6\x97\xa5", 0xe9dd022a21af4f43},
	{"numeric", "0.00", 0xc44bdff4074eecdb},
	{"numeric", "1.0", 0xedc93b4ed541f087},
	{"numeric", "-1.5", 0xd2ad6d485b7829ea},
	{"bigint", "10000", 0x9827dd2426c95ddc},
	{"numeric", "10000.0", 0xda7ac59e88a20d9b},
	{"numeric", "0.0001", 0x33dc90cbcae9261e},
	{"numeric", "1234567890.0987654321", 0x237600ee88145b58},
	{"numeric", "1e400", 0xf8a30e562a11ac7a},
	{"numeric", "1e-400", 0x3bc75a2b07d1286d},
	{"numeric", "NaN", 0xc9f42e6c9e93dfff},
	{"numeric", "Infinity", 0x13e608bc156defed},
	{"numeric", "-Infinity", 0x73b2284b32bf8672},
	{"boolean", "t", 0xe12ef9d2eb86ceeb},
	{"boolean", "false", 0xc44bdff4074eecdb},
	{"bytea", "\\x0001ff", 0x8af97d207880c972},
	{"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", 0x55df69482c6d3767},
	{"date", "2000-01-02", 0xdb02334e96d65708},
	{"date", "1999-12-31", 0xcd6b1c920d3f662c},
	{"date", "infinity", 0x55506669e60fb0ff},
	{"time", "12:34:56.789", 0x62e4f13cc9bfbc7b},
	{"timetz", "12:34:56.789+02", 0x78bbb8a415f57203},
	{"timestamp", "2024-02-29 12:00:00", 0x62bd5fb8a030f1f2},
	{"timestamptz", "2024-02-29 12:00:00+00", 0x62bd5fb8a030f1f2},
	{"interval", "1 mon", 0x37fb0f4464396598},
	{"interval", "-00:00:01", 0x83a75ca50aba8db1},
	{"oid", "1", 0xdb02334e96d65708},
	{"inet", "10.1.2.3", 0xef3700aa71aa7591},
	{"cidr", "10.0.0.0/8", 0x54ec07595ce79c24},
	{"inet", "2001:db8::1/64", 0xc8ea51d612c79e57},
	{"macaddr", "08:00:2b:01:02:03", 0xd6f980e14eff2ef8},
	{"macaddr8", "08:00:2b:01:02:03:04:05", 0x2a5f33b8573bdb93},
	{"\"char\"", "a", 0xe6c632b61e964e1f},
	{"pg_lsn", "16/B374D848", 0x6af12a37898e179c},
	{"bit(3)", "101", 0x3e4bb78f8a61dd7d},
	{"enum \"keys_golden\".\"mood\"", "ok", 0x38af4cfed25a8222},
};

static void
golden(void)
{
	char		many[300];
	BloomfamType text = client_type("text");
	uint64_t	hash;
	size_t		i;

	for (i = 0; i < LENGTH(goldens); i++)
	{
		BloomfamType type = client_type(goldens[i].type);
		BloomfamAnswer answer = client_hash(&type, goldens[i].text, &hash);

		CHECKF(answer == BLOOMFAM_ABSENT && hash == goldens[i].hash, "%s '%s': answer %d, %016" PRIx64, goldens[i].type, goldens[i].text, answer, hash);
	}
	memset(many, 'x', sizeof(many));
	CHECK(client_hash_bytes(&text, BLOOMFAM_WRITTEN, many, sizeof(many), &hash) == BLOOMFAM_ABSENT && hash == UINT64_C(0xa5d1b4607dc83554));
}

/* ---- texts of one key, and of different ones ---- */

/* Texts in the same line are one key; texts in different lines of a type are different keys. */
static const char *const same[][8] = {
	{"bigint", "1", "+1", "01", "0000000000000000000000001"},
	{"bigint", "-1", "-01"},
	{"bigint", "0", "-0", "+0", "00"},
	{"bigint", "-9223372036854775808", "-09223372036854775808"},
	{"double precision", "1", "1.0", "1e0", "10e-1", "+1", "0.1e1", "1."},
	{"double precision", "0.1", ".1", "1e-1", "0.10", "0.1000000000000000055511151231257827", "0.100000000000000000000000001"},
	{"double precision", "0", "-0", "0.0", "0e999999999999", "-0e-5"},
	{"double precision", "1e308", "100000000e300", "0.0001e312"},
	{"double precision", "5e-324", "4.9406564584124654e-324", "4e-324"},
	{"double precision", "NaN", "nan", "NAN"},
	{"double precision", "Infinity", "inf", "+infinity", "INF"},
	{"double precision", "-Infinity", "-inf"},
	{"double precision", "9007199254740993", "9007199254740992", "9007199254740992.5"},
	{"double precision", "1.7976931348623157e308", "1.7976931348623157081e308"},
	{"real", "0.1", "0.100000001490116119384765625", "1e-1"},
	{"real", "16777217", "16777216", "1.6777216e7"},
	{"real", "3.4028235e38", "3.40282346638528859811704183484516925440e38"},
	{"real", "1e-45", "1.4e-45", "1.401298464324817e-45"},
	{"numeric", "1", "1.0", "1.00", "01", "+1", "10e-1", "0.001e3"},
	{"numeric", "0", "-0", "0.0000", "0e10", "0e-10", ".0"},
	{"numeric", "1e100", "10e99", "0.1e101"},
	{"numeric", "123456789012345678901234567890.5", "123456789012345678901234567890.50"},
	{"numeric", "NaN", "nan"},
	{"numeric", "inf", "Infinity", "+inf"},
	{"text", "a", "a ", "a    "},
	{"text", "", " ", "   "},
	{"text", " a"},
	{"boolean", "t", "true", "TRUE", "on", "yes", "1", "y"},
	{"boolean", "f", "false", "off", "no", "0", "n"},
	{"bytea", "\\xab", "\\xAB"},
	{"bytea", "\\x"},
	{"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc999c0b4ef8bb6d6bb9bd380a11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}"},
	{"date", "2024-02-29", "02024-02-29"},
	{"date", "0001-01-01"},
	{"date", "0001-12-31 BC"},
	{"date", "4714-11-24 BC"},
	{"date", "5874897-12-31"},
	{"date", "infinity", "Infinity"},
	{"date", "-infinity"},
	{"time", "12:00", "12:00:00", "12:00:00.0", "12:00:00.000000"},
	{"time", "24:00:00", "24:00"},
	{"time", "00:00:00"},
	{"timetz", "12:00:00+02", "12:00:00+02:00", "12:00+02:00:00"},
	{"timetz", "11:00:00+01"},
	{"timetz", "12:00:00-02"},
	{"timetz", "12:00:00+00", "12:00:00-00"},
	{"timestamp", "2024-02-29 00:00:00", "2024-02-29", "2024-02-29T00:00:00.000", "2024-02-28 24:00:00"},
	{"timestamp", "294276-12-31 23:59:59.999999"},
	{"timestamp", "4714-11-24 00:00:00 BC", "4714-11-24 BC"},
	{"timestamp", "0044-03-15 12:00:00 BC"},
	{"timestamp", "0044-03-15 12:00:00"},
	{"timestamptz", "2024-02-29 12:00:00+00", "2024-02-29 14:00:00+02", "2024-02-29 06:30:00-05:30", "2024-02-29T12:00:00-00"},
	{"timestamptz", "294276-12-31 23:59:59.999999+00", "294277-01-01 00:59:59.999999+01"},
	{"timestamptz", "0044-03-15 12:00:00+00 BC", "0044-03-15 13:30:15+01:30:15 BC"},
	{"interval", "1 mon", "30 days", "720:00:00", "P1M", "P30D", "29 days 24:00:00"},
	{"interval", "00:00:00", "PT0S", "P0D", "1 mon -30 days"},
	{"interval", "1 year 2 mons 3 days 04:05:06.789", "P1Y2M3DT4H5M6.789S"},
	{"interval", "-1 years -2 mons +3 days -04:05:06.789", "P-1Y-2M3DT-4H-5M-6.789S"},
	{"interval", "-1 years +3 days 04:05:06", "P-1Y3DT4H5M6S"},
	{"interval", "-00:00:00.5", "PT-0.5S"},
	{"interval", "2562047788:00:54.775807"},
	{"interval", "-2562047788:00:54.775808"},
	{"oid", "4294967295", "04294967295"},
	{"inet", "::1", "0:0:0:0:0:0:0:1", "::0.0.0.1", "::1/128", "0000::0001"},
	{"inet", "1.2.3.4", "1.2.3.4/32"},
	{"inet", "1.2.3.4/31"},
	{"inet", "::ffff:1.2.3.4", "::ffff:102:304", "::FFFF:1.2.3.4/128"},
	{"inet", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
	{"inet", "::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
	{"inet", "::"},
	{"inet", "::/0"},
	{"inet", "0.0.0.0/0"},
	{"macaddr", "08:00:2b:01:02:03", "08-00-2B-01-02-03", "08002b010203"},
	{"macaddr8", "08:00:2b:01:02:03:04:05", "08-00-2b-01-02-03-04-05", "08002B0102030405"},
	{"pg_lsn", "0/0", "00000000/00000000"},
	{"pg_lsn", "FFFFFFFF/FFFFFFFF", "ffffffff/ffffffff"},
	{"bit varying", "101"},
	{"bit varying", "1010"},
	{"bit varying", ""},
	{"\"char\"", "a"},
	{"\"char\"", ""},
};

static void
one_key(void)
{
	uint64_t	first[LENGTH(same)];
	size_t		i;
	size_t		j;

	for (i = 0; i < LENGTH(same); i++)
	{
		BloomfamType type = client_type(same[i][0]);

		for (j = 1; j < LENGTH(same[i]) && same[i][j] != NULL; j++)
		{
			uint64_t	hash;
			BloomfamAnswer answer;

			answer = client_hash(&type, same[i][j], &hash);
			CHECKF(answer == BLOOMFAM_ABSENT, "%s '%s': answer %d", same[i][0], same[i][j], answer);
			if (j == 1)
				first[i] = hash;
			CHECKF(hash == first[i], "%s '%s' is not '%s'", same[i][0], same[i][j], same[i][1]);
		}
		for (j = 0; j < i; j++)
			CHECKF(strcmp(same[i][0], same[j][0]) != 0 || first[i] != first[j], "%s: '%s' is '%s'", same[i][0], same[i][1], same[j][1]);
	}
}

/* ---- texts that are not read ---- */

static const char *const bad[][28] = {
	{"bigint", "", " ", "1 ", " 1", "1.0", "1e3", "0x10", "1_000", "a", "-", "+", "--1", "1-", "\xef\xbc\x91"},
	{"oid", "", "-1", "-0", "4294967296", "1.0", "99999999999999999999999"},
	{"double precision", "", ".", "-", "e5", "1e", "1e+", "0x1p3", "1e400", "-1e400", "1e-400", "+nan", "-nan", "nan(1)", "infinite", "1 ", "1,5", "1..2", "1.2.3", "1f"},
	{"real", "1e39", "-1e39", "1e-46", "3.5e38", "1e400"},
	{"numeric", "", ".", "-", "e5", "1e", "1e131072", "1e-16384", "1e999999999999", "0.1e-99999999999999999999", "-nan", "0x1", "1_0", " 1", "1 ", "1,0"},
	{"boolean", "", "tru e", "2", "truex", "10", " t"},
	{"bytea", "", "a", "\\xa", "\\xag", "\\x a0", "\\X00", "a\\000", "\\\\x00"},
	{"uuid", "", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
	 "a0e-ebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc999c0b4ef8bb6d6bb9bd380a11-", "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11", "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
	{"date", "", "24-02-29", "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-01-32", "2024-04-31", "0000-01-01", "2024/02/29", "29.02.2024", "20240229",
	 "2024-2-29", "2024-02-29 ", "2024-02-29 AD", "2024-02-29 BCE", "4714-11-23 BC", "5874898-01-01", "today", "epoch", "-2024-01-01"},
	{"time", "", "24:00:01", "24:00:00.000001", "25:00", "12:60", "12:00:60", "1:00", "12:0", "12", "12:00:00.", "12:00:00.1234567", "12:00:00 PM", "12:00:00+00", "allballs", "noon"},
	{"timetz", "12:00:00", "12:00:00Z", "12:00:00 UTC", "12:00:00+0200", "12:00:00+2", "12:00:00+16", "12:00:00+02:60", "12:00:00+02:00:60", "12:00:00 +02", "12:00:00+02 "},
	{"timestamp", "", "2024-02-29 12", "2024-02-29 12:00:00+00", "2024-02-29 12:00:00Z", "2024-02-29  12:00:00", "2024-02-29_12:00:00", "294277-01-01 00:00:00", "4714-11-23 23:59:59 BC",
	 "2024-02-29 12:00:00.1234567", "now", "2024-02-29 BC 12:00:00", "2024-02-29 ", "2024-02-29T", "294276-12-31 24:00:00"},
	{"timestamptz", "2024-02-29 12:00:00", "2024-02-29", "2024-02-29 12:00:00 Europe/Berlin", "2024-02-29 12:00:00Z", "2024-02-29 12:00:00 +00", "294277-01-01 00:00:00+00", "4714-11-24 00:00:00+01 BC",
	 "2024-02-29 12:00:00+00BC"},
	{"interval", "", "1", "1 day 2", "1 week", "1 hour", "@ 1 day", "1 day ago", "-1 days 04:05:06", "-1 mons 1 day", "P+1D", "1-2", "1 2:3:4", "P", "PT", "P1", "P1YT", "PT1Y", "P1M1Y", "P1W", "1 day 1 day", "1 day 1 mon",
	 "2562047788:00:54.775808", "200000000 years", "1:00:00"},
	{"inet", "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4/33", "1.2.3.4/032", "1.2.3.4/", "10/8", "::1::", ":::", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7", "12345::", "::1/129", "fe80::1%eth0",
	 "1:2:3:4:5:6:7:8::", "::1.2.3", "1.2.3.4::", " ::1"},
	{"inet", ":1:2:3:4:5:6:7", "1:", ":", "::1:", "1:2:3:4:5:6:7:1.2.3.4", "1::2::3", "g::"},
	{"macaddr", "", "08:00:2b:01:02", "08:00:2b:01:02:03:04", "08:00-2b:01:02:03", "8:0:2b:1:2:3", "08002b01020", "08:00:2b:01:02:0g", "0800.2b01.0203"},
	{"macaddr8", "08:00:2b:01:02:03", "08:00:2b:01:02:03:04", "08002b01020304056"},
	{"pg_lsn", "", "0", "0/", "/0", "123456789/0", "0/123456789", "g/0", "0/0 ", "-1/0"},
	{"bit varying", "2", "1 0", "b101", "x1f", "B'101'"},
	{"\"char\"", "ab", "\\101"},
	{"enum \"s\".\"t\"", "", "1234567890123456789012345678901234567890123456789012345678901234"},
	{"text", "\xff", "a\xc3", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xc0\x80", "\xe0\x80\x80"},
};

static void
refused(void)
{
	static const char *const too_large[] = {"9223372036854775808", "-9223372036854775809", "99999999999999999999999999", "18446744073709551616"};
	BloomfamType bigint = client_type("bigint");
	BloomfamType text = client_type("text");
	uint64_t	hash;
	size_t		i;
	size_t		j;

	for (i = 0; i < LENGTH(bad); i++)
	{
		BloomfamType type = client_type(bad[i][0]);

		for (j = 1; j < LENGTH(bad[i]) && bad[i][j] != NULL; j++)
		{
			BloomfamAnswer answer = client_hash(&type, bad[i][j], &hash);

			CHECKF(answer == BLOOMFAM_BAD && hash == 0, "%s '%s': answer %d", bad[i][0], bad[i][j], answer);
		}
	}
	for (i = 0; i < LENGTH(too_large); i++)
		CHECKF(client_hash(&bigint, too_large[i], &hash) == BLOOMFAM_IMPOSSIBLE, "%s", too_large[i]);
	CHECK(client_hash_bytes(&text, BLOOMFAM_WRITTEN, "a\0b", 3, &hash) == BLOOMFAM_IMPOSSIBLE);
	CHECK(client_hash_bytes(&text, BLOOMFAM_TEXT, "abcdefgh\0", 9, &hash) == BLOOMFAM_IMPOSSIBLE);
	CHECK(client_hash_bytes(&bigint, BLOOMFAM_WRITTEN, "1\0", 2, &hash) == BLOOMFAM_BAD);
}

/* ---- long ones ---- */

static void
long_texts(void)
{
	enum
	{
		ROOM = 200000
	};
	char	   *text = test_malloc(ROOM);
	char	   *other = test_malloc(ROOM);
	BloomfamType numeric = client_type("numeric");
	BloomfamType number = client_type("double precision");
	BloomfamType bits = client_type("varbit");
	BloomfamType bytea = client_type("bytea");
	uint64_t	a;
	uint64_t	b;
	size_t		n;

	/* numbers of so many digits as a power of ten, with digits that are zero behind */
	for (n = 1; n <= 131072; n = n < 1100 ? n + 37 : n * 3)
	{
		memset(text, '0', n);
		text[0] = '1';
		sprintf(other, "1e%zu", n - 1);
		CHECK(client_hash_bytes(&numeric, BLOOMFAM_WRITTEN, text, n, &a) == BLOOMFAM_ABSENT);
		CHECK(client_hash(&numeric, other, &b) == BLOOMFAM_ABSENT);
		CHECKF(a == b, "1e%zu", n - 1);
	}
	memset(text, '9', ROOM);
	CHECK(client_hash_bytes(&numeric, BLOOMFAM_WRITTEN, text, 131072, &a) == BLOOMFAM_ABSENT);
	CHECK(client_hash_bytes(&numeric, BLOOMFAM_WRITTEN, text, 131073, &a) == BLOOMFAM_BAD);
	text[131072] = '.';
	CHECK(client_hash_bytes(&numeric, BLOOMFAM_WRITTEN, text, 131073 + 16383, &a) == BLOOMFAM_ABSENT);
	CHECK(client_hash_bytes(&numeric, BLOOMFAM_WRITTEN, text, 131073 + 16384, &a) == BLOOMFAM_BAD);

	/* a double is what the first digits say, however many there are; half way, the last one decides */
	memset(text, '0', ROOM);
	memcpy(text, "9007199254740993.", 17);
	CHECK(client_hash_bytes(&number, BLOOMFAM_WRITTEN, text, 5000, &a) == BLOOMFAM_ABSENT);
	CHECK(client_hash(&number, "9007199254740992", &b) == BLOOMFAM_ABSENT && a == b);
	text[4999] = '1';
	CHECK(client_hash_bytes(&number, BLOOMFAM_WRITTEN, text, 5000, &a) == BLOOMFAM_ABSENT);
	CHECK(client_hash(&number, "9007199254740994", &b) == BLOOMFAM_ABSENT && a == b);
	memset(text, '0', ROOM);
	text[ROOM - 1] = '7';
	CHECK(client_hash_bytes(&number, BLOOMFAM_WRITTEN, text, ROOM, &a) == BLOOMFAM_ABSENT);
	CHECK(client_hash(&number, "7", &b) == BLOOMFAM_ABSENT && a == b);

	/* bytes and bits are hashed piece by piece */
	for (n = 0; n < 3000; n += 1 + n / 16)
	{
		uint8_t		bytes[3000];
		size_t		i;

		memcpy(text, "\\x", 2);
		for (i = 0; i < n; i++)
		{
			bytes[i] = (uint8_t) test_random();
			sprintf(text + 2 + 2 * i, "%02x", bytes[i]);
		}
		CHECK(client_hash_bytes(&bytea, BLOOMFAM_WRITTEN, text, 2 + 2 * n, &a) == BLOOMFAM_ABSENT && a == bf_hash_bytes(bytes, n));
		CHECK(client_hash_bytes(&bytea, BLOOMFAM_BYTES, (char *) bytes, n, &b) == BLOOMFAM_ABSENT && a == b);
	}
	for (n = 0; n < 20000; n += 1 + n / 16)
	{
		uint8_t		bytes[2500] = {0};
		uint8_t		key[12];
		size_t		i;

		for (i = 0; i < n; i++)
		{
			text[i] = test_below(2) == 0 ? '0' : '1';
			if (text[i] == '1')
				bytes[i / 8] |= (uint8_t) (0x80 >> (i % 8));
		}
		for (i = 0; i < 12; i++)
			key[i] = i < 4 ? (uint8_t) (n >> (8 * i)) : (uint8_t) (bf_hash_bytes(bytes, (n + 7) / 8) >> (8 * (i - 4)));
		CHECK(client_hash_bytes(&bits, BLOOMFAM_WRITTEN, text, n, &a) == BLOOMFAM_ABSENT);
		CHECKF(a == bf_hash_bytes(key, 12), "%zu bits", n);
	}
	free(text);
	free(other);
}

/* ---- random ones: floats as printf writes them, dates one after the other ---- */

static void
floats(void)
{
	BloomfamType number = client_type("double precision");
	BloomfamType real = client_type("real");
	uint64_t	i;

	for (i = 0; i < test_trials(200000); i++)
	{
		uint64_t	bits = test_random();
		uint32_t	single_bits = (uint32_t) test_random();
		char		text[400];
		double		value;
		float		single;
		uint64_t	hash;

		memcpy(&value, &bits, sizeof(value));
		memcpy(&single, &single_bits, sizeof(single));
		if (test_below(2) == 0)
			value = (double) (int64_t) (test_random() >> test_below(64)) / pow(10, (double) test_below(20));
		if (isfinite(value))
		{
			sprintf(text, test_below(2) == 0 ? "%.17g" : "%.30e", value);
			CHECKF(client_hash(&number, text, &hash) == BLOOMFAM_ABSENT && hash == bf_key_double(0, value), "%s", text);
			sprintf(text, "%.*g", 1 + (int) test_below(17), value);
			value = strtod(text, NULL);
			if (isfinite(value))
				CHECKF(client_hash(&number, text, &hash) == BLOOMFAM_ABSENT && hash == bf_key_double(0, value), "%s", text);
		}
		if (isfinite(single))
		{
			sprintf(text, "%.9g", (double) single);
			CHECKF(client_hash(&real, text, &hash) == BLOOMFAM_ABSENT && hash == bf_key_double(0, (double) single), "%s", text);
			sprintf(text, "%.*g", 1 + (int) test_below(9), (double) single);
			single = strtof(text, NULL);
			if (isfinite(single))
				CHECKF(client_hash(&real, text, &hash) == BLOOMFAM_ABSENT && hash == bf_key_double(0, (double) single), "%s", text);
		}
	}
}

/* Checks that each day of 3,000 years is one more than the day before. */
static void
calendar(void)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	BloomfamType date = client_type("date");
	BloomfamType timestamp = client_type("timestamp");
	int32_t		day = 0;
	bool		seen = false;
	int			year;
	int			month;
	int			of_month;

	/* year 0 is 1 BC */
	for (year = -29; year < 2000; year++)
		day -= 365 + (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
	for (year = -29; year < 3000; year++)
		for (month = 1; month <= 12; month++)
			for (of_month = 1; of_month <= lengths[month - 1] + (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)); of_month++)
			{
				char		text[40];
				uint64_t	hash;

				sprintf(text, "%04d-%02d-%02d%s", year > 0 ? year : 1 - year, month, of_month, year > 0 ? "" : " BC");
				if (strcmp(text, "2000-01-01") == 0)
					seen = day == 0;
				CHECKF(client_hash(&date, text, &hash) == BLOOMFAM_ABSENT && hash == bf_key_4_bytes(0, (uint32_t) day), "%s", text);
				if (of_month == 1)
					CHECKF(client_hash(&timestamp, text, &hash) == BLOOMFAM_ABSENT && hash == bf_key_8_bytes(0, (uint64_t) day * 86400000000), "%s", text);
				day++;
			}
	CHECK(seen);
}

/* ---- the two readings of a text whose type is not known ---- */

static BloomfamType
type_of_family(const char *family)
{
	BfHeader	head = test_plan(bf_kind_by_name("blocked"), 0.01, 10);
	TestFilter	value;
	BloomfamFilter *filter;
	BloomfamType type;
	BloomfamError error;

	test_set_family(&head, family);
	value = test_empty(&head);
	memset(&type, 0, sizeof(type));
	CHECK(bloomfam_open(NULL, value.data, value.len, 0, &filter, &error) == BLOOMFAM_OK);
	CHECK(bloomfam_filter_type(filter, &type, &error) == BLOOMFAM_OK);
	bloomfam_close(filter);
	test_free(&value);
	return type;
}

static void
readings(void)
{
	static const char text64[] = "1234567890123456789012345678901234567890123456789012345678901234";
	static const char umlauts[] = "12345678901234567890123456789012345678901234567890123456789012\xc3\xa9" "4";
	BloomfamType any = type_of_family("float");
	BloomfamType any_text = type_of_family("text");
	BloomfamType name = client_type("name");
	BloomfamType text = client_type("text");
	uint64_t	hash;
	uint64_t	other;

	CHECK(any.id == BLOOMFAM_TYPE_FLOAT && any_text.id == BLOOMFAM_TYPE_ANY_TEXT);
	CHECK(client_hash(&any, "0.5", &hash) == BLOOMFAM_ABSENT);
	CHECK(client_hash(&any, "0.1", &hash) == BLOOMFAM_BAD);
	CHECK(client_hash(&any, "1e300", &hash) == BLOOMFAM_ABSENT);	/* no real */
	CHECK(client_hash(&any, "NaN", &hash) == BLOOMFAM_ABSENT);
	CHECK(client_hash_bytes(&any_text, BLOOMFAM_WRITTEN, text64, 63, &hash) == BLOOMFAM_ABSENT);
	CHECK(client_hash(&any_text, text64, &hash) == BLOOMFAM_BAD);
	CHECK(client_hash_bytes(&any_text, BLOOMFAM_TEXT, text64, 64, &hash) == BLOOMFAM_ABSENT);
	CHECK(client_hash(&text, text64, &other) == BLOOMFAM_ABSENT && hash == other);
	CHECK(client_hash(&name, text64, &hash) == BLOOMFAM_ABSENT && hash == bf_key_text(0, text64, 63));
	/* cut where the server's encoding says */
	CHECK(client_hash(&name, umlauts, &hash) == BLOOMFAM_BAD && client_hash(&any_text, umlauts, &hash) == BLOOMFAM_BAD);
	CHECK(client_hash_bytes(&name, BLOOMFAM_WRITTEN, umlauts + 2, 62, &hash) == BLOOMFAM_ABSENT && hash == bf_key_text(0, umlauts + 2, 62));
}

/* ---- names of types ---- */

static void
types(void)
{
	static const char *const unknown[] = {"", "citext", "jsonb", "int9", "varchar(", "varchar)", "varchar(3)(4)", "timestamp(3)", "numeric(9,2)", "interval day", "int(4)", "varchar(a)", "parquet", "parquet int9",
		"parquet decimal(9,2) fixed(3)", "enum \"a\"", "enum \"a\".\"b", "enum \"a\n\".\"b\"", "float(24)"};
	static const char *const no_parquet[] = {"boolean", "interval", "char(3)", "inet", "numeric", "numeric(50,2)", "enum \"a\".\"b\"", "timestamp(3) with time zone", "float", " Float "};
	BloomfamType type;
	BloomfamError error;
	const char *name;
	size_t		i;

	for (i = 0; (name = bloomfam_type_name(i)) != NULL; i++)
		CHECKF(bloomfam_type_by_name(name, NULL, &type, &error) == BLOOMFAM_OK && type.family_id == bf_family_id(type.family, strlen(type.family)), "%s", name);
	CHECK(i > 20 && i < 40);
	for (i = 0; i < LENGTH(unknown); i++)
	{
		client_error_init(&error);
		CHECKF(bloomfam_type_by_name(unknown[i], NULL, &type, &error) == BLOOMFAM_BAD_ARGUMENT && client_error_is_whole(&error, BLOOMFAM_BAD_ARGUMENT), "%s", unknown[i]);
		CHECK(bloomfam_type_by_name(unknown[i], "blocked", &type, NULL) == BLOOMFAM_BAD_ARGUMENT);
	}
	for (i = 0; i < LENGTH(no_parquet); i++)
		CHECKF(bloomfam_type_by_name(no_parquet[i], "parquet", &type, &error) == BLOOMFAM_BAD_ARGUMENT, "%s", no_parquet[i]);
	CHECK(bloomfam_type_by_name("int[]", NULL, &type, &error) == BLOOMFAM_NOT_ASKABLE);
	CHECK(bloomfam_type_by_name("bigint", "bloom", &type, &error) == BLOOMFAM_BAD_ARGUMENT && strstr(error.hint, "\"ribbon\"") != NULL);

	CHECK(client_type("PG_CATALOG.Int4").id == BLOOMFAM_TYPE_INT);
	CHECK(client_type(" character  varying ( 20 ) ").id == BLOOMFAM_TYPE_TEXT);
	CHECK(client_type("Timestamp With Time Zone").id == BLOOMFAM_TYPE_TIMESTAMPTZ);
	CHECK(client_type("char").id == BLOOMFAM_TYPE_BPCHAR && client_type("\"char\"").id == BLOOMFAM_TYPE_CHAR);
	CHECK(strcmp(client_type("enum \"a\"\"b\".\"c d\"").family, "enum \"a\"\"b\".\"c d\"") == 0);
	CHECK(strcmp(client_type_of_kind("bigint", "parquet").family, "parquet int64") == 0);
	CHECK(strcmp(client_type_of_kind("int32", "parquet").family, "parquet int32") == 0);
	CHECK(strcmp(client_type_of_kind("numeric(18,2)", "parquet").family, "parquet decimal(18,2)") == 0);
	CHECK(strcmp(client_type_of_kind("numeric(18)", "parquet").family, "parquet decimal(18,0)") == 0);
	CHECK(strcmp(client_type_of_kind("decimal(9,2) fixed(5)", "parquet").family, "parquet decimal(9,2) fixed(5)") == 0);
	CHECK(strcmp(client_type_of_kind("timestamptz", "parquet").family, "parquet timestamptz(6)") == 0);
	CHECK(strcmp(client_type_of_kind("timestamp(9)", "parquet").family, "parquet timestamp(9)") == 0);
	CHECK(strcmp(client_type_of_kind("varchar(3)", "parquet").family, "parquet text") == 0);
	CHECK(strcmp(client_type("parquet uuid").family, "parquet uuid") == 0);
}

/* ---- hostile texts: cut and changed at random ---- */

static void
hostile(void)
{
	uint64_t	i;

	for (i = 0; i < test_trials(400000); i++)
	{
		const Golden *golden_key = &goldens[test_below(LENGTH(goldens))];
		BloomfamType type = client_type(golden_key->type);
		const char *from = test_below(2) == 0 ? golden_key->text : goldens[test_below(LENGTH(goldens))].text;
		char		text[200];
		size_t		len = strlen(from);
		int			changes = (int) test_below(4);
		uint64_t	hash;
		BloomfamAnswer answer;

		memcpy(text, from, len);
		for (; changes > 0; changes--)
		{
			size_t		at = len > 0 ? test_below(len) : 0;

			switch (test_below(4))
			{
				case 0:
					len = at;
					break;
				case 1:
					text[len++] = "0123456789:-+. eE/TBC\\x{}"[test_below(25)];
					break;
				default:
					if (len > 0)
						text[at] = (char) test_random();
					break;
			}
		}
		answer = client_hash_bytes(&type, BLOOMFAM_WRITTEN, text, len, &hash);
		CHECK(answer == BLOOMFAM_ABSENT || answer == BLOOMFAM_BAD || answer == BLOOMFAM_IMPOSSIBLE);
	}
}

int
main(void)
{
	test_seed(test_is_long() ? (uint64_t) time(NULL) : 27);
	RUN(golden);
	RUN(one_key);
	RUN(refused);
	RUN(long_texts);
	RUN(floats);
	RUN(calendar);
	RUN(readings);
	RUN(types);
	RUN(hostile);
	return test_finish();
}
