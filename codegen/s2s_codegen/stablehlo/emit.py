"""From a jaxpr to the text of a StableHLO module.

    { lambda ; a:f64[3]. let b:f64[3] = sin a in (b,) }

becomes

    module @loss {
      func.func public @main(%arg0: tensor<3xf64>) -> tensor<3xf64> {
        %0 = stablehlo.sine %arg0 : tensor<3xf64> loc("y"("model.py":3:1))
        return %0 : tensor<3xf64>
      }
    }

What an equation becomes is said by `lower`, one function for each kind of primitive, in the modules
of `s2s_codegen.stablehlo.lower`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s.control.masked import masked
from s2s.errors import UserError
from s2s.ir.dims import Dim, FloorDiv, Shape, Size
from s2s.ir.dtypes import DType
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, ShapedArray, Source, Var
from s2s.passes.bound_dimensions import ragged_results
from s2s.primitive import Primitive, Value
from s2s.trace import make
from s2s_codegen.stablehlo.histories import in_windows
from s2s_codegen.stablehlo.mesh import Sharding, attribute_of
from s2s_codegen.stablehlo.names import Arguments, sizes_needed
from s2s_codegen.stablehlo.padded import padded
from s2s_codegen.stablehlo.products import products_apart
from s2s_codegen.stablehlo.text import (
    dense,
    function_type,
    location,
    string,
    symbol,
    tensor_type,
    value_name,
)

INT32: DType = np.dtype(np.int32)


@dataclass(frozen=True)
class Operand:
    """An SSA value and its type."""

    name: str
    aval: ShapedArray

    @property
    def type(self) -> str:
        return tensor_type(self.aval)


@dataclass
class Module:
    """The functions of a module being written."""

    functions: list[str] = field(default_factory=list[str])
    names: set[str] = field(default_factory=lambda: {"main"})
    calls: dict[Any, str] = field(default_factory=dict[Any, str])
    """The function made for a jaxpr that is called, by the jaxpr."""

    def fresh(self, name: str) -> str:
        """A name for a function that no other one has."""
        candidate, count = name, 0
        while candidate in self.names:
            count += 1
            candidate = f"{name}_{count}"
        self.names.add(candidate)
        return candidate


class Emitter:
    """The body of one function being written. Regions of control flow are written into it too."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[str] = []
        self.sizes: dict[str, Operand] = {}
        """For each named dimension, its size as an i32."""
        self._count = 0
        self._indent = "    "
        self._location = ""
        self.source: Source | None = None
        """The user's line that is being written."""
        self._constants: list[dict[Any, Operand]] = [{}]
        """Constants and shapes that were made, here and in the regions around."""

    # -- statements -----------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Write a line as it is."""
        self.lines.append(f"{self._indent}{text}")

    def fresh(self) -> str:
        """A new SSA name."""
        name = f"%{self._count}"
        self._count += 1
        return name

    def op(self, text: str, result: ShapedArray) -> Operand:
        """Write `%n = text` and return `%n`."""
        name = self.fresh()
        self.lines.append(f"{self._indent}{name} = {text}{self._location}")
        return Operand(name, result)

    def ops(self, text: str, results: Sequence[ShapedArray]) -> list[Operand]:
        """Write an operation of several results."""
        if len(results) == 1:
            return [self.op(text, results[0])]
        name = self.fresh()
        bound = f"{name}:{len(results)} = " if results else ""
        self.lines.append(f"{self._indent}{bound}{text}{self._location}")
        return [Operand(f"{name}#{i}", aval) for i, aval in enumerate(results)]

    @property
    def indentation(self) -> str:
        """What a line begins with here."""
        return self._indent

    @contextlib.contextmanager
    def captured(self) -> Generator[list[str]]:
        """The lines of a region: what is written inside goes to the list, indented, and constants
        made inside are not seen outside."""
        outer, self.lines = self.lines, []
        before, self._indent = self._indent, self._indent + "  "
        self._constants.append({})
        try:
            yield self.lines
        finally:
            self.lines, self._indent = outer, before
            self._constants.pop()

    # -- values ---------------------------------------------------------------------------------

    def constant(self, value: Any, aval: ShapedArray) -> Operand:
        """A constant of a type without named dimensions."""
        try:
            array = np.asarray(value, aval.dtype)
        except OverflowError:
            raise UserError(
                f"the integer {value} does not fit in 64 bits, as StableHLO's integers do. Make it "
                "a float, or write a NumPy module.",
                self.source,
            ) from None
        key = (array.tobytes(), aval.dtype, array.shape, aval.shape)
        for known in self._constants:
            if key in known:
                return known[key]
        made = self.op(f"stablehlo.constant {dense(array, aval.dtype)} : {tensor_type(aval)}", aval)
        self._constants[-1][key] = made
        return made

    def scalar(self, value: Any, dtype: DType) -> Operand:
        """A rank-0 constant."""
        return self.constant(value, ShapedArray((), dtype))

    def unary(self, op: str, x: Operand) -> Operand:
        """`stablehlo.op %x`, of the same type."""
        return self.op(f"stablehlo.{op} {x.name} : {x.type}", x.aval)

    def binary(self, op: str, x: Operand, y: Operand) -> Operand:
        """`stablehlo.op %x, %y`, of the same type."""
        return self.op(f"stablehlo.{op} {x.name}, {y.name} : {x.type}", x.aval)

    def convert(self, x: Operand, dtype: DType) -> Operand:
        """The value with another element type."""
        if x.aval.dtype == dtype:
            return x
        to = ShapedArray(x.aval.shape, dtype)
        return self.op(
            f"stablehlo.convert {x.name} : {function_type([x.type], [tensor_type(to)])}", to
        )

    def broadcast(self, x: Operand, shape: Shape, dims: Sequence[int] = ()) -> Operand:
        """The value repeated to `shape`, its own axes becoming `dims`."""
        to = ShapedArray(shape, x.aval.dtype)
        axes = f"dims = [{', '.join(map(str, dims))}]"
        if is_static(shape):
            types = function_type([x.type], [tensor_type(to)])
            return self.op(f"stablehlo.broadcast_in_dim {x.name}, {axes} : {types}", to)
        sizes = self.shape(shape)
        types = function_type([x.type, sizes.type], [tensor_type(to)])
        return self.op(
            f"stablehlo.dynamic_broadcast_in_dim {x.name}, {sizes.name}, {axes} : {types}", to
        )

    def full(self, value: Any, aval: ShapedArray) -> Operand:
        """An array of one number throughout."""
        one = self.scalar(value, aval.dtype)
        return self.broadcast(one, aval.shape) if aval.shape else one

    def reshape(self, x: Operand, shape: Shape) -> Operand:
        """The value with its elements in another shape."""
        to = ShapedArray(shape, x.aval.dtype)
        if is_static((*x.aval.shape, *shape)):
            types = function_type([x.type], [tensor_type(to)])
            return self.op(f"stablehlo.reshape {x.name} : {types}", to)
        sizes = self.shape(shape)
        types = function_type([x.type, sizes.type], [tensor_type(to)])
        return self.op(f"stablehlo.dynamic_reshape {x.name}, {sizes.name} : {types}", to)

    # -- sizes ----------------------------------------------------------------------------------

    def size(self, size: Size) -> Operand:
        """A size as an i32 of rank 0."""
        if not isinstance(size, Dim):
            return self.scalar(size, INT32)
        total: Operand | None = None
        for monomial, coefficient in size.terms:
            term: Operand | None = None
            for atom, power in monomial:
                value = self._quotient(atom) if isinstance(atom, FloorDiv) else self.sizes[atom]
                for _ in range(power):
                    term = value if term is None else self.binary("multiply", term, value)
            scale = self.scalar(coefficient, INT32)
            if term is None:
                term = scale
            elif coefficient != 1:
                term = self.binary("multiply", term, scale)
            total = term if total is None else self.binary("add", total, term)
        assert total is not None
        return total

    def _quotient(self, atom: FloorDiv) -> Operand:
        # Sizes are not negative where they are divided, so truncation is the floor.
        return self.binary("divide", self.size(atom.numerator), self.size(atom.denominator))

    def shape(self, shape: Sequence[Size]) -> Operand:
        """A shape as a vector of i32."""
        aval = ShapedArray((len(shape),), INT32)
        if is_static(shape):
            return self.constant(np.array(shape, INT32), aval)
        one = ShapedArray((1,), INT32)
        key = tuple(map(str, shape))
        for known in self._constants:
            if key in known:
                return known[key]
        parts = [self.reshape(self.size(size), (1,)) for size in shape]
        if len(parts) == 1:
            made = parts[0]
        else:
            names = ", ".join(part.name for part in parts)
            types = function_type([tensor_type(one)] * len(parts), [tensor_type(aval)])
            made = self.op(f"stablehlo.concatenate {names}, dim = 0 : {types}", aval)
        self._constants[-1][key] = made
        return made

    # -- jaxprs ---------------------------------------------------------------------------------

    def at(self, eqn: JaxprEqn) -> None:
        """Give the operations that follow the location of an equation."""
        name = next((var.name for var in eqn.outvars if var.name), eqn.primitive.name)
        self._location = f" {location(name, eqn.source)}"
        self.source = eqn.source

    def inline(self, closed: ClosedJaxpr, operands: Sequence[Operand]) -> list[Operand]:
        """Write the equations of a jaxpr here, and return its results."""
        jaxpr = closed.jaxpr
        env: dict[Var, Operand] = dict(zip(jaxpr.invars, operands, strict=True))
        for var, value in zip(jaxpr.constvars, closed.consts, strict=True):
            env[var] = self.constant(value, var.aval)

        def read(atom: Atom) -> Operand:
            return self.constant(atom.value, atom.aval) if isinstance(atom, Literal) else env[atom]

        before = self._location
        for eqn in jaxpr.eqns:
            self.at(eqn)
            results = lower(
                eqn.primitive,
                self,
                [read(atom) for atom in eqn.invars],
                [var.aval for var in eqn.outvars],
            )
            env.update(zip(eqn.outvars, results, strict=True))
        self._location = before
        return [read(atom) for atom in jaxpr.outvars]


def is_static(shape: Sequence[Size]) -> bool:
    """Whether a shape has no named dimensions."""
    return not any(isinstance(size, Dim) for size in shape)


@functools.singledispatch
def lower(
    primitive: Primitive, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    """Write what a primitive becomes, and return its results.

    By default the primitive's `stablehlo` names an operation on operands of the type of the result.
    """
    if not primitive.stablehlo and _is_composed(primitive):
        return composition(_composed)(primitive, emitter, operands, results)
    if not primitive.stablehlo:
        raise UserError(
            f"{primitive.name} cannot be written as StableHLO; as a NumPy module it can.",
            emitter.source,
        )
    (result,) = results
    full = [
        emitter.broadcast(x, result.shape) if x.aval.ndim == 0 and result.shape else x
        for x in operands
    ]
    names = ", ".join(x.name for x in full)
    return [emitter.op(f"stablehlo.{primitive.stablehlo} {names} : {tensor_type(result)}", result)]


def _composed(primitive: Primitive, *operands: Value) -> Any:
    return primitive.composition(*operands)


def _is_composed(primitive: Primitive) -> bool:
    """Whether a primitive says how it is made of others."""
    return type(primitive).composition is not Primitive.composition


def composition(
    fun: Callable[..., Any],
) -> Callable[[Any, Emitter, list[Operand], list[ShapedArray]], list[Operand]]:
    """A lowering that writes a primitive as others compose it: `fun(primitive, *operands)`."""

    def lowering(
        primitive: Any, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
    ) -> list[Operand]:
        closed = make(lambda *xs: [fun(primitive, *xs)], [x.aval for x in operands])
        return emitter.inline(closed, operands)

    return lowering


def emit_module(
    closed: ClosedJaxpr,
    name: str = "jaxpr",
    attributes: Mapping[str, str] | None = None,
    sharding: Sharding | None = None,
    arguments: Arguments | None = None,
    entry: str = "main",
) -> str:
    """The text of a module whose function `main` computes a jaxpr.

    Args:
        closed: a finished jaxpr (`s2s.passes.pipeline.optimise`).
        name: what the module is called, an identifier.
        attributes: strings that the module carries, by names with a dot in them.
        sharding: how the inputs are divided over devices, if there are several.
        arguments: what is said of arguments whose sizes do not fit together.
        entry: another name for `main`, for a private function that one is still to call.
    """
    import s2s_codegen.stablehlo.lower  # what each primitive becomes
    from s2s_codegen.stablehlo.sizes import bind_sizes

    assert s2s_codegen.stablehlo.lower
    module = Module()
    emitter = Emitter(module)
    parameters = _parameters(closed)
    bind_sizes(emitter, parameters, arguments or _unnamed(closed, name))
    for _, equation in ragged_results(closed):
        raise UserError(
            "the function returns an array whose size depends on the values of the "
            "arguments, and StableHLO's have fixed sizes. Return what is computed of it, fill an "
            "array of a given length, or write a NumPy module.",
            equation.source,
        )
    finished = products_apart(in_windows(padded(masked(closed))))
    visibility = "public" if entry == "main" else "private"
    module.names.add(entry)
    module.functions.append(
        _function(emitter, visibility, entry, finished, parameters, (), sharding)
    )
    entries = [f"{key} = {string(value)}" for key, value in (attributes or {}).items()]
    if sharding is not None:
        module.functions.insert(0, f"  sdy.mesh @mesh = {sharding.mesh.attribute}")
        entries += [
            f"mhlo.num_partitions = {sharding.mesh.num_devices} : i32",
            "mhlo.num_replicas = 1 : i32",
        ]
    body = "\n".join(module.functions)
    carried = ",\n  ".join(entries)
    header = f" attributes {{\n  {carried}\n}}" if carried else ""
    return f"module {symbol(name)}{header} {{\n{body}\n}}\n"


def _parameters(closed: ClosedJaxpr) -> list[Operand]:
    return [Operand(f"%arg{i}", aval) for i, aval in enumerate(closed.in_avals)]


def _unnamed(closed: ClosedJaxpr, function: str) -> Arguments:
    """What is said of arguments of which only the jaxpr is known."""
    names = [var.name or f"argument {i}" for i, var in enumerate(closed.jaxpr.invars)]
    return Arguments(function, names)


def _function(
    emitter: Emitter,
    visibility: str,
    name: str,
    closed: ClosedJaxpr,
    parameters: Sequence[Operand],
    sizes: Sequence[Operand] = (),
    sharding: Sharding | None = None,
) -> str:
    """A function of `parameters`, the operands of the jaxpr, and of the `sizes` that it is told."""
    results = emitter.inline(closed, parameters)
    where = [""] * len(parameters)
    if sharding is not None:
        where = [f" {attribute_of(partition)}" for partition in sharding.inputs]
    signature = ", ".join(
        f"{p.name}: {p.type}{placed} {location(var.name, None)}"
        for p, placed, var in zip(parameters, where, closed.jaxpr.invars, strict=True)
    )
    told = "".join(f", {size.name}: {size.type}" for size in sizes)
    types = ", ".join(result.type for result in results)
    declared = types
    if sharding is not None:
        whole = [attribute_of((None,) * result.aval.ndim) for result in results]
        declared = ", ".join(
            f"{result.type} {placed}" for result, placed in zip(results, whole, strict=True)
        )
    emitter.line(f"return {', '.join(r.name for r in results)} : {types}" if results else "return")
    lines = "\n".join(emitter.lines)
    inputs = f"{signature}{told}".removeprefix(", ")
    return f"  func.func {visibility} {symbol(name)}({inputs}) -> ({declared}) {{\n{lines}\n  }}"


def call(
    emitter: Emitter,
    name: str,
    closed: ClosedJaxpr,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    """Write a call of a private function, and the function if it is not in the module yet.

    The sizes of the named dimensions in it are further operands.
    """
    module = emitter.module
    needed = sizes_needed(closed, emitter.sizes)
    if closed not in module.calls:
        module.calls[closed] = module.fresh(name)
        inside = Emitter(module)
        inside.sizes = {n: Operand(value_name(f"size_{n}"), emitter.sizes[n].aval) for n in needed}
        sizes = list(inside.sizes.values())
        parameters = _parameters(closed)
        text = _function(inside, "private", module.calls[closed], closed, parameters, sizes)
        module.functions.append(text)
    given = [*operands, *[emitter.sizes[name] for name in needed]]
    names = ", ".join(x.name for x in given)
    types = f"({', '.join(x.type for x in given)}) -> ({', '.join(map(tensor_type, results))})"
    return emitter.ops(f"func.call {symbol(module.calls[closed])}({names}) : {types}", results)
