"""What a generated function returns are arrays of their own, also where branches decide."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.programs import checks

PROGRAMS = '''import numpy as np

def put_in_a_branch(x):
    """
    >>> put_in_a_branch(np.ones(3))
    """
    z = np.zeros(3)
    if x[0] > 0:
        z[:] = x
    return z

def one_of_two(x):
    """
    >>> one_of_two(np.ones(3))
    """
    y = x * 2
    z = np.zeros(3)
    if x[0] > 0:
        z[:] = y
    return y, z

def put_in_a_loop(x):
    """
    >>> put_in_a_loop(np.ones(3))
    """
    z = np.zeros(3)
    for i in range(8):
        if x[0] > i:
            z[:] = x
    return z
'''


@pytest.mark.parametrize("name", ["put_in_a_branch", "one_of_two", "put_in_a_loop"])
def test_results_share_no_memory(name: str, tmp_path: Path) -> None:
    file = tmp_path / "user_program.py"
    file.write_text(PROGRAMS, encoding="utf-8")
    program = checks.Program(file, name)
    function = checks.generate(program, tmp_path / "generated.py", "trace", program.target)
    x = np.ones(3)
    found: Any = function(x)
    results = found if isinstance(found, tuple) else (found,)
    for number, result in enumerate(results):
        assert not any(np.shares_memory(result, other) for other in (x, *results[:number]))
