"""Everything that tracing a function can read, as a digest: equal digests mean equal traces.

A process that finds a digest which was met before need not trace. What a function reads cannot be
told in general, so what is here errs on one side: from its code on, everything that its names can
lead to goes into the digest by value (code, source text, defaults, closures, globals, classes,
instances, arrays). Where something could lead further, such as a call of `getattr` or a value of a
kind that is not listed, there is no digest, and the function is traced.

Names stand for attributes too: of a module, what goes in is each attribute whose name is read
anywhere in the code that is met. Functions of NumPy and of the standard library's pure modules go
in as names, the versions of these beside them.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import marshal
import os
import struct
import sys
from collections.abc import Callable, Mapping
from types import (
    CodeType,
    EllipsisType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
)
from typing import Any, NamedTuple, cast

import numpy as np

import s2s
from s2s.api.libraries import (
    BUILTINS,
    LEADING_AWAY,
    MODULES,
    OPAQUE_MODULES,
    OWN,
    PURE,
    SPECIAL_NAMES,
    is_exception,
    library_name,
)
from s2s.frontend.argument_types.types import ArgumentType, Static
from s2s.frontend.sources import lines_of
from s2s.ir.assumptions import DEFAULT, assumptions
from s2s.ir.jaxpr import ShapedArray
from s2s.tree import TreeDef, flatten, is_namedtuple

_MOST_OBJECTS = 3000
_MOST_BYTES = 1 << 24
"""Beyond these, tracing is faster."""


def digest(fun: Callable[..., Any], arguments: Mapping[str, ArgumentType]) -> str | None:
    """What tracing `fun` for arguments of these types reads; None where that cannot be told."""
    if assumptions() is not DEFAULT or "s2s.extend" in sys.modules or not _default_choices():
        return None
    names: frozenset[str] = frozenset()
    try:
        while True:
            reading = _Reading(names)
            for version in _versions():
                reading.text(version)
            reading.value(fun)
            for name, argument in arguments.items():
                reading.text(name)
                reading.argument(argument)
            if reading.names_met <= names:
                return reading.hash.hexdigest()
            names |= reading.names_met
    except (_Unknown, RecursionError):
        return None


class _Unknown(Exception):
    """What is read here cannot be told."""


def _default_choices() -> bool:
    options = sys.modules.get("s2s.frontend.options")
    return options is None or options.choices() is options.DEFAULT


def _versions() -> list[str]:
    scipy = sys.modules.get("scipy")
    special = "scipy.special" in sys.modules
    return [
        sys.version,
        np.__version__,
        getattr(scipy, "__version__", "") if special else "",
        str(sys.flags.optimize),
        _own_files(),
    ]


@functools.cache
def _own_files() -> str:
    """What tells this s2s from any other: its files, with their sizes and times."""
    generator = sys.modules["s2s_codegen"]
    found: list[str] = []

    def visit(folder: str) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    facts = entry.stat()
                    found.append(f"{entry.path} {facts.st_size} {facts.st_mtime_ns}")
                elif entry.is_dir() and entry.name != "__pycache__":
                    visit(entry.path)

    for package in (s2s, generator):
        for folder in package.__path__:
            if not os.path.isdir(folder):
                raise _Unknown
            visit(folder)
    return "\n".join(sorted(found))


_IMPORT = dis.opmap["IMPORT_NAME"]
_CHANGES_GLOBALS = frozenset({dis.opmap["STORE_GLOBAL"], dis.opmap["DELETE_GLOBAL"]})

# -- values ---------------------------------------------------------------------------------------

_PLAIN_KINDS = frozenset("biufcSU")

_NOT_OF_CLASS = frozenset(
    {
        "__annotate__",
        "__annotate_func__",
        "__annotations__",
        "__annotations_cache__",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__dict__",
        "__doc__",
        "__orig_bases__",
        "__weakref__",
    }
)
"""Of a class, what its source says or what nothing reads without a special name."""


class _Reading:
    """A walk over all that is read. `names` are those by which attributes of modules are read."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.names_met: set[str] = set()
        self.hash = hashlib.sha256()
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        self._files: set[str] = set()
        self._bytes = 0

    def text(self, *parts: str) -> None:
        """Add texts."""
        for part in parts:
            self.data(part.encode("utf-8", "surrogatepass"))

    def data(self, part: bytes) -> None:
        """Add bytes, so that where they end is told too."""
        self._bytes += len(part)
        if self._bytes > _MOST_BYTES:
            raise _Unknown
        self.hash.update(struct.pack("<q", len(part)))
        self.hash.update(part)

    def argument(self, argument: ArgumentType) -> None:
        """Add the type of an argument."""
        leaves, structure = flatten(argument)
        self._structure(structure)
        for leaf in leaves:
            if isinstance(leaf, Static):
                self.text("static")
                self.value(leaf.value)
            elif isinstance(leaf, ShapedArray):
                shape = ",".join(str(size) for size in leaf.shape)
                self.text(f"traced [{shape}] {leaf.dtype.name} {leaf.weak_type}")
            else:
                raise _Unknown

    def _structure(self, structure: TreeDef) -> None:
        self.value(structure.kind)
        self.value(structure.keys)
        for child in structure.children:
            self._structure(child)

    def value(self, value: Any) -> None:
        """Add a value and all that it leads to."""
        kind = cast("Any", type(value))
        if kind in _ATOMS:
            self.text(kind.__name__, repr(value))
        elif kind is float or kind is complex:
            number = cast("complex", value)
            self.text(kind.__name__)
            self.data(struct.pack("<dd", number.real, number.imag))
        elif kind is str:
            self.text("str", value)
        elif kind is bytes:
            self.text("bytes")
            self.data(value)
        else:
            self._object(value, kind)

    def _object(self, value: Any, kind: Any) -> None:
        number = self._numbers.get(id(value))
        if number is not None:
            self.text("again", str(number))
            return
        self._numbers[id(value)] = len(self._kept)
        self._kept.append(value)
        if len(self._kept) > _MOST_OBJECTS:
            raise _Unknown
        name = library_name(value) if kind is not ModuleType else None
        if name is not None:
            self.text("library", name)
        elif kind in _VISITORS:
            self.text(kind.__name__)
            _VISITORS[kind](self, value)
        elif value is NoneType:
            self.text("NoneType")
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, np.generic):
            self.text("number")
            self.array(np.asarray(cast("Any", value)))
        elif isinstance(value, np.dtype):
            self.text("dtype", cast("np.dtype[Any]", value).str)
            if cast("np.dtype[Any]", value).kind not in _PLAIN_KINDS:
                raise _Unknown
        elif kind.__module__.partition(".")[0] in OWN and hasattr(value, "__dict__"):
            self.text("own", kind.__module__, kind.__qualname__)
            self.items(_without(value.__dict__, _OWN_STATE))
        else:
            self._instance(value, kind)

    def items(self, values: Mapping[Any, Any]) -> None:
        """Add keys and values, in their order."""
        self.text(str(len(values)))
        for key, part in values.items():
            self.value(key)
            self.value(part)

    def sequence(self, values: Any) -> None:
        """Add what stands in a list or tuple."""
        self.text(str(len(values)))
        for part in values:
            self.value(part)

    def array(self, array: Any) -> None:
        """Add an array."""
        if array.dtype.kind not in _PLAIN_KINDS:
            raise _Unknown
        if self._bytes + array.nbytes > _MOST_BYTES:
            raise _Unknown
        flags = f"{array.flags.c_contiguous} {array.flags.f_contiguous} {array.flags.writeable}"
        self.text("array", array.dtype.str, str(array.shape), flags)
        self.data(array.tobytes())

    # -- code -------------------------------------------------------------------------------------

    def function(self, function: FunctionType) -> None:
        """Add what a function is, and what its code can read."""
        code = function.__code__
        names = set[str]()
        self._code(code, names)
        self.data(marshal.dumps(code, 2))
        self._file(code.co_filename, function.__globals__)
        self.value(function.__defaults__)
        self.value(function.__kwdefaults__)
        self.items(vars(function))
        for cell in function.__closure__ or ():
            try:
                self.value(cell.cell_contents)
            except ValueError:  # not assigned yet
                self.text("empty")
        namespace = function.__globals__
        if namespace.get("__builtins__") not in (builtins, vars(builtins)):
            raise _Unknown
        for name in sorted(names):
            if name in namespace:
                self.text("global", name)
                self.value(namespace[name])
            elif name in vars(builtins):
                self.text("builtin", name)
                if name not in BUILTINS and not is_exception(vars(builtins)[name]):
                    raise _Unknown
                self.value(vars(builtins)[name])

    def _code(self, code: CodeType, names: set[str]) -> None:
        """Collect the names that code reads, with those of the code in it."""
        operations = code.co_code[::2]
        if _IMPORT in operations or not _CHANGES_GLOBALS.isdisjoint(operations):
            raise _Unknown
        for name in code.co_names:
            special = name.startswith("__") and name.endswith("__")
            if (special and name not in SPECIAL_NAMES | BUILTINS) or name in LEADING_AWAY:
                raise _Unknown
        names.update(code.co_names)
        self.names_met.update(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant, names)

    def _file(self, file: str, namespace: Mapping[str, Any]) -> None:
        """The source that is converted, which might not be that of the code any more."""
        if file not in self._files:
            self._files.add(file)
            self.text("file", *lines_of(file, namespace))

    # -- modules, classes and instances -------------------------------------------------------

    def module(self, module: ModuleType) -> None:
        """Add what code can read of a module."""
        name = module.__name__
        self.text("module", name)
        if name == "s2s":
            return
        if name in OPAQUE_MODULES or (name.partition(".")[0] in PURE and name not in MODULES):
            raise _Unknown
        contents = vars(module)
        if "__getattr__" in contents and name not in MODULES:
            raise _Unknown
        for key in sorted(self.names & contents.keys()):
            self.text("attribute", key)
            self.value(contents[key])

    def _class(self, of: type) -> None:
        if type(of) is not type:
            raise _Unknown
        self.text("class", of.__module__, of.__qualname__)
        self.sequence(of.__bases__)
        members = _without(vars(of), _NOT_OF_CLASS)
        self.items({key: one for key, one in members.items() if not _is_generated(key, one)})

    def _instance(self, value: Any, kind: Any) -> None:
        self.text("instance")
        self.value(kind)
        if is_namedtuple(value):
            self.sequence(list(cast("Any", tuple).__iter__(value)))
        elif not _is_plain(kind):
            raise _Unknown
        if kind.__dictoffset__:
            self.items(value.__dict__)
        for base in kind.__mro__:
            for slot in _slots(base):
                self.text(slot.__name__)
                try:
                    self.value(slot.__get__(value))
                except AttributeError:  # not assigned
                    self.text("empty")


def _is_plain(kind: type) -> bool:
    """Whether instances are no larger than their attributes are, so that they hold nothing else."""
    words = sum(len(_slots(base)) for base in kind.__mro__)
    words += (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    size = object.__basicsize__ + words * struct.calcsize("P")
    return kind.__basicsize__ == size and kind.__itemsize__ == 0


def _slots(of: type) -> list[Any]:
    return [member for member in vars(of).values() if type(member) is MemberDescriptorType]


def _is_generated(name: str, member: Any) -> bool:
    """Whether a class has a function from `dataclass` or `NamedTuple` that its fields explain.

    An `__init__` that `dataclass` wrote is not one of these: it holds the defaults.
    """
    is_wrapped = isinstance(member, (classmethod, staticmethod))
    function: Any = cast("Any", member).__func__ if is_wrapped else member
    if not isinstance(function, FunctionType):
        return False
    if function.__code__.co_filename == "<string>" and name in ("__delattr__", "__hash__"):
        return True
    module: str = function.__globals__.get("__name__", "")
    return module in ("collections", "dataclasses", "reprlib") or module.startswith("namedtuple_")


class _Pair(NamedTuple):
    first: Any


def _without(values: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in names}


_ATOMS = frozenset({int, bool, type(None), EllipsisType, type(NotImplemented), range})

_OWN_STATE = frozenset(
    {"__doc__", "_enter", "_found", "_num_args", "_signature", "applications", "compiled"}
)
"""What the functions of s2s keep for themselves."""

_VISITORS: dict[Any, Callable[[_Reading, Any], None]] = {
    list: _Reading.sequence,
    tuple: _Reading.sequence,
    dict: _Reading.items,
    slice: lambda reading, value: reading.sequence((value.start, value.stop, value.step)),
    np.ndarray: _Reading.array,
    FunctionType: _Reading.function,
    MethodType: lambda reading, value: reading.sequence((value.__self__, value.__func__)),
    functools.partial: lambda reading, value: reading.sequence(
        (value.func, value.args, value.keywords)
    ),
    property: lambda reading, value: reading.sequence((value.fget, value.fset, value.fdel)),
    staticmethod: lambda reading, value: reading.value(value.__func__),
    classmethod: lambda reading, value: reading.value(value.__func__),
    MemberDescriptorType: lambda reading, value: reading.text(value.__name__),
    type(_Pair.first): lambda reading, value: reading.value(value.__reduce__()[1]),
    ModuleType: _Reading.module,
}
"""How values of other kinds are added, by their class."""
