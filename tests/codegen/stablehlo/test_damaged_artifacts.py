"""Damaged files: whatever is in them, this process lives on and says so.

MLIR's reader of bytecode does crash on some of these files, which is why it runs elsewhere.
"""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from s2s_codegen.stablehlo.modules import read_module
from tests.conftest import ROOT


def loss(w: Any, x: Any) -> Any:
    return np.mean(np.tanh(x @ w) ** 2)


@pytest.fixture(scope="module", params=["mlir", "mlirbc"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damaged") / f"a.{request.param}"
    s2s.stablehlo(s2s.grad(loss), np.ones(3), np.ones((4, 3))).save(path)
    return path


def damaged(data: bytes, seed: int) -> bytes:
    """The bytes with some flipped, or cut off."""
    chance = random.Random(seed)
    if chance.random() < 0.25:
        return data[: chance.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 4, 8])):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def load_and_compile(path: Path) -> str:
    """Load a file in the way that users do; "fine" or what is said about it."""
    try:
        s2s.load_artifact(path).compile()
    except UserError as error:
        return str(error)
    return "fine"


def test_damaged_files(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    said = set[str]()
    for seed in range(12):
        path = tmp_path / file.name
        path.write_bytes(damaged(data, seed))
        said.add(load_and_compile(path))
    assert any("is damaged, or is no StableHLO" in message for message in said)


MANY = """
import sys
sys.path[:0] = [ROOT, CODEGEN]
from tests.codegen.stablehlo.test_damaged_artifacts import damaged
from s2s_codegen.stablehlo import modules, runtime, signature, xla
from s2s.errors import UserError
data = open(FILE, "rb").read()
for seed in range(int(sys.argv[1]), int(sys.argv[2])):
    print(seed, "read", flush=True)
    program = damaged(data, seed)
    try:
        contents = modules.read_module(
            program if program.startswith(b"ML\\xefR") else program.decode()
        )
        signature.signature_from("f", contents.attributes)
    except (ValueError, UserError):
        continue
    print(seed, "compile", flush=True)
    try:
        runtime.runtime().compile(contents.text)
    except xla.error_type():
        pass
"""


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_thousands_of_damaged_files(file: Path) -> None:
    """Where reading succeeds, which is the part that runs apart, compiling does not crash."""
    program = MANY.replace("ROOT", repr(str(ROOT)))
    program = program.replace("CODEGEN", repr(str(ROOT / "codegen")))
    program = program.replace("FILE", repr(str(file)))
    start, stop = 0, 2000
    while start < stop:
        end = min(start + 100, stop)
        how, said = run_many(program, start, end)
        if how == 0:
            start = end
            continue
        seed, stage = said.split("\n")[-2].split()
        # It crashed, or did not come to an end.
        assert (how is None or how < 0) and stage == "read", f"seed {seed}: {how}"
        start = int(seed) + 1


def run_many(program: str, start: int, end: int) -> tuple[int | None, str]:
    """How the program ended, None if it had to be ended, and what it said until then."""
    command = [sys.executable, "-c", program, str(start), str(end)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=200)
    except subprocess.TimeoutExpired as ended:
        return None, (ended.stdout or b"").decode()
    return done.returncode, done.stdout.decode()


def test_operations_of_other_dialects_are_refused() -> None:
    """Compiling them may end the process: a portable artifact whose name of its producer was
    damaged is read as a module of the operations that it is kept in."""
    text = "module { func.func @main() { %0 = arith.constant 1 : i32 return } }"
    with pytest.raises(ValueError):
        read_module(text)
    data = s2s.stablehlo(s2s.grad(loss), np.ones(3), np.ones((4, 3))).to_bytes()
    with pytest.raises(ValueError, match=r"vhlo\.\w+ is no operation of StableHLO"):
        read_module(data.replace(b"StableHLO_v", b"StableHLP_v"))


def test_attributes_that_are_no_text_are_refused() -> None:
    artifact = s2s.stablehlo(s2s.grad(loss), np.ones(3), np.ones((4, 3)))
    version = artifact.signature.version.encode()
    data = artifact.to_bytes()
    assert data.count(version + b"\0") == 1
    with pytest.raises(ValueError, match="conversion error"):
        read_module(data.replace(version + b"\0", b"\xff" * len(version) + b"\0"))
