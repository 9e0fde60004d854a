"""Functions that scripts/bench_xla.py differentiates, in plain NumPy."""

import numpy as np


def number(x):
    return np.sin(x) * x


def vector(x):
    return np.sum(np.sin(x) * x)


def mlp(params, x, y):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    error = hidden @ params["w2"] + params["b2"] - y
    return np.mean(error**2)


def normalised(x):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return centred / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + 1e-5)


def transformer_block(params, x, y):
    """One block with causal attention of several heads, and its mean squared error."""
    length, width = x.shape
    heads = 4
    each = width // heads
    inside = normalised(x)
    query = (inside @ params["query"]).reshape(length, heads, each).transpose(1, 0, 2)
    key = (inside @ params["key"]).reshape(length, heads, each).transpose(1, 2, 0)
    value = (inside @ params["value"]).reshape(length, heads, each).transpose(1, 0, 2)
    scores = query @ key / np.sqrt(each) + params["mask"]
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    attended = (weights @ value).transpose(1, 0, 2).reshape(length, width)
    x = x + attended @ params["out"]
    hidden = np.maximum(normalised(x) @ params["up"], 0.0)
    error = x + hidden @ params["down"] - y
    return np.mean(error**2)
