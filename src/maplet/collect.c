/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * collect.c
 *	  Collects the entries of a build in parts, by the high bits of their hashes.
 *
 * A part's entries are kept in chunks.  When the chunks of all parts exceed the memory limit, all
 * entries in memory are written to temporary files, one for each part.  The workers of a parallel
 * build share their files with the process that builds, which opens them by their known names.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "maplet/collect.h"

#define CHUNK_ENTRIES	682		/* A chunk of this many entries takes about 8 kB. */

/*
 * The entries of one part, those whose hashes have the same high bits.  All entries of a part in
 * memory were collected later than those in its file.
 */
typedef struct Part
{
	/* The part's temporary file; NULL until entries of the part are written to one. */
	BufFile    *file;
	uint64		in_file;

	/* The chunk being filled, with room for CHUNK_ENTRIES entries; NULL if none is allocated. */
	MapletTailEntry *chunk;
	uint32		in_chunk;
	List	   *full;			/* List of MapletTailEntry *: the chunks that are full, in order. */
	uint64		n;				/* The number of all entries, including those of added shares. */
} Part;

struct MapletCollector
{
	int			first_bits;
	Size		memory;
	Size		max_memory;
	MemoryContext context;
	const MapletShare *share;	/* The worker's shared files; NULL if the files are private. */
	List	   *added;			/* List of MapletShare *: the workers' shares that were added. */
	Part		parts[MAPLET_PARTS];
};

MapletCollector *
bloomfam_maplet_collector_make(int first_bits, Size max_memory, const MapletShare *share)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "maplet build",
												  ALLOCSET_DEFAULT_SIZES);
	MapletCollector *collector = (MapletCollector *)
		MemoryContextAllocZero(context, sizeof(MapletCollector));

	collector->context = context;
	collector->first_bits = first_bits;
	collector->max_memory = max_memory;
	collector->share = share;
	return collector;
}

void
bloomfam_maplet_collector_free(MapletCollector *collector)
{
	MemoryContextDelete(collector->context);
}

/* ---- temporary files ---- */

static void
name_file(char *name, int worker, int i)
{
	snprintf(name, MAXPGPATH, "maplet.%d.%d", worker, i);
}

static BufFile *
create_file(const MapletCollector *collector, int i)
{
	char		name[MAXPGPATH];

	if (collector->share == NULL)
		return BufFileCreateTemp(false);
	name_file(name, collector->share->worker, i);
	return BufFileCreateFileSet(&collector->share->files->fs, name);
}

static void
write_chunk(Part *part, const MapletTailEntry *chunk, uint32 n)
{
	BufFileWrite(part->file, (void *) chunk, n * sizeof(MapletTailEntry));
	part->in_file += n;
}

/* Moves all entries of a collector that are in memory to the temporary files of their parts. */
static void
spill(MapletCollector *collector)
{
	int			i;

	for (i = 0; i < MAPLET_PARTS; i++)
	{
		Part	   *part = &collector->parts[i];
		ListCell   *cell;

		if (part->chunk == NULL)
			continue;
		if (part->file == NULL)
			part->file = create_file(collector, i);
		foreach(cell, part->full)
		{
			write_chunk(part, (MapletTailEntry *) lfirst(cell), CHUNK_ENTRIES);
			pfree(lfirst(cell));
		}
		list_free(part->full);
		part->full = NIL;
		write_chunk(part, part->chunk, part->in_chunk);
		part->in_chunk = 0;
		CHECK_FOR_INTERRUPTS();
	}
	collector->memory = (Size) MAPLET_PARTS * CHUNK_ENTRIES * sizeof(MapletTailEntry);
}

static void
read_file(BufFile *file, uint64 n, MapletTakeEntries take, void *arg)
{
	MapletTailEntry *entries = (MapletTailEntry *)
		palloc(CHUNK_ENTRIES * sizeof(MapletTailEntry));

	while (n > 0)
	{
		uint32		some = (uint32) Min(n, CHUNK_ENTRIES);

		bloomfam_buffile_read(file, entries, some * sizeof(MapletTailEntry));
		take(arg, entries, some);
		n -= some;
		CHECK_FOR_INTERRUPTS();
	}
	pfree(entries);
}

/* ---- collecting entries ---- */

void
bloomfam_maplet_collect(MapletCollector *collector, const MapletTailEntry *entry, uint64 hash)
{
	int			number = (int) ((hash << collector->first_bits) >> (64 - MAPLET_PART_BITS));
	Part	   *part = &collector->parts[number];

	if (part->chunk == NULL || part->in_chunk == CHUNK_ENTRIES)
	{
		MemoryContext old = MemoryContextSwitchTo(collector->context);

		if (part->chunk != NULL && collector->memory >= collector->max_memory)
			spill(collector);
		else
		{
			if (part->chunk != NULL)
				part->full = lappend(part->full, part->chunk);
			part->chunk = (MapletTailEntry *)
				palloc(CHUNK_ENTRIES * sizeof(MapletTailEntry));
			part->in_chunk = 0;
			collector->memory += CHUNK_ENTRIES * sizeof(MapletTailEntry);
		}
		MemoryContextSwitchTo(old);
	}
	part->chunk[part->in_chunk++] = *entry;
	part->n++;
}

void
bloomfam_maplet_collector_share(MapletCollector *collector)
{
	MemoryContext old = MemoryContextSwitchTo(collector->context);
	int			i;

	spill(collector);
	for (i = 0; i < MAPLET_PARTS; i++)
	{
		Part	   *part = &collector->parts[i];

		if (part->file != NULL)
		{
			BufFileExportFileSet(part->file);
			BufFileClose(part->file);
			part->file = NULL;
		}
		collector->share->counts[i] = part->n;
	}
	MemoryContextSwitchTo(old);
}

void
bloomfam_maplet_collector_add(MapletCollector *collector, const MapletShare *share)
{
	MemoryContext old = MemoryContextSwitchTo(collector->context);
	int			i;

	collector->added = lappend(collector->added, (void *) share);
	for (i = 0; i < MAPLET_PARTS; i++)
		collector->parts[i].n += share->counts[i];
	MemoryContextSwitchTo(old);
}

/* ---- reading the parts ---- */

uint64
bloomfam_maplet_part_entries(const MapletCollector *collector, int i)
{
	return collector->parts[i].n;
}

void
bloomfam_maplet_part_read(MapletCollector *collector, int i, MapletTakeEntries take, void *arg)
{
	Part	   *part = &collector->parts[i];
	ListCell   *cell;

	if (part->file != NULL)
	{
		if (BufFileSeek(part->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not rewind a temporary file of a maplet index's build")));
		read_file(part->file, part->in_file, take, arg);
		BufFileClose(part->file);
		part->file = NULL;
	}
	foreach(cell, part->full)
	{
		take(arg, (MapletTailEntry *) lfirst(cell), CHUNK_ENTRIES);
		pfree(lfirst(cell));
	}
	part->full = NIL;
	if (part->chunk != NULL)
	{
		take(arg, part->chunk, part->in_chunk);
		pfree(part->chunk);
	}
	part->chunk = NULL;
	foreach(cell, collector->added)
	{
		const MapletShare *share = (const MapletShare *) lfirst(cell);
		char		name[MAXPGPATH];
		BufFile    *file;

		if (share->counts[i] == 0)
			continue;
		name_file(name, share->worker, i);
		file = BufFileOpenFileSet(&share->files->fs, name, O_RDONLY, false);
		read_file(file, share->counts[i], take, arg);
		BufFileClose(file);
	}
	part->n = 0;
}
