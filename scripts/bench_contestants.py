"""Who takes part in scripts/bench_run.py: each gives the derivative of a case on NumPy arrays."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from bench_cases import Case, Inputs, load

Call = Callable[[], Any]


class Unavailable(Exception):
    """A contestant that cannot take part, and why."""


def by_name(function: Callable[..., Any], inputs: Inputs) -> Call:
    """The call of a function whose parameters are named as the inputs are."""
    arguments = [inputs[name] for name in inspect.signature(function).parameters if name in inputs]
    return lambda: function(*arguments)


def generate(case: Case, directory: Path) -> Path:
    """The module that the command line writes for a case."""
    output = directory / "generated.py"
    command = [sys.executable, "-c", "import sys, s2s.cli; sys.exit(s2s.cli.main())"]
    command += [case.transformation, f"{case.file}:{case.function}", *case.options]
    command += ["--wrt", ",".join(case.wrt), "--no-verify", "-o", str(output)]
    for name, value in case.static.items():
        command += ["--static", f"{name}={value}"]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        said = process.stderr.strip().splitlines()
        raise Unavailable(said[-1] if said else "s2s fails")
    return output


def s2s_call(case: Case, inputs: Inputs, module: Path) -> Call:
    name = f"{case.function}_{case.transformation.replace('-', '_')}"
    return by_name(getattr(load(module), name), {**case.static, **inputs})


def hand_call(case: Case, inputs: Inputs) -> Call:
    assert case.hand is not None
    file, function = case.hand
    return by_name(getattr(load(file), function), {**case.static, **inputs})


def user_function(case: Case, np: Any, erf: Callable[..., Any]) -> Callable[..., Any]:
    """The user's function on another library's arrays."""
    module = load(case.file)
    names = ("cos", "exp", "log", "sin", "sqrt", "tanh")
    on_scalars = SimpleNamespace(**{name: getattr(np, name) for name in names}, erf=erf)
    vars(module).update(np=np, math=on_scalars)
    return getattr(module, case.function)


def split_inputs(case: Case, inputs: Inputs, function: Callable[..., Any]) -> tuple[list[Any], ...]:
    """The arguments in order, the numbers of those in --wrt and of the static ones."""
    values = {**case.static, **inputs}
    names = [name for name in inspect.signature(function).parameters if name in values]
    return (
        [values[name] for name in names],
        [names.index(name) for name in case.wrt],
        [names.index(name) for name in case.static],
    )


def autograd_call(case: Case, inputs: Inputs) -> Call:
    try:
        import autograd
        import autograd.numpy
        import autograd.scipy.special
    except ImportError as error:
        raise Unavailable("autograd is not installed") from error
    if case.transformation == "jvp":
        raise Unavailable("autograd's forward mode takes one argument")
    function = user_function(case, autograd.numpy, autograd.scipy.special.erf)
    arguments, wrt, _ = split_inputs(case, inputs, function)
    transform = {"grad": autograd.grad, "value-and-grad": autograd.value_and_grad}
    derivative = transform[case.transformation](function, tuple(wrt))
    return lambda: derivative(*arguments)


def jax_call(case: Case, inputs: Inputs) -> Call:
    try:
        import jax
    except ImportError as error:
        raise Unavailable("JAX is not installed") from error
    function = user_function(case, jax.numpy, jax.scipy.special.erf)
    arguments, wrt, static = split_inputs(case, inputs, function)
    if case.transformation == "jvp":

        def derivative(directions: tuple[Any, ...], *primals: Any) -> Any:
            def of_wrt(*values: Any) -> Any:
                merged = list(primals)
                for index, value in zip(wrt, values, strict=True):
                    merged[index] = value
                return function(*merged)

            return jax.jvp(of_wrt, tuple(primals[index] for index in wrt), directions)

        arguments = [tuple(inputs[f"{name}_dot"] for name in case.wrt), *arguments]
        static = [index + 1 for index in static]
    else:
        transform = {"grad": jax.grad, "value-and-grad": jax.value_and_grad}
        derivative = transform[case.transformation](function, tuple(wrt))
    compiled = jax.jit(derivative, static_argnums=tuple(static))
    return lambda: jax.tree.map(np.asarray, compiled(*arguments))


CONTESTANTS: dict[str, Callable[[Case, Inputs], Call]] = {
    "hand": hand_call,
    "autograd": autograd_call,
    "jax": jax_call,
}
