"""checkpoint: values that the backward part computes again rather than keeps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.control.bodies import Flags, in_loop, split_of
from s2s.control.branch_split import CalleeSplit, split_callee
from s2s.control.call import Call
from s2s.control.higher_order import per_jaxpr
from s2s.control.policies import BY_NAME, Policy, SaveOnlyTheseNames, nothing_saveable
from s2s.control.tidy import Operands, rebuilt
from s2s.control.user_functions import bound_arguments, trace_body
from s2s.ir.dims import Size
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.primitive import BatchAxis, Primitive, Producer, Value, Zero
from s2s.trace import aval, bind, inline, phase
from s2s.tree import tree_map, unflatten

# -- primitives -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Remat(Call):
    """`jaxpr` applied to the operands; its derivative keeps what `policy` says.

    Once `differentiated`, it computes the forward part again and then the derivative.
    """

    differentiated: bool = False
    policy: Policy | SaveOnlyTheseNames | None = None
    prevent_cse: bool = True

    name = "remat2"

    @classmethod
    def from_printed(
        cls, printed: Mapping[str, Any], out_avals: Sequence[ShapedArray]
    ) -> Primitive:
        fields: dict[str, Any] = {**printed}
        fields["policy"] = BY_NAME.get(fields["policy"], fields["policy"])
        return cls(**fields)

    def made(self, what: str, jaxpr: ClosedJaxpr) -> Remat:
        differentiated = self.differentiated or what == "linear"
        return Remat(jaxpr, differentiated, self.policy, self.prevent_cse)

    def split(self, unknown: Flags) -> tuple[CalleeSplit, Flags]:
        return _split(self.jaxpr, unknown, in_loop(), self.policy or nothing_saveable)

    def tidied(
        self,
        args: Sequence[Value],
        producer: Producer,
        tidy: Callable[[ClosedJaxpr], ClosedJaxpr],
    ) -> Sequence[Value] | None:
        """Numbers, and arrays that repeat one, stand in the body."""
        body = tidy(self.jaxpr)
        given = Operands(producer)
        sources = {
            var: given.constant(value, var)
            for var, value in zip(body.jaxpr.invars, args, strict=True)
        }
        if body is self.jaxpr and len(given.values) == len(args):
            return None
        outputs = range(len(body.out_avals))
        return bind(
            self.made("", tidy(rebuilt(body, given.variables, sources, outputs))), *given.values
        )

    def finish(self, args: Sequence[Value]) -> Sequence[Value] | None:
        # Until all else is tidied, so that what is computed again is not found to be there already.
        if self.differentiated and self.prevent_cse:
            return None
        return inline(self.jaxpr, *args)

    def unpack(self, args: Sequence[Value]) -> Sequence[Value] | None:
        return inline(self.jaxpr, *args)


@per_jaxpr
def _split(
    closed: ClosedJaxpr, unknown: Flags, in_loop: bool, policy: Policy
) -> tuple[CalleeSplit, Flags]:
    parts = split_of(closed, unknown, (False,) * len(closed.out_avals), in_loop)
    return split_callee(parts, in_loop, policy), parts.out_unknown


@dataclass(frozen=True)
class Name(Primitive):
    """The operand, under a name that policies know."""

    label: str

    is_cheap = True
    name = "name"

    def parameters(self) -> dict[str, Any]:
        return {"name": self.label}

    @classmethod
    def from_printed(
        cls, printed: Mapping[str, Any], out_avals: Sequence[ShapedArray]
    ) -> Primitive:
        return cls(printed["name"])

    def abstract(self, x: ShapedArray) -> ShapedArray:
        return x

    def evaluate(self, *arrays: Any) -> Any:
        return arrays[0]

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        y = bind(self, *primals)
        if isinstance(tangents[0], Zero):
            return y, Zero(aval(y))
        with phase("tangent"):
            return y, bind(self, *tangents)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [cts[0]]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        return bind(self, args[0]), dims[0]

    def finish(self, args: Sequence[Value]) -> Sequence[Value]:
        return args


# -- the surface ----------------------------------------------------------------------------------


def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
) -> Any:
    """Let the backward part of `fun` compute its values again rather than keep them.

    Args:
        fun: a function of arrays, numbers and containers of them; without it, `checkpoint` is a
            decorator with parameters.
        prevent_cse: whether what is computed again stays apart from the forward part. Inside a
            loop it does in any case.
        policy: which values are kept nevertheless, such as `dots_saveable`; by default none.
        static_argnums: positions of arguments that are not traced.
    """
    if fun is None:
        return functools.partial(
            checkpoint, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums
        )
    static = [static_argnums] if isinstance(static_argnums, int) else list(static_argnums)

    @functools.wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        given = bound_arguments(fun, args, kwargs, static)
        avals = [aval(leaf) for leaf in given.leaves]
        body = trace_body(given.function, given.structures, avals, names=given.names)
        primitive = Remat(body.jaxpr, policy=policy, prevent_cse=prevent_cse)
        return unflatten(body.result, bind(primitive, *body.consts, *given.leaves))

    return checkpointed


remat = checkpoint


def checkpoint_name(x: Any, name: str) -> Any:
    """`x`, an array or a container of arrays, under a name that `save_only_these_names` takes."""

    def named(leaf: Value) -> Value:
        return bind(Name(name), leaf)

    return tree_map(named, x)
