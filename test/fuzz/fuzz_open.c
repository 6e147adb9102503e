/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * fuzz_open.c
 *	  bf_open on every prefix of the input, of a value of whatever length.
 *
 * The first two bytes are added to the length of the whole, which need not be at hand.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t		more;
	size_t		len;

	if (size < 2)
		return 0;
	more = (size_t) data[0] << 8 | data[1];
	data += 2;
	size -= 2;
	for (len = 0; len <= BF_MIN(size, BF_MAX_HEADER_SIZE + 80); len++)
	{
		uint8_t    *prefix = fuzz_copy(data, len);
		const char *reason;
		BfView		view;
		int			i;

		for (i = 0; i < 3; i++)
		{
			/* all there; a part of what the input has; a part of more */
			size_t		total = i == 0 ? len : i == 1 ? size : size + more;

			if (bf_open(prefix, len, total, &view, &reason) != BF_OK)
			{
				MUST(reason != NULL && view.payload == NULL);
				continue;
			}
			MUST(reason == NULL);
			MUST(bf_data_size(&view.head) == total);
			MUST(bf_payload_offset(view.head.family_len) <= len);
			MUST(view.head.kind->check(&view.head) == NULL);
			MUST((view.payload != NULL) == (len == total));
			if (view.payload != NULL)
			{
				/* enough for memory's sake: nothing was validated */
				BfStats		stats;
				BfHeader	head;
				uint64_t	j;

				MUST(view.payload + view.head.payload_len == prefix + len);
				for (j = 0; j < 8; j++)
					fuzz_probe(&view, fuzz_hash(j));
				bf_stats(&test_env, &view, &stats);
				bf_stats_sampled(&test_env, &view, BF_MAX(view.head.payload_len / 3, 1000), &stats);
				if (!test_is_packed(&(TestFilter) {.view = view}))
					bf_fold_plan(&test_env, &view, 0.1, &head);
			}
			else if (view.head.payload_len <= 1 << 20)
			{
				/* written again, the header is what it was, but for checksum and padding */
				uint8_t		header[BF_MAX_HEADER_SIZE];

				bf_write_header(header, &view.head);
				MUST(memcmp(header, prefix, 8) == 0);
				MUST(memcmp(header + 12, prefix + 12, BF_FIXED_HEADER_SIZE - 12 + view.head.family_len) == 0);
			}
		}
		free(prefix);
	}
	return 0;
}
