"""A running or recorded server as a side: its variables, and who set them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.analysis.context import know
from advisor.compare.equal import equal
from advisor.compare.values import Held, Side
from advisor.core.model import Origin
from advisor.preflight.outlook import SWITCHES, lines_by_variable, option_of, origin_of
from advisor.verdict.settings import location_of

if TYPE_CHECKING:
    from advisor.compare.values import Kind
    from advisor.facts import Facts
    from advisor.verdict import LineVerdict
    from rules.core.context import Known


def of_server(facts: Facts, kind: Kind, name: str) -> Side:
    """The side that these facts tell of; `name` is what the user called it."""
    known = know(facts)
    lines = lines_by_variable(known.file_verdict, known.catalog)
    held = {variable: _held(variable, known, lines.get(variable)) for variable in facts.server.variables}
    return Side(kind, name, known.catalog, held, facts.server.variables.get("hostname", ""), facts.taken_at)


def _held(variable: str, known: Known, line: LineVerdict | None) -> Held:
    """A variable as it runs; the line that its file holds now is believed to be its line where the server says file."""
    setting = known.settings.get(variable)
    origin = origin_of(variable, known)
    if origin is Origin.RUNTIME:
        origin = _set_while_running(variable, known)
    place = setting.location if setting else None
    raw = None
    if origin is Origin.FILE and line is not None:
        place, raw = place or location_of(line), line.placed.line.raw
    return Held(variable, known.server.variables[variable], origin, place, raw, option_of(variable, known.catalog))


def _set_while_running(variable: str, known: Known) -> Origin:
    """Who set it, more closely: SET PERSIST wrote the value down too, and of some variables servers know nothing.

    What belongs to sessions alone is called set at run time once any session has set it for itself.
    """
    if variable in SWITCHES:
        return Origin.UNKNOWN
    persisted = known.files.persisted_options if known.has("files") else None
    written = {option.name: option.value for option in persisted or ()}
    running = Held(variable, known.server.variables[variable], Origin.RUNTIME)
    kept = variable in written and equal(running._replace(value=written[variable]), running)
    return Origin.PERSISTED if kept else Origin.RUNTIME
