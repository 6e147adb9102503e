/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bf_cpu.h
 *	  Private to the core: which instructions this processor has beyond those of its architecture's
 *	  baseline.
 *
 * A kernel that needs such instructions is compiled whenever the compiler can (#ifdef BF_HAVE_...),
 * and is called only after the function of the same name has said, at run time, that this
 * processor has them.  There is always a way in plain C beside it, with the same results.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BF_CPU_H
#define BF_CPU_H

#include <stdbool.h>

/* For tests: all is done as if the processor had no AVX-512. */
extern bool bf_wide_off;

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define BF_HAVE_AVX2
#define BF_HAVE_BMI2
#define BF_HAVE_WIDE

/* 256-bit vectors, and the instructions for single bits that came with them. */
static inline bool
bf_have_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		   __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

/* Bit deposit and extract, and counting of bits. */
static inline bool
bf_have_bmi2(void)
{
	return __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

/* AVX-512 with the extensions that bf_wide.h uses. */
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

/* 128-bit vectors, part of the baseline: nothing to ask at run time. */
#define BF_HAVE_NEON

#endif

#endif							/* BF_CPU_H */
