"""Shapes, axes, joining and splitting: NumPy's values and types."""

import pytest

from tests.numpy.agreement import assert_expression_agrees


@pytest.mark.parametrize("text", [
    "np.reshape(m, (4, 3))", "m.reshape(2, 6)", "m.reshape((2, -1))", "m.reshape(-1)", "np.reshape(m, 12)", "m.reshape(3, 4)",
    "m.T.reshape(12)", "s.reshape(1, 1)", "np.ravel(m)", "m.ravel()", "m.flatten()", "np.ravel(s)", "np.ravel(w)", "m.T.ravel()",
    "np.transpose(t)", "t.transpose(1, 0, 2)", "t.transpose((2, 0, 1))", "np.transpose(t, (0, -1, 1))", "t.T", "t.mT", "v.T",
    "np.matrix_transpose(m)", "np.swapaxes(t, 0, -1)", "t.swapaxes(1, 2)", "np.moveaxis(t, 0, -1)", "np.moveaxis(t, [0, 1], [-1, 0])",
    "np.rollaxis(t, 2)", "np.rollaxis(t, 0, 3)", "np.rollaxis(t, 1, 1)", "np.expand_dims(m, 0)", "np.expand_dims(m, (0, -1))",
    "np.expand_dims(v, 1)", "np.squeeze(o)", "np.squeeze(o, 0)", "np.squeeze(np.expand_dims(m, (0, 2)), (0, 2))", "o.squeeze()",
    "np.broadcast_to(v, (3, 4))", "np.broadcast_to(w, (2, 2))", "np.broadcast_to(o, (2, 3, 4))", "np.broadcast_arrays(m, v, s)",
    "np.atleast_1d(w)", "np.atleast_1d(v, s)", "np.atleast_2d(v)", "np.atleast_2d(s)", "np.atleast_3d(v)", "np.atleast_3d(m)", "np.atleast_3d(s)",
    "np.flip(m)", "np.flip(m, 0)", "np.flip(t, (0, 2))", "np.fliplr(m)", "np.flipud(m)", "np.rot90(m)", "np.rot90(m, 2)", "np.rot90(m, 3)",
    "np.rot90(m, -1)", "np.rot90(t, 1, (1, 2))", "np.rot90(m, 4)", "np.roll(m, 1)", "np.roll(m, -2)", "np.roll(m, 1, axis=0)",
    "np.roll(m, 7, axis=1)", "np.roll(m, (1, 2), axis=(0, 1))", "np.roll(m, 2, axis=(0, 1))", "np.roll(v, 0)", "np.roll(m, (1, 1), axis=0)",
    "np.permute_dims(t, (1, 2, 0))", "m.astype(np.float32)", "m.astype(int)", "i.astype(float)", "m.astype(bool)", "f.astype('f8')",
    "m.copy()", "np.copy(m)", "m.item(3)", "s.item()", "m.item(1, 2)", "m.tolist()", "np.astype(m, np.float32)",
])  # fmt: skip
def test_shapes_and_axes(text):
    assert_expression_agrees(text)


@pytest.mark.parametrize("text", [
    "np.concatenate([m, m])", "np.concatenate((m, p), axis=1)", "np.concatenate([m, f], axis=-1)", "np.concatenate([m, v], axis=None)",
    "np.concatenate([m, i])", "np.concatenate([v, [1.0, 2.0]])", "np.concatenate([j, fv])", "np.concatenate([m])", "np.concatenate(t)",
    "np.stack([v, u])", "np.stack([v, u], axis=1)", "np.stack([w, s, 1.0])", "np.stack([m, p], -1)", "np.stack((v, j))",
    "np.vstack([v, m])", "np.vstack([w, s])", "np.hstack([v, u])", "np.hstack([m, m])", "np.hstack([w, v])", "np.dstack([v, u])",
    "np.dstack([m, p])", "np.column_stack([v, u])", "np.column_stack([c, m])", "np.append(m, m)", "np.append(v, 1.0)",
    "np.append(m, m, axis=0)", "np.block([[m, m], [p, p]])", "np.block([v, u])", "np.block([[q, np.ones((4, 1))], [np.ones((1, 4)), w]])",
    "np.split(m, 2, axis=1)", "np.split(v, [1, 3])", "np.array_split(m, 2)", "np.array_split(v, 3)", "np.hsplit(m, 2)", "np.vsplit(m, 3)",
    "np.split(v, 2)", "np.dsplit(t, 2)", "np.split(v, [3, 1])", "np.split(v, [2, 9])",
    "np.tile(v, 2)", "np.tile(m, (2, 1))", "np.tile(m, (2, 1, 3))", "np.tile(v, (2, 2))", "np.tile(s, 3)", "np.tile(m, 1)",
    "np.repeat(m, 2)", "np.repeat(m, 2, axis=0)", "np.repeat(m, 3, axis=-1)", "np.repeat(m, [1, 0, 2], axis=0)", "v.repeat(2)", "np.repeat(w, 3)",
    "np.meshgrid(v, c)", "np.meshgrid(v, c, indexing='ij')", "np.meshgrid(v, c, u, sparse=True)", "np.meshgrid(v)",
    "np.pad(v, 1)", "np.pad(m, ((1, 2), (0, 1)))", "np.pad(m, (1, 2), constant_values=7.5)", "np.pad(m, 1, constant_values=((1, 2), (3, 4)))",
    "np.pad(v, 2, mode='edge')", "np.pad(m, ((1, 0), (2, 1)), mode='edge')", "np.pad(v, 2, mode='reflect')", "np.pad(m, 1, mode='symmetric')",
    "np.pad(v, (1, 3), mode='wrap')", "np.pad(i, 1, constant_values=2)", "np.unstack(m)", "np.unstack(m, axis=1)",
])  # fmt: skip
def test_joining_and_splitting(text):
    assert_expression_agrees(text)


@pytest.mark.parametrize("text", [
    "np.diff(m)", "np.diff(m, axis=0)", "np.diff(v, 2)", "np.diff(b)", "np.diff(v, prepend=0.0)", "np.diff(m, append=1, axis=0)",
    "np.diff(i, n=0)", "np.ediff1d(m)", "np.ediff1d(v, to_begin=0, to_end=[1, 2])", "np.trapezoid(v)", "np.trapezoid(m, v)",
    "np.trapezoid(m, dx=w, axis=0)", "np.trapezoid(m, m)", "np.gradient(v)", "np.gradient(m)", "np.gradient(m, w, axis=1)", "np.gradient(v, u)",
    "np.gradient(m, np.arange(3.0), np.array([0.0, 1.0, 3.0, 4.0]))", "np.gradient(f)", "np.gradient(i)", "np.polyval([1.0, 2.0, w], v)",
    "np.polyval(v, m)", "np.polyval([1, 2], i)",
])  # fmt: skip
def test_differences(text):
    assert_expression_agrees(text)
