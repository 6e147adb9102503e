/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * remote_table.c
 *	  Asks a foreign server about the table behind a foreign table: its columns' types and its size.
 *
 * The declaration of a foreign table guarantees nothing: its columns are read from text, whatever
 * their types on the foreign server are.  So that server is asked, through two callbacks that
 * postgres_fdw has for commands.  The callback of IMPORT FOREIGN SCHEMA, limited to some tables,
 * reads the foreign server's catalogs and returns CREATE FOREIGN TABLE commands.  These are parsed
 * to find the columns' types, and then thrown away; nothing of them is executed.  The callback of
 * ANALYZE tells the size.  It is used only for a table that was never analyzed here, for which the
 * planner would assume some thousand rows.
 *
 * Asking makes the connection that the query itself needs, and begins the remote transaction, as
 * postgres_fdw does when it asks for estimates.  It is done in a subtransaction, so that an error
 * does not end the query.  The session keeps the answers until the foreign table, its server or a
 * user mapping changes here.  Changes on the foreign server are not reported.  So what relies on an
 * answer must check it (remote_query.c), and raise an error if it is wrong, after which all answers
 * are forgotten.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc_d.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "catalog/dependency.h"
#include "foreign/fdwapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/plancat.h"
#include "parser/parse_type.h"
#include "parser/parser.h"
#include "utils/acl.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/syscache.h"

#include "join/fdw/remote_table.h"
#include "pg/compat.h"
#include "pg/plan_nodes.h"

/*
 * The largest number of foreign tables whose answers are kept; beyond it, a session forgets all
 * answers.
 */
#define MOST_TABLES	10000

/*
 * A system view that is new in PostgreSQL 14: a foreign server that lacks it is older, and is sent
 * no keys.  Older servers compare a list of keys with each row one by one, cannot read an infinite
 * numeric, and may store times as floating-point numbers.
 */
#define VIEW_OF_14	"pg_backend_memory_contexts"

typedef struct RemoteTable
{
	Oid			table;			/* The foreign table, which is the hash key. */

	/*
	 * The OID of the foreign table's row type; cached plans that use what is known of the table are
	 * made to depend on it.
	 */
	Oid			row_type;

	/* The reason why the columns' types are not known; JOIN_NO_REASON: they are. */
	JoinReason	reason;

	/* The number of the foreign table's attributes; 0: it is not known. */
	int			natts;

	/* The types on the foreign server, for each attribute of the foreign table. */
	JoinRemoteColumn *columns;

	/* The average width of a remote row in bytes; 0: it is not known. */
	int32		width;
	bool		size_asked;
	JoinRemoteSize size;
} RemoteTable;

static HTAB *remote_tables = NULL;	/* Hash table of RemoteTable; NULL: it has not been made yet. */

/*
 * The number of times that foreign servers' answers were forgotten.  If it changes while a server
 * is asked, its answer is not kept.
 */
static uint64 changes = 0;

/* ---- the answers that the session keeps ---- */

static void
drop(RemoteTable *remote)
{
	changes++;
	if (remote->columns != NULL)
		pfree(remote->columns);
	hash_search(remote_tables, &remote->table, HASH_REMOVE, NULL);
}

static void
drop_all(void)
{
	HASH_SEQ_STATUS status;
	RemoteTable *remote;

	changes++;
	hash_seq_init(&status, remote_tables);
	while ((remote = hash_seq_search(&status)) != NULL)
		drop(remote);
}

static void
relation_changed(Datum arg, Oid relation)
{
	RemoteTable *remote;

	if (!OidIsValid(relation))
	{
		drop_all();
		return;
	}
	remote = hash_search(remote_tables, &relation, HASH_FIND, NULL);
	if (remote != NULL)
		drop(remote);
}

static void
catalog_changed(Datum arg, int cache, uint32 hash)
{
	drop_all();
}

/*
 * Returns what is known of a foreign table; adds an entry that says "not told" if nothing is known
 * yet.
 */
static RemoteTable *
find(Oid table)
{
	RemoteTable *remote;
	bool		found;

	if (remote_tables == NULL)
	{
		HASHCTL control = {.keysize = sizeof(Oid), .entrysize = sizeof(RemoteTable)};

		control.hcxt = TopMemoryContext;
		remote_tables = hash_create("bloomfam foreign tables", 32, &control,
									HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(FOREIGNSERVEROID, catalog_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(USERMAPPINGOID, catalog_changed, (Datum) 0);
	}
	if (hash_get_num_entries(remote_tables) >= MOST_TABLES)
		drop_all();
	remote = hash_search(remote_tables, &table, HASH_ENTER, &found);
	if (!found)
	{
		MemSet(remote, 0, sizeof(RemoteTable));
		remote->table = table;
		remote->row_type = get_rel_type_id(table);
		remote->reason = JOIN_FOREIGN_NOT_TOLD;
	}
	return remote;
}

/* ---- names on the foreign server ---- */

bool
bloomfam_join_is_postgres_fdw(const ForeignServer *server)
{
	Oid			handler = GetForeignDataWrapper(server->fdwid)->fdwhandler;
	Oid			extension =
		OidIsValid(handler) ? getExtensionOfObject(ProcedureRelationId, handler) : InvalidOid;
	char	   *name = OidIsValid(extension) ? get_extension_name(extension) : NULL;

	return name != NULL && strcmp(name, "postgres_fdw") == 0;
}

/* Returns the value of an option in a list; NULL if it is not there. */
static const char *
find_option(List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *option = lfirst(lc);

		if (strcmp(option->defname, name) == 0)
			return defGetString(option);
	}
	return NULL;
}

const char *
bloomfam_join_remote_schema(Oid table)
{
	const char *name = find_option(GetForeignTable(table)->options, "schema_name");

	return name != NULL ? name : get_namespace_name(get_rel_namespace(table));
}

const char *
bloomfam_join_remote_name(Oid table)
{
	const char *name = find_option(GetForeignTable(table)->options, "table_name");

	return name != NULL ? name : get_rel_name(table);
}

const char *
bloomfam_join_remote_column_name(Oid table, AttrNumber attribute)
{
	const char *name = find_option(GetForeignColumnOptions(table, attribute), "column_name");

	return name != NULL ? name : get_attname(table, attribute, false);
}

/* ---- asking for types ---- */

/*
 * Tells whether an error was raised by the foreign server.  What was cancelled there, for instance
 * by its statement_timeout, has the same error code as what was cancelled here.
 */
static bool
is_remote_error(const ErrorData *error)
{
	static const char reports[] = "pgfdw_report";

	return error->funcname != NULL && strncmp(error->funcname, reports, strlen(reports)) == 0;
}

/*
 * Calls a function in a subtransaction, as its failure must not make the query fail.  Returns
 * whether it succeeded; if it did not, its effects are rolled back.  Errors that end the query on
 * purpose, such as a cancellation, are raised again.
 */
static bool
try_to(void (*ask) (void *arg), void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool done = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		ask(arg);
		ReleaseCurrentSubTransaction();
		done = true;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION &&
			!is_remote_error(error))
			ReThrowError(error);
		elog(DEBUG1, "bloomfam: a foreign server did not tell of its tables: %s", error->message);
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return done;
}

/*
 * Tells whether a foreign server may be asked now.  Subtransactions are not allowed in parallel
 * operations.  A transaction block that has accessed a foreign server cannot be prepared, even if
 * it only did so in EXPLAIN; so nothing is asked in a block that could still be prepared.
 */
static bool
may_ask(void)
{
	return BLOOMFAM_KNOWN_MAJOR && IsTransactionState() && !IsInParallelMode() &&
		!(max_prepared_xacts > 0 && IsTransactionBlock());
}

/*
 * Returns a list of CreateForeignTableStmt for those of a foreign server's tables in one schema
 * that have the given names.
 */
static List *
import(const ForeignServer *server, const char *schema, List *names)
{
	static const char *const left_out[] = {
		"import_collate", "import_default", "import_generated", "import_not_null"
	};
	FdwRoutine *routine = GetFdwRoutineByServerId(server->serverid);
	ImportForeignSchemaStmt *stmt = makeNode(ImportForeignSchemaStmt);
	List	   *tables = NIL;
	ListCell   *lc;
	size_t		i;

	if (routine->ImportForeignSchema == NULL)
		return NIL;
	stmt->server_name = server->servername;
	stmt->remote_schema = pstrdup(schema);
	stmt->local_schema = pstrdup(schema);
	stmt->list_type = FDW_IMPORT_SCHEMA_LIMIT_TO;
	foreach(lc, names)
		stmt->table_list = lappend(stmt->table_list, makeRangeVar(NULL, lfirst(lc), -1));
	for (i = 0; i < lengthof(left_out); i++)
		stmt->options = lappend(stmt->options, makeDefElem(pstrdup(left_out[i]),
														   (Node *) makeString("false"), -1));
	foreach(lc, routine->ImportForeignSchema(stmt, server->serverid))
	{
		List	   *commands = raw_parser(lfirst(lc), RAW_PARSE_DEFAULT);
		ListCell   *ls;

		foreach(ls, commands)
			if (IsA(lfirst_node(RawStmt, ls)->stmt, CreateForeignTableStmt))
				tables = lappend(tables, lfirst_node(RawStmt, ls)->stmt);
	}
	return tables;
}

/*
 * Returns the type that a parsed type name stands for. postgres_fdw sets the foreign server's
 * search path to pg_catalog only, so a type of another schema has its schema in the name.
 */
static JoinRemoteColumn
type_of_name(const TypeName *name)
{
	JoinRemoteColumn column = {.type = InvalidOid, .typmod = -1};
	const char *first = strVal(linitial(name->names));
	TypeName   *own;

	if (list_length(name->names) > 2 ||
		(list_length(name->names) == 2 && strcmp(first, "pg_catalog") != 0) ||
		name->arrayBounds != NIL || name->setof || name->pct_type)
		return column;
	column.type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
								  CStringGetDatum(strVal(llast(name->names))),
								  ObjectIdGetDatum(PG_CATALOG_NAMESPACE));

	/*
	 * The OIDs of types from FirstGenbkiObjectId on are assigned by initdb, and may differ on
	 * another server.
	 */
	if (column.type >= FirstGenbkiObjectId)
		column.type = InvalidOid;
	if (!OidIsValid(column.type) || name->typmods == NIL)
		return column;
	own = makeTypeNameFromNameList(list_make2(makeString("pg_catalog"), llast(name->names)));
	own->typmods = name->typmods;
	typenameTypeIdAndMod(NULL, own, &column.type, &column.typmod);
	return column;
}

/*
 * Returns the definition of the column that has the given name on the foreign server; NULL if there
 * is none.
 */
static const ColumnDef *
find_definition(const CreateForeignTableStmt *definition, const char *name)
{
	ListCell   *lc;

	foreach(lc, definition->base.tableElts)
	{
		const ColumnDef *column = lfirst(lc);
		const char *remote;

		if (!IsA(column, ColumnDef))
			continue;
		remote = find_option(column->fdwoptions, "column_name");
		if (strcmp(remote != NULL ? remote : column->colname, name) == 0)
			return column;
	}
	return NULL;
}

/* Returns the number of a table's attributes, including dropped columns. */
static int
count_attributes(Oid table)
{
	Relation	relation = table_open(table, NoLock);
	int			natts = RelationGetNumberOfAttributes(relation);

	table_close(relation, NoLock);
	return natts;
}

/* What a foreign server says of a table. */
typedef struct Answer
{
	int			natts;

	/* The types on the foreign server, for each attribute of the foreign table. */
	JoinRemoteColumn *columns;

	/* The average width of a remote row in bytes, as far as the types tell. */
	int32		width;
} Answer;

/*
 * The width in bytes that a value of an unknown type is taken to have: the width that the server
 * assumes for types of varying length.
 */
#define UNKNOWN_WIDTH	32

static Answer *
read_definition(Oid table, const CreateForeignTableStmt *definition)
{
	int			natts = count_attributes(table);
	JoinRemoteColumn *columns = palloc0(natts * sizeof(JoinRemoteColumn));
	Answer	   *answer = palloc(sizeof(Answer));
	ListCell   *lc;
	int			i;

	*answer = (Answer) {.natts = natts, .columns = columns};
	foreach(lc, definition->base.tableElts)
		if (IsA(lfirst(lc), ColumnDef) && lfirst_node(ColumnDef, lc)->typeName != NULL)
		{
			JoinRemoteColumn column = type_of_name(lfirst_node(ColumnDef, lc)->typeName);

			answer->width += OidIsValid(column.type) ? get_typavgwidth(column.type, column.typmod)
				: UNKNOWN_WIDTH;
		}
	for (i = 0; i < natts; i++)
	{
		AttrNumber	attribute = (AttrNumber) (i + 1);
		const ColumnDef *column;

		column = find_definition(definition, bloomfam_join_remote_column_name(table, attribute));
		if (column != NULL && column->typeName != NULL)
			columns[i] = type_of_name(column->typeName);
	}
	return answer;
}

/* Some foreign tables of one foreign server and remote schema, and what the server says of them. */
typedef struct Question
{
	const ForeignServer *server;
	const char *schema;
	List	   *tables;			/* List of OIDs of the foreign tables. */
	bool		is_too_old;

	/* List of Answer, one for each table; NULL: the server has no such table. */
	List	   *answers;
} Question;

static void
fetch_types(void *arg)
{
	Question   *question = arg;
	List	   *names = NIL;
	List	   *definitions;
	ListCell   *lc;

	question->is_too_old =
		import(question->server, "pg_catalog", list_make1(pstrdup(VIEW_OF_14))) == NIL;
	if (question->is_too_old)
		return;
	foreach(lc, question->tables)
		names = lappend(names, pstrdup(bloomfam_join_remote_name(lfirst_oid(lc))));
	definitions = import(question->server, question->schema, names);
	foreach(lc, question->tables)
	{
		const char *name = list_nth(names, foreach_current_index(lc));
		Answer	   *answer = NULL;
		ListCell   *ld;

		foreach(ld, definitions)
		{
			const CreateForeignTableStmt *definition = lfirst(ld);

			if (answer == NULL && strcmp(definition->base.relation->relname, name) == 0)
				answer = read_definition(lfirst_oid(lc), definition);
		}
		question->answers = lappend(question->answers, answer);
	}
}

/* Asks the server of a Question, and keeps the answers. */
static void
ask(Question *question)
{
	uint64		changes_before = changes;
	bool		done = try_to(fetch_types, question);
	ListCell   *lc;

	if (changes != changes_before)
		done = false;
	foreach(lc, question->tables)
	{
		RemoteTable *remote = find(lfirst_oid(lc));
		const Answer *answer;

		if (!done || question->is_too_old)
		{
			remote->reason = done ? JOIN_FOREIGN_TOO_OLD : JOIN_FOREIGN_NOT_TOLD;
			continue;
		}
		answer = list_nth(question->answers, foreach_current_index(lc));
		remote->reason = answer != NULL ? JOIN_NO_REASON : JOIN_FOREIGN_NO_REMOTE_TABLE;
		if (answer == NULL || remote->columns != NULL)
			continue;
		remote->columns =
			MemoryContextAlloc(TopMemoryContext, answer->natts * sizeof(JoinRemoteColumn));
		remote->natts = answer->natts;
		remote->width = answer->width;
		memcpy(remote->columns, answer->columns, answer->natts * sizeof(JoinRemoteColumn));
	}
}

/* Tells whether a table's server must be asked: it was not asked yet, or there was an error. */
static bool
is_open(Oid table)
{
	return find(table)->reason == JOIN_FOREIGN_NOT_TOLD;
}

void
bloomfam_join_remote_ask(List *tables)
{
	List	   *left = NIL;
	ListCell   *lc;

	foreach(lc, tables)
		if (is_open(lfirst_oid(lc)))
			left = list_append_unique_oid(left, lfirst_oid(lc));
	if (!may_ask())
		return;
	while (left != NIL)
	{
		Oid			first = linitial_oid(left);
		Oid			server = GetForeignTable(first)->serverid;
		Question	question = {
			.server = GetForeignServer(server), .schema = bloomfam_join_remote_schema(first)
		};

		foreach(lc, left)
		{
			Oid			table = lfirst_oid(lc);

			if (GetForeignTable(table)->serverid != server ||
				strcmp(bloomfam_join_remote_schema(table), question.schema) != 0)
				continue;
			question.tables = lappend_oid(question.tables, table);
			left = foreach_delete_current(left, lc);
		}
		Assert(list_member_oid(question.tables, first));
		ask(&question);
	}
}

JoinReason
bloomfam_join_remote_column(Oid table, AttrNumber attribute, JoinRemoteColumn *column)
{
	const RemoteTable *remote = find(table);

	if (remote->reason != JOIN_NO_REASON)
		return remote->reason;
	Assert(attribute > 0);
	if (attribute > remote->natts)
		return JOIN_FOREIGN_NOT_TOLD;
	*column = remote->columns[attribute - 1];
	return JOIN_NO_REASON;
}

/* ---- asking for sizes ---- */

typedef struct SizeQuestion
{
	Relation	table;
	double		pages;
} SizeQuestion;

static void
fetch_size(void *arg)
{
	SizeQuestion *question = arg;
	FdwRoutine *routine = GetFdwRoutineForRelation(question->table, false);
	RelationData table = *question->table;
	FormData_pg_class form = *question->table->rd_rel;
	AcquireSampleRowsFunc sample;
	BlockNumber pages = 0;

	/* ANALYZE connects as the table's owner, but here the present user is to be used. */
	form.relowner = GetUserId();
	table.rd_rel = &form;
	if (routine->AnalyzeForeignTable != NULL &&
		routine->AnalyzeForeignTable(&table, &sample, &pages))
		question->pages = pages;
}

/*
 * Returns the number of rows of the given width, in bytes, that there is room for in the given
 * number of pages.  Some of these rows may be dead.
 */
static double
rows_in_pages(double pages, int32 width)
{
	double		room = BLCKSZ - SizeOfPageHeaderData;

	return pages * Max(room / (MAXALIGN(width) + MAXALIGN(SizeofHeapTupleHeader) +
							   sizeof(ItemIdData)), 1);
}

JoinRemoteSize
bloomfam_join_remote_size(Relation table)
{
	Oid			id = RelationGetRelid(table);

	if (!find(id)->size_asked && may_ask())
	{
		SizeQuestion question = {.table = table};
		uint64		changes_before;
		RemoteTable *remote;
		bool		done;

		/*
		 * The types are asked for as well, to know the row's width: the remote table may have more
		 * columns than are declared here.
		 */
		bloomfam_join_remote_ask(list_make1_oid(id));
		changes_before = changes;
		done = try_to(fetch_size, &question);
		remote = find(id);
		remote->size_asked = done && changes == changes_before;
		if (remote->size_asked)
		{
			remote->size.pages = question.pages;
			remote->size.rows = rows_in_pages(
				question.pages, remote->reason == JOIN_NO_REASON
									? remote->width : get_relation_data_width(id, NULL));
		}
	}
	return find(id)->size;
}

JoinRemoteSize
bloomfam_join_remote_size_known(Oid table)
{
	return find(table)->size;
}

/* ---- plans that rely on the answers ---- */

void
bloomfam_join_remote_depend(PlannedStmt *stmt, Oid table)
{
	bloomfam_plan_depends_on(stmt, TYPEOID, find(table)->row_type);
}

void
bloomfam_join_remote_forget(void)
{
	HASH_SEQ_STATUS status;
	RemoteTable *remote;

	if (remote_tables == NULL)
		return;

	/*
	 * Only this session's plans are made anew.  A wrong answer that another session has relied on
	 * will raise an error there too, and that session then forgets its own answers.
	 */
	hash_seq_init(&status, remote_tables);
	while ((remote = hash_seq_search(&status)) != NULL)
		if (remote->reason == JOIN_NO_REASON)
			CallSyscacheCallbacks(
				TYPEOID, GetSysCacheHashValue1(TYPEOID, ObjectIdGetDatum(remote->row_type)));
	drop_all();
}
