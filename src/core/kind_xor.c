/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * kind_xor.c
 *	  The xor filter: fingerprints in a table of three blocks.
 *
 * A key has one cell in each block; its three cells XOR to its fingerprint of w bits (bf_graph.h).
 * The FPR is 2^-w, and the size 1.23 w bits per key, which is about the least with which random
 * keys can nearly always be peeled (bf_peel.h).  This is the simplest of the kinds that are built
 * at once, and the one with which the others are compared: binary_fuse takes less space and less
 * time.
 *
 *		table		packed cells of w bits: three blocks of len each
 *		geometry	len
 *
 *		param[0]	w
 *		param[3]	number of shards (bf_static.h)
 *
 * Graf, Lemire 2020, "Xor filters: faster and smaller than Bloom and cuckoo filters"; before them
 * Chazelle, Kilian, Rubinfeld, Tal 2004, "The Bloomier filter".
 *
 *-------------------------------------------------------------------------
 */
#include "bf_int.h"

#include "bf_lookup.h"
#include "bf_peel.h"

static inline void
xor_graph(const BfHeader *head, uint32_t geometry, BfGraph *graph)
{
	(void) head;
	graph->fuse = false;
	graph->arity = 3;
	graph->lg = 0;
	graph->len = geometry;
	graph->deferred = UINT64_MAX;
}

static void
xor_design(BfDesign *design)
{
	unsigned	width = bf_static_width(design->fpr);

	design->param[BF_STATIC_WIDTH] = width;
	design->millibits = 1230 * width;
	design->expected_fpr = 1.0 / (double) (UINT64_C(1) << width);
}

static uint64_t
xor_table_len(const uint32_t *param, uint64_t n)
{
	return bf_packed_len(bf_block_len(n) * 3, param[BF_STATIC_WIDTH]);
}

static uint64_t
xor_size(const BfDesign *design, uint64_t keys)
{
	return bf_static_size(design, keys, xor_table_len);
}

static const char *
xor_check(const BfHeader *head)
{
	if (head->param[1] != 0 || head->param[2] != 0)
		return "reserved fields of the header are not zero";
	return bf_static_check(head);
}

/* ---- building an xor filter ---- */

static uint64_t
xor_scratch_len(const BfHeader *head, uint32_t n)
{
	(void) head;
	return bf_peel_scratch_len(bf_block_len(n) * 3, n);
}

static uint64_t
xor_max_table_len(const BfHeader *head, uint32_t n)
{
	return xor_table_len(head->param, n);
}

static void
xor_solve(const BfPort *port, BfShardBuild *build)
{
	unsigned	width = build->head->param[BF_STATIC_WIDTH];
	BfGraph		graph;
	const uint32_t *values;

	build->geometry = (uint32_t) bf_block_len(build->n);
	xor_graph(build->head, build->geometry, &graph);
	values = bf_peel(port, build, &graph);
	build->table_len = bf_packed_len(bf_graph_cells(&graph), width);
	bf_peel_pack(port, build->table, values, bf_graph_cells(&graph), width);
}

static const char *
xor_validate_table(const BfHeader *head, uint32_t geometry, const uint8_t *table, uint64_t avail,
				   uint64_t *len)
{
	unsigned	width = head->param[BF_STATIC_WIDTH];
	uint64_t	cells = (uint64_t) geometry * 3;

	*len = bf_packed_len(cells, width);
	if (*len > avail)
		return "the geometry of a table is out of range";
	if (!bf_packed_padding_ok(table, cells, width))
		return "the padding of a table is not zero";
	return NULL;
}

static const BfStaticKind frame = {
	.scratch_len = xor_scratch_len,
	.max_table_len = xor_max_table_len,
	.solve = xor_solve,
	.validate = xor_validate_table,
};

static BfStatus
xor_build(const BfPort *port, BfHeader *head, BfSource *source, BfSink *sink)
{
	return bf_static_build(port, head, source, sink, &frame);
}

static const char *
xor_validate(const BfPort *port, const BfView *view)
{
	return bf_static_validate(port, view, &frame);
}

/* ---- probing an xor filter ---- */

static bool
xor_probe(const BfView *view, uint64_t hash)
{
	return bf_lookup_one(view, hash, 3, xor_graph, bf_block_positions);
}

static BfProbe
xor_prober(const BfView *view)
{
	return view->head.param[BF_STATIC_SHARDS] == 0 ? bf_static_probe_none : xor_probe;
}

static void
xor_probe_many(const BfView *view, const uint64_t *hashes, size_t n, bool *result)
{
	bf_lookup_probe_many(view, hashes, n, result, xor_graph);
}

static void
xor_stats(const BfPort *port, const BfView *view, uint64_t fold, BfStats *stats)
{
	(void) fold;
	bf_static_stats(port, view, bf_static_fpr, stats);
	stats->hashes = 3;
}

const BfKind bf_kind_xor = {
	.id = BF_KIND_XOR,
	.name = "xor",
	.caps = BF_FROM_SET,
	.hash_id = BF_HASH_XXH3,
	.min_fpr = 0x1p-32,
	.better_kind = "standard",
	.advice = "Filters of this kind are built at once, by bloom_agg.",
	.when = "never changed once built, up to some 100,000 keys: the fastest of those to probe",
	.design = xor_design,
	.size = xor_size,
	.check = xor_check,
	.validate = xor_validate,
	.prober = xor_prober,
	.probe_many = xor_probe_many,
	.build = xor_build,
	.stats = xor_stats,
};
