"""Histories of loops of unknown length, in windows: the same bits, however many steps there are."""

from typing import Any

import numpy as np
import pytest

import s2s
from s2s import lax
from s2s.api.tracing import argument_types_of, trace
from s2s.api.transformed import signature
from s2s.errors import UserError
from s2s.ir.dims import names_of
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.ir.parser import parse_jaxpr
from s2s.passes.linearize import vjp
from s2s.passes.pipeline import optimise
from s2s.primitive import registry
from s2s.trace import evaluate
from s2s.tree import flatten
from s2s_codegen.stablehlo import histories, windows
from s2s_codegen.stablehlo.histories import in_windows
from tests.control.programs import POINTS, PROGRAMS, traced
from tests.programs.checks import TABLE, Program, batch_of, programs, stacked

NAMES = """
    first_above newton while_true while_break for_break for_return power elimination
""".split()
SUMS = """
    mean_of_history differences_along_the_way until_it_is_enough until_it_is_enough_of_four
    until_it_settles
""".split()
"""Programs that sum over what the steps of a loop gave."""

TABLE_OF_PROGRAMS = programs(*sorted(TABLE.glob("*.py")))
LOOPS = [program for program in TABLE_OF_PROGRAMS if program.name in NAMES]


@pytest.fixture(params=[1, 3, 4096], ids="rows={}".format)
def rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Windows of so few rows, and so few snapshots, that the loops need many of them."""
    monkeypatch.setattr(windows, "ROWS", request.param)
    monkeypatch.setattr(windows, "FEWEST", 1)
    monkeypatch.setattr(histories, "SNAPSHOTS", 2)
    return request.param


def assert_same(closed: ClosedJaxpr, arrays: list[Any], rtol: float = 0.0) -> None:
    found = in_windows(closed)
    assert not any(
        names_of(size) for eqn in found.eqns for var in eqn.outvars for size in var.aval.shape
    )
    for ours, theirs in zip(evaluate(found, *arrays), evaluate(closed, *arrays), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=rtol)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if "while" in name])
def test_nested_in_other_control_flow(name: str, rows: int) -> None:
    both, _ = vjp(traced(name), [True, True], [True])
    for point in POINTS:
        assert_same(optimise(both), [*point, np.float64(1.0)])


TRANSFORMS = ["grad", "vmap grad", "reverse over reverse", "forward over reverse"]


def transformed(program: Program, kind: str) -> Any:
    gradient = s2s.grad(program.function, program.argnums)
    axes = tuple(0 if k in program.wrt else None for k in range(len(program.parameters)))
    return {
        "grad": gradient,
        "vmap grad": s2s.vmap(gradient, in_axes=axes),
        "reverse over reverse": s2s.jacrev(gradient, program.argnums),
        "forward over reverse": s2s.jacfwd(gradient, program.argnums),
    }[kind]


@pytest.mark.parametrize("kind", TRANSFORMS)
@pytest.mark.parametrize("program", LOOPS, ids=lambda program: program.name)
def test_functions_as_users_write_them(program: Program, kind: str, rows: int) -> None:
    fun = transformed(program, kind)
    args = program.points[0]
    if kind == "vmap grad":
        several = batch_of(program)
        args = [
            stacked([point[k] for point in several]) if k in program.wrt else arg
            for k, arg in enumerate(args)
        ]
    assert_windows_do(fun, args)


def assert_windows_do(fun: Any, args: list[Any], rtol: float = 0.0) -> None:
    types, _ = argument_types_of(signature(fun), args, {})
    closed = optimise(trace(fun, types).closed)
    arrays = [
        leaf
        for arg, type_ in zip(args, types.values(), strict=True)
        for leaf, kind_ in zip(flatten(arg)[0], flatten(type_)[0], strict=True)
        if isinstance(kind_, ShapedArray)
    ]
    assert_same(closed, arrays, rtol)


@pytest.mark.parametrize("name", SUMS)
def test_sums_over_the_steps(name: str, rows: int) -> None:
    """To 1e-14: windows are added up one by one."""
    (program,) = [program for program in TABLE_OF_PROGRAMS if program.name == name]
    for args in program.points:
        assert_windows_do(s2s.value_and_grad(program.function, program.argnums), args, 1e-14)


def iterated(x: Any, number: Any) -> Any:
    """x * 0.9999**number, step by step."""
    return lax.while_loop(
        lambda carry: lax.lt(carry[1], number),
        lambda carry: (lax.mul(carry[0], 0.9999), lax.add(carry[1], 1.0)),
        (x, 0.0),
    )[0]


@pytest.mark.parametrize("number", [0, 1, 4095, 4096, 4097, 300_000])
def test_any_number_of_steps(number: int) -> None:
    """To 1e-9: the derivative is a product of as many rounded factors."""
    gradient = s2s.jit(s2s.grad(iterated))
    np.testing.assert_allclose(gradient(1.5, float(number)), 0.9999**number, rtol=1e-9)


KEPT = """
{ lambda ; x:f64[]. let
    n:i64[] y:f64[] ys:f64[steps_1] = while[
      body_jaxpr={ lambda ; a:f64[]. let b:f64[] = mul a 0.5:f64[] in (b, a) }
      body_nconsts=0
      cond_jaxpr={ lambda ; c:f64[]. let d:bool[] = gt c 1.0:f64[] in (d,) }
      cond_nconsts=0
      steps=steps_1
    ] x
    REST
  in (z,) }
"""


def keeping(rest: str) -> ClosedJaxpr:
    """x halved until it is at most 1, and something made of all that it was."""
    return ClosedJaxpr(parse_jaxpr(KEPT.replace("REST", rest), registry), ())


@pytest.mark.parametrize(
    "rest",
    [
        "z:f64[] = reduce_sum[axes=(0,)] ys",
        "z:f64[] = reduce_prod[axes=(0,)] ys",
        "z:f64[] = reduce_max[axes=(0,)] ys",
        "z:f64[] = reduce_min[axes=(0,)] ys",
        "z:f64[] = dot_general[dimension_numbers=(([0], [0]), ([], []))] ys ys",
        "b:bool[steps_1] = gt ys 2.0:f64[]; z:bool[] = reduce_or[axes=(0,)] b",
        "b:bool[steps_1] = gt ys 2.0:f64[]; z:bool[] = reduce_and[axes=(0,)] b",
        "r:f64[steps_1] = rev[dimensions=(0,)] ys; "
        "z:f64[] = dot_general[dimension_numbers=(([0], [0]), ([], []))] ys r",
        *[
            f"r:f64[steps_1] = {running}[axis=0 reverse={reverse}] ys; "
            "z:f64[] = reduce_sum[axes=(0,)] r"
            for running in ("cumsum", "cumprod", "cummax", "cummin")
            for reverse in (False, True)
        ],
        "z:i64[] = dim_as_value[dim=3*steps_1 + 2]",
        "z:i64[] = dim_as_value[dim=floordiv(steps_1 + 1, 2)]",
        "z:f64[1] = slice[limit_indices=(1,) start_indices=(0,) strides=None] ys",
        "z:f64[2] = slice[limit_indices=(steps_1,) start_indices=(steps_1 - 2,) strides=None] ys",
    ],
    ids=lambda rest: rest.split("= ")[-1].split("[")[0],
)
def test_what_is_made_of_all_steps(rest: str, rows: int) -> None:
    assert_same(keeping(rest.replace("; ", "\n    ")), [np.float64(37.0)], 1e-15)


def test_what_windows_cannot_give_is_refused() -> None:
    ordered = keeping("""r:f64[steps_1] = sort[dimension=0 is_stable=True num_keys=1] ys
    z:f64[] = reduce_max[axes=(0,)] r""")
    with pytest.raises(UserError, match=r"what a loop of unknown length keeps .* \(sort\)"):
        in_windows(ordered)


def test_a_loop_that_reads_any_row_of_a_history_is_refused() -> None:
    def roughness(x: Any) -> Any:
        ys = [x]
        while ys[-1] > 0.1:
            ys.append(ys[-1] * 0.5)
        total = 0.0
        for i in range(1, len(ys)):
            total += (ys[i] - ys[i - 1]) ** 2
        return total

    with pytest.raises(UserError, match=r"what a loop of unknown length keeps .* \(scan\)"):
        s2s.jit(roughness)(2.0)


@pytest.mark.parametrize(
    "fun", [lambda x: x[x > 0.0], lambda x: np.array([v for v in x if v > 0.0])]
)
def test_an_array_of_as_many_elements_as_count_is_no_result(fun: Any) -> None:
    x = np.array([0.5, -0.2, 0.3])
    with pytest.raises(UserError, match="the function returns an array whose size depends"):
        s2s.jit(fun)(x)
    with pytest.raises(UserError, match="has another size"):
        s2s.vmap(fun)(np.stack([x, -x]))


@pytest.mark.parametrize("index", [-3, -1, 0, 1, 2])
def test_an_element_that_no_step_has_made_is_nan(index: int) -> None:
    def items(x: Any) -> Any:
        return np.array([v for v in x if v > 0.0])[index]

    x = np.array([0.5, -0.2, 0.3])
    for fun in (items, lambda x: x[x > 0.0][index]):
        wanted = fun(x) if -2 <= index < 2 else np.nan
        np.testing.assert_array_equal(s2s.jit(fun)(x), wanted)
