/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Building filters, and uniting two filters.
 *
 *-------------------------------------------------------------------------
 */
#include "client/lib/column_hash.h"
#include "client/lib/filter.h"
#include "client/lib/room.h"
#include "core/bf_hash.h"

#define USUAL_KIND	"blocked"
#define USUAL_FPR	0.01

/* Number of hashes for which a builder first allocates memory. */
#define FIRST_HASHES	((size_t) 4096)

/*
 * From this number of hashes on, a builder drops repeated hashes before it allocates more memory.
 * Sorting them costs time, but many keys may have few distinct values.
 */
#define MANY_HASHES		((size_t) 8 * 1024 * 1024)

/* How a builder stores its keys until the filter is made, and whether it can still be used. */
typedef enum BfBuilderState
{
	BUILDER_HASHES,				/* The builder collects hashes. */
	BUILDER_IMAGE,				/* The builder adds keys directly to a payload of planned size. */
	/* The builder is finished, or a call failed after adding only some of its keys. */
	BUILDER_BROKEN
} BfBuilderState;

struct BloomfamBuilder
{
	BloomfamHost host;
	BfBuilderState state;
	BloomfamType type;
	size_t		family_len;
	BfDesign	design;
	uint64_t	expected;		/* Expected number of distinct keys; 0: unknown. */
	uint64_t	keys_added;

	uint64_t   *hashes;			/* BUILDER_HASHES: the collected hashes; NULL: none yet. */
	size_t		n;
	size_t		room;

	BfHeader	head;			/* BUILDER_IMAGE: header of the filter. */
	void	   *memory;			/* The allocation that holds the payload. */
	uint8_t    *payload;
};

/* ---- parameters ---- */

static BloomfamStatus
too_large(const BfKind *kind, double fpr, uint64_t keys, BloomfamError *error)
{
	char		rate[BF_RATE_ROOM];

	(void) bf_fail(error, BLOOMFAM_TOO_LARGE, "bloom filter would be too large");
	bf_detail(error, "A filter of kind \"%s\" for %llu keys at a false positive rate of %s would "
					 "exceed %d MB.",
			  kind->name, (unsigned long long) keys, bf_rate(fpr, rate),
			  (int) (BF_MAX_VALUE_SIZE / (1024 * 1024)));
	bf_hint(error, "Allow a higher false positive rate, or divide the keys among several filters.");
	return BLOOMFAM_TOO_LARGE;
}

static BloomfamStatus
rate_too_low(const BfKind *kind, double fpr, BloomfamError *error)
{
	char		rate[BF_RATE_ROOM];

	(void) bf_fail(error, BLOOMFAM_BAD_ARGUMENT,
				   "false positive rate %s is too low for kind \"%s\"", bf_rate(fpr, rate),
				   kind->name);
	bf_detail(error, "The lowest that this kind reaches is %s.", bf_rate(kind->min_fpr, rate));
	if (kind->better_kind != NULL)
		bf_hint(error, "Use kind \"%s\".", kind->better_kind);
	return BLOOMFAM_BAD_ARGUMENT;
}

/*
 * Makes the design of a filter from a kind's name and a false positive rate, and checks that the
 * kind takes keys of the type.
 */
static BloomfamStatus
make_design(const BloomfamType *type, const char *kind_name, double fpr, BfDesign *design,
			BloomfamError *error)
{
	const BfKind *kind = bf_kind_by_name(kind_name != NULL ? kind_name : USUAL_KIND);

	if (kind == NULL || kind->caps & BF_INTERNAL)
		return bf_kind_error(kind_name, error);
	if ((kind->hash_id == BF_HASH_XXH64_PLAIN) != bf_type_is_plain(type))
	{
		(void) bf_fail(error, BLOOMFAM_WRONG_TYPE,
					   "keys of type %s cannot be those of a bloom filter of kind \"%s\"",
					   type->family, kind->name);
		bf_hint(error, "Give the kind with the name of the type.");
		return BLOOMFAM_WRONG_TYPE;
	}
	if (fpr == 0)
		fpr = USUAL_FPR;
	switch (bf_design(kind, fpr, design))
	{
		case BF_OK:
			return BLOOMFAM_OK;
		case BF_FPR_TOO_LOW:
			return rate_too_low(kind, fpr, error);
		default:
			return bf_fail(error, BLOOMFAM_BAD_ARGUMENT,
						   "false positive rate must be between 0 and 1, both excluded");
	}
}

BloomfamStatus
bloomfam_planned_size(const BloomfamType *type, const char *kind, double fpr, uint64_t keys,
					  uint64_t *size, BloomfamError *error)
{
	BfDesign	design;
	BfHeader	head;
	BloomfamStatus status = make_design(type, kind, fpr, &design, error);

	if (status != BLOOMFAM_OK)
		return status;
	if (keys == 0)
		keys = 1;
	if (keys > INT64_MAX || bf_plan(&design, keys, &head) != BF_OK)
		return too_large(design.kind, design.fpr, keys, error);
	head.family_len = (uint32_t) strlen(type->family);
	*size = bf_data_size(&head);
	return BLOOMFAM_OK;
}

/* ---- a builder ---- */

/* Allocates an empty payload for BUILDER_IMAGE, aligned to a cache line. */
static BloomfamStatus
begin_image(BloomfamBuilder *self, BloomfamError *error)
{
	uint64_t	size;

	if (bf_build_plan(&self->design, self->expected, 0, &self->head) != BF_OK)
		return too_large(self->design.kind, self->design.fpr, self->expected, error);
	size = self->head.payload_len;
	self->memory = self->host.alloc(self->host.arg, (size_t) size + BF_CACHE_LINE);
	if (self->memory == NULL)
		return bf_no_memory(error);
	bf_advise_huge_pages(self->memory, (size_t) size);
	self->payload = (uint8_t *) self->memory +
					(BF_CACHE_LINE - (uintptr_t) self->memory % BF_CACHE_LINE) % BF_CACHE_LINE;
	memset(self->payload, 0, (size_t) size);
	bf_init(&self->head, self->payload);
	self->state = BUILDER_IMAGE;
	return BLOOMFAM_OK;
}

BloomfamStatus
bloomfam_builder_make(const BloomfamHost *host, const BloomfamType *type, const char *kind,
					  double fpr, uint64_t expected, BloomfamBuilder **builder,
					  BloomfamError *error)
{
	BloomfamHost mine = bf_host(host);
	BloomfamBuilder *self;
	BfDesign	design;
	BloomfamStatus status = make_design(type, kind, fpr, &design, error);

	*builder = NULL;
	if (status != BLOOMFAM_OK)
		return status;
	if (expected > INT64_MAX)
		return bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "expected number of keys is out of range");

	/*
	 * Characters of an enum's name may have been replaced by '?' in BloomfamType.  Then the
	 * family's name and number do not match, and no filter of the family can be built.
	 */
	if (bf_family_id(type->family, strlen(type->family)) != type->family_id)
		return bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "the name of the keys' type is not known");
	self = mine.alloc(mine.arg, sizeof(*self));
	if (self == NULL)
		return bf_no_memory(error);
	memset(self, 0, sizeof(*self));
	self->host = mine;
	self->state = BUILDER_HASHES;
	self->type = *type;
	self->family_len = strlen(type->family);
	self->design = design;
	self->expected = expected;
	if (bf_build_is_direct(design.kind, expected))
		status = begin_image(self, error);
	if (status != BLOOMFAM_OK)
	{
		bloomfam_builder_free(self);
		return status;
	}
	*builder = self;
	return BLOOMFAM_OK;
}

void
bloomfam_builder_free(BloomfamBuilder *builder)
{
	BloomfamHost host;

	if (builder == NULL)
		return;
	host = builder->host;
	if (builder->hashes != NULL)
		host.release(host.arg, builder->hashes);
	if (builder->memory != NULL)
		host.release(host.arg, builder->memory);
	host.release(host.arg, builder);
}

/* ---- adding ---- */

static BloomfamStatus
broken(BloomfamError *error)
{
	return bf_fail(error, BLOOMFAM_BAD_ARGUMENT, "the builder is finished, or has failed before");
}

/* Drops repeated hashes of a builder, within an arena. */
static BloomfamStatus
drop_repeated(BfArena *arena, void *arg, BloomfamError *error)
{
	BloomfamBuilder *self = arg;
	BfArraySource source;

	(void) error;
	bf_build_source(&arena->port, self->design.kind, self->hashes, self->n, &source);
	self->n = (size_t) (source.end - source.next);
	return BLOOMFAM_OK;
}

/* Makes room for more hashes in a builder. */
static BloomfamStatus
grow(BloomfamBuilder *self, BloomfamError *error)
{
	size_t		room = self->room > 0 ? 2 * self->room : FIRST_HASHES;
	BloomfamStatus status;
	uint64_t   *larger;

	if (self->n >= MANY_HASHES)
	{
		status = bf_arena_run(&self->host, error, drop_repeated, self);
		if (status != BLOOMFAM_OK || self->n <= self->room / 2)
			return status;
	}
	larger = room <= SIZE_MAX / 8 ? self->host.alloc(self->host.arg, room * 8) : NULL;
	if (larger == NULL)
		return bf_no_memory(error);
	if (self->hashes != NULL)
	{
		memcpy(larger, self->hashes, self->n * 8);
		self->host.release(self->host.arg, self->hashes);
	}
	self->hashes = larger;
	self->room = room;
	return BLOOMFAM_OK;
}

/* Adds n hashes.  A failure leaves the builder in state BUILDER_BROKEN. */
static BloomfamStatus
add_hashes(BloomfamBuilder *self, const uint64_t *hashes, size_t n, BloomfamError *error)
{
	self->keys_added = bf_count_keys(self->keys_added, n);
	if (self->state == BUILDER_IMAGE)
	{
		(void) self->head.kind->add(&self->head, self->payload, hashes, n);
		return BLOOMFAM_OK;
	}
	while (n > 0)
	{
		size_t		piece = self->room - self->n;

		if (piece == 0)
		{
			BloomfamStatus status = grow(self, error);

			if (status != BLOOMFAM_OK)
			{
				self->state = BUILDER_BROKEN;
				return status;
			}
			continue;
		}
		if (piece > n)
			piece = n;
		memcpy(self->hashes + self->n, hashes, piece * 8);
		self->n += piece;
		hashes += piece;
		n -= piece;
	}
	return BLOOMFAM_OK;
}

BloomfamStatus
bloomfam_builder_add_hashes(BloomfamBuilder *builder, const uint64_t *hashes, size_t n,
							BloomfamError *error)
{
	if (builder->state == BUILDER_BROKEN)
		return broken(error);
	if (bf_host_stops(&builder->host))
	{
		builder->state = BUILDER_BROKEN;
		return bf_fail(error, BLOOMFAM_STOPPED, "stopped");
	}
	return add_hashes(builder, hashes, n, error);
}

/* Adds the keys of a batch.  The first key of the batch has index at in its column. */
static BloomfamStatus
add_batch(BloomfamBuilder *self, const BloomfamColumn *batch, size_t at, uint8_t *answers,
		  BloomfamCounts *sum, BloomfamError *error)
{
	uint64_t	hashes[BF_KEYS_PER_BATCH];
	uint8_t		these[BF_KEYS_PER_BATCH];
	BloomfamCounts counted;
	BloomfamStatus status = bloomfam_hash(&self->type, batch, hashes, these, &counted, error);
	size_t		n = 0;
	size_t		i;

	if (status != BLOOMFAM_OK)
		return status;
	for (i = 0; i < batch->n; i++)
	{
		if (these[i] == BLOOMFAM_ABSENT)
			hashes[n++] = hashes[i];
		else if (these[i] != BLOOMFAM_NULL && answers == NULL)
		{
			status = bloomfam_column_error(&self->type, batch, i, error);
			if (error != NULL)
				error->row = at + i;
			return status;
		}
	}
	if (answers != NULL)
		memcpy(answers, these, batch->n);
	if (sum->first_odd == BLOOMFAM_NO_ROW && counted.first_odd != BLOOMFAM_NO_ROW)
		sum->first_odd = at + counted.first_odd;
	sum->absent += counted.absent;
	sum->impossible += counted.impossible;
	sum->null += counted.null;
	sum->bad += counted.bad;
	return bloomfam_builder_add_hashes(self, hashes, n, error);
}

BloomfamStatus
bloomfam_builder_add(BloomfamBuilder *builder, const BloomfamColumn *column, uint8_t *answers,
					 BloomfamCounts *counts, BloomfamError *error)
{
	BloomfamStatus status = builder->state == BUILDER_BROKEN ? broken(error) : BLOOMFAM_OK;
	BloomfamColumn piece = *column;
	BloomfamCounts sum;
	size_t		done;

	memset(&sum, 0, sizeof(sum));
	sum.first_odd = BLOOMFAM_NO_ROW;
	for (done = 0; status == BLOOMFAM_OK && done < column->n; done += piece.n)
	{
		piece.first = column->first + done;
		piece.n = BF_MIN_KEYS(column->n - done);
		status = add_batch(builder, &piece, done, answers != NULL ? answers + done : NULL, &sum,
						   error);
	}
	if (status == BLOOMFAM_OK && counts != NULL)
		*counts = sum;
	return status;
}

/* ---- finishing ---- */

/*
 * The input and result of making a filter within an arena; the filter is taken out of the arena at
 * the end, so that it outlives it.
 */
typedef struct Made
{
	BloomfamBuilder *builder;
	/* The filters to unite; NULL: the filter is made from the builder's keys. */
	const BloomfamFilter *a;
	const BloomfamFilter *b;
	/* The allocation that holds the filter, to be passed to the host's release() later. */
	void	   *memory;
	uint8_t    *data;
	size_t		len;
} Made;

static void
keep(Made *made, BfArenaRoom *room, const BfHeader *head, uint8_t *data)
{
	made->data = data;
	made->len = (size_t) bf_data_size(head);
	made->memory = bf_room_keep(room, data);
}

/* Opens the filter that keep() took out of the arena, so that lookups can use it. */
static BloomfamStatus
make_filter(const BloomfamHost *host, const Made *made, BloomfamFilter **filter,
			BloomfamError *error)
{
	return bf_filter_make(host, BLOOMFAM_RAW, made->data, made->len, BF_HOLDS_MEMORY, made->memory,
						  0, 0, filter, error);
}

static BloomfamStatus
full(const BfHeader *head, BloomfamError *error)
{
	(void) bf_fail(error, BLOOMFAM_FULL, "bloom filter of kind \"%s\" is full", head->kind->name);
	bf_detail(error, "It was made for %llu keys.", (unsigned long long) head->capacity);
	bf_hint(error, "Build it for more keys.");
	return BLOOMFAM_FULL;
}

static BloomfamStatus
finish(BfArena *arena, void *arg, BloomfamError *error)
{
	Made	   *made = arg;
	BloomfamBuilder *self = made->builder;
	BfArraySource source;
	BfArenaRoom room;
	BfHeader	head;
	BfView		image;
	BfStatus	status = BF_OK;
	uint8_t    *data = NULL;
	const char *family = self->type.family;
	uint32_t	family_len = (uint32_t) self->family_len;

	/*
	 * If no keys were added, the filter is an empty aggregate.  In SQL, that has the family of the
	 * SQL type, even if the column is one of Parquet.
	 */
	if (self->keys_added == 0 && bf_type_is_plain(&self->type))
	{
		family = bf_type_sql_family(self->type.id);
		family_len = (uint32_t) strlen(family);
	}
	bf_room_init(&room, arena, family_len);
	if (self->keys_added == 0)
		bf_build_identity(&head);
	else if (self->state == BUILDER_IMAGE)
		head = self->head;
	else
	{
		bf_build_source(&arena->port, self->design.kind, self->hashes, self->n, &source);
		status = bf_build_plan(&self->design, self->expected, source.source.n, &head);
		if (status != BF_OK)
			return too_large(self->design.kind, self->design.fpr, source.source.n, error);
	}
	head.family_id = bf_family_id(family, family_len);
	head.family_len = family_len;
	head.family = family;
	head.keys_added = self->keys_added;
	if (self->keys_added > 0 && self->state == BUILDER_HASHES)
		status = bf_build_set(&arena->port, &room.room, &head, &source.source, &data);
	else
	{
		image.head = head;
		image.payload = self->payload;
		bf_build_stored(&arena->port, &room.room, &image, &head, &data);
	}
	if (status == BF_FULL)
		return full(&head, error);
	if (status != BF_OK)
		return too_large(head.kind, head.target_fpr, head.capacity, error);
	keep(made, &room, &head, data);
	return BLOOMFAM_OK;
}

BloomfamStatus
bloomfam_builder_finish(BloomfamBuilder *builder, BloomfamFilter **filter, BloomfamError *error)
{
	Made		made = {.builder = builder};
	BloomfamStatus status;

	*filter = NULL;
	if (builder->state == BUILDER_BROKEN)
		return broken(error);
	status = bf_arena_run(&builder->host, error, finish, &made);
	builder->state = BUILDER_BROKEN;
	return status == BLOOMFAM_OK ? make_filter(&builder->host, &made, filter, error) : status;
}

/* ---- uniting ---- */

/* Returns a view of the filter in its unpacked form, in which filters unite. */
static BfView
loosen(BfArena *arena, const BfView *view)
{
	const BfKind *kind = view->head.kind;
	BfView		loose = *view;
	uint8_t    *payload;

	if (kind->pack == NULL || !kind->is_packed(&view->head))
		return loose;
	kind->loosen_plan(&view->head, &loose.head);
	payload = bf_arena_alloc(arena, loose.head.payload_len);
	memset(payload, 0, (size_t) loose.head.payload_len);
	kind->loosen(&arena->port, &loose.head, payload, view);
	loose.payload = payload;
	return loose;
}

/* Fills in the error for two filters that do not unite, and returns its status. */
static BloomfamStatus
unlike(BfStatus status, const BfHeader *a, const BfHeader *b, BloomfamError *error)
{
	char		one[BF_FAMILY_ROOM];
	char		other[BF_FAMILY_ROOM];

	switch (status)
	{
		case BF_FAMILY_MISMATCH:
			(void) bf_fail(error, BLOOMFAM_WRONG_TYPE,
						   "cannot unite bloom filters of keys of different types");
			bf_detail(error, "The first filter holds keys of type %s, the second of type %s.",
					  bf_family_text(a, one), bf_family_text(b, other));
			bf_hint(error, "Cast the keys to one type when building the filters.");
			return BLOOMFAM_WRONG_TYPE;
		case BF_KIND_MISMATCH:
			(void) bf_fail(error, BLOOMFAM_UNSUPPORTED,
						   "cannot unite bloom filters of different kinds");
			bf_detail(error, "The first filter is of kind \"%s\", the second of kind \"%s\".",
					  a->kind->name, b->kind->name);
			bf_hint(error, "Build both filters with the same kind.");
			return BLOOMFAM_UNSUPPORTED;
		case BF_TOO_LARGE:
			return too_large(a->kind, a->target_fpr, bf_count_keys(a->capacity, b->capacity),
							 error);
		default:
			(void) bf_fail(error, BLOOMFAM_UNSUPPORTED,
						   "cannot unite bloom filters of kind \"%s\"", a->kind->name);
			if (a->kind->advice != NULL)
				bf_hint(error, "%s", a->kind->advice);
			return BLOOMFAM_UNSUPPORTED;
	}
}

static BloomfamStatus
unite(BfArena *arena, void *arg, BloomfamError *error)
{
	Made	   *made = arg;
	BfView		a = loosen(arena, &made->a->view);
	BfView		b = loosen(arena, &made->b->view);
	BfArenaRoom room;
	BfHeader	head;
	BfView		image;
	BfStatus	status = bf_union_plan(&a, &b, &head);
	bool		packs = status == BF_OK && head.kind->pack != NULL;
	uint8_t    *payload;
	uint8_t    *data;

	if (status == BF_OK && bf_data_size(&head) > BF_MAX_VALUE_SIZE)
		status = BF_TOO_LARGE;
	if (status != BF_OK)
		return unlike(status, &a.head, &b.head, error);
	bf_room_init(&room, arena, head.family_len);
	data = packs ? NULL : room.room.alloc(&room.room, bf_data_size(&head));
	payload = packs ? bf_arena_alloc(arena, head.payload_len)
					: data + bf_payload_offset(head.family_len);
	memset(payload, 0, (size_t) head.payload_len);
	bf_union(&arena->port, &head, payload, &a, &b);
	if (packs)
	{
		image.head = head;
		image.payload = payload;
		bf_build_stored(&arena->port, &room.room, &image, &head, &data);
	}
	else
	{
		bf_write_header(data, &head);
		bf_seal(&arena->port, data, (size_t) bf_data_size(&head));
	}
	keep(made, &room, &head, data);
	return BLOOMFAM_OK;
}

BloomfamStatus
bloomfam_unite(const BloomfamHost *host, const BloomfamFilter *a, const BloomfamFilter *b,
			   BloomfamFilter **filter, BloomfamError *error)
{
	BloomfamHost mine = bf_host(host);
	Made		made = {.a = a, .b = b};
	BloomfamStatus status;

	*filter = NULL;
	status = bf_filter_check_askable(a, error);
	if (status == BLOOMFAM_OK)
		status = bf_filter_check_askable(b, error);
	if (status == BLOOMFAM_OK)
		status = bf_arena_run(&mine, error, unite, &made);
	return status == BLOOMFAM_OK ? make_filter(&mine, &made, filter, error) : status;
}
