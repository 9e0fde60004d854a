"""Artifacts compiled before they are used, for this machine's CPU and for GPUs elsewhere."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from s2s.cli import main
from s2s.errors import UserError
from s2s_codegen.stablehlo import platforms
from s2s_codegen.stablehlo.ahead_of_time import CompiledFile, load
from s2s_codegen.stablehlo.gpu_targets import GPU_TARGETS

MODEL = """\
import numpy as np


def loss(w, x):
    return np.sum(np.tanh(x @ w) ** 2)
"""


@pytest.fixture
def artifact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    types = ["--args", "w: f32[d], x: f32[n, d]"]
    assert main(["grad", "model.py:loss", *types, "--no-verify", "--stablehlo", "g.mlirbc"]) == 0
    random = np.random.default_rng(0)
    arrays = {"w": random.normal(size=3), "x": random.normal(size=(5, 3))}
    np.savez("in.npz", **{name: value.astype(np.float32) for name, value in arrays.items()})  # type: ignore[arg-type]
    return "g.mlirbc"


def has_plugin() -> bool:
    try:
        return platforms.load_plugin("cuda") is not None
    except UserError:
        return False


def test_for_this_machine(artifact: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile-artifact", artifact, "--dims", "n=5,d=3", "-o", "g.bin"]) == 0
    assert main(["show", "g.bin"]) == 0
    shown = capsys.readouterr().out
    assert "function          loss_grad(w: f32[3], x: f32[5, 3]) -> f32[3]" in shown
    assert "compiled for      cpu, by jaxlib " in shown
    for name in ("g.bin", artifact):
        assert main(["run", name, "--inputs", "in.npz", "-o", f"{name}.npz"]) == 0
    ahead, expected = (np.load(f"{name}.npz")["result"] for name in ("g.bin", artifact))
    np.testing.assert_array_equal(ahead, expected)


@pytest.mark.parametrize("target", list(GPU_TARGETS))
def test_for_a_gpu(target: str, artifact: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not has_plugin():
        pytest.skip("XLA's plugin for NVIDIA GPUs is not installed")
    options = ["--gpu-target", target, "--dims", "n=5,d=3", "-o", "g.bin"]
    assert main(["compile-artifact", artifact, *options]) == 0
    found = load("g.bin")
    assert isinstance(found, CompiledFile) and found.platform == "cuda"
    assert len(found.executable) > 1000
    if main(["run", "g.bin", "--inputs", "in.npz"]) == 1:
        said = capsys.readouterr().err
        assert f"loss_grad was compiled for {target}" in said
        assert "no device of cuda" in said or "but here is" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dims", "n=5"], "leaves the size d open, so it cannot be compiled. Give all, as in"),
        (["--dims", "n=5,k=3"], "--dims: there is no dimension k; they are d, n"),
        (["--gpu-target", "abacus"], "no GPU target abacus; there are a100, h100, h200, b200."),
    ],
)
def test_refused(
    options: list[str], message: str, artifact: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile-artifact", artifact, *options, "-o", "g.bin"]) == 1
    assert message in capsys.readouterr().err
    assert not Path("g.bin").exists()


def test_where_it_does_not_run(artifact: str) -> None:
    assert main(["compile-artifact", artifact, "--dims", "n=5,d=3", "-o", "g.bin"]) == 0
    found = load("g.bin")
    assert isinstance(found, CompiledFile)
    for change, message in [
        ({"jaxlib": "0.1.0"}, "was compiled by jaxlib 0.1.0, but here is"),
        ({"processor": "another"}, "compiled for cpu, but here is a processor of another kind"),
        ({"executable": found.executable[:200]}, "loss_grad cannot be loaded here"),
    ]:
        with pytest.raises(UserError, match=message):
            dataclasses.replace(found, **change).compile()
    with pytest.raises(UserError, match="was compiled for cpu, so it cannot run on cuda"):
        found.compile("cuda")
    data = Path("g.bin").read_bytes()
    Path("g.bin").write_bytes(data[:-1])
    with pytest.raises(UserError, match="g\\.bin is damaged; compile the artifact again"):
        load("g.bin")
