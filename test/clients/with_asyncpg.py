# SPDX-License-Identifier: PostgreSQL
# Asks filters as asyncpg does: the server says what types parameters have, and asyncpg converts values to these.
import asyncio
import itertools
import re
import uuid
import decimal
import asyncpg
import keys


# docs
def untyped(key):
    if isinstance(key, list):
        return "{" + ",".join("NULL" if k is None else '"%s"' % str(k).replace("\\", "\\\\").replace('"', '\\"') for k in key) + "}"
    return str(key)


async def connect():
    connection = await asyncpg.connect()
    await connection.set_type_codec("bloomliteral", encoder=untyped, decoder=str)
    return connection
# end


async def example(connection, key):
    # docs
    filter = await connection.fetchval("SELECT filter FROM filters WHERE name = 'int'")        # a str
    may_be_there = await connection.fetchval("SELECT bloom_may_contain(filter, $1) FROM filters WHERE name = 'int'", key)
    those_that_may_be_there = await connection.fetchval("SELECT bloom_filter_keys(filter, $1) FROM filters WHERE name = 'int'", [1, key])
    await connection.execute("INSERT INTO filters VALUES ('copy', $1)", filter)
    data = await connection.fetchval("SELECT filter::bytea FROM filters WHERE name = 'int'")
    await connection.execute("UPDATE filters SET filter = $1::bytea WHERE name = 'copy'", data)
    # end
    return may_be_there, those_that_may_be_there


async def main():
    connection = await connect()
    absent = {"int": [-i for i in range(1, 1001)], "uuid": [uuid.UUID(int=i) for i in range(1000)], "text": ["no %d" % i for i in range(1000)],
              "numeric": [-i - decimal.Decimal("0.5") for i in range(1, 1001)], "bool": [False]}
    for type in keys.types:
        present = [row[0] for row in await connection.fetch("SELECT %s FROM keys" % type)]
        answers = {}

        async def ask(expression, parameter):
            answers[expression, str(parameter)] = await connection.fetchval("SELECT %s FROM filters WHERE name = '%s'" % (expression, type), parameter)

        for key in present + absent[type] + [None]:
            await ask("bloom_may_contain(filter, $1)", key)
            await ask("$1 ~@ filter", key)
        for many in (None, present, present + absent[type], absent[type] + present, [], [None] + present[:3]):
            await ask("bloom_may_contain_all(filter, $1)", many)
            await ask("cardinality(bloom_filter_keys(filter, $1))", many)
        keys.check(type, present, absent[type], *[
            lambda parameter, expression=expression: answers[expression, str(parameter)]
            for expression in ("bloom_may_contain(filter, $1)", "$1 ~@ filter", "bloom_may_contain_all(filter, $1)", "cardinality(bloom_filter_keys(filter, $1))")])
    rows = {}
    for call, parameters, _ in keys.rates:
        number = itertools.count(1)
        statement = await connection.prepare(re.sub(r"\$", lambda _: "$%d" % next(number), keys.rate_query(call)))
        # what may be rate or kind is a text
        told = [str(p) if t.name == "text" else p for p, t in zip(parameters, statement.get_parameters())]
        rows[call, parameters] = await statement.fetchrow(*told)
    keys.check_rates(lambda call, parameters: rows[call, parameters])
    try:
        await connection.fetchval("SELECT bloom_agg(int, $1) FROM keys", 0.001)
        keys.same("a number where rate or kind may come", "no error", "an error")
    except asyncpg.DataError:
        keys.same("but with a cast", await connection.fetchval("SELECT bloom_info(bloom_agg(int, $1::float8)) FROM keys", 0.001) is not None, True)
    keys.check_copy(*await example(connection, 7),
                    await connection.fetchval("SELECT count(*) FROM filters a JOIN filters b USING (filter) WHERE a.name = 'int' AND b.name = 'copy'"))
    keys.done()

asyncio.run(main())
