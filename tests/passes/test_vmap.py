"""(xs -> ys)  ->  (batches of xs -> batches of ys)"""

import numpy as np
import pytest

from s2s import lax
from s2s.passes.vmap import vmap
from s2s.trace import evaluate
from tests.passes.programs import M, N, f64, program, values

MATRIX_VECTOR = (((1,), (0,)), ((), ()))


def test_text() -> None:
    before = program(lambda x: lax.reduce_sum(lax.sin(x), (0,)), f64(N))
    after, axes = vmap(before, M, [0])
    assert str(after) == (
        "{ lambda ; a:f64[m,n]. let\n"
        "    b:f64[m,n] = sin a\n"
        "    c:f64[m] = reduce_sum[axes=(1,)] b\n"
        "  in (c,) }"
    )
    assert axes == [0]


def test_what_is_the_same_for_all_is_computed_once() -> None:
    before = program(lambda w, x: lax.mul(lax.exp(w), x), f64(), f64())
    after, _ = vmap(before, 5, [None, 0])
    assert after.eqns[0].outvars[0].aval == f64()


@pytest.mark.parametrize("in_axes", [(0, None), (None, 0), (0, 0), (2, 1), (1, None)])
@pytest.mark.parametrize("out_axis", [0, 1])
def test_batch_is_a_loop(in_axes: tuple[int | None, int | None], out_axis: int) -> None:
    def fun(w, x):
        return lax.tanh(lax.dot_general(w, x, MATRIX_VECTOR))

    before = program(fun, f64(3, 4), f64(4))
    after, _ = vmap(before, 6, in_axes, [out_axis])
    args = values(after.in_avals)
    rows = [
        evaluate(
            before,
            *[
                a if axis is None else np.take(a, i, axis)
                for a, axis in zip(args, in_axes, strict=True)
            ],
        )[0]
        for i in range(6)
    ]
    found = evaluate(after, *args)[0]
    # Sums of products may be taken in another order: a few units in the last place.
    np.testing.assert_allclose(found, np.stack(rows, out_axis), rtol=1e-14)


def test_a_result_that_differs_cannot_be_unbatched() -> None:
    before = program(lambda x: lax.sin(x), f64())
    with pytest.raises(ValueError, match="out_axes is None"):
        vmap(before, 3, [0], [None])


def test_a_result_that_is_the_same_for_all_is_repeated() -> None:
    before = program(lambda x, y: [x, y], f64(), f64())
    after, _ = vmap(before, 3, [0, None], [0, 0])
    x, y = evaluate(after, np.arange(3.0), np.float64(7.0))
    np.testing.assert_array_equal(y, [7.0, 7.0, 7.0])
    np.testing.assert_array_equal(x, np.arange(3.0))
