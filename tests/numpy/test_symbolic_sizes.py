"""Named sizes: the shapes of results, what is taken for granted, and what is undecided."""

import numpy as np
import pytest

import s2s.numpy
from s2s.errors import UserError
from s2s.ir.check import check
from s2s.ir.dims import Assumptions, Dim, UndecidedDimension, assuming, dimension
from s2s.ir.dtypes import FLOAT64
from s2s.ir.jaxpr import ShapedArray
from s2s.numpy import COUNTERPARTS
from s2s.passes.dce import dce
from s2s.trace import evaluate, make
from tests.numpy.agreement import DispatchingNumPy, same_bits

N, K = dimension("n"), dimension("k")
VALUES = {"n": 7, "k": 4}

ARGUMENTS = {"x": (N,), "y": (N,), "a": (N, K), "b": (K,), "c": (K, N), "s": (N, N), "e": (2 * N,)}


def shapes_and_jaxpr(text):
    """The shape of an expression's value, and its jaxpr, for arguments of named sizes."""
    avals = [ShapedArray(shape, FLOAT64) for shape in ARGUMENTS.values()]
    fun = eval(f"lambda {', '.join(ARGUMENTS)}: {text}", {"np": DispatchingNumPy(np)})
    closed = make(lambda *xs: [fun(*xs)], avals)
    check(closed.jaxpr)
    return closed


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("x + y", "n"),
        ("a * b", "n,k"),
        ("a + x[:, None]", "n,k"),
        ("a.T", "k,n"),
        ("a @ b", "n"),
        ("c @ a", "k,k"),
        ("a.sum(axis=0)", "k"),
        ("a.mean(axis=1, keepdims=True)", "n,1"),
        ("a.reshape(-1)", "k*n"),
        ("a.reshape(k(a), -1)", None),
        ("np.ravel(a)", "k*n"),
        ("x[1:]", "n - 1"),
        ("x[1:-1]", "n - 2"),
        ("x[::2]", "(n + 1)//2"),
        ("x[::-1]", "n"),
        ("x[-1]", ""),
        ("x[:3]", "3"),
        ("x[2::3]", None),
        ("a[:, 0]", "n"),
        ("np.concatenate([x, y])", "2*n"),
        ("np.stack([x, y])", "2,n"),
        ("np.tile(x, 3)", "3*n"),
        ("np.repeat(x, 2)", "2*n"),
        ("np.diff(x)", "n - 1"),
        ("np.roll(x, 1)", "n"),
        ("np.pad(x, 1)", "n + 2"),
        ("np.outer(x, b)", "n,k"),
        ("np.eye(len_(x)) + s", "n,n"),
        ("np.zeros(a.shape) + a", "n,k"),
        ("np.arange(x.shape[0]) * x", "n"),
        ("np.linspace(0, 1, x.shape[0]) * x", "n"),
        ("np.diagonal(s)", "n"),
        ("np.trace(s)", ""),
        ("np.tril(s)", "n,n"),
        ("np.einsum('ij,j->i', a, b)", "n"),
        ("x * x.shape[0]", "n"),
        ("x / x.shape[0]", "n"),
        ("x.size * x", "n"),
        ("np.split(e, 2)[0]", "n"),
        ("e.reshape(2, -1)", "2,n"),
        ("e[:x.shape[0]] + x", "n"),
        ("e[x.shape[0]:] + x", "n"),
        ("np.broadcast_to(b, a.shape)", "n,k"),
        ("np.var(a, axis=0, ddof=1)", "k"),
        ("np.cumsum(a, 0)", "n,k"),
        ("np.full((x.shape[0], 2), 1.0)", "n,2"),
        ("np.kron(x, b)", "k*n"),
        ("np.mean(a)", ""),
        ("x[np.array([0, 1])]", "2"),
        ("np.where(a > 0, a, b)", "n,k"),
        ("np.meshgrid(x, b)[0]", "k,n"),
        ("np.diag(x)", "n,n"),
        ("np.gradient(x)", "n"),
        ("x[None] * b[:, None]", "k,n"),
        ("np.moveaxis(a, 0, 1)", "k,n"),
    ],
)
def test_shapes(text, shape):
    text = text.replace("len_(x)", "x.shape[0]").replace("k(a)", "a.shape[1]")
    with assuming(Assumptions()):
        closed = shapes_and_jaxpr(text)
    (aval,) = closed.out_avals
    if shape is not None:
        assert ",".join(map(str, aval.shape)) == shape


@pytest.mark.parametrize(
    ("text", "minimum"),
    [
        ("x[1:-1]", {"n": 2}),
        ("x[:3]", {"n": 3}),
        ("x[-2:]", {"n": 2}),
        ("x[2]", {"n": 3}),
        ("x[-1]", {}),
        ("np.diff(x)", {}),
        ("np.roll(x, 2)", {"n": 2}),
        ("x[:0:-1]", {}),
        ("np.pad(x, 2, mode='reflect')", {"n": 3}),
        ("x + y", {}),
    ],
)
def test_sizes_that_the_code_takes_for_granted(text, minimum):
    with assuming(Assumptions()) as assumptions:
        shapes_and_jaxpr(text)
    assert {name: least for name, least in assumptions.minimum.items() if least > 1} == minimum


def test_two_names_are_two_sizes():
    with pytest.raises(UserError, match=r"shapes \(n,\) and \(k,\)"):
        shapes_and_jaxpr("x + b")


def test_rows_of_a_named_number_are_not_looped_over():
    with pytest.raises(UserError, match="number of rows, n, is a name"):
        shapes_and_jaxpr("sum(x)")


def test_a_question_about_names_is_undecided():
    with pytest.raises(UndecidedDimension):
        shapes_and_jaxpr("np.split(x, 2 if x.shape[0] == b.shape[0] else 1)[0]")
    with pytest.raises(UserError, match="axis of size n cannot be divided into 2 equal parts"):
        shapes_and_jaxpr("np.split(x, 2)[0]")


def test_a_size_computes_as_a_number():
    with assuming(Assumptions()):
        closed = shapes_and_jaxpr("1.0 / x.shape[0] + 2.0 * b.shape[0] + x.shape[0] ** 0.5")
    assert [str(eqn.primitive.name) for eqn in dce(closed).eqns][:1] == ["dim_as_value"]
    assert str(closed.out_avals[0]) == "f64[]"


def test_products_of_sizes_stay_sizes():
    size = COUNTERPARTS[np.prod]((N, 3))
    assert isinstance(size, Dim) and str(size) == "3*n"


@pytest.mark.parametrize(
    "text",
    [
        "x[1:-1]",
        "a[::-2]",
        "x[:0:-1]",
        "np.roll(x, 2)",
        "x[::3]",
        "a[-2, 1:]",
        "np.repeat(x, 2)",
        "np.tile(b, 2)",
        "np.diag(x)",
    ],
)
def test_values_for_given_sizes(text):
    random = np.random.default_rng(3)
    arrays = [
        random.standard_normal(tuple(d if isinstance(d, int) else _number(d) for d in shape))
        for shape in ARGUMENTS.values()
    ]
    with assuming(Assumptions()):
        closed = shapes_and_jaxpr(text)
    eqns = [eqn.primitive.with_sizes(VALUES) for eqn in closed.eqns]
    assert len(eqns) == len(closed.eqns)
    concrete = eval(f"lambda {', '.join(ARGUMENTS)}: {text}", {"np": np})
    given = make(lambda *xs: [concrete(*xs)], [ShapedArray(a.shape, a.dtype) for a in arrays])
    assert [eqn.primitive for eqn in given.eqns] == eqns
    assert same_bits(concrete(*arrays), evaluate(given, *arrays)[0])


def _number(size):
    from s2s.ir.dims import substitute

    return substitute(size, VALUES)


def test_the_surface_is_registered():
    assert s2s.numpy.COUNTERPARTS[np.sum]
