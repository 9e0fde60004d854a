"""What random programs have found, made small: once wrong, refused or no program at all."""

import numpy as np


def zeros_like_a_repeated_number(x, a, s, k):
    y = np.zeros(4) + s
    z = np.tanh(y)
    if y[3] > 0.17:
        return np.sum(z * x) + np.sum(np.sin(a))
    return np.sum(y * x) + s * s


def two_loops_that_are_left(x, a, s, k):
    t = 0.5
    for _ in range(1, k):
        break
    else:
        t += np.sum(a) * 0.3
    for row in a.copy():
        t -= row[0]
        break
    return t * s + np.sum(x * x)


def row_of_a_view_in_a_loop(x, a, s, k):
    b = a.copy()
    if s > 0.4:
        x = x * 2.0
    elif x[1] > -9.0:
        for row in b[::-1]:
            for _ in range(x.shape[0] - 1):
                row[-2:] -= x[:2] * 0.5
    return np.sum(np.sin(b)) + np.sum(x)


def view_read_in_a_trial(x, a, s, k):
    v = a.T[:, 1]
    for _ in range(len(x)):
        x = v
        pair = [v, np.sin(v)]
        for u in pair:
            u *= 0.9
    return np.sum(x * x) + np.sum(np.sin(a)) + s


def list_made_after_a_return(x, a, s, k):
    for _ in range(1, k):
        if x[0] > s + 0.4:
            return np.sum(x * x) + np.sum(a)
        pair = [x, np.sort(x)]
        s = s + pair[1][0]
    return s * s


def same_array_in_nested_branches(x, a, s, k):
    if x[0] > 0.0:
        if x[1] > 0.0:
            v = x
        else:
            v = x * 2.0
    else:
        v = x * 3.0
    v += s
    return np.sum(x * x) + np.sum(v)


def changed_in_one_branch_and_bound_in_the_other(x, a, s, k):
    y = 0.5 * x
    if np.sum(x) > 0.37:
        n = 0
        while True:
            n += 1
            if n > 2:
                break
            x = a[1]
    else:
        np.tanh(y, out=x)
    return np.sum(x * x) + np.sum(np.sin(a)) + s


def view_of_what_a_branch_changes(x, a, s, k):
    y = x.copy()
    if s > 0.0:
        y[1] = 5.0 * s
        v = y[1:]
    else:
        v = y[:-1]
    v *= y[0]
    return np.sum(v * v) + np.sum(y)


def parts_of_either(x, a, s, k):
    v = a[0] if s > 0.0 else x
    w = a[1:][0] if x[0] > 0.0 else v[::-1]
    v[1:] *= w[:-1]
    w += 0.3
    return np.sum(np.sin(a)) + np.sum(x * v) + np.sum(w)


def rows_changed_after_their_loop(x, a, s, k):
    b = a.copy()
    for i in range(len(b)):
        row = b[i]
        row += x
    b *= s
    return np.sum(np.sin(b))


def swapped_in_a_loop(x, a, s, k):
    u, v = x * 2.0, x * 3.0
    for i in range(6):
        if x[i % 4] > 0.0:
            u, v = v, u
        u[i % 4] += s
    return np.sum(u * x) + np.sum(v * v)


def branch_of_no_statement(x, a, s, k):
    if k % 2 == 0:
        s = s * 1.0
    elif x[0] > 0.0:
        s = x.max()
    return np.sum(np.sin(a)) + x @ x + s


def number_of_steps_read_by_a_range(x, a, s, k):
    y = x.copy()
    t = 0.5
    for _ in range(len(a)):
        for i in range(1, 4):
            y[i] *= s
            n = 0
            while n < 4:
                n += 1
                t = y[3] * 0.5
    return y @ y + t * s + np.sum(np.sin(a))


def either_array_read_where_one_is_changed(x, a, s, k):
    y = 0.5 * x
    np.copyto(x, y)
    if s > 0.0:
        x[0] += s
        for row in a:
            return row @ x
    y[1] -= s
    a[0] = y
    return np.sum(np.sin(a)) + a[2] @ x


def same_array_where_a_branch_in_a_branch_decides(x, a, s, k):
    y = 0.5 * x
    if s < 5.0:
        if k > 2:
            x[:] = y
    else:
        y = 3.0 * x
    y[-2:] += s
    return np.sum(np.sin(a)) + x @ y + x @ x


def changed_in_a_branch_from_one_number(x, a, s, k):
    n = 0
    while n < 2:
        n += 1
        if k > 2:
            x[1:] = x[:-1] * 0.5
    return np.sum((np.zeros(4) + s) * x) + np.sum(a)


def kept_before_a_step_that_adds_at_places_and_returns(x, a, s, k):
    y = 0.5 * x
    for i in range(6):
        y[(i + 1) % 4] = x[i % 4] * 0.7
        if s < s + 0.13:
            np.add.at(x, [0, 1, 1], x[:3] * 0.5)
            return np.sum(y * x) + np.sum(a)
    return np.sum(x * x) * s


def a_view_of_a_view_in_each_step(x, a, s, k):
    b = a
    for i in range(5):
        a = a[None][0]
        a[0] *= s + 0.1 * i
        b[1] += 0.1 * a[0]
    return np.sum(a * a) + np.sum(b[0] ** 3) + np.sum(x)


def reversed_in_each_step(x, a, s, k):
    y = x
    for _ in range(4):
        if np.sum(x) > s * 0.1:
            x[1:] -= x[:-1] * 0.5
        x = x[::-1]
        x[...] = y[0] * s + x
    return np.sum(x * x) + np.sum(y) + np.sum(a)


def while_in_the_else_of_a_loop_that_changes_rows(x, a, s, k):
    y = 0.5 * x
    for row in a:
        row[x > 0.27] -= x[-1] * 0.5
    n = 0
    while n < 2 and np.all(a[1] < 0.83):
        n += 1
        m = 0
        while m < 4:
            m += 1
    return np.sum(y * x) + np.sum(np.sin(a) * a) + s * s


def other_name_for_what_a_branch_changes(x, a, s, k):
    y = 0.5 * x
    if s > -9.0:
        x[0] = 0.5 * s
        y = x
    else:
        return s
    y *= 2.0
    return np.sum(x * x) + np.sum(y) + np.sum(a)


def other_name_for_a_list_of_a_branch(x, a, s, k):
    if s > -9.0:
        xs = [x]
        ys = xs
        x[0] = 0.5
    else:
        return s
    xs.append(x * 3.0)
    ys[0][1] = 0.7 * s
    return np.sum(x * x) + len(ys) + np.sum(ys[-1]) + np.sum(a)


def returns_from_a_loop_that_takes_another_name(x, a, s, k):
    y = 0.5 * x
    b = a.copy()
    n = 0
    while n < 4:
        n += 1
        if x[2] > 0.17:
            return np.sum(x * x + x) + np.sum(np.sin(a) * b) + s * s
        if x[1] > 0.17:
            b = a
        if np.sum(y) > 0.37:
            return np.sum(y * x + x) + np.sum(np.sin(b) * a) + s * s
    return np.sum(x * a) + s
