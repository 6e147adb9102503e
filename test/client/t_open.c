/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * t_open.c
 *	  Filters of every form and kind, opened, described, validated and written; and bytes that are
 *	  not a filter.
 *
 * GOLDEN says where test/golden is, if the program does not run at the top of the tree.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include "client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- values: those of test/golden ---- */

typedef struct Golden
{
	char		name[256];
	uint8_t    *data;
	size_t		len;
	uint8_t		answers[32];	/* for keys 0 to 255, a bit each */
} Golden;

static Golden goldens[200];
static size_t ngoldens = 0;

static void
read_golden(const char *path, const char *name)
{
	Golden	   *golden = &goldens[ngoldens++];
	FILE	   *file = fopen(path, "r");
	char		line[256];
	bool		answers = false;
	size_t		nanswers = 0;

	if (file == NULL || ngoldens > LENGTH(goldens))
	{
		printf("could not read \"%s\"\n", path);
		exit(2);
	}
	snprintf(golden->name, sizeof(golden->name), "%s", name);
	golden->data = test_malloc(70000);
	while (fgets(line, sizeof(line), file) != NULL)
	{
		unsigned	byte;
		size_t		i;

		if (strncmp(line, "answers", 7) == 0)
			answers = true;
		else
			for (i = 0; sscanf(line + i, "%2x", &byte) == 1 && line[i] != '\n'; i += 2)
			{
				if (answers)
					golden->answers[nanswers++] = (uint8_t) byte;
				else
					golden->data[golden->len++] = (uint8_t) byte;
			}
	}
	fclose(file);
}

static void
read_goldens(void)
{
	const char *folder = getenv("GOLDEN") != NULL ? getenv("GOLDEN") : "test/golden";
	DIR		   *dir = opendir(folder);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
	{
		char		path[512];

		if (strstr(entry->d_name, ".hex") == NULL || strcmp(entry->d_name, "maplet.hex") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		read_golden(path, entry->d_name);
	}
	if (dir != NULL)
		closedir(dir);
}

/* Copies bytes to memory of exactly their length, at any alignment. */
static uint8_t *
copy_of(const void *bytes, size_t len)
{
	uint8_t    *copy = test_malloc(len);

	memcpy(copy, bytes, len);
	return copy;
}

/* ---- forms ---- */

typedef struct Written
{
	uint8_t    *bytes;
	size_t		len;
	size_t		room;
	size_t		stop_at;		/* 0: never */
} Written;

static bool
write_to(void *arg, const void *bytes, size_t len)
{
	Written    *self = arg;

	if (self->len + len > self->room || (self->stop_at > 0 && self->len + len > self->stop_at))
		return false;
	memcpy(self->bytes + self->len, bytes, len);
	self->len += len;
	return true;
}

static const char *const ends[] = {"", "\n", "\r\n"};

/* Opens a value in a form, and checks that the filter has the value's bytes. */
static void
check_form(const Golden *golden, BloomfamForm form, const uint8_t *bytes, size_t len, unsigned flags)
{
	TestHost	host;
	BloomfamFilter *filter;
	BloomfamError error;
	BloomfamInfo info;
	BloomfamStatus status;
	uint8_t    *copy = copy_of(bytes, len);
	size_t		value_len;
	bool		in_place = (form == BLOOMFAM_RAW || form == BLOOMFAM_COPY_BINARY) && !(flags & BLOOMFAM_COPY);

	client_host_init(&host);
	status = bloomfam_open(&host.host, copy, len, flags, &filter, &error);
	if (!CHECKF(status == BLOOMFAM_OK, "%s: %s", golden->name, error.detail))
	{
		free(copy);
		return;
	}
	CHECKF(host.allocs == (in_place ? 1 : 2) || flags & BLOOMFAM_VALIDATE, "%s: %" PRIu64 " pieces of memory", golden->name, host.allocs);
	if (!in_place)
		memset(copy, 0, len);
	CHECK(memcmp(bloomfam_bytes(filter, &value_len), golden->data, golden->len) == 0 && value_len == golden->len);
	if (in_place)
		CHECK((const uint8_t *) bloomfam_bytes(filter, &value_len) >= copy);
	bloomfam_info(filter, &info);
	CHECK(info.form == form && info.size == golden->len && strncmp(golden->name, info.kind, strlen(info.kind)) == 0);
	CHECK(bloomfam_validate(filter, &error) == BLOOMFAM_OK);
	bloomfam_close(filter);
	CHECK(host.live == 0);
	free(copy);
}

static void
forms(void)
{
	size_t		i;

	for (i = 0; i < ngoldens; i++)
	{
		const Golden *golden = &goldens[i];
		BloomfamFilter *filter;
		BloomfamError error;
		Written		written = {.room = 3 * golden->len + 100};
		int			form;

		written.bytes = test_malloc(written.room);
		CHECK(bloomfam_open(NULL, golden->data, golden->len, 0, &filter, &error) == BLOOMFAM_OK);
		for (form = BLOOMFAM_RAW; form <= BLOOMFAM_COPY_BINARY; form++)
		{
			bool		is_text = form == BLOOMFAM_HEX || form == BLOOMFAM_COPY_TEXT;
			size_t		end;

			written.len = 0;
			CHECK(bloomfam_write(filter, (BloomfamForm) form, write_to, &written, &error) == BLOOMFAM_OK);
			CHECK(written.len == bloomfam_written_size(filter, (BloomfamForm) form));
			check_form(golden, (BloomfamForm) form, written.bytes, written.len, 0);
			check_form(golden, (BloomfamForm) form, written.bytes, written.len, BLOOMFAM_VALIDATE);
			check_form(golden, (BloomfamForm) form, written.bytes, written.len, BLOOMFAM_COPY);
			for (end = 1; is_text && end < LENGTH(ends); end++)
			{
				memcpy(written.bytes + written.len, ends[end], strlen(ends[end]));
				check_form(golden, (BloomfamForm) form, written.bytes, written.len + strlen(ends[end]), 0);
			}

			/* a writer that stops */
			written.stop_at = written.len / 2;
			written.len = 0;
			CHECK(bloomfam_write(filter, (BloomfamForm) form, write_to, &written, &error) == BLOOMFAM_STOPPED);
			written.stop_at = 0;
		}
		CHECK(bloomfam_write(filter, (BloomfamForm) 77, write_to, &written, &error) == BLOOMFAM_BAD_ARGUMENT);
		bloomfam_close(filter);
		free(written.bytes);
	}
}

/* Writes a value in COPY's binary format. */
static size_t
copy_binary(uint8_t *to, const Golden *golden)
{
	static const uint8_t begin[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\1";

	memcpy(to, begin, 21);
	to[21] = 0;
	to[22] = (uint8_t) (golden->len >> 16);
	to[23] = (uint8_t) (golden->len >> 8);
	to[24] = (uint8_t) golden->len;
	memcpy(to + 25, golden->data, golden->len);
	memset(to + 25 + golden->len, 0xff, 2);
	return 27 + golden->len;
}

static void
check_refused(const void *bytes, size_t len)
{
	uint8_t    *copy = copy_of(bytes, len);
	TestHost	host;
	BloomfamFilter *filter = (BloomfamFilter *) copy;
	BloomfamError error;
	BloomfamStatus status;

	client_host_init(&host);
	client_error_init(&error);
	status = bloomfam_open(&host.host, copy, len, BLOOMFAM_VALIDATE, &filter, &error);
	CHECKF(status == BLOOMFAM_INVALID && filter == NULL && client_error_is_whole(&error, status) && error.detail[0] != '\0', "%zu bytes: status %d", len, status);
	CHECK(host.live == 0);
	CHECK(bloomfam_open(&host.host, copy, len, BLOOMFAM_VALIDATE | BLOOMFAM_COPY, &filter, NULL) == BLOOMFAM_INVALID);
	free(copy);
}

static void
no_forms(void)
{
	const Golden *golden = &goldens[0];
	uint8_t		bytes[80000];
	size_t		len = copy_binary(bytes, golden);
	size_t		i;

	check_form(golden, BLOOMFAM_COPY_BINARY, bytes, len, 0);

	/* an extension of the header is passed over */
	memmove(bytes + 19 + 5, bytes + 19, len - 19);
	bytes[18] = 5;
	check_form(golden, BLOOMFAM_COPY_BINARY, bytes, len + 5, 0);
	bytes[15] = 0x7f;
	check_refused(bytes, len + 5);

	len = copy_binary(bytes, golden);
	for (i = 0; i < len; i++)
		check_refused(bytes, i);
	bytes[len] = 0;
	check_refused(bytes, len + 1);	/* more behind */
	bytes[12] = 1;
	check_refused(bytes, len);	/* with OIDs */
	len = copy_binary(bytes, golden);
	bytes[20] = 2;
	check_refused(bytes, len);	/* two columns */
	bytes[19] = bytes[20] = 0xff;
	check_refused(bytes, len);	/* no row */
	len = copy_binary(bytes, golden);
	memset(bytes + 21, 0xff, 4);
	check_refused(bytes, len);	/* NULL */
	len = copy_binary(bytes, golden);
	bytes[len - 1] = 1;
	check_refused(bytes, len);	/* another row */

	check_refused("", 0);
	check_refused("\n", 1);
	check_refused("\\", 1);
	check_refused("\\x", 2);
	check_refused("\\\\x", 3);
	check_refused("\\x\n", 3);
	check_refused("\\x\r\n", 4);
	check_refused("\\N\n", 3);
	check_refused("\\x6", 3);
	check_refused("\\x6g", 4);
	check_refused("bfam", 4);
	check_refused("PGCOPY", 6);
	check_refused("\x1f\x8b\x08\0", 4);
	check_refused("hello", 5);

	/* digits: odd, cut, wrong, two newlines */
	memcpy(bytes, "\\x", 2);
	for (i = 0; i < golden->len; i++)
		sprintf((char *) bytes + 2 + 2 * i, "%02X", golden->data[i]);
	len = 2 + 2 * golden->len;
	check_form(golden, BLOOMFAM_HEX, bytes, len, 0);	/* in capitals */
	for (i = 0; i < len; i++)
	{
		uint8_t		saved = bytes[i];

		check_refused(bytes, i);
		bytes[i] = 'g';
		check_refused(bytes, len);
		bytes[i] = ' ';
		check_refused(bytes, len);
		bytes[i] = saved;
	}
	memcpy(bytes + len, "\n\n", 2);
	check_refused(bytes, len + 2);
}

/* ---- files ---- */

static void
write_file(const char *path, const void *bytes, size_t len)
{
	FILE	   *file = fopen(path, "wb");

	if (file == NULL || fwrite(bytes, 1, len, file) != len || fclose(file) != 0)
	{
		printf("could not write \"%s\"\n", path);
		exit(2);
	}
}

static size_t
open_files(void)
{
	DIR		   *dir = opendir("/proc/self/fd");
	size_t		n = 0;

	while (dir != NULL && readdir(dir) != NULL)
		n++;
	if (dir != NULL)
		closedir(dir);
	return n;
}

static void
files(void)
{
	char		folder[] = "/tmp/t_open.XXXXXX";
	char		path[100];
	size_t		before = open_files();
	size_t		i;
	TestHost	host;
	BloomfamFilter *filter;
	BloomfamError error;
	int			ends_of_pipe[2];

	if (mkdtemp(folder) == NULL)
		exit(2);
	snprintf(path, sizeof(path), "%s/filter", folder);
	client_host_init(&host);
	for (i = 0; i < ngoldens; i++)
	{
		const Golden *golden = &goldens[i];
		uint8_t		bytes[150000];
		unsigned	flags;
		int			form;

		for (form = 0; form < 3; form++)
			for (flags = 0; flags < 8; flags++)
			{
				size_t		len = golden->len;
				size_t		value_len;
				size_t		j;
				BloomfamStatus status;

				if (form == 0)
					memcpy(bytes, golden->data, len);
				else if (form == 1)
					len = copy_binary(bytes, golden);
				else
				{
					memcpy(bytes, "\\x", 2);
					for (j = 0; j < golden->len; j++)
						sprintf((char *) bytes + 2 + 2 * j, "%02x", golden->data[j]);
					len = 2 + 2 * len;
					bytes[len++] = '\n';
				}
				write_file(path, bytes, len);
				status = bloomfam_open_file(&host.host, path, flags, &filter, &error);
				if (!CHECKF(status == BLOOMFAM_OK, "%s: %s", golden->name, error.detail))
					continue;
				CHECK(memcmp(bloomfam_bytes(filter, &value_len), golden->data, golden->len) == 0 && value_len == golden->len);
				/* one cache line a block, but where a file is mapped, and without a copy */
				if (form == 2 || !(flags & BLOOMFAM_MAP) || flags & BLOOMFAM_COPY)
				{
					BfView		view;
					const char *reason;

					CHECK(bf_open(bloomfam_bytes(filter, &value_len), golden->len, golden->len, &view, &reason) == BF_OK);
					CHECK(view.head.payload_len == 0 || (uintptr_t) view.payload % 64 == 0);
				}
				bloomfam_close(filter);
			}
	}

	/* what cannot be opened */
	CHECK(bloomfam_open_file(&host.host, folder, 0, &filter, &error) == BLOOMFAM_IO && error.sys_errno == EISDIR && filter == NULL);
	CHECK(client_error_is_whole(&error, BLOOMFAM_IO) && strstr(error.message, folder) != NULL);
	CHECK(bloomfam_open_file(&host.host, "/nowhere/at/all", BLOOMFAM_MAP, &filter, &error) == BLOOMFAM_IO && error.sys_errno == ENOENT);
	CHECK(bloomfam_open_file(&host.host, "/dev/null", BLOOMFAM_MAP, &filter, &error) == BLOOMFAM_INVALID);
	for (i = 0; i < 2; i++)
	{
		unsigned	flags = i == 0 ? 0 : BLOOMFAM_MAP;

		write_file(path, "", 0);
		CHECK(bloomfam_open_file(&host.host, path, flags, &filter, &error) == BLOOMFAM_INVALID);
		write_file(path, goldens[1].data, goldens[1].len - 1);
		CHECK(bloomfam_open_file(&host.host, path, flags, &filter, &error) == BLOOMFAM_INVALID);
		CHECK(truncate(path, (off_t) 1200 * 1000 * 1000) == 0);	/* of holes */
		CHECK(bloomfam_open_file(&host.host, path, flags, &filter, &error) == BLOOMFAM_INVALID && strstr(error.detail, "larger") != NULL);
	}

	/* a pipe, in pieces */
	if (pipe(ends_of_pipe) == 0)
	{
		const Golden *golden = &goldens[1];
		size_t		value_len;

		CHECK(write(ends_of_pipe[1], golden->data, golden->len) == (ssize_t) golden->len);
		close(ends_of_pipe[1]);
		snprintf(path, sizeof(path), "/dev/fd/%d", ends_of_pipe[0]);
		CHECK(bloomfam_open_file(&host.host, path, BLOOMFAM_MAP, &filter, &error) == BLOOMFAM_OK);
		CHECK(memcmp(bloomfam_bytes(filter, &value_len), golden->data, golden->len) == 0);
		bloomfam_close(filter);
		close(ends_of_pipe[0]);
	}
	CHECK(host.live == 0);
	CHECKF(open_files() == before, "%zu files are open, not %zu", open_files(), before);
	snprintf(path, sizeof(path), "%s/filter", folder);
	unlink(path);
	rmdir(folder);
}

/* ---- a large one: opened without a copy, in no time that depends on it ---- */

static void
large(void)
{
	BfHeader	head = test_plan(bf_kind_by_name("blocked"), 0.01, test_in_part() ? 1000000 : 300000000);
	size_t		len = bf_data_size(&head);
	uint8_t    *value = calloc(1, len);
	TestHost	host;
	BloomfamFilter *filter;
	BloomfamError error;

	/* pages that nobody touched are not there: opening and describing touches few */
	test_set_family(&head, "int");
	len = bf_data_size(&head);
	bf_write_header(value, &head);
	client_host_init(&host);
	CHECK(bloomfam_open(&host.host, value, len, 0, &filter, &error) == BLOOMFAM_OK);
	CHECK(host.allocs == 1 && host.stops == 0);
	bloomfam_close(filter);
	free(value);
}

/* ---- no memory, and hosts that stop ---- */

static void
no_memory(void)
{
	size_t		i;

	for (i = 0; i < ngoldens; i++)
	{
		const Golden *golden = &goldens[i];
		uint64_t	fail_at;
		int			what;

		for (what = 0; what < 2; what++)
		{
			bool		stopping = what == 1;

			for (fail_at = 1; fail_at < 100; fail_at++)
			{
				TestHost	host;
				BloomfamFilter *filter;
				BloomfamStats stats;
				BloomfamError error;
				BloomfamStatus status;

				client_host_init(&host);
				if (stopping)
					host.stop_at = fail_at;
				else
					host.fail_at = fail_at;
				status = bloomfam_open(&host.host, golden->data, golden->len, BLOOMFAM_VALIDATE | BLOOMFAM_COPY, &filter, &error);
				if (status == BLOOMFAM_OK)
				{
					if (strncmp(golden->name, "partial", 7) == 0)
						CHECK(bloomfam_stats(filter, &stats, &error) == BLOOMFAM_UNSUPPORTED && error.status == BLOOMFAM_UNSUPPORTED);
					else
						status = bloomfam_stats(filter, &stats, &error);
					bloomfam_close(filter);
				}
				CHECK(host.live == 0);
				if (status == BLOOMFAM_OK)
					break;
				CHECKF(status == (stopping ? BLOOMFAM_STOPPED : BLOOMFAM_NO_MEMORY) && client_error_is_whole(&error, status), "%s: status %d", golden->name, status);
			}
			CHECK(fail_at > 1 && fail_at < 100);
		}
	}
}

/* ---- answers ---- */

/* Copies a value with another name in place of the name of its family. */
static size_t
rename_value(uint8_t *to, const uint8_t *value, size_t len, const char *family)
{
	const char *reason;
	BfView		view;
	BfHeader	head;

	if (bf_open(value, len, len, &view, &reason) != BF_OK)
		exit(2);
	head = view.head;
	if (head.family_id != 0)
		test_set_family(&head, family);
	bf_write_header(to, &head);
	memcpy(to + bf_payload_offset(head.family_len), view.payload, head.payload_len);
	len = bf_data_size(&head);
	bf_seal(&test_env, to, len);
	return len;
}

/*
 * Checks the committed answers for keys 0 to 255, whose hashes are those of int, also in kind
 * parquet.
 */
static void
answers(void)
{
	size_t		i;
	size_t		j;

	for (i = 0; i < ngoldens; i++)
	{
		const Golden *golden = &goldens[i];
		bool		is_parquet = strncmp(golden->name, "parquet", 7) == 0;
		bool		is_partial = strncmp(golden->name, "partial", 7) == 0;
		uint8_t    *value = test_malloc(golden->len + 300);
		size_t		len = rename_value(value, golden->data, golden->len, is_parquet ? "parquet int64" : "int");
		BloomfamFilter *filter;
		BloomfamError error;
		BloomfamType type = client_type(is_parquet ? "parquet int64" : "bigint");
		int64_t		numbers[256];
		uint64_t	hashes[256];
		uint8_t		got[256];
		BloomfamColumn keys = bloomfam_int64s(numbers, 256);
		BloomfamCounts counts;

		CHECK(bloomfam_open(NULL, value, len, BLOOMFAM_VALIDATE, &filter, &error) == BLOOMFAM_OK);
		for (j = 0; j < 256; j++)
		{
			numbers[j] = (int64_t) j;
			hashes[j] = bf_hash_u64(j);
		}
		if (is_partial)
		{
			CHECK(bloomfam_ask_hashes(filter, &type, hashes, 256, got, &error) == BLOOMFAM_NOT_ASKABLE);
			CHECK(bloomfam_ask(filter, &type, &keys, got, &counts, &error) == BLOOMFAM_NOT_ASKABLE);
			bloomfam_close(filter);
			free(value);
			continue;
		}
		CHECK(bloomfam_ask_hashes(filter, &type, hashes, 256, got, &error) == BLOOMFAM_OK);
		CHECK(bloomfam_ask_hashes(filter, NULL, hashes, 256, got, &error) == BLOOMFAM_BAD_ARGUMENT);
		for (j = 0; j < 256; j++)
			CHECKF(got[j] == (golden->answers[j / 8] >> (j % 8) & 1), "%s: key %zu", golden->name, j);
		CHECK(bloomfam_ask(filter, &type, &keys, got, &counts, &error) == BLOOMFAM_OK);
		CHECK(counts.maybe + counts.absent == 256 && counts.first_odd == BLOOMFAM_NO_ROW);
		for (j = 0; !is_parquet && j < 256; j++)
			CHECKF(got[j] == (golden->answers[j / 8] >> (j % 8) & 1), "%s: key %zu", golden->name, j);
		bloomfam_close(filter);
		free(value);
	}
}

/* ---- mutations: accepted exactly where bf_validate() does, and harmless when opened ---- */

static void
exercise(const BloomfamFilter *filter)
{
	BloomfamInfo info;
	BloomfamStats stats;
	BloomfamError error;
	BloomfamType type;
	BloomfamFilter *united;
	int64_t		numbers[40];
	uint8_t		got[40];
	BloomfamColumn keys = bloomfam_int64s(numbers, 40);
	BloomfamPiece piece = {"2024-02-29", 10};
	BloomfamColumn written = bloomfam_pieces(BLOOMFAM_WRITTEN, &piece, 1);
	size_t		i;

	for (i = 0; i < 40; i++)
		numbers[i] = (int64_t) test_random();
	memset(&info, 0xaa, sizeof(info));
	bloomfam_info(filter, &info);
	CHECK(memchr(info.family, 0, sizeof(info.family)) != NULL);
	CHECK(info.askable == (bloomfam_filter_type(filter, &type, &error) == BLOOMFAM_OK));
	(void) bloomfam_stats(filter, &stats, &error);
	(void) bloomfam_ask(filter, NULL, &keys, got, NULL, &error);
	(void) bloomfam_ask(filter, NULL, &written, got, NULL, &error);
	type = client_type("bigint");
	(void) bloomfam_ask(filter, &type, &keys, got, NULL, &error);
	if (bloomfam_unite(NULL, filter, filter, &united, &error) == BLOOMFAM_OK)
		bloomfam_close(united);
}

static void
mutations(void)
{
	static const char *const families[] = {"int", "text", "float", "int[]", "row(int,text)", "\"public\".\"citext\"@pg15:le:UTF8", "enum \"a\".\"b\"", "timestamptz", "date", "parquet int64", "parquet timestamp(9)",
		"oidvector", "range(int)", "text@pg15:le:icu:\"de\""};
	uint64_t	i;
	uint64_t	accepted = 0;

	for (i = 0; i < test_trials(100000) * (test_is_long() ? 10 : 1); i++)
	{
		const Golden *golden = &goldens[test_below(ngoldens)];
		uint8_t    *copy;
		uint8_t    *bytes = test_malloc(golden->len + 1000);
		size_t		len = rename_value(bytes, golden->data, golden->len, families[test_below(LENGTH(families))]);
		int			changes = (int) test_below(5);
		BloomfamFilter *filter;
		BloomfamError error;
		BloomfamStatus status;
		const char *reason;
		BfView		view;
		bool		valid;

		for (; changes > 0; changes--)
		{
			size_t		at = test_below(test_below(2) == 0 ? len : BF_MIN(len, 100));

			switch (test_below(5))
			{
				case 0:
					bytes[at] = (uint8_t) test_random();
					break;
				case 1:
					bytes[at] ^= (uint8_t) (1 << test_below(8));
					break;
				case 2:
					bytes[at] = test_below(2) == 0 ? 0 : 0xff;
					break;
				case 3:
					if (at + 8 <= len)
						bf_store64(bytes + at, test_random() >> test_below(64));
					break;
				default:
					len = test_below(20) == 0 ? at : len;
					break;
			}
			if (len == 0)
				break;
		}
		/* half of them with a checksum that is right */
		if (len >= 80 && test_below(2) == 0)
			bf_seal(&test_env, bytes, len);
		copy = copy_of(bytes, len);
		valid = bf_validate(&test_env, copy, len, &view, &reason) == BF_OK;
		status = bloomfam_open(NULL, copy, len, BLOOMFAM_VALIDATE, &filter, &error);
		CHECKF((status == BLOOMFAM_OK) == valid, "%s: status %d", golden->name, status);
		if (status == BLOOMFAM_OK)
		{
			accepted++;
			exercise(filter);
			bloomfam_close(filter);
		}
		else
			CHECK(status == BLOOMFAM_INVALID && client_error_is_whole(&error, status));
		if (bloomfam_open(NULL, copy, len, 0, &filter, &error) == BLOOMFAM_OK)
		{
			exercise(filter);
			bloomfam_close(filter);
		}
		free(copy);
		free(bytes);
	}
	printf("       %" PRIu64 " changed values, %" PRIu64 " of them accepted\n", i, accepted);
	CHECK(accepted > i / 20 && accepted < i);
}

/* ---- what cannot be asked ---- */

static void
not_askable(void)
{
	static const struct
	{
		const char *family;
		const char *says;		/* in detail or hint; NULL: it can */
	}			cases[] = {
		{"int", NULL},
		{"bit", NULL},
		{"enum \"a@b\".\"c[]\"", NULL},
		{"\"public\".\"citext\"@pg15:le:UTF8", "sign @"},
		{"text@pg15:le:icu:\"de\"", "sign @"},
		{"int[]", "concat_ws"},
		{"row(int,text[])", "concat_ws"},
		{"row(int,row(int))", "concat_ws"},
		{"row()", "concat_ws"},
		{"row(int,)", "concat_ws"},
		{"row(int,date)x", "row(int,date)x"},
		{"row(int,\"a\".\"b\"@pg15:le)[]", "sign @"},
		{"range(numeric)", "concat_ws"},
		{"oidvector", "concat_ws"},
		{"parquet int64", "parquet int64"},
		{"bloomkey(0123456789abcdef)", "concat_ws"},
		{"tex\xfft", "tex?t"},
		{"tab\nle", "tab?le"},
		{"enum \"a\".\"b\"c", "enum"},
	};
	size_t		i;

	for (i = 0; i < LENGTH(cases); i++)
	{
		BfHeader	head = test_plan(bf_kind_by_name("blocked"), 0.01, 10);
		TestFilter	value;
		BloomfamFilter *filter;
		BloomfamError error;
		BloomfamType type;
		BloomfamInfo info;
		int64_t		number = 1;
		BloomfamColumn keys = bloomfam_int64s(&number, 1);
		uint8_t		answer;

		test_set_family(&head, cases[i].family);
		value = test_empty(&head);
		if (!CHECK(bloomfam_open(NULL, value.data, value.len, 0, &filter, &error) == BLOOMFAM_OK))
			continue;
		bloomfam_info(filter, &info);
		CHECKF(info.askable == (cases[i].says == NULL), "%s", cases[i].family);
		CHECK(info.family_id == head.family_id && !info.empty);
		if (cases[i].says != NULL)
		{
			CHECK(bloomfam_filter_type(filter, &type, &error) == BLOOMFAM_NOT_ASKABLE);
			CHECKF(client_error_is_whole(&error, BLOOMFAM_NOT_ASKABLE) && (strstr(error.detail, cases[i].says) != NULL || strstr(error.hint, cases[i].says) != NULL),
				   "%s: %s %s", cases[i].family, error.detail, error.hint);
			CHECK(bloomfam_ask(filter, NULL, &keys, &answer, NULL, &error) == BLOOMFAM_NOT_ASKABLE);
			type = client_type("bigint");
			CHECK(bloomfam_ask(filter, &type, &keys, &answer, NULL, &error) == BLOOMFAM_NOT_ASKABLE);
			type.family_id = head.family_id;
			CHECK(bloomfam_ask_hashes(filter, &type, (uint64_t *) &number, 1, &answer, &error) == BLOOMFAM_NOT_ASKABLE);
		}
		bloomfam_close(filter);
		test_free(&value);
	}
}

int
main(void)
{
	size_t		i;

	test_seed(test_is_long() ? (uint64_t) time(NULL) : 27);
	read_goldens();
	CHECK(ngoldens > 50);
	RUN(forms);
	RUN(no_forms);
	RUN(files);
	RUN(large);
	RUN(no_memory);
	RUN(answers);
	RUN(mutations);
	RUN(not_askable);
	for (i = 0; i < ngoldens; i++)
		free(goldens[i].data);
	return test_finish();
}
