# SPDX-License-Identifier: PostgreSQL
# What the Python programs here check, each through its own driver.
import decimal

types = ["int", "uuid", "text", "numeric", "bool"]
checks = 0


def same(what, found, expected):
    global checks
    checks += 1
    print("%s %d - %s" % ("ok" if found == expected else "not ok", checks, what))
    if found != expected:
        print("# found %r, expected %r" % (found, expected))


# every: 1 to ask for each key by itself; more to ask for each so-and-so-manieth.
def check(type, present, absent, may_contain, may_be_in, contains_all, count_kept, every=1):
    some = present[::every]
    others = absent[::every]
    same(type + ": 1000 keys", len(present), 1000)
    same(type + ": each key is found", sum(may_contain(key) is True for key in some), len(some))
    same(type + ": and by the operator", sum(may_be_in(key) is True for key in some), len(some))
    same(type + ": others are not", sum(may_contain(key) is False for key in others), len(others))
    same(type + ": NULL", (may_contain(None), may_be_in(None), contains_all(None)), (None, None, None))
    same(type + ": an array of all keys", (contains_all(present), count_kept(present)), (True, 1000))
    same(type + ": an array with others", (contains_all(present + absent), count_kept(absent + present)), (False, 1000))
    same(type + ": an array of none, and of NULL", (contains_all([]), count_kept([]), count_kept([None] + present[:3])), (True, 0, 3))


# Calls whose parameters, each a $, are a rate, a kind or a number of keys, and what the filter then is made for.  One is either rate or kind.
rates = [
    ("bloom_agg(int, $)", (0.001,), (0.001, "blocked")),
    ("bloom_agg(int, $)", (decimal.Decimal("0.001"),), (0.001, "blocked")),
    ("bloom_agg(int, $)", ("0.001",), (0.001, "blocked")),
    ("bloom_agg(int, $)", ("ribbon",), (0.01, "ribbon")),
    ("bloom_agg(int, $, 'ribbon')", (0.001,), (0.001, "ribbon")),
    ("bloom_agg(int, $, $)", (0.001, "ribbon"), (0.001, "ribbon")),
    ("bloom_agg(int, $, $, $)", (0.001, "standard", 5000), (0.001, "standard")),
    ("bloom_fold(bloom_agg(int, 1e-6, 'standard'), $)", (0.02,), (0.02, "standard")),
    ("bloom_create($, $)", (5000, 0.001), (0.001, "blocked")),
    ("bloom_create($, $)", (5000, "counting"), (0.01, "counting")),
    ("bloom_create($, $, $)", (5000, 0.001, "counting"), (0.001, "counting")),
    ("bloom_agg(bloom_key(int), $)", (0.001,), (0.001, "blocked")),
]


def rate_query(call):
    return "SELECT target_fpr, kind FROM bloom_info((SELECT %s FROM keys%s))" % (call, "" if "bloom_agg" in call else " LIMIT 1")


# row(call, parameters) is what the query of that call gives
def check_rates(row):
    for call, parameters, expected in rates:
        same("%s with %r" % (call, parameters), tuple(row(call, parameters)), expected)


# the lines that docs/drivers.md shows, for drivers whose cursors are those of Python's DB API, with %s for a parameter
def example(cursor, key):
    # docs
    cursor.execute("SELECT filter FROM filters WHERE name = 'int'")
    filter = cursor.fetchone()[0]                       # a str
    cursor.execute("SELECT bloom_may_contain(filter, %s) FROM filters WHERE name = 'int'", (key,))
    may_be_there = cursor.fetchone()[0]                 # True, False, or None for a None
    cursor.execute("SELECT bloom_filter_keys(filter, %s) FROM filters WHERE name = 'int'", ([1, key],))
    those_that_may_be_there = cursor.fetchone()[0]
    cursor.execute("INSERT INTO filters VALUES ('copy', %s)", (filter,))
    cursor.execute("SELECT filter::bytea FROM filters WHERE name = 'int'")
    cursor.execute("UPDATE filters SET filter = %s WHERE name = 'copy'", (cursor.fetchone()[0],))
    # end
    return may_be_there, those_that_may_be_there


def check_copy(may_be_there, those, copies):
    same("the example's answer", may_be_there, True)
    same("the example's keys", [int(key) for key in those], [7])
    same("a filter stored as text, and as bytes, is the same", copies, 1)


def done():
    print("1..%d" % checks)
