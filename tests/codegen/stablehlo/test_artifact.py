"""Artifacts: saved, loaded, called; and files that are none."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from s2s.ir.dims import dimension
from s2s_codegen.stablehlo.artifact import Artifact

FLOAT = np.dtype(np.float64)
N, D = dimension("n"), dimension("d")


class Layer(NamedTuple):
    w: Any
    b: Any


def predict(layer: Layer, x: Any, power: int = 2) -> Any:
    h = np.tanh(x @ layer.w + layer.b)
    return {"h": h, "total": (np.sum(h**power), None)}


def error(w: Any, x: Any, y: Any) -> Any:
    return np.mean((x @ w - y) ** 2)


@pytest.fixture(scope="module")
def layer() -> Layer:
    random = np.random.default_rng(0)
    return Layer(random.normal(size=(4, 3)), random.normal(size=3))


@pytest.fixture(scope="module")
def x() -> Any:
    return np.random.default_rng(1).normal(size=(5, 4))


@pytest.fixture(scope="module")
def artifact(layer: Layer, x: Any) -> Artifact:
    return s2s.stablehlo(predict, layer, x)


@pytest.fixture(scope="module")
def open_artifact() -> Artifact:
    types = [s2s.ShapedArray(shape, FLOAT) for shape in ((D,), (N, D), (N,))]
    return s2s.stablehlo(s2s.grad(error), *types)


@pytest.mark.parametrize("suffix", ["mlir", "mlirbc"])
def test_saved_and_loaded(
    suffix: str, artifact: Artifact, layer: Layer, x: Any, tmp_path: Path
) -> None:
    path = tmp_path / f"predict.{suffix}"
    artifact.save(path)
    loaded = s2s.load_artifact(path)
    assert str(loaded.signature) == str(artifact.signature)
    found = loaded.compile()(layer, x)
    expected = predict(layer, x)
    np.testing.assert_allclose(found["h"], expected["h"], rtol=1e-14)
    assert found["total"][1] is None and type(found["total"][0]) is np.float64
    np.testing.assert_allclose(found["total"][0], expected["total"][0], rtol=1e-14)


def test_signature_is_carried(artifact: Artifact) -> None:
    shown = str(artifact.signature)
    assert shown.startswith("predict(layer: Layer(w=f64[4, 3], b=f64[3]), x: f64[5, 4], power: 2) ")
    assert shown.endswith("-> {h: f64[5, 3], total: (f64[], None)}")
    assert artifact.signature.source.endswith(f":{predict.__code__.co_firstlineno}")


def test_module_names_variables_and_lines(artifact: Artifact) -> None:
    line = predict.__code__.co_firstlineno + 1
    assert f'loc("h"("tests/codegen/stablehlo/test_artifact.py":{line}:1))' in artifact.text


def test_named_dimensions_are_any_size(open_artifact: Artifact, tmp_path: Path) -> None:
    assert "tensor<?x?xf64>" in open_artifact.text
    open_artifact.save(tmp_path / "a.mlirbc")
    gradient = s2s.load_artifact(tmp_path / "a.mlirbc").compile()
    random = np.random.default_rng(2)
    for n, d in ((3, 2), (7, 2), (1, 4)):
        w, x, y = random.normal(size=d), random.normal(size=(n, d)), random.normal(size=n)
        expected = 2 / n * x.T @ (x @ w - y)
        np.testing.assert_allclose(gradient(w, x, y), expected, rtol=1e-12)


def test_arguments_are_checked(artifact: Artifact, layer: Layer, x: Any) -> None:
    call = artifact.compile()
    cases: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("`x` is missing", (layer,), {}),
        ("there is no parameter `z`", (layer, x), {"z": 1}),
        ("`x` is given by position and by name", (layer, x, 2), {"x": x}),
        ("1 arguments too many", (layer, x, 2, 3), {}),
        ("`layer` must have the fields w, b", (x, x), {}),
        ("`layer.b` must be f64[3], but its elements are float32",
         (Layer(layer.w, layer.b.astype(np.float32)), x), {}),
        ("`x` must be f64[5, 4], but has the shape (20,)", (layer, x.ravel()), {}),
        ("the size of axis 0 of `x` is 4, but must be 5", (layer, x.T), {}),
        ("`x` must be f64[5, 4], not str", (layer, "x"), {}),
    ]  # fmt: skip
    for message, args, kwargs in cases:
        with pytest.raises(UserError) as raised:
            call(*args, **kwargs)
        assert message in str(raised.value)
        assert "It is predict(layer: " in str(raised.value)


def test_byte_order_makes_no_difference(artifact: Artifact, layer: Layer, x: Any) -> None:
    call = artifact.compile()
    np.testing.assert_array_equal(call(layer, x.astype(">f8"))["h"], call(layer, x)["h"])


def test_sizes_must_agree(open_artifact: Artifact, x: Any) -> None:
    with pytest.raises(UserError, match=r"axis 0 of `y` is 4, but must be n, where .* `x` is 5"):
        open_artifact.compile()(x[0], x, x[:4, 0])


def test_unknown_suffix(artifact: Artifact, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"called \.mlir \(text\) or \.mlirbc"):
        artifact.save(tmp_path / "a.txt")


def test_old_version(artifact: Artifact, tmp_path: Path) -> None:
    artifact.save(tmp_path / "a.mlirbc", version="0.9.0")
    assert b"StableHLO_v0.9.0" in (tmp_path / "a.mlirbc").read_bytes()[:40]
    with pytest.raises(UserError, match="cannot be written for version 99"):
        artifact.save(tmp_path / "a.mlirbc", version="99.0.0")


MODULE = """module @f attributes {s2s.arguments = "[]", s2s.result = "\\22f64[]\\22"} {
  func.func public @main() -> tensor<f64> {
    %0 = BODY : () -> tensor<f64>
    return %0 : tensor<f64>
  }
}
"""


def test_foreign_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.mlir"
    call = "stablehlo.custom_call @xla_ffi_python_cpu_callback() {has_side_effect = true}"
    path.write_text(MODULE.replace("BODY", call))
    with pytest.raises(UserError, match=r"calls code outside of itself \(xla_ffi_python_cpu"):
        s2s.load_artifact(path)


@pytest.mark.parametrize(
    ("said", "has"),
    [
        ('s2s.result = "\\22f64[5', 's2s.result = "\\22f64[500'),
        ("\\22f64[5, 4]\\22", "\\22i64[5, 4]\\22"),
        ("\\22f64[5, 4]\\22", "\\22f64[4, 5]\\22"),
    ],
)
def test_signature_is_that_of_the_function(said: str, has: str, tmp_path: Path) -> None:
    path = tmp_path / "f.mlir"
    text = s2s.stablehlo(lambda x: x.sum(axis=1), np.ones((5, 4))).text
    assert said in text
    path.write_text(text.replace(said, has))
    with pytest.raises(UserError, match="is not what its function main has"):
        s2s.load_artifact(path)


def test_without_arguments(tmp_path: Path) -> None:
    path = tmp_path / "f.mlir"
    constant = "stablehlo.constant dense<1.0> : tensor<f64>"
    path.write_text(MODULE.replace("BODY : () -> tensor<f64>", constant))
    assert s2s.load_artifact(path).compile()() == 1.0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "does not say what its arguments and results are"),
        (b"import numpy as np\n", "is damaged, or is no StableHLO"),
        (b"\x7fELF\x02\x01\x01\x00", "is damaged, or is no StableHLO"),
        (b"ML\xefR\rStableHLO_v1.16.3\x00\x01", "is damaged, or is no StableHLO"),
        (b"module { }", "does not say what its arguments and results are"),
        (
            b'module @f attributes {s2s.arguments = "[[[", s2s.result = "0"} {}',
            "or they are damaged",
        ),
    ],
)
def test_files_that_are_none(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "f.mlirbc"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        s2s.load_artifact(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.mlir cannot be read: No such file"):
        s2s.load_artifact(tmp_path / "none.mlir")


@pytest.mark.parametrize("suffix", ["mlir", "mlirbc"])
def test_letters_of_all_languages(suffix: str, tmp_path: Path) -> None:
    """Names in MLIR are of plain letters, but for those between quotes."""

    def énergie(α: Any, β: Any) -> Any:
        étape = s2s.jit(lambda ξ: np.sum(ξ) * np.ones(ξ.shape[0]))
        return np.sum(étape(α) * étape(β) * α)

    path, x = tmp_path / f"é.{suffix}", np.array([1.0, 2.0, 3.0])
    type_ = s2s.ShapedArray((dimension("ν"),), np.dtype(np.float64))
    s2s.stablehlo(s2s.grad(énergie), type_, type_).save(path)
    loaded = s2s.load_artifact(path)
    assert str(loaded.signature) == "énergie_grad(α: f64[ν], β: f64[ν]) -> f64[ν]"
    wanted = s2s.grad(énergie)(x, x)
    np.testing.assert_allclose(loaded.compile()(x, x), wanted, rtol=1e-14)
    np.testing.assert_allclose(s2s.jit(s2s.grad(énergie))(x, x), wanted, rtol=1e-14)
