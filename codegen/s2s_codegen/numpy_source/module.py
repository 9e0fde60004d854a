"""Modules: the frame around the statements of a function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s.errors import UserError
from s2s.frontend.argument_types.types import Static
from s2s.frontend.traced import Parameter
from s2s.ir.dims import names_of
from s2s.ir.jaxpr import ClosedJaxpr, Literal, ShapedArray
from s2s.tree import TreeDef
from s2s_codegen.numpy_source import (
    branches as _branches,
    choices as _choices,
    copies as _copies,
    places as _places,
    spell as _rules,
    sums as _sums,
    while_loops as _loops,
)
from s2s_codegen.numpy_source.calls import joined, write_callees
from s2s_codegen.numpy_source.defaults import default_text, filling_defaults
from s2s_codegen.numpy_source.description import Description
from s2s_codegen.numpy_source.docstring import function_docstring, module_docstring, type_text
from s2s_codegen.numpy_source.entry import (
    Argument,
    access_paths,
    checking_dtypes,
    checking_memory,
    checking_order,
    checking_static,
    expected_arguments,
    reading_sizes,
    unpacking,
)
from s2s_codegen.numpy_source.format import INDENT, format_statements, signature_lines
from s2s_codegen.numpy_source.leaving import LeftInArguments, arrays_in_order, changed_arrays
from s2s_codegen.numpy_source.literals import literal
from s2s_codegen.numpy_source.name import Names
from s2s_codegen.numpy_source.schedule import Lines
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.statements import (
    BLANK,
    Block,
    Comment,
    Line,
    Statement,
    mentioned,
    plain_lines,
)
from s2s_codegen.numpy_source.write import Writer, name_sizes

__all__ = ["compile_jaxpr", "render"]

# Imported for the rules that they register.
_ = (_rules, _loops, _branches, _sums, _places, _choices, _copies)

_MAKES_FLOATS = re.compile(r"np\.(zeros|ones|full|empty)\(|\d+\.\d+ \* ")
"""The beginning of an expression that is an array of floats, or of a named type, in any case."""
_MODULE = re.compile(r"\b(np|math|scipy(?:\.[a-z_]+)*)\.\w")


def render(description: Description, closed: ClosedJaxpr) -> str:
    """The text of a module with one function, which computes the jaxpr.

    The jaxpr is final: simplified, and its inputs are the traced values of the parameters.
    """
    function = _Function(description, closed)
    lines = ['"""' + _escaped(module_docstring(description, function.imports)), '"""', ""]
    lines += _import_lines(function.imports)
    if function.constants:
        lines += [*function.constants, ""]
    lines += ["", *function.lines, *function.callees]
    return "\n".join(lines) + "\n"


class _Function:
    """A function while it is put together."""

    def __init__(self, description: Description, closed: ClosedJaxpr) -> None:
        self.description = description
        self.closed = closed
        self.names = Names()
        self.arguments = self._name_arguments()
        self.scope = Scope(self.names, name_sizes(closed.jaxpr, self.names), Lines(closed.jaxpr))
        self.scope.callees.names_taken.add(description.name)
        self.scope.callees.name_constants(closed, self.names)
        left = LeftInArguments(description, closed.jaxpr, self.arguments)
        for var in left.in_place:
            self.names.pin(self.names[var])
        writer = Writer(closed.jaxpr, self.scope, left.in_place)
        body = writer.write()
        self.num_results = len(closed.jaxpr.outvars) - len(left.finals)
        texts = writer.result_texts(self.num_results)
        leaving = left.statements(writer)
        if leaving:
            texts = [self._evaluated(text, number, body) for number, text in enumerate(texts)]
        body += leaving
        self.result_names = self._result_names(texts)
        returned = build(description.result, texts)
        body = mentioned(body, self.scope.counted, returned)
        text = "\n".join(_texts(body)) + f"\n{returned}"
        entry = self._entry(text)
        text = "\n".join([text, *_texts(entry)])
        self.callees = joined(write_callees(self.scope.callees))
        self.constants = self.scope.callees.constants.definitions()
        self.imports = _imports("\n".join([text, *self.constants, *self.callees]))
        statements: list[Statement] = [*entry, *([BLANK] if entry and body else []), *body]
        statements += _return(statements, returned)
        out_avals = closed.out_avals[: self.num_results]
        doc = function_docstring(description, self.result_names, out_avals)
        self.lines = [
            *self._signature(),
            *_docstring_lines(doc),
            *format_statements(statements, 1),
        ]

    def _name_arguments(self) -> list[Argument]:
        """Name the inputs of the jaxpr: parameters, and the leaves of those that are containers."""
        self.names.hold(None, self.description.name)
        for parameter in self.description.parameters:
            if parameter.name in ("np", "math", "scipy"):
                raise UserError(
                    f"a parameter cannot be called `{parameter.name}` in a generated module, "
                    f"where that is the module of functions; give it another name."
                )
            self.names.hold(None, parameter.name)
        invars = iter(self.closed.jaxpr.invars)
        arguments: list[Argument] = []
        for parameter in self.description.parameters:
            for path, leaf in access_paths(parameter):
                if isinstance(leaf, Static):
                    continue
                var = next(invars)
                name = path
                if path == parameter.name:
                    self.names.hold(var, path)
                else:
                    name = self.names.reserve(var.name or parameter.name)
                    self.names.hold(var, name)
                arguments.append(Argument(name, path, var.aval))
        return arguments

    def _evaluated(self, text: str, number: int, body: list[Statement]) -> str:
        """A result that is computed before anything is left in arguments."""
        if text.isidentifier() or not re.search(r"[A-Za-z_]", text):
            return text
        hint = "value" if self.num_results == 1 else f"value_{number + 1}"
        name = self.names.reserve(hint)
        body.append(Line(f"{name} = {text}"))
        return name

    def _entry(self, text: str) -> list[Statement]:
        """The statements before those of the jaxpr."""
        description = self.description
        used = [a for a in self.arguments if re.search(rf"\b{a.name}\b", text)]
        minimum = dict(description.minimum)
        expected = expected_arguments(description.parameters, minimum)
        checked = any(a.aval.shape for a in self.arguments) or "numpy" in _imports(text)
        checks = checking_static(description.parameters)
        sizes = self._sizes(used, minimum, expected, checked)
        if _depends_on_dtype(text) or description.left:
            sizes += checking_dtypes(used, expected)
        sizes += checking_order(arrays_in_order(description, self.arguments), description.function)
        sizes += checking_memory(*changed_arrays(description, self.arguments), description.function)
        used_names = {a.name for a in used} | self._mentioned(sizes)
        named = [a for a in self.arguments if a.name in used_names]
        rest = [*checks, *unpacking(named, description.parameters), *sizes]
        read = "\n".join([text, *_texts(rest)])
        left_out = [p for p in description.parameters if re.search(rf"\b{p.name}\b", read)]
        return [*filling_defaults(left_out, expected), *rest]

    def _sizes(
        self, used: Sequence[Argument], minimum: dict[str, int], expected: str, checked: bool
    ) -> list[Statement]:
        arrays = list(used)
        known = {n for a in arrays for size in a.aval.shape for n in names_of(size)}
        for argument in self.arguments:
            names = {n for size in argument.aval.shape for n in names_of(size)}
            if (names & self.scope.sizes_read) - known:
                arrays.append(argument)
                known |= names
        return reading_sizes(arrays, self.scope, expected, minimum, checked)

    def _mentioned(self, statements: Sequence[Statement]) -> set[str]:
        text = "\n".join(_texts(statements))
        return {a.name for a in self.arguments if re.search(rf"\b{a.name}\b", text)}

    def _result_names(self, texts: Sequence[str]) -> list[str]:
        """What the docstring calls the results."""
        names: list[str] = []
        for number, (atom, text) in enumerate(
            zip(self.closed.jaxpr.outvars, texts, strict=False), start=1
        ):
            hint = None if isinstance(atom, Literal) else atom.name
            name = hint or (text if text.isidentifier() else None)
            names.append(name or ("value" if len(texts) == 1 else f"value_{number}"))
        return names

    def _signature(self) -> list[str]:
        """`def loss_grad(w, x):`"""
        parameters = self.description.parameters
        avals = self.closed.out_avals[: self.num_results]
        scalar = all(_annotation(p) is not None for p in parameters)
        texts = parameter_texts(parameters, scalar)
        returns = ""
        if scalar and all(aval.weak_type for aval in avals):
            annotation = _result_annotation(self.description.result, avals)
            returns = f" -> {annotation}" if annotation else ""
        return signature_lines(self.description.name, texts, returns)


# -- the signature --------------------------------------------------------------------------------


def _annotation(parameter: Parameter) -> str | None:
    kind = parameter.type
    if isinstance(kind, ShapedArray):
        return type_text(kind) if kind.weak_type else None
    if isinstance(kind, Static) and type(kind.value) in (bool, int, float, str):
        return type(kind.value).__name__
    return None


def parameter_texts(parameters: Sequence[Parameter], scalar: bool) -> list[str]:
    """The parameters as a `def` has them. With `scalar`, also fixed ones are annotated."""
    texts: list[str] = []
    had_star = False
    for position, parameter in enumerate(parameters):
        kind = parameter.kind
        if kind is inspect.Parameter.KEYWORD_ONLY and not had_star:
            texts.append("*")
            had_star = True
        stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        had_star = had_star or kind is inspect.Parameter.VAR_POSITIONAL
        text = stars.get(kind, "") + parameter.name
        annotation = _annotation(parameter)
        traced = isinstance(parameter.type, ShapedArray)
        annotated = annotation is not None and (scalar or traced)
        if annotated:
            text += f": {annotation}"
        default = default_text(parameter)
        if default is not None:
            text += f" = {default}" if annotated else f"={default}"
        texts.append(text)
        following = parameters[position + 1 : position + 2]
        if kind is inspect.Parameter.POSITIONAL_ONLY and all(
            other.kind is not kind for other in following
        ):
            texts.append("/")
    return texts


def _result_annotation(structure: TreeDef, avals: Sequence[ShapedArray]) -> str | None:
    texts = [type_text(aval) for aval in avals]
    if structure.kind is None:
        return texts[0]
    if structure.kind is tuple:
        start = 0
        children: list[str] = []
        for child in structure.children:
            stop = start + child.num_leaves
            text = _result_annotation(child, avals[start:stop])
            if text is None:
                return None
            children.append(text)
            start = stop
        return f"tuple[{', '.join(children)}]"
    return None


# -- results --------------------------------------------------------------------------------------


def build(structure: TreeDef, texts: Sequence[str]) -> str:
    """The expression of a container from those of its leaves, without outer parentheses."""
    text = _build(structure, iter(texts))
    if structure.kind is tuple and len(structure.children) > 1:
        return text[1:-1]
    return text


def _build(structure: TreeDef, texts: Any) -> str:
    kind = structure.kind
    if kind is None:
        return next(texts)
    if kind is type(None):
        return "None"
    children = [_build(child, texts) for child in structure.children]
    if kind is list:
        return f"[{', '.join(children)}]"
    if issubclass(kind, tuple):
        # A class of the user's is not to be imported; its values are those of a plain tuple.
        return f"({children[0]},)" if len(children) == 1 else f"({', '.join(children)})"
    items = zip(structure.keys, children, strict=True)
    return "{" + ", ".join(f"{literal(key)}: {child}" for key, child in items) + "}"


def _return(statements: list[Statement], returned: str) -> list[Statement]:
    """The return statement; a value that was assigned just before is returned at once."""
    last = statements[-1] if statements else None
    if (
        isinstance(last, Line)
        and last.text.startswith(f"{returned} = ")
        and returned.isidentifier()
    ):
        statements.pop()
        return [Line(f"return {last.text[len(returned) + 3 :]}")]
    return [*([BLANK] if len(statements) > 1 else []), Line(f"return {returned}")]


# -- text -----------------------------------------------------------------------------------------


def _texts(statements: Sequence[Statement]) -> list[str]:
    """The text of all statements, without comments."""
    found: list[str] = []
    for statement in statements:
        match statement:
            case Line(text=text):
                found.append(text)
            case Block(header=header, body=body):
                found += [header, *_texts(body)]
            case Comment():
                pass
    return found


def _imports(text: str) -> list[str]:
    """The modules that the text needs, in the order of their imports."""
    found = set(_MODULE.findall(text))
    names = ["math"] if "math" in found else []
    names += ["numpy"] if "np" in found else []
    return names + sorted({"scipy" for name in found if name.startswith("scipy")})


def _import_lines(imports: Sequence[str]) -> list[str]:
    standard = [f"import {name}" for name in imports if name == "math"]
    packages = ["import numpy as np"] if "numpy" in imports else []
    packages += ["import scipy"] if "scipy" in imports else []
    return [
        *standard,
        *([""] if standard and packages else []),
        *packages,
        *([""] if imports else []),
    ]


def _depends_on_dtype(text: str) -> bool:
    """Whether arguments of other element types would be converted without a word.

    It is so where the text names an element type that is not NumPy's default one, and where it
    assigns to a part of an array that may have the element type of an argument.
    """
    named = set(re.findall(r"\bnp\.(?:float|int|uint|complex)\d+\b", text))
    if named - {"np.float64", "np.int64", "np.complex128"}:
        return True
    changed = set(re.findall(r"^(\w+)\[.*\] = (?!0\.0$)", text, re.MULTILINE))
    for name in changed:
        made = re.findall(rf"^{name} = (.*)$", text, re.MULTILINE)
        if not made or not all(_MAKES_FLOATS.match(value) for value in made):
            return True
    return False


def _docstring_lines(lines: Sequence[str]) -> list[str]:
    escaped = [_escaped(line) for line in lines]
    if len(escaped) == 1:
        return [f'{INDENT}"""{escaped[0]}"""']
    return [
        f'{INDENT}"""{escaped[0]}',
        *[f"{INDENT}{line}" if line else "" for line in escaped[1:]],
        f'{INDENT}"""',
    ]


def _escaped(text: str) -> str:
    return re.sub(r"\\(?!\n)", r"\\\\", text).replace('"""', r"\"\"\"")


# -- without a file -------------------------------------------------------------------------------


def compile_jaxpr(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The jaxpr as a function on NumPy arrays and Python numbers, which returns a list.

    The arguments must have the types of the jaxpr's inputs.
    """
    jaxpr = closed.jaxpr
    names = Names()
    inputs = [names.give(var, var.name or "x", lambda _: False) for var in jaxpr.invars]
    scope = Scope(names, name_sizes(jaxpr, names), Lines(jaxpr))
    scope.callees.name_constants(closed, names)
    writer = Writer(jaxpr, scope)
    body = writer.write()
    returned = f"return [{', '.join(writer.result_texts())}]"
    arguments = [Argument(name, name, v.aval) for name, v in zip(inputs, jaxpr.invars, strict=True)]
    sizes = reading_sizes(arguments, scope, "", {}, checked=False)
    lines = [f"def function({', '.join(inputs)}):"]
    lines += plain_lines([*sizes, *body, Line(returned)], 1)
    source = "\n".join([*joined(write_callees(scope.callees)), *lines])
    namespace: dict[str, Any] = {"np": np, **scope.callees.constants.arrays}
    for module in _imports(source):
        if module != "numpy":
            namespace[module] = __import__(module)
    exec(compile(source, "<generated by s2s>", "exec"), namespace)
    return namespace["function"]
