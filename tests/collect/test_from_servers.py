"""`audit --from` on what real tools print about real servers: the same variables that the server reports itself."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from client_output import CLIENT, at, output
from process_checks import eventually
from provisioning.shelf import shelf

from advisor.analysis import run_rules, select_rules
from advisor.analysis.context import build_context
from advisor.collect.pasted import facts_of_texts
from advisor.core.model import Severity
from advisor.redaction import redact_value

if TYPE_CHECKING:
    from pathlib import Path

    from live_server import Live

    from advisor.facts import Facts

ADMIN = "mysqladmin"
ASKED = ("SHOW GLOBAL VARIABLES", "SHOW GLOBAL STATUS")
# Variables that change constantly, or that another session of the tests may be changing.
MOVING = frozenset(
    {"timestamp", "gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos", "innodb_buffer_pool_dump_now"}
)
FORMS = {"boxed": ("-t",), "batch": ("-B",), "bare": ("-BN",), "vertical": ("-E",)}


def truth(live: Live) -> dict[str, str]:
    """The server's own values of its variables, secrets masked as everywhere."""
    return {name.lower(): redact_value(name.lower(), value) for name, value in live.run(ASKED[0])}


def still(variables: dict[str, str]) -> dict[str, str]:
    """Those that stand still."""
    return {name: value for name, value in variables.items() if name not in MOVING}


def runs(client: Path) -> bool:
    """Whether a client finds the libraries that it needs on this machine."""
    return subprocess.run([client, "--version"], capture_output=True, check=False).returncode == 0


def stalked(samples: Path) -> Facts:
    """Facts of a directory of pt-stalk, which leaves while its collectors still write on a busy host."""
    found: list[Facts] = []

    def whole() -> bool:
        found[:] = [facts_of_texts([str(samples)])]
        return found[0].workload is not None and found[0].host is not None

    eventually(whole, what="what pt-stalk's collectors write", every=1)
    return found[0]


def warnings(facts: Facts) -> list[str]:
    """What an audit of these facts warns of."""
    return [
        f.code
        for f in run_rules(build_context(facts), select_rules(None, None)).findings
        if f.severity is not Severity.NOTE
    ]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_client(form: str, live: Live, tmp_path: Path) -> None:
    """Variables are read as the server has them, and counters with them; a default server gives no warning."""
    paths = [output(tmp_path, q[-8:], CLIENT, *at(live), *FORMS[form], "-e", q) for q in ASKED]
    facts = facts_of_texts(paths)
    assert still(facts.server.variables) == still(truth(live))
    assert int(facts.server.status["queries"]) > 0
    assert 0 <= facts.server.uptime <= int(dict(live.run("SHOW GLOBAL STATUS LIKE 'Uptime'"))["Uptime"])
    assert facts.server.flavour == live.name.partition("-")[0]
    assert warnings(facts) == []


def test_mysqladmin(live: Live, tmp_path: Path) -> None:
    """Its variables are the server's, and two rounds of its counters are a window."""
    paths = [
        output(tmp_path, "variables", ADMIN, *at(live), "variables"),
        output(tmp_path, "status", ADMIN, *at(live), "extended-status", "-i", "1", "-c", "3"),
    ]
    facts = facts_of_texts(paths)
    assert still(facts.server.variables) == still(truth(live))
    assert facts.workload.delta("questions") > 0


def test_differences_of_mysqladmin(live: Live, tmp_path: Path) -> None:
    """With -r it prints what changed between its rounds, which adds up to a window and to the server's counters."""
    rounds = ("-r", "-i", "1", "-c", "3", "extended-status")
    paths = [output(tmp_path, "v", ADMIN, *at(live), "variables"), output(tmp_path, "s", ADMIN, *at(live), *rounds)]
    facts = facts_of_texts(paths)
    assert 2 <= facts.workload.seconds <= facts.server.uptime
    assert facts.workload.delta("questions") > 0
    counters = dict(live.run(ASKED[1]))
    assert facts.server.counter("connections") <= int(counters["Connections"])
    assert facts.server.counter("innodb_page_size") == int(counters["Innodb_page_size"])


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-11.4")
def test_pt_stalk(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of pt-stalk holds the variables, a window of counters, InnoDB's status, and something of the host.

    It uses the server's own client where installed, as MariaDB's has another name since 11.
    """
    for own in [client for client in (shelf() / live.name / "root").glob("**/bin/mariadb") if runs(client)]:
        monkeypatch.setenv("CMD_MYSQL", str(own))
    samples = tmp_path / "samples"
    samples.mkdir()
    words = ("--no-stalk", "--run-time=3", "--iterations=1", "--disk-bytes-free=1", "--disk-pct-free=1")
    files = (f"--dest={samples}", f"--pid={tmp_path / 'pid'}", f"--log={tmp_path / 'log'}")
    output(tmp_path, "out", "pt-stalk", *words, *files, "--", *at(live)[1:])
    facts = stalked(samples)
    assert still(facts.server.variables) == still(truth(live))
    assert facts.workload.seconds > 0
    assert "BUFFER POOL AND MEMORY" in facts.server.innodb_status
    assert facts.host.os.hostname == os.uname().nodename
    assert warnings(facts) == []


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-11.4")
def test_pt_mysql_summary(live: Live, tmp_path: Path) -> None:
    """The settings that it prints are the server's, and it is said that there are but a few."""
    saved = tmp_path / "saved"
    report = output(tmp_path, "report", "pt-mysql-summary", "--sleep=1", f"--save-samples={saved}", "--", *at(live)[1:])
    # Which of its parts are empty depends on the version: that of InnoDB is for servers that have have_innodb.
    facts, real = facts_of_texts([report]), truth(live)
    read = facts.server.variables
    assert {"version", "datadir", "sql_mode", "join_buffer_size", "thread_stack"} <= read.keys()
    assert read == {name: real[name] for name in read}
    assert "sizes rounded" in facts.reason_missing("server.variables")
    assert warnings(facts) == []
    assert still(facts_of_texts([str(saved)]).server.variables) == still(real)


@pytest.mark.servers("mariadb-10.11")
def test_pt_summary_describes_the_host(live: Live, tmp_path: Path) -> None:
    """Beside a server's variables pt-summary's text is its host, to the digits that it prints."""
    variables = output(tmp_path, "variables", CLIENT, *at(live), "-B", "-e", ASKED[0])
    host = facts_of_texts([output(tmp_path, "system", "pt-summary"), variables]).host
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert abs(host.memory.total - total) <= total / 20
    assert host.cpu.logical == os.cpu_count()
    assert host.os.kernel == os.uname().release
    assert os.path.ismount(host.storage.mount.point)
    assert str(live.sandbox.datadir).startswith(host.storage.mount.point)


def test_secrets_stay_out(tmp_path: Path) -> None:
    """Passwords in a text are in no snapshot made of it."""
    path = tmp_path / "v"
    path.write_text(
        "Variable_name\tValue\nversion\t8.0.36\ninit_connect\tSET PASSWORD = 'kanarie'\nwsrep_sst_auth\ta:kanarie\n"
    )
    assert "kanarie" not in json.dumps(facts_of_texts([str(path)]).server.variables)
