"""Small functions that share elements between arrays: views, aliases, arrays without axes."""

from dataclasses import dataclass

import numpy as np


def array_without_axes(x, a):
    s = np.zeros(())
    s += x[0]
    t = s
    t += x[1]
    return s * s


def array_without_axes_assigned(x, a):
    s = np.array(0.0)
    s[...] = x[0]
    s[()] = s[()] * x[1]
    return s * s


def view_without_axes(x, a):
    y = x.copy()
    s = y[1, ...]
    s[...] = 3.0 * x[0]
    s += 1.0
    return np.sum(y**2)


def array_without_axes_filled(x, a):
    s = np.array(0.0)
    s.fill(2.0)
    np.add(s, x[0], out=s)
    return s * x[1]


def scalar_rebinds(x, a):
    s = x[0]
    t = s
    t += 1.0
    return s * t


def sum_rebinds(x, a):
    s = np.sum(x)
    t = s
    t += 1.0
    return s * t


def reshaped_to_no_axes(x, a):
    y = x[:1].copy()
    s = y.reshape(())
    s += 2.0
    return np.sum(y * x)


def squeezed_to_no_axes(x, a):
    y = np.ones((1, 1))
    z = np.squeeze(y)
    z[...] = x[0]
    return np.sum(y * x)


def sum_into_no_axes(x, a):
    s = np.zeros(())
    np.sum(x, out=s)
    return s * s


def cell_loop(x, a):
    s = np.zeros(())
    t = s
    for i in range(6):
        s += x[i % 4] ** 2
    return s * t


def cell_loop_traced(x, a):
    s = np.zeros(())
    t = s
    while s < 5.0:
        s += 0.3 + x[0] ** 2
    return s * t


def cell_cond(x, a):
    s = np.zeros(())
    t = s
    if x[0] > 0.0:
        s += x[0]
    else:
        s -= x[1]
    return s * t


def cell_where(x, a):
    s = np.where(x[0] > 0.0, x[0], x[1])
    t = s
    s += 1.0
    return s * t


def cell_rebind_loop(x, a):
    s = np.array(1.0)
    for _ in range(6):
        s = s * x[0]
    t = s
    s += 1.0
    return t * s


def cell_fresh(x, a):
    for i in range(6):
        s = np.array(x[0] * i)
        s += 1.0
    t = s
    s += 1.0
    return t * s


def cell_in_dict(x, a):
    d = {"n": np.array(0.0), "w": x.copy()}
    n = d["n"]
    for _ in range(6):
        d["n"] += x[1]
        d["w"] *= d["n"]
    return n * np.sum(d["w"])


def cell_args(x, a):
    n = np.array(x[0])
    _bump(n)
    _bump(x[1])
    return n * x[1]


def _bump(n):
    n += 1.0


def new_arrays_of_numbers(x, a):
    s = np.asarray(x[0])
    s += 1.0
    v = np.atleast_1d(x[1])
    v[0] = 3.0
    return s * x[0] + x[1] * v[0]


def np_scalar_view(x, a):
    s = np.sum(x)
    v = s[...]
    v += 1.0
    u = s.reshape(1)
    u[0] = 4.0
    return s * v * u[0]


def chains(x, a):
    b = a.copy()
    v = b.T[1:, ::-1].reshape(3, 3)
    v[0] = 2.0
    w = b[None, :, :, None]
    w[0, 1, :, 0] = x
    z = np.swapaxes(b, 0, 1)
    z[2] += 1.0
    q = np.moveaxis(b, 0, 1)
    q[0] *= 3.0
    e = np.expand_dims(b, 0)
    e[0, 2] -= 1.0
    s = np.squeeze(e)
    s[0, 0] = x[0]
    return np.sum(b * x)


def atleast(x, a):
    y = x.copy()
    m = np.atleast_2d(y)
    m[0, 1] = 2.0 * x[0]
    w = np.atleast_1d(y)
    w[2] = 0.0
    c = np.atleast_3d(y)
    c[0, 3, 0] = x[1]
    return np.sum(y * x)


def einsum_view(x, a):
    b = a.copy()
    d = np.einsum("ii->i", b[:, :3])
    d[...] = 2.0 * x[:3]
    t = np.einsum("ij->ji", b)
    t[0] = 1.0
    return np.sum(b * x)


def broadcast_arrays_seen(x, a):
    y = x.copy()
    p, q = np.broadcast_arrays(y, a)
    y[0] = 3.0
    return np.sum(p * q)


def broadcast_seen(x, a):
    y = x.copy()
    b = np.broadcast_to(y, (3, 4))
    y[0] = 3.0 * x[1]
    return np.sum(b * a)


def diag_seen(x, a):
    b = a.copy()
    d = np.diagonal(b)
    b[1, 1] = 7.0 * x[0]
    e = np.diag(b)
    f = b.diagonal(1)
    b[0, 1] = 2.0
    return np.sum(d * e) + np.sum(f * x[:3])


def diag_of_vector(x, a):
    y = x.copy()
    d = np.diag(y)
    y[0] = 5.0
    d[0, 1] = 3.0
    return np.sum(d * x)


def splits(x, a):
    b = a.copy()
    p, _ = np.split(b, 2, axis=1)
    p[0] = 1.0
    r = np.hsplit(b, 4)[3]
    r += x[0]
    s = np.array_split(b, 2)
    s[1][0] = x
    v = np.vsplit(b, 3)
    v[0][0, 0] = 2.0
    return np.sum(b * x)


def flips(x, a):
    b = a.copy()
    f = np.flip(b, axis=0)
    f[0] = 2.0 * x
    g = b[::-1, ::-1]
    g[0, 0] = 4.0
    h = np.fliplr(b)
    h[:, 0] *= 2.0
    r = np.rot90(b)
    r[0, 0] = x[0]
    return np.sum(b * x)


def set_T(x, a):
    b = a.copy()
    b.T[...] = x[:, None]
    b.T[:] += 1.0
    return np.sum(b * x)


def conj_alias(x, a):
    y = x.copy()
    z = y.conj()
    z[0] = 4.0
    w = np.conj(y)
    w[1] = 9.0
    return np.sum(y * x)


def real_alias(x, a):
    y = x.copy()
    y.real[0] = 4.0
    return np.sum(y * x)


def converted_or_not(x, a):
    y = x.copy()
    z = y.astype(float)
    w = y.astype(float, copy=False)
    z[0] = 2.0
    w[1] = 3.0
    return np.sum(y * x) + np.sum(z) + np.sum(w)


def as_arrays(x, a):
    y = np.array(x)
    z = np.asarray(y)
    w = np.array(y, copy=False) if False else np.ascontiguousarray(y)
    y[0] = 3.0
    z[1] = 4.0
    w[2] = 5.0
    return np.sum(y * x) + np.sum(z) + np.sum(w)


def nested_views(x, a):
    b = a.copy()
    for i in range(3):
        row = b[i]
        for j in range(1, 4):
            row[j] += row[j - 1] * x[j]
    return np.sum(b**2)


def traced_index(x, a):
    b = a.copy()
    k = np.argmax(x)
    b[1, k] += 2.0
    b[:, k] *= x[0]
    b[k - 1, 1:] += b[k - 1, :-1]
    b[k % 3, ::2] = x[:2]
    v = b[k - 2]
    v[k] = 3.0 * x[1]
    return np.sum(b * x)


def traced_slice(x, a):
    y = x.copy()
    for i in range(1, 4):
        y[:i] += 0.1 * y[i]
        y[i:] *= 1.1
    return np.sum(y * x)


def list_of_views(x, a):
    b = a.copy()
    rows = [b[i] for i in range(3)]
    rows[0][:] = rows[1]
    rows[1] += rows[0]
    for r in rows:
        r[0] *= 2.0
    return np.sum(b * x)


def stacked_views(x, a):
    rows = [a[i].copy() for i in range(3)]
    rows[0][:] = rows[1]
    rows[1] += rows[0]
    m = np.stack(rows)
    rows[0][0] = 100.0
    return np.sum(m * x)


def func_returns_view(x, a):
    b = a.copy()
    r = _row(b, 1)
    r *= 2.0
    return np.sum(b * x)


def _row(m, i):
    return m[i, 1:3]


def scan_over_rows_write(x, a):
    b = a.copy()
    t = 0.0
    for row, other in zip(b, b[::-1], strict=True):
        row[0] += other[1]
        t = t + row @ x
    return t + np.sum(b)


def unpack_views(x, a):
    b = a.copy()
    p, q, r = b
    p[0] = 5.0
    q += p
    p, r = r, p
    p -= 1.0
    return np.sum(b * x)


def aug_slice_alias(x, a):
    y = x.copy()
    v = y[1:3]
    v += y[0:2]
    v = v + 1.0
    v[0] = 100.0
    return np.sum(y * x)


def chained_assign(x, a):
    y = z = x.copy()
    z[0] = 5.0
    p = q = np.zeros(4)
    p += x
    return np.sum(y * q)


def swap_rows(x, a):
    b = a.copy()
    b[[0, 1]] = b[[1, 0]]
    b[:, [0, 1]] = b[:, [1, 0]]
    return np.sum(b * x)


def swap_views(x, a):
    b = a.copy()
    b[0], b[1] = b[1], b[0]
    return np.sum(b * x * np.arange(12.0).reshape(3, 4))


def swap_views_copy(x, a):
    b = a.copy()
    b[0], b[1] = b[1].copy(), b[0].copy()
    return np.sum(b * x * np.arange(12.0).reshape(3, 4))


def temp_view(x, a):
    b = a.copy()
    t = b[0]
    b[0] = b[1]
    b[1] = t
    return np.sum(b * x * np.arange(12.0).reshape(3, 4))


def overlap_aug(x, a):
    b = a.copy()
    b += b[::-1]
    b[1:] -= b[:-1]
    b[:, 1:] += b[:, :-1]
    b -= b[0]
    b /= b[1, 1]
    return np.sum(b * x)


def out_overlap(x, a):
    y = x.copy()
    np.add(y[:-1], y[1:], out=y[1:])
    np.multiply(y, y[::-1], out=y)
    np.subtract(y[1:], 1.0, out=y[:-1])
    return np.sum(y * x)


def read_after_view(x, a):
    b = a.copy()
    r = b[0] * 1.0
    v = b[0]
    w = v[1:]
    b[0] = 2.0 * x
    w[0] = 5.0
    return np.sum(r * v) + np.sum(w)


def fancy_no_alias(x, a):
    b = a.copy()
    v = b[[0, 1]]
    v[0] = 2.0
    b[[0, 1]][0] = 5.0
    b[[0, 0]] += 1.0
    b[[0, 1], [1, 2]] *= 3.0
    return np.sum(v) + np.sum(b * x)


def own_numpy(x, a):
    w = np.arange(4.0) * 2.0
    v = w[1:]
    v[0] = 10.0
    w[0] = x[0]
    v[1] = x[1]
    return np.sum(w * x) + np.sum(v)


def own_numpy_linked(x, a):
    w = np.array([1.0, 2.0, 3.0, 4.0])
    u = w.reshape(2, 2)
    w[0] = x[0]
    u[1, 1] = 5.0
    return np.sum(w * x) + np.sum(u)


def in_helper(x, a):
    b = a.copy()
    _normalise(b[0])
    _normalise(b.T[1])
    return np.sum(b * x)


def _normalise(v):
    v /= np.sum(v**2)
    v[0] = 0.25


class _Layer:
    def __init__(self, w):
        self.w = w
        self.v = w * 2.0
        self.calls = 0

    def step(self, g):
        self.w -= 0.1 * g
        self.calls += 1
        return self

    def swap(self):
        self.w, self.v = self.v, self.w

    def renew(self, g):
        self.w = self.w * 0.5 + g
        self.v += self.w


def objects(x, a):
    w = x.copy()
    items = _Layer(w)
    for i in range(6):
        items.step(a[i % 3])
    return np.sum(w * items.w) * items.calls


def objects_swap(x, a):
    w = x.copy()
    items = _Layer(w)
    for _ in range(5):
        items.swap()
        items.w[0] += 1.0
    w[1] = 7.0
    items.w[2] = 5.0
    return np.sum(w * items.w) + np.sum(items.v * x)


def objects_renew(x, a):
    w = x.copy()
    items = _Layer(w)
    for _ in range(5):
        items.renew(a[0])
    w[1] = 7.0
    items.v[1] = 2.0
    return np.sum(w * items.w) + np.sum(items.v * x)


def objects_renew_then_change(x, a):
    items = _Layer(x.copy())
    for _ in range(5):
        items.renew(a[0])
        items.w *= 0.5
    return np.sum(items.w) + np.sum(items.v * x)


def objects_change_then_renew(x, a):
    w = x.copy()
    items = _Layer(w)
    for _ in range(5):
        items.w *= 0.5
        items.w = items.w + a[0]
    return np.sum(items.w) + np.sum(items.v * x) + np.sum(w)


def object_in_a_branch(x, a):
    w = x.copy()
    items = _Layer(w)
    if x[0] > 0.0:
        items.step(a[0])
    else:
        items.step(a[1])
    w[0] = 3.0
    return np.sum(w * items.w) * items.calls


def dict_loop(x, a):
    p = {"w": x.copy(), "m": np.zeros(4)}
    w = p["w"]
    for _ in range(5):
        p["m"] = 0.9 * p["m"] + w
        p["w"] -= 0.1 * p["m"]
    return np.sum(p["w"] * w)


def dict_alias_after(x, a):
    y = x.copy()
    d = {"y": y, "w": x * 2.0}
    for _ in range(5):
        d["y"], d["w"] = d["w"], d["y"]
    d["y"][0] = 5.0
    return np.sum(y * x) + np.sum(d["w"])


def tuple_state(x, a):
    y = x.copy()
    state = (y, 0)
    for k in range(5):
        y[0] += 0.5 * state[0][1]
        y[1] += state[0][0]
        state = (y, k + 1)
    return np.sum(state[0] * x) * state[1]


def stale_alias(x, a):
    y = x.copy()
    z = y
    s = 0.0
    for _ in range(5):
        y[0] += 1.0
        s = s + z[0]
        z = z * 1.0
    return s


def stale_view(x, a):
    y = x.copy()
    z = y[1:]
    s = 0.0
    for _ in range(5):
        y[1] += 1.0
        s = s + z[0]
        z = z * 1.0
    return s


def end_alias(x, a):
    y = x.copy()
    z = x * 2.0
    s = 0.0
    for _ in range(5):
        y[0] += 1.0
        s = s + z[0]
        z = y
    return s


def end_alias_view(x, a):
    y = x.copy()
    z = x[1:] * 2.0
    s = 0.0
    for _ in range(5):
        y[1] += 1.0
        s = s + z[0]
        z = y[1:]
    return s


def two_names(x, a):
    z = x.copy()
    w = x * 0.0
    s = 0.0
    for _ in range(5):
        z[0] += 1.0
        s = s + w[0]
        z = x * 2.0 + w
        w = z
    return s


def view_of_new(x, a):
    z = x.copy()
    w = x[1:] * 1.0
    s = 0.0
    for _ in range(5):
        z[1] += 1.0
        s = s + w[0]
        z = x * 2.0 + s
        w = z[1:]
    return s


def new_array_of_a_view(x, a):
    z = x.copy()
    w = x[1:] * 1.0
    s = 0.0
    for _ in range(5):
        w[0] += 1.0
        s = s + z[1]
        z = x * 2.0 + s
        w = z[1:]
    return s


def outer_again(x, a):
    z = x.copy()
    w = x * 3.0
    for _ in range(5):
        z[0] += 1.0
        z = w
    return np.sum(z * x) + np.sum(w)


def while_two(x, a):
    y = x.copy()
    z = y * 2.0
    while np.sum(y) < 9.0:
        y += 1.0
        z = y * 1.0
        z -= 0.5
    return np.sum(z * y)


def loop_list_state(x, a):
    hs = [x.copy(), x * 2.0]
    h0 = hs[0]
    for _ in range(5):
        hs[0] += 0.1 * hs[1]
        hs[1] = hs[1] * 0.9
    h0[1] = 3.0
    return np.sum(hs[0] * hs[1])


def momentum(x, a):
    w, v = x.copy(), np.zeros(4)
    for _ in range(5):
        v *= 0.9
        v -= 0.1 * (w - a[0])
        w += v
    return np.sum(w**2)


def double_buffer(x, a):
    u = x.copy()
    new = np.zeros(4)
    for _ in range(6):
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        new[0] = u[0]
        new[-1] = u[-1]
        u, new = new, u
    return np.sum(u**2)


def copy_back(x, a):
    u = x.copy()
    for _ in range(6):
        old = u.copy()
        u[1:-1] = 0.5 * (old[2:] + old[:-2])
    return np.sum(u**2)


def swap_copy(x, a):
    u = x.copy()
    un = np.empty_like(u)
    for _ in range(6):
        un[:] = u
        u[1:] = un[1:] - 0.2 * un[1:] * (un[1:] - un[:-1])
    return np.sum(u**2)


def loop_alias(x, a):
    y, w = x.copy(), x * 2.0
    for _ in range(5):
        y, w = w, y
        y[0] += w[1]
    return np.sum(y * x) + np.sum(w)


def loop_view(x, a):
    b = a.copy()
    row = b[0]
    for _ in range(6):
        row[1:] += 0.1 * row[:-1]
    return np.sum(b * x)


def loop_traced(x, a):
    y = x.copy()
    k = 0
    while np.sum(y**2) > 0.1:
        y *= 0.7
        y[0] -= 0.01
        k += 1
    return np.sum(y * x)


def loop_write_rows(x, a):
    b = a.copy()
    for i in range(3):
        b[i] = b[i - 1] * x
        b[i, 1:] += b[i, :-1]
    return np.sum(b)


def loop_cond_write(x, a):
    y = x.copy()
    for i in range(4):
        if y[i] < 0.5:
            y[i] = y[i] ** 2
            continue
        if y[i] > 0.8:
            break
        y[:i] += 1.0
    return np.sum(y * x)


def entries(x, a):
    d = {"m": [x.copy(), a.copy()], "n": x.copy()}
    d["m"][0][1] = 3.0 * x[0]
    d["m"][1][0] += d["m"][0]
    d["n"][:] = d["m"][1][0]
    d["n"] *= 2.0
    for k, v in d.items():
        if k == "n":
            v[0] = 1.0
    return np.sum(d["n"] * d["m"][0]) + np.sum(d["m"][1])


def element_of_a_tuple(x, a):
    t = (x.copy(), a.copy())
    t[0][1] = 5.0
    y, b = t
    b[0] = y
    return np.sum(t[1] * t[0])


def list_extended(x, a):
    items = []
    items += [x.copy()]
    items[0] += 1.0
    return np.sum(items[0] * x)


def same_array_twice(x, a):
    items = [x.copy()] * 3
    items[0][0] = 9.0
    return np.sum(items[2] * x)


def attributes(x, a):
    h = _Holder(x.copy(), a)
    h.w[0] = 2.0
    h.w += x
    h.b = h.b * 2.0
    h.b[0] = h.w
    h.b[1] -= h.w
    return np.sum(h.b * h.w)


@dataclass
class _Holder:
    w: np.ndarray
    b: np.ndarray


def sum_out(x, a):
    s = np.zeros(3)
    np.sum(a, axis=1, out=s)
    np.mean(a, axis=1, out=s[:])
    return np.sum(s**2)


def dot_out(x, a):
    s = np.zeros(3)
    np.dot(a, x, out=s)
    np.matmul(a, x, out=s)
    return np.sum(s**2)


def cum_out(x, a):
    s = np.zeros(4)
    np.cumsum(x, out=s)
    x.cumsum(out=s)
    x.clip(-0.5, 0.5, out=s)
    np.clip(x, 0.0, 0.8, out=s)
    return np.sum(s**2)


def concat_out(x, a):
    s = np.zeros(8)
    np.concatenate([x, x * 2], out=s)
    t = np.zeros((2, 4))
    np.stack([x, x * 2], out=t)
    return np.sum(s**2) + np.sum(t**3)


def taken_into(x, a):
    s = np.zeros(2)
    np.take(x, [1, 2], out=s)
    x.take([1, 2], out=s)
    return np.sum(s**2)


def deleted(x, a):
    y = x.copy()
    z = y
    del y
    z[0] = 2.0
    d = {"p": z, "q": a}
    del d["q"]
    items = [z, z, a]
    del items[2]
    items[0][1] = 4.0
    return np.sum(d["p"] * x)


def put_along(x, a):
    b = a.copy()
    np.put_along_axis(b, np.array([[1], [0], [2]]), 5.0, axis=1)
    np.put_along_axis(b, np.argmax(b, axis=1)[:, None], x[0], axis=1)
    return np.sum(b**2)


def matrix_product_in_place(x, a):
    b = np.outer(x, x)
    c = b
    b @= b
    return np.sum(c)


def integers_and_truths(x, a):
    k = np.zeros(4, dtype=int)
    k[1] = 2
    k += 1
    k[2:] <<= 1
    y = x[k % 4]
    f = np.zeros(4, dtype=bool)
    f[1] = True
    f |= np.array([False, True, True, False])
    return np.sum(y * f)


def flat_elements(x, a):
    b = a.copy()
    b.flat[3] = 2.0 * x[0]
    b.flat[::2] = 1.0
    part = b.flat[1:4]
    b[0, 1] = 9.0 * x[1]
    part[0] += 2.0
    b.T.flat[1] = x[2]
    return np.sum(b * x) + np.sum(part)


def flat_assigned(x, a):
    b = a.copy()
    b.flat = x[0]
    total = 0.0
    for value in a.flat:
        total = total + value * value
    return np.sum(b * x) + total


def real_part(x, a):
    b = a.copy()
    b.real[0] = x
    b.real = 2.0 * b
    np.real(b)[1] = 0.0
    return np.sum(b * x)


def changed_or_renewed(x, a):
    y = x.copy()
    if a[0, 0] > 0.3:
        y[0] = a[1, 1]
    else:
        y = y * 2.0
    return np.sum(y * x)


def changed_or_renewed_of_two_names(x, a):
    y = x.copy()
    z = y
    if a[0, 0] > 0.3:
        y[0] = a[1, 1]
    else:
        y = y * 2.0
    return np.sum(y * z * x)


def view_of_changed_or_new(x, a):
    y = x.copy()
    if a[0, 0] > 0.3:
        y[1] = 5.0
        z = y[1:]
    else:
        z = x[1:] * 2.0
    return np.sum(z * a[0, 1:]) + np.sum(y**2)


def changed_view_or_renewed(x, a):
    b = x.copy()
    y = b[1:]
    if a[0, 0] > 0.3:
        y[0] = a[1, 2]
    else:
        y = y * 2.0
    return np.sum(y) * np.sum(b * x)


def entry_changed_or_renewed(x, a):
    d = {"y": x.copy()}
    if a[0, 0] > 0.3:
        d["y"][0] = a[1, 2]
    else:
        d["y"] = d["y"] * 2.0
    return np.sum(d["y"] ** 2)


def best_of_the_steps(x, a):
    w, best, low = x.copy(), x.copy(), np.inf
    for _ in range(6):
        w *= -1.1
        w += a[0]
        loss = np.sum(w**2)
        if loss < low:
            low = loss
            best[:] = w
    return np.sum(best**3) + low
