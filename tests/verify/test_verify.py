"""Verification finds what is wrong, and does not find fault with what is right."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2s.api import grad, hessian, jacfwd, jacrev, value_and_grad, vmap
from s2s.api.derivatives import JvpFunction, VjpFunction
from s2s.frontend.argument_types.text import parse_arguments
from s2s.verify import VerificationError, verify
from s2s.verify.arguments import sizes_of_names


def loss(w, x, scale=2.0):
    """Defined where `x @ w` is positive."""
    return np.sum(np.log(x @ w) ** 2) * scale


def loss_grad(args):
    w, x, scale = args["w"], args["x"], args["scale"]
    z = x @ w
    return x.T @ (2.0 * np.log(z) / z) * scale


LOSS = "w: f64[d], x: f64[n, d], scale: float"


def report(fun: Any, generated: Any, types: str, **options: Any):
    return verify(fun, generated, parse_arguments(types), options.pop("minimum", {}), **options)


def sine(x):
    return np.sin(x)


RIGHT = [
    (sine, lambda a: np.sin(a["x"]), "x: f64[n]"),
    (grad(loss), loss_grad, LOSS),
    (value_and_grad(loss), lambda a: (loss(**a), loss_grad(a)), LOSS),
    (grad(loss, argnums=("w",)), lambda a: (loss_grad(a),), LOSS),
    (jacrev(loss), loss_grad, LOSS),
    (jacfwd(sine), lambda a: np.diag(np.cos(a["x"])), "x: f64[n]"),
    (
        JvpFunction(sine, 0),
        lambda a: (np.sin(a["x"]), np.cos(a["x"]) * a["x_dot"]),
        "x: f64[n], x_dot: f64[n]",
    ),
    (
        VjpFunction(sine, 0),
        lambda a: (np.sin(a["x"]), np.cos(a["x"]) * a["y_bar"]),
        "x: f64[n], y_bar: f64[n]",
    ),
    (vmap(sine), lambda a: np.sin(a["x"]), "x: f64[n, k]"),
    (vmap(sine, out_axes=1), lambda a: np.sin(a["x"]).T, "x: f64[n, k]"),
    (vmap(sine, in_axes=1), lambda a: np.sin(a["x"]).T, "x: f64[n, k]"),
]


@pytest.mark.parametrize(("fun", "generated", "types"), RIGHT)
def test_what_is_right_passes(fun, generated, types):
    found = report(fun, generated, types)
    assert found.points == 2
    assert found.largest_error < 1e-10


def scaled(factor):
    """A defect: the last number of the result is a little off."""

    def wrap(generated):
        def wrong(args):
            result = generated(args)
            whole = list(result) if isinstance(result, tuple) else [result]
            last = np.array(whole[-1])
            last[(-1,) * last.ndim] *= factor
            whole[-1] = last[()]
            return tuple(whole) if isinstance(result, tuple) else whole[0]

        return wrong

    return wrap


@pytest.mark.parametrize(("fun", "generated", "types"), RIGHT)
def test_what_is_wrong_is_found(fun, generated, types):
    with pytest.raises(VerificationError, match="Verification failed"):
        report(fun, scaled(1.0001)(generated), types)


@pytest.mark.parametrize(
    ("generated", "message"),
    [
        (lambda a: loss_grad(a)[:-1], r"the gradient is float64\[\d\], not float64\[\d\]"),
        (lambda a: loss_grad(a).astype(np.float32), "the gradient is float32"),
        (lambda a: (loss_grad(a), 1.0), "the gradient has the structure"),
        (lambda a: -loss_grad(a), "the derivative along a direction of w is"),
        (lambda a: 1 / 0, "the generated function raises ZeroDivisionError: division by zero"),
        (
            lambda a: (loss_grad(a), a["x"].fill(0.0))[0],
            "the generated function changes its argument x",
        ),
    ],
)
def test_what_is_wrong_is_named(generated, message):
    with pytest.raises(VerificationError, match=message):
        report(grad(loss), generated, LOSS)


def test_one_wrong_part_among_many_is_found():
    def energy(params):
        return np.sum(1e6 * params["a"] ** 2) + np.sum(params["b"] ** 2)

    def energy_grad(args, factor):
        p = args["params"]
        return {"a": 2e6 * p["a"], "b": factor * p["b"]}

    types = "params: {a: f64[n], b: f64[m]}"
    report(grad(energy), lambda a: energy_grad(a, 2.0), types)
    with pytest.raises(VerificationError, match="a direction of params"):
        report(grad(energy), lambda a: energy_grad(a, 2.001), types)


def test_a_kink_does_not_matter():
    def relu(x):
        return np.sum(np.maximum(x, 0.0))

    assert report(grad(relu), lambda a: (a["x"] > 0) * 1.0, "x: f64[n]").points == 2
    with pytest.raises(VerificationError):
        report(grad(relu), lambda a: (a["x"] > 0) * 1.001, "x: f64[n]")


def test_single_precision_is_measured_against_double():
    types = "w: f32[d], x: f32[n, d], scale: float"
    found = report(grad(loss), lambda a: loss_grad(a).astype(np.float32), types)
    assert found.points == 2 and found.largest_error < 1e-5


def test_arguments_are_sought_where_the_function_is_defined():
    def picky(x, y):
        if not np.all((x > 1.0) & (y < 1.0) & (y > 0.0)):
            raise ValueError("outside of the domain")
        return np.sum(np.arccosh(x) * np.arcsin(y))

    def picky_grad(args):
        x, y = args["x"], args["y"]
        return np.arcsin(y) / np.sqrt(x**2 - 1.0)

    assert report(grad(picky), picky_grad, "x: f64[n], y: f64[n]").points == 2


def test_a_function_that_is_nowhere_defined_is_reported():
    def never(x):
        raise ValueError("x must be a permutation")

    found = report(grad(never), lambda a: a["x"], "x: f64[n]")
    assert found.points == 0
    assert found.problem == "raises ValueError: x must be a permutation"


def test_the_example_is_used_where_random_arguments_will_not_do():
    def only_ones(x):
        if not np.all(abs(x - 1.0) < 0.01):
            raise ValueError("ones only")
        return np.sum(x**3)

    example = {"x": np.ones(3)}
    found = report(grad(only_ones), lambda a: 3.0 * a["x"] ** 2, "x: f64[n]", example=example)
    assert found.problem == "raises ValueError: ones only"
    assert found.points == 1
    with pytest.raises(VerificationError):
        report(grad(only_ones), lambda a: 3.1 * a["x"] ** 2, "x: f64[n]", example=example)


def test_sizes_respect_lower_bounds_and_differ():
    seen = []

    def inner(x, y):
        seen.append((x.shape[0], y.shape[0]))
        return np.sum(x[1:-1]) + np.sum(y)

    report(inner, lambda a: inner(**a), "x: f64[n], y: f64[m + 1]", minimum={"n": 7})
    assert all(n >= 7 and m >= 2 and n != m for n, m in seen)


def test_the_users_function_cannot_change_its_arguments_or_print(capsys):
    def writes(x):
        print("working")
        x *= 2.0
        return np.sum(x)

    given = []

    def generated(args):
        given.append(args["x"].copy())
        return 2.0 * np.sum(args["x"])

    assert report(writes, generated, "x: f64[n]").points == 2
    assert capsys.readouterr() == ("", "")


def test_integers_and_static_values():
    def power(x, n, mode):
        assert mode == "plain"
        return np.sum(x**n)

    def power_grad(args):
        x, n = args["x"], args["n"]
        return n * x ** (n - 1) if n else np.zeros_like(x)

    assert report(grad(power), power_grad, "x: f64[k], n: int, mode='plain'").points == 2


def test_no_example_has_time_to_spare():
    found = report(grad(loss), loss_grad, LOSS, seconds=0.0)
    assert found.points == 1


def test_hessian_is_checked_against_the_inner_derivative(monkeypatch):
    def cube(x):
        return np.sum(x**3)

    fun = hessian(cube)
    monkeypatch.setattr(type(fun.fun), "__call__", lambda self, x: 3.0 * x**2)
    assert report(fun, lambda a: np.diag(6.0 * a["x"]), "x: f64[n]").points == 2
    with pytest.raises(VerificationError):
        report(fun, lambda a: np.diag(6.1 * a["x"]), "x: f64[n]")


class Params(NamedTuple):
    w: Any
    b: Any


@dataclasses.dataclass
class State:
    params: Params
    rate: float


def test_classes_of_the_users_come_back_as_plain_containers():
    def energy(s):
        return np.sum(s.params.w**2) + s.params.b * s.rate

    def energy_grad(args):
        s = args["s"]
        return {"params": (2.0 * s.params.w, s.rate), "rate": s.params.b}

    types = parse_arguments(
        "s: State(params=Params(w=f64[n], b=float), rate=float)", namespace=globals()
    )
    assert verify(grad(energy), energy_grad, types, {}).points == 2
    with pytest.raises(VerificationError, match="the gradient has the structure"):
        verify(grad(energy), lambda a: [energy_grad(a)], types, {})


def test_what_cancels_to_nothing_need_not_agree_in_its_roundings():
    def centred(x):
        return np.sum(x - np.mean(x))

    assert report(centred, lambda a: np.float64(3e-16), "x: f64[n]").points == 2
    with pytest.raises(VerificationError):
        report(centred, lambda a: np.float64(1e-12), "x: f64[n]")
    assert report(grad(centred), lambda a: np.zeros_like(a["x"]), "x: f64[n]").points == 2
    with pytest.raises(VerificationError):
        report(grad(centred), lambda a: np.full_like(a["x"], 1e-6), "x: f64[n]")


def test_small_numbers_are_verified_as_well_as_large_ones():
    def tiny(x):
        return 1e-20 * np.sum(x**3)

    assert report(grad(tiny), lambda a: 3e-20 * a["x"] ** 2, "x: f64[n]").points == 2
    with pytest.raises(VerificationError):
        report(grad(tiny), lambda a: 3.01e-20 * a["x"] ** 2, "x: f64[n]")


def test_entries_of_a_batch_outside_of_the_domain_must_be_so_in_both():
    def root(x):
        return np.sqrt(x)

    types = "x: f64[n]"
    assert report(vmap(root), lambda a: np.sqrt(a["x"]), types).points == 2
    with pytest.raises(VerificationError, match="of the batch is 0, not nan"):
        report(vmap(root), lambda a: np.nan_to_num(np.sqrt(a["x"])), types)


def test_a_batch_is_drawn_from_where_the_function_is_defined_in_every_entry():
    def half(x):
        assert x > 0.0
        return x / 2.0

    def halves(args):
        assert np.all(args["x"] > 0.0)
        return args["x"] / 2.0

    assert report(vmap(half), halves, "x: f64[n]").points == 2
    with pytest.raises(VerificationError, match="raises AssertionError"):
        report(vmap(half), lambda a: halves({"x": a["x"] - 0.6}), "x: f64[n]")


def test_differences_of_a_derivative_stop_where_the_function_raises():
    def picky(x):
        if x.sum() > 0.0 and abs(x.sum() - x.sum().round(1)) > 1e-13:
            raise RuntimeError("did not converge")
        return (x**3).sum()

    tenths = {"x": np.array([0.1, 0.2])}
    types = parse_arguments("x: f64[2]")
    found = verify(hessian(picky), lambda a: np.diag(6.0 * a["x"]), types, {}, tenths)
    assert found.points > 0


def test_a_derivative_that_does_not_exist_for_some_integers_is_verified_at_others():
    def total(x: float, n: int):
        found = 0
        for k in range(n):
            found += k * x + x
        return found

    of_each = vmap(grad(total), in_axes=(0, None))
    types = "x: f64[b], n: int"
    assert report(of_each, lambda a: a["x"] * 0 + sum(range(a["n"] + 1)), types).points > 0
    with pytest.raises(VerificationError, match="of the batch is"):
        report(of_each, lambda a: a["x"] * 0 + a["n"] + 0.5, types)


def test_a_loop_that_does_not_end_at_random_arguments_is_given_up(monkeypatch):
    monkeypatch.setattr("s2s.verify._PATIENCE", 0.05)

    def halvings(x):
        count = 0.0
        while x < 1.0:
            x = 2.0 * x  # never ends for x <= 0
            count += 1.0
        return count * x

    def endless(x):
        while x == x:
            pass
        return x

    report = verify(halvings, lambda args: halvings(args["x"]), parse_arguments("x: float"), {})
    assert report.points == 2
    types = parse_arguments("x: float")
    report = verify(endless, lambda args: 1.0, types, {}, seconds=0.2)
    assert report.points == 0
    assert report.problem == "runs for more than a second"


def halved(p: float, tolerance: float) -> float:
    """The square root of p by halving an interval: flat between jumps, whose size is the
    tolerance."""
    a, b = 0.0, 3.0
    while b - a > tolerance:
        m = 0.5 * (a + b)
        if m * m > p:
            b = m
        else:
            a = m
    return 0.5 * (a + b) + p * p


def halved_fine(p: float) -> float:
    return halved(p, 1e-12)


def halved_roughly(p: float) -> float:
    return halved(p, 1e-3)


def test_where_each_difference_is_across_jumps_forward_and_reverse_mode_are_compared():
    found = report(grad(halved_fine), lambda a: 2.0 * a["p"], "p: float")
    assert found.points
    assert found.between_jumps
    with pytest.raises(VerificationError, match="forward and in reverse, is"):
        report(grad(halved_fine), lambda a: 2.0 * a["p"] * 1.001, "p: float")


def test_between_jumps_differences_decide():
    found = report(grad(halved_roughly), lambda a: 2.0 * a["p"], "p: float")
    assert found.points
    assert not found.between_jumps
    # The slope of the root itself, which all larger differences show.
    root = lambda a: 2.0 * a["p"] + 0.5 / np.sqrt(a["p"])  # noqa: E731
    with pytest.raises(VerificationError, match="the derivative along"):
        report(grad(halved_roughly), lambda a: float(root(a)), "p: float")


def branching(x: float) -> float:
    return x * x if x > 0.0 else -x


def test_branches_that_stay_do_not_excuse_a_wrong_derivative():
    with pytest.raises(VerificationError, match=r"the derivative along .* is .*, not"):
        report(grad(branching), lambda a: a["x"] if a["x"] > 0.0 else -1.0, "x: float")


def test_values_that_are_mostly_rounding_decide_nothing() -> None:
    """Of a wide matrix the last columns are what is left of rounding, made as long as one."""

    def orthogonal(a):
        q = a.copy()
        for i in range(a.shape[1]):
            for j in range(i):
                q[:, i] -= (q[:, j] @ a[:, i]) * q[:, j]
            q[:, i] /= np.linalg.norm(q[:, i])
        return np.sum(q**3)

    found = report(grad(orthogonal), lambda args: grad(orthogonal)(**args), "a: f64[2, 3]")
    assert found.points == 0
    assert found.problem.startswith("has too few exact digits")


def test_sizes_come_in_both_orders() -> None:
    types = parse_arguments("a: f64[m, n]")
    first, second = sizes_of_names(types, {}, 0), sizes_of_names(types, {}, 1)
    assert first["m"] < first["n"]
    assert second["m"] > second["n"]
