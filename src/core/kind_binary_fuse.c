/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_binary_fuse.c
 *	  The binary fuse filter: the smallest filter that a probe can read in a few independent loads.
 *
 * The table has cells of w bits, any w from 1 to 32.  A key's cells lie in 3, 4 or 5 neighbouring
 * segments (bf_graph.h), and XOR to its fingerprint; the table is computed by peeling (bf_peel.h).
 * The FPR is 2^-w.  With more positions the table can be fuller, but each position costs a load in
 * every probe.  The following table is from one run of test/core/s_static.c with 10^7 keys and w =
 * 8, on a machine with three times as much to do as it has cores.  It shows bits per key divided by
 * w; nanoseconds per key for building, and for probing keys that are contained and keys that are
 * not; and nanoseconds for one random read of 64 bytes at the same time:
 *
 *		arity	size	build	probe		read
 *		3		1.107	78		39, 44		10.4
 *		4		1.045	67		43, 41		6.4
 *		5		1.031	81		40, 58		6.0
 *
 * So filters get four positions: three are hardly faster, and a fifth saves 1.3 % of space for a
 * fifth more time to build.  Three and five positions exist for tests and measurements.
 *
 * A shard gets slightly fewer cells (fuse_geometry()) than would let all keys be peeled: one
 * straggler per thousand keys takes less space than the cells that would avoid it.  The published
 * rule (Graf, Lemire 2022), by which no attempt fails, has longer segments, and 1.125 w and 1.075 w
 * bits a key with 3 and 4 positions.  All these figures are for large shards.  Small shards need
 * more: 1.08 w for 10^5 keys, 1.15 w for 10^4, 1.3 w for 10^3.
 *
 *		table		packed cells of w bits: (segments + arity - 1) << lg of them
 *		geometry	segments << 5 | lg
 *
 *		param[0]	w
 *		param[1]	arity, 3 to 5
 *		param[3]	number of shards (bf_static.h)
 *
 * Graf, Lemire 2022, "Binary fuse filters: fast and smaller than xor filters"; Dietzfelbinger,
 * Walzer 2019, "Dense peelable random uniform hypergraphs"; giving keys up: ZOR, 2026, arXiv
 * 2602.03525.
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_lookup.h"
#include "bf_peel.h"

/* The index in param[] of the number of positions (cells) of a key. */
#define ARITY			1
#define DEFAULT_ARITY	4

#define LG_BITS			5
#define LG_MASK			((1 << LG_BITS) - 1)

static inline void
fuse_graph(const BfHeader *head, uint32_t geometry, BfGraph *graph)
{
	graph->fuse = true;
	graph->arity = head->param[ARITY];
	graph->lg = geometry & LG_MASK;
	graph->len = (uint64_t) (geometry >> LG_BITS) << graph->lg;
	graph->deferred = UINT64_MAX;
}

/*
 * Returns the geometry for n keys.  An infinitely long table can be peeled with 1.089, 1.0236,
 * 1.0076 cells per key for 3, 4, 5 positions.  The shorter the segments are, the more cells must be
 * added to keep peeling from stalling, by measurement about in proportion to 2^(-lg / 2).  The
 * longer they are, the more is lost at the ends of the table, which are arity - 1 segments.
 * Integer arithmetic only, because the geometry determines stored bytes.
 */
static uint32_t
fuse_geometry(unsigned arity, uint64_t n)
{
	/*
	 * The cells that an infinitely long table has per 10,000 keys, for 3, 4 and 5 positions of a
	 * key.
	 */
	static const uint32_t least[] = {10894, 10236, 10076};
	static const uint32_t more[] = {4000, 6500, 6000};
	int			bits = n > 0 ? 64 - __builtin_clzll(n) : 0;
	int			lg = (5 * bits - 7) / 8 + (arity == 3);
	uint64_t	slack;
	uint64_t	cells;

	/* A segment has about n^(5/8) cells; bits is the length of n in binary. */
	lg = lg > 1 ? lg : 1;
	/*
	 * The slack is what a finite table has in addition per 10,000 keys: more * 2^(-lg / 2), where
	 * 0.707 is 2^(-1/2).
	 */
	slack = (lg % 2 == 0 ? 1000 : 707) * (uint64_t) more[arity - 3] / 1000 >> (lg / 2);
	cells = n * (least[arity - 3] + slack) / 10000;
	/* Round the cells to the nearest number of segments, and add one if they would not fill one. */
	return (uint32_t) (((cells + (UINT64_C(1) << lg) / 2) >> lg) + (cells >> lg == 0)) << LG_BITS |
		   (uint32_t) lg;
}

static uint64_t
fuse_cells(unsigned arity, uint64_t n)
{
	uint32_t	geometry = fuse_geometry(arity, n);

	return ((uint64_t) (geometry >> LG_BITS) + arity - 1) << (geometry & LG_MASK);
}

static void
fuse_design(BfDesign *design)
{
	unsigned	width = bf_static_width(design->fpr);

	design->param[BF_STATIC_WIDTH] = width;
	design->param[ARITY] = DEFAULT_ARITY;
	design->millibits = 1045 * width;
	design->expected_fpr = 1.0 / (double) (UINT64_C(1) << width);
}

static uint64_t
fuse_table_len(const uint32_t *param, uint64_t n)
{
	return bf_packed_len(fuse_cells(param[ARITY], n), param[BF_STATIC_WIDTH]);
}

static uint64_t
fuse_size(const BfDesign *design, uint64_t keys)
{
	return bf_static_size(design, keys, fuse_table_len);
}

static const char *
fuse_check(const BfHeader *head)
{
	if (head->param[ARITY] < 3 || head->param[ARITY] > BF_GRAPH_MAX_ARITY)
		return "the number of positions is out of range";
	if (head->param[2] != 0)
		return "reserved fields of the header are not zero";
	return bf_static_check(head);
}

/* ---- building a binary fuse filter ---- */

/*
 * Returns the most cells that a shard of at most n keys can get.  More keys get more cells, except
 * where the length of segments changes.
 */
static uint64_t
most_cells(const BfHeader *head, uint32_t n)
{
	uint64_t	most = fuse_cells(head->param[ARITY], n);
	uint64_t	fewer;

	for (fewer = 1; fewer < n; fewer = fewer * 2 + 1)
		most = BF_MAX(most, fuse_cells(head->param[ARITY], fewer));
	return most;
}

static uint64_t
fuse_scratch_len(const BfHeader *head, uint32_t n)
{
	return bf_peel_scratch_len(most_cells(head, n), n);
}

static uint64_t
fuse_max_table_len(const BfHeader *head, uint32_t n)
{
	return bf_packed_len(most_cells(head, n), head->param[BF_STATIC_WIDTH]);
}

static void
fuse_solve(const BfPort *port, BfShardBuild *build)
{
	unsigned	width = build->head->param[BF_STATIC_WIDTH];
	BfGraph		graph;
	const uint32_t *values;

	build->geometry = fuse_geometry(build->head->param[ARITY], build->n);
	fuse_graph(build->head, build->geometry, &graph);
	values = bf_peel(port, build, &graph);
	build->table_len = bf_packed_len(bf_graph_cells(&graph), width);
	bf_peel_pack(port, build->table, values, bf_graph_cells(&graph), width);
}

static const char *
fuse_validate_table(const BfHeader *head, uint32_t geometry, const uint8_t *table, uint64_t avail,
					uint64_t *len)
{
	unsigned	width = head->param[BF_STATIC_WIDTH];
	BfGraph		graph;

	fuse_graph(head, geometry, &graph);
	*len = bf_packed_len(bf_graph_cells(&graph), width);
	if (graph.lg > BF_GRAPH_MAX_LG || graph.len == 0 || *len > avail)
		return "the geometry of a table is out of range";
	if (!bf_packed_padding_ok(table, bf_graph_cells(&graph), width))
		return "the padding of a table is not zero";
	return NULL;
}

static const BfStaticKind frame = {
	.scratch_len = fuse_scratch_len,
	.max_table_len = fuse_max_table_len,
	.solve = fuse_solve,
	.validate = fuse_validate_table,
};

static BfStatus
fuse_build(const BfPort *port, BfHeader *head, BfSource *source, BfSink *sink)
{
	return bf_static_build(port, head, source, sink, &frame);
}

static const char *
fuse_validate(const BfPort *port, const BfView *view)
{
	return bf_static_validate(port, view, &frame);
}

/* ---- probing a binary fuse filter ---- */

static bool
probe_3(const BfView *view, uint64_t hash)
{
	return bf_lookup_one(view, hash, 3, fuse_graph, bf_fuse_positions);
}

static bool
probe_4(const BfView *view, uint64_t hash)
{
	return bf_lookup_one(view, hash, 4, fuse_graph, bf_fuse_positions);
}

static bool
probe_5(const BfView *view, uint64_t hash)
{
	return bf_lookup_one(view, hash, 5, fuse_graph, bf_fuse_positions);
}

static BfProbe
fuse_prober(const BfView *view)
{
	static const BfProbe probe[] = {probe_3, probe_4, probe_5};

	return view->head.param[BF_STATIC_SHARDS] == 0 ? bf_static_probe_none
												   : probe[view->head.param[ARITY] - 3];
}

static void
fuse_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	bf_lookup_probe_many(view, hashes, n, result, fuse_graph);
}

static void
fuse_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	(void) fold;
	bf_static_stats(port, view, bf_static_fpr, stats);
	stats->hashes = view->head.param[ARITY];
}

const BfKind bf_kind_binary_fuse = {
	.id = BF_KIND_BINARY_FUSE,
	.name = "binary_fuse",
	.caps = BF_FROM_SET,
	.hash_id = BF_HASH_XXH3,
	.min_fpr = 0x1p-32,
	.better_kind = "standard",
	.advice = "Filters of this kind are built at once, by bloom_agg.",
	.when = "never changed once built: a quarter less space than the default, and fast",
	.design = fuse_design,
	.size = fuse_size,
	.check = fuse_check,
	.validate = fuse_validate,
	.prober = fuse_prober,
	.probe_many = fuse_probe_many,
	.build = fuse_build,
	.stats = fuse_stats,
};
