"""A file as the other side's own server would run it, were it started with the file alone.

A server knows its defaults best: what neither the file sets nor anybody on the server stays as it runs, and what goes
by other settings, by the limit on open files or by the host is worked out as for a next start.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.analysis.context import know
from advisor.compare.offile import of_file, set_by
from advisor.compare.sized import bounded
from advisor.compare.values import Held
from advisor.core.model import Origin
from advisor.facts import Files
from advisor.preflight.command import next_command
from advisor.preflight.coupled import couple
from advisor.preflight.limits import clip
from advisor.preflight.outlook import option_of, outlooks
from advisor.preflight.sized import size
from advisor.preflight.sources import INSTALLED, Start, installed_plugins
from advisor.verdict import judge_file

if TYPE_CHECKING:
    from advisor.compare.values import Side
    from advisor.facts import Facts
    from advisor.preflight.outlook import Outlook
    from advisor.verdict import FileVerdict
    from rules.core.context import Known


def of_file_on(facts: Facts, verdict: FileVerdict, name: str) -> Side:
    """The file's side beside that server; `verdict` is for the server's own version."""
    now = know(facts if facts.files is not None else replace(facts, files=Files()))
    verdict = _with_plugins(facts, verdict)
    views = _views(now, facts, verdict)
    plain = of_file(verdict, name)
    held = {variable: _held(variable, view, now, plain) for variable, view in views.items()}
    unshown = {n: one for n, one in plain.held.items() if one.is_set and n not in held and not _is_installed(one)}
    return plain._replace(held={**bounded(held, now.catalog), **unshown})


def _with_plugins(facts: Facts, verdict: FileVerdict) -> FileVerdict:
    """The verdict where the server's installed plugins are loaded, whose options the file may set."""
    plugins = tuple(installed_plugins(facts))
    resolved = verdict.resolved._replace(options=(*plugins, *verdict.resolved.options))
    return judge_file(resolved, verdict.catalog) if plugins else verdict


def _views(now: Known, facts: Facts, verdict: FileVerdict) -> dict[str, Outlook]:
    start = Start(verdict, verdict, (), frozenset(), "", {}, reads_persisted=False)
    command = next_command(facts)
    views = outlooks(now, start)
    clip(views, now, command)
    couple(views, now)
    size(views, now)
    return views


def _held(variable: str, view: Outlook, now: Known, plain: Side) -> Held:
    option = option_of(variable, now.catalog)
    if view.line is None:
        return Held(variable, view.value, Origin.COMPILED, None, None, option)
    by_host = plain.held[variable].by_host if variable in plain.held else ""
    return set_by(view.line, variable, view.value, option)._replace(by_host=by_host)


def _is_installed(held: Held) -> bool:
    return held.location is not None and held.location.path == INSTALLED
