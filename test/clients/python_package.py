# SPDX-License-Identifier: PostgreSQL
# The Python package beside the server, by psycopg 3: filters are the same to the byte whoever builds them, and each finds all keys of the other's.
#
# BLOOMFAM_KEYS: how many random keys of each type; of more than 10,000 a type has three kinds, not all.
import datetime as dt
import os
import sys
import uuid
from decimal import Decimal

import bloomfam
import bloomfam.psycopg
import psycopg

N = int(os.environ.get("BLOOMFAM_KEYS", "1000" if os.environ.get("LONG") or os.environ.get("CLANG_TESTS") else "300"))
checks = 0


def ok(good, what, found=""):
    global checks
    checks += 1
    print("%s %d - %s" % ("ok" if good else "not ok", checks, what))
    if not good:
        print("# " + str(found)[:1000].replace("\n", "\n# "))


connection = psycopg.connect("", autocommit=True, prepare_threshold=None)
connection.execute("SET DateStyle = ISO")
connection.execute("SET extra_float_digits = 1")
bloomfam.psycopg.register(connection)
binary = connection.cursor(binary=True)


def rows(query, *parameters, cursor=connection):
    return cursor.execute(query, parameters).fetchall()


def value(query, *parameters, cursor=connection):
    return rows(query, *parameters, cursor=cursor)[0][0]


connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok', 'señor ')")

BITS = "('x' || substr(md5(i::text), 1, %d))::bit(%d)::%s"
TEXT = "substr(md5(i::text), 1, j %% 33) || (ARRAY['', 'é', '日本', E'\\U0001D11E', ' ', '   ', E'\\t', 'e' || chr(769)])[j %% 8 + 1]"
# type -> random keys that are objects of Python's; literals of which these are objects; literals that only have a text; the type's name for the
# package, if it is another; read: a str is the text form, not a text
FAMILIES = {
    "bigint": (BITS % (16, 64, "bigint"), ["0", "-1", "9223372036854775807", "-9223372036854775808", "10000"], []),
    "integer": (BITS % (8, 32, "int"), ["0", "2147483647", "-2147483648"], []),
    "smallint": ("(i %% 65536 - 32768)::smallint", ["0", "32767", "-32768"], []),
    "double precision": ("(random() - 0.5) * 10 ^ (random() * 600 - 300)",
                         ["0", "-0", "NaN", "Infinity", "-Infinity", "5e-324", "1.7976931348623157e308", "0.1"], []),
    "real": ("((random() - 0.5) * 10 ^ (random() * 70 - 35))::real", ["0", "-0", "NaN", "Infinity", "-Infinity", "1e-45", "3.4028235e38", "0.1"], []),
    "numeric": ("CASE i %% 4 WHEN 0 THEN (%s)::numeric WHEN 1 THEN (%s)::numeric / 10 ^ (i %% 30)::numeric WHEN 2 THEN (i * 7919)::numeric * 10 ^ (i %% 90)::numeric"
                " ELSE (%s)::numeric * (%s)::numeric / 1000000 END" % ((BITS % (16, 64, "bigint"),) * 4),
                ["0", "0.00", "-0.0", "1.0", "1.00", "NaN", "Infinity", "-Infinity", "1e400", "1e-400", "10000", "0.0001", "1e131071", "1e-16383", "-1.5e-16000",
                 "9" * 3000 + "." + "9" * 3000], []),
    "text": (TEXT, ["", " ", "a", "a  ", "x" * 5000, "é", "\u2028", "\\x41"], []),
    "varchar": (TEXT, ["", "a "], []),
    "char(40)": (TEXT, ["", "a"], [], "text"),
    "name": ("substr(md5(i::text), 1, j %% 30)", ["a"], []),
    "boolean": ("i %% 2 = 0", ["true", "false"], []),
    "bytea": ("decode(md5(i::text), 'hex')", ["", "\\x00", "\\x0001ff", "a "], []),
    "uuid": ("md5(i::text)::uuid", ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"], [], "uuid", "read"),
    "date": ("date '0001-01-01' + (i * 104729 %% 3652059)::int", ["0001-01-01", "9999-12-31", "2000-01-01", "2024-02-29"],
             ["infinity", "-infinity", "4714-11-24 BC", "5874897-12-31", "0044-03-15 BC", "10000-01-01"], "date", "read"),
    "time": ("time '00:00' + i * interval '7919.123457 s'", ["00:00", "23:59:59.999999"], ["24:00"], "time", "read"),
    "timetz": ("(time '00:00' + i * interval '7919.123457 s' || CASE i %% 2 WHEN 0 THEN '+' ELSE '-' END || i %% 15 || ':' || i %% 4 * 15)::timetz",
               ["00:00+00", "12:34:56.789+02", "23:59:59.999999-15:30"], ["24:00-12", "00:00+15:59:59", "00:00-15:59:59"], "timetz", "read"),
    "timestamp": ("timestamp '0001-01-02' + i * 104729 %% 3652000 * interval '1 day' + i * interval '7919.123457 s' %% interval '1 day'".replace(
        " %% interval '1 day'", " * 0.001"), ["0001-01-01", "9999-12-31 23:59:59.999999", "2000-01-01", "1969-12-31 23:59:59.999999"],
        ["infinity", "-infinity", "4714-11-24 BC", "294276-12-31 23:59:59.999999", "0001-12-31 BC"], "timestamp", "read"),
    "timestamptz": ("timestamptz '0001-01-03 00:00+00' + i * 104729 %% 3651000 * interval '24 hours' + i * interval '7.919123457 s'",
                    ["0001-01-03 00:00+00", "9999-12-30 23:59:59.999999+00", "2024-02-29 12:00+00"],
                    ["infinity", "-infinity", "4714-11-24 00:00+00 BC", "294276-12-31 23:59:59.999999+00", "0001-12-31 12:00+00 BC"], "timestamptz", "read"),
    "interval": ("make_interval(days => (i * 7919 %% 2000000)::int - 1000000, secs => i * 0.123457 * CASE i %% 3 WHEN 0 THEN -1 ELSE 1 END)",
                 ["0", "1 day", "-1 us", "30 days", "24 hours", "999999999 days 23:59:59.999999"],
                 ["1 mon", "1 year 2 mons -3 days 04:05:06.7", "178000000 years", "-178000000 years", "2147483647 days 2562047788 hours", "-1 days +02:03:04",
                  "-00:00:00.000001"], "interval", "read"),
    "oid": ("(%s)::bigint::bit(32)::bigint::oid" % (BITS % (8, 32, "int")), ["0", "4294967295"], []),
    "inet": ("CASE i %% 3 WHEN 0 THEN inet '10.0.0.0' + i * 7919 WHEN 1 THEN set_masklen(inet '172.16.0.0' + i, j %% 33) ELSE set_masklen(inet '2001:db8::' + i * 104729, j %% 129) END",
             ["0.0.0.0", "255.255.255.255", "0.0.0.0/0", "::", "::/0", "::ffff:10.1.2.3", "2001:db8::1/64", "::1.2.3.4", "fe80::", "1:0:0:2::3"], [], "inet", "read"),
    "cidr": ("CASE i %% 2 WHEN 0 THEN network(set_masklen(inet '10.0.0.0' + i * 7919, j %% 33))::cidr ELSE network(set_masklen(inet '2001:db8::' + i * 104729, j %% 129))::cidr END",
             ["10.0.0.0/8", "0.0.0.0/0", "2001:db8::/32"], [], "inet", "read"),
    "macaddr": ("substr(md5(i::text), 1, 12)::macaddr", [], ["00:00:00:00:00:00"], "macaddr", "read"),
    "macaddr8": ("substr(md5(i::text), 1, 16)::macaddr8", [], ["00:00:00:00:00:00:00:00"], "macaddr8", "read"),
    "pg_lsn": ("'0/0'::pg_lsn + (i * 1234567890123)::numeric", [], ["0/0", "FFFFFFFF/FFFFFFFF"], "pg_lsn", "read"),
    "varbit": ("substring((%s)::bit(64)::varbit FOR j %% 65)" % (BITS % (16, 64, "bigint")), [], ["", "1", "101", "1" * 1000], "bit", "read"),
    "mood": ("(ARRAY['sad', 'ok', 'señor ']::mood[])[j %% 3 + 1]", ["ok"], [], 'enum "public"."mood"'),
}
ONLY_TEXT = {"macaddr", "macaddr8", "pg_lsn", "varbit"}
# columns of Parquet's own types
PARQUET = {"bigint", "integer", "double precision", "real", "text", "bytea", "uuid", "date", "timestamp", "timestamptz", "time"}


def quoted(literal):
    return "'" + literal.replace("'", "''") + "'"


def make_table(type, expression, literals):
    """A table of keys; returns them as psycopg gives them, and as texts."""
    connection.execute("DROP TABLE IF EXISTS keys")
    connection.execute("CREATE TABLE keys (k %s)" % type)
    connection.execute("SELECT setseed(0.5)")
    connection.execute("INSERT INTO keys SELECT %s FROM (SELECT g::bigint AS i, g AS j FROM generate_series(1, %d) g) g" % (expression.replace("%%", "%"), N))
    if literals:
        connection.execute("INSERT INTO keys VALUES " + ", ".join("(%s)" % quoted(literal) for literal in literals))
    # a real's text is another number to Python
    return [row[0] for row in rows("SELECT k%s FROM keys" % ("::text" if type in ("mood", *ONLY_TEXT) else ""), cursor=binary if type == "real" else connection)], [
        row[0] for row in rows("SELECT k::text FROM keys")]


def missing(known, keys):
    return [key for key, answer in zip(keys, known.may_contain(keys)) if not answer]


kinds = [row[0] for row in rows("SELECT kind FROM bloom_kinds(1000) ORDER BY kind")]
for turn, (type, (expression, literals, edges, *more)) in enumerate(FAMILIES.items()):
    name = more[0] if more else type
    reads = len(more) > 1
    objects, texts = make_table(type, expression, literals)
    forms = {"objects": objects}
    if reads:
        forms["texts"] = texts
    if reads and not objects[0].__class__ is str:
        forms["both"] = objects[::2] + texts[1::2]
    for kind in kinds if N <= 10000 else ["blocked", "ribbon", kinds[turn % len(kinds)]]:
        if kind == "parquet" and type not in PARQUET:
            continue
        rate = 0.01 if kind != "ribbon" else 1e-9
        theirs = value("SELECT bloom_agg(k, %s::float8, %s) FROM keys", rate, kind, cursor=binary)
        ours = {form: bloomfam.Filter.build(keys, name, rate, kind) for form, keys in forms.items()}
        for form, filter in ours.items():
            if form != "both":
                ok(filter == theirs, "%s, %s, %s: the same bytes as bloom_agg's" % (type, kind, form), (filter, theirs))
            lost = missing(theirs, forms[form])
            ok(lost == [], "%s, %s, %s: asked of the server's filter" % (type, kind, form), lost)
        lost = value("SELECT count(*) FROM keys WHERE NOT bloom_may_contain(%s, k)", ours["objects"])
        ok(lost == 0, "%s, %s: the server asks ours" % (type, kind), lost)
    if edges:
        connection.execute("TRUNCATE keys")
        connection.execute("INSERT INTO keys VALUES " + ", ".join("(%s)" % quoted(literal) for literal in edges))
        for zone in ("UTC", "Asia/Kolkata", "America/St_Johns") if type == "timestamptz" else ("UTC",):
            connection.execute("SET TimeZone = '%s'" % zone)
            texts = [row[0] for row in rows("SELECT k::text FROM keys")]
            theirs = value("SELECT bloom_agg(k, 1e-9, 'ribbon') FROM keys")
            ok(bloomfam.Filter.build(texts, name, 1e-9, "ribbon") == theirs, "%s: edges, %s" % (type, zone), [t for t in texts if t not in theirs])
        connection.execute("RESET TimeZone")

# ---- keys of several columns, with NULLs in any ----

ROWS = [("integer", "date"), ("text", "bigint"), ("uuid", "numeric"), ("bigint", "date", "text"), ("numeric", "uuid", "timestamptz"), ("name", "real", "boolean"),
        ("char(40)", "inet", "interval", "bytea", "double precision", "time")]


def make_rows(table, types, seed):
    """A table of rows of random keys; returns its columns as psycopg gives them."""
    names = ["c%d" % i for i in range(len(types))]
    connection.execute("DROP TABLE IF EXISTS %s" % table)
    connection.execute("CREATE TABLE %s (n serial, %s)" % (table, ", ".join("%s %s" % pair for pair in zip(names, types))))
    connection.execute("SELECT setseed(%s)" % seed)
    # few different keys in each column, so that others are in common with another table
    of_column = ["CASE WHEN random() < 0.1 THEN NULL ELSE (SELECT %s FROM (SELECT 1 + (hashint8(g * %d) & 1023)::bigint AS i, 1 + hashint8(g * %d) & 1023 AS j) g) END"
                 % (FAMILIES[type][0].replace("%%", "%"), k, k) for k, type in enumerate(types, int(seed * 10) * 100 + 1)]
    connection.execute("INSERT INTO %s (%s) SELECT %s FROM generate_series(1, %d) g" % (table, ", ".join(names), ", ".join(of_column), N))
    found = rows("SELECT %s FROM %s ORDER BY n" % (", ".join(names), table), cursor=binary)
    return [list(column) for column in zip(*found)]


for types in ROWS:
    what = "(%s)" % ", ".join(types)
    names = ["text" if type == "char(40)" else type for type in types]
    columns = make_rows("keys", types, 0.1)
    asked = make_rows("asked", types, 0.2)
    row = "(%s)" % ", ".join("c%d" % i for i in range(len(types)))
    # some of the rows, some in which one column is another row's
    connection.execute("INSERT INTO asked (%s) SELECT %s FROM keys" % (row[1:-1], row[1:-1]))
    connection.execute("INSERT INTO asked (%s) SELECT %s FROM keys a JOIN asked b ON a.n = b.n" % (
        row[1:-1], ", ".join("%s.c%d" % ("b" if i == 0 else "a", i) for i in range(len(types)))))
    found = rows("SELECT %s FROM asked ORDER BY n" % row[1:-1], cursor=binary)
    asked = [list(column) for column in zip(*found)]
    ok(len(found) == 3 * N and any(None in column for column in columns), what + ": rows, and NULLs", len(found))
    for kind, rate in (("ribbon", 1e-6), ("blocked", 0.1), ("cuckoo", 0.05)):
        theirs = value("SELECT bloom_agg(%s, %%s::float8, %%s) FROM keys" % row, rate, kind, cursor=binary)
        for type in (names, ", ".join(names)):
            ours = bloomfam.Filter.build(columns, type, rate, kind)
            ok(ours == theirs, "%s, %s: the same bytes as bloom_agg's" % (what, kind), (ours, theirs))
        expected = [bool(answer) for (answer,) in rows("SELECT %%s::bloomfilter @~ %s FROM asked ORDER BY n" % row, theirs)]
        answers = [bool(answer) for answer in theirs.may_contain(asked)]
        ok(answers == expected, "%s, %s: the server's answers" % (what, kind), [key for key, a, b in zip(found, answers, expected) if a != b])
        ok(all(answers[N:2 * N]) and not all(answers), "%s, %s: all keys, and not all that was asked" % (what, kind))
        ok(all((key in theirs) == answer for key, answer in zip(found[:200], answers)), "%s, %s: one by one" % (what, kind))

# a filter of no rows knows no type: whatever has the shape of columns is asked for as rows
nothing = value("SELECT bloom_agg((1, 2)) WHERE false")
ok(nothing.family is None, "a filter of no rows has no family", nothing)
for columns in ([[1, 2, 3], ["a", None, "b"]], ([], []), [range(4), [None] * 4]):
    ok([bool(answer) for answer in nothing.may_contain(columns)] == [False] * len(columns[0]), "a filter of no rows has none of %s" % (columns,))
ok([bool(answer) for answer in nothing.may_contain([1, "a", b"b"])] == [False] * 3, "... nor of single keys")
try:
    nothing.may_contain([[1], [1, 2]])
    ok(False, "columns of different lengths are asked of a filter of no rows")
except ValueError as raised:
    ok("different lengths" in str(raised), "columns of different lengths", raised)

# ---- what is asked where it cannot be ----

for query, error in (("SELECT bloom_agg(ARRAY[1])", bloomfam.NotAskableError), ("SELECT bloom_agg(ROW(ROW(1, 2), 3))", bloomfam.NotAskableError),
                     ("SELECT bloom_agg(int4range(1, 5))", bloomfam.NotAskableError), ("SELECT bloom_agg(jsonb '1')", bloomfam.NotAskableError),
                     ("SELECT bloom_agg(int2vector '1')", bloomfam.NotAskableError)):
    filter = value(query)
    try:
        1 in filter
        ok(False, query + ": is no key of Python's")
    except error as raised:
        ok(len(str(raised)) > 30, query + ": says why not", raised)
    ok(bloomfam.Filter(bytes(filter)) == filter and filter.family is not None, query + ": is described all the same")

# ---- psycopg, in both directions and formats ----

connection.execute("CREATE TABLE filters (id int, f bloomfilter, fs bloomfilter[])")
mine = bloomfam.Filter.build(range(1000), "bigint", 0.001)
for placeholder in ("%s", "%b", "%t"):
    connection.execute("INSERT INTO filters VALUES (1, %s, %s)" % (placeholder, placeholder), (mine, [mine, None, mine]))
ok(value("SELECT count(*) FROM filters WHERE f = %s AND fs[1] = f AND fs[2] IS NULL AND fs[3] = f", mine) == 3, "filters as parameters")
for cursor in (connection.cursor(), binary):
    found = rows("SELECT f, fs FROM filters", cursor=cursor)
    ok(found == [(mine, [mine, None, mine])] * 3 and isinstance(found[0][0], bloomfam.Filter), "filters as results", found)
ok(value("SELECT bloom_may_contain(%s, 5::bigint)", mine) and not value("SELECT bloom_may_contain(%s, 5000::bigint)", mine), "a filter in a call")
ok(value("SELECT NULL::bloomfilter") is None, "NULL is None")
with connection.cursor().copy("COPY filters (id, f) FROM STDIN (FORMAT binary)") as copy:
    copy.set_types(["int4", "bloomfilter"])
    copy.write_row((2, mine))
ok(value("SELECT f = %s FROM filters WHERE id = 2", mine), "COPY in binary")
for format in "binary", "text":
    with connection.cursor().copy("COPY (SELECT f FROM filters LIMIT 1) TO STDOUT (FORMAT %s)" % format) as copy:
        ok(bloomfam.Filter(b"".join(bytes(chunk) for chunk in copy)) == mine, "a file of COPY in %s" % format)
with psycopg.connect("", autocommit=True) as other:
    ok(isinstance(other.execute("SELECT f FROM filters").fetchone()[0], str), "another connection is left alone")
    other.execute("CREATE SCHEMA nowhere")
    other.execute("SET search_path = nowhere")
    try:
        bloomfam.psycopg.register(other)
        ok(False, "no type bloomfilter")
    except LookupError as error:
        ok("CREATE EXTENSION" in str(error), "no type bloomfilter", error)
    bloomfam.psycopg.register(other, "public.bloomfilter")
    ok(other.execute("SELECT f FROM public.filters").fetchone()[0] == mine, "the type's name, qualified")
ok((mine | bloomfam.Filter.build([5000], "bigint", 0.001)) == value(
    "SELECT bloom_union(%s, (SELECT bloom_agg(5000::bigint, 0.001)))", mine), "a union is the server's")


def example():
    import bloomfam.psycopg

    bloomfam.psycopg.register(connection)
    known = connection.execute("SELECT filter FROM example WHERE name = 'ids'").fetchone()[0]  # a bloomfam.Filter
    new = [key for key, maybe in zip(keys, known.may_contain(keys)) if not maybe]  # certainly new
    more = bloomfam.Filter.build(new, "bigint")
    connection.execute("INSERT INTO example VALUES ('new', %s)", (more,))
    return new


connection.execute("CREATE TABLE example (name text, filter bloomfilter)")
connection.execute("INSERT INTO example SELECT 'ids', bloom_agg(i, 1e-9, 'ribbon') FROM generate_series(1, 1000) i")
keys = [1, 5, 2000, 1000, 3000]
ok(example() == [2000, 3000], "an example")
ok(value("SELECT bloom_may_contain(filter, 3000) FROM example WHERE name = 'new'"), "... and what it stores")
print("1..%d" % checks)
