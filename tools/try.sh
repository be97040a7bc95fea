#!/bin/sh
# Tests the results of `make wheel zipapp` as a new user would use them: try.sh DIST. The wheel is installed into an
# empty environment; then wheel and zipapp each print their version, lint a file, and audit a recorded snapshot.
set -eu
dist=$1
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

say() { printf 'try: %s\n' "$1"; }

# The examples have findings on purpose, so the expected exit code is 1.
finds() {
    rc=0
    "$@" >"$work/out" 2>"$work/err" || rc=$?
    if [ "$rc" -ne 1 ] || [ ! -s "$work/out" ]; then
        say "$* ended with $rc, not 1:"
        cat "$work/out" "$work/err"
        exit 1
    fi
    say "$* : $(tail -n 1 "$work/out")"
}

judge() {
    say "$("$@" --version)"
    finds "$@" lint --target mysql-8.4 "$here/examples/refused.cnf"
    for snapshot in "$here"/examples/snapshots/*.json; do
        finds "$@" audit --fail-on note --snapshot "$snapshot"
    done
}

"$here/.venv/bin/python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$dist"/*.whl
cd "$work" # files of the checkout must not be used
say "the wheel, in an empty environment"
judge "$work/venv/bin/mycnf"
say "the zipapp"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
judge "$here/.venv/bin/python" -I "$here/dist/mycnf.pyz"
