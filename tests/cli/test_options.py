"""What the command line accepts, and what it says where it does not."""

import pytest

from s2s.cli.options import parse


def test_defaults():
    options = parse(["grad", "model.py:loss"])
    assert (options.command, options.target, options.wrt) == ("grad", "model.py:loss", None)
    assert options.verify and not options.force and not options.check and not options.show_jaxpr
    assert options.static == [] and options.args == "" and options.output is None


def test_all_options():
    options = parse(
        "value-and-grad model.py:loss --wrt w,b --has-aux --args w:f64[n] --static a=1 "
        "--static b=2 -o out.py --name g --force --check --no-verify --debug --unroll "
        "--keep-prints".split()
    )
    assert (options.unroll, options.keep_prints) == (True, True)
    assert (options.wrt, options.has_aux, options.args) == ("w,b", True, "w:f64[n]")
    assert options.static == ["a=1", "b=2"]
    assert (options.output, options.name) == ("out.py", "g")
    assert (options.force, options.check, options.verify, options.debug) == (
        True,
        True,
        False,
        True,
    )


def test_static_values_do_not_leak_into_the_next_command():
    parse(["grad", "model.py:loss", "--static", "a=1"])
    assert parse(["grad", "model.py:loss"]).static == []


@pytest.mark.parametrize(
    ("words", "command", "target", "expression"),
    [
        (["jaxpr", "grad", "model.py:loss"], "grad", "model.py:loss", ""),
        (["jaxpr", "model.py:loss"], "trace", "model.py:loss", ""),
        (["jaxpr", "compile", "model.py", "grad(f)"], "compile", "model.py", "grad(f)"),
    ],
)
def test_jaxpr_goes_before_another_command(words, command, target, expression):
    options = parse(words)
    assert options.show_jaxpr
    assert (options.command, options.target, options.expression) == (command, target, expression)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["gradient", "model.py:loss"], "invalid choice: 'gradient'"),
        (["grad"], "the following arguments are required: FILE.py:FUNC"),
        (["compile", "model.py"], "the following arguments are required: EXPRESSION"),
        (["grad", "model.py:loss", "--in-axes", "0"], "unrecognized arguments: --in-axes 0"),
        (["vmap", "model.py:loss", "--wrt", "x"], "unrecognized arguments: --wrt x"),
        (["grad", "model.py:loss", "--che"], "unrecognized arguments: --che"),
        (["jaxpr"], "jaxpr wants another command after it, as in: s2s jaxpr grad model.py:loss"),
        (["grad", "model.py:loss", "--check"], "--check compares with a file, so give one with -o"),
        (
            ["grad", "model.py:loss", "--example", "f(1)", "--record", "t.py"],
            "give --example or --record, not both",
        ),
    ],
)
def test_usage_errors_exit_with_2(words, message, capsys):
    with pytest.raises(SystemExit) as end:
        parse(words)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--help"], ["grad", "-h"], ["jaxpr", "--help"]])
def test_help(words, capsys):
    with pytest.raises(SystemExit) as end:
        parse(words)
    assert end.value.code == 0
    assert "usage: s2s" in capsys.readouterr().out
