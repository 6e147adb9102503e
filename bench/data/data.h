/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * data.h
 *	  Functions that the generators of benchmark data share: random numbers, columns of COPY's text
 *	  format, days, and the words of TPC-H.
 *
 * A generator consists of these functions and a list of tables: ssb.c, tpch.c.  Every row has a
 * sequence of random numbers of its own, which its table and number determine.  So a table can be
 * written alone, with the same contents each time, and two tables can refer to the same order
 * without sharing data.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DATA_H
#define DATA_H

#include <stdint.h>

/*
 * A table of a generator; write() writes all rows at a scale factor.  The list of tables ends with
 * a NULL name.
 */
typedef struct
{
	const char *name;
	void		(*write) (double scale);
} Table;

extern const Table tables[];

/* Returns per_scale * scale, at least 1, as a number of rows. */
extern int64_t rows_at(double per_scale, double scale);

/* ---- random numbers ---- */

typedef struct
{
	uint64_t	state;
} Random;

/* Returns the random sequence of a row; stream stands for a table or purpose, and is below 256. */
extern Random random_of(int stream, int64_t row);

/*
 * Writes the rows 1 to n of a table; row() writes the columns of one row from its random sequence.
 */
extern void write_rows(int stream, int64_t n, void (*row) (Random *r, int64_t key));

/* Returns a uniform random number from low to high, both included. */
extern int64_t between(Random *r, int64_t low, int64_t high);

/* ---- columns: each writes one value; end_row() ends the row ---- */

extern void put_int(int64_t value);
extern void put_cents(int64_t cents);	/* 123456: 1234.56 */
extern void put_text(const char *text);
extern void put_name(const char *prefix, int64_t number);	/* Supplier#000000042 */
extern void put_noise(Random *r, int min, int max); /* letters and digits: an address */
extern void put_comment(Random *r, int min, int max);	/* a piece of English-like text */
extern void put_phone(Random *r, int nation);
extern void put_date(int day);
extern void end_row(void);

/* Writes a piece of English-like text, terminated by a zero, to a buffer of max + 1 bytes. */
extern void comment(Random *r, int min, int max, char *buffer);

/* ---- days, numbered from 1992-01-01 on ---- */

#define DAYS	2557			/* to 1998-12-31 */
#define LAST_ORDER_DAY	(DAYS - 1 - 151)
#define CURRENT_DAY		1263	/* 1995-06-17, which is "now" */

typedef struct
{
	int			year;
	int			month;			/* 1 to 12 */
	int			day;			/* of the month, from 1 on */
	int			day_of_year;	/* from 1 on */
	int			month_days;		/* of this month */
} Day;

extern const Day *day(int number);

/* ---- words and rules of TPC-H that SSB took over ---- */

#define NATIONS	25
#define REGIONS	5
#define COLORS	92

typedef struct
{
	const char *name;
	int			region;
} Nation;

extern const Nation nations[NATIONS];
extern const char *const regions[REGIONS];
extern const char *const colors[COLORS];

extern const char *market_segment(Random *r);
extern const char *order_priority(Random *r);
extern const char *ship_mode(Random *r);
extern void put_part_type(Random *r);
extern void put_container(Random *r);
extern int64_t retail_price(int64_t partkey);	/* in cents */

/* Returns the key of the n-th order, from 0 on; eight of each 32 keys are used. */
extern int64_t order_key(int64_t n);

#endif							/* DATA_H */
