"""What no transformation can be made of: each is refused with its line and a way out."""

import math

import numpy as np

HISTORY = []
WEIGHTS = np.ones(3)


def recursion_on_a_value(x: float) -> float:
    """
    >>> recursion_on_a_value(3.0)
    """
    if x < 1.0:
        return x
    return x * recursion_on_a_value(x - 1.0)


def data_dependent_shape(x):
    """
    >>> data_dependent_shape(np.array([0.3, -0.2]))
    """
    return np.sum(np.union1d(x, x**2) ** 2)


def defined_in_one_branch(x: float) -> float:
    """
    >>> defined_in_one_branch(0.3)
    """
    if x > 0.0:
        y = x * x
    return y + 1.0


def branches_of_other_shapes(x):
    """
    >>> branches_of_other_shapes(np.array([0.3, -0.2]))
    """
    if x[0] > 0.0:
        y = x
    else:
        y = np.concatenate([x, x])
    return np.sum(y)


def branches_of_other_types(x: float):
    """
    >>> branches_of_other_types(0.3)
    """
    if x > 0.0:
        y = x
    else:
        y = "negative"
    return y


def growing_in_a_while(x):
    """
    >>> growing_in_a_while(np.array([0.3, 0.2]))
    """
    while np.sum(x) < 10.0:
        x = np.concatenate([x, x])
    return np.sum(x)


def writes_to_a_global(x):
    """
    >>> writes_to_a_global(np.array([0.3, 0.2, 0.1]))
    """
    WEIGHTS[0] = x[0]
    return np.sum(WEIGHTS * x)


def appends_to_a_global(x: float) -> float:
    """
    >>> appends_to_a_global(0.3)
    """
    HISTORY.append(x)
    return x * x


def random_numbers(x: float) -> float:
    """
    >>> random_numbers(0.3)
    """
    return x * np.random.normal()


def sorted_builtin(x):
    """
    >>> sorted_builtin(np.array([0.3, 0.2, 0.1]))
    """
    a, b, c = sorted(x)
    return a * b + c


def index_of_a_list(x: float, k: int) -> float:
    """
    >>> index_of_a_list(0.3, 1)
    """
    functions = [np.sin, np.cos]
    return functions[k](x)


def key_of_a_dict(x: float) -> float:
    """
    >>> key_of_a_dict(0.3)
    """
    table = {0: 1.0, 1: 2.0}
    return table[int(x)] * x


def lengths_by_value(x: float):
    """
    >>> lengths_by_value(3.2)
    """
    return np.sum(np.zeros(int(x)) + x)


def read_only_diagonal(a):
    """
    >>> read_only_diagonal(np.ones((2, 2)))
    """
    np.diagonal(a)[0] = 1.0
    return np.sum(a)


def match_on_a_value(x: float) -> float:
    """
    >>> match_on_a_value(0.3)
    """
    match x:
        case 0.0:
            return x
        case _:
            return x * x


def step_of_a_range(x: float, n: int, step: int) -> float:
    """
    >>> step_of_a_range(0.3, 5, 2)
    """
    total = 0.0
    for k in range(0, n, step):
        total += x * k
    return total


def greatest_of_some(x):
    """
    >>> greatest_of_some(np.array([0.3, -0.2]))
    """
    return max(v * v for v in x if v > 0.0)


def number_of_an_array(x):
    """
    >>> number_of_an_array(np.array([0.3, -0.2]))
    """
    return float(x) * 2.0


def appended_and_changed(x, n: int):
    """
    >>> appended_and_changed(np.array([0.3, 0.4]), 3)
    """
    y = x * 1.0
    rows = []
    for _ in range(n):
        y += x
        rows.append(y)
    return np.sum(np.array(rows) ** 2)


def changed_after_append(x, n: int):
    """
    >>> changed_after_append(np.array([0.3, 0.4]), 3)
    """
    y = x * 1.0
    rows = []
    for _ in range(n):
        y = y * x
        rows.append(y)
    y[0] = 5.0
    return np.sum(np.array(rows) ** 2)


def found_or_not(xs):
    """
    >>> found_or_not(np.array([0.3, -0.5, 1.1, 0.2, 0.05]))
    """
    for x in xs:
        if x > 1.0:
            found = x
            break
    return found * found


def length_of_a_text(x: float) -> float:
    """
    >>> length_of_a_text(0.3)
    """
    return x * len(f"{x:.2f}")


def one_class_or_another(x: float) -> float:
    """
    >>> one_class_or_another(0.3)
    """
    kind = Linear if x > 0.0 else Quadratic
    return kind()(math.exp(x))


def assigned_behind_and(x: float) -> float:
    """
    >>> assigned_behind_and(0.3)
    """
    steps = 0
    while x < 5.0 and (steps := steps + 1) < 10:
        x = x * 1.5
    return x * steps


def assigned_only_in_a_loop(xs, n: int):
    """
    >>> assigned_only_in_a_loop(np.array([0.3, 0.5]), 2)
    """
    for i in range(n):
        if xs[i] > 0.4:
            break
    return xs[i]


def another_size_in_each_step(x):
    """
    >>> another_size_in_each_step(np.array([0.3, -0.2]))
    """
    total = 0.0
    for i in range(len(x)):
        rest = x[i:]
        total += np.sum(rest**2)
    return total + np.sum(rest)


class Linear:
    def __call__(self, x):
        return 2.0 * x


class Quadratic:
    def __call__(self, x):
        return x * x


def an_object_of_one_class_or_another(x: float) -> float:
    """
    >>> an_object_of_one_class_or_another(0.3)
    """
    model = Linear() if x > 0.0 else Quadratic()
    return model(x)


def assigned_where_the_first_holds(x: float) -> float:
    """
    >>> assigned_where_the_first_holds(0.3)
    """
    if x > 0.0 and (m := 2.0 * x) > 1.0:
        x = x * m
    return x * m


def values_without_the_axes_of_the_index(x, w):
    """
    >>> values_without_the_axes_of_the_index(np.ones(5), np.ones(3))
    """
    y = np.zeros(5)
    np.add.at(y, np.arange(3)[:, None] + np.arange(3), w)
    return y * x
