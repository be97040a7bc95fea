"""Worker process that judges snapshots: loads one, runs the rules, and returns what the report needs."""

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
from advisor.report.bulk.counts import SnapshotSummary, summarize
from advisor.report.formats import bulk_writer
from advisor.report.own_reports import is_own_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.analysis.audited import Audited
    from advisor.analysis.baseline import Baseline
    from advisor.commands.judge_facts import AuditRequest
    from advisor.report import Page

PR_SET_PDEATHSIG = 1
CATALOGS = 48  # versions whose catalogs each process caches; up to a megabyte each


class ReportTask(NamedTuple):
    """The parameters shared by all processes: the rules, the formats, and the page options."""

    asked: AuditRequest
    forms: tuple[str, ...]
    page: Page


_TASK: list[ReportTask] = []
_BASELINE: list[Baseline] = []


def load_shared(work: ReportTask) -> None:
    """Load what all processes share, before they are forked; raises MycnfError for an invalid baseline."""
    _TASK[:] = [work._replace(asked=work.asked._replace(by_target={}))]
    _BASELINE.clear()
    if work.asked.args.baseline:
        from advisor.analysis import baseline

        _BASELINE.append(baseline.read_baseline(work.asked.args.baseline))
    gc.freeze()


def init_process(maker: int) -> None:
    """Initialise a worker: it ends with its parent, ignores SIGINT, and collects garbage between batches."""
    gc.disable()  # it would run in the middle of a snapshot, when everything is in use
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    restore_default_signals()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != maker:  # the parent died before prctl took effect
        os._exit(1)


def report_each(paths: Sequence[str]) -> list[SnapshotSummary]:
    """Return the summary of each snapshot; reference cycles are collected afterwards."""
    summaries = [report_one(path) for path in paths]
    gc.collect(1)
    return summaries


def report_one(path: str) -> SnapshotSummary:
    """Return the summary of one snapshot; an error becomes part of it."""
    (work,) = _TASK
    limit_cache(CATALOGS)
    try:
        audited = _apply_baseline(judge_facts(load(path), work.asked, brief=True))
        return summarize(path, audited, {form: bulk_writer(form).piece for form in work.forms}, work.page)
    except MycnfError as error:
        return SnapshotSummary(path, broken=str(error), own=is_own_report(path))
    except Exception as error:  # noqa: BLE001 - one invalid snapshot must not stop the others
        words = f"internal error: {type(error).__name__}; this is a defect of mycnf; mycnf audit --snapshot shows more"
        return SnapshotSummary(path, broken=f"{path}: {words}")


def _apply_baseline(audited: Audited) -> Audited:
    if not _BASELINE:
        return audited
    from advisor.analysis import baseline
    from advisor.commands.judge_facts import SERVER

    (split,) = baseline.apply_baseline(_BASELINE[0], [baseline.BaselineReading(SERVER, audited.findings, ())])
    aside = tuple((finding, "the baseline knows it") for finding in split.known)
    return audited._replace(findings=split.new, suppressed=(*audited.suppressed, *aside))
