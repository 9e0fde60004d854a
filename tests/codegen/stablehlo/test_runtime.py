"""The runtime: element types that NumPy has not of itself, and what jaxlib says of failures."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from s2s.errors import UserError
from s2s_codegen.stablehlo import modules, runtime, xla
from s2s_codegen.stablehlo.executable import STAGED_BYTES, Executable
from s2s_codegen.stablehlo.text import element_type, tensor


def doubling(dtype: Any, shape: tuple[int, ...]) -> Executable:
    type_ = runtime.ArrayType(shape, np.dtype(dtype))
    text = tensor(shape, element_type(type_.dtype))
    program = (
        f"func.func @main(%x: {text}) -> {text} {{\n"
        f"  %y = stablehlo.add %x, %x : {text}\n  return %y : {text}\n}}\n"
    )
    devices = runtime.runtime()
    return Executable(devices, devices.compile(program), [type_], [type_])


@pytest.mark.parametrize(
    "name",
    ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4", "int2", "uint2"],
)
def test_element_types_of_ml_dtypes(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    x = np.array([[0, 1, 0], [1, 0, 1]]).astype(dtype)
    call = doubling(dtype, (2, 3))
    for _ in range(2):
        (found,) = call([x])
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.astype(np.int64), (x + x).astype(np.int64))


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f2", "f4", "f8", "c8", "c16"])
def test_element_types_of_numpy(dtype: str) -> None:
    x = np.array([0, 1, 1]).astype(dtype)
    (found,) = doubling(dtype, (3,))([x])
    np.testing.assert_array_equal(found, np.add(x, x))
    assert found.dtype == x.dtype


@pytest.mark.parametrize("size", [0, 1, 3, STAGED_BYTES // 8, STAGED_BYTES // 8 + 1])
def test_sizes_around_what_is_staged(size: int) -> None:
    call = doubling("f8", (size,))
    first, second = np.arange(float(size)), np.full(size, 3.0)
    (a,), (b,) = call([first]), call([second])
    np.testing.assert_array_equal(a, 2 * first)
    np.testing.assert_array_equal(b, 2 * second)
    assert not a.flags.writeable


@pytest.mark.parametrize("order", ["reversed", "transposed", "strided"])
def test_layouts_of_memory(order: str) -> None:
    base = np.arange(24.0).reshape(4, 6)
    x = {"reversed": base[::-1, ::-1], "transposed": base.reshape(6, 4).T, "strided": base}[order]
    (found,) = doubling("f8", (4, 6))([x])
    np.testing.assert_array_equal(found, 2 * x)


def test_unknown_platform() -> None:
    with pytest.raises(UserError, match="no platform 'quantum'"):
        runtime.runtime("quantum")


def test_no_module() -> None:
    with pytest.raises(ValueError, match="Unable to parse"):
        modules.read_module("no module")
    with pytest.raises(xla.error_type()):
        runtime.runtime().compile("no module")
