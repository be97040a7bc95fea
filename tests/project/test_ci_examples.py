"""The jobs in examples/ run commands that exist, and the pages of the formats name them all."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from advisor.cli.parser import build_parser
from advisor.report.output import pair


@pytest.mark.parametrize("name", ["examples/github-actions.yml", "examples/gitlab-ci.yml", "docs/formats.md"])
def test_lint_commands_parse(name: str, checkout: Path) -> None:
    """Each `mycnf lint` of the page parses, with pairs of --format and -o that go together."""
    text = re.sub(r"\n +(?=--|etc/)", " ", (checkout / name).read_text())
    lines = re.findall(r"^(?:[ -]*(?:run: )?)(mycnf lint --target .+)$", text, re.MULTILINE)
    assert lines
    for line in lines:
        args = build_parser().parse_args(shlex.split(line)[1:])
        assert args.files
        assert len(pair(args.reports)) >= 1
