"""Transformations: functions from jaxpr to jaxpr, one a module.

`jvp`, `partial_eval`, `transpose` and `vmap` differentiate and vectorise; `dce`, `cse`, `simplify`
and `inline` tidy; `pipeline` says in which order they run.
"""
