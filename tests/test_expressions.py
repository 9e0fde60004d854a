"""Random NumPy programs: values against NumPy to the last bit, derivatives against JAX.

A program is a list of assignments, each of an operation on values defined before it. It is built
beside its own evaluation, so that only operations that NumPy accepts are put in.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import strategies as st

import s2s
from tests.numpy.agreement import DispatchingNumPy, assert_agrees

LARGEST = 400
"""The most elements of a value."""

ELEMENTWISE = [
    "np.exp({a})",
    "np.tanh({a})",
    "np.sin({a})",
    "np.cos({a})",
    "np.arctan({a})",
    "np.log1p(np.abs({a}))",
    "np.sqrt(np.abs({a}) + 1)",
    "np.cbrt({a} + 4)",
    "np.square({a})",
    "{a} ** 2",
    "{a} ** 3",
    "(np.abs({a}) + 1) ** 0.5",
    "(np.abs({a}) + 1) ** -1.5",
    "1 / ({a} * {a} + 1)",
    "-{a}",
    "abs({a})",
    "np.expm1({a})",
    "np.arcsinh({a})",
    "{a} * 2",
    "{a} + 1.5",
    "2 - {a}",
    "{a} / 3",
    "0.5 * {a}",
    "np.logaddexp({a}, 0)",
    "np.hypot({a}, 1.0)",
    "np.sinc({a})",
]
PAIRS = [
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {b}",
    "{a} / ({b} * {b} + 1)",
    "np.maximum({a}, {b})",
    "np.minimum({a}, {b})",
    "np.where({a} > {b}, {a}, {b} * 2)",
    "np.arctan2({a}, {b} + 5)",
    "np.logaddexp({a}, {b})",
    "{a} @ {b}",
    "np.outer({a}, {b})",
    "np.concatenate([{a}, {b}])",
    "np.concatenate([{a}, {b}], axis=-1)",
    "np.stack([{a}, {b}])",
    "np.stack([{a}, {b}], axis=-1)",
    "np.hstack([{a}, {b}])",
    "np.vstack([{a}, {b}])",
    "np.broadcast_to({a}, {b}.shape)",
    "(np.abs({a}) + 0.5) ** {b}",
]
REDUCTIONS = [
    "np.sum({a}, axis={axis})",
    "np.mean({a}, axis={axis})",
    "{a}.sum(axis={axis}, keepdims=True)",
    "np.max({a}, axis={axis})",
    "np.min({a}, axis={axis}, keepdims=True)",
    "np.var({a}, axis={axis})",
    "np.std({a}, axis={axis}, ddof=1)",
    "np.linalg.norm({a}, axis={axis})",
    "np.cumsum({a}, axis={axis})",
    "{a}.mean(axis={axis})",
    "np.prod({a}, axis={axis})",
    "np.average({a}, axis={axis})",
]
LAYOUT = [
    "{a}.T",
    "np.transpose({a})",
    "{a}.reshape(-1)",
    "np.ravel({a})",
    "{a}[None]",
    "{a}[..., None]",
    "{a}[::-1]",
    "{a}[1:]",
    "{a}[:-1]",
    "{a}[..., ::2]",
    "{a}[0]",
    "{a}[-1]",
    "{a}[..., 1]",
    "{a}[[0, -1]]",
    "{a}[:, [1, 0]]",
    "{a}[[1, 0], [0, 1]]",
    "{a}[..., -2:]",
    "np.flip({a})",
    "np.flip({a}, axis={axis})",
    "np.roll({a}, 1, axis={axis})",
    "np.roll({a}, -1)",
    "np.tile({a}, 2)",
    "np.tile({a}, (2, 1))",
    "np.repeat({a}, 2, axis={axis})",
    "np.diff({a})",
    "np.squeeze({a})",
    "np.expand_dims({a}, {axis})",
    "np.swapaxes({a}, 0, -1)",
    "np.moveaxis({a}, 0, -1)",
    "np.split({a}, [1])[1]",
    "np.pad({a}, 1)",
    "np.tril({a})",
    "np.triu({a}, 1)",
    "np.diag({a})",
    "np.trace({a})",
    "{a}.copy()",
    "np.atleast_2d({a})",
    "np.take({a}, [0, 1], axis={axis})",
    "np.array([{a}, 2 * {a}])",
    "np.append({a}, {a})",
    "np.kron({a}, {a})",
    "np.einsum('...->...', 1 * {a})",
]
ONLY_VALUES = [
    "{a} // 2",
    "{a} % 2",
    "{a} // {b}",
    "{a} % {b}",
    "np.fmod({a}, {b})",
    "np.floor({a})",
    "np.rint({a})",
    "np.sign({a})",
    "{a} > {b}",
    "{a} == {b}",
    "({a} > 0) & ({b} > 0)",
    "~({a} > 0)",
    "np.argmax({a})",
    "np.argmin({a}, axis={axis})",
    "np.any({a}, axis={axis})",
    "np.all({a} > 0)",
    "{a}.astype(np.float32)",
    "{a}.astype(int)",
    "np.count_nonzero({a})",
    "np.clip({a}, -1, 1)",
    "np.round({a}, 1)",
    "np.zeros_like({a})",
    "np.full_like({a}, 2)",
    "np.isfinite({a})",
    "np.where({a} > 0, {a}, 0)",
    "np.cumprod({a})",
    "np.ptp({a}, axis={axis})",
    "divmod({a}, 0.75)[1]",
    "np.nan_to_num({a})",
    "np.heaviside({a}, 0.5)",
    "np.copysign({a}, {b})",
    "np.fmax({a}, {b})",
    "np.power({a}, 2)",
    "np.float_power({b}, 0)",
    "np.nanmean({a}, axis={axis})",
    "np.meshgrid({a}, {b})[0]",
    "np.logical_or({a}, {b})",
    "{a}.argmax(axis={axis})",
]
# NumPy adds these in another order, or to a zero, so that the last bit or a zero's sign differs.
PRODUCTS = [
    "np.dot({a}, {b})",
    "np.inner({a}, {b})",
    "np.tensordot({a}, {b}, 1)",
    "np.vdot({a}, {b})",
    "np.einsum('...i,...i->...', {a}, {b})",
]
# Where the elements meet, extrema have no derivative: JAX and s2s share it out differently.
SMOOTH = [
    text
    for text in ELEMENTWISE + PAIRS + PRODUCTS + REDUCTIONS + LAYOUT
    if not any(
        name in text
        for name in ("max", "min", "abs({a})", "norm", "std", "where", "prod", "cbrt", "sinc")
    )
]

SHAPES = [(), (1,), (3,), (4,), (3, 4), (4, 3), (3, 1), (2, 3, 4)]


@dataclass
class Program:
    """Assignments to v0, v1, ... after arguments x0, x1, ..."""

    arguments: list[Any]
    lines: list[str] = field(default_factory=list[str])

    def source(self, result: str) -> str:
        names = ", ".join(f"x{i}" for i in range(len(self.arguments)))
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def fun({names}):\n{body}    return {result}\n"

    def function(self, numpy: Any, result: str) -> Any:
        namespace: dict[str, Any] = {"np": numpy}
        exec(self.source(result), namespace)
        return namespace["fun"]


def argument(draw: st.DrawFn, floats_only: bool) -> Any:
    shape = draw(st.sampled_from(SHAPES))
    random = np.random.default_rng(draw(st.integers(0, 2**16)))
    values = random.standard_normal(shape) * 2
    if floats_only:
        return np.asarray(values)[()]
    kind = draw(st.sampled_from(["f8", "f8", "f8", "f4", "i8", "i4", "bool", "float", "int"]))
    if kind == "float":
        return float(random.standard_normal())
    if kind == "int":
        return int(random.integers(-4, 5))
    if kind == "bool":
        return np.asarray(values > 0)[()]
    return np.asarray(values if kind[0] == "f" else np.round(values * 2)).astype(kind)[()]


@st.composite
def programs(draw: st.DrawFn, operations: list[str], floats_only: bool) -> Program:
    program = Program([argument(draw, floats_only) for _ in range(draw(st.integers(1, 3)))])
    values: dict[str, Any] = {f"x{i}": value for i, value in enumerate(program.arguments)}
    for _ in range(draw(st.integers(1, 8))):
        template = draw(st.sampled_from(operations))
        names = st.sampled_from(sorted(values))
        axis = draw(st.sampled_from(["0", "-1", "1", "None", "(0, 1)"]))
        text = template.format(a=draw(names), b=draw(names), axis=axis)
        try:
            with np.errstate(all="ignore"):
                value = eval(text, {"np": np}, values)
        except (
            ValueError,
            TypeError,
            IndexError,
            AttributeError,
            ZeroDivisionError,
            OverflowError,
        ):
            continue
        if not np.size(value) or np.size(value) > LARGEST or np.asarray(value).dtype.kind == "c":
            continue
        if floats_only and not _is_tame(value):
            continue
        name = f"v{len(program.lines)}"
        values[name] = value
        program.lines.append(f"{name} = {text}")
    return program


def _is_tame(value: Any) -> bool:
    return bool(np.all(np.isfinite(value)) and np.max(np.abs(value)) < 1e4)


@pytest.mark.timeout(7200)
@hypothesis.given(programs(ELEMENTWISE + PAIRS + REDUCTIONS + LAYOUT + ONLY_VALUES, False))
def test_values_are_those_of_numpy(program: Program) -> None:
    hypothesis.assume(program.lines)
    hypothesis.note(program.source("..."))
    results = ", ".join(f"v{i}" for i in range(len(program.lines)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fun = program.function(DispatchingNumPy(np), f"[{results}]")
        assert_agrees(fun, *program.arguments)


def of_jax(function: Any) -> Any:
    """A value of JAX's, or the rejection of a program that JAX does not take."""
    try:
        return function()
    except (ValueError, TypeError, NotImplementedError, IndexError):
        hypothesis.reject()


# JAX compiles each operation anew for each shape, which takes most of the time.
FEWER = hypothesis.settings(max_examples=max(1, hypothesis.settings.default.max_examples // 5))


@pytest.mark.timeout(7200)
@FEWER
@hypothesis.given(programs(SMOOTH, True))
def test_derivatives_are_those_of_jax(program: Program) -> None:
    hypothesis.assume(program.lines)
    terms = " + ".join(f"np.sum(np.sin(v{i}))" for i in range(len(program.lines)))
    hypothesis.note(program.source(terms))
    argnums = tuple(range(len(program.arguments)))
    ours = s2s.grad(program.function(DispatchingNumPy(np), terms), argnums)(*program.arguments)
    theirs = of_jax(
        lambda: jax.jit(jax.grad(program.function(jnp, terms), argnums))(*program.arguments)
    )
    scale = max(float(np.max(np.abs(np.asarray(part)))) for part in theirs)
    for got, want in zip(ours, theirs, strict=True):
        # Sums of a few hundred products, in other orders.
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11 * (1 + scale))


@pytest.mark.slow
@pytest.mark.timeout(7200)
@FEWER
@hypothesis.given(programs(SMOOTH, True))
def test_second_derivatives_are_those_of_jax(program: Program) -> None:
    hypothesis.assume(program.lines)
    terms = " + ".join(f"np.sum(np.sin(v{i}))" for i in range(len(program.lines)))
    hypothesis.note(program.source(terms))
    x, *rest = program.arguments
    numpy = DispatchingNumPy(np)
    slope = s2s.grad(program.function(numpy, terms))
    ours = s2s.grad(lambda x: numpy.sum(numpy.sin(slope(x, *rest))))(x)
    of_jaxs = jax.grad(program.function(jnp, terms))
    theirs = of_jax(lambda: jax.jit(jax.grad(lambda x: jnp.sum(jnp.sin(of_jaxs(x, *rest)))))(x))
    scale = float(np.max(np.abs(np.asarray(theirs))))
    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9 * (1 + scale))
