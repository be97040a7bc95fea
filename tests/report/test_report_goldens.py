"""Every kind of report in every format that it has, byte for byte; lint's are in test_golden.py."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT
from report_samples import COMMANDS, make

from advisor import __version__
from advisor.__main__ import main
from advisor.cli.parser import build_parser

GOLDEN = CHECKOUT / "tests" / "golden" / "reports"
AGAIN = "MYCNF_WRITE_GOLDEN=1 python -m pytest tests/report/test_report_goldens.py"


def formats_of(command: str) -> tuple[str, ...]:
    """What --format of the command takes."""
    parser = build_parser(only=command)
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    (action,) = (a for a in commands.choices[command]._actions if "--format" in a.option_strings)
    return tuple(action.choices or ())


CASES = [(name, form) for name, words in COMMANDS.items() for form in formats_of(words[0])]
# Formats of the command that this report of it lacks.
LACKING = {
    ("probes-kept", "svg"),
    ("report", "parquet"),
    ("since", "parquet"),
}


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with everything that is reported on."""
    folder = tmp_path_factory.mktemp("material")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        make(folder)
    return folder


@pytest.mark.parametrize(("name", "form"), [case for case in CASES if case not in LACKING])
def test_report(
    name: str, form: str, material: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report is what its golden says; paths of the machine and the version of mycnf are left out."""
    monkeypatch.chdir(material)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795244400")
    monkeypatch.setenv("XDG_STATE_HOME", str(material / "state"))
    assert main([*COMMANDS[name], "--format", form]) in (0, 1, 2)
    made = capsys.readouterr().out.replace(str(material), "/material")
    made = re.sub(rf"(mycnf |ersion\": \"){re.escape(__version__)}", r"\g<1>0", made)
    golden = GOLDEN / f"{name}.{form}"
    if os.environ.get("MYCNF_WRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_bytes(made.encode())
    assert golden.exists(), f"no golden yet: {AGAIN}"
    assert made.encode() == golden.read_bytes(), f"if the change is meant: {AGAIN}"


def test_no_golden_is_left_over() -> None:
    """Each golden is one that a test compares."""
    assert {path.name for path in GOLDEN.iterdir()} == {f"{n}.{f}" for n, f in CASES if (n, f) not in LACKING}
