"""Where it depends on an argument's order in memory whether NumPy makes a view, it is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2s


def through_a_reshape(x: Any) -> Any:
    y = x.reshape(-1)
    y[3] += 5.0
    return np.sum(x**2)


def through_a_ravel(x: Any) -> Any:
    np.ravel(x)[1:3] *= x[0, 0]
    return np.sum(x**2)


def read_after_a_change(x: Any) -> Any:
    y = x.reshape(4, 3)
    x[0, 1] = 7.0
    return np.sum(y[0] * y[1])


def of_a_product(x: Any) -> Any:
    y = x * 2.0
    y.reshape(-1)[3] = 1.0
    return np.sum(y**2)


def of_a_copy_in_its_order(x: Any) -> Any:
    y = np.copy(x)
    y.reshape(-1)[3] = x[0, 0]
    return np.sum(y**2)


def in_a_loop(x: Any) -> Any:
    for i in range(9):
        y = x.reshape(-1)
        y[i] += 2.0 * i
    return np.sum(x**2)


def of_a_row_major_copy(x: Any) -> Any:
    y = x.copy()
    y.reshape(-1)[3] = x[0, 0]
    return np.sum(y**2)


def only_read(x: Any) -> Any:
    return np.sum(x.reshape(-1)[1:4] ** 2)


def through_a_row(x: Any) -> Any:
    x[1].reshape(-1)[2] = 5.0
    return np.sum(x**2)


def through_new_axes(x: Any) -> Any:
    x[:, None, :][0] = 1.0
    return np.sum(x**2)


def through_the_flat_iterator(x: Any) -> Any:
    x.flat[3] = 1.0
    return np.sum(x**2)


X = np.arange(12.0).reshape(3, 4) + 1.0
OTHERS = {"columns": np.asfortranarray(X), "strided": np.repeat(X, 2, axis=1)[:, ::2]}
CHECKED = [
    through_a_reshape,
    through_a_ravel,
    read_after_a_change,
    of_a_product,
    of_a_copy_in_its_order,
    in_a_loop,
]
FREE = [of_a_row_major_copy, only_read, through_a_row, through_new_axes, through_the_flat_iterator]


def generated(function: Any, example: Any) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"__name__": "generated"}
    exec(s2s.source(function, example), namespace)
    return [f for f in namespace.values() if getattr(f, "__module__", "") == "generated"][-1]


@pytest.mark.parametrize("function", [*CHECKED, *FREE])
def test_in_row_major_order_the_value_is_pythons(function: Any) -> None:
    assert generated(function, X)(X.copy()) == function(X.copy())


@pytest.mark.parametrize("function", FREE)
@pytest.mark.parametrize("order", OTHERS)
def test_in_other_orders_too_where_it_does_not_matter(function: Any, order: str) -> None:
    x = OTHERS[order]
    assert generated(function, X)(x) == function(x.copy("K"))
    np.testing.assert_allclose(generated(s2s.grad(function), X)(x), s2s.grad(function)(X))


@pytest.mark.parametrize("function", CHECKED)
def test_elsewhere_another_order_is_refused(function: Any) -> None:
    computed = function in (of_a_product, of_a_copy_in_its_order)
    what = "what it computes from x" if computed else "x"
    message = (
        f"`{function.__name__}` reshapes and changes {what}, which must lie in row-major order"
    )
    for transformed in (function, s2s.grad(function), s2s.value_and_grad(function)):
        with pytest.raises(ValueError, match=message):
            generated(transformed, X)(OTHERS["columns"])
    with pytest.raises(ValueError, match=message):
        s2s.grad(function)(OTHERS["columns"])
    batch = np.stack([X, X])
    for rows in (batch[:, ::-1], np.asfortranarray(batch)):
        if function not in (of_a_product, of_a_copy_in_its_order) or rows.flags.f_contiguous:
            with pytest.raises(ValueError, match=message):
                generated(s2s.vmap(function), batch)(rows)
    np.testing.assert_array_equal(OTHERS["columns"], X)


@pytest.mark.parametrize("function", [of_a_product, of_a_copy_in_its_order])
def test_what_is_computed_from_reversed_rows_lies_in_order(function: Any) -> None:
    assert generated(function, X)(X[::-1]) == function(X[::-1])
    assert generated(function, X)(X[:, ::-1]) == function(X[:, ::-1])


def test_xlas_arrays_lie_in_row_major_order() -> None:
    pytest.importorskip("jaxlib")
    assert s2s.jit(through_a_reshape)(OTHERS["columns"]) == through_a_reshape(X.copy())
