"""`mycnf report`: the findings of saved facts in any format, of one server or of many in worker processes."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import signal
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog import limit_cache
from advisor.commands.judge_facts import judge_facts
from advisor.core import errors
from advisor.core.errors import MycnfError, print_notice
from advisor.core.signals import hold_interrupts, restore_default_signals
from advisor.facts.snapshot import load
from advisor.report import plural
from advisor.report.bulk.counts import SnapshotSummary, Tally, summarize
from advisor.report.formats import bulk_writer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from advisor.analysis.audited import AuditResult
    from advisor.analysis.baseline import Baseline
    from advisor.commands.judge_facts import AuditRequest
    from advisor.facts import Facts
    from advisor.report import Page
    from advisor.report.bulk.streams import Sink


PR_SET_PDEATHSIG = 1
CATALOGS = 48  # versions whose catalogs each process caches; up to a megabyte each


def run(args: argparse.Namespace) -> int:
    """Report one snapshot like its audit, or many together; returns 2 if one of many cannot be read."""
    from advisor.commands.connection import apply_declared_host, declared_host, is_declared
    from advisor.commands.judge_facts import make_request
    from advisor.report.formats import names
    from advisor.report.output import pair

    if is_declared(args):
        declared_host(args)  # mistakes are reported even if every snapshot has its host
    if args.jobs is not None and args.jobs < 1:
        raise MycnfError(f"--jobs {args.jobs}: give the number of processes, 1 or more")
    pairs = pair(args.reports or ())
    args.write_baseline = None
    alone = len(args.snapshots) == 1 and not os.path.isdir(args.snapshots[0])
    asked = make_request(args, one_host=alone)
    if args.since is not None and not alone:
        raise MycnfError("--since compares one snapshot with an earlier one; name a single snapshot file")
    unfit = [name for name, _ in pairs if name not in names("audit")]  # Parquet exists only for the report on many
    if args.since is not None and unfit:
        raise MycnfError(f"--format {unfit[0]} has no comparison; use --since with text, json, markdown or html")
    if alone and not unfit:
        return _one(apply_declared_host(load(args.snapshots[0]), args), asked, pairs)
    return report_many(args.snapshots, asked, pairs, args.jobs)


def _one(facts: Facts, asked: AuditRequest, pairs: list[tuple[str, str | None]]) -> int:
    from advisor.analysis import fails
    from advisor.catalog.targets import stand_in_note
    from advisor.commands.audit import audit_since, warn_uncompared
    from advisor.report.formats import render_audit
    from advisor.report.output import write

    fail_on = asked.args.fail_on or FAIL_ON
    earlier = load(asked.args.since) if asked.args.since is not None else None
    if earlier is not None:
        warn_uncompared(name for name, _ in pairs)
    audited = audit_since(facts, earlier, asked)
    if sentence := stand_in_note(audited.context.target):
        print_notice(sentence)
    made = [(render_audit(name, audited, page_for(out, fail_on)), out) for name, out in pairs]
    for text, out in made:
        write(text, out)
    if facts.lost:
        print_notice(facts.lost)
        return errors.CONNECTION
    return errors.FINDINGS if fails(audited.findings, fail_on) else errors.OK


BATCH = 8  # snapshots per batch of a process
BATCHES_AHEAD = 4  # batches per process that may wait for earlier ones


def report_many(
    words: Sequence[str], asked: AuditRequest, pairs: Sequence[tuple[str, str | None]], jobs: int | None
) -> int:
    """Report every snapshot that is named or in a named directory; returns 2 if one cannot be read."""
    fail_on = asked.args.fail_on or FAIL_ON
    paths = _paths(words) if len(words) == 1 else _unique(_paths(words))
    sinks: list[Sink] = []
    tally = Tally()
    worker = ReportTask(asked, tuple(name for name, _ in pairs), page_for("", fail_on))
    try:
        sinks.extend(bulk_writer(form).open(out, page_for(out, fail_on)) for form, out in pairs)
        for judged in _snapshots(_judge_all(paths, worker, jobs or _processors()), words):
            if judged.broken:
                print_notice(judged.broken)
            if judged.lost:
                print_notice(f"{judged.path} is incomplete: {judged.lost}")
            tally.take(judged)
            for sink in sinks:
                sink.take(judged)
        if not tally.read + tally.broken:
            raise MycnfError(f"no snapshot (*.json) below {words[0]}; make one with mycnf collect -o FILE")
        while sinks:
            sinks[0].end(tally)
            sinks.pop(0)  # complete; if one fails, the others are dropped
    finally:
        for sink in sinks:
            sink.drop()
    return _code(tally)


def _snapshots(summaries: Iterable[SnapshotSummary], words: Sequence[str]) -> Iterator[SnapshotSummary]:
    """Yield the summaries without mycnf's own reports and baselines, and print how many were left out."""
    own = 0
    for summary in summaries:
        if summary.own and summary.path not in words:
            own += 1
        else:
            yield summary
    if own:
        print_notice(f"skipped {plural(own, 'file')}: reports or baselines that mycnf wrote, not snapshots")


def _code(tally: Tally) -> int:
    if tally.broken:
        print_notice(f"{tally.broken:,} of {plural(tally.read + tally.broken, 'snapshot')} could not be read")
    if tally.lost:
        are = "is" if tally.lost == 1 else "are"
        print_notice(f"{tally.lost:,} of {plural(tally.read, 'snapshot')} {are} incomplete: the connection was lost")
    if tally.broken or tally.lost:
        return errors.USAGE
    return errors.FINDINGS if tally.fails else errors.OK


def _paths(words: Iterable[str]) -> Iterator[str]:
    """Yield the snapshots in the given order; those of a directory recursively and sorted, without hidden ones.

    A directory that cannot be read stands for its snapshots; links to directories are reported on stderr.
    """
    for word in words:
        if not os.path.isdir(word):
            yield word
            continue
        unread: list[OSError] = []
        for folder, folders, names in os.walk(word, onerror=unread.append):
            while unread:
                yield unread.pop(0).filename
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for path in (os.path.join(folder, name) for name in folders):
                if os.path.islink(path):
                    print_notice(f"skipped {path}, a link to a directory; name it too if it has snapshots")
            for name in sorted(names):
                if name.endswith(".json") and not name.startswith("."):
                    yield os.path.join(folder, name)
        yield from (error.filename for error in unread)


def _unique(paths: Iterable[str]) -> Iterator[str]:
    """Yield each file once: one may be named and be in a named directory too."""
    seen: set[str] = set()
    for path in paths:
        real = os.path.realpath(path)
        if real not in seen:
            seen.add(real)
            yield path


def _refuse_directory(path: str) -> None:
    """Raise MycnfError for a directory in place of a snapshot: its own could not be listed."""
    if os.path.isdir(path):
        try:
            os.scandir(path).close()
            reason = "its snapshots could not be listed"
        except OSError as error:
            reason = error.strerror or "its snapshots could not be listed"
        raise MycnfError(f"{path} can't be read ({reason}); check its owner and mode")


def _judge_all(paths: Iterator[str], work: ReportTask, jobs: int) -> Iterator[SnapshotSummary]:
    """Yield the summary of each snapshot in order; at most BATCHES_AHEAD batches per process are running or waiting."""
    load_shared(work)
    if jobs == 1:
        for path in paths:
            yield report_one(path)
        return
    context = get_context("fork")  # loaded data is shared, and nothing needs to be pickled
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=init_process, initargs=(os.getpid(),)) as pool:
        waiting: deque[Future[list[SnapshotSummary]]] = deque()
        judged = False
        try:
            while lot := list(islice(paths, BATCH)):
                with hold_interrupts():  # the first call forks the processes
                    waiting.append(pool.submit(report_each, lot))
                if len(waiting) >= jobs * BATCHES_AHEAD:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
            judged = True
        except BrokenProcessPool as error:
            raise MycnfError("a worker process was killed, possibly for lack of memory; use fewer --jobs") from error
        finally:
            # Once all is judged, the pool's thread is waited for: at the interpreter's end it may find its pipe closed.
            # An interruption can come before that thread has started, and then nothing can wait for it.
            pool.shutdown(wait=judged, cancel_futures=True)


def _processors() -> int:
    """Return the number of processors available to this process."""
    return max(1, len(os.sched_getaffinity(0)))


FAIL_ON = "error"


def page_for(out: str | None, fail_on: str) -> Page:
    """Return the rendering options of a report that goes to `out`; colour is for terminals only."""
    from advisor.report import Page
    from advisor.report.output import colour_wanted, run_time

    return Page(colour=colour_wanted(out), fail_on=fail_on, now=run_time())


class ReportTask(NamedTuple):
    """The parameters shared by all processes: the rules, the formats, and the page options."""

    request: AuditRequest
    forms: tuple[str, ...]
    page: Page


_TASK: list[ReportTask] = []
_BASELINE: list[Baseline] = []


def load_shared(work: ReportTask) -> None:
    """Load what all processes share, before they are forked; raises MycnfError for an invalid baseline."""
    _TASK[:] = [work._replace(request=work.request._replace(by_target={}))]
    _BASELINE.clear()
    if work.request.args.baseline:
        from advisor.commands.suppress_findings import current_baseline

        _BASELINE.append(current_baseline(work.request.args.baseline))
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
        _refuse_directory(path)
        audited = _apply_baseline(judge_facts(load(path), work.request, brief=True))
        return summarize(path, audited, {form: bulk_writer(form).piece for form in work.forms}, work.page)
    except MycnfError as error:
        return SnapshotSummary(path, broken=str(error), own=is_own_report(path))
    except Exception as error:  # noqa: BLE001 - one invalid snapshot must not stop the others
        words = f"internal error: {type(error).__name__}; this is a defect of mycnf; mycnf audit --snapshot shows more"
        return SnapshotSummary(path, broken=f"{path}: {words}")


def _apply_baseline(audited: AuditResult) -> AuditResult:
    if not _BASELINE:
        return audited
    from advisor.analysis import baseline
    from advisor.commands.judge_facts import SERVER

    (split,) = baseline.apply_baseline(_BASELINE[0], [baseline.BaselineReading(SERVER, audited.findings, ())])
    aside = tuple((finding, "it is in the baseline") for finding in split.known)
    return audited._replace(findings=split.new, suppressed=(*audited.suppressed, *aside))


HEAD = 1 << 14  # bytes: in what begins a report the longest is a path
# How the document of each command goes on behind its version; T stands for a text, B for true or false.
_BEGIN = (
    '"files": [{"path": T, "target":',  # lint
    '"server": {"target":',  # audit and preflight
    '"snapshots": {"read":',  # report
    '"made_at": T, "directory":',  # fleet
    '"servers": [{"id": T, "name": T, "target":',  # history
    '"differs": B, "a": {"kind":',  # diff
    '"from": T, "to": T, "scope":',  # upgrade
    '"target": T, "options":',  # show
    '"target": T, "workload":',  # suggest
    '"rules": [{"code":',
    '"rule": {"code":',  # explain, of a rule and of an option
    '"option": {"name": T, "targets":',
    '"probes": [{"name": T, "title":',  # probe: the list, a result, and the results that are kept
    '"result": {"probe":',
    '"results": [{"id": T, "probe":',
    '"findings": [{"path": T, "code":',  # a baseline
)
_SARIF = '{"$schema": T, "version": "2.1.0", "runs": [{"tool": {"driver": {"name": "mycnf",'
_SPECIAL = {"T": r'"(?:[^"\\]|\\.)*"', "B": "(?:true|false)"}


def _pattern(begin: str) -> str:
    """The beginning with any room between its parts."""
    parts = re.findall(r'"[^"]*"|\S', begin)
    return r"\s*".join(_SPECIAL.get(part, re.escape(part)) for part in parts)


_OURS = re.compile(
    "|".join([*(_pattern(f'{{"version": 1, {begin}') for begin in _BEGIN), _pattern(_SARIF)]).encode("ascii")
)


def is_own_report(path: str) -> bool:
    """Whether mycnf wrote it as a report or a baseline; a file that can't be read is none."""
    try:
        with open(path, "rb") as file:
            return _OURS.match(file.read(HEAD).lstrip()) is not None
    except OSError:
        return False
