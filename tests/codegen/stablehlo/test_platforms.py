"""Kinds of devices: found by their plugins, and what is said where there is none."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from s2s_codegen.stablehlo import platforms, runtime
from s2s_codegen.stablehlo.platforms import PLUGINS


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for a plugin's package, which is where the plugin for GPUs is looked for."""
    monkeypatch.syspath_prepend(tmp_path)
    described = dataclasses.replace(PLUGINS["cuda"], package="plugins_of_this_test")
    monkeypatch.setitem(PLUGINS, "cuda", described)
    platforms.load_plugin.cache_clear()
    return tmp_path / "plugins_of_this_test"


def run_on(platform: str) -> str:
    with pytest.raises(UserError) as caught:
        s2s.jit(lambda x: x + 1.0, platform=platform)(np.ones(3))
    return str(caught.value)


def test_plugin_is_missing(package: Path) -> None:
    assert run_on("cuda") == (
        "running on cuda needs XLA's plugin for NVIDIA GPUs, which is not installed. Install it "
        "with: pip install 's2s-compiler[cuda]'"
    )


def test_plugin_is_no_library(package: Path) -> None:
    """The package around it is not imported."""
    library = package / "xla_cuda13" / "xla_cuda_plugin.so"
    library.parent.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    library.write_bytes(b"no library")
    said = run_on("cuda")
    assert f"XLA's plugin for NVIDIA GPUs, {library}, cannot be loaded (" in said
    assert said.endswith("Install it again with: pip install 's2s-compiler[cuda]'")
    assert package.name not in sys.modules


def test_no_device() -> None:
    """With the plugin, where there is no GPU."""
    try:
        platforms.load_plugin("cuda")
    except UserError:
        pytest.skip("XLA's plugin for NVIDIA GPUs is not installed")
    try:
        found = s2s.jit(lambda x: x + 1.0, platform="cuda")(np.ones(3))
    except UserError as error:
        assert "there is no device of cuda that can be used (" in str(error)
        assert str(error).endswith(
            "Look at whether nvidia-smi lists a GPU, and CUDA_VISIBLE_DEVICES."
        )
    else:
        np.testing.assert_array_equal(found, np.full(3, 2.0))


def test_platform_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2S_PLATFORM", "quantum")
    with pytest.raises(UserError, match="there is no platform 'quantum' to run programs on; there"):
        s2s.jit(lambda x: x + 1.0)(np.ones(3))
    assert s2s.jit(lambda x: x + 1.0, platform="cpu")(np.ones(1)).tolist() == [2.0]


def test_memory_that_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: arguments are put on the device one by one, and results are copied."""
    devices = runtime.Runtime("cpu", 1)
    devices.shares_memory = False
    monkeypatch.setattr("s2s_codegen.stablehlo.compile.runtime", lambda platform: devices)
    compiled = s2s.jit(lambda p, x: {"a": p["w"] @ x, "b": np.sum(x)})
    for x in (np.ones(4), np.arange(8.0)[::2], np.zeros(4)):
        for _ in range(3):
            found = compiled({"w": np.eye(4)}, x)
            np.testing.assert_array_equal(found["a"], x)
            assert found["b"] == x.sum()
