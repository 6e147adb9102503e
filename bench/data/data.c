/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * data.c
 *	  Functions that the generators of benchmark data share; see data.h.
 *
 *	PROGRAM TABLE [SCALE]	writes the table in COPY's text format to stdout
 *
 *-------------------------------------------------------------------------
 */
#include "data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array)	((int) (sizeof(array) / sizeof((array)[0])))

int
main(int argc, char **argv)
{
	double		scale = argc > 2 ? atof(argv[2]) : 1;
	const Table *table;

	if (argc > 1 && scale > 0)
		for (table = tables; table->name; table++)
			if (strcmp(table->name, argv[1]) == 0)
			{
				table->write(scale);
				if (fflush(stdout) == 0)
					return 0;
				perror("could not write");
				return 1;
			}
	fprintf(stderr, "usage: %s TABLE [SCALE]\ntables:", argv[0]);
	for (table = tables; table->name; table++)
		fprintf(stderr, " %s", table->name);
	fprintf(stderr, "\n");
	return 2;
}

int64_t
rows_at(double per_scale, double scale)
{
	int64_t		rows = (int64_t) floor(per_scale * scale + 0.5);

	return rows > 0 ? rows : 1;
}

/* ---- random numbers: SplitMix64 (Steele, Lea, Flood 2014) ---- */

static uint64_t
next(Random *r)
{
	uint64_t	z = (r->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

Random
random_of(int stream, int64_t row)
{
	Random		r = {(uint64_t) stream << 56 ^ (uint64_t) row};

	/* neighbours must not be neighbours in the sequence */
	r.state = next(&r);
	return r;
}

int64_t
between(Random *r, int64_t low, int64_t high)
{
	return low + (int64_t) (((unsigned __int128) next(r) * (uint64_t) (high - low + 1)) >> 64);
}

/* ---- columns ---- */

static char row[4096];
static size_t row_length = 0;

/* Appends n bytes and a tab; the buffer has room for every row. */
static void
column(const char *bytes, size_t n)
{
	memcpy(row + row_length, bytes, n);
	row_length += n;
	row[row_length++] = '\t';
}

/*
 * Writes the digits of a value that is not negative, at least at_least of them, to the end of a
 * buffer of 24 bytes.  Returns their beginning.
 */
static char *
digits(char *buffer, int64_t value, int at_least)
{
	char	   *start = buffer + 24;

	for (; value > 0 || at_least > 0; value /= 10, at_least--)
		*--start = (char) ('0' + value % 10);
	return start;
}

void
put_int(int64_t value)
{
	char		buffer[24];
	char	   *start = digits(buffer, value, 1);

	column(start, buffer + 24 - start);
}

void
put_cents(int64_t cents)
{
	char		buffer[24];
	char	   *start = digits(buffer, cents < 0 ? -cents : cents, 3);

	/* the point goes before the last two, and the sign before all: there is room for 24 */
	memmove(start - 1, start, buffer + 22 - start);
	start--;
	buffer[21] = '.';
	if (cents < 0)
		*--start = '-';
	column(start, buffer + 24 - start);
}

void
put_text(const char *text)
{
	column(text, strlen(text));
}

void
put_name(const char *prefix, int64_t number)
{
	char		buffer[24];
	char	   *start = digits(buffer, number, 9);

	put_text(prefix);
	row_length--;				/* without the tab */
	column(start, buffer + 24 - start);
}

void
put_noise(Random *r, int min, int max)
{
	static const char set[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ, ";
	char		buffer[256];
	int			length = (int) between(r, min, max);
	uint64_t	bits = 0;
	int			i;

	for (i = 0; i < length; i++, bits >>= 6)
	{
		if (i % 10 == 0)
			bits = next(r);
		buffer[i] = set[bits & 63];
	}
	column(buffer, (size_t) length);
}

void
put_phone(Random *r, int nation)
{
	char		buffer[32];
	int			area = (int) between(r, 100, 999);
	int			exchange = (int) between(r, 100, 999);
	int			number = (int) between(r, 1000, 9999);

	snprintf(buffer, sizeof(buffer), "%d-%d-%d-%d", nation + 10, area, exchange, number);
	put_text(buffer);
}

void
end_row(void)
{
	row[row_length - 1] = '\n';
	fwrite(row, 1, row_length, stdout);
	row_length = 0;
}

void
write_rows(int stream, int64_t n, void (*row) (Random *r, int64_t key))
{
	int64_t		key;

	for (key = 1; key <= n; key++)
	{
		Random		r = random_of(stream, key);

		row(&r, key);
		end_row();
	}
}

/* ---- text: pieces of one long text, as the specification has it, with a simpler grammar and less of it ---- */

#define TEXT	(4 * 1024 * 1024)

/* A word that is in the list twice is chosen twice as often. */
static const char *const adverbs[] = {"quickly", "slowly", "carefully", "furiously", "blithely", "slyly", "never", "sometimes"};
static const char *const adjectives[] = {
	"special", "special", "pending", "pending", "unusual", "unusual", "express", "express", "regular", "regular", "regular", "final", "final",
	"ironic", "ironic", "even", "bold", "silent", "furious", "sly", "careful", "blithe", "quick", "fluffy", "slow", "quiet", "thin", "close",
	"dogged", "daring", "brave", "permanent", "idle", "busy"
};
static const char *const nouns[] = {
	"packages", "packages", "requests", "requests", "accounts", "accounts", "deposits", "deposits", "foxes", "ideas", "theodolites", "pinto beans",
	"instructions", "dependencies", "excuses", "platelets", "asymptotes", "courts", "dolphins", "multipliers", "warthogs", "dinos", "patterns",
	"braids", "pearls", "waters", "orbits", "gifts", "realms", "decoys"
};
static const char *const verbs[] = {
	"sleep", "wake", "are", "cajole", "haggle", "nag", "use", "boost", "affix", "detect", "integrate", "maintain", "nod", "was", "lose", "sublate",
	"solve", "thrash", "promise", "engage", "hinder", "print", "x-ray", "breach", "eat", "grow", "impress", "mold", "play", "snooze", "doze", "run"
};
static const char *const prepositions[] = {
	"about", "above", "according to", "across", "after", "against", "along", "among", "around", "at", "before", "behind", "beneath", "beside",
	"between", "beyond", "by", "despite", "during", "except", "for", "from", "inside", "into", "near", "of", "on", "over", "under", "upon"
};

#define ONE_OF(r, list)	((list)[between(r, 0, LENGTH(list) - 1)])

static const char *
long_text(void)
{
	static char *text = NULL;
	Random		r = random_of(255, 0);
	size_t		length = 0;

	if (text)
		return text;
	text = malloc(TEXT + 256);
	if (!text)
	{
		perror("no memory");
		exit(1);
	}
	while (length < TEXT)
	{
		const char *adverb = between(&r, 0, 1) ? ONE_OF(&r, adverbs) : "";

		length += (size_t) sprintf(text + length, "%s%s%s %s ", adverb, *adverb ? " " : "", ONE_OF(&r, adjectives), ONE_OF(&r, nouns));
		length += (size_t) sprintf(text + length, "%s %s ", ONE_OF(&r, verbs), ONE_OF(&r, prepositions));
		length += (size_t) sprintf(text + length, "the %s %s", ONE_OF(&r, adjectives), ONE_OF(&r, nouns));
		length += (size_t) sprintf(text + length, "%s ", between(&r, 0, 3) ? "." : ";");
	}
	return text;
}

void
comment(Random *r, int min, int max, char *buffer)
{
	size_t		length = (size_t) between(r, min, max);

	memcpy(buffer, long_text() + between(r, 0, TEXT - max), length);
	buffer[length] = '\0';
}

void
put_comment(Random *r, int min, int max)
{
	char		buffer[256];

	comment(r, min, max, buffer);
	put_text(buffer);
}

/* ---- days ---- */

const Day *
day(int number)
{
	static Day	days[DAYS];
	static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	Day			at = {1992, 1, 1, 1, 31};
	int			i;

	if (days[0].year == 0)
		for (i = 0; i < DAYS; i++)
		{
			days[i] = at;
			at.day++;
			at.day_of_year++;
			if (at.day > at.month_days)
			{
				at.day = 1;
				if (++at.month > 12)
				{
					at.month = 1;
					at.year++;
					at.day_of_year = 1;
				}
				at.month_days = lengths[at.month - 1] + (at.month == 2 && at.year % 4 == 0);
			}
		}
	return &days[number];
}

void
put_date(int number)
{
	const Day  *d = day(number);
	char		text[] = "1990-00-00";

	text[3] = (char) ('0' + d->year % 10);
	text[5] = (char) ('0' + d->month / 10);
	text[6] = (char) ('0' + d->month % 10);
	text[8] = (char) ('0' + d->day / 10);
	text[9] = (char) ('0' + d->day % 10);
	put_text(text);
}

/* ---- words and rules of TPC-H ---- */

const Nation nations[NATIONS] = {
	{"ALGERIA", 0}, {"ARGENTINA", 1}, {"BRAZIL", 1}, {"CANADA", 1}, {"EGYPT", 4}, {"ETHIOPIA", 0}, {"FRANCE", 3}, {"GERMANY", 3}, {"INDIA", 2},
	{"INDONESIA", 2}, {"IRAN", 4}, {"IRAQ", 4}, {"JAPAN", 2}, {"JORDAN", 4}, {"KENYA", 0}, {"MOROCCO", 0}, {"MOZAMBIQUE", 0}, {"PERU", 1},
	{"CHINA", 2}, {"ROMANIA", 3}, {"SAUDI ARABIA", 4}, {"VIETNAM", 2}, {"RUSSIA", 3}, {"UNITED KINGDOM", 3}, {"UNITED STATES", 1}
};

const char *const regions[REGIONS] = {"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"};

const char *const colors[COLORS] = {
	"almond", "antique", "aquamarine", "azure", "beige", "bisque", "black", "blanched", "blue", "blush", "brown", "burlywood", "burnished",
	"chartreuse", "chiffon", "chocolate", "coral", "cornflower", "cornsilk", "cream", "cyan", "dark", "deep", "dim", "dodger", "drab", "firebrick",
	"floral", "forest", "frosted", "gainsboro", "ghost", "goldenrod", "green", "grey", "honeydew", "hot", "indian", "ivory", "khaki", "lace",
	"lavender", "lawn", "lemon", "light", "lime", "linen", "magenta", "maroon", "medium", "metallic", "midnight", "mint", "misty", "moccasin",
	"navajo", "navy", "olive", "orange", "orchid", "pale", "papaya", "peach", "peru", "pink", "plum", "powder", "puff", "purple", "red", "rose",
	"rosy", "royal", "saddle", "salmon", "sandy", "seashell", "sienna", "sky", "slate", "smoke", "snow", "spring", "steel", "tan", "thistle",
	"tomato", "turquoise", "violet", "wheat", "white", "yellow"
};

static const char *const segments[] = {"AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"};
static const char *const priorities[] = {"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"};
static const char *const modes[] = {"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"};
static const char *const type_1[] = {"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"};
static const char *const type_2[] = {"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"};
static const char *const type_3[] = {"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"};
static const char *const container_1[] = {"SM", "LG", "MED", "JUMBO", "WRAP"};
static const char *const container_2[] = {"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"};

const char *
market_segment(Random *r)
{
	return ONE_OF(r, segments);
}

const char *
order_priority(Random *r)
{
	return ONE_OF(r, priorities);
}

const char *
ship_mode(Random *r)
{
	return ONE_OF(r, modes);
}

void
put_part_type(Random *r)
{
	const char *first = ONE_OF(r, type_1);
	const char *second = ONE_OF(r, type_2);
	char		type[32];

	snprintf(type, sizeof(type), "%s %s %s", first, second, ONE_OF(r, type_3));
	put_text(type);
}

void
put_container(Random *r)
{
	const char *first = ONE_OF(r, container_1);
	char		container[16];

	snprintf(container, sizeof(container), "%s %s", first, ONE_OF(r, container_2));
	put_text(container);
}

int64_t
retail_price(int64_t partkey)
{
	return 90000 + partkey / 10 % 20001 + 100 * (partkey % 1000);
}

int64_t
order_key(int64_t n)
{
	return n / 8 * 32 + n % 8 + 1;
}
