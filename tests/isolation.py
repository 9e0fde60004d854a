"""Running a generated module where it can import little else."""

import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

# Runs where only the standard library and the packages named can be imported. The finder stands
# before all others, so also what the packages themselves import is refused.
ISOLATED = """
import pickle, sys

packages, path, program, inputs = pickle.load(sys.stdin.buffer)

class OnlyThese:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        # What sysconfig reads is part of the standard library, under a name of the platform's.
        standard = top in sys.stdlib_module_names or top.startswith("_sysconfigdata")
        if not standard and top not in packages:
            raise ImportError(f"{name} may not be imported here")

sys.meta_path.insert(0, OnlyThese())

import importlib.util
spec = importlib.util.spec_from_file_location("module", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

names = {"module": module, **pickle.loads(inputs)}
exec(compile(program, "<program>", "exec"), names)
sys.stdout.flush()
sys.__stdout__.buffer.write(b"\\0" + pickle.dumps(names.get("result")))
"""


class IsolatedRun(Protocol):
    def __call__(
        self,
        path: Path,
        program: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        packages: Sequence[str] = ("numpy",),
    ) -> Any: ...


def isolated_run(
    path: Path,
    program: str,
    inputs: Mapping[str, Any] | None = None,
    *,
    packages: Sequence[str] = ("numpy",),
) -> Any:
    """Runs a program on a generated module, in a process that can import little else.

    The program finds the module at `path` under the name `module`, and each of `inputs` under its
    own; what it assigns to `result` is returned. Nothing but the standard library and `packages`
    can be imported there, by anyone. Using what Python or NumPy deprecates is an error.
    """
    request = pickle.dumps((set(packages), str(path), program, pickle.dumps(dict(inputs or {}))))
    strict = ["-W", "error::DeprecationWarning", "-W", "error::SyntaxWarning"]
    command = [sys.executable, "-I", *strict, "-c", ISOLATED]
    process = subprocess.run(command, input=request, capture_output=True)
    output, _, result = process.stdout.partition(b"\0")
    if process.returncode:
        pytest.fail(f"{path.name} failed by itself:\n{process.stderr.decode()}{output.decode()}")
    return pickle.loads(result)
