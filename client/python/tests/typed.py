# SPDX-License-Identifier: PostgreSQL
# What mypy --strict has to take, and in the lines with "type: ignore" to refuse: an ignore that nothing needs is an error to it.
import array
import datetime
from pathlib import Path

import bloomfam
from bloomfam import Builder, Filter


def example(value: bytes, keys: list[int]) -> list[int]:
    known = Filter(value)
    if 5 in known and "a" in known:
        print(known.kind, known.fpr + 1, known.keys + known.size + known.capacity, known.family)
    answers = known.may_contain(keys, nulls=False)
    known.may_contain(array.array("q", keys))
    known.may_contain(memoryview(value), "raise")
    known.may_contain({datetime.date(2024, 1, 1)}, nulls=True)
    return [key for key, answer in zip(keys, answers) if not answer]


def build(texts: list[str | None]) -> Filter:
    builder = Builder("text", 0.001, kind="ribbon", expected=None)
    builder.add(texts)
    more: Filter = Filter.build((i for i in range(5)), "bigint", 0.01, expected=100)
    rows = Filter.build([[1, 2], texts], ["int", "text"], 0.001)
    if (1, "a") in rows and [2, None] in rows:
        rows.may_contain((range(2), texts))
    Builder(("int", "text")).add([[1], ["a"]])
    opened = Filter.open(Path("x"), validate=True) | more
    data: bytes = bytes(opened)
    text: str | None = opened.family
    kinds: tuple[str, ...] = bloomfam.kinds
    print(data, text, kinds, hash(more), more == opened, repr(more))
    return builder.finish()


try:
    build(["a", None])
except (bloomfam.InvalidFilterError, bloomfam.NotAskableError) as error:
    print(error)

Filter(5)  # type: ignore[arg-type]
Filter.build([1], "int", "high")  # type: ignore[arg-type]
Filter.build([1])  # type: ignore[call-arg]
Filter(b"").may_contain([1], nulls="drop")  # type: ignore[arg-type]
Filter(b"").kind = "x"  # type: ignore[misc]
Filter(b"") | 5  # type: ignore[operator]
Builder(5)  # type: ignore[arg-type]
Builder({"int", "date"})  # type: ignore[arg-type]
