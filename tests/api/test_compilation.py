"""s2s.jit: what XLA computes, for which arguments, and how results come back."""

import copy
import dataclasses
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import s2s
from s2s.api import compilation
from s2s.errors import UserError

ROOT = Path(__file__).parent.parent.parent
X = np.random.default_rng(0).normal(size=(5, 4))


@dataclasses.dataclass
class Weights:
    w: Any
    b: Any


class Pair(NamedTuple):
    first: Any
    second: Any


def predict(weights: Any, x: Any) -> Any:
    return np.tanh(x @ weights["w"] + weights["b"])


def test_agrees_with_numpy() -> None:
    weights = {"w": np.linspace(-1, 1, 12).reshape(4, 3), "b": np.array([0.1, 0.2, 0.3])}
    compiled = s2s.jit(predict)
    for x in (X, X, X[:2], X + 1.0, X[::-1]):
        np.testing.assert_allclose(compiled(weights, x), predict(weights, x), rtol=1e-14)


def test_of_transformed_function() -> None:
    def loss(w: Any, x: Any) -> Any:
        return np.sum(np.sin(w * x))

    gradient = s2s.jit(s2s.grad(loss))
    for _ in range(3):
        np.testing.assert_allclose(gradient(X, X + 1), np.cos(X * (X + 1)) * (X + 1), rtol=1e-13)


def test_inside_of_a_transformation_it_is_a_call() -> None:
    @s2s.jit
    def square(x: Any) -> Any:
        return x * x

    assert "jit[name=square" in str(s2s.make_jaxpr(lambda x: square(x) + square(x + 1.0))(3.0))
    assert s2s.grad(square)(3.0) == 6.0


def test_each_type_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[Any] = []
    original = compilation._specialise

    def specialise(fun: Any, arguments: Any, where: Any) -> Any:
        traced.append(arguments["x"].shape)
        return original(fun, arguments, where)

    monkeypatch.setattr(compilation, "_specialise", specialise)
    compiled = s2s.jit(lambda x: x + x)
    for x in (X, X + 1, X[0], X[0], X, X.astype(np.float32), X.astype(">f8")):
        found = compiled(x)
        np.testing.assert_array_equal(found, x + x)
        assert found.dtype == x.dtype.newbyteorder("=")
    assert traced == [(5, 4), (4,), (5, 4)]


@pytest.mark.parametrize(
    ("fun", "argument"),
    [
        (lambda x: x * 2.0, 1.5),
        (lambda x: x * 2.0, np.float32(1.5)),
        (lambda x: x * 2, 3),
        (lambda x: x > 1, 3),
        (lambda x: x.sum(), X),
    ],
)
def test_numbers_are_numpy_s(fun: Callable[[Any], Any], argument: Any) -> None:
    compiled = s2s.jit(fun)
    for _ in range(3):
        found = compiled(argument)
        assert type(found) is type(fun(argument))
        np.testing.assert_allclose(found, fun(argument), rtol=1e-14)


def test_containers() -> None:
    def swap(p: Any, weights: Any, rest: Any) -> Any:
        a, (b, none) = rest
        assert none is None
        return Pair(p.second, p.first), Weights(weights.b, weights.w), [a, {"b": b}], None

    compiled = s2s.jit(swap)
    for k in range(3):
        args = Pair(X + k, X[0]), Weights(X[1], X[2]), (1.0, [X[3], None])
        pair, weights, (a, rest), none = compiled(*args)
        assert type(pair) is Pair and type(weights) is Weights and none is None
        np.testing.assert_array_equal(pair.second, X + k)
        np.testing.assert_array_equal(weights.b, X[1])
        assert a == 1.0 and type(a) is float
        np.testing.assert_array_equal(rest["b"], X[3])


def test_one_value_returned_twice() -> None:
    a, b, c = s2s.jit(lambda x: (x + 1.0, x, x + 1.0))(X)
    np.testing.assert_array_equal(a, X + 1)
    np.testing.assert_array_equal(c, X + 1)
    np.testing.assert_array_equal(b, X)


def test_results_do_not_change_with_the_next_call() -> None:
    compiled = s2s.jit(lambda x: x * 2.0)
    for size in (3, 20_000):
        inputs = [np.full(size, float(k)) for k in range(6)]
        results = [compiled(x) for x in inputs]
        for x, result in zip(inputs, results, strict=True):
            np.testing.assert_array_equal(result, 2 * x)


def test_keywords_defaults_and_static_arguments() -> None:
    def power(x: Any, *, exponent: int = 2, name: str = "square") -> Any:
        for _ in range(exponent - 1):
            x = x * X[0, 0]
        return x if name == "square" else -x

    compiled = s2s.jit(power, static_argnames="exponent")
    assert compiled(2.0) == power(2.0)
    assert compiled(x=2.0, exponent=3) == pytest.approx(power(2.0, exponent=3), rel=1e-15)
    assert compiled(2.0, exponent=3, name="") == pytest.approx(-power(2.0, exponent=3), rel=1e-15)
    assert compiled(2.0) == power(2.0)


def test_static_arguments_that_there_are_not() -> None:
    for static in ({"static_argnames": "size"}, {"static_argnums": 2}, {"static_argnums": (0, -3)}):
        with pytest.raises(UserError, match=r"is none of the parameters of .*, which are x, n"):
            s2s.jit(lambda x, n: x * n, **static)(1.0, 2)


def test_integers_that_do_not_fit() -> None:
    assert s2s.jit(lambda x: x - 1)(-(2**63) + 1) == -(2**63)
    with pytest.raises(UserError, match=r"`x\[0\]` is 18446744073709551616, which does not fit"):
        s2s.jit(lambda x: x[0] + 1)([2**64])


def test_methods() -> None:
    class Scale:
        def __init__(self, by: float) -> None:
            self.by = by

        @s2s.jit
        def apply(self, x: Any) -> Any:
            return self.by * x

    scale = Scale(2.0)
    assert scale.apply(3.0) == scale.apply(3.0) == 6.0
    scale.by = 4.0
    assert scale.apply(3.0) == Scale.apply(scale, 3.0) == 12.0
    assert s2s.grad(scale.apply)(3.0) == 4.0


@pytest.mark.parametrize("constant", [2**80, -(2**63) - 1])
def test_constants_that_do_not_fit(constant: int) -> None:
    for fun in (lambda n: constant, lambda n: n + constant):
        with pytest.raises(UserError, match=f"the integer {constant} does not fit in 64 bits"):
            s2s.jit(fun)(1)
    assert s2s.jit(lambda x: x * constant)(1.5) == 1.5 * constant
    with pytest.raises(UserError, match="int too large to convert to float"):
        s2s.jit(lambda x: x * constant**20)(1.5)


class Metres(np.ndarray):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return NotImplemented


SQUARE = np.array([[1.0, 2.0], [3.0, 4.0]])
OWN_ARITHMETIC = [
    SQUARE.view(np.matrix),
    np.ma.masked_array(SQUARE, SQUARE > 2.0),
    SQUARE.view(Metres),
]


@pytest.mark.parametrize("array", OWN_ARITHMETIC, ids=lambda array: type(array).__name__)
def test_arrays_with_an_arithmetic_of_their_own_are_refused(array: Any) -> None:
    """`x * x` of a np.matrix is a product of matrices, whose derivative is not 2 * x."""

    def squares(x: Any) -> Any:
        return np.sum(x * x)

    refused = rf"`p\['x'\]`: a {type(array).__name__} computes in a way of its own"
    for transformed in (s2s.jit, s2s.grad, s2s.vmap):
        with pytest.raises(UserError, match=refused):
            transformed(lambda p: squares(p["x"]))({"x": array})
    with pytest.raises(UserError, match=f"must be .* not {type(array).__name__}"):
        s2s.stablehlo(squares, SQUARE).compile()(array)
    for fun in (lambda x: x * array, lambda x: np.dot(array, x)):
        with pytest.raises(UserError, match="computes in a way of its own"):
            s2s.grad(lambda x, fun=fun: np.sum(fun(x)))(SQUARE)


def test_arrays_with_the_arithmetic_of_arrays(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "x", np.float64, "w+", shape=(3,))
    mapped[:] = 3.0
    np.testing.assert_array_equal(s2s.jit(lambda x: 2.0 * x)(mapped), [6.0] * 3)
    np.testing.assert_array_equal(s2s.grad(lambda x: np.sum(x * x * mapped))(mapped), [18.0] * 3)


def test_half_precision_stays_what_it_is() -> None:
    x = np.linspace(0.0, 1.0, 4, dtype=np.float16)
    gradient = s2s.jit(s2s.grad(lambda x: np.sum(np.sin(x) ** 2)))(x)
    assert gradient.dtype == np.float16
    np.testing.assert_allclose(gradient, np.sin(2.0 * x.astype(np.float64)), atol=2e-3)


def test_other_element_types_are_refused_by_name() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    identity = s2s.jit(lambda x: x)
    with pytest.raises(UserError, match=r"`x`: arrays of bfloat16 cannot be traced: .* float16"):
        identity(np.zeros(3, ml_dtypes.bfloat16))
    with pytest.raises(UserError, match=r"`x\['a'\]`: .* only arrays of numbers"):
        identity({"a": np.array(["text"])})


def test_results_stay_on_the_device() -> None:
    step = s2s.jit(lambda w, x: w - 0.1 * x, device=True)
    w = X
    for _ in range(3):
        w = step(w, X)
    assert type(w).__name__ == "DeviceArray" and w.shape == (5, 4)
    np.testing.assert_allclose(np.asarray(w), 0.7 * X, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(s2s.jit(lambda x: 2.0 * x)(w), 1.4 * X, rtol=1e-14, atol=1e-15)


def test_arrays_on_the_device_are_arrays_to_numpy_and_to_transformations() -> None:
    x = s2s.jit(lambda x: 2.0 * x, device=True)(X)
    np.testing.assert_array_equal(x + 1.0, 2.0 * X + 1.0)
    np.testing.assert_array_equal(X * x, 2.0 * X * X)
    np.testing.assert_array_equal([row for row in x], 2.0 * X)
    assert x[1, 2] == 2.0 * X[1, 2] and np.all(x == 2.0 * X)
    np.testing.assert_array_equal(s2s.grad(lambda x: np.sum(x * x))(x), 4.0 * X)
    assert x.sum() == (2.0 * X).sum() and x.ndim == 2
    np.testing.assert_array_equal(x.T, 2.0 * X.T)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)), 2.0 * X)
    np.testing.assert_array_equal(copy.deepcopy(x), 2.0 * X)


def test_values_on_the_device_are_numbers_to_python() -> None:
    double = s2s.jit(lambda x: 2 * x, device=True)
    assert not double(0.0) and double(0.5)
    assert f"{double(1.5):.2f}" == "3.00"
    assert int(double(3)) == 6 and list(range(double(2))) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(double(X))
    assert not double(np.zeros(1))


def test_arrays_on_the_device_cannot_be_changed() -> None:
    double = s2s.jit(lambda x: 2 * x, device=True)
    x, out = double(X), np.zeros(X.shape)
    with pytest.raises(TypeError, match="write a = a \\+ b"):
        x += 1.0
    with pytest.raises(TypeError, match="cannot be changed"):
        np.add(X, X, out=x)
    np.add(X, x, out=out, where=s2s.jit(lambda x: x > 0.0, device=True)(X))
    np.testing.assert_array_equal(out, np.where(X > 0.0, 3.0 * X, 0.0))


def test_arrays_of_other_libraries() -> None:
    class Series:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return X

    for transformation in (s2s.jit, s2s.vmap):
        np.testing.assert_array_equal(transformation(lambda x: 2.0 * x)(Series()), 2.0 * X)


def test_copies_of_compiled_functions() -> None:
    compiled = s2s.jit(predict)
    weights = {"w": np.ones((4, 3)), "b": np.zeros(3)}
    compiled(weights, X)
    for copied in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        np.testing.assert_array_equal(copied(weights, X), compiled(weights, X))


def test_threads() -> None:
    compiled = s2s.jit(lambda x: np.sin(x) * 2.0)
    compiled(X)
    wrong: list[int] = []

    def work(k: int) -> None:
        x = X + k
        expected = np.sin(x) * 2.0
        for _ in range(500):
            if not np.allclose(compiled(x), expected, rtol=1e-13):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def run(program: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    paths = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'codegen')!r}]\n"
    return subprocess.run(
        [sys.executable, "-c", paths + program], capture_output=True, text=True, timeout=timeout
    )


def test_nothing_is_said_and_jax_is_not_imported() -> None:
    done = run(
        "import s2s, numpy as np\n"
        "f = s2s.jit(lambda x: (x * 2.0, x.sum()))\n"
        "for _ in range(3): f(np.ones(3))\n"
        "assert 'jax' not in sys.modules and 'jaxlib.mlir' not in sys.modules\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_fork_after_use_says_what_to_do() -> None:
    done = run(
        "import os, s2s, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "f = s2s.jit(lambda x: x * 2.0)\n"
        "for _ in range(3): f(1.0)\n"
        "pid = os.fork()\n"
        "if not pid:\n"
        "    for g in (f, s2s.jit(lambda x: x + 1.0)):\n"
        "        try: g(1.0)\n"
        "        except s2s.errors.UserError as error: print(error, flush=True)\n"
        "    os._exit(0)\n"
        "assert os.waitpid(pid, 0)[1] == 0\n"
        "assert f(1.0) == 2.0\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("forked from one that had used XLA") == 2
    assert "spawn" in done.stdout


def test_fork_before_use_works() -> None:
    done = run(
        "import os, s2s\n"
        "f = s2s.jit(lambda x: x * 2.0)\n"
        "if not (pid := os.fork()):\n"
        "    assert f(1.0) == 2.0\n"
        "    os._exit(0)\n"
        "sys.exit(os.waitpid(pid, 0)[1])\n"
    )
    assert done.returncode == 0, done.stderr


LONG = """
import signal, time, threading, os, s2s, numpy as np
from s2s import lax

def run(n, x):
    return lax.fori_loop(0, n, lambda i, x: np.sin(x) + 1e-3, x)

f = s2s.jit(run)
x = np.linspace(0.0, 1.0, 1000)
f(3, x)
# A process that a shell started in the background ignores Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
start = time.perf_counter()
timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
timer.start()
try:
    f(10**9, x)
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - start, flush=True)
print(np.allclose(f(1, x), np.sin(x) + 1e-3), flush=True)
"""


def test_ctrl_c_ends_a_long_computation() -> None:
    started = time.perf_counter()
    done = run(LONG)
    word, seconds, after = done.stdout.split()
    assert word == "interrupted" and float(seconds) < 1.3, done.stderr
    assert after == "True"
    assert time.perf_counter() - started < 60
