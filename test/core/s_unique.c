/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * s_unique.c
 *	  A model of unique maplet indexes: all interleavings of three transactions, step by step.
 *
 * src/maplet/README, "Unique indexes", says in which steps a key is inserted, and why no key gets
 * two live rows.  Here three sessions take these steps in every possible order, while the index
 * moves entries: it switches tails, flushes, merges, and VACUUM removes rows and frees their
 * places.  The model has no code in common with src/maplet; it is about the order of steps.
 *
 * A program consists of three transactions, which insert two keys, insert and skip a conflict, or
 * delete, and commit or not.  With LONG=1, all programs of one statement for each transaction are
 * tried, and every 127th program whose transactions have two statements; otherwise a part of these
 * programs.  A state that was reached before, by 64 bits of its hash, is not followed again.  At
 * the end the model itself is tested: with a step left out, or two steps in another order, it must
 * find a fault.
 *
 *-------------------------------------------------------------------------
 */
#include "test.h"

#define SESSIONS	3
#define SLOTS		6			/* places of rows */
#define RUNS		4			/* places of runs */
#define OPERATIONS	2			/* of a transaction, at most */
#define BEFORE		SESSIONS	/* the transaction of rows that are there at the beginning */
#define NOBODY		7

typedef enum Fate
{
	RUNNING, COMMITTED, ABORTED
} Fate;

typedef enum Operation
{
	NOTHING, INSERT_0, INSERT_1, SKIP_0, SKIP_1, DELETE_0, DELETE_1, KINDS_OF_OPERATION
} Operation;

/* The faults that are built into the protocol to test that the model notices each of them. */
typedef enum Mistake
{
	NO_MISTAKE,
	NO_LOCK,					/* keys are not locked */
	EARLY_COPY,					/* the metapage is copied before the key is locked */
	EARLY_UNLOCK,				/* the key is unlocked before the entry is added */
	NO_COMPARISON,				/* each row that the index names is taken for one with the key */
	WAIT_WITH_LOCK,				/* the key stays locked during the wait for a transaction */
	NO_WAITING_TAIL,			/* the tail that waits for its flush is not searched */
	FLUSH_IN_TWO_CHANGES,		/* the tail is given up before its run is listed */
	REMEMBERED_TOO_LONG,		/* what a search remembers is used for other versions, too */
	REMEMBERED_TAIL				/* the active tail is not searched again, either */
} Mistake;

typedef struct Program
{
	uint8_t		operations[SESSIONS][OPERATIONS];
	bool		rolls_back[SESSIONS];
	bool		key_0_is_there;
	bool		keys_collide;	/* both keys have one hash */
	Mistake		mistake;
} Program;

typedef struct Row
{
	uint8_t		used;
	uint8_t		key;
	uint8_t		xmin;			/* session */
	uint8_t		xmax;			/* session, or NOBODY */
	uint8_t		speculative;	/* inserted by ON CONFLICT, and not confirmed yet */
	uint8_t		killed;			/* taken back by ON CONFLICT */
} Row;

/* The entries of a page by hash; bit n stands for the row at place n. */
typedef struct Page
{
	uint8_t		id;
	uint8_t		entries[2];
} Page;

typedef struct Copy
{
	uint8_t		version;
	uint8_t		active;
	uint8_t		pending;
	uint8_t		tail_ids[2];
	uint8_t		listed;			/* runs */
	uint8_t		run_ids[RUNS];
} Copy;

typedef enum Step
{
	BEGIN, PUT_ROW, LOCK, COPY, READ, FETCH, ADD, UNLOCK, GIVE_UP, WAIT, END, CUT
} Step;

typedef struct Session
{
	uint8_t		step;			/* Step that the session takes next. */
	uint8_t		operation;		/* Index of the transaction's current operation. */
	uint8_t		searches;		/* True in ON CONFLICT's own search, before the row is inserted. */
	uint8_t		row;			/* Place of the inserted row; NOBODY: none. */
	uint8_t		read;			/* Number of the copy's pages that were read. */
	uint8_t		found;			/* Places that the search has found, as bits. */

	/*
	 * What the session's last search found outside the active tail, as bits, and its hash and
	 * version; the version is 0 if there is nothing to remember.
	 */
	uint8_t		remembered;
	uint8_t		remembered_hash;
	uint8_t		remembered_version;

	/* True if there may be a conflict, so that the row is taken back. */
	uint8_t		maybe;
	uint8_t		waits_for;		/* Session for which the session waits. */
	/*
	 * Place of the row whose speculative insertion the session waits for; NOBODY: it waits for the
	 * transaction.
	 */
	uint8_t		waits_for_row;
	Copy		copy;
} Session;

typedef struct State
{
	uint8_t		fates[SESSIONS + 1];
	Row			rows[SLOTS];
	uint8_t		locks[2];		/* Session that holds the lock of each hash, or NOBODY. */
	Page		tails[2];
	Page		runs[RUNS];
	uint8_t		active;
	uint8_t		pending;
	uint8_t		listed;
	uint8_t		next_id;
	uint8_t		flushing;		/* 1 while the tail has been read, but is not flushed. */
	uint8_t		flushed[2];
	uint8_t		merging;
	uint8_t		merged[2];
	uint8_t		inputs;
	uint8_t		vacuuming;		/* 1: VACUUM knows the dead rows; 2: their entries are removed. */
	uint8_t		dead;
	uint8_t		switches;		/* Number of switches of tails that are still to come. */
	uint8_t		merges;
	uint8_t		vacuums;
	Session		sessions[SESSIONS];
} State;

/* ---- rows ---- */

static const char *fault;		/* The rule that the last step broke; NULL: none. */

static int
hash_of(const Program *program, int key)
{
	return program->keys_collide ? 0 : key;
}

static bool
is_live(const State *state, const Row *row)
{
	return row->used && !row->killed && state->fates[row->xmin] == COMMITTED &&
		(row->xmax == NOBODY || state->fates[row->xmax] != COMMITTED);
}

/* Returns whether VACUUM may remove a row. */
static bool
is_dead(const State *state, const Row *row)
{
	return row->used && (row->killed || state->fates[row->xmin] == ABORTED ||
						 (row->xmax != NOBODY && state->fates[row->xmax] == COMMITTED &&
						  state->fates[row->xmin] == COMMITTED));
}

typedef enum Seen
{
	NOT_SEEN, SEEN, IN_DOUBT
} Seen;

/*
 * Returns what a dirty snapshot of a session says about a row, and stores which transaction
 * decides.
 */
static Seen
look_at(const State *state, int who, const Row *row, uint8_t *decides)
{
	if (!row->used || row->killed || state->fates[row->xmin] == ABORTED)
		return NOT_SEEN;
	if (row->xmin != who && state->fates[row->xmin] == RUNNING)
	{
		*decides = row->xmin;
		return IN_DOUBT;
	}
	if (row->xmax == NOBODY || state->fates[row->xmax] == ABORTED)
		return SEEN;
	if (row->xmax == who || state->fates[row->xmax] == COMMITTED)
		return NOT_SEEN;
	*decides = row->xmax;
	return IN_DOUBT;
}

/* ---- sessions ---- */

static bool
is_insert(Operation operation)
{
	return operation >= INSERT_0 && operation <= SKIP_1;
}

static bool
skips(Operation operation)
{
	return operation == SKIP_0 || operation == SKIP_1;
}

static int
key_of(Operation operation)
{
	return operation == INSERT_1 || operation == SKIP_1 || operation == DELETE_1;
}

static void
next_operation(Session *session)
{
	session->operation++;
	session->step = BEGIN;
	session->row = NOBODY;
	session->found = 0;
	session->maybe = 0;
	session->read = 0;
	session->waits_for = NOBODY;
	session->waits_for_row = NOBODY;
	memset(&session->copy, 0, sizeof(session->copy));
}

static void
copy_metapage(const State *state, Session *session)
{
	int			i;

	/* Each change of the metapage that searches must see takes an id. */
	session->copy.version = state->next_id;
	session->copy.active = state->active;
	session->copy.pending = state->pending;
	session->copy.listed = state->listed;
	for (i = 0; i < 2; i++)
		session->copy.tail_ids[i] = state->tails[i].id;
	for (i = 0; i < RUNS; i++)
		session->copy.run_ids[i] = state->listed & 1 << i ? state->runs[i].id : 0;
	session->read = 0;
	session->step = READ;
}

/* Ends the reading phase of a search: only the rows that it found remain. */
static void
end_reading(Session *session)
{
	session->step = FETCH;
	session->read = 0;
	memset(&session->copy, 0, sizeof(session->copy));
}

/*
 * Returns whether the copy has the page with a number: the active tail, the other tail, or a run.
 */
static bool
has_page(const Program *program, const Copy *copy, int number)
{
	if (number == 0)
		return true;
	if (number == 1)
		return copy->pending && program->mistake != NO_WAITING_TAIL;
	return copy->listed & 1 << (number - 2);
}

/* Returns whether an insert's search need not go beyond the active tail. */
static bool
remembers(const Program *program, const Session *session, int hash)
{
	return !session->searches && session->remembered_version != 0 && session->remembered_hash == hash &&
		(session->remembered_version == session->copy.version || program->mistake == REMEMBERED_TOO_LONG);
}

/* Reads the next page of a session's copy. */
static void
read_page(const Program *program, const State *state, Session *session, int hash)
{
	const Copy *copy = &session->copy;
	int			number = session->read;
	int			tail = number == 0 ? copy->active : 1 - copy->active;
	const Page *page = number < 2 ? &state->tails[tail] : &state->runs[number - 2];
	uint8_t		id = number < 2 ? copy->tail_ids[tail] : copy->run_ids[number - 2];

	if (number == 0 && program->mistake == REMEMBERED_TAIL && remembers(program, session, hash))
	{
		session->found |= session->remembered;
		end_reading(session);
		return;
	}
	if (page->id != id)
	{
		/* The page belongs to another tail or run by now, so the search begins again. */
		session->step = COPY;
		return;
	}
	session->found |= page->entries[hash];
	if (number > 0)
		session->remembered |= page->entries[hash];
	else if (remembers(program, session, hash))
	{
		session->found |= session->remembered;
		end_reading(session);
		return;
	}
	else
	{
		session->remembered = 0;
		session->remembered_version = 0;
	}
	do
		session->read++;
	while (session->read < 2 + RUNS && !has_page(program, copy, session->read));
	if (session->read == 2 + RUNS)
	{
		session->remembered_hash = hash;
		session->remembered_version = copy->version;
		end_reading(session);
	}
}

static int
put_row(State *state, int who, int key, bool speculative)
{
	int			i;

	for (i = 0; i < SLOTS; i++)
		if (!state->rows[i].used)
		{
			state->rows[i] = (Row) {1, key, who, NOBODY, speculative, 0};
			return i;
		}
	return NOBODY;
}

/*
 * Looks at one of the rows that a search has found, and decides how to go on.  If no row is left to
 * look at, takes the step after the search.
 */
static void
fetch_row(const Program *program, State *state, int who, Operation operation)
{
	Session    *session = &state->sessions[who];
	int			key = key_of(operation);
	uint8_t		decides = NOBODY;
	const Row  *row;
	int			place = 0;
	Seen		seen;

	/* one's own row, and places of nothing or of another key, say nothing */
	if (session->row != NOBODY)
		session->found &= ~(1 << session->row);
	for (; place < SLOTS; place++)
		if (!state->rows[place].used ||
			(state->rows[place].key != key && program->mistake != NO_COMPARISON))
			session->found &= ~(1 << place);
	place = 0;
	if (session->found == 0)
	{
		session->step = session->searches ? PUT_ROW :
			program->mistake == EARLY_UNLOCK ? UNLOCK : ADD;
		return;
	}
	while (!(session->found & 1 << place))
		place++;
	session->found &= ~(1 << place);
	row = &state->rows[place];
	seen = look_at(state, who, row, &decides);
	if (seen == NOT_SEEN)
		return;
	if (skips(operation) && !session->searches)
	{
		/* the row is taken back, and the executor's own search waits */
		session->found = 0;
		session->maybe = 1;
		return;
	}
	session->found = 0;
	if (seen == IN_DOUBT)
	{
		session->waits_for = decides;
		session->waits_for_row = row->speculative && decides == row->xmin ? place : NOBODY;
		if (!session->searches && program->mistake != WAIT_WITH_LOCK)
			state->locks[hash_of(program, key)] = NOBODY;
		session->step = WAIT;
		return;
	}
	if (row->key != key)
		fault = "a free key is refused";
	if (session->searches)
		next_operation(session);
	else
		session->step = GIVE_UP;
}

static void
end_transaction(State *state, int who, Fate fate)
{
	Session    *session = &state->sessions[who];
	int			live[2] = {0, 0};
	int			i;

	state->fates[who] = fate;
	session->operation = OPERATIONS;
	next_operation(session);
	session->operation = 0;
	session->searches = 0;
	session->remembered = 0;
	session->remembered_hash = 0;
	session->remembered_version = 0;
	session->step = END;
	for (i = 0; i < SLOTS; i++)
		if (is_live(state, &state->rows[i]))
			live[state->rows[i].key]++;
	if (live[0] > 1 || live[1] > 1)
		fault = "a key has two rows";
}

static void
begin_operation(const Program *program, State *state, int who, Operation operation)
{
	Session    *session = &state->sessions[who];
	uint8_t		decides;
	int			i;

	if (operation == NOTHING)
		end_transaction(state, who, program->rolls_back[who] ? ABORTED : COMMITTED);
	else if (is_insert(operation))
	{
		session->searches = skips(operation);
		session->step = session->searches ? COPY : PUT_ROW;
	}
	else
	{
		for (i = 0; i < SLOTS; i++)
			if (state->rows[i].key == key_of(operation) &&
				look_at(state, who, &state->rows[i], &decides) == SEEN)
			{
				state->rows[i].xmax = who;
				break;
			}
		next_operation(session);
	}
}

/*
 * Completes an insert.  If there may be a conflict, ON CONFLICT takes its row back and begins
 * again.
 */
static void
confirm_row(Session *session, Row *row)
{
	row->speculative = 0;
	if (!session->maybe)
	{
		next_operation(session);
		return;
	}
	row->killed = 1;
	session->row = NOBODY;
	session->maybe = 0;
	session->searches = 1;
	session->step = COPY;
}

/*
 * Takes a session's next step.  Returns false if the session has to wait, or has no further step.
 */
static bool
take_step(const Program *program, State *state, int who)
{
	Session    *session = &state->sessions[who];
	Operation	operation = session->operation < OPERATIONS ?
		(Operation) program->operations[who][session->operation] : NOTHING;
	int			hash = hash_of(program, key_of(operation));
	Row		   *row = session->row != NOBODY ? &state->rows[session->row] : NULL;

	switch ((Step) session->step)
	{
		case BEGIN:
			begin_operation(program, state, who, operation);
			if (session->step == COPY)
				copy_metapage(state, session);
			return true;
		case PUT_ROW:
			session->searches = 0;
			session->step = LOCK;
			session->row = put_row(state, who, key_of(operation), skips(operation));
			if (session->row == NOBODY)
			{
				session->step = CUT;
				return true;
			}
			if (program->mistake == EARLY_COPY)
			{
				copy_metapage(state, session);
				session->step = LOCK;
			}
			return true;
		case LOCK:
			if (program->mistake != NO_LOCK && state->locks[hash] != NOBODY && state->locks[hash] != who)
				return false;
			if (program->mistake != NO_LOCK)
				state->locks[hash] = who;
			/* who waits for the lock sees no difference if the copy is made at once */
			if (program->mistake == EARLY_COPY && session->copy.tail_ids[0] != 0)
				session->step = READ;
			else
				copy_metapage(state, session);
			return true;
		case COPY:
			copy_metapage(state, session);
			return true;
		case READ:
			read_page(program, state, session, hash);
			return true;
		case FETCH:
			fetch_row(program, state, who, operation);
			return true;
		case ADD:
			state->tails[state->active].entries[hash] |= 1 << session->row;
			session->step = UNLOCK;
			if (program->mistake == EARLY_UNLOCK)
				confirm_row(session, row);
			return true;
		case UNLOCK:
			state->locks[hash] = NOBODY;
			if (program->mistake == EARLY_UNLOCK)
			{
				session->step = ADD;
				return true;
			}
			confirm_row(session, row);
			return true;
		case GIVE_UP:
			state->locks[hash] = NOBODY;
			end_transaction(state, who, ABORTED);
			return true;
		case WAIT:
			if (session->waits_for_row != NOBODY ?
				state->rows[session->waits_for_row].speculative && state->fates[session->waits_for] == RUNNING :
				state->fates[session->waits_for] == RUNNING)
				return false;
			session->waits_for = NOBODY;
			session->waits_for_row = NOBODY;
			session->step = session->searches ? COPY : LOCK;
			return true;
		case END:
		case CUT:
			return false;
	}
	return false;
}

/* ---- the index ---- */

static bool
switch_tails(State *state)
{
	if (state->switches == 0 || state->pending)
		return false;
	state->switches--;
	state->active = 1 - state->active;
	state->tails[state->active] = (Page) {state->next_id++, {0, 0}};
	state->pending = 1;
	return true;
}

static int
free_run(const State *state)
{
	int			i = 0;

	while (state->listed & 1 << i)
		i++;
	return i;
}

static bool
flush(const Program *program, State *state)
{
	int			run = free_run(state);

	if (state->flushing == 0)
	{
		if (!state->pending || run >= RUNS)
			return false;
		memcpy(state->flushed, state->tails[1 - state->active].entries, sizeof(state->flushed));
		state->flushing = 1;
		if (program->mistake == FLUSH_IN_TWO_CHANGES)
			state->pending = 0;
		return true;
	}
	if (run >= RUNS)
		return false;
	state->runs[run].id = state->next_id++;
	memcpy(state->runs[run].entries, state->flushed, sizeof(state->flushed));
	state->listed |= 1 << run;
	state->pending = 0;
	state->flushing = 0;
	memset(state->flushed, 0, sizeof(state->flushed));
	return true;
}

static bool
merge(State *state)
{
	int			run = free_run(state);
	int			hash;
	int			i;

	if (state->merging == 0)
	{
		/* two runs at least */
		if (state->merges == 0 || (state->listed & (state->listed - 1)) == 0)
			return false;
		state->merges--;
		state->merging = 1;
		state->inputs = state->listed;
		for (i = 0; i < RUNS; i++)
			for (hash = 0; hash < 2 && state->inputs & 1 << i; hash++)
				state->merged[hash] |= state->runs[i].entries[hash];
		return true;
	}
	if (run >= RUNS)
		return false;
	state->runs[run].id = state->next_id++;
	memcpy(state->runs[run].entries, state->merged, sizeof(state->merged));
	state->listed = (state->listed & ~state->inputs) | 1 << run;
	memset(state->merged, 0, sizeof(state->merged));
	state->merging = 0;
	state->inputs = 0;
	return true;
}

/*
 * Takes VACUUM's next step: finding dead rows, removing their entries, or then freeing their
 * places.
 */
static bool
vacuum(State *state)
{
	int			hash;
	int			i;

	switch (state->vacuuming)
	{
		case 0:
			if (state->vacuums == 0)
				return false;
			for (i = 0; i < SLOTS; i++)
				if (is_dead(state, &state->rows[i]))
					state->dead |= 1 << i;
			if (state->dead == 0)
				return false;
			state->vacuums--;
			state->vacuuming = 1;
			return true;
		case 1:
			for (hash = 0; hash < 2; hash++)
			{
				for (i = 0; i < 2; i++)
					state->tails[i].entries[hash] &= ~state->dead;
				for (i = 0; i < RUNS; i++)
					state->runs[i].entries[hash] &= ~state->dead;
				state->flushed[hash] &= ~state->dead;
				state->merged[hash] &= ~state->dead;
			}
			state->vacuuming = 2;
			return true;
		default:
			for (i = 0; i < SLOTS; i++)
				if (state->dead & 1 << i)
					memset(&state->rows[i], 0, sizeof(Row));
			state->dead = 0;
			state->vacuuming = 0;
			return true;
	}
}

/* ---- all interleavings ---- */

static uint64_t *visited;		/* hashes of states that were seen; 0: none */
static size_t visited_room;
static size_t visited_n;
static State *stack;
static size_t stack_room;
static size_t stack_n;

static uint64_t
state_hash(const State *state)
{
	uint64_t	hash = XXH3_64bits(state, sizeof(*state));

	return hash != 0 ? hash : 1;
}

static bool
visit(uint64_t hash)
{
	size_t		at;

	if (visited_n * 2 >= visited_room)
	{
		uint64_t   *old = visited;
		size_t		old_room = visited_room;
		size_t		i;

		visited_room = old_room == 0 ? 1 << 16 : old_room * 2;
		visited = calloc(visited_room, sizeof(uint64_t));
		visited_n = 0;
		for (i = 0; i < old_room; i++)
			if (old[i] != 0)
				visit(old[i]);
		free(old);
	}
	for (at = hash & (visited_room - 1); visited[at] != 0; at = (at + 1) & (visited_room - 1))
		if (visited[at] == hash)
			return false;
	visited[at] = hash;
	visited_n++;
	return true;
}

/*
 * Forgets what sessions remember of versions that are over, so that states which differ in nothing
 * else are one.
 */
static void
forget_old_versions(const Program *program, State *state)
{
	int			i;

	for (i = 0; i < SESSIONS && program->mistake != REMEMBERED_TOO_LONG; i++)
	{
		Session    *session = &state->sessions[i];

		if (session->step != READ && session->remembered_version != state->next_id)
		{
			session->remembered = 0;
			session->remembered_hash = 0;
			session->remembered_version = 0;
		}
	}
}

static void
push(const Program *program, State *state)
{
	forget_old_versions(program, state);
	if (!visit(state_hash(state)))
		return;
	if (stack_n == stack_room)
	{
		stack_room = stack_room == 0 ? 1024 : stack_room * 2;
		stack = realloc(stack, stack_room * sizeof(State));
	}
	stack[stack_n++] = *state;
}

static void
first_state(const Program *program, State *state)
{
	int			i;

	memset(state, 0, sizeof(*state));
	state->fates[BEFORE] = COMMITTED;
	state->locks[0] = NOBODY;
	state->locks[1] = NOBODY;
	state->tails[0].id = 1;
	state->tails[1].id = 2;
	state->runs[0].id = 3;
	state->listed = 1;
	state->next_id = 4;
	state->switches = 1;
	state->merges = 1;
	state->vacuums = 1;
	if (program->key_0_is_there)
	{
		state->rows[0] = (Row) {1, 0, BEFORE, NOBODY, 0, 0};
		state->runs[0].entries[0] = 1;
	}
	for (i = 0; i < SESSIONS; i++)
	{
		next_operation(&state->sessions[i]);
		state->sessions[i].operation = 0;
	}
}

/*
 * Checks a state in which no session can continue: sessions that wait must wait for transactions,
 * as they would with a B-tree.
 */
static void
check_standstill(const State *state)
{
	int			i;

	for (i = 0; i < SESSIONS; i++)
		if (state->sessions[i].step != END && state->sessions[i].step != WAIT)
			fault = "a session waits for a key's lock, and nobody gives it back";
	for (i = 0; i < 2; i++)
		if (state->locks[i] != NOBODY)
			fault = "a key's lock is held at the end";
}

/*
 * Walks through all interleavings of a program.  Returns the first fault found, or NULL.  Stores in
 * *n the number of states, and in *cut how often a state was not followed because a row had no free
 * place.
 */
static const char *
explore(const Program *program, size_t *n, size_t *cut)
{
	State		state;

	fault = NULL;
	visited_n = 0;
	if (visited != NULL)
		memset(visited, 0, visited_room * sizeof(uint64_t));
	stack_n = 0;
	first_state(program, &state);
	push(program, &state);
	while (stack_n > 0 && fault == NULL)
	{
		State		from = stack[--stack_n];
		bool		goes_on = false;
		int			i;

		for (i = 0; i < SESSIONS && fault == NULL; i++)
		{
			state = from;
			if (!take_step(program, &state, i))
				continue;
			goes_on = true;
			if (state.sessions[i].step == CUT)
				*cut += 1;
			else if (fault == NULL)
				push(program, &state);
		}
		if (!goes_on)
			check_standstill(&from);
		for (i = 0; i < 4 && fault == NULL; i++)
		{
			state = from;
			if (i == 0 ? switch_tails(&state) : i == 1 ? flush(program, &state) : i == 2 ? merge(&state) : vacuum(&state))
				push(program, &state);
		}
	}
	*n = visited_n;
	return fault;
}

static void
name_program(const Program *program, char *name)
{
	static const char *const names[] = {"", "i0", "i1", "s0", "s1", "d0", "d1"};
	int			i;
	int			j;

	*name = '\0';
	for (i = 0; i < SESSIONS; i++)
	{
		for (j = 0; j < OPERATIONS; j++)
			strcat(name, names[program->operations[i][j]]);
		strcat(name, program->rolls_back[i] ? "r " : "c ");
	}
	strcat(name, program->key_0_is_there ? "there " : "");
	strcat(name, program->keys_collide ? "collide" : "");
}

static void
check_program(const Program *program, size_t *states, size_t *cut)
{
	char		name[100];
	size_t		n;
	const char *found = explore(program, &n, cut);

	name_program(program, name);
	CHECKF(found == NULL, "%s: %s", name, found);
	*states += n;
}

/*
 * A transaction as a number: one or two operations, and how it ends.  The second of two operations
 * is on key 0.
 */
#define SINGLE		((KINDS_OF_OPERATION - 1) * 2)

static void
set_transaction(Program *program, int who, int number)
{
	program->operations[who][0] = 1 + number / 2 % (KINDS_OF_OPERATION - 1);
	program->operations[who][1] = number < SINGLE ? NOTHING : number % 4 < 2 ? INSERT_0 : DELETE_0;
	program->rolls_back[who] = number % 2;
}

static void
programs(int first, int n, int every, const char *what)
{
	size_t		states = 0;
	size_t		cut = 0;
	int			count = 0;
	int			number = 0;
	int			a;
	int			b;
	int			c;
	int			variant;

	for (a = first; a < n; a++)
		for (b = first > 0 ? 0 : a; b < n; b++)
			for (c = b; c < n; c++)
				for (variant = 0; variant < 4; variant++)
				{
					Program		program = {.key_0_is_there = variant & 1, .keys_collide = variant & 2};

					if (number++ % every != 0)
						continue;
					set_transaction(&program, 0, a);
					set_transaction(&program, 1, b);
					set_transaction(&program, 2, c);
					check_program(&program, &states, &cut);
					count++;
				}
	printf("%s: %d programs, %zu states, %zu not followed\n", what, count, states, cut);
}

static void
one_statement(void)
{
	programs(0, SINGLE, test_is_long() ? 1 : test_is_everyday() ? 83 : 13, "transactions of one statement");
}

static void
two_statements(void)
{
	programs(SINGLE, 2 * SINGLE, test_is_long() ? 127 : test_is_everyday() ? 2003 : 401, "transactions of two statements");
}

/* Checks that the model finds every built-in fault by some program. */
static void
mistakes(void)
{
	static const char *const names[] = {"", "no lock", "early copy", "early unlock", "no comparison",
	"wait with lock", "no waiting tail", "flush in two changes", "remembered too long", "remembered tail"};
	int			mistake;

	for (mistake = NO_LOCK; mistake <= REMEMBERED_TAIL; mistake++)
	{
		const char *found = NULL;
		char		name[100] = "";
		int			number;

		for (number = 0; number < 2 * SINGLE * SINGLE * 4 && found == NULL; number++)
		{
			Program		program = {.key_0_is_there = number & 1, .keys_collide = number & 2, .mistake = mistake};
			size_t		n;
			size_t		cut = 0;

			set_transaction(&program, 0, number / 4 % SINGLE);
			set_transaction(&program, 1, 2 * SINGLE - 1 - number / 4 / SINGLE);
			set_transaction(&program, 2, SINGLE - 1);
			found = explore(&program, &n, &cut);
			name_program(&program, name);
		}
		CHECKF(found != NULL, "the model does not notice: %s", names[mistake]);
		if (found != NULL)
			printf("%s: %s (%s)\n", names[mistake], found, name);
	}
}

int
main(void)
{
	RUN(mistakes);
	RUN(one_statement);
	RUN(two_statements);
	free(visited);
	free(stack);
	return test_finish();
}
