/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_blocked.c
 *	  Tests of the blocked kind only: its wide and scalar probes, and the layout of its blocks.
 *
 *-------------------------------------------------------------------------
 */
#include "kinds.h"

static void
blocked_twins(void)
{
	uint32_t	k;

	for (k = 1; k <= BF_MAX_BLOCK_PROBES; k++)
		twins_agree(bf_kind_by_id(BF_KIND_BLOCKED), k, bf_blocked_scalar_twin(), 2000);
}

static void
blocked_every_bit_counts(void)
{
	uint32_t	k;
	int			round;

	for (k = 1; k <= BF_MAX_BLOCK_PROBES; k++)
		for (round = 0; round < 100; round++)
		{
			unsigned	set = bits_that_count(bf_kind_by_id(BF_KIND_BLOCKED), k, bf_blocked_scalar_twin(), keys[round]);

			CHECKF(set >= 1 && set <= k && set + 4 >= k, "k %u: %u bits", k, set);
		}
}

/*
 * Checks that a key's bits are the documented ones, whichever instructions set them: bit i is given
 * by the top 9 bits of x times the i-th power.
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
