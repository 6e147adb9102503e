/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * output.c
 *	  An output: a stream, or a file that appears as a whole or not at all; see output.h.
 *
 * All output files are first completed, and then renamed together, so that an error leaves either
 * all of the old files or none changed.  A signal that ends the program removes the unfinished
 * files.
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
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

#define OUTPUT_BUFFER	((size_t) 256 * 1024)

/* At least the number of outputs of any command. */
#define MAX_TEMPORARIES	3

/*
 * Temporary names of the files that are not renamed yet; NULL: a free entry.  The signal handler
 * reads the names.
 */
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

/* Registers, once, the removal of unfinished files on exit and on signals that end the program. */
static void
prepare_removal(void)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2,
								  SIGXCPU, SIGVTALRM, SIGPROF, SIGPOLL};
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

		/* A signal that is ignored, e.g. because of nohup, stays ignored. */
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			continue;
		memset(&action, 0, sizeof(action));
		action.sa_handler = on_signal;
		sigfillset(&action.sa_mask);
		(void) sigaction(numbers[i], &action, NULL);
	}
}

/*
 * Opens a new file in the folder of the output's path.  The file gets the permissions of the old
 * file, or of any new file if old is NULL.
 */
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
	/*
	 * Signals are blocked so that none arrives between the creation of the file and its entry in
	 * the list.
	 */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	output->fd = mkostemp(name, O_CLOEXEC);
	if (output->fd >= 0)
		temporaries[output->slot] = name;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (output->fd < 0)
		fail_errno("could not create a file beside \"%s\"", output->name);
	/*
	 * The new file gets the old file's owner, which only privileged users can set.  A failure is
	 * ignored, because the rows matter more than the owner.
	 */
	if (old != NULL && fchown(output->fd, old->st_uid, old->st_gid) != 0)
		errno = 0;
	mask = umask(0);
	umask(mask);
	if (fchmod(output->fd, old != NULL ? old->st_mode & 0777 : 0666 & ~mask) != 0)
		fail_errno("could not set the permissions of a file beside \"%s\"", output->name);
}

/*
 * Returns the full path of a file, to be freed by the caller.  The file need not exist, but its
 * folder must.
 */
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

/* Stores the device and inode of the output's file, by which it is recognized under other names. */
static void
set_identity(Output *output, const struct stat *status)
{
	output->known = !S_ISCHR(status->st_mode);
	output->device = status->st_dev;
	output->inode = status->st_ino;
}

/*
 * Returns whether a folder holds the descriptors of a process, and if so sets *pid to that process.
 */
static bool
holds_descriptors(const char *folder, long *pid)
{
	long		task;
	int			whole = 0;

	if (sscanf(folder, "/proc/%ld/fd%n", pid, &whole) == 1 && whole > 0 && folder[whole] == '\0')
		return true;
	whole = 0;
	return sscanf(folder, "/proc/%ld/task/%ld/fd%n", pid, &task, &whole) == 2 && whole > 0 &&
		   folder[whole] == '\0';
}

/*
 * Returns the descriptor that a name stands for, such as /dev/stdout, /dev/fd/5 or a symbolic link
 * to one of them; -1 if the name stands for no descriptor.  The file behind a descriptor must not
 * be replaced, because other processes may write to it, too.
 */
static int
find_descriptor(const char *name)
{
	char	   *path = need_memory(strdup(name), strlen(name) + 1);
	int			descriptor = -1;
	int			links;

	for (links = 0; links < 40; links++)
	{
		char		target[4096];
		char	   *folder = full_path(path);
		char	   *base = strrchr(folder, '/');
		size_t		room = strlen(folder) + sizeof(target);
		ssize_t		length;
		long		pid;

		*base = '\0';
		if (holds_descriptors(folder, &pid))
		{
			if (pid != (long) getpid())
				fail("\"%s\" is a descriptor of another process", name);
			if (base[1] != '\0' && strlen(base + 1) < 10 &&
				base[1 + strspn(base + 1, "0123456789")] == '\0')
				descriptor = atoi(base + 1);
			free(folder);
			break;
		}
		*base = '/';
		length = readlink(folder, target, sizeof(target) - 1);
		if (length < 0)
		{
			free(folder);
			break;
		}
		target[length] = '\0';
		free(path);
		base[1] = '\0';
		path = need_memory(malloc(room), room);
		snprintf(path, room, "%s%s", target[0] == '/' ? "" : folder, target);
		free(folder);
	}
	free(path);
	return descriptor;
}

/* Sets the output to a descriptor that the program inherited. */
static void
use_descriptor(Output *output, int descriptor)
{
	struct stat status;
	struct stat input;

	output->fd = descriptor;
	if (descriptor != STDOUT_FILENO)
	{
		int			flags = fcntl(descriptor, F_GETFD);

		/* A descriptor with FD_CLOEXEC was opened by this program, not inherited. */
		if (flags >= 0 && (flags & FD_CLOEXEC))
			errno = EBADF;
		output->fd = flags >= 0 && !(flags & FD_CLOEXEC) ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
														 : -1;
	}
	if (output->fd < 0 || fstat(output->fd, &status) != 0)
		fail_errno("could not write to %s", output->name);
	set_identity(output, &status);

	/* If the output is the input, every row that is written would be read again. */
	if (S_ISREG(status.st_mode) && fstat(STDIN_FILENO, &input) == 0 &&
		status.st_dev == input.st_dev && status.st_ino == input.st_ino)
		fail("the output is the input: %s", output->name);
}

/* Opens the output with the given name; "-" is standard output.  The name must stay valid. */
void
output_open(Output *output, const char *name)
{
	struct stat status;
	int			descriptor;

	memset(output, 0, sizeof(*output));
	output->form = OUTPUT_STREAM;
	output->name = name;
	output->slot = -1;
	output->buffer = need_memory(malloc(OUTPUT_BUFFER), OUTPUT_BUFFER);
	if (strcmp(name, "-") == 0)
	{
		output->name = "standard output";
		use_descriptor(output, STDOUT_FILENO);
		return;
	}
	if (name[0] == '\0' || name[strlen(name) - 1] == '/')
		fail("\"%s\" is no name of a file", name);
	descriptor = find_descriptor(name);
	if (descriptor >= 0)
	{
		use_descriptor(output, descriptor);
		return;
	}
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
		/*
		 * A symbolic link is kept and its target replaced; a file without write permission is not
		 * replaced.
		 */
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

/*
 * Returns whether two outputs are the same file, so that one would overwrite the other.  Character
 * devices do not count.
 */
bool
output_is_same(const Output *a, const Output *b)
{
	if (a->known && b->known && a->device == b->device && a->inode == b->inode)
		return true;
	return a->form == OUTPUT_FILE && b->form == OUTPUT_FILE && strcmp(a->path, b->path) == 0;
}

/* Returns whether an output is the existing file with the given name. */
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
 * Writes the rest of an output, synchronizes it to disk if it is a file, and closes it.  A file
 * keeps its temporary name.
 */
void
output_finish(Output *output)
{
	write_out(output, output->buffer, output->used);
	output->used = 0;
	free(output->buffer);
	output->buffer = NULL;

	/* fsync() fails for outputs that are not files on a disk. */
	if (fsync(output->fd) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
		fail_errno("could not write to %s", output->name);
	if (close(output->fd) != 0)
		fail_errno("could not write to %s", output->name);
	output->fd = -1;
}

/* What happened to the file that had the output's name before. */
typedef enum Old
{
	OLD_NONE,					/* There was no file of that name. */
	OLD_EXCHANGED,				/* The old file has the new file's temporary name. */
	OLD_LINKED,					/* The old file has the temporary name with a tilde appended. */
	OLD_GONE					/* The old file is lost: the file system supports neither. */
} Old;

static int
exchange(const char *a, const char *b)
{
	return (int) syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

/* Returns the temporary name with a tilde appended, to be freed by the caller. */
static char *
third_name(const char *temporary)
{
	size_t		size = strlen(temporary) + 2;
	char	   *name = need_memory(malloc(size), size);

	snprintf(name, size, "%s~", temporary);
	return name;
}

/*
 * Renames a finished file to its final name, and sets *old to what happened to the old file.
 * Returns false, with errno set, if the file cannot be renamed; nothing is changed then.
 */
static bool
give_name(const Output *output, Old *old)
{
	const char *temporary = temporaries[output->slot];
	struct stat status;
	bool		there = lstat(output->path, &status) == 0;
	char	   *third;
	bool		done;

	*old = OLD_NONE;
	if (there && S_ISDIR(status.st_mode))
	{
		errno = EISDIR;
		return false;
	}
	if (!there)
		return rename(temporary, output->path) == 0;
	*old = OLD_EXCHANGED;
	if (exchange(temporary, output->path) == 0)
		return true;
	if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
		return false;
	third = third_name(temporary);
	*old = link(output->path, third) == 0 ? OLD_LINKED : OLD_GONE;
	done = rename(temporary, output->path) == 0;
	if (!done && *old == OLD_LINKED)
	{
		int			saved = errno;

		(void) unlink(third);
		errno = saved;
	}
	free(third);
	return done;
}

/*
 * Undoes give_name(): the new file, which will be removed, gets its temporary name, and the old
 * file gets its name back.
 */
static void
take_name(const Output *output, Old old)
{
	const char *temporary = temporaries[output->slot];

	if (old == OLD_NONE)
		(void) rename(output->path, temporary);
	else if (old == OLD_EXCHANGED)
		(void) exchange(temporary, output->path);
	else if (old == OLD_LINKED)
	{
		char	   *third = third_name(temporary);

		(void) rename(third, output->path);
		free(third);
	}
}

/*
 * Removes the old file, and synchronizes the folder so that the new name survives a crash of the
 * system.
 */
static void
forget_old(Output *output, Old old)
{
	char	   *temporary = temporaries[output->slot];
	int			fd;

	if (old == OLD_EXCHANGED)
		(void) unlink(temporary);
	else if (old == OLD_LINKED)
	{
		char	   *third = third_name(temporary);

		(void) unlink(third);
		free(third);
	}
	temporaries[output->slot] = NULL;
	free(temporary);

	/* Some file systems cannot synchronize folders. */
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

/*
 * Gives all files their final names, replacing older files, or gives none of them their names.  The
 * outputs must be finished.
 */
void
output_publish(Output *const *outputs, int n)
{
	Old			olds[MAX_TEMPORARIES];
	sigset_t	all,
				before;
	int			i;

	/* Signals are blocked so that none arrives between renaming one file and the next. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	for (i = 0; i < n; i++)
	{
		int			saved;
		int			failed = i;

		if (outputs[i]->form == OUTPUT_STREAM || give_name(outputs[i], &olds[i]))
			continue;
		saved = errno;
		while (--i >= 0)
		{
			if (outputs[i]->form == OUTPUT_FILE)
				take_name(outputs[i], olds[i]);
		}
		sigprocmask(SIG_SETMASK, &before, NULL);
		errno = saved;
		fail_errno("could not rename \"%s\" to \"%s\"", temporaries[outputs[failed]->slot],
				   outputs[failed]->path);
	}
	for (i = 0; i < n; i++)
	{
		if (outputs[i]->form == OUTPUT_FILE)
			forget_old(outputs[i], olds[i]);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}
