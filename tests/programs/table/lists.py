"""Lists that grow in loops: in some steps only, read while they grow, and changed afterwards."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np


def positive_ones(x):
    """
    >>> positive_ones(np.array([1.0, -0.5, 0.3, 2.0]))
    >>> positive_ones(np.array([1.0, 0.5, -0.3, -2.0]))
    """
    kept = []
    for v in x:
        if v > 0:
            kept.append(np.sin(v))
    return sum(kept)


def accepted_steps(x0, h):
    """
    >>> accepted_steps(1.0, 0.4)
    >>> accepted_steps(0.3, 0.9)
    """
    t = 0.0
    y = x0
    ts = [t]
    ys = [y]
    n = 0
    while t < 3.0 and n < 100:
        n += 1
        full = y + h * -y * y
        half = y + 0.5 * h * -y * y
        half = half + 0.5 * h * -half * half
        err = abs(full - half)
        if err < 0.01:
            t = t + h
            y = half
            ts.append(t)
            ys.append(y)
            h = h * 1.2
        else:
            h = h * 0.5
    ys = np.array(ys)
    ts = np.array(ts)
    return np.sum(0.5 * (ys[1:] + ys[:-1]) * (ts[1:] - ts[:-1]))


def until_it_is_too_much(x):
    """
    >>> until_it_is_too_much(np.array([1.0, 0.5, 0.3, 2.0]))
    >>> until_it_is_too_much(np.array([0.1, 0.5, 3.3, 2.0]))
    """
    outs = []
    s = 0.0
    for v in x:
        s = s + v
        if s > 1.6:
            break
        outs.append(s * v)
    return np.sum(np.array(outs))


def two_a_step(x):
    """
    >>> two_a_step(np.array([1.0, 0.5, 0.3, 2.0, 0.7, 0.9]))
    >>> two_a_step(np.array([0.1, 0.5, 3.3, 2.0, -0.4, 0.3]))
    """
    outs = []
    for v in x:
        outs.append(np.sin(v))
        outs.append(v * v)
    w = np.array(outs)
    return w @ w[::-1]


def filtered_in_a_list(x):
    """
    >>> filtered_in_a_list(np.array([1.0, 0.5, 0.3, 2.0, 0.7, 0.9]))
    >>> filtered_in_a_list(np.array([0.1, 0.5, 3.3, 2.0, -0.4, 0.3]))
    """
    s = [x[0]]
    for t in range(1, len(x)):
        s.append(0.3 * x[t] + 0.7 * s[t - 1] * s[t - 1])
    return np.sum(np.array(s))


def of_second_order(x):
    """
    >>> of_second_order(np.array([1.0, 0.5, 0.3, 2.0, 0.7, 0.9]))
    >>> of_second_order(np.array([0.1, 0.5, 3.3, 2.0, -0.4, 0.3]))
    """
    s = [x[0], x[1]]
    for t in range(2, len(x)):
        s.append(0.3 * x[t] + 0.7 * s[t - 1] - 0.2 * s[t - 2] * s[t - 1])
    return s[-1] * s[0]


def first_and_last(x, n):
    """
    >>> first_and_last(1.2, 6)
    >>> first_and_last(0.2, 6)
    """
    h = [x]
    for _ in range(n):
        h.append(h[-1] * 0.5 + h[0])
    return h[-1] * h[0] + h[1]


def reversed_list(x):
    """
    >>> reversed_list(np.array([1.0, 0.5, 0.3, 2.0, 0.7, 0.9]))
    >>> reversed_list(np.array([0.1, 0.5, 3.3, 2.0, -0.4, 0.3]))
    """
    outs = []
    for v in x:
        outs.append(v * v)
    outs.reverse()
    return np.array(outs) @ x


def horner_of_a_list(x):
    """
    >>> horner_of_a_list(np.array([1.0, 0.5, 0.3, 2.0, 0.7, 0.9]))
    >>> horner_of_a_list(np.array([0.1, 0.5, 3.3, 2.0, -0.4, 0.3]))
    """
    s = 0.0
    for i, v in reversed(list(enumerate(x))):
        s = s * 0.5 + v * i
    return s


def part_of_a_list_backwards(x):
    """
    >>> part_of_a_list_backwards(np.array([1.0, 0.5, 0.3, 2.0, 0.7, 0.9]))
    >>> part_of_a_list_backwards(np.array([0.1, 0.5, 3.3, 2.0, -0.4, 0.3]))
    """
    xs = []
    for v in x:
        xs.append(v * v)
    s = 0.0
    for v in reversed(xs[:3]):
        s = s * 0.5 + v * v
    for v in xs[::-1]:
        s = s * 0.5 + v
    return s


def copies_of_a_list(x):
    """
    >>> copies_of_a_list(np.array([1.0, 0.5, 0.3, 2.0, 0.7, 0.9]))
    >>> copies_of_a_list(np.array([0.1, 0.5, 3.3, 2.0, -0.4, 0.3]))
    """
    xs = list(x)
    ys = []
    for v in xs:
        ys.append(v * v)
    zs = list(ys)
    zs2 = ys.copy()
    return sum(zs) + zs2[0] * zs2[-1]


def extended_after_the_loop(x):
    """
    >>> extended_after_the_loop(np.array([1.0, 0.5, 0.3, 2.0, 0.7, 0.9]))
    >>> extended_after_the_loop(np.array([0.1, 0.5, 3.3, 2.0, -0.4, 0.3]))
    """
    outs = []
    for v in x:
        outs.append(v * v)
    outs.extend([x[0], x[1]])
    outs += [x[2]]
    outs = outs + [x[3] * x[3]]
    return np.array(outs) @ np.array(outs)[::-1]


def inserted_in_front(x):
    """
    >>> inserted_in_front(np.array([1.0, 0.5, 0.3, 2.0, 0.7, 0.9]))
    >>> inserted_in_front(np.array([0.1, 0.5, 3.3, 2.0, -0.4, 0.3]))
    """
    outs = []
    s = 0.0
    for v in x[::-1]:
        s = s * 0.5 + v
        outs.insert(0, s)
    return np.sum(np.array(outs) * x)


def inserted_after_the_loop(x):
    """
    >>> inserted_after_the_loop(np.array([1.0, 0.5, 0.3, 2.0, 0.7, 0.9]))
    >>> inserted_after_the_loop(np.array([0.1, 0.5, 3.3, 2.0, -0.4, 0.3]))
    """
    outs = []
    for v in x:
        outs.append(v * v)
    outs.insert(0, x[0])
    last = outs.pop()
    first = outs.pop(0)
    return np.array(outs) @ np.array(outs) + last * first


def first_and_last_swapped(x):
    """
    >>> first_and_last_swapped(np.array([1.0, 0.5, 0.3, 2.0, 0.7, 0.9]))
    >>> first_and_last_swapped(np.array([0.1, 0.5, 3.3, 2.0, -0.4, 0.3]))
    """
    xs = [v * v for v in x]
    n = len(xs)
    i, j = 0, n - 1
    xs[i], xs[j] = xs[j], xs[i]
    return sum(k * v for k, v in enumerate(xs))


def until_long_or_large(x):
    """
    >>> until_long_or_large(0.3)
    >>> until_long_or_large(1.3)
    """
    seq = [x]
    while len(seq) < 8 and seq[-1] < 3:
        seq.append(seq[-1] * 1.7)
    return sum(seq) + len(seq)


def positive_and_negative(x):
    """
    >>> positive_and_negative(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> positive_and_negative(np.array([1.0, 0.5, -0.3, -2.0, 0.6]))
    """
    pos = [v * v for v in x if v > 0]
    neg = [v for v in x if v <= 0]
    return sum(pos) / len(pos) - sum(neg) / len(neg) + np.mean(pos) * np.std(np.array(neg))


def path_of_pairs(x):
    """
    >>> path_of_pairs(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> path_of_pairs(np.array([1.0, 0.5, -0.3, -2.0, 0.6]))
    """
    path = []
    t = 0.0
    for v in x:
        t = t + 0.1
        path.append((t, v * v))
    s = 0.0
    for a, b in path:
        s = s + a * b
    arr = np.array(path)
    ts = [p[0] for p in path]
    return s + np.sum(arr[:, 0] * arr[:, 1] ** 2) + path[-1][1] + sum(ts)


def path_of_lists(x):
    """
    >>> path_of_lists(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> path_of_lists(np.array([1.0, 0.5, -0.3, -2.0, 0.6]))
    """
    path = []
    y = 0.0
    for v in x:
        y = y * 0.5 + v
        if y > -0.2:
            path.append([y, v])
    p = np.array(path)
    return np.sum(p[:, 0] * p[:, 1])


Point = namedtuple("Point", "x y")


def path_of_points(x):
    """
    >>> path_of_points(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> path_of_points(np.array([1.0, 0.5, -0.3, -2.0, 0.6]))
    """
    path = [Point(0.0, 1.0)]
    for v in x:
        last = path[-1]
        path.append(Point(last.x + v, last.y * v + 1.0))
    return sum(p.x * p.y for p in path)


def two_phases(x):
    """
    >>> two_phases(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> two_phases(np.array([1.0, 0.5, -0.3, -2.0, 0.6]))
    """
    out = []
    for v in x:
        out.append(np.sin(v))
    for v in x[::-1]:
        out.append(np.cos(v) * out[-1])
    return np.array(out) @ np.array(out)


def thinned(x):
    """
    >>> thinned(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> thinned(np.array([1.0, 0.5, -0.3, -2.0, 0.6]))
    """
    kept = [x[0]]
    for v in x[1:]:
        if abs(v - kept[-1]) > 0.9:
            kept.append(v)
    return sum(v * v for v in kept) + len(kept)


def greatest_if_any(x):
    """
    >>> greatest_if_any(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> greatest_if_any(np.array([-1.0, -0.5, -0.3, -2.0, -0.6]))
    """
    kept = [v for v in x if v > 0]
    if not kept:
        return np.sum(x) * 0.5
    return max(kept) * kept[0] + kept[-1]


def third_if_any(x):
    """
    >>> third_if_any(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> third_if_any(np.array([-1.0, -0.5, -0.3, -2.0, -0.6]))
    """
    kept = []
    for v in x:
        if v > 0:
            kept.append(v * v)
    if len(kept) == 0:
        return np.sum(x) * 0.5
    if len(kept) > 2:
        return kept[2] * 3.0
    return np.mean(kept)


def log_of_lists(x):
    """
    >>> log_of_lists(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> log_of_lists(np.array([-1.0, -0.5, -0.3, -2.0, -0.6]))
    """
    log = {"loss": [], "step": []}
    w = 1.0
    for v in x:
        w = w - 0.1 * (w - v)
        log["loss"].append((w - v) ** 2)
        log["step"].append(w)
    return np.mean(np.array(log["loss"])) + log["step"][-1]


class Recorder:
    def __init__(self):
        self.values = []

    def add(self, v):
        self.values.append(v)


def recorded(x):
    """
    >>> recorded(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> recorded(np.array([-1.0, -0.5, -0.3, -2.0, -0.6]))
    """
    r = Recorder()
    w = 1.0
    for v in x:
        w = w - 0.1 * (w - v)
        r.add(w)
    return np.mean(np.array(r.values) ** 2)


def recorded_by_a_helper(x):
    """
    >>> recorded_by_a_helper(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> recorded_by_a_helper(np.array([-1.0, -0.5, -0.3, -2.0, -0.6]))
    """
    out = []

    def record(v):
        out.append(v * v)

    for v in x:
        if v > -0.55:
            record(v)
    return np.sum(np.array(out))


def recurrence_of_a_slice(x):
    """
    >>> recurrence_of_a_slice(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> recurrence_of_a_slice(np.array([-1.0, -0.5, -0.3, -2.0, -0.6]))
    """
    s = [x[0], x[1]]
    for t in range(2, len(x)):
        a, b = s[-2:]
        s.append(0.5 * a + 0.2 * b + x[t] + sum(s[-2:]))
    return np.sum(np.array(s))


# -- objects and lists as items -------------------------------------------------------------------


def by_one_two_or_none(x):
    """
    >>> by_one_two_or_none(np.array([1.0, -0.5, 0.3, 2.0, -0.3]))
    >>> by_one_two_or_none(np.array([1.0, 0.5, -0.3, -2.0, 0.6]))
    """
    out = []
    for i, v in enumerate(x):
        if v > 0:
            if v > 0.8:
                out.append(v * 10.0)
                out.append(v)
            else:
                out.append(-v)
        elif i % 2 == 0:
            out.append(v * i)
    w = np.array(out)
    return np.sum(w * np.arange(len(out)))


def appended_in_both_until_enough(x):
    """
    >>> appended_in_both_until_enough(np.array([1.0, 0.5, 0.3, 2.0, 0.3]))
    >>> appended_in_both_until_enough(np.array([0.1, 0.5, 0.3, 0.2, 0.3]))
    """
    out = [0.0]
    for v in x:
        if v > 0.4:
            out.append(out[-1] + v)
            if out[-1] > 1.4:
                break
        else:
            out.append(out[-1] * 0.5)
    return np.sum(np.array(out) ** 2) * len(out)


class Logger:
    def __init__(self):
        self.n = 0
        self.vals = []

    def log(self, v):
        self.n += 1
        self.vals.append(v)


def logged_and_counted(x):
    """
    >>> logged_and_counted(np.array([1.0, -0.5, 0.3, 0.7, 0.2]))
    >>> logged_and_counted(np.array([1.0, 0.5, 0.3, -0.7, 0.2]))
    """
    lg = Logger()
    for v in x:
        if v > 0:
            lg.log(v * v)
    return sum(lg.vals) / lg.n


@dataclass
class State:
    x: float
    v: float


def states_before_steps(x0, n):
    """
    >>> states_before_steps(1.0, 10)
    >>> states_before_steps(0.4, 10)
    """
    s = State(x0, 0.0)
    traj = []
    for _ in range(n):
        traj.append(s)
        s = State(s.x + 0.1 * s.v, s.v - 0.1 * s.x)
    return sum(p.x * p.x + p.v for p in traj) + s.x


def one_list_many_times(x0):
    """
    >>> one_list_many_times(1.0)
    >>> one_list_many_times(0.4)
    """
    p = [x0, 0.0]
    traj = []
    for _ in range(6):
        p[0] += 0.1 * p[1]
        p[1] -= 0.1 * p[0]
        traj.append(p)
    return sum(q[0] * q[0] + q[1] for q in traj)


def changed_in_the_next_step(x0):
    """
    >>> changed_in_the_next_step(1.0)
    >>> changed_in_the_next_step(0.4)
    """
    p = [x0, 1.0]
    traj = []
    for _ in range(6):
        p[1] += 0.5 * x0
        p = [p[0] * 0.9, p[1]]
        traj.append(p)
    return sum(q[0] * q[1] for q in traj)


def states_of_some_steps(x):
    """
    >>> states_of_some_steps(np.array([1.0, -0.5, 0.3, 0.7]))
    >>> states_of_some_steps(np.array([0.1, 0.5, 0.3, -0.7]))
    """
    path = []
    s = State(0.0, 1.0)
    for v in x:
        s.x += v
        if v > 0:
            path.append(State(s.x, v))
    return sum(q.x * q.v for q in path)


def records_so_far(x):
    """
    >>> records_so_far(np.array([1.0, -0.5, 0.3, 0.7]))
    >>> records_so_far(np.array([0.1, 0.5, 0.3, -0.7]))
    """
    h = {"n": 0, "x": [], "best": 0.0}
    for v in x:
        h["n"] += 1
        if v > h["best"]:
            h["best"] = v
            h["x"].append(v * h["n"])
    return sum(h["x"]) + h["best"] * h["n"]


def list_changed_in_a_branch(x):
    """
    >>> list_changed_in_a_branch(np.array([1.0, -0.5, 0.3, 0.7, 0.2]))
    >>> list_changed_in_a_branch(np.array([-1.0, 0.5, 0.3, -0.7, 0.2]))
    """
    out = [v * v for v in x]
    if x[0] > 0:
        out[0] = 5.0 * x[1]
    else:
        out.reverse()
    for i in range(len(out)):
        out[i] *= x[i]
    return sum(k * v for k, v in enumerate(out))


def differences_of_some(x):
    """
    >>> differences_of_some(np.array([0.1, 0.3, -0.2, 0.9, 0.7]))
    >>> differences_of_some(np.array([-0.1, -0.3, -0.2, -0.9, 0.7]))
    >>> differences_of_some(np.array([-0.1, -0.3, -0.2, -0.9, -0.7]))
    """
    kept = np.array([v for v in x if v > 0])
    return np.sum(np.diff(kept) ** 2) + np.sum(kept[1:] * kept[:-1]) + np.sum(kept[2:] - kept[:-2])


def trapezoid_of_some(x):
    """
    >>> trapezoid_of_some(np.array([0.1, 0.3, -0.2, 0.9, 0.7]))
    >>> trapezoid_of_some(np.array([-0.1, -0.3, -0.2, -0.9, 0.7]))
    """
    ts = []
    ys = []
    for i, v in enumerate(x):
        if v > 0:
            ts.append(i * 0.5)
            ys.append(np.sin(v))
    ys = np.array(ys)
    ts = np.array(ts)
    return np.sum((ys[1:] + ys[:-1]) * 0.5 * np.diff(ts))
