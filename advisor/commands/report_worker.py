"""One process of those that judge many snapshots: it reads one, asks the rules, and says what the report needs."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.load import limit_cache
from advisor.commands.judge_facts import judge_facts
from advisor.core.errors import MycnfError
from advisor.core.signals import restore_default_signals
from advisor.facts.snapshot import load
from advisor.report.bulk.snapshot import Told
from advisor.report.bulk.snapshot import tell as told_of
from advisor.report.formats import bulk_writer
from advisor.report.own_reports import is_own_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.analysis.audited import Audited
    from advisor.analysis.baseline import Baseline
    from advisor.commands.judge_facts import AuditRequest
    from advisor.report import Page

PR_SET_PDEATHSIG = 1
CATALOGS = 48  # versions of which each process keeps what they know; a megabyte each, once it has been asked a lot


class ReportTask(NamedTuple):
    """What every process does alike: the rules asked, the formats, and what these depend on."""

    asked: AuditRequest
    forms: tuple[str, ...]
    page: Page


_TASK: list[ReportTask] = []
_BASELINE: list[Baseline] = []


def load_shared(work: ReportTask) -> None:
    """Load what all processes share, before they are made. Raises MycnfError for a baseline that is none."""
    _TASK[:] = [work._replace(asked=work.asked._replace(by_target={}))]
    _BASELINE.clear()
    if work.asked.args.baseline:
        from advisor.analysis import baseline

        _BASELINE.append(baseline.read_baseline(work.asked.args.baseline))
    gc.freeze()


def init_process(maker: int) -> None:
    """In a process of its own: end with the one that made it, leave interrupts to that, and tidy up between lots."""
    gc.disable()  # it would begin in the midst of a snapshot, when everything is in use
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    restore_default_signals()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != maker:  # killed before we asked to hear of it
        os._exit(1)


def report_each(paths: Sequence[str]) -> list[Told]:
    """The summary of each snapshot; reference cycles are collected afterwards."""
    told = [report_one(path) for path in paths]
    gc.collect(1)
    return told


def report_one(path: str) -> Told:
    """The summary of one snapshot; an error becomes part of it."""
    (work,) = _TASK
    limit_cache(CATALOGS)
    try:
        audited = _apply_baseline(judge_facts(load(path), work.asked, brief=True))
        return told_of(path, audited, {form: bulk_writer(form).piece for form in work.forms}, work.page)
    except MycnfError as error:
        return Told(path, broken=str(error), own=is_own_report(path))
    except Exception as error:  # noqa: BLE001 - one snapshot that we can't judge must not take the others with it
        words = f"internal error: {type(error).__name__}; this is a defect of mycnf: mycnf audit --snapshot tells more"
        return Told(path, broken=f"{path}: {words}")


def _apply_baseline(audited: Audited) -> Audited:
    if not _BASELINE:
        return audited
    from advisor.analysis import baseline
    from advisor.commands.judge_facts import SERVER

    (split,) = baseline.apply_baseline(_BASELINE[0], [baseline.BaselineReading(SERVER, audited.findings, ())])
    aside = tuple((finding, "the baseline knows it") for finding in split.known)
    return audited._replace(findings=split.new, aside=(*audited.aside, *aside))
