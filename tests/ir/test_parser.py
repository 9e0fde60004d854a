"""What is printed is read back: parse(print(j)) equals j."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from hypothesis import given

from s2s.ir.assumptions import Assumptions, assuming
from s2s.ir.dims import Dim, dimension
from s2s.ir.equality import alpha_equivalent
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, Literal
from s2s.ir.parser import parse_jaxpr
from s2s.ir.reading import field_types
from s2s.ir.tokens import JaxprSyntaxError
from s2s.language import all_primitives
from s2s.trace import make
from tests.ir.random_jaxprs import jaxprs
from tests.ir.test_printer import FUNCTIONS, calls
from tests.jax_jaxprs import Opaque, compares_with_jax, from_jax
from tests.samples import SAMPLES, types


def parse(text: str) -> Jaxpr:
    return parse_jaxpr(text, all_primitives())


@given(jaxprs())
def test_what_is_printed_is_read_back(jaxpr: Jaxpr) -> None:
    text = str(jaxpr)
    read = parse(text)
    assert alpha_equivalent(jaxpr, read)
    # Jaxprs that are one object are read as one, so the text is the same again.
    assert str(read) == text


@pytest.mark.parametrize("names", [{}, {3: dimension("n"), 4: dimension("m"), 5: dimension("k")}])
def test_samples_of_every_primitive_are_read_back(names: dict[int, Dim]) -> None:
    for sample in SAMPLES:
        with assuming(Assumptions()):
            jaxpr = make(lambda *args, fun=sample.fun: [fun(*args)], types(sample, names)).jaxpr
        text = str(jaxpr)
        assert alpha_equivalent(jaxpr, parse(text)), sample
        assert str(parse(text)) == text


@compares_with_jax
def test_jaxprs_of_jax_functions_are_read_back() -> None:
    read = 0
    for fun, args in FUNCTIONS.values():
        jaxpr = from_jax(jax.make_jaxpr(fun)(*args)).jaxpr
        if not _only_jax_s(jaxpr):
            text = str(jaxpr)
            assert alpha_equivalent(jaxpr, parse(text))
            assert str(parse(text)) == text
            read += 1
    assert read > len(FUNCTIONS) / 2


def _only_jax_s(jaxpr: Jaxpr) -> bool:
    """Whether there is a primitive in it that s2s does not have."""
    primitives = [eqn.primitive for eqn in jaxpr.eqns]
    values = [value for primitive in primitives for value in primitive.parameters().values()]
    inner = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
    return any(isinstance(primitive, Opaque) for primitive in primitives) or any(
        _only_jax_s(item.jaxpr) for item in inner if isinstance(item, ClosedJaxpr)
    )


def test_every_primitive_s_parameters_have_types_that_can_be_read() -> None:
    for name, cls in all_primitives().items():
        if hasattr(cls, "__dataclass_fields__"):
            assert field_types(cls) or not cls.__dataclass_fields__, name


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2.0:f64[]", np.float64(2)),
        ("-0.0:f64[]", np.float64(-0.0)),
        ("inf:f32[]", np.float32(np.inf)),
        ("-inf:f64[]", np.float64(-np.inf)),
        ("nan:f64[]", np.float64(np.nan)),
        ("1e-300:f64[]", np.float64(1e-300)),
        ("0.10000000149011612:f32[]", np.float32(0.1)),
        ("0.0999755859375:f16[]", np.float16(0.1)),
        ("-128:i8[]", np.int8(-128)),
        ("18446744073709551615:u64[]", np.uint64(2**64 - 1)),
        ("True:bool[]", np.True_),
        ("(1+2j):c128[]", np.complex128(1 + 2j)),
        ("(-0-infj):c64[]", np.complex64(complex(-0.0, -np.inf))),
        ("(nan+1e-05j):c128[]", np.complex128(complex(np.nan, 1e-5))),
        ("2j:c128[]", np.complex128(2j)),
        ("-0j:c128[]", np.complex128(complex(0.0, -0.0))),
        ("infj:c128[]", np.complex128(complex(0.0, np.inf))),
    ],
)
def test_literals_keep_type_and_bits(text: str, value: np.generic) -> None:
    (literal,) = parse(f"{{ lambda ; . let  in ({text},) }}").outvars
    assert isinstance(literal, Literal)
    assert np.asarray(literal.value).dtype == value.dtype
    assert literal.aval.dtype == value.dtype
    assert not literal.aval.weak_type
    assert np.asarray(literal.value).tobytes() == value.tobytes()


def test_names_that_are_words_of_the_language() -> None:
    text = (
        "{ lambda ; in:f64[] let:f64[]. let\n"
        "    inf:f64[] = add in let\n"
        "    nan:f64[] = mul inf inf:f64[]\n"
        "    lambda:f64[] = mul nan\n"
        "      inf:f64[]\n"
        "  in (inf, nan, in, nan:f64[], lambda) }"
    )
    jaxpr = parse(text)
    first, second, third = (eqn.outvars[0] for eqn in jaxpr.eqns)
    assert jaxpr.eqns[0].invars == jaxpr.invars
    assert jaxpr.eqns[1].invars[0] is first
    assert isinstance(jaxpr.eqns[1].invars[1], Literal)
    assert isinstance(jaxpr.eqns[2].invars[1], Literal)
    assert jaxpr.outvars[:3] == [first, second, jaxpr.invars[0]]
    assert jaxpr.outvars[4] is third


def test_unused_results_are_variables_of_their_own() -> None:
    jaxpr = parse("{ lambda ; a:f64[3]. let _:f64[3] = sin a; _:f64[3] = cos a in (a,) }")
    one, other = (eqn.outvars[0] for eqn in jaxpr.eqns)
    assert one is not other


def test_shared_jaxprs_are_read_once_in_any_order() -> None:
    text = """
        let outer = { lambda ; a:f64[]. let b:f64[] = jit[name=f jaxpr=inner] a in (b,) } in
        let inner = { lambda ; a:f64[]. let b:f64[] = sin a in (b,) } in
        { lambda ; a:f64[]. let
            b:f64[] = jit[name=outer jaxpr=outer] a
            c:f64[] = jit[name=inner jaxpr=inner] b
          in (c,) }
    """
    jaxpr = parse(text)
    outer, inner = (eqn.primitive.parameters()["jaxpr"].jaxpr for eqn in jaxpr.eqns)
    assert outer.eqns[0].primitive.parameters()["jaxpr"].jaxpr is inner
    assert jaxpr.eqns[1].primitive.parameters()["name"] == "inner"


def test_layout_is_free_up_to_new_lines_between_equations() -> None:
    text = """{lambda;a:f64[n+1 ,3].let
        b:f64[ n + 1,3]=neg a;c:f64[n + 1,3] =
            add a
              b
        d:f64[3] = reduce_sum[
          axes=(0,)] c
        in(d,)}"""
    assert str(parse(text)) == (
        "{ lambda ; a:f64[n + 1,3]. let\n"
        "    b:f64[n + 1,3] = neg a\n"
        "    c:f64[n + 1,3] = add a b\n"
        "    d:f64[3] = reduce_sum[axes=(0,)] c\n"
        "  in (d,) }"
    )


JAXPR = """{ lambda ; a:f64[3] b:f64[n]. let
    c:f64[3] = sin a
    d:f64[] = reduce_sum[axes=(0,)] c
    e:i64[n] = iota[dimension=0 dtype=int64 shape=(n,)]
  in (d, 2.0:f64[]) }"""


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "message"),
    [
        ("{ lambda", "lambda", 1, 1, "expected `{`, found `lambda`"),
        ("lambda", "lamb", 1, 3, "expected `lambda`, found `lamb`"),
        ("lambda", "λ", 1, 3, "`λ` is no part of a jaxpr"),
        ("; a", "a", 1, 27, "expected `;`, found `.`"),
        (". let", " let", 1, 30, "expected `.`, found `let`"),
        ("let", "", 2, 5, "expected `let`, found `c`"),
        ("a:f64[3]", "a:f65[3]", 1, 14, "`f65` is no element type; these are bool, i8, i16,"),
        ("a:f64[3]", "a:[3]", 1, 14, "expected a type such as `f64[3]`, found `[`"),
        ("a:f64[3]", "a:f64[3", 1, 20, "expected `,` or `]`, found `b`"),
        ("a:f64[3]", "a:f64[2.5]", 1, 21, "expected a size, found `2.5`"),
        ("a:f64[3]", "a:f64[n^m]", 1, 20, "expected a power such as `2`, found `m`"),
        ("a:f64[3]", "a:f64[floordiv(n, 0)]", 1, 31, "a size is divided by what is at least 1"),
        ("b:f64[n]", "a:f64[n]", 1, 21, "`a` is defined twice"),
        ("d:f64", "c:f64", 3, 5, "`c` is defined twice"),
        ("c:f64[3] = ", "c:f64[3] ", 2, 14, "expected `=`, found `sin`"),
        ("sin a", "sine a", 2, 16, "no primitive is called `sine`; did you mean `sin`?"),
        ("sin a", "qqq a", 2, 16, "no primitive is called `qqq`"),
        ("sin a", "sin-2 a", 2, 20, "expected the rest of a primitive's name, found `2`"),
        ("sin a", "sin f", 2, 20, "`f` is not defined here"),
        ("sin a", "sin c", 2, 20, "`c` is not defined here"),
        ("sin a", "sin a:f64[3]", 2, 20, "expected a variable or a literal, found `a`"),
        ("sin a", "sin -a", 2, 21, "expected a variable or a literal, found `a`"),
        ("sin a", "sin 2.0", 3, 5, "expected `:`, found `d`"),
        ("sin a", "sin 2.0:f64[3]", 2, 20, "a literal has the shape []"),
        ("sin a", "sin 2.0:i64[]", 2, 20, "`2.0` is no number of type int64"),
        ("sin a", "sin 300:i8[]", 2, 20, "`300` is no number of type int8"),
        ("sin a", "sin 1:bool[]", 2, 20, "`1` is no number of type bool"),
        ("sin a\n   ", "sin a", 2, 22, "expected a variable or a literal, found `d`"),
        ("axes=(0,)", "axis=(0,)", 3, 26, "`reduce_sum` has no parameter `axis`"),
        ("axes=(0,)", "axes=0", 3, 31, "expected a value of type tuple[int, ...] for `axes`"),
        ("axes=(0,)", "axes=(True,)", 3, 31, "expected a value of type tuple[int, ...] for `axes`"),
        ("axes=(0,)", "axes=(0,", 3, 34, "expected a value, found `]`"),
        ("axes=(0,)", "axes=(0,) axes=(0,)", 3, 36, "`reduce_sum` has twice the parameter `axes`"),
        ("axes=(0,)", "axes (0,)", 3, 31, "expected `=`, found `(`"),
        ("axes=(0,)", "(0,)", 3, 26, "expected the name of a parameter, or `]`, found `(`"),
        ("[axes=(0,)]", "", 3, 15, "the parameters of `reduce_sum` are incomplete"),
        ("dtype=int64", "dtype=int46", 4, 39, "expected a value of type DType for `dtype`"),
        ("shape=(n,)", "shape=('n',)", 4, 51, "expected a value of type Shape for `shape`, found"),
        ("sin a", "sin[x=1] a", 2, 20, "`sin` has no parameter `x`"),
        ("  in (d", "  (d", 5, 3, "expected an equation, or `in`, found `(`"),
        ("(d, ", "(d ", 5, 9, "expected `,` or `)`, found `2.0`"),
        ("(d, ", "d, ", 5, 6, "expected `(`, found `d`"),
        (" }", "", 5, 20, "expected `}`, found the end of the text"),
        (" }", " } a", 5, 23, "expected nothing more, found `a`"),
        ("sin a", "sin ? a", 2, 20, "`?` is no part of a jaxpr"),
        ("{ lambda", "let f = 2 in { lambda", 1, 9, "expected `{`, found `2`"),
        ("{ lambda", "let f = { in { lambda", 5, 22, "expected `}`, found the end of the text"),
    ],
)
def test_errors_say_what_was_expected_where(
    old: str, new: str, line: int, column: int, message: str
) -> None:
    assert old in JAXPR
    with pytest.raises(JaxprSyntaxError) as error:
        parse(JAXPR.replace(old, new, 1))
    assert str(error.value).startswith(f"line {line}, column {column}: {message}")
    assert (error.value.line, error.value.column) == (line, column)


def test_an_error_shows_the_line() -> None:
    with pytest.raises(JaxprSyntaxError) as error:
        parse(JAXPR.replace("sin a", "sin f"))
    assert str(error.value) == (
        "line 2, column 20: `f` is not defined here\n"
        "        c:f64[3] = sin f\n"
        "                       ^"
    )


@pytest.mark.parametrize("text", ["", "\n\n", "{", "  # nothing"])
def test_what_is_no_jaxpr_at_all(text: str) -> None:
    with pytest.raises(JaxprSyntaxError):
        parse(text)


def test_jaxprs_that_hold_themselves_are_refused() -> None:
    text = """
        let f = { lambda ; a:f64[]. let b:f64[] = jit[name=f jaxpr=f] a in (b,) } in
        { lambda ; a:f64[]. let b:f64[] = jit[name=f jaxpr=f] a in (b,) }
    """
    with pytest.raises(JaxprSyntaxError, match="for `jaxpr`, found `f`"):
        parse(text)


def chain(length: int) -> str:
    lines = [f"    x{i + 1}:f64[3] = sin x{i}" for i in range(length)]
    return "\n".join(["{ lambda ; x0:f64[3]. let", *lines, f"  in (x{length},) }}"])


def test_parsing_takes_work_in_proportion_to_the_length() -> None:
    short, long = chain(200), chain(2_000)
    assert calls(lambda: parse(long)) < 11 * calls(lambda: parse(short))
