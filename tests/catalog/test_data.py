"""The files of the catalog: their form, and that no fact contradicts another."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

import pytest

import advisor.catalog
from advisor.catalog import Option, load
from advisor.catalog.targets import BUILD_SERIES, EXAMINED, SERIES
from advisor.core.model import Target

DATA = os.path.join(os.path.dirname(advisor.catalog.__file__), "data")
NAMES = [f"{flavour}-{s[0]}.{s[1]}" for flavour, series in SERIES.items() for s in series]
BUILDS = [f"{build}-{s[0]}.{s[1]}" for build, series in BUILD_SERIES.items() for s in series]
OF_BUILDS = [Target("mysql", v, build) for build, series in BUILD_SERIES.items() for v in series.values()]
TARGETS = sorted({*EXAMINED, *OF_BUILDS, *(Target(f, v) for f, series in SERIES.items() for v in series.values())})
KINDS = {"bool", "int", "uint", "double", "enum", "set", "flagset", "string", "flag"}
UNPRINTED = "(No default value)"


@pytest.mark.parametrize("name", [*NAMES, *BUILDS, "elsewhere", "vendors", "windows"])
def test_a_file_is_small_sorted_and_one_option_a_line(name: str) -> None:
    """Each file stays within 250 KB, holds one option a line, in order, and nothing twice."""
    path = os.path.join(DATA, f"{name}.json")
    assert os.path.getsize(path) <= 250_000
    with open(path, encoding="utf-8") as f:
        text = f.read()
    options = json.loads(text)
    options = options.get("options", options)
    keys = [re.match(r'"([^"]+)":', line)[1] for line in text.split("\n") if line.startswith('"')]
    assert keys == sorted(options)
    assert all(re.fullmatch(r"[a-z0-9_]+", key) for key in keys)


def test_there_is_a_file_for_each_series_and_no_other() -> None:
    """The data folder holds what the list of series says."""
    assert sorted(f for f in os.listdir(DATA) if f.endswith(".json")) == sorted(
        f"{n}.json" for n in [*NAMES, *BUILDS, "elsewhere", "managed", "vendors", "windows"]
    )


def options_of(target: Target) -> Iterator[Option]:
    """Every option of a target."""
    catalog = load(target)
    for name in catalog.options:
        option = catalog.get(name)
        assert option is not None
        yield option


@pytest.mark.parametrize("asked", [Target("mysql", (5, 7, 22)), Target("mysql", (8, 0, 15))], ids=str)
def test_booleans_take_their_arguments_as_the_asked_server_said(asked: Target) -> None:
    """A printed help shows no boolean's argument: what a server of the series was asked holds for its newest patch."""
    newest = load(Target("mysql", SERIES["mysql"][asked.version[:2]]))
    for option in options_of(asked):
        now = newest.get(option.name)
        if option.kind == "bool" and now is not None and now.kind == "bool":
            assert now.arg == option.arg, option.name


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_every_record_is_whole(target: Target) -> None:
    """Every option has a kind and says whether it takes an argument; only numbers have a width and a range."""
    for option in options_of(target):
        assert option.kind in KINDS, option
        assert option.arg in ("none", "optional", "required"), option
        assert (option.bits in (32, 64)) == (option.kind in ("int", "uint", "double")), option
        assert option.scope in (None, "global", "session", "both"), option
        if option.kind not in ("int", "uint", "double"):
            assert option.min is None, option
            assert option.max is None, option
        assert option.alias_of is None or option.alias_of in load(target).options, option


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_every_default_is_one_that_the_option_takes(target: Target) -> None:
    """A default is in its own range, on its own block, and among its own members."""
    for option in options_of(target):
        default = option.default
        if default is None or default == UNPRINTED:
            continue
        if option.kind == "bool":
            assert default in ("TRUE", "FALSE"), option
        elif option.kind in ("int", "uint"):
            value = int(default)
            if value < 0 and option.kind == "uint":
                value += 1 << option.bits  # the help prints it as a signed number
            assert within(value, option), option
        elif option.kind == "double":
            assert within(float(default), option), option
        elif option.kind == "enum" and option.values:
            assert default.lower() in [v.lower() for v in option.values], option
        elif option.kind == "set" and option.values:
            assert {v for v in default.split(",") if v} <= set(option.values), option
        elif option.kind == "flagset":
            assert {p.split("=")[0] for p in default.split(",") if p} <= set(option.values), option


def within(value: float, option: Option) -> bool:
    """Whether a default is in range; -1 and 0 mean "work it out" where they are below the least value."""
    low = option.min is None or value >= option.min or value in (-1, 0)
    return low and (option.max is None or value <= option.max)


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_ranges_are_ranges(target: Target) -> None:
    """The least value is not above the greatest, and fits the width."""
    for option in options_of(target):
        if option.min is not None and option.max is not None:
            assert option.min <= option.max, option
        if option.kind in ("int", "uint") and option.bits == 32 and option.max is not None:
            assert option.max < 1 << 32, option
        assert option.block >= 1, option
