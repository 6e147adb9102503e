# SPDX-License-Identifier: PostgreSQL
# Asks filters as psycopg 3 does: values are parameters, of which the server is told the type, but for those of str.
import uuid
import decimal
import psycopg
import keys

connection = psycopg.connect("", autocommit=True)
cursor = connection.cursor()


def value(query, *parameters):
    return cursor.execute(query.replace("$", "%s"), parameters).fetchone()[0]


absent = {"int": [-i for i in range(1, 1001)], "uuid": [uuid.UUID(int=i) for i in range(1000)], "text": ["no %d" % i for i in range(1000)],
          "numeric": [-i - decimal.Decimal("0.5") for i in range(1, 1001)], "bool": [False]}
for type in keys.types:
    present = [row[0] for row in cursor.execute("SELECT %s FROM keys" % type)]
    keys.check(type, present, absent[type],
               lambda key: value("SELECT bloom_may_contain(filter, $) FROM filters WHERE name = '%s'" % type, key),
               lambda key: value("SELECT $ ~@ filter FROM filters WHERE name = '%s'" % type, key),
               lambda many: value("SELECT bloom_may_contain_all(filter, $) FROM filters WHERE name = '%s'" % type, many),
               lambda many: value("SELECT cardinality(bloom_filter_keys(filter, $)) FROM filters WHERE name = '%s'" % type, many))
keys.check_rates(lambda call, parameters: cursor.execute(keys.rate_query(call).replace("$", "%s"), parameters).fetchone())
keys.check_copy(*keys.example(cursor, 7), value("SELECT count(*) FROM filters a JOIN filters b USING (filter) WHERE a.name = 'int' AND b.name = 'copy'"))
keys.same("a binary result", bytes(connection.cursor(binary=True).execute("SELECT filter FROM filters WHERE name = 'int'").fetchone()[0]),
          value("SELECT filter::bytea FROM filters WHERE name = 'int'"))
keys.done()
