"""Control flow on traced values: what converted code calls for `if`, `for`, `while` and the like.

| module              | what it does                                                              |
|---------------------|---------------------------------------------------------------------------|
| outcomes.py         | how a block ends: at its end, or by `return`, `break` or `continue`       |
| state.py            | the variables and objects that blocks change, before and after            |
| merging.py          | one value from those of several branches                                  |
| chosen_functions.py | a function that is one of two, depending on a branch                      |
| arms.py             | branches that have been traced, and the equation of two of them           |
| branches.py         | `if`, `a if c else b`, `and`, `or`, `not`, `a < b < c`                    |
| iteration.py        | what a `for` runs over: ranges, rows of arrays, `zip`, `enumerate`        |
| loops.py            | `for` and `while`: run by Python, or as a loop of the jaxpr               |
| steps.py            | the steps of a loop of the jaxpr: what is carried, and its types          |
| traced_loops.py     | loops of the jaxpr: scans, and while loops                                |
| growing.py          | lists to which the steps of a loop append                                 |
| raising.py          | exceptions that are raised where values decide                            |
| comprehensions.py   | `[f(x) for x in xs]`, `sum(...)`, lists that grow in loops                |

Where nothing depends on the values of arguments, Python runs the block as it is.
"""
