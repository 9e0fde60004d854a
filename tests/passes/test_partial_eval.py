"""(ks, us -> ys)  ->  (ks -> y_ks, residuals), (residuals, us -> y_us)"""

import numpy as np

from s2s import lax
from s2s.passes.partial_eval import partial_eval
from s2s.trace import evaluate
from tests.passes.programs import f64, program, values


def test_text() -> None:
    before = program(lambda x, t: [lax.sin(x), lax.mul(t, lax.cos(x))], f64(), f64())
    split = partial_eval(before, [False, True])
    assert str(split.known) == (
        "{ lambda ; a:f64[]. let b:f64[] = sin a; c:f64[] = cos a in (b, c) }"
    )
    assert str(split.unknown) == "{ lambda ; a:f64[] b:f64[]. let c:f64[] = mul b a in (c,) }"
    assert split.out_unknown == [False, True]
    assert split.num_residuals == 1


def test_the_halves_together_are_the_whole() -> None:
    constant = np.arange(3.0)

    def fun(x, y):
        return [lax.mul(lax.exp(x), lax.add(y, constant)), lax.log(x), lax.neg(y)]

    before = program(fun, f64(3), f64(3))
    split = partial_eval(before, [False, True])
    x, y = values(before.in_avals)
    known = evaluate(split.known, x)
    unknown = evaluate(split.unknown, *known[len(known) - split.num_residuals :], y)
    whole = evaluate(before, x, y)
    np.testing.assert_array_equal(known[0], whole[1])
    np.testing.assert_array_equal(unknown, [whole[0], whole[2]])
    assert split.known.consts == before.consts
    assert len(split.unknown.consts) == 1


def test_known_inputs_that_the_rest_reads_are_residuals() -> None:
    before = program(lambda x, t: lax.mul(t, x), f64(), f64())
    split = partial_eval(before, [False, True])
    assert split.num_residuals == 1
    assert evaluate(split.known, np.float64(4.0)) == [4.0]
