"""Helpers for the files screen: its audits, and its contents."""

from __future__ import annotations

from pathlib import Path

from app_driver import screen_text, until
from textual.pilot import Pilot

from advisor.analysis import run_rules, select_rules, sort_by_severity
from advisor.analysis.audited import AuditResult
from advisor.analysis.context import build_context
from advisor.collect.files import OptionFileReader, reread_files
from advisor.commands.collect import DEMO
from advisor.facts import Facts, OptionFiles
from advisor.facts.snapshot import load
from advisor.tui.app import AuditApp
from advisor.tui.screens.files.text import FileText
from advisor.tui.view import View

RECORDED = load(DEMO)
OF_DEMO = RECORDED.files or OptionFiles()
TUNING = "/etc/mysql/mariadb.conf.d/90-tuning.cnf"
SERVER = "/etc/mysql/mariadb.conf.d/50-server.cnf"


def judged(facts: Facts) -> AuditResult:
    """The facts with the findings of all rules."""
    known = build_context(facts)
    found = run_rules(known, select_rules(None, None))
    return AuditResult(facts, known, tuple(sort_by_severity(found.findings)), found.skipped)


def view_of(facts: Facts = RECORDED, origin: str = "snapshot") -> View:
    """An audit of these facts with all rules."""
    return View(judged(facts), origin, "a file", 0.0)


def read(top: Path) -> OptionFiles:
    """The option files as read by a start with this one."""
    return reread_files(OptionFiles(), [f"--defaults-file={top}"], [], OptionFileReader())


async def at_files(app: AuditApp, pilot: Pilot[int]) -> FileText:
    """The files screen with its contents."""
    await pilot.press("5")
    await until(pilot, lambda: bool(app.query("#files-text")) and "my.cnf" in screen_text(app))
    return app.query_one(FileText)


def title(text: FileText) -> str:
    """The file that is shown."""
    return str(text.border_title)


def notices(app: AuditApp) -> str:
    """The notifications of the app."""
    return "\n".join(notice.message for notice in app._notifications)


def said(app: AuditApp) -> str:
    """The notes below the text."""
    return str(app.query_one("#files-words Static").visual)  # type: ignore[attr-defined] # a Static's
