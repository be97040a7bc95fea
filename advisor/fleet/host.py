"""Audit one host of a fleet in a separate process with a time limit: `python -m advisor.fleet.host`.

The task is a line of JSON on stdin, so that no password is on a command line or in the environment; the output of the
host's shell follows as a second line while the server is being read. The results are files: a row and a snapshot.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.connect import ConnectionLimits
from advisor.collect.connection.options import HIGHEST_PORT, SSL_MODES, Account, ConnectRequest, resolve_account
from advisor.core.errors import ConnectError, MycnfError
from advisor.facts.snapshot import to_value
from advisor.fleet.process_group import end_with_parent
from advisor.fleet.run_directory import HOSTS, UNREAD, HostRow, Status, snapshot_name, write_row
from advisor.redaction import MASK, escape_text, redact_value
from advisor.state.private_file import replace_private

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.facts import Facts, ProbeResult


# Errors of server and driver that mean that the account may not log in: mysqld_error.h.
_NOT_LET_IN = frozenset({1044, 1045, 1130, 1524, 1698, 1820, 1862, 3118, 3159, 4151, 2054, 2058, 2059, 2061})
_LEAST = 0.01  # seconds
_GUARDED = 4  # characters; a shorter password would also match inside words


class HostTask(Struct, frozen=True):
    """What one line of stdin asks for; times are seconds.

    `variables` are the host's `mycnf_*` variables, `broken` says which of them could not be templated.
    """

    name: str
    parent: int
    groups: tuple[str, ...]
    hosts: tuple[str, ...]
    address: str
    local: bool
    folder: str
    scratch: str
    window: float
    timeout: float
    variables: dict[str, str]
    broken: tuple[str, ...]


def main() -> int:
    """Read one server and save the results; the exit code is always 0, because the row has the status."""
    os.umask(0o077)
    signal.signal(signal.SIGTERM, _raise_on_signal)
    job = to_value(json.loads(sys.stdin.buffer.readline()), HostTask)
    end_with_parent(job.parent)  # send nothing once ansible's worker is gone, and leave no tar of a host behind
    began = time.monotonic()
    _name_hosts(job)
    # The row that remains if the time is up before there is a result.
    _row(job, began - job.timeout, Status.SILENT, f"gave no answer within {job.timeout:g} s", host=UNREAD)
    try:
        _ask(job, began)
    except Exception as error:  # noqa: BLE001 - a defect of ours is this host's row, and not the end of the run
        from advisor.state.crash_report import write_crash_file

        _row(
            job,
            began,
            Status.FAILED,
            _error_message(error) if isinstance(error, MycnfError) else write_crash_file(error),
        )
    return 0


def _raise_on_signal(number: int, _frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # the signal may come several times, but the cleanup runs once
    raise SystemExit


def _name_hosts(job: HostTask) -> None:
    """Write the list of all hosts, unless another host has done so."""
    path = os.path.join(job.folder, HOSTS)
    if job.hosts and not os.path.exists(path):
        replace_private(path, json.dumps(job.hosts, ensure_ascii=True).encode("ascii"))


def _ask(job: HostTask, began: float) -> None:
    if job.broken:
        raise MycnfError(f"a variable cannot be read: {'; '.join(job.broken)}")
    chosen = account_of(job.variables, address=job.address, local=job.local)
    limits = _limits(job.timeout)
    try:
        facts = collect_from_account(chosen, CollectRequest(window=job.window, limits=limits))
    except ConnectError as error:
        _row(job, began, _status(error), _error_message(error), place=chosen.place)
        return
    if job.local and facts.host is not None:  # proved to be this host, so its probe results apply
        facts = replace(facts, probes=_latest_probe_results())
    _save(job, began, facts, chosen, UNREAD)
    answer = json.loads(sys.stdin.buffer.readline() or b"{}")
    from advisor.fleet.machine import with_host

    machine = with_host(facts, answer, job.variables, job.scratch)
    _save(job, began, machine.facts, chosen, machine.reason)


def _latest_probe_results() -> tuple[ProbeResult, ...]:
    """The latest saved probe results of this host."""
    from probes.host_identity import host_id
    from probes.results import latest_results, read_all, results_folder

    found = read_all()
    return latest_results(found, host_id(results_folder())) if found.kept else ()


def _limits(timeout: float) -> ConnectionLimits:
    """The default limits, or lower ones if the host's total time is shorter."""
    usual = ConnectionLimits()
    return ConnectionLimits(
        connect=min(usual.connect, timeout),
        read=min(usual.read, timeout),
        statement=max(1, min(usual.statement, int(timeout))),
        answer=min(usual.answer, timeout),
        whole=min(usual.whole, timeout),
    )


def _save(job: HostTask, began: float, facts: Facts, chosen: Account, host: str) -> None:
    from advisor.facts.snapshot import fit_snapshot, save

    save(fit_snapshot(facts), os.path.join(job.folder, snapshot_name(job.name)))
    status = Status.LOST if facts.lost else Status.AUDITED
    _row(job, began, status, facts.lost, place=chosen.place, snapshot=snapshot_name(job.name), host=host)


def _row(
    job: HostTask, began: float, status: Status, reason: str, *, place: str = "", snapshot: str = "", host: str = ""
) -> None:
    row = HostRow(
        name=job.name,
        groups=job.groups,
        status=status,
        reason=_without_secrets(reason, job),
        place=place,
        snapshot=snapshot,
        host=_without_secrets(host, job),
        seconds=round(max(_LEAST, time.monotonic() - began), 2),
    )
    write_row(job.folder, row)


def _without_secrets(text: str, job: HostTask) -> str:
    """The text with secrets masked, from any source."""
    password = job.variables.get("mycnf_password", "")
    return escape_text(redact_value("", text.replace(password, MASK) if len(password) >= _GUARDED else text))


def _error_message(error: MycnfError) -> str:
    """The error message without advice on command-line options for a single server."""
    return str(error).split("; ")[0] if isinstance(error, ConnectError) else str(error)


def _status(error: ConnectError) -> Status:
    """The status for a connection error, by its cause."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError):
            return Status.REFUSED
        if isinstance(cause, TimeoutError):
            return Status.SILENT
        if cause.args and cause.args[0] in _NOT_LET_IN:
            return Status.DENIED
        cause = cause.__cause__ or cause.__context__ or getattr(cause, "original_exception", None)
    return Status.FAILED


def account_of(variables: Mapping[str, str], *, address: str, local: bool) -> Account:
    """The account for the server of a host.

    Without `mycnf_host`, the server of a remote host is at the address that ansible connects to, even if an option
    file names another host, because one such file may serve the whole fleet; the server of a local host is at a
    socket. Raises MycnfError for invalid variables, ConnectError if no socket or file is found.
    """
    request = ConnectRequest(
        user=variables.get("mycnf_user"),
        defaults_file=variables.get("mycnf_defaults_file"),
        defaults_group_suffix=variables.get("mycnf_defaults_group_suffix"),
        login_path=variables.get("mycnf_login_path"),
        ssl_ca=variables.get("mycnf_ssl_ca"),
        ssl_cert=variables.get("mycnf_ssl_cert"),
        ssl_key=variables.get("mycnf_ssl_key"),
        socket=_socket(variables, local),
        host=variables.get("mycnf_host") or (None if local else _reachable(address)),
        port=_port(variables.get("mycnf_port")),
        ssl_mode=_ssl_mode(variables.get("mycnf_ssl_mode")),
    )
    chosen = resolve_account(request)
    password = variables.get("mycnf_password")
    if password is None:
        return chosen
    return dataclasses.replace(
        chosen, password=password.encode("utf-8", "surrogateescape"), credential_source="password from mycnf_password"
    )


def _socket(variables: Mapping[str, str], local: bool) -> str | None:
    path = variables.get("mycnf_socket")
    if path and not local:
        raise MycnfError(
            "mycnf_socket is for hosts with ansible_connection=local: the socket of another host cannot be used from "
            "here; set mycnf_host and mycnf_port"
        )
    return path


def _reachable(address: str) -> str:
    # For the servers' clients `localhost` means a local socket, which the end of a tunnel is not.
    return "127.0.0.1" if address == "localhost" else address


def _port(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or not 0 < int(text[:6]) <= HIGHEST_PORT:
        raise MycnfError(f"mycnf_port: {text[:20]!r} is not a TCP port; write a number from 1 to {HIGHEST_PORT}")
    return int(text)


def _ssl_mode(text: str | None) -> str | None:
    if text is not None and text.lower().replace("_", "-") not in SSL_MODES:
        raise MycnfError(f"mycnf_ssl_mode: {text[:20]!r} is unknown; use one of {', '.join(SSL_MODES)}")
    return text


if __name__ == "__main__":
    os._exit(main())
