"""Arrays that branches and loops on traced values change in place."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.trace import evaluate
from s2s.tree import flatten
from tests.frontend.tracing import f64, refusal, traced

X = np.array([0.3, -1.2, 2.5, 0.7, 1.1, -0.4])
A = np.arange(24.0).reshape(6, 4) / 7.0


def rows_in_place(a):
    b = a.copy()
    for r in b:
        r *= r.sum()
    return b


def filled(x):
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] ** 2
    return out


def recurrence(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] += 0.5 * y[i - 1]
    return y


def view_and_array(x):
    y = x.copy()
    z = y[1:]
    for i in range(5):
        z[i] *= 2.0
        z += y[0]
    return y, z


def either_branch(x):
    y = x.copy()
    if x[0] > 0:
        y[1] = 5.0
    else:
        y *= 2
    return y


def branch_in_a_loop(x):
    y = x.copy()
    z = y
    for i in range(6):
        if x[i] > 0:
            z[i] = -1.0
    return y


def enumerated_rows(a):
    b = a.copy()
    for i, r in enumerate(b):
        if i > 0:
            r -= b[i - 1]
    return b


def new_array_each_step(x):
    y = x.copy()
    for _ in range(7):
        y = y + 1
        y[0] = 0.0
    return y


def heat(x):
    u = x.copy()
    for _ in range(50):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def while_on_an_element(x):
    y = x.copy()
    while y[0] < 10:
        y[0] += 1.0
        y[1:] *= 1.1
    return y


def argument(x):
    for i in range(6):
        x[i] = x[i] * 2
    return x


def view_in_branches(x):
    y = x.copy()
    v = y[::2]
    if x[1] > 0:
        y[0] = 3.0
    else:
        v[1] = 4.0
    return y, v


def view_of_a_row(a):
    b = a.copy()
    for r in b:
        t = r[1:]
        t += r[0]
    return b


def own_array(x):
    w = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    for i in range(6):
        w[i] += x[i]
    return w


PROGRAMS = {
    name: f for name, f in list(globals().items()) if getattr(f, "__module__", "") == __name__
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_numpy(name: str) -> None:
    function = PROGRAMS[name]
    argument = A if function.__code__.co_varnames[0] == "a" else X
    closed = traced(function, f64(*argument.shape)).closed
    for sign in (1.0, -1.0):
        expected = flatten(function(sign * argument))[0]
        for value, wanted in zip(evaluate(closed, sign * argument), expected, strict=True):
            np.testing.assert_array_equal(value, wanted, strict=True)


def last_row(a):
    b = a.copy()
    for r in b:
        last = r
    last[0] = 9.0
    return b


def either_of_two(x):
    y = x.copy()
    if x[0] > 0:
        z = y
    else:
        z = x * 2
    z[0] = 7.0
    return y, z


def changed_under_another_name(x):
    y = x.copy()
    z = y if x[0] > 0 else x * 2
    y[0] = 7.0
    return z


def row_of_a_changed_array(a):
    b = a.copy()
    row = b[0] if a[0, 0] > 0 else b[1]
    b[0, 1] = 9.0
    return row


def attribute_of_either(x):
    y = x.copy()
    held = {"w": x * 3.0}
    if x[0] > 0:
        held["w"] = y
    y[0] = 7.0
    return held["w"]


def changed_after_a_loop(x):
    y = x.copy()
    z = y
    while np.sum(z) < 0.0:
        z = z * 0.5
    y[0] = 5.0
    return z


def halved_in_branches(x):
    y = x.copy()
    if x[0] > 0.0:
        z = y if x[1] > 0.0 else y[::-1]
    else:
        z = x * 3.0
    z[:2] *= 0.5
    y[-1] += 1.0
    return y, z


def swapped(x):
    u, v, w = x * 2.0, x * 3.0, x[2:4]
    if x[0] > 0.0:
        u, v, w = v, u, u[1:3]
    if x[1] > 0.0:
        v = u
    u[:2] += 1.0
    v[1:4] -= w[0]
    w *= 2.0
    return u, v, w


def replaced_and_changed(x):
    y = x * 0.5
    if x[0] > 0.0:
        y[0] = 3.0
        y = y[1:] + x[:-1]
    else:
        y[1] = 2.0
        y = y[:-1]
    y *= 2.0
    return y


def either_changed(x):
    y, z = x.copy(), x[::-1].copy()
    if x[0] > 0.0:
        y = z * 2.0
    else:
        y[0] = 7.0
    return y


def in_a_loop(x):
    y, z = x * 2.0, x * 3.0
    for i in range(6):
        w = y + z
        if x[i] > 0.0:
            y = w
            z = w
        y += 1.0
    return y, z


def best_so_far(x):
    best = x
    for i in range(20):
        new = x * (i - 3)
        if new @ new > best @ best:
            best = new
    best *= 2.0
    return best, x


def chosen_in_a_loop(x):
    y = x * 2.0
    if x[0] > 0.0:
        for i in range(20):
            if x[i % 4] > 0.5:
                y = x
    y += 1.0
    return y, x


def row_after_the_loop(a):
    b = a.copy()
    total = 0.0
    for row in b:
        total += row[0]
    row[1:] *= total
    return b


def end_of_a_row(a):
    b = a.copy()
    for row in b:
        end = row[2:]
    end[0] = 9.0
    return b


@pytest.mark.parametrize(
    "function",
    [
        *(either_of_two, changed_under_another_name, row_of_a_changed_array, attribute_of_either),
        *(halved_in_branches, swapped, replaced_and_changed, either_changed, in_a_loop),
        *(changed_after_a_loop, best_so_far, chosen_in_a_loop),
        *(last_row, row_after_the_loop, end_of_a_row),
    ],
)
def test_what_may_be_another_array_changes_with_it(function) -> None:
    arguments = [A, -A] if function.__code__.co_varnames[0] == "a" else [X, -X, np.abs(X)]
    closed = traced(function, f64(*arguments[0].shape)).closed
    for argument in arguments:
        expected = flatten(function(argument.copy()))[0]
        for found, wanted in zip(evaluate(closed, argument), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_an_array_whose_other_name_is_gone_is_changed() -> None:
    def function(x):
        y = x.copy()
        s = np.sum(y if x[0] > 0 else x * 2)
        y[0] = 7.0
        return y * s

    closed = traced(function, f64(6)).closed
    np.testing.assert_array_equal(evaluate(closed, X)[0], function(X))


CELL, OUTSIDE = np.zeros(()), np.zeros(6)


def view_of_a_global(x):
    part = OUTSIDE[1:]
    part[0] = 1.0
    return x * OUTSIDE


def number_in_a_global(x):
    np.add(CELL, x[0], out=CELL)
    return x * CELL


@pytest.mark.parametrize("function", [view_of_a_global, number_in_a_global])
def test_arrays_outside_of_the_function_are_not_changed(function) -> None:
    assert "outside" in refusal(function, f64(6)).message.replace("outlives", "outside")


def test_a_row_is_known_after_its_variable_is_another() -> None:
    """It was lost where nothing else knew it: what changed the array did not change the row."""

    def function(x, a):
        for row in a:
            if x[0] > 0.0:
                x = row
                row = row * 1.0
        a[1:] += a[:-1] * 0.5
        return np.sum(x * x)

    assert "this changes an array that may be" in refusal(function, f64(4), f64(3, 4)).message
