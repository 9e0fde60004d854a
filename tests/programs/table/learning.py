"""Models and their training, as written without a framework."""

import numpy as np


def logistic_loss(w, b, x, y):
    """
    >>> logistic_loss(np.array([0.5, -0.3]), 0.1, np.array([1.0, 2.0]), 1.0)
    >>> logistic_loss(np.array([-3.5, 0.3]), 0.7, np.array([1.0, 2.0]), 0.0)
    """
    z = w @ x + b
    if z > 0:
        return np.log1p(np.exp(-z)) + (1 - y) * z
    return np.log1p(np.exp(z)) - y * z


def hinge(w, xs, ys):
    """
    >>> hinge(np.array([0.5, -0.3]), np.array([[1.0, 2.0], [0.3, -1.0]]), np.array([1.0, -1.0]))
    >>> hinge(np.array([2.5, 0.3]), np.array([[1.0, 2.0], [-0.5, 1.0]]), np.array([1.0, -1.0]))
    """
    loss = 0.0
    for x, y in zip(xs, ys):
        margin = y * np.dot(w, x)
        if margin < 1:
            loss += 1 - margin
    return loss + 0.01 * np.dot(w, w)


def softmax_cross_entropy(w, x):
    """
    >>> softmax_cross_entropy(np.array([[0.5, -0.3], [0.2, 0.9], [0.0, 0.4]]), np.array([1.0, 2.0]))
    >>> softmax_cross_entropy(np.array([[0.1, 0.3], [-0.2, 0.5], [1, 0.4]]), np.array([3.0, -1.0]))
    """
    label = 1
    scores = w @ x
    scores = scores - np.max(scores)
    return np.log(np.sum(np.exp(scores))) - scores[label]


def network(params, x):
    """
    >>> network([(np.full((3, 2), 0.3), np.zeros(3)), (np.eye(1, 3), np.ones(1))], np.ones(2) / 2)
    >>> network([(np.full((3, 2), 0.7), np.ones(3)), (np.ones((1, 3)), np.zeros(1))], np.ones(2))
    """
    for w, b in params:
        x = np.tanh(w @ x + b)
    return x[0]


def network_of_dicts(layers, x):
    """
    >>> network_of_dicts([{"w": np.full((3, 2), 0.3), "b": np.zeros(3)}], np.array([1.0, -2.0]))
    >>> network_of_dicts([{"w": np.full((3, 2), -0.7), "b": np.ones(3)}], np.array([0.5, 0.2]))
    """
    for layer in layers:
        x = layer["w"] @ x + layer["b"]
        x = np.maximum(x, 0.1 * x)
    return np.sum(x**2)


def recurrent(wx, wh, xs):
    """
    >>> recurrent(np.array([0.5, -0.3]), np.eye(2) * 0.4, np.array([0.3, 0.9, -0.5]))
    >>> recurrent(np.array([1.5, 0.3]), np.ones((2, 2)) * 0.2, np.array([0.7, -0.2, 0.4]))
    >>> recurrent(np.array([1.5, 0.3]), np.ones((2, 2)) * 0.2, np.array([0.7, -0.2, 0.4, 1.0]))
    """
    h = np.zeros(2)
    hidden = []
    for x in xs:
        h = np.tanh(wx * x + wh @ h)
        hidden.append(h)
    return np.mean(np.stack(hidden) ** 2)


def gru(w, u, xs):
    """
    >>> gru(np.array([0.5, -0.3, 0.2]), np.array([0.1, 0.7, -0.4]), np.array([0.3, 0.9, -0.5]))
    >>> gru(np.array([1.5, 0.3, 0.9]), np.array([0.6, 0.2, 0.3]), np.array([0.7, -0.2, 0.4]))
    """

    def sigmoid(z):
        return 1.0 / (1.0 + np.exp(-z))

    h = 0.0
    for x in xs:
        z = sigmoid(w[0] * x + u[0] * h)
        r = sigmoid(w[1] * x + u[1] * h)
        candidate = np.tanh(w[2] * x + u[2] * r * h)
        h = (1 - z) * h + z * candidate
    return h


def attention(q, k, v):
    """
    >>> attention(np.eye(2) + 0.1, np.ones((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> attention(np.ones((2, 2)), np.eye(2) * 2, np.array([[0.3, 0.1], [0.5, -0.4]]))
    """
    out = np.zeros_like(v)
    for i in range(len(q)):
        scores = k @ q[i] / np.sqrt(q.shape[1])
        weights = np.exp(scores - scores.max())
        out[i] = (weights / weights.sum()) @ v
    return out


def causal_attention(x):
    """
    >>> causal_attention(np.array([[1.0, 0.2], [0.3, 0.4], [0.5, 0.6]]))
    >>> causal_attention(np.array([[0.1, 1.2], [0.8, -0.4], [-0.5, 0.3]]))
    """
    scores = x @ x.T
    n = len(x)
    mask = np.tril(np.ones((n, n), dtype=bool))
    scores[~mask] = -1e9
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.sum((weights @ x) ** 2)


def layer_norm(x, gain, bias):
    """
    >>> layer_norm(np.array([[1.0, 2.0, 4.0], [0.3, 0.9, 0.1]]), np.ones(3), np.zeros(3))
    >>> layer_norm(np.array([[0.1, 1.2, -0.4], [0.9, 0.3, 2.1]]), np.full(3, 0.5), np.ones(3))
    """
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return np.sum(((x - mean) / np.sqrt(variance + 1e-5) * gain + bias) ** 3)


def convolution(image, kernel):
    """
    >>> convolution(np.arange(12.0).reshape(3, 4), np.array([[0.5, -0.2], [0.1, 0.3]]))
    >>> convolution(np.sin(np.arange(12.0)).reshape(3, 4), np.array([[1.0, 0.2], [-0.1, 0.7]]))
    """
    out = np.zeros((2, 3))
    for i in range(2):
        for j in range(3):
            out[i, j] = np.sum(image[i : i + 2, j : j + 2] * kernel)
    return np.sum(np.maximum(out, 0.0))


def max_pool(xs):
    """
    >>> max_pool(np.array([0.3, 0.9, 0.5, 1.4, 1.1, 0.2]))
    >>> max_pool(np.array([1.3, 0.9, 0.5, 0.4, 2.1, 2.2]))
    """
    return np.sum(np.array([max(xs[2 * i], xs[2 * i + 1]) for i in range(3)]) ** 2)


def sgd(w, xs, ys, rate):
    """A few steps of training; the loss afterwards.

    >>> sgd(np.array([0.1, 0.2]), np.array([[1.0, 2.0], [0.3, -1.0]]), np.array([1.0, -1.0]), 0.1)
    >>> sgd(np.array([0.5, 0.0]), np.array([[0.4, 1.0], [0.5, -0.2]]), np.array([0.3, 0.8]), 0.2)
    """
    for _ in range(5):
        for x, y in zip(xs, ys):
            error = w @ x - y
            w = w - rate * error * x
    return np.sum((xs @ w - ys) ** 2)


def momentum(x, rate, decay):
    """
    >>> momentum(np.array([1.0, -0.5]), 0.1, 0.9)
    >>> momentum(np.array([0.3, 0.8]), 0.2, 0.5)
    """
    velocity = np.zeros_like(x)
    for _ in range(10):
        gradient = 4.0 * x * (x**2 - 1.0)
        velocity = decay * velocity - rate * 0.1 * gradient
        x = x + velocity
    return np.sum((x**2 - 1.0) ** 2)


def adam(x, rate):
    """
    >>> adam(np.array([1.2, -0.5]), 0.1)
    >>> adam(np.array([0.3, 0.8]), 0.05)
    """
    m, v = np.zeros(2), np.zeros(2)
    for t in range(1, 7):
        g = 2.0 * (x - 3.0)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        m_hat = m / (1 - 0.9**t)
        v_hat = v / (1 - 0.999**t)
        x = x - rate * m_hat / (np.sqrt(v_hat) + 1e-8)
    return np.sum((x - 3.0) ** 2)


def clipped_gradient(w, rate):
    """
    >>> clipped_gradient(np.array([1.0, -0.5]), 0.1)
    >>> clipped_gradient(np.array([0.1, 0.05]), 0.3)
    """
    for _ in range(6):
        gradient = 3.0 * w
        norm = np.sqrt(np.sum(gradient**2))
        if norm > 1.0:
            gradient = gradient / norm
        w = w - rate * gradient
    return np.sum(w**2)


def nearest_center(points, centers):
    """
    >>> nearest_center(np.array([[0.0, 0.1], [2.0, 1.9]]), np.array([[0.2, 0.0], [1.8, 2.1]]))
    >>> nearest_center(np.array([[1.0, 0.3], [0.2, 1.1]]), np.array([[0.1, 0.9], [1.2, 0.4]]))
    """
    total = 0.0
    for p in points:
        best = np.inf
        for c in centers:
            distance = np.sum((p - c) ** 2)
            if distance < best:
                best = distance
        total += best
    return total


def kmeans_step(xs, centers):
    """
    >>> kmeans_step(np.array([0.1, 0.3, 1.9, 2.2]), np.array([0.0, 2.0]))
    >>> kmeans_step(np.array([0.1, 1.3, 1.4, 2.2]), np.array([0.5, 1.9]))
    """
    sums = np.zeros(2)
    counts = np.zeros(2)
    for x in xs:
        nearest = 0 if abs(x - centers[0]) < abs(x - centers[1]) else 1
        sums[nearest] += x
        counts[nearest] += 1
    return sums / counts


def decision_tree(x):
    """
    >>> decision_tree(np.array([0.2, 0.9]))
    >>> decision_tree(np.array([0.7, 0.1]))
    >>> decision_tree(np.array([0.7, 0.8]))
    """
    if x[0] < 0.5:
        return x[1] ** 2
    if x[1] < 0.5:
        return x[0] * x[1]
    return np.sin(x[0]) + x[1]


def elastic_net(w, x, y):
    """
    >>> elastic_net(np.array([0.3, -0.7]), np.array([[1.0, 2.0], [0.5, 0.1]]), np.array([0.3, 0.4]))
    >>> elastic_net(np.array([-0.1, 0.2]), np.array([[0.3, 1.0], [0.9, 0.7]]), np.array([1.0, 0.2]))
    """
    residual = x @ w - y
    penalty = sum(abs(wi) + 0.5 * wi**2 for wi in w)
    return residual @ residual / len(y) + 0.1 * penalty


def embedding(table):
    """
    >>> embedding(np.arange(8.0).reshape(4, 2) / 8)
    >>> embedding(np.cos(np.arange(8.0)).reshape(4, 2))
    """
    tokens = np.array([2, 0, 2, 3])
    vectors = table[tokens]
    return np.sum(vectors[:-1] * vectors[1:])


def batch_norm(x, gamma):
    """
    >>> batch_norm(np.array([[1.0, 2.0], [0.3, 0.9], [0.2, 1.1]]), np.array([1.0, 0.5]))
    >>> batch_norm(np.array([[0.1, 1.2], [0.9, 0.3], [1.0, 0.8]]), np.array([0.3, 2.0]))
    """
    x = x - np.mean(x, axis=0)
    x /= np.sqrt(np.mean(x**2, axis=0) + 1e-5)
    x *= gamma
    return np.sum(x**3)
