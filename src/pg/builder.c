/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * builder.c
 *	  The builder, which is the state of bloom_agg; see builder.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/bf_build.h"
#include "core/bf_partial.h"
#include "pg/builder.h"
#include "pg/datum.h"
#include "pg/params.h"
#include "pg/port.h"
#include "pg/value.h"

/* The number of hashes that are moved at once from a set to a filter. */
#define MOVE_HASHES		1024

/*
 * A builder whose filter has a known size stops collecting hashes and fills the filter itself as
 * soon as the table of hashes takes more than this number of bytes, or half the filter's size.
 * Before that, a group that gets few keys does not pay for the many that were expected.
 */
#define MAX_WAITING_TABLE	(64 * 1024)

/*
 * A state that will be sent, and whose filter's size is known, adds no more hashes to its set when
 * the set takes more bytes than this.  Repeated hashes would have shown by now, and a table that is
 * larger than the caches costs more to fill than hashes cost to send.
 */
#define MAX_PARTIAL_TABLE	(1024 * 1024)

static Size flat_size(ExpandedObjectHeader *eohptr);
static void flatten_into(ExpandedObjectHeader *eohptr, void *result, Size allocated_size);

static const ExpandedObjectMethods builder_methods = {
	.get_flat_size = flat_size,
	.flatten_into = flatten_into,
};

Builder *
bloomfam_builder_make(MemoryContext parent, BloomfamBudget *budget)
{
	MemoryContext context = AllocSetContextCreate(parent, "bloomfam builder", ALLOCSET_SMALL_SIZES);
	Builder    *builder = MemoryContextAllocZero(context, sizeof(Builder));

	EOH_init_header(&builder->eoh, &builder_methods, context);
	builder->context = context;
	bloomfam_set_init(&builder->set, context, budget != NULL ? budget : &builder->own_budget,
					  false);
	return builder;
}

Builder *
bloomfam_builder_from_datum(Datum datum)
{
	ExpandedObjectHeader *eoh;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return NULL;
	eoh = DatumGetEOHP(datum);
	return eoh->eoh_methods == &builder_methods ? (Builder *) eoh : NULL;
}

void
bloomfam_builder_probe(Builder *builder, const BfDesign *design, uint64 expected)
{
	Assert(builder->content == BUILDER_NOTHING);
	builder->content = BUILDER_HASHES;
	builder->design = *design;
	builder->expected = expected;
	builder->direct = bf_build_is_direct(design->kind, expected);
	builder->set.multiset = (design->kind->caps & BF_MULTISET) != 0;

	/*
	 * The set of hashes is replaced by the filter itself before it can grow large, so the memory
	 * that it takes is not charged to the aggregate's common budget.
	 */
	if (builder->direct)
		builder->set.budget = &builder->own_budget;
}

void
bloomfam_builder_set_family(Builder *builder, uint64 id, const char *name, uint32 len)
{
	if (id != 0 && builder->family_id != 0 && id != builder->family_id)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("cannot build a bloom filter of keys of different types"),
						errdetail("A key of type %s follows keys of type %s.",
								  bloomfam_family_display(name, len, id),
								  bloomfam_family_display(builder->family, builder->family_len,
														  builder->family_id))));
	if (id != 0)
		builder->family_id = id;
	if (name != NULL && len > 0 && builder->family_len == 0)
	{
		memcpy(builder->family, name, len);
		builder->family_len = len;
	}
}

/* Sets the key family in a header to that of the builder's keys. */
static void
put_family(Builder *builder, BfHeader *head)
{
	head->family_id = builder->family_id;
	head->family_len = builder->family_len;
	head->family = builder->family;
}

/* Adds hashes to a payload that are stored as little-endian numbers at any address. */
static void
add_stored(const BfHeader *head, uint8_t *payload, const uint8 *stored, uint64 n)
{
	uint64		hashes[MOVE_HASHES];

	while (n > 0)
	{
		int			batch = (int) Min(n, MOVE_HASHES);

		memcpy(hashes, stored, batch * sizeof(uint64));
		bloomfam_swap_hashes(hashes, batch);
		head->kind->add(head, payload, hashes, batch);
		stored += batch * sizeof(uint64);
		n -= batch;
		CHECK_FOR_INTERRUPTS();
	}
}

/* Adds all hashes of a builder's set to a filter's payload. */
static void
add_set(BloomfamSetReader *reader, const BfHeader *head, uint8 *payload)
{
	uint64		hashes[MOVE_HASHES];
	int			n;

	while ((n = bloomfam_set_read(reader, hashes, MOVE_HASHES)) > 0)
		head->kind->add(head, payload, hashes, n);
}

/*
 * Makes the builder's filter (image), in the size that was asked for, from its set of hashes.  The
 * builder must be direct, that is, add keys to the filter as they come.
 */
static void
build_image(Builder *builder)
{
	BloomfamSetReader reader;
	void	   *chunk;

	Assert(builder->content == BUILDER_HASHES && builder->direct);
	bloomfam_plan(&builder->design, builder->expected, &builder->head);
	builder->image = bloomfam_payload_alloc(builder->context, builder->head.payload_len, &chunk);
	bf_init(&builder->head, builder->image);
	bloomfam_set_read_begin(&reader, &builder->set);
	add_set(&reader, &builder->head, builder->image);
	bloomfam_set_clear(&builder->set);
	if (builder->log != NULL)
	{
		add_stored(&builder->head, builder->image, (uint8 *) builder->log, builder->nlog);
		pfree(builder->log);
		builder->log = NULL;
		builder->nlog = 0;
	}
	builder->content = BUILDER_IMAGE;
}

/*
 * Appends hashes, in their stored form, to the log, which takes the hashes of a partial state whose
 * set has become large.
 */
static void
add_to_log(Builder *builder, const uint64 *hashes, int n)
{
	if (builder->nlog + n > builder->max_log)
	{
		builder->max_log = Max(builder->max_log * 2, MAX_PARTIAL_TABLE / sizeof(uint64));
		if (builder->log == NULL)
			builder->log =
				MemoryContextAllocHuge(builder->context, builder->max_log * sizeof(uint64));
		else
			builder->log = repalloc_huge(builder->log, builder->max_log * sizeof(uint64));
	}
	memcpy(builder->log + builder->nlog, hashes, n * sizeof(uint64));
	bloomfam_swap_hashes(builder->log + builder->nlog, n);
	builder->nlog += n;
}

/*
 * Returns whether hashes that take this number of bytes are to become an image.  That is soon if
 * keys may be added to the filter as they come.  A state that will be sent stays a set as long as
 * the set is smaller than the filter.
 */
static bool
earns_image(const Builder *builder, Size bytes)
{
	BfHeader	head;

	if (!builder->direct)
		return false;
	bloomfam_plan(&builder->design, builder->expected, &head);
	return bytes >
		   (builder->is_partial ? head.payload_len : Min(head.payload_len / 2, MAX_WAITING_TABLE));
}

void
bloomfam_builder_flush(Builder *builder)
{
	int			n = builder->npending;
	Size		table;

	if (n == 0)
		return;
	builder->npending = 0;
	builder->keys_added += n;
	switch (builder->content)
	{
		case BUILDER_NOTHING:
			elog(ERROR, "keys for a bloom filter that nobody asked for");
			break;
		case BUILDER_IMAGE:
			builder->head.kind->add(&builder->head, builder->image, builder->pending, n);
			break;
		case BUILDER_HASHES:
			table = bloomfam_set_memory(&builder->set);
			if (builder->is_partial && builder->direct && table > MAX_PARTIAL_TABLE)
				add_to_log(builder, builder->pending, n);
			else
				bloomfam_set_add(&builder->set, builder->pending, n);
			if (earns_image(builder, table + builder->nlog * sizeof(uint64)))
				build_image(builder);
			break;
	}
}

static void
parameters_error(void)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
		 errmsg("cannot combine partial bloom filters with different parameters"),
		 errhint(
			 "The kind, false positive rate and expected number of keys must be the same for all "
			 "rows of an aggregate.")));
}

/*
 * Checks that a flattened state was asked for the same filter as the builder, or raises an error.
 * A builder that was not asked for a filter yet takes over the state's.
 */
static void
agree_on_design(Builder *builder, const BfKind *kind, double fpr, uint64 expected)
{
	if (builder->content == BUILDER_NOTHING)
	{
		BfDesign	design;

		bloomfam_design(kind, fpr, &design);
		bloomfam_builder_probe(builder, &design, expected);
	}
	else if (builder->design.kind != kind || builder->design.fpr != fpr ||
			 builder->expected != expected)
		parameters_error();
}

/*
 * Adds to the builder the hashes of a flattened state that has a set of hashes and no filter yet.
 */
static void
absorb_hashes(Builder *builder, const BfView *view)
{
	const BfHeader *head = &view->head;
	uint64		n = head->payload_len / sizeof(uint64);

	if (head->param[1] & BF_PARTIAL_UNKNOWN)
		bloomfam_wrong_state_error("bloom_union_agg");
	agree_on_design(builder, bf_kind_by_id(head->param[0]), head->target_fpr, head->capacity);
	if (builder->content == BUILDER_HASHES &&
		earns_image(builder, bloomfam_set_memory(&builder->set) +
								 (builder->nlog + n) * sizeof(uint64)))
		build_image(builder);
	if (builder->content == BUILDER_IMAGE)
		add_stored(&builder->head, builder->image, view->payload, n);
	else
		bloomfam_set_add_set(&builder->set, view->payload, n);
}

/* Unites the builder's filter with that of a flattened state, which must have the same design. */
static void
absorb_image(Builder *builder, const BfView *view)
{
	const BfHeader *head = &view->head;
	BfHeader	planned;

	agree_on_design(builder, head->kind, head->target_fpr, head->capacity);
	if (!builder->direct)
		bloomfam_unsupported_error(head->kind, "unite", BF_CAN_UNION);
	bloomfam_plan(&builder->design, builder->expected, &planned);
	if (planned.payload_len != head->payload_len ||
		memcmp(planned.param, head->param, sizeof(head->param)) != 0)
		parameters_error();
	if (builder->content == BUILDER_HASHES)
		build_image(builder);
	head->kind->unite(&bloomfam_port, &builder->head, builder->image, view);
}

void
bloomfam_builder_absorb(Builder *builder, const BfView *view)
{
	const BfHeader *head = &view->head;

	bloomfam_builder_flush(builder);
	bloomfam_builder_set_family(builder, head->family_id, head->family, head->family_len);
	if (head->kind->id == BF_KIND_PARTIAL)
		absorb_hashes(builder, view);
	else if (head->kind->id != BF_KIND_IDENTITY)
		absorb_image(builder, view);
	builder->keys_added = bf_count_keys(builder->keys_added, head->keys_added);
}

/* Makes a view of the filter that the builder fills. */
static void
image_view(Builder *builder, BfView *view)
{
	view->head = builder->head;
	put_family(builder, &view->head);
	view->head.keys_added = bf_count_keys(builder->keys_added, 0);
	view->payload = builder->image;
}

/* Fills in the header of the result of an aggregate without keys, of kind "identity". */
static void
identity_head(Builder *builder, BfHeader *head)
{
	bf_build_identity(head);
	put_family(builder, head);
}

/* The builder's set of hashes, as a source from which the core builds a filter. */
typedef struct SetSource
{
	BfSource	source;
	BloomfamSetReader reader;
} SetSource;

static size_t
read_source(BfSource *source, uint64_t *hashes, size_t max)
{
	return bloomfam_set_read(&((SetSource *) source)->reader, hashes,
							 (int) Min(max, PG_INT32_MAX));
}

/* Returns the finished filter of a builder that has only a set of hashes so far. */
static Datum
finish_set(Builder *builder)
{
	SetSource	source = {.source.read = read_source};
	BfRoom		room = bloomfam_value_room;
	uint8	   *data;
	BfHeader	head;
	BfStatus	status;

	bloomfam_set_read_begin(&source.reader, &builder->set);
	source.source.n = source.reader.distinct;
	status = bf_build_plan(&builder->design, builder->expected, source.source.n, &head);
	if (status != BF_OK)
		bloomfam_params_error(status, head.kind, head.target_fpr, head.capacity);
	put_family(builder, &head);
	head.keys_added = bf_count_keys(builder->keys_added, 0);
	status = bf_build_set(&bloomfam_port, &room, &head, &source.source, &data);
	if (status != BF_OK && head.kind->build != NULL)
		bloomfam_params_error(status, head.kind, head.target_fpr, head.capacity);
	if (status != BF_OK)
		bloomfam_full_error(&head, status);
	return bloomfam_value_of_room(data, &head);
}

Datum
bloomfam_builder_finish(Builder *builder)
{
	BfView		view;
	BfHeader	head;
	struct varlena *value;
	uint8	   *payload;

	bloomfam_builder_flush(builder);
	if (builder->log != NULL)
		build_image(builder);
	if (builder->content == BUILDER_IMAGE)
	{
		image_view(builder, &view);
		return bloomfam_stored_value(&view);
	}
	if (builder->content == BUILDER_HASHES && builder->keys_added > 0)
		return finish_set(builder);
	identity_head(builder, &head);
	value = bloomfam_value_alloc(&head, &payload);
	return bloomfam_value_finish(value, &head);
}

/*
 * Makes the header of a flattened builder that has a set of hashes.  Sorts and merges the set, so
 * that its number of distinct hashes is known.
 */
static void
hashes_head(Builder *builder, BfHeader *head, BloomfamSetReader *reader)
{
	const BfKind *kind = builder->design.kind;

	bloomfam_set_read_begin(reader, &builder->set);
	head->kind = bf_kind_by_id(BF_KIND_PARTIAL);
	head->hash_id = kind->hash_id;
	head->capacity = builder->expected;
	head->keys_added = bf_count_keys(builder->keys_added, 0);
	head->target_fpr = builder->design.fpr;
	head->param[0] = kind->id;
	head->payload_len = (reader->total + builder->nlog) * sizeof(uint64);
	if (head->payload_len > BF_MAX_PARTIAL_SIZE - BF_MAX_HEADER_SIZE)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("too many keys for a partial bloom filter"),
			 errdetail("A parallel worker can hand on at most " UINT64_FORMAT " hashes of keys.",
					   (BF_MAX_PARTIAL_SIZE - BF_MAX_HEADER_SIZE) / sizeof(uint64)),
			 kind->caps & BF_FROM_SET
				 ? errhint("Set max_parallel_workers_per_gather to 0.")
				 : errhint(
					   "Pass the expected number of keys to the aggregate, or set "
					   "max_parallel_workers_per_gather to 0.")));
}

/* The state of flattening a builder. */
typedef struct FlatBuilder
{
	BfHeader	head;

	/* What the flattened state's payload consists of: nothing, hashes, or a filter's payload. */
	BuilderContent payload;
	BloomfamSetReader reader;	/* Reads the set of hashes, if payload is BUILDER_HASHES. */
} FlatBuilder;

static void
begin_flat(Builder *builder, FlatBuilder *flat)
{
	BfView		view;

	bloomfam_builder_flush(builder);
	flat->payload = builder->content;
	if (builder->content == BUILDER_HASHES && builder->keys_added == 0)
		flat->payload = BUILDER_NOTHING;
	identity_head(builder, &flat->head);
	if (flat->payload == BUILDER_IMAGE)
	{
		image_view(builder, &view);
		flat->head = view.head;
	}
	else if (flat->payload == BUILDER_HASHES)
		hashes_head(builder, &flat->head, &flat->reader);
}

/*
 * The methods of the expanded object.  The caller may have chosen a memory context that only grows
 * (as tuplesort does), so memory that is allocated and freed on the way comes from the builder's
 * context.
 */
static Size
flat_size(ExpandedObjectHeader *eohptr)
{
	Builder    *builder = (Builder *) eohptr;
	MemoryContext old = MemoryContextSwitchTo(builder->context);
	FlatBuilder flat;

	begin_flat(builder, &flat);
	MemoryContextSwitchTo(old);
	return VARHDRSZ + bf_data_size(&flat.head);
}

static void
flatten_into(ExpandedObjectHeader *eohptr, void *result, Size allocated_size)
{
	Builder    *builder = (Builder *) eohptr;
	MemoryContext old = MemoryContextSwitchTo(builder->context);
	FlatBuilder flat;
	uint8	   *payload;
	uint64		hashes[MOVE_HASHES];
	int			n;

	begin_flat(builder, &flat);
	Assert(allocated_size == VARHDRSZ + bf_data_size(&flat.head));
	payload = bloomfam_value_place(result, &flat.head);
	if (flat.payload == BUILDER_IMAGE)
		bloomfam_copy(payload, builder->image, flat.head.payload_len);
	else if (flat.payload == BUILDER_HASHES)
	{
		while ((n = bloomfam_set_read(&flat.reader, hashes, MOVE_HASHES)) > 0)
		{
			bloomfam_swap_hashes(hashes, n);
			memcpy(payload, hashes, n * sizeof(uint64));
			payload += n * sizeof(uint64);
		}
		if (builder->nlog > 0)
			memcpy(payload, builder->log, builder->nlog * sizeof(uint64));
	}
	bloomfam_value_seal(result, &flat.head);
	MemoryContextSwitchTo(old);
}
