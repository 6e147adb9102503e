/*-------------------------------------------------------------------------
 *
 * output.c
 *	  A file that is there as a whole or not at all; or a stream; see output.h.
 *
 * Several files are first finished, all of them, and then published, so that an error leaves the
 * old ones, or none.  Whatever ends the program before that removes what it has begun.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include "output.h"

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_BUFFER	((size_t) 256 * 1024)

/* More outputs than any command has. */
#define MAX_TEMPORARIES	3

/* The names of files that are not published yet; read by the handler of signals. */
static char *volatile temporaries[MAX_TEMPORARIES];

static void
remove_temporaries(void)
{
	int			i;

	for (i = 0; i < MAX_TEMPORARIES; i++)
	{
		char	   *name = temporaries[i];

		if (name != NULL)
			(void) unlink(name);
	}
}

static void
on_signal(int number)
{
	remove_temporaries();
	signal(number, SIG_DFL);
	raise(number);
}

/* Once: what is to happen to files that are begun, when the program ends in any way but SIGKILL. */
static void
prepare_removal(void)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
	static bool prepared;
	size_t		i;

	if (prepared)
		return;
	prepared = true;
	if (atexit(remove_temporaries) != 0)
		fail("out of memory");
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
	{
		struct sigaction action;

		/* nohup and the like mean what they say */
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			continue;
		memset(&action, 0, sizeof(action));
		action.sa_handler = on_signal;
		sigfillset(&action.sa_mask);
		(void) sigaction(numbers[i], &action, NULL);
	}
}

/* Opens a new file beside the path, with the rights of the old one, or those of any new file. */
static void
open_beside(Output *output, const struct stat *old)
{
	size_t		size = strlen(output->path) + sizeof(".XXXXXX");
	char	   *name = need_memory(malloc(size), size);
	mode_t		mask;
	sigset_t	all,
				before;

	prepare_removal();
	snprintf(name, size, "%s.XXXXXX", output->path);
	for (output->slot = 0; temporaries[output->slot] != NULL; output->slot++)
		;
	/* No signal comes between a file and its name in the list. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	output->fd = mkostemp(name, O_CLOEXEC);
	if (output->fd >= 0)
		temporaries[output->slot] = name;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (output->fd < 0)
		fail_errno("could not create a file beside \"%s\"", output->name);
	/* The owner can only be kept by whoever may give files away, and matters less than the rows. */
	if (old != NULL && fchown(output->fd, old->st_uid, old->st_gid) != 0)
		errno = 0;
	mask = umask(0);
	umask(mask);
	if (fchmod(output->fd, old != NULL ? old->st_mode & 0777 : 0666 & ~mask) != 0)
		fail_errno("could not set the permissions of a file beside \"%s\"", output->name);
}

/* The full name of a file that need not be there, in a folder that must; to be freed. */
static char *
full_path(const char *name)
{
	char	   *copies[2] = {strdup(name), strdup(name)};
	char	   *folder;
	char	   *path;
	size_t		size;

	folder = realpath(dirname(need_memory(copies[0], strlen(name) + 1)), NULL);
	if (folder == NULL)
		fail_errno("could not write \"%s\"", name);
	size = strlen(folder) + strlen(name) + 2;
	path = need_memory(malloc(size), size);
	snprintf(path, size, "%s/%s", folder, basename(need_memory(copies[1], strlen(name) + 1)));
	free(folder);
	free(copies[0]);
	free(copies[1]);
	return path;
}

/* Remembers which file it is. */
static void
set_identity(Output *output, const struct stat *status)
{
	output->known = !S_ISCHR(status->st_mode);
	output->device = status->st_dev;
	output->inode = status->st_ino;
}

/* Opens the output of that name; "-" is standard output.  The name must stay. */
void
output_open(Output *output, const char *name)
{
	struct stat status;

	memset(output, 0, sizeof(*output));
	output->form = OUTPUT_STREAM;
	output->name = name;
	output->slot = -1;
	output->buffer = need_memory(malloc(OUTPUT_BUFFER), OUTPUT_BUFFER);
	if (strcmp(name, "-") == 0)
	{
		output->name = "standard output";
		output->fd = STDOUT_FILENO;
		if (fstat(output->fd, &status) != 0)
			fail_errno("could not write to standard output");
		set_identity(output, &status);
		return;
	}
	if (name[0] == '\0' || name[strlen(name) - 1] == '/')
		fail("\"%s\" is no name of a file", name);
	if (stat(name, &status) == 0)
	{
		set_identity(output, &status);
		if (S_ISDIR(status.st_mode))
			fail("\"%s\" is a directory", name);
		if (!S_ISREG(status.st_mode))
		{
			output->fd = open(name, O_WRONLY | O_CLOEXEC);
			if (output->fd < 0)
				fail_errno("could not open \"%s\"", name);
			return;
		}
		/* a symbolic link stays one, and what may not be written is not replaced */
		output->path = realpath(name, NULL);
		if (output->path == NULL || access(output->path, W_OK) != 0)
			fail_errno("could not write \"%s\"", name);
		output->form = OUTPUT_FILE;
		open_beside(output, &status);
		return;
	}
	if (errno != ENOENT || lstat(name, &status) == 0)
		fail_errno("could not write \"%s\"", name);
	output->path = full_path(name);
	output->form = OUTPUT_FILE;
	open_beside(output, NULL);
}

/* Would one output overwrite the other?  Devices take what they are given. */
bool
output_is_same(const Output *a, const Output *b)
{
	if (a->known && b->known && a->device == b->device && a->inode == b->inode)
		return true;
	return a->form == OUTPUT_FILE && b->form == OUTPUT_FILE && strcmp(a->path, b->path) == 0;
}

/* Is the output the file that was opened with that name? */
bool
output_is_file(const Output *output, const char *name)
{
	struct stat status;

	return output->known && stat(name, &status) == 0 &&
		output->device == status.st_dev && output->inode == status.st_ino;
}

static void
write_out(const Output *output, const char *bytes, size_t length)
{
	while (length > 0)
	{
		ssize_t		written = write(output->fd, bytes, length);

		if (written > 0)
		{
			bytes += written;
			length -= (size_t) written;
		}
		else if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		{
			struct pollfd wait = {.fd = output->fd,.events = POLLOUT};

			(void) poll(&wait, 1, -1);
		}
		else if (written < 0 && errno != EINTR)
			fail_errno("could not write to %s", output->name);
	}
}

void
output_write(Output *output, const char *bytes, size_t length)
{
	if (length > OUTPUT_BUFFER - output->used)
	{
		write_out(output, output->buffer, output->used);
		output->used = 0;
		if (length >= OUTPUT_BUFFER)
		{
			write_out(output, bytes, length);
			return;
		}
	}
	memcpy(output->buffer + output->used, bytes, length);
	output->used += length;
}

/*
 * Writes the rest, and sees that all of it has arrived: on disk, if it is a file, under whatever
 * name.  A stream is closed.
 */
void
output_finish(Output *output)
{
	write_out(output, output->buffer, output->used);
	output->used = 0;
	free(output->buffer);
	output->buffer = NULL;

	/* What is no file on a disk cannot be synchronized. */
	if (fsync(output->fd) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
		fail_errno("could not write to %s", output->name);
	if (close(output->fd) != 0)
		fail_errno("could not write to %s", output->name);
	output->fd = -1;
}

/* Gives a file its name, in the place of an older one.  It must be finished. */
void
output_publish(Output *output)
{
	char	   *temporary;
	int			fd;

	if (output->form == OUTPUT_STREAM)
		return;
	temporary = temporaries[output->slot];
	if (rename(temporary, output->path) != 0)
		fail_errno("could not rename \"%s\" to \"%s\"", temporary, output->path);
	temporaries[output->slot] = NULL;
	free(temporary);

	/* The name, too, shall outlive a crash of the system; some file systems cannot do that. */
	fd = open(dirname(output->path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
	{
		if (fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
			fail_errno("could not write the directory of \"%s\"", output->name);
		close(fd);
	}
	free(output->path);
	output->path = NULL;
}
