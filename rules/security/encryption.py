"""SEC: rules about data that encryption at rest leaves readable, and about other ways out of the server."""

from __future__ import annotations

import posixpath

from advisor.core.model import Confidence, Severity
from advisor.verdict import Outcome
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.network import is_switched_on
from rules.core.subject import variable_subject, verdict_subject
from rules.durability import writes_binary_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding, Target
    from rules.core.context import RuleContext

# Logs that each flavour leaves unencrypted by default, although the rows of encrypted tables pass through them.
BESIDE = {
    "mysql": ("innodb_redo_log_encrypt", "innodb_undo_log_encrypt", "binlog_encryption"),
    "mariadb": ("innodb_encrypt_log", "encrypt_binlog", "encrypt_tmp_files"),
}
UNDO_ENCRYPTION, BINLOG_ENCRYPTION = "innodb_undo_log_encrypt", "binlog_encryption"
OF_BINLOG = (BINLOG_ENCRYPTION, "encrypt_binlog")  # they encrypt relay logs too
LOADING = ("early_plugin_load", "plugin_load", "plugin_load_add")
GONE_KEYRINGS = ("keyring_file", "keyring_encrypted_file", "keyring_oci")  # plugins that MySQL 8.4 no longer has
TABLES = {"mysql": "default_table_encryption", "mariadb": "innodb_encrypt_tables"}
WANTED = frozenset({"ON", "FORCE", "1", "2"})
KEY_FILES = ("file_key_management_filename", "keyring_file_data")


def table_encryption_variable(context: RuleContext) -> str | None:
    """The variable that enables table encryption; None if it is not enabled."""
    name = TABLES[context.target.flavour]
    return name if context.is_set(name) and context.text(name) in WANTED else None


@rule(
    "SEC017",
    "half-encrypted",
    confidence=Confidence.LIKELY,
    targets=(Span("mysql", since=(8, 0, 16)), Span("mariadb")),
    summary="Tables are encrypted, but the logs that contain their rows are not.",
    options=("default_table_encryption", "innodb_encrypt_tables"),
    evidence=("ENC-01",),
    docs=Docs(
        why="Each row goes to the redo log, and to the binary log where there is one; MySQL's undo log and MariaDB's "
        "temporary files get rows too. Each has its own encryption option, all off by default, so the same rows are "
        "stored unencrypted next to the encrypted table. MySQL's default_table_encryption is for new schemas alone: "
        "new tables of older schemas are not encrypted either.",
        fix="MySQL: innodb_redo_log_encrypt, innodb_undo_log_encrypt and binlog_encryption, which can be set at run "
        "time if a keyring is loaded. MariaDB: innodb_encrypt_log, encrypt_binlog and encrypt_tmp_files, with a "
        "restart. Binary logs that were written before stay unencrypted.",
        risk="Without the key the server cannot start after a crash. Encryption costs processor time at each write.",
        exceptions="Logs on an encrypted file system.",
        reconsider_when="An encrypted device beneath the data directory.",
    ),
)
def half_encrypted(context: RuleContext) -> Iterator[Finding]:
    """Report unencrypted logs on a server with encrypted tables."""
    name = table_encryption_variable(context)
    plain = [n for n in BESIDE[context.target.flavour] if context.settings.on(n) is False and _is_written(context, n)]
    if name and plain:
        yield half_encrypted.finding(
            f"{'New tables' if context.target.is_mysql else 'Tables'} are encrypted, but {', '.join(plain)} "
            f"{'are' if len(plain) > 1 else 'is'} off, so their rows are also written unencrypted.",
            variable_subject(context, name),
            help=f"switch {', '.join(plain)} on" + (", once a keyring is loaded" if context.target.is_mysql else ""),
        )


def _is_written(context: RuleContext, name: str) -> bool:
    """Whether the server writes the log that the switch encrypts: no binary log, and no relay log, may be written."""
    if name not in OF_BINLOG or writes_binary_log(context):
        return True
    part = context.server.replication if context.has("server") else None
    return part is not None and part.is_replica


@rule(
    "OPT022",
    "encryption-without-keyring",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    targets=(Span("mysql", since=(8, 0)),),
    summary="Log encryption is enabled, but MySQL does not start with it unless a keyring is loaded.",
    options=BESIDE["mysql"],
    triggers=("early_plugin_load", "plugin_load", "plugin_load_add"),
    evidence=("ENC-04",),
    docs=Docs(
        why="MySQL encrypts logs with a master key from a keyring. A server without a keyring stops at start-up; with "
        "innodb_redo_log_encrypt alone 9.7 did, and 8.0.15 did not. A keyring component is loaded by a manifest, "
        "mysqld.my next to the server binary, which option files do not show.",
        fix="Load a keyring before you set the option, or remove the line: component_keyring_file by mysqld.my "
        "(8.0.24 and later), or keyring_file by early_plugin_load (before 8.4).",
        risk="A server that loses the keyring's keys can no longer read what they encrypted.",
        restart=True,
        exceptions="Servers with a keyring: those that run with the option are not reported, nor are files that load a "
        "keyring plugin.",
        reconsider_when="A keyring in performance_schema.keyring_component_status, which lists components, not "
        "plugins.",
    ),
)
def encryption_without_keyring(context: RuleContext) -> Iterator[Finding]:
    """Report log encryption in files that load no keyring plugin."""
    judged = options_needing_keyring(context.target)
    asked = [name for name in judged if context.is_set(name) and context.settings.on(name)]
    if not asked or context.target.is_managed or context.has("server") or _loads_keyring(context):
        return
    yield encryption_without_keyring.finding(
        f"Without a keyring, which this file does not load, the server will not start with {' and '.join(asked)}.",
        variable_subject(context, asked[0]),
        help=(
            "make sure that mysqld.my loads a keyring component"
            if context.target.since("mysql", 8, 4)
            else "load a keyring plugin by early_plugin_load"
            + (", or a component by mysqld.my" if context.target.since("mysql", 8, 0, 24) else "")
        )
        + f", or remove the line{'' if len(asked) == 1 else 's'}",
    )


def options_needing_keyring(target: Target) -> tuple[str, ...]:
    """The options with which servers of this version did not start without a keyring (ENC-04)."""
    if not target.since("mysql", 8):
        return ()
    return BESIDE["mysql"] if target.since("mysql", 9, 7) else (UNDO_ENCRYPTION, BINLOG_ENCRYPTION)


def _loads_keyring(context: RuleContext) -> bool:
    """Whether a line loads a keyring plugin that the target still has."""
    gone = GONE_KEYRINGS if context.target.since("mysql", 8, 4) else ()
    named = [line.placed.line.value or "" for line in context.file_verdict.lines if line.canonical in LOADING]
    return any("keyring" in text and not any(name in text for name in gone) for text in named)


@rule(
    "SEC018",
    "encryption-that-waits",
    targets=(Span("mariadb"),),
    summary="Existing tables stay unencrypted: no thread encrypts them.",
    options=("innodb_encrypt_tables",),
    evidence=("ENC-02",),
    docs=Docs(
        why="innodb_encrypt_tables encrypts only new tables. Background threads encrypt the existing ones, including "
        "the system tablespace, and there are no such threads by default. A server that we tested showed no encrypted "
        "tablespace with 0 threads and all of them encrypted with 4.",
        fix="Set innodb_encryption_threads, for example to 4, and watch "
        "information_schema.INNODB_TABLESPACES_ENCRYPTION.",
        risk="The threads read and write every page once; innodb_encryption_rotation_iops limits them.",
        exceptions="A server that had such threads before, is already encrypted and rotates no keys.",
        reconsider_when="Every tablespace with ENCRYPTION_SCHEME 1.",
    ),
)
def encryption_that_waits(context: RuleContext) -> Iterator[Finding]:
    """Report encrypted tables with innodb_encryption_threads = 0, which leaves existing tables unencrypted."""
    name = table_encryption_variable(context)
    if name and context.number("innodb_encryption_threads") == 0:
        action = advise(
            context,
            "innodb_encryption_threads",
            4,
            risk="every page is read and written once, as fast as innodb_encryption_rotation_iops allows",
            watch="Innodb_encryption_rotation_pages_modified",
        )
        yield encryption_that_waits.finding(
            "With innodb_encryption_threads = 0 only new tables are encrypted.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "SEC019",
    "key-beside-data",
    confidence=Confidence.OPINION,
    summary="The encryption key is stored in the directory that it encrypts.",
    options=KEY_FILES,
    evidence=("ENC-03",),
    docs=Docs(
        why="Encryption at rest protects discarded disks and lost copies. A key in the data directory is on both, and "
        "every snapshot or copy of the directory includes it.",
        fix="Keep the key on another file system or in a key server.",
        risk="A server that does not find the key at start-up cannot read its tables: move the file while the server "
        "is stopped.",
        restart=True,
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)
def key_beside_data(context: RuleContext) -> Iterator[Finding]:
    """Report key files in the data directory."""
    datadir = _key_path(context, "datadir")
    for name in KEY_FILES:
        path = _key_path(context, name)
        # A relative name is relative to the data directory, which is the server's working directory.
        if path and context.is_set(name) and (not path.startswith("/") or _is_inside(path, datadir)):
            yield key_beside_data.finding(
                "The key is in the data directory: anyone who gets a copy of the data also gets the key.",
                variable_subject(context, name),
                help="with the server stopped, move it to another file system, and write its absolute path",
            )


def _key_path(context: RuleContext, name: str) -> str:
    text = None if context.text(name) is None else context.settings.text(name)
    return posixpath.normpath(text) if text else ""


def _is_inside(path: str, folder: str) -> bool:
    return folder.startswith("/") and path.startswith(folder.rstrip("/") + "/")


@rule(
    "SEC020",
    "pool-in-core",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    targets=(Span("mysql", since=(8, 0, 14)),),
    summary="A crash writes the buffer pool, with all cached rows, to a core file.",
    options=("core_file",),
    evidence=("SEC-12",),
    docs=Docs(
        why="With core_file a server that crashes writes its memory to a file, if the system allows core files. Such "
        "files are copied for debugging. The buffer pool in them contains rows in plain text, even those of encrypted "
        "tables, and makes the file larger by all pages in use.",
        fix="Switch innodb_buffer_pool_in_core_file off; the default since 8.4.",
        risk="Damage to a page in the pool cannot be analyzed in the core file.",
        exceptions="While you investigate a corrupted page.",
        reconsider_when="A fault that cannot be found without the pool.",
    ),
)
def pool_in_core(context: RuleContext) -> Iterator[Finding]:
    """Report core files that include the buffer pool."""
    line = context.file_verdict.effective.get("core_file")
    if line is None or line.outcome is Outcome.ADJUSTED:  # gdb disables core files
        return
    if context.has("server") and context.settings.on("core_file") is False:
        return
    if context.settings.on("innodb_buffer_pool_in_core_file"):
        action = advise(context, "innodb_buffer_pool_in_core_file", "OFF")
        yield pool_in_core.finding(
            "A core file of this server holds the whole buffer pool: rows in plain text.",
            verdict_subject(line),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "SEC021",
    "reports-home",
    severity=Severity.NOTE,
    targets=(Span("mariadb"),),
    summary="The server sends reports about itself to MariaDB.org.",
    options=("feedback",),
    evidence=("SEC-13",),
    docs=Docs(
        why="The feedback plugin collects the server's configuration and usage and uploads them to MariaDB.org, or to "
        "the address in feedback_url. The intent is harmless, but data leaves the host, over an outbound connection "
        "that a database host may not be allowed to make.",
        fix="Remove the line; the plugin is off by default.",
        risk="None.",
        restart=True,
        exceptions="A decision to take part.",
        reconsider_when="A decision to take part.",
    ),
)
def reports_home(context: RuleContext) -> Iterator[Finding]:
    """Report an enabled feedback plugin."""
    if is_switched_on(context, "feedback"):
        yield reports_home.finding(
            "The feedback plugin uploads this server's configuration and usage.",
            variable_subject(context, "feedback"),
            help="remove the line, or inform the network's administrators",
        )
