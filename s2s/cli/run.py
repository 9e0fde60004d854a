"""Running a command: from options to a module, verified, written or shown."""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from s2s.api.artifacts import generate_for_xla, make_artifact
from s2s.api.generation import GeneratedModule, generate
from s2s.api.transformed import function_name, signature
from s2s.cli import artifacts, files
from s2s.cli.command import command_words
from s2s.cli.options import Options
from s2s.cli.progress import Progress
from s2s.cli.transformed import compiled, transformed
from s2s.cli.types import are_of_types, kept_sizes, outer_types, users_function
from s2s.errors import UserError
from s2s.frontend.argument_types.collect import ArgumentTypes, argument_types, bind
from s2s.frontend.argument_types.generalise import generalise
from s2s.frontend.argument_types.loop_bounds import with_loop_bounds
from s2s.frontend.argument_types.types import ArgumentType
from s2s.frontend.load import load, load_module
from s2s.frontend.options import Choices, choosing
from s2s.ir.dims import UndecidedDimension, names_of
from s2s.verify import Report, Run, verify
from s2s_codegen.stablehlo.mesh import mesh_from, partitions_from

if TYPE_CHECKING:
    from s2s_codegen.stablehlo.artifact import Artifact


def run_and_report(options: Options) -> int:
    """Run a command; say on standard error, in a paragraph, why it fails if it does.

    Returns the exit status. With `--debug`, errors are raised instead.
    """
    try:
        return run(options)
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        print("s2s: interrupted", file=sys.stderr)
        return 130
    except (UserError, UndecidedDimension) as error:
        if options.debug:
            raise
        print(f"s2s: {error}", file=sys.stderr)
    except Exception as error:
        if options.debug:
            raise
        problem = f"{type(error).__name__}: {error}".removesuffix(": ")
        print(
            f"s2s: {problem}. This is a fault of s2s, not of your code; please report it. "
            "--debug shows where it happened.",
            file=sys.stderr,
        )
    return 1


def run(options: Options) -> int:
    """Run a command; the exit status is 0, or 1 if `--check` finds a difference."""
    if options.command == "show":
        return artifacts.show(options.target)
    if options.command == "compile-artifact":
        return artifacts.compile_artifact(options)
    if options.command == "run":
        return artifacts.run_artifact(options)
    output = None if options.output is None or options.show_jaxpr else Path(options.output)
    if output is not None and not options.force and not options.check:
        files.check_replaceable(output)
    artifact_path = None if options.stablehlo is None else Path(options.stablehlo)
    if artifact_path is not None and not options.force and not options.check:
        artifacts.check_replaceable(artifact_path)
    progress = Progress()
    # What the user's code prints is not part of the module.
    chosen = Choices(
        keep_prints=options.keep_prints,
        keep_mutation=options.keep_mutation,
        unroll=options.unroll,
    )
    with progress.shown(), contextlib.redirect_stdout(sys.stderr), choosing(chosen):
        progress.step(f"loading {options.target}")
        fun = _function(options)
        name = function_name(users_function(fun))
        found = argument_types(
            users_function(fun),
            args=options.args,
            static=options.static,
            example=options.example,
            record=options.record,
            further=[*signature(fun).parameters],
        )
        progress.step(f"tracing and transforming {name}")
        found, (module, artifact, types) = _with_bounds(fun, found, options)
        if options.show_jaxpr:
            text = f"{module.closed}\n"
        else:
            text = files.signed(module.text)
        notes = [kept_sizes(found, types)]
        if options.verify and not options.check and not options.show_jaxpr:
            progress.step(f"verifying {_name(fun, options)}")
            # What it prints is of no interest here.
            printed = io.StringIO() if options.keep_prints else sys.stderr
            with contextlib.redirect_stdout(printed):
                notes.append(_verified(fun, module, text, found, options))
    data = None
    if artifact is not None and artifact_path is not None:
        data = artifacts.contents(artifact, artifact_path, options.stablehlo_version)
        if options.check:
            if not artifact_path.exists() or artifact_path.read_bytes() != data:
                print(f"{artifact_path} is not what would be written.")
                return 1
            if output is None:
                return 0
    if options.check and output is not None:
        return _check(output, text)
    for note in filter(None, notes):
        print(f"s2s: {note}", file=sys.stderr)
    if data is not None and artifact_path is not None:
        files.replace(artifact_path, data)
    if output is not None:
        files.replace(output, text)
    elif data is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    return 0


def _function(options: Options) -> Callable[..., Any]:
    if options.command == "compile":
        return compiled(options, vars(load_module(options.target)))
    return transformed(options, load(options.target))


def _name(fun: Callable[..., Any], options: Options) -> str:
    return options.name or function_name(fun)


def _with_bounds(
    fun: Callable[..., Any], found: ArgumentTypes, options: Options
) -> tuple[ArgumentTypes, tuple[GeneratedModule, Artifact | None, Mapping[str, ArgumentType]]]:
    """With integers that say how often loops run as arguments, if the trace does not need them."""
    bounds = with_loop_bounds(users_function(fun), found)
    if bounds is not None:
        with contextlib.suppress(UserError):
            return bounds, _generate(fun, bounds, options)
    return found, _generate(fun, found, options)


def _generate(
    fun: Callable[..., Any], found: ArgumentTypes, options: Options
) -> tuple[GeneratedModule, Artifact | None, Mapping[str, ArgumentType]]:
    """The module, the artifact if one is wanted, and the types of the user's function's arguments
    as they were generalised."""
    sizes = artifacts.parse_dims(options.dims)
    if options.name is not None and not options.name.isidentifier():
        raise UserError(f"--name {options.name}: that is no name for a function.")

    def attempt(
        types: Mapping[str, ArgumentType],
    ) -> tuple[GeneratedModule, Artifact | None, Mapping[str, ArgumentType]]:
        outer = outer_types(fun, types, found.given)
        words = command_words(options)
        if options.target_form == "xla":
            module = generate_for_xla(fun, outer, options.name, words, sizes)
        else:
            module = generate(fun, outer, options.name, words)
        artifact = None
        if options.stablehlo is not None and not options.show_jaxpr:
            avals = module.traced.closed.in_avals
            names = {n for aval in avals for size in aval.shape for n in names_of(size)}
            artifacts.check_dims(sizes, names)
            mesh = None if options.mesh is None else mesh_from(options.mesh)
            divisions = partitions_from(options.shard or "")
            artifact = make_artifact(fun, outer, options.name, words, sizes, mesh, divisions)
        return module, artifact, types

    return generalise(found.types, found.examples, attempt)


def _check(output: Path, text: str) -> int:
    difference = files.difference(output, text)
    sys.stdout.write(difference)
    return 1 if difference else 0


# -- verification ---------------------------------------------------------------------------------


def _verified(
    fun: Callable[..., Any],
    module: GeneratedModule,
    text: str,
    found: ArgumentTypes,
    options: Options,
) -> str:
    """A line that says how the verification went. Raises UserError if it fails."""
    name = _name(fun, options)
    types = {parameter.name: parameter.type for parameter in module.traced.parameters}
    example = found.values if are_of_types(found.values, types) else None
    report = verify(
        fun,
        _generated(text, name),
        types,
        module.traced.minimum,
        example,
        changes=tuple({left.parameter for left in module.traced.left}),
    )
    return _line(name, report)


def _line(name: str, report: Report) -> str:
    if not report.points:
        return (
            f"{name} is not verified: at all random arguments that were tried, your function "
            f"{report.problem}."
        )
    plural = "s" if report.points > 1 else ""
    line = (
        f"{name} verified at {report.points} random point{plural}, "
        f"largest relative error {report.largest_error:.1e}"
    )
    if report.between_jumps:
        line += (
            ". Your function takes other branches at each step of a difference, as a search by "
            "halving intervals does, so its derivative was not compared with differences, but "
            "forward with reverse mode; it is that of the branches which are taken"
        )
    return line


def _generated(text: str, name: str) -> Run:
    """The generated function, as one of arguments by parameter."""
    namespace: dict[str, Any] = {"__name__": name}
    exec(compile(text, f"<{name} as generated>", "exec"), namespace)
    function = namespace[name]
    of_function = inspect.signature(function)

    def run(args: Mapping[str, Any]) -> Any:
        positional, by_keyword = bind(of_function, args)
        return function(*positional, **by_keyword)

    return run
