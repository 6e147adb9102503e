# SPDX-License-Identifier: PostgreSQL
"""Filters as values of psycopg 3, in binary: a column comes as a Filter, a Filter goes as a parameter.

    import bloomfam.psycopg

    bloomfam.psycopg.register(connection)
    (known,) = connection.execute("SELECT filter FROM filters").fetchone()
    connection.execute("INSERT INTO filters VALUES (%s)", (known,))
"""

from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

from ._bloomfam import Filter

__all__ = ["register", "register_async"]


class _BinaryDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj):
        return memoryview(obj)


class _TextDumper(Dumper):
    def dump(self, obj):
        return b"\\x" + bytes(obj).hex().encode()


class _FilterLoader(Loader):
    # of the text form, as psycopg asks for text unless a cursor says otherwise
    def load(self, data):
        return Filter(data)


class _BinaryFilterLoader(_FilterLoader):
    format = Format.BINARY


def _adapt(info, context):
    if info is None:
        raise LookupError("this database has no type bloomfilter; CREATE EXTENSION bloomfam")
    info.register(context)
    adapters = context.adapters
    adapters.register_loader(info.oid, _FilterLoader)
    adapters.register_loader(info.oid, _BinaryFilterLoader)
    # the one that is registered last is taken where the query does not say which format
    for base in (_TextDumper, _BinaryDumper):
        adapters.register_dumper(Filter, type(base.__name__, (base,), {"oid": info.oid}))


def register(connection, name="bloomfilter"):
    """Teaches a connection the type bloomfilter.

    It asks the server for the type's number, once.  The name may be qualified by a schema that is
    not in the search path.
    """
    _adapt(TypeInfo.fetch(connection, name), connection)


async def register_async(connection, name="bloomfilter"):
    """The same for an AsyncConnection."""
    _adapt(await TypeInfo.fetch(connection, name), connection)
