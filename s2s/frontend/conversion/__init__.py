"""Conversion of a user's function: the same function, with hooks.

    def f(x):                         def f(x):
        y = g(x)                          at = enter()
        if y > 0:                         names(("x",), x)
            y += 1                        at(0); y = name(call(g, x), "y")
        return y                          at(1)
                                          if truth(y > 0):
                                              at(2); y = name(inplace("+=", y, 1), "y")
                                          at(3); return y

What each hook does is said in hooks.py. Hooks are free variables of the converted function, with
names that are no identifiers (`s2s.call`), so that they meet no name of the user's. The file name
and the line numbers are the user's, so tracebacks are too. Functions and lambdas inside are
converted with the one around them.
"""

from s2s.frontend.conversion.function import (
    Conversion as Conversion,
    convert as convert,
    is_converted as is_converted,
)
from s2s.frontend.conversion.nodes import HOOK as HOOK, HOOKS as HOOKS
