/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * error.c
 *	  Functions that fill in an error; see error.h.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "keys/family.h"

size_t
bf_utf8_length(const char *bytes, size_t len)
{
	const unsigned char *p = (const unsigned char *) bytes;
	/* The valid range of a UTF-8 character's second byte, which depends on the first byte. */
	unsigned	low = 0x80;
	unsigned	high = 0xbf;
	size_t		n;
	size_t		i;

	if (len == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n > len)
		return 0;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	for (i = 2; i < n; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return n;
}

/*
 * Returns whether a character is a control character: of ASCII, or one of U+0080 to U+009F, which
 * have two bytes in UTF-8.
 */
static bool
is_control(const char *bytes, size_t len)
{
	const unsigned char *p = (const unsigned char *) bytes;

	return len == 1 ? p[0] < 0x20 || p[0] == 0x7f : len == 2 && p[0] == 0xc2 && p[1] < 0xa0;
}

void
bf_clean(char *to, size_t room, const char *bytes, size_t len)
{
	size_t		used = 0;
	size_t		done = 0;

	while (done < len)
	{
		size_t		n = bf_utf8_length(bytes + done, len - done);
		bool		odd = n == 0 || is_control(bytes + done, n);

		if (used + (odd ? 1 : n) >= room)
			break;
		if (odd)
			to[used++] = '?';
		else
		{
			memcpy(to + used, bytes + done, n);
			used += n;
		}
		done += n > 0 ? n : 1;
	}
	to[used] = '\0';
}

/*
 * Formats a message into one of an error's texts (room bytes at "to"), and replaces unprintable
 * characters.
 */
static void
put(char *to, size_t room, const char *format, va_list args)
{
	char		text[1024];
	int			len = vsnprintf(text, sizeof(text), format, args);

	if (len < 0)
		len = 0;
	if ((size_t) len >= sizeof(text))
		len = (int) sizeof(text) - 1;
	bf_clean(to, room, text, (size_t) len);
}

BloomfamStatus
bf_fail(BloomfamError *error, BloomfamStatus status, const char *format, ...)
{
	va_list		args;

	if (error == NULL)
		return status;
	memset(error, 0, sizeof(*error));
	error->status = status;
	error->row = BLOOMFAM_NO_ROW;
	va_start(args, format);
	put(error->message, sizeof(error->message), format, args);
	va_end(args);
	return status;
}

void
bf_detail(BloomfamError *error, const char *format, ...)
{
	va_list		args;

	if (error == NULL)
		return;
	va_start(args, format);
	put(error->detail, sizeof(error->detail), format, args);
	va_end(args);
}

void
bf_hint(BloomfamError *error, const char *format, ...)
{
	va_list		args;

	if (error == NULL)
		return;
	va_start(args, format);
	put(error->hint, sizeof(error->hint), format, args);
	va_end(args);
}

const char *
bf_rate(double fpr, char room[BF_RATE_ROOM])
{
	char	   *p;

	/* The locale may have another decimal mark than a point. */
	snprintf(room, BF_RATE_ROOM, "%g", fpr);
	for (p = room; *p != '\0'; p++)
		if (strchr("0123456789+-abcdefghijklmnopqrstuvwxyz", *p) == NULL)
			*p = '.';
	return room;
}

const char *
bf_family_text(const BfHeader *head, char room[BF_FAMILY_ROOM])
{
	const char *known;

	if (head->family_id == 0)
		snprintf(room, BF_FAMILY_ROOM, "(none)");
	else if (head->family_len > 0)
		bf_clean(room, BF_FAMILY_ROOM, head->family, head->family_len);
	else if ((known = bf_family_name(head->family_id)) != NULL)
		snprintf(room, BF_FAMILY_ROOM, "%s", known);
	else
		snprintf(room, BF_FAMILY_ROOM, "(number %016llx)", (unsigned long long) head->family_id);
	return room;
}
