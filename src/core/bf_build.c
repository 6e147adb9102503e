/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_build.c
 *	  Making of finished filters from hashes; see bf_build.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_build.h"

/* The number of hashes that are moved at once from a source to a filter. */
#define MOVE_HASHES		1024

/*
 * The number of bytes that are written between two checks for interrupts: less than a millisecond
 * of work.
 */
#define WRITTEN_BYTES	((uint64_t) 1024 * 1024)

static void
zero_bytes(const BfPort *port, uint8_t *bytes, uint64_t len)
{
	uint64_t	done;

	for (done = 0; done < len; done += WRITTEN_BYTES)
	{
		bf_check_interrupts(port);
		memset(bytes + done, 0, BF_MIN(WRITTEN_BYTES, len - done));
	}
}

static void
copy_bytes(const BfPort *port, uint8_t *to, const uint8_t *from, uint64_t len)
{
	uint64_t	done;

	for (done = 0; done < len; done += WRITTEN_BYTES)
	{
		bf_check_interrupts(port);
		memcpy(to + done, from + done, BF_MIN(WRITTEN_BYTES, len - done));
	}
}

/* ---- planning ---- */

bool
bf_build_is_direct(const BfKind *kind, uint64_t expected)
{
	return expected != 0 && !(kind->caps & BF_FROM_SET) && (kind->caps & BF_CAN_UNION);
}

BfStatus
bf_build_plan(const BfDesign *design, uint64_t expected, uint64_t distinct, BfHeader *head)
{
	uint64_t	keys = expected;

	if (!bf_build_is_direct(design->kind, expected))
	{
		/*
		 * A kind that is built at once takes no keys later: its filter is sized for the keys at
		 * hand, whatever number is expected.  An aggregate's state may expect no keys at all.
		 */
		if (design->kind->build != NULL || keys == 0)
			keys = 1;
		keys = BF_MAX(keys, distinct);
	}
	return bf_plan(design, keys, head);
}

void
bf_build_identity(BfHeader *head)
{
	memset(head, 0, sizeof(*head));
	head->kind = &bf_kind_identity;
	head->hash_id = BF_HASH_XXH3;
}

/* ---- making the stored form of a filter ---- */

void
bf_build_stored_plan(const BfPort *port, const BfView *image, BfHeader *head)
{
	*head = image->head;
	if (head->kind->pack != NULL)
		head->kind->pack_plan(port, image, head);
}

void
bf_build_stored_payload(const BfPort *port, const BfHeader *head, uint8_t *payload,
						const BfView *image)
{
	if (head->kind->pack != NULL)
	{
		zero_bytes(port, payload, head->payload_len);
		head->kind->pack(port, head, payload, image);
	}
	else if (head->payload_len > 0)
		copy_bytes(port, payload, image->payload, head->payload_len);
}

static uint8_t *
payload_of(uint8_t *data, const BfHeader *head)
{
	return data + bf_payload_offset(head->family_len);
}

static void
seal(const BfPort *port, uint8_t *data, const BfHeader *head)
{
	bf_write_header(data, head);
	bf_seal(port, data, bf_data_size(head));
}

void
bf_build_stored(const BfPort *port, BfRoom *room, const BfView *image, BfHeader *head,
				uint8_t **data)
{
	bf_build_stored_plan(port, image, head);
	*data = room->alloc(room, bf_data_size(head));
	bf_build_stored_payload(port, head, payload_of(*data, head), image);
	seal(port, *data, head);
}

/* ---- filters that are built by adding keys ---- */

/* Allocates memory for a value with this header, and zeroes its payload. */
static uint8_t *
alloc_zeroed(const BfPort *port, BfRoom *room, const BfHeader *head)
{
	uint8_t    *data = room->alloc(room, bf_data_size(head));

	zero_bytes(port, payload_of(data, head), head->payload_len);
	return data;
}

/*
 * Replaces a full filter by the next larger one.  Returns BF_FULL, or the status of grow_plan, if
 * there is none; *head and *data are then unchanged.
 */
static BfStatus
grow(const BfPort *port, BfRoom *room, BfHeader *head, uint8_t **data)
{
	BfView		full = {.head = *head, .payload = payload_of(*data, head)};
	BfStatus	status = BF_FULL;
	uint8_t    *larger;

	bf_check_interrupts(port);
	if (head->kind->grow_plan != NULL)
		status = head->kind->grow_plan(&full, head);
	if (status != BF_OK)
	{
		*head = full.head;
		return status;
	}
	larger = alloc_zeroed(port, room, head);
	head->kind->grow(head, payload_of(larger, head), &full);
	room->release(room, *data);
	*data = larger;
	return BF_OK;
}

/* Makes a filter by adding the hashes of a source one after the other. */
static BfStatus
build_by_adding(const BfPort *port, BfRoom *room, BfHeader *head, BfSource *source, uint8_t **data)
{
	uint64_t	hashes[MOVE_HASHES];
	uint8_t    *payload;
	size_t		n;

	*data = alloc_zeroed(port, room, head);
	payload = payload_of(*data, head);
	bf_init(head, payload);
	while ((n = source->read(source, hashes, MOVE_HASHES)) > 0)
	{
		size_t		done = 0;

		bf_check_interrupts(port);
		while ((done += head->kind->add(head, payload, hashes + done, n - done)) < n)
		{
			BfStatus	status = grow(port, room, head, data);

			if (status != BF_OK)
				return status;
			payload = payload_of(*data, head);
		}
	}

	if (head->kind->pack != NULL && !head->kind->is_packed(head))
	{
		BfView		loose = {.head = *head, .payload = payload};
		uint8_t    *image = *data;

		bf_build_stored(port, room, &loose, head, data);
		room->release(room, image);
	}
	else
		seal(port, *data, head);
	return BF_OK;
}

/* ---- filters that are built at once ---- */

/*
 * A sink that writes the payload into a filter's value, and enlarges the value as needed; the
 * payload begins after room for the header.
 */
typedef struct ValueSink
{
	BfSink		sink;
	const BfPort *port;
	BfRoom	   *room;
	uint8_t    *data;
	uint64_t	offset;
	uint64_t	size;			/* The number of bytes allocated at data. */
} ValueSink;

/*
 * Extends the value.  Need not check the limit of its size: a kind's build function does so before
 * it extends the sink.
 */
static void
extend_value(BfSink *sink, uint64_t more)
{
	ValueSink  *self = (ValueSink *) sink;
	uint64_t	end = self->offset + sink->len + more;

	if (end > self->size)
	{
		self->size = BF_MIN(end + end / 8, BF_MAX_VALUE_SIZE);
		self->data = self->room->resize(self->room, self->data, self->size);
		sink->bytes = self->data + self->offset;
	}
	zero_bytes(self->port, sink->bytes + sink->len, more);
	sink->len += more;
}

/* Builds a filter at once, with its payload at its final place in the value. */
static BfStatus
build_at_once(const BfPort *port, BfRoom *room, BfHeader *head, BfSource *source, uint8_t **data)
{
	ValueSink	sink = {.sink.extend = extend_value, .port = port, .room = room};
	uint64_t	size;
	BfStatus	status;

	sink.offset = bf_payload_offset(head->family_len);
	sink.size = sink.offset + head->payload_len;
	sink.data = room->alloc(room, sink.size);
	sink.sink.bytes = sink.data + sink.offset;
	status = head->kind->build(port, head, source, &sink.sink);
	*data = sink.data;
	if (status != BF_OK)
		return status;

	/* The size that was planned is only an estimate: give unused memory back if it is much. */
	size = sink.offset + head->payload_len;
	if (sink.size - size > size / 8)
		*data = room->resize(room, *data, size);
	seal(port, *data, head);
	return BF_OK;
}

/* ---- filters of a set of keys ---- */

BfStatus
bf_build_set(const BfPort *port, BfRoom *room, BfHeader *head, BfSource *source, uint8_t **data)
{
	BfStatus	status;

	if (head->kind->build != NULL)
		status = build_at_once(port, room, head, source, data);
	else
		status = build_by_adding(port, room, head, source, data);
	if (status != BF_OK)
	{
		room->release(room, *data);
		*data = NULL;
	}
	return status;
}

static size_t
read_array(BfSource *source, uint64_t *hashes, size_t max)
{
	BfArraySource *self = (BfArraySource *) source;
	size_t		n = BF_MIN(max, (size_t) (self->end - self->next));

	if (n > 0)
		memcpy(hashes, self->next, n * sizeof(uint64_t));
	self->next += n;
	return n;
}

void
bf_build_source(const BfPort *port, const BfKind *kind, uint64_t *hashes, uint64_t n,
				BfArraySource *source)
{
	uint64_t	kept;

	source->source.read = read_array;
	if (kind->caps & BF_MULTISET)
		kept = bf_sort_multiset(port, hashes, n, &source->source.n);
	else
		kept = source->source.n = bf_sort_hashes(port, hashes, n);
	source->next = hashes;
	source->end = hashes + kept;
}

BfStatus
bf_build_hashes(const BfPort *port, BfRoom *room, const BfDesign *design, uint64_t expected,
				uint64_t *hashes, uint64_t n, BfHeader *head, uint8_t **data)
{
	BfHeader	family = *head;
	BfArraySource source;
	BfStatus	status = BF_OK;

	*data = NULL;
	if (n == 0)
		bf_build_identity(head);
	else
	{
		bf_build_source(port, design->kind, hashes, n, &source);
		status = bf_build_plan(design, expected, source.source.n, head);
	}
	head->family_id = family.family_id;
	head->family_len = family.family_len;
	head->family = family.family;
	head->keys_added = bf_count_keys(n, 0);
	if (status != BF_OK)
		return status;
	if (n > 0)
		return bf_build_set(port, room, head, &source.source, data);
	*data = room->alloc(room, bf_data_size(head));
	seal(port, *data, head);
	return BF_OK;
}
