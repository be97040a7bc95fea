"""A baseline: what it holds, what it hides, and its own summary."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from advisor.analysis.baseline import (
    Baseline,
    BaselineReading,
    apply_baseline,
    count_gone,
    read_baseline,
    render_baseline,
)
from advisor.core.errors import MycnfError
from advisor.core.model import Confidence, Finding, Location, Severity

RAN = frozenset({"BUF001", "OPT001"})


def finding(
    path: str = "a.cnf", line: int = 1, code: str = "BUF001", option: str = "read_buffer_size", value: str | None = "8M"
) -> Finding:
    """A finding at a line."""
    return Finding(
        code, "a-name", Severity.WARNING, Confidence.CERTAIN, f"On line {line}.", "", option.replace("_", "-"), option,
        value, "mysqld", Location(path, line),
    )  # fmt: skip


def reading(*findings: Finding, path: str = "a.cnf") -> BaselineReading:
    """One file with these findings."""
    return BaselineReading(path, findings, (path, *dict.fromkeys(f.location.path for f in findings if f.location)))


def kept(readings: list[BaselineReading], folder: Path) -> Baseline:
    """These readings as a baseline, written and read again."""
    path = folder / "baseline.json"
    path.write_text(render_baseline(readings, str(path)))
    return read_baseline(str(path))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are relative to the folder of the test."""
    monkeypatch.chdir(tmp_path)


def test_moved_lines_are_known(tmp_path: Path) -> None:
    """A finding stays known when its line moves, its message changes, or the option is spelled in another way."""
    baseline = kept([reading(finding(line=3))], tmp_path)
    moved = finding(line=90)._replace(message="Other words.", option="read_buffer_size")
    (split,) = apply_baseline(baseline, [reading(moved)])
    assert split == ((), (moved,))


@pytest.mark.parametrize(
    "other",
    [finding(value="16M"), finding(option="sort_buffer_size"), finding(code="OPT001"), finding(path="b.cnf")],
)
def test_other_findings_are_new(other: Finding, tmp_path: Path) -> None:
    """Another value, option, rule or file is new."""
    baseline = kept([reading(finding())], tmp_path)
    (split,) = apply_baseline(baseline, [reading(other)])
    assert split == ((other,), ())


def test_one_more_is_new(tmp_path: Path) -> None:
    """Of findings alike as many are known as there were."""
    baseline = kept([reading(finding(line=1), finding(line=2))], tmp_path)
    (split,) = apply_baseline(baseline, [reading(finding(line=5), finding(line=6), finding(line=7))])
    assert [f.location.line for f in split.new] == [7]


def test_each_target_is_a_reading_of_its_own(tmp_path: Path) -> None:
    """The findings of two targets on one line are one entry, which hides it for both."""
    both = [reading(finding()), reading(finding())]
    baseline = kept(both, tmp_path)
    assert list(baseline.counts.values()) == [1]
    assert [s.new for s in apply_baseline(baseline, both)] == [(), ()]


def test_paths_are_relative_to_the_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A baseline in a folder above or beside holds for the same files from any working directory."""
    (tmp_path / "ci").mkdir()
    path = tmp_path / "ci" / "baseline.json"
    path.write_text(render_baseline([reading(finding("conf/a.cnf"))], "ci/baseline.json"))
    assert json.loads(path.read_text())["findings"][0]["path"] == "../conf/a.cnf"
    monkeypatch.chdir("/")
    absolute = str(tmp_path / "conf" / "a.cnf")
    (split,) = apply_baseline(read_baseline(str(path)), [reading(finding(absolute))])
    assert split.new == ()


def test_a_folder_behind_a_link_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A baseline holds for the files beside it, whether its folder is named by a link or by where it leads."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path / "real")
    Path("base.json").write_text(render_baseline([reading(finding("a.cnf"))], "base.json"))
    for path in ("base.json", str(tmp_path / "link" / "base.json")):
        for named in ("a.cnf", str(tmp_path / "real" / "a.cnf"), str(tmp_path / "link" / "a.cnf")):
            (split,) = apply_baseline(read_baseline(path), [reading(finding(named), path=named)])
            assert split.new == (), (path, named)


def test_the_file_is_made_for_diffs() -> None:
    """Sorted, a finding a line, versioned, and the same with any order of the findings."""
    one, two = finding("b.cnf"), finding("a.cnf", value=None)
    text = render_baseline([reading(one), reading(two)], "baseline.json")
    assert text == render_baseline([reading(two), reading(one)], "baseline.json")
    assert text == (
        '{\n "version": 1,\n "findings": [\n'
        '  {"path": "a.cnf", "code": "BUF001", "name": "a-name", "group": "mysqld", "option": "read_buffer_size", '
        '"value": null, "count": 1},\n'
        '  {"path": "b.cnf", "code": "BUF001", "name": "a-name", "group": "mysqld", "option": "read_buffer_size", '
        '"value": "8M", "count": 1}\n ]\n}\n'
    )
    assert json.loads(render_baseline([], "x")) == {"version": 1, "findings": []}


def test_odd_names_survive(tmp_path: Path) -> None:
    """Bytes that are no UTF-8, stdin, and findings without a place are known again."""
    odd = [finding("\udcff.cnf"), finding("<stdin>"), finding()._replace(location=None)]
    baseline = kept([reading(*odd, path="<stdin>")], tmp_path)
    assert apply_baseline(baseline, [reading(*odd, path="<stdin>")])[0].new == ()
    assert {key[0] for key in baseline.counts} == {"\udcff.cnf", "<stdin>"}


def test_what_is_found_no_longer(tmp_path: Path) -> None:
    """Entries count as gone where the run could have found them: file read or lost, rule among those that looked."""
    (tmp_path / "c.cnf").write_text("")
    (tmp_path / "a.cnf").write_text("")
    all_ = [finding(), finding(line=2), finding("lost.cnf"), finding("c.cnf"), finding(code="SEC001")]
    baseline = kept([reading(*all_)], tmp_path)
    assert count_gone(baseline, [reading(*all_)], RAN) == 0
    assert count_gone(baseline, [reading(finding())], RAN) == 2
    assert count_gone(baseline, [reading(finding())], RAN | {"SEC001"}) == 3
    assert count_gone(baseline, [], frozenset()) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is not JSON"),
        ("[mysqld]\nport = 1", "it is not JSON"),
        ("\udcff", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", "is not a baseline of mycnf"),
        ('{"version": true, "findings": []}', "is not a baseline of mycnf"),
        ('{"version": 1}', "is not a baseline of mycnf"),
        ('{"version": 2, "findings": []}', "update mycnf"),
        ('{"version": 1, "findings": [1]}', "entry 1 is not a finding"),
        ('{"version": 1, "findings": [{"path": "a"}]}', "entry 1 is damaged"),
        ('{"version": 1, "findings": [{"path": "a", "code": "B", "count": 0}]}', "entry 1 is damaged"),
        ('{"version": 1, "findings": [{"path": "a", "code": "B", "value": 1}]}', "entry 1 is damaged"),
    ],
)
def test_what_is_no_baseline(text: str, says: str, tmp_path: Path) -> None:
    """Anything else is reported in one line with the file's name."""
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(MycnfError, match=says) as raised:
        read_baseline(str(path))
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_unknown_fields_are_ignored(tmp_path: Path) -> None:
    """A later mycnf may write more; a count may be left out."""
    path = tmp_path / "x.json"
    path.write_text('{"version": 1, "more": 1, "findings": [{"path": "a", "code": "B", "more": []}]}')
    assert read_baseline(str(path)).counts == {("a", "B", None, None, None): 1}


def test_what_can_not_be_read(tmp_path: Path) -> None:
    """A missing file, a folder and a FIFO are reported, and never waited for."""
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "none", tmp_path, tmp_path / "fifo"):
        with pytest.raises(MycnfError, match=str(path)):
            read_baseline(str(path))
