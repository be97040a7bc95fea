"""`mycnf probe`: what can be run is listed, a run's answer comes first and is kept, however the run ends."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import controlled_experiment
import pytest
from controlled_experiment import Steered
from jsonschema import Draft202012Validator
from mycnf_command import CHECKOUT, Ended, check_run

from advisor.__main__ import main
from advisor.report.output import Paper
from advisor.report.probe.listing import listing
from probes import registry
from probes.experiment import ProbeEntry, ProbeError
from probes.results import read_all

SCHEMA = Draft202012Validator(json.loads((CHECKOUT / "schemas" / "probe.schema.json").read_text("utf-8")))


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Shells make what they put into the background deaf to Ctrl-C, nohup to a hang-up; here all three are heard."""
    usual = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, how) for number, how in usual.items()}
    yield
    for number, how in before.items():
        signal.signal(number, how)


@pytest.fixture
def scan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Steered:
    """The only experiment of the list, steered by the test; results are kept in a state directory of the test's own."""
    experiment = Steered()
    monkeypatch.setattr(controlled_experiment, "EXPERIMENT", experiment)
    monkeypatch.setattr(registry, "MODULES", {"scan": "controlled_experiment"})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return experiment


@pytest.fixture
def probe(scan: Steered, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """`mycnf probe ARGS` in this process, on a directory of the test's own, regardless of the host's load."""

    def run(*args: str) -> Ended:
        forced = ["--dir", str(tmp_path), "--force", "busy,neighbour,full,little"] if "results" not in args[:1] else []
        code = main(["probe", "--seed", "0", *args, *forced])
        printed = capsys.readouterr()
        return check_run(code, printed.out, printed.err)

    return run


def checked(out: str) -> Any:
    """The JSON, held to its schema."""
    report = json.loads(out)
    SCHEMA.validate(report)
    return report


def interrupt(number: int = signal.SIGINT) -> None:
    """What Ctrl-C does, or another signal."""
    os.kill(os.getpid(), number)


def test_the_list_says_what_each_answers(probe: Any) -> None:
    """Name, kind, time, evidence and question are a row of a table; JSON has the same."""
    ended = probe()
    assert ended.code == 0
    row = " ".join(ended.out.split()).partition(" question ")[2]
    assert row.startswith("scan server 20 s RBS-01, RBS-06 Which read_buffer_size is fastest for full scans on this")
    (entry,) = checked(probe("--json").out)["probes"]
    assert entry["plan"]["variants"] == list(controlled_experiment.SPEEDS)
    assert entry["plan"]["creates"] == ["a table of 3M in a scratch directory"]


def test_every_probe_is_a_row_of_the_list() -> None:
    """None of the probes leaves the table for lack of room; only the text shortens a long list of evidence."""
    entries = [ProbeEntry(experiment, "/tmp", "", None, ("a reason",)) for experiment in registry.load_all()]
    lines = listing(entries, "text", Paper()).splitlines()
    for entry in entries:
        (row,) = (line.split() for line in lines if line.split()[:1] == [entry.experiment.name])
        assert row[1] == entry.experiment.kind
    longest = max((entry.experiment.evidence for entry in entries), key=len)
    assert all(name in listing(entries, "markdown", Paper()) for name in longest)


def test_a_description_shows_the_published_table(probe: Any, scan: Steered) -> None:
    """Question, evidence with its numbers, choices with their defaults, and what it can't show; nothing is made."""
    out = probe("scan", "--describe").out
    for words in (scan.question, "RBS-01", "43", "acceptable-qps", "(2000)", "nothing of tables beyond the cache"):
        assert words in out
    assert scan.opened == 0
    checked(probe("scan", "--describe", "--json").out)


def test_a_dry_run_says_what_it_takes(probe: Any, scan: Steered, tmp_path: Path) -> None:
    """Place, disk, memory, preparation apart from the time, and what is made; nothing is made."""
    ended = probe("scan", "--dry-run")
    assert ended.code == 0
    assert f"scan would run in {tmp_path}" in ended.out
    for words in ("for about 7 s", "20 s for 5 rounds", "3M", "5M", "a table of 3M in a scratch directory"):
        assert words in ended.out
    assert scan.opened == 0
    assert read_all().kept == ()


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
@pytest.mark.parametrize("words", [(), ("scan", "--describe"), ("scan", "--dry-run"), ("results",)])
def test_what_is_no_result_is_a_document_too(probe: Any, words: tuple[str, ...], form: str) -> None:
    """Lists, a description and a dry run come in each format of documents, but not as a drawing."""
    ended = probe(*words, "--format", form)
    assert ended.code == 0
    expected = {(): "1 experiment", ("results",): "No result is saved yet"}
    assert expected.get(words, "What a run does") in ended.out
    refused = probe(*words, "--format", "svg")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "--format svg is for results" in refused.err


def test_a_dry_run_reports_refusals(probe: Any, tmp_path: Path) -> None:
    """A data directory is refused for good, which the dry run says and its exit code too."""
    (tmp_path / "ibdata1").write_text("")
    ended = probe("scan", "--dry-run")
    assert ended.code == 2
    assert "data directory" in " ".join(ended.out.split())
    assert probe("scan").code == 2


def test_the_answer_comes_first(probe: Any, scan: Steered) -> None:
    """What, where from, the answer, then a row a variant with its interval and the published numbers beside."""
    ended = probe("scan")
    assert ended.code == 0, ended.err
    title, answered = ended.out.split("\n\n")[:2]
    assert title.startswith("scan · mariadb-10.11.19 · ")
    assert " · 5 rounds in " in " ".join(title.split())
    assert "128K" in answered
    lines = ended.out.splitlines()
    row = next(line for line in lines if line.strip().startswith("8M "))
    assert "-2" in row
    assert "%†" in row
    assert "RBS-01, 2007" in ended.out
    for words in ("It says nothing of tables beyond the cache.", "Every scan read the whole table.", "engine: Aria"):
        assert words in ended.out
    assert max(len(line) for line in lines if "http" not in line) <= 80
    assert "filling a table" in ended.err
    assert scan.closed == 1


def test_the_result_is_kept_and_shown_again(probe: Any) -> None:
    """The line on stderr names the result, under which and under the probe's name the same report is shown."""
    first = probe("scan")
    (kept,) = read_all().kept
    assert f"mycnf probe results {kept.id}" in first.err
    assert probe("results", kept.id).out == probe("results", "show", "scan").out == first.out
    listed = probe("results").out
    assert kept.id in listed
    assert "another host" not in listed
    (entry,) = checked(probe("results", "--json").out)["results"]
    assert entry["here"] is True


def test_json_keeps_to_its_schema(probe: Any) -> None:
    """A result carries samples and conclusion, of many rounds and of a single one that concludes nothing."""
    report = checked(probe("scan", "--json").out)
    assert report["conclusion"]["verdict"] in ("baseline", "better")
    assert len(report["result"]["arms"][0]["blocks"]) == 5
    assert checked(probe("scan", "--rounds", "1", "--json").out)["conclusion"]["verdict"] == "unknown"


def test_several_formats_go_to_their_files(probe: Any, tmp_path: Path) -> None:
    """Each format has a file of its own, and all are of one run."""
    words = [w for f in ("json", "markdown", "svg") for w in ("--format", f, "-o", str(tmp_path / f))]
    assert probe("scan", *words).out == ""
    assert (tmp_path / "svg").read_text().startswith("<svg ")
    assert (tmp_path / "markdown").read_text().startswith("## ")
    checked((tmp_path / "json").read_text())


def test_a_file_without_directory_is_refused_before_the_run(probe: Any, scan: Steered, tmp_path: Path) -> None:
    """What can't be written at the end is said at the beginning."""
    ended = probe("scan", "-o", str(tmp_path / "no" / "file"))
    assert ended.code == 2
    assert scan.opened == 0


def test_choices_reach_the_experiment(probe: Any, scan: Steered) -> None:
    """--option and the options with names of their own are the experiment's choices, dashes and underscores alike."""
    words = ("--option", "readers=4", "--workload", "other", "--acceptable-qps", "500", "--time", "2m", "--rounds", "3")
    assert probe("scan", *words, "--seed", "7").code == 0
    wish = scan.asked[-1]
    assert wish.choices == {"readers": "4", "workload": "other", "acceptable-qps": "500"}
    assert (wish.seconds, wish.rounds, wish.seed) == (120.0, 3, 7)
    assert wish.force == {"busy", "neighbour", "full", "little"}


@pytest.mark.parametrize(("words", "message"), [
    (("skan",), "did you mean scan?"),
    (("scan", "two"), "one probe at a time"),
    (("scan", "--time", "soon"), "60s, 10m or 3h"),
    (("scan", "--time", "0s"), "60s, 10m or 3h"),
    (("scan", "--rounds", "0"), "write 1 or more"),
    (("scan", "--force", "bussy"), "--force bussy overrides no refusal; did you mean busy?"),
    (("scan", "--force", "full,data-directory"), "--force data-directory overrides no refusal; it takes full, little"),
    (("scan", "--option", "reader=2"), "did you mean readers?"),
    (("scan", "--option", "readers"), "NAME=VALUE"),
    (("scan", "--option", "readers=many"), "readers=many"),
    (("scan", "--set", "a=1,2"), "no parameter --set; its parameters are readers, workload, acceptable-qps"),
    (("scan", "--server", "nowhere/mysqld"), "is not an executable"),
    (("--format", "svg"), "use text, markdown, html or json"),
    (("results", "abcdef"), "mycnf probe results lists them"),
])  # fmt: skip
def test_mistakes_are_one_line(probe: Any, scan: Steered, words: tuple[str, ...], message: str) -> None:
    """Each says what to write instead, with exit code 2, and nothing was made."""
    ended = probe(*words)
    assert ended.code == 2
    assert message in ended.err.splitlines()[-1]
    assert ended.err.splitlines()[-1].startswith("mycnf: ")
    assert scan.opened == 0


def test_help_has_the_exit_codes_of_probes(capsys: pytest.CaptureFixture[str]) -> None:
    """A probe has no findings and no --fail-on: its help names what its own codes mean."""
    with pytest.raises(SystemExit):
        main(["probe", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert text.endswith("exit codes: 0 a result, 2 refused, failed or stopped to protect a server, 130 cancelled")


def test_a_directory_that_is_not_there_is_refused(scan: Steered, capsys: pytest.CaptureFixture[str]) -> None:
    """It isn't made, and the line says so."""
    assert main(["probe", "scan", "--dir", "/nowhere/at/all"]) == 2
    assert "--dir /nowhere/at/all is not a directory" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_signal_keeps_the_whole_rounds(probe: Any, scan: Steered, number: int) -> None:
    """In the third round: two rounds are printed and kept, the bench is closed, and the signals are as before."""
    before = signal.getsignal(number)
    scan.at[2 * 4 + 1] = partial(interrupt, number)
    ended = probe("scan")
    assert ended.code == 130
    assert "2 rounds in " in ended.out
    assert "cancelled" in ended.out
    assert read_all().kept[0].result.rounds == 2
    assert scan.closed == 1
    assert signal.getsignal(number) == before


def test_a_signal_that_is_ignored_stays_ignored(probe: Any, scan: Steered) -> None:
    """Under nohup a hang-up ends nothing: all rounds are measured."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    scan.at[2 * 4 + 1] = partial(os.kill, os.getpid(), signal.SIGHUP)
    assert probe("scan").code == 0
    assert read_all().kept[0].result.ended in ("finished", "precise")
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_two_signals_end_it_at_once(probe: Any, scan: Steered) -> None:
    """The block that runs is broken off, what was made is removed, and whole rounds are kept though not printed."""

    def twice() -> None:
        interrupt()
        interrupt()

    scan.at[2 * 4 + 1] = twice
    ended = probe("scan")
    assert ended.code == 130
    assert ended.out == ""
    assert "interrupted" in ended.err
    assert len(scan.measured) == 2 * 4 + 2
    assert scan.closed == 1
    assert read_all().kept[0].result.rounds == 2
    assert read_all().kept[0].result.ended == "cancelled"


def test_a_signal_before_the_first_round_leaves_nothing(probe: Any, scan: Steered) -> None:
    """There is nothing is saved, which is said, and the code is still that of an interruption."""
    scan.at[1] = interrupt
    ended = probe("scan")
    assert ended.code == 130
    assert "nothing is saved" in ended.err
    assert read_all().kept == ()
    assert scan.closed == 1


def test_what_breaks_off_keeps_its_rounds(probe: Any, scan: Steered) -> None:
    """An experiment whose server dies in the second round prints and keeps the first, with the reason, and fails."""

    def die() -> None:
        raise ProbeError("the server died")

    scan.at[5] = die
    ended = probe("scan")
    assert ended.code == 2
    assert "the server died" in ended.out
    assert read_all().kept[0].result.ended == "broken"
    assert read_all().kept[0].result.rounds == 1


def test_a_broken_run_is_resumed(probe: Any, scan: Steered) -> None:
    """--resume runs what is left, and the kept file then holds both runs; complete, it is only shown."""
    scan.at[2 * 4 + 1] = interrupt
    probe("scan")
    scan.at.clear()
    resumed = probe("scan", "--resume")
    assert resumed.code == 0, resumed.err
    assert "2 rounds so far" in resumed.err
    assert len(scan.measured) == 3 * 4
    (kept,) = read_all().kept
    assert [b.round for b in kept.result.arms[0].blocks] == [1, 2, 3, 4, 5]
    assert "5 rounds in " in resumed.out
    again = probe("scan", "--resume")
    assert "complete" in again.err
    assert scan.opened == 2
    assert probe("scan", "--resume", "--rounds", "7").code == 0
    assert read_all().kept[0].result.rounds == 7


def test_a_run_of_other_parameters_is_not_resumed(probe: Any, scan: Steered) -> None:
    """A new run begins, and the reason is reported."""
    probe("scan")
    ended = probe("scan", "--resume", "--option", "readers=4")
    assert "differs in the parameters; starting a new one" in ended.err
    assert len(read_all().kept) == 2


def test_the_answer_needs_no_state_directory(probe: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where nothing can be kept the answer is printed all the same, and the line says what to set."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    ended = probe("scan")
    assert ended.code == 0
    assert "5 rounds" in ended.out
    assert "XDG_STATE_HOME" in ended.err


def test_text_of_servers_cannot_move_the_cursor(probe: Any, scan: Steered) -> None:
    """A note with control characters is made harmless in every format."""
    scan.notes_for_all = ("evil \x1b[2J\x07 \u202e note <b>|</b>",)
    for form in ("text", "markdown", "json"):
        out = probe("scan", "--format", form).out
        assert "\x1b" not in out
        assert "\x07" not in out
        assert "\u202e" not in out
    assert "<b>" not in probe("results", "scan", "--format", "markdown").out.replace("`<b>", "")


def test_damaged_results_are_named(probe: Any, tmp_path: Path) -> None:
    """A file that holds no result costs one line on stderr."""
    probe("scan")
    other = tmp_path / "state" / "mycnf" / "probes" / "bad.json"
    other.write_text("{")
    ended = probe("results")
    assert ended.code == 0
    assert str(other) in ended.err
    assert ended.out.count("mariadb-10.11.19") == 1


def test_a_long_run_is_kept_as_it_goes(probe: Any, scan: Steered, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that lasts writes its whole rounds down now and then, into one file, so that even kill -9 loses little."""
    monkeypatch.setattr("probes.checkpoints.CHECKPOINT_SECONDS", 0.0)
    seen: list[list[int]] = []
    for block in (0, 4, 8):
        scan.at[block] = lambda: seen.append([k.result.rounds for k in read_all().kept])
    assert probe("scan").code == 0
    assert seen == [[], [1], [2]]
    assert [k.result.rounds for k in read_all().kept] == [5]
