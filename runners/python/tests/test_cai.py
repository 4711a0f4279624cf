"""The CUDA Array Interface from Python: what is wrong with an object, and our own two sides on the software driver."""

import collections
import itertools
import os
import random
import re
import subprocess
import sys

import numpy
import pytest

from allocert import cai

VALID = {"shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3}


class Exporter:
    def __init__(self, **entries):
        self.__cuda_array_interface__ = {**VALID, **entries}


def kinds(value, **settings):
    return [defect.kind for defect in cai.validate(value, **settings)]


def without(key):
    exporter = Exporter()
    del exporter.__cuda_array_interface__[key]
    return exporter


class Size(tuple):
    __slots__ = ()


class Lazy(dict):
    def __getitem__(self, key):
        raise RuntimeError("not yet")


class Unfriendly(type):
    def __eq__(cls, other):
        raise RuntimeError("no")

    __hash__ = type.__hash__

    @property
    def __name__(cls):
        raise RuntimeError("no")


class Nobody(metaclass=Unfriendly):
    @property
    def __class__(self):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")


class Key(str):
    """Lands where `shape` does, and answers comparisons with an error."""

    __slots__ = ()

    def __hash__(self):
        return hash("shape")

    def __eq__(self, other):
        raise RuntimeError("no")


def raising(error):
    class Raising:
        @property
        def __cuda_array_interface__(self):
            raise error

    return Raising()


def own_mask():
    exporter = Exporter()
    exporter.__cuda_array_interface__["mask"] = exporter
    return exporter


class Endless:
    """Each read makes a new object with a new mask."""

    @property
    def __cuda_array_interface__(self):
        return {**VALID, "mask": Endless()}


def deep(levels):
    inner = [("x", "<f4")]
    for _ in range(levels):
        inner = [("x", inner)]
    return inner


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Exporter(), []),
        (Exporter(strides=None, mask=None, stream=None), []),
        (Exporter(shape=Size((4,))), []),
        (Exporter(mask=Exporter(typestr="|b1")), []),
        (Exporter(unknown=Nobody()), []),
        (object(), ["no_interface"]),
        (None, ["no_interface"]),
        (Exporter, ["no_interface"]),
        (raising(AttributeError("on the host")), ["no_interface"]),
        (raising(ValueError("\ud800")), ["interface_raised"]),
        (raising(SystemExit(3)), ["interface_raised"]),
        (Nobody(), ["no_interface"]),
        (without("data"), ["data_missing"]),
        (Exporter(shape=[4]), ["shape_not_tuple"]),
        (Exporter(shape=(numpy.int64(4),)), ["extent_not_int"]),
        (Exporter(shape=(True, 10**5000)), ["extent_bool", "extent_too_large"]),
        (Exporter(shape=(-(10**30),)), ["extent_negative"]),
        (Exporter(shape=tuple(range(100))), ["too_many_axes"]),
        (Exporter(shape=Nobody()), ["shape_not_tuple"]),
        (Exporter(typestr=b"<f4"), ["typestr_not_str"]),
        (Exporter(typestr="<f4" * 10**6), ["typestr_grammar"]),
        (Exporter(typestr="\ud800"), ["typestr_grammar"]),
        (Exporter(data=(4096.0, 0)), ["pointer_not_int", "read_only_not_bool"]),
        (Exporter(data=(4096, numpy.bool_(False))), ["read_only_not_bool"]),
        (Exporter(data=(float("nan"), False)), ["pointer_not_int"]),
        (Exporter(strides=(1 << 70,)), ["stride_too_large"]),
        (Exporter(stream=0), ["stream_zero"]),
        (Exporter(stream=Nobody()), ["stream_not_int"]),
        (Exporter(mask={}), ["mask_is_dict"]),
        (Exporter(mask=raising(OSError())), ["mask_not_exporter"]),
        (Exporter(mask=Exporter(stream=0)), ["stream_zero"]),
        (own_mask(), ["not_carried"]),
        (Endless(), ["not_carried"]),
        (Exporter(typestr="|V4", descr=deep(3)), []),
        (Exporter(typestr="|V4", descr=deep(1000)), ["not_carried"]),
        (Exporter(typestr="|V4", descr=[("x", "|V0")] * 5000), ["not_carried"]),
        (Exporter(descr=((),)), ["descr_not_list"]),
    ],
    ids=itertools.count(),
)
def test_what_is_wrong_is_said_and_nothing_raised(value, expected):
    assert kinds(value) == expected


def test_hostile_dicts():
    exporter = Exporter()
    exporter.__cuda_array_interface__ = Lazy(VALID)
    assert kinds(exporter) == ["dict_subclass"]
    assert kinds(exporter, lenient=True) == []
    exporter.__cuda_array_interface__ = {Key("shape"): (4,)}
    assert set(kinds(exporter)) == {"shape_missing", "typestr_missing", "data_missing", "version_missing"}
    exporter.__cuda_array_interface__ = {**VALID, **{number: Nobody() for number in range(10**5)}}
    assert kinds(exporter) == []
    exporter.__cuda_array_interface__ = collections.OrderedDict(VALID)
    assert kinds(exporter) == ["dict_subclass"]


def test_defects_say_where_and_what():
    (defect,) = cai.validate(Exporter(mask=Exporter(shape=("4",))))
    assert defect == ("extent_not_int", "mask.shape[0]", "`4` is not an int")
    assert str(defect) == "mask.shape[0]: `4` is not an int"
    (defect,) = cai.validate(Exporter(data=(4096, numpy.bool_(True))))
    assert "numpy.bool" in defect.message


def test_the_attribute_is_read_once():
    reads = collections.Counter()

    class Counting:
        def __init__(self, name, **entries):
            self.name, self.entries = name, entries

        @property
        def __cuda_array_interface__(self):
            reads[self.name] += 1
            return {**VALID, "version": reads[self.name] + 2, **self.entries}

    assert kinds(Counting("data", mask=Counting("mask"))) == []
    assert reads == {"data": 1, "mask": 1}


def test_validating_needs_no_driver():
    code = "from allocert import cai; print(*(defect.kind for defect in cai.validate(3)))"
    environment = {**os.environ, "LD_LIBRARY_PATH": "", "CUDA_VISIBLE_DEVICES": ""}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (ended.stdout, ended.stderr) == ("no_interface\n", "")


# What NumPy takes, we take, and the other way round.

UNITS = [f"[{count}{unit}]" for count in ("", "1", "25") for unit in (*"YMWDhms", "us", "ns", "as", "x", "")] + [""]
#: The interface's grammar, without what no NumPy has (`t`) and no device memory holds (`O`).
GRAMMAR = re.compile(r"[<>|][biufcmMSUV][0-9]+(\[([0-9]*[YMWDhms]|[0-9]*[munpfa]s|generic)\])?")


def numpy_size(written):
    try:
        return numpy.dtype(written).itemsize
    except (TypeError, ValueError, OverflowError):
        return None


def agrees(typestr):
    size = numpy_size(typestr) if GRAMMAR.fullmatch(typestr) else None
    said = [kind for kind in kinds(Exporter(typestr=typestr, shape=(1,))) if kind != "outside_addresses"]
    if said == ["typestr_no_order"]:
        # NumPy takes this machine's order.
        return size is not None and typestr[0] == "|" and numpy.dtype(typestr).str[0] != "|"
    if size is None:
        return said != []
    # Two ways to say the size, of which one is ours.
    record = Exporter(typestr=f"|V{size}", descr=[("x", typestr)], shape=(1,))
    return said == [] and kinds(record) == []


def test_a_grid_of_types_is_as_numpy_has_it():
    counts = [*range(34), 64, 2**29 - 1, 2**29, 2**31 - 1, 2**31, 2**64]
    grid = [f"{order}{kind}{count}" for order in "<>|" for kind in "biufcmMSUV" for count in counts]
    grid += [f"{order}{kind}8{unit}" for order in "<>" for kind in "mMf" for unit in UNITS]
    assert len(grid) > 1000
    assert [typestr for typestr in grid if not agrees(typestr)] == []


def test_random_types_are_as_numpy_has_them():
    letters = random.Random(1)
    alphabet = "<>|=biufcmMSUVgx0123456789[]YDsnsu +-"
    texts = ["".join(letters.choices(alphabet, k=letters.randrange(1, 9))) for _ in range(4_000)]
    texts += [letters.choice("<>|") + letters.choice("biufcmMSUV") + text for text in texts]
    assert [text for text in texts if not agrees(text)] == []


def a_record(source, depth):
    fields = []
    for index in range(source.randrange(1, 4)):
        name = source.choice([f"f{index}", f"n{index}", "x", "", (f"title {index}", f"m{index}")])
        scalar = source.choice(["<f4", ">i2", "|b1", "|V3", "<U2", "<m8[ns]", "f4", "|u1"])
        element = a_record(source, depth - 1) if depth and source.random() < 0.3 else scalar
        shape = source.choice([(), (), ((2,),), ((0, 3),), ((2, 2),), ((-1,),), ([2],)])
        fields.append((name, element, *shape))
    return fields


def in_our_grammar(fields):
    """Narrower than NumPy: every type has its byte order, every shape is a tuple."""
    return all(
        (in_our_grammar(field[1]) if isinstance(field[1], list) else field[1] != "f4")
        and all(isinstance(shape, tuple) for shape in field[2:])
        for field in fields
    )


def test_random_records_are_as_numpy_has_them():
    source = random.Random(2)
    taken = 0
    for _ in range(2_000):
        fields = a_record(source, 3)
        size = numpy_size(fields) if in_our_grammar(fields) else None
        if size is None:
            # NumPy numbers fields without a name, and may meet its own numbers: those we take.
            anonymous = "(''" in repr(fields)
            said = kinds(Exporter(typestr="|V8", descr=fields, shape=(1,)))
            assert anonymous or set(said) - {"descr_size"}, fields
        else:
            taken += 1
            assert kinds(Exporter(typestr=f"|V{size}", descr=fields, shape=(1,))) == [], fields
    assert taken > 200


@pytest.mark.parametrize("dtype", [numpy.dtype([("a", "<i8"), ("b", "?")], align=True), numpy.dtype("M8[25s]")])
def test_what_numpy_writes_is_valid(dtype):
    assert kinds(Exporter(typestr=dtype.str, descr=dtype.descr)) == []


# Our own two sides.


@pytest.fixture(scope="module")
def on_driver(libraries):
    """Runs code in a process that finds the software driver."""

    def run(code):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries), "PYTHONFAULTHANDLER": "1"}
        command = [sys.executable, "-c", "import numpy\nfrom allocert import cai\n" + code]
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr

    return run


def test_views_are_exported_as_numpy_would(on_driver):
    on_driver("""
host = numpy.arange(24, dtype=">i2").reshape(2, 3, 4)
array = cai.Array((2, 3, 4), ">i2")
array.write(host.tobytes())
of = numpy.s_
for index in (..., 0, -1, of[:, 1], of[::-1], of[1, ..., ::2], of[:, 2:0:-1, 3:], of[5:], of[0, 1, 2, ...]):
    view, expected = array[index], host[index]
    interface = view.__cuda_array_interface__
    assert cai.validate(view) == [], index
    assert interface["shape"] == expected.shape and interface["version"] == 3, index
    assert interface.get("strides") in (None, expected.strides), index
    assert view.read() == expected.tobytes(), index
    imported = cai.from_interface(view)
    assert numpy.array_equal(numpy.asarray(imported), expected) and imported.typestr == ">i2", index
assert numpy.array_equal(numpy.asarray(cai.from_interface(array.T)), host.T)
assert numpy.array_equal(numpy.asarray(cai.from_interface(array.transpose(1, 0, 2))), host.transpose(1, 0, 2))
assert array[0, 0].broadcast_to((3, 4)).__cuda_array_interface__["strides"] == (0, 2)
assert array[5:].__cuda_array_interface__["data"] == (0, False)
""")


def test_streams_are_joined_and_waited_for(on_driver):
    on_driver("""
array = cai.Array(6, "|u1")
first, second = cai.Stream(), cai.Stream()
assert "stream" not in array.__cuda_array_interface__
array[:2].fill(1, first)
assert array.__cuda_array_interface__["stream"] == first.handle
array[2:].fill(2, second)
imported = cai.from_interface(array)
assert imported.read() == bytes([1, 1, 2, 2, 2, 2])
imported.fill(3)
cai.Stream(imported.stream, array).synchronize()
assert array.read() == bytes([3] * 6)

class Foreign:
    def __cuda_stream__(self):
        return 0, second.handle

array.fill(4, Foreign())
assert cai.from_interface(array, order="host").read() == bytes([4] * 6)
array.fill(5, 2)
assert cai.from_interface(array, order="enqueue").read() == bytes([5] * 6)
for wrong in (0, -1, True, 1 << 64):
    try:
        array.fill(6, wrong)
    except ValueError:
        continue
    raise AssertionError(wrong)
""")


def test_exports_in_every_version(on_driver):
    on_driver("""
for version in range(4):
    array = cai.Array((2, 2), "<f4", version=version, explicit_strides=True)
    array.fill(1, cai.Stream())
    assert cai.validate(array) == [], version
    interface = array.__cuda_array_interface__
    assert interface["version"] == version and ("stream" in interface) == (version == 3)
    assert interface["strides"] == (8, 4)
record = cai.Array(3, "|V16", descr=[("a", "<i8"), ("b", "|b1"), ("", "|V7")])
assert record.__cuda_array_interface__["descr"] == [("a", "<i8"), ("b", "|b1"), ("", "|V7")]
imported = numpy.asarray(cai.from_interface(record))
assert imported.dtype.itemsize == 16 and imported.shape == (3,)
quiet = cai.Array(3, without_stream=True)
quiet.fill(1, cai.Stream())
assert "stream" not in quiet.__cuda_array_interface__
assert quiet.__cuda_array_interface__ is not quiet.__cuda_array_interface__
""")


def test_masks_and_read_only_arrays(on_driver):
    on_driver("""
mask = cai.Array(4, "|b1")
mask.write(bytes([1, 0, 1, 0]))
array = cai.Array((2, 4), "|u1", mask=mask, read_only=True)
assert cai.validate(array) == []
assert cai.validate(array[:, ::2]) == [] and array[:, ::2].mask.read() == bytes([1, 1, 1, 1])
imported = cai.from_interface(array)
assert imported.read_only and imported.mask.read() == bytes([1, 0, 1, 0])
assert cai.validate(imported) == [] and imported.__cuda_array_interface__["data"][1] is True
for refused in (lambda: imported.fill(1), lambda: array.fill(1)):
    try:
        refused()
    except ValueError as error:
        assert "read-only" in str(error)
    else:
        raise AssertionError("written")
try:
    cai.from_interface(array, refuse_masks=True)
except NotImplementedError:
    pass
else:
    raise AssertionError("the mask was ignored")
""")


def test_owners_are_kept_as_long_as_asked(on_driver):
    on_driver("""
import gc, weakref

class Owner:
    def __init__(self):
        self.array = cai.Array(4, "|u1")
        self.array.write(bytes(range(4)))
        self.__cuda_array_interface__ = self.array.__cuda_array_interface__

owner = Owner()
watch = weakref.ref(owner)
kept = cai.from_interface(owner)
del owner
gc.collect()
assert watch() is not None and kept.read() == bytes(range(4))
del kept
gc.collect()
assert watch() is None
owner = Owner()
watch = weakref.ref(owner)
lent = cai.from_interface(owner, retain=False)
assert lent.read() == bytes(range(4))
del owner
gc.collect()
assert watch() is None
""")


def test_refusals_name_what_is_wrong(on_driver):
    on_driver("""
class Wrong:
    __cuda_array_interface__ = {"shape": (1 << 63,), "typestr": "<f4", "data": (4096, False), "version": 3, "stream": 0}

try:
    cai.from_interface(Wrong())
except cai.InterfaceError as error:
    assert [kind for kind, _place, _message in error.args[1]] == ["extent_too_large", "stream_zero"]
else:
    raise AssertionError("taken")
for settings in ({"version": 4}, {"typestr": "f4"}, {"order": "K"}, {"shape": (-1,)}, {"descr": [("x", "<f8")]}):
    try:
        cai.Array(**{"shape": 3, **settings})
    except ValueError:
        continue
    raise AssertionError(settings)

class Host:
    memory = numpy.zeros(4)
    __cuda_array_interface__ = {"shape": (4,), "typestr": "|u1", "data": (memory.ctypes.data, False), "version": 3}

cai.Array(1)
try:
    cai.from_interface(Host()).read()
except Exception as error:
    assert type(error).__name__ == "DriverError" and "cuPointerGetAttribute" in str(error), error
else:
    raise AssertionError("the host's memory was read")
""")


def test_without_elements_no_driver_is_asked(on_driver):
    on_driver("""
import ctypes
empty = cai.Array((3, 0), "<f8")
empty.fill(1)
imported = cai.from_interface(empty)
assert imported.read() == b"" and numpy.asarray(imported).shape == (3, 0)
# CUDA_ERROR_NOT_INITIALIZED: nobody has called cuInit.
count = ctypes.c_int()
assert ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(count)) == 3
""")
