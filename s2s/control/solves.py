"""Linear systems and roots that users solve by functions of their own, with JAX's signatures.

The derivative of a solution is that of the equation it solves, whatever the solver does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.control.bodies import chosen, jvp_of, split_at, transpose_of
from s2s.control.custom_jvp import batched_whole
from s2s.control.higher_order import HigherOrder
from s2s.control.user_functions import Body, call, fits, share_consts, trace_body
from s2s.ir.dims import Size
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.primitive import BatchAxis, Linear, Value, Zero
from s2s.primitives.arithmetic import neg
from s2s.primitives.core import instantiate, move_batch_axis
from s2s.primitives.families import add_any
from s2s.trace import aval, bind, evaluate, inline, inline_call, phase
from s2s.tree import TreeDef, flatten, unflatten


@dataclass(frozen=True, eq=False)
class LinearSolve(HigherOrder):
    """The x for which `matvec` of the constants and x is b, as `solve` of the constants and b finds
    it. The operands are the constants, then b; the results x, then what `solve` gives beside it.
    """

    matvec: ClosedJaxpr
    num_consts: int
    solve: ClosedJaxpr
    transpose_solve: ClosedJaxpr | None

    name = "custom_linear_solve"

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        return self.solve.out_avals

    def evaluate(self, *arrays: Any) -> list[Any]:
        return evaluate(self.solve, *arrays)

    def finish(self, args: Sequence[Value]) -> Sequence[Value] | None:
        return inline_call(self.solve, *args)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        results = bind(self, *primals)
        consts, b = split_at(primals, self.num_consts)
        const_dots, b_dots = split_at(tangents, self.num_consts)
        x, aux = results[: len(b)], results[len(b) :]
        with phase("tangent"):
            # A x = b, hence A x_dot = b_dot - A_dot x.
            active = tuple(not isinstance(t, Zero) for t in const_dots)
            both, on = jvp_of(self.matvec, (*active, *[False] * len(x)), (False,) * len(x))
            dots = inline(both, *consts, *x, *chosen(const_dots, active))[len(x) :]
            moved = iter(dots)
            right = [
                add_any(b_dot, neg(next(moved))) if is_on else b_dot
                for b_dot, is_on in zip(b_dots, on, strict=True)
            ]
            if all(isinstance(r, Zero) for r in right):
                x_dots: list[Value] = right
            else:
                x_dots = bind(self, *consts, *map(instantiate, right))[: len(b)]
        return results, [*x_dots, *[Zero(aval(value)) for value in aux]]

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        if any(isinstance(const, Linear) for const in args[: self.num_consts]):
            raise TypeError("the solution of a linear system is not linear in its matrix")
        if self.transpose_solve is None:
            raise TypeError(
                "custom_linear_solve needs `transpose_solve`, or `symmetric`, for reverse mode"
            )
        num = len(args) - self.num_consts
        linear = (*[False] * self.num_consts, *[True] * num)
        if self.transpose_solve is self.solve:
            vecmat = self.matvec
        else:
            vecmat, _ = transpose_of(self.matvec, linear, (True,) * num)
        adjoint = LinearSolve(vecmat, self.num_consts, self.transpose_solve, self.solve)
        given = map(instantiate, cts[:num])
        bars = bind(adjoint, *args[: self.num_consts], *given)[:num]
        return [*[None] * self.num_consts, *bars]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        operands, batched = _all_batched(size, args, dims, self.num_consts)
        primitive = LinearSolve(
            batched_whole(self.matvec, size, batched),
            self.num_consts,
            batched_whole(self.solve, size, batched),
            self.transpose_solve and batched_whole(self.transpose_solve, size, batched),
        )
        return bind(primitive, *operands), [0] * len(self.solve.out_avals)


def _all_batched(
    size: Size, args: Sequence[Value], dims: Sequence[BatchAxis], num_consts: int
) -> tuple[list[Value], tuple[bool, ...]]:
    """The operands with batch axes in front, and one for each that is no constant."""
    batched = tuple(dim is not None or i >= num_consts for i, dim in enumerate(dims))
    return [
        move_batch_axis(value, dim, 0, size) if on else value
        for value, dim, on in zip(args, dims, batched, strict=True)
    ], batched


def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The x with `matvec(x) == b`, found by `solve(matvec, b)` and differentiated by the equation.

    Args:
        matvec: a linear function, which may close over traced values; from containers like `b` to
            containers like `b`.
        b: an array, or a container of arrays.
        solve: a function of `matvec` and `b`, which returns x, and with `has_aux` a pair of x and
            something else that is not differentiated.
        transpose_solve: the same for the transpose of `matvec`; needed for reverse mode unless
            `symmetric`.
        symmetric: whether `matvec` is its own transpose.
        has_aux: whether `solve` returns a pair.

    Returns:
        What `solve` returns.
    """
    leaves, structure = flatten(b)
    avals = [aval(leaf) for leaf in leaves]
    product = trace_body(matvec, [structure], avals)
    _require_like(product, structure, avals, "matvec")

    def solved(right: Any) -> Any:
        return call(solve, matvec, right)

    solver = trace_body(solved, [structure], avals)
    bodies = [product, solver]
    if transpose_solve is not None and not symmetric:
        backward = transpose_solve
        num = len(product.consts)
        linear = (*[False] * num, *[True] * len(avals))
        transposed, _ = transpose_of(product.jaxpr, linear, (True,) * len(avals))

        def vecmat(right: Any) -> Any:
            return unflatten(structure, inline(transposed, *product.consts, *flatten(right)[0]))

        def solved_backward(right: Any) -> Any:
            return call(backward, vecmat, right)

        bodies.append(trace_body(solved_backward, [structure], avals))
    jaxprs, consts = share_consts(bodies)
    adjoint = jaxprs[2] if len(jaxprs) > 2 else jaxprs[1] if symmetric else None
    primitive = LinearSolve(jaxprs[0], len(consts), jaxprs[1], adjoint)
    result = solver.result.children[0] if has_aux else solver.result
    if result != structure:
        raise TypeError(f"solve must return x in the structure of b, {structure}, not {result}")
    return unflatten(solver.result, bind(primitive, *consts, *leaves))


def _require_like(body: Body, structure: TreeDef, avals: Sequence[ShapedArray], what: str) -> None:
    found = body.jaxpr.out_avals
    if body.result != structure or not all(map(fits, avals, found)):
        raise TypeError(
            f"{what} must return what it takes: it takes {list(avals)} and returns {found}"
        )


@dataclass(frozen=True, eq=False)
class Root(HigherOrder):
    """The x for which `f` of the constants and x is zero, as `solve` of the constants and a guess
    finds it. `linear_solve` of the constants, x and y has the z for which the derivative of `f` by
    x along z is y. The operands are the constants, then the guess; the results x, then what `solve`
    gives beside it.
    """

    f: ClosedJaxpr
    linear_solve: ClosedJaxpr
    num_consts: int
    solve: ClosedJaxpr

    name = "custom_root"

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        return self.solve.out_avals

    def evaluate(self, *arrays: Any) -> list[Any]:
        return evaluate(self.solve, *arrays)

    def finish(self, args: Sequence[Value]) -> Sequence[Value] | None:
        return inline_call(self.solve, *args)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        results = bind(self, *primals)
        consts, guess = split_at(primals, self.num_consts)
        const_dots = tangents[: self.num_consts]
        x, aux = results[: len(guess)], results[len(guess) :]
        active = tuple(not isinstance(t, Zero) for t in const_dots)
        x_dots: list[Value] = [Zero(aval(value)) for value in x]
        if any(active):
            with phase("tangent"):
                # f(c, x) = 0, hence (df/dx) x_dot = -(df/dc) c_dot.
                flags = (*active, *[False] * len(x))
                both, _ = jvp_of(self.f, flags, (True,) * len(x))
                moved = inline(both, *consts, *x, *chosen(const_dots, active))[len(x) :]
                x_dots = inline_call(
                    self.linear_solve, *consts, *x, *map(neg, moved), as_phase="tangent"
                )
        return results, [*x_dots, *[Zero(aval(value)) for value in aux]]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        operands, batched = _all_batched(size, args, dims, self.num_consts)
        num = len(args) - self.num_consts
        primitive = Root(
            batched_whole(self.f, size, batched),
            batched_whole(self.linear_solve, size, (*batched, *[True] * num)),
            self.num_consts,
            batched_whole(self.solve, size, batched),
        )
        return bind(primitive, *operands), [0] * len(self.solve.out_avals)


def custom_root(
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    tangent_solve: Callable[[Callable[[Any], Any], Any], Any],
    has_aux: bool = False,
) -> Any:
    """The x with `f(x) == 0`, found by `solve(f, initial_guess)`, differentiated by the equation.

    Args:
        f: a function, which may close over traced values; its result is shaped like its argument.
        initial_guess: where to start: an array, a number, or a container of them.
        solve: a function of `f` and the guess, which returns x, and with `has_aux` a pair of x and
            something else that is not differentiated.
        tangent_solve: a function of a linear function g and y, which returns the z with
            `g(z) == y`; for numbers `lambda g, y: y / g(1.0)`.
        has_aux: whether `solve` returns a pair.

    Returns:
        What `solve` returns.
    """
    leaves, structure = flatten(initial_guess)
    avals = [aval(leaf).strong() for leaf in leaves]
    function = trace_body(f, [structure], avals)
    _require_like(function, structure, avals, "f")

    def solved(guess: Any) -> Any:
        return call(solve, f, guess)

    solver = trace_body(solved, [structure], avals)

    def linear_solve(x: Any, y: Any) -> Any:
        at = flatten(x)[0]
        num = len(function.consts)
        flags = (*[False] * num, *[True] * len(at))
        both, _ = jvp_of(function.jaxpr, flags, (True,) * len(at))

        def derivative(z: Any) -> Any:
            results = inline(both, *function.consts, *at, *flatten(z)[0])
            return unflatten(structure, results[len(at) :])

        return call(tangent_solve, derivative, y)

    linear = trace_body(linear_solve, [structure, structure], [*avals, *avals])
    _require_like(linear, structure, avals, "tangent_solve")
    jaxprs, consts = share_consts([function, linear, solver])
    primitive = Root(jaxprs[0], jaxprs[1], len(consts), jaxprs[2])
    result = solver.result.children[0] if has_aux else solver.result
    if result != structure:
        raise TypeError(f"solve must return x in the structure of the guess, {structure}")
    return unflatten(solver.result, bind(primitive, *consts, *leaves))


def closure_convert(
    fun: Callable[..., Any], *example_args: Any
) -> tuple[Callable[..., Any], list[Any]]:
    """A function that takes what `fun` closes over as further arguments, and these values.

    Args:
        fun: a function that may close over traced values.
        example_args: arguments of the types for which it is converted.

    Returns:
        (converted, values), so that `converted(*args, *values)` is `fun(*args)`.
    """
    leaves, structure = flatten(tuple(example_args))
    body = trace_body(fun, list(structure.children), [aval(leaf) for leaf in leaves])

    def converted(*args: Any) -> Any:
        num = len(body.consts)
        values = args[len(args) - num :]
        given = flatten(tuple(args[: len(args) - num]))[0]
        return unflatten(body.result, inline(body.jaxpr, *values, *given))

    return converted, body.consts
