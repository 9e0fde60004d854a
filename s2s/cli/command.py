"""The command as the generated module gives it, for making it again."""

from __future__ import annotations

import os

from s2s.cli.options import Options


def command_words(options: Options) -> tuple[str, ...]:
    """The words of the command that makes the module again, the same on every machine.

    Options that do not change the module, such as `--force`, are left out.
    """
    path, colon, function = options.target.partition(":")
    words = ["s2s", options.command, portable_path(path) + colon + function]
    if options.expression:
        words.append(options.expression)
    given: list[tuple[str, str | None]] = [
        ("--wrt", options.wrt),
        ("--in-axes", options.in_axes),
        ("--args", options.args or None),
        ("--example", options.example),
        ("--record", options.record),
        *[("--static", text) for text in options.static],
        ("--name", options.name),
        ("--stablehlo-version", options.stablehlo_version),
        ("--dims", options.dims),
        ("--mesh", options.mesh),
        ("--shard", options.shard),
        ("--target", None if options.target_form == "numpy" else options.target_form),
    ]
    for option, value in given:
        if value is not None:
            # A value that begins like an option is read as one, unless it is part of the word.
            words += [f"{option}={value}"] if value.startswith("-") else [option, value]
    if options.has_aux:
        words.append("--has-aux")
    if options.unroll:
        words.append("--unroll")
    if options.keep_prints:
        words.append("--keep-prints")
    if options.keep_mutation:
        words.append("--keep-mutation")
    if options.stablehlo is not None:
        words += ["--stablehlo", portable_path(options.stablehlo)]
    if options.output is not None:
        words += ["-o", portable_path(options.output)]
    return tuple(words)


def portable_path(path: str) -> str:
    """A path relative to the working directory if it is below that, with slashes."""
    relative = os.path.relpath(path)
    shown = path if relative.startswith(os.pardir) else relative
    return shown.replace(os.sep, "/")
