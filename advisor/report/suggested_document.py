"""A suggestion as Terraform, CloudFormation or a ConfigMap, with the same remarks as the option file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.load import load
from advisor.catalog.managed import platform_parameters
from advisor.core.errors import MycnfError
from advisor.report.suggested_file import introduction, option_file, remarks
from rules.core.managed import service_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from advisor.core.model import Target
    from advisor.suggest import Suggestion
    from advisor.suggest.choices import SuggestedLine

AMAZON = ("rds", "aurora")
NAME = "mycnf-suggestion"
INDENT = "  "


def terraform(suggestion: Suggestion, host: str) -> str:
    """Return the Terraform resources for a managed target; raises MycnfError for any other."""
    target = suggestion.target
    if target.build in AMAZON:
        blocks = [_group(target, scope, choices) for scope, choices in _groups(suggestion)]
    elif target.build == "cloudsql":
        blocks = [[line for choice in suggestion.choices for line in _flag(target, choice)]]
    elif target.build == "azure":
        blocks = [_azure(target, choice) for choice in suggestion.choices]
    else:
        raise _no_service("terraform", "rds-mysql-8.0, aurora-mysql-3, cloudsql-mysql-8.0 or azure-mysql-8.0")
    return "\n\n".join(["\n".join(introduction(suggestion, host)), *("\n".join(lines) for lines in blocks)]) + "\n"


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
            lines += _indented(remarks(choice), 4)
            lines.append(f'{INDENT * 4}{choice.option}: "{_value(target, choice)}"')
    return "\n".join(lines) + "\n"


def config_map(suggestion: Suggestion, host: str) -> str:
    """Return a ConfigMap of Kubernetes with the option file; raises MycnfError for a managed target."""
    if suggestion.target.is_managed:
        raise MycnfError("--format k8s is for a server in Kubernetes: name its version, such as --target mysql-8.0")
    lines = ["apiVersion: v1", "kind: ConfigMap", "metadata:", f"{INDENT}name: {NAME}", "data:", f"{INDENT}my.cnf: |"]
    lines += _indented(option_file(suggestion, host).splitlines(), 2)
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
    lines = [f'resource "{resource}" "suggested" {{', f'{INDENT}name   = "{NAME}"']
    lines.append(f'{INDENT}family = "{family_of(target)}"')
    for choice in choices:
        option = load(target).get(choice.option)
        method = "immediate" if option is not None and option.dynamic else "pending-reboot"
        lines += ["", *_indented(remarks(choice), 1), f"{INDENT}parameter {{"]
        lines += [
            f'{INDENT * 2}name         = "{choice.option}"',
            f'{INDENT * 2}value        = "{_value(target, choice)}"',
        ]
        lines += [f'{INDENT * 2}apply_method = "{method}"', f"{INDENT}}}"]
    return [*lines, "}"]


def _flag(target: Target, choice: SuggestedLine) -> list[str]:
    """Return one flag, a block of the settings of google_sql_database_instance."""
    lines = [
        "database_flags {",
        f'{INDENT}name  = "{choice.option}"',
        f'{INDENT}value = "{_value(target, choice)}"',
        "}",
    ]
    return [*remarks(choice), *lines, ""]


def _azure(target: Target, choice: SuggestedLine) -> list[str]:
    return [
        *remarks(choice),
        f'resource "azurerm_mysql_flexible_server_configuration" "{choice.option}" {{',
        f'{INDENT}name                = "{choice.option}"',
        f'{INDENT}value               = "{_value(target, choice)}"',
        f"{INDENT}resource_group_name = var.resource_group_name",
        f"{INDENT}server_name         = var.server_name",
        "}",
    ]


def _value(target: Target, choice: SuggestedLine) -> str:
    return service_value(target, load(target).get(choice.option), choice.value)


def _indented(lines: Iterator[str] | Sequence[str], depth: int) -> list[str]:
    """Return the lines indented; a remark may contain several."""
    return [f"{INDENT * depth}{line}".rstrip() for part in lines for line in part.splitlines() or [""]]


def _no_service(form: str, targets: str) -> MycnfError:
    return MycnfError(f"--format {form} is for managed services: name one with --target, such as {targets}")


WRITERS: dict[str, Callable[[Suggestion, str], str]] = {
    "terraform": terraform,
    "cloudformation": cloudformation,
    "k8s": config_map,
}
