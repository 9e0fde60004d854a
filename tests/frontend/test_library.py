"""Whose code it is, and what it is called."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.special

import s2s
from s2s.frontend.library import is_own, is_users, public_name


def test_whose_file_it_is() -> None:
    assert is_users(__file__) and is_users("/home/someone/model.py")
    assert is_users("<stdin>") and is_users("<ipython-input-1-abc>")
    for file in (json.__file__, np.__file__, s2s.__file__, "<string>", "<frozen os>"):
        assert not is_users(file)
    assert is_own(s2s.__file__) and not is_own(__file__)
    assert is_users(str(Path(sys.prefix).parent / "model.py"))


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (np.cov, "np.cov"),
        (np.sin, "np.sin"),
        (np.linalg.norm, "np.linalg.norm"),
        (np.random.randn, "np.random.randn"),
        (np.vectorize(len), "np.vectorize"),
        (scipy.special.gammainc, "scipy.special.gammainc"),
        (json.dumps, "json.dumps"),
        (math.gamma, "math.gamma"),
        (len, "len"),
        ("a".join, "str.join"),
        (int.from_bytes, "int.from_bytes"),
    ],
)
def test_names_are_those_that_users_write(function: object, name: str) -> None:
    assert public_name(function) == name  # type: ignore[arg-type]
