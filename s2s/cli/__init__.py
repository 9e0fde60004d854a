"""The command line: `s2s grad model.py:loss -o loss_grad.py`."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `s2s` with the given arguments (those of the process by default).

    Returns the exit status: 0, or 1 if the command fails or `--check` finds a difference. Exits
    with 2, as Python's argparse does, if the arguments cannot be read.
    """
    from s2s.cli.options import parse

    options = parse(sys.argv[1:] if arguments is None else arguments)
    # Only now, so that --help does not wait for NumPy.
    from s2s.cli.run import run_and_report

    return run_and_report(options)
