/*-------------------------------------------------------------------------
 *
 * spec.c
 *	  What the nodes of the join filter carry in a plan, and which nodes those are.
 *
 * A plan is copied, cached, and written out and read again for parallel workers, so a node may
 * carry only what the server knows how to copy and write: custom_private is a list of filters,
 * each a list of DefElems, a name and a value each.  The names and what they are in memory stand
 * in two tables here; nobody else knows how it is written.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"

#include "join/spec.h"

typedef enum FieldType
{
	FIELD_INT,
	FIELD_OID
} FieldType;

typedef struct Field
{
	const char *name;
	FieldType	type;
	size_t		offset;			/* of an int or an Oid in the struct */
} Field;

static const Field spec_fields[] = {
	{"kind", FIELD_INT, offsetof(JoinSpec, kind)},
	{"drop", FIELD_INT, offsetof(JoinSpec, drop)},
	{"number", FIELD_INT, offsetof(JoinSpec, number)},
	{"param", FIELD_INT, offsetof(JoinSpec, param)},
	{"eager", FIELD_INT, offsetof(JoinSpec, eager)},
	{"parallel_hash", FIELD_INT, offsetof(JoinSpec, parallel_hash)},
	{"from_leader", FIELD_INT, offsetof(JoinSpec, from_leader)},
	{"access", FIELD_INT, offsetof(JoinSpec, access)},
	{"worth", FIELD_INT, offsetof(JoinSpec, worth)},
	{"skip", FIELD_INT, offsetof(JoinSpec, skip)},
	{"condition", FIELD_INT, offsetof(JoinSpec, condition)},
	{"before", FIELD_INT, offsetof(JoinSpec, before)},
};

static const Field column_fields[] = {
	{"hashing", FIELD_INT, offsetof(JoinSpecColumn, hashing)},
	{"type", FIELD_OID, offsetof(JoinSpecColumn, type)},
	{"function", FIELD_OID, offsetof(JoinSpecColumn, function)},
	{"collation", FIELD_OID, offsetof(JoinSpecColumn, collation)},
	{"attribute", FIELD_INT, offsetof(JoinSpecColumn, attribute)},
	{"expression", FIELD_INT, offsetof(JoinSpecColumn, expression)},
	{"hash_key", FIELD_INT, offsetof(JoinSpecColumn, hash_key)},
	{"foreign_param", FIELD_INT, offsetof(JoinSpecColumn, foreign_param)},
	{"foreign_type", FIELD_OID, offsetof(JoinSpecColumn, foreign_type)},
	{"kept", FIELD_INT, offsetof(JoinSpecColumn, kept)},
	{"operator", FIELD_OID, offsetof(JoinSpecColumn, operator)},
	{"indexed", FIELD_OID, offsetof(JoinSpecColumn, indexed)},
};

static const char columns_name[] = "columns";
static const char levels_name[] = "levels";

/* ---- which nodes ---- */

static CustomScanMethods methods[] = {
	[JOIN_NODE_BUILD] = {.CustomName = "Bloom Filter Build"},
	[JOIN_NODE_PROBE] = {.CustomName = "Bloom Filter Probe"},
};

void
bloomfam_join_node_register(JoinNodeKind kind, Node *(*create) (CustomScan *plan))
{
	methods[kind].CreateCustomScanState = create;
	RegisterCustomScanMethods(&methods[kind]);
}

JoinNodeKind
bloomfam_join_node_kind(const Plan *plan)
{
	const CustomScanMethods *own;

	if (!IsA(plan, CustomScan))
		return JOIN_NODE_OTHER;
	own = ((const CustomScan *) plan)->methods;
	if (own == &methods[JOIN_NODE_BUILD])
		return JOIN_NODE_BUILD;
	return own == &methods[JOIN_NODE_PROBE] ? JOIN_NODE_PROBE : JOIN_NODE_OTHER;
}

CustomScan *
bloomfam_join_node_make(JoinNodeKind kind)
{
	CustomScan *node = makeNode(CustomScan);

	node->methods = &methods[kind];
	return node;
}

/* ---- what they carry ---- */

/* The names are constants, and nobody frees a plan's nodes one by one. */
static List *
write_fields(const void *from, const Field *fields, int n)
{
	List	   *list = NIL;
	int			i;

	for (i = 0; i < n; i++)
	{
		const char *place = (const char *) from + fields[i].offset;
		Node	   *value;

		if (fields[i].type == FIELD_OID)
			value = (Node *) list_make1_oid(*(const Oid *) place);
		else
			value = (Node *) makeInteger(*(const int *) place);
		list = lappend(list, makeDefElem((char *) fields[i].name, value, -1));
	}
	return list;
}

/* A value by its name, which most likely is at this place of the list. */
static Node *
find_value(const List *list, const char *name, int place)
{
	ListCell   *lc;

	if (place < list_length(list))
	{
		DefElem	   *element = list_nth_node(DefElem, list, place);

		if (strcmp(element->defname, name) == 0)
			return element->arg;
	}
	foreach(lc, list)
	{
		DefElem	   *element = lfirst_node(DefElem, lc);

		if (strcmp(element->defname, name) == 0)
			return element->arg;
	}
	elog(ERROR, "a plan's join filter has no \"%s\"", name);
}

static void
read_fields(const List *list, void *to, const Field *fields, int n)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		char	   *place = (char *) to + fields[i].offset;
		Node	   *value = find_value(list, fields[i].name, i);

		if (fields[i].type == FIELD_OID)
			*(Oid *) place = linitial_oid((List *) value);
		else
			*(int *) place = intVal(value);
	}
}

/* One of the fields that come first. */
static int
read_field(const List *list, const char *name)
{
	return intVal(find_value(list, name, 0));
}

/* A level is a list of integers: its members in their order. */
static List *
write_levels(const List *levels)
{
	List	   *list = NIL;
	ListCell   *lc;

	foreach(lc, levels)
	{
		const JoinSpecLevel *level = lfirst(lc);

		list = lappend(list, list_concat(list_make2_int(level->parent, level->child),
										 level->columns));
	}
	return list;
}

static List *
read_levels(const List *list)
{
	List	   *levels = NIL;
	ListCell   *lc;

	foreach(lc, list)
	{
		const List *numbers = lfirst(lc);
		JoinSpecLevel *level = palloc(sizeof(JoinSpecLevel));

		level->parent = linitial_int(numbers);
		level->child = lsecond_int(numbers);
		level->columns = list_copy_tail(numbers, 2);
		levels = lappend(levels, level);
	}
	return levels;
}

static void
read_spec(const List *list, JoinSpec *spec)
{
	List	   *columns = (List *) find_value(list, columns_name, lengthof(spec_fields));
	ListCell   *lc;

	read_fields(list, spec, spec_fields, lengthof(spec_fields));
	spec->ncolumns = list_length(columns);
	spec->columns = palloc(spec->ncolumns * sizeof(JoinSpecColumn));
	foreach(lc, columns)
		read_fields(lfirst(lc), &spec->columns[foreach_current_index(lc)], column_fields,
					lengthof(column_fields));
	spec->levels = read_levels((List *) find_value(list, levels_name, lengthof(spec_fields) + 1));
}

void
bloomfam_join_spec_add(CustomScan *node, const JoinSpec *spec)
{
	List	   *list = write_fields(spec, spec_fields, lengthof(spec_fields));
	List	   *columns = NIL;
	int			place = 0;
	int			i;

	for (i = 0; i < spec->ncolumns; i++)
		columns = lappend(columns,
						  write_fields(&spec->columns[i], column_fields, lengthof(column_fields)));
	list = lappend(list, makeDefElem((char *) columns_name, (Node *) columns, -1));
	list = lappend(list, makeDefElem((char *) levels_name,
									 (Node *) write_levels(spec->levels), -1));
	while (place < bloomfam_join_nspecs(node) &&
		   read_field(list_nth(node->custom_private, place), "drop") >= spec->drop)
		place++;
	node->custom_private = list_insert_nth(node->custom_private, place, list);
}

JoinSpec *
bloomfam_join_specs(const CustomScan *node)
{
	JoinSpec   *specs = palloc0(Max(bloomfam_join_nspecs(node), 1) * sizeof(JoinSpec));
	ListCell   *lc;

	foreach(lc, node->custom_private)
		read_spec(lfirst(lc), &specs[foreach_current_index(lc)]);
	return specs;
}

bool
bloomfam_join_has_filter(const CustomScan *node, int number)
{
	ListCell   *lc;

	foreach(lc, node->custom_private)
		if (read_field(lfirst(lc), "number") == number)
			return true;
	return false;
}

double
bloomfam_join_passing(const CustomScan *node)
{
	double		passing = 1;
	ListCell   *lc;

	foreach(lc, node->custom_private)
		if (read_field(lfirst(lc), "kind") == JOIN_SPEC_JOIN)
			passing *= 1 - read_field(lfirst(lc), "drop") / 1000.0;
	return passing;
}
