"""Modules as MLIR sees them: verified, read back; and read by another version of jaxlib and JAX."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.passes.pipeline import optimise
from s2s.trace import make
from s2s_codegen.stablehlo.emit import emit_module
from s2s_codegen.stablehlo.runtime import portable_artifact, read_module
from tests.conftest import ROOT
from tests.control.programs import PROGRAMS, traced
from tests.samples import SAMPLES, Sample, types


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_each_primitive_is_read_back(sample: Sample) -> None:
    text = emit_module(make(lambda *xs: [sample.fun(*xs)], types(sample)), "sample")
    once = read_module(text).text
    assert read_module(once).text == once


@pytest.mark.parametrize("name", PROGRAMS)
def test_control_flow_is_read_back(name: str) -> None:
    text = emit_module(optimise(traced(name)), "program", {"s2s.note": 'ü "\\" \n'})
    once = read_module(text)
    assert once.attributes["s2s.note"] == 'ü "\\" \n'
    assert read_module(portable_artifact(text)).custom_calls == once.custom_calls == []


def loss(w: Any, x: Any) -> Any:
    return np.mean(np.tanh(x @ w) ** 2)


OTHERS = [
    python
    for python in (ROOT / ".venv-3.11/bin/python", ROOT / ".venv/bin/python")
    if python.exists() and str(python) != sys.executable
]


@pytest.mark.parametrize("python", OTHERS, ids=str)
def test_another_python_reads_it(python: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.mlirbc"
    w, x = np.linspace(-1, 1, 3), np.linspace(0, 1, 12).reshape(4, 3)
    gradient = s2s.grad(loss)
    s2s.stablehlo(gradient, w, x).save(path)
    program = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'codegen')!r}]\n"
        "import s2s, numpy as np\n"
        "w, x = np.linspace(-1, 1, 3), np.linspace(0, 1, 12).reshape(4, 3)\n"
        f"print(s2s.load_artifact({str(path)!r}).compile()(w, x).tolist())\n"
        "assert 'jax' not in sys.modules\n"
    )
    done = subprocess.run([str(python), "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = np.array(eval(done.stdout))
    np.testing.assert_allclose(found, gradient(w, x), rtol=1e-12)


def test_jax_reads_it() -> None:
    jax = pytest.importorskip("jax")
    export = pytest.importorskip("jax.export")
    w, x = np.linspace(-1, 1, 3), np.linspace(0, 1, 12).reshape(4, 3)
    gradient = s2s.grad(loss)
    data = s2s.stablehlo(gradient, w, x).to_bytes()
    with jax.enable_x64(True):
        like = export.export(jax.jit(lambda w, x: w + x.sum()))(w, x)
        ours = export.Exported(
            **{**vars(like), "mlir_module_serialized": data, "fun_name": "loss_grad"}
        )
        found = np.asarray(jax.jit(ours.call)(w, x))
    np.testing.assert_allclose(found, gradient(w, x), rtol=1e-12)
