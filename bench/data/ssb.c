/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * ssb.c
 *	  The tables of the Star Schema Benchmark, by P.  O'Neil, E.  O'Neil, X.  Chen: "Star Schema
 *	  Benchmark", revision 3, 2009.  See data.h.
 *
 * What the benchmark takes over from TPC-H follows TPC-H's rules: orders of one to seven lines,
 * sparse order keys, prices, words.  Money is in cents.  Scale factors below 1 make all tables
 * except date smaller.
 *
 *-------------------------------------------------------------------------
 */
#include "data.h"

#include <math.h>
#include <stdio.h>

#define LINES		6000000.0
#define CUSTOMERS	30000.0
#define SUPPLIERS	2000.0
#define PARTS		200000.0
#define DATES		2556		/* not the last day of 1998, which nothing refers to */
#define MAX_LINES	7

enum
{
	ORDER = 101, CUSTOMER, SUPPLIER, PART
};

/* Returns the number of parts, which grows with the logarithm of the scale factor. */
static int64_t
parts_at(double scale)
{
	return rows_at(PARTS, scale < 1 ? scale : 1 + floor(log2(scale)));
}

static int
date_key(int number)
{
	const Day  *d = day(number);

	return d->year * 10000 + d->month * 100 + d->day;
}

static void
write_lineorder(double scale)
{
	int64_t		nlines = rows_at(LINES, scale);
	int64_t		customers = rows_at(CUSTOMERS, scale);
	int64_t		suppliers = rows_at(SUPPLIERS, scale);
	int64_t		parts = parts_at(scale);
	int64_t		n;

	for (n = 0; nlines > 0; n++)
	{
		Random		r = random_of(ORDER, n);
		int64_t		customer = between(&r, 1, customers);
		int			order_day = (int) between(&r, 0, LAST_ORDER_DAY);
		const char *priority = order_priority(&r);
		int64_t		lines = between(&r, 1, MAX_LINES);
		int64_t		part[MAX_LINES];
		int			quantity[MAX_LINES];
		int			discount[MAX_LINES];
		int			tax[MAX_LINES];
		int64_t		price[MAX_LINES];
		int64_t		total = 0;
		int			i;

		if (lines > nlines)
			lines = nlines;
		nlines -= lines;
		for (i = 0; i < lines; i++)
		{
			part[i] = between(&r, 1, parts);
			quantity[i] = (int) between(&r, 1, 50);
			discount[i] = (int) between(&r, 0, 10);
			tax[i] = (int) between(&r, 0, 8);
			price[i] = quantity[i] * retail_price(part[i]);
			total += price[i] * (100 - discount[i]) / 100 * (100 + tax[i]) / 100;
		}
		for (i = 0; i < lines; i++)
		{
			put_int(order_key(n));
			put_int(i + 1);
			put_int(customer);
			put_int(part[i]);
			put_int(between(&r, 1, suppliers));
			put_int(date_key(order_day));
			put_text(priority);
			put_text("0");
			put_int(quantity[i]);
			put_int(price[i]);
			put_int(total);
			put_int(discount[i]);
			put_int(price[i] * (100 - discount[i]) / 100);
			put_int(6 * retail_price(part[i]) / 10);
			put_int(tax[i]);
			put_int(date_key(order_day + (int) between(&r, 30, 90)));
			put_text(ship_mode(&r));
			end_row();
		}
	}
}

/* Writes name, address, city, nation, region and phone of a customer or supplier. */
static void
put_party(Random *r, const char *name, int64_t key)
{
	int			nation = (int) between(r, 0, NATIONS - 1);
	char		city[11];

	put_int(key);
	put_name(name, key);
	put_noise(r, 10, 25);
	/* ten cities of a nation: nine letters of its name, filled up with blanks, and a digit */
	snprintf(city, sizeof(city), "%-9.9s%d", nations[nation].name, (int) between(r, 0, 9));
	put_text(city);
	put_text(nations[nation].name);
	put_text(regions[nations[nation].region]);
	put_phone(r, nation);
}

static void
customer_row(Random *r, int64_t key)
{
	put_party(r, "Customer#", key);
	put_text(market_segment(r));
}

static void
write_customer(double scale)
{
	write_rows(CUSTOMER, rows_at(CUSTOMERS, scale), customer_row);
}

static void
supplier_row(Random *r, int64_t key)
{
	put_party(r, "Supplier#", key);
}

static void
write_supplier(double scale)
{
	write_rows(SUPPLIER, rows_at(SUPPLIERS, scale), supplier_row);
}

static void
part_row(Random *r, int64_t key)
{
	const char *color = colors[between(r, 0, COLORS - 1)];
	const char *other = colors[between(r, 0, COLORS - 1)];
	int			manufacturer = (int) between(r, 1, 5);
	int			category = (int) between(r, 1, 5);
	char		text[64];

	put_int(key);
	snprintf(text, sizeof(text), "%s %s", color, other);
	put_text(text);
	snprintf(text, sizeof(text), "MFGR#%d", manufacturer);
	put_text(text);
	snprintf(text, sizeof(text), "MFGR#%d%d", manufacturer, category);
	put_text(text);
	snprintf(text, sizeof(text), "MFGR#%d%d%d", manufacturer, category, (int) between(r, 1, 40));
	put_text(text);
	put_text(color);
	put_part_type(r);
	put_int(between(r, 1, 50));
	put_container(r);
}

static void
write_part(double scale)
{
	write_rows(PART, parts_at(scale), part_row);
}

static const char *
season(const Day *d)
{
	return d->month == 12 || (d->month == 11 && d->day > 24) ? "Christmas" :
		d->month <= 2 ? "Winter" : d->month <= 5 ? "Spring" : d->month <= 8 ? "Summer" : "Fall";
}

static int
is_holiday(const Day *d)
{
	static const int holidays[][2] = {{1, 1}, {2, 20}, {4, 20}, {5, 20}, {7, 4}, {9, 5}, {11, 20}, {12, 25}};
	int			i;

	for (i = 0; i < (int) (sizeof(holidays) / sizeof(holidays[0])); i++)
		if (d->month == holidays[i][0] && d->day == holidays[i][1])
			return 1;
	return 0;
}

static void
write_date(double scale)
{
	static const char *const weekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
	static const char *const months[] = {
		"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"
	};
	int			i;

	(void) scale;
	for (i = 0; i < DATES; i++)
	{
		const Day  *d = day(i);
		const char *month = months[d->month - 1];
		int			weekday = (i + 3) % 7;	/* 1992-01-01 was a Wednesday */
		char		text[32];

		put_int(date_key(i));
		snprintf(text, sizeof(text), "%s %d, %d", month, d->day, d->year);
		put_text(text);
		put_text(weekdays[weekday]);
		put_text(month);
		put_int(d->year);
		put_int(d->year * 100 + d->month);
		snprintf(text, sizeof(text), "%.3s%d", month, d->year);
		put_text(text);
		put_int(weekday + 1);
		put_int(d->day);
		put_int(d->day_of_year);
		put_int(d->month);
		put_int((d->day_of_year - 1) / 7 + 1);
		put_text(season(d));
		put_text(weekday == 6 ? "t" : "f");
		put_text(d->day == d->month_days ? "t" : "f");
		put_text(is_holiday(d) ? "t" : "f");
		put_text(weekday >= 1 && weekday <= 5 ? "t" : "f");
		end_row();
	}
}

const Table tables[] = {
	{"date", write_date},
	{"customer", write_customer},
	{"supplier", write_supplier},
	{"part", write_part},
	{"lineorder", write_lineorder},
	{0}
};
