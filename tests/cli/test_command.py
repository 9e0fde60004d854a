"""The command that a generated module gives for making it again."""

import pytest

from s2s.cli.command import command_words, portable_path
from s2s.cli.options import parse


@pytest.mark.parametrize(
    "words",
    [
        ["grad", "mlp.py:loss"],
        ["grad", "models/mlp.py:loss", "--wrt", "w,b", "--has-aux", "-o", "out/mlp_grad.py"],
        ["vmap", "mlp.py:loss", "--in-axes", "None, 0", "--args", "x: f64[n]"],
        ["vmap", "mlp.py:loss", "--in-axes=-1,"],
        ["grad", "mlp.py:loss", "--static", "a=1", "--static", "b='x y'", "--name", "slope"],
        ["compile", "mlp.py", "vmap(grad(loss))", "--record", "train.py --epochs 1"],
        ["trace", "mlp.py:loss", "--example", "loss(1.0, 2.0)"],
        ["grad", "mlp.py:loss", "--unroll", "--keep-prints", "-o", "mlp_grad.py"],
    ],
)
def test_the_command_makes_the_module_again(words):
    options = parse(words)
    again = command_words(options)
    assert again[0] == "s2s"
    assert vars(parse(again[1:])) == vars(options)


def test_options_that_do_not_change_the_module_are_left_out():
    plain = command_words(parse(["grad", "mlp.py:loss", "-o", "g.py"]))
    noisy = ["grad", "mlp.py:loss", "-o", "g.py", "--force", "--check", "--no-verify", "--debug"]
    assert command_words(parse(noisy)) == plain
    assert command_words(parse(["jaxpr", "grad", "mlp.py:loss", "-o", "g.py"])) == plain


def test_paths_are_relative_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert portable_path(str(tmp_path / "models" / "mlp.py")) == "models/mlp.py"
    assert portable_path("./models/../mlp.py") == "mlp.py"
    assert portable_path(str(tmp_path.parent / "mlp.py")) == str(tmp_path.parent / "mlp.py")
