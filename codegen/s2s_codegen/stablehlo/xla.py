"""jaxlib, as s2s uses it: the one module that imports it.

Nothing here imports jax, nor sets one of JAX's global switches, so both can live in one process.
What differs between versions of jaxlib is told by signatures, not by numbers.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from s2s.errors import UserError

VERSIONS = "jaxlib>=0.10.1,<0.13"


@functools.cache
def jaxlib() -> Any:
    """What is used of jaxlib where a program runs on CPUs; for the rest see `xla_client`."""
    with quiet():
        try:
            lib: Any = importlib.import_module("jaxlib._jax")
        except ImportError as error:
            raise UserError(
                f"running StableHLO needs jaxlib, which cannot be imported ({error}). "
                f"Install it with: pip install '{VERSIONS}'"
            ) from error
    if not hasattr(lib, "array_result_handler"):
        raise UserError(f"this version of jaxlib is not supported; s2s needs {VERSIONS}.")

    # Where jaxlib.xla_client has it from, whose import takes longer than all of a first call.
    sharding = importlib.import_module("jaxlib._hlo").HloSharding

    class OneDevice(lib.SingleDeviceSharding):
        """Where the arrays of a program for one device are."""

        memory_kind = None

        def _to_xla_hlo_sharding(self, ndim: int) -> Any:  # asked for by jaxlib 0.10
            return sharding.replicate()

    class MeshSharding(lib.GSPMDSharding):
        """Where the parts of the arrays of a program for several devices are."""

        memory_kind = None

        def _to_xla_hlo_sharding(self, ndim: int) -> Any:
            return self._hlo_sharding

    # Up to 0.11.0, checks that need JAX's own class of arrays are to be skipped.
    checks = "_skip_checks" in str(lib.array_result_handler.__nb_signature__)
    return SimpleNamespace(
        jax=lib,
        OneDevice=OneDevice,
        handler_arguments=(True, True) if checks else (True,),
        MeshSharding=MeshSharding,
        HloSharding=sharding,
        copied=lib.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL,
        aliased=lib.HostBufferSemantics.ZERO_COPY,
        error=lib.JaxRuntimeError,
    )


@functools.cache
def xla_client() -> Any:
    """What jaxlib has written in Python around all this, whose import takes a while."""
    jaxlib()
    return importlib.import_module("jaxlib.xla_client")


@contextmanager
def quiet() -> Generator[None]:
    """Import jaxlib with its log off: the level is read when its first library is loaded."""
    before = os.environ.get("TF_CPP_MIN_LOG_LEVEL")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("TF_CPP_MIN_LOG_LEVEL", None)


def version() -> str:
    """The version of jaxlib."""
    return importlib.import_module("jaxlib.version").__version__


def error_type() -> type[Exception]:
    """What jaxlib raises when a program cannot be compiled or fails as it runs."""
    return jaxlib().error


@functools.cache
def register_lapack() -> None:
    """Let programs call LAPACK, which is that of SciPy."""
    lapack: Any = importlib.import_module("jaxlib.lapack")
    client = xla_client()
    client.register_custom_call_handler("cpu", jaxlib().jax.register_custom_call_target)
    for platform, targets in lapack.registrations().items():
        for name, target, api_version in targets:
            client.register_custom_call_target(
                name, target, platform=platform, api_version=api_version
            )
    lapack._lapack.initialize()


def mlir_modules() -> SimpleNamespace:
    """What is used of the MLIR bindings."""
    jaxlib()
    names = {
        "ir": "ir",
        "passmanager": "passmanager",
        "extension": "_mlir_libs._jax_mlir_ext",
        **{name: f"dialects.{name}" for name in ("chlo", "func", "sdy", "stablehlo")},
    }
    found = {key: importlib.import_module(f"jaxlib.mlir.{name}") for key, name in names.items()}
    return SimpleNamespace(**found)


class _NoJax(threading.local):
    """Finds no jax, in a thread in which it is in force."""

    in_force = False

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> None:
        """Refuse jax and leave everything else to the other finders."""
        if self.in_force and name.partition(".")[0] == "jax":
            raise ModuleNotFoundError(f"{name} is not wanted here", name=name)


_no_jax = _NoJax()


@contextmanager
def without_importing_jax() -> Generator[None]:
    """For the calls in which jaxlib imports jax if it can, to describe an array by JAX's classes.

    It does without if jax cannot be imported; imports in other threads are not touched.
    """
    if _no_jax not in sys.meta_path:
        sys.meta_path.insert(0, _no_jax)
    _no_jax.in_force = True
    try:
        yield
    finally:
        _no_jax.in_force = False
