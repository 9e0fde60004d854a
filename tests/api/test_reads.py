"""Digests of what a trace reads: whatever changes a trace changes the digest, or there is none."""

import functools
import itertools
import linecache
import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.api import reads
from s2s.frontend.argument_types.types import Static
from s2s.ir.jaxpr import ShapedArray
from tests.conftest import ROOT

VECTOR = {"x": ShapedArray((4,), np.dtype("float64"))}

PREAMBLE = """\
import dataclasses, functools, math
from typing import NamedTuple, Any
import numpy as np
import s2s
"""

_numbers = itertools.count()


@pytest.fixture(autouse=True)
def without_users_primitives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is told where there are primitives of the user's, which other tests define."""
    monkeypatch.delitem(sys.modules, "s2s.extend", raising=False)


def test_primitives_of_the_users_may_have_rules_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of("def f(x): return x")
    assert digest(module) is not None
    monkeypatch.setitem(sys.modules, "s2s.extend", types.ModuleType("s2s.extend"))
    assert digest(module) is None


def module_of(text: str) -> Any:
    """A module with this text after the usual imports. Its file can be read, but is nowhere."""
    module = types.ModuleType("users_module")
    text = PREAMBLE + text
    file = f"/nowhere/{next(_numbers)}/users_module.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), vars(module))
    return module


def digest(module: Any, arguments: Any = VECTOR) -> str | None:
    return reads.digest(module.f, arguments)


USES = """\
class Scale:
    factor = 2.0
    def __init__(self, by):
        self.by = by
    def __call__(self, x):
        return x * self.by * self.factor * self.more
    @property
    def more(self):
        return MORE
    @staticmethod
    def twice(x):
        return 2.0 * x
class Slots:
    __slots__ = ("a", "__b")
    def __init__(self):
        self.a, self.__b = 1.0, 2.0
    def b(self):
        return self.__b
@dataclasses.dataclass(frozen=True)
class Frozen:
    width: float
    names: tuple = ("a",)
    def apply(self, x):
        return x * self.width
class Point(NamedTuple):
    left: float
    right: Any = 3.0
def decorated(by):
    def decorator(g):
        @functools.wraps(g)
        def wrapper(*args):
            return g(*args) * by
        return wrapper
    return decorator
@decorated(5.0)
def inner(x, shift=1.0, *, other=2.0):
    return np.sin(x) * shift + other
@s2s.custom_jvp
def ruled(x):
    return x * x
ruled.defjvp(lambda primals, tangents: (ruled(*primals), 2.0 * primals[0] * tangents[0]))
MORE = 1.5
SCALE = Scale(3.0)
SLOTS = Slots()
FROZEN = Frozen(1.0)
POINT = Point(1.0)
WEIGHTS = np.arange(4.0)
TABLE = {"one": [1, 2.0], "function": np.tanh}
PARTIAL = functools.partial(lambda k, x: k * x, 2.0)
def make(c):
    return lambda x: c * x
CLOSED = make(7.0)
def f(x, n=3):
    y = SCALE(x) + SCALE.twice(x) + SLOTS.b() + FROZEN.apply(x) + POINT.right + WEIGHTS
    y = y + TABLE["function"](x) * TABLE["one"][0] + PARTIAL(x) + CLOSED(x) + inner(x)
    return np.sum(y) * math.pi + ruled(np.max(x)) + s2s.grad(lambda z: np.sum(z * MORE))(x)[0] * n
"""


CHANGES = [
    "MORE = 1.25",
    "MORE = np.float32(1.5)",
    "SCALE.by = 4.0",
    "SCALE.by = 3",
    "Scale.factor = 5.0",
    "Scale.__call__ = lambda self, x: x",
    "Scale.more = property(lambda self: 2.0)",
    "Scale.twice = staticmethod(lambda x: x)",
    "SLOTS.a = -0.0",
    "SLOTS._Slots__b = 3.0",
    "FROZEN = Frozen(2.0)",
    "FROZEN = Frozen(1.0, ('b',))",
    "Frozen.apply = lambda self, x: x",
    "POINT = Point(1.0, 4.0)",
    "WEIGHTS[2] = 0.0",
    "WEIGHTS = WEIGHTS.astype('float32')",
    "WEIGHTS = WEIGHTS[None]",
    "TABLE['one'][0] = True",
    "TABLE['one'][0] = 1.0",
    "TABLE['function'] = np.sinh",
    "TABLE['more'] = None",
    "PARTIAL = functools.partial(PARTIAL.func, 3.0)",
    "CLOSED = make(8.0)",
    "inner = decorated(6.0)(inner.__wrapped__)",
    "inner.__wrapped__.__defaults__ = (2.0,)",
    "inner.__wrapped__.__kwdefaults__ = {'other': 3.0}",
    "inner.__wrapped__.__code__ = (lambda x, shift=1.0, *, other=2.0: x).__code__",
    "ruled.defjvp(lambda primals, tangents: (primals[0], tangents[0]))",
    "make = None; f.__defaults__ = (4,)",
    "np = type(np)('np'); np.sum = math.fsum",
]
"""Statements after which `f` may compute something else."""


@pytest.mark.parametrize("statement", CHANGES)
def test_what_is_changed_changes_the_digest(statement: str) -> None:
    module = module_of(USES)
    before = digest(module)
    assert before is not None and digest(module) == before
    exec(statement, vars(module))
    assert digest(module) != before


@pytest.mark.parametrize("attribute", ["sum", "max"])
def test_functions_put_into_numpy_are_seen(attribute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of(USES)
    before = digest(module)
    monkeypatch.setattr(np, attribute, np.prod)
    other = digest(module)
    assert other is not None and other != before
    monkeypatch.setattr(np, attribute, lambda x: x)
    assert digest(module) not in (before, other)


def test_builtins_that_are_shadowed_are_seen() -> None:
    module = module_of("def f(x): return sum(x)")
    before = digest(module)
    assert before is not None
    module.sum = max
    assert digest(module) != before


def test_attributes_of_users_modules_are_seen() -> None:
    """Under whatever name code has the module, and whichever function reads the attribute."""
    parameters = types.ModuleType("parameters")
    parameters.scale = 2.0  # type: ignore[attr-defined]
    module = module_of("def read(m): return m.scale\ndef f(x): return x * read(TABLE['m'])")
    module.TABLE = {"m": parameters}
    before = digest(module)
    assert before is not None
    parameters.other = 3.0  # type: ignore[attr-defined]
    assert digest(module) == before, "nothing reads it"
    parameters.scale = 3.0  # type: ignore[attr-defined]
    assert digest(module) != before


def test_two_names_of_one_array_are_not_two_arrays() -> None:
    module = module_of("def f(x): return x * A[0] + B[0]")
    module.A, module.B = np.ones(3), np.ones(3)
    before = digest(module)
    module.B = module.A
    assert before is not None and digest(module) != before


def test_arguments_and_transformations_are_seen() -> None:
    module = module_of(USES)
    of = functools.partial(reads.digest, module.f)
    scalar = ShapedArray((), np.dtype("float64"))
    weak = ShapedArray((), np.dtype("float64"), weak_type=True)
    arguments: list[dict[str, Any]] = [
        VECTOR,
        {"x": ShapedArray((4,), np.dtype("float32"))},
        {"x": scalar},
        {"x": weak},
        {"x": [scalar]},
        {"x": (scalar,)},
        {"x": {"a": scalar, "b": weak}},
        {"x": {"b": weak, "a": scalar}},
        {"x": scalar, "n": Static(1)},
        {"x": scalar, "n": Static(True)},
        {"x": scalar, "n": Static(1.0)},
        {"x": scalar, "n": Static(float("nan"))},
        {"x": scalar, "n": Static("1")},
        {"x": scalar, "n": Static(b"1")},
        {"x": scalar, "n": Static([1])},
        {"x": scalar, "n": Static(module.FROZEN)},
        {"x": scalar, "n": Static(np.sin)},
    ]
    found = [of(one) for one in arguments]
    found += [
        reads.digest(s2s.grad(module.f), VECTOR),
        reads.digest(s2s.grad(module.f, (0,)), VECTOR),
    ]
    found += [reads.digest(s2s.value_and_grad(module.f), VECTOR)]
    assert None not in found and len(set(found)) == len(found)


UNKNOWN = {
    "a builtin that takes names": "def f(x): return x * getattr(np, 'pi')",
    "under another name": "g = getattr\ndef f(x): return x * g(np, 'pi')",
    "all globals": "def f(x): return x * globals()['np'].pi",
    "evaluation": "def f(x): return x * eval('np.pi')",
    "printing": "def f(x):\n    print('traced')\n    return x",
    "assignment": "k = 1\ndef f(x):\n    global k\n    k = 2\n    return x",
    "an import": "def f(x):\n    import users_settings\n    return x * users_settings.k",
    "a special attribute": "def f(x): return x * f.__globals__['np'].pi",
    "a format": "def f(x): return x * float('{0.pi}'.format(np))",
    "the clock": "import time\ndef f(x): return x * time.time()",
    "the environment": "import os\ndef f(x): return x * len(os.environ['HOME'])",
    "arguments of the process": "import sys\ndef f(x): return x * len(sys.argv)",
    "a generator": "r = np.random.default_rng(0)\ndef f(x): return x * r.normal()",
    "global randomness": "def f(x): return x * np.random.rand()",
    "an iterator": "i = iter([1.0, 2.0])\ndef f(x): return x * next(i)",
    "a file": "def f(x): return x * np.loadtxt('weights.txt')",
    "a set": "s = {'a', 'b'}\ndef f(x): return x * [*s].index('a')",
    "a cache": "@functools.lru_cache\ndef g(n): return n\ndef f(x): return x * g(2)",
    "a dict's subclass": "class D(dict): pass\nd = D(a=1.0)\ndef f(x): return x * d['a']",
    "an object array": "a = np.array([None, 1.0])\ndef f(x): return x * a[1]",
    "a module's own getattr": (
        "m = type(np)('m')\nm.__getattr__ = lambda name: 1.0\ndef f(x): return x * m.k"
    ),
    "names by attrgetter": (
        "import operator\ng = operator.attrgetter('pi')\ndef f(x): return x * g(np)"
    ),
    "a class of classes": (
        "class Meta(type):\n    pass\nclass C(metaclass=Meta): k = 1.0\ndef f(x): return x * C.k"
    ),
    "a frame": "def f(x):\n    g = (i for i in [1.0])\n    return x * g.gi_frame.f_globals['k']",
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_where_more_could_be_read_there_is_no_digest(what: str) -> None:
    assert digest(module_of(UNKNOWN[what])) is None


def test_values_that_lead_to_themselves() -> None:
    module = module_of("TABLE = {}\ndef f(x): return x if TABLE else f(x)")
    module.TABLE["self"] = module.TABLE
    assert digest(module) is not None


PRINTED = """
import sys
sys.path[:0] = {paths!r}
from tests.api import test_reads
print(test_reads.digest(test_reads.module_of(test_reads.USES)))
"""


def test_processes_agree() -> None:
    program = PRINTED.format(paths=[str(ROOT), str(ROOT / "codegen")])
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1 and "None" not in found.pop()
