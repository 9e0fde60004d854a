"""What is known of the libraries that functions use, for `s2s.api.reads`: what depends on its
arguments alone, and what reads or leads to something else."""

from __future__ import annotations

import builtins
import sys
from typing import Any, cast

import numpy as np

OWN = frozenset({"s2s", "s2s_codegen"})

PURE: dict[str, frozenset[str] | None] = {
    "s2s": None,
    "numpy": None,
    "scipy": None,
    "math": None,
    "cmath": None,
    "itertools": None,
    "operator": None,
    "_operator": None,
    "functools": frozenset({"partial", "reduce"}),
    "dataclasses": frozenset({"_replace", "replace"}),
    "typing": frozenset({"Any", "NamedTuple", "Generic", "Protocol", "cast"}),
    "collections": frozenset({"OrderedDict", "defaultdict", "deque", "namedtuple"}),
}
"""The libraries whose functions depend on their arguments alone, and which of them; or all."""

_IMPURE_PLACES = ("numpy.random", "numpy.testing", "numpy.ctypeslib", "numpy.f2py", "scipy.io")
_IMPURE = frozenset(
    """DataSource array2string array_repr array_str attrgetter bmat dump dumps fromfile fromregex
    genfromtxt get_printoptions getbufsize geterr geterrcall info load loadtxt memmap methodcaller
    open_memmap save savetxt savez savez_compressed set_printoptions setbufsize seterr seterrcall
    show_config show_runtime test tofile""".split()
)
"""What reads or writes something else than its arguments, or attributes named by a text."""

LEADING_AWAY = _IMPURE | frozenset(
    """ag_frame cr_frame f_back f_builtins f_globals f_locals format format_map gi_frame
    tb_frame""".split()
)
"""Names of attributes that lead to more than their owner does."""

MODULES = frozenset(
    {*PURE, "numpy.linalg", "numpy.fft", "numpy.polynomial", "scipy.special", "scipy.linalg"}
)
"""Modules of these whose functions may be read as their attributes."""

BUILTINS = frozenset(
    """abs all any bool bytes callable chr classmethod complex dict divmod enumerate filter float
    int isinstance issubclass iter len list map max min next object ord pow property range reversed
    round slice sorted staticmethod str sum super tuple type zip None True False Ellipsis
    NotImplemented __build_class__ __debug__ __name__""".split()
)
"""Builtins that reach nothing by a name given as text, and depend on no state."""

SPECIAL_NAMES = frozenset(
    {"__call__", "__class__", "__init__", "__name__", "__post_init__", "__setattr__"}
)
"""The special names that code may read; others lead to globals, to modules, to all classes."""

OPAQUE_MODULES = frozenset({"builtins", "ctypes", "gc", "importlib", "inspect", "os", "sys"})
"""Modules that hold what is outside of the program, or all of it."""


def library_name(value: Any) -> str | None:
    """The name of what is a library's, if it is there under its own name and is pure."""
    if isinstance(value, np.ufunc):
        for module in ("numpy", "scipy.special"):
            owner = sys.modules.get(module)
            if owner is not None and vars(owner).get(value.__name__) is value:
                return f"{module}.{value.__name__}"
        return None
    if not isinstance(value, type) and hasattr(cast("Any", type(value)), "__getattr__"):
        return None
    module: Any = getattr(value, "__module__", None)
    qualified: Any = getattr(value, "__qualname__", None)
    if type(module) is not str or type(qualified) is not str:
        return None
    if module == "builtins":
        fine = qualified in BUILTINS or is_exception(value)
        return qualified if fine and vars(builtins).get(qualified) is value else None
    root = module.partition(".")[0]
    if root not in PURE or module.startswith(_IMPURE_PLACES):
        return None
    wanted = PURE[root]
    first = qualified.partition(".")[0]
    if first in _IMPURE or (wanted is not None and first not in wanted):
        return None
    found: Any = sys.modules.get(module)
    for part in qualified.split("."):
        found = getattr(found, part, None)
    return f"{module}.{qualified}" if found is value else None


def is_exception(value: Any) -> bool:
    """Whether this is a class of exceptions."""
    return isinstance(value, type) and issubclass(value, BaseException)
