/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  Opening a filter in memory, describing it, closing it, and writing it.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/filter.h"

#include <stdio.h>
#include <sys/mman.h>

#include "client/lib/form.h"
#include "core/bf_format.h"

const char *
bloomfam_version(void)
{
	return BLOOMFAM_VERSION;
}

/* ---- opening ---- */

/*
 * Returns the offset of the payload in a filter, of whose bytes the first avail are at head.
 * Returns 0 if these are too few to tell.
 */
static size_t
payload_offset(const uint8_t *head, size_t avail)
{
	return avail < BF_FIXED_HEADER_SIZE
			   ? 0
			   : (size_t) bf_payload_offset(head[BF_OFF_FAMILY_LEN] |
											(uint32_t) head[BF_OFF_FAMILY_LEN + 1] << 8);
}

void *
bf_filter_place(const BloomfamHost *host, const uint8_t *head, size_t avail, size_t before,
				size_t len, uint8_t **place)
{
	size_t		offset = before + payload_offset(head, avail);
	char	   *memory = NULL;
	size_t		shift;

	if (len <= SIZE_MAX - before - BF_CACHE_LINE)
		memory = host->alloc(host->arg, before + len + BF_CACHE_LINE);
	if (memory == NULL)
		return NULL;
	bf_advise_huge_pages(memory, before + len);
	shift = (BF_CACHE_LINE - ((uintptr_t) memory + offset) % BF_CACHE_LINE) % BF_CACHE_LINE;
	*place = (uint8_t *) memory + shift + before;
	return memory;
}

static void
release(const BloomfamHost *host, BfHolding holding, void *held, size_t held_len)
{
	if (holding == BF_HOLDS_MEMORY)
		host->release(host->arg, held);
	else if (holding == BF_HOLDS_MAP)
		(void) munmap(held, held_len);
}

static BloomfamStatus
corrupt(BloomfamError *error, const char *reason)
{
	(void) bf_fail(error, BLOOMFAM_INVALID, "invalid bloom filter");
	bf_detail(error, "Reason: %s.", reason);
	return BLOOMFAM_INVALID;
}

BloomfamStatus
bf_filter_make(const BloomfamHost *host, BloomfamForm form, const uint8_t *bytes, size_t len,
			   BfHolding holding, void *held, size_t held_len, unsigned flags,
			   BloomfamFilter **filter, BloomfamError *error)
{
	BloomfamFilter *self = NULL;
	BloomfamStatus status = BLOOMFAM_OK;
	const char *reason;
	BfView		view;

	if (bf_open(bytes, len, len, &view, &reason) != BF_OK)
		status = corrupt(error, reason);
	else if ((self = host->alloc(host->arg, sizeof(*self))) == NULL)
		status = bf_no_memory(error);
	if (status != BLOOMFAM_OK)
	{
		release(host, holding, held, held_len);
		return status;
	}
	memset(self, 0, sizeof(*self));
	self->host = *host;
	self->form = form;
	self->holding = holding;
	self->held = held;
	self->held_len = held_len;
	self->bytes = bytes;
	self->len = len;
	self->view = view;
	self->type_status = bf_type_of_family(&view.head, &self->type);
	if (flags & BLOOMFAM_VALIDATE)
		status = bloomfam_validate(self, error);
	if (status != BLOOMFAM_OK)
	{
		bloomfam_close(self);
		return status;
	}
	*filter = self;
	return BLOOMFAM_OK;
}

/*
 * Decodes the digits of a hex form into memory of the host.  Returns the memory to release later,
 * and the address of the filter within it.
 */
static BloomfamStatus
decode(const BloomfamHost *host, const BfFound *found, void **memory, uint8_t **value,
	   BloomfamError *error)
{
	uint8_t		head[BF_FIXED_HEADER_SIZE];
	size_t		len = found->len / 2;
	size_t		avail = len < sizeof(head) ? len : sizeof(head);
	size_t		done;
	size_t		n;

	if (bf_hex_decode(found->bytes, avail, head) < avail)
		return corrupt(error, "there are other characters than hexadecimal digits");
	*memory = bf_filter_place(host, head, avail, 0, len, value);
	if (*memory == NULL)
		return bf_no_memory(error);
	for (done = 0; done < len; done += n)
	{
		BloomfamStatus status = BLOOMFAM_OK;

		n = len - done < BF_BYTES_PER_CHECK ? len - done : BF_BYTES_PER_CHECK;
		if (bf_hex_decode(found->bytes + 2 * done, n, *value + done) < n)
			status = corrupt(error, "there are other characters than hexadecimal digits");
		else if (bf_host_stops(host))
			status = bf_fail(error, BLOOMFAM_STOPPED, "stopped");
		if (status != BLOOMFAM_OK)
		{
			host->release(host->arg, *memory);
			return status;
		}
	}
	return BLOOMFAM_OK;
}

/*
 * Copies a filter into memory of the host.  Returns the memory to release later, and the address of
 * the filter within it.
 */
static BloomfamStatus
copy(const BloomfamHost *host, const BfFound *found, void **memory, uint8_t **value,
	 BloomfamError *error)
{
	*memory = bf_filter_place(host, found->bytes, found->len, 0, found->len, value);
	if (*memory == NULL)
		return bf_no_memory(error);
	memcpy(*value, found->bytes, found->len);
	return BLOOMFAM_OK;
}

BloomfamStatus
bloomfam_open(const BloomfamHost *host, const void *bytes, size_t len, unsigned flags,
			  BloomfamFilter **filter, BloomfamError *error)
{
	BloomfamHost mine = bf_host(host);
	BloomfamStatus status;
	BfFound		found;
	void	   *memory;
	uint8_t    *value;

	*filter = NULL;
	status = bf_form_find(bytes, len, &found, error);
	if (status != BLOOMFAM_OK)
		return status;
	if (!bf_form_is_hex(found.form) && !(flags & BLOOMFAM_COPY))
		return bf_filter_make(&mine, found.form, found.bytes, found.len, BF_HOLDS_NOTHING, NULL, 0,
							  flags, filter, error);

	/* The length is checked before memory of that size is allocated. */
	if (found.len / (bf_form_is_hex(found.form) ? 2 : 1) > BF_MAX_PARTIAL_SIZE)
		return corrupt(error, "the value is longer than any filter");
	status = bf_form_is_hex(found.form) ? decode(&mine, &found, &memory, &value, error)
										: copy(&mine, &found, &memory, &value, error);
	if (status != BLOOMFAM_OK)
		return status;
	return bf_filter_make(&mine, found.form, value,
						  bf_form_is_hex(found.form) ? found.len / 2 : found.len, BF_HOLDS_MEMORY,
						  memory, 0, flags, filter, error);
}

void
bloomfam_close(BloomfamFilter *filter)
{
	BloomfamHost host;

	if (filter == NULL)
		return;
	host = filter->host;
	release(&host, filter->holding, filter->held, filter->held_len);
	host.release(host.arg, filter);
}

/* The work of bloomfam_validate(), within an arena. */
static BloomfamStatus
validate(BfArena *arena, void *arg, BloomfamError *error)
{
	const BloomfamFilter *filter = *(const BloomfamFilter **) arg;
	const char *reason;
	BfView		view;

	return bf_validate(&arena->port, filter->bytes, filter->len, &view, &reason) == BF_OK
			   ? BLOOMFAM_OK
			   : corrupt(error, reason);
}

BloomfamStatus
bloomfam_validate(const BloomfamFilter *filter, BloomfamError *error)
{
	return bf_arena_run(&filter->host, error, validate, &filter);
}

/* ---- describing ---- */

BloomfamStatus
bf_filter_check_askable(const BloomfamFilter *filter, BloomfamError *error)
{
	if (filter->view.head.kind->id != BF_KIND_PARTIAL)
		return BLOOMFAM_OK;
	(void) bf_fail(error, BLOOMFAM_NOT_ASKABLE,
				   "bloom filter of kind \"partial\" is the state of an aggregate");
	bf_detail(error, "It has to be combined with the other states, and finished, in the server.");
	return BLOOMFAM_NOT_ASKABLE;
}

BloomfamStatus
bloomfam_filter_type(const BloomfamFilter *filter, BloomfamType *type, BloomfamError *error)
{
	BloomfamStatus status = bf_filter_check_askable(filter, error);

	if (status != BLOOMFAM_OK)
		return status;
	if (filter->type_status != BF_TYPE_OK)
		return bf_type_error(filter->type_status, &filter->view.head, error);
	*type = filter->type;
	return BLOOMFAM_OK;
}

void
bloomfam_info(const BloomfamFilter *filter, BloomfamInfo *info)
{
	const BfHeader *head = &filter->view.head;

	memset(info, 0, sizeof(*info));
	info->kind = head->kind->name;
	info->form = filter->form;
	info->askable = filter->type_status == BF_TYPE_OK && head->kind->id != BF_KIND_PARTIAL;
	info->empty = head->family_id == 0;
	info->family_id = head->family_id;
	if (head->family_id != 0)
		(void) bf_family_text(head, info->family);
	if (info->family[0] == '(')
		info->family[0] = '\0';
	info->capacity = head->capacity;
	info->keys_added = head->keys_added;
	info->target_fpr = head->target_fpr;
	info->size = filter->len;
}

/* The arguments and results of read_stats(), the work of bloomfam_stats() within an arena. */
typedef struct StatsWork
{
	const BloomfamFilter *filter;
	BfStats		stats;
} StatsWork;

static BloomfamStatus
read_stats(BfArena *arena, void *arg, BloomfamError *error)
{
	StatsWork  *work = arg;

	(void) error;
	bf_stats(&arena->port, &work->filter->view, &work->stats);
	return BLOOMFAM_OK;
}

BloomfamStatus
bloomfam_stats(const BloomfamFilter *filter, BloomfamStats *stats, BloomfamError *error)
{
	StatsWork	work = {.filter = filter};
	BloomfamStatus status = bf_filter_check_askable(filter, error);

	if (status == BLOOMFAM_NOT_ASKABLE)
		status = BLOOMFAM_UNSUPPORTED;
	else
		status = bf_arena_run(&filter->host, error, read_stats, &work);
	if (error != NULL && status != BLOOMFAM_OK)
		error->status = status;
	if (status != BLOOMFAM_OK)
		return status;
	memset(stats, 0, sizeof(*stats));
	stats->keys = work.stats.keys;
	stats->fpr = work.stats.fpr;
	stats->fill = work.stats.fill;
	stats->bits = work.stats.bits;
	stats->hashes = work.stats.hashes;
	stats->stages = work.stats.stages;
	return BLOOMFAM_OK;
}

/* ---- the bytes ---- */

const void *
bloomfam_bytes(const BloomfamFilter *filter, size_t *len)
{
	*len = filter->len;
	return filter->bytes;
}

uint64_t
bloomfam_written_size(const BloomfamFilter *filter, BloomfamForm form)
{
	switch (form)
	{
		case BLOOMFAM_HEX:
			return 2 + 2 * (uint64_t) filter->len;
		case BLOOMFAM_COPY_TEXT:
			return 3 + 2 * (uint64_t) filter->len;
		case BLOOMFAM_COPY_BINARY:
			return BF_COPY_HEADER + BF_COPY_FIELD + (uint64_t) filter->len + BF_COPY_TRAILER;
		case BLOOMFAM_RAW:
			break;
	}
	return filter->len;
}

BloomfamStatus
bloomfam_write(const BloomfamFilter *filter, BloomfamForm form,
			   bool (*write) (void *arg, const void *bytes, size_t len), void *arg,
			   BloomfamError *error)
{
	uint8_t		begin[BF_COPY_HEADER + BF_COPY_FIELD];
	char		digits[64 * 1024];
	size_t		done;
	size_t		n;
	bool		ok = true;

	switch (form)
	{
		case BLOOMFAM_RAW:
			ok = write(arg, filter->bytes, filter->len);
			break;
		case BLOOMFAM_COPY_BINARY:
			bf_copy_begin(begin, filter->len);
			ok = write(arg, begin, sizeof(begin)) && write(arg, filter->bytes, filter->len) &&
				 write(arg, bf_copy_trailer, sizeof(bf_copy_trailer));
			break;
		case BLOOMFAM_HEX:
		case BLOOMFAM_COPY_TEXT:
			ok = form == BLOOMFAM_HEX ? write(arg, "\\x", 2) : write(arg, "\\\\x", 3);
			for (done = 0; ok && done < filter->len; done += n)
			{
				n = filter->len - done < sizeof(digits) / 2 ? filter->len - done
															: sizeof(digits) / 2;
				bf_hex_encode(filter->bytes + done, n, digits);
				ok = write(arg, digits, 2 * n);
			}
			break;
		default:
			return bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "unknown form of a bloom filter");
	}
	return ok ? BLOOMFAM_OK : bf_fail(error, BLOOMFAM_STOPPED, "writing was stopped");
}
