"""What a call of a generated module costs, beside hand-written NumPy, HIPS autograd and JAX.

    .environments/test-3.13/bin/python scripts/bench_run.py [--sizes small,medium] [--only rnn]

Contestants, each giving the same derivative on NumPy arrays:

    s2s        the module that s2s writes
    hand       the problem's `hand`, or the wanted module of a target model
    autograd   HIPS autograd
    jax        jax.jit, compiled before, with NumPy arrays in and out

For each it prints the time of the generated module over the contestant's: below 1, s2s is ahead.
Process CPU time on one core, all contestants taking turns in one process, the median of the
rounds' ratios. The problems and the target models are in shared/ beside the repository; the
examples are the repository's own. Then come the rows of scripts/bench_xla.py, for functions that
XLA compiles.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import math
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before a library is imported: one thread for each, and the kernels that it would choose itself.
os.environ.update(
    OMP_NUM_THREADS="1",
    OPENBLAS_NUM_THREADS="1",
    MKL_NUM_THREADS="1",
    XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    JAX_ENABLE_X64="1",
    JAX_PLATFORMS="cpu",
)
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("OPENBLAS_L2_SIZE", None)

import bench_xla
import numpy as np
from bench_cases import ROOT, Case, example_cases, load, model_cases, problem_cases
from bench_contestants import CONTESTANTS, Call, Unavailable, generate, jax_call, s2s_call

JAX_LIMIT_SECONDS = 60


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def agree(result: Any, reference: Any) -> bool:
    pairs = zip(leaves(result), leaves(reference), strict=True)
    return all(np.allclose(one, other, rtol=1e-6, atol=1e-9) for one, other in pairs)


def run_case(case: Case, module: Path, names: list[str]) -> dict[str, Any]:
    """Microseconds of the generated module, its ratio to each contestant, and notes."""
    inputs = case.inputs(load(case.file))
    notes: list[str] = []
    calls = {"s2s": s2s_call(case, inputs, module)}
    result = calls["s2s"]()
    for name in names:
        try:
            call = CONTESTANTS[name](case, inputs)
            same = agree(call(), result)
        except Unavailable as reason:
            notes.append(f"{name}: {reason}")
        except Exception as error:
            # Whatever another library fails with is no failure of this measurement.
            notes.append(f"{name} fails: {type(error).__name__}")
        else:
            calls[name] = call
            if not same:
                notes.append(f"{name} DISAGREES with s2s")

    times = interleaved(calls)
    own = times.pop("s2s")
    ratios = {
        name: statistics.median(a / b for a, b in zip(own, other, strict=True))
        for name, other in times.items()
    }
    return {"us": statistics.median(own) * 1e6, "ratios": ratios, "notes": notes}


def interleaved(calls: dict[str, Call]) -> dict[str, list[float]]:
    """Seconds a call in each round; a contestant's sample in a round lasts some milliseconds."""
    first = {name: sample(call, 1) for name, call in calls.items()}
    counts = {name: max(1, math.ceil(0.005 / seconds)) for name, seconds in first.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.disable()
    for _ in range(5 if max(first.values()) > 0.2 else 21):
        for name, call in calls.items():
            times[name].append(sample(call, counts[name]))
    gc.enable()
    return times


def sample(call: Call, count: int) -> float:
    start = time.process_time_ns()
    for _ in range(count):
        call()
    return max(time.process_time_ns() - start, 1) / count * 1e-9


def in_own_process(action: Callable[[], Any], limit: float | None = None) -> Any:
    """What the action returns in a process of its own, which is ended at the limit."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)

    def run() -> None:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        there.send(action())

    process = context.Process(target=run)
    process.start()
    there.close()
    if not here.poll(limit):
        process.kill()
        raise TimeoutError
    return here.recv()


def try_jax(case: Case) -> None:
    # If it fails, so it will when it is measured, and the row says with what.
    with contextlib.suppress(Exception):
        jax_call(case, case.inputs(load(case.file)))()


def measure(case: Case) -> dict[str, Any]:
    names = [name for name in CONTESTANTS if name != "hand" or case.hand is not None]
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        module = generate(case, Path(directory))
        try:
            in_own_process(lambda: try_jax(case), JAX_LIMIT_SECONDS)
        except TimeoutError:
            names.remove("jax")
            notes.append(f"jax does not compile in {JAX_LIMIT_SECONDS} s")
        result = in_own_process(lambda: run_case(case, module, names))
    return {**result, "notes": notes + result["notes"]}


def report(cases: list[Case]) -> None:
    print(f"{'':24}{'s2s':>12}   time of s2s over that of")
    print(f"{'':24}{'us a call':>12}" + "".join(f"{name:>10}" for name in CONTESTANTS))
    ratios: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    for case in cases:
        try:
            result = measure(case)
        except Unavailable as reason:
            print(f"{case.name:24}  {reason}", flush=True)
            continue
        except EOFError:
            print(f"{case.name:24}  FAILED, as said above", flush=True)
            continue
        row = f"{case.name:24}{result['us']:12.1f}"
        for name in CONTESTANTS:
            ratio = result["ratios"].get(name)
            row += f"{ratio:10.3f}" if ratio else f"{'-':>10}"
            if ratio:
                ratios[name].append(ratio)
        print("   ".join([row, *result["notes"]]), flush=True)
    means = [f"{statistics.geometric_mean(of):.3f}" if of else "-" for of in ratios.values()]
    print(f"{'geometric mean':36}" + "".join(f"{mean:>10}" for mean in means))
    behind = sum(ratio > 1 for ratio in ratios["autograd"])
    print(f"rows behind autograd: {behind} of {len(ratios['autograd'])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--sizes", default="small,medium,large", help="sizes of the problems")
    parser.add_argument("--only", default="", help="only the cases whose name holds this")
    parser.add_argument("--what", default="numpy,xla", help="NumPy modules, what XLA compiles")
    options = parser.parse_args()
    shared: Path = options.shared.resolve()
    if not shared.is_dir():
        print(f"{shared} is missing: the problems and the target models are left out.")
    sizes: list[str] = options.sizes.split(",")
    if "numpy" in options.what:
        cases = [*model_cases(shared), *example_cases(), *problem_cases(shared, sizes)]
        report([case for case in cases if options.only in case.name])
    if "xla" in options.what:
        bench_xla.report(shared, options.only, interleaved)


if __name__ == "__main__":
    main()
