"""The plan for checking files in a lint run, and the result for one file and target."""

from __future__ import annotations

from advisor.analysis import select_rules
from advisor.catalog.load import load
from advisor.catalog.targets import names_patch, parse_target
from advisor.commands.read_files import on_platform
from rules import file_rules, rule_modules_for
from rules.core.context import NO_HOST, NO_HOUSE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Container, Iterable, Mapping
    from typing import Any

    from advisor.catalog.load import Catalog
    from advisor.config.read import Configuration
    from advisor.core.model import AbsentPart, Target
    from advisor.facts import Host
    from advisor.optionfile.lines import ResolvedFiles
    from advisor.report import CheckedFile
    from advisor.verdict.declared import ProviderParameter
    from rules.core.rule import Rule
    from rules.policy.house_rule import HouseRule


class LintPlan:
    """How files with the same configuration are checked: rules, targets and host, merged with the command line."""

    __slots__ = ("_chosen", "_concerned", "_house", "_parameters", "_patches", "args", "config", "host", "targets")

    def __init__(self, args: argparse.Namespace, config: Configuration | None = None) -> None:
        self.args = args
        self.config = config
        self.host = _host(args)
        self._parameters: Mapping[str, ProviderParameter] | None = None
        self._house = config is not None and config.house is not None
        self._chosen = None if self._by_options() else select_rules(args.select, args.ignore)
        self.targets = [parse_target(t) for t in args.target or ()]
        self._patches = {parse_target(t) for t in args.target or () if names_patch(t)}
        self._concerned: dict[tuple[Target, tuple[str, ...] | None], list[Rule]] = {}

    def _by_options(self) -> bool:
        return self.host is NO_HOST and not self.args.select and not self.args.ignore

    @property
    def rules(self) -> list[Rule]:
        """Return the rules that are run on every file."""
        return self._rules(None)

    @property
    def rules_of_services(self) -> list[Rule]:
        """Return the rules that are run on parameters of managed services; --select and --ignore decide about all."""
        from rules import parameter_rules

        return self._chosen if self._chosen is not None else [*self.rules, *parameter_rules()]

    @property
    def rules_with_memory(self) -> list[Rule]:
        """Return the rules that are run where a document sets the memory of its servers."""
        return self._chosen if self._chosen is not None else select_rules(self.args.select, self.args.ignore)

    def rules_for(self, target: Target, options: Container[str] | None = None) -> list[Rule]:
        """Return the rules that apply to the target.

        With the `options` that a file sets, rules that cannot have findings are left out and not imported.
        """
        modules = None if options is None else rule_modules_for(options)
        key = target, modules
        if key not in self._concerned:
            self._concerned[key] = [rule for rule in self._rules(modules) if rule.concerns(target)]
        return self._concerned[key]

    def _rules(self, modules: tuple[str, ...] | None) -> list[Rule]:
        return file_rules(house=self._house, modules=modules) if self._chosen is None else self._chosen

    def catalog(self, target: Target) -> Catalog:
        """Return the target's catalog; if no patch was named, any vendor's build may be meant."""
        return load(target, any_build=target._replace(platform="") not in self._patches)

    def on_platform(self, target: Target, resolved: ResolvedFiles) -> Target:
        """Return the target on the platform of --platform, else of the paths in the files."""
        return on_platform(target, self.args.platform, resolved, full_version=target in self._patches)

    @property
    def parameters(self) -> Mapping[str, ProviderParameter] | None:
        """Return the provider's list of --parameters by name; raises MycnfError if it cannot be read."""
        path = getattr(self.args, "parameters", None)
        if path and self._parameters is None:
            from advisor.commands.managed import read_parameters

            self._parameters = read_parameters(path)
        return self._parameters

    @property
    def house(self) -> tuple[HouseRule, ...] | AbsentPart:
        """Return the house rules of the configuration."""
        return NO_HOUSE if self.config is None or self.config.house is None else self.config.house


class LintResult:
    """One file, checked for one target: the findings, the lines read, and the rules that ran.

    `skipped` are the codes of the rules that lacked a fact, None if they were not recorded.
    """

    __slots__ = ("_skipped", "checked", "plan", "resolved")

    def __init__(
        self, checked: CheckedFile, resolved: ResolvedFiles, plan: LintPlan, skipped: Iterable[str] | None = None
    ) -> None:
        self.checked = checked
        self.resolved = resolved
        self.plan = plan
        self._skipped = None if skipped is None else frozenset(skipped)

    @property
    def ran(self) -> frozenset[str]:
        """Return the codes of the rules that ran, including those not imported for lack of their options.

        A selection has rules about servers too. A described host may lack the fact that a rule needs.
        """
        target = self.checked.target
        rules = self.plan.rules_of_services if target.is_managed else self.plan.rules_for(target)
        there = {"findings"} if self.plan.house is NO_HOUSE else {"findings", "house"}
        there |= {"parameters"} if target.is_managed else set()
        there |= {"host"} if self._skipped is not None and self.plan.host is not NO_HOST else set()
        able = (r.code for r in rules if r.concerns(target) and there.issuperset(r.needs))
        return frozenset(able) - (self._skipped or frozenset())

    def with_fields(self, **fields: Any) -> LintResult:
        """Return the result with other fields of `CheckedFile`."""
        return LintResult(self.checked._replace(**fields), self.resolved, self.plan, self._skipped)


def _host(args: argparse.Namespace) -> Host | AbsentPart:
    if args.ram is args.cpus is args.disk is args.host_tar is None:
        return NO_HOST
    from advisor.commands.connection import declared_host

    return declared_host(args)
