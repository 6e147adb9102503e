/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * family.c
 *	  The table of the well-known key families, and searches in it; see family.h.
 *
 * The ids are the hashes of the names.  They are constants, and are not computed when first needed,
 * so that threads share no variable; test/core/t_keys.c compares them with the hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "keys/family.h"

/*
 * The number of key families that each row of the table names: that of a type's single values, and
 * those of its arrays, ranges and multiranges.
 */
#define NAMES	4

typedef struct FamilyRow
{
	const char *names[NAMES];
	uint64_t	ids[NAMES];
} FamilyRow;

#define FAMILY(id, name, plain, array, range, multirange)						\
	[id] = {																	\
		.names = {name, name "[]", "range(" name ")", "multirange(" name ")"},	\
		.ids = {plain, array, range, multirange},								\
	}

static const FamilyRow rows[] = {
	FAMILY(BF_FAMILY_INT, "int", 0x97211c6082923b47, 0x56d4d905b94375b7,
		   0x6ffe14a49a325f01, 0x0d1547fd81600762),
	FAMILY(BF_FAMILY_FLOAT, "float", 0x3443d411d4d21bb4, 0xdb781566523f8dda,
		   0xda1a7fd6607dc221, 0x245f08dd147d40f3),
	FAMILY(BF_FAMILY_TEXT, "text", 0x4769fd1c60e8a611, 0x7d14d1e17e0556db,
		   0x4956fb4562d2163a, 0xebd389fac9d56c1f),
	FAMILY(BF_FAMILY_NUMERIC, "numeric", 0xb6de626a57a2db0a, 0xa4980b54eb2fc167,
		   0x27bfe8f078770973, 0xbdd4537cd116669b),
	FAMILY(BF_FAMILY_BOOL, "bool", 0x0a20cc1c3388e954, 0x3aa6463a50571ab3,
		   0x907ac41fde5c6618, 0xc6975f093dc9b1ad),
	FAMILY(BF_FAMILY_BYTEA, "bytea", 0x2d462665c9ba034a, 0x88bb1a141d987055,
		   0xeea537eee6dd1879, 0x90c51b9a8ba6267c),
	FAMILY(BF_FAMILY_UUID, "uuid", 0x1d9ee71295bba8ac, 0x66bab64491aca367,
		   0xdd465354eac20c15, 0x1fcba68ec5b5c294),
	FAMILY(BF_FAMILY_DATE, "date", 0x972e5c7e55682a8f, 0xc4aa49a6f5be8709,
		   0x7acfa5a683239bd1, 0xda85f67da260dffe),
	FAMILY(BF_FAMILY_TIME, "time", 0xe0c4b7971dcaa4d2, 0xd0b31735281d459c,
		   0x684296ca51091537, 0xe6b516929f6619d8),
	FAMILY(BF_FAMILY_TIMETZ, "timetz", 0xe4907c9b6a8fa96d, 0x0aa0df20fdeaacdd,
		   0x50dd1896892e6c5e, 0x30e098c591087fcd),
	FAMILY(BF_FAMILY_TIMESTAMP, "timestamp", 0x19b486fce0c34b26, 0xdd1c5f6d6c5a1b1a,
		   0x08645dc0c82d69a5, 0x7202b9a0dfcc3860),
	FAMILY(BF_FAMILY_TIMESTAMPTZ, "timestamptz", 0xaddeac7262097941, 0x2d869c5e3acbcda4,
		   0xa212cb00436fbe48, 0xcd8a95bf5f7d31c1),
	FAMILY(BF_FAMILY_INTERVAL, "interval", 0x58bc7738e94fae70, 0xa5cceb7d697251cf,
		   0xb9b03d0d203655ed, 0x9a0333dd510d288d),
	FAMILY(BF_FAMILY_OID, "oid", 0x860605f5720eedd6, 0xb754c703b3283fda,
		   0xa9e34e244b8cd62b, 0xf2308f3b4e10049a),
	FAMILY(BF_FAMILY_INET, "inet", 0xe2e47e54da6f014a, 0x2783c637bdf6e7ec,
		   0xf45dfeeb03b1608f, 0x03fffafe1639cc64),
	FAMILY(BF_FAMILY_MACADDR, "macaddr", 0xa846ef9005e4584e, 0x16b15b8b57458a02,
		   0xf90054846296eeed, 0x57ffad2088f2976d),
	FAMILY(BF_FAMILY_MACADDR8, "macaddr8", 0x8c379abebbbf6c6e, 0x51648b0beac43546,
		   0x65feb8f47c1813f0, 0x603a28d8b0557282),
	FAMILY(BF_FAMILY_CHAR, "char", 0xbfe4951c82b24db2, 0x4e463360d2ef790a,
		   0x556d3b036cf2b2b8, 0x9a31beadfa04d24b),
	FAMILY(BF_FAMILY_PG_LSN, "pg_lsn", 0x031be4f58a516a78, 0xdb649bcf5499c09b,
		   0x06fd8b95cd10a371, 0xbb02ebec88764bb0),
	FAMILY(BF_FAMILY_BIT, "bit", 0xc4b9c140ae611fb9, 0xea90fa185b95ae7d,
		   0x6c67cf46165d464a, 0xefecdbeafb5712dd),
	FAMILY(BF_FAMILY_OIDVECTOR, "oidvector", 0x87885015bbc1e1c0, 0x018bbc20b28b4cb6,
		   0x466f03b0470fa066, 0x09a13ac9a04f337d),
};

#define ROWS	(sizeof(rows) / sizeof(rows[0]))

BfFamily
bf_family_by_id(uint64_t id)
{
	size_t		i;

	for (i = BF_FAMILY_OTHER + 1; i < ROWS; i++)
		if (rows[i].ids[0] == id)
			return (BfFamily) i;
	return BF_FAMILY_OTHER;
}

const char *
bf_family_label(BfFamily family)
{
	return (size_t) family < ROWS ? rows[family].names[0] : NULL;
}

uint64_t
bf_family_number(BfFamily family)
{
	return (size_t) family < ROWS ? rows[family].ids[0] : 0;
}

const char *
bf_family_name(uint64_t id)
{
	size_t		i;
	size_t		j;

	for (i = BF_FAMILY_OTHER + 1; i < ROWS; i++)
		for (j = 0; j < NAMES; j++)
			if (rows[i].ids[j] == id)
				return rows[i].names[j];
	return NULL;
}
