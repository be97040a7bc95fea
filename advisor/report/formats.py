"""The registry of formats: the command line, the configuration, the app, documentation and tests read FORMATS.

To add a format, write its writer and add one Format. A writer is imported when a report asks for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from advisor.analysis.audited import Audited
    from advisor.report import AuditWriter, Checked, LintWriter, Page
    from advisor.report.bulk.streams import BulkWriter, DocumentWriter
    from advisor.report.document import Document
    from advisor.report.paper import Paper

    Writer = TypeVar("Writer")
# Commands whose report is a document, with JSON beside it; then those whose formats are written by hand.
DOCUMENTS = frozenset({"diff", "explain", "fleet", "history", "preflight", "probe", "upgrade"})
MARKDOWN_TOO = frozenset({"rules"})
SUGGESTED = frozenset({"suggest"})
BY_HAND = MARKDOWN_TOO | {"show", "suggest"}


class Format:
    """One format: its name on the command line, what people call it, how its files end, and what it is for.

    `finding` says what lint makes of a finding. `lint`, `audit` and `report` load the writers of these commands, None
    where the format has no such report, `document` that of any other report; `others` are commands that write it.
    """

    __slots__ = ("audit", "document", "extension", "finding", "lint", "name", "others", "report", "title", "use")

    def __init__(
        self,
        name: str,
        title: str,
        extension: str,
        use: str,
        *,
        finding: str = "",
        lint: Callable[[], LintWriter] | None = None,
        audit: Callable[[], AuditWriter] | None = None,
        report: Callable[[], BulkWriter] | None = None,
        document: Callable[[], DocumentWriter] | None = None,
        others: frozenset[str] = frozenset(),
    ) -> None:
        self.name, self.title, self.extension, self.use = name, title, extension, use
        self.finding, self.lint, self.audit, self.report = finding, lint, audit, report
        self.document, self.others = document, others

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


def render_lint(name: str, checked: Sequence[Checked], page: Page) -> str:
    """Lint's report. Raises ValueError for a format that it lacks."""
    return _writer("lint", name, lambda form: form.lint)(checked, page)


def render_audit(name: str, audited: Audited, page: Page) -> str:
    """The report of one audit. Raises ValueError for a format that it lacks."""
    return _writer("audit", name, lambda form: form.audit)(audited, page)


def bulk_writer(name: str) -> BulkWriter:
    """What reports many snapshots. Raises ValueError for a format that can't."""
    return _writer("report", name, lambda form: form.report)


def render(
    command: str, name: str, paper: Paper, document: Callable[[], Document], own: Mapping[str, Callable[[], str]]
) -> str:
    """The report of any other command: a document, or what `own` makes of a format that the command writes itself.

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


def _writer(command: str, name: str, loader: Callable[[Format], Callable[[], Writer] | None]) -> Writer:
    for form in FORMATS:
        load = loader(form) if form.name == name else None
        if load is not None:
            return load()
    raise no_format(command, name)


def no_format(command: str, name: str) -> ValueError:
    """The error of a format that the reports of a command don't come in."""
    return ValueError(f"mycnf {command} has no format {name!r}")


def _of_findings(lint: Callable[[], LintWriter]) -> Callable[[], AuditWriter]:
    """An audit in a format of lint, its findings as those of one file."""

    def load() -> AuditWriter:
        from advisor.report.audit.as_lint import written_as_lint

        return written_as_lint(lint())

    return load


def _counted_in(document: Callable[[], DocumentWriter]) -> Callable[[], BulkWriter]:
    """Many snapshots as tables of counts, in a format of documents."""

    def load() -> BulkWriter:
        from advisor.report.bulk.streams import tables_in

        return tables_in(document())

    return load


def _text() -> LintWriter:
    from advisor.report.lint import report

    return report


def _text_audit() -> AuditWriter:
    from advisor.report.audit.document import in_text

    return in_text


def _text_document() -> DocumentWriter:
    from advisor.report.render.text import write

    return write


def _concise() -> LintWriter:
    from advisor.report.lint import concise

    return concise


def _concise_audit() -> AuditWriter:
    from advisor.report.audit.as_lint import concise

    return concise


def _concise_bulk() -> BulkWriter:
    from advisor.report.bulk.streams import CONCISE

    return CONCISE


def _json() -> LintWriter:
    from advisor.report.findings_json import report

    return report


def _json_audit() -> AuditWriter:
    from advisor.report.audit.as_lint import audit_as_json

    return audit_as_json


def _json_bulk() -> BulkWriter:
    from advisor.report.bulk.streams import JSON

    return JSON


def _jsonl() -> LintWriter:
    from advisor.report.findings_json import jsonl_report

    return jsonl_report


def _jsonl_audit() -> AuditWriter:
    from advisor.report.findings_json import jsonl_audit

    return jsonl_audit


def _jsonl_bulk() -> BulkWriter:
    from advisor.report.bulk.streams import JSONL

    return JSONL


def _csv() -> LintWriter:
    from advisor.report.findings_csv import report

    return report


def _csv_audit() -> AuditWriter:
    from advisor.report.findings_csv import audit

    return audit


def _csv_bulk() -> BulkWriter:
    from advisor.report.bulk.streams import CSV

    return CSV


def _sarif() -> LintWriter:
    from advisor.report.lint.sarif import report

    return report


def _sarif_bulk() -> BulkWriter:
    from advisor.report.bulk.streams import SARIF

    return SARIF


def _github() -> LintWriter:
    from advisor.report.lint.forges import github_report

    return github_report


def _gitlab() -> LintWriter:
    from advisor.report.lint.forges import gitlab_report

    return gitlab_report


def _junit() -> LintWriter:
    from advisor.report.lint.junit import report

    return report


def _junit_bulk() -> BulkWriter:
    from advisor.report.bulk.streams import JUNIT

    return JUNIT


def _markdown() -> LintWriter:
    from advisor.report.lint.markdown import report

    return report


def _markdown_audit() -> AuditWriter:
    from advisor.report.audit.ticket import in_markdown

    return in_markdown


def _markdown_document() -> DocumentWriter:
    from advisor.report.render.markdown import write

    return write


def _html_document() -> DocumentWriter:
    from advisor.report.render.html import write

    return write


def _html_audit() -> AuditWriter:
    from advisor.report.audit.ticket import in_html

    return in_html


def _html_bulk() -> BulkWriter:
    from advisor.report.bulk.streams import HTML

    return HTML


def _prometheus_audit() -> AuditWriter:
    from advisor.report.audit.prometheus import report

    return report


def _prometheus_bulk() -> BulkWriter:
    from advisor.report.bulk.streams import PROMETHEUS

    return PROMETHEUS


def _parquet_bulk() -> BulkWriter:
    from advisor.report.bulk.parquet import PARQUET

    return PARQUET


FORMATS = [
    Format(
        "text", "text", "txt", "people", finding="the line, carets under the place, what is wrong, what to do",
        lint=_text, audit=_text_audit, report=_counted_in(_text_document), document=_text_document, others=BY_HAND,
    ),
    Format(
        "concise", "one line a finding", "txt", "editors, grep, problem matchers",
        finding="`path:line:column: CODE name option: message`",
        lint=_concise, audit=_concise_audit, report=_concise_bulk,
    ),
    Format(
        "json", "JSON", "json", "programs",
        finding="the fields of [lint.schema.json](../schemas/lint.schema.json)",
        lint=_json, audit=_json_audit, report=_json_bulk, others=BY_HAND | DOCUMENTS,
    ),
    Format(
        "jsonl", "JSON lines", "jsonl", "jq, log shippers",
        finding="one object a line, as [lint-line.schema.json](../schemas/lint-line.schema.json)",
        lint=_jsonl, audit=_jsonl_audit, report=_jsonl_bulk,
    ),
    Format(
        "csv", "CSV", "csv", "spreadsheets, databases", finding="a row, with the [columns below](#csv)",
        lint=_csv, audit=_csv_audit, report=_csv_bulk,
    ),
    Format(
        "sarif", "SARIF", "sarif", "code scanning, editors", finding="a result of SARIF 2.1.0",
        lint=_sarif, audit=_of_findings(_sarif), report=_sarif_bulk,
    ),
    Format(
        "github", "GitHub Actions", "txt", "GitHub Actions",
        finding="a workflow command: an annotation beside the line", lint=_github,
    ),
    Format(
        "gitlab", "GitLab code quality", "json", "GitLab",
        finding="an entry of the code quality report", lint=_gitlab,
    ),
    Format(
        "junit", "JUnit", "xml", "Jenkins, GitLab, other CI servers",
        finding="a test, failed where the finding fails the run",
        lint=_junit, audit=_of_findings(_junit), report=_junit_bulk,
    ),
    Format(
        "markdown", "ticket (Markdown)", "md", "tickets, comments on merge requests",
        finding="a row of a table",
        lint=_markdown, audit=_markdown_audit, report=_counted_in(_markdown_document), document=_markdown_document,
        others=MARKDOWN_TOO,
    ),
    Format(
        "html", "page (HTML)", "html", "browsers: one file that loads nothing",
        audit=_html_audit, report=_html_bulk, document=_html_document,
    ),
    Format(
        "prometheus", "Prometheus", "prom", "node_exporter's textfile collector",
        audit=_prometheus_audit, report=_prometheus_bulk,
    ),
    Format(
        "parquet", "Parquet", "parquet", "query engines, many servers at once",
        report=_parquet_bulk,
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
