"""`mycnf fleet`: audits many servers through the team's Ansible inventory and transport."""

from __future__ import annotations

import math
import os
import shlex
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from advisor.commands.connection import check_window
from advisor.core import errors
from advisor.core.errors import MycnfError, print_notice

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from advisor.commands.judge_facts import AuditRequest
    from advisor.fleet.ansible import Fleet
    from advisor.fleet.outliers import Member
    from advisor.fleet.run_directory import HostRow
    from advisor.report.fleet_survey import JudgedServer, Survey
    from rules.replication.chain import Chain, ChainServer

FAIL_ON = "error"
# Options of a single audit; in a fleet each host has its own variables for them.
_SINGLE_SERVER = ("ram", "cpus", "disk", "host_tar", "baseline", "write_baseline")


def run(args: argparse.Namespace) -> int:
    """Audit every host of the inventory and report on all; hosts that cannot be audited are rows of the report."""
    from advisor.analysis import fails
    from advisor.commands.judge_facts import make_request
    from advisor.report import fleet
    from advisor.report.fleet import document
    from advisor.report.formats import render
    from advisor.report.output import Paper, write

    _refuse_contradictions(args)
    for name in _SINGLE_SERVER:
        setattr(args, name, None)
    asked = make_request(args, one_host=False)
    folder = _check_run(args.kept) if args.kept else _collect_all(args)
    survey = _survey(folder, asked)
    own = {"json": partial(fleet.as_json, survey)}
    write(render("fleet", args.format, Paper.of_width(args.output), partial(document, survey), own), args.output)
    print_notice(_summary(survey, args))
    if not survey.judged:
        return errors.CONNECTION
    if survey.absent or any(one.row.reason for one in survey.judged):
        return errors.USAGE
    return errors.FINDINGS if fails(survey.findings, asked.args.fail_on or FAIL_ON) else errors.OK


def _refuse_contradictions(args: argparse.Namespace) -> None:
    if args.kept and (args.resume or args.dir or args.inventory or args.limit):
        raise MycnfError("--from only reports on a saved run; omit --dir, --resume, --inventory and --limit")
    if args.resume and not args.dir:
        raise MycnfError("--resume needs the directory of the run: name it with --dir")
    if args.forks is not None and args.forks < 1:
        raise MycnfError(f"--forks {args.forks} is invalid; write the number of hosts at a time, 1 or more")
    check_window(args.window)
    if not (math.isfinite(args.timeout) and args.timeout > args.window):
        raise MycnfError(
            f"--timeout {args.timeout:g} leaves no time after the window of {args.window:g} s; raise it, or shorten "
            "the window with --window"
        )


def _check_run(folder: str) -> str:
    from advisor.fleet.run_directory import check_run

    check_run(folder)
    return folder


def _collect_all(args: argparse.Namespace) -> str:
    """Collect from all hosts, and return the run's directory."""
    from advisor.fleet.ansible import find_ansible, run_fleet
    from advisor.fleet.run_directory import default_directory, holds_run, lock_run, prepare_directory, remove_if_empty
    from advisor.report.output import run_time

    find_ansible()
    for inventory in args.inventory:
        if "," not in inventory and not os.path.exists(inventory):
            raise MycnfError(f"the inventory {inventory} does not exist; name a file or a directory with -i")
    folder = os.path.abspath(args.dir or default_directory(run_time()))
    prepare_directory(folder, resume=args.resume)
    with lock_run(folder) as lock:
        try:
            run_fleet(_fleet(args, folder), _report_progress, lock)
        except MycnfError:
            remove_if_empty(folder)
            raise
        except KeyboardInterrupt:
            if holds_run(folder):
                print_notice(f"continue with {_resume_command(args, folder)}")
            remove_if_empty(folder)  # removes the directory of a run that reached no host yet
            raise
    return folder


def _fleet(args: argparse.Namespace, folder: str) -> Fleet:
    from advisor.fleet.ansible import Fleet

    vault = [word for one in args.vault_id for word in ("--vault-id", one)]
    vault += [word for file in args.vault_password_file for word in ("--vault-password-file", file)]
    vault += ["--ask-vault-password"] if args.ask_vault_password else []
    asks = args.ask_vault_password or any(one.endswith("@prompt") or one == "prompt" for one in args.vault_id)
    return Fleet(
        folder,
        inventories=tuple(args.inventory),
        limit=args.limit,
        forks=args.forks,
        timeout=args.timeout,
        window=args.window,
        vault=tuple(vault),
        asks=asks,
    )


def _report_progress(row: HostRow, number: int, of: int) -> None:
    why = f": {row.reason}" if row.reason else ""
    print_notice(f"{number} of {of}: {row.name} {row.status.value}{why}")


def _survey(folder: str, asked: AuditRequest) -> Survey:
    """Judge all saved hosts of the run, first by themselves, then beside the servers that they replicate with.

    Only what is compared is kept of each, so the snapshots are read one after the other, twice.
    """
    from advisor.fleet.outliers import outliers, peer_groups
    from advisor.fleet.run_directory import rows_of
    from advisor.report.fleet_survey import Survey
    from advisor.report.output import run_time
    from rules.replication.chain import chains

    results: list[JudgedServer] = []
    members: list[Member] = []
    absent: list[HostRow] = []
    rows = rows_of(folder)
    linked = chains(tuple(_chain_servers(folder, rows)))
    for row in rows:
        if not row.has_facts:
            absent.append(row)
            continue
        try:
            judged, member = _judge(folder, row, asked, linked.get(row.name))
        except MycnfError as error:
            absent.append(_failed_row(row, error))
            continue
        results.append(judged)
        members.append(member)
    unusual, sets = outliers(members), peer_groups(members)
    return Survey(folder, run_time(), tuple(results), tuple(absent), tuple(unusual), tuple(sets))


def _chain_servers(folder: str, rows: Iterable[HostRow]) -> Iterator[ChainServer]:
    """What is compared between servers that replicate with each other, of each readable snapshot."""
    from advisor.analysis.context import target_of
    from advisor.facts.snapshot import load
    from advisor.fleet.outliers import chain_server

    for row in rows:
        with suppress(MycnfError):
            if row.has_facts:
                facts = load(os.path.join(folder, row.snapshot))
                yield chain_server(row.name, target_of(facts.server), facts, row.place)


def _failed_row(row: HostRow, error: MycnfError) -> HostRow:
    from dataclasses import replace

    from advisor.fleet.run_directory import Status

    return replace(row, status=Status.FAILED, reason=str(error), snapshot="")


def _judge(folder: str, row: HostRow, asked: AuditRequest, chain: Chain | None) -> tuple[JudgedServer, Member]:
    """Return one server's findings and its comparison data; raises MycnfError for an invalid snapshot."""
    from advisor.commands.judge_facts import judge_facts
    from advisor.core.model import SkippedCheck
    from advisor.facts.snapshot import load
    from advisor.fleet.outliers import member_of
    from advisor.report.fleet_survey import JudgedServer

    facts = load(os.path.join(folder, row.snapshot))
    audited = judge_facts(facts, asked, chain=chain)
    skipped = (*audited.skipped, *(SkippedCheck(u.part, u.reason) for u in facts.unavailable))
    hostname = facts.server.variables.get("hostname", "")
    one = JudgedServer(row, audited.context.target, facts.server.vendor, hostname, audited.findings, skipped)
    return one, member_of(row.name, row.groups, audited.context, facts.server)


def _summary(survey: Survey, args: argparse.Namespace) -> str:
    summary = f"{len(survey.judged)} of {len(survey.judged) + len(survey.absent)} hosts audited"
    return (
        f"{summary}; continue with {_resume_command(args, survey.folder)}"
        if survey.absent
        else f"{summary}, kept in {survey.folder}"
    )


def _resume_command(args: argparse.Namespace, folder: str) -> str:
    """Return the command that resumes a run; a saved run does not know the inventory, which Ansible may need."""
    words = ["mycnf", "fleet", "--resume", "--dir", folder]
    limit = [args.limit] if args.limit else []
    vault = ("--vault-id", args.vault_id), ("--vault-password-file", args.vault_password_file)
    for option, given in (("-i", args.inventory), ("-l", limit), *vault):
        words += [word for one in given for word in (option, one)]
    words += ["--ask-vault-password"] if args.ask_vault_password else []
    command = shlex.join(words)
    return f"{command} and the -i and -l of that run" if args.kept else command
