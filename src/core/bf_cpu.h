/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_cpu.h
 *	  Private to the core: which instructions this processor has beyond those of its architecture's
 *	  baseline.
 *
 * A function that needs such instructions is compiled whenever the compiler can do so (#ifdef
 * BF_HAVE_...).  It is called only after the matching function bf_have_...() has returned true at
 * run time.  Beside it there is always an implementation in plain C, with the same results.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_CPU_H
#define BF_CPU_H

#include <stdbool.h>

/* For tests: if true, bf_have_wide() returns false, as if the processor had no AVX-512. */
extern bool bf_wide_off;

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define BF_HAVE_AVX2
#define BF_HAVE_BMI2
#define BF_HAVE_WIDE

/*
 * Returns whether the processor has 256-bit vectors (AVX2), and the instructions for single bits
 * that came with them.
 */
static inline bool
bf_have_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		   __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

/*
 * Returns whether the processor has the instructions for bit deposit and extract (BMI2), and for
 * counting bits.
 */
static inline bool
bf_have_bmi2(void)
{
	return __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

/* Returns whether the processor has AVX-512 with the extensions that bf_wide.h uses. */
static inline bool
bf_have_wide(void)
{
	return !bf_wide_off && __builtin_cpu_supports("avx512f") &&
		   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
		   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq") &&
		   __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
		   __builtin_cpu_supports("popcnt");
}

#elif defined(__aarch64__) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <arm_neon.h>

/*
 * NEON's 128-bit vectors are part of the architecture's baseline: no check at run time is needed.
 */
#define BF_HAVE_NEON

#endif

#endif							/* BF_CPU_H */
