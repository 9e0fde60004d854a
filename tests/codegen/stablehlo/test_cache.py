"""The cache of executables: found again, made again, bounded, shared, off."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s_codegen.stablehlo import cache, runtime, xla
from tests.conftest import ROOT

TYPE = runtime.ArrayType((3,), np.dtype(np.float64))


def program(constant: float) -> str:
    return (
        "func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {\n"
        f"  %c = stablehlo.constant dense<{constant}> : tensor<3xf64>\n"
        "  %y = stablehlo.multiply %x, %c : tensor<3xf64>\n  return %y : tensor<3xf64>\n}\n"
    )


def run(constant: float) -> Any:
    devices = runtime.runtime()
    loaded, _ = cache.compiled(devices, program(constant))
    x = devices.put(np.arange(3.0))
    results = loaded.execute_sharded([x])
    (result,) = results.consume_with_handlers([devices.result_handler(TYPE)])
    return np.asarray(result)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("S2S_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("S2S_CACHE", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    compiled: list[Any] = []
    original = runtime.Runtime.compile

    def compile_(self: Any, program: Any, options: Any = ()) -> Any:
        compiled.append(program)
        return original(self, program, options)

    monkeypatch.setattr(runtime.Runtime, "compile", compile_)
    return compiled


def test_compiled_once(folder: Path, compilations: list[Any]) -> None:
    for _ in range(3):
        np.testing.assert_array_equal(run(2.0), [0, 2, 4])
    np.testing.assert_array_equal(run(3.0), [0, 3, 6])
    assert len(compilations) == 2 and len(os.listdir(folder)) == 2


@pytest.mark.parametrize("damage", [b"", b"x", b"s2s executable 1\n" + bytes(4000)])
def test_damaged_entries_are_made_again(
    damage: bytes, folder: Path, compilations: list[Any]
) -> None:
    run(2.0)
    (entry,) = folder.iterdir()
    good = entry.read_bytes()
    for broken in (damage, good[:-1], good[:100] + b"?" + good[101:]):
        entry.write_bytes(broken)
        np.testing.assert_array_equal(run(2.0), [0, 2, 4])
        assert entry.read_bytes().startswith(b"s2s executable 1\n")
    assert len(compilations) == 4


def test_off(folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[Any]) -> None:
    monkeypatch.setenv("S2S_CACHE", "0")
    run(2.0)
    run(2.0)
    assert len(compilations) == 2 and not folder.exists()


def test_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(2.0)
    (first,) = folder.iterdir()
    monkeypatch.setattr(cache, "BOUND", int(2.5 * first.stat().st_size))
    os.utime(first, (1, 1))
    for constant in (3.0, 4.0, 5.0):
        run(constant)
    assert not first.exists() and len(os.listdir(folder)) == 2


def test_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("S2S_CACHE_DIR", str(tmp_path / "file"))
    np.testing.assert_array_equal(run(2.0), [0, 2, 4])


def test_another_version_has_other_entries(
    folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[Any]
) -> None:
    run(2.0)
    monkeypatch.setattr(xla, "version", lambda: "0.0.0")
    run(2.0)
    assert len(compilations) == 2


def test_processes_share_it(folder: Path) -> None:
    script = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'codegen')!r}]\n"
        "import s2s, numpy as np\n"
        "for k in range(4):\n"
        "    f = s2s.jit(lambda x, k=float(k): np.sin(x) * k)\n"
        "    assert np.allclose(f(np.arange(3.0)), np.sin(np.arange(3.0)) * k)\n"
    )
    environment = {**os.environ, "S2S_CACHE_DIR": str(folder)}
    processes = [
        subprocess.Popen([sys.executable, "-c", script], env=environment) for _ in range(3)
    ]
    assert [process.wait(timeout=120) for process in processes] == [0, 0, 0]
    assert {path.suffix for path in folder.iterdir()} == {".xla", ".call"}
