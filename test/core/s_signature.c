/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * s_signature.c
 *	  The states of a range in a signature index, as a model: no interleaving of inserts,
 *	  summarizers, VACUUM and a reader misses a row (src/signature/README, "Invariants").
 *
 * There is one range.  Two sessions insert a row each.  One session at a time does maintenance, as it
 * has the index's lock: it summarizes the range, makes its batch a slab, or summarizes the range anew
 * if it is dirty.  A reader takes a snapshot at any time, and searches.  A step is what happens under
 * one buffer lock.  All interleavings of all steps are tried, with and without faults in the protocol: each
 * fault must be found.
 *
 *-------------------------------------------------------------------------
 */
#include "core/bf_hash.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define ROWS		2
#define MAINTENANCE	5			/* The number of times that maintenance is done. */

typedef enum Fault
{
	NO_FAULT,
	LOOKS_TOO_EARLY,			/* An insert looks at the range's state before its row is on the page. */
	READS_BEFORE_CLAIM,			/* A summarizer reads the rows before it has claimed the range. */
	IGNORES_SPOILED,			/* A summarizer publishes a signature although a row came meanwhile. */
	TRUSTS_BATCH,				/* An insert does not look again after it has added its keys to a batch. */
	LOSES_DIRTY,				/* A slab begins clean although its batch was marked as dirty. */
	IGNORES_REDONE,				/* VACUUM makes a range clean although a row came meanwhile. */
	LEAVES_REDONE,				/* An insert into a dirty range does not take the mark of VACUUM away. */
	FAULTS
}			Fault;

/* The states of the range. */
enum
{
	OPEN, CLAIMED, BATCH, SLAB
};

/* What a session does next. */
enum
{
	PLACE, LOOK, SPOIL, ADD, LOOK_AGAIN, MARK_BATCH, MARK_SLAB, COMMIT, ENDED
};

enum
{
	IDLE, READ, CLAIM_LATE, PUBLISH, COPY, REPLACE_BATCH, REDO_READ, REDO_WRITE, REDO_END
};

enum
{
	SNAPSHOT, META, ENTRY, SEARCH, READ_ALL
};

typedef struct State
{
	uint8_t		range;
	uint8_t		spoiled;
	uint8_t		merging;
	uint8_t		dirty;
	uint8_t		redone;
	uint8_t		placed;			/* sets of rows, a bit each */
	uint8_t		committed;
	uint8_t		batch;			/* what the signature in the batch has */
	uint8_t		slab;
	uint8_t		insert[ROWS];
	uint8_t		looked[ROWS];	/* 1 + the state that an insert saw too early; 0 if it did not */
	uint8_t		task;			/* of maintenance */
	uint8_t		tasks;
	uint8_t		read;			/* the rows that maintenance has read */
	uint8_t		reader;
	uint8_t		snapshot;
	uint8_t		seen;			/* the state that the reader saw */
	uint8_t		seen_dirty;
}			State;

static Fault fault;
static State *visited;
static size_t nvisited;
static size_t room;
static bool violated;

static size_t
place_of(const State *state)
{
	size_t		i = (size_t) bf_hash_bytes(state, sizeof(*state)) & (room - 1);

	while (visited[i].tasks != 0xff && memcmp(&visited[i], state, sizeof(*state)) != 0)
		i = (i + 1) & (room - 1);
	return i;
}

/* Returns whether the state is new. */
static bool
visit(const State *state)
{
	size_t		i;

	if (room == 0 || nvisited * 2 > room)
	{
		State	   *old = visited;
		size_t		n = room;

		room = room == 0 ? 1 << 16 : room * 2;
		visited = (State *) malloc(room * sizeof(State));
		memset(visited, 0xff, room * sizeof(State));
		for (i = 0; i < n; i++)
			if (old[i].tasks != 0xff)
				visited[place_of(&old[i])] = old[i];
		free(old);
	}
	i = place_of(state);
	if (visited[i].tasks != 0xff)
		return false;
	visited[i] = *state;
	nvisited++;
	return true;
}

static void
mark(State *s)
{
	s->dirty = 1;
	if (fault != LEAVES_REDONE)
		s->redone = 0;
}

/* What an insert does after it has seen the range in this state. */
static uint8_t
after_look(const State *s, uint8_t range)
{
	switch (range)
	{
		case OPEN:
			return COMMIT;
		case CLAIMED:
			return SPOIL;
		case BATCH:
			return !s->dirty ? ADD : s->redone ? MARK_BATCH : COMMIT;
		default:
			return s->dirty && !s->redone ? COMMIT : MARK_SLAB;
	}
}

/* Does the next step of an insert. */
static void
insert_step(State *s, int row)
{
	uint8_t		bit = (uint8_t) (1 << row);
	uint8_t	   *next = &s->insert[row];

	switch (*next)
	{
		case PLACE:
			if (fault == LOOKS_TOO_EARLY && s->looked[row] == 0)
			{
				s->looked[row] = (uint8_t) (1 + s->range);
				break;
			}
			s->placed |= bit;
			*next = fault == LOOKS_TOO_EARLY ? after_look(s, (uint8_t) (s->looked[row] - 1)) : LOOK;
			break;
		case LOOK:
			*next = after_look(s, s->range);
			break;
		case SPOIL:
			if (s->range == CLAIMED)
				s->spoiled = 1;
			*next = s->range == OPEN || s->range == CLAIMED ? COMMIT : LOOK;
			break;
		case ADD:
			/* the pages of a batch that has become a slab belong to others */
			if (s->range == BATCH)
				s->batch |= bit;
			*next = s->range != BATCH ? LOOK : fault == TRUSTS_BATCH ? COMMIT : LOOK_AGAIN;
			break;
		case LOOK_AGAIN:
			*next = s->range != BATCH ? LOOK : s->merging ? MARK_BATCH : COMMIT;
			break;
		case MARK_BATCH:
			if (s->range == BATCH)
				mark(s);
			*next = s->range == BATCH ? COMMIT : LOOK;
			break;
		case MARK_SLAB:
			mark(s);
			*next = COMMIT;
			break;
		default:
			s->committed |= bit;
			*next = ENDED;
			break;
	}
}

/* Does the next step of maintenance; an idle session begins this task.  Returns false if it cannot. */
static bool
maintenance_step(State *s, int task)
{
	switch (s->task)
	{
		case IDLE:
			if (s->tasks == MAINTENANCE)
				return false;
			if (task == 0 && s->range == OPEN)
			{
				s->range = CLAIMED;
				s->spoiled = 0;
				s->task = READ;
				if (fault == READS_BEFORE_CLAIM)
				{
					s->range = OPEN;
					s->read = s->placed;
					s->task = CLAIM_LATE;
				}
			}
			else if (task == 1 && s->range == BATCH)
			{
				s->merging = 1;
				s->task = COPY;
			}
			else if (task == 2 && s->dirty)
			{
				s->redone = 1;
				s->task = REDO_READ;
			}
			else
				return false;
			s->tasks++;
			return true;
		case CLAIM_LATE:		/* of the fault READS_BEFORE_CLAIM only */
			s->range = CLAIMED;
			s->spoiled = 0;
			s->task = PUBLISH;
			return true;
		case READ:
			s->read = s->placed;
			s->task = PUBLISH;
			return true;
		case PUBLISH:
			s->range = s->spoiled && fault != IGNORES_SPOILED ? OPEN : BATCH;
			s->batch = s->read;
			break;
		case COPY:
			s->slab = s->batch;
			s->task = REPLACE_BATCH;
			return true;
		case REPLACE_BATCH:
			s->range = SLAB;
			s->merging = 0;
			if (fault == LOSES_DIRTY)
				s->dirty = 0;
			break;
		case REDO_READ:
			s->read = s->placed;
			s->task = REDO_WRITE;
			return true;
		case REDO_WRITE:
			if (s->range == BATCH)
				s->batch = s->read;
			else
				s->slab = s->read;
			s->task = REDO_END;
			return true;
		default:
			if (s->redone || fault == IGNORES_REDONE)
				s->dirty = 0;
			s->redone = 0;
			break;
	}
	s->task = IDLE;
	s->read = 0;
	return true;
}

/* Does the next step of the reader.  A search that denies a row of the snapshot is a violation. */
static void
reader_step(State *s)
{
	uint8_t		has;

	switch (s->reader)
	{
		case SNAPSHOT:
			s->snapshot = s->committed;
			s->reader = META;
			return;
		case META:
			s->seen = s->range;
			s->seen_dirty = s->dirty;
			s->reader = s->range == SLAB ? ENTRY : s->range == BATCH ? SEARCH : READ_ALL;
			return;
		case ENTRY:
			s->seen_dirty = s->dirty;
			s->reader = SEARCH;
			return;
		default:
			if (s->seen == BATCH && s->range != BATCH)
			{
				s->reader = META;
				return;
			}
			has = s->seen == BATCH ? s->batch : s->slab;
			if (!s->seen_dirty && (s->snapshot & ~has) != 0)
				violated = true;
			s->reader = READ_ALL;
			return;
	}
}

static void
explore(const State *state)
{
	State		next;
	int			i;

	if (violated || !visit(state))
		return;
	for (i = 0; i < ROWS; i++)
		if (state->insert[i] != ENDED)
		{
			next = *state;
			insert_step(&next, i);
			explore(&next);
		}
	for (i = 0; i < (state->task == IDLE ? 3 : 1); i++)
	{
		next = *state;
		if (maintenance_step(&next, i))
			explore(&next);
	}
	if (state->reader != READ_ALL)
	{
		next = *state;
		reader_step(&next);
		explore(&next);
	}
}

static bool
misses_a_row(Fault with)
{
	State		begin;

	memset(&begin, 0, sizeof(begin));
	fault = with;
	violated = false;
	nvisited = room = 0;
	visited = NULL;
	explore(&begin);
	free(visited);
	return violated;
}

static void
no_row_is_missed(void)
{
	CHECK(!misses_a_row(NO_FAULT));
	CHECKF(nvisited > 10000, "%zu states", nvisited);
}

static void
faults_are_found(void)
{
	Fault		with;

	for (with = NO_FAULT + 1; with < FAULTS; with++)
		CHECKF(misses_a_row(with), "fault %d is not found", (int) with);
}

int
main(void)
{
	test_seed(1);
	RUN(no_row_is_missed);
	RUN(faults_are_found);
	return test_finish();
}
