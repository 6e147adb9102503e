/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * file.c
 *	  Opening a filter from a file.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include "client/lib/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/form.h"

/* The maximum size of a file in bytes; no form of a filter is larger. */
#define MAX_FILE	((uint64_t) 1100 * 1000 * 1000)

/*
 * Number of bytes at the beginning of a file that are read first, to detect the form and place the
 * filter.
 */
#define HEAD_BYTES	4096

/* Initial size in bytes of the buffer for a file of unknown size. */
#define FIRST_PIECE	((size_t) 1024 * 1024)

static BloomfamStatus
file_error(BloomfamError *error, const char *what, const char *path)
{
	int			sys_errno = errno;
	char		reason[256];

	if (strerror_r(sys_errno, reason, sizeof(reason)) != 0)
		reason[0] = '\0';
	(void) bf_fail(error, BLOOMFAM_IO, "could not %s file \"%s\": %s", what, path, reason);
	if (error != NULL)
		error->sys_errno = sys_errno;
	return BLOOMFAM_IO;
}

static BloomfamStatus
too_large(BloomfamError *error, const char *path)
{
	(void) bf_fail(error, BLOOMFAM_INVALID, "invalid bloom filter");
	bf_detail(error, "Reason: file \"%s\" is larger than any filter.", path);
	return BLOOMFAM_INVALID;
}

/*
 * Reads up to len bytes, fewer only if the file ends.  Returns the number of bytes, or -1 for an
 * error, with errno set.
 */
static ssize_t
read_some(int fd, uint8_t *to, size_t len)
{
	size_t		done = 0;

	while (done < len)
	{
		size_t		piece = len - done < BF_BYTES_PER_CHECK ? len - done : BF_BYTES_PER_CHECK;
		ssize_t		n = read(fd, to + done, piece);

		if (n == 0)
			break;
		if (n > 0)
			done += (size_t) n;
		else if (errno != EINTR)
			return -1;
	}
	return (ssize_t) done;
}

/*
 * Opens a regular file by mapping it.  Sets *mapped to false, and returns BLOOMFAM_OK, if the
 * system cannot map the file.
 */
static BloomfamStatus
open_map(const BloomfamHost *host, int fd, size_t len, unsigned flags, bool *mapped,
		 BloomfamFilter **filter, BloomfamError *error)
{
	void	   *map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	BloomfamStatus status;
	BfFound		found;

	*mapped = map != MAP_FAILED;
	if (!*mapped)
		return BLOOMFAM_OK;
	status = bf_form_find(map, len, &found, error);
	if (status == BLOOMFAM_OK && !bf_form_is_hex(found.form) && !(flags & BLOOMFAM_COPY))
		return bf_filter_make(host, found.form, found.bytes, found.len, BF_HOLDS_MAP, map, len,
							  flags, filter, error);
	if (status == BLOOMFAM_OK)
		status = bloomfam_open(host, map, len, flags | BLOOMFAM_COPY, filter, error);
	(void) munmap(map, len);
	return status;
}

/*
 * Opens a file of len bytes by reading it into memory of the host.  A raw or COPY binary form stays
 * in that memory; a hex form is decoded into other memory.
 */
static BloomfamStatus
open_known(const BloomfamHost *host, int fd, const char *path, size_t len, unsigned flags,
		   BloomfamFilter **filter, BloomfamError *error)
{
	uint8_t		head[HEAD_BYTES];
	ssize_t		avail = read_some(fd, head, len < sizeof(head) ? len : sizeof(head));
	size_t		before = 0;
	BloomfamStatus status;
	BfFound		found;
	uint8_t    *bytes;
	ssize_t		rest;
	void	   *memory;

	if (avail < 0)
		return file_error(error, "read", path);

	/*
	 * COPY's header could have an extension, though PostgreSQL writes none; the payload would then
	 * not begin at a cache line, which only makes lookups slower.
	 */
	if (avail > BF_COPY_HEADER + BF_COPY_FIELD && memcmp(head, "PGCOPY", 6) == 0)
		before = BF_COPY_HEADER + BF_COPY_FIELD;
	memory = bf_filter_place(host, head + before, (size_t) avail - before, before, len - before,
							 &bytes);
	if (memory == NULL)
		return bf_no_memory(error);
	bytes -= before;
	memcpy(bytes, head, (size_t) avail);
	rest = read_some(fd, bytes + avail, len - (size_t) avail);
	if (rest < 0)
		status = file_error(error, "read", path);
	else
		status = bf_form_find(bytes, (size_t) avail + (size_t) rest, &found, error);
	if (status == BLOOMFAM_OK && !bf_form_is_hex(found.form))
		return bf_filter_make(host, found.form, found.bytes, found.len, BF_HOLDS_MEMORY, memory, 0,
							  flags, filter, error);
	if (status == BLOOMFAM_OK)
		status = bloomfam_open(host, bytes, (size_t) avail + (size_t) rest, flags, filter, error);
	host->release(host->arg, memory);
	return status;
}

/* Opens a pipe or another file whose size is unknown. */
static BloomfamStatus
open_unknown(const BloomfamHost *host, int fd, const char *path, unsigned flags,
			 BloomfamFilter **filter, BloomfamError *error)
{
	size_t		room = FIRST_PIECE;
	size_t		len = 0;
	uint8_t    *bytes = host->alloc(host->arg, room);
	BloomfamStatus status = bytes != NULL ? BLOOMFAM_OK : bf_no_memory(error);

	while (status == BLOOMFAM_OK)
	{
		ssize_t		n = read_some(fd, bytes + len, room - len);
		uint8_t    *larger;

		if (n < 0)
			status = file_error(error, "read", path);
		else if (bf_host_stops(host))
			status = bf_fail(error, BLOOMFAM_STOPPED, "stopped");
		else
			len += (size_t) n;
		if (status != BLOOMFAM_OK || len < room)
			break;
		if (len > MAX_FILE)
			status = too_large(error, path);
		else if ((larger = host->alloc(host->arg, 2 * room)) == NULL)
			status = bf_no_memory(error);
		else
		{
			memcpy(larger, bytes, len);
			host->release(host->arg, bytes);
			bytes = larger;
			room *= 2;
		}
	}
	if (status == BLOOMFAM_OK)
		status = bloomfam_open(host, bytes, len, flags | BLOOMFAM_COPY, filter, error);
	if (bytes != NULL)
		host->release(host->arg, bytes);
	return status;
}

BloomfamStatus
bloomfam_open_file(const BloomfamHost *host, const char *path, unsigned flags,
				   BloomfamFilter **filter, BloomfamError *error)
{
	BloomfamHost mine = bf_host(host);
	BloomfamStatus status = BLOOMFAM_OK;
	bool		opened = false;
	struct stat about;
	int			fd;

	*filter = NULL;
	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return file_error(error, "open", path);
	if (fstat(fd, &about) != 0)
		status = file_error(error, "read", path);
	else if (S_ISREG(about.st_mode) && about.st_size > 0)
	{
		if ((uint64_t) about.st_size > MAX_FILE)
			status = too_large(error, path);
		else if (flags & BLOOMFAM_MAP)
			status = open_map(&mine, fd, (size_t) about.st_size, flags, &opened, filter, error);
		if (status == BLOOMFAM_OK && !opened)
			status = open_known(&mine, fd, path, (size_t) about.st_size, flags, filter, error);
	}
	else
		status = open_unknown(&mine, fd, path, flags, filter, error);
	(void) close(fd);
	return status;
}
