"""Logistic regression, as fitted to the breast cancer data of scikit-learn."""

from typing import Annotated

import numpy as np


def loss(
    weights: Annotated[np.ndarray, "f64[d]"],
    bias: float,
    features: Annotated[np.ndarray, "f64[n, d]"],
    labels: Annotated[np.ndarray, "f64[n]"],
    penalty: float = 1e-2,
) -> float:
    """Mean negative log-likelihood of the labels (0 or 1), with a penalty on the weights."""
    margin = (2.0 * labels - 1.0) * (features @ weights + bias)
    likelihood = np.mean(np.logaddexp(0.0, -margin))
    return likelihood + 0.5 * penalty * (weights @ weights)
