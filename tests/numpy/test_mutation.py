"""Arrays that are changed in place, and their views: as NumPy, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.errors import UserError
from s2s.ir.check import check
from s2s.ir.jaxpr import aval_of
from s2s.numpy import mutation
from s2s.trace import evaluate, make
from s2s.tree import flatten
from tests.frontend.tracing import f64, traced

V = np.array([0.3, -1.2, 2.5, 0.7])
A = np.arange(12.0).reshape(3, 4) / 7.0 - 0.5


def element(x):
    y = x.copy()
    y[0] = x[1]
    y[-1] += 2.0
    return y, x


def slices(x):
    y = x.copy()
    y[1:-1] += x[2:] * 2.0
    y[::2] = 0.5
    y[::-2] = x[:2]
    return y


def overlapping(x):
    y = x.copy()
    y[1:] = y[:-1]
    y[:-1] -= y[1:]
    return y


def swaps_rows(a):
    b = a.copy()
    b[[0, 1]] = b[[1, 0]]
    b[:, [2, 0]] = b[:, [0, 2]]
    return b


def swaps_elements(x):
    y = x.copy()
    y[0], y[2] = y[2], y[0]
    return y


def whole(x):
    y = np.zeros_like(x)
    alias = y
    y[:] = x
    y /= 2.0
    y **= 2
    y[...] = y - x
    return y, alias


def alias(x):
    y = x * 1.0
    z = y
    y += 1.0
    y = y + 1.0
    return y, z


def numbers_are_copied(x):
    y = x.copy()
    first = y[0]
    y[0] = 5.0
    return first, y


def row(a):
    b = a.copy()
    third = b[2]
    third[1:3] -= 5.0
    third *= 2.0
    b[2, 0] = 7.0
    return b, third


def rows(a):
    b = a.copy()
    for r in b:
        r *= r.sum()
    first, second, _ = b
    first[:] = second
    return b


def transposed(a):
    b = a * 1.0
    t = b.T
    t[1] = 0.5
    b[2, 2] = -1.0
    return b, t


def reshaped(a):
    b = a * 1.0
    flat = b.reshape(-1)
    flat[3] += 1.0
    b[0, 0] = flat[5]
    square = np.ravel(b)
    square[:2] = 9.0
    return b, flat, square


def flattened_is_a_copy(a):
    b = a.copy()
    flat = b.flatten()
    flat[0] = 9.0
    return b, flat


def view_of_view(a):
    b = a.copy()
    b[1:, 1:][0, 1] = 3.0
    b[1:][1][::2] += 1.0
    column = b[:, 2]
    column += 1.0
    b[None][0, 2, 3] = -1.0
    b[..., 0] = 7.0
    return b, column


def diagonal(a):
    b = a.copy()
    d = b.diagonal()
    b[1, 1] = 9.0
    return d * 1.0, np.diagonal(b)


def split(a):
    b = a.copy()
    left, right = np.split(b, 2, axis=1)
    left[:] = right
    return b


def arrays_of_integers(x):
    y = x.copy()
    y[np.array([0, 0, 1])] += 1.0
    y[[3, 3]] = x[:2]
    return y


def mixed_indices(a):
    b = a.copy()
    b[np.array([0, 2]), 1:3] = a[:2, :2]
    b[1, np.array([3, 0])] += 1.0
    b[:, [1, 1]] = a[:, :2]
    b[[0, 1], :, None] = 4.0
    return b


def known_mask(x):
    y = x.copy()
    y[np.array([True, False, True, False])] = x[:2]
    return y


def unknown_mask(x):
    y = x.copy()
    y[x > 0.5] = 0.0
    return y


def unknown_mask_of_rows(a):
    b = a.copy()
    b[a[:, 0] > 0.0] = a[0]
    return b


def new_array_is_filled(x):
    out = np.empty(4)
    for i in range(4):
        out[i] = x[i] ** 2
    return out


def integers(x):
    counts = np.zeros(4, dtype=int)
    counts[:] = x * 10.0
    counts[1] += 3
    return counts


def functions_share(a):
    b = a.copy()

    def double(part):
        part *= 2.0

    double(b[0])
    double(b[:, 1])
    return b


def copies_into(x):
    y = np.zeros(4)
    np.copyto(y, x)
    np.copyto(y, 2.0, where=x > 0.5)
    np.putmask(y, x < 0.0, x)
    np.place(y, x > 2.0, 0.25)
    return y


def adds_at(x):
    y = x.copy()
    np.add.at(y, [0, 0, 2], x[1:])
    np.subtract.at(y, np.array([1, 1]), 0.5)
    np.add.at(y, 3, x[0])
    np.put(y, [0, -1], [9.0, 8.0])
    y.put([1], x[:1])
    return y


def diagonals(a):
    b = a.copy()
    np.fill_diagonal(b, 5.0)
    np.fill_diagonal(b[:, 1:], a[:, 0])
    np.add.at(b, ([0, 0], [1, 1]), 2.0)
    np.put_along_axis(b, np.array([[0], [1], [3]]), -1.0, 1)
    return b


def results_into(x):
    out = np.empty(4)
    result = np.multiply(x, 2.0, out=out)
    np.add(out, x, out)
    np.negative(x, out=out[::-1], where=x > 0.0)
    total = np.cumsum(x, out=out)
    total += 1.0
    np.clip(out, 0.0, 1.0, out=out)
    return out, result, total


def reductions_into(a):
    total, product = np.zeros(4), np.zeros((3, 3))
    a.sum(axis=0, out=total)
    np.dot(a, a.T, out=product)
    np.matmul(product, a @ a.T, product[:])
    return total, product


class Holder:
    pass


def in_objects_and_containers(x):
    holder = Holder()
    holder.state = x * 1.0
    holder.state += 1.0
    holder.state[0] = 5.0
    table = {"a": x.copy(), "b": x}
    table["a"][0] = 3.0
    parts = [np.zeros(4), table["a"]]
    parts[0][1] = x[0]
    parts[1] *= 2.0
    del table["b"]
    return holder.state, table, parts


def filled(x):
    y = x * 2.0
    part = y[1:]
    part.fill(0.5)
    return y


PROGRAMS = {name: f for name, f in list(globals().items()) if callable(f) and hasattr(f, "__code__")
            and f.__module__ == __name__}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_numpy(name: str) -> None:
    function = PROGRAMS[name]
    argument = A if function.__code__.co_varnames[0] == "a" else V
    closed = traced(function, f64(*argument.shape)).closed
    expected = flatten(function(argument.copy()))[0]
    for value, wanted in zip(evaluate(closed, argument.copy()), expected, strict=True):
        np.testing.assert_array_equal(value, wanted, strict=True)


def refusal(function, argument=A):
    with pytest.raises(UserError) as error:
        traced(function, f64(*argument.shape))
    return str(error.value)


def test_refusals() -> None:
    def too_large(x):
        x[0] = np.ones(3)
        return x

    def real_into_integers(x):
        counts = np.zeros(4, dtype=int) + (x > 0.0)
        counts += x
        return counts

    def many_by_mask(x):
        x[x > 0.0] = x[1:]
        return x

    def read_only(a):
        a.diagonal()[:] = 0.0
        return a

    def perhaps_a_copy(a):
        b = a.T
        flat = b.reshape(-1)
        flat[0] = 1.0
        return b

    assert "shape (3,) cannot be assigned to elements of shape (4,)" in refusal(too_large)
    assert "`+=` would put elements of type float64" in refusal(real_into_integers, V)
    assert "How many elements a mask selects" in refusal(many_by_mask, V)
    assert "read-only" in refusal(read_only)
    assert "depends on how the array lies in memory" in refusal(perhaps_a_copy)


def test_a_body_traced_by_itself_changes_no_array_from_outside() -> None:
    def function(x):
        y = x.copy()

        def body(z):
            y[0] = z[0]
            return [y]

        make(body, [aval_of(V)])
        return y

    assert "an array from outside is changed" in refusal(function, V)


def test_changes_of_a_body_are_recorded() -> None:
    def function(x):
        y = x.copy()
        part = y[1:]

        def body(z):
            with mutation.recorded_changes() as changes:
                y[1] = z[0]
                seen = part[0] * 2.0
                ((array, after),) = changes.undo()
            assert array is y
            return [after, seen]

        closed = make(body, [aval_of(V)])
        assert len(closed.jaxpr.outvars) == 2
        return y, part

    closed = make(lambda x: list(function(x)), [aval_of(V)])
    check(closed.jaxpr)
    np.testing.assert_array_equal(evaluate(closed, V)[0], V)
