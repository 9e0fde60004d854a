"""Recurrences over tables and sequences: dynamic programming, running values, counting."""

import numpy as np


def running_maximum(xs):
    """
    >>> running_maximum(np.array([0.3, 0.9, 0.5, 1.4, 1.1]))
    >>> running_maximum(np.array([1.3, 0.9, 0.5, 0.4, 2.1]))
    >>> running_maximum(np.array([0.3, 0.9]))
    """
    out = np.empty_like(xs)
    best = -np.inf
    for i, x in enumerate(xs):
        if x > best:
            best = x
        out[i] = best
    return out


def drawdown(prices):
    """The largest fall from a peak.

    >>> drawdown(np.array([1.0, 1.5, 1.2, 1.7, 0.9]))
    >>> drawdown(np.array([2.0, 1.5, 1.3, 1.8, 1.9]))
    """
    peak = prices[0]
    worst = 0.0
    for price in prices:
        peak = max(peak, price)
        worst = max(worst, (peak - price) / peak)
    return worst


def maximum_subarray(xs):
    """
    >>> maximum_subarray(np.array([0.3, -0.9, 0.5, 1.4, -0.2]))
    >>> maximum_subarray(np.array([1.3, 0.9, -2.5, 0.4, 2.1]))
    """
    best = xs[0]
    current = xs[0]
    for x in xs[1:]:
        current = max(x, current + x)
        best = max(best, current)
    return best**2


def edit_distance(a, b):
    """Between sequences of numbers; a substitution costs the difference.

    >>> edit_distance(np.array([0.3, 0.9, 0.5]), np.array([0.35, 0.55, 1.4, 0.1]))
    >>> edit_distance(np.array([1.3, 0.2, 0.7]), np.array([0.4, 1.25, 0.1, 0.75]))
    """
    m, n = len(a), len(b)
    d = np.zeros((m + 1, n + 1))
    d[:, 0] = np.arange(m + 1)
    d[0, :] = np.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            change = d[i - 1, j - 1] + abs(a[i - 1] - b[j - 1])
            d[i, j] = min(change, d[i - 1, j] + 1.0, d[i, j - 1] + 1.0)
    return d[m, n]


def time_warping(a, b):
    """
    >>> time_warping(np.array([0.3, 0.9, 0.5]), np.array([0.35, 0.55, 1.4]))
    >>> time_warping(np.array([1.3, 0.2, 0.7]), np.array([0.4, 1.25, 0.1]))
    """
    cost = np.full((len(a) + 1, len(b) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(len(a)):
        for j in range(len(b)):
            step = min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
            cost[i + 1, j + 1] = (a[i] - b[j]) ** 2 + step
    return cost[-1, -1]


def viterbi_score(transitions, emissions):
    """
    >>> viterbi_score(np.array([[0.5, 0.1], [0.3, 0.8]]), np.array([[0.1, 0.4], [0.9, 0.2]]))
    >>> viterbi_score(np.array([[0.2, 0.9], [0.6, 0.1]]), np.array([[0.7, 0.3], [0.2, 1.2]]))
    """
    score = emissions[0]
    for row in emissions[1:]:
        score = np.max(score[:, None] + transitions, axis=0) + row
    return np.max(score)


def hidden_markov(start, transition, emission):
    """
    >>> hidden_markov(np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.2, 0.8]]), np.ones((3, 2)) / 3)
    >>> hidden_markov(np.array([0.1, 0.9]), np.array([[0.5, 0.5], [0.1, 0.9]]), np.eye(3, 2) + 0.2)
    """
    observed = [0, 2, 1, 0]
    alpha = start * emission[observed[0]]
    log_likelihood = 0.0
    for symbol in observed[1:]:
        total = np.sum(alpha)
        log_likelihood += np.log(total)
        alpha = (alpha / total) @ transition * emission[symbol]
    return log_likelihood + np.log(np.sum(alpha))


def knapsack(values):
    """
    >>> knapsack(np.array([1.0, 2.5, 3.1]))
    >>> knapsack(np.array([4.0, 2.5, 0.7]))
    """
    weights = [1, 2, 3]
    best = np.zeros(5)
    for value, weight in zip(values, weights):
        for room in range(4, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + value)
    return best[-1]


def fibonacci_like(a, b):
    """
    >>> fibonacci_like(1.0, 0.5)
    >>> fibonacci_like(0.2, 0.8)
    """
    sequence = [a, b]
    for _ in range(8):
        sequence.append(0.5 * sequence[-1] + 0.6 * sequence[-2])
    return sequence[-1] * sequence[4]


def pascal_row(x):
    """
    >>> pascal_row(0.5)
    >>> pascal_row(-1.5)
    """
    row = [1.0]
    for _ in range(5):
        row = [1.0] + [a + x * b for a, b in zip(row, row[1:])] + [x]
    return sum(row)


def moving_average(xs):
    """
    >>> moving_average(np.array([0.3, 0.9, 0.5, 1.4, 1.1]))
    >>> moving_average(np.array([1.3, 0.9, 0.5, 0.4, 2.1]))
    """
    smooth = []
    for i in range(len(xs) - 2):
        smooth.append(np.mean(xs[i : i + 3]))
    return np.array(smooth)


def exponential_smoothing(xs, alpha):
    """
    >>> exponential_smoothing(np.array([0.3, 0.9, 0.5, 1.4]), 0.3)
    >>> exponential_smoothing(np.array([1.3, 0.9, 0.5, 0.4]), 0.8)
    >>> exponential_smoothing(np.array([1.3, 0.9]), 0.8)
    """
    smoothed = np.zeros(len(xs))
    smoothed[0] = xs[0]
    for t in range(1, len(xs)):
        smoothed[t] = alpha * xs[t] + (1 - alpha) * smoothed[t - 1]
    return np.sum((smoothed - xs) ** 2)


def histogram(xs, weights):
    """
    >>> histogram(np.array([0.1, 0.6, 0.65, 0.3, 0.9]), np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> histogram(np.array([0.8, 0.2, 0.1, 0.4, 0.7]), np.array([0.5, 1.5, 2.5, 3.5, 1.0]))
    """
    counts = np.zeros(4)
    for x, w in zip(xs, weights):
        k = 0
        while k < 3 and x > 0.25 * (k + 1):
            k += 1
        counts[k] += w * x
    return counts


def count_and_mean(xs):
    """
    >>> count_and_mean(np.array([0.3, -0.9, 0.5, 1.4, -0.2]))
    >>> count_and_mean(np.array([-1.3, -0.9, -2.5, -0.4, -2.1]))
    """
    count = 0
    total = 0.0
    for x in xs:
        if x > 0:
            count += 1
            total += x
    if count == 0:
        return 0.0
    return total / count


def welford(xs):
    """
    >>> welford(np.array([0.3, 0.9, 0.5, 1.4]))
    >>> welford(np.array([1.3, 0.9, 0.5, 0.4]))
    >>> welford(np.array([1.3, 0.9]))
    """
    mean = 0.0
    m2 = 0.0
    for n, x in enumerate(xs, start=1):
        delta = x - mean
        mean += delta / n
        m2 += delta * (x - mean)
    return m2 / (len(xs) - 1)


def prefix_products(xs):
    """
    >>> prefix_products(np.array([0.3, 0.9, 0.5, 1.4]))
    >>> prefix_products(np.array([1.3, -0.9, 0.5, 0.4]))
    """
    product = 1.0
    products = []
    for x in xs:
        product *= x
        products.append(product)
    return sum(products)


def pairwise(points):
    """
    >>> pairwise(np.array([[0.3, 0.9], [0.5, 1.4], [1.1, 0.2]]))
    >>> pairwise(np.array([[1.3, -0.9], [0.5, 0.4], [0.3, 0.3]]))
    """
    energy = 0.0
    n = len(points)
    for i in range(n):
        for j in range(i + 1, n):
            r = np.sqrt(np.sum((points[i] - points[j]) ** 2))
            if r < 1.0:
                energy += (1.0 - r) ** 2
    return energy


def first_crossing(xs, level):
    """Where a sampled curve first crosses a level, between samples.

    >>> first_crossing(np.array([0.0, 0.3, 0.5, 1.4, 1.1]), 0.4)
    >>> first_crossing(np.array([0.0, 0.3, 0.5, 1.4, 1.1]), 1.2)
    >>> first_crossing(np.array([0.0, 0.3, 0.5, 1.4, 1.1]), 2.0)
    """
    for i in range(len(xs) - 1):
        if xs[i] < level <= xs[i + 1]:
            return i + (level - xs[i]) / (xs[i + 1] - xs[i])
    return -level


def binomial_option(spot, strike, rate, volatility):
    """An American put on a tree.

    >>> binomial_option(100.0, 105.0, 0.05, 0.3)
    >>> binomial_option(100.0, 92.0, 0.02, 0.2)
    """
    steps = 4
    dt = 1.0 / steps
    up = np.exp(volatility * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
    prices = spot * up ** np.arange(steps, -steps - 1, -2)
    values = np.maximum(strike - prices, 0.0)
    for _ in range(steps):
        values = np.exp(-rate * dt) * (p * values[:-1] + (1.0 - p) * values[1:])
        prices = prices[:-1] / up
        values = np.maximum(values, strike - prices)
    return values[0]


def cellular(xs):
    """
    >>> cellular(np.array([0.3, 0.9, 0.45, 1.4]))
    >>> cellular(np.array([1.3, -0.9, 0.6, 0.4]))
    """
    for _ in range(5):
        left, right = np.roll(xs, 1), np.roll(xs, -1)
        xs = np.where(xs > 0.5, 0.5 * (left + right), xs + 0.1 * left * right)
    return xs


def sieve(x):
    """
    >>> sieve(0.5)
    >>> sieve(0.9)
    """
    is_prime = [True] * 20
    total = 0.0
    for p in range(2, 20):
        if is_prime[p]:
            total += x**p
            for multiple in range(p * p, 20, p):
                is_prime[multiple] = False
    return total


def water_level(heights):
    """
    >>> water_level(np.array([0.9, 0.2, 0.5, 1.4, 0.3, 0.7]))
    >>> water_level(np.array([0.3, 1.2, 0.1, 0.8, 0.6, 0.9]))
    """
    i, j = 0, len(heights) - 1
    left, right, water = 0.0, 0.0, 0.0
    while i <= j:
        if left < right:
            left = max(left, heights[i])
            water += left - heights[i]
            i += 1
        else:
            right = max(right, heights[j])
            water += right - heights[j]
            j -= 1
    return water


def index_within_bounds(xs, t: float):
    """
    >>> index_within_bounds(np.array([0.3, 1.2, 0.5]), 1.2)
    >>> index_within_bounds(np.array([0.3, -0.2, 0.5]), 7.7)
    >>> index_within_bounds(np.array([0.3, -0.2, 0.5]), 1.6)
    """
    ys = xs * 2.0
    i = int(t)
    if i < len(xs):
        ys[i] = t * xs[i]
        for x in xs:
            ys[i] += x * xs[i]
    if i < len(xs) and xs[i] > 0.0:
        return ys @ ys * xs[i]
    return ys @ ys - t


def steps_of_one_or_two(xs):
    """
    >>> steps_of_one_or_two(np.array([0.3, 1.2, 0.5, 0.1, -0.6]))
    >>> steps_of_one_or_two(np.array([0.3, -0.2, 0.5, 0.1, 0.6]))
    """
    i, total = 0, 0.0
    while i < len(xs):
        x = xs[i]
        total += x * x * i
        i += 2 if x < 0.0 else 1
    return total
