"""What it costs to write a derivative: milliseconds an equation of the user's function.

    .environments/test-3.13/bin/python scripts/bench_generate.py [--sizes 10,100,1000,10000]

The functions are straight-line code of three kinds: elementwise on an array, a chain of matrix
products, and Python floats. For each size it prints what reading the source, tracing, the passes
and the code generator take, and their sum as measured in one go; beside it, what JAX takes to
trace the gradient and to lower it. Process CPU time; medians of rounds in which all contestants
take turns. Last, how much longer than a bare Python `s2s --help` takes.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import itertools
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import s2s

try:
    import jax
    import jax.numpy
except ImportError:
    jax = None

# Each kind of function: its arguments, the statements that it repeats ({x} the last value, {y} the
# next), and what it returns.
KINDS = {
    "elementwise": (
        "x",
        [
            "{y} = np.sin({x})",
            "{y} = {x} * x",
            "{y} = {x} + 0.5",
            "{y} = np.tanh({x})",
            "{y} = {x} / 1.5",
        ],
        "np.sum({x})",
    ),
    "matmul chain": ("x, w", ["{y} = {x} @ w", "{y} = np.tanh({x})"], "np.sum({x})"),
    "scalar": (
        "x",
        [
            "{y} = math.sin({x})",
            "{y} = {x} * x",
            "{y} = {x} + 0.5",
            "{y} = math.cos({x})",
            "{y} = {x} / 1.5",
        ],
        "{x}",
    ),
}


def arguments(kind: str) -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    if kind == "elementwise":
        return (random.normal(size=100),)
    if kind == "matmul chain":
        return random.normal(size=(8, 16)), random.normal(size=(16, 16)) / 4
    return (0.5,)


def source_of(kind: str, equations: int) -> str:
    parameters, statements, result = KINDS[kind]
    lines = ["import math", "", "import numpy as np", "", "", f"def f({parameters}):"]
    value = "x"
    for index, statement in zip(range(equations), itertools.cycle(statements), strict=False):
        lines.append("    " + statement.format(x=value, y=f"x{index}"))
        value = f"x{index}"
    return "\n".join([*lines, "    return " + result.format(x=value), ""])


class Functions:
    """Loads the function anew each time, so that nothing done for it before is remembered."""

    def __init__(self, directory: Path, text: str) -> None:
        self.directory = directory
        self.text = text
        self.count = 0

    def load(self) -> ModuleType:
        self.count += 1
        path = self.directory / f"straight_line_{self.count}.py"
        path.write_text(self.text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return module


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def forget_the_past() -> None:
    """Spares a contestant's garbage collections what the other has left behind."""
    gc.collect()
    gc.freeze()


def s2s_times(functions: Functions, inputs: tuple[Any, ...]) -> dict[str, float]:
    f = functions.load().f
    first = seconds(lambda: s2s.make_jaxpr(f)(*inputs))
    trace = seconds(lambda: s2s.make_jaxpr(f)(*inputs))
    gradient = seconds(lambda: s2s.make_jaxpr(s2s.grad(f))(*inputs))
    text = seconds(lambda: s2s.source(s2s.grad(f), *inputs))
    fresh = functions.load().f
    return {
        "read": first - trace,
        "trace": trace,
        "passes": gradient - trace,
        "codegen": text - gradient,
        "in all": seconds(lambda: s2s.source(s2s.grad(fresh), *inputs)),
    }


def jax_times(functions: Functions, inputs: tuple[Any, ...]) -> dict[str, float]:
    def fresh() -> Callable[..., Any]:
        module = functions.load()
        vars(module).update(np=jax.numpy, math=jax.numpy)
        return module.f

    traced, lowered = fresh(), fresh()
    return {
        "jax trace": seconds(lambda: jax.make_jaxpr(jax.grad(traced))(*inputs)),
        "jax lower": seconds(lambda: jax.jit(jax.grad(lowered)).lower(*inputs)),
    }


def measure(kind: str, equations: int, with_jax: bool) -> dict[str, float]:
    """Seconds for each step: medians of rounds, fewer of them the longer the function is."""
    rounds: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as directory:
        functions = Functions(Path(directory), source_of(kind, equations))
        for _ in range(max(1, min(7, 3000 // equations))):
            forget_the_past()
            times = s2s_times(functions, arguments(kind))
            if with_jax:
                forget_the_past()
                times |= jax_times(functions, arguments(kind))
            rounds.append(times)
    return {step: statistics.median(times[step] for times in rounds) for step in rounds[0]}


def start_seconds(program: str) -> float:
    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(9))


def table(sizes: list[int], with_jax: bool) -> Iterator[str]:
    # The first use of each library pays for its imports, which is no cost of an equation.
    measure("scalar", 5, with_jax)
    for kind in KINDS:
        for equations in sizes:
            times = measure(kind, equations, with_jax)
            if equations == sizes[0]:
                yield f"{kind:14}{'equations':>10}" + "".join(f"{step:>11}" for step in times)
            per_equation = (1000 * time / equations for time in times.values())
            yield f"{'':14}{equations:10}" + "".join(f"{ms:11.3f}" for ms in per_equation)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="10,100,1000,10000", help="numbers of equations")
    parser.add_argument("--no-jax", action="store_true", help="measure s2s alone")
    options = parser.parse_args()
    if jax is None:
        print("JAX is not installed here: its columns are left out.")
    print("Milliseconds of CPU time an equation of the user's function, for its gradient:")
    for line in table([int(size) for size in options.sizes.split(",")], jax and not options.no_jax):
        print(line, flush=True)
    help_shown = start_seconds("import sys, s2s.cli; sys.argv[1:] = ['--help']; s2s.cli.main()")
    print(f"s2s --help: {help_shown - start_seconds('pass'):.3f} s more than python -c pass")


if __name__ == "__main__":
    main()
