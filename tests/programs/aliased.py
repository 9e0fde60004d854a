"""Loops that change arrays in place under several names: buffers that are swapped, arrays that are
rebound, rows that are carried."""

import numpy as np


def swap_full(x, a, s, k):
    u = x.copy()
    new = np.zeros_like(u)
    for _ in range(k):
        new[:] = u * 0.9 + s
        u, new = new, u
    return np.sum(u * u)


def swap_stencil(x, a, s, k):
    u = x.copy()
    new = np.zeros_like(u)
    for _ in range(k):
        new[1:-1] = u[1:-1] + 0.1 * s * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, new = new, u
    return np.sum(u * u)


def swap_stencil_copy(x, a, s, k):
    u = x.copy()
    new = u.copy()
    for _ in range(k):
        new[1:-1] = u[1:-1] + 0.1 * s * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, new = new, u
    return np.sum(u * u)


def swap_argument(x, a, s, k):
    new = np.zeros_like(x)
    for _ in range(k):
        new[:] = x * 0.9 + s
        x, new = new, x
    return np.sum(x * x)


def swap_tmp(x, a, s, k):
    u = x.copy()
    new = np.zeros_like(u)
    for _ in range(k):
        new[:] = u * 0.9 + s
        tmp = u
        u = new
        new = tmp
    return np.sum(u * u) + np.sum(new)


def swap_if(x, a, s, k):
    u = x.copy()
    new = np.zeros_like(u)
    for _ in range(k):
        new[:] = u * 0.9 + s
        if np.sum(new) > 0.3:
            u, new = new, u
    return np.sum(u * u) + 0.3 * np.sum(new)


def rotate3(x, a, s, k):
    p = x.copy()
    q = x * 0.5
    r = np.zeros_like(x)
    for _ in range(k):
        r[1:-1] = 2 * q[1:-1] - p[1:-1] + s * (q[2:] + q[:-2])
        p, q, r = q, r, p
    return np.sum(p * q) + np.sum(r)


class Box:
    pass


def swap_attr(x, a, s, k):
    b = Box()
    b.u = x.copy()
    b.new = np.zeros_like(x)
    for _ in range(k):
        b.new[:] = b.u * 0.9 + s
        b.u, b.new = b.new, b.u
    return np.sum(b.u**2)


def swap_list(x, a, s, k):
    bufs = [x.copy(), np.zeros_like(x)]
    for _ in range(k):
        bufs[1][1:] = bufs[0][:-1] * 0.9 + s
        bufs[0], bufs[1] = bufs[1], bufs[0]
    return np.sum(bufs[0] ** 2)


def swap_orig(x, a, s, k):
    u = x.copy()
    orig = u
    new = np.zeros_like(u)
    for _ in range(k):
        new[:] = u * 0.9 + s
        u, new = new, u
    return np.sum(u * u) + np.sum(orig * 0.3)


def swap_matrix(x, a, s, k):
    u = a.copy()
    new = np.zeros_like(u)
    for _ in range(k):
        new[1:-1, 1:-1] = 0.25 * s * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        u, new = new, u
    return np.sum(u * u)


def swap_elements(x, a, s, k):
    n = len(x)
    old = np.zeros(n)
    new = np.zeros(n)
    for _ in range(k):
        for i in range(1, n):
            new[i] = 0.5 * old[i] + x[i] * new[i - 1] + s
        old, new = new, old
    return np.sum(old * old)


def swap_fixed(x, a, s, k):
    u = x.copy()
    new = np.zeros_like(u)
    for _ in range(6):
        new[1:-1] = u[1:-1] + 0.1 * s * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, new = new, u
    return np.sum(u * u)


def swap_while(x, a, s, k):
    u = x.copy()
    new = np.zeros_like(u)
    n = 0
    while n < k:
        new[:] = u * 0.9 + s
        u, new = new, u
        n += 1
    return np.sum(u * u)


def swap_while_norm(x, a, s, k):
    u = x.copy()
    new = np.zeros_like(u)
    while True:
        new[:] = u * 0.8
        u, new = new, u
        if np.sum(np.abs(u - new)) < 0.05:
            break
    return np.sum(u * u)


def swap_break(x, a, s, k):
    u = x.copy()
    new = np.zeros_like(u)
    for _ in range(k):
        new[:] = u * 0.9 + s
        if np.sum(new) > 0.71:
            break
        u, new = new, u
    return np.sum(u * u)


def rebind_not_swap(x, a, s, k):
    u = x.copy()
    new = np.zeros_like(u)
    for _ in range(k):
        new[:] = u * 0.9 + s
        u = new
    return np.sum(u * u)


def rebind_copy(x, a, s, k):
    u = x.copy()
    new = np.zeros_like(u)
    for _ in range(k):
        new[:] = u * 0.9 + s
        u = new.copy()
    return np.sum(u * u)


def view_swap(x, a, s, k):
    b = np.zeros((2, len(x)))
    u = b[0]
    new = b[1]
    u[:] = x
    for _ in range(k):
        new[:] = u * 0.9 + s
        u, new = new, u
    return np.sum(b[0] * 2 + b[1])


def index_swap(x, a, s, k):
    b = np.zeros((2, len(x)))
    b[0] = x
    cur = 0
    for _ in range(k):
        b[1 - cur] = b[cur] * 0.9 + s
        cur = 1 - cur
    return np.sum(b[cur] ** 2)


def ret_alias(x, a, s, k):
    def find(y):
        for i in range(k):
            if y[0] > 0.3 * i:
                return y
            y = y * 1.5
        return y * 2.0

    y = x.copy()
    z = find(y)
    z[0] = s
    return np.sum(y * y) + np.sum(z)


def maybe_rebound(x, a, s, k):
    y = x.copy()
    z = y
    for i in range(k):
        if x[i % 4] > 0.2:
            y = y * 2.0
    y[0] = s
    return np.sum(y * y) + np.sum(z * 0.7)


def maybe_rebound_in(x, a, s, k):
    y = x.copy()
    z = y
    for i in range(k):
        if x[i % 4] > 0.2:
            y = y * 2.0
        y[1] += s
    return np.sum(y * y) + np.sum(z * 0.7)


def rebound_arg(x, a, s, k):
    for i in range(k):
        if x[i % 4] > 0.2:
            x = x * 2.0
    x[0] = s
    return np.sum(x * x)


def rebound_elem(x, a, s, k):
    for i in range(k):
        x = x + 1.0
        x[i % 4] += s
    return np.sum(x * x)


def elem_rebound(x, a, s, k):
    for i in range(k):
        x[i % 4] += s
        x = x * 0.7
    return np.sum(x * x)


def elem_rebound_seen(x, a, s, k):
    y = x
    for i in range(k):
        x[i % 4] += s
        x = x * 0.7
    return np.sum(x * x) + np.sum(y * y)


def np_const(x, a, s, k):
    c = np.array([1.0, 2.0, 3.0, 4.0])
    u = x[:4].copy()
    for _ in range(k):
        u = c
    u[0] = s
    return np.sum(c * x[:4]) + np.sum(u)


def np_const_in(x, a, s, k):
    u = np.array([1.0, 2.0, 3.0, 4.0])
    c = u
    for i in range(k):
        u[i] = s
        u = u * 0.5
    return np.sum(c * x[:4]) + np.sum(u)


def two_names_new(x, a, s, k):
    u = x.copy()
    v = x * 2
    for _ in range(k):
        u = u * 0.5
        v = u
        u[0] += s
        v[1] -= s
    return np.sum(u * v)


def sometimes_one(x, a, s, k):
    u = x.copy()
    v = x * 2
    for i in range(k):
        u = u * 0.5
        if x[i % 4] > 0:
            v = u
        u[0] += s
        v[1] -= s
    return np.sum(u * v)


def sometimes_one_next(x, a, s, k):
    u = x.copy()
    v = x * 2
    for i in range(k):
        u[0] += s
        v[1] -= s
        if x[i % 4] > 0:
            v = u
        else:
            u = v * 0.5
    v[2] = s
    return np.sum(u * v)


def row_carried(x, a, s, k):
    A = a.copy()
    prev = A[0]
    for i in range(1, A.shape[0]):
        row = A[i]
        row[:] = prev * 0.5 + s
        prev = row
    return np.sum(A * A)


def row_carried2(x, a, s, k):
    A = a.copy()
    prev = A[0]
    for i in range(1, A.shape[0]):
        A[i] = prev * 0.5 + s
        prev = A[i]
    return np.sum(A * A) + np.sum(prev)


def row_carried3(x, a, s, k):
    A = a.copy()
    prev = A[0]
    for i in range(1, A.shape[0]):
        A[i] += prev * 0.5 + s
        A[i - 1, 0] = 0.3
        prev = A[i]
    return np.sum(A * A) + np.sum(prev)


def row_carried_write(x, a, s, k):
    A = a.copy()
    prev = A[0]
    for i in range(1, A.shape[0]):
        A[i] += prev * 0.5 + s
        prev *= 0.5
        prev = A[i]
    prev[0] = 2.0
    return np.sum(A * A) + np.sum(prev)


def row_for(x, a, s, k):
    A = a.copy()
    prev = A[0]
    for row in A[1:]:
        row += prev * s
        prev = row
    return np.sum(A * A)


def row_read_only(x, a, s, k):
    prev = a[0]
    t = 0.0
    for i in range(1, a.shape[0]):
        t += np.sum(prev * a[i]) * s
        prev = a[i]
    return t


def row_best(x, a, s, k):
    best = a[0]
    for row in a:
        if np.sum(row) > np.sum(best):
            best = row
    return np.sum(best * x) * s


def col_carried(x, a, s, k):
    A = a.copy()
    prev = A[:, 0]
    for j in range(1, A.shape[1]):
        col = A[:, j]
        col -= prev * s
        prev = col
    return np.sum(A * A)


def swap_rows_gs(x, a, s, k):
    A = a.copy()
    r0 = A[0]
    r1 = A[1]
    for _ in range(k):
        r0 += s
        r0, r1 = r1, r0
    return np.sum(A * A) + np.sum(r0)


def slices_carried(x, a, s, k):
    u = x.copy()
    left = u[:-1]
    right = u[1:]
    for _ in range(k):
        left += right * s
        left, right = right, left
    return np.sum(u * u)


def nested_swap(x, a, s, k):
    u = x.copy()
    v = x * 0.5
    for i in range(k):
        for _ in range(i + 1):
            v[:] = u * 0.9 + s
            u, v = v, u
        u[0] = 0.2
    return np.sum(u * u) + np.sum(v)


def swap_return(x, a, s, k):
    u = x.copy()
    v = np.zeros_like(x)
    for _ in range(k):
        v[1:] = u[:-1] * s
        if v[1] > 0.4:
            return np.sum(v) + u[0]
        u, v = v, u
    return np.sum(u * u)


def swap_continue(x, a, s, k):
    u = x.copy()
    v = np.zeros_like(x)
    for i in range(k):
        v[:] = u * 0.5 + s
        if x[i % 4] > 0.0:
            continue
        u, v = v, u
    return np.sum(u * u) + v[0]


def history(x, a, s, k):
    u = x.copy()
    v = np.zeros_like(x)
    h = []
    for _ in range(5):
        v[:] = u * 0.5 + s
        u, v = v, u
        h.append(u.copy())
    return np.sum(np.array(h) ** 2)


def out_swap(x, a, s, k):
    u = x.copy()
    v = np.empty_like(x)
    for _ in range(k):
        np.multiply(u, s, out=v)
        v += 0.1
        u, v = v, u
    return np.sum(u * u)


def copyto_back(x, a, s, k):
    u = x.copy()
    v = np.empty_like(x)
    for _ in range(k):
        v[:] = u * s + 0.1
        np.copyto(u, v)
    return np.sum(u * u)


def dict_swap(x, a, s, k):
    d = {"old": x.copy(), "new": np.zeros_like(x)}
    for _ in range(k):
        d["new"][:] = d["old"] * s + 0.1
        d["old"], d["new"] = d["new"], d["old"]
    return np.sum(d["old"] ** 2)


class Solver:
    def __init__(self, x):
        self.u = x.copy()
        self.v = np.zeros_like(x)

    def step(self, s):
        self.v[1:-1] = self.u[1:-1] + s * (self.u[2:] - self.u[:-2])
        self.u, self.v = self.v, self.u


def obj_swap(x, a, s, k):
    o = Solver(x)
    for _ in range(k):
        o.step(s)
    return np.sum(o.u**2)


def func_swap(x, a, s, k):
    def step(u, v):
        v[:] = u * s + 0.1
        return v, u

    u, v = x.copy(), np.zeros_like(x)
    for _ in range(k):
        u, v = step(u, v)
    return np.sum(u * u)


def tuple_state(x, a, s, k):
    state = (x.copy(), np.zeros_like(x))
    for _ in range(k):
        u, v = state
        v[:] = u * s + 0.1
        state = (v, u)
    return np.sum(state[0] ** 2)


def arg_alias_twice(x, a, s, k):
    y = x
    for i in range(k):
        if s > 0.1 * i:
            y = y + x
        else:
            y = x
        y[0] *= 0.5
    return np.sum(y * y) + np.sum(x)


def pop_append(x, a, s, k):
    rows = [a[0].copy(), a[1].copy(), a[2].copy()]
    for _ in range(k):
        r = rows.pop(0)
        r += rows[0] * s
        rows.append(r)
    return np.sum(rows[0]) + np.sum(rows[1] ** 2)


def row_of_each_step(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    prev = A[0]
    for i in range(1, k):
        row = A[i]
        row[:] = prev * 0.5 + s
        prev = row
    return np.sum(A * A)


def row_read_again(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    prev = A[0]
    for i in range(1, k):
        A[i] = prev * 0.5 + s
        prev = A[i]
    return np.sum(A * A) + np.sum(prev)


def row_changed_under_its_other_name(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    prev = A[0]
    for i in range(1, k):
        A[i] += prev * 0.5 + s
        A[i - 1, 0] = 0.3
        prev = A[i]
    return np.sum(A * A) + np.sum(prev)


def row_written_and_carried(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    prev = A[0]
    for i in range(1, k):
        A[i] += prev * 0.5 + s
        prev *= 0.5
        prev = A[i]
    prev[0] = 2.0
    return np.sum(A * A) + np.sum(prev)


def rows_one_by_one(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    prev = A[0]
    for row in A[1:]:
        row += prev * s
        prev = row
    return np.sum(A * A)


def columns_carried(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    prev = A[:, 0]
    for j in range(1, k % 4):
        col = A[:, j]
        col -= prev * s
        prev = col
    return np.sum(A * A)


def two_rows_carried(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    old = A[0]
    new = A[1]
    for j in range(2, k + 1):
        nxt = A[j]
        nxt[:] = 2 * new - old * s
        old, new = new, nxt
    return np.sum(A * A)


def row_and_counter(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    i = 0
    cur = A[i]
    while i < k:
        cur[1:] += cur[:-1] * s
        i += 1
        A[i] += cur
        cur = A[i]
    return np.sum(A * A)


def rows_of_a_square(x, a, s, k):
    n = len(x)
    A = np.zeros((n, n))
    A[0] = x
    prev = A[0]
    for i in range(1, n):
        row = A[i]
        row[1:] = prev[:-1] + s
        row[0] = prev[0] * s
        prev = row
    return np.sum(A * A)


def elements_of_rows(x, a, s, k):
    n = len(x)
    A = np.zeros((n, n))
    A[0] = x
    prev = A[0]
    for i in range(1, n):
        for j in range(1, n):
            A[i, j] = prev[j - 1] * s + A[i, j - 1]
        prev = A[i]
    return np.sum(A * A)


def elements_of_row_views(x, a, s, k):
    n = len(x)
    A = np.zeros((n, n))
    A[0] = x
    for i in range(1, n):
        prev = A[i - 1]
        row = A[i]
        for j in range(1, n):
            row[j] = prev[j - 1] * s + row[j - 1]
    return np.sum(A * A)


def best_row_written(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    best = A[0]
    for i in range(k):
        if np.sum(A[i]) > np.sum(best):
            best = A[i]
        best[0] += s
    best[1] = s
    return np.sum(A * A)


def one_of_two_rows(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    row = A[k] if s > 0.0 else A[k - 1]
    row += s
    A[k, 1] *= 3.0
    return np.sum(A * A) + np.sum(row * row)


def first_row_or_another(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    row = A[0]
    if s > 0.0:
        row = A[k]
    row *= s
    A[0] += row
    return np.sum(A * A) + np.sum(row * row)


def rows_swapped_in_a_branch(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    cur = A[0]
    for i in range(1, k):
        nxt = A[i]
        if nxt[0] > cur[0]:
            cur, nxt = nxt, cur
        nxt[1:] = cur[:-1] * s
    return np.sum(A * A) + np.sum(cur * cur)


def row_returned_from_a_loop(x, a, s, k):
    A = np.concatenate([a, a + 1.0])

    def pick():
        for i in range(k):
            if A[i, 0] > 0.2:
                return A[i]
        return A[k]

    r = pick()
    r[1] = s
    return np.sum(A * A) + np.sum(r)


def row_left_by_a_break(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    for i in range(1, 6):
        row = A[i]
        if row[0] > 0.9:
            break
        row += A[i - 1] * s
    row[1] = s
    return np.sum(A * A) + np.sum(row)


def rows_in_a_while(x, a, s, k):
    A = np.concatenate([a, a + 1.0])
    i = 0
    while A[i, 0] < 0.9 and i < 4:
        row = A[i]
        row[1:] += s
        i += 1
    A[i] = 0.5
    return np.sum(A * A)


def either_element(x, a, s, k):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > s:
            out[i] = x[i] * 2.0
        else:
            out[i] = np.sqrt(np.abs(x[i]))
    return np.sum(out * out)


def some_elements(x, a, s, k):
    out = x.copy()
    for i in range(1, len(x)):
        if out[i] > s:
            out[i] += out[i - 1] * 0.5
    return np.sum(out * out)


def element_by_element(x, a, s, k):
    out = x.copy()
    for i in range(k):
        out[i] = out[i] / (out[i - 1] + 3.0)
    return np.sum(out * out)


def elements_of_a_matrix(x, a, s, k):
    out = a.copy()
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            if out[i, j] > s:
                out[i, j] -= 0.5 * out[i - 1, j]
                out[i, j - 1] = s
    return np.sum(out * out)


def element_part_or_another(x, a, s, k):
    out = x.copy()
    if s > 0.1:
        out[0] = 1.0 / s
    elif s > -0.1:
        out[1:] *= s
    else:
        out[k % 4] += 2.0
    return np.sum(out * out)


def element_of_a_while(x, a, s, k):
    out = x.copy()
    i = 0
    while i < k and out[i] < 0.8:
        out[i + 1 if i < 3 else 0] += out[i] * s
        i += 1
    return np.sum(out * out)


def two_arrays_in_branches(x, a, s, k):
    out = x.copy()
    other = x * 2.0
    for i in range(len(x)):
        if x[i] > 0.0:
            out[i] = s
            out[0] = other[i] + out[i]
        else:
            other[i] = out[0]
    return np.sum(out * other)


def rebound_or_changed(x, a, s, k):
    out = x.copy()
    for i in range(len(x)):
        if x[i] > 0.0:
            out = out * 0.5
        else:
            out[i] = s
    return np.sum(out * out)


def list_row_swap(x, a, s, k):
    rows = [a[0].copy(), a[1].copy(), a[2].copy()]
    for _ in range(k):
        rows[0] += rows[1] * s
        rows = [rows[1], rows[2], rows[0]]
    return np.sum(rows[0]) + np.sum(rows[1] ** 2)


def array_before_a_break(x, a, s, k):
    for i in range(k):
        if x[i % 4] > 0.2:
            y = x * 2
            break
    else:
        y = x * 3
    y[0] = 0.2
    return np.sum(y * y) + s


def array_from_a_loop(x, a, s, k):
    def find():
        for i in range(k):
            if x[i % 4] > 0.2:
                return x * 2.0
        return np.zeros(len(x))

    y = find()
    y[0] = 0.2
    return np.sum(y * y) + s


def array_or_argument(x, a, s, k):
    y = x
    for _ in range(k):
        if s > 0.3:
            if a[0, 0] > 0:
                return np.sum(y)
            y = np.zeros(len(x))
        else:
            y = np.full(len(x), s)
        s = s + 0.3
    y = y * 1.0
    y[0] = 0.2
    return np.sum(y * x)


def copied_transpose(x, a, s, k):
    b = np.array(a.T)
    return np.sum(b) + np.sum(b * s)


def copy_of_a_transpose(x, a, s, k):
    b = a.T.copy()
    return np.sum(b) + np.sum(b * s, axis=0)[0]


def np_copy_of_a_transpose(x, a, s, k):
    b = np.copy(a.T)
    return np.sum(b * 3.3)


def changed_transpose(x, a, s, k):
    b = np.array(a.T)
    b[0, 0] = s
    return np.sum(b) + np.sum(np.tanh(b))


def cast_transpose(x, a, s, k):
    b = np.asarray(a.T).astype(float)
    return np.sum(b) + np.sum(b.T * 0.1)


def contiguous_transpose(x, a, s, k):
    b = np.ascontiguousarray(a.T)
    return np.sum(b) + np.mean(b)


def rows_of_a_copy(x, a, s, k):
    b = a.T.copy()
    for i in range(k):
        b[i] = b[i] * s
    return np.sum(b)


def copy_backwards(x, a, s, k):
    b = np.array(a[::-1, ::-1])
    c = a[::-1].copy()
    return np.sum(b) + np.sum(c * s)


def copies_in_orders(x, a, s, k):
    b = np.array(a.T, order="C")
    c = a.T.copy(order="F")
    return np.sum(b) + np.sum(c * s)


def window_carried(x, a, s, k):
    w = x[0:2]
    for i in range(len(x) - 1):
        w = x[i : i + 2]
        t = w.sum()
    w[0] = 0.5
    return np.sum(x * s) + t


def row_after_the_loop(x, a, s, k):
    y = 0.5 * x
    for i in range(3):
        y = a[i % 3]
    y[1] = s * 2
    return np.sum(a * a) + np.sum(y)


def row_in_place_of_an_array(x, a, s, k):
    y = 0.5 * x
    for i in range(k):
        y[0] = s * i
        y = a[i % 3]
    y[1] = s * 2
    return np.sum(a * a) + np.sum(y * x)


def best_of_the_rows(x, a, s, k):
    best = a[0]
    for row in a:
        if np.sum(row) > np.sum(best):
            best = row
    best[1] = s * 2
    return np.sum(a * a) + np.sum(best * x)


def best_of_rows_or_another(x, a, s, k):
    best = x * 1.0
    for row in a:
        if np.sum(row) > np.sum(best):
            best = row
    best[1] = s * 2
    return np.sum(a * a) + np.sum(best * x)


def row_at_an_index_of_a_branch(x, a, s, k):
    y = x
    if s > 0.1:
        j = np.argmax(a[:, 0])
        y = a[j]
    elif s > -0.2:
        j = k % 3
        y = a[j]
    y *= 2.0
    return np.sum(a * a * a) + np.sum(y * x)


def column_of_some_step(x, a, s, k):
    c = np.zeros(3)
    j = 0
    while j < k:
        c[1] += s * x[j % 4]
        if x[j % 4] > 0.0:
            c = a[:, j % 4]
        j += 1
    c -= 0.3
    return np.sum(a * a * s) + np.sum(c * c)


def two_rows_or_others(x, a, s, k):
    p = x
    q = x
    for i in range(k):
        p, q = q, a[i % 3]
        p[0] += s
    q *= 0.5
    return np.sum(a * a) + np.sum(p * q) + np.sum(x)


def reversed_again_and_again(x, a, s, k):
    y = x
    n = 0
    while n < k:
        y = y[::-1]
        y[0] += s
        a = a[::-1]
        a[0, 1] *= 0.5
        n += 1
    return np.sum(x * y) + np.sum(a[0] * x)


def view_of_a_view_of_a_view(x, a, s, k):
    y = x
    for _ in range(k):
        y = y[None][0]
    return np.sum(x * y) + s


def row_kept_where_the_loop_rebinds_it(x, a, s, k):
    b = a.copy()
    for row in b:
        row, x = x, row
    b[1:] += b[:-1] * 0.5
    return np.sum(x * x) * s
