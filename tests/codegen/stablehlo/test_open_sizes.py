"""Modules with open sizes: made for given ones, of each primitive; what they say of others."""

from typing import Any

import numpy as np
import pytest

import s2s
from s2s.cli import main
from s2s.errors import UserError
from s2s.ir.dims import Assumptions, assuming, dimension
from s2s.trace import evaluate
from s2s.tree import flatten
from s2s_codegen.stablehlo import refinement, runtime
from s2s_codegen.stablehlo.emit import emit_module
from s2s_codegen.stablehlo.executable import Executable
from tests.codegen.stablehlo.agreement import assert_agree
from tests.programs.checks import TABLE, Program, directory, identifier, programs
from tests.samples import SAMPLES, Sample, types
from tests.test_laws import NAMES, draw, traced

FLOAT = np.dtype(np.float64)
N, D = dimension("n"), dimension("d")
NAMED = [sample for sample in SAMPLES if any({3, 4, 5} & {*o.shape} for o in sample.operands)]


@pytest.mark.parametrize("sample", NAMED, ids=str)
def test_each_primitive(sample: Sample) -> None:
    xs = draw(sample)
    with assuming(Assumptions()):
        text = emit_module(traced(sample, types(sample, NAMES)), "sample")
    expected = evaluate(traced(sample), *xs)
    inputs, outputs = [
        [runtime.ArrayType(np.shape(x), np.asarray(x).dtype) for x in values]
        for values in (xs, expected)
    ]
    devices = runtime.runtime()
    program = refinement.specialised(text, [type_.shape for type_ in inputs])
    found = Executable(devices, devices.compile(program), inputs, outputs)(xs)
    assert_agree(found, expected)


ON_ARRAYS = [
    program
    for program in programs(*sorted(TABLE.glob("*.py")))
    if any(np.ndim(leaf) for arg in program.points[0] for leaf in flatten(arg)[0])
]


REFUSALS: dict[str, str] = {}


@pytest.mark.parametrize("program", ON_ARRAYS, ids=identifier)
def test_table_of_programs(
    program: Program, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the command line writes them, whose sizes are open as far as the program lets them be."""
    path = tmp_path / "f.mlirbc"
    with directory(program.file.parent):
        status = main(["trace", program.target, "--stablehlo", str(path), "--no-verify"])
    if program.name in REFUSALS:
        assert status == 1 and REFUSALS[program.name] in capsys.readouterr().err
        return
    assert status == 0
    function = s2s.load_artifact(path).compile()
    for args in program.points:
        found, expected = flatten(function(*args))[0], flatten(program.value(args))[0]
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def error(params: Any, x: Any, y: Any) -> Any:
    return np.mean((x @ params["w"] - y) ** 2)


def pairs(x: Any) -> Any:
    return np.sum(x[::2] * x[1::2])


GRADIENTS = {
    "error": s2s.stablehlo(
        s2s.grad(error),
        {"w": s2s.ShapedArray((D,), FLOAT)},
        s2s.ShapedArray((N, D), FLOAT),
        s2s.ShapedArray((N,), FLOAT),
    ),
    "pairs": s2s.stablehlo(s2s.grad(pairs), s2s.ShapedArray((2 * N,), FLOAT)),
}
REFUSED: list[tuple[str, Any, str]] = [
    (
        "error",
        [(3,), (4, 3), (5,)],
        "error_grad: the size of axis 0 of `y` is 5, but must be n, where the size of axis 0 of "
        "`x` is 4.",
    ),
    (
        "error",
        [(2,), (4, 3), (4,)],
        "error_grad: the size of axis 1 of `x` is 3, but must be d, where the size of axis 0 of "
        "`params['w']` is 2.",
    ),
    (
        "error",
        [(0,), (4, 0), (4,)],
        "error_grad: the size of axis 0 of `params['w']` is 0, but must be at least 1.",
    ),
    (
        "pairs",
        [(5,)],
        "pairs_grad: the size of axis 0 of `x` is 5, but must be 2*n, where n is 2.",
    ),
    ("pairs", [(0,)], "pairs_grad: n in the size of axis 0 of `x`, 2*n, is 0, but must be at "
     "least 1."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shapes", "message"), REFUSED)
def test_assertions_in_the_module_are_in_the_users_words(
    name: str, shapes: Any, message: str
) -> None:
    with pytest.raises(ValueError) as raised:
        refinement.specialised(GRADIENTS[name].text, shapes)
    assert str(raised.value) == message


@pytest.mark.parametrize(("name", "shapes", "message"), REFUSED)
def test_calls_say_the_same(name: str, shapes: Any, message: str) -> None:
    first, *rest = [np.ones(shape) for shape in shapes]
    args = [{"w": first}, *rest] if name == "error" else [first]
    with pytest.raises(UserError) as raised:
        GRADIENTS[name].compile()(*args)
    said = str(raised.value).partition(" It is ")[0]
    assert said == message.replace("n in the size of axis 0 of `x`, 2*n, is 0", "n is 0")


def test_sizes_are_read_where_they_are_multiplied() -> None:
    x = np.arange(6.0)
    np.testing.assert_array_equal(GRADIENTS["pairs"].compile()(x), [1, 0, 3, 2, 5, 4])


def test_sizes_that_no_argument_has_are_refused() -> None:
    with pytest.raises(UserError, match="no argument has an axis of size d to tell it from"):
        s2s.stablehlo(lambda x: x * 2.0, s2s.ShapedArray((N * D,), FLOAT))


@pytest.mark.parametrize("suffix", ["mlir", "mlirbc"])
def test_files(suffix: str, tmp_path: Any) -> None:
    path = tmp_path / f"f.{suffix}"
    GRADIENTS["error"].save(path)
    gradient = s2s.load_artifact(path).compile()
    random = np.random.default_rng(0)
    for n, d in ((3, 2), (6, 4)):
        w, x, y = random.normal(size=d), random.normal(size=(n, d)), random.normal(size=n)
        expected = 2 / n * x.T @ (x @ w - y)
        np.testing.assert_allclose(gradient({"w": w}, x, y)["w"], expected, rtol=1e-12)
