"""Jaxprs of NumPy code beside JAX's of the same code, where both use the same primitives."""

from unittest import mock

import jax.numpy as jnp
import numpy as np
import pytest

from tests import jax_jaxprs
from tests.numpy.agreement import VALUES, DispatchingNumPy, traced


@jax_jaxprs.compares_with_jax
@pytest.mark.parametrize(
    "text",
    [
        "np.sin(m) * m + 2.0",
        "2.0 * m - p / m",
        "-m",
        "abs(m)",
        "m**2",
        "m**3",
        "p**v[:1].sum()",
        "p**1.5",
        "np.exp(m) @ q",
        "m @ v",
        "m.T @ m",
        "m.T",
        "t.transpose(1, 0, 2)",
        "np.tanh(m).sum()",
        "m.sum(axis=0)",
        "np.sum(m, axis=(0, 1))",
        "np.max(m, axis=1)",
        "np.prod(m, axis=0)",
        "np.mean(m)",
        "np.mean(m, axis=0)",
        "m[1:, ::2]",
        "m[0]",
        "m[-1]",
        "m[:, 1]",
        "m[:, None]",
        "m[1:, None, 0]",
        "m[::-1]",
        "m.reshape(4, 3)",
        "m.ravel()",
        "np.concatenate([m, p])",
        "np.sqrt(p)",
        "np.maximum(m, p)",
        "m > 0.0",
        "(m > 0.0) & (p > m)",
        "~(m > 0.0)",
        "m.astype(np.float32)",
        "np.expand_dims(m, 1)",
        "np.squeeze(o, 0)",
        "np.moveaxis(t, 0, 2)",
        "np.log1p(p)",
        "np.arctan2(m, p)",
        "np.square(m)",
        "m.sum(axis=0, keepdims=True)",
        "f * 2.0",
        "i + 1",
        "i * i",
        "np.cos(s) * m",
        "np.broadcast_to(v, (3, 4))",
        "np.log(p)",
        "np.sign(m)",
        "np.floor(m)",
        "np.cbrt(p)",
        "np.einsum('ij,kj->ik', m, p)",
        "np.einsum('ij,jk->ik', m, q)",
        "np.any(m > 0.0, axis=0)",
        "np.arcsin(m)",
        "np.sinh(m)",
        "np.expm1(m)",
    ],
)
def test_the_jaxpr_is_that_of_jax(text):
    names = [name for name in VALUES if name in compile(text, text, "eval").co_names]
    values = [VALUES[name] for name in names]
    # Our products have the type of their operands.
    plumbing = mock.patch.object(
        jax_jaxprs, "PLUMBING", jax_jaxprs.PLUMBING | {"preferred_element_type"}
    )
    source = f"lambda {', '.join(names)}: {text}"
    ours = traced(eval(source, {"np": DispatchingNumPy(np)}), *values)
    with plumbing:
        assert str(ours) == jax_jaxprs.jax_text(eval(source, {"np": jnp}), *values)
