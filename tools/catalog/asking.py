"""Set many options of a real server at once with `--verbose --help`, and read the result for each."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tables import canonical

# Options that would prevent the server from printing its values, or that say where it is installed; never set.
UNASKED = frozenset(
    [
        "help",
        "verbose",
        "version",
        "version_with_update",
        "bootstrap",
        "initialize",
        "initialize_insecure",
        "user",
        "chroot",
        "daemonize",
        "gdb",
        "debug_gdb",
        "console",
        "basedir",
        "datadir",
        "tmpdir",
        "lc_messages_dir",
        "plugin_dir",
        "character_sets_dir",
        "language",
        "validate_config",
        "upgrade",
        "log_error",
        "log_error_verbosity",
        "log_basename",
        "flashback",
        "getopt_prefix_matching",
        "early_plugin_load",
        "plugin_load",
        "plugin_load_add",
        "exit_info",
        "debug_exit_info",
        "skip_stack_trace",
        "stack_trace",
        "skip_new",
        "safe_mode",
        "memlock",
        "innodb",
        "ansi",
        "secure_file_priv",
        "keyring_migration_source",
        "keyring_migration_destination",
        "lc_messages",
        "silent_startup",
        "log_warnings",
        "init_rpl_role",
        "keyring_migration_from_component",
        "keyring_migration_to_component",
        "plugin_maturity",
        "disabled_storage_engines",
        "open_files_limit",
        "default_storage_engine",
        "default_tmp_storage_engine",
        "log_error_services",
    ]
)
# Rejected unless the other option is set too.
COMPANIONS = {"binlog_transaction_dependency_tracking": "transaction_write_set_extraction=XXHASH64"}
HELP = ("--verbose", "--help")
VALIDATE = ("--validate-config", "--secure-file-priv=NULL")
NAMED = re.compile(
    r"(?:to|variable|for|option|value) '(?:--)?([A-Za-z][\w-]*)'|ambiguous option '(?:--)?([\w-]+)|unknown (?:variable|option) '(?:--)?([\w-]+)"
    r"|Incorrect \w+ value: '[^']*' for ([\w-]+)"
)


class Server(NamedTuple):
    """A server to query: its name (mysql-8.0.15), its start command, its messages and plugins folders, a plugin."""

    name: str
    command: str
    messages: str
    plugins: str = ""
    load: str = ""

    @property
    def is_mariadb(self) -> bool:
        """Whether the server is MariaDB."""
        return self.name.startswith("mariadb")


class Answer(NamedTuple):
    """Exit status, the values after the dashed line, the messages, and the whole output."""

    status: int
    values: dict[str, str]
    messages: list[str]
    text: list[str]


def run(server: Server, lines: list[str], *, before: Sequence[str] = (), task: Sequence[str] = HELP) -> Answer:
    """Run the server with an option file of these lines, so that it prints its effective values, or performs `task`."""
    scratch = tempfile.mkdtemp(prefix="ask")
    try:
        path = os.path.join(scratch, "my.cnf")
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(["[mysqld]", *lines, ""]))
        os.mkdir(os.path.join(scratch, "data"))
        command = [*before, server.command, f"--defaults-file={path}", f"--datadir={scratch}/data", f"--lc-messages-dir={server.messages}",
                   f"--tmpdir={scratch}", "--user=root", *([f"--plugin-dir={server.plugins}"] if server.plugins else []),
                   *([f"--plugin-load-add={server.load}"] if server.load else []),
                   *([] if server.is_mariadb else ["--log-error-verbosity=3"]), *task]  # fmt: skip
        done = subprocess.run(command, capture_output=True, cwd=scratch, timeout=60, check=False)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    text = done.stdout.decode("utf-8", "replace").split("\n")
    return Answer(done.returncode, printed_values(text), done.stderr.decode("utf-8", "replace").split("\n"), text)


def printed_values(text: list[str]) -> dict[str, str]:
    """The values after the dashed line, by canonical name."""
    values: dict[str, str] = {}
    start = next((i for i, line in enumerate(text) if line.startswith("-----")), len(text))
    for line in text[start + 1 :]:
        if not line.strip():
            break
        name, _, value = line.partition(" ")
        values[canonical(name)] = value.strip()
    return values


def blamed_option(answer: Answer, batch: Mapping[str, str | None]) -> str | None:
    """The option of the batch that an error message names."""
    for line in answer.messages:
        if "[ERROR]" in line:
            for match in NAMED.finditer(line):
                name = canonical(next(g for g in match.groups() if g))
                if name in batch:
                    return name
            words = {canonical(w) for w in re.findall(r"[\w-]+", line)}
            for name in batch:
                if name in words:
                    return name
    return None


def ask(
    server: Server, settings: Mapping[str, str | None], size: int = 40
) -> Iterator[tuple[str, str | None, list[str]]]:
    """For each option and value (None: only the name) the printed value, None if it is rejected, and the messages.

    Options are set in batches; a rejected one is removed and the rest is tried again.
    """
    names = sorted(settings)
    step = max(1, -(-len(names) // size))
    for start in range(step):  # options with similar names affect each other, so they are put into different batches
        batch = {n: settings[n] for n in names[start::step]}
        while batch:
            lines = [COMPANIONS[n] for n in batch if n in COMPANIONS and COMPANIONS[n].split("=")[0] not in batch]
            lines += [n if v is None else f"{n}={v}" for n, v in batch.items()]
            answer = run(server, lines)
            refused = blamed_option(answer, batch) if answer.status or "[ERROR]" in "".join(answer.messages) else None
            if refused is None and answer.status:
                if len(batch) > 1:
                    for name, value in batch.items():
                        yield from ask(server, {name: value}, 1)
                    break
                refused = next(iter(batch))
            if refused is None:
                for name in batch:
                    yield name, answer.values.get(name), [m for m in answer.messages if mentions(m, name)]
                break
            yield refused, None, [m for m in answer.messages if mentions(m, refused)]
            del batch[refused]


def mentions(message: str, name: str) -> bool:
    """Whether a message mentions the option."""
    return name in re.findall(r"[a-z][a-z0-9_]+", message.lower().replace("-", "_"))
