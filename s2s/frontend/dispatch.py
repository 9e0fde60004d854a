"""Calls in converted code: what is called decides what happens.

| what is called                          | under tracing                                      |
|-----------------------------------------|----------------------------------------------------|
| a function of the user's                | is converted, once, and called                     |
| NumPy's, `math`'s, a builtin            | its traced counterpart, if an argument is traced   |
| a method, `functools.partial`, `__call__` | the function behind it                           |
| a class of the user's                   | its `__init__` is converted                        |
| s2s's own, any other library's          | is called as it is                                 |

Functions are found by identity, so under whatever name the user's code knows them.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import math
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, cast

import numpy as np

from s2s.frontend import leaks
from s2s.frontend.control_flow.growing import Growing
from s2s.frontend.control_flow.iteration import Items
from s2s.frontend.control_flow.perhaps_none import PerhapsNone, all_given, given
from s2s.frontend.control_flow.stacked import STACKED, StackedList, with_arrays
from s2s.frontend.control_flow.state import changing
from s2s.frontend.library import is_own, public_name
from s2s.frontend.outside import is_left_out
from s2s.frontend.own_arrays import made
from s2s.frontend.randomness import Generators, is_random
from s2s.frontend.texts import Text, filled
from s2s.frontend.users_functions import converted, is_users_function, users_method
from s2s.ir.dims import Dim
from s2s.ir.jaxpr import Var
from s2s.numpy.registry import COUNTERPARTS, CREATION, mistake
from s2s.numpy.writing import WRITING
from s2s.trace import Tracer, builder_in_force, tracer_of

Arguments = Sequence[Any]
Keywords = Mapping[str, Any]

counterparts: dict[Callable[..., Any], Callable[..., Any]] = {}
"""The traced counterparts of what is not NumPy's: builtins and the `math` module. They are called
if an argument is traced."""

always: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Counterparts that are called in any case, since their arguments may hold functions or iterators
that give traced values."""


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)` in the user's code."""
    builder = builder_in_force()
    if builder is None:
        return function(*args, **kwargs)
    before = builder.source
    handler = _HANDLERS.get(function.__class__, _call_object)
    result = handler(function, args, kwargs)
    builder.source = before
    if result.__class__ is np.ndarray and _is_numpys(function):
        return made(result, (getattr(function, "__self__", None), *args, *kwargs.values()))
    return result


def _is_numpys(function: Any) -> bool:
    """Whether this is NumPy's, or a method of an array."""
    module: str = getattr(function, "__module__", None) or function.__class__.__module__
    owner: object = getattr(function, "__self__", None)
    return module.partition(".")[0] == "numpy" or isinstance(owner, np.ndarray)


# -- whether something is traced ------------------------------------------------------------------

_SIMPLE = frozenset({int, float, bool, str, type(None), np.ndarray, np.float64, FunctionType})


def is_traced_inside(value: Any) -> bool:
    """Whether a value is traced or a named size, or a container with one in it."""
    if value.__class__ in _SIMPLE:
        return False
    if isinstance(value, (Tracer, Dim, Items, Growing, PerhapsNone, StackedList, Text)):
        return True
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(is_traced_inside, cast("Iterable[Any]", value)))
    if isinstance(value, dict):
        return any(map(is_traced_inside, cast("dict[Any, Any]", value).values()))
    if isinstance(value, slice):
        bounds = cast("slice[Any, Any, Any]", value)
        return any(map(is_traced_inside, (bounds.start, bounds.stop, bounds.step)))
    return False


def python_type(value: Tracer) -> type:
    """The class that a traced value would have: a Python scalar's, or NumPy's array."""
    aval = value.aval
    if not aval.weak_type:
        return np.ndarray
    return {"b": bool, "i": int, "f": float, "c": complex}[aval.dtype.kind]


def _any_traced(args: Arguments, kwargs: Keywords) -> bool:
    return any(map(is_traced_inside, args)) or any(map(is_traced_inside, kwargs.values()))


# -- what is called -------------------------------------------------------------------------------


def _call_function(function: FunctionType, args: Arguments, kwargs: Keywords) -> Any:
    if is_users_function(function):
        return converted(function)(*args, **kwargs)
    return _call_library(function, args, kwargs)


def _call_method(method: MethodType, args: Arguments, kwargs: Keywords) -> Any:
    if isinstance(method.__self__, Tracer):
        return method(*args, **kwargs)
    if is_users_function(method.__func__):
        return call(method.__func__, method.__self__, *args, **kwargs)
    return _call_library(method, args, kwargs)


def _call_builtin(function: Any, args: Arguments, kwargs: Keywords) -> Any:
    owner = cast("object", function.__self__)
    kind = type(owner)
    if isinstance(owner, np.ndarray):
        return _call_array_method(function, args, kwargs)
    if owner is not None and not isinstance(owner, (ModuleType, type, *_UNCHANGING)):
        changing(owner)
    if kind is str and function.__name__ == "format" and _any_traced(args, kwargs):
        return filled(cast("str", owner), args, dict(kwargs))
    if kind in (list, dict, set):
        leaks.stored((args, kwargs), f"a {kind.__name__}")
        if function.__name__ in _CHANGES_CONTAINER and not _any_traced(args, kwargs):
            leaks.changed(owner, f"a {kind.__name__}")
    return _call_library(function, args, kwargs)


_UNCHANGING = (str, bytes, int, float, complex, tuple, frozenset, np.generic)


def _call_array_method(method: Any, args: Arguments, kwargs: Keywords) -> Any:
    """A method of an array that is not traced."""
    owner = method.__self__
    if _any_traced(args, kwargs):
        builder = builder_in_force()
        assert builder is not None
        var = builder.atom(owner)
        assert isinstance(var, Var)
        return getattr(tracer_of(builder, var), method.__name__)(*args, **kwargs)
    if method.__name__ in _CHANGES_ARRAY:
        leaks.changed(owner, "an array")
        changing(owner)
    return method(*args, **kwargs)


_CHANGES_CONTAINER = frozenset(
    {
        *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"),
        *("add", "discard", "update", "popitem"),
    }
)
"""But for `setdefault`, which may give a dict a value that it had not."""

_CHANGES_ARRAY = frozenset({"sort", "fill", "put", "partition", "resize", "setfield"})


def _call_descriptor(method: Any, args: Arguments, kwargs: Keywords) -> Any:
    """A method called through its class: `np.ndarray.sum(x)`."""
    if not args:
        return method(**kwargs)
    owner, *rest = args
    if method.__objclass__ is np.ndarray:
        return call(getattr(owner, method.__name__), *rest, **kwargs)
    if isinstance(owner, (list, dict, set)):
        changing(owner)
    if method.__name__ in ("__setattr__", "__setitem__", "append", "update"):
        leaks.stored(rest, f"a {type(args[0]).__name__}")
    return _call_library(method, args, kwargs)


def _call_partial(function: Any, args: Arguments, kwargs: Keywords) -> Any:
    return call(function.func, *function.args, *args, **{**function.keywords, **kwargs})


def _call_cached(function: Any, args: Arguments, kwargs: Keywords) -> Any:
    """A function behind `functools.lru_cache`, which must not keep traced values."""
    if _any_traced(args, kwargs):
        return call(function.__wrapped__, *args, **kwargs)
    return function(*args, **kwargs)


def _call_object(target: Any, args: Arguments, kwargs: Keywords) -> Any:
    """A class, a NumPy function, or an object with `__call__`."""
    if isinstance(target, type):
        return _call_class(target, args, kwargs)
    if isinstance(target, Tracer):
        raise TypeError("a value that depends on the arguments is not a function")
    method = type(target).__call__
    if is_users_function(method):
        return call(method, target, *args, **kwargs)
    if method in always:
        return always[method](target, *args, **kwargs)
    return _call_library(target, args, kwargs)


def _call_class(target: Any, args: Arguments, kwargs: Keywords) -> Any:
    """A class: what `type.__call__` does, with the user's `__new__` and `__init__` converted."""
    if type(target).__call__ is not type.__call__:
        return _call_library(target, args, kwargs)
    post_init: Any = getattr(target, "__post_init__", None)
    if hasattr(target, "__dataclass_fields__") and is_users_function(post_init):
        # The generated __init__ finds it in the class, and nowhere else.
        with _replaced(target, "__post_init__", converted(post_init)):
            return target(*args, **kwargs)
    if not is_users_function(target.__new__) and not is_users_function(target.__init__):
        return _call_library(target, args, kwargs)
    if target.__new__ is object.__new__:
        instance = object.__new__(target)
    else:
        instance = call(target.__new__, target, *args, **kwargs)
    if isinstance(instance, target):
        call(target.__init__, instance, *args, **kwargs)
    return instance


@contextlib.contextmanager
def _replaced(owner: type, name: str, value: Any) -> Generator[None]:
    own = vars(owner).get(name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own is None:
            delattr(owner, name)
        else:
            setattr(owner, name, own)


# -- what is a library's --------------------------------------------------------------------------

generators: list[Generators] = []
"""The generators of random numbers of the traces that are going on, the innermost last."""


def _call_library(function: Any, args: Arguments, kwargs: Keywords) -> Any:
    """The traced counterpart of a library's function, or the function itself."""
    if getattr(function, "__self__", None).__class__ not in _CONTAINERS:
        args, kwargs = [*map(all_given, args)], {k: all_given(v) for k, v in kwargs.items()}
    asked = _special_method(function, args)
    if asked is not None:
        return call(asked, *args, **kwargs)
    is_traced = _any_traced(args, kwargs)
    counterpart = _counterpart(function, is_traced)
    if counterpart is not None:
        if function in COUNTERPARTS:
            if args and isinstance(args[0], StackedList) and function in STACKED:
                return STACKED[function](args[0], *args[1:], **kwargs)
            args, kwargs = [*map(with_arrays, args)], {k: with_arrays(v) for k, v in kwargs.items()}
        return counterpart(*args, **kwargs)
    if _is_own(function):
        return function(*args, **kwargs)
    if is_left_out(function, args, kwargs):
        return None
    if is_random(function):
        return generators[-1].call(function, args, kwargs)
    if is_traced and _is_numerical(function):
        raise mistake(
            f"{public_name(function)} of a value that depends on the arguments is not supported. "
            "Write it with functions that are, or compute it outside and pass it in."
        )
    if hasattr(function, "registry") and args and isinstance(args[0], Tracer):
        # functools.singledispatch
        return call(function.dispatch(python_type(args[0])), *args, **kwargs)
    for arg in args:
        if isinstance(arg, (list, dict, set, Iterator)):
            changing(arg)
    if not is_traced and _is_numerical(function):
        written = args[0] if function in WRITING and args else kwargs.get("out")
        if isinstance(written, np.ndarray):
            leaks.changed(written, "an array")
            changing(written)
    args, kwargs = _with_functions_converted(function, args, kwargs)
    if isinstance(function, FunctionType) and function.__code__ is _CONTEXT_MANAGER:
        made_from = contextlib.contextmanager(converted(function.__wrapped__))  # type: ignore[attr-defined]
        return made_from(*args, **kwargs)
    if not is_traced:
        return function(*args, **kwargs)
    try:
        return function(*args, **kwargs)
    except (TypeError, ValueError, AttributeError) as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise  # from deeper inside, as the traceback shows
        raise mistake(
            f"{public_name(function)} cannot take a value that depends on the arguments ({error})."
        ) from error


_CONTAINERS = frozenset({list, dict, set})
"""Whose methods may take what is perhaps None."""

_SPECIAL: dict[Callable[..., Any], tuple[str, ...]] = {
    abs: ("__abs__",),
    complex: ("__complex__", "__float__", "__index__"),
    float: ("__float__", "__index__"),
    int: ("__int__", "__index__", "__trunc__"),
    len: ("__len__",),
    math.ceil: ("__ceil__",),
    math.floor: ("__floor__",),
    math.trunc: ("__trunc__",),
    next: ("__next__",),
    reversed: ("__reversed__",),
    round: ("__round__",),
}
"""The methods of an object that a builtin asks: the first that its class has."""


def _special_method(function: Any, args: Arguments) -> Any:
    """The method of the user's behind a builtin: `__abs__` of an object's class for `abs`."""
    if not args or args[0].__class__ in _SIMPLE or isinstance(args[0], Tracer):
        return None
    if function.__class__ not in (BuiltinFunctionType, type):
        return None
    methods = (users_method(args[0].__class__, name) for name in _SPECIAL.get(function, ()))
    return next((method for method in methods if method is not None), None)


_CONTEXT_MANAGER = contextlib.contextmanager(lambda: iter(())).__code__  # type: ignore[attr-defined]


def _counterpart(function: Any, is_traced: bool) -> Callable[..., Any] | None:
    try:
        found = always.get(function)
        if found is None and (is_traced or function in CREATION):
            found = COUNTERPARTS.get(function) or counterparts.get(function)
            if found is None and _knows_of_scipy():
                found = COUNTERPARTS.get(function)
    except TypeError:  # not hashable
        return None
    return found


def _knows_of_scipy() -> bool:
    """Whether SciPy's functions have counterparts from now on: SciPy is not a dependency, so these
    are known only once the user's code has imported it."""
    wanted = [name for name in ("scipy.linalg", "scipy.special") if name in sys.modules]
    new = [f"s2s.{name}" for name in wanted if f"s2s.{name}" not in sys.modules]
    for name in new:
        importlib.import_module(name)
    return bool(new)


def _is_own(function: Any) -> bool:
    """Whether a function is s2s's, such as one made by `s2s.grad`."""
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType):
        return is_own(code.co_filename)
    modules = (type(function).__module__, getattr(function, "__module__", None) or "")
    return any(module.partition(".")[0] in ("s2s", "s2s_codegen") for module in modules)


def _is_numerical(function: Any) -> bool:
    """Whether a function computes with numbers alone, and not with what stands for them."""
    if isinstance(function, np.ufunc):
        return True
    module: str = getattr(function, "__module__", None) or type(function).__module__
    return module.partition(".")[0] in ("numpy", "scipy", "math", "cmath")


def _with_functions_converted(
    function: Any, args: Arguments, kwargs: Keywords
) -> tuple[Arguments, Keywords]:
    """The arguments of a library's function, the functions among them with hooks."""
    module: str = getattr(function, "__module__", None) or ""
    iterates = function in _ITERATING or module in ("itertools", "functools", "_functools")
    applies = function in (map, filter) or module in ("itertools", "functools", "_functools")

    def with_hooks(value: Any) -> Any:
        if iterates and (own := iterator_of(value)) is not None:
            return own
        if is_users_function(value):
            return converted(value)
        if isinstance(value, MethodType) and is_users_function(value.__func__):
            return MethodType(converted(value.__func__), value.__self__)
        if applies and callable(value) and _counterpart(value, is_traced=True) is not None:
            return functools.partial(call, value)
        return value

    return list(map(with_hooks, args)), {name: with_hooks(arg) for name, arg in kwargs.items()}


_ITERATING: tuple[Callable[..., Any], ...] = (
    *(dict, enumerate, filter, frozenset, iter, list, map, set, tuple, zip),
)
"""Builtins that run over their arguments."""


def iterator_of(value: Any) -> Iterator[Any] | None:
    """An iterator over an object whose class says how, by a method of the user's; else None."""
    kind = value.__class__
    if kind in _SIMPLE or builder_in_force() is None:
        return None
    iterates = users_method(kind, "__iter__")
    if iterates is not None:
        made = call(iterates, value)
        following = users_method(made.__class__, "__next__")
        return iter(made) if following is None else _stepped(made, following)
    item = users_method(kind, "__getitem__")
    return _items_of(value, item) if item is not None and not hasattr(kind, "__iter__") else None


def iterated(value: Any) -> Any:
    """What Python has to run over: an iterator where the class is the user's, else the value."""
    value = given(value)
    own = iterator_of(value)
    return value if own is None else own


def _stepped(iterator: Any, following: Any) -> Iterator[Any]:
    with contextlib.suppress(StopIteration):
        while True:
            yield call(following, iterator)


def _items_of(value: Any, item: Any) -> Iterator[Any]:
    with contextlib.suppress(IndexError):
        for index in itertools.count():
            yield call(item, value, index)


_HANDLERS: dict[type, Callable[[Any, Arguments, Keywords], Any]] = {
    FunctionType: _call_function,
    MethodType: _call_method,
    BuiltinFunctionType: _call_builtin,
    MethodDescriptorType: _call_descriptor,
    WrapperDescriptorType: _call_descriptor,
    functools.partial: _call_partial,
    type(functools.lru_cache(lambda: None)): _call_cached,
}
