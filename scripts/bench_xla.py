"""What functions compiled by XLA cost, beside JAX: `s2s.jit(s2s.grad(f))` and JAX's own.

Called by scripts/bench_run.py. Each row is the time of s2s over JAX's; below 1, s2s is ahead.

    call        a call, NumPy arrays in and out; loops are Python loops for s2s, and for JAX
                lax.scan as an expert writes it
    lower       from a function that is seen for the first time to StableHLO
    start       from the start of a process to the first result: of s2s where the executable is in
                its cache (warm) or not (cold), of JAX without a cache
"""

from __future__ import annotations

import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from bench_cases import ROOT, load, mlp_inputs

import s2s

PROGRAMS = Path(__file__).with_name("bench_programs.py")

Call = Callable[[], Any]


def report(shared: Path, only: str, interleaved: Callable[[dict[str, Call]], Any]) -> None:
    try:
        import jax
    except ImportError:
        print("JAX is not installed: what XLA compiles is not compared.")
        return
    print(f"\n{'compiled by XLA':24}{'us a call':>12}{'over jax':>10}{'least':>10}")
    for name, make in calls(jax, shared).items():
        if only not in name:
            continue
        try:
            found, expected = make()
            check(found(), expected())
        except Exception as error:  # whatever fails is one row
            print(f"{name:24}  {type(error).__name__}: {str(error)[:70]}", flush=True)
            continue
        times = interleaved({"s2s": found, "jax": expected})
        ratios = [a / b for a, b in zip(times["s2s"], times["jax"], strict=True)]
        own, least = statistics.median(times["s2s"]), min(times["s2s"]) / min(times["jax"])
        print(
            f"{name:24}{own * 1e6:12.1f}{statistics.median(ratios):10.3f}{least:10.3f}", flush=True
        )
    for name in ("mlp", "transformer_block"):
        if only in f"lower {name}":
            ratio, seconds = lowering(jax, name)
            print(f"{'lower ' + name:24}{seconds * 1e6:12.1f}{ratio:10.3f}", flush=True)
    if only in "start":
        starts()


def check(found: Any, expected: Any) -> None:
    if hasattr(expected, "keys"):
        for key in expected:
            check(found[key], expected[key])
    elif hasattr(expected, "__len__") and not hasattr(expected, "shape"):
        for one, other in zip(found, expected, strict=True):
            check(one, other)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


# -- calls ----------------------------------------------------------------------------------------


def calls(jax: Any, shared: Path) -> dict[str, Callable[[], tuple[Call, Call]]]:
    vector = np.linspace(0.0, 1.0, 1024)
    mlp = list(mlp_inputs(256, 2, 8, 1).values())
    rows: dict[str, Callable[[], tuple[Call, Call]]] = {
        "call number": lambda: program(jax, "number", [np.float64(0.5)]),
        "call vector 8": lambda: program(jax, "vector", [vector[:8].copy()]),
        "call vector 1024": lambda: program(jax, "vector", [vector]),
        "call mlp": lambda: program(jax, "mlp", mlp),
        "call transformer_block": lambda: program(jax, "transformer_block", block_inputs()),
    }
    for name in ("rnn", "burgers", "kalman"):
        file = shared / "bench" / "problems" / f"{name}.py"
        for size in ("small", "medium"):
            if file.exists():
                rows[f"call {name} {size}"] = lambda f=file, s=size: problem(jax, f, s)
    return rows


def program(jax: Any, name: str, inputs: list[Any]) -> tuple[Call, Call]:
    of_jax = load(PROGRAMS)
    vars(of_jax)["np"] = jax.numpy
    ours = s2s.jit(s2s.grad(getattr(load(PROGRAMS), name)))
    theirs = jax.jit(jax.grad(getattr(of_jax, name)))
    return (lambda: ours(*inputs)), (lambda: jax.tree.map(np.asarray, theirs(*inputs)))


def problem(jax: Any, file: Path, size: str) -> tuple[Call, Call]:
    module = load(file)
    inputs = module.make_inputs(size)
    wrt: tuple[int, ...] = module.ARGNUMS
    fixed = tuple(number for number, value in enumerate(inputs) if isinstance(value, int))
    ours = s2s.jit(s2s.value_and_grad(module.f, wrt), static_argnums=fixed)
    expert = EXPERTS[file.stem](jax)
    theirs = jax.jit(jax.value_and_grad(expert, wrt), static_argnums=fixed)
    return (lambda: ours(*inputs)), (lambda: jax.tree.map(np.asarray, theirs(*inputs)))


def block_inputs() -> list[Any]:
    random = np.random.default_rng(0)
    width, length = 64, 32
    shapes = dict.fromkeys(("query", "key", "value", "out"), (width, width))
    shapes |= {"up": (width, 4 * width), "down": (4 * width, width)}
    params = {name: random.normal(size=shape) / 8.0 for name, shape in shapes.items()}
    params["mask"] = np.triu(np.full((length, length), -1e9), 1)
    return [params, random.normal(size=(length, width)), random.normal(size=(length, width))]


# The problems as one who knows JAX writes them.


def rnn(jax: Any) -> Callable[..., Any]:
    jnp = jax.numpy

    def f(wx: Any, wh: Any, b: Any, wo: Any, xs: Any, ys: Any) -> Any:
        def step(h: Any, inputs: Any) -> tuple[Any, Any]:
            projected, y = inputs
            h = jnp.tanh(projected + h @ wh + b)
            e = h @ wo - y
            return h, jnp.sum(e * e)

        _, losses = jax.lax.scan(step, jnp.zeros((xs.shape[1], wh.shape[0])), (xs @ wx, ys))
        return jnp.sum(losses) / (xs.shape[0] * xs.shape[1])

    return f


def burgers(jax: Any) -> Callable[..., Any]:
    jnp = jax.numpy

    def f(u0: Any, target: Any, steps: int) -> Any:
        def step(u: Any, _: None) -> tuple[Any, None]:
            left = jnp.concatenate([u[-1:], u[:-1]])
            right = jnp.concatenate([u[1:], u[:1]])
            return u - 0.05 * u * (right - left) + 0.1 * (right - 2.0 * u + left), None

        u, _ = jax.lax.scan(step, u0, None, length=steps)
        return 0.5 * jnp.sum((u - target) ** 2)

    return f


def kalman(jax: Any) -> Callable[..., Any]:
    jnp = jax.numpy

    def f(a: Any, log_q: Any, log_r: Any, h: Any, ys: Any, eye_n: Any, eye_m: Any) -> Any:
        q, r = jnp.exp(log_q) * eye_n, jnp.exp(log_r) * eye_m

        def step(carry: Any, y: Any) -> tuple[Any, Any]:
            x, p = carry
            x, p = a @ x, a @ p @ a.T + q
            ph = p @ h.T
            s = h @ ph + r
            e = y - h @ x
            inverse = jnp.linalg.inv(s)
            w = inverse @ e
            nll = 0.5 * (jnp.linalg.slogdet(s)[1] + jnp.sum(e * w))
            return (x + ph @ w, p - ph @ (inverse @ (h @ p))), nll

        _, parts = jax.lax.scan(step, (jnp.zeros(a.shape[0]), eye_n), ys)
        return jnp.sum(parts)

    return f


EXPERTS = {"rnn": rnn, "burgers": burgers, "kalman": kalman}


# -- lowering -------------------------------------------------------------------------------------


def lowering(jax: Any, name: str) -> tuple[float, float]:
    """The time of s2s over JAX's, and its seconds, for files that are new each time."""
    inputs = block_inputs() if name == "transformer_block" else [*mlp_inputs(256, 2, 8, 1).values()]
    own: list[float] = []
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        for number in range(11):
            file = Path(directory) / f"programs_{number}.py"
            file.write_text(PROGRAMS.read_text())
            ours, theirs = load(file), load(file)
            vars(theirs)["np"] = jax.numpy
            f, g = getattr(ours, name), getattr(theirs, name)
            gc.collect()
            one = seconds(lambda f=f: s2s.stablehlo(s2s.grad(f), *inputs).text)
            other = seconds(lambda g=g: jax.jit(jax.grad(g)).lower(*inputs))
            own.append(one)
            ratios.append(one / other)
    # The first round imports what both need.
    return statistics.median(ratios[1:]), statistics.median(own[1:])


def seconds(call: Call) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


# -- starts ---------------------------------------------------------------------------------------

START = """\
import numpy as np
{imports}
x = np.linspace(0.0, 1.0, 8)
random = np.random.default_rng(0)
params = {{"w1": random.normal(size=(2, 8)), "b1": np.zeros(8),
          "w2": random.normal(size=(8, 1)), "b2": np.zeros(1)}}
{call}
"""
OURS = "import sys; sys.path.insert(0, {folder!r}); import bench_programs as programs; import s2s"
THEIRS = (
    "import sys; sys.path.insert(0, {folder!r}); import bench_programs as programs; import jax; "
    "programs.np = jax.numpy"
)
MLP = "({transform})(programs.mlp)(params, np.ones((256, 2)), np.ones((256, 1)))"
BLOCK = """\
shapes = {{name: (64, 64) for name in ("query", "key", "value", "out")}}
shapes |= {{"up": (64, 256), "down": (256, 64)}}
block = {{name: random.normal(size=shape) / 8.0 for name, shape in shapes.items()}}
block["mask"] = np.triu(np.full((32, 32), -1e9), 1)
({transform})(programs.transformer_block)(block, np.ones((32, 64)), np.ones((32, 64)))"""


def starts() -> None:
    """The CPU time of whole processes, in turns."""
    folder = str(PROGRAMS.parent)
    ours, theirs = OURS.format(folder=folder), THEIRS.format(folder=folder)
    by_s2s = "lambda f: s2s.jit(s2s.grad(f))"
    by_jax = "lambda f: lambda *args: jax.tree.map(np.asarray, jax.jit(jax.grad(f))(*args))"
    programs = SimpleNamespace(
        warm=START.format(imports=ours, call=MLP.format(transform=by_s2s)),
        warm_block=START.format(imports=ours, call=BLOCK.format(transform=by_s2s)),
        cold=START.format(imports=ours, call="s2s.jit(programs.vector)(x)"),
        jax_mlp=START.format(imports=theirs, call=MLP.format(transform=by_jax)),
        jax_block=START.format(imports=theirs, call=BLOCK.format(transform=by_jax)),
        jax_vector=START.format(imports=theirs, call="np.asarray(jax.jit(programs.vector)(x))"),
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "S2S_CACHE_DIR": cache}
        # Byte code is written by the first run, wherever it may not be beside the sources.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = f"{cache}/byte-code"
        for program in vars(programs).values():
            process_seconds(program, environment)
        times: dict[str, list[float]] = {name: [] for name in vars(programs)}
        for _ in range(5):
            for name, program in vars(programs).items():
                where = environment if name != "cold" else {**environment, "S2S_CACHE": "0"}
                times[name].append(process_seconds(program, where))
    for row, one, other in [
        ("start warm, mlp", "warm", "jax_mlp"),
        ("start warm, block", "warm_block", "jax_block"),
        ("start cold, vector 8", "cold", "jax_vector"),
    ]:
        ratios = [a / b for a, b in zip(times[one], times[other], strict=True)]
        own = statistics.median(times[one])
        print(f"{row:24}{own * 1e6:12.0f}{statistics.median(ratios):10.3f}", flush=True)


def process_seconds(program: str, environment: dict[str, str]) -> float:
    """The CPU time of a process that runs a program."""
    paths = [str(ROOT), str(ROOT / "codegen")]
    environment = {**environment, "PYTHONPATH": os.pathsep.join(paths)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-P", "-c", program], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
