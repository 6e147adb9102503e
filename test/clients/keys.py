# What the Python programs here check, each through its own driver.
types = ["int", "uuid", "text", "numeric", "bool"]
checks = 0


def same(what, found, expected):
    global checks
    checks += 1
    print("%s %d - %s" % ("ok" if found == expected else "not ok", checks, what))
    if found != expected:
        print("# found %r, expected %r" % (found, expected))


def check(type, present, absent, may_contain, may_be_in, contains_all, count_kept):
    same(type + ": 1000 keys", len(present), 1000)
    same(type + ": each key is found", sum(may_contain(key) is True for key in present), 1000)
    same(type + ": and by the operator", sum(may_be_in(key) is True for key in present), 1000)
    same(type + ": others are not", sum(may_contain(key) is False for key in absent), len(absent))
    same(type + ": NULL", (may_contain(None), may_be_in(None), contains_all(None)), (None, None, None))
    same(type + ": an array of all keys", (contains_all(present), count_kept(present)), (True, 1000))
    same(type + ": an array with others", (contains_all(present + absent), count_kept(absent + present)), (False, 1000))
    same(type + ": an array of none, and of NULL", (contains_all([]), count_kept([]), count_kept([None] + present[:3])), (True, 0, 3))


def check_copy(may_be_there, those, copies):
    same("the example's answer", may_be_there, True)
    same("the example's keys", [int(key) for key in those], [7])
    same("a filter stored as text, and as bytes, is the same", copies, 1)


def done():
    print("1..%d" % checks)
