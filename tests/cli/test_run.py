"""Commands from end to end: what is written, shown, verified, compared and refused."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import s2s
from s2s.cli import main
from s2s.frontend import load

MODEL = '''\
"""A user's file."""

from typing import Annotated

import numpy as np

print("loaded")


def loss(w, x, y):
    """Logistic loss of one example.

    >>> loss(np.zeros(3), np.ones(3), 1.0)
    """
    margin = (2.0 * y - 1.0) * (x @ w)
    return np.logaddexp(0.0, -margin)


def energy(
    x: Annotated[np.ndarray, "f64[n]"], stiffness: float = 2.0, power: int = 2
) -> float:
    return stiffness * np.sum(x**power)


def iterate(x: float) -> float:
    for k in range(6):
        x = x * x
        print(k, "th is", x)
    return x


def pair(x: float, y: float):
    return np.array([x * y, x + y])


def with_aux(x: float):
    return x * x, {"twice": 2.0 * x}
'''

TRAIN = """\
import sys
import numpy as np
from model import loss

for epoch in range(int(sys.argv[1])):
    loss(np.zeros((7)), np.zeros((7)), 0.0)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of the user's, as the current one, from which nothing has been loaded yet."""
    forget_model(monkeypatch)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "train.py").write_text(TRAIN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def forget_model(monkeypatch):
    """Each command is a process of its own; here they share one."""
    monkeypatch.setattr(load, "_loaded", {})
    monkeypatch.delitem(sys.modules, "model", raising=False)


def written(path):
    return runpy.run_path(str(path))


def test_a_module_is_written_verified_and_right(folder, capsys):
    assert main(["grad", "model.py:loss", "-o", "loss_grad.py"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "s2s: loss_grad verified at 2 random points, largest relative error " in err
    w, x = np.array([1.0, -2.0]), np.array([0.5, 0.25])
    found = written("loss_grad.py")["loss_grad"](w, x, 1.0)
    np.testing.assert_allclose(found, -x / (1.0 + np.exp(x @ w)), rtol=1e-12)


def test_without_o_the_module_goes_to_standard_output(folder):
    command = [sys.executable, "-c", "import sys; from s2s.cli import main; sys.exit(main())"]
    paths = [str(Path(s2s.__file__).parents[1])]
    paths.append(str(Path(paths[0]) / "codegen"))
    process = subprocess.run(
        [*command, "grad", "model.py:loss"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(paths)},
    )
    assert process.returncode == 0
    assert process.stdout.startswith('"""Gradient of `loss` in model.py with respect to `w`.\n')
    compile(process.stdout, "loss_grad.py", "exec")
    assert process.stderr.startswith("loaded\ns2s: loss_grad verified")


def test_what_the_users_code_prints_is_not_part_of_the_module(folder, capsys):
    (folder / "train.py").write_text("print('training')\n" + TRAIN)
    assert main(["grad", "model.py:loss", "--record", "train.py 1"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith('"""Gradient of `loss`')
    assert err.startswith("loaded\ntraining\ns2s: loss_grad verified")


def test_the_same_command_gives_the_same_bytes(folder):
    first, second = folder / "a.py", folder / "b.py"
    for path in (first, second):
        assert main(["grad", "model.py:loss", "-o", "out.py"]) == 0
        (folder / "out.py").rename(path)
    assert first.read_bytes() == second.read_bytes()


def test_the_command_in_the_module_makes_it_again(folder):
    assert main(["grad", "model.py:energy", "--static", "power=3", "-o", "out.py"]) == 0
    text = (folder / "out.py").read_text()
    assert "    s2s grad model.py:energy --static power=3 -o out.py\n" in text


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["trace", "model.py:loss"], "loss"),
        (["grad", "model.py:loss", "--wrt", "w,x"], "loss_grad"),
        (["value-and-grad", "model.py:loss"], "loss_value_and_grad"),
        (["jvp", "model.py:loss", "--wrt", "w,x"], "loss_jvp"),
        (["vjp", "model.py:pair", "--wrt", "x,y"], "pair_vjp"),
        (["vmap", "model.py:loss"], "loss_vmap"),
        (["vmap", "model.py:loss", "--in-axes", "None, 0, 0"], "loss_vmap"),
        (["jacfwd", "model.py:pair", "--wrt", "x,y"], "pair_jacfwd"),
        (["jacrev", "model.py:pair", "--wrt", "y"], "pair_jacrev"),
        (["hessian", "model.py:energy"], "energy_hessian"),
        (["value-and-grad", "model.py:with_aux", "--has-aux"], "with_aux_value_and_grad"),
        (["jvp", "model.py:with_aux", "--has-aux"], "with_aux_jvp"),
        (["vjp", "model.py:with_aux", "--has-aux"], "with_aux_vjp"),
        (["compile", "model.py", "vmap(grad(loss), in_axes=(None, 0, 0))"], "loss_grad_vmap"),
        (["compile", "model.py", "hessian(energy, argnums='stiffness')"], "energy_hessian"),
        (["grad", "model.py:loss", "--record", "train.py 2"], "loss_grad"),
        (["grad", "model.py:loss", "--example", "(np.ones(2), np.ones(2), 0.5)"], "loss_grad"),
        (["grad", "model.py:loss", "--name", "slope"], "slope"),
    ],
)
def test_every_command_is_verified(folder, capsys, words, name):
    assert main([*words, "-o", "out.py"]) == 0
    assert f"s2s: {name} verified at 2 random points" in capsys.readouterr().err
    assert name in written("out.py")


def test_sizes_are_general_whatever_the_example_was(folder):
    for option in (["--record", "train.py 2"], ["--example", "(np.ones(2), np.ones(2), 0.5)"], []):
        assert main(["grad", "model.py:loss", *option, "-o", "out.py", "--force"]) == 0
        text = (folder / "out.py").read_text()
        assert "w: float64[n]" in text and "x: float64[n]" in text


def test_sizes_that_are_kept_are_named(folder, capsys):
    (folder / "model.py").write_text(
        "import numpy as np\n\n"
        "def chain(angles, x):\n"
        "    a, b, c = angles\n"
        "    return np.sum(x) * a * b * c\n"
    )
    command = ["grad", "model.py:chain", "--example", "(np.ones(3), np.ones(2))"]
    assert main([*command, "-o", "out.py"]) == 0
    assert (
        "s2s: sizes of the example are kept, as they are needed: angles: f64[3]\n"
    ) in capsys.readouterr().err
    assert "x: float64[n]" in (folder / "out.py").read_text()


def test_jaxpr(folder, capsys):
    assert main(["jaxpr", "grad", "model.py:energy", "-o", "ignored.py"]) == 0
    assert "{ lambda ; a:f64[n] b:f64[]. let" in capsys.readouterr().out
    assert not (folder / "ignored.py").exists()


def test_check(folder, capsys, monkeypatch):
    command = ["grad", "model.py:loss", "-o", "out.py"]
    assert main([*command, "--check"]) == 1
    assert "+def loss_grad(" in capsys.readouterr().out
    assert not (folder / "out.py").exists()
    assert main(command) == 0
    capsys.readouterr()
    assert main([*command, "--check"]) == 0
    assert capsys.readouterr().out == ""
    forget_model(monkeypatch)
    source = folder / "model.py"
    source.write_text(source.read_text().replace("margin = (2.0", "margin = (3.0"))
    assert main([*command, "--check"]) == 1
    out = capsys.readouterr().out
    assert "--- out.py\n+++ out.py (as it would be written)\n" in out
    assert "\n-    # model.py:15: margin = (2.0 * y - 1.0) * (x @ w)\n" in out


def test_an_edited_file_is_kept_unless_forced(folder, capsys):
    command = ["grad", "model.py:loss", "-o", "out.py"]
    assert main(command) == 0
    edited = (folder / "out.py").read_text().replace("return", "return 2.0 *")
    (folder / "out.py").write_text(edited)
    assert main(command) == 1
    assert "out.py was edited since s2s wrote it, so it is kept." in capsys.readouterr().err
    assert (folder / "out.py").read_text() == edited
    assert main([*command, "--force"]) == 0
    assert (folder / "out.py").read_text() != edited
    assert main(["grad", "model.py:loss", "-o", "model.py"]) == 1
    assert (folder / "model.py").read_text() == MODEL


def test_a_failed_verification_writes_nothing(folder, capsys, monkeypatch):
    from s2s.verify import laws

    right = laws.caller
    monkeypatch.setattr(laws, "caller", lambda fun: lambda args: 1.001 * right(fun)(args))
    command = ["grad", "model.py:loss", "-o", "out.py"]
    assert main(command) == 1
    err = capsys.readouterr().err
    assert "s2s: Verification failed: the derivative along a direction of w is " in err
    assert not (folder / "out.py").exists()
    assert main([*command, "--no-verify"]) == 0
    assert "verified" not in capsys.readouterr().err


def test_a_function_that_is_nowhere_defined_is_written_with_a_note(folder, capsys):
    (folder / "model.py").write_text(
        "import numpy as np\n\ndef f(x: float):\n    return np.log(x) + np.log(-x)\n"
    )
    assert main(["grad", "model.py:f", "-o", "out.py"]) == 0
    assert (
        "s2s: f_grad is not verified: at all random arguments that were tried, your function "
        "is not finite.\n"
    ) in capsys.readouterr().err


def test_debug_raises(folder):
    from s2s.errors import UserError

    with pytest.raises(UserError):
        main(["grad", "model.py:loss", "--wrt", "z", "--debug"])


def test_a_fault_of_s2s_is_said_to_be_one(folder, capsys, monkeypatch):
    from s2s.cli import run

    def fail(*_, **__):
        raise AssertionError("lost a variable")

    monkeypatch.setattr(run, "generate", fail)
    assert main(["grad", "model.py:loss"]) == 1
    assert capsys.readouterr().err.endswith(
        "s2s: AssertionError: lost a variable. This is a fault of s2s, not of your code; please "
        "report it. --debug shows where it happened.\n"
    )


def test_a_name_that_is_none(folder, capsys):
    assert main(["grad", "model.py:loss", "--name", "my grad"]) == 1
    assert "s2s: --name my grad: that is no name for a function.\n" in capsys.readouterr().err


def test_prints_are_kept_and_loops_written_out_where_that_is_asked_for(folder, capsys):
    assert main(["grad", "model.py:iterate", "--keep-prints"]) == 0
    text = capsys.readouterr().out
    assert 'print(k, "th is", x)' in text and "for k in range(6):" in text
    assert main(["grad", "model.py:iterate", "--keep-prints", "--unroll"]) == 0
    text = capsys.readouterr().out
    assert 'print(0, "th is", x_1)' in text and "for" not in text.rpartition('"""')[2]
    with pytest.warns(UserWarning, match="--keep-prints keeps it"):
        assert main(["grad", "model.py:iterate"]) == 0
    assert "th is" not in capsys.readouterr().out
