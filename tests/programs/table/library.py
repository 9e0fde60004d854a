"""What NumPy's library has for signals, statistics and polynomials, as it is called by users."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def weighted_windows(x, w):
    """
    >>> weighted_windows(np.array([0.3, -1.2, 0.8, 2.1, -0.4]), np.array([0.2, 0.5, 0.3]))
    >>> weighted_windows(np.array([0.5, 1.3, -0.6, 0.2, 1.9]), np.array([0.1, 0.5, 0.4]))
    """
    places = np.arange(len(x) - 2)[:, None] + np.arange(3)
    return np.sum(x[places] * w)


def two_filters(x, w):
    """
    >>> two_filters(np.array([0.3, -1.2, 0.8, 2.1, -0.4]), np.array([0.2, 0.5, 0.3]))
    >>> two_filters(np.array([0.5, 1.3, -0.6, 0.2, 1.9]), np.array([0.1, 0.5, 0.4]))
    """
    near = np.arange(5)[:, None] + np.arange(3)
    padded = np.pad(x, 1)
    wide = np.pad(x, 2)
    return np.sum(padded[near] * w, axis=1) * np.sum(wide[near] * w[::-1], axis=1)


def sparse_product(data, indices, indptr, x):
    """
    >>> cols, ends = np.array([0, 2, 1, 0]), np.array([0, 2, 3, 4])
    >>> sparse_product(np.array([1.0, 2.0, 3.0, 4.0]), cols, ends, np.array([0.3, 0.4, 0.5]))
    >>> sparse_product(np.array([1.0, 2.5, 3.0, 4.0]), cols, ends, np.array([0.3, 0.1, 0.5]))
    """
    y = np.zeros(len(indptr) - 1)
    for i in range(len(indptr) - 1):
        row = data[indptr[i] : indptr[i + 1]]
        y[i] = row @ x[indices[indptr[i] : indptr[i + 1]]]
    return y


def spread_within(x, starts):
    """
    >>> spread_within(np.array([1.0, 2.0, 3.0, 4.0, 2.5]), np.array([0, 2, 5]))
    >>> spread_within(np.array([1.0, 2.0, 0.3, 4.0, 0.7]), np.array([0, 2, 5]))
    """
    total = 0.0
    for k in range(len(starts) - 1):
        mean = x[starts[k] : starts[k + 1]].mean()
        total += np.sum((x[starts[k] : starts[k + 1]] - mean) ** 2)
    return total


def volatility(prices):
    """
    >>> volatility(np.array([[1.0, 2.0], [1.1, 1.9], [1.3, 2.2], [1.2, 2.6]]))
    >>> volatility(np.array([[1.0, 3.0], [0.9, 3.1], [1.3, 3.2], [1.4, 2.6]]))
    """
    returns = np.diff(np.log(prices), axis=0)
    weights = np.array([0.4, 0.6])
    return np.sqrt(weights @ np.cov(returns, rowvar=False) @ weights)


def correlation(x, y):
    """
    >>> correlation(np.array([0.3, -1.2, 0.8, 2.1, -0.4]), np.array([1.1, 0.2, -0.7, 0.9, 1.6]))
    >>> correlation(np.array([0.5, 1.3, -0.6, 0.2, 1.9]), np.array([-1.4, 0.6, 0.3, 1.2, -0.8]))
    """
    return np.corrcoef(x, y)[0, 1]


def detrended(t, y):
    """
    >>> detrended(np.array([0.0, 0.5, 1.1, 1.9, 2.4]), np.array([1.1, 0.2, -0.7, 0.9, 1.6]))
    >>> detrended(np.array([0.1, 0.4, 1.3, 1.7, 2.8]), np.array([-1.4, 0.6, 0.3, 1.2, -0.8]))
    """
    coefficients = np.polyfit(t, y, 2)
    speed = np.polyval(np.polyder(coefficients), t)
    return y - np.polyval(coefficients, t) + 0.1 * speed


def calibrated(c, x, reference):
    """
    >>> calibrated(np.array([0.1, 2.0, 0.5]), np.array([0.3, -1.2, 0.8]), np.array([1.0, 0.2, 0.4]))
    >>> calibrated(np.array([0.3, 1.0, 0.7]), np.array([0.5, 1.3, -0.6]), np.array([0.1, 0.7, 0.3]))
    """
    y = np.polynomial.polynomial.polyval(x, c)
    return np.vander(x, 3) @ reference + y + np.polyval(np.polyint(c, k=1.0), x)


def frequency(phase):
    """
    >>> frequency(np.array([0.3, 2.0, -2.9, -1.2, 1.4]))
    >>> frequency(np.array([0.3, 3.0, -0.9, 2.9, -2.7]))
    """
    return np.gradient(np.unwrap(phase), 0.5, edge_order=2)


def slope_at_points(y, x):
    """
    >>> slope_at_points(np.array([1.1, 0.2, -0.7, 0.9]), np.array([0.0, 1.0, 1.5, 2.5]))
    >>> slope_at_points(np.array([-1.4, 0.6, 0.3, 1.2]), np.array([0.0, 0.3, 1.5, 2.7]))
    """
    return np.gradient(y, x, edge_order=2)


def moving_extremes(x):
    """
    >>> moving_extremes(np.array([0.3, -1.2, 0.8, 2.1, -0.4]))
    >>> moving_extremes(np.array([0.5, 1.3, -0.6, 0.2, 1.9]))
    """
    windows = sliding_window_view(x, 3)
    return windows.max(axis=1) - windows.min(axis=-1) + windows.mean(axis=1)


def pooled(image):
    """
    >>> pooled(np.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.6], [0.7, -0.2, 1.8]]))
    >>> pooled(np.array([[1.4, -0.3, 0.2], [0.5, 2.5, -0.6], [-0.7, 0.4, 1.1]]))
    """
    patches = sliding_window_view(image, (2, 2))
    return np.log(np.sum(np.exp(patches), axis=(2, 3)))


def drawdown(prices):
    """
    >>> drawdown(np.array([1.0, 1.4, 1.1, 1.7, 1.2]))
    >>> drawdown(np.array([2.0, 1.3, 1.6, 1.1, 1.9]))
    """
    peaks = np.maximum.accumulate(prices)
    return np.max((peaks - prices) / peaks) + np.cumulative_sum(prices)[-1]


def log_likelihood(scores):
    """
    >>> log_likelihood(np.array([[0.3, -1.2, 0.8], [2.1, -0.4, 0.1]]))
    >>> log_likelihood(np.array([[0.5, 1.3, -0.6], [0.2, 1.9, 0.7]]))
    """
    return np.sum(scores[:, 0] - np.logaddexp.reduce(scores, axis=1))


def of_positive(x):
    """
    >>> of_positive(np.array([0.3, -1.2, 0.8, -2.1, 0.7]))
    >>> of_positive(np.array([0.5, -1.3, 0.6, -0.2, 1.9]))
    """
    chosen = x > 0.0
    least = np.min(x, initial=0.4, where=chosen)
    return np.sum(x**2, where=chosen) / np.mean(x, where=chosen) + least + x.max(initial=1.5)


def spectrum_of_energies(x, weights):
    """
    >>> spectrum_of_energies(np.array([0.3, -1.2, 0.8, 2.1]), np.array([1.0, 0.5, 0.7, 2.0]))
    >>> spectrum_of_energies(np.array([0.4, 1.3, -0.6, 0.1]), np.array([0.3, 0.4, 0.9, 1.2]))
    """
    counts, edges = np.histogram(x, bins=4, range=(-2.0, 3.0), weights=weights)
    centres = 0.5 * (edges[1:] + edges[:-1])
    return counts @ centres + np.sum(x**2)


def with_ends(x, start):
    """
    >>> with_ends(np.array([0.3, -1.2, 0.8, 2.1]), 0.5)
    >>> with_ends(np.array([0.4, 1.3, -0.6, 0.1]), -0.3)
    """
    longer = np.insert(x, 0, start)
    return np.delete(longer, 2) * np.delete(longer, -1) + np.resize(longer[:3], 4)


def between_groups(values, groups):
    """
    >>> groups = np.array([2, 0, 2, 1, 0])
    >>> between_groups(np.array([0.3, -1.2, 0.8, 2.1, -0.4]), groups)
    >>> between_groups(np.array([0.5, 1.3, -0.6, 0.2, 1.9]), groups)
    """
    total = 0.0
    for group in np.unique(groups):
        members = values[groups == group]
        total += len(members) * (members.mean() - values.mean()) ** 2
    return total


def squared_totals(amounts, customers):
    """
    >>> customers = np.array([7, 3, 7, 9])
    >>> squared_totals(np.array([1.5, 2.0, 0.5, 1.0]), customers)
    >>> squared_totals(np.array([0.5, 1.0, 2.5, 3.0]), customers)
    """
    names, numbers, counts = np.unique(customers, return_inverse=True, return_counts=True)
    totals = np.zeros(len(names))
    np.add.at(totals, numbers, amounts)
    return np.sum(totals**2 / counts)


def assembled(stiffness, element, nodes):
    """
    >>> nodes = np.array([0, 2])
    >>> assembled(np.eye(3), np.array([[2.0, -1.0], [-1.0, 2.0]]), nodes)
    >>> assembled(np.eye(3) * 2.0, np.array([[1.0, -0.5], [-0.5, 1.0]]), nodes)
    """
    whole = stiffness.copy()
    whole[np.ix_(nodes, nodes)] += element
    return np.linalg.slogdet(whole)[1]


def aligned(signal, pattern):
    """
    >>> aligned(np.array([0.3, 2.2, 0.8, -0.1]), np.array([0.2, 0.5, 0.3, 1.0]))
    >>> aligned(np.array([0.5, 0.3, -0.6, 1.2]), np.array([0.1, 0.5, 0.4, 0.7]))
    """
    peak = np.argmax(signal)
    return np.sum(np.roll(signal, -peak) * pattern)


@np.vectorize
def tax(income: float, allowance: float) -> float:
    taxed = max(income - allowance, 0.0)
    if taxed > 2.0:
        return 0.4 * (taxed - 2.0) + 0.4
    return 0.2 * taxed


def revenue(incomes, allowance: float):
    """
    >>> revenue(np.array([0.3, 2.2, 5.8, 3.1]), 0.5)
    >>> revenue(np.array([1.3, 0.2, 4.1, 7.1]), 0.7)
    """
    return tax(incomes, allowance).sum()


def attention(scores, temperature: float):
    """
    >>> attention(np.array([[0.3, 2.2, 0.8], [0.4, -0.1, 0.2]]), 0.5)
    >>> attention(np.array([[0.5, 0.3, -0.6], [1.2, 0.3, 0.1]]), 0.8)
    """

    def softmax(row, scale):
        powers = np.exp((row - row.max()) / scale)
        return powers / powers.sum()

    return np.apply_along_axis(softmax, 1, scores, temperature)


def spring_force(stretch, stiffness: float):
    """
    >>> spring_force(np.array([-0.3, 0.2, 0.8, 1.5]), 2.0)
    >>> spring_force(np.array([0.5, 1.3, -0.6, 0.2]), 3.0)
    """
    limits = [stretch < 0.0, stretch > 1.0]
    laws = [lambda s: stiffness * s, lambda s: 1.0 + np.log(s), lambda s: s**2]
    return np.piecewise(stretch, limits, laws)


def smoothness(image):
    """
    >>> smoothness(np.array([[0.3, 2.2, 0.8], [0.4, -0.1, 0.2]]))
    >>> smoothness(np.array([[0.5, 0.3, -0.6], [1.2, 0.3, 0.1]]))
    """
    total = 0.0
    for i, j in np.ndindex(image.shape):
        total += (image[i, j] - image[i - 1, j - 1]) ** 2
    return total


def moment(density):
    """
    >>> moment(np.array([[0.3, 2.2, 0.8], [0.4, -0.1, 0.2]]))
    >>> moment(np.array([[0.5, 0.3, -0.6], [1.2, 0.3, 0.1]]))
    """
    total = 0.0
    for (i, j), value in np.ndenumerate(density):
        total += value**2 * (i**2 + j)
    return total
