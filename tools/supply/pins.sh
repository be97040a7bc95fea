#!/bin/sh
# Writes requirements/*.txt again: versions and hashes of all that pyproject.toml and supply.in ask for, on any system and
# Python that mycnf runs on. pins.sh UV [--upgrade]. Versions that fit stay as they are, unless they are to be newer.
set -eu
uv=$1
shift

# Options of this machine's package index have no place in the files.
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
