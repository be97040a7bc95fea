"""Who set a variable, as far as a text lets it be guessed: what differs from the version's default somebody set."""

from __future__ import annotations

from advisor.catalog.load import load
from advisor.catalog.targets import is_too_old, running
from advisor.facts.server import VariableOrigin
from advisor.verdict.settings import Settings

DIFFERS, DEFAULT = "DIFFERS", "COMPILED"
OF_TEXT = "texts don't tell who set a variable: what differs from this version's default is taken as set by somebody"


def told_origins(variables: dict[str, str], target: str) -> dict[str, VariableOrigin]:
    """DIFFERS for variables with another value than the target starts with, COMPILED where it is that or can't be told.

    None for a version older than the catalogs. Raises MycnfError for one that can't be read.
    """
    server = running(target)
    if is_too_old(server):
        return {}
    catalog = load(server)
    defaults = Settings({}, catalog)
    found = {}
    for name, value in variables.items():
        usual = defaults.text(name)
        same = usual is None or usual.upper() == value.upper()
        found[name] = VariableOrigin(DEFAULT if same else DIFFERS)
    return found
