# SPDX-License-Identifier: PostgreSQL
"""Filters as values: forms, bytes, equality, pickling, unions, files."""

import array
import copy
import mmap
import os
import pathlib
import pickle
import random
import re
import tempfile
import unittest

import bloomfam

FORMAT_PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "format.md"
SMALL = bloomfam.Filter.build([1, 2, 3], "int")
# the bytes of these depend on the set of keys alone
KINDS = ["standard", "partitioned", "blocked", "parquet", "counting", "scalable", "cuckoo", "xor", "xor_plus", "binary_fuse", "ribbon"]


class TestForms(unittest.TestCase):
    def test_all_forms(self):
        data = bytes(SMALL)
        digits = "\\x" + data.hex()
        copy_binary = b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"\0\1" + len(data).to_bytes(4, "big") + data + b"\xff\xff"
        for value in (data, bytearray(data), memoryview(data), memoryview(bytearray(b"." + data))[1:], array.array("B", data), digits,
                      digits.encode(), digits + "\n", "\\" + digits, copy_binary, SMALL):
            self.assertEqual(bloomfam.Filter(value), SMALL)
        self.assertIs(bloomfam.Filter(SMALL), SMALL)

    def test_what_is_none(self):
        data = bytes(SMALL)
        for value in (b"", b"bfam", data[:-1], data + b"\0", data[:79], "", "\\x", "\\x6", "bfam", "\\xé", "\ud800", data.hex(),
                      data.decode("latin-1")):
            with self.assertRaises(bloomfam.InvalidFilterError, msg=repr(value)):
                bloomfam.Filter(value)
        for value in (None, 5, [1], object()):
            with self.assertRaises(TypeError):
                bloomfam.Filter(value)
        with self.assertRaises(TypeError):
            bloomfam.Filter()
        with self.assertRaises((BufferError, TypeError)):
            bloomfam.Filter(memoryview(data)[::2])

    def test_every_changed_byte_is_seen(self):
        data = bytes(SMALL)
        for i in range(len(data)):
            for change in (1, 0x80, 0xff):
                changed = bytearray(data)
                changed[i] ^= change
                with self.assertRaises(bloomfam.InvalidFilterError):
                    bloomfam.Filter(changed)

    def test_a_buffer_may_change_afterwards(self):
        data = bytearray(bytes(SMALL))
        for value in (data, memoryview(data), memoryview(data).toreadonly()):
            known = bloomfam.Filter(value)
            saved = data[:]
            data[:] = bytes(len(data))
            self.assertEqual(known, SMALL)
            data[:] = saved

    def test_errors_are_of_their_classes(self):
        self.assertTrue(issubclass(bloomfam.InvalidFilterError, ValueError))
        self.assertTrue(issubclass(bloomfam.NotAskableError, TypeError))


class TestValue(unittest.TestCase):
    def test_members(self):
        known = bloomfam.Filter.build([1, 2, 2, 3], "bigint", 0.001, "standard", 1000)
        self.assertEqual((known.kind, known.family, known.fpr, known.keys, known.capacity), ("standard", "int", 0.001, 4, 1000))
        self.assertEqual(known.size, len(bytes(known)))
        self.assertEqual(repr(known), "<bloomfam.Filter kind='standard' family='int' fpr=0.001 keys=4 size=%d>" % known.size)
        for name in ("kind", "family", "fpr", "keys", "size", "other"):
            with self.assertRaises(AttributeError):
                setattr(known, name, 1)
        with self.assertRaises(TypeError):
            bloomfam.Filter.kind = "x"
        with self.assertRaises(TypeError):
            type("Mine", (bloomfam.Filter,), {})

    def test_equality_and_hash(self):
        other = bloomfam.Filter.build([1, 2, 4], "int")
        again = bloomfam.Filter(bytes(SMALL))
        self.assertTrue(SMALL == again and not SMALL != again and SMALL != other and not SMALL == other)
        self.assertEqual(hash(SMALL), hash(again))
        self.assertEqual(len({SMALL, again, other}), 2)
        self.assertFalse(SMALL == bytes(SMALL) or SMALL == 1 or SMALL is None)
        with self.assertRaises(TypeError):
            SMALL < other

    def test_buffer(self):
        view = memoryview(SMALL)
        self.assertTrue(view.readonly and view.format == "B" and view.nbytes == SMALL.size)
        self.assertEqual(bytes(view), bytes(SMALL))
        known = bloomfam.Filter.build([7], "int")
        view = memoryview(known)
        expected = bytes(known)
        del known
        self.assertEqual(bytes(view), expected)

    def test_pickle_and_copy(self):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            self.assertEqual(pickle.loads(pickle.dumps(SMALL, protocol)), SMALL)
        self.assertIs(copy.copy(SMALL), SMALL)
        self.assertIs(copy.deepcopy([SMALL])[0], SMALL)

    def test_union(self):
        a = bloomfam.Filter.build(range(100), "int", 0.01, "blocked", 1000)
        b = bloomfam.Filter.build(range(100, 200), "int", 0.01, "blocked", 1000)
        self.assertTrue(all((a | b).may_contain(range(200))))
        self.assertEqual(a | b, b | a)
        self.assertEqual(a | a, a)
        c = a
        c |= b
        self.assertEqual(c, a | b)
        with self.assertRaises(TypeError):
            a | bloomfam.Filter.build(["a"], "text")
        with self.assertRaises(ValueError):
            a | bloomfam.Filter.build([1], "int", 0.01, "standard")
        with self.assertRaises(ValueError):
            bloomfam.Filter.build([1], "int", 0.01, "ribbon") | bloomfam.Filter.build([2], "int", 0.01, "ribbon")
        for other in (1, None, bytes(b), {1}):
            with self.assertRaises(TypeError):
                a | other
            with self.assertRaises(TypeError):
                other | a

    def test_a_filter_is_no_sequence(self):
        for call in (iter, len, list):
            with self.assertRaises(TypeError):
                call(SMALL)


class TestKinds(unittest.TestCase):
    def test_all_kinds(self):
        keys = random.Random(1).sample(range(-10 ** 12, 10 ** 12), 3000)
        self.assertEqual(set(KINDS) - set(bloomfam.kinds), set())
        for kind in KINDS:
            for fpr in (0.3, 0.01, 0.0001):
                for expected in (None, 10, 3000):
                    with self.subTest(kind=kind, fpr=fpr, expected=expected):
                        try:
                            known = bloomfam.Filter.build(keys, "bigint", fpr, kind, expected)
                        except ValueError as error:
                            # of a rate below the kind's, which says so
                            self.assertIn("rate", str(error))
                            continue
                        self.assertEqual(known.kind, kind)
                        self.assertTrue(all(known.may_contain(keys)))
                        self.assertTrue(all(key in known for key in keys[:50]))
                        if expected != 10:
                            wrong = sum(known.may_contain(range(2 * 10 ** 12, 2 * 10 ** 12 + 20000)))
                            self.assertLess(wrong / 20000, fpr * 1.5 + 0.001)

    def test_documented_bytes(self):
        page = FORMAT_PAGE.read_text()
        found = 0
        for kind, dump in re.findall(r"bloom_agg\(x, 0\.01, '(\w+)'\) FROM generate_series\(1, 3\).*?```\n\n```\n(.*?)```", page, re.S):
            data = bytes.fromhex("".join(line.split("|")[1] for line in dump.splitlines() if re.match(r" +\d+ \|", line)))
            self.assertEqual(bytes(bloomfam.Filter.build([3, 1, 2], "int", 0.01, kind)), data, kind)
            found += 1
        self.assertGreaterEqual(found, 1)

    def test_arguments(self):
        for args, error in (((["a"], "nothing"), ValueError), (([1], "int", 0.0), ValueError), (([1], "int", 1.0), ValueError),
                            (([1], "int", float("nan")), ValueError), (([1], "int", 0.01, "other"), ValueError),
                            (([1], "int", 0.01, "identity"), ValueError), (([1], "int", 1e-9, "blocked"), ValueError),
                            (([1], "int", 0.01, "blocked", 0), ValueError), (([1], "int", 0.01, "blocked", -5), ValueError),
                            (([1], "int", 0.01, "blocked", 2 ** 70), ValueError), (([1], "int", 0.01, "blocked", 10 ** 12), ValueError),
                            (([1], "int", 0.01, "blocked", 1.5), TypeError), (([1], "int", 0.01, "blocked", True), TypeError), (([1],), TypeError),
                            ((), TypeError), (([1], "int", 0.01, "blocked", None, 1), TypeError), (([1], None), TypeError), (([1], 5), TypeError),
                            (([1], "int\0"), ValueError), (([1], "int", "high"), TypeError), (([1], "inter\ud800"), ValueError),
                            (([1], 'public.mood'), ValueError), (([[1]], "int[]"), (ValueError, TypeError))):
            with self.assertRaises(error, msg=repr(args)):
                bloomfam.Filter.build(*args)
        self.assertEqual(bloomfam.Filter.build([1], type="int", fpr=0.01, kind="blocked", expected=None), bloomfam.Filter.build([1], "INTEGER"))

    def test_builder(self):
        builder = bloomfam.Builder("text", 0.001, kind="xor")
        builder.add(["a", "b"])
        builder.add(("c",))
        builder.add([])
        self.assertEqual(builder.finish(), bloomfam.Filter.build(["c", "b", "a"], "text", 0.001, "xor"))
        for call in (builder.finish, lambda: builder.add(["d"])):
            with self.assertRaisesRegex(ValueError, "finished"):
                call()
        builder = bloomfam.Builder("int")
        builder.add([1])
        with self.assertRaises(TypeError):
            builder.add([2, "x"])
        builder.add([3])
        self.assertTrue(all(builder.finish().may_contain([1, 3])))
        with self.assertRaises(TypeError):
            type("Mine", (bloomfam.Builder,), {})


class TestEmpty(unittest.TestCase):
    def test_no_keys(self):
        import datetime

        known = bloomfam.Filter.build([], "int")
        self.assertEqual((known.kind, known.family, known.keys, known.fpr), ("identity", "int", 0, 0.0))
        self.assertNotIn(5, known)
        with self.assertRaises(TypeError):
            "a" in known
        self.assertEqual(known | SMALL, SMALL)
        # bloom_create(1, 0.1, 'standard'): without a family
        known = bloomfam.Filter(bytes.fromhex(
            "6266616d010101009024cd3000000000" + "00" * 16 +
            "010000000000000000000000000000009a9999999999b93f0800000000000000"
            "03000000" + "00" * 24))
        self.assertIsNone(known.family)
        for key in (5, "a", 1.5, b"", datetime.date(2024, 1, 1), 2 ** 80, object()):
            self.assertNotIn(key, known)
        self.assertEqual(list(known.may_contain([1, "a", None, 2.5], nulls=True)), [False, False, True, False])
        self.assertEqual(list(known.may_contain(array.array("q", [1, 2]))), [False, False])
        self.assertEqual(list(known.may_contain(array.array("d", [1, 2]))), [False, False])
        with self.assertRaises(ValueError):
            None in known


class TestFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "a filter")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, data):
        with open(self.path, "wb") as file:
            file.write(data)

    def test_open(self):
        for data in (bytes(SMALL), b"\\x" + bytes(SMALL).hex().encode() + b"\n"):
            self.write(data)
            for path in (self.path, pathlib.Path(self.path), os.fsencode(self.path)):
                for validate in (False, True):
                    known = bloomfam.Filter.open(path, validate=validate)
                    self.assertEqual(known, SMALL)
                    known.validate()
                    self.assertIn(1, known)
        os.unlink(self.path)
        self.assertIn(1, known)
        self.assertEqual(pickle.loads(pickle.dumps(known)), SMALL)

    def test_validation_on_request(self):
        data = bytearray(bytes(SMALL))
        data[-1] ^= 1
        self.write(data)
        known = bloomfam.Filter.open(self.path)
        with self.assertRaises(bloomfam.InvalidFilterError):
            known.validate()
        with self.assertRaises(bloomfam.InvalidFilterError):
            bloomfam.Filter.open(self.path, validate=True)

    def test_errors(self):
        with self.assertRaises(FileNotFoundError) as caught:
            bloomfam.Filter.open(self.path)
        self.assertEqual(caught.exception.filename, self.path)
        with self.assertRaises(OSError):
            bloomfam.Filter.open(self.folder.name)
        for data in (b"", b"nothing", bytes(SMALL)[:-1]):
            self.write(data)
            with self.assertRaises(bloomfam.InvalidFilterError):
                bloomfam.Filter.open(self.path)
        for path in (None, 5, ["x"]):
            with self.assertRaises(TypeError):
                bloomfam.Filter.open(path)
        with self.assertRaises(ValueError):
            bloomfam.Filter.open("a\0b")
        with self.assertRaises(TypeError):
            bloomfam.Filter.open(self.path, True)

    def test_a_mapping_of_the_caller(self):
        self.write(bytes(SMALL))
        with open(self.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapping:
            self.assertEqual(bloomfam.Filter(mapping), SMALL)


if __name__ == "__main__":
    unittest.main()
