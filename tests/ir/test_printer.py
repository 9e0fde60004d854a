"""Our text of a jaxpr is JAX's, but for JAX's plumbing (tests/jax_jaxprs.py lists it)."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from jax import export, lax
from jax.ad_checkpoint import checkpoint_name

from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from tests.jax_jaxprs import Opaque, compares_with_jax, from_jax, jax_text, to_jax

X = np.ones(3)
M = np.ones((3, 4))
F64 = np.dtype(np.float64)


def sines(x: Any, times: int) -> Any:
    for _ in range(times):
        x = lax.sin(x)
    return x


@jax.jit
def inner(x: Any) -> Any:
    return sines(x, 2)


@jax.jit
def outer(x: Any) -> Any:
    return inner(x) + inner(x)


@jax.custom_jvp
def squared(x: Any) -> Any:
    return x * x


squared.defjvp(lambda x, t: (squared(x[0]), 2 * x[0] * t[0]))


@jax.custom_jvp
def long_and_custom(x: Any) -> Any:
    return sines(x, 12)


long_and_custom.defjvp(lambda x, t: (long_and_custom(x[0]), t[0]))


@jax.custom_vjp
def with_vjp(x: Any) -> Any:
    return x * x


with_vjp.defvjp(lambda x: (x * x, x), lambda x, ct: (2 * x * ct,))

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "nothing": (lambda: (), ()),
    "a literal": (lambda: 1.0, ()),
    "identity": (lambda x: x, (X,)),
    "a result and a literal": (lambda x: (x, 2.0), (1.0,)),
    "one line": (lambda x: lax.sin(x) * 2, (X,)),
    "no operands": (lambda: jnp.arange(3), ()),
    "no operands, two lines": (lambda: (jnp.arange(300), jnp.arange(200)), ()),
    "unused result": (lambda x: lax.top_k(x, 2)[0], (X,)),
    "unused result of a callee": (lambda x: jax.jit(lambda x: lax.top_k(x, 2)[1])(x), (X,)),
    "many lines": (lambda x: sines(x, 30), (X,)),
    "names after z": (lambda x: sines(x, 900), (X,)),
    "many parameters": (lambda *xs: lax.concatenate(xs, 0), (X,) * 40),
    "many results": (lambda x: (x,) * 40, (X,)),
    "constants": (lambda x: x + np.arange(3.0) * np.arange(3), (X,)),
    "booleans": (lambda x: lax.select(True, x, x), (X,)),
    "infinities": (lambda x: jnp.where(x > 0, np.inf, -0.0) * np.nan - np.inf, (X,)),
    "integers": (lambda x: x + np.uint8(3) * np.int8(-3), (1,)),
    "complex": (lambda x: (1 + 2j) * x + np.complex64(1 + 0.1j) + 1e300j, (X,)),
    "digits": (lambda x: x * 0.1 + np.float32(0.1) + 1e-300, (X,)),
    "half": (lambda x: x + np.float16(0.1), (np.float16(1),)),
    "dtypes": (lambda x: x.astype(np.int32).astype(bool), (X,)),
    "mean": (lambda x: jnp.mean(x, axis=0), (M,)),
    "matmul": (lambda x: x @ x.T, (M,)),
    "einsum": (lambda x: jnp.einsum("bij,bjk->bik", x, x), (np.ones((2, 3, 3)),)),
    "other accumulator": (lambda x: jnp.dot(x, x, preferred_element_type=np.float32), (X,)),
    "shapes": (lambda x: jnp.reshape(x[:, None], (4, 3)).T[::-1, 1:], (M,)),
    "index arrays": (lambda x: x[np.array([0, 2])] + x.at[np.array([0, 1])].add(2.0)[0], (X,)),
    "scatter-mul": (lambda x: x.at[1].multiply(3.0), (X,)),
    "pad": (lambda x: lax.pad(x, 0.0, [(1, 2, 0)]), (X,)),
    "cumulative": (lambda x: (lax.cumsum(x), lax.cummax(x, reverse=True)), (X,)),
    "sort": (lambda x: lax.sort((x, x), num_keys=2), (X,)),
    "windows": (lambda x: lax.reduce_window(x, -np.inf, lax.max, (2,), (1,), "SAME"), (X,)),
    "convolution": (lambda x: jnp.convolve(x, x), (X,)),
    "cholesky": (lambda x: jnp.linalg.cholesky(x), (np.eye(3),)),
    "eigh": (lambda x: jnp.linalg.eigh(x), (np.eye(3),)),
    "lu": (lambda x: lax.linalg.lu(x), (np.eye(3),)),
    "fft": (lambda x: jnp.fft.rfft(x), (X,)),
    "cond": (lambda x: lax.cond(x[0] > 0, lambda y: y * 2, lambda y: sines(y, 3), x), (X,)),
    "cond, used": (lambda x: lax.cond(x[0] > 0, outer, outer, x), (X,)),
    "cond, long": (lambda x: lax.cond(True, lambda y: sines(y, 12), lambda y: -y, x), (X,)),
    "switch": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda y: y], x), (1, X)),
    "scan": (lambda x: lax.scan(lambda c, y: (c * y + 1, jnp.sin(c)), 1.0, x), (X,)),
    "scan, long": (lambda x: lax.scan(lambda c, y: (sines(c, 11), y), x, None, 4), (X,)),
    "while": (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, x), (0, x)), (X,)),
    "fori_loop": (lambda x: lax.fori_loop(0, 9, lambda i, c: c * x + i, x), (X,)),
    "cond in scan": (
        lambda x: lax.scan(lambda c, y: (lax.cond(y > 0, jnp.sin, jnp.cos, c), None), x, x)[0],
        (X,),
    ),
    "jit": (outer, (X,)),
    "jit, used twice": (lambda x: outer(outer(x)), (X,)),
    "jit in a shared one": (lambda x: lax.cond(True, outer, lambda y: outer(y) * 2, x), (X,)),
    "jit, one operand twice": (lambda x: jax.jit(lambda a, b: (b, a + b))(x, x), (X,)),
    "jit, one result twice": (lambda x: jax.jit(lambda a: (a, a, 2.0))(x), (X,)),
    "jit of a partial function": (
        lambda x: jax.jit(functools.partial(lambda a, b: a * b, 2.0))(x),
        (X,),
    ),
    "jit of two functions of one name": (
        lambda x: [jax.jit(lambda y, k=k: sines(y, 11 + k))(x) for k in range(3)],
        (X,),
    ),
    "long name": (lambda x: jax.named_call(inner, name="x" * 30)(x), (X,)),
    "grad": (jax.grad(lambda x: jnp.sum(jax.nn.gelu(x))), (X,)),
    "hessian": (jax.hessian(lambda x: jnp.sum(jnp.tanh(x @ x))), (X,)),
    "vmap": (jax.vmap(lambda x, y: jnp.dot(x, y), (0, None)), (M.T, X)),
    "custom_jvp": (squared, (X,)),
    "custom_jvp, long": (long_and_custom, (X,)),
    "custom_vjp": (with_vjp, (X,)),
    "checkpoint": (lambda x: jax.checkpoint(lambda y: sines(y, 2))(x), (X,)),
    "checkpoint_name": (lambda x: checkpoint_name(x, "kept"), (X,)),
}


@compares_with_jax
@pytest.mark.parametrize("case", FUNCTIONS)
def test_text_is_jax_s(case: str) -> None:
    fun, args = FUNCTIONS[case]
    assert str(from_jax(jax.make_jaxpr(fun)(*args))) == jax_text(fun, *args)


N, K = export.symbolic_shape("n, k")
S = jax.ShapeDtypeStruct
SYMBOLIC: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "names": (lambda x: jnp.sin(x) @ x.T, (S((N, K), F64),)),
    "product": (lambda x: jnp.reshape(x, (-1,)).sum(), (S((N, K, 3), F64),)),
    "sum": (lambda x: jnp.concatenate([x, x, x[1:]]), (S((N,), F64),)),
    "fill": (lambda x: jnp.ones((x.shape[0], 2)), (S((N,), F64),)),
    "strides": (lambda x: x[::2], (S((N, 3), F64),)),
    "scan": (lambda x: lax.scan(lambda c, y: (c + y, c * y), 0.0, x), (S((N,), F64),)),
}


@compares_with_jax
@pytest.mark.parametrize("case", SYMBOLIC)
def test_symbolic_text_is_jax_s(case: str) -> None:
    fun, args = SYMBOLIC[case]
    assert str(from_jax(jax.make_jaxpr(fun)(*args))) == jax_text(fun, *args)


@st.composite
def jaxprs(draw: st.DrawFn, depth: int = 2) -> Jaxpr:
    """Jaxprs of primitives that have nothing but a name, parameters, operands and results."""
    kinds = st.sampled_from([(), (3,), (100, 20)])
    avals = kinds.map(lambda shape: ShapedArray(shape, F64))
    many = st.integers(0, 12) if draw(st.booleans()) else st.integers(0, 3)
    constvars = [Var(draw(avals)) for _ in range(draw(st.integers(0, 2)))]
    invars = [Var(draw(avals)) for _ in range(draw(many))]
    known: list[Var] = [*constvars, *invars]
    shared: list[ClosedJaxpr] = []

    def atom() -> Atom:
        if not known or draw(st.integers(0, 5)) == 0:
            return Literal(1.5, ShapedArray((), F64))
        return draw(st.sampled_from(known))

    def callee() -> ClosedJaxpr:
        if not shared or draw(st.integers(0, 2)):
            shared.append(ClosedJaxpr(draw(jaxprs(depth - 1))))
        return draw(st.sampled_from(shared))

    def parameter() -> Any:
        kind = draw(st.integers(0, 5 if depth else 3))
        if kind == 5:
            return callee()
        if kind == 4:
            return tuple(callee() for _ in range(draw(st.integers(1, 3))))
        simple = [3, True, None, (0, 1), ((1, 2, 0),), (), 2.5, F64, "word", [0, 1]]
        return draw(st.sampled_from(simple))

    eqns: list[JaxprEqn] = []
    for _ in range(draw(many)):
        name = draw(st.sampled_from(["f", "scatter-add", "a_primitive_with_a_long_name"]))
        if depth and draw(st.integers(0, 3)) == 0:
            closed = callee()
            name, params = "jit", {"name": draw(st.sampled_from("fg")), "jaxpr": closed}
            operands = [atom() for _ in closed.jaxpr.invars]
            results = [Var(aval) for aval in closed.out_avals]
        else:
            letters = draw(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6))
            params = {letter * 5: parameter() for letter in sorted(letters)}
            operands = [atom() for _ in range(draw(many))]
            results = [Var(draw(avals)) for _ in range(draw(many))]
        eqns.append(JaxprEqn(Opaque(name, params), operands, results))
        known.extend(results)
    return Jaxpr(constvars, invars, eqns, [atom() for _ in range(draw(many))])


@compares_with_jax
@pytest.mark.filterwarnings("ignore:core.Jaxpr is missing a DebugInfo")
@settings(max_examples=min(settings().max_examples, 500) // 2)
@given(jaxprs())
def test_layout_is_jax_s(jaxpr: Jaxpr) -> None:
    ours, theirs = str(jaxpr), str(to_jax(jaxpr))
    # JAX calls results of a callee `_` where the caller drops them, though the callee reads them.
    if "_:" not in ours:
        assert ours == theirs


def test_a_callee_names_what_its_caller_drops() -> None:
    a, b, c = (Var(ShapedArray((3,), F64)) for _ in range(3))
    two = Literal(2.0, ShapedArray((), F64))
    mul = Opaque("mul", {})
    eqns = [JaxprEqn(mul, [a, two], [b]), JaxprEqn(mul, [a, a], [c])]
    call = Opaque("jit", {"name": "f", "jaxpr": ClosedJaxpr(Jaxpr([], [a], eqns, [b, c]))})
    x, y, z = (Var(ShapedArray((3,), F64)) for _ in range(3))
    assert str(Jaxpr([], [x], [JaxprEqn(call, [x], [y, z])], [z])) == (
        "{ lambda ; a:f64[3]. let\n"
        "    _:f64[3] b:f64[3] = jit[\n"
        "      name=f\n"
        "      jaxpr={ lambda ; a:f64[3]. let\n"
        "          c:f64[3] = mul a 2.0:f64[]\n"
        "          b:f64[3] = mul a a\n"
        "        in (c, b) }\n"
        "    ] a\n"
        "  in (b,) }"
    )


def test_jaxprs_that_have_variables_in_common_have_names_of_their_own() -> None:
    """A variable that one of them drops may be read in another one."""
    x, y, z = (Var(ShapedArray((3,), F64)) for _ in range(3))
    neg = JaxprEqn(Opaque("neg", {}), [x], [y])
    inner = Opaque("hold", {"body": ClosedJaxpr(Jaxpr([], [x], [neg], [y]))})
    call = Opaque("jit", {"name": "f", "jaxpr": ClosedJaxpr(Jaxpr([], [y], [], [y]))})
    eqns = [neg, JaxprEqn(inner, [x], [z]), JaxprEqn(call, [z], [Var(z.aval)])]
    assert str(Jaxpr([], [x], eqns, [])) == (
        "{ lambda ; a:f64[3]. let\n"
        "    _:f64[3] = neg a\n"
        "    b:f64[3] = hold[body={ lambda ; c:f64[3]. let d:f64[3] = neg c in (d,) }] a\n"
        "    _:f64[3] = jit[name=f jaxpr={ lambda ; b:f64[3]. let  in (b,) }] b\n"
        "  in () }"
    )


def chain(length: int) -> Jaxpr:
    first = Var(ShapedArray((3,), F64))
    eqns: list[JaxprEqn] = []
    last = first
    for _ in range(length):
        result = Var(last.aval)
        eqns.append(JaxprEqn(Opaque("reduce", {"axes": (0,), "k": 1}), [last, first], [result]))
        last = result
    return Jaxpr([], [first], eqns, [last])


def calls(task: Callable[[], object]) -> int:
    """How many calls of functions a task makes."""
    count = 0

    def see(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        task()
    finally:
        sys.setprofile(None)
    return count


def test_printing_takes_work_in_proportion_to_the_length() -> None:
    short, long = chain(200), chain(2_000)
    assert calls(lambda: str(long)) < 11 * calls(lambda: str(short))


def test_nesting_and_sharing_do_not_multiply_the_text() -> None:
    """Thirty levels, each used twice by the next: two to the thirtieth calls if expanded."""
    closed = ClosedJaxpr(chain(1))
    for level in range(30):
        call = Opaque("jit", {"name": f"f{level}", "jaxpr": closed})
        x, y, z = (Var(ShapedArray((3,), F64)) for _ in range(3))
        eqns = [JaxprEqn(call, [x], [y]), JaxprEqn(call, [y], [z])]
        closed = ClosedJaxpr(Jaxpr([], [x], eqns, [z]))
    assert str(closed).count("lambda") == 31
