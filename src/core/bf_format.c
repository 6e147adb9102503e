/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_format.c
 *	  Reading, checking and writing of a filter's stored form; see bf_format.h for the layout.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_format.h"
#include "bf_hash.h"

static const uint8_t magic[4] = {'b', 'f', 'a', 'm'};

static uint64_t
double_bits(double d)
{
	uint64_t	bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static double
bits_double(uint64_t bits)
{
	double		d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

/*
 * Reads the fields of a header into *head.  Checks only that the kind is known: returns NULL, or
 * what is wrong.
 */
static const char *
parse(const uint8_t *p, BfHeader *head)
{
	int			i;

	head->kind = bf_kind_by_id(p[BF_OFF_KIND]);
	if (head->kind == NULL)
		return "the kind of filter is unknown";
	head->hash_id = (BfHashId) p[BF_OFF_HASH];
	head->family_len = bf_load16(p + BF_OFF_FAMILY_LEN);
	head->family_id = bf_load64(p + BF_OFF_FAMILY_ID);
	head->capacity = bf_load64(p + BF_OFF_CAPACITY);
	head->keys_added = bf_load64(p + BF_OFF_KEYS_ADDED);
	head->target_fpr = bits_double(bf_load64(p + BF_OFF_FPR));
	head->payload_len = bf_load64(p + BF_OFF_PAYLOAD_LEN);
	for (i = 0; i < BF_NPARAMS; i++)
		head->param[i] = bf_load32(p + BF_OFF_PARAM + i * 4);
	head->family = (const char *) p + BF_FIXED_HEADER_SIZE;
	return NULL;
}

/* Checks what must hold for the header of any kind.  Returns NULL, or what is wrong. */
static const char *
check_header(const uint8_t *p, const BfHeader *head, size_t total)
{
	bool		sized = !(head->kind->caps & BF_INTERNAL);

	if (p[BF_OFF_FLAGS] != 0 || bf_load16(p + BF_OFF_RESERVED) != 0 ||
		bf_load64(p + BF_OFF_SEED) != 0)
		return "reserved fields of the header are not zero";
	if (sized && head->hash_id != head->kind->hash_id)
		return "the hash function is not the one of this kind";
	if (head->family_id == 0 && (head->family_len != 0 || head->keys_added != 0))
		return "a filter without a key family holds keys";
	if (head->family_len != 0 && head->family_id != bf_family_id(head->family, head->family_len))
		return "the key family's name does not match its number";
	if (sized)
	{
		/* The comparison is written so that a target_fpr that is NaN is refused. */
		if (!(head->target_fpr > 0 && head->target_fpr < 1))
			return "the target false positive rate is not between 0 and 1";
		if (head->capacity == 0 || head->capacity > INT64_MAX)
			return "the capacity is out of range";
	}
	if (head->keys_added > INT64_MAX)
		return "the number of keys is out of range";
	if (total > (sized ? BF_MAX_VALUE_SIZE : BF_MAX_PARTIAL_SIZE) ||
		head->payload_len != total - bf_payload_offset(head->family_len))
		return "the length does not match the header";
	return head->kind->check(head);
}

BfStatus
bf_open(const void *data, size_t avail, size_t total, BfView *view, const char **reason)
{
	const uint8_t *p = data;
	uint64_t	offset;

	*reason = NULL;
	view->payload = NULL;
	if (avail < BF_FIXED_HEADER_SIZE)
		*reason = "the value is too short";
	else if (memcmp(p, magic, sizeof(magic)) != 0)
		*reason = "the value does not begin as a filter does";
	else if (p[BF_OFF_VERSION] != BF_FORMAT_VERSION)
		*reason = "the format version is unknown";
	else if (bf_load16(p + BF_OFF_FAMILY_LEN) > BF_MAX_FAMILY_LEN)
		*reason = "the key family's name is too long";
	else if ((offset = bf_payload_offset(bf_load16(p + BF_OFF_FAMILY_LEN))) > avail ||
			 avail > total)
		*reason = "the value is too short";
	else if ((*reason = parse(p, &view->head)) == NULL &&
			 (*reason = check_header(p, &view->head, total)) == NULL &&
			 avail == total)
		view->payload = p + offset;
	return *reason == NULL ? BF_OK : BF_CORRUPT;
}

/*
 * The number of bytes that are added to a checksum between two checks for interrupts: less than a
 * millisecond of work.
 */
#define SUMMED_BYTES	((size_t) 1024 * 1024)

/*
 * Returns the low half of XXH3 over the value, with the 4 bytes of the stored checksum taken as
 * zeros.
 */
static uint32_t
checksum(const BfPort *port, const uint8_t *p, size_t len)
{
	static const uint8_t zero[4] = {0};
	XXH3_state_t state;
	size_t		done = BF_OFF_FAMILY_LEN;

	XXH3_64bits_reset(&state);
	XXH3_64bits_update(&state, p, BF_OFF_CHECKSUM);
	XXH3_64bits_update(&state, zero, sizeof(zero));
	while (done < len)
	{
		size_t		chunk = BF_MIN(len - done, SUMMED_BYTES);

		XXH3_64bits_update(&state, p + done, chunk);
		done += chunk;
		bf_check_interrupts(port);
	}
	return (uint32_t) XXH3_64bits_digest(&state);
}

BfStatus
bf_validate(const BfPort *port, const void *data, size_t len, BfView *view, const char **reason)
{
	const uint8_t *p = data;
	uint64_t	at;

	if (bf_open(data, len, len, view, reason) != BF_OK)
		return BF_CORRUPT;
	if (bf_load32(p + BF_OFF_CHECKSUM) != checksum(port, p, len))
		*reason = "the checksum does not match";
	for (at = BF_FIXED_HEADER_SIZE + view->head.family_len;
		 at < bf_payload_offset(view->head.family_len); at++)
		if (p[at] != 0)
			*reason = "the padding is not zero";
	if (view->head.family_len != 0 && memchr(view->head.family, 0, view->head.family_len) != NULL)
		*reason = "the key family's name contains a zero byte";
	if (*reason == NULL && view->head.kind->validate != NULL)
		*reason = view->head.kind->validate(port, view);
	return *reason == NULL ? BF_OK : BF_CORRUPT;
}

void
bf_write_header(void *data, const BfHeader *head)
{
	uint8_t    *p = data;
	int			i;

	/* The name is moved first, because it may lie where the header is about to be written. */
	if (head->family_len != 0)
		memmove(p + BF_FIXED_HEADER_SIZE, head->family, head->family_len);
	memset(p + BF_FIXED_HEADER_SIZE + head->family_len, 0,
		   bf_payload_offset(head->family_len) - BF_FIXED_HEADER_SIZE - head->family_len);
	memset(p, 0, BF_FIXED_HEADER_SIZE);

	memcpy(p, magic, sizeof(magic));
	p[BF_OFF_VERSION] = BF_FORMAT_VERSION;
	p[BF_OFF_KIND] = (uint8_t) head->kind->id;
	p[BF_OFF_HASH] = (uint8_t) head->hash_id;
	bf_store16(p + BF_OFF_FAMILY_LEN, (uint16_t) head->family_len);
	bf_store64(p + BF_OFF_FAMILY_ID, head->family_id);
	bf_store64(p + BF_OFF_CAPACITY, head->capacity);
	bf_store64(p + BF_OFF_KEYS_ADDED, head->keys_added);
	bf_store64(p + BF_OFF_FPR, double_bits(head->target_fpr));
	bf_store64(p + BF_OFF_PAYLOAD_LEN, head->payload_len);
	for (i = 0; i < BF_NPARAMS; i++)
		bf_store32(p + BF_OFF_PARAM + i * 4, head->param[i]);
}

void
bf_seal(const BfPort *port, void *data, size_t len)
{
	bf_store32((uint8_t *) data + BF_OFF_CHECKSUM, checksum(port, data, len));
}
