# SPDX-License-Identifier: PostgreSQL
from typing import Any

from psycopg import AsyncConnection, Connection

__all__ = ["register", "register_async"]

def register(connection: Connection[Any], name: str = "bloomfilter") -> None: ...
async def register_async(connection: AsyncConnection[Any], name: str = "bloomfilter") -> None: ...
