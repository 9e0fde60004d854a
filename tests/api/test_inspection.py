"""make_jaxpr, eval_shape and source."""

import numpy as np
import pytest

import s2s
from tests.api.functions import loss


def test_make_jaxpr():
    jaxpr = s2s.make_jaxpr(lambda x, y: np.sin(x) * y)(np.float64(1.0), np.ones(3))
    assert str(jaxpr) == (
        "{ lambda ; a:f64[] b:f64[3]. let c:f64[] = sin a; d:f64[3] = mul c b in (d,) }"
    )


def test_make_jaxpr_of_types():
    f64 = np.dtype(np.float64)
    jaxpr, shapes = s2s.make_jaxpr(lambda x: {"y": x @ x}, return_shape=True)(
        s2s.ShapedArray((4, 4), f64)
    )
    assert shapes == {"y": s2s.ShapedArray((4, 4), f64)}
    assert jaxpr.out_avals == [s2s.ShapedArray((4, 4), f64)]


@pytest.mark.parametrize("static_argnums", [1, (1,), -1])
def test_static_arguments(static_argnums):
    jaxpr = s2s.make_jaxpr(lambda x, n: x**n, static_argnums)(2.0, 3)
    assert "integer_pow[y=3]" in str(jaxpr)
    assert len(jaxpr.in_avals) == 1


def test_integers_are_traced_unless_static():
    assert len(s2s.make_jaxpr(lambda x, n: x * n)(2.0, 3).in_avals) == 2


def test_eval_shape():
    found = s2s.eval_shape(
        s2s.grad(loss, (0, 1)), np.ones(3, np.float32), np.ones((2, 3), np.float32)
    )
    f32 = np.dtype(np.float32)
    assert found == (s2s.ShapedArray((3,), f32), s2s.ShapedArray((2, 3), f32))


def test_source_is_for_all_sizes():
    text = s2s.source(s2s.grad(loss), np.ones(3), np.ones((2, 3)))
    namespace: dict = {}
    exec(text, namespace)
    random = np.random.default_rng(0)
    for n, d in ((2, 3), (7, 1), (1, 5)):
        w, x = random.normal(size=d), random.normal(size=(n, d))
        np.testing.assert_allclose(
            namespace["loss_grad"](w, x), s2s.grad(loss)(w, x), rtol=1e-12, atol=1e-14
        )
