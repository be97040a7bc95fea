"""Write schemas/mycnf.schema.json from a model of the configuration; --check says whether it is current.

usage: configschema.py [--check]

The model is here and not in the product: lint checks the configuration each time that it reads one and imports no
library, so `advisor.config.shape` is that check. The words and patterns are taken from it, and a test holds the schema
to the same documents.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Annotated, Any

from clidoc import TOP, keep
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypeAliasType

sys.path.insert(0, TOP)

from advisor.config import shape
from advisor.report.formats import names

PAGE = os.path.join(TOP, "schemas", "mycnf.schema.json")
DESCRIPTION = (
    "The configuration of mycnf: the whole of mycnf.toml, or the table [tool.mycnf] of a pyproject.toml. "
    "Names of rules, options and targets are checked by mycnf itself."
)
HOW_TO_RENEW = "schemas/mycnf.schema.json is not what its model and advisor.config.shape say: make docs"

Target = TypeAliasType("Target", Annotated[str, Field(pattern=shape.TARGET)])
Rules = TypeAliasType("Rules", Annotated[str, Field(pattern=shape.RULE)])
Bound = TypeAliasType("Bound", float | Annotated[str, Field(pattern=shape.BOUND)])
TargetSpan = Annotated[str, Field(pattern=shape.TARGET_SPAN)]
Text = Annotated[str, Field(pattern=shape.TEXT)]
Severity = Annotated[str, WithJsonSchema({"enum": list(shape.SEVERITIES)})]
FailOn = Annotated[str, WithJsonSchema({"enum": list(shape.FAIL_ON)})]
Disk = Annotated[str, WithJsonSchema({"enum": list(shape.DISKS)})]
Format = Annotated[str, WithJsonSchema({"enum": list(names("lint"))})]
ABSENT: Any = None  # the default of every key: it may be left out, and has no value then


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")


class HouseRule(_Table):
    """What a house rule demands of one option, by at least one condition."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": [key]} for key in shape.HOUSE_CHECKS]})

    required: bool = Field(ABSENT, description="The option must be set.")
    forbidden: bool = Field(ABSENT, description="The option must not be set.")
    minimum: Bound = Field(ABSENT, description='The least value, such as 500 or "128K".')
    maximum: Bound = Field(ABSENT, description='The greatest value, such as 500 or "128K".')
    allowed: list[str | float | bool] = Field(ABSENT, min_length=1, description="The only values that it may have.")
    message: Text = Field(ABSENT, description="A sentence that follows the finding: why, or whom to ask.")
    severity: Severity = Field(ABSENT, description="How much a breach matters (default: warning).")
    targets: TargetSpan | Annotated[list[TargetSpan], Field(min_length=1)] = Field(
        ABSENT, description="The servers that the rule is for: a flavour, a series, or a version (default: all)."
    )


class Configuration(_Table):
    """The keys of a configuration, in the order of the documentation."""

    target: Target | Annotated[list[Target], Field(min_length=1)] = Field(
        ABSENT, description="The servers to judge for, such as mysql-8.4 or mariadb-10.11."
    )
    select: Rules | Annotated[list[Rules], Field(min_length=1)] = Field(
        ABSENT, description="Only these rules: codes, names or families."
    )
    ignore: Rules | list[Rules] = Field(
        ABSENT,
        description="All but these rules: codes, names or families, through a last day as in: CON001 until 2027-01-31.",
    )
    fail_on: FailOn = Field(ABSENT, alias="fail-on", description="The least severity that makes the exit code 1.")
    baseline: Text = Field(ABSENT, description="A baseline file, relative to this file.")
    root: Text = Field(
        ABSENT, description="The directory below which absolute include paths are read, relative to this file."
    )
    format: Format = Field(ABSENT, description="How lint prints its report.")
    ram: Annotated[str, Field(pattern=shape.RAM)] = Field(ABSENT, description="The server's memory, such as 64G.")
    cpus: int = Field(ABSENT, ge=1, description="The server's processors.")
    disk: Disk = Field(ABSENT, description="The kind of the server's disk.")
    per_file_ignores: dict[str, Rules | list[Rules]] = Field(
        ABSENT,
        alias="per-file-ignores",
        description="Rules that say nothing about the files of a pattern, which is relative to this file.",
    )
    house: dict[str, HouseRule | Annotated[list[HouseRule], Field(min_length=1)]] = Field(
        ABSENT, description="House rules by option: what every server of the house must, may and must not set."
    )


class _Writer(GenerateJsonSchema):
    """JSON Schema without the titles that repeat a key, and with the names of parts in lower case."""

    def normalize_name(self, name: str) -> str:
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the library's own signature
        return False

    def default_schema(self, schema: Any) -> Any:
        return self.generate_inner(schema["schema"])


def main() -> int:
    """Write or check the schema."""
    return keep(json.dumps(_schema(), indent=2, ensure_ascii=False) + "\n", PAGE, HOW_TO_RENEW)


def _schema() -> dict[str, Any]:
    made = Configuration.model_json_schema(schema_generator=_Writer)
    parts = made.pop("$defs")
    for part in parts.values():
        part.pop("title", None)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mycnf.toml",
        "description": DESCRIPTION,
    }
    return head | {key: value for key, value in made.items() if key not in head} | {"$defs": parts}


if __name__ == "__main__":
    sys.exit(main())
