#!/bin/sh
# Writes the bill of materials, CycloneDX in JSON: sbom.sh SUPPLY DIST. SUPPLY is the environment with the tools, DIST
# contains the wheel. It lists the packages in the product's pinned environment with licences, and is reproducible.
set -eu
supply=$1
dist=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

"$supply/bin/uv" venv --quiet --python "$supply/bin/python" "$work/venv"
"$supply/bin/uv" pip install --quiet --python "$work/venv/bin/python" --require-hashes --requirement requirements/product.txt
"$supply/bin/uv" pip install --quiet --python "$work/venv/bin/python" --no-deps "$dist"/*.whl
"$supply/bin/cyclonedx-py" environment "$work/venv/bin/python" --pyproject pyproject.toml --mc-type application \
    --output-reproducible --output-format JSON --output-file "$dist/mycnf.cdx.json" 2>"$work/said" || {
    cat "$work/said" >&2
    exit 1
}
echo "$dist/mycnf.cdx.json"
