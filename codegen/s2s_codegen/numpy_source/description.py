"""What a module says about its function beside the equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from s2s.frontend.traced import InOrder, Left, Parameter
from s2s.tree import TreeDef


@dataclass(frozen=True)
class Description:
    """The frame of a generated function: its signature, its docstring, and where it comes from."""

    name: str
    """What the generated function is called."""
    parameters: tuple[Parameter, ...]
    """Its parameters. The traced values in their types are the inputs of the jaxpr, in order."""
    result: TreeDef
    """How the results of the jaxpr make up what it returns."""
    summary: str
    """What it computes, in a sentence: "Gradient of `loss` with respect to `params`." """
    function: str = ""
    """The user's function that it was made from."""
    file: str = ""
    """The file in which this stands, as the user names it."""
    title: str = ""
    """The first sentence of the module; by default the summary, with the file put in."""
    doc: str = ""
    """The docstring of the user's function."""
    command: tuple[str, ...] = ()
    """The command that makes the module again, word by word."""
    version: str = ""
    """The version of s2s."""
    minimum: Mapping[str, int] = field(default_factory=dict[str, int])
    """Lower bounds of named dimensions that were taken for granted, and are checked on entry."""
    added: tuple[str, ...] = ()
    """The parameters that the user's function has not: directions, and cotangents of values."""
    changes: tuple[Left, ...] = ()
    """What the user's function changes in its arguments."""
    left: tuple[Left, ...] = ()
    """What it leaves in its arguments: the last outputs of the jaxpr."""
    in_order: tuple[InOrder, ...] = ()
    """The arrays in the arguments that must lie in row-major order."""
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """What else to say of a parameter: `{"x_dot": "the direction"}`."""
