"""The derivative of every primitive that JAX has too is JAX's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from s2s.ir.dtypes import is_inexact
from s2s.primitive import Primitive
from s2s.trace import evaluate
from tests.samples import SAMPLES, Sample
from tests.test_laws import differentiated, directions, draw, real_operands, traced

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add_any": jnp.add,
    "floor_divide": jnp.floor_divide,
    "remainder": jnp.remainder,
    "python_max": jnp.maximum,
    "python_min": jnp.minimum,
    "trunc": jnp.trunc,
    "log2": jnp.log2,
    "log10": jnp.log10,
    "hypot": jnp.hypot,
    "logaddexp": jnp.logaddexp,
    "logaddexp2": jnp.logaddexp2,
    "copysign": jnp.copysign,
    "round": jnp.round,
    "isnan": jnp.isnan,
    "stop_gradient": jax.lax.stop_gradient,
    "copy": jnp.copy,
}
"""JAX's function for elementwise primitives that are not functions of jax.lax of the same name."""

OTHERS: dict[str, Callable[..., Any]] = {
    "integer_pow": lambda p, x: jax.lax.integer_pow(x, p.y),
    "polygamma": lambda p, x: jax.lax.polygamma(float(p.m), x),
    "convert_element_type": lambda p, x: jax.lax.convert_element_type(x, p.new_dtype),
    "select_n": lambda p, c, *xs: _select(c, *xs),
    "broadcast_in_dim": lambda p, x: jax.lax.broadcast_in_dim(x, p.shape, p.broadcast_dimensions),
    "reshape": lambda p, x: jnp.reshape(x, p.new_sizes),
    "transpose": lambda p, x: jnp.transpose(x, p.permutation),
    "squeeze": lambda p, x: jnp.squeeze(x, p.dimensions),
    "rev": lambda p, x: jax.lax.rev(x, p.dimensions),
    "slice": lambda p, x: jax.lax.slice(x, p.start_indices, p.limit_indices, p.strides),
    "pad": lambda p, x, value: jax.lax.pad(x, value, p.padding_config),
    "concatenate": lambda p, *xs: jnp.concatenate(xs, p.dimension),
    "stack": lambda p, *xs: jnp.stack(xs, p.axis),
    "empty": lambda p: jnp.empty(p.shape, p.dtype),
    "iota": lambda p: jax.lax.broadcasted_iota(p.dtype, p.shape, p.dimension),
    "linspace": lambda p, x, y: jnp.linspace(x, y, p.num, endpoint=p.endpoint),
    "reduce_sum": lambda p, x: jnp.sum(x, p.axes),
    "reduce_prod": lambda p, x: jnp.prod(x, p.axes),
    "reduce_max": lambda p, x: jnp.max(x, p.axes),
    "reduce_min": lambda p, x: jnp.min(x, p.axes),
    "cumsum": lambda p, x: jax.lax.cumsum(x, p.axis, p.reverse),
    "cumprod": lambda p, x: jax.lax.cumprod(x, p.axis, p.reverse),
    "cummax": lambda p, x: jax.lax.cummax(x, p.axis, p.reverse),
    "cummin": lambda p, x: jax.lax.cummin(x, p.axis, p.reverse),
    "dot_general": lambda p, x, y: jax.lax.dot_general(x, y, p.dimension_numbers),
    "dynamic_slice": lambda p, x, *starts: jax.lax.dynamic_slice(x, starts, p.slice_sizes),
    "update_slice": lambda p, x, u: x.at[_index(p)].set(u),
    "update_slice_add": lambda p, x, u: x.at[_index(p)].add(u),
    "dynamic_update_slice": lambda p, x, u, *starts: jax.lax.dynamic_update_slice(x, u, starts),
    "nonzero": lambda p, mask: [jnp.sum(mask), *jnp.nonzero(mask)],
    "rows_of_steps": lambda p, count, x: x,
    "sort": lambda p, x: jnp.sort(x, axis=p.dimension),
    "partition": lambda p, x: _in_order(np.partition, x, p.kth, p.dimension),
    "median": lambda p, x: jnp.median(x, p.axis),
    "quantile": lambda p, x: jnp.quantile(x, jnp.asarray(p.q), p.axis),
    "tril": lambda p, x: jnp.tril(x, p.k),
    "triu": lambda p, x: jnp.triu(x, p.k),
    "solve": lambda p, a, b: jnp.linalg.solve(a, b),
    "triangular_solve": lambda p, a, b: _solve_triangular(p, a, b),
    "inv": lambda p, x: jnp.linalg.inv(x),
    "det": lambda p, x: jnp.linalg.det(x),
    "cofactors": lambda p, x: jnp.linalg.det(x)[..., None, None] * jnp.linalg.inv(x).mT,
    "slogdet": lambda p, x: jnp.linalg.slogdet(x),
    "pinv": lambda p, x: jnp.linalg.pinv(x),
    "lstsq": lambda p, a, b: jnp.linalg.lstsq(a, b)[0],
    "cholesky": lambda p, x: jnp.linalg.cholesky(_symmetric(x, True)),
    "qr": lambda p, x: _qr(x),
    "eigh": lambda p, x: jnp.linalg.eigh(_symmetric(x, p.lower)),
    "eigvalsh": lambda p, x: jnp.linalg.eigvalsh(_symmetric(x, p.lower)),
    "svd": lambda p, x: jnp.linalg.svd(x, full_matrices=False),
    "svdvals": lambda p, x: jnp.linalg.svd(x, compute_uv=False),
}

UFUNCS = {sample.numpy for sample in SAMPLES if isinstance(sample.numpy, np.ufunc)}

INDEXED = ("gather", "scatter-add")
"""Compared through the operands' own functions, below."""


def _in_order(function: Callable[..., Any], x: Any, kth: Any, axis: int) -> Any:
    """The elements in the order that NumPy's function gives them, which JAX's may not."""
    known = np.asarray(jax.lax.stop_gradient(x.primal if hasattr(x, "primal") else x))
    order = getattr(np, f"arg{function.__name__}")(known, kth, axis=axis)
    return jnp.take_along_axis(x, order, axis)


def _symmetric(x: Any, lower: bool) -> Any:
    """What NumPy reads of a matrix that it takes for symmetric: one triangle."""
    one = jnp.tril(x) if lower else jnp.triu(x)
    return one + jnp.triu(one.mT, 1) if lower else one + jnp.tril(one.mT, -1)


def _solve_triangular(p: Any, a: Any, b: Any) -> Any:
    columns = b if b.ndim == a.ndim else b[..., None]
    x = jax.lax.linalg.triangular_solve(
        a, columns, left_side=True, lower=p.lower, transpose_a=p.transpose_a
    )
    return x.reshape(b.shape)


def _qr(x: Any) -> Any:
    """JAX has no derivative where there are more columns than rows: there, r is `q.T @ x`."""
    rows, columns = x.shape[-2:]
    if rows >= columns:
        return jnp.linalg.qr(x)
    q, _ = jnp.linalg.qr(x[..., :rows])
    return q, jnp.triu(q.mT @ x)


def _select(which: Any, *cases: Any) -> Any:
    shape = jnp.broadcast_shapes(jnp.shape(which), *map(jnp.shape, cases))
    return jax.lax.select_n(*[jnp.broadcast_to(x, shape) for x in (which, *cases)])


def _index(primitive: Any) -> tuple[slice, ...]:
    ends = zip(
        primitive.start_indices, primitive.limit_indices, primitive.part.steps(), strict=True
    )
    return tuple(slice(*end) for end in ends)


def in_jax(primitive: Primitive) -> Callable[..., Any]:
    """The primitive as a function of JAX arrays; operands of rank 0 are broadcast for it."""
    other = OTHERS.get(primitive.name)
    if other is not None:
        return lambda *xs: other(primitive, *xs)
    function = FUNCTIONS.get(primitive.name) or getattr(jax.lax, primitive.name)
    return lambda *xs: function(*jnp.broadcast_arrays(*xs))


def run(sample: Sample) -> Callable[..., Any]:
    """The sample's function on JAX arrays, equation by equation."""
    closed = traced(sample)

    def fun(*xs: Any) -> Any:
        env = dict(zip(closed.jaxpr.invars, xs, strict=True))
        for eqn in closed.eqns:
            operands = [
                env[a] if a in env else jnp.asarray(a.value, a.aval.dtype) for a in eqn.invars
            ]
            results = in_jax(eqn.primitive)(*operands)
            env.update(
                zip(
                    eqn.outvars,
                    results if eqn.primitive.multiple_results else [results],
                    strict=True,
                )
            )
        return env[closed.jaxpr.outvars[0]]

    return fun


def compared() -> list[Sample]:
    """The samples of primitives that have a derivative, in s2s and in JAX: one for each elementwise
    function, since JAX compiles each anew."""
    unlike = ("scatter", *INDEXED, "dim_as_value", "nextafter")
    chosen: dict[str, Sample] = {}
    for sample in SAMPLES:
        differentiable = real_operands(sample) and is_inexact(traced(sample).out_avals[0].dtype)
        if differentiable and sample.primitive not in unlike:
            chosen.setdefault(sample.primitive if sample.numpy in UFUNCS else str(sample), sample)
    return list(chosen.values())


@pytest.mark.parametrize("sample", compared(), ids=str)
def test_jvp(sample: Sample) -> None:
    xs, active = draw(sample), real_operands(sample)
    ts = directions(sample, active)
    closed = differentiated(sample, active)

    def of_active(*active_xs: Any) -> Any:
        full = list(xs)
        for i, x in zip(active, active_xs, strict=True):
            full[i] = x
        return run(sample)(*full)

    expected, tangent = jax.jvp(of_active, [xs[i] for i in active], ts)
    found = (
        evaluate(closed, *xs, *ts)
        if closed is not None
        else [evaluate(traced(sample), *xs)[0], np.zeros(np.shape(tangent))]
    )
    # JAX's special functions are good to about 1e-14.
    tolerance = 1e-12 if np.asarray(expected).dtype == np.float64 else 1e-5
    np.testing.assert_allclose(found[0], expected, rtol=tolerance, atol=1e-14)
    np.testing.assert_allclose(found[1], tangent, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "sample", [s for s in SAMPLES if s.primitive in INDEXED and s.numpy is not None], ids=str
)
def test_indexing(sample: Sample) -> None:
    xs, active = draw(sample), real_operands(sample)
    ts = directions(sample, active)
    if sample.primitive == "gather":
        (x, *indices), (t,) = xs, ts
        _, expected = jax.jvp(lambda x: sample.numpy(x, *map(jnp.asarray, indices)), [x], [t])
    else:
        x, i, updates = xs
        _, expected = jax.jvp(lambda x, u: x.at[i].add(u), [x, updates], ts)
    closed = differentiated(sample, active)
    np.testing.assert_allclose(evaluate(closed, *xs, *ts)[1], expected, rtol=1e-14, atol=1e-14)
