"""Comments that suppress findings, as the user of `mycnf lint` and `mycnf audit` meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.commands.collect import DEMO as DEMO_RECORDING

if TYPE_CHECKING:
    from mycnf_command import Ended, Mycnf

TARGET = ("--target", "mysql-5.7")
WHY = "measured on 2026-03-02"


def codes(ended: Ended) -> list[str]:
    """The codes of a JSON report, file by file."""
    return [f["code"] for e in json.loads(ended.out)["files"] for f in e["findings"]]


def lint(mycnf: Mycnf, text: str, *more: str) -> Ended:
    """Lint a text from stdin, with its report as JSON."""
    return mycnf("lint", *TARGET, "--format", "json", *more, "-", stdin=text.encode())


def test_on_the_line_and_above(mycnf: Mycnf) -> None:
    """A finding is suppressed on its line or on the line above, and the run passes."""
    text = f"[mysqld]\n# mycnf: ignore[BUF001] {WHY}\nread_buffer_size = 8M\nno_such = 1 # mycnf: ignore[OPT] {WHY}\n"
    ended = lint(mycnf, text)
    assert (ended.code, codes(ended)) == (0, [])


def test_the_reason_is_kept(mycnf: Mycnf) -> None:
    """SARIF holds what was suppressed with the comments' reasons, that of the line before that of the file."""
    text = f"# mycnf: ignore-file[BUF] a lab\n[mysqld]\nread_buffer_size = 8M # mycnf: ignore[BUF001] {WHY}\n"
    (run,) = json.loads(mycnf("lint", *TARGET, "--format", "sarif", "-", stdin=text.encode()).out)["runs"]
    kept = {result["ruleId"]: result["suppressions"] for result in run["results"]}
    assert kept["BUF001"] == [{"kind": "inSource", "justification": f"{WHY}; a lab"}]


def test_findings_about_suppressions_show_their_line(mycnf: Mycnf) -> None:
    """A misspelt code, in the text report, with the line, the place in it and what was meant."""
    ended = mycnf("lint", *TARGET, "-", stdin=f"[mysqld]\nport = 1 # mycnf: ignore[BUF01] {WHY}\n".encode())
    assert "<stdin>:2:12  warning  malformed-suppression SUP002" in ended.out
    assert "2 │ port = 1 # mycnf: ignore[BUF01]" in ended.out
    assert "help: did you mean BUF001?" in ended.out
    assert ended.code == 1


def test_with_select_and_ignore(mycnf: Mycnf) -> None:
    """Rules about suppressions are selected and ignored like others; unselected rules leave nothing unused."""
    text = "[mysqld]\nport = 1 # mycnf: ignore[BUF001]\n"
    assert codes(lint(mycnf, text)) == ["SUP001", "SUP003"]
    assert codes(lint(mycnf, text, "--ignore", "SUP003")) == ["SUP001"]
    assert codes(lint(mycnf, text, "--ignore", "SUP")) == []
    assert codes(lint(mycnf, text, "--select", "BUF")) == []
    assert codes(lint(mycnf, text, "--select", "SEC,SUP")) == ["SUP003"]


def test_two_targets(mycnf: Mycnf) -> None:
    """What is suppressed for one target only is used."""
    text = f"[mysqld]\nread_buffer_size = 8M # mycnf: ignore[BUF001] {WHY}\n"
    ended = lint(mycnf, text, "--target", "mysql-8.4")
    assert codes(ended) == ["BUF002"]


def test_in_included_files(mycnf: Mycnf, tmp_path: Path) -> None:
    """A comment in an included file counts, and is shown in the report of the file that was named."""
    (tmp_path / "a.cnf").write_text(
        f"[mysqld]\nno_such = 1 # mycnf: ignore[OPT001] {WHY}\nport=1 # mycnf: ignore[SEC] x\n"
    )
    (tmp_path / "my.cnf").write_text(f"!include {tmp_path}/a.cnf\n")
    ended = mycnf("lint", *TARGET, "my.cnf", "--format", "json")
    (found,) = json.loads(ended.out)["files"][0]["findings"]
    assert (found["code"], found["path"], found["line"]) == ("SUP001", str(tmp_path / "a.cnf"), 3)


def test_in_a_compose_file(mycnf: Mycnf, tmp_path: Path) -> None:
    """Options that another document carries are suppressed in its own comments."""
    (tmp_path / "compose.yml").write_text(
        "services:\n  db:\n    image: mysql:5.7\n    command:\n"
        f"      - --read-buffer-size=8M  # mycnf: ignore[BUF001] {WHY}\n      - --port=3306\n"
    )
    ended = mycnf("lint", *TARGET, "compose.yml", "--format", "json")
    assert codes(ended) == []


def test_what_no_selected_rule_looked_at_is_not_unused(mycnf: Mycnf, tmp_path: Path) -> None:
    """--select, --ignore and --ram take in rules that need a server or house rules: these have not run."""
    options = {
        "HOU003": "max_connections",
        "SEC003": "port",
        "INN004": "innodb_io_capacity",
        "BUF003": "sort_buffer_size",
    }
    lines = "".join(f"    # mycnf: ignore[{code}] {WHY}\n    {option} = 3000\n" for code, option in options.items())
    (tmp_path / "map.yml").write_text(f"kind: ConfigMap\ndata:\n  a.cnf: |\n    [mysqld]\n{lines}")
    (tmp_path / "my.cnf").write_text(f"[mysqld]\n{lines}")
    for file in ("my.cnf", "map.yml"):
        for more in ((), ("--ignore", "OPT"), ("--select", ",".join((*options, "SUP"))), ("--ram", "64G")):
            ended = mycnf("lint", *TARGET, "--format", "json", *more, file)
            found = [f for entry in json.loads(ended.out)["files"] for f in entry["findings"] if f["code"] == "SUP001"]
            assert [f["message"].partition(" reports")[0] for f in found] == ["BUF003"], (file, more, found)


def test_rules_are_listed_and_explained(mycnf: Mycnf) -> None:
    """`rules` and `explain` know the rules about suppressions."""
    assert "SUP001  unused-suppression" in mycnf("rules").out
    assert "unused-suppression" in mycnf("explain", "SUP001").out


ENDED = {"SOURCE_DATE_EPOCH": "1801440000"}  # 2027-02-01
BEFORE = {"SOURCE_DATE_EPOCH": "1801439999"}  # the last second of 2027-01-31


def test_a_comment_ends(mycnf: Mycnf) -> None:
    """Through its last day a comment hides the finding; on the next day lint and a note show it."""
    text = b"[mysqld]\nread_buffer_size = 8M # mycnf: ignore[BUF001] until 2027-01-31 OPS-1234\n"
    words = ("lint", *TARGET, "--format", "json", "-")
    assert codes(mycnf(*words, stdin=text, env=BEFORE)) == []
    assert codes(mycnf(*words, stdin=text, env=ENDED)) == ["BUF001", "SUP004"]


def test_entries_of_the_configuration_end(mycnf: Mycnf, tmp_path: Path) -> None:
    """`ignore` and `per-file-ignores` take a last day; a line on stderr names what ended."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nread_buffer_size = 8M\nsort_buffer_size = 64M\n")
    (tmp_path / "mycnf.toml").write_text(
        'ignore = ["BUF001 until 2027-01-31 see OPS-1234, twice", "OPT012"]\n'
        '[per-file-ignores]\n"my.cnf" = "BUF003 until 2027-01-31"\n'
    )
    words = ("lint", *TARGET, "--format", "json", "my.cnf")
    before, ended = mycnf(*words, env=BEFORE), mycnf(*words, env=ENDED)
    assert (codes(before), before.err) == ([], "")
    assert codes(ended) == ["BUF001", "BUF003"]
    assert [line.partition("mycnf.toml: ")[2] for line in ended.err.splitlines()] == [
        "ignore: BUF001 ended on 2027-01-31 and no longer applies",
        "per-file-ignores.my.cnf: BUF003 ended on 2027-01-31 and no longer applies",
    ]


def test_comments_in_the_files_of_a_server_end(mycnf: Mycnf, tmp_path: Path) -> None:
    """In an audit the finding is back with the same note, unless the note's rule is ignored."""
    facts = json.loads(Path(DEMO_RECORDING).read_text(encoding="utf-8"))
    (copy,) = [copy for copy in facts["files"]["files"] if "\nread_buffer_size = 8M" in (copy["text"] or "")]
    copy["text"] += "# mycnf: ignore-file[BUF001] until 2027-01-31 OPS-1234\n"
    (tmp_path / "snapshot.json").write_text(json.dumps(facts), encoding="utf-8")
    words = ("audit", "--snapshot", "snapshot.json", "--format", "json")

    def notes(*more: str, day: dict[str, str]) -> list[str]:
        found = json.loads(mycnf(*words, *more, env=day).out)["findings"]
        return [f["code"] for f in found if f["code"][:3] == "SUP" or f["code"] == "BUF001"]

    assert notes(day=BEFORE) == []
    assert sorted(notes(day=ENDED)) == ["BUF001", "SUP004"]
    assert notes("--ignore", "SUP004", day=ENDED) == ["BUF001"]
