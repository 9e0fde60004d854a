"""Meshes and how arguments are divided over them: as text, as Shardy has them, and refused."""

from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from s2s_codegen.stablehlo.mesh import (
    Mesh,
    attribute_of,
    input_names,
    mesh_from,
    partitions_from,
    partitions_text,
    sharding_of,
)
from s2s_codegen.stablehlo.signature import Parameter

MESH = Mesh.of({"data": 4, "model": 2})
F64 = np.dtype(np.float64)
PARAMETERS = [
    Parameter("params", {"w": s2s.ShapedArray((6, 8), F64), "b": s2s.ShapedArray((8,), F64)}),
    Parameter("x", s2s.ShapedArray((12, 6), F64)),
]


def test_mesh() -> None:
    assert mesh_from("data=4, model=2") == MESH
    assert mesh_from(str(MESH)) == MESH
    assert MESH.num_devices == 8
    assert MESH.attribute == '<["data"=4, "model"=2]>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is no mesh of devices; write its axes and their sizes, as in data=4"),
        ("data", "'data' is no mesh"),
        ("data=4,data=2", "is no mesh"),
        ("data=0", "a mesh cannot have the axis data=0"),
        ("None=4", "a mesh cannot have the axis None=4"),
    ],
)
def test_no_mesh(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        mesh_from(text)


def test_divisions() -> None:
    said = partitions_from("x: data, params.w: [None, model]")
    assert said == {"x": ("data",), "params.w": (None, "model")}
    sharding = sharding_of(MESH, said, PARAMETERS)
    assert sharding.inputs == ((None, "model"), (None,), ("data", None))
    assert attribute_of(sharding.inputs[2]) == (
        '{sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}'
    )
    text = partitions_text(input_names(PARAMETERS), sharding)
    assert text == "params.w: [None, model], x: data"
    assert sharding_of(MESH, partitions_from(text), PARAMETERS) == sharding


def test_of_a_container() -> None:
    """What is said of it holds for its parts, except where more is said of one."""
    sharding = sharding_of(
        MESH, partitions_from("params: model, params.b: [None], x: [None, None]"), PARAMETERS
    )
    assert sharding.inputs == (("model", None), (None,), (None, None))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("z: data", "there is no argument z to divide over devices; there are params.w, params.b"),
        ("x: rows", "`x` cannot be divided over rows: the mesh has the axes data, model"),
        ("x: [data, data]", "`x` cannot be divided twice over the mesh axis data"),
        ("params.b: [None, model]", r"`params.b` is f64\[8\], which has no axis 1 to divide over"),
        ("params.w: data", "the size of axis 0 of `params.w` is 6, which cannot be divided evenly"),
        ("x data", "'x data' does not say how an argument is divided"),
        ("x: [data", "does not say how"),
        ("x: data, x: model", "does not say how"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        sharding_of(MESH, partitions_from(text), PARAMETERS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"in_shardings": {"x": "data"}}, "in_shardings divides arguments over a mesh"),
        ({"mesh": {"data": 2}, "in_shardings": ("data",) * 3}, "how 3 arguments are divided, but"),
        ({"mesh": {"data": 0}}, "cannot have the axis data=0"),
        ({"mesh": {}}, "a mesh needs at least one axis"),
    ],
)
def test_refused_by_jit(options: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        s2s.jit(lambda x, y: x + y, **options)(np.ones(4), np.ones(4))
