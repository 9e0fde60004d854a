"""How NumPy says each operation well, one family a module; `dispatch` says how a rule is found."""

from s2s_codegen.numpy_source.spell import (
    contractions as contractions,
    creation as creation,
    elementwise as elementwise,
    layout as layout,
    linalg as linalg,
    reductions as reductions,
)
