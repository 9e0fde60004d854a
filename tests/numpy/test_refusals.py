"""What is refused, with the message that the user sees."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2s.numpy
from s2s.errors import UserError
from tests.numpy.agreement import VALUES, DispatchingNumPy, traced

NOT_STATIC = (
    "depends on the values of the arguments; the types of all results must follow from those of "
    "the arguments. Make it a static argument, or compute it from shapes"
)
NO_VALUE = (
    "here: only its type is known while the function is transformed. Give an argument's value "
    "when it is (--static name=value)"
)
M = VALUES["m"]
V = VALUES["v"]


def message(text: str, **values: Any) -> str:
    """The message of the error that tracing the expression raises."""
    values = values or {"m": M, "v": V, "i": VALUES["i"], "w": 0.7, "k": 3}
    fun: Callable[..., Any] = eval(
        f"lambda {', '.join(values)}: {text}", {"np": DispatchingNumPy(np)}
    )
    with pytest.raises(UserError) as error:
        traced(fun, *values.values())
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "m + np.ones(3)",
            "np.add: operands could not be broadcast together with shapes (3, 4) and (3,)",
        ),
        (
            "np.where(m > 0, v[:3], 0)",
            "np.where: operands could not be broadcast together with shapes (3, 4) and (3,) and ()",
        ),
        ("m @ m", "np.matmul: shapes (3, 4) and (3, 4) do not match: 4 (axis 1) and 3 (axis 0)"),
        (
            "np.dot(m, m)",
            "np.dot: shapes (3, 4) and (3, 4) do not match: 4 (axis 1) and 3 (axis 0)",
        ),
        ("m.reshape(5, -1)", "np.reshape: an array of shape (3, 4) cannot be reshaped to (5, -1)"),
        ("m.reshape(5, 2)", "np.reshape: an array of shape (3, 4) cannot be reshaped to (5, 2)"),
        ("m.sum(axis=2)", "np.sum: axis 2 is out of bounds for an array of dimension 2"),
        ("m.sum(axis=(0, 0))", "np.sum: an axis is given twice in (0, 0)"),
        ("m[3]", "index 3 is out of bounds for axis 0 of size 3"),
        ("m[[0, 5]]", "index 5 is out of bounds for axis 0 of size 3"),
        ("m[0, 0, 0]", "too many indices: the array has 2 dimensions, but 3 were indexed"),
        (
            "m[0.5]",
            "only integers, slices, '...', None and arrays of integers can index an array, "
            "not float",
        ),
        ("m[m]", "an array is indexed by integers, not by an array of float64"),
        (
            "np.concatenate([m, v])",
            "np.concatenate: shapes (3, 4) and (4,) differ elsewhere than along axis 0",
        ),
        ("np.stack([m, v])", "np.stack: the arrays have different shapes, (3, 4) and (4,)"),
        ("np.split(m, 2)", "np.split: an axis of size 3 cannot be divided into 2 equal parts"),
        ("np.einsum('ij,jk', m, m)", "np.einsum: axis 'j' has the sizes 4 and 3"),
        ("i ** -1", "integers to negative integer powers are not allowed; make the base a float"),
        ("np.max(m[:0])", "np.max of no elements, shape (0, 4), is not defined"),
        ("m & 1", "np.bitwise_and is not defined for float64 and int64"),
        ("w & 1", "unsupported operand type(s) for &: 'float' and 'int'"),
        (
            "k ** k",
            "whether an int to the power of an int is an int or a float depends on the exponent's "
            "sign; make the base a float",
        ),
    ],
)
def test_a_mistake_is_told_in_the_users_words(text, expected):
    assert message(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "np.var(m, where=m > 0)",
            "np.var with the argument `where` is not supported; leave it out",
        ),
        (
            "np.max(m, where=m > 0)",
            "np.max with the argument `where` needs `initial`, as in NumPy",
        ),
        (
            "np.sum(m.astype(np.float32), axis=0, out=m[0])",
            "np.sum: the result is of float32 and `out` of float64, and in which of them NumPy "
            "computes depends on the function. Write out[...] = np.sum(...)",
        ),
        ("m.sum(out=m)", "np.sum: the result has shape (), and `out` (3, 4)"),
        (
            "np.exp(m, out=i)",
            "np.exp with `out` would put elements of type float64 into an array of type int64; "
            "make a new array of the result",
        ),
        ("np.exp(m, w)", "np.exp writes into an array, which its argument is not"),
        ("np.add(m, m, where=m > 0)", "np.add with the argument `where` is not supported"),
        (
            "np.take(m, 0, mode='clip')",
            "np.take with the argument `mode` is not supported; leave it out",
        ),
        (
            "np.reshape(m, 12, order='F')",
            "np.reshape with order='F' is not supported; transpose first",
        ),
        (
            "np.linalg.norm(m, 'two')",
            "np.linalg.norm: 'two' is not a norm of matrices",
        ),
        (
            "np.linalg.svd(m)",
            "np.linalg.svd: the further columns that u or vh has with full_matrices=True, the "
            "default, have no derivative; write full_matrices=False",
        ),
        (
            "np.linalg.qr(m, 'complete')",
            'np.linalg.qr with mode="complete" is not supported for matrices that are not square: '
            'the further columns of q have no derivative. Use mode="reduced"',
        ),
        (
            "np.linalg.inv(m)",
            "np.linalg.inv is of square matrices; it was given an array of shape (3, 4)",
        ),
        (
            "np.linalg.det(v)",
            "np.linalg.det needs an array of at least two dimensions; it was given one of shape "
            "(4,)",
        ),
        (
            "np.linalg.solve(m @ m.T, v)",
            "np.linalg.solve: matrices of shape (3, 3) do not fit the right side of shape (4,)",
        ),
        (
            "np.linalg.pinv(m, rcond=0.1)",
            "np.linalg.pinv with the argument `rcond` is not supported; leave it out",
        ),
        (
            "np.linalg.lstsq(m, m @ v)[2] + 1",
            "the rank of np.linalg.lstsq cannot be used under tracing; compute it from the "
            "solution or with np.linalg.svd",
        ),
        (
            "np.linalg.inv((m @ m.T).astype(np.float16))",
            "np.linalg.inv is of float32 or float64; it was given float16",
        ),
        (
            "np.pad(v, 1, mode='mean')",
            "np.pad with mode='mean' is not supported; join arrays instead",
        ),
        ("np.i0(m)", "np.i0 of traced values is not supported"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(text, expected):
    assert message(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "np.where(m > 0, 1)",
            "np.where takes a condition alone, or a condition and two values",
        ),
        (
            "m[0][m[0] > 0] * m[1][m[1] > 0]",
            "np.multiply: operands could not be broadcast together with shapes (?,) and "
            "(?,). How many elements a mask selects, and how many steps a loop takes, "
            "depends on values: what two masks select goes together only if they are computed "
            "alike; give the mask a name, m = x > 0, and use it for both",
        ),
        (
            "np.zeros(m.sum())",
            f"a size of np.zeros {NOT_STATIC}",
        ),
        (
            "np.zeros(k)",
            f"a size of np.zeros {NOT_STATIC}",
        ),
        (
            "np.roll(m, (k, 1), (0, 1))",
            f"the shift of np.roll {NOT_STATIC}",
        ),
        (
            "1 if m.sum() > 0 else 2",
            f"a value that depends on the arguments cannot be used as a condition {NO_VALUE}",
        ),
        (
            "float(w)",
            f"a value that depends on the arguments cannot be turned into a float {NO_VALUE}",
        ),
        (
            "[0, 1, 2][k]",
            f"a value that depends on the arguments cannot be used as an integer {NO_VALUE}",
        ),
        ("{w: 1}", "a traced value cannot be a key or an element of a set: it has no value yet"),
        ("1.0 in m", "`in` asks for the values of an array; use np.any(array == item)"),
    ],
)
def test_what_depends_on_values_is_refused(text, expected):
    assert message(text) == expected


def test_refused_functions_say_why():
    assert message("np.union1d(m, m)").startswith(
        "np.union1d: how many elements the result has depends on values"
    )
    reason = "it is not supported yet; without NaN, use np.median, np.quantile or np.percentile"
    assert message("np.nanmedian(m)") == f"np.nanmedian: {reason}"
    assert message("np.linalg.eig(m)") == (
        "np.linalg.eig: the eigenvalues of general matrices are complex numbers, which are not "
        "supported yet; np.linalg.eigh and np.linalg.eigvalsh are for symmetric matrices"
    )
    assert message("np.hypot.at(m, 0, 1.0)") == (
        "np.hypot.at: `at` is supported of np.add, np.subtract, np.multiply, np.divide, np.power, "
        "np.maximum, np.minimum, np.fmax, np.fmin"
    )
    for function, reason in s2s.numpy.REFUSED.items():
        with pytest.raises(UserError) as error:
            s2s.numpy.COUNTERPARTS[function](M)
        assert str(error.value) == reason


def test_in_place_operators_of_numbers_rebind():
    def fun(x):
        y = x
        y += 1.0
        y *= 2
        y **= 2
        return [x, y]

    from tests.numpy.agreement import assert_agrees

    assert_agrees(fun, 0.7)
    assert_agrees(fun, np.float64(0.7))


@pytest.mark.parametrize(
    "text",
    [
        "w * 1j",
        "np.exp(1j * w).real",
        "m.astype(complex)",
        "m + np.ones(4, complex)",
        "np.where(m > 0.0, 1j, m)",
        "np.full(3, w + 0j)",
        "np.zeros(4, dtype=complex) * w",
    ],
)
def test_complex_numbers(text):
    assert message(text) == (
        "complex numbers are not supported yet; write the function on the real and imaginary parts"
    )


@pytest.mark.parametrize("order", ["K", "A"])
def test_elements_in_the_order_of_memory(order):
    reason = f"with order='{order}' is not supported: the order in memory is not known"
    assert message(f"m.T.ravel('{order}')") == f"np.ravel {reason}"
    assert message(f"m.flatten('{order}')") == f"np.ravel {reason}"
    assert message(f"np.reshape(m, -1, '{order}')") == f"np.reshape {reason}"
