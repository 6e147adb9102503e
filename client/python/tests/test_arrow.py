# SPDX-License-Identifier: PostgreSQL
"""Arrow's capsules, of an own producer: every layout, and what is wrong with one."""

import datetime as dt
import gc
import unittest
import uuid
from decimal import Decimal

from . import arrow_producer as arrow

import bloomfam


def answers(known, keys, **options):
    return [bool(answer) for answer in known.may_contain(keys, **options)]


def ribbon(keys, type):
    return bloomfam.Filter.build(keys, type, 1e-9, "ribbon")


class TestArrow(unittest.TestCase):
    def setUp(self):
        gc.collect()
        self.before = arrow.alive()

    def tearDown(self):
        gc.collect()
        self.assertEqual(arrow.alive(), self.before, "not all was released")

    def check(self, make, type, values, others=()):
        """make(values, before) is an array of values of the type; others are no keys of the filter."""
        known = ribbon(values, type)
        keys = list(values) + [None] + list(others)
        expected = [True] * len(values) + [None] + [False] * len(others)
        for before in (0, 1, 9):
            array = make(keys, before)
            self.assertEqual(answers(known, array, nulls=False), [bool(answer) for answer in expected])
            self.assertEqual(answers(known, array, nulls=True), [answer is not False for answer in expected])
            with self.assertRaisesRegex(ValueError, "key %d is NULL" % len(values)):
                known.may_contain(array)
            self.assertEqual(bloomfam.Filter.build(make(list(values), before), type, 1e-9, "ribbon"), known)
            self.assertEqual(answers(known, arrow.Stream([array, make(list(values), 0), make([], 0), array]), nulls=False),
                             [bool(answer) for answer in expected + [True] * len(values) + expected])
        self.assertEqual(answers(known, make([], 0)), [])
        large = make(keys * 3000, 3)
        self.assertEqual(answers(known, large, nulls=True), [answer is not False for answer in expected] * 3000)

    def test_integers(self):
        for format, code in zip("cCsSiIlL", "bBhHiIqQ"):
            with self.subTest(format):
                self.check(lambda keys, before: arrow.numbers(format, code, keys, before), "int", [5, 0, 100], [7])
        self.check(lambda keys, before: arrow.numbers("l", "q", keys, before), "numeric", [5, -3], [7])
        known = ribbon([5], "int")
        self.assertEqual(answers(known, arrow.numbers("L", "Q", [2 ** 64 - 1, 5])), [False, True])
        with self.assertRaises(OverflowError):
            bloomfam.Filter.build(arrow.numbers("L", "Q", [5, 2 ** 63]), "int")

    def test_floats_and_bools(self):
        for format, code in (("f", "f"), ("g", "d")):
            self.check(lambda keys, before: arrow.numbers(format, code, keys, before), "float8", [1.5, 0.0, float("inf")], [2.0])
        self.check(arrow.bools, "bool", [True], [False])

    def test_texts_and_bytes(self):
        for format in ("u", "U", "vu"):
            with self.subTest(format):
                self.check(lambda keys, before: arrow.strings(format, keys, before), "text", ["a", "", "é", "more than twelve bytes", "twelve bytes"], ["b"])
                known = ribbon(["a"], "text")
                self.assertEqual(answers(known, arrow.strings(format, ["a  ", "a\0", b"a"])), [True, False, True])
                for call in (lambda: known.may_contain(arrow.strings(format, ["a", b"\xff"])),
                             lambda: bloomfam.Filter.build(arrow.strings(format, [b"\xed\xa0\x80"]), "text")):
                    with self.assertRaises(ValueError):
                        call()
        for format in ("z", "Z", "vz"):
            self.check(lambda keys, before: arrow.strings(format, keys, before), "bytea", [b"\0\xff", b"", b"more than twelve bytes"], [b"b"])

    def test_fixed(self):
        ids = [uuid.UUID(int=i * 12345678901234567890) for i in range(5)]
        self.check(lambda keys, before: arrow.fixed(16, [k and k.bytes for k in keys], before), "uuid", ids[:4], ids[4:])
        self.check(lambda keys, before: arrow.fixed(3, keys, before), "bytea", [b"abc"], [b"abd"])
        with self.assertRaises(ValueError):
            ribbon(ids, "uuid").may_contain(arrow.fixed(15, [bytes(15)]))

    def test_decimals(self):
        def make(keys, before):
            return arrow.decimals(38, 2, [k if k is None else int(k * 100) for k in keys], before)

        self.check(make, "numeric", [Decimal("1.50"), Decimal(0), Decimal("-99999999999999999999.99")], [Decimal(7)])
        self.check(make, "int", [5, -7], [8])
        self.check(lambda keys, before: arrow.decimals(38, -3, [k and k // 1000 for k in keys], before), "numeric", [5000], [6000])
        self.assertEqual(answers(ribbon([5], "int"), arrow.decimals(38, 2, [500, 505, 10 ** 37])), [True, False, False])

    def test_times(self):
        epoch = dt.datetime(1970, 1, 1)
        moments = [dt.datetime(2024, 2, 29, 12), dt.datetime(1960, 1, 1)]
        for unit, times in (("s", 1), ("m", 10 ** 3), ("u", 10 ** 6), ("n", 10 ** 9)):
            def make(keys, before, zone=""):
                return arrow.numbers("ts%s:%s" % (unit, zone), "q", [k and (k.replace(tzinfo=None) - epoch) // dt.timedelta(seconds=1) * times for k in keys], before)

            with self.subTest(unit):
                self.check(make, "timestamp", moments[:1], moments[1:])
                utc = [moment.replace(tzinfo=dt.timezone.utc) for moment in moments]
                for zone in ("UTC", "Europe/Berlin", "+01:00"):
                    self.check(lambda keys, before: make(keys, before, zone), "timestamptz", utc[:1], utc[1:])
                with self.assertRaises(TypeError):
                    ribbon(utc, "timestamptz").may_contain(make(moments, 0))
                with self.assertRaises(TypeError):
                    ribbon(moments, "timestamp").may_contain(make(moments, 0, "UTC"))
                spans = [dt.timedelta(days=3), dt.timedelta(0)]
                self.check(lambda keys, before: arrow.numbers("tD" + unit, "q", [k and k // dt.timedelta(seconds=1) * times for k in keys], before), "interval",
                           spans[:1], [dt.timedelta(days=4)])
                code = "q" if unit in "un" else "i"
                self.check(lambda keys, before: arrow.numbers("tt" + unit, code, [k and (k.hour * 3600 + k.minute * 60) * times for k in keys], before), "time",
                           [dt.time(12, 34)], [dt.time(3)])
        known = ribbon(moments, "timestamp")
        self.assertEqual(answers(known, arrow.numbers("tsn:", "q", [1])), [False])
        with self.assertRaises(ValueError):
            bloomfam.Filter.build(arrow.numbers("tsn:", "q", [1]), "timestamp")

    def test_dates(self):
        epoch = dt.date(1970, 1, 1)
        self.check(lambda keys, before: arrow.numbers("tdD", "i", [k and (k - epoch).days for k in keys], before), "date", [dt.date(2024, 2, 29)], [dt.date(1, 1, 1)])
        self.check(lambda keys, before: arrow.numbers("tdm", "q", [k and (k - epoch).days * 86400000 for k in keys], before), "date", [dt.date(2024, 2, 29)],
                   [dt.date(1, 1, 1)])

    def test_dictionaries(self):
        for index_format, code in zip("cCsSiIlL", "bBhHiIqQ"):
            values = ["a", "b", None, "long enough to be elsewhere"]
            for format in ("u", "U", "vu"):
                def make(keys, before):
                    return arrow.dictionary(index_format, code, [k if k is None else values.index(k) for k in keys], arrow.strings(format, values, 3), before)

                self.check(make, "text", ["a", "long enough to be elsewhere"], ["b"])
            # a NULL in the dictionary
            array = arrow.dictionary(index_format, code, [0, 2, 1], arrow.strings("u", values))
            self.assertEqual(answers(ribbon(["a"], "text"), array, nulls=True), [True, True, False])
        for index in (4, -1, 2 ** 62):
            array = arrow.dictionary("l", "q", [0, index], arrow.strings("u", values))
            with self.assertRaises(ValueError):
                ribbon(["a"], "text").may_contain(array)
            with self.assertRaises((ValueError, OverflowError)):
                bloomfam.Filter.build(array, "text")

    def test_nulls(self):
        known = ribbon([1], "int")
        self.assertEqual(answers(known, arrow.nulls(3), nulls=True), [True] * 3)
        self.assertEqual(answers(known, arrow.nulls(3), nulls=False), [False] * 3)
        with self.assertRaises(ValueError):
            known.may_contain(arrow.nulls(3))
        self.assertEqual(bloomfam.Filter.build(arrow.nulls(3), "int").kind, "identity")

    def test_other_families(self):
        known = ribbon([1], "int")
        for array in (arrow.strings("u", ["1"]), arrow.numbers("g", "d", [1.0]), arrow.bools([True]), arrow.numbers("tdD", "i", [1]), arrow.strings("z", [b"1"]),
                      arrow.numbers("tsu:", "q", [1])):
            for keys in (array, arrow.Stream([array])):
                with self.assertRaises(TypeError):
                    known.may_contain(keys)
                with self.assertRaises(TypeError):
                    bloomfam.Filter.build(keys, "int")

    def test_wrong_arrays(self):
        known = ribbon([1], "int")
        good = [None, bytes(16)]
        for array in (
                arrow.Array("+s", 2, [None], schema_children=0), arrow.Array("+l", 2, good), arrow.Array("+r", 2, []), arrow.Array("q", 2, good),
                arrow.Array("", 2, good), arrow.Array(None, 2, good), arrow.Array("ll", 2, good), arrow.Array("d:", 2, good), arrow.Array("d:x,y", 2, good),
                arrow.Array("d:76,2,256", 2, [None, bytes(64)]), arrow.Array("w:", 2, good), arrow.Array("w:-1", 2, good),
                arrow.Array("w:99999999999999999999", 2, good), arrow.Array("ts", 2, good), arrow.Array("tsx:", 2, good), arrow.Array("tt", 2, good),
                arrow.Array("l", 2, [None]), arrow.Array("l", 2, []), arrow.Array("l", 2, [None, None]), arrow.Array("l", 2, good, n_buffers=-1),
                arrow.Array("l", 2, good, n_buffers=2 ** 62), arrow.Array("l", 2, good, no_buffers=True), arrow.Array("l", -1, good),
                arrow.Array("l", 2, good, offset=-1), arrow.Array("l", 2 ** 62, good), arrow.Array("l", 1, good, offset=2 ** 63 - 1),
                arrow.Array("u", 2, [None, None, None]),
                arrow.Array("vu", 1, [None, bytes(16)]), arrow.Array("l", 2, good, released="schema"), arrow.Array("l", 2, good, released="array"),
                arrow.Array("l", 2, good, swapped=True)):
            what = "%r %r %r" % (array.format, array.length, array.wrong)
            with self.assertRaises((TypeError, ValueError, MemoryError), msg=what):
                known.may_contain(array)
            with self.assertRaises((TypeError, ValueError, MemoryError), msg=what):
                bloomfam.Filter.build(array, "int")

    def test_a_number_that_may_be_infinity(self):
        column = arrow.numbers("tsu:", "q", [2 ** 63 - 1, 0])
        for key in ("infinity", "294247-01-10 04:00:54.775807"):
            self.assertEqual(answers(ribbon([key], "timestamp"), column), [True, False])
        self.assertEqual(answers(ribbon(["2024-01-01 00:00:00"], "timestamp"), column), [False, False])
        with self.assertRaisesRegex(ValueError, "infinity to some"):
            bloomfam.Filter.build(column, "timestamp")
        column = arrow.numbers("tdD", "i", [2 ** 31 - 1])
        self.assertEqual(bloomfam.Filter.build(column, "date"), bloomfam.Filter.build(["infinity"], "date"))

    def test_offsets_where_batches_meet(self):
        known = ribbon(["aa"], "text")
        import struct

        for wild in (10 ** 9, -1, 5000):
            offsets = [2 * i for i in range(2001)]
            for row in (511, 512, 513, 1024):
                array = arrow.Array("u", 2000, [None, struct.pack("2001i", *(offsets[:row] + [wild] + offsets[row + 1:])), b"a" * 4000])
                with self.assertRaises(ValueError):
                    known.may_contain(array)

    def test_wrong_texts(self):
        known = ribbon(["a"], "text")
        import struct

        for array in (arrow.Array("u", 2, [None, struct.pack("3i", 0, 5, 1), b"abcde"]), arrow.Array("U", 1, [None, struct.pack("2q", -5, 1), b"abcde"]),
                      arrow.Array("vu", 1, [None, struct.pack("=i4sii", 50, b"abcd", 0, 0), b"x" * 20, struct.pack("q", 20)]),
                      arrow.Array("vu", 1, [None, struct.pack("=i4sii", 20, b"abcd", 1, 0), b"x" * 20, struct.pack("q", 20)]),
                      arrow.Array("vu", 1, [None, struct.pack("=i4sii", -20, b"abcd", 0, 0), b"x" * 20, struct.pack("q", 20)])):
            with self.assertRaises(ValueError):
                known.may_contain(array)

    def test_streams(self):
        known = ribbon([1], "int")
        one = arrow.numbers("l", "q", [1, 2])
        self.assertEqual(answers(known, arrow.Stream([one] * 3)), [True, False] * 3)
        self.assertEqual(answers(known, arrow.Stream([], schema=one)), [])
        with self.assertRaisesRegex(OSError, "the disk is gone"):
            known.may_contain(arrow.Stream([one, one], fails="next"))
        with self.assertRaisesRegex(OSError, "the disk is gone"):
            known.may_contain(arrow.Stream([one], fails="schema"))
        self.assertEqual(answers(known, arrow.Stream([one], fails="silent")), [True, False])
        for fails in ("no function", "released"):
            with self.assertRaises(ValueError):
                known.may_contain(arrow.Stream([one], fails=fails))
        with self.assertRaises(TypeError):
            known.may_contain(arrow.Stream([arrow.Array("+s", 2, [None])]))
        with self.assertRaises((ValueError, TypeError)):
            known.may_contain(arrow.Stream([one, arrow.Array("l", 2, [None])]))

    def test_wrong_capsules(self):
        known = ribbon([1], "int")
        good = arrow.numbers("l", "q", [1])

        class Wrong:
            def __init__(self, value):
                self.value = value

            def __arrow_c_array__(self, requested_schema=None):
                if isinstance(self.value, Exception):
                    raise self.value
                return self.value

        class WrongStream:
            def __arrow_c_stream__(self, requested_schema=None):
                return self.value

        for value in (None, 5, (), (1, 2), (None, None), good.__arrow_c_array__()[:1], [1, 2]):
            with self.assertRaises((TypeError, ValueError)):
                known.may_contain(Wrong(value))
            stream = WrongStream()
            stream.value = value
            with self.assertRaises((TypeError, ValueError)):
                known.may_contain(stream)
        with self.assertRaises(KeyError):
            known.may_contain(Wrong(KeyError("mine")))
        # once only
        capsules = good.__arrow_c_array__()
        self.assertEqual(answers(known, Wrong(capsules)), [True])
        with self.assertRaises(ValueError):
            known.may_contain(Wrong(capsules))


if __name__ == "__main__":
    unittest.main()
