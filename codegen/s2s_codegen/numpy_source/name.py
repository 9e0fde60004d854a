"""Names for the variables of a generated function.

A variable has the user's name if it has one. A name is taken again for a newer value once the
older one is not needed any more, as when the user assigns to a variable twice; otherwise the newer
value is numbered, `speed_1`. A value without a name is called after what computes it,
`sqrt_maturity`, `sum_bar`.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Callable, Iterable, Sequence

from s2s.ir.jaxpr import Atom, JaxprEqn, Literal, Var

RESERVED = frozenset([*keyword.kwlist, *dir(builtins), "_", "np", "math", "scipy"])
"""What no variable is called."""

_WORDS = {
    "add": "sum",
    "add_any": "sum",
    "and": "both",
    "broadcast_in_dim": "repeated",
    "concatenate": "joined",
    "cond": "chosen",
    "convert_element_type": "converted",
    "cumsum": "running_sum",
    "cholesky": "factor",
    "cumprod": "running_product",
    "det": "determinant",
    "div": "ratio",
    "dot_general": "product",
    "dynamic_slice": "part",
    "dynamic_update_slice": "updated",
    "update_slice": "updated",
    "update_slice_add": "updated",
    "eigvalsh": "eigenvalues",
    "eq": "equal",
    "erf": "erf",
    "ge": "at_least",
    "gt": "above",
    "integer_pow": "power",
    "inv": "inverse",
    "iota": "indices",
    "le": "at_most",
    "lstsq": "solution",
    "lt": "below",
    "max": "larger",
    "python_max": "larger",
    "min": "smaller",
    "python_min": "smaller",
    "mul": "product",
    "ne": "different",
    "neg": "negated",
    "not": "opposite",
    "or": "either",
    "pad": "padded",
    "pinv": "pseudo_inverse",
    "pow": "power",
    "reduce_and": "all_true",
    "reduce_max": "largest",
    "reduce_min": "smallest",
    "reduce_or": "any_true",
    "reduce_prod": "product",
    "reduce_sum": "total",
    "rem": "remainder",
    "reshape": "reshaped",
    "rev": "flipped",
    "scatter": "updated",
    "scatter-add": "added",
    "select_n": "chosen",
    "slice": "part",
    "solve": "solution",
    "square": "square",
    "sub": "difference",
    "svdvals": "singular_values",
    "transpose": "transposed",
    "triangular_solve": "solution",
    "tril": "lower",
    "triu": "upper",
}
"""What a result is called after its primitive, where that is not the primitive's own name."""

FLAGS = {"break": "done", "return": "returned", "continue": "skipped"}
"""What is called the flag that says whether a step ends with a statement."""

_RESULTS = {
    "eigh": ("eigenvalues", "eigenvectors"),
    "qr": ("q", "r"),
    "slogdet": ("sign", "logdet"),
    "svd": ("u", "s", "vh"),
}
"""What the results of a primitive that has several are called."""


LONGEST_FACTOR = 10
"""The longest name, and one more, that stands in the name of a product or a sum: `frequency_t`."""


class Names:
    """The names in use in one generated function."""

    def __init__(self) -> None:
        self._holder: dict[str, Var | None] = {}
        self._count: dict[str, int] = {}
        self._of: dict[Var, str] = {}
        self._pinned: set[str] = set()

    def __getitem__(self, var: Var) -> str:
        return self._of[var]

    def called(self, var: Var) -> str | None:
        """What a variable is called, if it has a name."""
        return self._of.get(var)

    def __contains__(self, var: Var) -> bool:
        return var in self._of

    def holder(self, name: str) -> Var | None:
        """The variable that is called `name` at the moment."""
        return self._holder.get(name)

    def reserve(self, hint: str) -> str:
        """A name near `hint` that no variable will be given: for sizes and constants."""
        name = self._unused(hint)
        self._holder[name] = None
        return name

    def hold(self, var: Var | None, name: str) -> None:
        """Let `var` be called `name`; with None, keep the name from all variables."""
        self._holder[name] = var
        if var is not None:
            self._of[var] = name

    def pin(self, name: str) -> None:
        """Give the name to no other value: what has it now is to be reached by it in the end."""
        self._pinned.add(name)

    def is_taken(self, name: str) -> bool:
        """Whether something is called so, or nothing may be."""
        return name in RESERVED or name in self._holder

    def release(self, name: str) -> None:
        """Let the name go to whoever asks for it next."""
        self._holder.pop(name, None)

    def alias(self, var: Var, name: str) -> None:
        """Let `var` be called like the variable that has the name and keeps it."""
        self._of[var] = name

    def first_free(self, hints: Iterable[str], is_dead: Callable[[Var], bool]) -> str:
        """The first of some names that no value that is still needed has; the first one of all if
        there is none."""
        names = list(hints)
        for name in names:
            if name not in self._holder:
                return name
            holder = self._holder[name]
            if holder is not None and is_dead(holder):
                return name
        return names[0]

    def give(self, var: Var, hint: str, is_dead: Callable[[Var], bool]) -> str:
        """The name for a new value: `hint` if no value that is still needed has it."""
        for name in (hint, f"{hint}_{self._count.get(hint)}"):
            holder = self._holder.get(name)
            # A name that says no more than the operation does not stand for a number, then for an
            # array; one of the user's does what it does there.
            alike = holder is not None and (var.name or holder.aval.ndim == var.aval.ndim)
            if holder and alike and is_dead(holder) and name not in self._pinned:
                break
        else:
            name = self._unused(hint)
        self.hold(var, name)
        return name

    def _unused(self, hint: str) -> str:
        name = hint
        while name in RESERVED or name in self._holder:
            self._count[hint] = self._count.get(hint, 0) + 1
            name = f"{hint}_{self._count[hint]}"
        return name


def own_name(eqn: JaxprEqn, var: Var) -> str | None:
    """The name that a result has. What the user's function computes without a name is not called
    `x_bar` only since it happens to be that derivative."""
    name = var.name
    if name is None or eqn.phase != "primal" or not name.endswith("_bar"):
        return name
    return name if eqn.source is not None and name in eqn.source.text else None


def result_name(eqn: JaxprEqn, var: Var) -> str | None:
    """What one of several results is called; None for the result of a primitive that has one."""
    names = _RESULTS.get(eqn.primitive.name)
    return None if names is None else names[list(eqn.outvars).index(var)]


def describe(
    eqn: JaxprEqn, is_tangent: bool, operands: Sequence[str | None], function: str | None
) -> str:
    """What a result without a name is called, after the operation and the operand's name.

    `operands` has the name of each operand, or None for what has none; `function` is what a
    cotangent is pulled back through, where that is known.
    """
    word = _WORDS.get(eqn.primitive.name, eqn.primitive.name.replace("-", "_"))
    if function is not None:
        word = _WORDS.get(function, function)
    if eqn.primitive.name in ("gather", "squeeze"):
        word = "row" if eqn.outvars[0].aval.shape else "element"
    if eqn.outvars[0].aval.dtype.kind in "fc":
        if eqn.phase == "cotangent":
            return f"{word}_bar"
        if is_tangent:
            return f"{word}_dot"
    match eqn.primitive.name, operands:
        case _ if (said := _in_words(eqn, operands)) is not None:
            return said
        case "convert_element_type", _ if eqn.invars[0].aval.dtype.kind == "b":
            return "mask" if eqn.outvars[0].aval.shape else "indicator"
        case _, (str(x),):
            return f"{word}_{x}"
        case "gather", (str(x), str(i)) if not eqn.invars[1].aval.shape:
            return f"{x}_{i}"
        case "gather", _ if any(index.aval.shape for index in eqn.invars[1:]):
            return "rows" if eqn.outvars[0].aval.ndim > 1 else "elements"
        case "stack", _ if eqn.outvars[0].aval.ndim <= 2:
            return ("vector", "matrix")[eqn.outvars[0].aval.ndim - 1]
        case _:
            return "summed" if word == "sum" else word


def _in_words(eqn: JaxprEqn, operands: Sequence[str | None]) -> str | None:
    """What arithmetic on the user's variables and numbers is called: `one_minus_p`."""
    if len(operands) not in (1, 2) or not all(map(_is_short, eqn.invars, operands)):
        return None
    x, y = (*map(_spoken, eqn.invars), None)[:2]
    match eqn.primitive.name, x, y:
        case "neg", str(), _:
            return f"minus_{x}"
        case "integer_pow" | "square", str(), _:
            power = _POWERS.get(getattr(eqn.primitive, "y", 2))
            return power and f"{x}_{power}"
        case "mul", str(), str() if x == y:
            return f"{x}_squared"
        case "mul" | "dot_general", str(), str() if x != y:
            return f"{x}_{y}"
        case ("mul", str(), float(factor)) | ("mul", float(factor), str()):
            return f"{_FACTORS.get(factor, 'scaled')}_{x if isinstance(x, str) else y}"
        case "div", str(), float(divisor):
            return f"{_FACTORS.get(1.0 / divisor, 'scaled')}_{x}" if divisor else None
        case "add" | "sub" | "div", _, _ if (said := _spelled(x)) and (other := _spelled(y)):
            return f"{said}_{_BETWEEN[eqn.primitive.name]}_{other}"
        case ("add" | "sub", str(), float()) | ("add", float(), str()):
            return f"shifted_{x if isinstance(x, str) else y}"
        case _:
            return None


_POWERS: dict[object, str] = {2: "squared", 3: "cubed"}
_FACTORS = {2.0: "twice", 0.5: "half", -1.0: "minus"}
_BETWEEN = {"add": "plus", "sub": "minus", "div": "over"}


def _is_short(atom: Atom, name: str | None) -> bool:
    """Whether an operand is a number, or a variable with a short name of the user's."""
    if isinstance(atom, Literal):
        return not atom.aval.shape and atom.aval.dtype.kind in "fi"
    return atom.name is not None and name is not None and len(atom.name) < LONGEST_FACTOR


def _spoken(atom: Atom) -> str | float | None:
    return float(atom.value) if isinstance(atom, Literal) else atom.name


def _spelled(operand: str | float | None) -> str | None:
    """A variable, or the number that has a short word."""
    return "one" if operand == 1.0 else operand if isinstance(operand, str) else None
