"""What managed platforms let their users change: findings without advice that cannot be carried out there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.catalog.managed import platform_parameters
from advisor.verdict.number import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.catalog.load import Option
    from advisor.catalog.managed import PlatformParameters
    from advisor.core.model import Action, Finding, Target
    from rules.core.context import RuleContext

# These report what the server or the provider does with the lines of a document.
ABOUT_LINES = ("OPT", "PAR")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_SUFFIXED = re.compile(r"(\d+)([KMGTPE])")
# Where users of each platform set variables; Aurora has a second group for the whole cluster.
PLACES = {
    "rds": "the DB parameter group",
    "aurora": "the DB parameter group",
    "azure": "the server parameters",
    "cloudsql": "the database flags",
    "heatwave": "the configuration of the DB system",
}
CLUSTER_PLACE = "the DB cluster parameter group"


def managed_target(context: RuleContext) -> Target | None:
    """The target with the build of the managed platform; None for a server that its users run themselves."""
    if context.target.is_managed:
        return context.target
    platform = context.server.managed if context.has("server") else ""
    return context.target._replace(build=platform) if platform else None


def place_of(target: Target, name: str) -> str:
    """Where users of the platform set the variable."""
    if name in platform_parameters(target).cluster:
        return CLUSTER_PLACE
    return PLACES.get(target.build, "the service's configuration")


def platform_note(target: Target, option: Option) -> str:
    """What the platform's users can do with the option, by the provider's manual; empty for other servers."""
    if not target.is_managed:
        return ""
    platform, names = platform_parameters(target), {option.name, option.variable or option.name}
    if names & platform.without_effect:
        return "has no effect, according to the provider's manual"
    if names & platform.absent or (platform.complete and not names & platform.names):
        return "not among the parameters in the provider's manual"
    if not any(map(platform.can_change, names)):
        return "the provider does not let you change it"
    return f"set it in {place_of(target, option.variable or option.name)}"


def service_value(target: Target, option: Option | None, value: str) -> str:
    """A value as the service takes it: sizes in bytes, switches as 1 or 0 (Amazon) or as on or off (Cloud SQL)."""
    size = _SUFFIXED.fullmatch(value)
    if size:
        return str(int(size[1]) << SUFFIXES[size[2].lower()])
    if option is None or option.kind != "bool" or value not in ("ON", "OFF"):
        return value
    if target.build in ("rds", "aurora"):
        return "1" if value == "ON" else "0"
    return value.lower() if target.build == "cloudsql" else value


def possible_on_platform(context: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose advice can be carried out on the managed platform of this server, without other advice.

    A finding about a variable that the platform keeps to itself, and one whose only advice is about such variables, is
    left out.
    """
    target = managed_target(context)
    if target is None:
        return list(findings)
    platform = platform_parameters(target)
    found = [_possible(context, finding, platform) for finding in findings]
    return [finding for finding in found if finding is not None]


def _possible(context: RuleContext, finding: Finding, platform: PlatformParameters) -> Finding | None:
    if finding.code.startswith(ABOUT_LINES):
        return finding
    if finding.canonical is not None and not _can_change(context, finding.canonical, platform):
        return None
    actions = tuple(a for a in finding.actions if _is_possible(context, a, platform))
    refused = [n for n in _NAME.findall(finding.help) if not _can_change(context, n, platform)]
    if not refused and len(actions) == len(finding.actions):
        return finding
    if not actions and (finding.actions or refused):
        return None
    return finding._replace(actions=actions, help="" if refused else finding.help)


def _is_possible(context: RuleContext, action: Action, platform: PlatformParameters) -> bool:
    texts = f"{action.option_line or ''} {action.statement or ''} {action.argument or ''}"
    return all(_can_change(context, name, platform) for name in _NAME.findall(texts))


def _can_change(context: RuleContext, name: str, platform: PlatformParameters) -> bool:
    """Whether a name is no variable at all, or one that the platform lets its users change."""
    option = context.catalog.get(name) or context.catalog.find_variable(name)
    if option is None:
        return True
    return platform.can_change(option.name) or platform.can_change(option.variable or option.name)
