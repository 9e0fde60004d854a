"""Kinds of devices that a plugin of XLA brings; CPUs are known to jaxlib itself.

A plugin is a library in a wheel. The Python package around it imports jax, so it is the library
that is looked for, and the package is not imported.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s2s.errors import UserError
from s2s_codegen.stablehlo.xla import error_type, quiet, xla_client


@dataclass(frozen=True)
class Plugin:
    """How a kind of devices is brought in."""

    devices: str
    """What the devices are."""
    package: str
    """The package in which the library is; a name that several wheels may share."""
    pattern: str
    """Where in it the library is."""
    install: str
    """The command that installs it."""
    check: str
    """What to look at if it finds no device."""


PLUGINS = {
    "cuda": Plugin(
        devices="NVIDIA GPUs",
        package="jax_plugins",
        pattern="xla_cuda*/xla_cuda_plugin.so",
        install="pip install 's2s-compiler[cuda]'",
        check="whether nvidia-smi lists a GPU, and CUDA_VISIBLE_DEVICES",
    ),
    "tpu": Plugin(
        devices="TPUs",
        package="libtpu",
        pattern="libtpu.so",
        install="pip install libtpu",
        check="whether this is a machine with a TPU, and no other process uses it",
    ),
}

PLATFORMS = ("cpu", *PLUGINS)

_CUDA_LIBRARIES = (
    "libcudart.so.*",
    "libnvrtc.so.*",
    "libcublas.so.*",
    "libcublasLt.so.*",
    "libnccl.so.*",
    "libcupti.so.*",
    "libcusparse.so.*",
    "libcusolver.so.*",
    "libcufft.so.*",
    "libnvshmem_host.so.*",
    "libcudnn.so.*",
)
"""In the order in which they need each other."""


def make_client(platform: str) -> Any:
    """jaxlib's client of the devices that a plugin brings.

    Raises UserError, which says what to install or to look at, if there are none.
    """
    load_plugin(platform)
    client = xla_client()
    options: dict[str, Any] = {}
    if platform == "cuda":
        options = client.generate_pjrt_gpu_plugin_options()
    try:
        return client.make_c_api_client(platform, options, None)
    except error_type() as error:
        why = str(error).strip().partition("\n")[0]
        described = PLUGINS[platform]
        raise UserError(
            f"there is no device of {platform} that can be used ({why}). Look at {described.check}."
        ) from error


@functools.cache
def load_plugin(platform: str) -> Any:
    """The interface of the plugin of a platform. Raises UserError if it is not installed."""
    if platform not in PLUGINS:
        raise UserError(
            f"there is no platform {platform!r} to run programs on; there are "
            f"{', '.join(PLATFORMS)}."
        )
    plugin = PLUGINS[platform]
    library = _library(plugin)
    if library is None:
        raise UserError(
            f"running on {platform} needs XLA's plugin for {plugin.devices}, which is not "
            f"installed. Install it with: {plugin.install}"
        )
    if platform == "cuda":
        _load_cuda_libraries()
    client = xla_client()
    try:
        with quiet():
            loaded = client.load_pjrt_plugin_dynamically(platform, str(library))
            client.initialize_pjrt_plugin(platform)
            return loaded
    except error_type() as error:
        why = str(error).strip().partition("\n")[0]
        raise UserError(
            f"XLA's plugin for {plugin.devices}, {library}, cannot be loaded ({why}). "
            f"Install it again with: {plugin.install}"
        ) from error


def _library(plugin: Plugin) -> Path | None:
    roots = _folders(plugin.package)
    found = [path for root in roots for path in sorted(root.glob(plugin.pattern))]
    return found[-1] if found else None


def _folders(package: str) -> list[Path]:
    """The folders of a package, which is not imported."""
    spec = importlib.util.find_spec(package)
    return list(map(Path, (spec and spec.submodule_search_locations) or []))


def _load_cuda_libraries() -> None:
    """Load the libraries of CUDA that are installed as wheels, where the plugin finds them then."""
    roots = _folders("nvidia")
    load: Callable[[str], Any] = ctypes.CDLL
    for name in _CUDA_LIBRARIES:
        for path in [path for root in roots for path in sorted(root.glob(f"*/lib/{name}"))]:
            # One that cannot be loaded is looked for by the plugin in the system's folders.
            with contextlib.suppress(OSError):
                load(str(path))
