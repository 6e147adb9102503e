/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * parse_time.c
 *	  Keys from text: dates and times in ISO 8601 format, and intervals; see parse.h.
 *
 * Texts that the server would round are refused: a second has at most six decimal digits.  Texts
 * whose meaning depends on the server's settings are refused, too: names of time zones and months,
 * years of two digits, dates that do not begin with the year, and a timestamp with time zone
 * without an offset.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/parse.h"

static const char no_date[] = "it is not a date such as 2024-02-29";
static const char no_time[] = "it is not a time such as 12:34:56.789";
static const char no_timetz[] = "it is not a time with time zone such as 12:34:56.789+02";
static const char no_timestamp[] = "it is not a timestamp such as 2024-02-29 12:34:56.789";
static const char no_timestamptz[] =
	"it is not a timestamp with time zone such as 2024-02-29 12:34:56.789+02";
static const char no_interval[] = "it is not an interval such as 1 mon 2 days 12:34:56.789";
static const char out_of_range[] = "it is out of range";

#define USECS_PER_SECOND	INT64_C(1000000)
#define USECS_PER_MINUTE	(60 * USECS_PER_SECOND)
#define USECS_PER_HOUR		(60 * USECS_PER_MINUTE)

/* The server's limit: the offset of a time zone is less than 16 hours. */
#define MAX_ZONE_HOURS		15

/* A year of more digits is out of the range of all types. */
#define MAX_YEAR_DIGITS		7

/* ---- dates ---- */

/*
 * Returns the number of days from 2000-01-01 to a day of the Gregorian calendar, extended without
 * limit into the past.  Year 0 is 1 BC.  Years begin in March in the computation, so that the leap
 * day is the last day of a year.
 */
static int64_t
days_since_2000(int64_t year, int64_t month, int64_t day)
{
	int64_t		era;
	int64_t		of_era;
	int64_t		of_year;

	year -= month <= 2;
	era = (year >= 0 ? year : year - 399) / 400;
	of_era = year - era * 400;
	of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 730425;
}

static int
days_of_month(int64_t year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool		leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

/* The year, month and day of a date, as written. */
typedef struct Date
{
	int64_t		year;
	int64_t		month;
	int64_t		day;
} Date;

static bool
take_date(BfText *text, Date *date)
{
	return bf_take_digits(text, 4, MAX_YEAR_DIGITS, &date->year) && bf_take(text, '-') &&
		   bf_take_digits(text, 2, 2, &date->month) && bf_take(text, '-') &&
		   bf_take_digits(text, 2, 2, &date->day);
}

/*
 * Computes the day of a date, whose year may be followed by " BC" at the end of the text.  Returns
 * false if there is no such day.
 */
static bool
end_date(BfText *text, const Date *date, int64_t *days)
{
	int64_t		year = date->year;

	if (year == 0)
		return false;
	if (text->at < text->end)
	{
		if (!bf_take(text, ' ') || !bf_take(text, 'B') || !bf_take(text, 'C'))
			return false;
		year = 1 - year;
	}
	if (text->at != text->end || date->month < 1 || date->month > 12 || date->day < 1 ||
		date->day > days_of_month(year, (int) date->month))
		return false;
	*days = days_since_2000(year, date->month, date->day);
	return true;
}

/* Reads an infinite date or timestamp.  Returns false if the text is not one. */
static bool
is_infinite(const char *text, size_t len, BfInstant *instant)
{
	instant->unit = 6;
	instant->value = 0;
	instant->epoch = BF_PLUS_INFINITY;
	if (bf_is_word(text, len, "infinity"))
		return true;
	instant->epoch = BF_MINUS_INFINITY;
	return bf_is_word(text, len, "-infinity");
}

BloomfamAnswer
bf_parse_date(const char *text, size_t len, BfKey *key, const char **reason)
{
	BfInstant  *instant = &key->u.instant;
	BfText		rest = {text, text + len};
	Date		date;

	if (is_infinite(text, len, instant))
		return BLOOMFAM_ABSENT;
	if (!take_date(&rest, &date) || !end_date(&rest, &date, &instant->value))
		return bf_bad(no_date, reason);
	instant->epoch = BF_SINCE_2000;
	return instant->value >= BF_MIN_DATE && instant->value < BF_END_DATE
			   ? BLOOMFAM_ABSENT
			   : bf_bad(out_of_range, reason);
}

/* ---- times ---- */

/* Reads up to six digits of a fraction of a second, as microseconds. */
static bool
take_fraction(BfText *text, int64_t *usecs)
{
	const char *begin = text->at;

	if (!bf_take_digits(text, 1, 6, usecs))
		return false;
	for (begin += 6; text->at < begin; begin--)
		*usecs *= 10;
	return true;
}

/* Reads a time of day, up to 24:00: hours, minutes, and optional seconds. */
static bool
take_time(BfText *text, int64_t *usecs)
{
	int64_t		hours;
	int64_t		minutes;
	int64_t		seconds = 0;
	int64_t		fraction = 0;

	if (!bf_take_digits(text, 2, 2, &hours) || !bf_take(text, ':') ||
		!bf_take_digits(text, 2, 2, &minutes))
		return false;
	if (bf_take(text, ':') &&
		(!bf_take_digits(text, 2, 2, &seconds) ||
		 (bf_take(text, '.') && !take_fraction(text, &fraction))))
		return false;
	*usecs = hours * USECS_PER_HOUR + minutes * USECS_PER_MINUTE + seconds * USECS_PER_SECOND +
			 fraction;
	return minutes < 60 && seconds < 60 && *usecs <= 24 * USECS_PER_HOUR;
}

/* Reads an offset from UTC, [+-]HH[:MM[:SS]], as seconds west of UTC. */
static bool
take_zone(BfText *text, int32_t *zone)
{
	bool		east = bf_take(text, '+');
	int64_t		hours;
	int64_t		minutes = 0;
	int64_t		seconds = 0;

	if (!east && !bf_take(text, '-'))
		return false;
	if (!bf_take_digits(text, 2, 2, &hours) ||
		(bf_take(text, ':') && (!bf_take_digits(text, 2, 2, &minutes) ||
								(bf_take(text, ':') && !bf_take_digits(text, 2, 2, &seconds)))) ||
		hours > MAX_ZONE_HOURS || minutes > 59 || seconds > 59)
		return false;
	*zone = (int32_t) (hours * 3600 + minutes * 60 + seconds);
	if (east)
		*zone = -*zone;
	return true;
}

BloomfamAnswer
bf_parse_time(const char *text, size_t len, BfKey *key, const char **reason)
{
	BfText		rest = {text, text + len};

	key->u.instant.epoch = BF_SINCE_2000;
	key->u.instant.unit = 6;
	return take_time(&rest, &key->u.instant.value) && rest.at == rest.end ? BLOOMFAM_ABSENT
																		  : bf_bad(no_time, reason);
}

BloomfamAnswer
bf_parse_timetz(const char *text, size_t len, BfKey *key, const char **reason)
{
	BfText		rest = {text, text + len};

	return take_time(&rest, &key->u.timetz.usecs) && take_zone(&rest, &key->u.timetz.zone) &&
				   rest.at == rest.end
			   ? BLOOMFAM_ABSENT
			   : bf_bad(no_timetz, reason);
}

/* ---- timestamps ---- */

/* Computes the timestamp of a day and a time of day in a time zone. */
static BloomfamAnswer
set_timestamp(int64_t days, int64_t usecs, int32_t zone, BfInstant *instant, const char **reason)
{
	instant->epoch = BF_SINCE_2000;
	instant->unit = 6;
	if (__builtin_mul_overflow(days, BF_KEY_DAY_USECS, &instant->value) ||
		__builtin_add_overflow(instant->value, usecs, &instant->value) ||
		__builtin_add_overflow(instant->value, zone * USECS_PER_SECOND, &instant->value) ||
		instant->value < BF_MIN_TIMESTAMP || instant->value >= BF_END_TIMESTAMP)
		return bf_bad(out_of_range, reason);
	return BLOOMFAM_ABSENT;
}

BloomfamAnswer
bf_parse_timestamp(const char *text, size_t len, BfKey *key, const char **reason)
{
	BfText		rest = {text, text + len};
	int64_t		usecs = 0;
	int64_t		days;
	Date		date;

	if (is_infinite(text, len, &key->u.instant))
		return BLOOMFAM_ABSENT;
	if (!take_date(&rest, &date))
		return bf_bad(no_timestamp, reason);

	/*
	 * A date without a time means midnight.  The suffix " BC" begins with a blank, too, so the
	 * blank before a time must have a digit after it.
	 */
	if (rest.end - rest.at > 1 && bf_is_digit(rest.at[1]) &&
		(bf_take(&rest, ' ') || bf_take(&rest, 'T')) && !take_time(&rest, &usecs))
		return bf_bad(no_timestamp, reason);
	if (!end_date(&rest, &date, &days))
		return bf_bad(no_timestamp, reason);
	return set_timestamp(days, usecs, 0, &key->u.instant, reason);
}

BloomfamAnswer
bf_parse_timestamptz(const char *text, size_t len, BfKey *key, const char **reason)
{
	BfText		rest = {text, text + len};
	int64_t		usecs;
	int64_t		days;
	int32_t		zone;
	Date		date;

	if (is_infinite(text, len, &key->u.instant))
		return BLOOMFAM_ABSENT;
	if (!take_date(&rest, &date) || !(bf_take(&rest, ' ') || bf_take(&rest, 'T')) ||
		!take_time(&rest, &usecs) || !take_zone(&rest, &zone) || !end_date(&rest, &date, &days))
		return bf_bad(no_timestamptz, reason);
	return set_timestamp(days, usecs, zone, &key->u.instant, reason);
}

/* ---- intervals ---- */

/* The fields of an interval, each with a sign of its own. */
typedef struct Interval
{
	int64_t		months;
	int64_t		days;
	int64_t		usecs;
} Interval;

/* The maximum number of digits of an interval's field; a field of more digits is out of range. */
#define FIELD_DIGITS	10

/* Skips a sign, and returns whether there was one. *negative tells whether it was '-'. */
static bool
take_sign(BfText *text, bool *negative)
{
	*negative = bf_take(text, '-');
	return *negative || bf_take(text, '+');
}

/* Reads hours of two or more digits, minutes and seconds, with colons between them. */
static bool
take_hours(BfText *text, bool negative, int64_t *usecs)
{
	int64_t		hours;
	int64_t		minutes;
	int64_t		seconds;
	int64_t		fraction = 0;

	if (!bf_take_digits(text, 2, FIELD_DIGITS, &hours) || !bf_take(text, ':') ||
		!bf_take_digits(text, 2, 2, &minutes) || !bf_take(text, ':') ||
		!bf_take_digits(text, 2, 2, &seconds) ||
		(bf_take(text, '.') && !take_fraction(text, &fraction)))
		return false;
	fraction += minutes * USECS_PER_MINUTE + seconds * USECS_PER_SECOND;
	if (negative)
	{
		hours = -hours;
		fraction = -fraction;
	}
	return minutes < 60 && seconds < 60 &&
		   !__builtin_mul_overflow(hours, USECS_PER_HOUR, usecs) &&
		   !__builtin_add_overflow(*usecs, fraction, usecs);
}

/* The units of fields in IntervalStyle postgres, in the order of an interval's fields. */
static const struct
{
	const char *name;
	int			months;
	int			days;
}			units[] = {
	{"year", 12, 0},
	{"mon", 1, 0},
	{"day", 0, 1},
};

/*
 * Reads an interval in IntervalStyle postgres: fields such as "-1 years", "2 mons", "+3 days",
 * "-04:05:06.789", in this order.  A field after a negative field must have a sign, as in all texts
 * that the server writes: otherwise a server with another IntervalStyle could apply the first sign
 * to all fields.
 */
static bool
read_postgres(BfText *text, Interval *interval)
{
	bool		after_negative = false;
	size_t		unit = 0;

	do
	{
		BfText		begin = *text;
		bool		negative;
		bool		has_sign = take_sign(text, &negative);
		int64_t		value;

		if (after_negative && !has_sign)
			return false;
		after_negative = negative;
		if (!bf_take_digits(text, 1, FIELD_DIGITS, &value))
			return false;
		if (text->at < text->end && *text->at == ':')
		{
			*text = begin;
			(void) take_sign(text, &negative);
			return take_hours(text, negative, &interval->usecs) && text->at == text->end;
		}
		if (!bf_take(text, ' '))
			return false;
		for (; unit < sizeof(units) / sizeof(units[0]); unit++)
			if (bf_take_word(text, units[unit].name))
				break;
		if (unit == sizeof(units) / sizeof(units[0]))
			return false;
		(void) bf_take(text, 's');
		if (negative)
			value = -value;
		interval->months += value * units[unit].months;
		interval->days += value * units[unit].days;
		unit++;
	} while (bf_take(text, ' '));
	return text->at == text->end;
}

/* Reads the rest of a number of seconds: an optional fraction, and the letter S. */
static bool
take_seconds(BfText *text, bool negative, int64_t value, int64_t *usecs)
{
	int64_t		fraction = 0;

	if (bf_take(text, '.') && !take_fraction(text, &fraction))
		return false;
	value = value * USECS_PER_SECOND + fraction;
	return !__builtin_add_overflow(*usecs, negative ? -value : value, usecs) && bf_take(text, 'S');
}

/*
 * Reads an interval in IntervalStyle iso_8601, such as P1Y2M3DT4H5M6.789S, after the letter P.
 * Numbers may be negative.
 */
static bool
read_iso(BfText *text, Interval *interval)
{
	static const char order[] = "YMDTHM";
	const char *next = order;
	bool		in_time = false;
	bool		any = false;

	while (text->at < text->end)
	{
		bool		negative;
		int64_t		value;
		const char *found;

		if (!in_time && bf_take(text, 'T'))
		{
			in_time = true;
			next = strchr(order, 'T') + 1;
		}
		negative = bf_take(text, '-');
		if (!bf_take_digits(text, 1, FIELD_DIGITS, &value) || text->at == text->end)
			return false;
		any = true;
		if (in_time && (*text->at == '.' || *text->at == 'S'))
			return take_seconds(text, negative, value, &interval->usecs) && text->at == text->end;

		/* Each unit may occur once, and the units must be in order. */
		found = strchr(next, *text->at);
		if (found == NULL || *found == '\0' || (*found == 'T') || in_time != (found - order > 3))
			return false;
		text->at++;
		next = found + 1;
		if (negative)
			value = -value;
		switch (found - order)
		{
			case 0:
				interval->months += 12 * value;
				break;
			case 1:
				interval->months += value;
				break;
			case 2:
				interval->days += value;
				break;
			case 4:
				if (__builtin_mul_overflow(value, USECS_PER_HOUR, &value) ||
					__builtin_add_overflow(interval->usecs, value, &interval->usecs))
					return false;
				break;
			default:
				if (__builtin_add_overflow(interval->usecs, value * USECS_PER_MINUTE,
										   &interval->usecs))
					return false;
				break;
		}
	}
	return any;
}

BloomfamAnswer
bf_parse_interval(const char *text, size_t len, BfKey *key, const char **reason)
{
	BfText		rest = {text, text + len};
	Interval	interval = {0, 0, 0};

	/*
	 * From PostgreSQL 17 on, an infinite interval has the largest or smallest value in all three
	 * fields.
	 */
	if (bf_is_word(text, len, "infinity"))
		interval = (Interval) {INT32_MAX, INT32_MAX, INT64_MAX};
	else if (bf_is_word(text, len, "-infinity"))
		interval = (Interval) {INT32_MIN, INT32_MIN, INT64_MIN};
	else if (bf_take(&rest, 'P') ? !read_iso(&rest, &interval) : !read_postgres(&rest, &interval))
		return bf_bad(no_interval, reason);
	if (interval.months != (int32_t) interval.months || interval.days != (int32_t) interval.days)
		return bf_bad(out_of_range, reason);
	key->u.span = (__int128) (interval.months * 30 + interval.days) * BF_KEY_DAY_USECS +
				  interval.usecs;
	return BLOOMFAM_ABSENT;
}
