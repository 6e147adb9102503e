# SPDX-License-Identifier: PostgreSQL
"""What must not crash, leak or lie: changed bytes, objects that act while they are read, threads."""

import array
import ctypes
import gc
import os
import random
import signal
import sys
import threading
import time
import unittest
from decimal import Decimal

import bloomfam

from . import arrow_producer as arrow
from .test_types import TABLE

KINDS = [kind for kind in bloomfam.kinds if kind != "parquet"]
TRIALS = int(os.environ.get("BLOOMFAM_TRIALS", "5000"))


class TestChangedBytes(unittest.TestCase):
    def test_changed_bytes(self):
        """No crash, of what is opened without being validated either; what is accepted gives answers."""
        chance = random.Random(int(os.environ.get("BLOOMFAM_SEED", "1")))
        values = [bytes(bloomfam.Filter.build(range(n), "int", fpr, kind)) for kind in KINDS for n in (1, 300) for fpr in (0.1, 0.001)]
        values.append(bytes(bloomfam.Filter.build([], "int")))
        path = "/proc/self/fd/%d"
        accepted = opened = 0
        file = os.memfd_create("filter")
        for _ in range(TRIALS):
            data = bytearray(chance.choice(values))
            for _ in range(chance.choice((1, 1, 2, 8))):
                at = chance.randrange(min(len(data), chance.choice((90, len(data)))))
                data[at] = chance.choice((0, 1, 0x7f, 0x80, 0xff, chance.randrange(256), data[at] ^ 1 << chance.randrange(8)))
            if chance.random() < 0.2:
                del data[chance.randrange(len(data)):]
            form = chance.choice((bytes, lambda d: "\\x" + d.hex(), lambda d: b"\\\\x" + d.hex().encode()))(bytes(data))
            try:
                known = bloomfam.Filter(form)
                accepted += 1
                self.ask(known)
            except bloomfam.InvalidFilterError:
                pass
            os.ftruncate(file, 0)
            os.pwrite(file, data, 0)
            try:
                known = bloomfam.Filter.open(path % file)
            except bloomfam.InvalidFilterError:
                continue
            opened += 1
            self.ask(known)
            del known
        os.close(file)
        self.assertGreater(opened, TRIALS / 20)
        # those in which nothing was changed
        self.assertLess(accepted, TRIALS / 20)

    def ask(self, known):
        repr(known), hash(known), known == known
        try:
            known.may_contain(array.array("q", range(600)))
            5 in known
        except TypeError:
            # another family
            pass
        try:
            known | known
        except (ValueError, TypeError):
            pass


class TestObjectsThatAct(unittest.TestCase):
    known = bloomfam.Filter.build(range(0, 1000, 2), "int")

    def test_errors_come_through(self):
        class Failing:
            def __index__(self):
                raise ZeroDivisionError("mine")

        class FailingStr(str):
            def __str__(self):
                raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            self.known.may_contain([1, Failing()])
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            Failing() in self.known
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            bloomfam.Filter.build([1, Failing()], "int")
        self.assertIn(FailingStr("a"), bloomfam.Filter.build(["a"], "text"))

        def keys():
            yield 1
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            self.known.may_contain(keys())

        class Wrong:
            def __index__(self):
                return "5"

        with self.assertRaises(TypeError):
            Wrong() in self.known

    def test_a_list_that_is_changed_meanwhile(self):
        for change in ("clear", "grow", "replace", "shrink"):
            for texts in (False, True):
                keys = []

                class Acting:
                    def __index__(self):
                        if change == "clear":
                            keys.clear()
                        elif change == "grow":
                            keys.extend(range(10))
                        elif change == "shrink":
                            del keys[len(keys) // 2:]
                        else:
                            for i in range(len(keys)):
                                keys[i] = str(i) * 50 if texts else i
                        gc.collect()
                        return 4

                keys += [10 ** 18 + i for i in range(300)] + [Acting()] + [10 ** 18 + i for i in range(300)]
                try:
                    found = self.known.may_contain(keys)
                except (RuntimeError, TypeError):
                    self.assertTrue(change != "replace" or texts)
                else:
                    self.assertTrue(change == "replace" and not texts and len(found) == 601)

    def test_texts_stay_while_others_act(self):
        """Texts that are read already lose their last owner but the reader."""
        texts = bloomfam.Filter.build(["%d" % i * 20 for i in range(1000)], "text", 1e-9, "ribbon")
        keys = []

        class Acting:
            @property
            def __class__(self):
                keys[:] = [None] * len(keys)
                gc.collect()
                return object

        for n in (1, 100, 511, 512, 513, 1000):
            keys[:] = ["%d" % i * 20 for i in range(n)] + [Acting()]
            with self.assertRaises(TypeError):
                texts.may_contain(keys)
            keys[:] = ["%d" % i * 20 for i in range(n)] + [Acting()]
            with self.assertRaises(TypeError):
                bloomfam.Filter.build(keys, "text")

    def test_a_builder_in_use(self):
        builder = bloomfam.Builder("int")
        seen = []

        class Acting:
            def __index__(self):
                for call in (builder.finish, lambda: builder.add([1])):
                    try:
                        call()
                    except RuntimeError as error:
                        seen.append(str(error))
                return 4

        builder.add([1, Acting(), 2])
        self.assertEqual(len(seen), 2)
        self.assertEqual(builder.finish(), bloomfam.Filter.build([1, 2, 4], "int"))

    def test_classes_that_lie(self):
        class Lying:
            __class__ = Decimal

        class LyingToo:
            @property
            def __class__(self):
                raise ZeroDivisionError("mine")

        with self.assertRaises(TypeError):
            Lying() in self.known
        with self.assertRaises((TypeError, ZeroDivisionError)):
            LyingToo() in self.known

    def test_buffers_that_lie(self):
        # ctypes exports no strides
        for type_ in (ctypes.c_byte, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64):
            self.assertEqual([bool(x) for x in self.known.may_contain((type_ * 3)(1, 2, 3))], [False, True, False])

        class Record(ctypes.Structure):
            _fields_ = [("a", ctypes.c_int64)]

        with self.assertRaises(TypeError):
            self.known.may_contain((Record * 3)())

    def test_a_module_that_is_not_what_it_is_called(self):
        saved = {name: sys.modules.get(name) for name in ("numpy", "pandas", "decimal", "uuid", "datetime", "ipaddress")}
        try:
            for value in (None, object(), unittest):
                for name in saved:
                    sys.modules[name] = value
                self.assertEqual([bool(answer) for answer in self.known.may_contain([1, 2, 2 ** 70])], [False, True, False])
                self.assertIn(2, self.known)
                with self.assertRaises(TypeError):
                    object() in self.known
                for name, key in (("uuid", 5), ("date", 5), ("inet", 5), ("numeric", 1.5), ("timestamp", 5)):
                    with self.assertRaises(TypeError):
                        bloomfam.Filter.build([key], name)
        finally:
            for name, module in saved.items():
                if module is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = module

    def test_deep_iterables(self):
        class Endless:
            def __getitem__(self, i):
                if i == 5:
                    raise IndexError
                return i

        self.assertEqual(len(self.known.may_contain(Endless())), 5)


class TestLeaks(unittest.TestCase):
    def calls(self):
        """What is done again and again, with a name each; errors are expected of some."""
        names = [(name, [key for key, _ in keys], impossible + unreadable) for name, keys, impossible, unreadable in TABLE.values()]
        filters = {name: bloomfam.Filter.build(keys, name) for name, keys, _ in names}
        data = bytes(filters["bigint"])
        arrays = [arrow.numbers("l", "q", [1, None, 3]), arrow.strings("vu", ["a", None]), arrow.Array("l", 2, [None])]
        columns = [array.array("q", [1, 2]), array.array("i", range(9))[::2], iter(()), "one key", memoryview(bytes(8)).cast("d")]
        try:
            import numpy
            import pandas

            columns += [numpy.array([1, 2]), numpy.ma.array([1, 2], mask=[0, 1]), numpy.array(["a"]), numpy.array(["2024"], "M8[s]"), pandas.Series([1, None], dtype="Int64"),
                        pandas.Series(["a", None]), numpy.array([[1]]), [numpy.int64(5), numpy.float32(1)], pandas.Series([1], dtype="category")]
        except ImportError:
            pass

        for name, keys, wrong in names:
            known = filters[name]
            yield name + " many", lambda: known.may_contain(keys + [None], nulls=True)
            yield name + " NULL", lambda: known.may_contain(keys + [None])
            yield name + " build", lambda: bloomfam.Filter.build(keys, name, 0.01, "cuckoo")
            yield name + " in", lambda: [key in known for key in keys]
            for key, _ in wrong + [(object(), None), (None, None)]:
                yield name + " wrong", lambda: key in known
                yield name + " build wrong", lambda: bloomfam.Filter.build([key], name)
        for column in columns + arrays + [arrow.Stream([arrays[0]] * 2), arrow.Stream([arrays[0]], fails="schema"), arrow.Stream(arrays)]:
            for name in "bigint", "text", "timestamp":
                yield "%r of %s" % (column, name), lambda: filters[name].may_contain(column, nulls=False)
            yield "build of %r" % column, lambda: bloomfam.Filter.build(column, "int")
        for value in (data, "\\x" + data.hex(), data[:-1], 5, memoryview(data)[::2], bytearray(data)):
            yield "Filter(%.20r)" % value, lambda: bloomfam.Filter(value)
        known = filters["bigint"]
        yield "value", lambda: (repr(known), hash(known), bytes(known), known == bloomfam.Filter(data), known | known, memoryview(known), known.__reduce__())
        yield "members", lambda: (known.kind, known.family, known.keys, known.fpr, known.size, known.capacity)
        yield "unlike", lambda: known | filters["text"]
        yield "no file", lambda: bloomfam.Filter.open("/nonexistent")
        yield "bad rate", lambda: bloomfam.Filter.build([1], "int", 5)
        yield "no type", lambda: bloomfam.Builder("nothing")
        yield "builder", lambda: bloomfam.Builder("int")

    def growth(self, call, n):
        """Blocks of Python's memory, and structs of Arrow, that n calls leave, for each of them."""
        gc.collect()
        before = sys.getallocatedblocks() + arrow.alive()
        for _ in range(n):
            try:
                call()
            except (TypeError, ValueError, OverflowError, RuntimeError, OSError, BufferError):
                pass
        gc.collect()
        return (sys.getallocatedblocks() + arrow.alive() - before) / n

    def test_nothing_is_left(self):
        # what is there already need not be looked through again and again
        gc.collect()
        gc.freeze()
        self.addCleanup(gc.unfreeze)
        for name, call in self.calls():
            self.growth(call, 10)
            # caches of Python's fill now and then, but what leaks does it each time
            if self.growth(call, 50) > 0.5:
                self.assertLess(min(self.growth(call, 300) for _ in range(4)), 0.5, name)

    @unittest.skipIf("BLOOMFAM_SANITIZED" in os.environ, "ASan keeps what is freed")
    def test_no_memory_of_c_is_left(self):
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

        known = bloomfam.Filter.build(range(100000), "int", 0.01, "ribbon")
        data, keys, texts = bytes(known), array.array("q", range(100000)), ["%d" % i for i in range(50000)]
        builder_of = bloomfam.Builder

        def once():
            bloomfam.Filter(data)
            known.may_contain(keys)
            bloomfam.Filter.build(keys, "int", 0.01, "xor")
            bloomfam.Filter.build(texts, "text", 0.01, "blocked", 100000)
            builder_of("int", 0.01, "xor").add(keys)
            bloomfam.Filter.build([keys, keys], "int,int").may_contain([keys, keys])
            try:
                builder_of("int,int").add([keys, texts])
            except TypeError:
                pass

        for _ in range(4):
            once()
        before = resident()
        for _ in range(10):
            once()
        # a leak of one column of hashes in each round would be 8 MB and more
        self.assertLess(resident() - before, 4000000)


class TestThreads(unittest.TestCase):
    def test_one_filter_in_many(self):
        known = bloomfam.Filter.build(range(0, 200000, 2), "int", 1e-6, "ribbon")
        keys = array.array("q", range(200000))
        expected = bytes(known.may_contain(keys))
        errors = []

        def work(number):
            try:
                for _ in range(5):
                    if bytes(known.may_contain(keys)) != expected or number * 2 not in known or list(known.may_contain([2, 4, None], nulls=True)) != [True] * 3:
                        errors.append(number)
                    bloomfam.Filter.build(keys[:3000], "int", 0.01, "cuckoo") | bloomfam.Filter.build([1], "int").__or__(bloomfam.Filter.build([], "int"))
            except ValueError:
                # cuckoo filters do not unite
                pass
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    def test_one_builder_in_many(self):
        builder = bloomfam.Builder("int", 0.01, "xor")
        keys = array.array("q", range(100000))
        refused = []

        def work():
            for _ in range(20):
                try:
                    builder.add(keys)
                except RuntimeError:
                    refused.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(refused) < 80:
            self.assertTrue(all(builder.finish().may_contain(keys)))

    def test_the_gil_is_released(self):
        """Another thread counts while a column is asked."""
        known = bloomfam.Filter.build(range(1000), "int")
        keys = array.array("q", bytes(8 * 20000000))
        counted = [0]
        stop = threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1

        thread = threading.Thread(target=count)
        try:
            thread.start()
            while counted[0] == 0:
                time.sleep(0.001)
            before = counted[0]
            known.may_contain(keys)
            self.assertGreater(counted[0], before + 100)
        finally:
            stop.set()
            thread.join()

    @unittest.skipIf(threading.current_thread() is not threading.main_thread(), "signals are the main thread's")
    def test_a_signal_stops_what_takes_long(self):
        class Enough(Exception):
            pass

        def enough(number, frame):
            raise Enough

        builder = bloomfam.Builder("int", 1e-6, "ribbon")
        builder.add(array.array("q", range(6000000)))
        old = signal.signal(signal.SIGALRM, enough)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with self.assertRaises(Enough):
                builder.finish()
                # it was faster than the signal
                time.sleep(5)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)


if __name__ == "__main__":
    unittest.main()
