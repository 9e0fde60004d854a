"""Calls: the functions of a module beside the one that it is for."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from s2s.control.jit import Jit
from s2s.errors import UserError
from s2s.extend import source_of
from s2s.ir.dims import dimension, names_of
from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var
from s2s_codegen.numpy_source.entry import Argument, reading_sizes
from s2s_codegen.numpy_source.format import format_statements, signature_lines
from s2s_codegen.numpy_source.name import Names, describe
from s2s_codegen.numpy_source.schedule import Lines
from s2s_codegen.numpy_source.scope import Callees, Scope
from s2s_codegen.numpy_source.statements import Line, Statement
from s2s_codegen.numpy_source.write import Writer, identifier, name_sizes, write


@write.register
def write_call(primitive: Jit, eqn: JaxprEqn, writer: Writer) -> None:
    """Write the call of a function beside this one."""
    scope = writer.scope
    name = scope.callees.name(primitive, identifier(primitive.callee), scope.names)
    sizes = [scope.size(dimension(size)).text for size in _sizes_to_pass(primitive.jaxpr.jaxpr)]
    arguments = [*sizes, *[scope.whole(atom).text for atom in eqn.invars]]
    scope.callees.argument_hints.setdefault(primitive, [_hint(a, writer) for a in eqn.invars])
    results = [
        scope.names.give(var, hint if var.name is None else identifier(var.name), writer.is_dead)
        for var, hint in zip(eqn.outvars, _result_hints(primitive), strict=True)
    ]
    writer.line(f"{', '.join(results)} = {name}({', '.join(arguments)})")


def _hint(atom: Atom, writer: Writer) -> str | None:
    """What an argument is called where it is handed over, if it has a name."""
    if isinstance(atom, Literal):
        return None
    inlined = writer.scope.definition(atom)
    name = writer.scope.names[atom] if inlined is None else writer.hint(inlined, atom)
    return re.sub(r"_\d+$", "", name)


def _result_hints(primitive: Jit) -> list[str]:
    """What the results of a function are called in the function itself."""
    jaxpr = primitive.jaxpr.jaxpr
    definitions = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
    hints: list[str] = []
    for atom in jaxpr.outvars:
        if isinstance(atom, Literal):
            hints.append("value")
        elif atom.name is not None or atom not in definitions:
            hints.append(identifier(atom.name or "value"))
        elif isinstance(called := definitions[atom].primitive, Jit):
            hints.append(_result_hints(called)[definitions[atom].outvars.index(atom)])
        else:
            hints.append(describe(definitions[atom], False, [], None))
    return hints


def _sizes_to_pass(jaxpr: Jaxpr) -> list[str]:
    """The named dimensions that a function cannot read from the shapes of its arguments."""
    known = {n for var in jaxpr.invars for size in var.aval.shape for n in names_of(size)}
    bound = {eqn.primitive.bound_dimension for eqn in jaxpr.eqns}
    missing: dict[str, None] = {}
    for eqn in jaxpr.eqns:
        for var in eqn.outvars:
            for size in var.aval.shape:
                missing.update(dict.fromkeys(sorted(names_of(size) - known - bound)))
    return list(missing)


def write_callees(callees: Callees) -> list[list[str]]:
    """The lines of each function that is called, in the order of the calls."""
    functions: list[list[str]] = []
    done = 0
    while done < len(callees.functions):
        primitive, name = list(callees.functions.items())[done]
        done += 1
        assert isinstance(primitive, Jit)
        functions.append(_function(primitive, name, callees))
    copied = [copied_function(function, name) for function, name in callees.copied.items()]
    return [*functions, *copied]


class _CalleeWriter(Writer):
    """Writes a function beside the one that the module is for. Its results have names that say what
    they are, as there are many of them."""

    def hint(self, eqn: JaxprEqn, var: Var) -> str:
        return identifier(var.name) if var.name is not None else self.described(eqn, var)


def _function(primitive: Jit, function: str, callees: Callees) -> list[str]:
    jaxpr = primitive.jaxpr.jaxpr
    names = Names()
    for other in callees.names_taken:
        names.hold(None, other)
    arguments: list[Argument] = []
    callees.name_constants(primitive.jaxpr, names)
    for var, hint in zip(jaxpr.invars, callees.argument_hints[primitive], strict=True):
        name = names.reserve(identifier(var.name or hint or "x"))
        names.hold(var, name)
        arguments.append(Argument(name, name, var.aval))
    passed = {size: names.reserve(size) for size in _sizes_to_pass(jaxpr)}
    scope = Scope(names, {**name_sizes(jaxpr, names), **passed}, Lines(jaxpr))
    scope.callees = callees
    writer = _CalleeWriter(jaxpr, scope)
    body = writer.write()
    results = writer.result_texts()
    sizes = reading_sizes(arguments, scope, "", {}, checked=False)
    statements: list[Statement] = [*sizes, *body, Line(f"return {', '.join(results)}")]
    parameters = [*passed.values(), *[argument.name for argument in arguments]]
    return [*signature_lines(function, parameters), *format_statements(statements, 1)]


def copied_function(function: Callable[..., Any], name: str) -> list[str]:
    """The lines of a function, under a name, without its decorators, and without annotations that
    the module has no names for.

    Raises UserError if it uses what a module that stands for itself does not have.
    """
    import black

    text = textwrap.dedent(source_of(function))
    node = ast.parse(text).body[0]
    code = function.__code__
    if not isinstance(node, ast.FunctionDef) or code.co_freevars:
        raise UserError(
            f"{function.__name__} cannot be copied into a generated module: it must be a function "
            "of its own, with `def`, that uses no variables of another one."
        )
    # The names of attributes, as in `np.linalg.svd`, are among those of the code too.
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    for used in sorted(names.intersection(code.co_names, function.__globals__)):
        if getattr(function.__globals__[used], "__name__", None) != _MODULES.get(used):
            raise UserError(
                f"{function.__name__} cannot be copied into a generated module, since it uses "
                f"`{used}`. It may use its arguments, builtins, `np` and `math`."
            )
    lines = text.splitlines()[node.body[0].lineno - 1 : node.end_lineno]
    if node.body[0].lineno == node.lineno:
        lines = [f"    {ast.unparse(statement)}" for statement in node.body]
    return black.format_str(
        "\n".join([_header(node, name), *lines]), mode=black.Mode()
    ).splitlines()


def _header(node: ast.FunctionDef, name: str) -> str:
    """`def name(x, n=2):`, without the annotations that read more than a module has."""
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg) and not _can_be_read(argument.annotation):
            argument.annotation = None
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"def {name}({ast.unparse(node.args)}){result if _can_be_read(node.returns) else ''}:"


def _can_be_read(annotation: ast.expr | None) -> bool:
    found = ast.walk(annotation) if annotation is not None else ()
    names = {node.id for node in found if isinstance(node, ast.Name)}
    return names <= {*_MODULES, *vars(builtins)}


_MODULES = {"np": "numpy", "math": "math"}
"""What a copied function may use, and what it is called there."""


def joined(functions: Sequence[Sequence[str]]) -> list[str]:
    """The lines of several functions, two blank lines before each."""
    return [line for function in functions for line in ("", "", *function)]
