"""Argument types from annotations.

    float                                       ->  float
    Float64[np.ndarray, "n d"]                  ->  f64[n, d]     (jaxtyping's form)
    Annotated[np.ndarray, "f64[n, d]"]          ->  f64[n, d]
    a dataclass or NamedTuple of these          ->  Params(w=f64[n], b=float)
    NDArray[np.float32]                         ->  f32[...], which the user is asked to complete

jaxtyping is recognised by its form, and need not be installed: what stands in an annotation as a
string, or under `from __future__ import annotations`, is read as text if it cannot be evaluated.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any

import numpy as np

from s2s.frontend.argument_types.text import element_type, field_names, parse_size, parse_type
from s2s.frontend.argument_types.types import ArgumentType, Missing
from s2s.ir.dims import Size
from s2s.ir.dtypes import FLOAT64, PYTHON_SCALARS, SHORT_NAMES, DType
from s2s.ir.jaxpr import ShapedArray
from s2s.tree import TreeDef, build_node

UNKNOWN = Missing("f64[...]")


def type_of_annotation(annotation: Any, namespace: Mapping[str, Any]) -> ArgumentType:
    """The type that an annotation stands for, with `Missing` leaves where it does not say all.

    `namespace` is the module that the annotation stands in. Raises UserError for a shape that
    cannot be read.
    """
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return _of_text(annotation, namespace)
    if annotation is None or annotation is type(None):
        return None
    jaxtyping = _jaxtyping_parts(annotation)
    if jaxtyping is not None:
        return _array(*jaxtyping)
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    alias = getattr(origin or annotation, "__value__", None)  # of a `type` statement
    if alias is not None:
        return type_of_annotation(alias[parts] if parts else alias, namespace)
    if origin is typing.Annotated:
        return _annotated(parts, namespace)
    if origin is np.ndarray:
        return _numpy_array(parts)
    if origin in (typing.Union, types.UnionType):
        return _union(parts, namespace)
    if origin is tuple and parts and parts[-1] is not Ellipsis:
        return tuple(type_of_annotation(part, namespace) for part in parts)
    return _of_class(annotation) if isinstance(annotation, type) else UNKNOWN


def _of_class(kind: Any) -> ArgumentType:
    """A number's class, or a class with annotated fields: dataclass, NamedTuple or TypedDict."""
    if kind in PYTHON_SCALARS:
        return ShapedArray((), PYTHON_SCALARS[kind], weak_type=True)
    if issubclass(kind, np.generic):
        dtype = element_type(kind.__name__)
        return UNKNOWN if dtype is None else ShapedArray((), dtype)
    module = sys.modules.get(kind.__module__)
    namespace = {} if module is None else vars(module)
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        hints.update(inspect.get_annotations(base))
    if typing.is_typeddict(kind):
        return {key: type_of_annotation(hint, namespace) for key, hint in hints.items()}
    fields = field_names(kind)
    if not fields:
        return UNKNOWN
    parts = [type_of_annotation(hints.get(field, UNKNOWN), namespace) for field in fields]
    return build_node(TreeDef(kind, fields), parts)


def _annotated(parts: tuple[Any, ...], namespace: Mapping[str, Any]) -> ArgumentType:
    texts = [part for part in parts[1:] if isinstance(part, str)]
    if texts:
        return parse_type(texts[0], "the annotation", namespace)
    return type_of_annotation(parts[0], namespace)


def _numpy_array(parts: tuple[Any, ...]) -> Missing:
    """`NDArray[np.float32]` is `np.ndarray[..., np.dtype[np.float32]]`."""
    for kind in typing.get_args(parts[-1]) if parts else ():
        found = type_of_annotation(kind, {})
        if isinstance(found, ShapedArray):
            return _without_shape(found.dtype)
    return UNKNOWN


def _without_shape(dtype: DType) -> Missing:
    name = SHORT_NAMES[dtype]
    return Missing(f"{name}[...]", f"NDArray says {name}, but not the shape")


def _union(parts: tuple[Any, ...], namespace: Mapping[str, Any]) -> ArgumentType:
    """Optional[X] is X; of other unions none is chosen."""
    some = [part for part in parts if part is not type(None)]
    return type_of_annotation(some[0], namespace) if len(some) == 1 else UNKNOWN


# -- jaxtyping ------------------------------------------------------------------------------------

_FAMILIES = {
    "Float": "float64",
    "Inexact": "float64",
    "Real": "float64",
    "Num": "float64",
    "Shaped": "float64",
    "Int": "int64",
    "Integer": "int64",
    "UInt": "uint64",
    "Complex": "complex128",
}
"""The element type that is taken where an annotation names a whole family of them."""


def _jaxtyping_parts(annotation: Any) -> tuple[DType, str] | None:
    """The dtype and the axes of a class that jaxtyping made."""
    axes, names = getattr(annotation, "dim_str", None), getattr(annotation, "dtypes", None)
    if not isinstance(axes, str) or names is None:
        return None
    if not hasattr(names, "__iter__"):  # what jaxtyping puts there for any dtype
        return FLOAT64, axes
    each: list[Any] = [names] if isinstance(names, str) else list(names)
    known = [dtype for name in each if (dtype := element_type(str(name))) is not None]
    if FLOAT64 in known or not known:
        return FLOAT64, axes
    return max(known, key=lambda dtype: (dtype.kind != "u", dtype.itemsize)), axes


def _of_text(text: str, namespace: Mapping[str, Any]) -> ArgumentType:
    """An annotation given as a string: evaluated if it can be, else read for jaxtyping's form."""
    try:
        return type_of_annotation(_evaluate(text, namespace), namespace)
    except (NameError, AttributeError, TypeError, SyntaxError):
        pass
    try:
        expression = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return UNKNOWN
    match expression:
        case ast.Subscript(value=kind, slice=ast.Tuple(elts=[_, ast.Constant(value=str(axes))])):
            name = kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", "")
            if name == "Annotated":
                return parse_type(axes, "the annotation", namespace)
            dtype = element_type(_FAMILIES.get(name, name.lower()))
            return UNKNOWN if dtype is None else _array(dtype, axes)
        case ast.Subscript(value=ast.Name(id="NDArray") | ast.Attribute(attr="NDArray")):
            kind = expression.slice
            dtype = element_type(getattr(kind, "attr", getattr(kind, "id", "")))
            return UNKNOWN if dtype is None else _without_shape(dtype)
        case _:
            return UNKNOWN


def _evaluate(text: str, namespace: Mapping[str, Any]) -> Any:
    found = eval(text, dict(namespace))
    if isinstance(found, str):
        raise TypeError(text)
    return found


def _array(dtype: DType, axes: str) -> ArgumentType:
    """`"batch d"`, `"3 n"`, `"n+1"`; `"rows=4"` is 4, as jaxtyping documents it."""
    name = SHORT_NAMES[dtype]
    shape: list[Size] = []
    for axis in axes.split():
        text = re.sub(r"^[^\W\d]\w*=", "", axis.lstrip("?"))
        if text.startswith(("*", "#", "...", "_")):
            return Missing(f"{name}[...]", f'"{axes}" leaves its shape open')
        shape.append(parse_size(text, "the annotation"))
    return ShapedArray(tuple(shape), dtype)
