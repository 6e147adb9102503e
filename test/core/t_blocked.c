/*-------------------------------------------------------------------------
 *
 * t_blocked.c
 *	  The blocked kind's own: its wide and its scalar probe, and the layout of its blocks.
 *
 *-------------------------------------------------------------------------
 */
#include "kinds.h"

/* Its SIMD and its scalar probe, on blocks of every density, for every k. */
static void
blocked_twins(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_BLOCKED);
	BfProbe		scalar = bf_blocked_scalar_twin();
	uint32_t	k;
	uint64_t	yes = 0;
	uint64_t	no = 0;

	for (k = 1; k <= BF_MAX_BLOCK_PROBES; k++)
	{
		int			density;

		for (density = 0; density < 10; density++)
		{
			BfHeader	head = test_head(kind, 13, k);
			TestFilter	filter = test_empty(&head);
			BfProbe		probe = kind->prober(&filter.view);
			uint8_t    *payload = test_payload(&filter);
			uint64_t	i;

			/* from a few bits to all but a few */
			for (i = 0; i < head.payload_len * 8; i++)
				if (test_below(10) < (uint64_t) density || test_below(100) < 5)
					payload[i / 8] |= (uint8_t) (1 << (i % 8));
			for (i = 0; i < 2000; i++)
			{
				uint64_t	hash = test_random();

				/* half of them all but one bit there: exactly the bits of a key, less one */
				if (i % 2 == 0)
				{
					test_add(&filter, &hash, 1);
					CHECK(probe(&filter.view, hash) && scalar(&filter.view, hash));
					payload[test_below(head.payload_len)] &= (uint8_t) ~(1 << test_below(8));
				}
				CHECKF(probe(&filter.view, hash) == scalar(&filter.view, hash), "k %u, hash %016" PRIx64, k, hash);
				if (scalar(&filter.view, hash))
					yes++;
				else
					no++;
			}
			test_free(&filter);
		}
	}
	CHECK(yes > 10000 && no > 10000);
}

/* One bit at a time: each of a key's k bits counts, so that neither twin leaves one out. */
static void
blocked_every_bit_counts(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_BLOCKED);
	BfProbe		scalar = bf_blocked_scalar_twin();
	uint32_t	k;

	for (k = 1; k <= BF_MAX_BLOCK_PROBES; k++)
	{
		int			round;

		for (round = 0; round < 100; round++)
		{
			BfHeader	head = test_head(kind, 1, k);
			TestFilter	filter = build(&head, &keys[round], 1);
			uint8_t    *payload = test_payload(&filter);
			unsigned	bit;
			unsigned	set = 0;

			for (bit = 0; bit < BF_BLOCK_BITS; bit++)
			{
				uint8_t		mask = (uint8_t) (1 << (bit % 8));

				if (!(payload[bit / 8] & mask))
					continue;
				set++;
				payload[bit / 8] ^= mask;
				CHECKF(!test_probe(&filter, keys[round]) && !scalar(&filter.view, keys[round]), "k %u bit %u", k, bit);
				payload[bit / 8] ^= mask;
			}
			CHECKF(set >= 1 && set <= k && set + 4 >= k, "k %u: %u bits", k, set);
			test_free(&filter);
		}
	}
}

/*
 * The bits of a key are those that are documented, with whatever instructions add sets them: bit i is x times the i-th power's top 9 bits.
 */
static void
check_blocked_layout(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_BLOCKED);
	uint32_t	k;

	for (k = 1; k <= BF_MAX_BLOCK_PROBES; k++)
	{
		BfHeader	head = test_head(kind, 7, k);
		TestFilter	filter = test_empty(&head);
		uint8_t    *expected = test_malloc(head.payload_len);
		size_t		n;

		memset(expected, 0, head.payload_len);
		for (n = 0; n < 100; n++)
		{
			uint8_t    *block = expected + bf_cell(keys[n], 7) * 64;
			uint32_t	x = (uint32_t) keys[n];
			uint32_t	power = 1;
			uint32_t	i;

			for (i = 0; i < k; i++)
			{
				uint32_t	bit;

				power *= UINT32_C(0x9e3779b9);
				bit = (x * power) >> 23;
				block[bit / 8] |= (uint8_t) (1 << (bit % 8));
			}
			test_add(&filter, &keys[n], 1);
			CHECKF(memcmp(filter.view.payload, expected, head.payload_len) == 0, "k %u, key %zu", k, n);
		}
		test_free(&filter);
		free(expected);
	}
}

static void
blocked_layout(void)
{
	check_blocked_layout();
	bf_wide_off = true;
	check_blocked_layout();
	bf_wide_off = false;
}

int
main(void)
{
	make_keys(4);
	RUN(blocked_twins);
	RUN(blocked_every_bit_counts);
	RUN(blocked_layout);
	return test_finish();
}
