# SPDX-License-Identifier: PostgreSQL
"""Columns: buffers of every format and stride, numpy's arrays, pandas' Series."""

import array
import ctypes
import datetime as dt
import struct
import sys
import unittest
from decimal import Decimal

import bloomfam

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None

KEYS = [0, 1, -1, 5, 100, -100, 127]
INTS = bloomfam.Filter.build(KEYS, "int", 1e-9, "ribbon")


def answers(known, keys, **options):
    return [bool(answer) for answer in known.may_contain(keys, **options)]


class TestSequences(unittest.TestCase):
    def test_iterables(self):
        for keys in ([1, 2], (1, 2), iter([1, 2]), (i for i in (1, 2)), range(1, 3), {1: 0, 2: 0}.keys(), map(int, "12")):
            self.assertEqual(answers(INTS, keys), [True, False])
        self.assertEqual(sorted(answers(INTS, {1, 2})), [False, True])
        self.assertEqual(answers(INTS, []), [])
        self.assertEqual(answers(INTS, range(0, 5000)), [i in (0, 1, 5, 100, 127) for i in range(5000)])

    def test_one_key_is_no_column(self):
        texts = bloomfam.Filter.build(["a", "b"], "text")
        bytes_ = bloomfam.Filter.build([b"a"], "bytea")
        for known, keys in ((texts, "ab"), (bytes_, b"ab"), (bytes_, bytearray(b"a")), (INTS, 5), (INTS, b"\1"), (INTS, None), (INTS, {1: 2}),
                            (INTS, INTS.may_contain)):
            with self.assertRaises(TypeError, msg=repr(keys)):
                known.may_contain(keys)
            with self.assertRaises(TypeError):
                bloomfam.Filter.build(keys, "int")

    def test_batches(self):
        # a batch ends in the middle of any mix
        keys = []
        for i in range(3000):
            keys.append([i, Decimal(i), None, 2 ** 70, Decimal(i) + Decimal("0.5")][i * 7 % 5 if i % 700 > 20 else 0])
        known = bloomfam.Filter.build([i for i in range(3000) if i % 2], "int", 1e-9, "ribbon")
        for nulls in (False, True):
            self.assertEqual(answers(known, keys, nulls=nulls), [nulls if key is None else key % 2 == 1 and key < 3000 for key in keys])
        with self.assertRaisesRegex(ValueError, "key %d is NULL" % keys.index(None)):
            known.may_contain(keys)

    def test_error_names_the_key(self):
        for n in (0, 5, 511, 512, 513, 5000):
            with self.assertRaisesRegex(TypeError, "key %d is of" % n):
                INTS.may_contain([1] * n + ["x"])
            with self.assertRaisesRegex(OverflowError, "key %d:" % n):
                bloomfam.Filter.build([1] * n + [2 ** 63], "int")
            with self.assertRaisesRegex(OverflowError, "key %d:" % n):
                bloomfam.Filter.build(array.array("Q", [1] * n + [2 ** 63]), "int")


class TestBuffers(unittest.TestCase):
    def test_formats(self):
        for code in "bhilq":
            self.assertEqual(answers(INTS, array.array(code, [5, -1, 6])), [True, True, False])
        for code in "BHILQ":
            self.assertEqual(answers(INTS, array.array(code, [5, 200, 127])), [True, False, True])
        self.assertEqual(answers(INTS, array.array("Q", [2 ** 64 - 1, 2 ** 63, 5])), [False, False, True])
        self.assertEqual(answers(INTS, memoryview(b"\5\1\2")), [True, True, False])
        self.assertEqual(answers(INTS, memoryview(struct.pack("nn", -1, 3)).cast("n")), [True, False])
        self.assertEqual(answers(INTS, (ctypes.c_int32 * 2)(-1, 3)), [True, False])
        floats = bloomfam.Filter.build([1.5, 0.1, float("nan")], "double precision", 1e-9, "ribbon")
        self.assertEqual(answers(floats, array.array("d", [1.5, 0.1, 0.2, float("nan")])), [True, True, False, True])
        self.assertEqual(answers(floats, array.array("f", [1.5, 0.1])), [True, False])
        bools = bloomfam.Filter.build([True], "bool", 1e-9, "ribbon")
        self.assertEqual(answers(bools, memoryview(b"\0\1").cast("?")), [False, True])

    def test_strides(self):
        view = memoryview(array.array("i", range(-100, 100)))
        for cut in (slice(None, None, 2), slice(None, None, -1), slice(150, 20, -7), slice(5, 6), slice(5, 5), slice(None, None, 199)):
            self.assertEqual(answers(INTS, view[cut]), [key in KEYS for key in list(view[cut])], cut)

    def test_refused(self):
        for keys in (memoryview(b"abcd").cast("c"), memoryview(bytes(8)).cast("B", (2, 4)), (ctypes.c_char * 4)(), memoryview(bytes(16)).cast("P"),
                     (ctypes.c_int16.__ctype_be__ * 2 * 2)(), memoryview(ctypes.c_int32(5))):
            with self.assertRaises(TypeError, msg=repr(keys)):
                INTS.may_contain(keys)
        with self.assertRaises(TypeError):
            INTS.may_contain(array.array("d", [1.0]))
        with self.assertRaises(TypeError):
            bloomfam.Filter.build(array.array("q", [1]), "text")

    def test_order_of_bytes(self):
        self.assertEqual(answers(INTS, (ctypes.c_int16.__ctype_be__ * 3)(5, -1, 6)), [True, True, False])
        self.assertEqual(answers(INTS, (ctypes.c_int64.__ctype_le__ * 3)(5, -1, 6)), [True, True, False])

    def test_numeric_takes_integers(self):
        known = bloomfam.Filter.build([5, 2 ** 63, Decimal("-1.00")], "numeric", 1e-9, "ribbon")
        self.assertEqual(answers(known, array.array("Q", [5, 2 ** 63, 6])), [True, True, False])
        self.assertEqual(answers(known, array.array("b", [-1, 1])), [True, False])

    def test_a_memoryview_answers_without_numpy(self):
        # in an interpreter of its own, as this one may have numpy
        import subprocess

        program = """if True:
            import array, bloomfam, sys
            known = bloomfam.Filter.build([1, 2], "int")
            for keys in ([1, 2], array.array("q", [1, 2])):
                found = known.may_contain(keys)
                assert isinstance(found, memoryview) and found.format == "?" and found.tolist() == [True, True], found
            found = known.may_contain([])
            assert isinstance(found, memoryview) and found.format == "?" and found.tolist() == [] and len(found) == 0, found
            assert not {"numpy", "pandas", "decimal", "datetime", "uuid", "ipaddress", "psycopg"} & set(sys.modules), sys.modules
        """
        subprocess.run([sys.executable, "-c", program], check=True)


@unittest.skipIf(numpy is None, "no numpy")
class TestNumpy(unittest.TestCase):
    def test_answer(self):
        found = INTS.may_contain([1, 2])
        self.assertIsInstance(found, numpy.ndarray)
        self.assertEqual((found.dtype, found.shape, found.flags.writeable), (numpy.dtype(bool), (2,), True))
        self.assertEqual(INTS.may_contain([]).shape, (0,))

    def test_dtypes(self):
        for dtype in ("i1", "i2", "i4", "i8", ">i2", ">i4", ">i8", "<i8", "u1", "u2", ">u4", "u8"):
            keys = numpy.array([5, 100, 6], dtype)
            self.assertEqual(answers(INTS, keys), [True, True, False], dtype)
            self.assertEqual(bloomfam.Filter.build(keys, "int"), bloomfam.Filter.build([5, 100, 6], "int"))
        for dtype in ("f2", "f4", "f8", ">f2", ">f4", ">f8"):
            keys = numpy.array([1.5, 0.1, -0.0, numpy.inf, numpy.nan, 6e-8], dtype)
            self.assertEqual(bloomfam.Filter.build(keys, "float8"), bloomfam.Filter.build([float(key) for key in keys], "float8"), dtype)
        self.assertEqual(bloomfam.Filter.build(numpy.array([True, False]), "bool"), bloomfam.Filter.build([True, False], "bool"))
        every_half = numpy.arange(65536, dtype="u2").view("f2")
        self.assertEqual(bloomfam.Filter.build(every_half, "float8", 0.01, "xor"),
                         bloomfam.Filter.build([float(key) for key in every_half], "float8", 0.01, "xor"))

    def test_refused(self):
        for keys in (numpy.array([1.0]), numpy.array([True]), numpy.array(5), numpy.zeros((2, 2), int), numpy.array([1j]), numpy.array([b"a"]),
                     numpy.array([(1, 2)], "i4,i4"), numpy.zeros(1, "V8"), numpy.array(["2024-01-01"], "M8[D]"), numpy.array(["a"]),
                     numpy.array([1.0], "g"), numpy.array([None, "x"], object)):
            with self.assertRaises(TypeError, msg=repr(keys)):
                INTS.may_contain(keys)
            with self.assertRaises(TypeError, msg=repr(keys)):
                bloomfam.Filter.build(keys, "int")
        # as they lose zeros at the end of a key
        with self.assertRaises(TypeError):
            bloomfam.Filter.build(numpy.array([b"a\0"]), "bytea")

    def test_strides(self):
        base = numpy.arange(-300, 300)
        for keys in (base[::2], base[::-1], base[100:110], base[:0], base.reshape(20, 30)[:, 3], numpy.broadcast_to(numpy.int64(5), (2000,)),
                     numpy.ndarray((3,), "i8", bytes(1) + base.tobytes(), 1), numpy.zeros(4, "i1,i8")["f1"]):
            self.assertEqual(answers(INTS, keys), [key in KEYS for key in keys.tolist()])
        self.assertEqual(answers(INTS, base[::-1].astype(">i4")[::3]), [key in KEYS for key in base[::-1][::3].tolist()])

    def test_texts(self):
        texts = ["", "a", "bé", "日本", "𝄞 ", "x" * 50, "a\0b"]
        for dtype in (None, ">U60", "<U60"):
            keys = numpy.array(texts, dtype)
            known = bloomfam.Filter.build(keys[:-1], "text")
            self.assertEqual(known, bloomfam.Filter.build(texts[:-1], "text"))
            self.assertEqual(answers(known, keys), [True] * 6 + [False])
            self.assertEqual(answers(known, keys[::-2]), [text != "a\0b" for text in texts[::-2]])
            with self.assertRaises(ValueError):
                bloomfam.Filter.build(keys, "text")
        lone = numpy.array([0xD800, 0x110000], "u4").view("U1")
        self.assertEqual(answers(known, lone), [False, False])
        self.assertEqual(answers(known, numpy.array([""])), [True])
        self.assertEqual(answers(known, numpy.array(["a", None, "z"], object), nulls=True), [True, True, False])

    def test_scalars(self):
        self.assertIn(numpy.int8(5), INTS)
        self.assertIn(numpy.uint64(5), INTS)
        self.assertNotIn(numpy.uint64(2 ** 64 - 1), INTS)
        self.assertEqual(answers(INTS, [numpy.int64(5), 6, numpy.int16(1), None], nulls=False), [True, False, True, False])
        for key in (numpy.float64(5), numpy.bool_(True), numpy.str_("5"), numpy.datetime64("2024-01-01"), numpy.float32(5), numpy.void(b"a")):
            with self.assertRaises(TypeError, msg=repr(key)):
                key in INTS
        floats = bloomfam.Filter.build([1.5], "float8", 1e-9, "ribbon")
        self.assertTrue(all(answers(floats, [numpy.float16(1.5), numpy.float32(1.5), numpy.float64(1.5)])))
        self.assertIn(numpy.bool_(True), bloomfam.Filter.build([True], "bool", 1e-9, "ribbon"))
        self.assertIn(numpy.str_("a"), bloomfam.Filter.build(["a"], "text"))

    def test_moments(self):
        moment = dt.datetime(2024, 2, 29, 12, 34)
        known = bloomfam.Filter.build([moment], "timestamp", 1e-9, "ribbon")
        for unit in ("m", "s", "ms", "us", "ns"):
            keys = numpy.array([moment, "NaT", "1969-12-31T23:59"], "M8[%s]" % unit)
            self.assertEqual(answers(known, keys, nulls=False), [True, False, False], unit)
            self.assertEqual(answers(known, keys.astype(">M8[%s]" % unit)[::-1], nulls=True), [False, True, True])
            self.assertEqual(bloomfam.Filter.build(keys, "timestamp"), bloomfam.Filter.build([moment, dt.datetime(1969, 12, 31, 23, 59)], "timestamp"))
            self.assertIn(keys[0], known)
            with self.assertRaises(ValueError):
                known.may_contain(keys)
            with self.assertRaises(ValueError):
                keys[1] in known
        self.assertIn(numpy.datetime64("2024-02-29T12", "h"), bloomfam.Filter.build([moment.replace(minute=0)], "timestamp", 1e-9, "ribbon"))

        odd = numpy.array(["2024-02-29T12:34:00.000000001"], "M8[ns]")
        self.assertEqual(answers(known, odd), [False])
        with self.assertRaises(ValueError):
            bloomfam.Filter.build(odd, "timestamp")
        for unit in "Y", "M", "W", "ps", "as":
            with self.assertRaises(TypeError):
                known.may_contain(numpy.array([5], "M8[%s]" % unit))
        for keys in (numpy.array([5], "M8[10us]"), numpy.array(["NaT"], "M8"), numpy.array([5], "M8[D]"), numpy.array([5], "m8[s]")):
            with self.assertRaises(TypeError):
                known.may_contain(keys)
        with self.assertRaises(TypeError):
            bloomfam.Filter.build(keys, "timestamptz")

    def test_the_ends_of_time(self):
        # the largest numbers are moments to numpy, and infinity to nobody
        infinite = bloomfam.Filter.build(["infinity", "-infinity"], "timestamp", 1e-9, "ribbon")
        last = bloomfam.Filter.build(["294247-01-10 04:00:54.775807"], "timestamp", 1e-9, "ribbon")
        ends = [2 ** 63 - 1, -2 ** 63 + 1]
        for unit in ("h", "m", "s", "ms", "us", "ns"):
            keys = numpy.array(ends, "i8").view("M8[%s]" % unit)
            self.assertEqual(answers(infinite, keys), [False, False])
            self.assertEqual(answers(last, keys), [unit == "us", False])
            with self.assertRaises((ValueError, OverflowError)):
                bloomfam.Filter.build(keys, "timestamp")
        self.assertEqual(last, bloomfam.Filter.build(numpy.array(ends[:1], "i8").view("M8[us]"), "timestamp", 1e-9, "ribbon"))
        days = bloomfam.Filter.build(["infinity", "-infinity"], "date", 1e-9, "ribbon")
        self.assertEqual(answers(days, numpy.array(ends + [2 ** 31 - 1, -2 ** 31 + 1], "i8").view("M8[D]")), [False] * 4)

    def test_dates_and_durations(self):
        dates = [dt.date(2024, 2, 29), dt.date(1, 1, 1)]
        self.assertEqual(bloomfam.Filter.build(numpy.array(dates, "M8[D]"), "date"), bloomfam.Filter.build(dates, "date"))
        spans = [dt.timedelta(days=5), dt.timedelta(microseconds=-7), dt.timedelta(weeks=3)]
        self.assertEqual(bloomfam.Filter.build(numpy.array(spans, "m8[us]"), "interval"), bloomfam.Filter.build(spans, "interval"))
        self.assertEqual(bloomfam.Filter.build(numpy.array([3], "m8[W]"), "interval"), bloomfam.Filter.build(spans[2:], "interval"))
        self.assertEqual(answers(bloomfam.Filter.build(spans, "interval"), numpy.array(["NaT", 1], "m8[ns]"), nulls=True), [True, False])

    def test_masked(self):
        keys = numpy.ma.array([1, 5, 77], mask=[False, True, False])
        self.assertEqual(answers(INTS, keys, nulls=False), [True, False, False])
        with self.assertRaisesRegex(ValueError, "key 1 is NULL"):
            INTS.may_contain(keys)
        self.assertEqual(bloomfam.Filter.build(keys, "int"), bloomfam.Filter.build([1, 77], "int"))
        self.assertEqual(answers(INTS, numpy.ma.array([1, 5])), [True, True])
        self.assertEqual(answers(INTS, numpy.ma.array([1, 5] * 3000, mask=[0, 1] * 3000, dtype="i2")[::2], nulls=False), [True] * 3000)
        self.assertEqual(answers(INTS, numpy.ma.array([1, 5, "x"], object, mask=[0, 1, 1]), nulls=True), [True, True, True])
        texts = bloomfam.Filter.build(["a"], "text")
        self.assertEqual(answers(texts, numpy.ma.array(["a", "b"], mask=[1, 0]), nulls=True), [True, False])
        moments = numpy.ma.array(numpy.array(["2024-01-01", "2024-01-02"], "M8[s]"), mask=[1, 0])
        self.assertEqual(bloomfam.Filter.build(moments, "timestamp"), bloomfam.Filter.build([dt.datetime(2024, 1, 2)], "timestamp"))

    def test_large(self):
        keys = numpy.arange(0, 300000)
        known = bloomfam.Filter.build(keys[::3], "int", 1e-9, "ribbon")
        for same in (keys, keys.astype("i4"), keys.astype(">i8"), keys.astype("u4"), keys[::-1][::-1], list(range(300000))):
            found = known.may_contain(same)
            self.assertTrue(numpy.array_equal(found, keys % 3 == 0))
        null = keys % 7 == 0
        found = known.may_contain(numpy.ma.array(keys, mask=null), nulls=True)
        self.assertTrue(numpy.array_equal(found, (keys % 3 == 0) | null))


@unittest.skipIf(pandas is None, "no pandas")
class TestPandas(unittest.TestCase):
    def test_numbers(self):
        for dtype in ("int64", "int32", "uint8", "Int64", "Int16", "UInt32", "object", "category"):
            keys = pandas.Series([5, 100, 6], dtype=dtype)
            self.assertEqual(answers(INTS, keys), [True, True, False], dtype)
            self.assertEqual(answers(INTS, keys[1:]), [True, False], dtype)
            self.assertEqual(answers(INTS, pandas.Index(keys, dtype=keys.dtype)), [True, True, False])
            self.assertEqual(answers(INTS, keys.array), [True, True, False])
        for dtype in ("Int64", "UInt8", "object", "category"):
            keys = pandas.Series([5, None, 6], dtype=dtype)
            if dtype == "category":
                # of floats, as None made them
                keys = pandas.Series(pandas.Categorical.from_codes([0, -1, 1], [5, 6]))
            self.assertEqual(answers(INTS, keys, nulls=True), [True, True, False], dtype)
            with self.assertRaisesRegex(ValueError, "key 1 is NULL"):
                INTS.may_contain(keys)
            self.assertEqual(bloomfam.Filter.build(keys, "int"), bloomfam.Filter.build([5, 6], "int"))
        # NULLs have made floats of these
        with self.assertRaises(TypeError):
            INTS.may_contain(pandas.Series([5, None]))
        self.assertEqual(answers(INTS, pandas.RangeIndex(4)), [True, True, False, False])
        self.assertEqual(answers(INTS, pandas.Series(pandas.arrays.SparseArray([0, 0, 5, 6]))), [True, True, True, False])
        self.assertEqual(answers(INTS, pandas.Series([], dtype="Int64")), [])
        self.assertEqual(answers(INTS, pandas.Series([None, None], dtype="category"), nulls=True), [True, True])
        large = pandas.Series(range(10000), dtype="Int32").where(lambda key: key % 3 > 0)
        self.assertEqual(answers(INTS, large, nulls=True), [key % 3 == 0 or key in KEYS for key in range(10000)])

    def test_floats_and_bools(self):
        nan = float("nan")
        known = bloomfam.Filter.build([1.5, nan], "float8", 1e-9, "ribbon")
        # in a column of floats NaN is the key NaN
        self.assertEqual(answers(known, pandas.Series([1.5, nan, 2])), [True, True, False])
        self.assertEqual(answers(known, pandas.Series([1.5, nan, None], dtype=object), nulls=False), [True, True, False])
        self.assertEqual(answers(known, pandas.Series([1.5, None, 2], dtype="Float64"), nulls=False), [True, False, False])
        bools = bloomfam.Filter.build([True], "bool", 1e-9, "ribbon")
        self.assertEqual(answers(bools, pandas.Series([True, False, None], dtype="boolean"), nulls=True), [True, False, True])
        self.assertEqual(answers(bools, pandas.Series([True, False])), [True, False])

    def test_texts(self):
        known = bloomfam.Filter.build(["a", "é"], "text", 1e-9, "ribbon")
        for dtype in (object, "string", "category"):
            self.assertEqual(answers(known, pandas.Series(["a", None, "b", "é"], dtype=dtype), nulls=True), [True, True, False, True], dtype)
        self.assertEqual(answers(known, pandas.Series(["a", float("nan"), pandas.NA, pandas.NaT], dtype=object), nulls=False), [True, False, False, False])
        with self.assertRaises(TypeError):
            known.may_contain(pandas.Series(["a", 1.5], dtype=object))
        with self.assertRaises(TypeError):
            known.may_contain(["a", float("nan")])

    def test_decimals(self):
        known = bloomfam.Filter.build([Decimal("1.50"), Decimal("NaN")], "numeric", 1e-9, "ribbon")
        self.assertEqual(answers(known, pandas.Series([Decimal("1.5"), Decimal("NaN"), None, float("nan"), 2], dtype=object), nulls=False),
                         [True, True, False, False, False])

    def test_moments(self):
        moments = [dt.datetime(2024, 2, 29, 12), dt.datetime(1999, 1, 1)]
        known = bloomfam.Filter.build(moments[:1], "timestamp", 1e-9, "ribbon")
        keys = pandas.Series(moments + [None])
        self.assertEqual(answers(known, keys, nulls=False), [True, False, False])
        self.assertEqual(answers(known, pandas.DatetimeIndex(moments)), [True, False])
        self.assertEqual(answers(known, list(keys), nulls=True), [True, False, True])
        self.assertEqual(answers(known, keys.astype(object), nulls=True), [True, False, True])
        self.assertEqual(answers(known, keys.astype("category"), nulls=True), [True, False, True])
        self.assertNotIn(pandas.Timestamp("2024-02-29 12:00:00.000000001"), known)
        with self.assertRaises(ValueError):
            bloomfam.Filter.build([pandas.Timestamp("2024-02-29 12:00:00.000000001")], "timestamp")
        with self.assertRaises(ValueError):
            pandas.NaT in known
        aware = keys.dt.tz_localize("Europe/Berlin")
        with self.assertRaises(TypeError):
            known.may_contain(aware)
        with self.assertRaises(TypeError):
            aware[0] in known
        with self.assertRaises(TypeError):
            pandas.Timestamp(moments[0]) in bloomfam.Filter.build(["2024-02-29"], "date")
        zoned = bloomfam.Filter.build([moments[0].replace(hour=11, tzinfo=dt.timezone.utc)], "timestamptz", 1e-9, "ribbon")
        for keys in (aware, list(aware), pandas.DatetimeIndex(aware), aware.astype(object)):
            self.assertEqual(answers(zoned, keys, nulls=True), [True, False, True])
        with self.assertRaises(TypeError):
            zoned.may_contain(pandas.Series(moments))

    def test_durations(self):
        known = bloomfam.Filter.build([dt.timedelta(hours=5)], "interval", 1e-9, "ribbon")
        keys = pandas.Series([dt.timedelta(hours=5), None, dt.timedelta(hours=6)])
        self.assertEqual(answers(known, keys, nulls=True), [True, True, False])
        self.assertEqual(answers(known, list(keys), nulls=True), [True, True, False])
        self.assertNotIn(pandas.Timedelta(1, "ns"), known)

    def test_refused(self):
        for keys in (pandas.DataFrame({"a": [1]}), pandas.MultiIndex.from_tuples([(1, 2)]), pandas.period_range("2024", periods=2),
                     pandas.interval_range(0, 2), pandas.Series([[1]])):
            with self.assertRaises(TypeError, msg=repr(keys)):
                INTS.may_contain(keys)


if __name__ == "__main__":
    unittest.main()
