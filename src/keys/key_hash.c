/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * key_hash.c
 *	  The hash of numbers whose canonical bytes are too long for the stack; see key_hash.h.
 *
 *-------------------------------------------------------------------------
 */
#include "keys/key_hash.h"

uint64_t
bf_key_long_numeric(uint64_t seed, const BfNumeric *number)
{
	XXH3_state_t state;
	uint8_t		bytes[256];
	size_t		len = 5;
	size_t		i;

	/*
	 * Clear the state first: XXH3_64bits_reset_withSeed() does not set a seed that the state seems
	 * to have already.
	 */
	memset(&state, 0, sizeof(state));
	XXH3_64bits_reset_withSeed(&state, seed);
	bytes[0] = (uint8_t) number->sign;
	bf_key_put_le(bytes + 1, (uint32_t) number->weight, 4);
	for (i = 0; i < number->ndigits; i++)
	{
		if (len + 2 > sizeof(bytes))
		{
			XXH3_64bits_update(&state, bytes, len);
			len = 0;
		}
		bf_key_put_le(bytes + len, bf_numeric_digit(number, i), 2);
		len += 2;
	}
	XXH3_64bits_update(&state, bytes, len);
	return XXH3_64bits_digest(&state);
}
