/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * tpch.c
 *	  The tables of TPC-H, by the rules of its specification, 3.0, clauses 4.2.2 and 4.2.3.  See
 *	  data.h.
 *
 * Two rules are simplified: the text of comments, and the letters of addresses.  Scale factors
 * below 1 make all tables except nation and region smaller.
 *
 *-------------------------------------------------------------------------
 */
#include "data.h"

#include <stdio.h>
#include <string.h>

#define SUPPLIERS	10000.0
#define PARTS		200000.0
#define CUSTOMERS	150000.0
#define ORDERS		1500000.0
#define CLERKS		1000.0
#define SUPPLIERS_OF_PART	4
#define MAX_LINES	7

enum
{
	SUPPLIER = 1, PART, PARTSUPP, CUSTOMER, ORDER, NATION, REGION, COMPLAINT
};

typedef struct
{
	int64_t		part;
	int64_t		supplier;
	int			quantity;
	int64_t		price;			/* extended, in cents */
	int			discount;		/* in percent, as tax */
	int			tax;
	int			ship_day;
	int			commit_day;
	int			receipt_day;
} Line;

typedef struct
{
	int64_t		key;
	int64_t		customer;
	int			day;
	int			nlines;
	Line		lines[MAX_LINES];
	Random		random;			/* for the rest of its columns */
} Order;

static void
write_region(double scale)
{
	int			i;

	(void) scale;
	for (i = 0; i < REGIONS; i++)
	{
		Random		r = random_of(REGION, i);

		put_int(i);
		put_text(regions[i]);
		put_comment(&r, 31, 115);
		end_row();
	}
}

static void
write_nation(double scale)
{
	int			i;

	(void) scale;
	for (i = 0; i < NATIONS; i++)
	{
		Random		r = random_of(NATION, i);

		put_int(i);
		put_text(nations[i].name);
		put_int(nations[i].region);
		put_comment(&r, 31, 114);
		end_row();
	}
}

/*
 * Returns the special word in a supplier's comment, or NULL.  Of each 2,000 suppliers, one comment
 * has complaints, and another one recommendations.
 */
static const char *
told_of(int64_t supplier)
{
	Random		r = random_of(COMPLAINT, (supplier - 1) / 2000);
	int64_t		complaint = between(&r, 0, 1999);
	int64_t		other = (complaint + between(&r, 1, 1999)) % 2000;

	supplier = (supplier - 1) % 2000;
	return supplier == complaint ? "Complaints" : supplier == other ? "Recommends" : NULL;
}

/* Writes key, name, address, nation, phone and balance of a customer or supplier. */
static void
put_party(Random *r, const char *name, int64_t key)
{
	int			nation = (int) between(r, 0, NATIONS - 1);

	put_int(key);
	put_name(name, key);
	put_noise(r, 10, 40);
	put_int(nation);
	put_phone(r, nation);
	put_cents(between(r, -99999, 999999));
}

static void
supplier_row(Random *r, int64_t key)
{
	const char *told = told_of(key);
	char		text[101];

	put_party(r, "Supplier#", key);
	comment(r, 25, 100, text);
	if (told)
	{
		/* with or without something between them, somewhere in it */
		size_t		room = strlen(text) - strlen("Customer") - strlen(told);
		size_t		start = (size_t) between(r, 0, (int64_t) room);
		size_t		gap = (size_t) between(r, 0, (int64_t) (room - start));

		memcpy(text + start, "Customer", strlen("Customer"));
		memcpy(text + start + strlen("Customer") + gap, told, strlen(told));
	}
	put_text(text);
}

static void
write_supplier(double scale)
{
	write_rows(SUPPLIER, rows_at(SUPPLIERS, scale), supplier_row);
}

static void
part_row(Random *r, int64_t key)
{
	int			manufacturer = (int) between(r, 1, 5);
	int			brand = (int) between(r, 1, 5);
	int			words[5];
	char		text[128];
	int			length = 0;
	int			i;

	put_int(key);
	for (i = 0; i < 5; i++)
	{
		int			j;

		/* five that differ */
		do
		{
			words[i] = (int) between(r, 0, COLORS - 1);
			for (j = 0; words[j] != words[i]; j++)
				;
		} while (j < i);
		length += sprintf(text + length, "%s%s", i > 0 ? " " : "", colors[words[i]]);
	}
	put_text(text);
	snprintf(text, sizeof(text), "Manufacturer#%d", manufacturer);
	put_text(text);
	snprintf(text, sizeof(text), "Brand#%d%d", manufacturer, brand);
	put_text(text);
	put_part_type(r);
	put_int(between(r, 1, 50));
	put_container(r);
	put_cents(retail_price(key));
	put_comment(r, 5, 22);
}

static void
write_part(double scale)
{
	write_rows(PART, rows_at(PARTS, scale), part_row);
}

/* Returns the i-th supplier of a part, from 0 on, among the given number of suppliers. */
static int64_t
supplier_of(int64_t part, int64_t i, int64_t suppliers)
{
	return (part + i * (suppliers / 4 + (part - 1) / suppliers)) % suppliers + 1;
}

static void
write_partsupp(double scale)
{
	int64_t		n = rows_at(PARTS, scale);
	int64_t		suppliers = rows_at(SUPPLIERS, scale);
	int64_t		part;
	int			i;

	for (part = 1; part <= n; part++)
		for (i = 0; i < SUPPLIERS_OF_PART; i++)
		{
			Random		r = random_of(PARTSUPP, part * SUPPLIERS_OF_PART + i);

			put_int(part);
			put_int(supplier_of(part, i, suppliers));
			put_int(between(&r, 1, 9999));
			put_cents(between(&r, 100, 100000));
			put_comment(&r, 49, 198);
			end_row();
		}
}

static void
customer_row(Random *r, int64_t key)
{
	put_party(r, "Customer#", key);
	put_text(market_segment(r));
	put_comment(r, 29, 116);
}

static void
write_customer(double scale)
{
	write_rows(CUSTOMER, rows_at(CUSTOMERS, scale), customer_row);
}

/*
 * Makes the n-th order, from 0 on, with its lines: the data that the tables orders and lineitem
 * share.
 */
static void
make_order(Order *order, int64_t n, double scale)
{
	int64_t		customers = rows_at(CUSTOMERS, scale);
	int64_t		parts = rows_at(PARTS, scale);
	int64_t		suppliers = rows_at(SUPPLIERS, scale);
	Random	   *r = &order->random;
	int64_t		customer;
	int			i;

	*r = random_of(ORDER, n);
	order->key = order_key(n);
	/* not a third of the customers */
	customer = between(r, 0, customers - customers / 3 - 1);
	order->customer = customer / 2 * 3 + customer % 2 + 1;
	order->day = (int) between(r, 0, LAST_ORDER_DAY);
	order->nlines = (int) between(r, 1, MAX_LINES);
	for (i = 0; i < order->nlines; i++)
	{
		Line	   *line = &order->lines[i];

		line->part = between(r, 1, parts);
		line->supplier = supplier_of(line->part, between(r, 0, SUPPLIERS_OF_PART - 1), suppliers);
		line->quantity = (int) between(r, 1, 50);
		line->price = line->quantity * retail_price(line->part);
		line->discount = (int) between(r, 0, 10);
		line->tax = (int) between(r, 0, 8);
		line->ship_day = order->day + (int) between(r, 1, 121);
		line->commit_day = order->day + (int) between(r, 30, 90);
		line->receipt_day = line->ship_day + (int) between(r, 1, 30);
	}
}

static void
write_orders(double scale)
{
	int64_t		norders = rows_at(ORDERS, scale);
	int64_t		clerks = rows_at(CLERKS, scale);
	int64_t		n;

	for (n = 0; n < norders; n++)
	{
		Order		order;
		int64_t		price = 0;
		int			open = 0;
		int			i;

		make_order(&order, n, scale);
		for (i = 0; i < order.nlines; i++)
		{
			Line	   *line = &order.lines[i];

			price += (line->price * (100 + line->tax) * (100 - line->discount) + 5000) / 10000;
			open += line->ship_day > CURRENT_DAY;
		}
		put_int(order.key);
		put_int(order.customer);
		put_text(open == 0 ? "F" : open == order.nlines ? "O" : "P");
		put_cents(price);
		put_date(order.day);
		put_text(order_priority(&order.random));
		put_name("Clerk#", between(&order.random, 1, clerks));
		put_int(0);
		put_comment(&order.random, 19, 78);
		end_row();
	}
}

static void
write_lineitem(double scale)
{
	static const char *const instructions[] = {"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"};
	int64_t		norders = rows_at(ORDERS, scale);
	int64_t		n;

	for (n = 0; n < norders; n++)
	{
		Order		order;
		int			i;

		make_order(&order, n, scale);
		for (i = 0; i < order.nlines; i++)
		{
			Line	   *line = &order.lines[i];
			Random	   *r = &order.random;

			put_int(order.key);
			put_int(line->part);
			put_int(line->supplier);
			put_int(i + 1);
			put_int(line->quantity);
			put_cents(line->price);
			put_cents(line->discount);
			put_cents(line->tax);
			put_text(line->receipt_day > CURRENT_DAY ? "N" : between(r, 0, 1) ? "R" : "A");
			put_text(line->ship_day > CURRENT_DAY ? "O" : "F");
			put_date(line->ship_day);
			put_date(line->commit_day);
			put_date(line->receipt_day);
			put_text(instructions[between(r, 0, 3)]);
			put_text(ship_mode(r));
			put_comment(r, 10, 43);
			end_row();
		}
	}
}

const Table tables[] = {
	{"region", write_region},
	{"nation", write_nation},
	{"supplier", write_supplier},
	{"part", write_part},
	{"partsupp", write_partsupp},
	{"customer", write_customer},
	{"orders", write_orders},
	{"lineitem", write_lineitem},
	{0}
};
