"""A suggestion as an option file, or as Terraform, CloudFormation or a ConfigMap, with the same remarks."""

from __future__ import annotations

from advisor.catalog import load
from advisor.catalog.managed import platform_parameters
from advisor.core.errors import MycnfError
from advisor.redaction import escape_text
from advisor.report import wrap
from advisor.report.evidence import STRENGTHS
from advisor.report.findings_json import dumps
from rules.core.areas import find_evidence
from rules.core.statements import service_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from advisor.core.model import Target
    from advisor.suggest import Suggestion
    from advisor.suggest.choices import SuggestedLine


COMMENT = "# "
WIDTH = 100
OPINION = "opinion"
AMAZON = ("rds", "aurora")
NAME = "mycnf-suggestion"
INDENT = "  "


def option_file(suggestion: Suggestion, host: str) -> str:
    """The whole file; `host` says in words for what machine it is. For a managed target, the list of parameters."""
    group = [] if suggestion.target.is_managed else ["[mysqld]"]
    blocks = ["\n".join(introduction(suggestion, host)), *group]
    blocks += ["\n".join([*remarks(choice), _line(suggestion.target, choice)]) for choice in suggestion.choices]
    return "\n\n".join(blocks) + "\n"


def _line(target: Target, choice: SuggestedLine) -> str:
    return f"{choice.option} = {_value(target, choice)}" if target.is_managed else choice.line


def introduction(suggestion: Suggestion, host: str) -> list[str]:
    """What stands at the top, as comments: for which server and host it is, and what was left out."""
    head = [
        f"For {suggestion.target.label} with the workload {suggestion.workload}, on {host}, by mycnf suggest.",
        "Only useful settings that differ from the defaults; mycnf audit of the running server shows what it needs.",
        *(f"Left out: {sentence}." for sentence in suggestion.omitted),
    ]
    return [comment(line) for line in head]


def remarks(choice: SuggestedLine) -> Iterator[str]:
    """What stands above the line of a choice, as comments."""
    yield comment(choice.reason)
    sentences = [f"Based on {_ground(choice)}."]
    sentences += [f"Risk: {choice.risk}."] if choice.risk else []
    sentences += [f"Watch {choice.watch}."] if choice.watch else []
    yield comment(" ".join(sentences))


def as_json(suggestion: Suggestion) -> str:
    """The same for programs; values are written as a managed service takes them."""
    target = suggestion.target
    lines: list[dict[str, Any]] = [
        {**choice._asdict(), "line": _line(target, choice), "evidence": list(choice.evidence)}
        for choice in suggestion.choices
    ]
    for line, choice in zip(lines, suggestion.choices, strict=True):
        del line["size"]
        line["value"] = _value(target, choice) if target.is_managed else choice.value
    head = {"target": str(suggestion.target), "workload": suggestion.workload, "left": list(suggestion.omitted)}
    return dumps({"version": 1, **head, "options": lines})


def comment(text: str) -> str:
    """Words as comment lines."""
    return wrap(escape_text(text), COMMENT, COMMENT, WIDTH)


def _ground(choice: SuggestedLine) -> str:
    known = [one for one in map(find_evidence, choice.evidence) if one is not None]
    return ", ".join(f"{one.id} ({STRENGTHS.get(one.strength, one.strength)})" for one in known) or OPINION


def terraform(suggestion: Suggestion, host: str) -> str:
    """Return the Terraform resources for a managed target; raises MycnfError for any other."""
    target = suggestion.target
    if target.build in AMAZON:
        blocks = [_group(target, scope, choices) for scope, choices in _groups(suggestion)]
    elif target.build == "cloudsql":
        flags = ([*remarks(c), *_block("database_flags", **_line_fields(target, c)), ""] for c in suggestion.choices)
        blocks = [[line for flag in flags for line in flag]]  # of the settings of google_sql_database_instance
    elif target.build == "azure":
        blocks = [_azure(target, choice) for choice in suggestion.choices]
    else:
        raise _no_service("terraform", "rds-mysql-8.0, aurora-mysql-3, cloudsql-mysql-8.0 or azure-mysql-8.0")
    return "\n\n".join("\n".join(lines) for lines in (introduction(suggestion, host), *blocks)) + "\n"


def cloudformation(suggestion: Suggestion, host: str) -> str:
    """Return a CloudFormation template in YAML for RDS or Aurora; raises MycnfError for any other target."""
    target = suggestion.target
    if target.build not in AMAZON:
        raise _no_service("cloudformation", "rds-mysql-8.0 or aurora-mysql-3")
    lines = [*introduction(suggestion, host), "", "Resources:"]
    for scope, choices in _groups(suggestion):
        kind = "DBClusterParameterGroup" if scope == "cluster" else "DBParameterGroup"
        lines += [
            *(f"{INDENT}Suggested{kind}:", f"{INDENT * 2}Type: AWS::RDS::{kind}", f"{INDENT * 2}Properties:"),
            *(f"{INDENT * 3}Description: {NAME}", f"{INDENT * 3}Family: {family_of(target)}"),
            f"{INDENT * 3}Parameters:{'' if choices else ' {}'}",
        ]
        for choice in choices:
            lines += _indent_lines(remarks(choice), 4)
            lines.append(f'{INDENT * 4}{choice.option}: "{_value(target, choice)}"')
    return "\n".join(lines) + "\n"


def aws_request(suggestion: Suggestion, _host: str) -> str:
    """Return the JSON that `aws rds modify-db-parameter-group --cli-input-json` takes; raises MycnfError for others.

    It has no comments. Amazon's documentation limits a request to 20 parameters; suggestions have fewer. The parameters
    of Aurora's cluster group are another request and left out.
    """
    target = suggestion.target
    if target.build not in AMAZON:
        raise _no_service("aws", "rds-mysql-8.0 or aurora-mysql-3")
    choices = next(choices for scope, choices in _groups(suggestion) if scope == "instance")
    parameters = [
        {
            "ParameterName": choice.option,
            "ParameterValue": _value(target, choice),
            "ApplyMethod": _apply_method(target, choice),
        }
        for choice in choices
    ]
    return dumps({"DBParameterGroupName": NAME, "Parameters": parameters})


def cluster_parameters(suggestion: Suggestion) -> list[str]:
    """Return the names of the suggested parameters that only a DB cluster parameter group has."""
    return [choice.option for scope, choices in _groups(suggestion) if scope == "cluster" for choice in choices]


def config_map(suggestion: Suggestion, host: str) -> str:
    """Return a ConfigMap of Kubernetes with the option file; raises MycnfError for a managed target."""
    if suggestion.target.is_managed:
        raise MycnfError("--format k8s is for a server in Kubernetes: name its version, such as --target mysql-8.0")
    lines = ["apiVersion: v1", "kind: ConfigMap", "metadata:", f"{INDENT}name: {NAME}", "data:", f"{INDENT}my.cnf: |"]
    lines += _indent_lines(option_file(suggestion, host).splitlines(), 2)
    return "\n".join(lines) + "\n"


def family_of(target: Target) -> str:
    """Return the family of a parameter group: mysql8.0, mariadb10.11, aurora-mysql8.0."""
    return f"{'aurora-' if target.build == 'aurora' else ''}{target.flavour}{target.series}"


def _groups(suggestion: Suggestion) -> Iterator[tuple[str, list[SuggestedLine]]]:
    """Yield the parameter groups with their lines; Aurora has a second one for the cluster."""
    cluster = platform_parameters(suggestion.target).cluster
    yield "instance", [choice for choice in suggestion.choices if choice.option not in cluster]
    rest = [choice for choice in suggestion.choices if choice.option in cluster]
    if rest:
        yield "cluster", rest


def _group(target: Target, scope: str, choices: Sequence[SuggestedLine]) -> list[str]:
    resource = "aws_rds_cluster_parameter_group" if scope == "cluster" else "aws_db_parameter_group"
    *lines, end = _block(f'resource "{resource}" "suggested"', name=f'"{NAME}"', family=f'"{family_of(target)}"')
    for choice in choices:
        method = f'"{_apply_method(target, choice)}"'
        block = _block("parameter", **_line_fields(target, choice), apply_method=method)
        lines += ["", *_indent_lines([*remarks(choice), *block], 1)]
    return [*lines, end]


def _apply_method(target: Target, choice: SuggestedLine) -> str:
    option = load(target).get(choice.option)
    return "immediate" if option is not None and option.dynamic else "pending-reboot"


def _azure(target: Target, choice: SuggestedLine) -> list[str]:
    head = f'resource "azurerm_mysql_flexible_server_configuration" "{choice.option}"'
    of_server = {name: f"var.{name}" for name in ("resource_group_name", "server_name")}
    return [*remarks(choice), *_block(head, **_line_fields(target, choice), **of_server)]


def _line_fields(target: Target, choice: SuggestedLine) -> dict[str, str]:
    return {"name": f'"{choice.option}"', "value": f'"{_value(target, choice)}"'}


def _block(head: str, **arguments: str) -> list[str]:
    """Return the lines of a block of Terraform, its equals signs in one column."""
    width = max(map(len, arguments))
    return [f"{head} {{", *(f"{INDENT}{name:<{width}} = {value}" for name, value in arguments.items()), "}"]


def _value(target: Target, choice: SuggestedLine) -> str:
    return service_value(target, load(target).get(choice.option), choice.value)


def _indent_lines(lines: Iterator[str] | Sequence[str], depth: int) -> list[str]:
    """Return the lines indented; a remark may contain several."""
    return [f"{INDENT * depth}{line}".rstrip() for part in lines for line in part.splitlines() or [""]]


def _no_service(form: str, targets: str) -> MycnfError:
    return MycnfError(f"--format {form} is for managed services: name one with --target, such as {targets}")


WRITERS: dict[str, Callable[[Suggestion, str], str]] = {
    "terraform": terraform,
    "cloudformation": cloudformation,
    "aws": aws_request,
    "k8s": config_map,
}
