"""What all tests share: the flags, the random searches' budgets, expected files, fixtures."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Protocol

# Before anything imports jax or a BLAS: the tests already use all cores, one process each.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import hypothesis
import pytest

from s2s.errors import UserError
from s2s_codegen.stablehlo import runtime
from tests import isolation

TESTS = Path(__file__).parent
ROOT = TESTS.parent
GOLDEN = TESTS / "golden"

# The short searches find the same on every run, so that a failure is always the change's own.
hypothesis.settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True)
hypothesis.settings.register_profile("long", max_examples=5000, deadline=None, print_blob=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write expected files anew")
    parser.addoption(
        "--platform", choices=["cpu", "cuda", "tpu"], help="the devices that run XLA's programs"
    )
    parser.addoption("--long", action="store_true", help="give random searches a large budget")


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("long" if config.getoption("--long") else "ci")
    platform: str | None = config.getoption("--platform")
    if platform is not None:
        os.environ["S2S_PLATFORM"] = platform


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        skip = pytest.mark.skip(reason="a long search, run with --long")
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(skip)
    platform: str | None = config.getoption("--platform")
    if platform is not None:
        try:
            runtime.runtime(platform)
        except UserError as error:
            for item in items:
                item.add_marker(pytest.mark.skip(reason=str(error)))


class ExpectedFiles:
    """The files under tests/golden, which hold what s2s is expected to write.

    With --update-golden they are written anew; what changed is then reviewed as a diff. A missing
    file is written too, except in continuous integration, where it fails.
    """

    def __init__(self, directory: Path, update: bool, may_create: bool) -> None:
        self.directory = directory
        self.update = update
        self.may_create = may_create

    def __call__(self, path: str, text: str) -> None:
        """Fails unless the file at this path, relative to tests/golden, has exactly this text."""
        file = self.directory / path
        if self.update or (self.may_create and not file.exists()):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        elif not file.exists():
            pytest.fail(f"{file} is missing; write it with: scripts/test --update-golden")
        else:
            expected = file.read_text(encoding="utf-8")
            assert text == expected, f"{path} differs; if it should, use --update-golden"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> ExpectedFiles:
    update: bool = request.config.getoption("--update-golden")
    return ExpectedFiles(GOLDEN, update, may_create=os.environ.get("CI") != "true")


@pytest.fixture
def isolated_run() -> isolation.IsolatedRun:
    """Runs a program on a generated module where nothing but NumPy can be imported."""
    return isolation.isolated_run


class CommandLine(Protocol):
    def __call__(self, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def command_line() -> CommandLine:
    """Runs `s2s` with these arguments as a user would, in a process of its own."""
    return run_command_line


def run_command_line(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    paths = [str(ROOT), str(ROOT / "codegen"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-c", "import sys, s2s.cli; sys.exit(s2s.cli.main())", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
