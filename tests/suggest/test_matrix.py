"""Suggested files for every target, memory, processors, disks and workload: no error and no warning on such a host."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import pytest
from msgspec.structs import replace
from rule_cases import Case, facts_of

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.catalog.targets import SERIES, parse_target
from advisor.collect.host.host import host_from_options
from advisor.core.model import Severity, Target
from advisor.report.suggested_file import option_file
from advisor.suggest import judge_text, suggest
from advisor.suggest.choices import WORKLOADS
from advisor.verdict.settings import Settings
from probes.sandbox import ask_help, help_values, validate_config
from probes.sandbox.binary import VALIDATE_CONFIG_SINCE
from rules import all_rules
from rules.core.context import RuleContext

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from real_servers import Binaries

    from advisor.core.model import Finding
    from advisor.facts import Host

TARGETS = [Target(flavour, patch) for flavour, series in SERIES.items() for patch in series.values()]
RAM = ("1G", "2G", "3G", "4G", "8G", "16G", "32G", "64G", "128G", "256G", "512G", "1T", "2T")
CPUS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
DISKS = ("hdd", "ssd", "nvme", None)
COMPLAINT = re.compile(r"\[(?:warning|error)\][^\n]*", re.IGNORECASE)
REAL_STEP = 61  # of the hosts; servers take a quarter of a second each
STEP = 17  # every seventeenth host; the step divides no number of values, so each value of each part occurs


class Place(NamedTuple):
    """A host as --ram, --cpus and --disk describe it."""

    ram: str
    cpus: int
    disk: str | None

    @property
    def host(self) -> Host:
        """Its facts."""
        return host_from_options(ram=self.ram, cpus=self.cpus, disk=self.disk, tar=None)


PLACES = tuple(Place(*parts) for parts in product(RAM, CPUS, DISKS))
CORNERS = (Place("1G", 256, "hdd"), Place("2T", 1, "hdd"), Place("1G", 1, "nvme"), Place("2T", 256, "nvme"))


def sample_for(target: Target) -> tuple[Place, ...]:
    """A part of the hosts, another one for each target."""
    return (*CORNERS, *PLACES[TARGETS.index(target) :: STEP])


def complaints(target: Target, place: Place, workload: str) -> Iterator[tuple[str, str, Finding]]:
    """The errors and warnings about the file that is suggested for this host, by lint and by an audit."""
    host = place.host
    text = option_file(suggest(target, host, workload), "a test")
    verdict = judge_text(target, text)
    linted = RuleContext(target, verdict.catalog, Settings.from_file(verdict), verdict, host=host)
    case = Case("", "", str(target), file=text, server={"variables": {}, "status": {"uptime": 3600}})
    audited = build_context(replace(facts_of(case, target), host=host))
    for kind, known in (("lint", linted), ("audit", audited)):
        for finding in run_rules(known, all_rules()).findings:
            if finding.severity is not Severity.NOTE and finding.name not in ASIDE:
                yield kind, text, finding


# True of the series or of a server that was never used, with any file.
ASIDE = frozenset({"end-of-life"})


def test_the_sample_has_every_value() -> None:
    """Each memory size, number of processors and kind of disk occurs in the sample of each target."""
    for target in TARGETS:
        seen = [set(values) for values in zip(*sample_for(target), strict=True)]
        assert seen == [set(RAM), set(CPUS), set(DISKS)]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_sample_of_hosts(target: Target) -> None:
    """No error and no warning on a sample of hosts, with each workload in turn."""
    found = [
        (place, workload, kind, finding.code, finding.message)
        for at, place in enumerate(sample_for(target))
        for workload in (WORKLOADS[at % len(WORKLOADS)],)
        for kind, _, finding in complaints(target, place, workload)
    ]
    assert found == []


@pytest.mark.whole
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_every_host(target: Target, workload: str) -> None:
    """No error and no warning on any of the hosts."""
    found = [
        (place, kind, finding.code, finding.message)
        for place in PLACES
        for kind, _, finding in complaints(target, place, workload)
    ]
    assert found == []


def complaints_of(text: str) -> set[str]:
    """The warnings and errors of a server, without numbers."""
    return {re.sub(r"\d", "", line) for line in COMPLAINT.findall(text)}


def test_real_servers_take_it(server_name: str, binaries: Binaries, tmp_path: Path) -> None:
    """Each real server reads the files for some of the hosts without a complaint, and takes each value as written."""
    binary = binaries(server_name)
    target = parse_target(str(binary.target))
    usual = complaints_of(ask_help(binary).stderr)
    for at, place in enumerate((*CORNERS, *PLACES[len(server_name) :: REAL_STEP])):
        text = option_file(suggest(target, place.host, WORKLOADS[at % len(WORKLOADS)]), "a test")
        file = tmp_path / f"{at}.cnf"
        file.write_text(text, "utf-8")
        done = ask_help(binary, file)
        effective = judge_text(target, text).effective
        assert done.returncode == 0, done.stderr
        assert complaints_of(done.stderr) <= usual, text
        values = {name.replace("-", "_"): value for name, value in help_values(done.stdout).items()}
        assert {name: values.get(name) for name in effective} == {n: line.value for n, line in effective.items()}
        if target.since("mysql", *VALIDATE_CONFIG_SINCE):
            assert validate_config(binary, file).returncode == 0
