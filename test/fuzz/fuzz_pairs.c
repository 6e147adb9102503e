/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * fuzz_pairs.c
 *	  Two values from outside that bf_validate accepts, and differ in little: what is made of both is accepted, too, and loses no key.
 *
 * The first byte says in how many bytes they differ, 0 to 15; then come these, three bytes each: where, low byte first, and the bits to change
 * there.  The rest is the one value; the other is it, changed.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t		changes = size > 0 ? data[0] % 16 : 0;
	uint64_t	hashes[EXERCISE_HASHES];
	uint8_t    *one;
	uint8_t    *other;
	size_t		len;
	BfView		a;
	BfView		b;
	const char *reason;
	size_t		i;

	if (size < 1 + changes * 3 + BF_FIXED_HEADER_SIZE)
		return 0;
	len = size - 1 - changes * 3;
	one = fuzz_copy(data + size - len, len);
	other = fuzz_copy(data + size - len, len);
	for (i = 0; i < changes; i++)
	{
		const uint8_t *change = data + 1 + i * 3;

		other[(change[0] | (size_t) change[1] << 8) % len] ^= change[2];
	}
	bf_seal(&test_env, one, len);
	bf_seal(&test_env, other, len);
	for (i = 0; i < EXERCISE_HASHES; i++)
		hashes[i] = fuzz_hash(i);
	if (bf_validate(&test_env, one, len, &a, &reason) == BF_OK && bf_validate(&test_env, other, len, &b, &reason) == BF_OK)
	{
		exercise(&a, &b, hashes, true);
		exercise(&b, &a, hashes, true);
	}
	fuzz_no_fault();
	free(one);
	free(other);
	return 0;
}
