"""The registry of formats: the command line, the configuration, the app, documentation and tests read FORMATS.

To add a format, write its writer and add one Format, which names the writer of each kind of report: a writer is
imported when a report asks for it.
"""

from __future__ import annotations

from advisor.core import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from advisor.analysis.audited import AuditResult
    from advisor.report import AuditWriter, CheckedFile, LintWriter, Page
    from advisor.report.bulk.streams import BulkWriter, DocumentWriter
    from advisor.report.document import Document
    from advisor.report.output import Paper

    Writer = TypeVar("Writer")
# Commands whose report is a document, with JSON beside it; then those whose formats are written by hand.
DOCUMENTS = frozenset({"diff", "explain", "fleet", "history", "preflight", "probe", "upgrade"})
MARKDOWN_TOO = frozenset({"rules"})
SUGGESTED = frozenset({"suggest"})
BY_HAND = MARKDOWN_TOO | {"show", "suggest"}


class Format(NamedTuple):
    """One format: its name on the command line, what people call it, how its files end, and what it is for.

    `finding` says how lint writes a finding. `lint`, `audit` and `report` load the writers of these commands by the
    format's name, None where the format has no such report, `document` that of any other report; `others` are commands
    that write it.
    """

    name: str
    title: str
    extension: str
    use: str
    finding: str = ""
    lint: Callable[[str], LintWriter] | None = None
    audit: Callable[[str], AuditWriter] | None = None
    report: Callable[[str], BulkWriter] | None = None
    document: Callable[[str], DocumentWriter] | None = None
    others: frozenset[str] = frozenset()

    def has(self, command: str) -> bool:
        """Whether the reports of a command come in this format."""
        if command in ("lint", "audit", "report"):
            return getattr(self, command) is not None
        return command in self.others or (command in DOCUMENTS and self.document is not None)


def formats_of(command: str) -> list[Format]:
    """The formats that a command's --format takes, in the order of the help."""
    return [form for form in FORMATS if form.has(command)]


def names(command: str) -> tuple[str, ...]:
    """Their names."""
    return tuple(form.name for form in formats_of(command))


def render_lint(name: str, checked: Sequence[CheckedFile], page: Page) -> str:
    """Lint's report. Raises ValueError for a format that it lacks."""
    return _writer("lint", name, lambda form: form.lint)(checked, page)


def render_audit(name: str, audited: AuditResult, page: Page) -> str:
    """The report of one audit. Raises ValueError for a format that it lacks."""
    return _writer("audit", name, lambda form: form.audit)(audited, page)


def bulk_writer(name: str) -> BulkWriter:
    """What reports many snapshots. Raises ValueError for a format that can't."""
    return _writer("report", name, lambda form: form.report)


def render(
    command: str, name: str, paper: Paper, document: Callable[[], Document], own: Mapping[str, Callable[[], str]]
) -> str:
    """The report of any other command: a document, or the result of `own` for a format that the command writes itself.

    Raises ValueError for a format that it lacks.
    """
    if name in own:
        return own[name]()
    return _writer(command, name, lambda form: form.document if form.has(command) else None)(document(), paper)


def by_hand(command: str, name: str, own: Mapping[str, Callable[[], str]]) -> str:
    """The report of a command that writes each of its formats itself. Raises ValueError for one that it lacks."""
    if name not in own:
        raise no_format(command, name)
    return own[name]()


def _writer(command: str, name: str, loader: Callable[[Format], Callable[[str], Writer] | None]) -> Writer:
    for form in FORMATS:
        load = loader(form) if form.name == name else None
        if load is not None:
            return load(name)
    raise no_format(command, name)


def no_format(command: str, name: str) -> ValueError:
    """The error of a format that the reports of a command don't come in."""
    return ValueError(f"mycnf {command} has no format {name!r}")


def writer_in(module: str, function: str) -> Callable[[str], Any]:
    """What loads the writer of that name from a module, when a report asks for it."""
    return lambda _: getattr(__import__(module, fromlist=[function]), function)


def _as_lint(name: str) -> AuditWriter:
    """The writer of an audit in a format of lint: its findings as those of one file."""
    from advisor.report.audit.as_lint import written_as_lint

    return written_as_lint(_writer("lint", name, lambda form: form.lint))


def _bulk(name: str) -> BulkWriter:
    """The writer for many snapshots; as tables of counts, in a format of documents."""
    from advisor.report.bulk.streams import WRITERS, tables_in

    return WRITERS.get(name) or tables_in(_writer("document", name, lambda form: form.document))


FORMATS = [
    Format(
        "text", "text", "txt", "people", finding="the line, carets under the place, what is wrong, what to do",
        lint=writer_in("advisor.report.lint", "report"), audit=writer_in("advisor.report.audit.document", "in_text"),
        report=_bulk, document=writer_in("advisor.report.render.text", "write"), others=BY_HAND,
    ),
    Format(
        "concise", "one line a finding", "txt", "editors, grep, problem matchers",
        finding="`path:line:column: CODE name option: message`",
        lint=writer_in("advisor.report.lint", "concise"), audit=writer_in("advisor.report.audit.as_lint", "concise"),
        report=_bulk,
    ),
    Format(
        "json", "JSON", "json", "programs",
        finding="the fields of [lint.schema.json](../schemas/lint.schema.json)",
        lint=writer_in("advisor.report.findings_json", "report"),
        audit=writer_in("advisor.report.audit.as_lint", "audit_as_json"), report=_bulk, others=BY_HAND | DOCUMENTS,
    ),
    Format(
        "jsonl", "JSON lines", "jsonl", "jq, log shippers",
        finding="one object a line, as [lint-line.schema.json](../schemas/lint-line.schema.json)",
        lint=writer_in("advisor.report.findings_json", "jsonl_report"),
        audit=writer_in("advisor.report.findings_json", "jsonl_audit"), report=_bulk,
    ),
    Format(
        "csv", "CSV", "csv", "spreadsheets, databases", finding="a row, with the [columns below](#csv)",
        lint=writer_in("advisor.report.findings_csv", "report"),
        audit=writer_in("advisor.report.findings_csv", "audit"),
        report=_bulk,
    ),
    Format(
        "sarif", "SARIF", "sarif", "code scanning, editors", finding="a result of SARIF 2.1.0",
        lint=writer_in("advisor.report.lint.sarif", "report"), audit=_as_lint, report=_bulk,
    ),
    Format(
        "github", "GitHub Actions", "txt", "GitHub Actions",
        finding="a workflow command: an annotation beside the line",
        lint=writer_in("advisor.report.lint.forges", "github_report"),
    ),
    Format(
        "gitlab", "GitLab code quality", "json", "GitLab", finding="an entry of the code quality report",
        lint=writer_in("advisor.report.lint.forges", "gitlab_report"),
    ),
    Format(
        "junit", "JUnit", "xml", "Jenkins, GitLab, other CI servers",
        finding="a test, failed where the finding fails the run",
        lint=writer_in("advisor.report.lint.junit", "report"), audit=_as_lint, report=_bulk,
    ),
    Format(
        "markdown", "ticket (Markdown)", "md", "tickets, comments on merge requests",
        finding="a row of a table",
        lint=writer_in("advisor.report.lint.markdown", "report"),
        audit=writer_in("advisor.report.audit.ticket", "in_markdown"),
        report=_bulk, document=writer_in("advisor.report.render.markdown", "write"), others=MARKDOWN_TOO,
    ),
    Format(
        "html", "page (HTML)", "html", "browsers: one file that loads nothing",
        audit=writer_in("advisor.report.audit.ticket", "in_html"),
        report=_bulk, document=writer_in("advisor.report.render.html", "write"),
    ),
    Format(
        "prometheus", "Prometheus", "prom", "node_exporter's textfile collector",
        audit=writer_in("advisor.report.audit.prometheus", "report"), report=_bulk,
    ),
    Format(
        "parquet", "Parquet", "parquet", "query engines, many servers at once",
        report=writer_in("advisor.report.bulk.parquet", "PARQUET"),
    ),
    Format("svg", "drawing (SVG)", "svg", "web pages, documents", others=frozenset({"probe"})),
    Format(
        "terraform", "Terraform", "tf", "parameter groups, database flags and server parameters of managed services",
        others=SUGGESTED,
    ),
    Format("cloudformation", "CloudFormation", "yaml", "parameter groups of Amazon RDS", others=SUGGESTED),
    Format("aws", "a request of the AWS CLI", "json", "the parameter group of Amazon RDS", others=SUGGESTED),
    Format("k8s", "a ConfigMap", "yaml", "servers in Kubernetes", others=SUGGESTED),
]  # fmt: skip
