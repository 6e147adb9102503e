# SPDX-License-Identifier: PostgreSQL
"""A producer of Arrow's C data interface, by ctypes: arrays and streams of any layout, right or wrong.

It counts what is alive, so that a test sees whether all was released, once each.
"""

import ctypes
import struct
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_int64, c_void_p, cast, pointer, py_object, pythonapi


class ArrowSchema(Structure):
    pass


class ArrowArray(Structure):
    pass


class ArrowArrayStream(Structure):
    pass


SchemaRelease = CFUNCTYPE(None, POINTER(ArrowSchema))
ArrayRelease = CFUNCTYPE(None, POINTER(ArrowArray))
StreamRelease = CFUNCTYPE(None, POINTER(ArrowArrayStream))
GetSchema = CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))
GetNext = CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))
GetLastError = CFUNCTYPE(c_void_p, POINTER(ArrowArrayStream))

ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))), ("dictionary", POINTER(ArrowSchema)), ("release", c_void_p), ("private_data", c_void_p)]
ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(ArrowArray))), ("dictionary", POINTER(ArrowArray)), ("release", c_void_p),
    ("private_data", c_void_p)]
ArrowArrayStream._fields_ = [
    ("get_schema", c_void_p), ("get_next", c_void_p), ("get_last_error", c_void_p), ("release", c_void_p), ("private_data", c_void_p)]

# what keeps memory alive that C has a pointer to
_alive = {}
_next_id = [1]


def alive():
    """How many structs were made and not released."""
    return len(_alive)


def _keep(*things):
    _next_id[0] += 1
    _alive[_next_id[0]] = things
    return _next_id[0]


def _give_back(struct_pointer):
    struct_ = struct_pointer.contents
    del _alive[struct_.private_data]
    struct_.release = None


@SchemaRelease
def _release_schema(schema):
    if schema.contents.dictionary and schema.contents.dictionary.contents.release:
        _release_schema(schema.contents.dictionary)
    _give_back(schema)


@ArrayRelease
def _release_array(array):
    if array.contents.dictionary and array.contents.dictionary.contents.release:
        _release_array(array.contents.dictionary)
    _give_back(array)


@StreamRelease
def _release_stream(stream):
    _give_back(stream)


def _address(function):
    return cast(function, c_void_p).value


_destructor_type = CFUNCTYPE(None, c_void_p)
pythonapi.PyCapsule_New.restype = py_object
pythonapi.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
pythonapi.PyCapsule_GetPointer.restype = c_void_p
pythonapi.PyCapsule_GetPointer.argtypes = [c_void_p, c_char_p]


def _destructor(name, kind, release):
    @_destructor_type
    def destroy(capsule):
        struct_ = cast(pythonapi.PyCapsule_GetPointer(capsule, name), POINTER(kind))
        if struct_.contents.release:
            release(struct_)
        # the struct itself
        _alive.pop(("capsule", ctypes.addressof(struct_.contents)), None)

    return destroy


_destroy_schema = _destructor(b"arrow_schema", ArrowSchema, _release_schema)
_destroy_array = _destructor(b"arrow_array", ArrowArray, _release_array)
_destroy_stream = _destructor(b"arrow_array_stream", ArrowArrayStream, _release_stream)


def _capsule(struct_, name, destructor):
    _alive["capsule", ctypes.addressof(struct_)] = struct_
    return pythonapi.PyCapsule_New(ctypes.addressof(struct_), name, _address(destructor))


def bitmap(flags, offset=0):
    """A validity bitmap with so many bits before it."""
    bits = [1] * offset + [1 if flag else 0 for flag in flags]
    out = bytearray((len(bits) + 7) // 8)
    for i, bit in enumerate(bits):
        out[i // 8] |= bit << (i % 8)
    return bytes(out)


class Array:
    """An Arrow array.  buffers: the validity bitmap or None, and bytes; members can be set to what is wrong."""

    def __init__(self, format, length, buffers, dictionary=None, offset=0, null_count=-1, **wrong):
        self.format, self.length, self.buffers, self.dictionary = format, length, buffers, dictionary
        self.offset, self.null_count, self.wrong = offset, null_count, wrong

    def fill_schema(self, schema):
        dictionary = None
        if self.dictionary is not None:
            dictionary = ArrowSchema()
            self.dictionary.fill_schema(dictionary)
        format = None if self.format is None else self.format.encode()
        schema.format = format
        schema.name = b"keys"
        schema.metadata = None
        schema.flags = 2
        schema.n_children = self.wrong.get("schema_children", 0)
        schema.children = None
        schema.dictionary = pointer(dictionary) if dictionary is not None else None
        schema.release = _address(_release_schema)
        schema.private_data = _keep(format, dictionary)

    def fill_array(self, array):
        dictionary = None
        if self.dictionary is not None:
            dictionary = ArrowArray()
            self.dictionary.fill_array(dictionary)
        held = [None if b is None else ctypes.create_string_buffer(bytes(b), max(len(b), 1)) for b in self.buffers]
        buffers = (c_void_p * max(len(held), 1))(*[None if b is None else ctypes.addressof(b) for b in held])
        array.length = self.wrong.get("length", self.length)
        array.null_count = self.null_count
        array.offset = self.offset
        array.n_buffers = self.wrong.get("n_buffers", len(held))
        array.n_children = self.wrong.get("n_children", 0)
        array.buffers = None if self.wrong.get("no_buffers") else cast(buffers, POINTER(c_void_p))
        array.children = None
        array.dictionary = pointer(dictionary) if dictionary is not None else None
        array.release = _address(_release_array)
        array.private_data = _keep(held, buffers, dictionary)

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = ArrowSchema(), ArrowArray()
        self.fill_schema(schema)
        self.fill_array(array)
        capsules = _capsule(schema, b"arrow_schema", _destroy_schema), _capsule(array, b"arrow_array", _destroy_array)
        # as of a producer that has released them already
        if self.wrong.get("released") == "schema":
            _release_schema(pointer(schema))
        if self.wrong.get("released") == "array":
            _release_array(pointer(array))
        if self.wrong.get("swapped"):
            return capsules[1], capsules[0]
        return capsules


class Stream:
    """A stream of arrays, all of the first one's schema.  fails: which call does."""

    def __init__(self, arrays, schema=None, fails=None):
        self.arrays, self.schema, self.fails = arrays, schema or arrays[0], fails

    def __arrow_c_stream__(self, requested_schema=None):
        stream = ArrowArrayStream()
        left = list(self.arrays)
        message = ctypes.create_string_buffer(b"the disk is gone")

        @GetSchema
        def get_schema(_, out):
            if self.fails == "schema":
                return 5
            self.schema.fill_schema(out.contents)
            return 0

        @GetNext
        def get_next(_, out):
            if self.fails == "next" and len(left) < len(self.arrays):
                return 5
            if left:
                left.pop(0).fill_array(out.contents)
            else:
                out.contents.release = None
            return 0

        @GetLastError
        def get_last_error(_):
            return ctypes.addressof(message) if self.fails != "silent" else None

        stream.get_schema = _address(get_schema)
        stream.get_next = None if self.fails == "no function" else _address(get_next)
        stream.get_last_error = _address(get_last_error)
        stream.release = _address(_release_stream)
        stream.private_data = _keep(get_schema, get_next, get_last_error, message)
        capsule = _capsule(stream, b"arrow_array_stream", _destroy_stream)
        if self.fails == "released":
            _release_stream(pointer(stream))
        return capsule


# ---- arrays of Python values, None being NULL ----

def _validity(values, before):
    return bitmap([value is not None for value in values], before) if None in values else None


def numbers(format, code, values, before=0):
    """code: of the module struct; before: how many values stand before these, which the array's offset passes over."""
    data = b"".join(struct.pack("=" + code, 77 if i < before or value is None else value) for i, value in enumerate([0] * before + values))
    return Array(format, len(values), [_validity(values, before), data], offset=before)


def bools(values, before=0):
    return Array("b", len(values), [_validity(values, before), bitmap([bool(value) for value in values], before)], offset=before)


def strings(format, values, before=0):
    """u U vu z Z vz"""
    pieces = [b"before"] * before + [b"" if v is None else v.encode() if isinstance(v, str) else v for v in values]
    validity = _validity(values, before)
    if format[0] == "v":
        views, long = [], b""
        for piece in pieces:
            if len(piece) <= 12:
                views.append(struct.pack("=i12s", len(piece), piece))
            else:
                views.append(struct.pack("=i4sii", len(piece), piece[:4], 0, len(long)))
                long += piece
        return Array(format, len(values), [validity, b"".join(views), long, struct.pack("=q", len(long))], offset=before)
    ends = [0]
    for piece in pieces:
        ends.append(ends[-1] + len(piece))
    offsets = b"".join(struct.pack("=q" if format.isupper() else "=i", end) for end in ends)
    return Array(format, len(values), [validity, offsets, b"".join(pieces)], offset=before)


def fixed(width, values, before=0):
    pieces = [bytes(width)] * before + [bytes(width) if v is None else v for v in values]
    return Array("w:%d" % width, len(values), [_validity(values, before), b"".join(pieces)], offset=before)


def decimals(precision, scale, values, before=0):
    """values: integers, which are divided by 10^scale"""
    data = b"".join((0 if v is None else v).to_bytes(16, "little", signed=True) for v in [0] * before + values)
    return Array("d:%d,%d" % (precision, scale), len(values), [_validity(values, before), data], offset=before)


def dictionary(index_format, code, indices, values, before=0):
    array = numbers(index_format, code, indices, before)
    array.dictionary = values
    return array


def nulls(n):
    return Array("n", n, [])
