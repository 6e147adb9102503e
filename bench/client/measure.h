/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * measure.h
 *	  Functions that the client's benchmarks share: clocks, medians, memory, random numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "client/bloomfam.h"

#define MAX_ROUNDS	99

static inline void __attribute__((noreturn))
die(const char *what, const BloomfamError *error)
{
	fprintf(stderr, "%s: %s\n", what, error->message);
	exit(2);
}

static inline void *
allocate(size_t size)
{
	void	   *memory = malloc(size);

	if (memory == NULL)
	{
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	return memory;
}

/* Returns the time of CLOCK_THREAD_CPUTIME_ID or CLOCK_MONOTONIC, in seconds. */
static inline double
seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static inline uint64_t
mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline int
compare_figures(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return x < y ? -1 : x > y;
}

/* Returns the median of the rounds' figures, which it sorts. */
static inline double
median(double *figures, int rounds)
{
	qsort(figures, (size_t) rounds, sizeof(double), compare_figures);
	return figures[rounds / 2];
}

#endif							/* MEASURE_H */
