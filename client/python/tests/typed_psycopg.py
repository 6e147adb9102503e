# SPDX-License-Identifier: PostgreSQL
# What mypy --strict has to take where psycopg 3 is: a program that reads and stores filters, with types.
import psycopg

import bloomfam
import bloomfam.psycopg


def new_of(connection: psycopg.Connection[tuple[bloomfam.Filter]], keys: list[int]) -> list[int]:
    bloomfam.psycopg.register(connection)
    row = connection.execute("SELECT filter FROM example WHERE name = 'ids'").fetchone()
    assert row is not None
    known = row[0]
    new = [key for key, maybe in zip(keys, known.may_contain(keys)) if not maybe]
    connection.execute("INSERT INTO example VALUES ('new', %s)", (bloomfam.Filter.build(new, "bigint"),))
    return new


async def later(connection: psycopg.AsyncConnection[tuple[bloomfam.Filter]]) -> None:
    await bloomfam.psycopg.register_async(connection, "public.bloomfilter")


bloomfam.psycopg.register(5)  # type: ignore[arg-type]
