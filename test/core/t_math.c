/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_math.c
 *	  The formulas against exact sums and brute force.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

/* Number of bits of the largest array whose distribution is computed exactly. */
#define MAX_EXACT_BITS	2048

#define LN2				0.69314718055994530942

/*
 * The exact distribution of X, the number of bits set among m after a number of independent uniform
 * throws.  It is computed one throw at a time.  All terms are positive, so nothing cancels; the
 * equivalent inclusion-exclusion sum needs twice as many digits as a double has.
 */
typedef struct Occupancy
{
	unsigned	m;
	unsigned	throws;
	long double p[MAX_EXACT_BITS + 1];
} Occupancy;

static void
occupancy_start(Occupancy *o, unsigned m)
{
	memset(o, 0, sizeof(*o));
	o->m = m;
	o->p[0] = 1;
}

static void
occupancy_throw(Occupancy *o)
{
	unsigned	x;

	o->throws++;
	for (x = BF_MIN(o->m, o->throws); x > 0; x--)
		o->p[x] = o->p[x] * x / o->m + o->p[x - 1] * (o->m - (x - 1)) / o->m;
	o->p[0] = 0;
}

/* Returns E[(X/m)^k]. */
static long double
occupancy_fpr(const Occupancy *o, unsigned k)
{
	long double sum = 0;
	unsigned	x;

	for (x = 1; x <= o->m; x++)
		if (o->p[x] > 0)
			sum += o->p[x] * powl((long double) x / o->m, k);
	return sum;
}

/*
 * Returns the same expected value by inclusion and exclusion over the k probes' distinct bits, a
 * second way to compute it exactly for small k, so that the test does not rely on one computation.
 */
static long double
inclusion_exclusion(unsigned throws, unsigned m, unsigned k)
{
	long double distinct[17] = {0};
	long double sum = 0;
	unsigned	i;
	unsigned	j;

	/* P(k probes hit j distinct bits) */
	distinct[0] = 1;
	for (i = 0; i < k; i++)
	{
		for (j = k; j > 0; j--)
			distinct[j] = distinct[j] * j / m + distinct[j - 1] * (m - (j - 1)) / m;
		distinct[0] = 0;
	}

	/* times P(those j are all set) */
	for (j = 1; j <= k; j++)
	{
		long double all_set = 0;
		long double binomial = 1;

		for (i = 0; i <= j; i++)
		{
			all_set += (i % 2 == 0 ? 1 : -1) * binomial * powl(1 - (long double) i / m, throws);
			binomial = binomial * (j - i) / (i + 1);
		}
		sum += distinct[j] * all_set;
	}
	return sum;
}

static void
exact_ways_agree(void)
{
	static const unsigned sizes[] = {2, 3, 8, 64, 512};
	unsigned	s;
	unsigned	t;
	unsigned	k;

	for (s = 0; s < 5; s++)
	{
		Occupancy	o;

		occupancy_start(&o, sizes[s]);
		for (t = 1; t <= 200; t++)
		{
			occupancy_throw(&o);
			for (k = 1; k <= 8; k++)
			{
				long double one = occupancy_fpr(&o, k);
				long double other = inclusion_exclusion(t, sizes[s], k);

				/* what cancels there costs some 1e-16 absolutely */
				CHECKF(fabsl(one - other) <= 1e-6L * one + 1e-15L, "m %u t %u k %u: %Lg %Lg", sizes[s], t, k, one, other);
			}
		}
	}
}

/*
 * Checks that the formula's rate is never below the exact rate, for the loads that filters are
 * built for, 0.3 to 1 throw a bit.
 */
static void
occupancy_is_no_less_than_exact(void)
{
	static const unsigned sizes[] = {64, 128, 192, 256, 320, 512};
	unsigned	s;

	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		double		most = sizes[s] >= 256 ? 0.021 : sizes[s] >= 128 ? 0.08 : 0.21;
		double		low = 0;
		double		high = 0;
		Occupancy	o;
		unsigned	t;

		occupancy_start(&o, sizes[s]);
		for (t = 1; t <= sizes[s]; t++)
		{
			unsigned	k;

			occupancy_throw(&o);
			for (k = 1; k <= 30; k++)
			{
				double		exact;
				double		ours;
				double		off;

				/* throws come k at a time */
				if (t % k != 0 || t * 10 < 3 * sizes[s])
					continue;
				exact = (double) occupancy_fpr(&o, k);
				if (exact < 1e-9)
					continue;
				ours = bf_math_occupancy_fpr(t, sizes[s], k);
				off = ours / exact - 1;
				low = fmin(low, off);
				high = fmax(high, off);
				CHECKF(off >= -0.001 && off <= most, "m %u throws %u k %u: %g, exactly %g", sizes[s], t, k, ours, exact);
			}
		}
		printf("       %u bits: %+.3f to %+.3f %% off\n", sizes[s], low * 100, high * 100);
	}
	CHECK(bf_math_occupancy_fpr(0, 512, 7) == 0);
	CHECK(bf_math_occupancy_fpr(10, 1, 7) == 1);
	CHECK(bf_math_occupancy_fpr(1, 2, 1) == 0.5);
}

/*
 * Checks bf_plan()'s promise where the formula is least accurate, with few keys and many probes:
 * the exact false positive rate at capacity is at most the target.
 */
static void
small_standard_plans_meet_their_target(void)
{
	static const double rates[] = {0.5, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12, 1e-15};
	unsigned	r;

	for (r = 0; r < sizeof(rates) / sizeof(rates[0]); r++)
	{
		double		worst = 0;
		unsigned	n;

		for (n = 1; n <= 40; n++)
		{
			BfHeader	head = test_plan(bf_kind_by_id(BF_KIND_STANDARD), rates[r], n);
			Occupancy	o;
			double		exact;

			if (head.payload_len * 8 > MAX_EXACT_BITS)
				break;
			occupancy_start(&o, (unsigned) head.payload_len * 8);
			while (o.throws < n * head.param[0])
				occupancy_throw(&o);
			exact = (double) occupancy_fpr(&o, head.param[0]);
			worst = fmax(worst, exact / rates[r]);
			CHECKF(exact <= rates[r] * 1.0001, "%u keys at %g in %" PRIu64 " bytes, k %u: exactly %g", n, rates[r],
				   head.payload_len, head.param[0], exact);
		}
		printf("       %g: at most %.4f of the target\n", rates[r], worst);
	}
}

/* Compares the blocked formula with the sum over exact blocks. */
static void
blocked_is_exact(void)
{
	static long double fpr_of[BF_MAX_BLOCK_PROBES + 1][400];
	double		worst = 0;
	unsigned	k;
	double		load;

	for (k = 1; k <= BF_MAX_BLOCK_PROBES; k++)
	{
		Occupancy	o;
		unsigned	i;
		unsigned	j;

		occupancy_start(&o, BF_BLOCK_BITS);
		fpr_of[k][0] = 0;
		for (i = 1; i < 400; i++)
		{
			for (j = 0; j < k; j++)
				occupancy_throw(&o);
			fpr_of[k][i] = occupancy_fpr(&o, k);
		}
	}
	for (k = 1; k <= BF_MAX_BLOCK_PROBES; k++)
		for (load = 0.25; load < 250; load *= 1.2)
		{
			long double p = expl(-(long double) load);
			long double exact = 0;
			double		off;
			unsigned	i;

			for (i = 0; i < 400; i++)
			{
				exact += p * fpr_of[k][i];
				p *= (long double) load / (i + 1);
			}
			off = bf_math_blocked_fpr(load, k) / (double) exact - 1;
			if (exact < 1e-9L)
				continue;
			if (fabs(off) > fabs(worst))
				worst = off;
			CHECKF(fabs(off) <= 0.02, "load %g k %u: %+.3f %% off %Lg", load, k, off * 100, exact);
		}
	printf("       blocked: at most %+.3f %% off\n", worst * 100);

	CHECK(bf_math_blocked_fpr(0, 7) == 0);
	CHECK(bf_math_blocked_fpr(BF_BLOCK_BITS, 1) < 1);
	CHECK(bf_math_blocked_fpr(BF_BLOCK_BITS, 16) <= 1);
	CHECK(bf_math_blocked_fpr(BF_BLOCK_BITS, 16) > 0.999);
}

/*
 * Returns the fewest whole thousandths of a bit per key with which k probes meet fpr, by bisection
 * on the formula and not by its inverse.
 */
static uint32_t
standard_brute(double fpr, unsigned k)
{
	uint32_t	low = 1;
	uint32_t	high = 100000000;

	while (low < high)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (powl(-expm1l(-(long double) k * 1000 / middle), k) <= fpr * (1 + 1e-12L))
			high = middle;
		else
			low = middle + 1;
	}
	return BF_MAX(low, 1000);
}

static void
standard_design(void)
{
	double		fpr;

	for (fpr = 0.99; fpr >= 1e-15; fpr *= 0.8)
	{
		unsigned	k = 0;
		unsigned	other;
		uint32_t	best = UINT32_MAX;
		uint32_t	millibits = bf_math_standard_design(fpr, &k);

		for (other = 1; other <= BF_MAX_PROBES; other++)
			best = BF_MIN(best, standard_brute(fpr, other));
		CHECKF(k >= 1 && k <= BF_MAX_PROBES, "fpr %g: k %u", fpr, k);
		CHECKF(millibits == best, "fpr %g: %u thousandths of a bit with k %u, brute force %u", fpr, millibits, k, best);
		CHECKF(standard_brute(fpr, k) == best, "fpr %g: k %u is not the best", fpr, k);
		if (fpr <= 0.1)
			CHECKF(millibits <= 1020 * -log(fpr) / (LN2 * LN2), "fpr %g: %u thousandths of a bit", fpr, millibits);
	}
}

static void
blocked_design(void)
{
	const BfKind *kind = bf_kind_by_id(BF_KIND_BLOCKED);
	uint32_t	last = 0;
	double		fpr;

	for (fpr = 0.99; fpr >= kind->min_fpr; fpr *= 0.7)
	{
		unsigned	k = 0;
		unsigned	other;
		uint32_t	millibits = bf_math_blocked_design(fpr, &k);
		double		load = BF_BLOCK_BITS * 1000.0 / millibits;
		double		best = 1;

		CHECKF(k >= 1 && k <= BF_MAX_BLOCK_PROBES, "fpr %g: k %u", fpr, k);
		CHECKF(millibits >= 1000 && millibits >= last, "fpr %g: %u after %u", fpr, millibits, last);
		last = millibits;
		CHECKF(bf_math_blocked_fpr(load, k) <= fpr * (1 + 1e-9), "fpr %g: %g", fpr, bf_math_blocked_fpr(load, k));

		/* no other k does as well with two thousandths of a bit less */
		load = BF_BLOCK_BITS * 1000.0 / (millibits - 2);
		if (millibits < 1002)
			continue;
		for (other = 1; other <= BF_MAX_BLOCK_PROBES; other++)
			best = fmin(best, bf_math_blocked_fpr(load, other));
		CHECKF(best > fpr, "fpr %g: %u with k %u, but less would do", fpr, millibits, k);
	}
}

static void
known_designs(void)
{
	unsigned	k = 0;

	CHECK(bf_math_blocked_design(0.01, &k) <= 10200);
	CHECK(bf_math_blocked_design(0.001, &k) <= 15800);
	CHECK(bf_math_standard_design(0.01, &k) == 9593);
	CHECK(k == 7);
	CHECK(bf_math_standard_design(0.5, &k) == 1443);
	CHECK(k == 1);
	CHECK(bf_math_standard_design(0.999, &k) == 1000);
	CHECK(k == 1);
}

/*
 * Checks that the false positive rate at capacity, by the exact formulas, is at most the target,
 * for filters with any number of keys.  A tenth of a per mille is allowed for rounding in the
 * formulas.
 */
static void
plans_meet_their_target(void)
{
	size_t		i;
	const BfKind *kind;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		double		worst = 0;
		int			j;

		if (kind->design == NULL)
			continue;
		for (j = 0; j < 100; j++)
		{
			double		fpr = fmax(kind->min_fpr, exp(-test_fraction() * 32) * 0.999);
			BfDesign	design;
			int			n;

			CHECK(bf_design(kind, fpr, &design) == BF_OK);
			for (n = 0; n < 40; n++)
			{
				uint64_t	keys = 1 + (uint64_t) exp(test_fraction() * 16.5);
				double		real;
				BfHeader	head;

				if (!CHECK(bf_plan(&design, keys, &head) == BF_OK))
					continue;
				CHECK(head.payload_len > 0 && (kind->cell_size == 0 || head.payload_len % kind->cell_size == 0));
				CHECK(kind->check(&head) == NULL);
				CHECK(head.capacity == keys && head.target_fpr == fpr);
				if (kind->id == BF_KIND_STANDARD)
					real = bf_math_occupancy_fpr((double) keys * head.param[0], (double) head.payload_len * 8,
						head.param[0]);
				else if (kind->id == BF_KIND_PARTITIONED)
					real = bf_math_partitioned_fpr((double) keys, (double) head.payload_len * 8 / head.param[0], head.param[0]);
				else if (kind->id == BF_KIND_BLOCKED)
					real = bf_math_blocked_fpr((double) keys * 64 / (double) head.payload_len, head.param[0]);
				else if (kind->id == BF_KIND_PARQUET)
					real = bf_math_split_fpr((double) keys * 32 / (double) head.payload_len);
				else if (kind->id == BF_KIND_COUNTING)
					real = bf_math_occupancy_fpr((double) keys * head.param[0], (double) head.payload_len * 2,
						head.param[0]);
				else
					continue;
				worst = fmax(worst, real / fpr);
				CHECKF(real <= fpr * 1.0001, "%s: %" PRIu64 " keys at %g: %+.4f %% over, payload %" PRIu64,
					   kind->name, keys, fpr, (real / fpr - 1) * 100, head.payload_len);
			}
		}
		if (worst > 0)
			printf("       %s: at most %.5f of the target\n", kind->name, worst);
	}
}

/* Checks that neither more keys nor a lower false positive rate give a smaller filter. */
static void
plans_are_monotone(void)
{
	static const double rates[] = {0.5, 0.1, 0.01, 0.001, 0.0001, 1e-5};
	size_t		i;
	const BfKind *kind;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		unsigned	r;

		/* what is built at once comes out as its parts round */
		if (kind->design == NULL || kind->build != NULL)
			continue;
		for (r = 0; r < 6; r++)
		{
			uint64_t	last = 0;
			uint64_t	keys;

			for (keys = 1; keys < 20000000; keys += 1 + keys / (test_in_part() ? 10 : 100))
			{
				BfHeader	head = test_plan(kind, fmax(rates[r], kind->min_fpr), keys);

				CHECKF(head.payload_len >= last, "%s at %g, %" PRIu64 " keys: %" PRIu64 " after %" PRIu64, kind->name,
					   rates[r], keys, head.payload_len, last);
				last = head.payload_len;
			}
		}
	}
}

static void
round_cells(void)
{
	uint64_t	last = 0;
	uint64_t	cells;
	int			i;

	for (cells = 1; cells < 500000; cells++)
	{
		uint64_t	rounded = bf_math_round_cells(cells);

		CHECKF(rounded >= cells && (rounded - cells) * 128 <= cells, "%" PRIu64 " becomes %" PRIu64, cells, rounded);
		CHECKF(rounded >= last, "%" PRIu64 " becomes %" PRIu64 ", its predecessor %" PRIu64, cells, rounded, last);
		CHECKF(bf_math_round_cells(rounded) == rounded, "%" PRIu64 " becomes %" PRIu64 ", which changes", cells, rounded);
		last = rounded;
	}
	for (i = 0; i < 200000; i++)
	{
		uint64_t	rounded;
		uint64_t	next;

		cells = (test_random() >> test_below(64)) | 1;
		rounded = bf_math_round_cells(cells);
		next = bf_math_round_cells(cells < UINT64_MAX ? cells + 1 : cells);
		CHECKF(rounded >= cells && rounded - cells <= cells / 128, "%" PRIu64 " becomes %" PRIu64, cells, rounded);
		CHECKF(next >= rounded, "%" PRIu64 " and the next", cells);
	}
	CHECK(bf_math_round_cells(UINT64_MAX) == UINT64_MAX);

	/* what it is for: a large filter can be folded by every small number */
	for (i = 2; i <= 16; i++)
		CHECK(bf_math_round_cells(UINT64_C(123456789)) % (unsigned) i == 0);
}

static void
cells_for_keys(void)
{
	int			i;

	CHECK(bf_math_cells(1, 1000, 512) == 1);
	CHECK(bf_math_cells(512, 1000, 512) == 1);
	CHECK(bf_math_cells(513, 1000, 512) == 2);
	CHECK(bf_math_cells(0, 1000, 512) == 0);
	CHECK(bf_math_cells(1000, 64, 64) == 1);
	CHECK(bf_math_cells(1001, 64, 64) == 2);
	CHECK(bf_math_cells(UINT64_MAX, UINT32_MAX, 1) == UINT64_MAX);
	CHECK(bf_math_cells(UINT64_MAX, 1000, 1) == UINT64_MAX);
	CHECK(bf_math_cells(UINT64_MAX, 1001, 1) == UINT64_MAX);
	CHECK(bf_math_cells(UINT64_MAX, 1, 64) == UINT64_MAX / 64000 + 1);

	for (i = 0; i < 100000; i++)
	{
		uint64_t	keys = test_random() >> (40 + test_below(24));
		uint32_t	millibits = 1 + (uint32_t) test_below(100000);
		uint64_t	cells = bf_math_cells(keys, millibits, 512);

		CHECKF(cells * 512000 >= keys * millibits && cells * 512000 < keys * millibits + 512000, "%" PRIu64 " keys of %u",
			   keys, millibits);
	}
}

static void
key_estimates(void)
{
	unsigned	k;

	for (k = 1; k <= 20; k++)
	{
		double		m;

		for (m = 64; m < 1e12; m *= 37)
		{
			double		n;

			CHECK(bf_math_keys(0, m, k) == 0);
			CHECK(isfinite(bf_math_keys(m, m, k)));
			CHECK(bf_math_keys(m, m, k) >= bf_math_keys(m - 1, m, k));
			/* the inverse of the expected number of bits */
			for (n = 1; n * k < 2 * m; n *= 3)
			{
				double		bits = -m * expm1(-n * k / m);

				CHECKF(fabs(bf_math_keys(bits, m, k) / n - 1) < 1e-6, "m %g k %u n %g", m, k, n);
			}
		}
	}
}

/* Checks what bf_design() and bf_plan() refuse. */
static void
refusals(void)
{
	static const double outside[] = {0, 1, -0.01, 1.5, 1e308, -1e308};
	size_t		i;
	const BfKind *kind;

	for (i = 0; (kind = bf_kind_at(i)) != NULL; i++)
	{
		static const uint64_t huge[] = {UINT64_MAX, UINT64_MAX - 1, (uint64_t) INT64_MAX, (uint64_t) INT64_MAX + 1,
			UINT64_C(1) << 62,
		UINT64_C(1) << 54, UINT64_C(1) << 40, UINT64_C(5000000000)};
		BfDesign	design;
		BfHeader	head;
		uint64_t	low = 1;
		uint64_t	high = huge[7];
		unsigned	j;

		if (kind->design == NULL)
		{
			CHECK(bf_design(kind, 0.01, &design) == BF_UNSUPPORTED);
			continue;
		}
		for (j = 0; j < 6; j++)
			CHECKF(bf_design(kind, outside[j], &design) == BF_FPR_OUT_OF_RANGE, "%s %g", kind->name, outside[j]);
		CHECK(bf_design(kind, NAN, &design) == BF_FPR_OUT_OF_RANGE);
		CHECK(bf_design(kind, INFINITY, &design) == BF_FPR_OUT_OF_RANGE);
		CHECK(bf_design(kind, kind->min_fpr, &design) == BF_OK);
		CHECK(bf_design(kind, nextafter(kind->min_fpr, 0), &design) == BF_FPR_TOO_LOW);
		CHECK(bf_design(kind, 5e-324, &design) == BF_FPR_TOO_LOW);
		CHECK(bf_design(kind, nextafter(1, 0), &design) == BF_OK);
		CHECKF(design.millibits >= 1 && design.expected_fpr > 0 && design.expected_fpr <= design.fpr,
			   "%s: %u thousandths of a bit, expects %g", kind->name, design.millibits, design.expected_fpr);

		for (j = 0; j < 8; j++)
		{
			CHECK(bf_design(kind, nextafter(1, 0), &design) == BF_OK);
			CHECKF(bf_plan(&design, huge[j], &head) == BF_TOO_LARGE, "%s %" PRIu64, kind->name, huge[j]);
			CHECK(bf_design(kind, kind->min_fpr, &design) == BF_OK);
			CHECKF(bf_plan(&design, huge[j], &head) == BF_TOO_LARGE, "%s %" PRIu64, kind->name, huge[j]);
		}

		/* the most keys that there is room for: the value is no larger than allowed, even with the longest family */
		CHECK(bf_design(kind, 0.01, &design) == BF_OK);
		while (low + 1 < high)
		{
			uint64_t	middle = low + (high - low) / 2;

			if (bf_plan(&design, middle, &head) == BF_OK)
				low = middle;
			else
				high = middle;
		}
		CHECK(bf_plan(&design, low, &head) == BF_OK);
		head.family_len = BF_MAX_FAMILY_LEN;
		CHECK(bf_data_size(&head) <= BF_MAX_VALUE_SIZE);
		/* a power of two that is no larger is 256 MB: t_parquet.c */
		if (kind->id == BF_KIND_PARQUET)
			continue;
		CHECKF(bf_data_size(&head) > BF_MAX_VALUE_SIZE / 100 * 98, "%s: only %" PRIu64 " bytes", kind->name,
			bf_data_size(&head));
		CHECKF(fabs((double) low * design.millibits / (8000.0 * (double) BF_MAX_VALUE_SIZE) - 1) < 0.02, "%s: %" PRIu64 " keys",
			   kind->name, low);
	}
}

static uint64_t forced_size;

static uint64_t
size_as_forced(const BfDesign *design, uint64_t keys)
{
	(void) design;
	(void) keys;
	return forced_size;
}

/*
 * Checks that a plan leaves room for the longest family name, to the byte.  The sizes of no real
 * kind come this close to the limit.
 */
static void
room_for_a_family(void)
{
	BfKind		kind = *bf_kind_by_id(BF_KIND_BLOCKED);
	BfDesign	design;
	BfHeader	head;

	kind.size = size_as_forced;
	CHECK(bf_design(&kind, 0.01, &design) == BF_OK);
	forced_size = BF_MAX_VALUE_SIZE - BF_MAX_HEADER_SIZE;
	CHECK(bf_plan(&design, 1, &head) == BF_OK);
	head.family_len = BF_MAX_FAMILY_LEN;
	CHECK(bf_data_size(&head) <= BF_MAX_VALUE_SIZE);
	forced_size++;
	CHECK(bf_plan(&design, 1, &head) == BF_TOO_LARGE);
	forced_size = UINT64_MAX;
	CHECK(bf_plan(&design, 1, &head) == BF_TOO_LARGE);
}

int
main(void)
{
	test_seed(2);
	RUN(exact_ways_agree);
	RUN(occupancy_is_no_less_than_exact);
	RUN(small_standard_plans_meet_their_target);
	RUN(blocked_is_exact);
	RUN(standard_design);
	RUN(blocked_design);
	RUN(known_designs);
	RUN(plans_meet_their_target);
	RUN(plans_are_monotone);
	RUN(round_cells);
	RUN(cells_for_keys);
	RUN(key_estimates);
	RUN(refusals);
	RUN(room_for_a_family);
	return test_finish();
}
