# SPDX-License-Identifier: PostgreSQL
# Asks filters as psycopg2 does: values are put into the text of the query.
import uuid
import decimal
import psycopg2
import psycopg2.extras
import keys

psycopg2.extras.register_uuid()

connection = psycopg2.connect("")
cursor = connection.cursor()


def value(query, *parameters):
    cursor.execute(query.replace("$", "%s"), parameters)
    return cursor.fetchone()[0]


def made_for(call, parameters):
    cursor.execute(keys.rate_query(call).replace("$", "%s"), parameters)
    return cursor.fetchone()


def column(query):
    cursor.execute(query)
    return [row[0] for row in cursor]


absent = {"int": [-i for i in range(1, 1001)], "uuid": [uuid.UUID(int=i) for i in range(1000)], "text": ["no %d" % i for i in range(1000)],
          "numeric": [-i - decimal.Decimal("0.5") for i in range(1, 1001)], "bool": [False]}
for type in keys.types:
    present = column("SELECT %s FROM keys" % type)
    keys.check(type, present, absent[type],
               lambda key: value("SELECT bloom_may_contain(filter, $) FROM filters WHERE name = '%s'" % type, key),
               lambda key: value("SELECT $ ~@ filter FROM filters WHERE name = '%s'" % type, key),
               lambda many: value("SELECT bloom_may_contain_all(filter, $) FROM filters WHERE name = '%s'" % type, many),
               lambda many: value("SELECT cardinality(bloom_filter_keys(filter, $)) FROM filters WHERE name = '%s'" % type, many))
keys.check_rates(made_for)
keys.check_copy(*keys.example(cursor, 7), value("SELECT count(*) FROM filters a JOIN filters b USING (filter) WHERE a.name = 'int' AND b.name = 'copy'"))
keys.done()
