"""Products of vectors, matrices and tensors."""

import pytest

from tests.numpy.agreement import assert_expression_agrees


@pytest.mark.parametrize(
    "text",
    [
        "m @ v",
        "c @ m",
        "v @ u",
        "m @ m.T",
        "m.T @ m",
        "m @ q",
        "t @ q",
        "t @ v",
        "t @ t.mT",
        "t[:1] @ t.mT",
        "q[:3] @ t.mT",
        "m @ i.T",
        "i @ i.T",
        "f @ f.T",
        "f @ m.T",
        "j @ j",
        "np.matmul(m, v)",
        "np.dot(m, v)",
        "m.dot(v)",
        "np.dot(v, u)",
        "np.dot(m, q)",
        "np.inner(v, u)",
        "np.inner(m, m)",
        "np.inner(m, v)",
        "np.inner(w, v)",
        "np.outer(v, c)",
        "np.outer(m, v)",
        "np.outer(w, v)",
        "np.tensordot(m, q, 1)",
        "np.tensordot(t, m, axes=([1, 2], [0, 1]))",
        "np.tensordot(t, t, axes=[[1, 2], [1, 2]])",
        "np.vdot(m, m)",
        "np.vdot(v, u)",
        "np.kron(m, q)",
        "np.kron(v, c)",
        "np.kron(m, v)",
        "np.kron(v, m)",
        "np.kron(s, v)",
        "np.cross(c, c + 1)",
        "np.cross(m.T, c)",
        "np.cross(m, m + 1, axis=0)",
        "[[1.0, 2.0, 3.0, 4.0]] @ q",
        "q @ [1, 2, 3, 4]",
        "big @ big.T",
        "big.T @ big",
        "np.linalg.outer(v, c)",
        "np.linalg.matmul(m, q)",
        "np.linalg.vecdot(i, i)",
        "np.linalg.cross(c, c + 1)",
    ],
)
def test_products(text):
    assert_expression_agrees(text)


@pytest.mark.parametrize(
    "text",
    [
        "c @ t",
        "np.dot(w, m)",
        "np.tensordot(v, c, 0)",
        "np.dot(t, q)",
        "np.dot(m, t.mT)",
        "np.inner(t, m)",
        "np.tensordot(t, q, 1)",
        "np.vecdot(m, p)",
        "np.vecdot(t, v)",
        "np.vecdot(m, m, axis=0)",
    ],
)
def test_products_that_numpy_sums_in_another_order(text):
    # Sums of at most a dozen products: a few units in the last place of the largest one.
    assert_expression_agrees(text, relative=2e-15)


@pytest.mark.parametrize(
    "text",
    [
        "np.einsum('ij,jk->ik', m, q)",
        "np.einsum('ij,jk', m, q)",
        "np.einsum('ij,kj->ki', m, p)",
        "np.einsum('ij,ij->', m, p)",
        "np.einsum('ij->ji', m)",
        "np.einsum('ij->', m)",
        "np.einsum('ij->j', m)",
        "np.einsum('ii->i', q)",
        "np.einsum('ii', q)",
        "np.einsum('i,j->ij', v, c)",
        "np.einsum('i,j->ji', v, c)",
        "np.einsum('ij,j->ij', m, v)",
        "np.einsum('ij,j->i', m, v)",
        "np.einsum('i,ij->j', c, m)",
        "np.einsum('tij,jk->tik', t, q)",
        "np.einsum('tij,tkj->tik', t, t)",
        "np.einsum('...j,jk->...k', t, q)",
        "np.einsum('i...->...i', t)",
        "np.einsum('...ij,...kj->...ik', t, m)",
        "np.einsum('i,i,i->i', v, u, v)",
        "np.einsum('i,i,i', v, u, v)",
        "np.einsum('i,ij,j->', c, m, v)",
        "np.einsum('ij,jk,kl,l->i', m, q, q, v)",
        "np.einsum(m, [0, 1], q, [1, 2], [0, 2])",
        "np.einsum(m, [0, 1], v, [1])",
        "np.einsum('tij,tij->t', t, t)",
        "np.einsum('tij,ij,j->ti', t, m, v)",
        "np.einsum('iij->ij', np.ones((3, 3, 4)) * m)",
        "np.einsum('ba', m)",
        "np.einsum('ij,jk->ik', i, i.T)",
        "np.einsum('ij,ij->i', j[None], j[None])",
        "np.einsum('ij,j->i', f, fv)",
        "np.einsum(',i->i', w, v)",
        "np.einsum('ij,jk->k', m, q)",
        "np.einsum('oj,kj->ok', o, m)",
        "np.einsum('ij,ij->ij', o, m)",
        "np.einsum('ij, jk -> ik', m, q, optimize=True)",
        "np.einsum('thd,shd->hts', t, t)",
        "np.einsum('i->', j)",
        "np.einsum('...i,...i->...', v[:1], u)",
        "np.einsum('ij,ij->i', o, m)",
    ],
)
def test_einsum(text):
    # NumPy sums in an order of its own, which also depends on `optimize`.
    assert_expression_agrees(
        text,
        relative=1e-6
        if "f" in text.partition(",")[2].replace("inf", "") and "fv" in text
        else 5e-15,
    )
