#!/bin/sh
# Rewrites requirements/*.txt: versions and hashes of all packages in pyproject.toml and supply.in, for every system and
# Python that mycnf supports. pins.sh UV [--upgrade]. Pinned versions that still match are kept without --upgrade.
set -eu
uv=$1
shift

# The files must not contain options of this machine's package index.
pin() {
    out=requirements/$1.txt
    shift
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
        --custom-compile-command "make pins" --output-file "$out" "$@"
    echo "$out: $(grep -c '^[A-Za-z0-9]' "$out") packages"
}

pin product "$@" pyproject.toml
pin development "$@" pyproject.toml --extra dev --constraint requirements/product.txt
pin supply "$@" requirements/supply.in
