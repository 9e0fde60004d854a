"""Arguments taken from a user's own call: `--example`, a doctest, a recorded script."""

import importlib.util
import sys
import threading

import numpy as np
import pytest

from s2s.errors import UserError
from s2s.frontend.argument_types.examples import from_doctest, from_expression, from_recording

MODEL = '''\
import functools
import numpy as np

start = np.zeros(4)

def decorated(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)
    return wrapper

def loss(w, x, steps=3, *rest, flag=True, **options):
    """Loss.

    >>> import numpy as np
    >>> from model import loss
    >>> w = np.ones(3)
    >>> for _ in range(2):
    ...     w = w * 2
    >>> round(loss(w, np.zeros((2, 3))), 3)
    0.0
    >>> loss(1, 2)
    """
    return np.sum(x @ w)

def broken(x):
    """
    >>> x = undefined + 1
    >>> broken(x)
    """

def undocumented(x):
    """
    >>> 1 + 1
    2
    """

@decorated
def wrapped(w, x):
    return w * x
'''


@pytest.fixture
def model(tmp_path, monkeypatch):
    """The user's module, and its folder as the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    spec = importlib.util.spec_from_file_location("loaded_model", tmp_path / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("model", None)


def script(tmp_path, text):
    (tmp_path / "train.py").write_text(text)


# -- --example ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(start, 2.0)", {"w": "(4,)", "x": 2.0}),
        ("loss(start, x=2.0)", {"w": "(4,)", "x": 2.0, "steps": 3, "rest": (), "flag": True}),
        ("w = np.ones(2); (w, 1, 2, 3)", {"w": "(2,)", "x": 1, "steps": 2, "rest": (3,)}),
        ("float(loss(start, 2.0, flag=False))", {"w": "(4,)", "x": 2.0, "flag": False}),
    ],
)
def test_an_expression_is_a_call_or_a_tuple(model, text, expected):
    found = from_expression(model.loss, text)
    shown = {k: str(v.shape) if isinstance(v, np.ndarray) else v for k, v in found.items()}
    assert {name: shown[name] for name in expected} == expected


def test_any_other_value_is_the_only_argument(model):
    assert from_expression(model.undocumented, "[1.0, 2.0]") == {"x": [1.0, 2.0]}


def test_the_function_itself_is_not_run(model):
    called = []
    model.start = property(called.append)

    def function(x):
        called.append(x)

    assert from_expression(function, "(3.0,)") == {"x": 3.0}
    function.__globals__["function_under_test"] = function
    try:
        assert from_expression(function, "function_under_test(4.0)") == {"x": 4.0}
    finally:
        del function.__globals__["function_under_test"]
    assert called == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo", "--example 'foo' raises NameError: name 'foo' is not defined."),
        ("1/0", "--example '1/0' raises ZeroDivisionError: division by zero."),
        ("x = 3", "--example 'x = 3' must end in an expression: a tuple of arguments, or a call."),
        (
            "(",
            "--example '(' is not a Python expression: '(' was never closed (<unknown>, line 1).",
        ),
        (
            "3.0",
            "--example '3.0' does not fit loss: missing a required argument: 'x'.",
        ),
        (
            "loss()",
            "--example 'loss()' raises TypeError: loss() missing 2 required positional "
            "arguments: 'w' and 'x'.",
        ),
        ("", "--example '' must end in an expression: a tuple of arguments, or a call."),
    ],
)
def test_an_expression_that_cannot_be_used(model, text, message):
    with pytest.raises(UserError) as caught:
        from_expression(model.loss, text)
    assert str(caught.value) == message


# -- doctest --------------------------------------------------------------------------------------


def test_a_doctest_is_run_up_to_the_first_call(model):
    found = from_doctest(model.loss)
    assert found is not None
    np.testing.assert_array_equal(found["w"], [4.0, 4.0, 4.0])
    assert found["x"].shape == (2, 3)
    assert found["steps"] == 3


def test_a_docstring_without_a_call_gives_nothing(model):
    assert from_doctest(model.undocumented) is None
    assert from_doctest(model.wrapped) is None


def test_a_doctest_that_raises(model):
    with pytest.raises(UserError) as caught:
        from_doctest(model.broken)
    assert str(caught.value) == (
        "The example in the docstring of broken raises NameError: name 'undefined' is not defined."
    )


# -- --record -------------------------------------------------------------------------------------

TRAIN = """\
import sys
import numpy as np
from model import loss as the_loss, wrapped

def train(epochs):
    for epoch in range(epochs):
        try:
            the_loss(np.ones((epochs, 2)), np.ones(epochs), 7, 8, flag=False, extra=np.ones(3))
            wrapped(1.0, 2.0)
        except Exception:
            pass
    print("trained", flush=True)

if __name__ == "__main__":
    train(int(sys.argv[2]))
"""


def test_a_script_is_run_up_to_the_first_call(model, tmp_path, capsys):
    script(tmp_path, TRAIN)
    argv, path = list(sys.argv), list(sys.path)
    found = from_recording(model.loss, "train.py --epochs 5")
    assert found["w"].shape == (5, 2)
    assert (found["steps"], found["rest"], found["flag"]) == (7, (8,), False)
    assert found["options"]["extra"].shape == (3,)
    assert "trained" not in capsys.readouterr().out
    assert (sys.argv, sys.path, sys.getprofile()) == (argv, path, None)


def test_a_decorated_function_is_recorded_inside_of_its_wrapper(model, tmp_path):
    script(tmp_path, TRAIN)
    assert from_recording(model.wrapped, "train.py --epochs 1") == {"w": 1.0, "x": 2.0}


def test_a_call_in_a_thread_is_recorded(model, tmp_path):
    script(
        tmp_path,
        "import threading, model\n"
        "worker = threading.Thread(target=model.loss, args=(1.0, 2.0))\n"
        "threading.excepthook = lambda args: None\n"
        "worker.start()\nworker.join()\n",
    )
    before = threading.excepthook
    try:
        assert from_recording(model.loss, "train.py")["x"] == 2.0
    finally:
        threading.excepthook = before


@pytest.mark.parametrize(
    ("text", "command", "message"),
    [
        (
            "",
            "other.py",
            "--record 'other.py' names no script that is there. Give a file and its arguments, "
            "as in --record 'train.py --epochs 1'.",
        ),
        (
            "import model\n",
            "train.py",
            "--record 'train.py' ended without calling loss. Give a script, with its arguments, "
            "that calls it.",
        ),
        (
            "x = 1\nraise ValueError(f'no data {x}')\n",
            "train.py",
            "train.py:2: `raise ValueError(f'no data {x}')`: --record 'train.py' raises "
            "ValueError: no data 1.",
        ),
        (
            "import sys\nsys.exit('usage: train.py FILE')\n",
            "train.py",
            "train.py:2: `sys.exit('usage: train.py FILE')`: --record 'train.py' raises "
            "SystemExit: usage: train.py FILE.",
        ),
        ("import sys\nsys.exit(0)\n", "train.py", None),
    ],
)
def test_a_script_that_gives_no_call(model, tmp_path, text, command, message):
    script(tmp_path, text)
    if message is None:
        message = (
            f"--record '{command}' ended without calling loss. Give a script, with its "
            "arguments, that calls it."
        )
    with pytest.raises(UserError) as caught:
        from_recording(model.loss, command)
    assert str(caught.value) == message
