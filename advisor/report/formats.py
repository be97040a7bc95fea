"""The registry of formats: the command line, the configuration, the app, documentation and tests read FORMATS.

To add a format, write its writer, add one Format, and a case to the loaders of its reports: a writer is imported when a
report asks for it.
"""

from __future__ import annotations

from advisor.core import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

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


def _lint(name: str) -> LintWriter:
    match name:
        case "text":
            from advisor.report.lint import report as write
        case "concise":
            from advisor.report.lint import concise as write
        case "json":
            from advisor.report.findings_json import report as write
        case "jsonl":
            from advisor.report.findings_json import jsonl_report as write
        case "csv":
            from advisor.report.findings_csv import report as write
        case "sarif":
            from advisor.report.lint.sarif import report as write
        case "github":
            from advisor.report.lint.forges import github_report as write
        case "gitlab":
            from advisor.report.lint.forges import gitlab_report as write
        case "junit":
            from advisor.report.lint.junit import report as write
        case "markdown":
            from advisor.report.lint.markdown import report as write
        case _:
            raise no_format("lint", name)
    return write


def _audit(name: str) -> AuditWriter:
    match name:
        case "text":
            from advisor.report.audit.document import in_text as write
        case "concise":
            from advisor.report.audit.as_lint import concise as write
        case "json":
            from advisor.report.audit.as_lint import audit_as_json as write
        case "jsonl":
            from advisor.report.findings_json import jsonl_audit as write
        case "csv":
            from advisor.report.findings_csv import audit as write
        case "markdown":
            from advisor.report.audit.ticket import in_markdown as write
        case "html":
            from advisor.report.audit.ticket import in_html as write
        case "prometheus":
            from advisor.report.audit.prometheus import report as write
        case _:  # an audit in a format of lint, its findings as those of one file
            from advisor.report.audit.as_lint import written_as_lint

            return written_as_lint(_lint(name))
    return write


def _bulk(name: str) -> BulkWriter:
    if name == "parquet":
        from advisor.report.bulk.parquet import PARQUET

        return PARQUET
    from advisor.report.bulk.streams import WRITERS, tables_in

    return WRITERS.get(name) or tables_in(_document(name))  # as tables of counts, in a format of documents


def _document(name: str) -> DocumentWriter:
    match name:
        case "text":
            from advisor.report.render.text import write
        case "markdown":
            from advisor.report.render.markdown import write
        case "html":
            from advisor.report.render.html import write
        case _:
            raise no_format("document", name)
    return write


FORMATS = [
    Format(
        "text", "text", "txt", "people", finding="the line, carets under the place, what is wrong, what to do",
        lint=_lint, audit=_audit, report=_bulk, document=_document, others=BY_HAND,
    ),
    Format(
        "concise", "one line a finding", "txt", "editors, grep, problem matchers",
        finding="`path:line:column: CODE name option: message`",
        lint=_lint, audit=_audit, report=_bulk,
    ),
    Format(
        "json", "JSON", "json", "programs",
        finding="the fields of [lint.schema.json](../schemas/lint.schema.json)",
        lint=_lint, audit=_audit, report=_bulk, others=BY_HAND | DOCUMENTS,
    ),
    Format(
        "jsonl", "JSON lines", "jsonl", "jq, log shippers",
        finding="one object a line, as [lint-line.schema.json](../schemas/lint-line.schema.json)",
        lint=_lint, audit=_audit, report=_bulk,
    ),
    Format(
        "csv", "CSV", "csv", "spreadsheets, databases", finding="a row, with the [columns below](#csv)",
        lint=_lint, audit=_audit, report=_bulk,
    ),
    Format(
        "sarif", "SARIF", "sarif", "code scanning, editors", finding="a result of SARIF 2.1.0",
        lint=_lint, audit=_audit, report=_bulk,
    ),
    Format(
        "github", "GitHub Actions", "txt", "GitHub Actions",
        finding="a workflow command: an annotation beside the line", lint=_lint,
    ),
    Format(
        "gitlab", "GitLab code quality", "json", "GitLab", finding="an entry of the code quality report", lint=_lint,
    ),
    Format(
        "junit", "JUnit", "xml", "Jenkins, GitLab, other CI servers",
        finding="a test, failed where the finding fails the run",
        lint=_lint, audit=_audit, report=_bulk,
    ),
    Format(
        "markdown", "ticket (Markdown)", "md", "tickets, comments on merge requests",
        finding="a row of a table",
        lint=_lint, audit=_audit, report=_bulk, document=_document, others=MARKDOWN_TOO,
    ),
    Format(
        "html", "page (HTML)", "html", "browsers: one file that loads nothing",
        audit=_audit, report=_bulk, document=_document,
    ),
    Format("prometheus", "Prometheus", "prom", "node_exporter's textfile collector", audit=_audit, report=_bulk),
    Format("parquet", "Parquet", "parquet", "query engines, many servers at once", report=_bulk),
    Format("svg", "drawing (SVG)", "svg", "web pages, documents", others=frozenset({"probe"})),
    Format(
        "terraform", "Terraform", "tf", "parameter groups, database flags and server parameters of managed services",
        others=SUGGESTED,
    ),
    Format("cloudformation", "CloudFormation", "yaml", "parameter groups of Amazon RDS", others=SUGGESTED),
    Format("aws", "a request of the AWS CLI", "json", "the parameter group of Amazon RDS", others=SUGGESTED),
    Format("k8s", "a ConfigMap", "yaml", "servers in Kubernetes", others=SUGGESTED),
]  # fmt: skip
