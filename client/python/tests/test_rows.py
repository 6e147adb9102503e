# SPDX-License-Identifier: PostgreSQL
"""Keys of several columns: in every form of a column, with NULLs, and what is wrong with them."""

import array
import datetime as dt
import gc
import random
import sys
import threading
import types
import unittest
import uuid
from decimal import Decimal

import bloomfam

from . import arrow_producer as arrow

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None

# of (1, 'a') and (2, NULL), as "bloomfam build -c a,b -t int,text --fpr 0.001 --kind xor" writes it
GOLDEN = ("6266616d01080100dd26b0d90d0000000000000000000000afca662f08cd1bad02000000000000000200000000000000fca9f1d24d62503f1b000000000000000a0000000000"
          "00000000000001000000726f7728696e742c746578742900000000000000130000000000000000000000020000000403230000000000000000")
DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(40)]


def ribbon(keys, type):
    return bloomfam.Filter.build(keys, type, 1e-9, "ribbon")


def answers(known, keys, **options):
    return [bool(answer) for answer in known.may_contain(keys, **options)]


class TestTypes(unittest.TestCase):
    def test_the_bytes_of_the_program(self):
        golden = bloomfam.Filter(bytes.fromhex(GOLDEN))
        self.assertEqual(golden.family, "row(int,text)")
        # the family's hash, as docs/format.md has it
        self.assertIn(0xad1bcd082f66caaf.to_bytes(8, "little"), bytes(golden))
        for type in (["int", "text"], ("bigint", "varchar"), "int,text", " row( INT , text )"):
            self.assertEqual(bloomfam.Filter.build([[1, 2], ["a", None]], type, 0.001, "xor"), golden)
        self.assertTrue((1, "a") in golden and [2, None] in golden)

    def test_names(self):
        for type, family in ((["int", "date"], "row(int,date)"), (["numeric", "uuid", 'enum "a,("."b"'], 'row(numeric,uuid,enum "a,("."b")'),
                             (["real"], "row(float)"), (["int"] * 32, "row(%s)" % ",".join(["int"] * 32))):
            self.assertEqual(bloomfam.Filter.build([[]] * len(type), type).family, family)
        for type, error in (([], ValueError), (["int"] * 33, ValueError), (["int", "nothing"], ValueError), (["int", 5], TypeError), (["int", None], TypeError),
                            (["int\0", "date"], ValueError), (["int", "a\ud800"], ValueError), (["int", ["date"]], TypeError), ({"int", "date"}, TypeError),
                            (["int", "int,date"], (ValueError, TypeError)), (["int[]", "int"], (ValueError, TypeError)), (b"int,date", TypeError)):
            with self.assertRaises(error, msg=repr(type)):
                bloomfam.Builder(type)
        for type in (["int", "text"], "int,text"):
            with self.assertRaises(ValueError):
                bloomfam.Builder(type, kind="parquet")

    def test_one_column_as_a_row(self):
        known = ribbon([[1, None]], ["int"])
        self.assertEqual(known.family, "row(int)")
        self.assertTrue((1,) in known and (None,) in known and (2,) not in known)
        self.assertNotEqual(known, ribbon([1], "int"))

    def test_all_kinds(self):
        columns = [list(range(500)), ["%d" % (i % 7) for i in range(500)]]
        for kind in bloomfam.kinds:
            if kind != "parquet":
                known = bloomfam.Filter.build(columns, "int,text", 0.01, kind)
                self.assertEqual(known.kind, kind)
                self.assertTrue(all(known.may_contain(columns)))
                self.assertLess(sum(known.may_contain([list(range(500, 1000)), columns[1]])), 25)


class TestModel(unittest.TestCase):
    """What is found is what a set of tuples has, in which None is None."""

    values = {
        "int": [None, 0, 1, -1, 2 ** 31],
        "bigint": [None, 0, 2 ** 63 - 1, -2 ** 63, 7],
        "text": [None, "", "a", "é", "x" * 100],
        "date": [None] + DAYS[:4],
        "uuid": [None] + [uuid.UUID(int=i) for i in range(4)],
        "numeric": [None, Decimal(0), Decimal("1.5"), Decimal("1E+30"), Decimal("-7")],
        "boolean": [None, True, False],
        "timestamp": [None, dt.datetime(2024, 1, 1), dt.datetime(1969, 12, 31, 23, 59)],
        "bytea": [None, b"", b"\0a"],
    }

    def check(self, chance, type):
        rows = [tuple(chance.choice(self.values[name]) for name in type) for _ in range(60)]
        added, asked = rows[:30], rows[10:]
        columns = [list(column) for column in zip(*added)]
        known = ribbon(columns, type)
        self.assertEqual(known.keys, 30)
        expected = [row in added for row in asked]
        asked_columns = tuple(zip(*asked))
        for nulls in ("raise", False, True):
            self.assertEqual(answers(known, asked_columns, nulls=nulls), expected, type)
        self.assertEqual([row in known for row in asked], expected)
        builder = bloomfam.Builder(list(type), 1e-9, "ribbon")
        for part in (slice(0, 7), slice(7, 7), slice(7, 30)):
            builder.add([iter(column[part]) for column in columns])
        self.assertEqual(builder.finish(), known)

    def test_random_types(self):
        chance = random.Random(5)
        names = list(self.values)
        for width in (2, 2, 3, 3, 3, 8):
            for _ in range(12):
                with self.subTest(seed=width):
                    self.check(chance, tuple(chance.choice(names) for _ in range(width)))

    def test_the_order_of_columns_counts(self):
        known = ribbon([[1, 2], [3, None]], ["int", "int"])
        self.assertEqual(answers(known, [[1, 3, 2, None], [3, 1, None, 2]]), [True, False, True, False])

    def test_same_keys_of_other_objects(self):
        known = ribbon([[5], [Decimal("1.0")], [uuid.UUID(int=1)], ["a"]], ["int", "numeric", "uuid", "text"])
        self.assertIn((Decimal("5.00"), 1, str(uuid.UUID(int=1)), "a  "), known)
        self.assertIn([5, Decimal("1.000"), uuid.UUID(int=1), "a"], known)

    def test_batches(self):
        # the batches of two columns end at different keys
        rows = [([i, Decimal(i)][i * 7 % 2], None if i % 5 == 0 else "%d" % i) for i in range(3000)]
        columns = [list(column) for column in zip(*rows)]
        known = ribbon(columns, "int,text")
        self.assertTrue(all(known.may_contain(columns)))
        columns[1] = columns[1][1:] + ["x"]
        self.assertFalse(any(known.may_contain(columns)))


class TestForms(unittest.TestCase):
    known = ribbon([[1, 2, 3, None], DAYS[:3] + [None]], ["int", "date"])
    days = DAYS[:3] + [None, DAYS[0]]
    expected = [True, True, True, True, False]

    def check(self, shops, days=None):
        days = self.days if days is None else days
        self.assertEqual(answers(self.known, [shops, days]), self.expected)
        self.assertEqual(answers(self.known, (shops, days)), self.expected)
        again = bloomfam.Filter.build([shops, days], "int,date", 0.01, "blocked")
        self.assertEqual(again, bloomfam.Filter.build([[1, 2, 3, None, 5], self.days], "int,date", 0.01, "blocked"))

    def test_sequences_and_buffers(self):
        shops = [1, 2, 3, None, 5]
        for column in (shops, tuple(shops)):
            self.check(column)
        for make in (iter, lambda keys: (key for key in keys), lambda keys: map(lambda key: key, keys)):
            self.assertEqual(answers(self.known, [make(shops), make(self.days)]), self.expected)
        for code in "bhilqBHILQ":
            self.assertEqual(answers(self.known, [array.array(code, [1, 2, 3, 4]), self.days[:4]]), [True, True, True, False])
        self.assertEqual(answers(self.known, [range(1, 4), self.days[:3]]), [True] * 3)
        self.assertEqual(answers(self.known, [memoryview(array.array("i", [3, 9, 2, 9, 1]))[::-2], self.days[:3]]), [True] * 3)

    def test_arrow(self):
        before = arrow.alive()
        shops = [1, 2, 3, None, 5]
        days = [day and (day - dt.date(1970, 1, 1)).days for day in self.days]
        for offset in (0, 3):
            self.check(arrow.numbers("l", "q", shops, offset), arrow.numbers("tdD", "i", days, offset))
            self.check(arrow.numbers("c", "b", shops, offset))
        # pieces of different lengths
        self.check(arrow.Stream([arrow.numbers("l", "q", shops[:1]), arrow.numbers("l", "q", shops[1:])]),
                   arrow.Stream([arrow.numbers("tdD", "i", days[:3], 1), arrow.numbers("tdD", "i", []), arrow.numbers("tdD", "i", days[3:])]))
        self.check(arrow.dictionary("c", "b", [0, 1, 2, None, 3], arrow.numbers("l", "q", [1, 2, 3, 5])))
        self.assertEqual(answers(self.known, [arrow.nulls(2), [None, DAYS[0]]]), [True, False])
        gc.collect()
        self.assertEqual(arrow.alive(), before)

    @unittest.skipIf(numpy is None, "no numpy")
    def test_numpy(self):
        shops = numpy.ma.array([1, 2, 3, 0, 5], mask=[0, 0, 0, 1, 0])
        days = numpy.array(self.days, "M8[D]")
        self.check(shops, days)
        self.check(shops.astype(">i4"), days.astype(">M8[D]"))
        self.check(numpy.array([1, 2, 3, None, 5], object))
        found = self.known.may_contain([shops, days])
        self.assertEqual((type(found), found.dtype, found.shape), (numpy.ndarray, numpy.dtype(bool), (5,)))
        self.assertEqual(self.known.may_contain([[], []]).shape, (0,))
        self.assertIn((numpy.int8(1), numpy.datetime64("2024-01-01")), self.known)
        self.assertIn((None, numpy.datetime64("NaT", "D")), self.known)
        with self.assertRaises(TypeError):
            self.known.may_contain(numpy.array([[1, 2], [3, 4]]))

    @unittest.skipIf(pandas is None, "no pandas")
    def test_pandas(self):
        shops = pandas.Series([1, 2, 3, None, 5]).astype("Int64")
        for column in (shops, shops.array, shops.astype("category"), shops.astype(object)):
            self.check(column)
        self.check(shops, pandas.Series(self.days, dtype=object))
        frame = pandas.DataFrame({"shop": shops.array, "day": self.days}, index=list("edcba"))
        self.assertEqual(answers(self.known, frame), self.expected)
        self.assertEqual(bloomfam.Filter.build(frame, ["int", "date"]), bloomfam.Filter.build([shops, self.days], ["int", "date"]))
        self.assertEqual(answers(self.known, frame[["shop", "day"]].iloc[::-1]), self.expected[::-1])
        # whatever its columns are called
        frame.columns = ["x", "x"]
        self.assertEqual(answers(self.known, frame), self.expected)
        for wrong in (frame.iloc[:, :1], pandas.concat([frame, frame], axis=1)):
            with self.assertRaisesRegex(ValueError, "have 2 columns, and"):
                self.known.may_contain(wrong)
        for wrong in (shops, pandas.MultiIndex.from_tuples([(1, DAYS[0])])):
            with self.assertRaises(TypeError):
                self.known.may_contain(wrong)
        self.assertIn((pandas.NA, pandas.NaT), self.known)
        # of one column it is an error still
        with self.assertRaises(TypeError):
            ribbon([1], "int").may_contain(frame)

    def test_a_table_of_pyarrow(self):
        class Table:
            columns = [[1, 2, 3, None, 5], self.days]

        class RecordBatch:
            columns = [[1], [DAYS[0]]]

        saved = sys.modules.get("pyarrow")
        sys.modules["pyarrow"] = types.SimpleNamespace(Table=Table, RecordBatch=RecordBatch)
        try:
            self.assertEqual(answers(self.known, Table()), self.expected)
            self.assertEqual(answers(self.known, RecordBatch()), [True])
        finally:
            del sys.modules["pyarrow"]
            if saved is not None:
                sys.modules["pyarrow"] = saved


class TestErrors(unittest.TestCase):
    known = ribbon([[1, 2], DAYS[:2]], ["int", "date"])

    def refused(self, error, text, call, *arguments):
        with self.assertRaisesRegex(error, text):
            call(*arguments)

    def test_columns(self):
        ask = self.known.may_contain
        for columns, n in (([], 0), ([[1]], 1), ([[1], DAYS[:1], [1]], 3), ((), 0), ([1, 2, 3], 3)):
            self.refused(ValueError, "have 2 columns, and %d are given" % n, ask, columns)
            self.refused(ValueError, "have 2 columns, and %d are given" % n, bloomfam.Builder("int,date").add, columns)
        self.refused(ValueError, "column 1 has 2 keys, column 2 has 1$", ask, [[1, 2], DAYS[:1]])
        self.refused(ValueError, "column 1 has 0 keys, column 2 has 1$", bloomfam.Filter.build, [[], DAYS[:1]], "int,date")
        for keys in (None, 5, "ab", b"ab", {1: 2, 3: 4}, {1, 2}, iter([[1], DAYS[:1]]), array.array("q", [1, 2]), object(), [1, 2], ["ab", DAYS[:1]],
                     [(1, DAYS[0]), (2, DAYS[1])], [[1], [5]], [DAYS[:1], [1]], [[[1]], DAYS[:1]]):
            with self.assertRaises(TypeError, msg=repr(keys)):
                ask(keys)
            with self.assertRaises(TypeError, msg=repr(keys)):
                bloomfam.Filter.build(keys, ["int", "date"])
        self.assertEqual(answers(self.known, [[], []]), [])
        self.refused(ValueError, "nulls must be", ask, [[1], DAYS[:1]], "drop")

    def test_one_key(self):
        for key in ((1,), (), (1, DAYS[0], 2), [1]):
            self.refused(ValueError, "have 2 columns, and %d are given" % len(key), self.known.__contains__, key)
        for key in (1, "ab", None, {1: 2}, {1, 2}, iter([1, DAYS[0]]), (1, 2), (DAYS[0], 1), ("1", DAYS[0]), (1, b"a"), (1.0, DAYS[0])):
            with self.assertRaises(TypeError, msg=repr(key)):
                key in self.known
        with self.assertRaises(TypeError):
            (1, DAYS[0]) in ribbon([1], "int")

    def test_the_column_is_named(self):
        for n in (0, 511, 513, 2000):
            days = [DAYS[0]] * n
            self.refused(TypeError, "^column 1, key %d is of" % n, self.known.may_contain, [[1] * n + ["x"], days + DAYS[:1]])
            self.refused(ValueError, "^column 2, key %d: .*is not a date" % n, self.known.may_contain, [[1] * (n + 1), days + ["x"]])
            self.refused(OverflowError, "^column 1, key %d: " % n, bloomfam.Filter.build, [[1] * n + [2 ** 63], days + DAYS[:1]], "int,date")
            self.refused(OverflowError, "^column 1, key %d: " % n, bloomfam.Filter.build, [array.array("Q", [1] * n + [2 ** 63]), days + DAYS[:1]], "int,date")
            self.refused(ValueError, "^column 2, key %d: " % n, bloomfam.Filter.build, [[1] * (n + 1), ["a"] * n + ["a\0"]], "int,text")
        self.refused(ValueError, "^column 2, key 0: ", self.known.__contains__, (1, "x"))
        self.refused(TypeError, "^column 1: floats are no keys", self.known.may_contain, [array.array("d", [1]), DAYS[:1]])
        self.refused(TypeError, "^column 2: ", self.known.may_contain, [[1], arrow.Array("+l", 1, [None])])

    def test_impossible(self):
        known = ribbon([[1, None], ["a", "b"]], "int,text")
        self.assertEqual(answers(known, [[2 ** 63, None, 10 ** 50, 1], ["a", "b\0", "\ud800", "a"]]), [False, False, False, True])
        self.assertEqual(answers(known, [array.array("Q", [2 ** 63, 1, 2 ** 64 - 1]), ["a", "a", None]]), [False, True, False])
        self.assertNotIn((2 ** 63, None), known)
        self.assertNotIn((None, "b\0"), known)
        # NULLs beside them in one batch are NULLs
        known = ribbon([[None, None], ["b", "c"]], "int,text")
        self.assertEqual(answers(known, [[2 ** 63, None, None, 2 ** 63], ["b", "b", "c", "c"]]), [False, True, True, False])
        # what nobody knows is an error, beside what is impossible, too
        with self.assertRaises(ValueError):
            (2 ** 63, "x") in self.known
        with self.assertRaises(OverflowError):
            (-1, 1) in ribbon([[1], [1]], "oid,int")

    def test_moments_that_are_two(self):
        known = ribbon([[1], ["infinity"]], "int,timestamp")
        self.assertIn((1, "infinity"), known)
        moments = arrow.numbers("tsu:", "q", [2 ** 63 - 1])
        self.refused(ValueError, "^column 2, key 0: .*infinity to some", known.may_contain, [[1], moments])
        self.refused(ValueError, "^column 2, key 0: ", bloomfam.Filter.build, [[1], moments], "int,timestamp")

    def test_a_builder_goes_on(self):
        builder = bloomfam.Builder(["int", "text"], 1e-9, "ribbon")
        builder.add([[1], ["a"]])
        for columns in ([[2], ["b"] * 2], [[2]], 5, [[2, 2 ** 63], ["b", "b"]], [[2], ["a\0"]], [["x"], ["b"]]):
            with self.assertRaises((ValueError, TypeError, OverflowError)):
                builder.add(columns)
        builder.add([[3], [None]])
        # nothing of what failed is in it
        self.assertEqual(builder.finish(), ribbon([[3, 1], [None, "a"]], "int,text"))
        with self.assertRaisesRegex(ValueError, "finished"):
            builder.add([[1], ["a"]])

    def test_no_keys(self):
        known = bloomfam.Filter.build([[], []], "int,date")
        self.assertEqual((known.kind, known.family), ("identity", "row(int,date)"))
        self.assertEqual(answers(known, [[1, None], DAYS[:2]]), [False, False])
        self.assertNotIn((1, DAYS[0]), known)
        other = bloomfam.Filter.build([[1], DAYS[:1]], "int,date")
        self.assertEqual(known | other, other)
        with self.assertRaises(TypeError):
            other | bloomfam.Filter.build([1], "int")


class TestObjectsThatAct(unittest.TestCase):
    known = ribbon([[4, 5], ["a" * 30, "b" * 30]], "int,text")

    def test_columns_that_change_others(self):
        for change in ("clear", "others", "own", "items"):
            outer = []

            class Acting:
                def __index__(self):
                    if change == "clear":
                        outer.clear()
                    elif change == "others":
                        outer[1].clear()
                    elif change == "own":
                        outer[0].clear()
                    else:
                        for column in outer:
                            column[:] = [None] * len(column)
                    gc.collect()
                    return 4

            outer += [[5] * 600 + [Acting()] + [5] * 600, ["%d" % i * 10 for i in range(1201)]]
            try:
                found = answers(self.known, outer)
            except (RuntimeError, ValueError):
                self.assertIn(change, ("others", "own"))
            else:
                self.assertIn(change, ("clear", "items"))
                self.assertEqual(len(found), 1201)

    def test_iterators_that_act(self):
        texts = ["a" * 30] * 700

        def shops():
            for i in range(700):
                if i == 600:
                    texts.append("more")
                    gc.collect()
                yield 4

        with self.assertRaisesRegex(ValueError, "different lengths"):
            self.known.may_contain([shops(), texts])

        def failing():
            yield 4
            raise ZeroDivisionError("mine")

        for columns in ([failing(), ["a"]], [[4], failing()]):
            with self.assertRaisesRegex(ZeroDivisionError, "^mine$"):
                self.known.may_contain(columns)

    def test_one_column_twice(self):
        column = [4, 5]
        known = ribbon([column, column], "int,int")
        self.assertEqual(answers(known, [column, column]), [True, True])
        keys = iter([4, 5])
        with self.assertRaises(ValueError):
            known.may_contain([keys, keys])

    def test_a_list_of_rows(self):
        """As fetchall() gives it: two rows of two columns would be two columns of two keys."""
        rows = [(7, 1), (9, 1)]
        known = ribbon(tuple(zip(*rows)), "int,int")
        self.assertEqual(answers(known, tuple(zip(*rows))), [True, True])
        self.assertEqual(answers(known, [[7, 9], (1, 1)]), [True, True])
        with self.assertRaisesRegex(TypeError, "a list of tuples may be one of rows"):
            known.may_contain(rows)
        with self.assertRaisesRegex(TypeError, "a list of tuples may be one of rows"):
            bloomfam.Builder("int,int").add(rows)

    def test_lists_of_a_class(self):
        class Odd(list):
            def __iter__(self):
                return iter([[4]] * 2)

            def __len__(self):
                return 50

        class Key(tuple):
            pass

        known = ribbon([[4], [4]], "int,int")
        self.assertEqual(answers(known, Odd()), [True])
        self.assertIn(Key((4, 4)), known)

    def test_a_builder_in_use(self):
        builder = bloomfam.Builder("int,int")
        seen = []

        class Acting:
            def __index__(self):
                for call in (builder.finish, lambda: builder.add([[1], [1]])):
                    try:
                        call()
                    except RuntimeError as error:
                        seen.append(str(error))
                return 4

        builder.add([[1, 4], [2, Acting()]])
        self.assertEqual(len(seen), 2)
        self.assertEqual(builder.finish(), bloomfam.Filter.build([[1, 4], [2, 4]], "int,int"))

    def test_nothing_is_left(self):
        frame = pandas.DataFrame({"a": [4, 5], "b": ["a", None]}) if pandas is not None else None
        calls = [
            lambda: answers(self.known, [[4, None], ["a", "b"]]), lambda: (4, "a") in self.known, lambda: (4, "a", 5) in self.known,
            lambda: self.known.may_contain([[4], ["a", "b"]]), lambda: self.known.may_contain([[4], [5]]), lambda: self.known.may_contain(5),
            lambda: self.known.may_contain([[4] * 2000, ["a"] * 2000]), lambda: bloomfam.Builder(["int", 5]), lambda: bloomfam.Builder(["int", "no"]),
            lambda: bloomfam.Filter.build([[4] * 2000, ["a"] * 2000], ["int", "text"]), lambda: bloomfam.Filter.build([[4, 2 ** 70], ["a", "b"]], "int,text"),
            lambda: self.known.may_contain(frame), lambda: bloomfam.Filter.build([arrow.numbers("l", "q", [1]), arrow.strings("u", ["a"])], "int,text"),
            lambda: bloomfam.Filter.build([arrow.numbers("l", "q", [1]), arrow.Array("l", 1, [None])], "int,text")]

        def growth(call, n):
            gc.collect()
            before = sys.getallocatedblocks() + arrow.alive()
            for _ in range(n):
                try:
                    call()
                except (TypeError, ValueError, OverflowError):
                    pass
            gc.collect()
            return (sys.getallocatedblocks() + arrow.alive() - before) / n

        for i, call in enumerate(calls):
            growth(call, 10)
            if growth(call, 50) > 0.5:
                self.assertLess(min(growth(call, 300) for _ in range(4)), 0.5, i)

    def test_threads(self):
        columns = [array.array("q", range(50000)), array.array("i", range(50000))]
        known = ribbon(columns, "int,int")
        wrong = []

        def work():
            for _ in range(4):
                if not all(known.may_contain(columns)) or any(known.may_contain([columns[0], array.array("i", range(1, 50001))])):
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
