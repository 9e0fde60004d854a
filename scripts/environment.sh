# Sourced by the scripts beside it: Python environments that are made on first use.
# Bash only finds an interpreter and sees whether an environment is current, which has to be fast;
# environment.py makes it.

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# The versions that s2s runs on, the preferred one first.
python_versions="3.13 3.12 3.11 3.14"

# interpreter VERSION: prints the path of a Python of this version that can make environments.
# A candidate is run before it is believed: pyenv's shims exist for versions that are not selected.
interpreter() {
    local version=$1 candidate IFS=$'\n'
    for candidate in $(type -aP "python$version") \
        "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/"python$version" \
        $(type -aP python3) $(type -aP python); do
        if "$candidate" - "$version" <<'PYTHON' >/dev/null 2>&1
import ensurepip, sys, venv
sys.exit("%d.%d" % sys.version_info[:2] != sys.argv[1])
PYTHON
        then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# best_interpreter: prints the path of the most preferred Python there is, or says what is missing.
best_interpreter() {
    local version
    for version in $python_versions; do
        interpreter "$version" && return
    done
    echo "s2s needs Python 3.11 or newer with its venv module; found none." >&2
    return 1
}

# is_current NAME: whether the environment has been made for the dependencies as they are now.
# All that they depend on stands in pyproject.toml before the settings of the tools.
stamp=$(sed '/^\[tool\./,$d' "$root/pyproject.toml" | cat - <(echo "$root") | cksum)
is_current() {
    local directory=$root/.environments/$1
    [ -x "$directory/bin/python" ] && [ "$(cat "$directory/stamp" 2>/dev/null)" = "$stamp" ]
}

# make_environment NAME INTERPRETER [EXTRA]: makes the environment that holds s2s, with its EXTRA.
make_environment() {
    "$2" "$root/scripts/environment.py" "$root" "$1" "$stamp" ${3:+"$3"}
}
