# SPDX-License-Identifier: PostgreSQL
"""Filters of the PostgreSQL extension bloomfam, outside the server.

    known = bloomfam.Filter(value)                  # as it comes from SQL
    key in known                                    # False is certain, True is a maybe
    known.may_contain(keys)                         # for each of a list, an array, a column
    bloomfam.Filter.build(keys, "bigint", 0.001)    # the same as SQL's bloom_agg
    known.may_contain([shops, days])                # for keys of several columns: bloom_agg((shop, day))
"""

from ._bloomfam import (
    Builder,
    Filter,
    InvalidFilterError,
    NotAskableError,
    __version__,
    kinds,
    types,
)

__all__ = ["Builder", "Filter", "InvalidFilterError", "NotAskableError", "kinds", "types"]
