"""Einstein summation, taken apart into products of two operands.

einsum("ij,jk,k->i", a, b, c)  ->  dot_general of a and (dot_general of b and c)
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.ir.dims import Size, require_same, same_size
from s2s.numpy.arithmetic import multiply
from s2s.numpy.linear import diagonal
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, promoted, shape_of
from s2s.numpy.registry import counterpart, mistake
from s2s.primitive import Value
from s2s.primitives import functions as lax


@dataclass(frozen=True)
class Term:
    """An array with a letter for each axis."""

    value: Value
    letters: str


@counterpart(np.einsum)
def einsum(*operands: Any, optimize: Any = False, dtype: Any = None) -> Value:
    """The sum of products that a formula says, such as `"ij,jk->ik"`.

    The products are summed in pairs, in an order found as NumPy finds it with `optimize`; the last
    bits differ from NumPy's, which also depend on that argument.
    """
    if dtype is not None:
        raise mistake("np.einsum with the argument `dtype` is not supported; convert the operands")
    formula, arrays = _formula(operands)
    values = [array_operand(array, "np.einsum") for array in arrays]
    kind = promoted(*values)
    if kind.kind == "b":
        raise mistake("np.einsum of booleans is not supported; convert them to integers")
    inputs, output = _explicit(formula, [len(shape_of(value)) for value in values])
    terms = [
        Term(convert(value, kind), letters) for value, letters in zip(values, inputs, strict=True)
    ]
    sizes = _sizes(terms)
    unknown = [letter for letter in output if letter not in sizes]
    if unknown or len(set(output)) != len(output):
        raise mistake(f"np.einsum: the result of {formula!r} has an axis that no operand has")
    terms = [_simplified(term, terms, output, sizes) for term in terms]
    for pair in _order(terms, output, sizes):
        left, right = (terms[position] for position in pair)
        terms = [term for position, term in enumerate(terms) if position not in pair]
        terms.append(_product(left, right, terms, output))
    (result,) = terms
    value = lax.transpose(result.value, [result.letters.index(letter) for letter in output])
    return convert(value, kind)


# -- the formula -----------------------------------------------------------------------------------


def _formula(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The formula and the arrays, also of `einsum(a, [0, 1], b, [1, 2], [0, 2])`."""
    if not operands:
        raise mistake("np.einsum needs a formula")
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), list(operands[1:])
    items = list(operands)
    output = _letters(items.pop()) if len(items) % 2 else None
    formula = ",".join(_letters(item) for item in items[1::2])
    return formula if output is None else f"{formula}->{output}", items[0::2]


def _letters(axes: Sequence[Any]) -> str:
    return "".join("..." if axis is Ellipsis else string.ascii_letters[axis] for axis in axes)


def _explicit(formula: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, with letters for the axes of `...`."""
    left, arrow, output = formula.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        raise mistake(f"np.einsum: {formula!r} is for {len(inputs)} arrays, not {len(ranks)}")
    free = [letter for letter in string.ascii_letters if letter not in formula]
    longest = 0
    for letters, rank in zip(inputs, ranks, strict=True):
        named = len(letters.replace("...", ""))
        if named > rank or (named < rank and "..." not in letters):
            raise mistake(f"np.einsum: {letters!r} does not fit an array of dimension {rank}")
        longest = max(longest, rank - named if "..." in letters else 0)
    dots = "".join(free[:longest])
    named_inputs = [
        letters.replace("...", dots[longest - (rank - len(letters.replace("...", ""))) :])
        for letters, rank in zip(inputs, ranks, strict=True)
    ]
    if arrow:
        return named_inputs, output.replace("...", dots)
    joined = "".join(named_inputs)
    once = sorted(c for c in set(joined) if joined.count(c) == 1 and c not in dots)
    return named_inputs, dots + "".join(once)


def _sizes(terms: Sequence[Term]) -> dict[str, Size]:
    sizes: dict[str, Size] = {}
    for term in terms:
        for letter, size in zip(term.letters, shape_of(term.value), strict=True):
            known = sizes.get(letter, 1)
            if same_size(known, 1):
                sizes[letter] = size
            elif not same_size(size, 1) and not require_same(known, size):
                raise mistake(f"np.einsum: axis {letter!r} has the sizes {known} and {size}")
    return sizes


# -- the operands ----------------------------------------------------------------------------------


def _simplified(term: Term, terms: Sequence[Term], output: str, sizes: dict[str, Size]) -> Term:
    """An operand with the diagonals of repeated letters taken, and what only it has summed."""
    value, letters = term.value, term.letters
    for letter in sorted(set(letters), key=letters.index):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            value = diagonal(value, 0, first, second)
            letters = letters.replace(letter, "", 2) + letter
    # NumPy repeats axes of size 1.
    stretched = [
        axis
        for axis, letter in enumerate(letters)
        if same_size(shape_of(value)[axis], 1) and not same_size(sizes[letter], 1)
    ]
    value = lax.squeeze(value, stretched)
    letters = _without(letters, stretched)
    others = output + "".join(other.letters for other in terms if other is not term)
    return _summed(Term(value, letters), others)


def _summed(term: Term, kept: str) -> Term:
    axes = [axis for axis, letter in enumerate(term.letters) if letter not in kept]
    if not axes:
        return term
    dtype = aval_of_operand(term.value).dtype
    value = convert(lax.reduce_sum(term.value, axes), dtype)
    return Term(value, _without(term.letters, axes))


def _without(letters: str, axes: Sequence[int]) -> str:
    return "".join(letter for axis, letter in enumerate(letters) if axis not in axes)


# -- the products ----------------------------------------------------------------------------------


def _order(terms: Sequence[Term], output: str, sizes: dict[str, Size]) -> Iterator[list[int]]:
    """Which two operands to multiply next; the product becomes the last operand."""
    if len(terms) <= 2:
        yield from ([[0, 1]] if len(terms) == 2 else [])
        return
    numbers = {letter: size if isinstance(size, int) else 64 for letter, size in sizes.items()}
    formula = ",".join(term.letters for term in terms) + "->" + output
    samples = [
        np.broadcast_to(0.0, tuple(numbers[letter] for letter in term.letters)) for term in terms
    ]
    path: list[Any] = np.einsum_path(formula, *samples, optimize="greedy")[0][1:]
    count = len(terms)
    for step in path:
        positions: list[int] = sorted(step)
        while len(positions) > 1:
            yield positions[:2]
            count -= 1
            first, second = positions[:2]
            positions = [p - (p > first) - (p > second) for p in positions[2:]] + [count - 1]


def _product(x: Term, y: Term, others: Sequence[Term], output: str) -> Term:
    """The product of two operands, summed over what only they have."""
    kept = output + "".join(term.letters for term in others)
    shared = [letter for letter in x.letters if letter in y.letters]
    summed = [letter for letter in shared if letter not in kept]
    batch = [letter for letter in shared if letter in kept]
    if not summed:
        # An axis that one operand has with size 1 is summed here.
        return _summed(_elementwise(x, y, output), kept)
    free_x = [letter for letter in x.letters if letter not in shared]
    free_y = [letter for letter in y.letters if letter not in shared]
    if not others and output == "".join([*batch, *free_y, *free_x]) and free_x and free_y:
        x, y, free_x, free_y = y, x, free_y, free_x
    numbers = (
        (tuple(map(x.letters.index, summed)), tuple(map(y.letters.index, summed))),
        (tuple(map(x.letters.index, batch)), tuple(map(y.letters.index, batch))),
    )
    value = lax.dot_general(x.value, y.value, numbers)
    return Term(value, "".join([*batch, *free_x, *free_y]))


def _elementwise(x: Term, y: Term, output: str) -> Term:
    """The product without a sum, with the axes in the order of the result as far as it has them."""
    union = x.letters + "".join(letter for letter in y.letters if letter not in x.letters)
    letters = "".join(c for c in output if c in union) + "".join(
        c for c in union if c not in output
    )
    return Term(multiply(_aligned(x, letters), _aligned(y, letters)), letters)


def _aligned(term: Term, letters: str) -> Value:
    """A value with an axis for each letter, of size 1 for those that it does not have."""
    own = [letter for letter in letters if letter in term.letters]
    value = lax.transpose(term.value, [term.letters.index(letter) for letter in own])
    if not own:
        return value
    missing = [axis for axis, letter in enumerate(letters) if letter not in own]
    # Leading axes need not be written out for broadcasting.
    first = letters.index(own[0])
    return lax.expand_dims(value, [axis - first for axis in missing if axis >= first])
