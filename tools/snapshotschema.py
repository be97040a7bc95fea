"""Write schemas/snapshot.schema.json from the types of advisor.facts; --check reports whether it is current.

usage: snapshotschema.py [--check]
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from typing import Any

import msgspec

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(TOP, "schemas", "snapshot.schema.json")


def main() -> int:
    """Write or check the schema."""
    sys.path.insert(0, TOP)
    text = json.dumps(_schema(), indent=1) + "\n"
    if "--check" in sys.argv[1:]:
        return _check(text)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


def _schema() -> dict[str, Any]:
    from advisor.facts import SCHEMA, Facts

    major = SCHEMA.partition(".")[0]
    defs = msgspec.json.schema(Facts)["$defs"]
    defs["Facts"]["properties"]["schema"]["pattern"] = f"^{major}\\.[0-9]+$"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "snapshot.schema.json",
        "title": "what mycnf collect writes",
        "description": f"Schema {SCHEMA}. A later {major}.x adds fields, which readers ignore, and removes none.",
        "$ref": "#/$defs/Facts",
        "$defs": {name: _described_part(part) for name, part in sorted(defs.items())},
    }


def _described_part(part: dict[str, Any]) -> dict[str, Any]:
    """A type with its description on one line."""
    description = inspect.cleandoc(part.get("description", ""))
    return {**part, **({"description": " ".join(description.split())} if description else {})}


def _check(text: str) -> int:
    try:
        with open(PAGE, encoding="utf-8") as file:
            current = file.read() == text
    except FileNotFoundError:
        current = False
    if not current:
        print("schemas/snapshot.schema.json is not what advisor.facts says: make docs")
    return int(not current)


if __name__ == "__main__":
    sys.exit(main())
