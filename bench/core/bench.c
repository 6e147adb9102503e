/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * bench.c
 *	  The cost of every kind of filter: bits per key, false positives, nanoseconds; beside the
 *	  bounds that the project has set.
 *
 *	bench [OPTION]... [space | fold | time | series]...
 *
 *	space		bits per key as stored and the measured FPR, at the largest of the sizes
 *	fold		as space, for filters that were made too large, then folded
 *	time		ns per key built, probed and removed, at each size, beside the floor (bench.h)
 *	series		the numbers behind the plots, as TSV, and nothing else: bench/core/plot
 *
 *	--sizes=N,...	numbers of keys (1e6,1e7)
 *	--kinds=KIND,...	measures only these kinds
 *	--fpr=FPR	for time and fold (0.01)
 *	--rounds=N	for time and series: number of rounds, of which each figure is the median (5)
 *	--small-pages	does not ask for huge pages
 *	--smoke		a short run of everything: does it work for every kind?
 *
 * Without a section: space, fold, time.  All times are processor times of one thread.  Other load
 * still affects them through the caches and the memory: trust the ratios.  Nothing depends on the
 * measured times; the exit code is 0 unless a filter lost a key or could not be made.
 *
 *-------------------------------------------------------------------------
 */
#include "bench.h"

#define MAX_SIZES	16
#define MAX_ROUNDS	99

/* The options of the command line. */
static struct
{
	uint64_t	sizes[MAX_SIZES];	/* ascending */
	int			nsizes;
	const char *kinds;			/* NULL: all */
	double		fpr;
	int			rounds;
	uint64_t	probes;			/* Number of probes in one timing. */
	/* The minimum number of keys that one timing of builds adds in all. */
	uint64_t	build_keys;
	double		hits;			/* Number of false positives to wait for when a rate is measured. */
} option = {.fpr = 0.01, .rounds = 5, .probes = 1 << 21, .build_keys = 1000000, .hits = 2000};

static uint64_t lost_keys = 0;	/* there must be none, ever */
static uint64_t measured = 0;	/* the kinds of which there was a filter: 1 << BfKindId */

/* ---- verdicts: what was bounded, what was measured ---- */

#define MAX_VERDICTS	512

static char *verdict[MAX_VERDICTS];
static int	nverdicts = 0;

static void
judge(const char *what, const char *where, double bound, double ours, const char *unit)
{
	char		line[256];
	char		miss[64] = "holds";

	if (ours > bound)
		snprintf(miss, sizeof(miss), "missed by %.1f %%", 100 * (ours / bound - 1));
	snprintf(line, sizeof(line), "%-56s %-19s %8.3f %8.3f  %-24s %s", what, where, bound, ours, unit, miss);
	if (nverdicts < MAX_VERDICTS)
		verdict[nverdicts++] = strdup(line);
}

static void
print_verdicts(void)
{
	int			i;

	if (nverdicts == 0)
		return;
	printf("\nBounds\n%-56s %-19s %8s %8s\n", "", "", "bound", "ours");
	for (i = 0; i < nverdicts; i++)
	{
		puts(verdict[i]);
		free(verdict[i]);
	}
	nverdicts = 0;
}

/* ---- kinds ---- */

/* Returns whether word is in a list with commas. */
static bool
listed(const char *list, const char *word)
{
	size_t		len = strlen(word);

	while (list != NULL && *list != '\0')
	{
		size_t		item = strcspn(list, ",");

		if (item == len && strncmp(list, word, len) == 0)
			return true;
		list += item + (list[item] == ',');
	}
	return false;
}

/*
 * Returns the next requested kind that can have the rate fpr, and its design; NULL after the last
 * kind. *i is 0 at first.
 */
static const BfKind *
next_kind(size_t *i, double fpr, BfDesign *design)
{
	const BfKind *kind;

	while ((kind = bf_kind_at((*i)++)) != NULL)
		if (!(kind->caps & BF_INTERNAL) && (option.kinds == NULL || listed(option.kinds, kind->name)) &&
			bf_design(kind, fpr, design) == BF_OK)
			return kind;
	return NULL;
}

static const char *
label(const BfKind *kind, BenchForm form)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s%s", kind->name, bench_form_name[form]);
	return text;
}

/* Returns the kind's label without blanks, for machines. */
static const char *
plain_label(const BfKind *kind, BenchForm form)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s%s", kind->name, form == PLAIN ? "" : form == PACKED ? "_packed" : "_grown");
	return text;
}

/* Makes a filter of the keys in a form.  Returns false if it would be too large. */
static bool
make(const BfDesign *design, const BenchKeys *keys, BenchForm form, BenchFilter *filter)
{
	BfHeader	head;

	if (!bench_plan(design, form == GROWN ? FIRST_KEYS : keys->n, &head))
		return false;
	*filter = bench_build(head, keys, form);
	return true;
}

/* ---- rates ---- */

/* Counts and reports the keys that a filter denies, of the first n keys. */
static void
check_keys(const BenchFilter *filter, const BenchKeys *keys, uint64_t n)
{
	uint64_t	lost;

	n = BF_MIN(n, keys->n);
	lost = n - bench_probe_many(filter, keys->hashes, n);
	if (lost > 0)
		fprintf(stderr, "%s: %" PRIu64 " keys of %" PRIu64 " are lost\n", filter->view.head.kind->name, lost, n);
	lost_keys += lost;
	measured |= UINT64_C(1) << filter->view.head.kind->id;
}

/* Measures the false positive rate, with enough probes to see some false positives. */
static double
measured_fpr(const BenchFilter *filter, double fpr)
{
	uint64_t	probes = (uint64_t) fmin(option.hits * fmax(1 / fpr, 500), 4e7);
	uint64_t	hashes[CHUNK];
	uint64_t	hits = 0;
	uint64_t	i;
	uint64_t	j;

	for (i = 0; i < probes; i += CHUNK)
	{
		uint64_t	chunk = BF_MIN(probes - i, CHUNK);

		for (j = 0; j < chunk; j++)
			hashes[j] = bench_hash(ABSENT + i + j);
		hits += bench_probe_many(filter, hashes, chunk);
	}
	return (double) hits / (double) probes;
}

/* ---- space ---- */

/* The unit of a bound on the size. */
typedef enum Unit
{
	BITS,						/* bits per key */
	WIDTH,						/* w, the bits of a fingerprint: log2(1/FPR) of the design */
	LOWER_BOUND					/* log2(1/fpr), below which no filter of any design can go */
} Unit;

static const char *const unit_name[] = {"bits per key", "x w", "x log2(1/fpr)"};

typedef struct SpaceBound
{
	const char *kind;
	BenchForm	form;
	double		fpr;			/* 0: all */
	Unit		unit;
	double		limit;
	const char *note;
} SpaceBound;

static const SpaceBound space_bounds[] = {
	{"blocked", PLAIN, 0.01, BITS, 10.2, ""},
	{"counting", PACKED, 0.01, BITS, 20, ""},
	{"scalable", PLAIN, 0.01, BITS, 13, ", when n is known in the end"},
	{"scalable", GROWN, 0.01, BITS, 13, ""},
	{"cuckoo", PLAIN, 0.01, BITS, 10.6, ""},
	{"xor", PLAIN, 0, WIDTH, 1.23 * 1.01, ": 1.23 w and 1 %"},
	{"binary_fuse", PLAIN, 0, WIDTH, 1.08, ""},
	{"binary_fuse", PLAIN, 0, WIDTH, 1.046, ", aim"},
	{"binary_fuse", PLAIN, 0, WIDTH, 1.031, ", aim with five segments"},
	{"ribbon", PLAIN, 0, LOWER_BOUND, 1.01, ""},
	{"ribbon", PLAIN, 0, LOWER_BOUND, 1.003, ", aim"},
};

static const double space_fprs[] = {0.01, 1.0 / 256, 0.001, 0.0001};

static void
judge_space(const BfDesign *design, BenchForm form, uint64_t keys, double bits)
{
	size_t		i;

	for (i = 0; i < sizeof(space_bounds) / sizeof(space_bounds[0]); i++)
	{
		const SpaceBound *bound = &space_bounds[i];
		double		unit = 1;
		char		what[128];
		char		where[32];

		if (strcmp(bound->kind, design->kind->name) != 0 || bound->form != form || (bound->fpr != 0 && bound->fpr != design->fpr))
			continue;
		if (bound->unit == WIDTH)
			unit = -log2(design->expected_fpr);
		else if (bound->unit == LOWER_BOUND)
			unit = -log2(design->fpr);
		snprintf(what, sizeof(what), "size of %s%s%s", design->kind->name, bench_form_name[form], bound->note);
		snprintf(where, sizeof(where), "%.3g keys, %.3g %%", (double) keys, 100 * design->fpr);
		judge(what, where, bound->limit, bits / unit, unit_name[bound->unit]);
	}
}

static void
space(void)
{
	BenchKeys	keys = bench_keys(option.sizes[option.nsizes - 1]);
	size_t		f;

	printf("\nSpace of %" PRIu64 " keys: bits per key as stored, header and padding included; w is log2(1/FPR) of the design\n"
		   "%-22s %8s %10s %10s %9s %7s %10s %8s\n", keys.n, "", "FPR", "bits/key", "log2(1/p)", "more", "/ w", "measured", "/ FPR");
	for (f = 0; f < sizeof(space_fprs) / sizeof(space_fprs[0]); f++)
	{
		double		fpr = space_fprs[f];
		const BfKind *kind;
		BfDesign	design;
		size_t		i = 0;

		while ((kind = next_kind(&i, fpr, &design)) != NULL)
		{
			BenchForm	form;

			for (form = PLAIN; form < NFORMS; form++)
			{
				BenchFilter filter;
				double		bits;
				double		rate;

				/* what is stored packed is not stored otherwise */
				if (!bench_has_form(kind, form) || (form == PLAIN && bench_has_form(kind, PACKED)))
					continue;
				if (!make(&design, &keys, form, &filter))
				{
					printf("%-22s %6.3g %%  would be too large\n", label(kind, form), 100 * fpr);
					continue;
				}
				check_keys(&filter, &keys, option.probes);
				bits = bench_bits(&filter, keys.n);
				rate = measured_fpr(&filter, fpr);
				printf("%-22s %6.3g %% %10.3f %10.3f %7.2f %% %7.3f %8.4f %% %8.3f", label(kind, form), 100 * fpr, bits, -log2(fpr),
					   100 * (bits / -log2(fpr) - 1), bits / -log2(design.expected_fpr), 100 * rate, rate / fpr);
				if (filter.worst_bits > 0)
					printf("  (after a step of growth at most %.2f bits/key)", filter.worst_bits);
				printf("\n");
				fflush(stdout);
				judge_space(&design, form, keys.n, bits);
				bench_drop(&filter);
			}
		}
	}
	bench_free_keys(&keys);
}

/* ---- folding ---- */

/* The ratios of the number of keys that a filter is made for to the number of keys that it gets. */
static const double too_large[] = {1.9, 4.7, 7.3, 12.7, 22.1};

/*
 * The shares of all keys that a growing filter gets: a filter grows in steps, and the unused part
 * of the last step differs.
 */
static const double share[] = {1, 0.84, 0.71, 0.59};

/*
 * Folds a filter to the requested rate, prints the result, and frees the filter; design is the
 * filter's design.
 */
static void
fold_row(const BfDesign *design, BenchFilter *filter, const BenchKeys *keys, const char *made_for)
{
	double		before = bench_bits(filter, keys->n);
	bool		grown = filter->worst_bits > 0;
	double		known;
	BenchFilter folded;
	BfHeader	head;
	char		what[128];
	char		where[32];

	if (bf_fold_plan(&bench_env, &filter->view, design->fpr, &head) != BF_OK)
		return;
	folded = bench_empty(&head);
	bf_fold(&bench_env, &head, folded.payload, &filter->view);
	bench_drop(filter);
	bench_pack(&folded);
	check_keys(&folded, keys, option.probes);
	if (!make(design, keys, PACKED, filter))
		return;
	known = bench_bits(filter, keys->n);
	bench_drop(filter);
	printf("%-12s %9" PRIu64 " %-14s %10.3f %10.3f %10.3f %+8.2f %% %10.4f %%\n", design->kind->name, keys->n, made_for, before,
		   bench_bits(&folded, keys->n), known, 100 * (bench_bits(&folded, keys->n) / known - 1), 100 * measured_fpr(&folded, design->fpr));
	fflush(stdout);
	if (strcmp(design->kind->name, "scalable") == 0 && design->fpr == 0.01 && grown)
	{
		snprintf(what, sizeof(what), "size of %s, made for %s, folded", design->kind->name, made_for);
		snprintf(where, sizeof(where), "%.3g keys", (double) keys->n);
		judge(what, where, 11.5, bench_bits(&folded, keys->n), unit_name[BITS]);
	}
	bench_drop(&folded);
}

/*
 * Counts distinct keys among n keys that come twice each, by sorting, as an aggregate does that
 * sizes its filter itself.
 */
static uint64_t
distinct_keys(uint64_t n)
{
	uint64_t   *hashes = bench_alloc(2 * n * sizeof(uint64_t));
	uint64_t	distinct;
	uint64_t	i;

	for (i = 0; i < 2 * n; i++)
		hashes[i] = bench_hash(i % n);
	distinct = bf_sort_hashes(&bench_env, hashes, 2 * n);
	bench_free(hashes);
	return distinct;
}

/*
 * Compares the size of a filter planned for the counted number of keys with one planned for the
 * known number.
 */
static void
judge_self_sized(const BfDesign *design, uint64_t n)
{
	BfHeader	counted;
	BfHeader	known;

	if (strcmp(design->kind->name, "blocked") == 0 && bench_plan(design, distinct_keys(n), &counted) && bench_plan(design, n, &known))
		judge("size of blocked, for the distinct keys that were counted", "", 1.1,
			  (double) bf_data_size(&counted) / (double) bf_data_size(&known), "x the size for n known");
}

static void
fold(void)
{
	uint64_t	n = option.sizes[option.nsizes - 1];
	BenchKeys	keys = bench_keys(n);
	const BfKind *kind;
	BfDesign	design;
	size_t		i;
	size_t		j;

	printf("\nFolding to %.3g %%: bits per key of a filter made too large, the same folded, and one planned for its keys\n"
		   "(an aggregate that sizes itself plans for the number of distinct keys: its filter is the last of these, to the byte)\n"
		   "%-12s %9s %-14s %10s %10s %10s %10s %12s\n", 100 * option.fpr, "", "keys", "made for", "too large", "folded", "planned", "more",
		   "measured");
	for (i = 0; (kind = next_kind(&i, option.fpr, &design)) != NULL;)
	{
		judge_self_sized(&design, n);
		for (j = 0; j < sizeof(too_large) / sizeof(too_large[0]) && (kind->caps & BF_CAN_FOLD); j++)
		{
			BenchFilter filter;
			BfHeader	head;
			char		made_for[32];

			if (!bench_plan(&design, (uint64_t) (too_large[j] * (double) n), &head))
				continue;
			filter = bench_build(head, &keys, PLAIN);
			snprintf(made_for, sizeof(made_for), "%.1f x", too_large[j]);
			fold_row(&design, &filter, &keys, made_for);
		}
	}
	bench_free_keys(&keys);

	for (j = 0; j < sizeof(share) / sizeof(share[0]); j++)
	{
		keys = bench_keys((uint64_t) (share[j] * (double) n));
		for (i = 0; (kind = next_kind(&i, option.fpr, &design)) != NULL;)
		{
			BenchFilter filter;
			char		made_for[32];

			if (!(kind->caps & BF_CAN_FOLD) || !bench_has_form(kind, GROWN) || !make(&design, &keys, GROWN, &filter))
				continue;
			snprintf(made_for, sizeof(made_for), "%d, grown", FIRST_KEYS);
			fold_row(&design, &filter, &keys, made_for);
		}
		bench_free_keys(&keys);
	}
}

/* ---- time ---- */

/* The operations that are timed, in ns per key each. */
enum
{
	SORT,						/* bringing keys in no order into that of bf_order(), where the kind wants that */
	BUILD,						/* a filter of them, its memory and, if packed, packing included */
	REMOVE,						/* of all keys, in no order */
	FLOOR_ONE,
	ABSENT_ONE,
	PRESENT_ONE,
	FLOOR_MANY,
	ABSENT_MANY,
	PRESENT_MANY,
	NTIMES
};

typedef struct Timing
{
	const BfKind *kind;
	BenchForm	form;
	BfDesign	design;
	double		bits;
	double		round[NTIMES][MAX_ROUNDS];
	double		ns[NTIMES];		/* the medians; 0: there is no such thing */
} Timing;

/* Keys that are not in the filter, and keys that are, in random order. */
typedef struct Probes
{
	uint64_t	n;
	uint64_t   *absent;
	uint64_t   *present;
} Probes;

/* A sink for counts, so that the compiler does not remove the probes. */
static volatile uint64_t somebody;

#define TIME(slot, n, statement) do { \
		double		start_ = bench_ns(); \
		statement; \
		timing->round[slot][round] = (bench_ns() - start_) / (double) (n); \
	} while (0)

static void
time_round(Timing *timing, int round, const BenchKeys *keys, const Probes *probes)
{
	uint64_t	builds = BF_MAX(option.build_keys / keys->n, 1);
	uint64_t	n = keys->n * builds;
	BenchFilter filter;
	uint64_t	present;
	uint64_t	i;

	memset(&filter, 0, sizeof(filter));
	TIME(BUILD, n,
		 for (i = 0; i < builds; i++)
		 {
			 bench_drop(&filter);
			 (void) make(&timing->design, keys, timing->form, &filter);
		 });
	timing->bits = bench_bits(&filter, keys->n);
	measured |= UINT64_C(1) << timing->kind->id;

	TIME(FLOOR_ONE, probes->n, somebody += bench_floor_one(&filter, probes->absent, probes->n));
	TIME(ABSENT_ONE, probes->n, somebody += bench_probe_one(&filter, probes->absent, probes->n));
	TIME(PRESENT_ONE, probes->n, present = bench_probe_one(&filter, probes->present, probes->n));
	lost_keys += probes->n - present;
	TIME(FLOOR_MANY, probes->n, somebody += bench_floor_many(&filter, probes->absent, probes->n));
	TIME(ABSENT_MANY, probes->n, somebody += bench_probe_many(&filter, probes->absent, probes->n));
	TIME(PRESENT_MANY, probes->n, present = bench_probe_many(&filter, probes->present, probes->n));
	lost_keys += probes->n - present;

	if (timing->kind->remove != NULL && timing->form != PACKED)
	{
		BfHeader   *head = &filter.view.head;
		size_t		removed;

		TIME(REMOVE, keys->n, removed = timing->kind->remove(head, filter.payload, keys->hashes, keys->n));
		lost_keys += keys->n - removed;
	}
	bench_drop(&filter);
}

/* Times the sorting of keys, once for all kinds. */
static double
time_sort(const BenchKeys *keys)
{
	uint64_t   *hashes = bench_alloc(keys->n * sizeof(uint64_t));
	uint64_t	sorts = BF_MAX(option.build_keys / keys->n, 1);
	double		round[MAX_ROUNDS];
	int			r;

	for (r = 0; r < option.rounds; r++)
	{
		double		ns = 0;
		uint64_t	i;

		for (i = 0; i < sorts; i++)
		{
			double		start;

			memcpy(hashes, keys->hashes, keys->n * sizeof(uint64_t));
			start = bench_ns();
			bf_sort_hashes(&bench_env, hashes, keys->n);
			ns += bench_ns() - start;
		}
		round[r] = ns / (double) (keys->n * sorts);
	}
	bench_free(hashes);
	return bench_median(round, option.rounds);
}

/* Times all kinds in all forms with n keys, in turns.  The caller frees the result. */
static Timing *
time_all(uint64_t n, int *ntimings)
{
	Timing	   *timings = test_malloc(BF_KIND_IDENTITY * NFORMS * sizeof(Timing));
	BenchKeys	keys = bench_keys(n);
	Probes		probes = {.n = option.probes};
	double		sort = time_sort(&keys);
	const BfKind *kind;
	BfDesign	design;
	size_t		i = 0;
	uint64_t	p;
	int			round;
	int			t;

	probes.absent = bench_alloc(probes.n * sizeof(uint64_t));
	probes.present = bench_alloc(probes.n * sizeof(uint64_t));
	for (p = 0; p < probes.n; p++)
	{
		probes.absent[p] = bench_hash(ABSENT + p);
		probes.present[p] = keys.hashes[test_below(n)];
	}

	*ntimings = 0;
	while ((kind = next_kind(&i, option.fpr, &design)) != NULL)
	{
		BenchForm	form;
		BfHeader	head;

		for (form = PLAIN; form < NFORMS; form++)
			if (bench_has_form(kind, form) && bench_plan(&design, n, &head))
				timings[(*ntimings)++] = (Timing) {.kind = kind, .form = form, .design = design};
	}
	for (round = 0; round < option.rounds; round++)
		for (t = 0; t < *ntimings; t++)
			time_round(&timings[t], round, &keys, &probes);
	for (t = 0; t < *ntimings; t++)
	{
		for (i = 0; i < NTIMES; i++)
			timings[t].ns[i] = bench_median(timings[t].round[i], option.rounds);
		timings[t].ns[SORT] = timings[t].kind->caps & BF_FROM_SET ? sort : 0;
	}
	bench_free_keys(&keys);
	bench_free(probes.absent);
	bench_free(probes.present);
	return timings;
}

/*
 * The floor in batches, in ns, and the number of keys, of the machine for which the bounds on
 * builds are set.
 */
#define BUILD_BOUND_FLOOR	5
#define BUILD_BOUND_KEYS	10000000

/* Returns whether a kind is built at once, of a set that cannot change later. */
static bool
is_static(const BfKind *kind)
{
	return kind->build != NULL;
}

static void
judge_times(const Timing *timing, uint64_t n)
{
	const double *ns = timing->ns;
	const char *name = timing->kind->name;
	bool		blocked = strcmp(name, "blocked") == 0;
	double		build = strcmp(name, "binary_fuse") == 0 ? 70 : strcmp(name, "ribbon") == 0 ? 130 : 0;
	char		what[128];
	char		where[32];

	snprintf(where, sizeof(where), "%.3g keys", (double) n);
	/* xor_plus is there to compare with, and has no code of its own for batches in wide registers */
	if (blocked || (is_static(timing->kind) && strcmp(name, "xor_plus") != 0))
	{
		double		bound = blocked ? 1.3 : 4;

		snprintf(what, sizeof(what), "probe of %s, absent, in batches", name);
		judge(what, where, bound, ns[ABSENT_MANY] / ns[FLOOR_MANY], "x the floor");
		snprintf(what, sizeof(what), "probe of %s, present, in batches", name);
		judge(what, where, bound, ns[PRESENT_MANY] / ns[FLOOR_MANY], "x the floor");
	}
	if (build > 0 && n == BUILD_BOUND_KEYS)
	{
		double		scale = ns[FLOOR_MANY] / BUILD_BOUND_FLOOR;

		snprintf(what, sizeof(what), "build of %s with sorting, %g ns x floor / %d ns", name, build, BUILD_BOUND_FLOOR);
		judge(what, where, build * scale, ns[SORT] + ns[BUILD], "ns per key");
		snprintf(what, sizeof(what), "build of %s of sorted keys, %g ns x floor / %d ns", name, build, BUILD_BOUND_FLOOR);
		judge(what, where, build * scale, ns[BUILD], "ns per key");
	}
}

static void
print_ns(double ns)
{
	if (ns > 0)
		printf(" %7.1f", ns);
	else
		printf(" %7s", "-");
}

static void
times(void)
{
	int			s;

	for (s = 0; s < option.nsizes; s++)
	{
		uint64_t	n = option.sizes[s];
		int			ntimings;
		Timing	   *timings = time_all(n, &ntimings);
		int			t;

		printf("\nTime with %" PRIu64 " keys at %.3g %%: ns per key, medians of %d rounds by turns; x: times the floor\n"
			   "(floor: a loop that fetches one random line of 64 bytes per key in the memory of that very filter, and reads 8 of them;\n"
			   "memory of %zu MB and more is in %s pages)\n"
			   "%-20s %8s |%24s |%38s |%38s\n%-20s %8s |%8s%8s%8s |%8s%8s%7s%8s%7s |%8s%8s%7s%8s%7s\n",
			   n, 100 * option.fpr, option.rounds, MIN_HUGE_SIZE >> 20, bench_small_pages ? "small" : "huge",
			   "", "", "", "one by one", "in batches", "", "bits/key", "sort", "build", "remove",
			   "floor", "absent", "x", "present", "x", "floor", "absent", "x", "present", "x");
		for (t = 0; t < ntimings; t++)
		{
			const double *ns = timings[t].ns;

			printf("%-20s %8.2f |", label(timings[t].kind, timings[t].form), timings[t].bits);
			print_ns(ns[SORT]);
			print_ns(ns[BUILD]);
			print_ns(ns[REMOVE]);
			printf(" |%8.2f%8.2f%7.2f%8.2f%7.2f |%8.2f%8.2f%7.2f%8.2f%7.2f\n",
				   ns[FLOOR_ONE], ns[ABSENT_ONE], ns[ABSENT_ONE] / ns[FLOOR_ONE], ns[PRESENT_ONE], ns[PRESENT_ONE] / ns[FLOOR_ONE],
				   ns[FLOOR_MANY], ns[ABSENT_MANY], ns[ABSENT_MANY] / ns[FLOOR_MANY], ns[PRESENT_MANY],
				   ns[PRESENT_MANY] / ns[FLOOR_MANY]);
			if (timings[t].form == PLAIN)
				judge_times(&timings[t], n);
		}
		fflush(stdout);
		free(timings);
	}
}

/* ---- series ---- */

/*
 * Prints two tables as one, told apart by their first column: "fpr" has the rates of filters by
 * bits per key, and "time" the times.  Forms that are not stored are left out of the first table.
 */
static void
series(void)
{
	BenchKeys	keys = bench_keys(BF_MIN(option.sizes[option.nsizes - 1], 1000000));
	double		exponent;
	double		size;

	printf("#fpr\tkind\tfpr\tbits per key\tmeasured\n");
	for (exponent = 0.5; exponent < 5.01; exponent += 0.25)
	{
		double		fpr = pow(10, -exponent) * 1.0000001;
		const BfKind *kind;
		BfDesign	design;
		size_t		i = 0;

		while ((kind = next_kind(&i, fpr, &design)) != NULL)
		{
			BenchForm	form = bench_has_form(kind, PACKED) ? PACKED : PLAIN;
			BenchFilter filter;

			if (!make(&design, &keys, form, &filter))
				continue;
			check_keys(&filter, &keys, option.probes);
			printf("fpr\t%s\t%.6g\t%.4f\t%.6g\n", kind->name, fpr, bench_bits(&filter, keys.n), measured_fpr(&filter, fpr));
			bench_drop(&filter);
		}
	}
	bench_free_keys(&keys);

	printf("#time\tkind\tkeys\tbits per key\tsort\tbuild\tremove\tfloor\tabsent\tpresent\tfloor batch\tabsent batch\tpresent batch\n");
	for (size = 3; size < log10((double) option.sizes[option.nsizes - 1]) + 0.01; size += 1.0 / 3)
	{
		uint64_t	n = (uint64_t) llround(pow(10, size));
		int			ntimings;
		Timing	   *timings = time_all(n, &ntimings);
		int			t;
		int			i;

		for (t = 0; t < ntimings; t++)
		{
			printf("time\t%s\t%" PRIu64 "\t%.4f", plain_label(timings[t].kind, timings[t].form), n, timings[t].bits);
			for (i = 0; i < NTIMES; i++)
				printf("\t%.3f", timings[t].ns[i]);
			printf("\n");
		}
		fflush(stdout);
		free(timings);
	}
}

/* ---- arguments ---- */

static const struct
{
	const char *name;
	void		(*run) (void);
	uint32_t	caps;			/* of the kinds that are in it */
}			sections[] = {{"space", space, 0}, {"fold", fold, BF_CAN_FOLD}, {"time", times, 0}, {"series", series, 0}};

#define NSECTIONS	(sizeof(sections) / sizeof(sections[0]))

static int
usage(const char *argument)
{
	fprintf(stderr, "bench: %s is not understood\n"
			"bench [--sizes=N,...] [--kinds=KIND,...] [--fpr=FPR] [--rounds=N] [--small-pages] [space | fold | time | series]...\n"
			"bench --smoke\n", argument);
	return 2;
}

/* Returns the text after "name=" in an argument, or NULL. */
static const char *
value_of(const char *argument, const char *name)
{
	size_t		len = strlen(name);

	return strncmp(argument, name, len) == 0 && argument[len] == '=' ? argument + len + 1 : NULL;
}

static bool
set_sizes(const char *list)
{
	option.nsizes = 0;
	while (*list != '\0')
	{
		char	   *end;
		double		size = strtod(list, &end);

		if (!(size >= 1 && size <= 1e9) || (*end != ',' && *end != '\0') || option.nsizes == MAX_SIZES)
			return false;
		option.sizes[option.nsizes++] = (uint64_t) size;
		list = end + (*end == ',');
	}
	return option.nsizes > 0;
}

static bool
set_option(const char *argument)
{
	const char *value;

	if ((value = value_of(argument, "--sizes")) != NULL)
		return set_sizes(value);
	if ((value = value_of(argument, "--kinds")) != NULL)
		option.kinds = value;
	else if ((value = value_of(argument, "--fpr")) != NULL)
		return (option.fpr = atof(value)) > 0 && option.fpr < 1;
	else if ((value = value_of(argument, "--rounds")) != NULL)
		return (option.rounds = atoi(value)) >= 1 && option.rounds <= MAX_ROUNDS;
	else if (strcmp(argument, "--small-pages") == 0)
		bench_small_pages = true;
	else
		return false;
	return true;
}

/*
 * Runs all sections, small and short, as a test (test/run-program): each section measures every
 * kind that it should, and no key is lost.
 */
static int
smoke(void)
{
	const BfKind *kind;
	size_t		i;
	size_t		k;

	set_sizes("1e4");
	option.rounds = 1;
	option.probes = 1 << 16;
	option.build_keys = 1;
	option.hits = 20;
	for (i = 0; i < NSECTIONS; i++)
	{
		test_begin();
		lost_keys = 0;
		measured = 0;
		sections[i].run();
		CHECKF(lost_keys == 0, "%" PRIu64 " keys are lost", lost_keys);
		for (k = 0; (kind = bf_kind_at(k)) != NULL; k++)
			if ((kind->caps & (BF_INTERNAL | sections[i].caps)) == sections[i].caps)
				CHECKF(measured & (UINT64_C(1) << kind->id), "%s was not measured", kind->name);
		test_end(sections[i].name);
	}
	print_verdicts();
	return test_finish();
}

int
main(int argc, char **argv)
{
	unsigned	chosen = 0;
	int			i;
	size_t		s;

	if (argc == 2 && strcmp(argv[1], "--smoke") == 0)
		return smoke();
	set_sizes("1e6,1e7");
	for (i = 1; i < argc; i++)
	{
		for (s = 0; s < NSECTIONS && strcmp(argv[i], sections[s].name) != 0; s++)
			;
		if (s < NSECTIONS)
			chosen |= 1U << s;
		else if (!set_option(argv[i]))
			return usage(argv[i]);
	}
	if (chosen == 0)
		chosen = 0x7;			/* all but the series */
	for (s = 0; s < NSECTIONS; s++)
		if (chosen & (1U << s))
			sections[s].run();
	print_verdicts();
	if (lost_keys > 0)
		fprintf(stderr, "%" PRIu64 " keys are lost\n", lost_keys);
	return lost_keys > 0 ? 1 : 0;
}
