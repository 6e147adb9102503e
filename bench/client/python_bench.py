#!/usr/bin/python3
# SPDX-License-Identifier: PostgreSQL
"""How fast the Python package asks and builds: millions of keys a second on one core, medians.

    PYTHONPATH=client/python bench/client/python_bench.py [--runs 5]

After "setup.py build_ext --inplace" in client/python, or with what test/python builds. Times are of the processor, so that a machine that does other things
tells about the same.
"""

import argparse
import statistics
import sys
import threading
import time

sys.path.append("client/python")

import numpy

import bloomfam

parser = argparse.ArgumentParser()
parser.add_argument("--runs", type=int, default=5)
arguments = parser.parse_args()


def speed(n, call, clock=time.process_time):
    """Median millions a second."""
    call()
    times = []
    for _ in range(arguments.runs):
        begin = clock()
        call()
        times.append(clock() - begin)
    return n / statistics.median(times) / 1e6


def show(what, rate, more=""):
    print("%-58s %8.1f M/s  %s" % (what, rate, more), flush=True)


chance = numpy.random.default_rng(1)
asked = 4000000
for size, keys in (("1 MB", 800000), ("25 MB", 20000000)):
    ids = chance.integers(-2 ** 62, 2 ** 62, keys)
    known = bloomfam.Filter.build(ids, "bigint", 0.01, "blocked", keys)
    some = numpy.concatenate([chance.choice(ids, asked // 10), chance.integers(-2 ** 62, 2 ** 62, asked - asked // 10)])
    chance.shuffle(some)
    show("%s (%.1f MB), numpy int64" % (size, known.size / 1e6), speed(asked, lambda: known.may_contain(some)))
    show("%s, numpy int64, every second" % size, speed(asked // 2, lambda: known.may_contain(some[::2])))
    small = some.astype("i4")
    show("%s, numpy int32" % size, speed(asked, lambda: known.may_contain(small)))
    if size == "25 MB":
        break

    items = some[:1000000].tolist()
    set_of = set(ids.tolist())
    plain = speed(len(items), lambda: [key in set_of for key in items])
    rate = speed(len(items), lambda: known.may_contain(items))
    show("%s, list of int" % size, rate, "%.1f x [key in set], %.1f M/s" % (rate / plain, plain))
    show("%s, key in filter" % size, speed(len(items), lambda: [key in known for key in items]))

    texts = ["user-%d" % key for key in ids]
    known_texts = bloomfam.Filter.build(texts, "text", 0.01, "blocked", keys)
    items = ["user-%d" % key for key in some[:1000000]]
    set_of = set(texts)
    # a str keeps its hash: new ones, as those of a file are
    plain_times, times = [], []
    for _ in range(arguments.runs):
        fresh = [text[:-1] + text[-1] for text in items]
        begin = time.process_time()
        [key in set_of for key in fresh]
        plain_times.append(time.process_time() - begin)
        fresh = [text[:-1] + text[-1] for text in items]
        begin = time.process_time()
        known_texts.may_contain(fresh)
        times.append(time.process_time() - begin)
    plain, rate = (len(items) / statistics.median(t) / 1e6 for t in (plain_times, times))
    show("%s, list of str" % size, rate, "%.1f x [key in set], %.1f M/s" % (rate / plain, plain))
    show("%s, list of str that were asked before" % size, speed(len(items), lambda: known_texts.may_contain(items)),
         "[key in set] %.1f M/s" % speed(len(items), lambda: [key in set_of for key in items]))

    def both():
        threads = [threading.Thread(target=lambda: known.may_contain(some)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    one = speed(asked, lambda: known.may_contain(some), time.perf_counter)
    two = speed(2 * asked, both, time.perf_counter)
    show("%s, two threads, by the clock on the wall" % size, two, "%.2f x one" % (two / one))
    show("%s, building from numpy int64, blocked, expected" % size, speed(keys, lambda: bloomfam.Filter.build(ids, "bigint", 0.01, "blocked", keys)))
    show("%s, building from numpy int64, ribbon" % size, speed(keys, lambda: bloomfam.Filter.build(ids, "bigint", 1e-9, "ribbon")))
