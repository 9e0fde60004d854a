"""What the command line accepts. Imports nothing of s2s's, so that `--help` is there at once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from s2s import __version__

TRANSFORMATIONS = {
    "trace": "the function itself, as s2s sees it",
    "grad": "the gradient of a function whose value is one number",
    "value-and-grad": "the value and the gradient",
    "jvp": "the value, and the derivative along a direction",
    "vjp": "the value, and the arguments' cotangents for a given one of the value",
    "vmap": "the function of a batch of arguments",
    "jacfwd": "all derivatives, forward: for few inputs and many outputs",
    "jacrev": "all derivatives, backward: for many inputs and few outputs",
    "hessian": "all second derivatives",
}
"""Each transformation of one function, and what it gives."""

_DERIVATIVES = {"grad", "value-and-grad", "jvp", "vjp", "jacfwd", "jacrev", "hessian"}

_TYPES_HELP = """\
The types of the arguments are taken from --args, from an example, from annotations, from a doctest
in the docstring, or from defaults. Named sizes such as n stand for any size; those of an example
become named where they can. --args speaks of the generated function, everything else of yours:
where vmap makes a batch of an argument, the generated function's has one axis more.
"""

_EPILOG = """\
examples:
  s2s grad model.py:loss -o loss_grad.py
  s2s grad model.py:loss --wrt w,b --args "w: f64[d], b: float, x: f64[n, d], y: f64[n]"
  s2s value-and-grad model.py:loss --record 'train.py --epochs 1' -o loss_value_and_grad.py
  s2s compile model.py 'vmap(grad(loss), in_axes=(None, 0, 0))' -o per_example_grad.py
  s2s jaxpr grad model.py:loss
"""


class Options(argparse.Namespace):
    """The options of one command, with what each is if it is not given."""

    command: str
    """A transformation of `TRANSFORMATIONS`, or `compile`, `show`, `run`, `compile-artifact`."""
    target: str
    """`FILE.py:FUNC`; `FILE.py` for `compile`; an artifact for `show` and `run`."""
    expression: str = ""
    show_jaxpr: bool = False
    output: str | None = None
    wrt: str | None = None
    args: str = ""
    example: str | None = None
    record: str | None = None
    static: list[str]
    in_axes: str | None = None
    has_aux: bool = False
    unroll: bool = False
    keep_prints: bool = False
    keep_mutation: bool = False
    name: str | None = None
    force: bool = False
    check: bool = False
    verify: bool = True
    debug: bool = False
    stablehlo: str | None = None
    stablehlo_version: str | None = None
    dims: str | None = None
    target_form: str = "numpy"
    inputs: str | None = None
    mesh: str | None = None
    shard: str | None = None
    platform: str | None = None
    coordinator: str | None = None
    rank: int = 0
    world: int = 1
    gpu_target: str | None = None


def parse(arguments: Sequence[str]) -> Options:
    """The options that `arguments` give. Exits with status 2 if they cannot be read."""
    parser = _parser()
    words = list(arguments)
    show_jaxpr = words[:1] == ["jaxpr"] and len(words) > 1 and words[1] not in ("-h", "--help")
    if show_jaxpr:
        words = words[1:]
        if words[0] not in TRANSFORMATIONS and words[0] != "compile":
            words = ["trace", *words]
    options = parser.parse_args(words, Options(show_jaxpr=show_jaxpr))
    if options.command == "jaxpr":
        parser.error("jaxpr wants another command after it, as in: s2s jaxpr grad model.py:loss")
    if options.check and options.output is None and options.stablehlo is None:
        parser.error("--check compares with a file, so give one with -o")
    for_xla = options.stablehlo is not None or options.target_form == "xla"
    if options.command == "compile-artifact":
        return options
    if for_xla and options.keep_mutation:
        parser.error(
            "--keep-mutation is of NumPy modules: XLA's arrays are copies, and stay as they are"
        )
    if not for_xla and (options.dims or options.stablehlo_version):
        parser.error("--dims and --stablehlo-version are of an artifact; give it by --stablehlo")
    if options.mesh is None and options.shard is not None:
        parser.error("--shard divides arguments over a mesh of devices; give one with --mesh")
    if options.mesh is not None and options.stablehlo is None:
        parser.error("--mesh is of an artifact; give it by --stablehlo")
    if options.coordinator is None and (options.rank, options.world) != (0, 1):
        parser.error("--rank and --world are of several processes; give --coordinator HOST:PORT")
    if options.example is not None and options.record is not None:
        parser.error("give --example or --record, not both")
    return options


def _parser() -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="s2s",
        description="Write the derivative, the vectorised form, or a composition of these, of a\n"
        "function in a NumPy file, as a readable NumPy module that stands alone.",
        epilog=_EPILOG,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"s2s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, gives in TRANSFORMATIONS.items():
        command = commands.add_parser(
            name,
            help=gives,
            description=f"Write a module with {gives}.\n\n{_TYPES_HELP}",
            formatter_class=formatter,
            allow_abbrev=False,
        )
        command.add_argument(
            "target", metavar="FILE.py:FUNC", help="the function, in a file of yours"
        )
        if name in _DERIVATIVES:
            command.add_argument(
                "--wrt", metavar="NAMES", help="the parameters to differentiate: w,b (the first)"
            )
        if name == "vmap":
            command.add_argument(
                "--in-axes",
                metavar="AXES",
                help="which axis of each argument is the batch: 'None, 0, 0', or 'x=0, y=0' (the "
                "first axis of each argument that is not left at its default)",
            )
        if name in _DERIVATIVES:
            command.add_argument(
                "--has-aux",
                action="store_true",
                help="the function returns (value, anything), and the value is differentiated",
            )
        _add_common(command)
    command = commands.add_parser(
        "compile",
        help="any composition, written as in Python",
        description=f"Write a module with any composition of transformations.\n\n{_TYPES_HELP}",
        formatter_class=formatter,
        allow_abbrev=False,
    )
    command.add_argument("target", metavar="FILE.py", help="a file of yours")
    command.add_argument(
        "expression", metavar="EXPRESSION", help="such as 'vmap(grad(loss), in_axes=(None, 0, 0))'"
    )
    _add_common(command)
    _add_artifact_commands(commands)
    commands.add_parser(
        "jaxpr",
        help="print the intermediate form of another command: s2s jaxpr grad model.py:loss",
        description="Print the jaxpr that another command makes, instead of a module:\n"
        "s2s jaxpr grad model.py:loss --wrt w",
        formatter_class=formatter,
    )
    return parser


def _add_artifact_commands(commands: Any) -> None:
    show = commands.add_parser(
        "show",
        help="what a StableHLO artifact computes, and where it comes from",
        description="Print the signature of a StableHLO artifact.",
        allow_abbrev=False,
    )
    run = commands.add_parser(
        "run",
        help="run a StableHLO artifact on the arrays of a file",
        description="Compile a StableHLO artifact for this machine and run it.",
        allow_abbrev=False,
    )
    run.add_argument(
        "--inputs",
        metavar="IN.npz",
        help="the arguments by name; those in containers as params.w, pair.0",
    )
    run.add_argument(
        "-o", "--output", metavar="OUT.npz", help="where results are written (printed)"
    )
    run.add_argument(
        "--platform", choices=["cpu", "cuda", "tpu"], help="what to run on (S2S_PLATFORM, or cpu)"
    )
    several = run.add_argument_group("several processes (for an artifact with --mesh)")
    several.add_argument(
        "--coordinator", metavar="HOST:PORT", help="where the process of rank 0 listens"
    )
    several.add_argument("--rank", type=int, default=0, help="the number of this process, from 0")
    several.add_argument("--world", type=int, default=1, help="how many processes there are")
    ahead = commands.add_parser(
        "compile-artifact",
        help="compile a StableHLO artifact before it is used, also for a GPU that is not here",
        description="Compile a StableHLO artifact to machine code, which `s2s run` runs on a\n"
        "device of that kind. Unlike an artifact, such a file must be trusted.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    ahead.add_argument(
        "--gpu-target",
        metavar="GPU",
        help="a100, h100, h200 or b200 (this machine's CPU)",
    )
    ahead.add_argument("--dims", metavar="SIZES", help="sizes that are open: n=1024,d=32")
    ahead.add_argument("-o", "--output", metavar="OUT", required=True, help="the file to write")
    for command in (show, run, ahead):
        command.add_argument("target", metavar="ARTIFACT", help="a .mlir or .mlirbc file")
        command.add_argument(
            "--debug", action="store_true", help="show where in s2s an error comes from"
        )


def _add_common(command: argparse.ArgumentParser) -> None:
    types = command.add_argument_group("types of the arguments")
    types.add_argument(
        "--args",
        metavar="TYPES",
        default="",
        help="such as 'w: f64[d, k], x: f64[n, d], p: {a: f64[n], b: [float, i32[2]]}, steps=50'",
    )
    types.add_argument(
        "--example",
        metavar="EXPR",
        help="a call of the function, or a tuple of arguments, evaluated in its module",
    )
    types.add_argument(
        "--record",
        metavar="COMMAND",
        help="run a script, 'train.py --epochs 1', until it calls the function",
    )
    types.add_argument(
        "--static",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="fix an argument to a value (may be repeated)",
    )
    output = command.add_argument_group("output")
    output.add_argument(
        "--unroll",
        action="store_true",
        help="write out all loops of known length, step by step",
    )
    output.add_argument(
        "--keep-prints",
        action="store_true",
        help="let the generated function print what yours prints",
    )
    output.add_argument(
        "--keep-mutation",
        action="store_true",
        help="let the generated function change those arguments that yours changes",
    )
    output.add_argument(
        "-o", "--output", metavar="OUT.py", help="the file to write (standard output)"
    )
    output.add_argument(
        "--target",
        dest="target_form",
        choices=["numpy", "xla"],
        default="numpy",
        help="what the module runs on: NumPy, or XLA by jaxlib (for fixed sizes)",
    )
    output.add_argument(
        "--stablehlo",
        metavar="OUT.mlir",
        help="write a StableHLO artifact: .mlir for text, .mlirbc for a portable artifact",
    )
    output.add_argument(
        "--stablehlo-version",
        metavar="VERSION",
        help="the oldest version of StableHLO that must read a .mlirbc (that of 12 weeks ago)",
    )
    output.add_argument(
        "--dims", metavar="SIZES", help="fix named sizes in the artifact: n=1024,d=32"
    )
    output.add_argument(
        "--mesh", metavar="AXES", help="make the artifact for several devices: data=4,model=2"
    )
    output.add_argument(
        "--shard",
        metavar="AXES",
        help="how arguments are divided over the mesh: 'x: data, params.w: [None, model]'",
    )
    output.add_argument("--name", help="what to call the generated function")
    output.add_argument(
        "--force", action="store_true", help="replace a file that s2s did not write, or was edited"
    )
    output.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with 1 and a diff if the file is not what would be written",
    )
    output.add_argument(
        "--no-verify",
        dest="verify",
        action="store_false",
        help="do not verify the result against your function on random arguments",
    )
    output.add_argument(
        "--debug", action="store_true", help="show where in s2s an error comes from"
    )
