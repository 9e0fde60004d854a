"""What scripts/bench_run.py measures: problems, target models and examples, with their inputs."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]

Inputs = dict[str, Any]


def load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Case:
    """A function, what is asked of it, and on which inputs."""

    name: str
    file: Path
    function: str
    transformation: str
    wrt: tuple[str, ...]
    inputs: Callable[[ModuleType], Inputs]
    """The arguments by name; for a jvp also the directions, named as in `x_dot`."""
    options: tuple[str, ...] = ()
    static: dict[str, Any] = field(default_factory=dict[str, Any])
    hand: tuple[Path, str] | None = None
    """The file and the name of the hand-written derivative."""


def problem_cases(shared: Path, sizes: list[str]) -> list[Case]:
    return [
        problem_case(file, size)
        for file in sorted((shared / "bench" / "problems").glob("*.py"))
        for size in sizes
    ]


def problem_case(file: Path, size: str) -> Case:
    module = load(file)
    names = list(inspect.signature(module.f).parameters)
    values = dict(zip(names, module.make_inputs(size), strict=True))
    return Case(
        name=f"{file.stem} {size}",
        file=file,
        function="f",
        transformation="value-and-grad",
        wrt=tuple(names[index] for index in module.ARGNUMS),
        inputs=lambda module: dict(zip(names, module.make_inputs(size), strict=True)),
        options=("--example", f"make_inputs({size!r})"),
        static={name: value for name, value in values.items() if isinstance(value, int)},
        hand=(file, "hand"),
    )


def model_cases(shared: Path) -> list[Case]:
    models, wanted = shared / "targets" / "models", shared / "targets" / "wanted"
    if not models.is_dir():
        return []

    def case(
        module: str,
        function: str,
        transformation: str,
        wrt: str,
        wanted_file: str,
        inputs: Callable[[], Inputs],
        types: str = "",
        **static: Any,
    ) -> Case:
        return Case(
            name=module,
            file=models / f"{module}.py",
            function=function,
            transformation=transformation,
            wrt=tuple(wrt.split(",")),
            inputs=lambda _: inputs(),
            options=("--args", types) if types else (),
            static=static,
            hand=(wanted / wanted_file, f"{function}_{transformation.replace('-', '_')}"),
        )

    return [
        case(
            "mlp",
            "loss",
            "grad",
            "params",
            "mlp_grad.py",
            lambda: mlp_inputs(32, 10, 32, 4),
            "params: {w1: f64[d, h], b1: f64[h], w2: f64[h, k], b2: f64[k]}, "
            "x: f64[n, d], y: f64[n, k]",
        ),
        case(
            "black_scholes",
            "call_price",
            "grad",
            "spot,strike,maturity,rate,vol",
            "call_price_grad.py",
            lambda: {"spot": 100.0, "strike": 95.0, "maturity": 0.5, "rate": 0.03, "vol": 0.25},
        ),
        case(
            "rnn",
            "loss",
            "value-and-grad",
            "wx,wh,b",
            "rnn_value_and_grad.py",
            lambda: random_inputs(wx=(16, 4), wh=(16, 16), b=(16,), xs=(20, 4), targets=(20, 16)),
            "wx: f64[h, d], wh: f64[h, h], b: f64[h], xs: f64[20, d], targets: f64[20, h]",
        ),
        case(
            "pendulum",
            "final_energy",
            "jvp",
            "angle,speed,length",
            "final_energy_jvp.py",
            lambda: {
                "angle": 0.5,
                "speed": 0.1,
                "length": 1.5,
                "angle_dot": 1.0,
                "speed_dot": 0.5,
                "length_dot": 0.25,
                "dt": 0.01,
            },
            steps=100,
        ),
        case("newton", "root", "grad", "a", "root_grad.py", lambda: {"a": 2.0}),
        case(
            "heat",
            "misfit",
            "grad",
            "initial,conductivity",
            "misfit_grad.py",
            lambda: {**random_inputs(initial=(100,), observed=(100,)), "conductivity": 0.1},
            "initial: f64[n], conductivity: f64[], observed: f64[n]",
            steps=50,
        ),
        case(
            "logistic",
            "loss",
            "grad",
            "w",
            "loss_grad_one_example.py",
            lambda: {**random_inputs(w=(10,), x=(10,)), "y": 1.0},
            "w: f64[d], x: f64[d], y: f64[]",
        ),
    ]


def example_cases() -> list[Case]:
    def case(
        module: str, function: str, transformation: str, wrt: str, inputs: Callable[[], Inputs]
    ) -> Case:
        return Case(
            name=f"examples/{module}",
            file=ROOT / "examples" / f"{module}.py",
            function=function,
            transformation=transformation,
            wrt=tuple(wrt.split(",")),
            inputs=lambda _: inputs(),
        )

    return [
        case("mlp", "loss", "grad", "params", lambda: mlp_inputs(256, 2, 8, 1)),
        case(
            "breast_cancer",
            "loss",
            "value-and-grad",
            "weights,bias",
            lambda: {
                **random_inputs(weights=(30,), features=(400, 30)),
                "bias": 0.1,
                "labels": random_inputs(labels=(400,))["labels"] > 0.0,
                "penalty": 0.01,
            },
        ),
        case(
            "option_price",
            "price",
            "value-and-grad",
            "vol",
            lambda: {
                "spot": 100.0,
                "strike": 95.0,
                "barrier": 80.0,
                "maturity": 0.5,
                "rate": 0.03,
                "vol": 0.25,
            },
        ),
        case(
            "cluster",
            "energy",
            "value-and-grad",
            "positions",
            lambda: random_inputs(positions=(13, 3)),
        ),
        case(
            "robot_arm",
            "miss",
            "value-and-grad",
            "angles",
            lambda: random_inputs(angles=(4,), lengths=(4,), target=(3,)),
        ),
    ]


def random_inputs(**shapes: tuple[int, ...]) -> Inputs:
    random = np.random.default_rng(0)
    return {name: random.normal(size=shape) for name, shape in shapes.items()}


def mlp_inputs(n: int, d: int, h: int, k: int) -> Inputs:
    return {
        "params": random_inputs(w1=(d, h), b1=(h,), w2=(h, k), b2=(k,)),
        **random_inputs(x=(n, d), y=(n, k)),
    }
