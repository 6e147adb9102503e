# SPDX-License-Identifier: PostgreSQL
"""What each family takes, cell by cell: a key, "certainly absent" for what no key can equal, or an error."""

import datetime as dt
import decimal
import enum
import ipaddress
import unittest
import uuid
from decimal import Decimal

import bloomfam

UTC = dt.timezone.utc
PLUS_2 = dt.timezone(dt.timedelta(hours=2))


class Colour(enum.IntEnum):
    RED = 7


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


# family -> the type's name; keys of it, each with other objects that are the same key; what no key of it can equal, with the error of
# building; what is unreadable, with the error.  Objects of other families are those of the other lines.
TABLE = {
    "int": ("bigint", [
        (5, [Decimal("5"), Decimal("5.00"), Decimal("0.5E+1"), Index(5)]),
        (7, [Colour.RED]),
        (0, [Decimal("-0"), Decimal("0E+50")]),
        (-1, []), (2 ** 63 - 1, [Decimal(2 ** 63 - 1)]), (-2 ** 63, [Decimal(-2 ** 63)])],
        [(2 ** 63, OverflowError), (-2 ** 63 - 1, OverflowError), (10 ** 5000, OverflowError), (Decimal(2 ** 63), OverflowError),
         (Decimal("1E+999999"), OverflowError), (Index(2 ** 70), OverflowError), (Decimal("5.5"), ValueError), (Decimal("NaN"), ValueError),
         (Decimal("-Infinity"), ValueError), (Decimal("1E-999999"), OverflowError)],
        [(Decimal("sNaN"), ValueError)]),
    "float": ("double precision", [
        (1.5, []), (0.0, [-0.0]), (float("nan"), [-float("nan")]), (float("inf"), []), (-float("inf"), []), (5e-324, [])], [], []),
    "numeric": ("numeric", [
        (Decimal("1.0"), [1, Decimal("1.00"), Decimal("0.1E+1"), Index(1)]),
        (0, [Decimal("-0.00"), Decimal("0E-600")]),
        (10 ** 30, [Decimal("1E+30"), Decimal("1000000000000000000000000000000.0")]),
        (10 ** 6000, [Decimal("1E+6000")]),
        (Decimal("NaN"), [Decimal("NaN123"), -Decimal("NaN")]), (Decimal("Infinity"), []), (Decimal("-Infinity"), []),
        (Decimal("-0.00000000000000000000012345"), [Decimal("-12345E-26")]),
        (Decimal("1E+131071"), []), (Decimal("1E-16383"), [])],
        [(Decimal("1E+131072"), OverflowError), (Decimal("1E+999999999999999999"), OverflowError), (Decimal("1E-16384"), OverflowError),
         (10 ** 140000, OverflowError), (10 ** 10 ** 6, OverflowError)],
        [(Decimal("sNaN"), ValueError)]),
    "text": ("text", [
        ("a", ["a  ", "a "]), ("", [" "]), ("é日𝄞", []), ("e\u0301", []), ("x" * 100000, []), (" a", []), ("a\t", [])],
        [("a\0", ValueError), ("\0", ValueError), ("\ud800", ValueError), ("a\udfff b", ValueError)], []),
    "bool": ("boolean", [(True, []), (False, [])], [], []),
    "bytea": ("bytea", [(b"", []), (b"\0a\xff", [bytearray(b"\0a\xff"), memoryview(b"\0a\xff"), memoryview(b"\xff.a.\0")[::-2]]),
                        (b"a ", [])], [], []),
    "uuid": ("uuid", [(uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]), (uuid.UUID(int=0), [])], [],
             [("a0eebc99", ValueError), ("", ValueError), ("\ud800", ValueError)]),
    "date": ("date", [(dt.date(2024, 2, 29), ["2024-02-29"]), (dt.date.min, ["0001-01-01"]), (dt.date.max, ["9999-12-31"])], [],
             [("29.2.2024", ValueError), ("2023-02-29", ValueError)]),
    "time": ("time", [(dt.time(12, 34, 56, 789000), ["12:34:56.789"]), (dt.time(0), ["00:00:00"]), (dt.time(23, 59, 59, 999999), [])], [],
             [("noon", ValueError)]),
    "timetz": ("timetz", [
        (dt.time(12, 34, 56, 789000, PLUS_2), ["12:34:56.789+02"]),
        (dt.time(1, 2, 3, tzinfo=dt.timezone(dt.timedelta(hours=-3, minutes=-30))), ["01:02:03-03:30"]),
        (dt.time(0, 0, tzinfo=dt.timezone(dt.timedelta(seconds=61))), ["00:00:00+00:01:01"]),
        (dt.time(0, 0, tzinfo=UTC), ["00:00:00+00"])],
        [(dt.time(0, tzinfo=dt.timezone(dt.timedelta(microseconds=1))), ValueError),
         (dt.time(0, tzinfo=dt.timezone(dt.timedelta(hours=16))), ValueError), (dt.time(0, tzinfo=dt.timezone(-dt.timedelta(hours=23))), ValueError)],
        [("12:34:56.789", ValueError)]),
    "timestamp": ("timestamp", [
        (dt.datetime(2024, 2, 29, 12), ["2024-02-29 12:00:00"]), (dt.datetime(1999, 12, 31, 23, 59, 59, 999999), []),
        (dt.datetime.min, []), (dt.datetime.max, [])], [], [("yesterday", ValueError)]),
    "timestamptz": ("timestamptz", [
        (dt.datetime(2024, 2, 29, 12, tzinfo=UTC), [dt.datetime(2024, 2, 29, 14, tzinfo=PLUS_2), "2024-02-29 12:00:00+00", "2024-02-29 14:00:00+02"]),
        (dt.datetime(1, 1, 1, tzinfo=PLUS_2), [])], [], [("2024-02-29 12:00:00", ValueError)]),
    "interval": ("interval", [
        (dt.timedelta(days=30), ["1 mon", "30 days"]), (dt.timedelta(microseconds=-1), ["-00:00:00.000001"]), (dt.timedelta.max, []),
        (dt.timedelta.min, ["-999999999 days"]), (dt.timedelta(days=106751992), ["106751992 days"])], [], [("soon", ValueError)]),
    "oid": ("oid", [(0, []), (2 ** 32 - 1, [Index(2 ** 32 - 1)])], [], [(2 ** 32, OverflowError), (-1, OverflowError), (2 ** 70, OverflowError)]),
    "inet": ("inet", [
        (ipaddress.ip_address("10.1.2.3"), ["10.1.2.3", ipaddress.ip_interface("10.1.2.3/32"), ipaddress.ip_network("10.1.2.3/32")]),
        (ipaddress.ip_interface("10.1.2.3/8"), ["10.1.2.3/8"]), (ipaddress.ip_network("10.0.0.0/8"), ["10.0.0.0/8"]),
        (ipaddress.ip_address("2001:db8::1"), ["2001:db8::1", ipaddress.ip_interface("2001:db8::1/128")]),
        (ipaddress.ip_address("::ffff:10.1.2.3"), ["::ffff:10.1.2.3"]), (ipaddress.ip_network("2001:db8::/32"), []),
        (ipaddress.ip_address("::"), ["::"])],
        [(ipaddress.ip_address("fe80::1%eth0"), ValueError)], [("10.1.2", ValueError)]),
    "macaddr": ("macaddr", [("08:00:2b:01:02:03", [])], [], [("08", ValueError)]),
    "macaddr8": ("macaddr8", [("08:00:2b:01:02:03:04:05", [])], [], [("08", ValueError)]),
    "pg_lsn": ("pg_lsn", [("16/B374D848", [])], [], [("16", ValueError)]),
    "bit": ("bit", [("101", []), ("", [])], [], [("102", ValueError)]),
    'enum "public"."mood"': ('enum "public"."mood"', [("ok", []), ("sad", [])], [("\ud800", ValueError)], []),
}

# families that take str as something else than its characters, so that a str of another family is unreadable, not of a wrong type
READ_STR = {"uuid", "date", "time", "timetz", "timestamp", "timestamptz", "interval", "inet", "macaddr", "macaddr8", "pg_lsn", "bit"}


def samples():
    """An object of each Python type, as the first key of a line, or another object that is the same key."""
    for family, (_, keys, _, _) in TABLE.items():
        for key, same in keys:
            yield from ((family, other) for other in [key] + same)


def takes(family, key):
    """Is this object, by its type, one that the family takes?"""
    if isinstance(key, str):
        return family in READ_STR or family == "text" or family.startswith("enum")
    return type(key) in {
        "int": {int, Decimal, Index, Colour}, "oid": {int, Index, Colour}, "numeric": {int, Decimal, Index, Colour}, "float": {float},
        "bool": {bool}, "bytea": {bytes, bytearray, memoryview}, "uuid": {uuid.UUID}, "date": {dt.date}, "time": {dt.time},
        "timetz": {dt.time}, "timestamp": {dt.datetime}, "timestamptz": {dt.datetime}, "interval": {dt.timedelta},
        "inet": {ipaddress.IPv4Address, ipaddress.IPv4Interface, ipaddress.IPv4Network, ipaddress.IPv6Address, ipaddress.IPv6Interface,
                 ipaddress.IPv6Network}}.get(family, set())


def show(key):
    # not all of a long one; and Python refuses to write an int of many digits
    return "%.60s" % (hex(key) if type(key) is int else repr(key))


class TestTypes(unittest.TestCase):

    def test_a_key_is_found_however_it_is_given(self):
        for family, (name, keys, impossible, unreadable) in TABLE.items():
            with self.subTest(family=family):
                known = bloomfam.Filter.build([key for key, _ in keys], name, 1e-9, "ribbon")
                self.assertEqual(known.family, family)
                for key, same in keys:
                    for other in [key] + same:
                        self.assertIn(other, known, "%s for %s" % (show(other), show(key)))
                    self.assertEqual(list(known.may_contain([key] + same)), [True] * (len(same) + 1))
                    self.assertEqual(list(known.may_contain(tuple([key] + same + [None]), nulls=False)), [True] * (len(same) + 1) + [False])

    def test_same_keys_make_the_same_filter(self):
        for family, (name, keys, impossible, unreadable) in TABLE.items():
            with self.subTest(family=family):
                for key, same in keys:
                    bytes_ = {bytes(bloomfam.Filter.build([other], name, 0.001, "standard")) for other in [key] + same}
                    self.assertEqual(len(bytes_), 1, show(key))

    def test_different_keys_are_told_apart(self):
        for family, (name, keys, impossible, unreadable) in TABLE.items():
            with self.subTest(family=family):
                for key, _ in keys:
                    known = bloomfam.Filter.build([key], name, 1e-9, "ribbon")
                    for other, _ in keys:
                        self.assertEqual(other in known, other is key, "%s in a filter of %s" % (show(other), show(key)))

    def test_impossible_keys(self):
        for family, (name, keys, impossible, unreadable) in TABLE.items():
            with self.subTest(family=family):
                known = bloomfam.Filter.build([key for key, _ in keys], name)
                for key, error in impossible:
                    self.assertNotIn(key, known)
                    self.assertEqual(list(known.may_contain([key, keys[0][0], key])), [False, True, False])
                    for keys_ in ([key], (keys[0][0], key)):
                        with self.assertRaises(error, msg="building of " + show(key)):
                            bloomfam.Filter.build(keys_, name)

    def test_unreadable_keys(self):
        for family, (name, keys, impossible, unreadable) in TABLE.items():
            with self.subTest(family=family):
                known = bloomfam.Filter.build([key for key, _ in keys], name)
                for key, error in unreadable:
                    for call in (lambda: key in known, lambda: known.may_contain([keys[0][0], key]), lambda: bloomfam.Filter.build([key], name)):
                        with self.assertRaises(error, msg=show(key)):
                            call()

    def test_other_types_are_errors(self):
        cells = 0
        for family, (name, keys, impossible, unreadable) in TABLE.items():
            with self.subTest(family=family):
                known = bloomfam.Filter.build([key for key, _ in keys], name)
                for other, key in samples():
                    if takes(family, key):
                        continue
                    cells += 1
                    for call in (lambda: key in known, lambda: known.may_contain([key]), lambda: known.may_contain([keys[0][0], key]),
                                 lambda: bloomfam.Filter.build([key], name)):
                        with self.assertRaises(TypeError, msg="%s of %s in %s" % (show(key), other, family)):
                            call()
                for key in (object(), [], {}, type, 1j, ..., known):
                    with self.assertRaises(TypeError, msg="%s in %s" % (show(key), family)):
                        key in known
        self.assertGreater(cells, 500)

    def test_naive_and_aware(self):
        for name, key in (("timestamp", dt.datetime(2024, 1, 1, tzinfo=UTC)), ("timestamptz", dt.datetime(2024, 1, 1)),
                          ("time", dt.time(1, tzinfo=UTC)), ("timetz", dt.time(1))):
            with self.assertRaisesRegex(TypeError, "time zone"):
                bloomfam.Filter.build([key], name)

    def test_zones_of_the_caller(self):
        class Odd(dt.tzinfo):
            def __init__(self, offset):
                self.offset = offset

            def utcoffset(self, when):
                if isinstance(self.offset, Exception):
                    raise self.offset
                return self.offset

        noon = dt.datetime(2024, 2, 29, 12)
        known = bloomfam.Filter.build([noon.replace(tzinfo=UTC)], "timestamptz", 1e-9, "ribbon")
        self.assertIn(noon.replace(hour=13, tzinfo=Odd(dt.timedelta(hours=1))), known)
        self.assertNotIn(noon.replace(hour=13, tzinfo=Odd(dt.timedelta(hours=1, microseconds=1))), known)
        with self.assertRaises(KeyError):
            noon.replace(tzinfo=Odd(KeyError("no zone"))) in known
        with self.assertRaises(TypeError):
            noon.replace(tzinfo=Odd(None)) in known
        with self.assertRaises(TypeError):
            noon.replace(tzinfo=Odd("an hour")) in known
        with self.assertRaises((TypeError, ValueError)):
            dt.time(12, tzinfo=Odd(dt.timedelta(days=5))) in bloomfam.Filter.build(["12:00:00+00"], "timetz")

    def test_subclasses_cannot_change_what_a_key_is(self):
        class MyDecimal(Decimal):
            def __str__(self):
                return "99"

        class MyStr(str):
            def __str__(self):
                return "b"

        class MyInt(int):
            def __index__(self):
                return 9

            __int__ = __index__

        class MyDate(dt.datetime):
            def __sub__(self, other):
                return dt.timedelta(0)

        for name, key, same in (("numeric", Decimal("1.5"), MyDecimal("1.5")), ("int", 4, MyDecimal(4)), ("text", "a", MyStr("a")), ("int", 4, MyInt(4)),
                                ("timestamp", dt.datetime(2024, 1, 1), MyDate(2024, 1, 1))):
            self.assertEqual(bloomfam.Filter.build([key], name), bloomfam.Filter.build([same], name))

    def test_decimals_do_not_depend_on_the_context(self):
        with decimal.localcontext() as context:
            context.prec = 2
            context.Emax = 3
            known = bloomfam.Filter.build([Decimal("123456.789"), 10 ** 40 + 1], "numeric", 1e-9, "ribbon")
        self.assertIn(Decimal("123456.789"), known)
        self.assertIn(Decimal(10 ** 40 + 1), known)
        self.assertNotIn(Decimal(10 ** 40), known)


class TestReal(unittest.TestCase):
    def test_what_no_real_equals(self):
        """A real column holds another number than the double that its text reads as."""
        for keys in ([0.1], [1.5, 0.1]):
            with self.assertRaises(ValueError):
                bloomfam.Filter.build(keys, "real")
        self.assertEqual(bloomfam.Filter.build([1.5, float("nan"), float("inf"), -0.0, 2.0 ** -149], "real").keys, 5)
        with self.assertRaises(ValueError):
            bloomfam.Filter.build([1e300], "real")
        self.assertNotIn(0.1, bloomfam.Filter.build([1.5], "real", 1e-9, "ribbon"))


class TestNulls(unittest.TestCase):
    def test_asking(self):
        known = bloomfam.Filter.build([1, 2], "int", 1e-9, "ribbon")
        with self.assertRaisesRegex(ValueError, "NULL"):
            None in known
        with self.assertRaisesRegex(ValueError, "key 2 is NULL"):
            known.may_contain([1, 3, None])
        with self.assertRaisesRegex(ValueError, "key 2 is NULL"):
            known.may_contain([1, 3, None], nulls="raise")
        self.assertEqual(list(known.may_contain([1, 3, None], nulls=False)), [True, False, False])
        self.assertEqual(list(known.may_contain([1, 3, None], nulls=True)), [True, False, True])
        self.assertEqual(list(known.may_contain([None, None, 1], True)), [True, True, True])
        for nulls in (None, 0, 1, "drop", object()):
            with self.assertRaises(ValueError):
                known.may_contain([1], nulls=nulls)

    def test_building_passes_over_them(self):
        self.assertEqual(bloomfam.Filter.build([None, 1, None], "int"), bloomfam.Filter.build([1], "int"))
        self.assertEqual(bloomfam.Filter.build([None], "int").kind, "identity")

    def test_impossible_among_null(self):
        known = bloomfam.Filter.build(["a"], "text", 1e-9, "ribbon")
        self.assertEqual(list(known.may_contain(["\0", None, "\ud800", "a", None], nulls=True)), [False, True, False, True, True])


class TestNames(unittest.TestCase):
    def test_where_the_server_cuts(self):
        known = bloomfam.Filter.build(["a" * 63, "é" * 31], "name", 1e-9, "ribbon")
        self.assertEqual(known, bloomfam.Filter.build(["a" * 70, "é" * 31], "name", 1e-9, "ribbon"))
        self.assertIn("é" * 31, known)
        # its encoding says
        with self.assertRaisesRegex(ValueError, "encoding"):
            bloomfam.Filter.build(["é" * 32], "name")


class TestParquet(unittest.TestCase):
    def test_two_types_of_one_name(self):
        with self.assertRaisesRegex(ValueError, "double precision in SQL, and real in Parquet"):
            bloomfam.Filter.build([1.5], "float", 0.01, "parquet")

    def test_no_keys(self):
        self.assertEqual(bloomfam.Filter.build([], "bigint", 0.01, "parquet"), bloomfam.Filter.build([], "bigint"))

    def test_families(self):
        for name, family, keys, absent in (
                ("integer", "parquet int32", [1, -1, 2 ** 31 - 1, Decimal(7)], [2 ** 31, 2 ** 63, Decimal("1.5")]),
                ("bigint", "parquet int64", [1, -1, 2 ** 63 - 1], [2 ** 63]),
                ("real", "parquet float", [1.5, -0.0, float("nan")], [0.1]),
                ("double precision", "parquet double", [0.1, float("inf")], []),
                ("date", "parquet date", [dt.date(1969, 12, 31)], []),
                ("timestamp", "parquet timestamp(6)", [dt.datetime(1969, 12, 31)], []),
                ("text", "parquet text", ["a", "é"], ["a ", "\0"]),
                ("bytea", "parquet bytea", [b"a"], []),
                ("uuid", "parquet uuid", [uuid.UUID(int=5)], []),
                ("numeric(9,2)", "parquet decimal(9,2)", [Decimal("1.50"), 3], [Decimal("1.505"), Decimal("1E+30")])):
            with self.subTest(name):
                known = bloomfam.Filter.build(keys, name, 1e-4, "parquet")
                self.assertEqual(known.family, family)
                self.assertTrue(all(known.may_contain(keys)))
                self.assertFalse(any(known.may_contain(absent)))
                for key in absent:
                    if not (name == "text" and key == "a "):
                        with self.assertRaises((ValueError, OverflowError)):
                            bloomfam.Filter.build([key], name, 1e-4, "parquet")
                with self.assertRaises(TypeError):
                    object() in known


if __name__ == "__main__":
    unittest.main()
