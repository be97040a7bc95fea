"""The check by hand and the published schema allow exactly the same documents."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mycnf_command import CHECKOUT

from advisor.config import shape
from advisor.config.shape import find_faults
from advisor.report.formats import names

SCHEMA: dict[str, Any] = json.loads((CHECKOUT / "schemas" / "mycnf.schema.json").read_text("utf-8"))
JUDGE = jsonschema.Draft202012Validator(SCHEMA)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from(
        [
            1.0,
            2.5,
            float("nan"),
            float("inf"),
            "",
            " ",
            "\n",
            "x",
            "error",
            "128K",
            "mysql-8.4",
            "mysql-8.4\n",
            "٣G",
            "64G",
        ]
    ),
    st.just([]),
    st.just({}),
    st.just(["mysql-8.4"]),
    st.just([1]),
    st.just({"maximum": 1}),
    st.just([{"required": True}]),
    st.just([{"message": "x"}]),
)


def made_from(schema: dict[str, Any]) -> st.SearchStrategy[Any]:  # noqa: PLR0911 - one for each keyword
    """Documents that a part of the schema allows; each keyword that the schema uses is known here."""
    if "$ref" in schema:
        return made_from(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema and "type" not in schema:
        return st.one_of(*map(made_from, schema["anyOf"]))
    if isinstance(schema["type"], list):
        return st.one_of(*(made_from({"type": kind}) for kind in schema["type"]))
    match schema["type"]:
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema.get("minimum", -5), 64)
        case "number":
            return st.one_of(st.integers(-5, 5), st.floats(-5, 5))
        case "string":
            return st.from_regex(schema["pattern"]) if "pattern" in schema else st.text(max_size=4)
        case "array":
            return st.lists(made_from(schema["items"]), min_size=schema.get("minItems", 0), max_size=3)
        case "object":
            return _object(schema)
    raise AssertionError(schema)


def _object(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if isinstance(schema["additionalProperties"], dict):
        return st.dictionaries(st.text(max_size=4), made_from(schema["additionalProperties"]), max_size=3)
    known = {key: made_from(inner) for key, inner in schema["properties"].items()}
    some = [{key: known[key] for key in one["required"]} for one in schema.get("anyOf", [{"required": []}])]
    return st.one_of(
        *(
            st.fixed_dictionaries(needed, optional={k: v for k, v in known.items() if k not in needed})
            for needed in some
        )
    )


DOCUMENTS = made_from(SCHEMA)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place inside a document that holds a value: its container and the key."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@given(DOCUMENTS)
@settings(max_examples=200)
def test_what_the_schema_allows_is_accepted(document: Any) -> None:
    """A document made from the schema is fine by the validator, and by hand."""
    assert JUDGE.is_valid(document)
    assert list(find_faults(document)) == []


@given(DOCUMENTS, st.data())
@settings(max_examples=200)
def test_mutated_documents_are_judged_alike(document: Any, data: st.DataObject) -> None:
    """With values replaced, keys added and taken away, both say the same."""
    document = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 2))):
        within = places(document)
        if within and data.draw(st.booleans()):
            container, key = data.draw(st.sampled_from(within))
            container[key] = copy.deepcopy(data.draw(ODD))
        elif within:
            container, key = data.draw(st.sampled_from(within))
            del container[key]
        elif isinstance(document, dict):
            document[data.draw(st.sampled_from(["target", "fail_on", "house", "x"]))] = copy.deepcopy(data.draw(ODD))
    assert (list(find_faults(document)) == []) is JUDGE.is_valid(document), document


@given(st.sampled_from([*shape.TOP, "x", "Target", ""]), ODD)
@settings(max_examples=400)
def test_single_keys_are_judged_alike(key: str, value: Any) -> None:
    """Each key with each odd value is judged alike."""
    assert (list(find_faults({key: value})) == []) is JUDGE.is_valid({key: value})


@given(st.sampled_from([*shape.HOUSE, "x", "Required"]), ODD)
@settings(max_examples=400)
def test_single_keys_of_house_rules_are_judged_alike(key: str, value: Any) -> None:
    """Each key of a house rule with each odd value is judged alike."""
    document = {"house": {"port": {key: value}}}
    assert (list(find_faults(document)) == []) is JUDGE.is_valid(document)


@pytest.mark.parametrize("document", [None, [], "x", 1, True])
def test_what_is_no_table(document: Any) -> None:
    """Only a table is a configuration."""
    assert list(find_faults(document))
    assert not JUDGE.is_valid(document)


def test_the_schema_is_one() -> None:
    """The schema keeps to its own specification, and names the keys that the check by hand knows."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert list(SCHEMA["properties"]) == list(shape.TOP)
    assert list(SCHEMA["$defs"]["house-rule"]["properties"]) == list(shape.HOUSE)


def test_formats_are_those_of_lint() -> None:
    """The formats that a configuration may ask for are those of the command line."""
    assert SCHEMA["properties"]["format"]["enum"] == list(names("lint"))


def test_the_example_is_accepted() -> None:
    """The example of the documentation is a configuration."""
    document = tomllib.loads(Path(CHECKOUT / "examples" / "house" / "mycnf.toml").read_text("utf-8"))
    assert set(document) >= {"target", "house", "per-file-ignores"}
    assert JUDGE.is_valid(document)


def test_every_key_is_in_the_documentation() -> None:
    """docs/configuration.md names each key, and its example of house rules is one."""
    page = (CHECKOUT / "docs" / "configuration.md").read_text("utf-8")
    assert [key for key in [*shape.TOP, *shape.HOUSE] if f"`{key}`" not in page] == []
    sample = page.partition("```toml\n")[2].partition("```")[0]
    assert JUDGE.is_valid(tomllib.loads(sample))
