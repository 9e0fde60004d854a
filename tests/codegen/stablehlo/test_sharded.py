"""Programs for several devices, in one process and in two: what one device computes."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.cli import main
from s2s.errors import UserError
from s2s_codegen.stablehlo.executable import DeviceArray
from tests.conftest import ROOT

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(64, 2))
Y = np.sin(X[:, :1])


@pytest.fixture(autouse=True)
def on_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of CPUs there are as many as one likes."""
    monkeypatch.setenv("S2S_PLATFORM", "cpu")


def losses(**where: Any) -> list[float]:
    """The losses of the steps of gradient descent of the example network."""
    random = np.random.default_rng(1)
    params: Any = {
        "w1": random.normal(size=(2, 8)),
        "b1": np.zeros(8),
        "w2": random.normal(size=(8, 1)),
        "b2": np.zeros(1),
    }
    step = s2s.jit(s2s.value_and_grad(s2s.load(f"{ROOT / 'examples/mlp.py'}:loss")), **where)
    found: list[float] = []
    for _ in range(40):
        loss, gradient = step(params, X, Y)
        params = {name: value - 0.1 * gradient[name] for name, value in params.items()}
        found.append(float(loss))
    return found


def close(found: list[float], expected: list[float]) -> bool:
    return bool(np.max(np.abs(np.subtract(found, expected))) < 1e-12)


@pytest.mark.parametrize(
    ("mesh", "in_shardings"),
    [
        ({"data": 4}, {"x": "data", "y": "data"}),
        ({"data": 4}, (None, "data", ("data", None))),
        ({"data": 2, "model": 2}, {"x": "data", "y": "data", "params.w1": (None, "model")}),
        ({"a": 2, "b": 4}, {"x": "b", "y": "a", "params.w2": "b", "params.b1": "a"}),
        ({"data": 1}, {"x": "data"}),
        ({"data": 3}, {}),
    ],
)
def test_trains_as_on_one_device(mesh: Any, in_shardings: Any) -> None:
    expected = losses()
    assert expected[-1] < 0.5 * expected[0]
    assert close(losses(mesh=mesh, in_shardings=in_shardings), expected)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def start(*command: str, cwd: Path = ROOT) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "codegen"), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_train_as_one_device() -> None:
    address = f"127.0.0.1:{free_port()}"
    program = str(Path(__file__).with_name("data_parallel.py"))
    processes = [start(program, address, str(rank), "2") for rank in range(2)]
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        (line,) = [line for line in output.splitlines() if line.startswith("losses ")]
        assert close(json.loads(line.removeprefix("losses ")), losses())


def test_results_stay_on_the_devices() -> None:
    """What comes out whole goes in again where it is wanted whole, and is divided where not."""
    where: Any = {"mesh": {"data": 4}, "device": True}
    scale = s2s.jit(lambda x, y: (x * 2.0, y + x), in_shardings=("data",), **where)
    x, y = np.arange(8.0), np.ones(8)
    first, second = scale(x, y)
    assert isinstance(first, DeviceArray)
    for a, b in [(first, second), (second, first), (x, first)]:
        doubled, total = scale(a, b)
        np.testing.assert_array_equal(np.asarray(doubled), 2.0 * np.asarray(a))
        np.testing.assert_array_equal(np.asarray(total), np.asarray(a) + np.asarray(b))
    alone = s2s.jit(lambda x: x + 1.0, device=True)
    np.testing.assert_array_equal(np.asarray(alone(first)), 2.0 * x + 1.0)
    np.testing.assert_array_equal(np.asarray(scale(alone(x), y)[0]), 2.0 * (x + 1.0))


def test_element_types_and_layouts() -> None:
    double = s2s.jit(lambda x: x + x, mesh={"rows": 2, "columns": 2}, in_shardings={"x": "columns"})
    base = np.arange(24)
    for dtype in ("?", "i1", "u2", "f2", "f4", ">f8"):
        for x in (base.reshape(6, 4), base.reshape(4, 6).T, base.reshape(6, 4)[::-1, ::2]):
            x = x.astype(dtype, order="K")
            x.flags.writeable = False
            np.testing.assert_array_equal(double(x), x + x)
    assert double(np.zeros((0, 3))).shape == (0, 3)


def test_sizes_that_do_not_divide() -> None:
    double = s2s.jit(lambda x: x + x, mesh={"data": 4}, in_shardings={"x": "data"})
    with pytest.raises(UserError, match="the size of axis 0 of `x` is 6, which cannot be divided"):
        double(np.ones(6))
    np.testing.assert_array_equal(double(np.ones(8)), np.full(8, 2.0))


# -- artifacts ------------------------------------------------------------------------------------

MODEL = """\
import numpy as np


def loss(w, x, y):
    return np.mean((np.tanh(x @ w["w"] + w["b"]) - y) ** 2)
"""
TYPES = ["--args", "w: {w: f64[d], b: float}, x: f64[n, d], y: f64[n]"]
MESH = ["--mesh", "data=4", "--shard", "x: data, y: data"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    random = np.random.default_rng(0)
    for n in (8, 7):
        arrays: Any = {
            "w.w": random.normal(size=3),
            "w.b": np.array(0.5),
            "x": random.normal(size=(n, 3)),
            "y": random.normal(size=n),
        }
        np.savez(tmp_path / f"inputs{n}.npz", **arrays)
    return tmp_path


@pytest.mark.parametrize("name", ["g.mlir", "g.mlirbc"])
@pytest.mark.parametrize("dims", [[], ["--dims", "n=8,d=3"]])
def test_artifact(
    name: str, dims: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grad", "model.py:loss", *TYPES, *MESH, *dims, "--stablehlo", name]) == 0
    assert main(["grad", "model.py:loss", *TYPES, "--stablehlo", "one.mlir"]) == 0
    capsys.readouterr()
    assert main(["show", name]) == 0
    shown = capsys.readouterr().out
    assert "devices           data=4\n" in shown
    assert "divided           x: data, y: data\n" in shown
    text = s2s.load_artifact(name).text
    assert 'sdy.mesh @mesh = <["data"=4]>' in text
    assert '{sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}' in text
    assert main(["run", name, "--inputs", "inputs8.npz", "-o", "several.npz"]) == 0
    assert main(["run", "one.mlir", "--inputs", "inputs8.npz", "-o", "one.npz"]) == 0
    several, one = np.load("several.npz"), np.load("one.npz")
    for key in ("result.w", "result.b"):
        np.testing.assert_allclose(several[key], one[key], rtol=1e-13)
    if not dims:
        assert main(["run", name, "--inputs", "inputs7.npz"]) == 1
        assert "the size of axis 0 of `x` is 7, which cannot be" in capsys.readouterr().err


def test_artifact_run_by_two_processes(folder: Path) -> None:
    assert main(["grad", "model.py:loss", *TYPES, *MESH, "--stablehlo", "g.mlirbc"]) == 0
    address = f"127.0.0.1:{free_port()}"
    run = ["-c", "import sys, s2s.cli; sys.exit(s2s.cli.main())", "run", "g.mlirbc"]
    run += ["--inputs", "inputs8.npz", "--coordinator", address, "--world", "2"]
    processes = [start(*run, "--rank", str(rank), cwd=folder) for rank in range(2)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0].startswith("result.w = [")
    assert [outputs[0][1], *outputs[1]] == ["", "", ""]


def test_artifact_edited(folder: Path) -> None:
    """What is said of the arguments must be what the program does: parts are put accordingly."""
    assert main(["grad", "model.py:loss", *TYPES, *MESH, "--stablehlo", "g.mlir"]) == 0
    text = Path("g.mlir").read_text()
    arrays = dict(np.load("inputs8.npz"))
    for old, new in [
        ('s2s.sharding = "x: data, y: data"', 's2s.sharding = "y: data"'),
        ('[{"data"}, {}]', "[{}, {}]"),
        ("-> (tensor<?xf64> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}", "-> (tensor<?xf64>"),
    ]:
        assert old in text
        Path("edited.mlir").write_text(text.replace(old, new, 1))
        edited = s2s.load_artifact("edited.mlir").compile()
        weights = {"w": arrays["w.w"], "b": arrays["w.b"].item()}
        try:
            found = edited(weights, arrays["x"], arrays["y"])
        except UserError as error:
            assert "is damaged or was edited" in str(error)
        else:
            expected = s2s.load_artifact("g.mlir").compile()(weights, arrays["x"], arrays["y"])
            np.testing.assert_allclose(found["w"], expected["w"], rtol=1e-13)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mesh", "data"], "'data' is no mesh of devices"),
        (["--mesh", "data=4", "--shard", "x: rows"], "`x` cannot be divided over rows"),
        (["--mesh", "data=4", "--shard", "z: data"], "there is no argument z to divide"),
        ([*MESH, "--dims", "n=6,d=3"], "`x` is 6, which cannot be divided evenly over the 4"),
    ],
)
def test_command_line_refuses(
    options: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grad", "model.py:loss", *TYPES, *options, "--stablehlo", "g.mlir"]) == 1
    assert message in capsys.readouterr().err
    assert not Path("g.mlir").exists()


# -- several processes, refused -------------------------------------------------------------------


def refused(program: str) -> str:
    """What a process says that is refused; it must end by itself."""
    program = f"import s2s\nfrom s2s.errors import UserError\ntry:\n    {program}\n"
    process = start("-c", program + "except UserError as error:\n    print(error)\n")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'127.0.0.1:{port}', 2, 1, 1.0", "no process listens at 127.0.0.1:{port} after 1 seconds"),
        (
            "'127.0.0.1:{port}', 2, 0, 1.0",
            "process 1 of 2 did not come to 127.0.0.1:{port} within",
        ),
        ("'127.0.0.1', 2, 0", "'127.0.0.1' is no address of the first process; write HOST:PORT"),
        ("'127.0.0.1:{port}', 2, 2", "process 2 of 2: processes are numbered from 0"),
    ],
)
def test_others_do_not_come(arguments: str, message: str) -> None:
    port = free_port()
    program = f"s2s.distributed.initialize({arguments.format(port=port)})"
    assert message.format(port=port) in refused(program)


@pytest.mark.parametrize(
    ("ranks", "worlds", "message"),
    [
        ((0, 1, 1), (3, 3, 3), "does not take this one: there is a process 1 already."),
        ((0, 1, 2), (3, 3, 4), "does not take this one: process 0 expects 3 processes, not 4."),
        ((0, 1), (3, 3), "does not take this one: process 2 of 3 did not come to 127.0.0.1:"),
    ],
)
def test_processes_that_do_not_fit(
    ranks: tuple[int, ...], worlds: tuple[int, ...], message: str
) -> None:
    address = f"127.0.0.1:{free_port()}"
    program = "import s2s; s2s.distributed.initialize({!r}, {}, {}, 4.0)"
    processes = [
        start("-c", program.format(address, world, rank))
        for rank, world in zip(ranks, worlds, strict=True)
    ]
    said = [process.communicate(timeout=60)[1] for process in processes]
    assert any(message in errors for errors in said), said
    assert "of 3 did not come to 127.0.0.1:" in said[0]


def test_port_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        said = refused(f"s2s.distributed.initialize({address!r}, 2, 0)")
    assert f"process 0 cannot listen at {address} (Address already in use" in said


def test_mesh_that_processes_cannot_share() -> None:
    address = f"127.0.0.1:{free_port()}"
    program = (
        "(s2s.distributed.initialize({!r}, 2, {}), "
        "s2s.jit(lambda x: x, mesh={{'data': 3}})(s2s.numpy_array))"
    )
    program = program.replace("s2s.numpy_array", "__import__('numpy').ones(3)")
    processes = [start("-c", f"import s2s\n{program.format(address, rank)}") for rank in range(2)]
    for process in processes:
        assert "has 3 devices, which 2 processes cannot share" in process.communicate()[1]


def test_artifact_for_one_device(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grad", "model.py:loss", *TYPES, "--stablehlo", "g.mlir"]) == 0
    run = ["run", "g.mlir", "--inputs", "inputs8.npz", "--coordinator", "127.0.0.1:1"]
    assert main([*run, "--world", "2"]) == 1
    assert "g.mlir is not for several devices; make it with --mesh" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--rank", "1"], ["--world", "2"]])
def test_one_of_several_processes_needs_a_coordinator(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["run", "g.mlir", *option])
    assert "are of several processes; give --coordinator" in capsys.readouterr().err
