#!/bin/sh
# Makes the virtual environment given as first argument and installs tile-lsp into it, with its extras `cutile`, `cuda`, `llvm` and `test`.
# The interpreter is $PYTHON if that is set, else the first on PATH that will do. Runs from the root of the checkout.
set -eu

venv=$1
oldest=3.11
newest=3.14 # the newest that cuda-tile is built for

# True if the command in $1 is a Python that will do.
usable() {
    "$1" -c '
import sys
low, high = (tuple(map(int, version.split("."))) for version in sys.argv[1:])
sys.exit(not low <= sys.version_info[:2] <= high)
' "$oldest" "$newest" >/dev/null 2>&1 </dev/null
}

fail() {
    printf 'tile-lsp: %s\n' "$@" >&2
    exit 1
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        usable "$PYTHON" || fail "PYTHON=$PYTHON is no Python $oldest to $newest."
        echo "$PYTHON"
        return
    fi
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if usable "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    fail "Python $oldest to $newest is needed, and none is on PATH (python3 is $(python3 --version 2>/dev/null || echo missing))." \
        "Install one, such as Debian's packages python3.11 and python3.11-venv, or name one: make PYTHON=/path/to/python3.12"
}

# Debian splits venv from its python3: fetch the missing half where we may, else name it.
make_venv() {
    if ! "$1" -c 'import ensurepip, venv' 2>/dev/null; then
        package=$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy "$package"
        else
            fail "$1 comes without venv. Install it: sudo apt-get install $package"
        fi
    fi
    "$1" -m venv --clear "$venv"
}

if ! usable "$venv/bin/python"; then
    python=$(find_python)
    echo "Making $venv with $("$python" --version) …"
    make_venv "$python"
fi
echo "Installing tile-lsp, cuTile, NVRTC and NVIDIA's assembler into $venv (about 1.1 GB the first time) …"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -c constraints.txt -e '.[cutile,cuda,llvm,test]'
