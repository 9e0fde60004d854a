"""Makes a Python environment that holds s2s as it stands in this checkout.

    environment.py ROOT NAME STAMP [EXTRA]

The environment is ROOT/.environments/NAME. STAMP is written into it last, so that one without the
stamp is known to be unfinished or out of date. Of several processes that ask for the same
environment at once, one makes it and the others wait.
"""

import fcntl
import shutil
import subprocess
import sys
import venv
from pathlib import Path


def main(root: Path, name: str, stamp: str, extra: str | None = None) -> None:
    directory = root / ".environments" / name
    directory.parent.mkdir(exist_ok=True)
    with open(directory.with_name(f"{name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (directory / "stamp").exists() and (directory / "stamp").read_text().strip() == stamp:
            return
        print(f"Making the environment {directory} (a few minutes) ...", file=sys.stderr)
        shutil.rmtree(directory, ignore_errors=True)
        venv.create(directory, with_pip=True)
        install(directory, f"{root}[{extra}]" if extra else str(root))
        (directory / "stamp").write_text(stamp + "\n")
        print("... done.", file=sys.stderr)


def install(directory: Path, requirement: str) -> None:
    """Installs into the environment, saying nothing unless it fails."""
    command = [str(directory / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    command += ["install", "--editable", requirement]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{result.stdout}\nFailed: {' '.join(command)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
