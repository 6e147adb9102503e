# SPDX-License-Identifier: PostgreSQL
"""What a column of keys consists of: objects, a buffer with a mask, or Arrow's capsules.

The extension reads lists and tuples itself.  Anything else comes here once a call.  Libraries are
not imported: an array of one that is not loaded cannot have come.
"""

import sys
from collections.abc import Mapping

# What column() returns: the form; the data; a mask, an array of bools that are true for NULL; what
# the numbers count, and in which unit.
#
#   "objects"  a list
#   "pandas"   a list in which a NaN is NULL, unless the keys are floats
#   "buffer"   an exporter of one dimension
#   "array"    a pair of capsules, of an ArrowSchema and an ArrowArray
#   "stream"   a capsule of an ArrowArrayStream


def column(keys):
    """Tells what keys are made of, or raises a TypeError."""
    if isinstance(keys, (str, bytes, bytearray)):
        raise TypeError("%s is one key; ask 'key in filter', or pass a list" % _name(keys))
    if isinstance(keys, Mapping):
        raise TypeError("%s is no column of keys; pass its keys()" % _name(keys))
    pandas = _loaded("pandas", "Series", "Index", "MultiIndex", "DataFrame", "api")
    if pandas is not None:
        if isinstance(keys, (pandas.DataFrame, pandas.MultiIndex)):
            raise TypeError("a %s is no column of keys; pass one of its columns" % _name(keys))
        if isinstance(keys, (pandas.Series, pandas.Index)):
            keys = keys.array
        if isinstance(keys, pandas.api.extensions.ExtensionArray):
            return _pandas(keys)
    numpy = _loaded("numpy", "ndarray", "datetime_data")
    if numpy is not None and isinstance(keys, numpy.ndarray):
        return _numpy(keys, numpy)
    if hasattr(type(keys), "__arrow_c_stream__"):
        return "stream", keys.__arrow_c_stream__(), None, None, None
    if hasattr(type(keys), "__arrow_c_array__"):
        return "array", keys.__arrow_c_array__(), None, None, None
    try:
        memoryview(keys).release()
    except TypeError:
        return "objects", list(keys), None, None, None
    return "buffer", keys, None, None, None


def table(keys):
    """The columns of a table, for keys of several columns, or raises a TypeError."""
    pandas = _loaded("pandas", "DataFrame")
    if pandas is not None and isinstance(keys, pandas.DataFrame):
        return tuple(keys.iloc[:, i] for i in range(keys.shape[1]))
    pyarrow = _loaded("pyarrow", "Table", "RecordBatch")
    if pyarrow is not None and isinstance(keys, (pyarrow.Table, pyarrow.RecordBatch)):
        return tuple(keys.columns)
    raise TypeError("keys of several columns are a list of columns, or a DataFrame, not a %s" % _name(keys))


def scalar(key):
    """One key, of a type that the extension does not know, as a column of it; None for no such."""
    pandas = _loaded("pandas", "NA", "NaT", "Timestamp", "Timedelta")
    numpy = _loaded("numpy", "generic", "ndarray", "datetime_data", "asarray")
    counts = None
    if pandas is not None:
        if key is pandas.NA or key is pandas.NaT:
            return "objects", [None], None, None, None
        # they are finer than those of datetime, which they are subclasses of
        if isinstance(key, pandas.Timestamp):
            counts = "timestamp" if key.tz is None else "timestamptz"
            key = key.asm8
        elif isinstance(key, pandas.Timedelta):
            key = key.asm8
    if numpy is None or not isinstance(key, numpy.generic) or isinstance(key, numpy.void):
        return None
    array = numpy.asarray(key).reshape(1)
    return None if array.dtype.kind in ("O", "T") else _numpy(array, numpy, counts)


def answers(n):
    """Room for n answers: an array of numpy's if that is loaded, else a memoryview."""
    numpy = _loaded("numpy", "empty")
    if numpy is not None:
        return numpy.empty(n, dtype="?")
    # an empty view cannot be cast
    return memoryview(bytearray(n or 1)).cast("?")[:n]


def _name(value):
    return type(value).__name__


def _loaded(name, *members):
    # a module may stand there half imported
    module = sys.modules.get(name)
    return module if all(hasattr(module, member) for member in members) else None


def _numpy(array, numpy, counts=None):
    mask = None
    masked = _loaded("numpy.ma", "MaskedArray", "getmaskarray", "getdata")
    if masked is not None and isinstance(array, masked.MaskedArray):
        mask, array = numpy.ascontiguousarray(masked.getmaskarray(array)), masked.getdata(array)
    if array.ndim != 1:
        raise TypeError("an array of %d dimensions is no column of keys; it must have one" % array.ndim)
    kind = array.dtype.kind
    if kind in ("O", "T"):
        return "objects", list(array), mask, None, None
    if kind in "Mm":
        unit, count = numpy.datetime_data(array.dtype)
        if count != 1 or unit not in _counted[kind]:
            raise TypeError("numpy's %s has no unit that keys are compared in" % array.dtype)
        if kind == "m":
            counts = "interval"
        elif unit == "D":
            counts = "date"
        else:
            counts = counts or "timestamp"
        array = array.astype(array.dtype.newbyteorder("="), copy=False).view("int64")
        return "buffer", array, mask, counts, unit
    if kind == "S":
        raise TypeError("numpy's bytes lose zeros at their end; pass an array of objects")
    if kind not in "biufU":
        raise TypeError("numpy's %s are no keys" % array.dtype)
    return "buffer", array.astype(array.dtype.newbyteorder("="), copy=False), mask, None, None


_counted = {
    "M": ("D", "h", "m", "s", "ms", "us", "ns"),
    "m": ("W", "D", "h", "m", "s", "ms", "us", "ns"),
}


def _pandas(array):
    import numpy

    name = _name(array)
    if name.startswith("Arrow"):
        return column(array.__arrow_array__())
    if name == "Categorical":
        codes = numpy.asarray(array.codes)
        null = codes < 0
        if len(array.categories) == 0:
            return "objects", [None] * len(array), None, None, None
        form, data, mask, counts, unit = column(array.categories.take(numpy.where(null, 0, codes)))
        if form in ("array", "stream"):
            return "pandas", list(array), None, None, None
        return form, data, null if mask is None else null | mask, counts, unit
    if name in ("IntegerArray", "FloatingArray", "BooleanArray"):
        data = array.to_numpy(dtype=array.dtype.numpy_dtype, na_value=0)
        return "buffer", data, numpy.ascontiguousarray(array.isna()), None, None
    if name == "DatetimeArray" and getattr(array, "tz", None) is not None:
        # numpy's have no zone: these are in UTC
        return _numpy(array.tz_convert("UTC").tz_localize(None).to_numpy(), numpy, "timestamptz")
    if name == "SparseArray":
        array = array.to_dense()
    data = numpy.asarray(array)
    if data.dtype.kind in ("O", "T"):
        return "pandas", list(array), None, None, None
    return _numpy(data, numpy)
