"""An audit leaves out what a baseline knows, and writes one."""

from __future__ import annotations

import json
from pathlib import Path

from mycnf_command import Mycnf

from advisor.commands.collect import DEMO as DEMO_RECORDING

DEMO = ("audit", "--demo", "--format", "json", "--fail-on", "note")


def test_what_was_known_is_left_out_until_something_is_new(mycnf: Mycnf, tmp_path: Path) -> None:
    """Written once, the baseline hides all of an audit; without one of its entries that finding is back."""
    kept = tmp_path / "audit.json"
    every = json.loads(mycnf(*DEMO).out)["findings"]
    written = mycnf(*DEMO, "--write-baseline", str(kept))
    assert written.code == 0
    assert json.loads(written.out)["findings"] == []
    assert f"wrote {len(every)} findings" in written.err
    known = mycnf(*DEMO, "--baseline", str(kept))
    assert known.code == 0
    assert f"{len(every)} findings suppressed" in known.err
    report = json.loads(kept.read_text(encoding="utf-8"))
    gone = report["findings"].pop()
    kept.write_text(json.dumps(report), encoding="utf-8")
    again = mycnf(*DEMO, "--baseline", str(kept))
    assert again.code == 1
    assert {f["code"] for f in json.loads(again.out)["findings"]} == {gone["code"]}


def test_a_baseline_of_a_server_holds_in_any_folder(mycnf: Mycnf, tmp_path: Path) -> None:
    """Files of the server's host have the paths that they have there, so a checkout elsewhere knows them too."""
    (tmp_path / "here").mkdir()
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    mycnf(*DEMO, "--write-baseline", "here/audit.json")
    entries = json.loads((tmp_path / "here" / "audit.json").read_text(encoding="utf-8"))["findings"]
    assert {entry["path"][0] for entry in entries} == {"/", "<"}
    moved = (tmp_path / "here" / "audit.json").rename(tmp_path / "a" / "b" / "c" / "audit.json")
    known = mycnf(*DEMO, "--baseline", moved)
    assert (known.code, json.loads(known.out)["findings"]) == (0, [])


def test_half_an_audit_is_not_written(mycnf: Mycnf, tmp_path: Path) -> None:
    """Where the connection was lost, the baseline of before stays, and the exit code is that of the connection."""
    facts = json.loads(Path(DEMO_RECORDING).read_text(encoding="utf-8"))
    (tmp_path / "lost.json").write_text(json.dumps(facts | {"lost": "the connection was lost"}), encoding="utf-8")
    kept = tmp_path / "audit.json"
    mycnf(*DEMO, "--write-baseline", kept)
    before = kept.read_text(encoding="utf-8")
    ended = mycnf("audit", "--snapshot", "lost.json", "--select", "VER", "--format", "json", "--write-baseline", kept)
    assert (ended.code, kept.read_text(encoding="utf-8")) == (3, before)
    assert "audit.json is not written: not all facts could be read" in ended.err


def test_another_file_is_never_written_over(mycnf: Mycnf, tmp_path: Path) -> None:
    """A file that is no baseline is left unchanged."""
    option_file = tmp_path / "my.cnf"
    option_file.write_text("[mysqld]\n", encoding="utf-8")
    ended = mycnf(*DEMO, "--write-baseline", str(option_file))
    assert ended.code == 2
    assert "is not a baseline" in ended.err
    assert option_file.read_text(encoding="utf-8") == "[mysqld]\n"
