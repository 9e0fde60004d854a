"""What converted code calls in place of what Python does by itself.

| in the user's code          | hook                                             |
|-----------------------------|--------------------------------------------------|
| `f(x)`, `@f`                | `call`, `decorate` (dispatch.py)                 |
| the entry of a function     | `enter` (lines.py), `names` for its parameters   |
| `x = ...`, `for x in`       | `name`, `names`, `iterate`                       |
| `x += ...`                  | `inplace`                                        |
| `x[i] = ...`, `del x[i]`    | `set_item`, `delete_item`                        |
| `x.a = ...`                 | `set_attribute`                                  |
| `global x`; `x = ...`       | `rebind`                                         |
| `x + y`, `-x`, `x[i]`, `x.a` | `binary`, `unary`, `item`, `attribute` (overloads.py) |
| `x is None`, `x is not None` | `is_none`, `is_given`                           |
| `if`, `for`, `while`, `and` | `branch`, `for_loop`, ... (control_flow/)        |
| `assert`, `raise`           | `check`, `raising`                               |
| `if` in a comprehension     | `truth`                                          |
| `try`, `except`             | `trying`, `handling`                             |
| f-strings                   | `formatted` (texts.py)                           |
| `lambda`, `while` test      | `last`, to set the line first                    |
| `locals()`                  | `visible`                                        |
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import CellType
from typing import Any, cast

import numpy as np

from s2s.frontend import leaks
from s2s.frontend.control_flow.at_values import is_index, put_at
from s2s.frontend.control_flow.branches import (
    both,
    branch,
    check,
    choose,
    follow,
    negation,
    tested,
    where_true,
)
from s2s.frontend.control_flow.comparisons import chain, compare
from s2s.frontend.control_flow.comprehensions import Flattened, comprehension, generator
from s2s.frontend.control_flow.loops import for_loop, while_loop
from s2s.frontend.control_flow.outcomes import jump, leaves, result
from s2s.frontend.control_flow.perhaps_none import given, is_none
from s2s.frontend.control_flow.raising import OF_S2S, raising, trying
from s2s.frontend.control_flow.stacked import StackedList
from s2s.frontend.control_flow.state import changing, is_recording, reason_of
from s2s.frontend.conversion import HOOK, HOOKS
from s2s.frontend.dispatch import call, is_traced_inside, iterated
from s2s.frontend.overloads import (
    attribute,
    binary,
    in_place,
    item,
    set_by_method,
    unary,
)
from s2s.frontend.own_arrays import require_traced
from s2s.frontend.texts import formatted
from s2s.frontend.users_functions import hook_cells, users_method
from s2s.numpy.registry import mistake
from s2s.trace import Tracer, builder_in_force, named

# -- names ----------------------------------------------------------------------------------------


def name(value: Any, name: str) -> Any:
    """A value that is assigned to a name: it is called so from now on, unless it has a name."""
    if isinstance(value, StackedList):
        value.named(name)
    return named(value, name) if isinstance(value, (Tracer, np.ndarray)) else value


def names(names: tuple[str, ...], *values: Any) -> None:
    """Values that were bound to names, such as those of parameters."""
    for text, value in zip(names, values, strict=True):
        if isinstance(value, (Tracer, np.ndarray)):
            named(value, text)


def rebind(value: Any, name: str, old: Callable[[], Any]) -> Any:
    """A value that is assigned to a variable outside of the function.

    Refused, but for a first value that does not depend on the arguments.
    """
    if builder_in_force() is not None:
        try:
            is_first = old() is None
        except NameError:
            is_first = True
        if not is_first or is_traced_inside(value) or is_recording():
            leaks.refuse_change(value, f"the variable `{name}`")
    return value


# -- control flow ---------------------------------------------------------------------------------


_INSTEAD = {
    "if": "Write np.where(condition, a, b) to choose between two values",
    "while": "Write a loop of a fixed number of steps, as in `for _ in range(20):`",
    "and": "Behind `and` or `or` there may be no `:=` then: assign in a statement of its own",
    "not": "Write np.logical_not(a)",
    "case": "Put the condition behind `case ... if` into the block, as an `if` with an `else`",
}


def truth(value: Any, construct: str = "if") -> Any:
    """A value that Python asks for its truth. Refused if it depends on the arguments."""
    found = tested(value)
    if isinstance(found, Tracer):
        raise mistake(
            "whether this is true depends on the values of the arguments, and only their types are "
            f"known here. {_INSTEAD[construct]}, or fix an argument's value (--static name=value)."
        )
    return found


def iterate(value: Any) -> Any:
    """What Python runs over or unpacks."""
    return iterated(value)


def is_given(value: Any) -> Any:
    """`value is not None`."""
    return negation(is_none(value))


def managed(value: Any) -> Any:
    """What a `with` enters and leaves."""
    is_own = users_method(value.__class__, "__enter__") or users_method(value.__class__, "__exit__")
    return Managed(value) if is_own and builder_in_force() is not None else value


class Managed:
    """An object that a `with` enters and leaves by methods of the user's."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.kind: Any = type(value)

    def __enter__(self) -> Any:
        return call(self.kind.__enter__, self.value)

    def __exit__(self, *error: Any) -> Any:
        return call(self.kind.__exit__, self.value, *error)


def handling() -> None:
    """At the start of each `except`: what s2s cannot do is no error of the user's to handle."""
    error = sys.exc_info()[1]
    if isinstance(error, NameError) and reason_of(error) is not None:
        raise error
    if isinstance(error, OF_S2S) and builder_in_force() is not None:
        raise error


def last(*values: Any) -> Any:
    """The last of some values computed one after the other."""
    return values[-1]


# -- changes in place -----------------------------------------------------------------------------


def inplace(symbol: str, left: Any, right: Any) -> Any:
    """`left += right` and the like: gives numbers a new value, and changes arrays."""
    left, right = given(left), given(right)
    if isinstance(left, Tracer) or builder_in_force() is None:
        return in_place(symbol, left, right)
    if isinstance(left, np.ndarray):
        if is_traced_inside(right):
            require_traced(left)
        leaks.changed(left, "an array")
        changing(left)
    elif type(left) in (list, dict, set):
        changing(left)
        leaks.stored(right, f"a {type(left).__name__}")
        if not is_traced_inside(right):
            leaks.changed(left, f"a {type(left).__name__}")
    return in_place(symbol, left, right)


def set_item(value: Any, container: Any, index: Any) -> None:
    """`container[index] = value`."""
    container, index = given(container), given(index)
    if isinstance(container, (Tracer, np.ndarray)):
        value = given(value)
    if builder_in_force() is not None and not isinstance(container, Tracer):
        method = users_method(cast("Any", container).__class__, "__setitem__")
        if method is not None:
            call(method, container, index, value)
            return
        if isinstance(container, np.ndarray):
            if is_traced_inside((value, index)):
                require_traced(container)
            leaks.changed(container, "an array")
            changing(container)
        elif type(container) is list and is_index(index):
            put_at(cast("list[Any]", container), index, value)
            return
        elif not isinstance(container, StackedList):  # which tells of its changes itself
            changing(container)
            kind = type(cast("object", container)).__name__
            leaks.stored(value, f"a {kind}")
            if not is_traced_inside(value) and not _is_kept(container, index, value):
                leaks.changed(container, f"a {kind}")
    cast("Any", container)[index] = value


def _is_kept(container: Any, key: Any, value: Any) -> bool:
    """Whether an entry of a dict is a first one, kept for later calls, or stays what it was."""
    if not isinstance(container, dict):
        return False
    old: Any = cast("dict[Any, Any]", container).get(key)
    return old is None or old is value or (type(old) in (int, float, str, bool) and old == value)


def delete_item(container: Any, index: Any) -> None:
    """`del container[index]`."""
    if isinstance(container, Tracer):
        raise mistake("elements of an array cannot be deleted. Use a slice without them instead.")
    if builder_in_force() is not None:
        method = users_method(container.__class__, "__delitem__")
        if method is not None:
            call(method, container, index)
            return
        changing(container)
        leaks.changed(container, f"a {type(container).__name__}")
    del container[index]


def set_attribute(value: Any, owner: Any, attribute: str) -> None:
    """`owner.attribute = value`."""
    if builder_in_force() is None:
        setattr(owner, attribute, value)
        return
    name(value, attribute)
    where = f"the attribute `{attribute}`"
    if isinstance(owner, Tracer) and attribute in ("flat", "real"):
        set_item(value, getattr(owner, attribute), ...)
        return
    if isinstance(owner, (Tracer, np.ndarray)):
        raise mistake(
            f"this sets {where} of an array, which is not supported. "
            "Use a function that returns a new array, such as np.reshape."
        )
    if set_by_method(owner, attribute, value):
        return
    changing(owner)
    if is_traced_inside(value):
        leaks.stored(value, where)
    elif getattr(owner, attribute, None) is not None:
        leaks.changed(owner, where)
    setattr(owner, attribute, value)


# -- the rest -------------------------------------------------------------------------------------


def decorate(decorator: Any) -> Callable[[Any], Any]:
    """A decorator of a function or class that is defined inside of a traced function."""

    def decorated(target: Any) -> Any:
        return call(decorator, target)

    return decorated


def visible(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that are the user's own."""
    return {name: value for name, value in variables.items() if not name.startswith(HOOK)}


_HOOKS: dict[str, Callable[..., Any]] = {
    "attribute": attribute,
    "binary": binary,
    "both": both,
    "branch": branch,
    "call": call,
    "chain": chain,
    "check": check,
    "choose": choose,
    "compare": compare,
    "comprehension": comprehension,
    "decorate": decorate,
    "delete_item": delete_item,
    "flattened": Flattened,
    "follow": follow,
    "for_loop": for_loop,
    "formatted": formatted,
    "generator": generator,
    "handling": handling,
    "inplace": inplace,
    "is_given": is_given,
    "is_none": is_none,
    "item": item,
    "iterate": iterate,
    "jump": jump,
    "last": last,
    "leaves": leaves,
    "managed": managed,
    "name": name,
    "names": names,
    "negation": negation,
    "raising": raising,
    "rebind": rebind,
    "result": result,
    "set_attribute": set_attribute,
    "set_item": set_item,
    "slice": slice,
    "tested": tested,
    "truth": truth,
    "trying": trying,
    "unary": unary,
    "visible": visible,
    "where_true": where_true,
    "while_loop": while_loop,
}
assert {*_HOOKS, "enter"} == set(HOOKS)
hook_cells.update({HOOK + name: CellType(hook) for name, hook in _HOOKS.items()})
