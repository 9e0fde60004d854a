"""Indexing of every kind, and functions that index."""

import pytest

from tests.numpy.agreement import assert_expression_agrees


@pytest.mark.parametrize("text", [
    "m[0]", "m[-1]", "m[1, 2]", "m[-1, -2]", "m[np.int64(1)]", "v[2]", "t[1, :, 2]", "t[..., 0]", "t[0, ...]", "m[...]", "s[...]", "s[()]",
    "m[:]", "m[1:]", "m[:-1]", "m[1:3, ::2]", "m[::-1]", "m[:, ::-1]", "m[::-2, 3:0:-1]", "v[5:]", "v[-9:2]", "v[3:1]", "v[1:3:5]", "v[-1:-4:-1]",
    "v[:2:-1]", "v[2::-1]", "v[10::-3]", "v[-10::-1]", "m[None]", "m[:, None]", "m[..., None]", "v[None, :, None]", "m[0, None]", "t[:, 0, None, 1:]",
    "m[1:2, -1]", "t[1][0][2]", "m[0][1:]",
])  # fmt: skip
def test_basic_indexing(text):
    assert_expression_agrees(text)


@pytest.mark.parametrize("text", [
    "m[n]", "m[:, n]", "m[n, n]", "m[n, 1]", "m[1, n]", "t[n[1:2], :, n]", "t[:, n, n]", "t[0, :, n]", "t[0, n]", "t[:, 0, n]", "t[..., n]",
    "m[[0, 2]]", "m[[0, 2], [1, 3]]", "m[[-1]]", "m[nn]", "m[:, nn]", "m[nn, nn]", "t[nn[:1, :1], 1:, n]", "m[n, None]", "m[None, n]",
    "t[:, [0], None, [1]]", "t[[0], None, :, [1]]", "m[n[:, None], n]", "t[1:, n, ::2]", "m[n, ::-1]", "m[np.array([0, 1])]", "m[k2]", "m[si]",
    "m[si, 1:]", "m[k2, si]", "t[:, k2, n]", "v[si]", "m[n[0]]", "m[n[0], n]", "t[:, [0], ..., [1]]", "t[[0], ..., [1, 2]]", "m[()]",
    "v[[]]", "m[[True, False, True]]", "m[np.array([True, False, True]), 1]", "m[:, np.array([True, False, True, True])]", "m[np.eye(3, 4) > 0]",
    "m[np.arange(3) % 2 == 0]", "t[np.ones((2, 3), bool)]", "m[np.int32(1), n]", "np.arange(12.0).reshape(3, 4)[n]", "[1.0, 2.0, 3.0, 4.0][0] * v",
    "np.take(m, n)", "np.take(m, n, axis=0)", "np.take(m, nn, axis=1)", "m.take([0, 1])", "np.take(m, 1, axis=1)", "np.take(v, (0, 1))",
    "np.take_along_axis(m, np.argmax(m, axis=1, keepdims=True), axis=1)", "np.take_along_axis(m, nn[:1, :] + np.zeros((3, 1), int), 1)",
    "np.take_along_axis(v, n, None)", "np.diagonal(m)", "np.diagonal(m, 1)", "np.diagonal(m, -1)", "m.diagonal()", "np.diagonal(t, 0, 1, 2)",
    "np.diagonal(t, 1, 2, 0)", "np.trace(m)", "q.trace()", "np.trace(q, 1)", "np.trace(j[None] + np.zeros((4, 4), np.int32))", "np.diag(q)", "np.diag(m, 1)", "np.diag(v)",
    "np.diag(v, 1)", "np.diag(v, -2)", "np.diagflat(m)", "np.tril(m)", "np.triu(m)", "np.tril(q, 1)", "np.triu(t, -1)", "np.tril(t)", "np.triu(i, 1)",
])  # fmt: skip
def test_indexing_by_arrays(text):
    assert_expression_agrees(text)


@pytest.mark.parametrize("text", ["[x * 2 for x in m]", "[a + b for a, b in zip(v, u)]", "sum(v)", "len(m) * v", "list(reversed(v))", "max(len(m), 2) + m"])
def test_loops_over_rows(text):
    assert_expression_agrees(text)
