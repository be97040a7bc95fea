"""Read facts from texts that consultants receive: one server's variables, counters and machine, and what is missing."""

from __future__ import annotations

import os
import posixpath
import re
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor import __version__
from advisor.catalog import load
from advisor.catalog.targets import is_too_old, running_target
from advisor.collect.connection import session
from advisor.collect.error_log import is_error_log, merge_logs, read_log_lines
from advisor.collect.logs import PART as ERROR_LOG
from advisor.collect.logs import ROTATED_PART, read_log, rotated_logs, unread_logs
from advisor.collect.pasted.boxes import is_wrapped
from advisor.collect.pasted.classify import is_known
from advisor.collect.pasted.facts import FORMS, SAME, PastedFacts, TextError, missing_counters, missing_variables
from advisor.collect.pasted.json import (
    PARAMETER_GROUP_REMEDY,
    cloud_document_message,
    has_objects,
    is_json,
    no_rows_message,
)
from advisor.collect.pasted.percona_toolkit import (
    is_server_summary,
    is_system_summary,
    read_directory,
    read_server_summary,
    read_system_summary,
)
from advisor.collect.pasted.replicas import EMPTY_XML, latest_rows
from advisor.collect.pasted.samples import complete_samples, workload_of
from advisor.collect.pasted.text import STDIN, WHOLE_JSON, open_text, read_all, read_json, read_plain
from advisor.facts import SCHEMA, Facts, Link, Replication, Server, Unavailable
from advisor.facts.server import VariableOrigin
from advisor.facts.storage import Storage
from advisor.redaction import escape_text, redact_value
from advisor.verdict.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.facts import Host
    from advisor.facts.server import ErrorLog
    from advisor.verdict.declared import ProviderParameter


VIA = "text"

# Keys of the lists of Amazon, Azure and Google.
LIST_MARKS = ('"ParameterName"', '"allowedValues"', '"appliesTo"')
NOT_IN_TEXTS = "not read, because it came from text (--from)"
NO_ERROR_LOG = f"{NOT_IN_TEXTS}; give the error log with --from too"
HEAD_BYTES = 64 << 10
LOG_SECONDS = 20.0  # a text is waited for longer than a server's own log
NO_HOST = f"{NOT_IN_TEXTS}; the text of pt-summary has it, or --ram, --cpus and --disk"

UNREAD = (
    *("files", "server.plugins", "server.engines", "server.innodb_metrics", "server.data"),
    *("server.memory", "server.accounts"),
)

NO_REPLICAS = (
    f"{NOT_IN_TEXTS}; the text of SHOW REPLICA STATUS\\G has it, of SHOW SLAVE STATUS\\G before MySQL 8.0.22, of "
    "SHOW ALL SLAVES STATUS\\G on MariaDB"
)
NO_SESSIONS = f"{NOT_IN_TEXTS}; the text of SHOW PROCESSLIST shows sessions that wait, but no transactions"
_REPORTS = ((is_server_summary, read_server_summary), (is_system_summary, read_system_summary))
_ASK = "give the text of SHOW GLOBAL VARIABLES and SHOW GLOBAL STATUS"

# A pattern that occurs only in that kind of text, its name, and the remedy.
_OTHERS = tuple(
    (re.compile(sign, re.IGNORECASE | re.MULTILINE), what, remedy)
    for sign, what, remedy in (
        (
            r"^Value \(after reading options\)|^Variables \(--variable-name=value\)",
            "the help of a server's program",
            _ASK,
        ),
        (
            r"^ParameterName|\bDBParameterGroup|^PARAMETERS\t|\| +ParameterName ",
            "a parameter group of Amazon RDS",
            PARAMETER_GROUP_REMEDY,
        ),
        (r"^ *databaseFlags:", "the settings of a Cloud SQL instance", PARAMETER_GROUP_REMEDY),
        (r">> +MySQLTuner", "a report of MySQLTuner, which rounds what it prints", _ASK),
        (r"^-- (?:MySQL|MariaDB) dump ", "a dump", _ASK),
        (
            EMPTY_XML.format("(?:SLAVE|REPLICA)"),
            "the output of a server that is not a replica, or that on MariaDB has no unnamed connection",
            "omit it, or give the output of SHOW ALL SLAVES STATUS",
        ),
        (r"^mysql_global_(?:variables|status)_\w+", "metrics of mysqld_exporter, without texts and names", _ASK),
        (r"^# Time: .*\n# User@Host:", "a slow query log", _ASK),
        (r"^\[(?:mysqld|mariadbd?|server|client|mysql)[\w.-]*\]", "an option file", "mycnf lint FILE reads it"),
    )
)

# Settings in notes, and YAML as Ansible prints it.
_PAIR = re.compile(r"^[ \t>*\"'-]*([A-Za-z_]\w*)[\"']?[ \t]*[=:]", re.MULTILINE)
_LEAST_PAIRS, _MOST_PAIRS = 3, 1000


def facts_of_texts(paths: Sequence[str]) -> Facts:
    """The facts about the one server in these texts and directories; everything else is listed as unavailable.

    Raises TextError if one of them is not such a text, if they are from different servers, or if none has the version.
    """
    texts = [_read(path) for path in paths]
    error_log = merge_logs([one.error_log for one in texts if one.error_log])
    error_log = replace(error_log, read_from=VIA) if error_log else None
    variables = _merge_variables(texts) or _logged_version(error_log)
    parameters = [row for one in texts for row in one.parameters]
    if not variables.get("version"):
        if all(one.parameters for one in texts):
            raise cloud_document_message(texts[0].path, _list_name(parameters))
        cut = f" ({len(variables)} variables, cut off or filtered)" if variables else ""
        raise TextError(
            f"{', '.join(escape_text(path) for path in paths)}: no text contains the server's version{cut}; "
            f"give {'all' if cut else 'that'} of SHOW GLOBAL VARIABLES{'' if cut else ' too'}"
        )
    exact = [
        one for one in texts if one.samples and not one.lacks
    ] or texts  # a report has no counters except the uptime
    samples = complete_samples([sample for one in exact for sample in one.samples])
    text = next((one.innodb_text for one in reversed(texts) if one.innodb_text), "")
    workload, why = workload_of(samples)
    server = _with_listed_origins(_server(variables, samples[-1] if samples else {}, text), parameters)
    sessions = next((one.sessions for one in reversed(texts) if one.sessions), None)
    if sessions:
        server = replace(server, blocking=sessions.blocking, lock_waits=sessions.states)
    host = next((_with_data_mount(one, variables.get("datadir", "")) for one in texts if one.host), None)
    return Facts(
        schema=SCHEMA,
        tool=f"mycnf {__version__}",
        taken_at=datetime.fromtimestamp(max(one.at for one in texts), UTC).isoformat(timespec="seconds"),
        server=replace(server, replication=_replication(texts, server), error_log=error_log),
        workload=workload,
        host=host,
        unavailable=tuple(_missing_parts(texts, host, variables, samples, "" if workload else why)),
    )


def _missing_parts(
    texts: Sequence[PastedFacts],
    host: Host | None,
    variables: dict[str, str],
    samples: Sequence[dict[str, str]],
    no_window: str,
) -> Iterator[Unavailable]:
    """Each part that the texts do not contain, with the reason."""
    yield from (Unavailable(part, NOT_IN_TEXTS) for part in UNREAD)
    if not any(one.parameters for one in texts):
        yield Unavailable("server.origins", OF_TEXT)
    reasons = [one.lacks for one in texts if one.lacks]
    of_counters = [one.counters_lack for one in texts if one.counters_lack]
    if not samples:
        of_counters.append(NOT_IN_TEXTS)
    elif not reasons:
        of_counters.append(missing_counters(samples[-1]))
    reasons.append(missing_variables(variables) if any(one.variables for one in texts) else NOT_IN_TEXTS)
    yield from [Unavailable("server.variables", why) for why in reasons if why][:1]
    yield from [Unavailable("server.status", why) for why in of_counters if why][:1]
    if all(one.replicas is None for one in texts):
        yield Unavailable("server.replication", NO_REPLICAS)
    if not any(one.sessions for one in texts):
        yield Unavailable("server.blocking", NO_SESSIONS)
    cut = next((one.error_log.log.cut for one in reversed(texts) if one.error_log), NO_ERROR_LOG)
    if cut:
        yield Unavailable(ERROR_LOG if cut is NO_ERROR_LOG else f"{ERROR_LOG}.older", cut)
    if rotated := _rotated_logs(texts):
        yield Unavailable(ROTATED_PART, f"{unread_logs(rotated)}; give them with --from too")
    if host is None:
        yield Unavailable("host", NO_HOST)
    if no_window:
        yield Unavailable("workload", no_window)


def _rotated_logs(texts: Sequence[PastedFacts]) -> list[str]:
    """Rotated files beside the error logs in these texts that were not given."""
    given = {os.path.realpath(one.path) for one in texts}
    logs = [one.path for one in texts if one.error_log and os.path.isfile(one.path)]
    beside = [path for log in logs for before, others in [rotated_logs(log)] for path in (before, *others) if path]
    return [path for path in dict.fromkeys(beside) if os.path.realpath(path) not in given]


def _read(path: str) -> PastedFacts:
    if os.path.isdir(path):
        return read_directory(path)
    if logged := _error_log_file(path):
        return logged
    with open_text(path) as text:
        if is_error_log(text.head):
            return PastedFacts(path, error_log=read_log_lines(text.lines, VIA), at=text.at)
        reports = [read for is_one, read in _REPORTS if is_one(text.head)]
        if reports:
            held = read_all(text)
            return _join_reports([read(path, held, text.at) for read in reports])
        if is_json(text.head) or has_objects(text.head):
            held = read_all(text, WHOLE_JSON)
            if any(mark in text.head for mark in LIST_MARKS) and (listed := _provider_list(path, held)):
                return PastedFacts(path, at=text.at, parameters=listed)
            facts = read_json(path, held, text.at)
            if facts.is_empty and is_json(text.head):
                raise no_rows_message(path)
            if facts.is_empty:
                facts = read_plain(path, held.split("\n"), text.at)
        else:
            facts = read_plain(path, text.lines, text.at)
    if facts.is_empty:
        raise refusal_reason(path, text.head)
    return facts


def _provider_list(path: str, text: str) -> tuple[ProviderParameter, ...]:
    """The parameters of a provider's list; none for any other text."""
    from advisor.carriers.document import CarrierError, Document
    from advisor.carriers.provider_lists import parameters_of

    try:
        return tuple(parameters_of(Document(path, text)).values())
    except CarrierError:
        return ()


def _error_log_file(path: str) -> PastedFacts | None:
    """An error log in UTF-8 of any size, of a large one its last part; None for any other path."""
    try:
        if path == STDIN or not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            head = file.read(HEAD_BYTES).replace(b"\0", b"").decode("utf-8", "replace")
        read = read_log(path, max_seconds=LOG_SECONDS) if is_error_log(head) else ""
        if isinstance(read, str):
            return None
        return PastedFacts(path, error_log=read, at=os.path.getmtime(path))
    except OSError:
        return None


def _logged_version(log: ErrorLog | None) -> dict[str, str]:
    """The version that the error log contains, where no text has the variables."""
    return {"version": log.version} if log and log.version else {}


def _join_reports(reports: Sequence[PastedFacts]) -> PastedFacts:
    """Join the reports of pt-mysql-summary and pt-summary in one text, the server's first."""
    first, last = reports[0], reports[-1]
    return first._replace(host=last.host, mounts=last.mounts)


def _merge_variables(texts: Sequence[PastedFacts]) -> dict[str, str]:
    """The variables of all texts; later texts override earlier ones, and exact values override rounded ones."""
    merged: dict[str, str] = {}
    by_exactness = sorted(texts, key=lambda facts: not facts.lacks)
    for facts in by_exactness:
        for table in facts.variables:
            for name in SAME:
                if merged.get(name, table.get(name)) != table.get(name, merged.get(name)):
                    raise TextError(
                        f"{facts.path} is from a different server than the other texts ({name} "
                        f"{escape_text(table[name])[:60]!r}, not {escape_text(merged[name])[:60]!r}); give the texts "
                        "of one server at a time"
                    )
            merged |= table
    return {name: redact_value(name, value) for name, value in merged.items()}


def _server(variables: dict[str, str], status: dict[str, str], innodb_text: str) -> Server:
    version, comment = variables["version"], variables.get("version_comment", "")
    flavour = session.flavour_of(version, comment, variables)
    return Server(
        flavour=flavour,
        version=session.version_number(version),
        version_comment=comment,
        vendor=session.vendor_of(flavour, version, comment),
        link=Link(VIA),
        variables=variables,
        status=status,
        origins=inferred_origins(variables, f"{flavour}-{session.version_number(version)}"),
        innodb_status=innodb_text,
        managed=session.managed_by(version, comment, variables),
    )


def _list_name(parameters: Sequence[ProviderParameter]) -> str:
    if any(row.default is not None for row in parameters):
        return "a list of Azure's server parameters"
    return "a parameter group of Amazon RDS" if any(row.data_type for row in parameters) else "a list of database flags"


def _with_listed_origins(server: Server, parameters: Sequence[ProviderParameter]) -> Server:
    """The server with the origins that a provider's list has: set by its users, or left to the service."""
    origins = dict(server.origins)
    for row in parameters:
        name = row.name.lower().replace("-", "_")
        if name in origins and row.is_set_by_user is not None:
            origins[name] = VariableOrigin(DIFFERS if row.is_set_by_user else DEFAULT)
    return replace(server, origins=origins)


def _replication(texts: Sequence[PastedFacts], server: Server) -> Replication | None:
    """The server's replication state; None if no text shows whether it is a replica."""
    rows = [row for one in texts for row in one.replicas or ()]
    if all(one.replicas is None for one in texts):
        return None
    readers = max((one.sessions.replicas for one in texts if one.sessions), default=0)
    return Replication(
        replica_rows=latest_rows(rows),
        replicas_connected=server.counter("slaves_connected") or readers,
        galera=server.variables.get("wsrep_on", "").upper() == "ON",
    )


def _with_data_mount(facts: PastedFacts, datadir: str) -> Host | None:
    """The machine, with the file system that holds the data directory."""
    place = posixpath.normpath(datadir) if datadir.startswith("/") else ""
    around = [(m, s) for m, s in facts.mounts if place and f"{place}/".startswith(f"{m.point.rstrip('/')}/")]
    if facts.host is None or not around:
        return facts.host
    mount, space = max(around, key=lambda one: len(one[0].point))
    storage = Storage(place, mount, untraced="the text does not show the disks", space=space)
    return replace(facts.host, storage=storage)


DIFFERS, DEFAULT = "DIFFERS", "COMPILED"

OF_TEXT = (
    "texts do not show who set a variable: values that differ from this version's default are treated as explicitly "
    "configured"
)


def inferred_origins(variables: dict[str, str], target: str) -> dict[str, VariableOrigin]:
    """Infer the origins of variables from texts.

    The origin is DIFFERS if a value differs from the target's default, COMPILED if it is equal or cannot be compared.
    Empty for a version older than the catalogs. Raises MycnfError for a target that cannot be parsed.
    """
    server = running_target(target)
    if is_too_old(server):
        return {}
    catalog = load(server)
    defaults = Settings({}, catalog)
    origins = {}
    for name, value in variables.items():
        usual = defaults.text(name)
        same = usual is None or usual.upper() == value.upper()
        origins[name] = VariableOrigin(DEFAULT if same else DIFFERS)
    return origins


def refusal_reason(path: str, head: str) -> TextError:
    """Why a text with this beginning has no facts about a server, with its kind if it is recognized."""
    if not head.strip():
        return TextError(
            f"{path} is empty; omit it (for a server that is not a replica, mysql -e 'SHOW REPLICA STATUS' prints "
            f"nothing), or give {FORMS}"
        )
    if is_wrapped(head):
        return TextError(
            f"{path} has a table whose lines were wrapped by a terminal; give the output of mysql -B or \\G"
        )
    what, remedy = next(((what, remedy) for sign, what, remedy in _OTHERS if sign.search(head)), ("", ""))
    if what:
        return TextError(f"{path} is {what}; {remedy}")
    if sum(is_known(pair[1]) for pair in islice(_PAIR.finditer(head), _MOST_PAIRS)) >= _LEAST_PAIRS:
        return TextError(
            f"{path} is a list of names and values with = or : between them, which may be from an option file (mycnf "
            "lint FILE reads it); give the mysql client's output of SHOW GLOBAL VARIABLES, or JSON"
        )
    return TextError(f"{path} has no facts about a server; give {FORMS}")


__all__ = ["facts_of_texts"]
