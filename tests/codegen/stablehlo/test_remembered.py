"""A later process has a compiled function without tracing it, and only if it is the same one."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import s2s
from s2s.api import reads
from tests.conftest import ROOT

MODEL = """\
import numpy as np
import s2s
SCALE = 2.0
def f(params, x, n=2):
    y = np.tanh(x @ params["w"]) * SCALE ** n
    return {"loss": np.sum(y), "parts": (y, [params["b"], None])}
def solved(params, x):
    return np.linalg.solve(x.T @ x + np.eye(3), params["w"])
"""

RUN = """
import sys
sys.path[:0] = {paths!r}
import numpy as np, s2s, model
params = dict(w=np.arange(3.0), b=1.0)
x = np.linspace(0.0, 1.0, 12).reshape(4, 3)
compiled = s2s.jit({function})
found = compiled(params, x)
again = compiled(params, x)
assert repr(found) == repr(again)
print("traced" if "s2s.trace" in sys.modules else "recalled", repr(found))
"""


Run = Callable[..., tuple[str, str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def call(function: str = "model.f", text: str = MODEL, **environment: str) -> tuple[str, str]:
        (tmp_path / "model.py").write_text(text)
        paths = [str(tmp_path), str(ROOT), str(ROOT / "codegen")]
        done = subprocess.run(
            [sys.executable, "-B", "-c", RUN.format(paths=paths, function=function)],
            env={**os.environ, "S2S_CACHE_DIR": str(tmp_path / "cache"), **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        how, _, result = done.stdout.partition(" ")
        return how, result

    return call


LOSS = "lambda p, x: model.f(p, x)['loss']"
FUNCTIONS = ["model.f", "model.solved", f"s2s.vmap(s2s.grad({LOSS}), (None, 0))"]
FUNCTIONS += [f"s2s.{name}({LOSS}, 'x')" for name in ("grad", "jacfwd", "jacrev", "hessian")]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_second_process_does_not_trace(run: Run, function: str) -> None:
    how, result = run(function)
    assert how == "traced"
    assert run(function) == ("recalled", result)
    assert run(function, S2S_CACHE="0") == ("traced", result)


def test_what_has_changed_is_traced(run: Run) -> None:
    _, result = run()
    how, other = run(text=MODEL.replace("SCALE = 2.0", "SCALE = 3.0"))
    assert how == "traced" and other != result
    assert run(text=MODEL.replace("SCALE = 2.0", "SCALE = 2")) == ("traced", result)
    assert run() == ("recalled", result)


def test_a_trace_that_changes_what_it_reads_is_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("S2S_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("S2S_CACHE", raising=False)
    for second, suffixes in (("another", {".xla"}), ("digest", {".xla", ".call"})):
        digests = iter(["digest", second])
        monkeypatch.setattr(reads, "digest", lambda fun, arguments, of=digests: next(of))
        assert s2s.jit(lambda x: x * 2.0)(3.0) == 6.0
        assert {path.suffix for path in tmp_path.iterdir()} == suffixes


def test_damaged_entries_are_made_again(run: Run, tmp_path: Path) -> None:
    _, result = run()
    for suffix in (".call", ".xla"):
        for entry in (tmp_path / "cache").glob(f"*{suffix}"):
            data = entry.read_bytes()
            entry.write_bytes(data[:-3] + bytes(3))
        assert run() == ("traced", result)
        assert run() == ("recalled", result)
