#!/bin/sh
# Creates or updates a virtual environment of this checkout: setup.sh VENV WHAT..., where each WHAT is the checkout (.)
# or a requirements file with hashes. If something is missing, it prints one line with the remedy.
set -eu
venv=$1
shift
pinned=

end() {
    printf 'setup: %s\n' "$1" >&2
    exit 1
}

# The newest Python first; PYTHON in the environment takes precedence.
find_python() {
    for name in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    end "Python 3.11 or newer is missing: apt-get install python3 python3-venv (or name one: make PYTHON=/path/to/python3.11)"
}

make_venv() {
    python=$(find_python)
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        end "$("$python" -c 'import sys; print("%s (Python %d.%d)" % (sys.executable, *sys.version_info[:2]))') can't make virtual environments: apt-get install python3-venv"
    echo "setup: making $venv with $("$python" --version)"
    "$python" -m venv --clear "$venv" || end "$venv could not be made: is the disk full, or the directory not yours?"
}

"$venv/bin/python" -m pip --version >/dev/null 2>&1 || make_venv

# The requirements contain everything that the checkout needs, including its build tools. The list is complete, so pip
# need not resolve anything (--no-deps): pip 23 also searches for a package with an extra (coverage[toml]) besides its
# pin, and rejects the whole list as soon as a newer version of it is released.
install() {
    case $1 in
    *.txt) set -- --no-deps --require-hashes --requirement "$1" ;;
    *) set -- ${pinned:+--no-deps --no-build-isolation} --editable "$1" ;;
    esac
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >"$venv/setup.log" 2>&1 && return
    if grep -qE 'NewConnectionError|Temporary failure|Could not find a version|timed out|Network is unreachable' "$venv/setup.log"; then
        end "packages could not be fetched: no network, or no package index that pip can reach (see pip config). All of it: $venv/setup.log"
    fi
    tail -n 3 "$venv/setup.log" >&2
    end "pip could not install what was asked for ($*). All of it: $venv/setup.log"
}

for what in "$@"; do
    echo "setup: installing $what into $venv"
    install "$what"
    pinned=yes
done
[ -e "$venv/../pyproject.toml" ] || exit 0
# pip does not compile editable installations, and without writable bytecode each start would compile them.
"$venv/bin/python" -m compileall -q advisor rules probes || :
