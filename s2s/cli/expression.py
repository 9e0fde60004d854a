"""Compositions written as in Python: `vmap(grad(loss), in_axes=(None, 0, 0))`.

The text is not evaluated: it may only name functions of the user's module, call transformations,
and contain literals.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from s2s.api.batching import vmap
from s2s.api.derivatives import JvpFunction, VjpFunction, grad, value_and_grad
from s2s.api.jacobians import hessian, jacfwd, jacrev
from s2s.api.transformed import Argnums, Transformed, signature
from s2s.errors import UserError


def jvp(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Transformed:
    """`f_jvp(x, x_dot) -> (y, y_dot)`."""
    return JvpFunction(fun, argnums, has_aux)


def vjp(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Transformed:
    """`f_vjp(x, y_bar) -> (y, x_bar)`."""
    return VjpFunction(fun, argnums, has_aux)


TRANSFORMATIONS: dict[str, Callable[..., Transformed]] = {
    "grad": grad,
    "value_and_grad": value_and_grad,
    "jvp": jvp,
    "vjp": vjp,
    "vmap": vmap,
    "jacfwd": jacfwd,
    "jacrev": jacrev,
    "hessian": hessian,
}


def composition(text: str, module: Mapping[str, Any], file: str) -> Callable[..., Any]:
    """The function that the text stands for; `module` is what the user's file defines.

    Raises UserError for anything but transformations of the module's functions.
    """
    try:
        expression = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise UserError(f"`{text}` is not a Python expression: {error.msg}.") from error
    return _Reader(text, module, file).function(expression)


class _Reader:
    def __init__(self, text: str, module: Mapping[str, Any], file: str) -> None:
        self.text = text
        self.module = module
        self.file = file

    def fail(self, problem: str) -> NoReturn:
        raise UserError(f"In `{self.text}`: {problem}.")

    def function(self, node: ast.expr) -> Callable[..., Any]:
        """A function of the module, or a transformation of one."""
        if isinstance(node, ast.Call):
            return self.transformed(node)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self.of_module(node)
        if isinstance(node, ast.Lambda):
            self.fail(f"a lambda cannot stand here; write a function in {self.file} instead")
        self.fail(f"`{ast.unparse(node)}` is not a function of {self.file}")

    def of_module(self, node: ast.expr) -> Callable[..., Any]:
        path = ast.unparse(node).split(".")
        found: Any = self.module.get(path[0])
        for attribute in path[1:]:
            found = getattr(found, attribute, None)
        if callable(found):
            return found
        if path[-1] in TRANSFORMATIONS:
            self.fail(f"{path[-1]} wants a function, as in {path[-1]}(...)")
        functions = [
            name
            for name, value in self.module.items()
            if getattr(value, "__globals__", None) is self.module
        ]
        known = f"; its functions are {', '.join(functions)}" if functions else ""
        self.fail(f"{self.file} has no function {'.'.join(path)}{known}")

    def transformed(self, node: ast.Call) -> Transformed:
        name = ast.unparse(node.func).rpartition(".")[2]  # s2s.grad is grad too
        transformation = TRANSFORMATIONS.get(name)
        if transformation is None:
            known = ", ".join(TRANSFORMATIONS)
            self.fail(f"`{ast.unparse(node.func)}` is no transformation; these are {known}")
        if not node.args or isinstance(node.args[0], ast.Starred):
            self.fail(f"{name} wants a function first, as in {name}(f)")
        fun = self.function(node.args[0])
        args = [self.literal(argument) for argument in node.args[1:]]
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                self.fail("`**` cannot stand here")
            kwargs[keyword.arg] = self.literal(keyword.value)
        try:
            made = transformation(fun, *args, **kwargs)
        except TypeError as error:
            self.fail(str(error))
        self.check_argnums(getattr(made, "argnums", ()), fun)
        return made

    def check_argnums(self, argnums: Argnums, fun: Callable[..., Any]) -> None:
        """Refuse the position of a value of `*args`, of which a file has as many as it was made
        for: the whole has a name."""
        wanted = [argnums] if isinstance(argnums, (int, str)) else argnums
        for position, (name, parameter) in enumerate(signature(fun).parameters.items()):
            if parameter.kind is parameter.VAR_POSITIONAL and any(
                isinstance(one, int) and not 0 <= one < position for one in wanted
            ):
                self.fail(f"give *{name} by its name, as in argnums={name!r}, to have them all")

    def literal(self, node: ast.expr) -> Any:
        try:
            return ast.literal_eval(node)
        except ValueError:
            self.fail(f"`{ast.unparse(node)}` must be a literal, such as 0, 'w' or (None, 0)")
