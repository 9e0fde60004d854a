"""From a jaxpr to a NumPy module: schedule, name, spell, write, format."""

from s2s_codegen.numpy_source.description import Description as Description
from s2s_codegen.numpy_source.module import compile_jaxpr as compile_jaxpr, render as render
