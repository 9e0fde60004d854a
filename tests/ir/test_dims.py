"""Symbolic dimensions agree with integers, whatever their names stand for."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from s2s.ir.bounds import bounds
from s2s.ir.dims import (
    Assumptions,
    Dim,
    Size,
    UndecidedDimension,
    assuming,
    bound_on_one_name,
    dimension,
    floor_divide,
    names_of,
    never_zero,
    product,
    require_at_least,
    require_same,
    same_shape,
    same_size,
    substitute,
)

N, M, K = (dimension(name) for name in "nmk")

Formula = Callable[[Any, Any, Any], Any]
"""A size as a function of n, m and k, which may be names or numbers."""


def constant(number: int) -> Formula:
    return lambda n, m, k: number


def combine(operation: Callable[[Any, Any], Any], left: Formula, right: Formula) -> Formula:
    return lambda n, m, k: operation(left(n, m, k), right(n, m, k))


LEAVES: list[Formula] = [lambda n, m, k: n, lambda n, m, k: m, lambda n, m, k: k]
leaves = st.sampled_from(LEAVES) | st.integers(-4, 4).map(constant)


def formulas(operations: list[Callable[[Any, Any], Any]]) -> st.SearchStrategy[Formula]:
    return st.recursive(
        leaves,
        lambda inner: st.builds(combine, st.sampled_from(operations), inner, inner),
        max_leaves=7,
    )


polynomials = formulas([operator.add, operator.sub, operator.mul])
sizes = formulas([operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod])
values = st.tuples(*[st.integers(1, 12)] * 3)


def symbolic(formula: Formula) -> Size:
    try:
        return formula(N, M, K)
    except ZeroDivisionError:
        assume(False)
        raise


def number(formula: Formula, at: tuple[int, ...]) -> int:
    try:
        return formula(*at)
    except ZeroDivisionError:
        assume(False)
        raise


def at_point(size: Size, at: tuple[int, ...]) -> Size:
    return substitute(size, dict(zip("nmk", at, strict=True)))


@given(sizes, values)
def test_arithmetic_is_that_of_integers(formula: Formula, at: tuple[int, ...]) -> None:
    expected = number(formula, at)
    assert at_point(symbolic(formula), at) == expected


@given(sizes, st.tuples(polynomials, polynomials, polynomials), values)
def test_substitution_composes(
    formula: Formula, inner: tuple[Formula, Formula, Formula], at: tuple[int, ...]
) -> None:
    inside = tuple(number(part, at) for part in inner)
    expected = number(formula, inside)
    names = dict(zip("nmk", map(symbolic, inner), strict=True))
    try:
        replaced = substitute(symbolic(formula), names)
    except ZeroDivisionError:
        assume(False)
        raise
    assert at_point(replaced, at) == expected


@given(sizes, values)
def test_the_text_is_python_for_the_same_number(formula: Formula, at: tuple[int, ...]) -> None:
    expected = number(formula, at)
    text = str(symbolic(formula))
    assert eval(text, dict(zip("nmk", at, strict=True))) == expected


@given(polynomials, polynomials)
def test_polynomials_are_the_same_size_if_they_agree_everywhere(a: Formula, b: Formula) -> None:
    # A polynomial of degree at most 7 in each of three names that is zero on this grid is zero.
    grid = [(n, m, k) for n in range(1, 9) for m in range(1, 9) for k in range(1, 9)]
    agree = all(a(*at) == b(*at) for at in grid)
    assert same_size(symbolic(a), symbolic(b)) == agree
    assert same_shape((symbolic(a), 3), (symbolic(b), 3)) == agree


@given(polynomials, polynomials)
def test_a_product_is_divided_exactly(a: Formula, b: Formula) -> None:
    factor, divisor = symbolic(a), symbolic(b)
    assume(not isinstance(divisor, int) or divisor != 0)
    assert same_size((factor * divisor) // divisor, factor)


@given(sizes, values)
def test_bounds_hold_everywhere(formula: Formula, at: tuple[int, ...]) -> None:
    value = number(formula, at)
    low, high = bounds(symbolic(formula))
    assert low is None or low <= value
    assert high is None or high >= value
    assert not never_zero(symbolic(formula)) or value != 0


@given(sizes, st.tuples(*[st.integers(1, 4)] * 3), values)
def test_bounds_use_the_minimum_of_each_name(
    formula: Formula, least: tuple[int, ...], more: tuple[int, ...]
) -> None:
    at = tuple(a + b - 1 for a, b in zip(least, more, strict=True))
    value = number(formula, at)
    with assuming(Assumptions(dict(zip("nmk", least, strict=True)))):
        low, high = bounds(symbolic(formula))
    assert low is None or low <= value
    assert high is None or high >= value


@given(
    sizes,
    sizes,
    st.sampled_from([operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]),
    values,
)
def test_a_comparison_that_is_decided_holds_everywhere(
    a: Formula, b: Formula, compare: Callable[[Any, Any], bool], at: tuple[int, ...]
) -> None:
    expected = compare(number(a, at), number(b, at))
    try:
        decided = compare(symbolic(a), symbolic(b))
    except UndecidedDimension:
        return
    assert decided == expected


@pytest.mark.parametrize(
    ("true", "false"),
    [
        (N >= 1, N <= 0),
        (N + M >= 2, N + M < 2),
        (2 * N > N, N > 2 * N),
        (N * M >= N, N * M < M),
        (N // 2 <= N, N // 2 > N),
        (N // 2 >= 0, N // 2 < 0),
        ((N + 1) // 2 >= 1, (N + 1) // 2 == 0),
        (N - N // 2 >= 1, N == N // 2),
        (3 * (N // 4) >= 0, 3 * (N // 4) <= -1),
        (N % 3 <= 2, N % 3 >= 3),
        (N // M >= 0, N // M < 0),
        (N != 0, N == 0),
        (bool(N), not N),
        ((N // 2) // 3 <= N // 2, (N // 2) // 3 > N),
        (N // -2 <= -1, N // -2 >= 0),
    ],
)
def test_what_is_decided(true: bool, false: bool) -> None:
    assert true
    assert not false


@pytest.mark.parametrize(
    "undecided",
    [
        lambda: N == M,
        lambda: N == 3,
        lambda: N >= 2,
        lambda: M < N,
        lambda: (M - N) // 2 >= 0,
        lambda: (1 - N) // M >= 0,
        lambda: N // (M - 2) >= 0,
        lambda: N % 2 == 0,
    ],
)
def test_what_depends_on_the_sizes_is_not_decided(undecided: Callable[[], bool]) -> None:
    with pytest.raises(UndecidedDimension, match="depends on the size"):
        undecided()


def test_an_undecided_comparison_says_what_to_do() -> None:
    with pytest.raises(UndecidedDimension) as error:
        assert N == 2 * M
    assert str(error.value) == (
        "whether n == 2*m depends on the sizes m and n; "
        "give a number in the types of the arguments instead of the names"
    )
    assert error.value.names == ("m", "n")
    with pytest.raises(UndecidedDimension, match=r"the value of n \+ 1 depends on the size n"):
        range(N + 1)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("size", "normal"),
    [
        (N + N, 2 * N),
        ((N + 1) * (N - 1), N**2 - 1),
        ((4 * N + 6) // 2, 2 * N + 3),
        ((N + 5) // 2, (N + 1) // 2 + 2),
        ((2 * N + 2) // 4, (N + 1) // 2),
        ((2 * N + 3) // 4, (N + 1) // 2),
        (N // -2, (-N) // 2),
        ((N * M + M * M) // (N + M), M),
        ((N**2 - M**2) // (N + M), N - M),
        (N * M // N, M),
        (N - N, 0),
        (divmod(7 * N, 7)[0], N),
        (7 * N % 7, 0),
        (divmod(6, N)[0], 6 // N),
    ],
)
def test_normal_forms(size: Size, normal: Size) -> None:
    assert same_size(size, normal)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (N, "n"),
        (N + 1, "n + 1"),
        (1 - N, "-n + 1"),
        (2 * N * M - 3 * K**2, "2*m*n - 3*k**2"),
        (N // 2, "n//2"),
        (2 * (N // 2), "2*(n//2)"),
        (M - N // 2, "m - (n//2)"),
        ((N // 2) ** 2 * M, "m*(n//2)**2"),
        (N // (M // 2), "n//(m//2)"),
        ((N // 2) // 3, "(n//2)//3"),
        ((N + 1) // M, "(n + 1)//m"),
    ],
)
def test_text(size: Size, text: str) -> None:
    assert str(size) == text


def test_sizes_are_compared_without_asking() -> None:
    assert not same_size(N // 2, M // 2)
    assert not same_size(N // K, N // M)
    assert not same_size(N, 3)
    assert not same_size(3, N)
    assert same_size(N // 2 * M, M * (N // 2))
    assert {N // 2: "half"}[N // 2] == "half"


def test_numpy_integers_are_numbers() -> None:
    two = np.int64(2)
    for size in (two * N, N * two, N + two, two + N, N - two, two - N, N // two, N % two, two // N):
        assert isinstance(size, Dim)
        assert "int64" not in repr(size.terms)
    assert np.int64(0) < N
    assert N != np.int64(0)


@pytest.mark.parametrize("other", [2.0, 1j, None, object()])
def test_other_operands_are_refused(other: Any) -> None:
    for operation in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.lt):
        with pytest.raises(TypeError):
            operation(N, other)
        with pytest.raises(TypeError):
            operation(other, N)
    assert N != other


def test_what_is_not_a_size_is_refused() -> None:
    with pytest.raises(ZeroDivisionError):
        floor_divide(N, 0)
    with pytest.raises(ValueError, match="is not a size"):
        N ** (-1)
    with pytest.raises(TypeError):
        N**0.5  # pyright: ignore[reportOperatorIssue]


@given(st.integers(1, 5), st.integers(-20, 20), st.integers(-3, 20))
def test_a_bound_that_is_taken_for_granted(factor: int, offset: int, least: int) -> None:
    """It is the weakest bound on the name that makes the inequality true."""
    size = factor * N + offset
    with assuming(Assumptions()) as assumptions:
        holds = require_at_least(size, least, "?")
        minimum = assumptions.minimum.get("n", 1)
        assert bounds(size)[0] == factor * minimum + offset
    assert holds
    assert factor * minimum + offset >= least
    assert minimum == 1 or factor * (minimum - 1) + offset < least


def test_a_bound_only_grows() -> None:
    with assuming(Assumptions({"n": 7})) as assumptions:
        assert require_at_least(N - 3, 0, "?")
        assert require_at_least(N - 6, 0, "?")
        assert assumptions.minimum == {"n": 7}
        assert require_at_least(N - 9, 0, "?")
        assert assumptions.minimum == {"n": 9}
        assert not require_at_least(5 - N, 0, "?")


def test_what_no_bound_on_one_name_makes_true_is_asked() -> None:
    with assuming(Assumptions()) as assumptions:
        for size in (N - M, 3 - N, N * M - 5, N // 2 - 5):
            with pytest.raises(UndecidedDimension, match="whether x has ends"):
                require_at_least(size, 0, "x has ends")
        assert assumptions.minimum == {}
    # Outside of a trace nobody would check the bound.
    with pytest.raises(UndecidedDimension):
        require_at_least(N, 2, "x has ends")
    assert bound_on_one_name(3 * N - 7) == ("n", 3)


class Example(Assumptions):
    """Answers as if n were 4 and m were 3."""

    def at(self, size: Size) -> int:
        value = substitute(size, {"n": 4, "m": 3})
        assert isinstance(value, int)
        return value

    def decide(self, question: str, difference: Dim) -> bool:
        return self.at(difference) == 0

    def decide_sign(self, question: str, difference: Dim) -> bool:
        return self.at(difference) >= 0

    def unify(self, difference: Dim) -> bool:
        return self.at(difference) == 0

    def number(self, size: Dim) -> int:
        return self.at(size)


def test_assumptions_in_force_are_asked() -> None:
    with assuming(Example()):
        assert N == M + 1
        assert N != M
        assert M < N
        assert not M > N
        assert require_same(N, M + 1)
        assert not require_same(N, M)
        assert list(range(M)) == [0, 1, 2]  # pyright: ignore[reportArgumentType]
    assert not require_same(N, M + 1)
    assert not require_same(N, N + 1)
    assert require_same(N, N)


def test_names_and_products() -> None:
    assert names_of((N + M) // K * 2) == {"n", "m", "k"}
    assert names_of(3) == frozenset()
    assert product(()) == 1
    assert same_size(product((2, N, 3, N)), 6 * N**2)
